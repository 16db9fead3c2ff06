//! What holds for every database, tried on each with the same cases.

use crate::server;
use rusqlite::Connection;
use spanwise_sql::database::{
    Database, DatabaseConfig, DatabaseError, Dialect, Limits, Rows, Statement, StatementFault, Stop, Value,
    open,
};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A table of 100 rows, on each database.
const TABLES: &str = "create table track(id integer primary key, name text, minutes numeric(6, 2));
    insert into track with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
    select i, 'track ' || i, i + 0.5 from n;";

/// Counts far enough to take minutes.
const LONG: &str = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000000000)
    select count(*) from n";

/// The databases there are; a machine may have no PostgreSQL.
pub(crate) fn each(connections: usize, case: impl Fn(&dyn Database, &str)) {
    static FILE: OnceLock<TempDir> = OnceLock::new();
    let directory = FILE.get_or_init(|| {
        let directory = TempDir::new().unwrap();
        Connection::open(directory.path().join("shop.db")).unwrap().execute_batch(TABLES).unwrap();
        directory
    });
    let config = |url: &str| DatabaseConfig {
        directory: directory.path().to_owned(),
        connections,
        ..DatabaseConfig::new(url)
    };
    case(&*open(&config("sqlite:shop.db")).unwrap(), "SQLite");
    if let Some(server) = server::shared() {
        static SHOP: OnceLock<()> = OnceLock::new();
        SHOP.get_or_init(|| {
            server.execute("postgres", "create database shop");
            server.execute(
                "shop",
                &format!("{TABLES} create role reader login; grant select on track to reader;"),
            );
        });
        case(&*open(&config(&server.url("reader", "shop", ""))).unwrap(), "PostgreSQL");
    }
}

/// A statement with `{1:type}` for its parameters.
fn statement(database: &dyn Database, sql: &str, parameters: &[Value]) -> Statement {
    let mut text = String::new();
    for part in sql.split('{') {
        match part.split_once('}') {
            Some((hole, rest)) if text.len() + part.len() < sql.len() + 100 => {
                let (number, kind) = hole.split_once(':').unwrap();
                text += &match database.dialect() {
                    Dialect::Sqlite => format!("?{number}"),
                    Dialect::Postgres => format!("${number}::text::{kind}"),
                };
                text += rest;
            }
            _ => text += part,
        }
    }
    Statement { sql: text, parameters: parameters.to_vec() }
}

pub(crate) fn run(database: &dyn Database, sql: &str, parameters: &[Value]) -> Result<Rows, DatabaseError> {
    database.query(&statement(database, sql, parameters), &Limits::default(), &Stop::new())
}

