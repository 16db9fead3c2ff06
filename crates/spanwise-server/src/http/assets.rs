//! The playground: a page, its style, its scripts, all inside the program. No path is ever looked up on disk.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// A file of the page.
pub(crate) struct Asset {
    pub path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($path:literal, $kind:expr, $file:literal) => {
        Asset { path: $path, kind: $kind, text: include_str!(concat!("../playground/", $file)) }
    };
}

/// All of them.
pub(crate) static ALL: &[Asset] = &[
    asset!("/", HTML, "index.html"),
    asset!("/assets/page.css", CSS, "page.css"),
    asset!("/assets/app.js", JS, "app.js"),
    asset!("/assets/dom.js", JS, "dom.js"),
    asset!("/assets/tree.js", JS, "tree.js"),
    asset!("/assets/heat.js", JS, "heat.js"),
    asset!("/assets/scene.js", JS, "scene.js"),
    asset!("/assets/path.js", JS, "path.js"),
    asset!("/assets/icon.svg", "image/svg+xml", "icon.svg"),
];

/// Nothing but what comes from here, and no script in the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

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
