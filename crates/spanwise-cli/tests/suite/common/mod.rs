//! A fresh directory for every test, the `spanwise` binary run inside it, and the models that tests share.

use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// A command that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A small domain that uses a table beside it. It has no executor.
pub(crate) const LAMPS: &str = r#"name = "lamps"
types = ["Lamp", "Task"]

[root]
types = ["Task"]
wrap = "do({})"

[constants]
on = "Lamp -> Task"
off = "Lamp -> Task"
both = "Task, Task -> Task"

[lexicon]
on = ["turn on", "light"]
off = "turn off"

[[entities]]
class = "lamp"
type = "Lamp"
form = "lamp('{name}')"
table = "lamps.tsv"
"#;

/// The table of [`LAMPS`].
pub(crate) const LAMPS_TABLE: &str = "name\taliases\ndesk\treading\nhall\t\n";

/// The smallest domain there is, without an executor.
pub(crate) const TINY: &str =
    "name = \"tiny\"\ntypes = [\"A\"]\n[root]\ntypes = [\"A\"]\n[constants]\nx = \"A\"\nf = \"A -> A\"\n";

/// A language of lamps with a table, examples and a configuration: all that a run needs.
pub(crate) const TOY: &[(&str, &str)] = &[
    ("lamps.toml", include_str!("../../../../spanwise-train/tests/toy/lamps.toml")),
    ("lamps.tsv", include_str!("../../../../spanwise-train/tests/toy/lamps.tsv")),
    ("run.toml", include_str!("../../../../spanwise-train/tests/toy/run.toml")),
    ("train.jsonl", include_str!("../../../../spanwise-train/tests/toy/train.jsonl")),
    ("dev.jsonl", include_str!("../../../../spanwise-train/tests/toy/dev.jsonl")),
];

/// A small run on SCAN, which has an executor.
const SCAN_RUN: &str = "domain = \"scan\"\n[data]\ntrain = \"train.jsonl\"\n[model]\nhidden = 32\n\
    [training]\nepochs = 6\nbatch = 8\nrate_encoder = 0.003\nrate_head = 0.005\naugment_from = 0\n\
    [compact]\nhidden = 32\nlayers = 1\nheads = 2\nintermediate = 64\nngram_buckets = 64\n";

/// A small run of the family that answers without programs.
const SCENES_RUN: &str = "domain = \"clevr\"\n[data]\ntrain = \"train.jsonl\"\ndev = \"train.jsonl\"\n[model]\n\
    family = \"end2end\"\n[training]\nepochs = 20\nbatch = 8\nrate_head = 0.005\n\
    [compact]\nhidden = 32\nlayers = 2\nheads = 2\nintermediate = 64\nngram_buckets = 64\n";

/// Questions about the colors of two objects, each with its scene.
pub(crate) fn scene_examples() -> String {
    let mut text = String::new();
    for cube in ["blue", "green", "red"] {
        for sphere in ["blue", "green", "red"] {
            let scene = format!("cube metal large {cube} 0 1***sphere rubber large {sphere} 1 0");
            for (shape, answer) in [("cube", cube), ("sphere", sphere)] {
                let program = format!("query ( color , filter ( {shape} , scene ( ) ) )");
                let utterance = format!("what color is the {shape}");
                let example = serde_json::json!({
                    "utterance": utterance, "program": program, "answer": answer, "scene": scene
                });
                text += &format!("{example}\n").repeat(3);
            }
        }
    }
    text
}

/// A model that answers questions about scenes without programs, trained once. All tests share it and must not change it.
pub(crate) fn scenes() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| {
        let sandbox = Sandbox::new();
        sandbox.write("run.toml", SCENES_RUN);
        sandbox.write("train.jsonl", scene_examples());
        sandbox.trained("scenes")
    })
}

