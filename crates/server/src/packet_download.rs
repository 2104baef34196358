//! Downloads a packet whose link a person has confirmed: bounded, stoppable, and nowhere until it is whole.

use crate::error::ServerError;
use crate::link::{host_of, is_private, usable};
use dissensus_domain::Progress;
use dissensus_files::AtomicFile;
use dissensus_project::error::ProjectError;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};
use url::Url;

/// The most bytes of a packet.
const LARGEST: u64 = 4 << 30;
/// Bytes between two looks at whether to stop.
const CHUNK: usize = 1 << 18;
/// How often an address may lead to another one.
const MOST_REDIRECTS: usize = 5;
/// How long to wait for each answer of the other side.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether the download was cancelled while nothing comes.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How many bytes at its beginning show whether a file is a project.
pub const PROJECT_HEAD: usize = PROJECT.0 + PROJECT.1.len();
/// The first bytes of a project.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// The application id of a project, and where it is in the file.
const PROJECT: (usize, [u8; 4]) = (68, [0x44, 0x53, 0x53, 0x55]);

/// Downloads the packet at `address` to `target`, which does not exist yet. It appears whole or not at all.
///
/// # Errors
/// The address is none that may be used or leads to one; the server is not reached, breaks off, or sends
/// something else than a packet or too much; the file exists or cannot be written; or it was cancelled.
pub fn download_packet(address: &str, target: &Path, progress: &dyn Progress) -> Result<(), ProjectError> {
    download(address, target, LARGEST, progress)
}

fn download(address: &str, target: &Path, largest: u64, progress: &dyn Progress) -> Result<(), ProjectError> {
    let address = usable(address)?;
    let host = host_of(&address);
    if target.exists() {
        return Err(ServerError::PacketInTheWay(target.to_owned()).into());
    }
    let unwritable = |source| ProjectError::Io { path: target.to_owned(), doing: "writing", source };
    let response = waited_for(address, progress)?;
    let total = response.body().content_length();
    if total.is_some_and(|total| total > largest) {
        return Err(ServerError::PacketTooLarge(host).into());
    }
    let mut file = AtomicFile::create_private(target).map_err(unwritable)?;
    let mut body = response.into_body().into_reader();
    let broken = |reason: String| ServerError::PacketBroken { host: host.clone(), reason };
    let (mut done, mut chunk, mut head) = (0, vec![0; CHUNK], Vec::new());
    loop {
        progress.report(done, total, "");
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        let read = match body.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(broken(error.to_string()).into()),
        };
        done += read as u64;
        if done > largest {
            return Err(ServerError::PacketTooLarge(host).into());
        }
        if !is_head(&mut head, &chunk[..read]) {
            return Err(ServerError::NoPacket(host).into());
        }
        file.write_all(&chunk[..read]).map_err(unwritable)?;
    }
    if total.is_some_and(|total| total != done) {
        return Err(broken(format!("{done} of {} bytes came", total.unwrap_or_default())).into());
    }
    if head.len() < PROJECT_HEAD {
        return Err(ServerError::NoPacket(host).into());
    }
    file.finish_new().map_err(unwritable)
}

/// The answer, which is waited for on a thread of its own: a server that is silent cannot keep anybody from
/// cancelling.
fn waited_for(address: Url, progress: &dyn Progress) -> Result<Response<Body>, ProjectError> {
    let (send, receive) = channel();
    std::thread::Builder::new()
        .name("packet-download".to_owned())
        .spawn(move || {
            // Nobody waits for it after a cancellation.
            let _ = send.send(ask(address));
        })
        .map_err(|_| ProjectError::NoThread)?;
    loop {
        match receive.recv_timeout(LOOK_EVERY) {
            Ok(answer) => return Ok(answer?),
            Err(RecvTimeoutError::Timeout) if progress.cancelled() => return Err(ProjectError::Cancelled),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(ProjectError::internal(&"the request ended")),
        }
    }
}

/// Adds what has come to `head`, as far as that is needed, and checks it: what is no project is not written
/// any further.
fn is_head(head: &mut Vec<u8>, bytes: &[u8]) -> bool {
    let missing = PROJECT_HEAD.saturating_sub(head.len());
    head.extend_from_slice(&bytes[..missing.min(bytes.len())]);
    begins_as_project(head)
}

/// Whether bytes, or as many of them as there are, are the beginning of a project.
pub fn begins_as_project(head: &[u8]) -> bool {
    let (from, id) = PROJECT;
    let begins = head.iter().zip(SQLITE).all(|(found, expected)| found == expected);
    begins && head.iter().skip(from).zip(&id).all(|(found, expected)| found == expected)
}

/// The answer of an address, or of the one that it leads to. Only the confirmed address may be a number or a
/// name of a private network; what other names resolve to is not checked.
fn ask(mut address: Url) -> Result<Response<Body>, ServerError> {
    let agent: Agent = Agent::config_builder()
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_resolve(Some(PATIENCE))
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE))
        .user_agent("dissensus")
        .build()
        .into();
    for _ in 0..=MOST_REDIRECTS {
        let host = host_of(&address);
        let request = agent.get(address.as_str()).header(header::ACCEPT_ENCODING, "identity");
        let response = request
            .call()
            .map_err(|error| ServerError::PacketBroken { host: host.clone(), reason: error.to_string() })?;
        let status = response.status();
        if status == StatusCode::OK {
            return Ok(response);
        }
        if !status.is_redirection() {
            return Err(ServerError::PacketStatus { host, status: status.as_u16() });
        }
        let to = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
        let next = to.and_then(|to| address.join(to).ok()).and_then(|to| usable(to.as_str()).ok());
        match next {
            Some(next) if may_lead(&address, &next) => address = next,
            _ => return Err(ServerError::PacketRedirect(host)),
        }
    }
    Err(ServerError::PacketRedirect(host_of(&address)))
}

