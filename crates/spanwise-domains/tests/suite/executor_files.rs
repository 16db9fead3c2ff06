//! Files that the command of an executor names: which are read, which are refused, and where they run.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "this is a test, with its helpers")]

use spanwise_domains::exec::files::{ExecutorFiles, MAX_FILE_BYTES, read_files};
use spanwise_domains::exec::open_private;
use spanwise_lang::Domain;
use spanwise_lang::domain::NoTables;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn domain(argv: &str) -> Domain {
    let source = format!(
        "name = 'd'\ntypes = ['A']\nroot.types = ['A']\nconstants.x = 'A'\nexecutor.command = {argv}\n"
    );
    Domain::load(&source, "d.toml", None, &NoTables).unwrap()
}

fn words(files: &ExecutorFiles) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

#[track_caller]
fn refused(argv: &str, directory: &Path, why: &str) {
    let message = read_files(&domain(argv), Some(directory)).unwrap_err().to_string();
    assert!(message.contains(why), "{message}");
}

/// A directory with a folder `inside` that has a script.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("inside")).unwrap();
    fs::write(directory.path().join("inside/run.sh"), "echo").unwrap();
    fs::write(directory.path().join("secret"), "secret").unwrap();
    directory
}

#[test]
fn files_below_the_directory_are_read_and_others_stay_where_they_are() {
    let directory = directory();
    let home = directory.path().join("inside");
    symlink("run.sh", home.join("link.sh")).unwrap();
    fs::write(home.join("sh"), "not the shell").unwrap();
    let argv = r#"["sh", "run.sh", "./link.sh", "-x", "", "../secret", "/bin/sh", "none.sh", "."]"#;
    assert_eq!(words(&read_files(&domain(argv), Some(&home)).unwrap()), ["./link.sh", "run.sh"]);
    let outside = read_files(&domain(r#"["sh", "inside/run.sh", "inside"]"#), Some(directory.path()));
    assert_eq!(words(&outside.unwrap()), ["inside/run.sh"]);
}

#[test]
fn a_link_out_of_the_directory_is_refused() {
    let directory = directory();
    let home = directory.path().join("inside");
    symlink("../secret", home.join("x")).unwrap();
    symlink("/etc/passwd", home.join("passwd")).unwrap();
    symlink("..", home.join("up")).unwrap();
    for word in ["./x", "passwd", "up/secret"] {
        refused(&format!(r#"["sh", "{word}"]"#), &home, "which is a link out of the directory");
    }
    // The directory itself may be reached through a link.
    symlink(&home, directory.path().join("home")).unwrap();
    let files = read_files(&domain(r#"["./run.sh"]"#), Some(&directory.path().join("home"))).unwrap();
    assert_eq!(words(&files), ["./run.sh"]);
}

#[test]
fn pipes_devices_and_huge_files_are_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    refused(r#"["sh", "pipe"]"#, directory.path(), "it is a pipe; expected a regular file");
    let huge = File::create(directory.path().join("huge")).unwrap();
    huge.set_len(MAX_FILE_BYTES + 1).unwrap();
    refused(r#"["sh", "huge"]"#, directory.path(), "which is too large: a model includes at most 64 MiB");
}

#[test]
fn a_private_copy_runs_with_its_own_files_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let script =
        "#!/bin/sh\nwhile read -r line; do echo \"{\\\"denotation\\\": \\\"$(pwd) $(ls)\\\"}\"; done\n";
    fs::create_dir(directory.path().join("tools")).unwrap();
    let run = directory.path().join("tools/run.sh");
    fs::write(&run, script).unwrap();
    fs::set_permissions(&run, Permissions::from_mode(0o755)).unwrap();
    fs::write(directory.path().join("beside"), "not named").unwrap();
    let domain = domain(r#"["tools/run.sh"]"#);
    let files = read_files(&domain, Some(directory.path())).unwrap();
    let executor = open_private(&domain, &files).unwrap().unwrap();
    // What lies in the directory has no effect any more.
    fs::write(&run, "#!/bin/sh\necho changed").unwrap();
    let mut terms = domain.new_terms();
    let program = terms.parse("x").unwrap();
    let found = executor.execute(&terms, program, None).unwrap().text;
    let (place, names) = found.rsplit_once(' ').unwrap();
    assert_eq!(names, "tools");
    let mode = fs::metadata(place).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "others must not see it");
    drop(executor);
    assert!(!Path::new(place).exists());
}
