//! Tests of `hub`.

use super::*;
use std::collections::BTreeMap;
use std::io::Read;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tempfile::TempDir;

const NAME: &str = "org/tiny";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// How a server treats one file.
#[derive(Clone)]
struct Served {
    content: Vec<u8>,
    etag: String,
    /// Bytes that are sent of a download before the connection is closed.
    sent: usize,
    /// Whether the length of what is sent is announced as that of the whole.
    honest: bool,
    /// Whether a range is answered with the whole file.
    ignores_ranges: bool,
    /// Whether the connection stays open for a while.
    hangs: bool,
}

impl Served {
    fn new(content: &[u8]) -> Self {
        let etag = format!("etag-{}", content.len());
        Self {
            content: content.to_vec(),
            etag,
            sent: usize::MAX,
            honest: true,
            ignores_ranges: false,
            hangs: false,
        }
    }

    fn sum(content: &[u8]) -> String {
        Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[derive(Default)]
struct State {
    files: Mutex<BTreeMap<String, Served>>,
    commit: Mutex<String>,
    requests: AtomicUsize,
    stop: AtomicBool,
}

/// A hub on the loopback interface.
struct Server {
    address: SocketAddr,
    state: Arc<State>,
}

impl Server {
    fn new(files: &[(&str, Served)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        *state.commit.lock().unwrap() = COMMIT.to_owned();
        let server = Self { address, state: Arc::clone(&state) };
        for (name, served) in files {
            server.set(name, served.clone());
        }
        thread::spawn(move || {
            for stream in listener.incoming() {
                if state.stop.load(Ordering::SeqCst) {
                    break;
                }
                let _ = answer(&stream.unwrap(), &state);
            }
        });
        server
    }

    fn set(&self, name: &str, served: Served) {
        self.state.files.lock().unwrap().insert(format!("/{NAME}/resolve/main/{name}"), served);
    }

    fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn answer(mut stream: &TcpStream, state: &State) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    state.requests.fetch_add(1, Ordering::SeqCst);
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut range: Option<(usize, Option<usize>)> = None;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some((from, to)) = header.strip_prefix("range: bytes=").and_then(|range| range.split_once('-'))
        {
            range = Some((from.parse().unwrap(), to.parse().ok()));
        }
    }
    let Some(file) = state.files.lock().unwrap().get(&path).cloned() else {
        return write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let length = file.content.len();
    let (from, to) = range.unwrap_or((0, None));
    if from >= length {
        return write!(stream, "HTTP/1.1 416 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    let whole = file.ignores_ranges && to.is_none();
    let body = if whole { &file.content[..] } else { &file.content[from..to.map_or(length, |to| to + 1)] };
    let sent = &body[..body.len().min(file.sent)];
    let announced = if file.honest { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
    write!(
        stream,
        "HTTP/1.1 206 Partial Content\r\n{announced}Content-Range: bytes {from}-{}/{length}\r\n\
         ETag: \"{}\"\r\n\
         X-Repo-Commit: {}\r\nConnection: close\r\n\r\n",
        from + body.len() - 1,
        file.etag,
        state.commit.lock().unwrap(),
    )?;
    stream.write_all(sent)?;
    if file.hangs && to.is_none() {
        thread::sleep(Duration::from_secs(2));
    }
    Ok(())
}

fn weights() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

fn files() -> Vec<(&'static str, Served)> {
    let weights = weights();
    let served = Served { etag: Served::sum(&weights), ..Served::new(&weights) };
    vec![(CONFIG, Served::new(b"{}")), (TOKENIZER, Served::new(b"{\"model\": 1}")), (WEIGHTS, served)]
}

fn at(cache: &TempDir, address: SocketAddr) -> Model {
    let cache = Cache::new(cache.path().join("hub"));
    let endpoint = Some(format!("http://{address}"));
    Model { name: NAME.to_owned(), cache, endpoint, timeout: Duration::from_secs(5) }
}

fn get(cache: &TempDir, server: &Server) -> Result<PathBuf, HubError> {
    at(cache, server.address).directory(&mut |_| {})
}

/// An address that refuses connections.
fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn a_directory_is_returned_as_it_is() {
    let directory = TempDir::new().unwrap();
    let spec = directory.path().to_str().unwrap();
    let mut calls = 0;
    assert_eq!(resolve(spec, &mut |_| calls += 1).unwrap(), directory.path());
    assert_eq!(resolve(".", &mut |_| calls += 1).unwrap(), Path::new("."));
    assert_eq!(resolve("src", &mut |_| calls += 1).unwrap(), Path::new("src"));
    assert_eq!(calls, 0);
}

#[test]
fn a_path_that_leads_nowhere_says_how_to_fetch_encoders() {
    for spec in ["/no/such/encoder", "./no-encoder", "../no-encoder", "~/x", "a/b/c", "x/", ".hidden", "a\\b"]
    {
        let error = resolve(spec, &mut |_| {}).unwrap_err();
        assert!(matches!(&error, HubError::NotADirectory { path } if path == spec), "{error}");
        assert!(error.to_string().contains("tools/fetch_encoders.py"), "{error}");
    }
    let error = resolve("Cargo.toml", &mut |_| {}).unwrap_err();
    assert!(matches!(error, HubError::NotADirectory { .. }), "{error}");
}

#[test]
fn what_is_neither_path_nor_name_is_refused_without_any_network() {
    let long = "x".repeat(5_000);
    for spec in [
        "",
        "a b",
        "org/na me",
        "org/..",
        "-x",
        "x-",
        "a--b",
        "é",
        "https://x",
        "org/",
        "a\u{0}b",
        "a?b",
        &long,
    ] {
        let error = resolve(spec, &mut |_| {}).unwrap_err();
        assert!(
            matches!(error, HubError::BadName { .. } | HubError::NotADirectory { .. }),
            "{spec}: {error}"
        );
    }
    assert!(is_name("sentence-transformers/all-MiniLM-L6-v2") && is_name("bert-base-uncased"));
}

#[test]
fn a_model_is_downloaded_with_progress_and_then_found_in_the_cache() {
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
    let mut reports = Vec::new();
    let directory = at(&cache, server.address).directory(&mut |report| reports.push(report)).unwrap();
    assert!(directory.ends_with(COMMIT));
    for (file, served) in files() {
        assert_eq!(fs::read(directory.join(file)).unwrap(), served.content);
        let length = served.content.len() as u64;
        assert!(reports.contains(&Progress { file, done: length, total: length }), "{reports:?}");
    }
    assert!(reports.iter().all(|report| report.done <= report.total));
    let weights = reports.iter().filter(|report| report.file == WEIGHTS);
    assert!(weights.is_sorted_by_key(|report| report.done), "{reports:?}");

    let requests = server.requests();
    assert_eq!(get(&cache, &server).unwrap(), directory);
    assert_eq!(server.requests(), requests);
    drop(server);
    let mut calls = 0;
    assert_eq!(at(&cache, closed()).directory(&mut |_| calls += 1).unwrap(), directory);
    assert_eq!(calls, 0);
}

#[test]
fn vocab_txt_stands_in_for_tokenizer_json() {
    let mut files = files();
    files.retain(|(name, _)| *name != TOKENIZER);
    files.push((VOCAB, Served::new(b"[UNK]\n[CLS]\n[SEP]")));
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files));
    let directory = get(&cache, &server).unwrap();
    assert!(directory.join(VOCAB).exists() && !directory.join(VOCAB_CONFIG).exists());

    server.set(VOCAB_CONFIG, Served::new(b"{\"do_lower_case\": false}"));
    let other = TempDir::new().unwrap();
    assert!(get(&other, &server).unwrap().join(VOCAB_CONFIG).exists());
}

#[test]
fn an_unknown_model_is_named() {
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&[]));
    let error = get(&cache, &server).unwrap_err();
    assert!(matches!(error, HubError::UnknownModel { status: 404, .. }), "{error}");
    assert!(error.to_string().contains(&format!("{} has no model `org/tiny`", server.address)), "{error}");
}

#[test]
fn a_model_without_usable_weights_or_tokenizer_says_so() {
    for (missing, expected) in
        [(WEIGHTS, "has no model.safetensors"), (TOKENIZER, "tokenizer.json or vocab.txt")]
    {
        let mut files = files();
        files.retain(|(name, _)| *name != missing);
        let (cache, server) = (TempDir::new().unwrap(), Server::new(&files));
        let error = get(&cache, &server).unwrap_err();
        assert!(matches!(error, HubError::NoFile { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_refused_connection_fails_fast_and_says_what_to_do() {
    let (cache, started) = (TempDir::new().unwrap(), Instant::now());
    let address = closed();
    let error = at(&cache, address).directory(&mut |_| {}).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(15));
    assert!(matches!(error, HubError::Unreachable { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains(&format!("{address} cannot be reached")), "{message}");
    assert!(message.contains("tools/fetch_encoders.py") && message.contains(NAME), "{message}");
}

#[test]
fn a_server_that_never_answers_fails_fast() {
    // Connections are accepted by the system and never served.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (cache, started) = (TempDir::new().unwrap(), Instant::now());
    let model = at(&cache, silent.local_addr().unwrap());
    let model = Model { timeout: Duration::from_millis(300), ..model };
    let error = model.directory(&mut |_| {}).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(4));
    assert!(error.to_string().contains("no answer within 0.3 seconds"), "{error}");
    assert!(TIMEOUT <= Duration::from_secs(15));
}

#[test]
fn a_download_that_stalls_is_given_up() {
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
    let (_, whole) = files().pop().unwrap();
    server.set(WEIGHTS, Served { sent: 1_000, hangs: true, ..whole });
    let started = Instant::now();
    let model = Model { timeout: Duration::from_millis(300), ..at(&cache, server.address) };
    let error = model.directory(&mut |_| {}).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(error.to_string().contains("no answer within 0.3 seconds"), "{error}");
}

#[test]
fn an_endpoint_that_is_no_address_is_an_error() {
    for endpoint in ["", "nonsense", "http://", "ftp://127.0.0.1", "http://127.0.0.1:1"] {
        let cache = TempDir::new().unwrap();
        let model = Model { endpoint: Some(endpoint.to_owned()), ..at(&cache, closed()) };
        assert!(model.directory(&mut |_| {}).is_err(), "{endpoint}");
    }
}

#[test]
fn a_server_that_is_no_hub_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi").unwrap();
    });
    let cache = TempDir::new().unwrap();
    let error = at(&cache, address).directory(&mut |_| {}).unwrap_err();
    server.join().unwrap();
    assert!(error.to_string().contains("does not answer like a hub"), "{error}");
}

#[test]
fn a_truncated_download_is_an_error_and_the_next_attempt_resumes_it() {
    for honest in [true, false] {
        let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
        let (_, whole) = files().pop().unwrap();
        server.set(WEIGHTS, Served { sent: 1_000, honest, ..whole.clone() });
        let error = get(&cache, &server).unwrap_err();
        assert!(matches!(&error, HubError::Download { file, .. } if *file == WEIGHTS), "{error}");
        assert!(at(&cache, closed()).directory(&mut |_| {}).is_err());
        server.set(WEIGHTS, whole);
        let directory = get(&cache, &server).unwrap();
        assert!(fs::read(directory.join(WEIGHTS)).unwrap() == weights());
    }
}

#[test]
fn a_server_that_cannot_resume_does_not_damage_the_file() {
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
    let (_, whole) = files().pop().unwrap();
    server.set(WEIGHTS, Served { sent: 1_000, ..whole.clone() });
    assert!(get(&cache, &server).is_err());
    server.set(WEIGHTS, Served { ignores_ranges: true, ..whole });
    let error = get(&cache, &server).unwrap_err();
    assert!(error.to_string().contains("1201000 of 1200000 bytes arrived"), "{error}");
    let directory = get(&cache, &server).unwrap();
    assert!(fs::read(directory.join(WEIGHTS)).unwrap() == weights());
}

#[test]
fn what_an_interrupted_download_left_behind_is_replaced_when_it_is_of_no_use() {
    let weights = weights();
    for left in [weights.clone(), [&weights[..], b"more"].concat()] {
        let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
        let blobs = cache.path().join("hub/models--org--tiny/blobs");
        fs::create_dir_all(&blobs).unwrap();
        fs::write(blobs.join(format!("{}.part", Served::sum(&weights))), left).unwrap();
        let directory = get(&cache, &server).unwrap();
        assert!(fs::read(directory.join(WEIGHTS)).unwrap() == weights);
    }
}

#[test]
fn a_wrong_sum_is_an_error_and_nothing_of_it_stays() {
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
    let mut damaged = weights();
    damaged[17] ^= 1;
    let (_, whole) = files().pop().unwrap();
    server.set(WEIGHTS, Served { content: damaged, ..whole.clone() });
    let error = get(&cache, &server).unwrap_err();
    assert!(error.to_string().contains("its SHA-256 is not the one"), "{error}");
    server.set(WEIGHTS, whole);
    let directory = get(&cache, &server).unwrap();
    assert!(fs::read(directory.join(WEIGHTS)).unwrap() == weights());
}

#[test]
fn a_model_that_changed_is_fetched_as_a_whole() {
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
    let (_, whole) = files().pop().unwrap();
    server.set(WEIGHTS, Served { sent: 1_000, ..whole.clone() });
    assert!(get(&cache, &server).is_err());
    server.set(WEIGHTS, whole);
    "fedcba9876543210fedcba9876543210fedcba98".clone_into(&mut server.state.commit.lock().unwrap());
    let directory = get(&cache, &server).unwrap();
    assert!(directory.ends_with("fedcba9876543210fedcba9876543210fedcba98"));
    for (file, served) in files() {
        assert!(fs::read(directory.join(file)).unwrap() == served.content);
    }
}

#[cfg(unix)]
#[test]
fn a_cache_whose_files_were_deleted_is_filled_again() {
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
    let directory = get(&cache, &server).unwrap();
    fs::remove_file(fs::canonicalize(directory.join(WEIGHTS)).unwrap()).unwrap();
    assert_eq!(get(&cache, &server).unwrap(), directory);
    assert!(fs::read(directory.join(WEIGHTS)).unwrap() == weights());
}

#[test]
fn a_cache_that_cannot_be_written_is_an_error() {
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
    fs::write(cache.path().join("hub"), b"in the way").unwrap();
    let error = get(&cache, &server).unwrap_err();
    assert!(matches!(error, HubError::Download { .. }), "{error}");
}

/// Set for the process that [`the_environment_names_the_cache_and_the_server`] starts.
const IN_CHILD: &str = "SPANWISE_TEST_RESOLVES";

/// Starts itself in a process of its own: an environment is that of a whole process.
#[test]
fn the_environment_names_the_cache_and_the_server() {
    if std::env::var_os(IN_CHILD).is_some() {
        let directory = resolve(NAME, &mut |_| {}).unwrap();
        assert!(directory.starts_with(std::env::var("HF_HOME").unwrap()));
        return;
    }
    let (cache, server) = (TempDir::new().unwrap(), Server::new(&files()));
    let run = |address: SocketAddr| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "hub::tests::the_environment_names_the_cache_and_the_server"])
            .env(IN_CHILD, "1")
            .env("HF_HOME", cache.path())
            .env("HF_ENDPOINT", format!("http://{address}/"))
            .output()
            .unwrap()
    };
    let output = run(server.address);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    assert!(server.requests() > 0);
    assert!(cache.path().join("hub/models--org--tiny").exists());
    assert!(run(closed()).status.success());
}