/// Whether one address may lead to the other without being asked about.
fn may_lead(from: &Url, to: &Url) -> bool {
    let same_place = from.origin() == to.origin();
    same_place || to.scheme() == "https" && !is_private(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::Silent;
    use rstest::rstest;
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    /// A server on this computer that gives each of these answers once.
    fn serving(answers: Vec<Vec<u8>>) -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/a.dissensus", listener.local_addr().unwrap());
        let thread = std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                for line in lines.map_while(Result::ok) {
                    if line.is_empty() {
                        break;
                    }
                }
                // The other side may have gone.
                let _ = stream.write_all(&answer);
            }
        });
        (address, thread)
    }

    fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n");
        [head.as_bytes(), body].concat()
    }

    fn whole(body: &[u8]) -> Vec<u8> {
        answer("200 OK", &format!("Content-Length: {}\r\n", body.len()), body)
    }

    /// Bytes that begin as a project does.
    fn packet(length: usize) -> Vec<u8> {
        let mut bytes = vec![7; length];
        bytes[..SQLITE.len()].copy_from_slice(SQLITE);
        bytes[PROJECT.0..PROJECT.0 + 4].copy_from_slice(&PROJECT.1);
        bytes
    }

    /// Downloads what is answered, at most 100,000 bytes of it, and returns the code of the failure.
    fn result(answers: Vec<Vec<u8>>) -> (Result<Vec<u8>, String>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("p.dissensus");
        let (address, server) = serving(answers);
        let done = download(&address, &target, 100_000, &Silent);
        server.join().unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        let found = done.map_err(|error| error.code().to_owned());
        (found.map(|()| std::fs::read(&target).unwrap()), files)
    }

    #[test]
    fn packet_is_downloaded_whole() {
        let bytes = packet(90_000);
        assert_eq!(result(vec![whole(&bytes)]), (Ok(bytes.clone()), 1));
        let same_place = answer("302 Found", "Location: /b.dissensus\r\n", b"");
        assert_eq!(result(vec![same_place, whole(&bytes)]), (Ok(bytes), 1));
    }

    #[rstest]
    #[case::missing(answer("404 Not Found", "", b"no"), "packet-status")]
    #[case::cut_off(answer("200 OK", "Content-Length: 5000\r\n", &packet(200)), "packet-broken-off")]
    #[case::page(whole(&b"<!doctype html>".repeat(20)), "packet-other-file")]
    #[case::other_database(whole(&[SQLITE, &[0; 200]].concat()), "packet-other-file")]
    #[case::nothing(whole(b""), "packet-other-file")]
    #[case::announced_too_large(answer("200 OK", "Content-Length: 100001\r\n", b""), "packet-too-large")]
    #[case::endless(answer("200 OK", "", &packet(200_000)), "packet-too-large")]
    #[case::to_file(answer("302 Found", "Location: file:///etc/passwd\r\n", b""), "packet-redirect")]
    #[case::to_http(answer("302 Found", "Location: http://example.org/\r\n", b""), "packet-redirect")]
    #[case::to_credentials(
        answer("302 Found", "Location: https://a:b@example.org/\r\n", b""),
        "packet-redirect"
    )]
    #[case::to_other_private(
        answer("302 Found", "Location: https://192.168.0.1/\r\n", b""),
        "packet-redirect"
    )]
    #[case::to_nowhere(answer("302 Found", "", b""), "packet-redirect")]
    fn anything_else_leaves_no_file(#[case] answered: Vec<u8>, #[case] code: &str) {
        assert_eq!(result(vec![answered]), (Err(code.to_owned()), 0));
    }

    #[test]
    fn circle_of_addresses_ends() {
        let circle = answer("302 Found", "Location: /a.dissensus\r\n", b"");
        assert_eq!(result(vec![circle; MOST_REDIRECTS + 1]), (Err("packet-redirect".to_owned()), 0));
    }

    #[test]
    fn existing_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("p.dissensus");
        std::fs::write(&target, "mine").unwrap();
        // Nothing is asked for.
        let error = download_packet("https://127.0.0.1:9/p.dissensus", &target, &Silent).unwrap_err();
        assert_eq!(error.code(), "packet-in-the-way");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    }

    struct Stop;
    impl Progress for Stop {
        fn report(&self, _: u64, _: Option<u64>, _: &str) {}
        fn cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn silent_server_does_not_keep_from_cancelling() {
        let folder = tempfile::tempdir().unwrap();
        // Nobody accepts or answers; the system takes the connection.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/a.dissensus", listener.local_addr().unwrap());
        let error = download_packet(&address, &folder.path().join("p.dissensus"), &Stop).unwrap_err();
        assert_eq!(error.code(), "cancelled");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn cancelled_download_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (address, server) = serving(vec![whole(&packet(500))]);
        let error = download_packet(&address, &folder.path().join("p.dissensus"), &Stop).unwrap_err();
        server.join().unwrap();
        assert_eq!(error.code(), "cancelled");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
