//! PostgreSQL.
//!
//! The interface is blocking; within, a thread drives the sockets of all connections, so that a query can be given up
//! at any time: at its limit, or when it is stopped. The server is told the limit as well, and what is given up is
//! cancelled there.

mod address;
mod cells;
mod faults;
mod password;
mod session;
mod tls;

use super::pool::Pool;
use super::{Database, DatabaseConfig, DatabaseError, Description, Dialect, Limits, Rows, Statement, Stop};
use address::Address;
use session::{Fault, Session};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Notify;
use tokio_postgres::CancelToken;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long preparing a statement may take, apart from connecting.
const PREPARING: Duration = Duration::from_secs(5);
/// How much later than the server we give up: its own answer leaves the connection usable.
const GRACE: Duration = Duration::from_millis(100);
/// How long the server may take to hear that a query is cancelled.
const CANCELLING: Duration = Duration::from_secs(5);
/// How long to wait before connecting again to a server that starts.
const STARTING: Duration = Duration::from_millis(50);

/// A server, and connections to it.
pub(super) struct Postgres {
    link: Link,
    pool: Pool<Session>,
    /// Always there until it is dropped.
    runtime: Option<Runtime>,
}

/// How to connect.
struct Link {
    address: Address,
    tls: MakeRustlsConnect,
    connect_timeout: Duration,
}

impl Postgres {
    pub(super) fn open(url: &str, config: &DatabaseConfig) -> Result<Self, DatabaseError> {
        let address = Address::new(url, config)?;
        let tls = tls::connector(&address.trust)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|error| DatabaseError::Failed(format!("no thread can be started: {error}")))?;
        let link = Link { address, tls, connect_timeout: config.connect_timeout };
        let database = Self { link, pool: Pool::new(config.connections), runtime: Some(runtime) };
        database.run(&database.preparing(), &Stop::new(), async |_| Ok(()))?;
        Ok(database)
    }

    /// How long connecting and preparing may take.
    fn preparing(&self) -> Limits {
        Limits { time: self.link.connect_timeout.saturating_add(PREPARING), rows: 0 }
    }

    /// Runs `work` with a connection, until the limit of time or until stopped. Connects once more if the server has
    /// gone away.
    fn run<T: Send>(
        &self,
        limits: &Limits,
        stop: &Stop,
        work: impl AsyncFn(&mut Session) -> Result<T, Fault> + Sync,
    ) -> Result<T, DatabaseError> {
        if stop.is_stopped() {
            return Err(DatabaseError::Cancelled);
        }
        let (limit, end) = (limits.time, limits.end());
        let mut slot = self.pool.take(limit, stop)?;
        let kept = slot.item.take();
        let stopped = Arc::new(Notify::new());
        let _watch = stop.watch({
            let stopped = Arc::clone(&stopped);
            move || stopped.notify_one()
        });
        let running = Running::default();
        let runtime = self.runtime.as_ref().ok_or(DatabaseError::Cancelled)?;
        let ended = blocking(runtime, async || {
            tokio::select! {
                biased;
                result = self.attempts(kept, (limits, end), &running, &work) => Ok(result),
                () = stopped.notified() => Err(DatabaseError::Cancelled),
                () = tokio::time::sleep_until((end + GRACE).into()) => Err(DatabaseError::Timeout(limit)),
            }
        });
        match ended {
            Ok((session, result)) => {
                slot.item = session.filter(|session| !session.is_closed());
                result.map_err(|fault| match fault {
                    Fault::Gone(error) | Fault::Stale(error) | Fault::Other(error) => error,
                    Fault::Cancelled(error) if Instant::now() + GRACE < end => error,
                    Fault::Cancelled(_) => DatabaseError::Timeout(limit),
                })
            }
            // The connection was dropped with its query: a cancellation that is late would hit the next one.
            Err(error) => {
                self.cancel(runtime, &running);
                Err(error)
            }
        }
    }

    /// Runs `work` on the connection that was kept, or on a new one, and once more if the server has gone away or if
    /// the tables have changed.
    async fn attempts<T>(
        &self,
        kept: Option<Session>,
        (limits, end): (&Limits, Instant),
        running: &Running,
        work: &impl AsyncFn(&mut Session) -> Result<T, Fault>,
    ) -> (Option<Session>, Result<T, Fault>) {
        let connected = match kept.filter(|session| !session.is_closed()) {
            Some(session) => Ok(session),
            None => self.link.connect(limits, end).await,
        };
        let mut session = match connected {
            Ok(session) => session,
            Err(error) => return (None, Err(Fault::Other(error))),
        };
        running.set(&session);
        match work(&mut session).await {
            Err(Fault::Gone(_)) => {
                // The others are most likely gone, too.
                self.pool.clear();
                match self.link.connect(limits, end).await {
                    Ok(again) => session = again,
                    Err(error) => return (None, Err(Fault::Gone(error))),
                }
                running.set(&session);
                let result = work(&mut session).await;
                (Some(session), result)
            }
            Err(Fault::Stale(_)) => {
                session.forget_all();
                let result = work(&mut session).await;
                (Some(session), result)
            }
            result => (Some(session), result),
        }
    }

    /// Tells the server to end the query that was given up, without waiting for it.
    fn cancel(&self, runtime: &Runtime, running: &Running) {
        if let Some(token) = running.take() {
            let tls = self.link.tls.clone();
            runtime.spawn(async move {
                // If the server cannot be told, its own limit of time ends the query.
                let _ = tokio::time::timeout(CANCELLING, token.cancel_query(tls)).await;
            });
        }
    }
}

