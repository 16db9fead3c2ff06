//! Passwords: from the environment, then from the file of libpq.

use super::super::DatabaseError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A password, if there is one, and where it comes from.
pub(super) struct Found {
    pub(super) password: Option<String>,
    pub(super) source: Password,
}

/// Where a password comes from, for messages.
pub(super) enum Password {
    Environment(String),
    File(PathBuf),
    /// There is none; the name of the environment variable that may hold it, and why the file was not used.
    Absent(String, Option<String>),
}

/// What a password is for.
pub(super) struct Account<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// The password for an account, from the environment that `environment` reads.
pub(super) fn find(
    variable: Option<&str>,
    account: &Account<'_>,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Result<Found, DatabaseError> {
    let variable = variable.unwrap_or("PGPASSWORD");
    if let Some(password) = environment(variable).filter(|password| !password.is_empty()) {
        let password = password.into_string().map_err(|_| {
            DatabaseError::Config(format!("the environment variable {variable} is not UTF-8"))
        })?;
        return Ok(Found { password: Some(password), source: Password::Environment(variable.to_owned()) });
    }
    let absent = |reason| Ok(Found { password: None, source: Password::Absent(variable.to_owned(), reason) });
    let Some(file) = file(&environment) else { return absent(None) };
    let lines = match read(&file) {
        Ok(Some(lines)) => lines,
        Ok(None) => return absent(None),
        Err(reason) => return absent(Some(reason)),
    };
    // As libpq does: the socket of this machine is `localhost`.
    let host = if account.host.starts_with('/') { "localhost" } else { account.host };
    match lookup(&lines, [host, &account.port.to_string(), account.database, account.user]) {
        Some(password) => Ok(Found { password: Some(password), source: Password::File(file) }),
        None => absent(None),
    }
}

fn file(environment: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(path) = environment("PGPASSFILE") {
        return Some(PathBuf::from(path));
    }
    if cfg!(windows) {
        return environment("APPDATA").map(|home| Path::new(&home).join("postgresql").join("pgpass.conf"));
    }
    environment("HOME").map(|home| Path::new(&home).join(".pgpass"))
}

/// The text of the file; `None` if there is none, and the reason if others may read it.
fn read(path: &Path) -> Result<Option<String>, String> {
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(None) };
    let shown = path.display();
    if !metadata.is_file() {
        return Err(format!("'{shown}' is not a file"));
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return Err(format!("'{shown}' is not used, because others may read it; run chmod 600 on it"));
    }
    std::fs::read(path)
        .map(|bytes| Some(String::from_utf8_lossy(&bytes).into_owned()))
        .map_err(|error| format!("'{shown}' cannot be read: {error}"))
}

/// The password of the first line `host:port:database:user:password` that fits.
fn lookup(lines: &str, wanted: [&str; 4]) -> Option<String> {
    lines.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [known @ .., password] = &*fields else { return None };
        let fits = known.len() == 4
            && known.iter().zip(wanted).all(|(known, wanted)| *known == "*" || unescaped(known) == wanted);
        fits.then(|| unescaped(password)).filter(|password| !password.is_empty())
    })
}

/// The first five fields of a line, still escaped: a colon within a field is `\:`, a backslash `\\`.
fn fields(line: &str) -> Vec<&str> {
    let (mut fields, mut begin, mut is_escaped) = (Vec::new(), 0, false);
    for (at, letter) in line.char_indices() {
        if letter == ':' && !is_escaped && fields.len() < 4 {
            fields.push(&line[begin..at]);
            begin = at + 1;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    fields.push(&line[begin..]);
    fields
}

fn unescaped(field: &str) -> String {
    let mut letters = field.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        text.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r"# host:port:database:user:password
db:5432:shop:ann:first
db:5432:shop:*:any user
*:*:*:bob:b\:ob\\s: secret
\*:5432:x:ann:star
[::1]:1:x:ann:no
::1:1:x:ann:no
\:\:1:5432:x:eve:v6
db:5432:empty:ann:
too:few:fields
";

    #[test]
    fn the_first_line_that_fits_gives_the_password() {
        for (wanted, password) in [
            (["db", "5432", "shop", "ann"], Some("first")),
            (["db", "5432", "shop", "eve"], Some("any user")),
            (["other", "1", "x", "bob"], Some(r"b:ob\s: secret")),
            (["*", "5432", "x", "ann"], Some("star")),
            (["::1", "5432", "x", "eve"], Some("v6")),
            (["db", "5432", "empty", "ann"], None),
            (["db", "5433", "shop", "ann"], None),
            (["few", "fields", "", ""], None),
        ] {
            assert_eq!(lookup(FILE, wanted).as_deref(), password, "{wanted:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("pgpass");
        assert_eq!(read(&path), Ok(None));
        std::fs::write(&path, FILE).expect("it is written");
        let allow = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("it is ours")
        };
        allow(0o640);
        assert!(read(&path).is_err_and(|reason| reason.contains("chmod 600")));
        allow(0o600);
        assert_eq!(read(&path), Ok(Some(FILE.to_owned())));
    }

    #[cfg(unix)]
    #[test]
    fn the_environment_comes_before_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join(".pgpass");
        std::fs::write(&path, "localhost:5432:shop:ann:from file").expect("it is written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        let account = Account { host: "/run/postgresql", port: 5432, database: "shop", user: "ann" };
        let found = |set: &[(&str, &str)], variable| {
            let home = directory.path().as_os_str().to_owned();
            let found = find(variable, &account, |name| {
                let value = set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
                value.or_else(|| (name == "HOME").then(|| home.clone()))
            });
            found.expect("nothing is wrong with it").password
        };
        assert_eq!(found(&[], None).as_deref(), Some("from file"));
        assert_eq!(found(&[("PGPASSWORD", "")], None).as_deref(), Some("from file"));
        assert_eq!(found(&[("PGPASSWORD", "a")], None).as_deref(), Some("a"));
        assert_eq!(found(&[("PGPASSWORD", "a"), ("SHOP", "b")], Some("SHOP")).as_deref(), Some("b"));
        assert_eq!(found(&[("PGPASSWORD", "a")], Some("SHOP")).as_deref(), Some("from file"));
        assert_eq!(found(&[("PGPASSFILE", "/absent")], None), None);
    }
}
