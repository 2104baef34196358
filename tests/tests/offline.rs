//! Everything but three downloads works without a network: the command and the window run in a network
//! namespace that has no route to another computer. A request that the program needs would fail here, and one
//! that it does not need would be among the attempts that the system counts.
#![cfg(target_os = "linux")] // other systems have no network namespaces
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::every_command;
use dissensus_tests::window::{Start, Window};
use minisign::KeyPair;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;

/// Set for the tests that run inside of the namespace.
const INSIDE: &str = "DISSENSUS_WITHOUT_ROUTE";
/// Where releases are for these tests: nothing answers there. Without it and a key no request would be made.
const RELEASES: &str = "http://127.0.0.1:1";
/// Addresses for documentation (RFC 5737, RFC 3849), which no computer has.
const ELSEWHERE: [&str; 2] = ["192.0.2.1:443", "[2001:db8::1]:443"];
/// Attempts that [`check_namespace`] makes itself.
const ATTEMPTS_OF_CHECK: u64 = 5;
const ENTER: char = '\u{e007}';
/// A repository that the hub has.
const ENCODER: &str = "sentence-transformers/paraphrase-MiniLM-L3-v2";

/// Runs one of the ignored tests below in a namespace of its own, with the loopback device alone.
fn in_namespace(test: &str) {
    let program = std::env::current_exe().unwrap();
    let ways: [&[&str]; 2] = [&["--user", "--net", "--map-root-user"], &["--net"]];
    let usable = ways.iter().find(|way| {
        let tried = Command::new("unshare").args(**way).args(["ip", "link", "set", "lo", "up"]).output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    let way = usable.expect(
        "this system allows no network namespace (unshare and ip from util-linux and iproute2; on Ubuntu \
         24.04 and later also `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`)",
    );
    let key = KeyPair::generate_unencrypted_keypair().unwrap().pk;
    let status = Command::new("unshare")
        .args(*way)
        .args(["sh", "-c", "ip link set lo up && exec \"$@\"", "sh"])
        .arg(program)
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(INSIDE, "1")
        .env("DISSENSUS_UPDATES", RELEASES)
        .env("DISSENSUS_UPDATES_KEY", key.to_box().unwrap().into_string())
        .status()
        .unwrap();
    assert!(status.success(), "{test} failed without a network");
}

/// Fails unless this process can reach itself and nothing else.
fn check_namespace() {
    assert!(std::env::var_os(INSIDE).is_some(), "this test runs as a part of another one");
    for address in ELSEWHERE {
        let error = TcpStream::connect(address).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable),
            "{address}: {error}"
        );
        let socket = UdpSocket::bind(if address.starts_with('[') { "[::]:0" } else { "0.0.0.0:0" });
        assert!(socket.unwrap().connect(address).is_err(), "{address}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    assert_eq!(attempts(), 4, "each attempt above is counted");
    // Some systems have a name server of their own, to which names would go first.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"name", "127.0.0.53:53").unwrap();
    assert_eq!(attempts(), ATTEMPTS_OF_CHECK, "a question to a name server is counted");
}

/// How often anything in this namespace has tried to reach another computer, or to ask a name server on this
/// one.
fn attempts() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let (table, list) = (read("/proc/net/snmp"), read("/proc/net/snmp6"));
    // A line with names of counters, then one with their values.
    let in_table = |protocol: &str, name: &str| -> u64 {
        let mut lines = table.lines().filter_map(|line| line.strip_prefix(protocol));
        let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
        let at = names.split_whitespace().position(|one| one == name).unwrap();
        values.split_whitespace().nth(at).unwrap().parse().unwrap()
    };
    let in_list = |name: &str| -> u64 {
        let mut lines = list.lines().map(str::split_whitespace);
        let mut line = lines.find(|line| line.clone().next() == Some(name)).unwrap();
        line.nth(1).unwrap().parse().unwrap()
    };
    in_table("Ip:", "OutNoRoutes")
        + in_table("Udp:", "NoPorts")
        + in_list("Ip6OutNoRoutes")
        + in_list("Udp6NoPorts")
}

#[test]
fn every_command_works_without_a_network() {
    in_namespace("commands_inside");
}

#[test]
#[ignore = "runs inside of the namespace"]
fn commands_inside() {
    check_namespace();
    let bench = Bench::new();
    assert!(every_command::run_all(&bench).len() > 60);
    assert_eq!(attempts(), ATTEMPTS_OF_CHECK, "a command has tried to reach another computer");
    let refused = bench.refused(["models", "encode", "P.dissensus", "--encoder", ENCODER]);
    for expected in ["huggingface.co", ENCODER] {
        assert!(refused.contains(expected), "{refused}");
    }
    assert!(attempts() > ATTEMPTS_OF_CHECK, "a download is counted");
    let refused = bench.refused(["check-update"]);
    assert!(refused.contains("127.0.0.1 could not be reached"), "{refused}");
}

#[test]
fn window_works_without_a_network() {
    in_namespace("window_inside");
}

#[tokio::test]
#[ignore = "runs inside of the namespace"]
async fn window_inside() -> Result<()> {
    check_namespace();
    let bench = Bench::new();
    let project = bench.path("P.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    let window = Window::start(&bench, Start::new(Some(&project))).await?;
    window.click("nav-label").await?;
    window.click("label-annotator-name").await?;
    window.type_text("ana").await?;
    window.press(ENTER).await?;
    window.text_when("label-text", |body| !body.is_empty()).await?;
    window.press('3').await?;
    window.text_when("label-message", |message| message.starts_with("Labelled")).await?;
    for (destination, tab) in [("nav-findings", "tab-findings-texts"), ("nav-people", "tab-people")] {
        window.click(destination).await?;
        window.click(tab).await?;
    }
    for destination in ["nav-models", "nav-project"] {
        window.click(destination).await?;
    }
    ensure!(attempts() == ATTEMPTS_OF_CHECK, "the window has tried to reach another computer");
    let failed = async |command: &str, values: &str| -> Result<String> {
        let script = format!(
            "return window.__TAURI_INTERNALS__.invoke('{command}', {values}).then(() => 'done', (problem) => problem.code)"
        );
        Ok(window.script(&script).await?.as_str().unwrap_or_default().to_owned())
    };
    let target = bench.path("packet.dissensus");
    let values = format!("{{ address: 'https://192.0.2.1/packet.dissensus', path: '{}' }}", target.display());
    let code = failed("download_packet", &values).await?;
    ensure!(code == "packet-broken-off", "{code}");
    ensure!(!target.exists(), "nothing is downloaded");
    let code = failed("check_updates", "{}").await?;
    ensure!(code == "update-unreachable", "{code}");
    window.close().await
}
