//! One connection: time limits on both directions, and a good end.
//!
//! Bytes of a socket come in and go out through [`Timed`], which gives up on a client that does not read. HTTP itself is
//! for hyper and the router, but for one reply: hyper drops a connection whose head does not come in time, and such a
//! client is told why.

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
    let socket = Arc::new(Socket { stream, is_asked: AtomicBool::new(false) });
    let io = TokioIo::new(Timed::new(Arc::clone(&socket), times.write));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(times.head)
        .max_buf_size(MAX_HEAD)
        .serve_connection(io, TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    tokio::select! {
        // A client that breaks off is no news.
        ended = connection.as_mut() => return socket.part(&ended, times.head),
        _ = stopping.wait_for(|&stopping| stopping) => {}
    }
    // A request may already be in the socket: it was accepted, so it is answered.
    tokio::select! {
        ended = connection.as_mut() => return socket.part(&ended, times.head),
        () = sleep(times.linger) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// A socket that knows whether its client has begun to ask for something and waits for a reply.
struct Socket {
    stream: TcpStream,
    is_asked: AtomicBool,
}

impl Socket {
    /// The last words to a client whose head was too slow. One that has sent nothing is owed nothing.
    fn part(&self, ended: &Result<(), hyper::Error>, patience: Duration) {
        if ended.as_ref().is_err_and(hyper::Error::is_timeout) && self.is_asked.load(Ordering::Relaxed) {
            // So little fits into an empty buffer, or the client is gone.
            let _ = self.stream.try_write(slow_head(patience.as_secs_f64()).as_bytes());
        }
    }
}

/// A stream that fails when a write makes no progress for a while.
struct Timed {
    socket: Arc<Socket>,
    patience: Duration,
    until: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl Timed {
    fn new(socket: Arc<Socket>, patience: Duration) -> Self {
        Self { socket, patience, until: Box::pin(sleep(patience)), is_waiting: false }
    }

    /// Writes when the socket takes something; when it does not for too long, that is an error.
    fn poll_written(
        &mut self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        while self.socket.stream.poll_write_ready(cx)?.is_ready() {
            match write(&self.socket.stream) {
                // Readiness was a false alarm; the next look at it registers us again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => {
                    self.is_waiting = false;
                    self.socket.is_asked.store(false, Ordering::Relaxed);
                    return Poll::Ready(written);
                }
            }
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.until.as_mut().reset(Instant::now() + self.patience);
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
                    self.socket.is_asked.fetch_or(n > 0, Ordering::Relaxed);
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
        // A socket keeps nothing back.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(socket2::SockRef::from(&self.socket.stream).shutdown(std::net::Shutdown::Write))
    }
}
