//! Connections to a server: passwords, TLS, a server that goes away, and queries that are given up.

use crate::postgres::{json, opened, run};
use crate::server::{self, Server};
use spanwise_sql::database::{DatabaseConfig, DatabaseError, Limits, Statement, Stop, open};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn passwords_come_from_the_environment_and_are_never_shown() {
    let Some(server) = server::shared() else { return };
    // A variable that every process has serves as the password.
    let password = std::env::var("PATH").unwrap();
    server.execute(
        "postgres",
        &format!("create role secret login password '{password}'; create role forgetful login password 'no'"),
    );
    let with = |user: &str, variable: &str| {
        let url = server.url(user, "postgres", "");
        let config = DatabaseConfig { password_env: Some(variable.to_owned()), ..DatabaseConfig::new(url) };
        assert!(!format!("{config:?}").contains(&password));
        open(&config)
    };
    assert_eq!(
        json(&run(&*with("secret", "PATH").unwrap(), "select current_user").unwrap()),
        r#"[["secret"]]"#
    );
    let error = with("forgetful", "PATH").err().unwrap();
    assert!(
        matches!(&error, DatabaseError::Denied(message) if message.contains("refuses the password of user 'forgetful', which comes from PATH")),
        "{error:?}"
    );
    assert!(!format!("{error} {error:?}").contains(&password));
    let error = with("secret", "SPANWISE_ABSENT").err().unwrap();
    assert!(
        matches!(&error, DatabaseError::Denied(message) if message.contains("environment variable SPANWISE_ABSENT or in ~/.pgpass")),
        "{error:?}"
    );
    let mut config =
        DatabaseConfig::new(format!("postgres://secret:hunter2@127.0.0.1:{}/postgres", server.port));
    config.password_env = Some("SHOP_PASSWORD".to_owned());
    let error = open(&config).err().unwrap();
    assert!(error.to_string().contains("SHOP_PASSWORD"), "{error}");
    assert!(!format!("{error} {error:?} {config:?}").contains("hunter2"));
}

