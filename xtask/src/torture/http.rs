//! A server to torture, and the few lines of HTTP that it takes to ask it.

use super::process::{memory, signal, stop};
use serde_json::Value;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a server may take to start, and to answer a plain question.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How long a request may take, as the server is told: a long batch of costly questions ends with 503.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long work in flight may take on shutdown, as the server is told, and how much longer its end may take.
const DRAIN: Duration = Duration::from_secs(2);
const END: Duration = Duration::from_secs(10);
/// Most bytes of a reply.
const MOST_REPLY: u64 = 64 << 20;

/// A server that is ready. It is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) addr: SocketAddr,
}

/// A reply: its status, and its body.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// Starts `serve` with the given arguments, and waits until its models are loaded.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let drain = DRAIN.as_secs().to_string();
        let timeout = TIMEOUT.as_secs().to_string();
        command.args(["--addr", "127.0.0.1:0", "--quiet", "--drain", &drain, "--timeout", &timeout]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().ok_or_else(|| io::Error::other("no standard error"))?;
        let (found, address) = mpsc::channel();
        std::thread::spawn(move || {
            // What else it says is read and forgotten, so that it never waits for us.
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some(rest) = line.split("http://").nth(1) {
                    let end = rest.find(|ch: char| !(ch.is_ascii_digit() || ch == '.' || ch == ':'));
                    let _ = found.send(rest[..end.unwrap_or(rest.len())].to_owned());
                }
            }
        });
        let addr = address.recv_timeout(PATIENCE).ok().and_then(|text| text.parse().ok());
        let Some(addr) = addr else {
            stop(&mut child);
            return Err(io::Error::other("the server does not tell its address"));
        };
        let server = Self { child, addr };
        let begun = Instant::now();
        while !server.get("/readyz").is_ok_and(|reply| reply.status == 200) {
            if begun.elapsed() > PATIENCE {
                return Err(io::Error::other("the server does not get ready"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Sends bytes as they are, and reads what comes back until the end of the connection; empty if nothing does.
    pub(crate) fn raw(&self, pieces: &[&[u8]], pause: Duration, limit: Duration) -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&self.addr, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(limit))?;
        for (at, piece) in pieces.iter().enumerate() {
            if at > 0 {
                std::thread::sleep(pause);
            }
            // The server may have closed the connection already, and that is its right.
            if stream.write_all(piece).is_err() {
                break;
            }
        }
        let _ = stream.shutdown(Shutdown::Write);
        let begun = Instant::now();
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() || bytes.len() as u64 > MOST_REPLY {
                return Err(io::Error::other(format!(
                    "no end of the reply after {:.1} s",
                    limit.as_secs_f64()
                )));
            }
            stream.set_read_timeout(Some(left))?;
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(bytes),
                Ok(n) => bytes.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(bytes),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn get(&self, path: &str) -> io::Result<Reply> {
        let mut connection = Connection::open(self.addr)?;
        connection.send("GET", path, "")
    }

    /// A question on a connection of its own.
    pub(crate) fn parse(&self, utterance: &str) -> io::Result<Reply> {
        let body = serde_json::json!({ "utterance": utterance }).to_string();
        Connection::open(self.addr)?.send("POST", "/v1/parse", &body)
    }

    /// Memory in KiB: `VmRSS:` now, `VmHWM:` at most.
    pub(crate) fn memory(&self, field: &str) -> u64 {
        memory(self.child.id(), field)
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Whether the process still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the server with SIGTERM; why it did not end as it should, if so.
    pub(crate) fn end(mut self) -> Result<Duration, String> {
        let begun = Instant::now();
        self.signal("TERM");
        while begun.elapsed() < DRAIN + END {
            if let Ok(Some(status)) = self.child.try_wait() {
                return match status.code() {
                    Some(0) => Ok(begun.elapsed()),
                    _ => Err(format!("after SIGTERM it ended with {status}")),
                };
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(format!("after SIGTERM it still ran for {:.0} s", begun.elapsed().as_secs_f64()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

/// A connection that stays open between requests.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    pub(crate) fn open(addr: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&addr, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream), host: addr.to_string() })
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> io::Result<Reply> {
        let request = request(method, path, &self.host, body);
        self.stream.get_mut().write_all(&request)?;
        self.reply()
    }

    fn reply(&mut self) -> io::Result<Reply> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status line: {line:?}")))?;
        let mut length = 0;
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::Error::other("the head of a reply ends early"));
            }
            let text = line.trim_end();
            if text.is_empty() {
                break;
            }
            if let Some((name, value)) = text.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Reply { status, body })
    }
}

impl Reply {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A request that is all right.
pub(crate) fn request(method: &str, path: &str, host: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}
