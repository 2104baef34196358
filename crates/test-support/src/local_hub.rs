//! A local model hub with one repository, which behaves like the public one, and can be made to fail.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use sha1::Sha1;
use sha2::{Digest, Sha256};

pub const NAME: &str = "some/tiny";
/// The commit of its branch `main`.
pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Simulated failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No failure.
    None,
    /// Large files are truncated halfway.
    Cut,
    /// One byte of large files is wrong.
    Garbled,
    /// One byte of small files is wrong.
    GarbledSmall,
    /// Files have names that are not checksums, as on some mirrors.
    NoChecksums,
    /// Large files stop halfway, and the connection stays open.
    Silent,
    /// Only this token is accepted; other requests get the status.
    Closed {
        /// The accepted token.
        token: &'static str,
        /// The status for other requests.
        status: u16,
    },
    /// Every request gets this status.
    Status(u16),
    /// The answers are HTML.
    Html,
}

struct State {
    files: BTreeMap<String, Vec<u8>>,
    trouble: Mutex<Trouble>,
    log: Mutex<Vec<String>>,
    address: String,
    ended: AtomicBool,
}

/// A hub that stops listening when it is dropped.
#[allow(missing_debug_implementations, reason = "nobody prints a hub")]
pub struct LocalHub(Arc<State>);

impl LocalHub {
    /// Serves the files of a folder and its subfolders.
    pub fn new(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        collect(folder, "", &mut files);
        Self::serving(files)
    }

    /// Serves these files.
    pub fn serving(files: BTreeMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(State {
            files,
            trouble: Mutex::new(Trouble::None),
            log: Mutex::default(),
            address,
            ended: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.ended.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A client may disconnect at any time.
                thread::spawn(move || shared.answer(stream.unwrap()).unwrap_or_default());
            }
        });
        Self(state)
    }

    /// Its address, for a client.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// Makes it fail from now on.
    pub fn make(&self, trouble: Trouble) {
        *self.0.trouble.lock().unwrap() = trouble;
    }

    /// Paths requested since the last call, each with its range.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.0.log.lock().unwrap())
    }
}

impl Drop for LocalHub {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees the flag.
        let _ = TcpStream::connect(&self.0.address);
    }
}

struct Request {
    path: String,
    first: Option<usize>,
    last: Option<usize>,
    token: Option<String>,
}

impl State {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let Some(request) = read(&stream)? else { return Ok(()) };
        let range = request.first.map_or_else(String::new, |first| format!(" from {first}"));
        self.log.lock().unwrap().push(format!("{}{range}", request.path));
        let trouble = self.trouble.lock().unwrap().clone();
        match &trouble {
            Trouble::Status(status) => return head(&mut stream, *status, &[], 0),
            // The store behind the hub's redirects uses no tokens, and must not receive any.
            Trouble::Closed { token, status }
                if !request.path.starts_with("/cdn/")
                    && request.token.as_deref() != Some(&format!("Bearer {token}")) =>
            {
                return head(&mut stream, *status, &[], 0);
            }
            Trouble::Html => {
                head(&mut stream, 200, &[], 15)?;
                return stream.write_all(b"<html>hi</html>");
            }
            _ => {}
        }
        if ["main", COMMIT]
            .iter()
            .any(|revision| request.path == format!("/api/models/{NAME}/revision/{revision}"))
        {
            let siblings: Vec<_> = self.files.keys().map(|file| json!({"rfilename": file})).collect();
            let body = json!({"id": NAME, "sha": COMMIT, "siblings": siblings}).to_string();
            head(&mut stream, 200, &[("Content-Type", "application/json")], body.len())?;
            return stream.write_all(body.as_bytes());
        }
        let resolved = request.path.strip_prefix(&format!("/{NAME}/resolve/{COMMIT}/"));
        let stored = request.path.strip_prefix("/cdn/");
        match (resolved, stored) {
            (Some(file), _) if is_large(file) && self.files.contains_key(file) => {
                self.redirect(&mut stream, file, &trouble)
            }
            (Some(file), _) | (None, Some(file)) => self.send(&mut stream, file, &request, &trouble),
            _ => head(&mut stream, 404, &[], 0),
        }
    }

    fn redirect(&self, stream: &mut TcpStream, file: &str, trouble: &Trouble) -> std::io::Result<()> {
        let location = format!("http://{}/cdn/{file}", self.address);
        let sum = match trouble {
            Trouble::NoChecksums => format!("\"5f3a-{}\"", self.files[file].len()),
            _ => format!("\"{}\"", hexadecimal(&self.files[file])),
        };
        head(stream, 302, &[("Location", &location), ("X-Linked-ETag", &sum), ("X-Repo-Commit", COMMIT)], 0)
    }

    fn send(
        &self,
        stream: &mut TcpStream,
        file: &str,
        request: &Request,
        trouble: &Trouble,
    ) -> std::io::Result<()> {
        let Some(bytes) = self.files.get(file) else { return head(stream, 404, &[], 0) };
        let mut bytes = bytes.clone();
        let length = bytes.len();
        let etag = match trouble {
            Trouble::NoChecksums => format!("W/\"5f3a-{length}\""),
            _ => format!("\"{}\"", git_name(&bytes)),
        };
        let spoilt = is_large(file) && request.last.is_none();
        if spoilt && *trouble == Trouble::Garbled {
            bytes[length / 2] ^= 1;
        }
        if !is_large(file) && request.last.is_none() && *trouble == Trouble::GarbledSmall {
            bytes[length / 2] ^= 1;
        }
        let (first, last) = (request.first.unwrap_or(0), request.last.unwrap_or(length - 1));
        let range = format!("bytes {first}-{last}/{length}");
        let status = if request.first.is_some() { 206 } else { 200 };
        let headers = [("ETag", etag.as_str()), ("X-Repo-Commit", COMMIT), ("Content-Range", &range)];
        head(stream, status, &headers, last + 1 - first)?;
        if spoilt && matches!(trouble, Trouble::Cut | Trouble::Silent) {
            let half = first + (last + 1 - first) / 2;
            stream.write_all(&bytes[first..half])?;
            stream.flush()?;
            while *trouble == Trouble::Silent && !self.ended.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(20));
            }
            return Ok(());
        }
        stream.write_all(&bytes[first..=last])
    }
}

fn read(stream: &TcpStream) -> std::io::Result<Option<Request>> {
    let mut lines = BufReader::new(stream).lines();
    let Some(first) = lines.next().transpose()? else { return Ok(None) };
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut request = Request { path, first: None, last: None, token: None };
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                let (from, to) = value.trim_start_matches("bytes=").split_once('-').unwrap();
                (request.first, request.last) = (from.parse().ok(), to.parse().ok());
            }
            "authorization" => request.token = Some(value.to_owned()),
            _ => {}
        }
    }
    Ok(Some(request))
}

fn head(stream: &mut TcpStream, status: u16, headers: &[(&str, &str)], length: usize) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {length}\r\n")?;
    headers.iter().try_for_each(|(name, value)| write!(stream, "{name}: {value}\r\n"))?;
    stream.write_all(b"\r\n")
}

/// Files that the hub has in its store and redirects to.
fn is_large(file: &str) -> bool {
    file.ends_with(".safetensors")
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a small file in git and on the hub.
fn git_name(bytes: &[u8]) -> String {
    let digest = Sha1::new().chain_update(format!("blob {}\0", bytes.len())).chain_update(bytes).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}
