//! The playground: a page with its style and scripts, compiled into the program. No path is looked up on disk.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// A file of the page.
pub(crate) struct Asset {
    pub path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($path:literal, $kind:expr, $file:literal) => {
        Asset { path: $path, kind: $kind, text: include_str!(concat!("../playground/", $file)) }
    };
}

static PAGE: Asset = asset!("/", "text/html; charset=utf-8", "index.html");

/// What the page loads.
pub(crate) static FILES: &[Asset] = &[
    asset!("/assets/page.css", CSS, "page.css"),
    asset!("/assets/app.js", JS, "app.js"),
    asset!("/assets/dom.js", JS, "dom.js"),
    asset!("/assets/tree.js", JS, "tree.js"),
    asset!("/assets/heat.js", JS, "heat.js"),
    asset!("/assets/scene.js", JS, "scene.js"),
    asset!("/assets/path.js", JS, "path.js"),
    asset!("/assets/remarks.js", JS, "remarks.js"),
    asset!("/assets/table.js", JS, "table.js"),
    asset!("/assets/feedback.js", JS, "feedback.js"),
    asset!("/assets/icon.svg", "image/svg+xml", "icon.svg"),
];

/// Only files of this server, and no inline script or style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page to try models
#[utoipa::path(get, path = "/", security(()), responses(
    (status = 200, description = "The page", body = String, content_type = "text/html"),
))]
pub(crate) async fn page() -> Response {
    PAGE.response()
}

impl Asset {
    pub(crate) fn response(&self) -> Response {
        let headers: [(HeaderName, HeaderValue); 3] = [
            (header::CONTENT_TYPE, HeaderValue::from_static(self.kind)),
            (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ];
        (headers, self.text).into_response()
    }
}
