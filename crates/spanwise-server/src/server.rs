//! The life of a server: bind, accept, drain, end.

use crate::connection;
use crate::engine::Source;
use crate::event::{Event, Listener};
use crate::http::{self, App};
use crate::limits::Config;
use crate::metrics::Metrics;
use crate::models::Models;
use crate::queue::Queue;
use axum::Extension;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// Why a server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen on {addr}: {reason}; pick another address with --addr")]
    Bind {
        /// The address.
        addr: SocketAddr,
        /// What the system says.
        reason: io::Error,
    },
    /// A model could not be loaded when the server started.
    #[error("{0}")]
    Model(String),
    /// The system gave no threads, sockets or signals.
    #[error("the system does not let us serve: {0}")]
    System(io::Error),
}

/// Ends a server, or makes it load its models again, from any thread.
#[derive(Clone)]
pub struct Handle {
    stopping: Arc<watch::Sender<bool>>,
    hurrying: Arc<watch::Sender<bool>>,
    models: Arc<Models>,
}

impl Handle {
    /// Takes no more connections, finishes what is in flight, and ends.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Ends without waiting for what is in flight.
    pub fn stop_at_once(&self) {
        self.stop();
        self.hurrying.send_replace(true);
    }

    /// Loads all models again.
    pub fn reload(&self) {
        self.models.reload();
    }
}

/// A server that has its address.
pub struct Server {
    /// Open until the server ends; nobody may be left waiting at it.
    listener: TcpListener,
    app: Arc<App>,
    config: Config,
    handle: Handle,
}

/// How long to wait when the system has no more sockets to give.
const NO_SOCKETS: Duration = Duration::from_millis(50);
/// How long to look for connections that came before the end.
const LAST_CALL: Duration = Duration::from_millis(10);

impl Server {
    /// Binds the address. Models are loaded when the server runs; the first is the one that is meant when a request
    /// names none.
    ///
    /// # Errors
    /// An address that cannot be used.
    pub fn bind(
        config: Config,
        sources: Vec<(String, Box<dyn Source>)>,
        listener: Listener,
    ) -> Result<Self, ServeError> {
        let addr = config.addr;
        let bound = TcpListener::bind(addr).and_then(|bound| {
            bound.set_nonblocking(true)?;
            Ok(bound)
        });
        let bound = bound.map_err(|reason| ServeError::Bind { addr, reason })?;
        let models = Arc::new(Models::new(sources));
        let handle = Handle {
            stopping: Arc::new(watch::Sender::new(false)),
            hurrying: Arc::new(watch::Sender::new(false)),
            models: Arc::clone(&models),
        };
        let limits = &config.limits;
        let metrics = Arc::new(Metrics::new());
        let app = App {
            models,
            queue: Arc::new(Queue::new(limits.queue, limits.max_batch, limits.workers)),
            listener: counting(listener, Arc::clone(&metrics)),
            metrics,
            limits: limits.clone(),
            body_time: config.times.body,
            token: config.token.clone(),
            stopping: handle.stopping.subscribe(),
        };
        Ok(Self { listener: bound, app: Arc::new(app), config, handle })
    }

    /// The address, with the port that was found for port 0.
    ///
    /// # Errors
    /// A socket that is broken.
    pub fn addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Something to end the server with.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Serves until it is told to end.
    ///
    /// # Errors
    /// A model that does not load the first time; a system without threads or sockets.
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listener, app, config, handle } = self;
        Running { app, config, handle }.run(listener)
    }
}

/// A server that has given its socket away.
struct Running {
    app: Arc<App>,
    config: Config,
    handle: Handle,
}

impl Running {
    fn run(&self, listener: TcpListener) -> Result<(), ServeError> {
        let workers = self.app.queue.start(&self.app.metrics, &self.app.listener);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let served = runtime.map_err(ServeError::System).and_then(|runtime| {
            let keeper = self.keeper();
            let served = runtime.block_on(self.accept(listener));
            self.app.models.stop();
            let kept = keeper.join().unwrap_or_else(|_| Err("the loader of models broke down".to_owned()));
            served.map_err(ServeError::System)?;
            kept.map_err(ServeError::Model)
        });
        self.app.queue.close();
        self.app.queue.clear();
        if !*self.handle.hurrying.borrow() {
            for worker in workers {
                // A worker that broke down has told so.
                let _ = worker.join();
            }
        }
        served
    }

