//! Where a database is.

use super::DatabaseError;
use std::path::PathBuf;
use std::time::Duration;

/// Where a database is and how to connect to it. Holds no password.
#[derive(Clone, PartialEq, Eq, Debug)]
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

/// Which database a URL names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// The URL of a PostgreSQL server.
    Postgres(String),
}
