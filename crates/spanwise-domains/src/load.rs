//! Loads domains: built-in ones by name, others from a file with its tables beside it.

use crate::exec::{self, DatabaseTables};
use crate::table::{json, tsv};
use crate::text::{Kind, MAX_BYTES, read_text};
use spanwise_lang::domain::{ExecutorChoice, QUERY, file, type_system_names};
use spanwise_lang::{Annotation, Diagnostic, Domain, DomainErrors, Table, TableSource};
use std::path::{Path, PathBuf};

/// A built-in domain: its file, its phrases for annotation, and its tables.
struct Builtin {
    name: &'static str,
    source: &'static str,
    annotation: &'static str,
    table: fn(&str) -> Option<&'static str>,
}

const BUILTINS: &[Builtin] = &[
    #[cfg(feature = "geo")]
    Builtin {
        name: "geo",
        source: include_str!("geo/domain.toml"),
        annotation: spanwise_geobase::ANNOTATION,
        table: spanwise_geobase::table,
    },
    Builtin {
        name: "clevr",
        source: include_str!("clevr/domain.toml"),
        annotation: include_str!("clevr/annotation.toml"),
        table: |_| None,
    },
    Builtin {
        name: "scan",
        source: include_str!("scan/domain.toml"),
        annotation: include_str!("scan/annotation.toml"),
        table: |_| None,
    },
];

/// Why a domain could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read the domain file {path}: {reason}{hint}")]
    Unreadable {
        /// The path.
        path: String,
        /// Why.
        reason: String,
        /// What to try.
        hint: String,
    },
    /// The domain is built in, but only with a cargo feature that this build lacks.
    #[error("the domain {name} is not in this build; {}", missing_feature(.name))]
    NotInBuild {
        /// The name.
        name: String,
    },
    /// The file has no type system of this name.
    #[error("there is no type system `{name}` in {file}; {known}")]
    NoTypeSystem {
        /// The name.
        name: String,
        /// The file.
        file: String,
        /// What there is instead.
        known: String,
    },
    /// The file is wrong.
    #[error(transparent)]
    Invalid(#[from] DomainErrors),
}

/// Names of the domains in this build.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|builtin| builtin.name)
}

/// Names of the domains in this build, as messages list them: `geo, clevr, scan`.
#[must_use]
pub fn builtin_list() -> String {
    builtin_names().collect::<Vec<_>>().join(", ")
}

/// Whether `name` is a domain that only builds with the cargo feature of the same name have, and this one does not.
pub(crate) fn is_left_out(name: &str) -> bool {
    cfg!(not(feature = "geo")) && name == "geo"
}

/// How to get a domain that is left out of this build.
pub(crate) fn missing_feature(name: &str) -> String {
    format!("build Spanwise with the cargo feature `{name}`, which is on by default (see NOTICE)")
}

/// The domain that `spec` names: a built-in (`geo`) or a path to a domain file, either with a type system
/// behind an `@` (`geo@paper`).
///
/// # Errors
/// A file that is missing, not UTF-8, or wrong, with everything wrong in it.
pub fn load(spec: &str) -> Result<Domain, LoadError> {
    Spec::parse(spec).load()
}

/// The name of a built-in domain or the path of a domain file, with an optional type system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spec<'a> {
    name: &'a str,
    type_system: Option<&'a str>,
}

impl<'a> Spec<'a> {
    /// Reads `name` or `name@system`. An `@` may also be part of a path: unless the part before it is a domain, the
    /// whole text is the path.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let is_there =
            |name: &str| find_builtin(name).is_some() || is_left_out(name) || Path::new(name).exists();
        match text.rsplit_once('@') {
            Some((name, system))
                if !system.contains(std::path::is_separator) && !is_there(text) && is_there(name) =>
            {
                Self { name, type_system: Some(system) }
            }
            _ => Self { name: text, type_system: None },
        }
    }

    /// The domain file; `None` for a built-in domain.
    #[must_use]
    pub fn file(&self) -> Option<&'a Path> {
        find_builtin(self.name).is_none().then(|| Path::new(self.name))
    }

    /// The directory of the domain file, in which its executor runs.
    #[must_use]
    pub fn directory(&self) -> Option<&'a Path> {
        Path::new(self.name).parent().filter(|path| !path.as_os_str().is_empty())
    }

    /// The domain.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load(&self) -> Result<Domain, LoadError> {
        let name = self.name;
        if let Some(builtin) = find_builtin(name) {
            let tables = BuiltinTables { table: builtin.table };
            return self.compile(builtin.source, &format!("{name}.toml (built in)"), &tables);
        }
        let path = Path::new(name);
        if is_left_out(name) && !path.is_file() {
            return Err(LoadError::NotInBuild { name: name.to_owned() });
        }
        let source = read_text(path, Kind::Regular, MAX_BYTES).map_err(|reason| LoadError::Unreadable {
            path: name.to_owned(),
            reason: reason.to_string(),
            hint: missing_hint(name),
        })?;
        let tables = FileTables::new(path.parent().unwrap_or(Path::new("")).to_path_buf(), &source);
        self.compile(&source, name, &tables)
    }

    /// The phrases for annotation of the domain that this spec names: those of a built-in domain, or else the lexicon.
    ///
    /// # Errors
    /// Everything that is wrong with the phrases.
    pub fn annotation(&self, domain: &Domain) -> Result<Annotation, DomainErrors> {
        match find_builtin(self.name) {
            Some(builtin) => {
                let file = format!("annotation of {} (built in)", builtin.name);
                Annotation::load(domain, builtin.annotation, &file)
            }
            None => Ok(Annotation::of(domain)),
        }
    }

    /// The annotation file of a built-in domain.
    #[must_use]
    pub fn annotation_source(&self) -> Option<&'static str> {
        find_builtin(self.name).map(|builtin| builtin.annotation)
    }

    /// Loads every type system of the file, if the spec names none.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub fn check_type_systems(&self, domain: &Domain) -> Result<(), LoadError> {
        let mut found: Option<DomainErrors> = None;
        for system in domain.type_systems().iter().filter(|_| self.type_system.is_none()) {
            let errors = match (Spec { type_system: Some(system), ..*self }).load() {
                Ok(_) => continue,
                Err(LoadError::Invalid(errors)) => errors,
                Err(other) => return Err(other),
            };
            match &mut found {
                None => found = Some(errors),
                Some(all) => {
                    let new = errors.problems.into_iter().filter(|problem| !all.problems.contains(problem));
                    all.problems.extend(new.collect::<Vec<_>>());
                }
            }
        }
        found.map_or(Ok(()), |errors| Err(errors.into()))
    }

    fn compile(&self, source: &str, file: &str, tables: &dyn TableSource) -> Result<Domain, LoadError> {
        if let Some(name) = self.type_system {
            // A file that is no TOML at all has worse problems.
            let known = type_system_names(source).unwrap_or_else(|| vec![name.to_owned()]);
            if !known.iter().any(|known| known == name) {
                let known = match known.as_slice() {
                    [] => "it has none".to_owned(),
                    names => format!("it has {}", names.join(", ")),
                };
                return Err(LoadError::NoTypeSystem { name: name.to_owned(), file: file.to_owned(), known });
            }
        }
        let domain = Domain::load(source, file, self.type_system, tables)?;
        exec::check(domain.executor()).map_err(|message| DomainErrors {
            file: file.to_owned(),
            source: source.to_owned(),
            problems: vec![Diagnostic::new(domain.executor_range(), message)],
        })?;
        Ok(domain)
    }
}

