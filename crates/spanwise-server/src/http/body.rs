//! Reads the JSON body of a request: all of it, in time, within the limit, and field by field.

use super::App;
use super::error::{Problem, suggestion};
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;
use tokio::time::timeout;

/// How much of a body that is too large is still read, so that its sender receives the reply.
const MAX_WASTE: usize = 32 << 20;
/// Most characters of what a client sent that an error message repeats.
const MAX_QUOTED: usize = 40;

/// Reads a body as a value of a type.
pub(crate) async fn read<T: DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, Problem> {
    // Also a body that is refused is read, so that its sender receives the reply.
    let body = bytes(app, body).await?;
    is_json(headers)?;
    let text = std::str::from_utf8(&body)
        .map_err(|error| Problem::BadJson(format!("byte {} is not UTF-8", error.valid_up_to())))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|error| Problem::BadJson(error.to_string()))?;
    // Serde would also take the fields of a struct from a list.
    if !value.is_object() {
        return Err(Problem::BadField {
            path: "$".into(),
            expected: "an object".into(),
            found: shown(&value),
        });
    }
    serde_path_to_error::deserialize(&value).map_err(|error| restated(&error, &value))
}

/// Refuses a body that is not declared as JSON. Pages of other sites can send such a body without asking.
fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let mut kinds = headers.get_all(header::CONTENT_TYPE).iter();
    let given = kinds.next().map(|kind| String::from_utf8_lossy(kind.as_bytes())).unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") && kinds.next().is_none() {
        return Ok(());
    }
    Err(Problem::NotJson(kind.chars().take(MAX_QUOTED).collect()))
}

async fn bytes(app: &App, mut body: Body) -> Result<Bytes, Problem> {
    let limit = app.limits.max_body;
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut kept = BytesMut::with_capacity(announced.min(limit));
    let mut seen = 0;
    let reading = async {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(Problem::BrokenBody) };
            let Ok(data) = frame.into_data() else { continue };
            seen += data.len();
            if seen > MAX_WASTE {
                break;
            }
            if seen <= limit {
                kept.extend_from_slice(&data);
            }
        }
        if seen > limit { Err(Problem::LargeBody(limit)) } else { Ok(()) }
    };
    match timeout(app.body_time, reading).await {
        Ok(read) => read.map(|()| kept.freeze()),
        Err(_) => Err(Problem::Timeout { part: "body", seconds: app.body_time.as_secs_f64() }),
    }
}

/// Restates an error of serde: the path of the field, what was expected there, and what was found.
fn restated(error: &serde_path_to_error::Error<serde_json::Error>, body: &Value) -> Problem {
    let path = match error.path().to_string().as_str() {
        "." => "$".to_owned(),
        path => format!("$.{}", path.chars().take(MAX_QUOTED).collect::<String>().escape_debug()),
    };
    let text = error.inner().to_string();
    if text.starts_with("unknown field") {
        // The name of the client may have quotes of its own; the known names come last and have none.
        let (_, known) = text.rsplit_once(", expected ").unwrap_or_default();
        let name = match error.path().iter().next_back() {
            Some(Segment::Map { key }) => key.as_str(),
            _ => "",
        };
        return Problem::UnknownField { path, hint: suggestion(name, known.split('`').skip(1).step_by(2)) };
    }
    if text.starts_with("missing field") {
        let expected = format!("a field `{}`", text.split('`').nth(1).unwrap_or_default());
        return Problem::BadField { path, expected, found: "none".to_owned() };
    }
    let expected = match text.rsplit_once(", expected ").map_or("another value", |(_, expected)| expected) {
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "a JSON number" => "a whole number from 0",
        "f64" => "a number",
        other => other,
    };
    let found = error.path().iter().fold(body, |value, segment| match segment {
        Segment::Seq { index } => &value[*index],
        Segment::Map { key } => &value[key],
        _ => value,
    });
    Problem::BadField { path, expected: expected.to_owned(), found: shown(found) }
}

/// The beginning of a value as JSON.
fn shown(value: &Value) -> String {
    value.to_string().chars().take(MAX_QUOTED).collect()
}
