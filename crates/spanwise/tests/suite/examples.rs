//! The examples run, and need no other crate of this workspace.

use std::fs;
use std::path::PathBuf;

/// Includes each example as a module, and runs it as a test of the same name.
macro_rules! examples {
    ($($name:ident in $file:literal),* $(,)?) => {
        $(
            #[path = $file]
            mod $name;
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];

        mod runs {
            $(
                #[test]
                fn $name() {
                    super::$name::main().unwrap();
                }
            )*
        }
    };
}

examples! {
    draw_tree in "../../examples/draw_tree.rs",
    k_best in "../../examples/k_best.rs",
    own_domain in "../../examples/own_domain.rs",
    own_executor in "../../examples/own_executor.rs",
    parse in "../../examples/parse.rs",
    training in "../../examples/training.rs",
}

fn files(directory: &str) -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(directory);
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

#[test]
fn every_example_is_run() {
    let files = files("examples");
    let names: Vec<_> = files.iter().map(|file| file.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, NAMES);
}

#[test]
fn examples_and_tests_need_no_other_crate_of_the_workspace() {
    for file in ["examples", "examples/support", "tests/suite"].into_iter().flat_map(files) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(concat!("spanwise", "_")), "{}", file.display());
    }
}
