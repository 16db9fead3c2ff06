//! The URL of a server.

use super::super::{DatabaseConfig, DatabaseError};
use super::password::{self, Account, Password};
use super::tls::{Trust, Verification};
use std::path::PathBuf;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// What is needed to connect. Holds the password, and so is never shown.
pub(super) struct Address {
    pub(super) config: Config,
    /// `host:port`, for messages.
    pub(super) server: String,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) trust: Trust,
    /// Where the password comes from, or would have to be.
    pub(super) password: Password,
}

impl Address {
    pub(super) fn new(url: &str, config: &DatabaseConfig) -> Result<Self, DatabaseError> {
        let (url, tls) = without_tls(url)?;
        let mut parsed: Config =
            url.parse().map_err(|error: tokio_postgres::Error| wrong(&because(&error)))?;
        if parsed.get_password().is_some() {
            return Err(password_in_url(config));
        }
        if parsed.get_hosts().is_empty() && parsed.get_hostaddrs().is_empty() {
            parsed.host("localhost");
        }
        let user = parsed.get_user().map(str::to_owned).or_else(user_of_system);
        let user = user.ok_or_else(|| wrong("it names no user; write postgres://USER@HOST:PORT/NAME"))?;
        let database = parsed.get_dbname().map_or_else(|| user.clone(), str::to_owned);
        let (host, port) = first_host(&parsed);
        let trust = trust(tls, config, host.starts_with('/'))?;
        let account = Account { host: &host, port, database: &database, user: &user };
        let found = password::find(config.password_env.as_deref(), &account, |name| std::env::var_os(name))?;
        parsed.user(&user).dbname(&database).connect_timeout(config.connect_timeout);
        parsed.ssl_mode(trust.mode).application_name("spanwise");
        if let Some(password) = &found.password {
            parsed.password(password);
        }
        let server = format!("{host}:{port}");
        Ok(Self { config: parsed, server, user, database, trust, password: found.source })
    }
}

/// The parameters of a URL that concern TLS.
#[derive(Default)]
struct Tls {
    mode: Option<String>,
    root: Option<String>,
}

/// Takes the parameters out of a URL that the driver does not know.
fn without_tls(url: &str) -> Result<(String, Tls), DatabaseError> {
    let Some((base, parameters)) = url.split_once('?') else {
        return Ok((url.to_owned(), Tls::default()));
    };
    let (mut tls, mut others) = (Tls::default(), Vec::new());
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match key {
            "sslmode" => tls.mode = Some(decoded(value)?),
            "sslrootcert" => tls.root = Some(decoded(value)?),
            "sslcert" | "sslkey" | "sslpassword" | "sslcrl" | "passfile" | "service" => {
                return Err(wrong(&format!("its parameter '{key}' is not supported")));
            }
            _ => others.push(parameter),
        }
    }
    let separator = if others.is_empty() { "" } else { "?" };
    Ok((format!("{base}{separator}{}", others.join("&")), tls))
}

/// Undoes `%2F`.
fn decoded(text: &str) -> Result<String, DatabaseError> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).map_err(|_| wrong(&format!("'{text}' is not UTF-8")))
}

/// What libpq does for the same parameters, but for system roots where no file is named.
fn trust(tls: Tls, config: &DatabaseConfig, is_socket: bool) -> Result<Trust, DatabaseError> {
    let root = tls.root.filter(|root| root != "system").map(|root| config.directory.join(root));
    let with = |mode, verification, root: Option<PathBuf>| Trust { mode, verification, root };
    let trust = match tls.mode.as_deref().unwrap_or("prefer") {
        "disable" => with(SslMode::Disable, Verification::None, None),
        "allow" | "prefer" => with(SslMode::Prefer, Verification::None, None),
        // With a root, it is verified; so do older programs that know no other mode.
        "require" if root.is_some() => with(SslMode::Require, Verification::Chain, root),
        "require" => with(SslMode::Require, Verification::None, None),
        "verify-ca" => with(SslMode::Require, Verification::Chain, root),
        "verify-full" => with(SslMode::Require, Verification::ChainAndHost, root),
        other => {
            let message = format!(
                "its sslmode '{other}' is none of disable, prefer, require, verify-ca and verify-full"
            );
            return Err(wrong(&message));
        }
    };
    // A socket of this machine carries no TLS.
    Ok(if is_socket { with(SslMode::Disable, Verification::None, None) } else { trust })
}

