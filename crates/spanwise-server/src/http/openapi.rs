//! `GET /openapi.json`: the interface, described for programs.

use axum::response::Response;

const TEXT: &str = include_str!("../playground/openapi.json");

pub(crate) async fn handle() -> Response {
    super::json(TEXT.replace("@VERSION@", env!("CARGO_PKG_VERSION")))
}