fn find_builtin(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

fn missing_hint(spec: &str) -> String {
    if Path::new(spec).exists() {
        return String::new();
    }
    if Path::new(spec).starts_with("domains") {
        return " (it is relative to the root of the Spanwise repository; elsewhere, name the file: `--set domain=PATH`)"
            .to_owned();
    }
    let name = spec.split_once('@').map_or(spec, |(name, _)| name);
    match spanwise_lang::diag::closest(name, builtin_names()) {
        Some(near) => format!(" (did you mean the built-in domain `{near}`?)"),
        None => format!(" (built-in domains are {})", builtin_list()),
    }
}

struct BuiltinTables {
    table: fn(&str) -> Option<&'static str>,
}

impl TableSource for BuiltinTables {
    fn read(&self, path: &str) -> Result<Table, String> {
        let text = (self.table)(path).ok_or_else(|| format!("there is no built-in table `{path}`"))?;
        tsv(path, text)
    }
}

/// Tables beside a domain file, and in its database.
struct FileTables {
    directory: PathBuf,
    database: Option<DatabaseTables>,
}

impl FileTables {
    fn new(directory: PathBuf, source: &str) -> Self {
        let executor = file::read(source, &mut Vec::new()).map(|file| file.executor);
        let database = match executor {
            Some(ExecutorChoice::Sql(settings)) => Some(DatabaseTables::new(settings, directory.clone())),
            _ => None,
        };
        Self { directory, database }
    }
}

impl TableSource for FileTables {
    fn read(&self, path: &str) -> Result<Table, String> {
        if let Some(query) = query_of(path) {
            let database = self.database.as_ref();
            return database
                .ok_or("a table that is a query needs a database: `sql` in [executor]")?
                .read(query);
        }
        read_table(&self.directory, path)
    }
}

/// The query of a table that is one: what follows `sql:`.
#[must_use]
pub fn query_of(path: &str) -> Option<&str> {
    path.trim_start().strip_prefix(QUERY)
}

/// The entity table at `path` in a directory: JSON by its extension, else columns between tabs.
///
/// # Errors
/// A file that cannot be read or is no table, with its line.
pub fn read_table(directory: &Path, path: &str) -> Result<Table, String> {
    let text = read_text(&directory.join(path), Kind::Regular, MAX_BYTES)
        .map_err(|reason| format!("cannot read table `{path}`: {reason}"))?;
    if Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        json(path, &text)
    } else {
        tsv(path, &text)
    }
}

#[cfg(test)]
mod tests {
    #![cfg_attr(feature = "geo", allow(unused_imports, reason = "a test for builds without the feature"))]
    use super::*;

    #[cfg(not(feature = "geo"))]
    #[test]
    fn a_domain_that_is_left_out_of_the_build_is_named_with_the_feature() {
        for spec in ["geo", "geo@paper"] {
            let message = load(spec).unwrap_err().to_string();
            assert!(message.contains("the domain geo is not in this build; "), "{message}");
            assert!(message.contains("cargo feature `geo`"), "{message}");
        }
        let source = "name = 'd'\ntypes = ['A']\nroot.types = ['A']\nexecutor = { builtin = 'geo' }\n";
        let domain = Domain::load(source, "d.toml", None, &FileTables::new(PathBuf::new(), source)).unwrap();
        let message = exec::check(domain.executor()).unwrap_err();
        assert!(message.contains("the executor geo is not in this build; "), "{message}");
        assert_eq!(builtin_list(), "clevr, scan");
    }
}