fn first_host(config: &Config) -> (String, u16) {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config.get_hostaddrs().first().map_or_else(String::new, ToString::to_string),
    };
    (host, config.get_ports().first().copied().unwrap_or(5432))
}

fn user_of_system() -> Option<String> {
    ["PGUSER", "USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok())
}

fn password_in_url(config: &DatabaseConfig) -> DatabaseError {
    let name = config.password_env.as_deref().unwrap_or("PGPASSWORD");
    DatabaseError::Config(format!(
        "the URL of the database contains a password; remove it, and give it in the environment variable {name} \
         (choose another with password_env) or in ~/.pgpass"
    ))
}

fn wrong(reason: &str) -> DatabaseError {
    DatabaseError::Config(format!("the URL of the database cannot be used: {reason}"))
}

/// The reason behind an error of the driver, whose own text is general.
pub(super) fn because(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<Address, DatabaseError> {
        Address::new(url, &DatabaseConfig { directory: PathBuf::from("/domain"), ..DatabaseConfig::new(url) })
    }

    fn refused(url: &str) -> String {
        match address(url) {
            Err(DatabaseError::Config(message)) => message,
            _ => panic!("{url} is not refused"),
        }
    }

    #[test]
    fn urls_are_read_as_libpq_reads_them() {
        let found = address("postgres://ann@db.example:6543/shop").expect("it is a URL");
        assert_eq!((&*found.server, &*found.user, &*found.database), ("db.example:6543", "ann", "shop"));
        assert_eq!(found.trust.mode, SslMode::Prefer);
        let found = address("postgresql://a%40b@[::1]/?sslmode=disable").expect("it is a URL");
        assert_eq!((&*found.server, &*found.user, &*found.database), ("::1:5432", "a@b", "a@b"));
        assert_eq!(found.trust.mode, SslMode::Disable);
        let found = address("postgres://ann@%2Frun%2Fpg/shop?sslmode=verify-full").expect("it is a URL");
        assert_eq!((&*found.server, found.trust.mode), ("/run/pg:5432", SslMode::Disable));
    }

    #[test]
    fn modes_of_tls_have_the_meaning_of_libpq() {
        let trust = |parameters: &str| {
            address(&format!("postgres://ann@h/d?{parameters}")).expect("it is a URL").trust
        };
        for (parameters, mode, verification) in [
            ("sslmode=prefer&sslrootcert=ca.pem", SslMode::Prefer, Verification::None),
            ("sslmode=require", SslMode::Require, Verification::None),
            ("sslmode=require&sslrootcert=ca.pem", SslMode::Require, Verification::Chain),
            ("sslmode=verify-ca", SslMode::Require, Verification::Chain),
            ("sslmode=verify-full&sslrootcert=system", SslMode::Require, Verification::ChainAndHost),
        ] {
            let found = trust(parameters);
            assert_eq!((found.mode, found.verification), (mode, verification), "{parameters}");
        }
        let found = trust("application_name=x&sslrootcert=..%2Fca%20b.pem&sslmode=verify-full");
        assert_eq!(found.root, Some(PathBuf::from("/domain/../ca b.pem")));
    }

    #[test]
    fn passwords_and_mistakes_in_urls_are_refused_without_repeating_them() {
        for url in
            ["postgres://ann:hunter2@h/d", "postgres://ann@h/d?password=hunter2", "postgres://:hunter2@h/d"]
        {
            let message = refused(url);
            assert!(message.contains("PGPASSWORD") && !message.contains("hunter2"), "{message}");
        }
        assert!(refused("postgres://ann@h/d?sslmode=on").contains("none of disable, prefer"));
        assert!(refused("postgres://ann@h/d?sslkey=x").contains("'sslkey' is not supported"));
        assert!(refused("postgres://ann@h:port/d").contains("port"));
    }
}
