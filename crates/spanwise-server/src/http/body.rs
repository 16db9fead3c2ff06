//! The body of a request: all of it, in time, and not more than allowed.

use super::App;
use super::error::Problem;
use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::time::timeout;

/// How much of a body that is too large is still read, so that its sender gets to see the reply.
const MAX_WASTE: usize = 32 << 20;

/// Reads a body.
pub(crate) async fn read(app: &App, mut body: Body) -> Result<Bytes, Problem> {
    let limit = app.limits.max_body;
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut kept = BytesMut::with_capacity(announced.min(limit));
    let mut seen = 0;
    let reading = async {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(Problem::broken_body()) };
            let Ok(data) = frame.into_data() else { continue };
            seen += data.len();
            if seen > MAX_WASTE {
                break;
            }
            if seen <= limit {
                kept.extend_from_slice(&data);
            }
        }
        if seen > limit { Err(Problem::large_body(limit)) } else { Ok(()) }
    };
    match timeout(app.body_time, reading).await {
        Ok(read) => read.map(|()| kept.freeze()),
        Err(_) => Err(Problem::slow_body(app.body_time.as_secs_f64())),
    }
}
