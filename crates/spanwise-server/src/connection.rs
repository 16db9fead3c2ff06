//! Serves one connection, with time limits in both directions and an orderly end.
//!
//! [`Timed`] fails when a client does not read its reply. Hyper closes a connection whose head does not arrive in time
//! without a reply, so that the 408 is written here.

use crate::http::slow_head;
use crate::limits::Times;
use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep};

/// Maximum size of the head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// Serves a connection until its end. When `stopping` becomes true, requests that arrive within the linger time are
/// still answered, and then the connection is closed.
pub(crate) async fn serve(
    stream: TcpStream,
    router: Router,
    times: Times,
    mut stopping: watch::Receiver<bool>,
) {
    let socket = Arc::new(Socket { stream, has_request: AtomicBool::new(false) });
    let io = TokioIo::new(Timed::new(Arc::clone(&socket), times.write));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(times.head)
        .max_buf_size(MAX_HEAD)
        .serve_connection(io, TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    tokio::select! {
        // A client that disconnects is not an error.
        ended = connection.as_mut() => return socket.close(&ended, times.head),
        _ = stopping.wait_for(|&stopping| stopping) => {}
    }
    // A request may already be in the socket.
    tokio::select! {
        ended = connection.as_mut() => return socket.close(&ended, times.head),
        () = sleep(times.linger) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// A socket that records whether its client has sent part of a request that has no reply yet.
struct Socket {
    stream: TcpStream,
    has_request: AtomicBool,
}

impl Socket {
    /// Replies to a client whose head was too slow. One that has sent nothing gets no reply.
    fn close(&self, ended: &Result<(), hyper::Error>, limit: Duration) {
        if ended.as_ref().is_err_and(hyper::Error::is_timeout) && self.has_request.load(Ordering::Relaxed) {
            // The reply fits into an empty buffer, or the client has left.
            let _ = self.stream.try_write(slow_head(limit.as_secs_f64()).as_bytes());
        }
    }
}

/// A stream that fails when a write makes no progress for `limit`.
struct Timed {
    socket: Arc<Socket>,
    limit: Duration,
    until: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl Timed {
    fn new(socket: Arc<Socket>, limit: Duration) -> Self {
        Self { socket, limit, until: Box::pin(sleep(limit)), is_waiting: false }
    }

    /// Writes once the socket is ready; fails when it is not for too long.
    fn poll_written(
        &mut self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        while self.socket.stream.poll_write_ready(cx)?.is_ready() {
            match write(&self.socket.stream) {
                // The readiness was spurious; polling it again registers the waker.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => {
                    self.is_waiting = false;
                    self.socket.has_request.store(false, Ordering::Relaxed);
                    return Poll::Ready(written);
                }
            }
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.until.as_mut().reset(Instant::now() + self.limit);
        }
        ready!(self.until.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Timed {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.socket.stream.poll_read_ready(cx))?;
            match self.socket.stream.try_read(buffer.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(n) => {
                    buffer.advance(n);
                    self.socket.has_request.fetch_or(n > 0, Ordering::Relaxed);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for Timed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_written(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_written(cx, |stream| stream.try_write_vectored(parts))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A socket buffers nothing on our side.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(socket2::SockRef::from(&self.socket.stream).shutdown(std::net::Shutdown::Write))
    }
}
