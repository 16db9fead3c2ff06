//! Serves one connection, with time limits in both directions and an orderly end.
//!
//! Hyper does most of it, and this module what Hyper leaves to its caller: a client that does not read its reply is cut; a
//! head that is too slow, too large or not HTTP gets a reply with a body like every other error; and work for a client that
//! has left is given up.
//!
//! A client that has sent all of its requests may close its half of the connection and still gets its replies. To the server
//! this looks the same as a client that has left, until something is sent: then the system of a client that has left answers
//! with a reset. So when a reply takes long, a `100 Continue` is sent, which every client of HTTP/1.1 has to ignore.

use crate::http::Problem;
use crate::limits::Times;
use crate::seats::Seat;
use axum::Router;
use axum::http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, Sleep, sleep, timeout};

/// Maximum size of the head of a request, in bytes. Hyper allows paths of 64 KiB and reports longer ones as such.
const MAX_HEAD: usize = 80 << 10;
/// How often the server checks whether a client that waits for its reply is still there.
const CHECK: Duration = Duration::from_millis(50);
/// How long a client that has closed its half may wait for its reply until it is tested.
const QUIET: Duration = Duration::from_millis(500);
/// A reply that changes nothing.
const TEST: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
/// How long, and how much, is still read from a client whose request was refused, so that it receives the reply.
const LAST_WORDS: (Duration, usize) = (Duration::from_millis(500), 1 << 20);

/// Serves a connection until its end. When `stopping` becomes true, requests that arrive within the linger time are
/// still answered, and then the connection is closed.
pub(crate) async fn serve(
    stream: TcpStream,
    router: Router,
    times: Times,
    seat: Seat,
    mut stopping: watch::Receiver<bool>,
) {
    let socket = Arc::new(Socket::new(stream, seat));
    let io = TokioIo::new(Timed::new(Arc::clone(&socket), times.write));
    let router = TowerToHyperService::new(router);
    let service = service_fn(|request: Request<Incoming>| {
        socket.begin(request.version());
        let reply = router.call(request);
        let socket = Arc::clone(&socket);
        async move {
            let reply = reply.await;
            socket.is_answering.store(false, Relaxed);
            reply
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(times.head)
        .max_buf_size(MAX_HEAD)
        .half_close(true)
        .serve_connection(io, service);
    let mut connection = pin!(connection);
    let mut cut = pin!(socket.cut());
    let mut ended = tokio::select! {
        biased;
        ended = connection.as_mut() => Some(ended),
        () = cut.as_mut() => return,
        _ = stopping.wait_for(|&stopping| stopping) => None,
    };
    if ended.is_none() {
        // A request may already be in the socket.
        ended = tokio::select! {
            biased;
            ended = connection.as_mut() => Some(ended),
            () = cut.as_mut() => return,
            () = sleep(times.linger) => None,
        };
    }
    if let Some(ended) = ended {
        // A client that disconnects is not an error.
        return socket.close(&ended, times.head).await;
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        _ = connection => {}
        () = cut => {}
    }
}

/// A socket with what is known about its client.
struct Socket {
    stream: TcpStream,
    seat: Seat,
    /// Whether the client has sent part of a request that has no reply yet.
    has_request: AtomicBool,
    /// Whether a handler works on a request.
    is_answering: AtomicBool,
    /// Whether the client has to ignore what it does not expect.
    is_modern: AtomicBool,
    begun: Notify,
}

impl Socket {
    fn new(stream: TcpStream, seat: Seat) -> Self {
        let no = || AtomicBool::new(false);
        Self { stream, seat, has_request: no(), is_answering: no(), is_modern: no(), begun: Notify::new() }
    }

    /// A handler begins to work on a request.
    fn begin(&self, version: Version) {
        self.is_modern.store(version >= Version::HTTP_11, Relaxed);
        self.is_answering.store(true, Relaxed);
        self.begun.notify_one();
    }

    /// Completes when the connection has to end now.
    async fn cut(&self) {
        tokio::select! {
            () = self.left() => {}
            () = self.seat.dismissed() => self.refuse(&Problem::Crowded),
        }
    }

    /// Completes when the client has left while it waits for a reply.
    async fn left(&self) {
        loop {
            self.begun.notified().await;
            let (mut closed_at, mut is_tested) = (None, false);
            loop {
                sleep(CHECK).await;
                if !self.is_answering.load(Relaxed) {
                    break;
                }
                let Ok(ready) = self.stream.ready(Interest::READABLE | Interest::WRITABLE).await else {
                    return;
                };
                if ready.is_write_closed() {
                    return;
                }
                let is_half = ready.is_read_closed() && self.is_modern.load(Relaxed);
                if !is_half || is_tested || !self.is_answering.load(Relaxed) {
                    continue;
                }
                let closed_at = *closed_at.get_or_insert_with(Instant::now);
                if closed_at.elapsed() >= QUIET {
                    is_tested = true;
                    // If this fails, the next check finds the reason.
                    let _ = self.stream.try_write(TEST);
                }
            }
        }
    }

    /// Ends the connection after Hyper has. A request whose head was too slow, or of another protocol, has no reply yet.
    async fn close(&self, ended: &Result<(), hyper::Error>, limit: Duration) {
        let Err(error) = ended else { return };
        if error.is_timeout() {
            self.refuse(&Problem::slow_head(limit));
        } else if error.is_parse() {
            self.refuse(&Problem::BadHead);
        } else {
            return;
        }
        let _ = socket2::SockRef::from(&self.stream).shutdown(std::net::Shutdown::Write);
        let _ = timeout(LAST_WORDS.0, self.hear_out()).await;
    }

    /// Replies to a request that has no reply yet; a client that has sent nothing gets none.
    fn refuse(&self, problem: &Problem) {
        if self.has_request.swap(false, Relaxed) {
            // The reply fits into an empty buffer, or the client has left.
            let _ = self.stream.try_write(&problem.on_the_wire());
        }
    }

    /// Reads what a client still sends. A connection that is closed before that is reset, and the reply may be lost.
    async fn hear_out(&self) {
        let (mut buffer, mut n_read) = ([0; 4096], 0);
        while n_read < LAST_WORDS.1 && self.stream.readable().await.is_ok() {
            match self.stream.try_read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => n_read += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }
}

/// The status of a reply that Hyper has made itself: a head without a body. All other replies have a header that browsers
/// obey, and no body of ours ends as a head does.
fn made_by_hyper(bytes: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() < 256)?;
    let is_bare = text.ends_with("\r\n\r\n") && !text.contains("nosniff");
    let status = text.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    (is_bare && matches!(status, 400 | 414 | 431)).then_some(status)
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
                    self.socket.has_request.store(false, Relaxed);
                    self.socket.seat.waits(false);
                    return Poll::Ready(written);
                }
            }
        }
        self.socket.seat.waits(true);
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
            if self.socket.stream.poll_read_ready(cx)?.is_pending() {
                self.socket.seat.waits(true);
                return Poll::Pending;
            }
            match self.socket.stream.try_read(buffer.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(n) => {
                    buffer.advance(n);
                    self.socket.has_request.fetch_or(n > 0, Relaxed);
                    self.socket.seat.waits(false);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for Timed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(status) = made_by_hyper(bytes) {
            let reply = Problem::of_head(status).on_the_wire();
            return self.poll_written(cx, |stream| stream.try_write(&reply)).map_ok(|_| bytes.len());
        }
        self.poll_written(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [head] = parts {
            return self.poll_write(cx, head);
        }
        self.get_mut().poll_written(cx, |stream| stream.try_write_vectored(parts))
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
