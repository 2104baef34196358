//! Checks against a server on this machine: what is new, and everything that can be wrong with an answer.

use super::error::UpdateError;
use super::managed::{Installed, Traces};
use super::source::Source;
use super::{check, check_download, hexadecimal, state};
use crate::updates::known::Known;
use dissensus_api::UpdateState;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use minisign::KeyPair;
use rstest::rstest;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{BufRead as _, BufReader, Cursor, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const DESCRIPTION: &str = "/releases/latest/download/latest.json";
/// 2027-03-05.
const NOW: i64 = 1_804_204_800_000;
const DAY_MS: i64 = 24 * 3600 * 1000;

/// The whole answer to a path, as bytes on the line; without one the connection is closed.
type Answer = Box<dyn Fn(&str) -> Vec<u8> + Send + Sync>;

struct State {
    answer: Mutex<Answer>,
    requests: Mutex<Vec<Vec<String>>>,
    ended: AtomicBool,
}

/// A server with the description of a release.
struct Server {
    state: Arc<State>,
    address: String,
    keys: KeyPair,
    home: tempfile::TempDir,
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            answer: Mutex::new(Box::new(|_| Vec::new())),
            requests: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.ended.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || shared.serve(stream.unwrap()));
            }
        });
        let keys = KeyPair::generate_unencrypted_keypair().unwrap();
        Self { state, address, keys, home: tempfile::tempdir().unwrap() }
    }

    fn home(&self) -> Home {
        Home::inside(self.home.path(), Vec::new())
    }

    fn source(&self) -> Source {
        Source::new(&self.address, &self.keys.pk.to_box().unwrap().to_string())
    }

    fn answer(&self, answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) {
        *self.state.answer.lock().unwrap() = Box::new(answer);
    }

    /// Publishes this description with its signature.
    fn publish(&self, description: &Value) {
        self.publish_bytes(description.to_string().into_bytes());
    }

    fn publish_bytes(&self, description: Vec<u8>) {
        let signature = self.sign(&description);
        self.answer(move |path| match path {
            DESCRIPTION => ok(&description),
            _ if path == format!("{DESCRIPTION}.minisig") => ok(&signature),
            _ => answer("404 no", &[], b""),
        });
    }

    fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        let signed = minisign::sign(None, &self.keys.sk, Cursor::new(bytes), None, None);
        signed.unwrap().into_string().into_bytes()
    }

    fn check(&self) -> Result<UpdateState, ProjectError> {
        self.check_at(NOW)
    }

    fn check_at(&self, now: i64) -> Result<UpdateState, ProjectError> {
        check(&self.home(), &self.source(), &Installed::ByHand, now, &Silent)
    }

    /// The sentence of a check that fails with this code and remembers nothing.
    fn refused(&self, code: &str) -> String {
        let before = Known::read(&self.home());
        let error = self.check().unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(Known::read(&self.home()), before);
        error.to_string()
    }

    fn requests(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.state.requests.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees the flag.
        let _ = TcpStream::connect(self.address.trim_start_matches("http://"));
    }
}

impl State {
    fn serve(&self, mut stream: TcpStream) {
        let mut lines: Vec<String> = Vec::new();
        for line in BufReader::new(&stream).lines() {
            match line {
                Ok(line) if !line.is_empty() => lines.push(line),
                _ => break,
            }
        }
        let path = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
        self.requests.lock().unwrap().push(lines);
        let bytes = self.answer.lock().unwrap()(&path);
        // A client may have gone.
        let _ = stream.write_all(&bytes);
    }
}

fn answer(status: &str, headers: &[(&str, &str)], content: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", content.len());
    headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    [head.as_bytes(), b"\r\n", content].concat()
}

fn ok(content: &[u8]) -> Vec<u8> {
    answer("200 OK", &[], content)
}

fn release(version: &str, date: &str) -> Value {
    json!({"format": 1, "version": version, "date": date, "notes": "- <b>Faster</b>\n- Undo", "files": []})
}