#[test]
fn a_server_that_cannot_be_used_is_an_error_with_the_reason() {
    let Some(server) = server::shared() else { return };
    let error = opened(server, "postgres", "no_such_database", "").err().unwrap();
    assert!(
        matches!(&error, DatabaseError::Missing(message) if message.contains("no database 'no_such_database'")),
        "{error:?}"
    );
    let error = opened(server, "no_such_user", "postgres", "").err().unwrap();
    assert!(
        matches!(&error, DatabaseError::Denied(message) if message.contains("no_such_user")),
        "{error:?}"
    );
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = open(&DatabaseConfig::new(format!("postgres://ann@127.0.0.1:{port}/x"))).err().unwrap();
    assert!(
        matches!(&error, DatabaseError::Unreachable(message) if message.contains("Connection refused")),
        "{error:?}"
    );
    // Accepts connections, and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://ann@127.0.0.1:{}/x", silent.local_addr().unwrap().port());
    let begin = Instant::now();
    let error =
        open(&DatabaseConfig { connect_timeout: Duration::from_millis(200), ..DatabaseConfig::new(url) })
            .err()
            .unwrap();
    assert!(matches!(&error, DatabaseError::Unreachable(message) if message.contains("silent")), "{error:?}");
    assert!(begin.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_server_without_a_free_connection_says_so() {
    let Some(server) = server::shared() else { return };
    server.execute("postgres", "create role crowded login connection limit 1");
    let first = opened(server, "crowded", "postgres", "").unwrap();
    let error = opened(server, "crowded", "postgres", "").err().unwrap();
    assert!(
        matches!(&error, DatabaseError::Busy(message) if message.contains("too many connections")),
        "{error:?}"
    );
    assert_eq!(json(&run(&*first, "select 1").unwrap()), "[[1]]");
}

#[test]
fn tls_is_verified_as_the_mode_says() {
    let Some(server) = server::shared() else { return };
    server.execute("postgres", "create role tls_only login; create role plain_only login");
    if !server.has_tls {
        println!("skipped: the server has no TLS");
        return;
    }
    let is_encrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    let tried = |host: &str, user: &str, parameters: &str| {
        let url = format!("postgres://{user}@{host}:{}/postgres{parameters}", server.port);
        let database =
            open(&DatabaseConfig { directory: server.directory.clone(), ..DatabaseConfig::new(url) })?;
        run(&*database, is_encrypted).map(|rows| json(&rows))
    };
    for (host, parameters, encrypted) in [
        ("localhost", "?sslmode=verify-full&sslrootcert=ca.pem", "[[true]]"),
        ("127.0.0.1", "?sslmode=verify-ca&sslrootcert=ca.pem", "[[true]]"),
        ("127.0.0.1", "?sslmode=require", "[[true]]"),
        ("127.0.0.1", "?sslmode=prefer&sslrootcert=other.pem", "[[true]]"),
        ("127.0.0.1", "", "[[true]]"),
        ("127.0.0.1", "?sslmode=disable", "[[false]]"),
    ] {
        assert_eq!(tried(host, "postgres", parameters).as_deref(), Ok(encrypted), "{host} {parameters}");
    }
    for (host, parameters, reason) in [
        ("127.0.0.1", "?sslmode=verify-full&sslrootcert=ca.pem", "not valid for name"),
        ("localhost", "?sslmode=verify-full&sslrootcert=other.pem", "invalid peer certificate"),
        ("localhost", "?sslmode=verify-ca&sslrootcert=other.pem", "invalid peer certificate"),
        ("localhost", "?sslmode=require&sslrootcert=other.pem", "invalid peer certificate"),
    ] {
        let error = tried(host, "postgres", parameters).unwrap_err();
        assert!(
            matches!(&error, DatabaseError::Unreachable(message) if message.contains(reason)),
            "{parameters}: {error:?}"
        );
    }
    for (parameters, reason) in [
        ("?sslmode=verify-full&sslrootcert=absent.pem", "cannot be read"),
        ("?sslmode=verify-full&sslrootcert=names", "has no certificate"),
    ] {
        let error = tried("localhost", "postgres", parameters).unwrap_err();
        assert!(
            matches!(&error, DatabaseError::Config(message) if message.contains(reason)),
            "{parameters}: {error:?}"
        );
    }
    // Roots of the system, where it has any.
    let error = tried("localhost", "postgres", "?sslmode=verify-full").unwrap_err();
    assert!(matches!(error, DatabaseError::Unreachable(_) | DatabaseError::Config(_)), "{error:?}");
    // The server wants TLS, or wants none; `prefer` does what it wants.
    assert_eq!(tried("127.0.0.1", "tls_only", "").as_deref(), Ok("[[true]]"));
    assert_eq!(tried("127.0.0.1", "plain_only", "").as_deref(), Ok("[[false]]"));
    for (user, parameters, hint) in [
        ("tls_only", "?sslmode=disable", "sslmode=require"),
        ("plain_only", "?sslmode=require", "sslmode=disable"),
    ] {
        let error = tried("127.0.0.1", user, parameters).unwrap_err();
        assert!(matches!(&error, DatabaseError::Denied(message) if message.contains(hint)), "{error:?}");
    }
}

#[test]
fn a_server_that_goes_away_and_comes_back_is_connected_to_again() {
    let Some(server) = Server::start() else { return };
    server.execute("postgres", "create table t(a int); insert into t values (1)");
    let database = opened(&server, "postgres", "postgres", "").unwrap();
    assert_eq!(json(&run(&*database, "select a from t").unwrap()), "[[1]]");
    // Its connection is ended while it rests, then while a query runs.
    let end = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'spanwise'";
    server.execute("postgres", end);
    assert_eq!(json(&run(&*database, "select a from t").unwrap()), "[[1]]");
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| run(&*database, "select a, pg_sleep(0.5) from t"));
        std::thread::sleep(Duration::from_millis(200));
        server.execute("postgres", end);
        assert_eq!(json(&slow.join().unwrap().unwrap()), r#"[[1,""]]"#);
    });
    // A process of the server dies while a query runs: the server recovers, and is waited for.
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| run(&*database, "select a, pg_sleep(0.5) from t"));
        std::thread::sleep(Duration::from_millis(200));
        let victim = opened(&server, "postgres", "postgres", "").unwrap();
        let id = json(&run(&*victim, "select pg_backend_pid()").unwrap()).replace(['[', ']'], "");
        assert!(Command::new("kill").args(["-9", &id]).status().unwrap().success());
        assert_eq!(json(&slow.join().unwrap().unwrap()), r#"[[1,""]]"#);
    });
    server.crash();
    let error = run(&*database, "select a from t").unwrap_err();
    assert!(matches!(&error, DatabaseError::Unreachable(_)), "{error:?}");
    server.start_again();
    assert_eq!(json(&run(&*database, "select a from t").unwrap()), "[[1]]");
    server.crash();
    server.start_again();
    assert_eq!(json(&run(&*database, "select a from t").unwrap()), "[[1]]");
}

