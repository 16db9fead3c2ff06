//! What only a file can do: be locked, absent, damaged, replaced, and open to more than reading.

use rusqlite::Connection;
use spanwise_reading::Answer;
use spanwise_sql::database::{Database, DatabaseConfig, DatabaseError, Limits, Rows, Statement, Stop, open};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A file with the tables of `sql`, in a directory of its own.
fn file(sql: &str) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("shop.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (directory, path)
}

fn config(directory: &Path, url: &str) -> DatabaseConfig {
    DatabaseConfig { directory: directory.to_owned(), ..DatabaseConfig::new(url) }
}

fn opened(sql: &str) -> (TempDir, PathBuf, Box<dyn Database>) {
    let (directory, path) = file(sql);
    let database = open(&config(directory.path(), "sqlite:shop.db")).unwrap();
    (directory, path, database)
}

fn run(database: &dyn Database, sql: &str) -> Result<Rows, DatabaseError> {
    let statement = Statement { sql: sql.to_owned(), parameters: Vec::new() };
    database.query(&statement, &Limits::default(), &Stop::new())
}

fn number(text: &str) -> Answer {
    Answer::Number(text.parse().unwrap())
}

#[test]
fn paths_are_relative_to_the_directory_of_the_configuration() {
    let (directory, path) = file("create table t(a); insert into t values (1);");
    let absolute = path.display();
    for url in [
        "sqlite:shop.db",
        "sqlite:./shop.db",
        "sqlite://shop.db",
        &format!("sqlite:{absolute}"),
        &format!("sqlite://{absolute}"),
    ] {
        let database = open(&config(directory.path(), url)).unwrap();
        assert_eq!(run(&*database, "select a from t").unwrap().rows, [[number("1")]]);
    }
}

#[test]
fn what_is_no_database_is_refused_with_the_reason() {
    let (directory, _) = file("create table t(a)");
    std::fs::write(
        directory.path().join("notes.txt"),
        "these are notes, long enough for a header. ".repeat(40),
    )
    .unwrap();
    std::fs::create_dir(directory.path().join("folder")).unwrap();
    for (url, reason) in [
        ("sqlite:absent.db", "there is no database '"),
        ("sqlite:notes.txt", "is not a SQLite database"),
        ("sqlite:folder", "is a directory"),
    ] {
        let error = open(&config(directory.path(), url)).err().unwrap();
        assert!(
            matches!(&error, DatabaseError::Missing(message) if message.contains(reason)),
            "{url}: {error}"
        );
    }
    for (url, reason) in [
        ("sqlite:", "names no file"),
        ("sqlite::memory:", "in memory"),
        ("shop.db", "has no scheme; write sqlite:FILE"),
        ("mysql://root@host/db", "starts with 'mysql:'"),
    ] {
        let error = open(&config(directory.path(), url)).err().unwrap();
        assert!(
            matches!(&error, DatabaseError::Config(message) if message.contains(reason)),
            "{url}: {error}"
        );
    }
    assert!(!directory.path().join("absent.db").exists());
}

