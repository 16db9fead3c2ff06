//! A PostgreSQL server of the tests: in a temporary directory, on a free port of this machine, stopped with the tests.

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

/// Who may connect, and how. `postgres` owns the server.
const ACCESS: &str = "\
local   all all                   trust
hostssl all tls_only 127.0.0.1/32 trust
hostnossl all plain_only 127.0.0.1/32 trust
host    all tls_only,plain_only 127.0.0.1/32 reject
host    all secret,forgetful 127.0.0.1/32 scram-sha-256
host    all all 127.0.0.1/32 trust
";

const SETTINGS: &str = "\
listen_addresses = '127.0.0.1'
fsync = off
synchronous_commit = off
full_page_writes = off
shared_buffers = 16MB
max_connections = 20
superuser_reserved_connections = 2
autovacuum = off
timezone = 'UTC'
";

/// The server that the tests share; `None`, with the reason printed, where there is none.
pub(crate) fn shared() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(Server::start).as_ref()
}

/// A running server. Dropping it stops it; so does the end of the test process, however it ends.
pub(crate) struct Server {
    pub(crate) directory: PathBuf,
    pub(crate) port: u16,
    pub(crate) has_tls: bool,
    user: Option<u32>,
    guard: Child,
}

impl Server {
    /// Starts a server with empty databases.
    pub(crate) fn start() -> Option<Self> {
        for program in ["initdb", "pg_ctl", "postgres"] {
            if Command::new(program).arg("--version").output().is_err() {
                println!("skipped: {program} is not on the path");
                return None;
            }
        }
        let directory = tempfile::Builder::new().prefix("spanwise-postgres-").tempdir().unwrap().keep();
        let user = unprivileged(&directory)?;
        let guard = guard(&directory, user);
        let mut server = Self { directory, port: 0, has_tls: false, user, guard };
        server.run(
            "initdb",
            &["-D", "data", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-A", "trust"],
        );
        server.has_tls = server.certificates();
        std::fs::write(server.directory.join("data/pg_hba.conf"), ACCESS).unwrap();
        // The port may be taken between finding and using it.
        for _ in 0..5 {
            server.configure();
            if server
                .try_run("pg_ctl", &["-D", "data", "-l", "log", "-w", "-t", "60", "start"])
                .status
                .success()
            {
                return Some(server);
            }
        }
        panic!(
            "the server does not start: {}",
            std::fs::read_to_string(server.directory.join("log")).unwrap()
        );
    }

    fn configure(&mut self) {
        self.port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut settings = format!(
            "{SETTINGS}port = {}\nunix_socket_directories = '{}'\n",
            self.port,
            self.directory.display()
        );
        if self.has_tls {
            settings += "ssl = on\nssl_cert_file = '../server.pem'\nssl_key_file = '../server.key'\n";
        }
        std::fs::write(self.directory.join("data/postgresql.conf"), settings).unwrap();
    }

    /// Makes an authority, a certificate for `localhost` signed by it, and another authority.
    fn certificates(&self) -> bool {
        if Command::new("openssl").arg("version").output().is_err() {
            println!("skipped: no TLS, because openssl is not on the path");
            return false;
        }
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
        for name in ["ca", "other"] {
            let (private, public) = (format!("{name}.key"), format!("{name}.pem"));
            let files = ["req", "-x509", "-subj", "/CN=authority", "-keyout", &private, "-out", &public];
            self.run("openssl", &[&files[..], &key[..]].concat());
        }
        let request = ["req", "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr"];
        self.run("openssl", &[&request[..], &key[..5]].concat());
        std::fs::write(
            self.directory.join("names"),
            "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n",
        )
        .unwrap();
        let sign = "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem";
        self.run("openssl", &sign.split(' ').collect::<Vec<_>>());
        true
    }

    /// The URL of a database for a user, with parameters.
    pub(crate) fn url(&self, user: &str, database: &str, parameters: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}{parameters}", self.port)
    }

    /// Runs statements as the owner of the server.
    pub(crate) fn execute(&self, database: &str, sql: &str) {
        let mut config = tokio_postgres::Config::new();
        config.host_path(&self.directory).port(self.port).user("postgres").dbname(database);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            client
                .batch_execute(sql)
                .await
                .unwrap_or_else(|error| panic!("{sql}: {:?}", error.as_db_error()));
            drop(client);
            let _ = connection.await;
        });
    }

    /// Ends the server as if the machine had failed.
    pub(crate) fn crash(&self) {
        self.run("pg_ctl", &["-D", "data", "-w", "-m", "immediate", "stop"]);
    }

    /// Starts it again, on the same port.
    pub(crate) fn start_again(&self) {
        self.run("pg_ctl", &["-D", "data", "-l", "log", "-w", "-t", "60", "start"]);
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let output = self.try_run(program, arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {text}");
    }

    fn try_run(&self, program: &str, arguments: &[&str]) -> Output {
        // To files: the server inherits them, and a pipe would stay open as long as it runs.
        let output = tempfile::tempfile().unwrap();
        let mut command = command(program, self.user, &self.directory);
        command
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(output.try_clone().unwrap())
            .stdin(Stdio::null());
        let status = command.status().unwrap();
        let mut stderr = Vec::new();
        let mut file = output;
        std::io::Seek::rewind(&mut file).unwrap();
        std::io::Read::read_to_end(&mut file, &mut stderr).unwrap();
        Output { status, stdout: Vec::new(), stderr }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// A process that waits until this one ends or lets go, and then stops the server and removes its directory.
fn guard(directory: &Path, user: Option<u32>) -> Child {
    let script =
        "trap '' INT TERM HUP; cat >/dev/null; pg_ctl -D data -m immediate stop; cd /; rm -rf \"$0\"";
    let mut command = command("sh", user, directory);
    command.arg("-c").arg(script).arg(directory);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.as_mut().unwrap().flush().unwrap();
    child
}

/// A command that runs in `directory` as an ordinary user.
fn command(program: &str, user: Option<u32>, directory: &Path) -> Command {
    let mut command = match user {
        Some(id) => {
            let mut command = Command::new("setpriv");
            command
                .args([format!("--reuid={id}"), format!("--regid={id}"), "--clear-groups".to_owned()])
                .arg(program);
            command
        }
        None => Command::new(program),
    };
    command.current_dir(directory);
    command
}

/// PostgreSQL does not run as root: gives the directory to `nobody` then. `None`, with the reason printed, where that
/// does not work.
fn unprivileged(directory: &Path) -> Option<Option<u32>> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse::<u32>().ok()
    };
    if id(&["-u"]) != Some(0) {
        return Some(None);
    }
    let Some(user) = id(&["-u", "nobody"]) else {
        println!("skipped: PostgreSQL does not run as root, and there is no user 'nobody'");
        return None;
    };
    std::os::unix::fs::chown(directory, Some(user), Some(user)).unwrap();
    let works = command("true", Some(user), directory).status().is_ok_and(|status| status.success());
    if !works {
        println!("skipped: PostgreSQL does not run as root, and setpriv cannot change the user");
        return None;
    }
    Some(Some(user))
}
