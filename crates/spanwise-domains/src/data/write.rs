//! Writes files so that a reader sees the old content or the new, never a half.
//!
//! Content is written under a temporary name in the same directory, forced to the disk and then renamed.
//! Whatever goes wrong, the temporary file disappears and the old file stays. A link is followed; a device or
//! a pipe is written to directly, for there a rename would do harm.

use super::error::DataError;
use super::example::Example;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes examples, one JSON object per line.
///
/// # Errors
/// Those of `writer`.
pub fn write_examples(writer: &mut dyn Write, examples: &[Example]) -> io::Result<()> {
    for example in examples {
        serde_json::to_writer(&mut *writer, &example.to_json())?;
        writer.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes one file, all of it or nothing.
///
/// # Errors
/// When the content cannot be written or put in place; the file is then as it was.
pub fn write_atomic(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let fail = |source| DataError::Write { file: path.display().to_string(), source };
    Temporary::write(path, write).and_then(Temporary::put_in_place).map_err(fail)
}

/// Writes several files that belong together: no file is put in place before all of them are written.
///
/// # Errors
/// When any content cannot be written; all files are then as they were. Only when putting a written file in
/// place fails, which takes a directory of its name or a broken disk, the files before it are new already.
pub fn write_all_atomic<P: AsRef<Path>, T>(
    files: &[(P, T)],
    write: impl Fn(&T, &mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let fail = |path: &Path, source| DataError::Write { file: path.display().to_string(), source };
    let mut written = Vec::with_capacity(files.len());
    for (path, content) in files {
        let path = path.as_ref();
        let temporary = Temporary::write(path, |writer| write(content, writer));
        written.push((path, temporary.map_err(|source| fail(path, source))?));
    }
    for (path, temporary) in written {
        temporary.put_in_place().map_err(|source| fail(path, source))?;
    }
    Ok(())
}

/// A file under a temporary name, which is removed unless it is put in place.
struct Temporary {
    /// `None` for a device or a pipe, which has its content already.
    path: Option<PathBuf>,
    target: PathBuf,
}

impl Temporary {
    fn write(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let (file, temporary) = match fs::metadata(target) {
            Ok(found) if found.is_dir() => return Err(io::Error::other("it is a directory")),
            Ok(found) if found.is_file() => {
                let created = Self::create(fs::canonicalize(target)?)?;
                created.0.set_permissions(found.permissions())?;
                created
            }
            Ok(_) => {
                let temporary = Self { path: None, target: target.to_owned() };
                (OpenOptions::new().write(true).open(target)?, temporary)
            }
            Err(_) => Self::create(target.to_owned())?,
        };
        let mut writer = BufWriter::new(file);
        write(&mut writer)?;
        writer.flush()?;
        if temporary.path.is_some() {
            writer.get_ref().sync_all()?;
        }
        Ok(temporary)
    }

    fn create(target: PathBuf) -> io::Result<(File, Self)> {
        let (file, path) = create_beside(&target)?;
        Ok((file, Self { path: Some(path), target }))
    }

    fn put_in_place(self) -> io::Result<()> {
        if let Some(path) = &self.path {
            fs::rename(path, &self.target)?;
            // Best effort: on systems where a directory can be opened, the new name reaches the disk too.
            if let Ok(directory) = File::open(directory_of(&self.target)) {
                let _ = directory.sync_all();
            }
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // After a rename nothing of this name is left, and that is fine.
            let _ = fs::remove_file(path);
        }
    }
}

fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = target.file_name().ok_or_else(|| io::Error::other("the path does not end in a file name"))?;
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut temporary_name = std::ffi::OsString::from(".");
        temporary_name.push(name);
        temporary_name.push(format!(".{}.{number}.tmp", process::id()));
        let path = directory_of(target).join(temporary_name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            // Left behind by a process of the same number that was killed: take the next name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(directory)
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failing_writer_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f.jsonl");
        write_atomic(&path, |writer| writer.write_all(b"old")).unwrap();
        let error = write_atomic(&path, |writer| {
            writer.write_all(b"new")?;
            Err(io::Error::other("disk is full"))
        });
        assert!(error.unwrap_err().to_string().ends_with("f.jsonl: disk is full"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(directory.path()), ["f.jsonl"]);
    }

    #[test]
    fn a_panicking_writer_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f.jsonl");
        let outcome = std::panic::catch_unwind(|| write_atomic(&path, |_| panic!("on purpose")));
        assert!(outcome.is_err());
        assert_eq!(names(directory.path()), [""; 0]);
    }

    #[test]
    fn several_files_appear_together_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let files = ["a", "b"].map(|name| (directory.path().join(name), name));
        let failing = |name: &&str, writer: &mut dyn Write| match *name {
            "b" => Err(io::Error::other("no")),
            name => writer.write_all(name.as_bytes()),
        };
        assert!(write_all_atomic(&files, failing).is_err());
        assert_eq!(names(directory.path()), [""; 0]);
        write_all_atomic(&files, |name, writer| writer.write_all(name.as_bytes())).unwrap();
        assert_eq!(names(directory.path()), ["a", "b"]);
    }

    #[test]
    fn a_directory_that_is_missing_or_in_the_way_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let error = write_atomic(&directory.path().join("missing/f"), |_| Ok(())).unwrap_err();
        assert!(error.to_string().ends_with("missing/f: no such file or directory"), "{error}");
        let error = write_atomic(directory.path(), |_| Ok(())).unwrap_err();
        assert!(error.to_string().ends_with(": it is a directory"), "{error}");
        assert_eq!(names(directory.path()), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_survive() {
        use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
        let directory = tempfile::tempdir().unwrap();
        let [path, link] = ["f", "link"].map(|name| directory.path().join(name));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write_atomic(&link, |writer| writer.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(directory.path()), ["f", "link"]);
        write_atomic(Path::new("/dev/null"), |writer| writer.write_all(b"new")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn keys_come_in_the_promised_order() {
        let mut example = Example::new("u");
        example.extra.insert("id".to_owned(), 7.into());
        example.answer = Some("a".to_owned());
        example.program = Some("p".to_owned());
        let mut bytes = Vec::new();
        write_examples(&mut bytes, &[example]).unwrap();
        let expected = "{\"utterance\":\"u\",\"program\":\"p\",\"answer\":\"a\",\"id\":7}\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