#[test]
fn nothing_but_reading_the_main_database_is_possible() {
    let sql = "create table t(a); insert into t values (1); create view v as select a from t;
        create virtual table r using rtree(id, low, high); create table a_node(a);
        create trigger g instead of insert on v begin insert into t values (9); end;";
    let (directory, path, database) = opened(sql);
    let before = std::fs::read(&path).unwrap();
    let outside = directory.path().join("outside.db");
    Connection::open(&outside).unwrap().execute_batch("create table secret(a)").unwrap();
    let attach = format!("attach '{}' as other", outside.display());
    let vacuum = format!("vacuum into '{}'", directory.path().join("copy.db").display());
    for sql in [
        "insert into t values (2)",
        "insert into t values (2) returning a",
        "insert into v values (2)",
        "with x as (select 1) insert into t select * from x",
        "insert into r values (1, 1, 1)",
        "delete from r_node",
        "insert into a_node values (1)",
        "update t set a = 2",
        "delete from t",
        "drop table t",
        "create table u(a)",
        "create temp table u(a)",
        "create temp view u as select 1",
        "create virtual table u using fts5(a)",
        "alter table t rename to u",
        "pragma writable_schema = on",
        "pragma query_only = off",
        "pragma journal_mode = wal",
        "pragma user_version = 5",
        "pragma temp_store_directory = '/'",
        "begin",
        "savepoint s",
        "commit",
        "reindex",
        "analyze",
        "vacuum",
        "select load_extension('x.so')",
        "detach main",
        &attach,
        &vacuum,
        "select 1; delete from t",
        "-- nothing",
        "",
    ] {
        for result in [run(&*database, sql).map(drop), database.describe(sql).map(drop)] {
            let error = result.expect_err(sql);
            let is_refused = match &error {
                DatabaseError::NotReadOnly(_) => true,
                // Pragmas that set something are no tables, and the tables behind a spatial table are protected.
                DatabaseError::Statement { message, .. } => {
                    ["no such", "unknown database", "may not be modified"]
                        .iter()
                        .any(|part| message.contains(part))
                }
                _ => false,
            };
            assert!(is_refused, "{sql}: {error:?}");
        }
    }
    assert_eq!(run(&*database, "select a from t").unwrap().rows, [[number("1")]]);
    drop(database);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(!directory.path().join("copy.db").exists());
}

#[test]
fn the_schema_and_virtual_tables_can_be_read() {
    let sql = "create table t(a integer primary key, b text); insert into t values (1, 'ab');
        create virtual table f using fts5(body); insert into f values ('a quick fox');
        create virtual table r using rtree(id, low, high); insert into r values (7, 1, 2);";
    let (_directory, _, database) = opened(sql);
    for (sql, first) in [
        ("select name from pragma_table_info('t') order by cid desc", Answer::from("b")),
        ("select name from sqlite_schema where name = 't'", Answer::from("t")),
        ("select value from json_each('[5]')", number("5")),
        ("select body from f where f match 'quick'", Answer::from("a quick fox")),
        ("select id from r where low < 2", number("7")),
    ] {
        assert_eq!(
            run(&*database, sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows[0][0],
            first,
            "{sql}"
        );
    }
}

#[test]
fn cells_keep_the_type_that_they_are_stored_with() {
    let sql = "create table t(a); insert into t values (9223372036854775807), (-0.5), (1e300), ('ö'), (x'00ff01'), (x''),
        (null), ('2024-02-29'), (cast(x'61ff62' as text)), (9e999), (-9e999);";
    let (_directory, _, database) = opened(sql);
    let rows = run(&*database, "select a from t order by rowid").unwrap().rows;
    let cells: Vec<String> = rows.iter().map(|row| serde_json::to_string(&row[0]).unwrap()).collect();
    let expected = [
        "9223372036854775807",
        "-0.5",
        "1e+300",
        "\"ö\"",
        "\"<3 bytes>\"",
        "\"<0 bytes>\"",
        "null",
        "\"2024-02-29\"",
        "\"a\u{fffd}b\"",
        "\"Infinity\"",
        "\"-Infinity\"",
    ];
    assert_eq!(cells, expected);
}

#[test]
fn a_locked_file_is_an_error_and_is_read_once_it_is_free() {
    let (_directory, path, database) = opened("create table t(a); insert into t values (1);");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("begin exclusive; insert into t values (2)").unwrap();
    let statement = Statement { sql: "select count(*) from t".to_owned(), parameters: Vec::new() };
    let limits = Limits { time: Duration::from_millis(150), rows: 10 };
    let begin = Instant::now();
    let error = database.query(&statement, &limits, &Stop::new()).unwrap_err();
    assert!(matches!(&error, DatabaseError::Locked(message) if message.contains("shop.db")), "{error:?}");
    assert!((150..2000).contains(&begin.elapsed().as_millis()));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| run(&*database, "select count(*) from t"));
        std::thread::sleep(Duration::from_millis(100));
        writer.execute_batch("commit").unwrap();
        assert_eq!(waiting.join().unwrap().unwrap().rows, [[number("2")]]);
    });
}