    /// Starts the thread that loads models. If the first load fails, there is nothing to serve.
    fn keeper(&self) -> std::thread::JoinHandle<Result<(), String>> {
        let (app, handle, poll) = (Arc::clone(&self.app), self.handle.clone(), self.config.times.poll);
        std::thread::spawn(move || {
            let kept = app.models.keep(poll, &app.listener);
            if kept.is_err() {
                handle.stop();
            }
            kept
        })
    }

    async fn accept(&self, listener: TcpListener) -> io::Result<()> {
        let tell = &self.app.listener;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let addr = listener.local_addr()?;
        if !addr.ip().is_loopback() && self.config.token.is_none() {
            tell(Event::Exposed { addr });
        }
        if self.config.signals {
            self.watch_signals()?;
        }
        tell(Event::Listening { addr });
        let router = http::router(Arc::clone(&self.app));
        let places = Arc::new(Semaphore::new(self.config.limits.max_connections));
        let mut stopping = self.handle.stopping.subscribe();
        let mut open = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                _ = stopping.wait_for(|&stopping| stopping) => break,
                _ = open.join_next(), if !open.is_empty() => continue,
                accepted = take(&listener, &places) => accepted,
            };
            match accepted {
                Ok((stream, peer, place)) => self.open(&mut open, &router, (stream, peer), Some(place)),
                Err(_) => tokio::time::sleep(NO_SOCKETS).await,
            }
        }
        // Connections that the system has accepted for us already are ours to answer.
        let until = tokio::time::Instant::now() + self.config.times.linger;
        while let Ok(Ok((stream, peer))) = tokio::time::timeout(LAST_CALL, listener.accept()).await {
            self.open(&mut open, &router, (stream, peer), None);
            if tokio::time::Instant::now() > until {
                break;
            }
        }
        drop(listener);
        tell(Event::Draining { connections: open.len() });
        let drained = async { while open.join_next().await.is_some() {} };
        let mut hurrying = self.handle.hurrying.subscribe();
        let in_time = tokio::select! {
            drained = tokio::time::timeout(self.config.times.drain, drained) => drained.is_ok(),
            _ = hurrying.wait_for(|&hurrying| hurrying) => false,
        };
        let cut = if in_time { 0 } else { open.len() };
        open.abort_all();
        tell(Event::Stopped { cut });
        Ok(())
    }

    fn open(
        &self,
        open: &mut JoinSet<()>,
        router: &axum::Router,
        (stream, peer): (TcpStream, SocketAddr),
        place: Option<tokio::sync::OwnedSemaphorePermit>,
    ) {
        // Replies are written in one piece; waiting for more only costs time.
        let _ = stream.set_nodelay(true);
        let router = router.clone().layer(Extension(http::Peer(peer)));
        let (times, stopping) = (self.config.times.clone(), self.handle.stopping.subscribe());
        let metrics = Arc::clone(&self.app.metrics);
        open.spawn(async move {
            metrics.connections.fetch_add(1, Ordering::Relaxed);
            let _leaving = Leaving(metrics);
            connection::serve(stream, router, times, stopping).await;
            drop(place);
        });
    }

    /// SIGTERM and SIGINT end the server, a second one at once; SIGHUP loads the models again.
    #[cfg(unix)]
    fn watch_signals(&self) -> io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut term = signal(SignalKind::terminate())?;
        let mut int = signal(SignalKind::interrupt())?;
        let mut hup = signal(SignalKind::hangup())?;
        let handle = self.handle.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = hup.recv() => { handle.reload(); continue; }
                    _ = term.recv() => {}
                    _ = int.recv() => {}
                }
                if *handle.stopping.borrow() {
                    handle.stop_at_once();
                }
                handle.stop();
            }
        });
        Ok(())
    }

    #[cfg(not(unix))]
    fn watch_signals(&self) -> io::Result<()> {
        let handle = self.handle.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                handle.stop();
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                handle.stop_at_once();
            }
        });
        Ok(())
    }
}

/// Counts a connection out, however its task ends.
struct Leaving(Arc<Metrics>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The next connection, once there is a place for it.
async fn take(
    listener: &tokio::net::TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, place))
}

/// Counts what is worth counting on the way to the listener.
fn counting(listener: Listener, metrics: Arc<Metrics>) -> Listener {
    Arc::new(move |event| {
        match &event {
            Event::Loaded { model, .. } => metrics.load(model, "loaded"),
            Event::LoadFailed { model, .. } => metrics.load(model, "failed"),
            _ => {}
        }
        listener(event);
    })
}
