//! Starts a server, accepts connections and shuts down in order.

use crate::connection;
use crate::engine::Source;
use crate::event::{Event, Listener};
use crate::http::{self, Access, App};
use crate::journal::Journal;
use crate::limits::Config;
use crate::metrics::Metrics;
use crate::models::Models;
use crate::queue::Queue;
use crate::seats::Seats;
use axum::Extension;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Why a server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen on {addr}: {reason}; pick another address with --addr")]
    Bind {
        /// The address.
        addr: SocketAddr,
        /// The error of the system.
        reason: io::Error,
    },
    /// The log of questions cannot be written.
    #[error("cannot keep a log of questions in {path}: {reason}")]
    Log {
        /// The file.
        path: String,
        /// The error of the system.
        reason: io::Error,
    },
    /// A model could not be loaded when the server started.
    #[error("{0}")]
    Model(String),
    /// The system provides no threads, sockets or signals.
    #[error("cannot serve: {0}")]
    System(io::Error),
}

/// Shuts a server down, or makes it load its models again, from any thread.
#[derive(Clone)]
pub struct Handle {
    stopping: Arc<watch::Sender<bool>>,
    hurrying: Arc<watch::Sender<bool>>,
    models: Arc<Models>,
}

impl Handle {
    /// Shuts down after the work in flight, or after the drain time.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Shuts down without waiting for work in flight.
    pub fn stop_at_once(&self) {
        self.stop();
        self.hurrying.send_replace(true);
    }

    /// Loads all models again.
    pub fn reload(&self) {
        self.models.reload();
    }
}

/// A server that is bound to its address.
pub struct Server {
    listener: TcpListener,
    app: Arc<App>,
    config: Config,
    handle: Handle,
}

/// How long to wait when the system has no more sockets to give, and how many connections give way.
const NO_SOCKETS: (Duration, usize) = (Duration::from_millis(5), 16);
/// How long to wait for a further connection that was established before the shutdown.
const LAST_CALL: Duration = Duration::from_millis(10);
/// How often the end of the threads is checked for.
const POLL_THREADS: Duration = Duration::from_millis(5);

impl Server {
    /// Binds the address. Models are loaded when the server runs; the first serves requests that name none.
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
        let metrics = Arc::new(Metrics::new(limits.queue));
        let listener = counting(listener, Arc::clone(&metrics));
        let journal = config.log.as_ref().map(|log| {
            let path = log.path.display().to_string();
            Journal::start(log, &metrics, &listener).map_err(|reason| ServeError::Log { path, reason })
        });
        let app = App {
            journal: journal.transpose()?,
            models,
            queue: Arc::new(Queue::new(limits.queue, limits.max_batch, limits.workers)),
            listener,
            metrics,
            limits: limits.clone(),
            withhold: config.withhold,
            body_time: config.times.body,
            reply_time: config.times.reply,
            access: Access::new(&config),
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

    /// A handle to shut the server down with.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Serves until it is shut down.
    ///
    /// # Errors
    /// A model that does not load the first time; a system without threads or sockets.
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listener, app, config, handle } = self;
        Running { app, config, handle }.run(listener)
    }
}

/// A server without its listening socket.
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
            let loader = self.loader();
            let until = runtime.block_on(self.accept(listener)).map_err(ServeError::System)?;
            self.app.models.stop();
            self.app.queue.close();
            self.app.queue.clear();
            // A thread that is still busy when the time is over ends with the process.
            let is_busy = || !loader.is_finished() || workers.iter().any(|worker| !worker.is_finished());
            while is_busy() && Instant::now() < until && !*self.handle.hurrying.borrow() {
                std::thread::sleep(POLL_THREADS);
            }
            if !loader.is_finished() {
                return Ok(());
            }
            let loaded = loader.join().unwrap_or_else(|_| Err("loading a model panicked".to_owned()));
            loaded.map_err(ServeError::Model)
        });
        if let Some(journal) = &self.app.journal {
            journal.end();
        }
        // Also after an error, so that the threads end.
        self.app.queue.close();
        served
    }

    /// Starts the thread that loads models. It stops the server if the first load fails.
    fn loader(&self) -> std::thread::JoinHandle<Result<(), String>> {
        let (app, handle, poll) = (Arc::clone(&self.app), self.handle.clone(), self.config.times.poll);
        std::thread::spawn(move || {
            let kept = app.models.keep(poll, &app.listener);
            if kept.is_err() {
                handle.stop();
            }
            kept
        })
    }

    /// Accepts connections until the shutdown, then drains them. Returns when the drain time ends.
    async fn accept(&self, listener: TcpListener) -> io::Result<Instant> {
        let report = &self.app.listener;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let addr = listener.local_addr()?;
        if !addr.ip().is_loopback() && self.config.token.is_none() {
            report(Event::Exposed { addr });
        }
        if self.config.signals {
            self.watch_signals()?;
        }
        report(Event::Listening { addr });
        let router = http::router(Arc::clone(&self.app));
        let seats = Seats::new(self.config.limits.max_connections);
        let mut stopping = self.handle.stopping.subscribe();
        let mut open = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                _ = stopping.wait_for(|&stopping| stopping) => break,
                _ = open.join_next(), if !open.is_empty() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok(accepted) => self.open(&mut open, &router, accepted, &seats),
                Err(_) => {
                    (0..NO_SOCKETS.1).for_each(|_| seats.dismiss_one());
                    tokio::time::sleep(NO_SOCKETS.0).await;
                }
            }
        }
        // Connections that the system has already established are served.
        let until = Instant::now() + self.config.times.linger;
        while let Ok(Ok(accepted)) = tokio::time::timeout(LAST_CALL, listener.accept()).await {
            self.open(&mut open, &router, accepted, &seats);
            if Instant::now() > until {
                break;
            }
        }
        drop(listener);
        report(Event::Draining { connections: open.len() });
        let until = Instant::now() + self.config.times.drain;
        let drained = async { while open.join_next().await.is_some() {} };
        let mut hurrying = self.handle.hurrying.subscribe();
        let in_time = tokio::select! {
            drained = tokio::time::timeout_at(until.into(), drained) => drained.is_ok(),
            _ = hurrying.wait_for(|&hurrying| hurrying) => false,
        };
        let cut = if in_time { 0 } else { open.len() };
        open.abort_all();
        report(Event::Stopped { cut });
        Ok(until)
    }

    fn open(
        &self,
        open: &mut JoinSet<()>,
        router: &axum::Router,
        (stream, addr): (TcpStream, SocketAddr),
        seats: &Arc<Seats>,
    ) {
        // Without a seat, the connection is closed.
        let Some(seat) = seats.take() else { return };
        // A reply is written at once, so delaying it for more data would only cost time.
        let _ = stream.set_nodelay(true);
        let peer = http::Peer { addr, is_reserve: seat.is_reserve() };
        let router = router.clone().layer(Extension(peer));
        let (times, stopping) = (self.config.times.clone(), self.handle.stopping.subscribe());
        let metrics = Arc::clone(&self.app.metrics);
        open.spawn(async move {
            metrics.connections.inc();
            let _open = OpenConnection(metrics);
            connection::serve(stream, router, times, seat, stopping).await;
        });
    }

    /// SIGTERM and SIGINT shut the server down, a second one at once; SIGHUP loads the models again.
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

/// An open connection in the metrics, however its task ends.
struct OpenConnection(Arc<Metrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.dec();
    }
}

/// A listener that counts loads of models before it passes events on.
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
