//! Where a database is.

use super::DatabaseError;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Where a database is and how to connect to it.
///
/// It holds no password: one within the URL is refused when the database is opened, and is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseConfig {
    /// `sqlite:shop.db`, or `postgres://user@host:5432/name?sslmode=verify-full`.
    pub url: String,
    /// The directory that relative paths refer to.
    pub directory: PathBuf,
    /// The environment variable with the password; without one, `PGPASSWORD`.
    pub password_env: Option<String>,
    /// The most connections at a time.
    pub connections: usize,
    /// The longest time that connecting may take.
    pub connect_timeout: Duration,
}

impl DatabaseConfig {
    /// The database at `url`, with paths relative to the current directory and at most four connections.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            directory: PathBuf::from("."),
            password_env: None,
            connections: 4,
            connect_timeout: Duration::from_secs(5),
        }
    }

    /// The URL as messages and logs may show it: without a password, should it contain one.
    #[must_use]
    pub fn shown_url(&self) -> String {
        let (head, parameters) = match self.url.split_once('?') {
            // A password may contain a question mark.
            Some((head, parameters)) if !parameters.contains('@') => (head, Some(parameters)),
            _ => (&*self.url, None),
        };
        let credentials =
            head.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)));
        let mut shown = match credentials {
            Some((scheme, (credentials, rest))) => match credentials.split_once(':') {
                Some((user, _)) => format!("{scheme}://{user}:…@{rest}"),
                None => head.to_owned(),
            },
            None => head.to_owned(),
        };
        for (at, parameter) in parameters.into_iter().flat_map(|text| text.split('&')).enumerate() {
            shown.push(if at == 0 { '?' } else { '&' });
            match parameter.split_once('=') {
                Some((key, _)) if key.to_ascii_lowercase().contains("pass") => shown += &format!("{key}=…"),
                _ => shown += parameter,
            }
        }
        shown
    }

    /// Which database the URL names, without connecting. Tells what is wrong with a URL.
    pub fn location(&self) -> Result<Location, DatabaseError> {
        let url = self.url.trim();
        if let Some(path) = url.strip_prefix("sqlite:") {
            return self.file(path).map(Location::Sqlite);
        }
        if ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Ok(Location::Postgres(url.to_owned()));
        }
        let scheme = url.split(':').next().filter(|scheme| scheme.len() < url.len());
        let found =
            scheme.map_or_else(|| "has no scheme".to_owned(), |scheme| format!("starts with '{scheme}:'"));
        Err(DatabaseError::Config(format!(
            "the URL of the database {found}; write sqlite:FILE or postgres://USER@HOST:PORT/NAME"
        )))
    }

    /// The file of a SQLite URL: `sqlite:a.db`, `sqlite:/a/b.db`, and as other programs write it, `sqlite://a.db`.
    fn file(&self, path: &str) -> Result<PathBuf, DatabaseError> {
        let path = path.strip_prefix("//").unwrap_or(path);
        match path {
            "" => Err(DatabaseError::Config("the URL 'sqlite:' names no file; write sqlite:FILE".to_owned())),
            ":memory:" => Err(DatabaseError::Config(
                "a database in memory is empty and cannot be read; write the file of a database, as in sqlite:FILE"
                    .to_owned(),
            )),
            path => Ok(self.directory.join(path)),
        }
    }
}

impl fmt::Debug for DatabaseConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseConfig")
            .field("url", &self.shown_url())
            .field("directory", &self.directory)
            .field("password_env", &self.password_env)
            .field("connections", &self.connections)
            .field("connect_timeout", &self.connect_timeout)
            .finish()
    }
}

/// Which database a URL names.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// The URL of a PostgreSQL server.
    Postgres(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_passwords() {
        for (url, shown) in [
            ("sqlite:shop.db", "sqlite:shop.db"),
            ("postgres://ann@h:1/d?sslmode=require", "postgres://ann@h:1/d?sslmode=require"),
            ("postgres://ann:pw@h/d", "postgres://ann:…@h/d"),
            ("postgres://ann:p@w:/?x@h/d", "postgres://ann:…@h/d"),
            (
                "postgres://ann@h/d?a=b&password=pw&sslpassword=pw",
                "postgres://ann@h/d?a=b&password=…&sslpassword=…",
            ),
            ("postgres://ann@h/d?PassFile=pw", "postgres://ann@h/d?PassFile=…"),
        ] {
            let config = DatabaseConfig::new(url);
            assert_eq!(config.shown_url(), shown);
            assert!(!format!("{config:?}").contains("pw"));
        }
    }
}