pub(crate) fn json(rows: &Rows) -> String {
    serde_json::to_string(&rows.rows).unwrap()
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn the_same_rows_come_from_each() {
    each(2, |database, name| {
        for (sql, parameters, expected) in [
            (
                "select id, name from track where id < {1:bigint} order by id",
                vec![Value::Integer(3)],
                r#"[[1,"track 1"],[2,"track 2"]]"#,
            ),
            (
                "select id from track where minutes > {1:numeric} order by id",
                vec![Value::Decimal("99.25".into())],
                "[[99],[100]]",
            ),
            ("select minutes from track where id = 7", vec![], "[[7.5]]"),
            ("select count(*) from track where name = {1:text}", vec![text("track 9")], "[[1]]"),
            ("values (1, 'a'), (2, 'b')", vec![], r#"[[1,"a"],[2,"b"]]"#),
            ("select null, 'x' -- a comment", vec![], r#"[[null,"x"]]"#),
            (
                "select id from track where id in (select id from track where id > {1:bigint}) and id <> {2:bigint} order by id desc",
                vec![Value::Integer(97), Value::Integer(99)],
                "[[100],[98]]",
            ),
            (
                "select name from track where {1:text} is null and id = 1",
                vec![Value::Null],
                r#"[["track 1"]]"#,
            ),
            (
                "with n1(key) as (select id from track), n2(key) as (select key from n1 where key < 3) select max(key), min(key) from n2",
                vec![],
                "[[2,1]]",
            ),
        ] {
            let rows =
                run(database, sql, &parameters).unwrap_or_else(|error| panic!("{name}: {sql}: {error:?}"));
            let found = json(&rows).replace("7.50", "7.5");
            assert_eq!(found, expected, "{name}: {sql}");
            assert!(!rows.is_truncated);
        }
    });
}

#[test]
fn a_statement_is_described_without_running_it() {
    each(1, |database, name| {
        let sql = statement(
            database,
            "select name as \"The Name\", id, id from track where id > {2:bigint} or id = {1:bigint}",
            &[],
        )
        .sql;
        let described = database.describe(&sql).unwrap();
        assert_eq!(
            (&*described.columns, described.parameters),
            (&["The Name", "id", "id"].map(str::to_owned)[..], 2),
            "{name}"
        );
        // What would fail or take long when it runs is described all the same.
        assert_eq!(database.describe(LONG).unwrap().parameters, 0);
    });
}

#[test]
fn rows_end_exactly_at_the_limit() {
    each(1, |database, name| {
        let statement = statement(database, "select id from track order by id", &[]);
        for (limit, rows, is_truncated) in [
            (0, 0, true),
            (1, 1, true),
            (99, 99, true),
            (100, 100, false),
            (101, 100, false),
            (usize::MAX, 100, false),
        ] {
            let limits = Limits { rows: limit, ..Limits::default() };
            let found = database.query(&statement, &limits, &Stop::new()).unwrap();
            assert_eq!((found.rows.len(), found.is_truncated), (rows, is_truncated), "{name}: {limit}");
            assert_eq!(found.columns, ["id"]);
        }
        let empty = run(database, "select id from track where id < 0", &[]).unwrap();
        assert_eq!((empty.columns, empty.rows.len(), empty.is_truncated), (vec!["id".to_owned()], 0, false));
        // A result that would never end is read up to the limit.
        let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
        let limits = Limits { rows: 5, ..Limits::default() };
        let statement = Statement { sql: endless.to_owned(), parameters: Vec::new() };
        assert_eq!(
            json(&database.query(&statement, &limits, &Stop::new()).unwrap()),
            "[[1],[2],[3],[4],[5]]",
            "{name}"
        );
    });
}

#[test]
fn a_query_that_takes_too_long_is_cancelled_while_others_are_answered() {
    each(2, |database, name| {
        std::thread::scope(|scope| {
            let long = scope.spawn(|| {
                let begin = Instant::now();
                let limits = Limits { time: Duration::from_millis(400), rows: 10 };
                let statement = Statement { sql: LONG.to_owned(), parameters: Vec::new() };
                (database.query(&statement, &limits, &Stop::new()), begin.elapsed())
            });
            let mut answered = 0;
            while !long.is_finished() {
                assert_eq!(json(&run(database, "select count(*) from track", &[]).unwrap()), "[[100]]");
                answered += 1;
            }
            let (result, elapsed) = long.join().unwrap();
            assert_eq!(result, Err(DatabaseError::Timeout(Duration::from_millis(400))), "{name}");
            println!("{name}: cancelled after {elapsed:?}, {answered} answered meanwhile");
            assert!(elapsed < Duration::from_millis(1500), "{name}: {elapsed:?}");
            assert!(answered >= 5, "{name}: {answered}");
        });
    });
}

#[test]
fn stopping_ends_a_query_at_once_and_leaves_the_database_usable() {
    each(1, |database, name| {
        for _ in 0..5 {
            let stop = Stop::new();
            std::thread::scope(|scope| {
                let limits = Limits { time: Duration::from_secs(60), rows: 10 };
                let statement = Statement { sql: LONG.to_owned(), parameters: Vec::new() };
                let inside = stop.clone();
                let long =
                    scope.spawn(move || (database.query(&statement, &limits, &inside), Instant::now()));
                std::thread::sleep(Duration::from_millis(30));
                let begin = Instant::now();
                stop.stop();
                let (result, end) = long.join().unwrap();
                assert_eq!(result, Err(DatabaseError::Cancelled), "{name}");
                println!("{name}: ended {:?} after it was stopped", end - begin);
                assert!(end - begin < Duration::from_millis(250), "{name}: {:?}", end - begin);
            });
            assert_eq!(json(&run(database, "select count(*) from track", &[]).unwrap()), "[[100]]", "{name}");
            let stopped = database.query(&statement(database, "select 1", &[]), &Limits::default(), &stop);
            assert_eq!(stopped, Err(DatabaseError::Cancelled), "{name}");
        }
    });
}

#[test]
fn stopping_ends_a_sort_in_time() {
    each(1, |database, name| {
        let stop = Stop::new();
        let sorted = format!(
            "select max(i) from (select i from ({}) as m order by -i limit 5000000) as s",
            LONG.replace("count(*)", "i")
        );
        std::thread::scope(|scope| {
            let inside = stop.clone();
            let statement = Statement { sql: sorted, parameters: Vec::new() };
            let long = scope.spawn(move || {
                database.query(&statement, &Limits { time: Duration::from_secs(60), rows: 10 }, &inside)
            });
            std::thread::sleep(Duration::from_millis(300));
            let begin = Instant::now();
            stop.stop();
            assert_eq!(long.join().unwrap(), Err(DatabaseError::Cancelled), "{name}");
            println!("{name}: sort ended {:?} after it was stopped", begin.elapsed());
            assert!(begin.elapsed() < Duration::from_millis(500), "{name}: {:?}", begin.elapsed());
        });
    });
}

#[test]
fn faults_of_statements_are_told_apart_with_their_position() {
    each(1, |database, name| {
        use StatementFault::{MissingColumn, MissingFunction, MissingTable, Syntax};
        for (sql, expected, at) in [
            ("select id from trakc", MissingTable, Some("trakc")),
            ("select 'trakcs' as trakc2 from track, trakc where 1 = 2", MissingTable, Some("trakc ")),
            ("select nmae from track", MissingColumn, Some("nmae")),
            ("select 'über', t.nmae from track t", MissingColumn, Some("t.nmae")),
            ("select no_such_function(id) from track", MissingFunction, Some("no_such_function")),
            ("select id frm track wher", Syntax, None),
            ("select (1", Syntax, None),
        ] {
            for result in [run(database, sql, &[]).map(drop), database.describe(sql).map(drop)] {
                let Err(DatabaseError::Statement { fault, position, message }) = result else {
                    panic!("{name}: {sql}: {result:?}");
                };
                assert_eq!(fault, expected, "{name}: {sql}: {message}");
                // SQLite puts the position of a qualified column on its name.
                if let (Some(at), Some(position)) = (at, position) {
                    let found = &sql[position..];
                    assert!(found.starts_with(at) || at.ends_with(&found[..4]), "{name}: {sql}: {found}");
                }
                assert!(position.is_some() || sql == "select (1", "{name}: {sql}");
            }
        }
        for given in [0, 2] {
            let result =
                run(database, "select id from track where id = {1:bigint}", &vec![Value::Integer(1); given]);
            let is_counted =
                matches!(&result, Err(DatabaseError::Statement { fault: StatementFault::Parameters, .. }));
            assert!(is_counted, "{name}: {result:?}");
        }
        let nul = run(database, "select 1 \0 ; delete from track", &[]);
        assert!(matches!(nul, Err(DatabaseError::Statement { position: Some(9), .. })), "{name}: {nul:?}");
        let two = run(database, "select 1; select 2", &[]).unwrap_err();
        assert!(matches!(two, DatabaseError::NotReadOnly(_)), "{name}: {two:?}");
        assert_eq!(json(&run(database, "select 1", &[]).unwrap()), "[[1]]", "{name}: usable after faults");
    });
}

#[test]
fn many_threads_share_few_connections() {
    each(2, |database, name| {
        std::thread::scope(|scope| {
            for thread in 0..6 {
                scope.spawn(move || {
                    for round in 0..30 {
                        let id = 1 + (thread * 30 + round) % 100;
                        let rows = run(
                            database,
                            "select name from track where id = {1:bigint}",
                            &[Value::Integer(id)],
                        );
                        assert_eq!(json(&rows.unwrap()), format!("[[\"track {id}\"]]"), "{name}");
                    }
                });
            }
        });
    });
}

#[test]
fn large_cells_end_the_rows_early() {
    each(1, |database, name| {
        let mebibyte = match database.dialect() {
            Dialect::Sqlite => "hex(zeroblob(524288))",
            Dialect::Postgres => "repeat('00', 524288)",
        };
        let rows = run(database, &format!("select {mebibyte} from track"), &[]).unwrap();
        assert!(rows.is_truncated && (60..=64).contains(&rows.rows.len()), "{name}: {}", rows.rows.len());
        assert_eq!(json(&run(database, "select 1", &[]).unwrap()), "[[1]]", "{name}");
    });
}

#[test]
fn waiting_for_a_connection_ends_at_the_limit_and_any_limit_is_possible() {
    each(1, |database, name| {
        let (stop, started) = (Stop::new(), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                started.wait();
                let forever = Limits { time: Duration::MAX, rows: usize::MAX };
                let statement = Statement { sql: LONG.to_owned(), parameters: Vec::new() };
                assert_eq!(
                    database.query(&statement, &forever, &stop),
                    Err(DatabaseError::Cancelled),
                    "{name}"
                );
            });
            started.wait();
            std::thread::sleep(Duration::from_millis(50));
            let limits = Limits { time: Duration::from_millis(100), rows: 1 };
            let begin = Instant::now();
            let busy = database.query(&statement(database, "select 1", &[]), &limits, &Stop::new());
            assert!(matches!(busy, Err(DatabaseError::Busy(_))), "{name}: {busy:?}");
            assert!((100..1000).contains(&begin.elapsed().as_millis()), "{name}");
            stop.stop();
        });
        let none = Limits { time: Duration::ZERO, rows: 1 };
        let result =
            database.query(&statement(database, "select count(*) from track", &[]), &none, &Stop::new());
        assert!(matches!(result, Ok(_) | Err(DatabaseError::Timeout(_))), "{name}: {result:?}");
    });
}