/// Waits for `work`, on a thread of its own where the caller is a task of another runtime: these must not wait.
fn blocking<T: Send>(runtime: &Runtime, work: impl AsyncFnOnce() -> T + Send) -> T {
    if Handle::try_current().is_err() {
        return runtime.block_on(work());
    }
    let waited = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(work())).join());
    waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Link {
    /// Connects, and waits for a server that starts.
    async fn connect(&self, limits: &Limits, end_of_query: Instant) -> Result<Session, DatabaseError> {
        let end = end_of_query.min(Limits { time: self.connect_timeout, rows: 0 }.end());
        loop {
            let connecting = Session::connect(&self.address, &self.tls);
            let error = match tokio::time::timeout_at(end.into(), connecting).await {
                Ok(Ok(session)) => return Ok(session),
                Ok(Err(error)) => error,
                Err(_) if end == end_of_query => return Err(DatabaseError::Timeout(limits.time)),
                Err(_) => return Err(self.silent()),
            };
            if !faults::is_starting(&error) || Instant::now() + STARTING >= end {
                return Err(faults::connecting(&error, &self.address));
            }
            tokio::time::sleep(STARTING).await;
        }
    }

    fn silent(&self) -> DatabaseError {
        DatabaseError::Unreachable(format!("no server answers at {}: it is silent", self.address.server))
    }
}

/// How to cancel what runs.
#[derive(Default)]
struct Running(Mutex<Option<CancelToken>>);

impl Running {
    fn set(&self, session: &Session) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.cancel_token());
    }

    fn take(&self) -> Option<CancelToken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Database for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn describe(&self, sql: &str) -> Result<Description, DatabaseError> {
        no_nul(sql)?;
        let server = &self.link.address.server;
        self.run(&self.preparing(), &Stop::new(), async |session| session.describe(sql, server).await)
    }

    fn query(&self, statement: &Statement, limits: &Limits, stop: &Stop) -> Result<Rows, DatabaseError> {
        no_nul(&statement.sql)?;
        let server = &self.link.address.server;
        self.run(limits, stop, async |session| session.query(statement, limits, server).await)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Without waiting: it may be dropped by a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn no_nul(sql: &str) -> Result<(), DatabaseError> {
    sql.find('\0').map_or(Ok(()), |at| Err(super::error::nul_in_statement(at)))
}
