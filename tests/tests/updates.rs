//! `check-update`, and projects and settings of a newer version, by the real command.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::schemas;
use minisign::KeyPair;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::{BufRead as _, BufReader, Cursor, Write as _};
use std::net::TcpListener;

/// Serves a signed description of a release, until the test ends; returns the address and the key.
fn releases(description: &Value) -> (String, String) {
    let keys = KeyPair::generate_unencrypted_keypair().unwrap();
    let description = description.to_string();
    let signature = minisign::sign(None, &keys.sk, Cursor::new(&description), None, None).unwrap();
    let signature = signature.into_string();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request: Vec<String> =
                BufReader::new(&stream).lines().map_while(Result::ok).take_while(|l| !l.is_empty()).collect();
            let content = match request.first() {
                Some(first) if first.contains(".minisig ") => &signature,
                _ => &description,
            };
            let length = content.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{content}"
            )
            .unwrap();
        }
    });
    (address, keys.pk.to_box().unwrap().into_string())
}

/// Runs the command against these releases, and returns its exit code and what it printed.
fn run(
    bench: &Bench,
    (address, key): &(String, String),
    arguments: &[&str],
) -> (Option<i32>, String, String) {
    let mut command = bench.command([&["check-update"], arguments].concat());
    let command = command.env("DISSENSUS_UPDATES", address).env("DISSENSUS_UPDATES_KEY", key);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn newer_version_is_shown_and_a_download_checked() {
    let bench = Bench::without_encoder();
    let sha256: String = Sha256::digest(b"abc").iter().map(|byte| format!("{byte:02x}")).collect();
    let source = releases(&json!({
        "format": 1, "version": "99.1.0", "date": "2026-01-01", "notes": "- Red \u{1b}[31m text",
        "files": [{"name": "d.deb", "bytes": 3, "sha256": sha256}],
    }));
    let (code, out, _) = run(&bench, &source, &[]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("Version 99.1.0 of 2026-01-01 is available; this is "), "{out}");
    assert!(out.contains(&format!("Download it from {}/releases/tag/v99.1.0", source.0)), "{out}");
    assert!(out.contains("- Red \\u{1b}[31m text"), "notes are shown and not obeyed: {out}");
    let (_, out, _) = run(&bench, &source, &["--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    schemas::check(&["check-update".into(), "--json".into()], &document);
    assert_eq!(document["newer"]["version"], "99.1.0");
    bench.file("d.deb", "abc");
    let (code, out, _) = run(&bench, &source, &["--download", "d.deb"]);
    assert_eq!((code, out.as_str()), (Some(0), "d.deb is whole and part of the release of version 99.1.0\n"));
    bench.file("d.deb", "ab");
    let (code, out, err) = run(&bench, &source, &["--download", "d.deb"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("d.deb has 2 of 3 bytes"), "{err}");
}

#[test]
fn address_on_another_computer_is_not_taken_from_the_environment() {
    let bench = Bench::without_encoder();
    let (_, key) = releases(&json!({}));
    for address in ["http://192.0.2.1:80", "http://127.0.0.1:80@192.0.2.1", "https://192.0.2.1"] {
        let (code, _, err) = run(&bench, &(address.to_owned(), key.clone()), &[]);
        assert_eq!(code, Some(1));
        assert!(err.contains("has no key of releases"), "{address}: {err}");
    }
}
