//! SQLite, compiled in.
//!
//! Four things keep a statement from anything but reading the file: the file is opened for reading, `query_only` is
//! set, an authorizer refuses all actions but reading, and a statement that SQLite itself does not call read-only is
//! not run.

mod access;
mod faults;

use super::pool::{Pool, Slot};
use super::{
    Database, DatabaseConfig, DatabaseError, Description, Dialect, Limits, MOST_BYTES, Rows, Statement, Stop,
    Value,
};
use faults::{fault, of_the_file};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags};
use serde_json::Number;
use spanwise_reading::Answer;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a statement waits for another program to give up its lock on the file.
const LOCKED: Duration = Duration::from_secs(2);
/// How long preparing a statement may take.
const PREPARING: Duration = Duration::from_secs(5);
/// Instructions of SQLite's machine between two looks at the clock: some tens of microseconds.
const INSTRUCTIONS: i32 = 1000;
/// Prepared statements that a connection keeps.
const PREPARED: usize = 128;

/// A file of SQLite, open for reading.
pub(super) struct Sqlite {
    path: PathBuf,
    pool: Pool<Open>,
}

/// A connection, and which file it has open: another one may have taken its place since.
struct Open {
    connection: Connection,
    watch: Arc<Mutex<Option<Run>>>,
    file: Option<(u64, u64)>,
}

/// What the callbacks of a connection look at while a statement runs.
struct Run {
    end: Instant,
    end_of_lock: Instant,
    stop: Stop,
}

impl Sqlite {
    pub(super) fn open(path: &Path, config: &DatabaseConfig) -> Result<Self, DatabaseError> {
        let database = Self { path: path.to_owned(), pool: Pool::new(config.connections) };
        let limits = Limits { time: config.connect_timeout, rows: 1 };
        // Reads the header and the schema, and so finds files that are no databases.
        let sql = "select count(*) from sqlite_schema";
        database.run(sql, &limits, &Stop::new(), |connection| connection.query_row(sql, [], |_| Ok(())))?;
        Ok(database)
    }

    /// Runs `work` with a connection, until the limit of time or until stopped.
    fn run<T>(
        &self,
        sql: &str,
        limits: &Limits,
        stop: &Stop,
        work: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, DatabaseError> {
        let end = limits.end();
        if stop.is_stopped() {
            return Err(DatabaseError::Cancelled);
        }
        let mut slot = self.pool.take(limits.time, stop)?;
        let open = self.connected(&mut slot)?;
        let run = Run { end, end_of_lock: end.min(Instant::now() + LOCKED), stop: stop.clone() };
        open.watch(Some(run));
        let result = work(&open.connection);
        open.watch(None);
        result.map_err(|error| match fault(error, sql, &self.path) {
            DatabaseError::Cancelled if stop.is_stopped() => DatabaseError::Cancelled,
            DatabaseError::Cancelled => DatabaseError::Timeout(limits.time),
            // The lock outlasted the limit of time, or waiting for it was stopped.
            DatabaseError::Locked(_) if stop.is_stopped() => DatabaseError::Cancelled,
            other => other,
        })
    }

    /// The connection in `slot`, made if there is none or if its file is no longer the one of that name.
    fn connected<'a>(&self, slot: &'a mut Slot<'_, Open>) -> Result<&'a mut Open, DatabaseError> {
        let file = access::identity(&self.path)?;
        let open = match slot.item.take().filter(|open| open.file == file) {
            Some(open) => open,
            None => Open::new(&self.path, file).map_err(|error| of_the_file(&error, &self.path))?,
        };
        Ok(slot.item.insert(open))
    }
}

impl Open {
    fn new(path: &Path, file: Option<(u64, u64)>) -> Result<Self, rusqlite::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        access::restrict(&mut connection)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        let watch = Arc::new(Mutex::new(None));
        let (during, locked) = (Arc::clone(&watch), Arc::clone(&watch));
        connection.progress_handler(INSTRUCTIONS, Some(move || ends(&during, |run| run.end)))?;
        connection.busy_handler(Some(move |_: i32| {
            let ends = ends(&locked, |run| run.end_of_lock);
            if !ends {
                std::thread::sleep(Duration::from_millis(2));
            }
            !ends
        }))?;
        Ok(Self { connection, watch, file })
    }

    fn watch(&self, run: Option<Run>) {
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }
}

/// Whether what runs is to end now.
fn ends(watch: &Mutex<Option<Run>>, end: impl Fn(&Run) -> Instant) -> bool {
    let watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
    watch.as_ref().is_some_and(|run| run.stop.is_stopped() || Instant::now() >= end(run))
}

