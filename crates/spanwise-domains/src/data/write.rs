//! Atomic file writing: a reader sees the old content or the new content, never a mixture.
//!
//! Content is written to a temporary file in the same directory, flushed to the disk and then renamed. On any error the
//! temporary file is removed and the old file stays; one of a killed process is removed by the next writer. Symbolic
//! links are followed. Devices, pipes and open streams such as `/dev/stdout` are written to directly, because renaming a
//! file over them would replace them.

use super::error::DataError;
use super::example::Example;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Longest chain of symbolic links that is followed.
const MAX_LINKS: usize = 40;
/// Names of temporary files start and end like this.
const PREFIX: &str = ".spanwise.";
const SUFFIX: &str = ".tmp";
/// How often a temporary file that another process has removed is made again.
const MAX_TRIES: usize = 100;
/// The most entries of a directory that are searched for files of killed processes.
const MAX_ENTRIES: usize = 10_000;

/// Writes examples, one JSON object per line.
///
/// # Errors
/// Those of `writer`.
pub fn write_examples(writer: &mut dyn Write, examples: &[Example]) -> io::Result<()> {
    for example in examples {
        serde_json::to_writer(&mut *writer, example)?;
        writer.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes one file, all of it or nothing.
///
/// # Errors
/// When the content cannot be written or renamed; the file is then as it was.
pub fn write_atomic(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    Written::new(path, write).and_then(Written::persist).map_err(|reason| failure(path, reason))
}

/// Writes several files that belong together: all of them are written before the first is renamed.
///
/// # Errors
/// When any content cannot be written; all files are then as they were. If renaming a file fails, which takes a
/// directory of its name or a broken disk, the files before it are already new.
pub fn write_all_atomic<P: AsRef<Path>, T>(
    files: &[(P, T)],
    write: impl Fn(&T, &mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let mut written = Vec::with_capacity(files.len());
    for (path, content) in files {
        let path = path.as_ref();
        let file = Written::new(path, |writer| write(content, writer));
        written.push((path, file.map_err(|reason| failure(path, reason))?));
    }
    written.into_iter().try_for_each(|(path, file)| file.persist().map_err(|reason| failure(path, reason)))
}

fn failure(path: &Path, reason: io::Error) -> DataError {
    DataError::Write { file: path.display().to_string(), reason }
}

/// As [`write_atomic`], but a link at `path` is replaced by the file instead of followed: for files that belong to their
/// directory.
///
/// # Errors
/// When the content cannot be written or put in place; what was at `path` is then still there.
pub fn replace_atomic(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let written = || {
        let temporary = temporary_in(directory_of(path))?;
        fill(temporary.as_file(), write)?.sync_all()?;
        Written::Temporary(temporary, path.to_owned()).persist()
    };
    written().map_err(|reason| DataError::Write { file: path.display().to_string(), reason })
}

/// Content on the disk that does not have its name yet.
enum Written {
    /// In a temporary file, which is removed when this is dropped.
    Temporary(NamedTempFile, PathBuf),
    /// In a device, a pipe or a stream, where it is final.
    Direct,
}

impl Written {
    fn new(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let target = follow_links(path);
        if let Some(stream) = standard_stream(&target) {
            fill(stream, write)?;
            return Ok(Self::Direct);
        }
        let old = match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(io::Error::other("it is a directory")),
            Ok(found) if found.is_file() && !is_open_stream(&target) => Some(found.permissions()),
            Ok(_) => {
                // Appended, so that what an open stream already holds stays.
                fill(OpenOptions::new().append(true).open(&target)?, write)?;
                return Ok(Self::Direct);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if target.file_name().is_none() {
            return Err(io::Error::other("the path does not end in a file name"));
        }
        let temporary = temporary_in(directory_of(&target))?;
        if let Some(permissions) = old {
            temporary.as_file().set_permissions(permissions)?;
        }
        fill(temporary.as_file(), write)?.sync_all()?;
        Ok(Self::Temporary(temporary, target))
    }

    fn persist(self) -> io::Result<()> {
        if let Self::Temporary(temporary, target) = self {
            temporary.persist(&target).map_err(|error| error.error)?;
            // Best effort: where directories can be opened, the new name reaches the disk too.
            if let Ok(directory) = File::open(directory_of(&target)) {
                let _ = directory.sync_all();
            }
        }
        Ok(())
    }
}

/// A new file with the permissions that the umask leaves, as every new file has; `tempfile` alone would make it private.
///
/// It is locked as long as it is written to. A killed process leaves it behind without the lock, and the next writer into
/// the directory removes it.
fn temporary_in(directory: &Path) -> io::Result<NamedTempFile> {
    remove_stale(directory);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    for _ in 0..MAX_TRIES {
        let temporary = builder.tempfile_in(directory)?;
        // Between these two calls, another writer may take it for one that was left behind.
        if temporary.as_file().lock().is_err() || is_linked(temporary.as_file()) {
            return Ok(temporary);
        }
    }
    builder.tempfile_in(directory)
}

/// Whether an open file still has its name.
#[cfg(unix)]
fn is_linked(file: &File) -> bool {
    file.metadata().is_ok_and(|found| std::os::unix::fs::MetadataExt::nlink(&found) > 0)
}

/// Elsewhere an open file is not removed.
#[cfg(not(unix))]
fn is_linked(_: &File) -> bool {
    true
}

/// Removes temporary files of killed processes: those that no process holds a lock on. Whatever cannot be looked at stays.
fn remove_stale(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten().take(MAX_ENTRIES) {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // The lock is held until the file is gone, so that its writer, if there is one yet to lock it, notices.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Writes all of the content and returns the sink.
fn fill<W: Write>(sink: W, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<W> {
    let mut writer = BufWriter::new(sink);
    write(&mut writer)?;
    let mut sink = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    sink.flush()?;
    Ok(sink)
}

/// The target of a chain of symbolic links, whether it exists or not. A link to an open stream is not followed, because
/// other writers have the file behind it open.
fn follow_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) if !is_open_stream(&path) => path = directory_of(&path).join(next),
            _ => break,
        }
    }
    path
}

/// Whether a path names something that this process has open.
fn is_open_stream(path: &Path) -> bool {
    let is_numbered =
        |folder: &Path| ["/dev/fd", "/proc/self/fd"].into_iter().any(|it| folder == Path::new(it));
    standard_number(path).is_some() || path.parent().is_some_and(is_numbered)
}

/// The number of the standard stream that a path names.
fn standard_number(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(1),
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => Some(2),
        _ => None,
    }
}

/// The standard stream that a path names. Opened by that name, a file would be written from its start.
fn standard_stream(path: &Path) -> Option<Box<dyn Write>> {
    match standard_number(path).filter(|_| cfg!(unix))? {
        1 => Some(Box::new(io::stdout())),
        _ => Some(Box::new(io::stderr())),
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

    #[cfg(unix)]
    #[test]
    fn replacing_a_link_leaves_its_target_alone() {
        let directory = tempfile::tempdir().unwrap();
        let [target, link] = ["target", "link"].map(|name| directory.path().join(name));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        replace_atomic(&link, |writer| writer.write_all(b"new")).unwrap();
        assert_eq!((fs::read(&target).unwrap(), fs::read(&link).unwrap()), (b"old".into(), b"new".into()));
        assert!(!link.is_symlink());
        let failed = replace_atomic(&link, |_| Err(io::Error::other("broken")));
        assert!(failed.is_err() && names(directory.path()) == ["link", "target"]);
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

    #[cfg(unix)]
    #[test]
    fn files_of_killed_writers_are_removed_and_those_of_living_ones_stay() {
        let directory = tempfile::tempdir().unwrap();
        let [stale, alive, other] = [".spanwise.a1.tmp", ".spanwise.b2.tmp", ".other.tmp"];
        for name in [stale, alive, other] {
            fs::write(directory.path().join(name), "half").unwrap();
        }
        std::os::unix::fs::symlink(other, directory.path().join(".spanwise.link.tmp")).unwrap();
        let writer = File::open(directory.path().join(alive)).unwrap();
        writer.lock().unwrap();
        write_atomic(&directory.path().join("f"), |file| {
            // The writer's own temporary file is held as well.
            remove_stale(directory.path());
            file.write_all(b"new")
        })
        .unwrap();
        assert_eq!(names(directory.path()), [other, alive, ".spanwise.link.tmp", "f"]);
        drop(writer);
        replace_atomic(&directory.path().join("f"), |file| file.write_all(b"newer")).unwrap();
        assert_eq!(names(directory.path()), [other, ".spanwise.link.tmp", "f"]);
    }

    #[test]
    fn many_writers_at_once_do_not_remove_each_others_files() {
        let directory = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for at in 0..8 {
                let path = directory.path().join(format!("f{at}"));
                scope.spawn(move || {
                    for _ in 0..50 {
                        write_atomic(&path, |file| file.write_all(b"new")).unwrap();
                    }
                });
            }
        });
        assert_eq!(names(directory.path()).len(), 8);
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
    fn a_place_that_cannot_be_written_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), b"").unwrap();
        let within = directory.path().join("file/f");
        let mut places = vec![Path::new(""), Path::new(".."), within.as_path()];
        if cfg!(target_os = "linux") {
            // The first refuses new files even to root, the second is always full.
            places.extend([Path::new("/proc/spanwise"), Path::new("/dev/full")]);
        }
        for place in places {
            assert!(write_atomic(place, |writer| writer.write_all(b"new")).is_err(), "{}", place.display());
        }
        assert_eq!(names(directory.path()), ["file"]);
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
