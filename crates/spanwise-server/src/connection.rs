//! One connection: time limits on both directions, and a good end.
//!
//! Bytes of a socket come in and go out through [`Timed`], which gives up on a client that does not read. HTTP itself is
//! for hyper and the router.

use crate::limits::Times;
use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep};

/// Most bytes of the head of a request.
const MAX_HEAD: usize = 64 << 10;

/// Serves a connection until its end. When `stopping` turns true, requests that are on their way are still answered, and
/// the connection ends after that.
pub(crate) async fn serve(
    stream: TcpStream,
    router: Router,
    times: Times,
    mut stopping: watch::Receiver<bool>,
) {
    let io = TokioIo::new(Timed::new(stream, times.write));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(times.head)
        .max_buf_size(MAX_HEAD)
        .serve_connection(io, TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    tokio::select! {
        // A client that breaks off or is too slow is no news.
        _ = connection.as_mut() => return,
        _ = stopping.wait_for(|&stopping| stopping) => {}
    }
    // A request may already be in the socket: it was accepted, so it is answered.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = sleep(times.linger) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// A stream that fails when a write makes no progress for a while.
struct Timed {
    stream: TcpStream,
    patience: Duration,
    until: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl Timed {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, until: Box::pin(sleep(patience)), is_waiting: false }
    }

    /// Passes a result on; one that is pending for too long becomes an error.
    fn limit<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.is_waiting = false;
            return polled;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.until.as_mut().reset(Instant::now() + self.patience);
        }
        match self.until.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Timed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Timed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.limit(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.limit(cx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.limit(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.limit(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
