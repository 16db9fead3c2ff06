//! One connection: prepared statements, and queries in a transaction that only reads.

use super::super::error::counted;
use super::super::value::check_decimal;
use super::super::{DatabaseError, Description, Limits, MOST_BYTES, Rows, Statement, Value};
use super::address::Address;
use super::cells::Cell;
use super::faults;
use bytes::BytesMut;
use futures_util::TryStreamExt;
use hashbrown::HashMap;
use spanwise_reading::Answer;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{CancelToken, Client, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Prepared statements that a connection keeps. Beyond, it starts anew.
const PREPARED: usize = 128;

/// How long a prepared statement is used: the columns of `select *` are those of the time when it was prepared.
const PREPARED_FOR: Duration = Duration::from_secs(30);

/// What makes texts of the server the same everywhere, whatever its configuration. And all transactions read only,
/// should one be begun without saying so.
const SETTINGS: &str = "set default_transaction_read_only = on; set datestyle = 'ISO, YMD'; \
    set intervalstyle = 'postgres'; set extra_float_digits = 1; set bytea_output = 'hex'; \
    set standard_conforming_strings = on";

/// A connection.
pub(super) struct Session {
    client: Client,
    prepared: HashMap<String, Arc<Prepared>>,
    /// The limit of time that the server was told.
    time: Option<Duration>,
}

/// A statement that the server knows.
struct Prepared {
    statement: tokio_postgres::Statement,
    columns: Vec<(String, Cell)>,
    at: Instant,
    /// The letters before the statement in what was sent.
    offset: usize,
}

/// Why a statement gave no answer.
pub(super) enum Fault {
    /// The connection cannot be used any more; another one may do.
    Gone(DatabaseError),
    /// The tables have changed since the statement was prepared.
    Stale(DatabaseError),
    /// The server cancelled the statement: at its limit of time, or because somebody told it to.
    Cancelled(DatabaseError),
    Other(DatabaseError),
}

impl Session {
    /// Connects, and leaves the reading and writing of the socket to the runtime.
    pub(super) async fn connect(address: &Address, tls: &MakeRustlsConnect) -> Result<Self, Error> {
        let mut connected = Self::connect_once(&address.config, tls).await;
        if let (Err(error), SslMode::Prefer) = (&connected, address.trust.mode) {
            // TLS is preferred only: where it fails, or where the server lets this user in only without, go without.
            if faults::is_tls(error) || error.code().is_some_and(|code| code.code() == "28000") {
                let mut plain = address.config.clone();
                plain.ssl_mode(SslMode::Disable);
                let without = Self::connect_once(&plain, tls).await;
                connected = if without.is_ok() { without } else { connected };
            }
        }
        connected
    }

    async fn connect_once(config: &tokio_postgres::Config, tls: &MakeRustlsConnect) -> Result<Self, Error> {
        let (client, connection) = config.connect(tls.clone()).await?;
        // Such a database does not know its encoding, and texts that are not UTF-8 would fail the whole query.
        let is_any_encoding = connection.parameter("server_encoding") == Some("SQL_ASCII");
        tokio::spawn(async move {
            // An error ends the connection, and whoever uses it next gets to know.
            let _ = connection.await;
        });
        client.batch_execute(SETTINGS).await?;
        if is_any_encoding {
            client.batch_execute("set client_encoding = 'SQL_ASCII'").await?;
        }
        Ok(Self { client, prepared: HashMap::new(), time: None })
    }

    pub(super) fn cancel_token(&self) -> CancelToken {
        self.client.cancel_token()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) async fn describe(&mut self, sql: &str, server: &str) -> Result<Description, Fault> {
        let prepared = self.prepare(sql, server).await?;
        let columns = prepared.columns.iter().map(|(name, _)| name.clone()).collect();
        Ok(Description { columns, parameters: prepared.statement.params().len() })
    }

    /// Runs a statement and reads as many rows as allowed, and one further to know whether there are more.
    pub(super) async fn query(
        &mut self,
        statement: &Statement,
        limits: &Limits,
        server: &str,
    ) -> Result<Rows, Fault> {
        let prepared = self.prepared(&statement.sql, server).await?;
        counted(prepared.statement.params().len(), statement.parameters.len()).map_err(Fault::Other)?;
        let bound = bound(&statement.parameters).map_err(Fault::Other)?;
        let failed = |error: Error| failed(&error, &statement.sql, prepared.offset, server);
        self.limit(limits.time).await.map_err(failed)?;
        // Read-only, and rolled back: what a function may do in a read-only transaction nevertheless is undone.
        let transaction = self.client.build_transaction().read_only(true).start().await.map_err(failed)?;
        let parameters: Vec<&(dyn ToSql + Sync)> = bound.iter().map(|value| value as _).collect();
        let portal = transaction.bind(&prepared.statement, &parameters).await.map_err(failed)?;
        let fetched = i32::try_from(limits.rows.saturating_add(1)).unwrap_or(i32::MAX);
        let mut stream = pin!(transaction.query_portal_raw(&portal, fetched).await.map_err(failed)?);
        let (mut rows, mut bytes, mut is_truncated) = (Vec::new(), 0, false);
        while let Some(row) = stream.try_next().await.map_err(failed)? {
            bytes += row.raw_size_bytes();
            is_truncated |= rows.len() == limits.rows || (bytes > MOST_BYTES && !rows.is_empty());
            // To the end in any case, so that the connection is ready for the next statement.
            if !is_truncated {
                rows.push(prepared.cells(&row));
            }
        }
        transaction.rollback().await.map_err(failed)?;
        Ok(Rows {
            columns: prepared.columns.iter().map(|(name, _)| name.clone()).collect(),
            rows,
            is_truncated,
        })
    }

    /// Forgets the prepared statements, because their tables have changed.
    pub(super) fn forget_all(&mut self) {
        self.prepared.clear();
    }

    /// Tells the server the limit of time, if it is another than before.
    async fn limit(&mut self, time: Duration) -> Result<(), Error> {
        if self.time != Some(time) {
            // 0 would be no limit at all.
            let millis = time.as_millis().clamp(1, i32::MAX as u128);
            self.client.batch_execute(&format!("set statement_timeout = {millis}")).await?;
            self.time = Some(time);
        }
        Ok(())
    }

    /// The prepared statement, made if there is none that is recent.
    async fn prepared(&mut self, sql: &str, server: &str) -> Result<Arc<Prepared>, Fault> {
        match self.prepared.get(sql).filter(|prepared| prepared.at.elapsed() < PREPARED_FOR) {
            Some(prepared) => Ok(Arc::clone(prepared)),
            None => self.prepare(sql, server).await,
        }
    }

    /// Prepares a statement twice: as it is, for its columns, and then as a part of a select that makes texts of them.
    ///
    /// The server writes values of any type as text, so no type is unknown. And nothing but a query that reads can be
    /// a part of a select: `insert`, `copy`, `set` and the end of a transaction cannot.
    async fn prepare(&mut self, sql: &str, server: &str) -> Result<Arc<Prepared>, Fault> {
        let plain = self.client.prepare(sql).await.map_err(|error| failed(&error, sql, 0, server))?;
        let columns: Vec<(String, Cell)> = plain
            .columns()
            .iter()
            .map(|column| (column.name().to_owned(), Cell::of(column.type_())))
            .collect();
        if columns.is_empty() {
            return Err(Fault::Other(no_query()));
        }
        let (texts, offset) = texts(sql, &columns);
        let statement = self.client.prepare(&texts).await.map_err(|error| {
            match error.code().map(|code| code.code()) {
                // Syntax error, and what is allowed on top only: a `with` that writes.
                Some("42601" | "0A000") => Fault::Other(no_query()),
                _ => failed(&error, sql, offset, server),
            }
        })?;
        if self.prepared.len() >= PREPARED {
            self.prepared.clear();
        }
        let prepared = Arc::new(Prepared { statement, columns, at: Instant::now(), offset });
        self.prepared.insert(sql.to_owned(), Arc::clone(&prepared));
        Ok(prepared)
    }
}

impl Prepared {
    fn cells(&self, row: &tokio_postgres::Row) -> Vec<Answer> {
        let cell = |(at, (_, cell)): (usize, &(String, Cell))| match row.try_get::<_, Option<Bytes>>(at) {
            Ok(bytes) => cell.read(bytes.map(|bytes| String::from_utf8_lossy(bytes.0)).as_deref()),
            Err(_) => Answer::Null,
        };
        self.columns.iter().enumerate().map(cell).collect()
    }
}

/// The select around a statement, and how many letters it puts before it.
fn texts(sql: &str, columns: &[(String, Cell)]) -> (String, usize) {
    let names: Vec<String> = (1..=columns.len()).map(|number| format!("c{number}")).collect();
    let selected: Vec<String> =
        columns.iter().zip(&names).map(|((_, cell), name)| cell.select(&format!("q.{name}"))).collect();
    let head = format!("select {} from (\n", selected.join(", "));
    // On a line of its own: the statement may end in a comment.
    (format!("{head}{sql}\n) as q({})", names.join(", ")), head.len())
}

fn no_query() -> DatabaseError {
    DatabaseError::NotReadOnly("the statement is not a query that only reads; write one select".to_owned())
}

fn failed(error: &Error, sql: &str, offset: usize, server: &str) -> Fault {
    let fault = faults::statement(error, sql, offset, server);
    match error.code().map(|code| code.code()) {
        _ if faults::is_gone(error) => Fault::Gone(fault),
        Some("57014") => Fault::Cancelled(fault),
        Some("0A000" | "26000") => Fault::Stale(fault),
        _ => Fault::Other(fault),
    }
}

/// A parameter as text, which the server reads with the type that the statement gives it.
#[derive(Debug)]
struct Bound<'a>(Option<std::borrow::Cow<'a, str>>);

impl ToSql for Bound<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let Some(text) = &self.0 else { return Ok(IsNull::Yes) };
        out.extend_from_slice(text.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

fn bound(values: &[Value]) -> Result<Vec<Bound<'_>>, DatabaseError> {
    values.iter().enumerate().map(|(at, value)| bind(at + 1, value)).collect()
}

fn bind(number: usize, value: &Value) -> Result<Bound<'_>, DatabaseError> {
    Ok(Bound(Some(match value {
        Value::Null => return Ok(Bound(None)),
        Value::Integer(value) => value.to_string().into(),
        Value::Boolean(value) => if *value { "true" } else { "false" }.into(),
        Value::Decimal(digits) => {
            check_decimal(number, digits)?;
            digits.into()
        }
        Value::Text(text) | Value::Date(text) | Value::Time(text) | Value::DateTime(text) => {
            if text.contains('\0') {
                let message = "the text contains a NUL, which PostgreSQL cannot store".to_owned();
                return Err(DatabaseError::Parameter { number, message });
            }
            text.into()
        }
    })))
}

/// The bytes of a cell: a database in another encoding than UTF-8 may give any.
struct Bytes<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Bytes<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