#[test]
fn newer_version_is_found_and_remembered() {
    let server = Server::new();
    server.publish(&release("9.1.0", "2027-03-01"));
    let found = server.check().unwrap();
    let newer = found.newer.clone().unwrap();
    assert_eq!((newer.version.as_str(), newer.date.as_str()), ("9.1.0", "2027-03-01"));
    assert_eq!(newer.notes, "- <b>Faster</b>\n- Undo");
    assert_eq!(newer.page, format!("{}/releases/tag/v9.1.0", server.address));
    assert_eq!((found.checked_at, found.due), (Some(NOW as f64), false));
    let later = |ms| state(&Known::read(&server.home()), &server.source(), &Installed::ByHand, NOW + ms);
    assert_eq!(later(0), found);
    assert!(!later(6 * DAY_MS).due);
    assert!(later(8 * DAY_MS).due);
    assert!(later(-DAY_MS).due, "the clock was set back since");
}

#[test]
fn request_says_nothing_about_user_and_system() {
    let server = Server::new();
    server.publish(&release("9.1.0", "2027-03-01"));
    server.check().unwrap();
    let requests = server.requests();
    let paths: Vec<&str> = requests.iter().map(|lines| lines[0].as_str()).collect();
    let expected = [DESCRIPTION.to_owned(), format!("{DESCRIPTION}.minisig")];
    assert_eq!(paths, expected.map(|path| format!("GET {path} HTTP/1.1")));
    for lines in &requests {
        let mut headers: Vec<String> = lines[1..].iter().map(|line| line.to_ascii_lowercase()).collect();
        headers.retain(|line| !line.starts_with("host: 127.0.0.1"));
        headers.sort();
        assert_eq!(headers, ["accept-encoding: identity", "accept: */*", "user-agent: dissensus"]);
    }
}

#[rstest]
#[case::same(env!("CARGO_PKG_VERSION"))]
#[case::older("0.0.9")]
#[case::before_this("0.1.0-rc.1")]
#[case::other_build(concat!(env!("CARGO_PKG_VERSION"), "+5"))]
fn version_that_is_not_newer_is_no_news(#[case] version: &str) {
    let server = Server::new();
    server.publish(&release(version, "2027-03-01"));
    let found = server.check().unwrap();
    assert_eq!((found.newer, found.checked_at), (None, Some(NOW as f64)));
}

#[test]
fn wrong_signatures_are_refused() {
    let server = Server::new();
    let description = release("9.1.0", "2027-03-01").to_string().into_bytes();
    let other = KeyPair::generate_unencrypted_keypair().unwrap();
    let foreign =
        minisign::sign(None, &other.sk, Cursor::new(&description), None, None).unwrap().into_string();
    let of_other_text = server.sign(b"something else");
    let mut changed_comment = String::from_utf8(server.sign(&description)).unwrap();
    changed_comment = changed_comment.replace("trusted comment: timestamp", "trusted comment: 2imestamp");
    for signature in [foreign.as_bytes(), &of_other_text, changed_comment.as_bytes(), b"rubbish", b"\xff"] {
        let (description, signature) = (description.clone(), signature.to_vec());
        server.answer(move |path| ok(if path == DESCRIPTION { &description } else { &signature }));
        let message = server.refused("update-signature");
        assert!(message.contains("not signed with the key"), "{message}");
    }
}

#[test]
fn description_without_signature_is_refused() {
    let server = Server::new();
    let description = release("9.1.0", "2027-03-01").to_string().into_bytes();
    server.answer(move |path| match path {
        DESCRIPTION => ok(&description),
        _ => answer("404 no", &[], b""),
    });
    assert!(server.refused("update-signature").contains("latest.json.minisig has no signature"));
}

#[test]
fn earlier_description_than_the_one_seen_is_refused() {
    let server = Server::new();
    server.publish(&release("9.1.0", "2027-03-01"));
    server.check().unwrap();
    for (version, date) in [("9.0.0", "2027-03-01"), ("9.1.0", "2027-02-01"), ("0.0.1", "2020-01-01")] {
        server.publish(&release(version, date));
        let message = server.refused("update-older");
        assert!(message.contains(version) && message.contains("version 9.1.0 of 2027-03-01"), "{message}");
    }
    server.publish(&release("9.2.0", "2027-03-02"));
    assert_eq!(server.check().unwrap().newer.unwrap().version, "9.2.0");
    // A damaged memory is as none.
    fs::write(server.home.path().join("updates.json"), "{\"seen\": 3").unwrap();
    server.publish(&release("9.1.0", "2027-03-01"));
    assert_eq!(server.check().unwrap().newer.unwrap().version, "9.1.0");
}