pub(crate) fn scan_examples() -> String {
    let mut text = String::new();
    for verb in ["walk", "run", "jump", "look"] {
        for side in ["left", "right"] {
            text += &example(&format!("{verb} {side}"), &format!("i_{verb} ( i_{side} )"));
            text += &example(&format!("{verb} {side} twice"), &format!("i_twice ( i_{verb} ( i_{side} ) )"));
            let program = format!("i_and ( i_{verb} ( i_{side} ) , i_thrice ( i_jump ( i_{side} ) ) )");
            text += &example(&format!("{verb} {side} and jump {side} thrice"), &program);
            let program = format!("i_{verb} ( i_{side} , i_around )");
            text += &example(&format!("{verb} around {side}"), &program);
        }
    }
    text
}

/// A model of the lamps in [`TOY`], trained once. All tests share it and must not change it.
pub(crate) fn lamps() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| Sandbox::with_toy().trained("lamps"))
}

/// A model of a few commands of SCAN, with its executor, trained once. All tests share it and must not change it.
pub(crate) fn scan() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| Sandbox::with_scan().trained("scan"))
}

/// A temporary directory that is removed at the end of the test.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A sandbox with [`LAMPS`] in `lamps.toml` and its table.
    pub(crate) fn with_lamps() -> Self {
        let sandbox = Self::new();
        sandbox.write("lamps.toml", LAMPS);
        sandbox.write("lamps.tsv", LAMPS_TABLE);
        sandbox
    }

    /// A sandbox with the files of [`TOY`].
    pub(crate) fn with_toy() -> Self {
        let sandbox = Self::new();
        TOY.iter().for_each(|(name, text)| sandbox.write(name, text));
        sandbox
    }

    /// A sandbox with a small run on SCAN.
    pub(crate) fn with_scan() -> Self {
        let sandbox = Self::new();
        sandbox.write("run.toml", SCAN_RUN);
        sandbox.write("train.jsonl", scan_examples());
        sandbox
    }

    /// Trains with `run.toml` into a directory of this name under the target directory, and returns its path.
    fn trained(&self, name: &str) -> String {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&out);
        self.run(["train", "run.toml", "--out", out.to_str().unwrap()]).exits(0);
        out.to_str().unwrap().to_owned()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The values of a file of JSON lines.
    pub(crate) fn json_lines(&self, name: &str) -> Vec<Value> {
        json_lines(&self.read(name))
    }

    /// Everything in a folder of the sandbox, hidden files too, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The bytes of a file.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A shell command in this folder; `$SPANWISE` is the binary.
    #[cfg(unix)]
    pub(crate) fn shell(&self, script: &str) -> Call {
        let mut command = Command::new("sh");
        let spanwise = env!("CARGO_BIN_EXE_spanwise");
        command.args(["-c", script]).env("SPANWISE", spanwise).current_dir(self.dir.path());
        command.env("SPANWISE_STATE", self.path(".state"));
        Call { command, input: Vec::new(), stdout: None }
    }

    /// The command with these arguments, run in this folder.
    pub(crate) fn call<const N: usize>(&self, args: [&str; N]) -> Call {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spanwise"));
        command.args(args).current_dir(self.dir.path());
        // What a test allows must not be remembered for the user.
        command.env("SPANWISE_STATE", self.path(".state"));
        Call { command, input: Vec::new(), stdout: None }
    }

    /// Runs the command with these arguments and nothing on its standard input.
    pub(crate) fn run<const N: usize>(&self, args: [&str; N]) -> Outcome {
        self.call(args).run()
    }

    /// Runs the command with `input` on its standard input.
    pub(crate) fn feed<const N: usize>(&self, args: [&str; N], input: impl AsRef<[u8]>) -> Outcome {
        self.call(args).input(input).run()
    }
}

/// A run to come.
pub(crate) struct Call {
    command: Command,
    input: Vec<u8>,
    stdout: Option<File>,
}

impl Call {
    pub(crate) fn input(mut self, input: impl AsRef<[u8]>) -> Self {
        self.input = input.as_ref().to_vec();
        self
    }

