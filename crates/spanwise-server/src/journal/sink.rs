//! The file of the log of questions: appended to, rotated by size, opened again where somebody else has moved it.

use super::LogFile;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The end of the name of the file before this one.
const BEFORE: &str = ".1";

/// A file that lines are appended to.
pub(super) struct Sink {
    log: LogFile,
    open: Option<Open>,
}

struct Open {
    file: File,
    size: u64,
    /// Devices are neither rotated nor locked.
    is_regular: bool,
    /// Whether the last line may be incomplete: a full disk, a machine that was switched off.
    is_broken: bool,
}

impl Sink {
    /// Opens the file for the first time. What is certainly a mistake is an error; anything else may pass, and is tried again.
    pub(super) fn start(log: LogFile) -> io::Result<Self> {
        let mut sink = Self { log, open: None };
        match sink.open() {
            Ok(open) => sink.open = Some(open),
            Err(error) if is_mistake(&error) => return Err(error),
            Err(_) => {}
        }
        Ok(sink)
    }

    pub(super) fn path(&self) -> &Path {
        &self.log.path
    }

    /// Appends a line with one write.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let len = line.len() as u64;
        let is_moved = self.open.as_ref().is_some_and(|open| !open.is_at(&self.log.path));
        if is_moved {
            self.open = None;
        }
        let is_full = |open: &Open| open.is_regular && open.size > 0 && open.size + len > self.log.max_bytes;
        if self.open.as_ref().is_some_and(is_full) {
            fs::rename(&self.log.path, before(&self.log.path))?;
            self.open = None;
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.open()?,
        };
        let written = open.append(line);
        self.open = Some(open);
        written
    }

    fn open(&self) -> io::Result<Open> {
        let path = &self.log.path;
        // Opening a pipe would wait for its reader.
        if fs::metadata(path).is_ok_and(|found| !(found.is_file() || is_device(&found))) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"));
        }
        let mut options = OpenOptions::new();
        options.append(true).read(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let found = file.metadata()?;
        let is_regular = found.is_file();
        if is_regular {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::new(ErrorKind::ResourceBusy, "another server writes to it"));
                }
                // Some file systems have no locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
        }
        let size = if is_regular { found.len() } else { 0 };
        let is_broken = size > 0 && last_byte(&mut file)? != b'\n';
        Ok(Open { file, size, is_regular, is_broken })
    }
}

impl Open {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let with_end;
        let line = if self.is_broken {
            with_end = [b"\n", line].concat();
            &with_end
        } else {
            line
        };
        let written = self.file.write_all(line);
        self.is_broken = written.is_err() && self.is_regular;
        self.size = if written.is_ok() {
            self.size + line.len() as u64
        } else {
            self.file.metadata().map_or(self.size, |found| found.len())
        };
        written
    }

    /// Whether the file is still the one at this path.
    #[cfg(unix)]
    fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let id = |found: Metadata| (found.dev(), found.ino());
        let same = fs::metadata(path).ok().zip(self.file.metadata().ok());
        same.is_some_and(|(there, here)| id(there) == id(here))
    }

    #[cfg(not(unix))]
    fn is_at(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// The name of the file before this one.
pub(super) fn before(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(BEFORE);
    name.into()
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last[0])
}

#[cfg(unix)]
fn is_device(found: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&found.file_type())
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

/// Whether trying again cannot help.
fn is_mistake(error: &io::Error) -> bool {
    use ErrorKind as K;
    matches!(
        error.kind(),
        K::NotFound
            | K::NotADirectory
            | K::PermissionDenied
            | K::IsADirectory
            | K::InvalidInput
            | K::ResourceBusy
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink(path: &Path, max_bytes: u64) -> Sink {
        Sink::start(LogFile { path: path.to_owned(), max_bytes }).unwrap()
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn lines_are_appended_and_an_incomplete_one_is_ended_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        sink(&path, 1000).write(b"one\n").unwrap();
        fs::write(&path, "one\n{\"tw").unwrap();
        let mut again = sink(&path, 1000);
        again.write(b"three\n").unwrap();
        again.write(b"four\n").unwrap();
        assert_eq!(text(&path), "one\n{\"tw\nthree\nfour\n");
    }

    #[test]
    fn a_file_that_has_its_size_makes_place_and_one_older_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut sink = sink(&path, 10);
        for line in ["aaaa\n", "bbbb\n", "cccc\n", "dddd\n", "eeee\n", "longer than the limit\n"] {
            sink.write(line.as_bytes()).unwrap();
        }
        assert_eq!(text(&path), "longer than the limit\n");
        assert_eq!(text(&before(&path)), "eeee\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_was_moved_or_deleted_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut sink = sink(&path, 1000);
        sink.write(b"one\n").unwrap();
        fs::rename(&path, folder.path().join("old")).unwrap();
        sink.write(b"two\n").unwrap();
        assert_eq!((text(&folder.path().join("old")), text(&path)), ("one\n".into(), "two\n".into()));
        fs::remove_file(&path).unwrap();
        sink.write(b"three\n").unwrap();
        assert_eq!(text(&path), "three\n");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_it_and_only_one_server_writes_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let _sink = sink(&path, 1000);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let start = |path: PathBuf| Sink::start(LogFile::new(path)).err().unwrap().to_string();
        assert_eq!(start(path), "another server writes to it");
        assert_eq!(start(folder.path().to_owned()), "it is not a file");
        assert!(start(folder.path().join("no/log")).contains("No such file"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_of_each_line_and_nothing_more() {
        let mut sink = sink(Path::new("/dev/full"), 10);
        for _ in 0..3 {
            assert_eq!(sink.write(b"a line\n").unwrap_err().kind(), ErrorKind::StorageFull);
        }
    }
}