#[rstest]
#[case::no_json(b"{\"format\": 1".to_vec(), "cannot be read")]
#[case::later_form(json!({"format": 2, "version": {"a": 1}}).to_string().into_bytes(), "its format is not 1")]
#[case::no_form(json!({"version": "9.1.0"}).to_string().into_bytes(), "its format is not 1")]
#[case::no_version(release("newest", "2027-03-01").to_string().into_bytes(), "no version number")]
#[case::path(release("9.1.0/../../evil", "2027-03-01").to_string().into_bytes(), "no version number")]
#[case::no_day(release("9.1.0", "1 March").to_string().into_bytes(), "no day")]
#[case::field_missing(json!({"format": 1, "version": "9.1.0"}).to_string().into_bytes(), "missing field")]
#[case::deep(vec![b'['; 5000], "cannot be read")]
fn signed_rubbish_is_refused(#[case] description: Vec<u8>, #[case] expected: &str) {
    let server = Server::new();
    server.publish_bytes(description);
    let message = server.refused("update-metadata");
    assert!(message.contains(expected), "{message}");
}

#[test]
fn release_of_the_future_is_a_wrong_clock() {
    let server = Server::new();
    server.publish(&release("9.1.0", "2027-03-07"));
    server.check().unwrap();
    server.publish(&release("9.1.0", "2027-03-08"));
    let message = server.refused("update-clock");
    assert!(message.contains("2027-03-08") && message.contains("it is 2027-03-05"), "{message}");
}

#[rstest]
#[case::other_host("https://example.org/latest.json")]
#[case::other_port("http://127.0.0.1:1/latest.json")]
#[case::downloads_without_https("http://objects.githubusercontent.com/latest.json")]
#[case::user("http://127.0.0.1@example.org/latest.json")]
#[case::file("file:///etc/passwd")]
#[case::relative("/elsewhere")]
#[case::nothing("")]
fn redirect_to_another_place_is_refused(#[case] to: &'static str) {
    let server = Server::new();
    server.answer(move |_| answer("302 Found", &[("Location", to)], b""));
    let message = server.refused("update-redirect");
    assert!(message.contains(to), "{message}");
    assert_eq!(server.requests().len(), 1, "nothing was read from there");
}

#[test]
fn redirect_to_the_place_of_downloads_is_followed() {
    let server = Server::new();
    let description = release("9.1.0", "2027-03-01").to_string().into_bytes();
    let signature = server.sign(&description);
    let (stored, signed) = (format!("{}/stored/a", server.address), format!("{}/stored/b", server.address));
    server.answer(move |path| match path {
        "/stored/a" => ok(&description),
        "/stored/b" => ok(&signature),
        DESCRIPTION => answer("302 Found", &[("Location", &stored)], b""),
        _ => answer("302 Found", &[("Location", &signed)], b""),
    });
    assert_eq!(server.check().unwrap().newer.unwrap().version, "9.1.0");
}