#[test]
fn a_query_that_is_given_up_ends_on_the_server_too() {
    let Some(server) = server::shared() else { return };
    server.execute("postgres", "create role quitter login");
    let database = opened(server, "quitter", "postgres", "").unwrap();
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let (inside, database) = (stop.clone(), &database);
        let slow = scope.spawn(move || {
            let statement = Statement { sql: "select pg_sleep(60)".into(), parameters: Vec::new() };
            database.query(&statement, &Limits { time: Duration::from_secs(60), rows: 1 }, &inside)
        });
        std::thread::sleep(Duration::from_millis(100));
        stop.stop();
        assert_eq!(slow.join().unwrap(), Err(DatabaseError::Cancelled));
    });
    let watcher = opened(server, "postgres", "postgres", "").unwrap();
    let begin = Instant::now();
    let running =
        "select count(*) from pg_stat_activity where usename = 'quitter' and query like '%pg_sleep%'";
    while json(&run(&*watcher, running).unwrap()) != "[[0]]" {
        assert!(begin.elapsed() < Duration::from_secs(5), "it still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_task_of_another_runtime_may_ask_too() {
    let Some(server) = server::shared() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rows = runtime.block_on(async {
        let database = opened(server, "postgres", "postgres", "").unwrap();
        run(&*database, "select 1").unwrap()
    });
    assert_eq!(json(&rows), "[[1]]");
}

#[test]
fn a_socket_of_this_machine_is_used_without_tls() {
    let Some(server) = server::shared() else { return };
    let directory = server.directory.display().to_string().replace('/', "%2F");
    for url in [
        format!("postgres://postgres@{directory}:{}/postgres?sslmode=verify-full", server.port),
        format!("postgresql://postgres@/postgres?host={directory}&port={}", server.port),
    ] {
        let database = open(&DatabaseConfig::new(url)).unwrap();
        assert_eq!(json(&run(&*database, "select inet_client_addr()").unwrap()), "[[null]]");
    }
}

#[test]
fn a_query_that_somebody_else_cancels_is_no_timeout() {
    let Some(server) = server::shared() else { return };
    server.execute("postgres", "create role patient login");
    let database = opened(server, "patient", "postgres", "").unwrap();
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| run(&*database, "select pg_sleep(60)"));
        std::thread::sleep(Duration::from_millis(200));
        server.execute(
            "postgres",
            "select pg_cancel_backend(pid) from pg_stat_activity where usename = 'patient'",
        );
        let error = slow.join().unwrap().unwrap_err();
        assert!(
            matches!(&error, DatabaseError::Statement { message, .. } if message.contains("user request")),
            "{error:?}"
        );
    });
}