#[test]
fn waiting_for_a_lock_is_stopped_at_once() {
    let (_directory, path, database) = opened("create table t(a)");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("begin exclusive").unwrap();
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let statement = Statement { sql: "select a from t".to_owned(), parameters: Vec::new() };
        let waiting = scope.spawn({
            let (database, stop) = (&database, stop.clone());
            move || database.query(&statement, &Limits::default(), &stop)
        });
        std::thread::sleep(Duration::from_millis(50));
        let begin = Instant::now();
        stop.stop();
        assert_eq!(waiting.join().unwrap(), Err(DatabaseError::Cancelled));
        assert!(begin.elapsed() < Duration::from_millis(500));
    });
}

#[test]
fn a_writer_in_wal_mode_does_not_keep_readers_waiting() {
    let (_directory, path, database) =
        opened("pragma journal_mode = wal; create table t(a); insert into t values (1);");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("begin immediate; insert into t values (2)").unwrap();
    assert_eq!(run(&*database, "select count(*) from t").unwrap().rows, [[number("1")]]);
    writer.execute_batch("commit").unwrap();
    assert_eq!(run(&*database, "select count(*) from t").unwrap().rows, [[number("2")]]);
}

#[test]
fn a_file_that_is_replaced_changed_or_removed_is_noticed() {
    let (directory, path, database) = opened("create table t(a); insert into t values (1);");
    assert_eq!(run(&*database, "select * from t").unwrap().columns, ["a"]);
    Connection::open(&path).unwrap().execute_batch("alter table t add column b default 5").unwrap();
    let rows = run(&*database, "select * from t").unwrap();
    assert_eq!(
        (rows.columns, rows.rows),
        (vec!["a".to_owned(), "b".to_owned()], vec![vec![number("1"), number("5")]])
    );
    let other = directory.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("create table t(c); insert into t values (3)").unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(run(&*database, "select * from t").unwrap().rows, [[number("3")]]);
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(run(&*database, "select * from t"), Err(DatabaseError::Missing(_))));
}

#[test]
fn a_damaged_file_is_an_error_that_says_so() {
    let rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) insert into t select i, hex(randomblob(20)) from n;";
    let (directory, path) =
        file(&format!("create table t(a integer primary key, b text); {rows} create index i on t(b);"));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8192..].iter_mut().step_by(3).for_each(|byte| *byte ^= 0x5a);
    std::fs::write(&path, &bytes).unwrap();
    let database = open(&config(directory.path(), "sqlite:shop.db")).unwrap();
    let error = run(&*database, "select sum(a), max(b) from t").unwrap_err();
    assert!(matches!(&error, DatabaseError::Failed(message) if message.contains("damaged")), "{error:?}");
}

#[test]
fn a_write_that_was_cut_short_is_an_error_that_says_how_to_repair_it() {
    let (directory, path) = file("create table t(a); insert into t values (1);");
    let writer = Connection::open(&path).unwrap();
    let fill = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) insert into t select hex(randomblob(50)) from n";
    writer.execute_batch(&format!("pragma cache_size = 1; begin; update t set a = 2; {fill}")).unwrap();
    for (from, to) in [("shop.db", "copy.db"), ("shop.db-journal", "copy.db-journal")] {
        std::fs::copy(directory.path().join(from), directory.path().join(to)).unwrap();
    }
    let error = open(&config(directory.path(), "sqlite:copy.db")).err().unwrap();
    assert!(matches!(&error, DatabaseError::Failed(message) if message.contains("repair")), "{error:?}");
    Connection::open(directory.path().join("copy.db"))
        .unwrap()
        .query_row("select a from t", [], |_| Ok(()))
        .unwrap();
    let database = open(&config(directory.path(), "sqlite:copy.db")).unwrap();
    assert_eq!(run(&*database, "select a from t").unwrap().rows, [[number("1")]]);
}