impl Database for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn describe(&self, sql: &str) -> Result<Description, DatabaseError> {
        no_nul(sql)?;
        let limits = Limits { time: PREPARING, rows: 0 };
        self.run(sql, &limits, &Stop::new(), |connection| {
            let statement = connection.prepare_cached(sql)?;
            let columns = statement.column_names().map(str::to_owned).collect();
            Ok(reads(&statement).map(|()| Description { columns, parameters: statement.parameter_count() }))
        })?
    }

    fn query(&self, statement: &Statement, limits: &Limits, stop: &Stop) -> Result<Rows, DatabaseError> {
        no_nul(&statement.sql)?;
        let parameters = parameters(&statement.parameters)?;
        self.run(&statement.sql, limits, stop, |connection| {
            let mut prepared = connection.prepare_cached(&statement.sql)?;
            let checked = reads(&prepared).and_then(|()| counted(&prepared, parameters.len()));
            if let Err(error) = checked {
                return Ok(Err(error));
            }
            for (at, value) in parameters.iter().enumerate() {
                prepared.raw_bind_parameter(at + 1, value)?;
            }
            collect(&mut prepared, limits.rows).map(Ok)
        })?
    }
}

/// Steps through the rows, and one further to know whether there are more.
fn collect(statement: &mut rusqlite::Statement<'_>, most: usize) -> Result<Rows, rusqlite::Error> {
    let mut columns = None;
    let (mut rows, mut bytes, mut is_truncated) = (Vec::new(), 0, false);
    let mut cursor = statement.raw_query();
    while let Some(row) = cursor.next()? {
        // After the first step: SQLite prepares a statement again whose tables have changed.
        let names = columns.get_or_insert_with(|| names(row.as_ref()));
        let cells = (0..names.len()).map(|at| row.get_ref(at)).collect::<Result<Vec<_>, _>>()?;
        bytes += cells.iter().map(|value| value.as_bytes().map_or(8, <[u8]>::len)).sum::<usize>();
        if rows.len() == most || (bytes > MOST_BYTES && !rows.is_empty()) {
            is_truncated = true;
            break;
        }
        rows.push(cells.into_iter().map(cell).collect());
    }
    drop(cursor);
    Ok(Rows { columns: columns.unwrap_or_else(|| names(statement)), rows, is_truncated })
}

fn names(statement: &rusqlite::Statement<'_>) -> Vec<String> {
    statement.column_names().map(str::to_owned).collect()
}

/// That a statement is one that gives rows and changes nothing.
fn reads(statement: &rusqlite::Statement<'_>) -> Result<(), DatabaseError> {
    if statement.readonly() && statement.column_count() > 0 {
        return Ok(());
    }
    Err(DatabaseError::NotReadOnly("the statement is not a query; write one select".to_owned()))
}

fn counted(statement: &rusqlite::Statement<'_>, given: usize) -> Result<(), DatabaseError> {
    super::error::counted(statement.parameter_count(), given)
}

fn no_nul(sql: &str) -> Result<(), DatabaseError> {
    // SQLite would end the statement there.
    sql.find('\0').map_or(Ok(()), |at| Err(super::error::nul_in_statement(at)))
}

fn parameters(values: &[Value]) -> Result<Vec<ToSqlOutput<'_>>, DatabaseError> {
    values.iter().enumerate().map(|(at, value)| parameter(at + 1, value)).collect()
}

fn parameter(number: usize, value: &Value) -> Result<ToSqlOutput<'_>, DatabaseError> {
    Ok(ToSqlOutput::Borrowed(match value {
        Value::Null => ValueRef::Null,
        Value::Integer(value) => ValueRef::Integer(*value),
        Value::Decimal(digits) => ValueRef::Real(super::value::double(number, digits)?),
        Value::Boolean(value) => ValueRef::Integer(i64::from(*value)),
        Value::Text(text) | Value::Date(text) | Value::Time(text) | Value::DateTime(text) => {
            ValueRef::Text(text.as_bytes())
        }
    }))
}

/// A cell as it is stored. SQLite has no dates: they stay texts, or numbers.
fn cell(value: ValueRef<'_>) -> Answer {
    match value {
        ValueRef::Null => Answer::Null,
        ValueRef::Integer(value) => Answer::Number(value.into()),
        ValueRef::Real(value) => Number::from_f64(value)
            .map_or_else(|| Answer::from(if value > 0.0 { "Infinity" } else { "-Infinity" }), Answer::Number),
        // SQLite does not check that texts are UTF-8.
        ValueRef::Text(bytes) => Answer::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => super::value::bytes(bytes.len()),
    }
}