    /// Sends standard output to a file instead of keeping it.
    pub(crate) fn stdout_to(mut self, file: File) -> Self {
        self.stdout = Some(file);
        self
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn run(mut self) -> Outcome {
        let stdout = self.stdout.take().map_or_else(Stdio::piped, Stdio::from);
        self.command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = self.input;
        // A command that does not read to the end closes the pipe, which is its right.
        let writer = thread::spawn(move || drop(stdin.write_all(&input)));
        let stdout = child.stdout.take().map(drain);
        let stderr = drain(child.stderr.take().unwrap());
        let code = wait(&mut child);
        writer.join().unwrap();
        let stdout = stdout.map(|thread| thread.join().unwrap()).unwrap_or_default();
        Outcome { code, stdout, stderr: stderr.join().unwrap() }
    }

    /// Starts the command with pipes on all three streams.
    pub(crate) fn spawn(mut self) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.spawn().unwrap()
    }
}

fn drain(mut source: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).expect("everything printed is UTF-8")
    })
}

/// The exit code of a child; a child that hangs is killed and fails the test.
pub(crate) fn wait(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the command hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Checks the exit code, and that nothing panicked on the way to it.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert!(!self.stderr.contains("panicked"), "{}", self.shown());
        assert_eq!(self.code, Some(code), "{}", self.shown());
        self
    }

    /// Checks that standard error holds each of these texts.
    #[track_caller]
    pub(crate) fn says<const N: usize>(self, texts: [&str; N]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "expected `{text}` on standard error\n{}", self.shown());
        }
        self
    }

    /// Checks that standard output holds each of these texts.
    #[track_caller]
    pub(crate) fn prints<const N: usize>(self, texts: [&str; N]) -> Self {
        for text in texts {
            assert!(self.stdout.contains(text), "expected `{text}` on standard output\n{}", self.shown());
        }
        self
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub(crate) fn replies(&self) -> Vec<Value> {
        json_lines(&self.stdout)
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{}", self.shown()))
    }

    fn shown(&self) -> String {
        let short = |text: &str| text.chars().take(2000).collect::<String>();
        format!("exit {:?}\nstdout: {}\nstderr: {}", self.code, short(&self.stdout), short(&self.stderr))
    }
}

#[track_caller]
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// One line of data.
pub(crate) fn example(utterance: &str, program: &str) -> String {
    serde_json::json!({ "utterance": utterance, "program": program }).to_string() + "\n"
}

/// The subcommands that a help text lists.
pub(crate) fn subcommands(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
    let is_entry = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = list.lines().filter(is_entry).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Presses Ctrl-C. A shell makes what it runs in the background ignore that, and children inherit it: where these tests run
/// so, a child is asked to terminate instead.
#[cfg(unix)]
pub(crate) fn interrupt(child: &Child) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    signal(child, if ignored & 0b10 == 0 { "INT" } else { "TERM" });
}

/// Sends a signal to a child, by the name that `kill` knows it by.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Whether a test must be left out because Python is not there, which is then said.
pub(crate) fn no_python() -> bool {
    is_missing("python3", "there is no python3 to write an executor in")
}

/// Whether there is no `curl` to ask a server with.
pub(crate) fn no_curl() -> bool {
    is_missing("curl", "there is no curl to ask a server with")
}

fn is_missing(program: &str, why: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    let is_missing = !found.is_ok_and(|status| status.success());
    if is_missing {
        skipped(why);
    }
    is_missing
}

/// The folder with the real data sets; `None`, and a line that says so, where it is not there.
pub(crate) fn releases() -> Option<&'static Path> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    if !folder.is_dir() {
        skipped("the data sets are not there");
        return None;
    }
    Some(folder)
}

pub(crate) fn skipped(why: &str) {
    // Straight to the stream: what the print macros write is hidden when a test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
