//! What PostgreSQL has and SQLite lacks: many types, rights, and more ways to write than by statements.

use crate::server::{self, Server};
use spanwise_sql::database::{
    Database, DatabaseConfig, DatabaseError, Limits, Rows, Statement, StatementFault, Stop, Value, open,
};

pub(crate) fn opened(
    server: &Server,
    user: &str,
    database: &str,
    parameters: &str,
) -> Result<Box<dyn Database>, DatabaseError> {
    open(&DatabaseConfig {
        directory: server.directory.clone(),
        ..DatabaseConfig::new(server.url(user, database, parameters))
    })
}

pub(crate) fn run(database: &dyn Database, sql: &str) -> Result<Rows, DatabaseError> {
    let statement = Statement { sql: sql.to_owned(), parameters: Vec::new() };
    database.query(&statement, &Limits::default(), &Stop::new())
}

pub(crate) fn json(rows: &Rows) -> String {
    serde_json::to_string(&rows.rows).unwrap()
}

#[test]
fn cells_are_typed_and_unknown_types_are_texts() {
    let Some(server) = server::shared() else { return };
    server.execute(
        "postgres",
        "create type mood as enum ('sad', 'happy'); create domain price as numeric check (value >= 0);
        create type pair as (a int, b text);",
    );
    let database = opened(server, "postgres", "postgres", "").unwrap();
    for (sql, expected) in [
        ("true, false, null::boolean", "true,false,null"),
        ("1::smallint, -2::integer, 9223372036854775807::bigint, 7::oid", "1,-2,9223372036854775807,7"),
        ("0.1::real, 0.1::double precision + 0.2, 1e300::float8", "0.1,0.30000000000000004,1e+300"),
        (
            "'NaN'::float8, 'Infinity'::float8, '-Infinity'::real, 'NaN'::numeric",
            r#""NaN","Infinity","-Infinity","NaN""#,
        ),
        (
            "1.50::numeric, 123456789012345678901234567890.5, 3.7::price",
            "1.50,123456789012345678901234567890.5,3.7",
        ),
        ("'a'::text, 'b'::varchar(5), 'c'::char(3), 'd'::\"char\", 'e'::name", r#""a","b","c","d","e""#),
        (
            "date '2024-02-29', time '18:30', timestamp '2024-02-29 18:30:00.5'",
            r#""2024-02-29","18:30:00","2024-02-29 18:30:00.5""#,
        ),
        (
            "timestamptz '2024-02-29 18:30:00+02', interval '1 day 2 hours'",
            r#""2024-02-29 16:30:00+00","1 day 02:00:00""#,
        ),
        ("'0188d2f2-0000-4000-8000-000000000001'::uuid", r#""0188d2f2-0000-4000-8000-000000000001""#),
        (
            r#"'{"b": [1]}'::json, '[1, {"a": 2}, null]'::jsonb, '5'::jsonb, '"x"'::json"#,
            r#""{\"b\":[1]}",[1,"{\"a\":2}",null],5,"x""#,
        ),
        ("'happy'::mood, array['sad']::mood[]", r#""happy",["sad"]"#),
        (
            "array[1, null, 3], array[[1.5], [2]], array['a,b', '\"'], '{}'::int[]",
            r#"[1,null,3],[[1.5],[2]],["a,b","\""],[]"#,
        ),
        (
            "'\\x00ff01'::bytea, ''::bytea, array['\\x00ff'::bytea]",
            r#""<3 bytes>","<0 bytes>",["<2 bytes>"]"#,
        ),
        (
            "point(1, 2), int4range(1, 5), inet '10.0.0.1', money '1.5', b'101', '<a/>'::xml",
            r#""(1,2)","[1,5)","10.0.0.1/32","$1.50","101","<a/>""#,
        ),
        (
            "row(1, 'x')::pair, row(1, 2), 'pg_class'::regclass, to_tsvector('simple', 'fox')",
            r#""(1,x)","(1,2)","pg_class","'fox':1""#,
        ),
        ("pg_sleep(0), 'unknown'", r#""","unknown""#),
    ] {
        let rows =
            run(&*database, &format!("select {sql}")).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        assert_eq!(json(&rows), format!("[[{expected}]]"), "{sql}");
    }
}

#[test]
fn texts_in_another_encoding_do_not_fail_a_query() {
    let Some(server) = server::shared() else { return };
    server.execute("postgres", "create database bytes encoding 'SQL_ASCII' template template0");
    server.execute("bytes", "create table t(a text); insert into t values ('a' || chr(255) || 'b'), ('c')");
    let database = opened(server, "postgres", "bytes", "").unwrap();
    assert_eq!(json(&run(&*database, "select a from t").unwrap()), "[[\"a\u{fffd}b\"],[\"c\"]]");
}

#[test]
fn nothing_can_be_written_even_by_the_owner_of_the_server() {
    let Some(server) = server::shared() else { return };
    server.execute("postgres", "create database safe");
    server.execute("safe", "create table t(a int); insert into t values (1); create sequence s; create view v as select a from t;
        create function sneaky() returns int language plpgsql as $$ begin insert into t values (2); return 1; end $$;
        create function sneaky_sql() returns int language sql as $$ insert into t values (3) returning a $$;");
    let database = opened(server, "postgres", "safe", "").unwrap();
    let marker = server.directory.join("marker");
    let program = format!("copy (select 1) to program 'touch {}'", marker.display());
    let to_file = format!("copy t to '{}'", marker.display());
    let import = format!("select lo_import('{}')", server.directory.join("log").display());
    for sql in [
        "insert into t values (2)",
        "insert into t values (2) returning a",
        "with x as (insert into t values (2) returning a) select a from x",
        "update t set a = 2",
        "delete from t",
        "truncate t",
        "drop table t",
        "create table u(a int)",
        "create temp table u(a int)",
        "select a into u from t",
        "select a from t for update",
        "select nextval('s')",
        "select setval('s', 100)",
        "select sneaky()",
        "select sneaky_sql()",
        "copy t from stdin",
        "copy t to stdout",
        "do $$ begin insert into t values (2); end $$",
        "call sneaky()",
        "explain analyze select sneaky()",
        "vacuum",
        "begin",
        "commit",
        "rollback",
        "set default_transaction_read_only = off",
        "set transaction read write",
        "reset all",
        "discard all",
        "lock table t",
        "listen x",
        "notify x",
        "prepare p as insert into t values (2)",
        "declare c cursor for select 1",
        "select set_config('transaction_read_only', 'off', true)",
        "select query_to_xml('insert into t values (2)', true, true, '')",
        "select 1) as q(c1); insert into t values (2); --",
        "select 1; insert into t values (2)",
        "-- nothing",
        "",
        &program,
        &to_file,
    ] {
        let error = run(&*database, sql).expect_err(sql);
        let is_refused = match &error {
            DatabaseError::NotReadOnly(_) => true,
            DatabaseError::Statement { message, .. } => {
                ["syntax error", "is not a procedure", "must be set before", "not allowed in a non-volatile"]
                    .iter()
                    .any(|part| message.contains(part))
            }
            _ => false,
        };
        assert!(is_refused, "{sql}: {error:?}");
    }
    // These are allowed in a read-only transaction, and are undone with it.
    for sql in [
        &*import,
        "select lo_create(4711)",
        "select set_config('default_transaction_read_only', 'off', false)",
        "select set_config('statement_timeout', '0', false)",
        "select pg_notify('x', 'y')",
    ] {
        let _ = run(&*database, sql);
    }
    let state = "select (select count(*) from t), (select last_value from s), (select count(*) from pg_largeobject_metadata),
        current_setting('default_transaction_read_only'), current_setting('statement_timeout')";
    assert_eq!(json(&run(&*database, state).unwrap()), r#"[[1,1,0,"on","5s"]]"#);
    assert!(!marker.exists());
}

#[test]
fn faults_of_types_and_rights_are_told_apart() {
    let Some(server) = server::shared() else { return };
    server.execute("postgres", "create database rights");
    server.execute(
        "rights",
        "create table t(a int, b text, hidden int); insert into t values (1, 'x', 2);
        create role limited login; grant select (a, b) on t to limited;",
    );
    let database = opened(server, "limited", "rights", "").unwrap();
    let fault = |sql: &str, parameters: &[Value]| {
        let statement = Statement { sql: sql.to_owned(), parameters: parameters.to_vec() };
        database.query(&statement, &Limits::default(), &Stop::new()).unwrap_err()
    };
    for (sql, parameters) in [
        ("select a from t where b > 5", vec![]),
        ("select a + b from t", vec![]),
        ("select a from t where a = $1::text::int", vec![Value::Text("five".into())]),
        ("select $1::text::date", vec![Value::Date("2024-02-30".into())]),
        ("select $1::text::int", vec![Value::Decimal("99999999999".into())]),
        ("select $1 + $2", vec![Value::Integer(1), Value::Integer(2)]),
    ] {
        let error = fault(sql, &parameters);
        assert!(
            matches!(error, DatabaseError::Statement { fault: StatementFault::Type, .. }),
            "{sql}: {error:?}"
        );
    }
    let error = fault("select 'ü', a from t where b > 5", &[]);
    assert!(matches!(error, DatabaseError::Statement { position: Some(30), .. }), "{error:?}");
    let error = fault("select 1 / (a - 1) from t", &[]);
    assert!(
        matches!(&error, DatabaseError::Statement { fault: StatementFault::Other, message, .. } if message == "division by zero")
    );
    let error = fault("select hidden from t", &[]);
    assert!(
        matches!(&error, DatabaseError::Denied(message) if message.contains("permission denied")),
        "{error:?}"
    );
    // Parameters are read with the type that the statement gives them, with or without a cast through text.
    let statement = Statement {
        sql: "select $1::bigint + 1, $2::date".into(),
        parameters: vec![Value::Integer(4), Value::Date("2024-02-29".into())],
    };
    assert_eq!(
        json(&database.query(&statement, &Limits::default(), &Stop::new()).unwrap()),
        r#"[[5,"2024-02-29"]]"#
    );
}

#[test]
fn tables_that_change_are_noticed() {
    let Some(server) = server::shared() else { return };
    server.execute("postgres", "create database changes");
    server.execute("changes", "create table t(a int); insert into t values (1)");
    let database = opened(server, "postgres", "changes", "").unwrap();
    assert_eq!(json(&run(&*database, "select * from t").unwrap()), "[[1]]");
    server.execute("changes", "alter table t add column b text default 'x', alter column a type text");
    // What is described is as of now; and then what is run.
    assert_eq!(database.describe("select * from t").unwrap().columns, ["a", "b"]);
    assert_eq!(json(&run(&*database, "select * from t").unwrap()), r#"[["1","x"]]"#);
    assert_eq!(json(&run(&*database, "select a, b from t").unwrap()), r#"[["1","x"]]"#);
    server.execute("changes", "alter table t drop column b");
    let error = run(&*database, "select a, b from t").unwrap_err();
    assert!(
        matches!(error, DatabaseError::Statement { fault: StatementFault::MissingColumn, .. }),
        "{error:?}"
    );
    server.execute("changes", "drop table t");
    let error = run(&*database, "select * from t").unwrap_err();
    assert!(
        matches!(error, DatabaseError::Statement { fault: StatementFault::MissingTable, .. }),
        "{error:?}"
    );
}