#[test]
fn what_one_thread_gives_up_never_hits_the_query_of_another() {
    each(3, |database, name| {
        std::thread::scope(|scope| {
            for thread in 0..3u64 {
                scope.spawn(move || {
                    for round in 0..25u64 {
                        let stop = Stop::new();
                        let wait = Duration::from_micros((thread * 977 + round * 389) % 4000);
                        let (statement, stopping) =
                            (Statement { sql: LONG.to_owned(), parameters: Vec::new() }, stop.clone());
                        let timer = std::thread::spawn(move || {
                            std::thread::sleep(wait);
                            stopping.stop();
                        });
                        // Half of them end at their limit instead.
                        let time = if round % 2 == 0 { Duration::from_secs(60) } else { wait / 2 };
                        let given_up = database.query(&statement, &Limits { time, rows: 1 }, &stop);
                        let is_given_up =
                            matches!(given_up, Err(DatabaseError::Cancelled | DatabaseError::Timeout(_)));
                        assert!(is_given_up, "{name}: {given_up:?}");
                        timer.join().unwrap();
                        let id = i64::try_from(1 + (thread + round) % 100).unwrap();
                        let rows = run(
                            database,
                            "select name from track where id = {1:bigint}",
                            &[Value::Integer(id)],
                        );
                        assert_eq!(json(&rows.unwrap()), format!("[[\"track {id}\"]]"), "{name}");
                    }
                });
            }
        });
    });
}