#[test]
fn redirects_end() {
    let server = Server::new();
    let to = format!("{}/again", server.address);
    server.answer(move |_| answer("302 Found", &[("Location", &to)], b""));
    assert!(server.refused("update-redirect").contains("too often"));
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn hosts_of_downloads_are_allowed_only_by_https() {
    let source = Source::new("https://github.com/owner/dissensus", "");
    let allows = |address: &str| source.allows(&address.parse().unwrap());
    for address in [
        "https://github.com/owner/dissensus/releases/download/v2/latest.json",
        "https://release-assets.githubusercontent.com/a?b=c",
    ] {
        assert!(allows(address), "{address}");
    }
    for address in [
        "http://github.com/a",
        "https://github.com.example.org/a",
        "https://github.com:8443/a",
        "https://raw.githubusercontent.com/a",
        "https://127.0.0.1/a",
    ] {
        assert!(!allows(address), "{address}");
    }
}

#[test]
fn answers_are_bounded_and_whole() {
    let server = Server::new();
    server.answer(|_| ok(&vec![b' '; (64 << 10) + 1]));
    server.refused("update-metadata");
    // Without a length, until the connection ends.
    server
        .answer(|_| [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec(), vec![b' '; 1 << 20]].concat());
    server.refused("update-metadata");
    let description = release("9.1.0", "2027-03-01").to_string().into_bytes();
    let whole = ok(&description);
    for missing in [1, description.len() - 1] {
        let cut = whole[..whole.len() - missing].to_vec();
        server.answer(move |_| cut.clone());
        assert!(server.refused("update-cut-off").contains("cut off"));
    }
    server.answer(|_| b"HTTP/1.1 200".to_vec());
    server.refused("update-unreachable");
}

#[rstest]
#[case(404)]
#[case(403)]
#[case(500)]
fn other_statuses_are_named(#[case] status: u16) {
    let server = Server::new();
    server.answer(move |_| answer(&format!("{status} no"), &[], b"<html>"));
    let message = server.refused("update-status");
    assert!(message.contains(&format!("status {status}")), "{message}");
}

#[test]
fn computer_without_a_network_gets_its_own_sentence() {
    let server = Server::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let source = Source::new(&format!("http://{free}"), &server.keys.pk.to_box().unwrap().to_string());
    let error = check(&server.home(), &source, &Installed::ByHand, NOW, &Silent).unwrap_err();
    assert_eq!(error.code(), "update-unreachable");
    assert!(error.to_string().contains("Nothing else is affected"), "{error}");
}

/// Cancels at once.
struct Cancelled;

impl Progress for Cancelled {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}

    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn server_that_does_not_answer_can_be_left() {
    // The system takes the connection; nobody answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::new();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let source = Source::new(&address, &server.keys.pk.to_box().unwrap().to_string());
    let error = check(&server.home(), &source, &Installed::ByHand, NOW, &Cancelled).unwrap_err();
    assert_eq!(error.code(), "cancelled");
}

#[test]
fn build_without_key_or_address_makes_no_request() {
    let server = Server::new();
    let key = server.keys.pk.to_box().unwrap().to_string();
    let sources = [
        Source::new(&server.address, ""),
        Source::new(&server.address, "untrusted comment: no key yet\n"),
        Source::new("", &key),
        Source::new("http://example.org/dissensus", &key),
        Source::new("ftp://example.org/dissensus", &key),
    ];
    for source in sources {
        let error = check(&server.home(), &source, &Installed::ByHand, NOW, &Silent).unwrap_err();
        assert_eq!(error.code(), "update-no-source");
        assert!(!state(&Known::default(), &source, &Installed::ByHand, NOW).due);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn program_of_a_store_makes_no_request() {
    let server = Server::new();
    server.publish(&release("9.1.0", "2027-03-01"));
    let found = check(&server.home(), &server.source(), &Installed::Flatpak, NOW, &Silent).unwrap();
    assert!(found.managed.unwrap().contains("flatpak update"));
    assert_eq!((found.newer, found.checked_at, found.due), (None, None, false));
    assert!(server.requests().is_empty());
}

#[rstest]
#[case::flatpak("/app/bin/dissensus-window", &["/.flatpak-info"], &[], Installed::Flatpak)]
#[case::flatpak_by_variable("/app/bin/dissensus-window", &[], &["FLATPAK_ID"], Installed::Flatpak)]
#[case::snap("/snap/dissensus/3/usr/bin/dissensus-window", &[], &["SNAP"], Installed::Snap)]
#[case::not_our_snap("/home/a/dissensus-window", &[], &["SNAP"], Installed::ByHand)]
#[case::app_store(
    "/Applications/Dissensus.app/Contents/MacOS/dissensus-window",
    &["/Applications/Dissensus.app/Contents/_MASReceipt/receipt"], &[], Installed::AppStore)]
#[case::disk_image("/Applications/Dissensus.app/Contents/MacOS/dissensus-window", &[], &[], Installed::ByHand)]
#[case::cask(
    "/Applications/Dissensus.app/Contents/MacOS/dissensus-window",
    &["/opt/homebrew/Caskroom/dissensus"], &[], Installed::Homebrew)]
#[case::cellar("/usr/local/Cellar/dissensus/0.1.0/bin/dissensus", &[], &[], Installed::Homebrew)]
#[case::deb("/usr/bin/dissensus", &["/var/lib/dpkg/info/dissensus.list"], &[], Installed::ByHand)]
#[case::rpm("/usr/bin/dissensus", &["/var/lib/rpm"], &[], Installed::ByHand)]
#[case::other_distribution("/usr/bin/dissensus", &[], &[], Installed::Packaged)]
#[case::nix("/nix/store/abc-dissensus/bin/dissensus", &[], &[], Installed::Packaged)]
#[case::local("/usr/local/bin/dissensus", &["/var/lib/dpkg/info/dissensus.list"], &[], Installed::ByHand)]
#[case::build("/home/a/target/debug/dissensus-window", &["/var/lib/rpm"], &[], Installed::ByHand)]
#[case::installer_or_winget("/c/Users/a/AppData/Local/Dissensus/dissensus-window.exe", &[], &[], Installed::ByHand)]
#[case::unknown("", &[], &[], Installed::ByHand)]
fn stores_are_recognised(
    #[case] program: &str,
    #[case] files: &[&str],
    #[case] variables: &[&str],
    #[case] expected: Installed,
) {
    let found = Installed::from_traces(&Traces {
        program: Path::new(program),
        is_set: &|name| variables.contains(&name),
        exists: &|path| files.iter().any(|file| Path::new(file) == path),
    });
    assert_eq!(found, expected);
    assert_eq!(found.instead().is_none(), expected == Installed::ByHand);
}

#[test]
fn result_is_shown_where_it_cannot_be_remembered() {
    let server = Server::new();
    server.publish(&release("9.1.0", "2027-03-01"));
    let file = server.home.path().join("file");
    fs::write(&file, "").unwrap();
    let home = Home::inside(&file, Vec::new());
    let found = check(&home, &server.source(), &Installed::ByHand, NOW, &Silent).unwrap();
    assert_eq!(found.newer.unwrap().version, "9.1.0");
}

#[test]
fn checks_at_once_remember_the_newest() {
    let server = Server::new();
    server.publish(&release("9.1.0", "2027-03-01"));
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| server.check().unwrap())).collect();
        all.into_iter().for_each(|one| assert!(one.join().unwrap().newer.is_some()));
    });
    let newest: super::Release = serde_json::from_value(release("9.3.0", "2027-03-03")).unwrap();
    // Another program has seen a later one between the request and the writing of this one.
    Known::read(&server.home()).seen(&newest).write(&server.home()).unwrap();
    let older: super::Release = serde_json::from_value(release("9.1.0", "2027-03-01")).unwrap();
    Known::default().seen(&older).write(&server.home()).unwrap();
    let error = Known::read(&server.home()).must_not_be_after(&older).unwrap_err();
    assert!(matches!(error, UpdateError::Older { seen, .. } if seen == "9.3.0"));
}

#[test]
fn description_that_a_release_writes_is_read() {
    let server = Server::new();
    // The task `release` of xtask is tested to write this file.
    server.publish_bytes(include_bytes!("latest.json").to_vec());
    let found = server.check().unwrap().newer.unwrap();
    assert_eq!((found.version.as_str(), found.notes.as_str()), ("9.9.9", "- First entry\n- Second entry\n"));
}

#[test]
fn downloaded_file_is_compared_with_the_release() {
    let server = Server::new();
    let content = b"an installer".to_vec();
    let files = json!([{"name": "d.deb", "bytes": 12, "sha256": hexadecimal(&Sha256::digest(&content))}]);
    let mut description = release("9.1.0", &dissensus_project::clock::today());
    description["files"] = files;
    server.publish(&description);
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        check_download(&server.home(), &server.source(), &path, &Silent)
    };
    assert_eq!(check("d.deb", &content).unwrap().version, "9.1.0");
    let code = |found: Result<_, ProjectError>| found.unwrap_err().code();
    assert_eq!(code(check("d.deb", b"an inst")), "update-file-cut-off");
    assert_eq!(code(check("d.deb", b"an installez")), "update-file-differs");
    assert_eq!(code(check("d.deb", b"an installer and more")), "update-file-differs");
    assert_eq!(code(check("e.deb", &content)), "update-file-unknown");
}
