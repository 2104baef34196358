//! Confirmed writes survive a crash of the program or a failure of the disk.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and its child process speaks"
)]

mod common;

use common::{QUESTION, label, small, state_of};
use dissensus_store::{NewText, Store, StoreError};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Passes the project to the child process, which is this test started again.
const CHILD: &str = "DISSENSUS_STORE_CRASH_CHILD";

/// Labels in an endless loop, and prints the number of each label once it is confirmed.
fn label_for_ever(path: PathBuf) -> ! {
    let store = Store::open(path).unwrap();
    let mut out = std::io::stdout();
    for n in 0_u32.. {
        let id = store.append_label(&label(n % 100 + 1, 1, (n % 5) as u16)).unwrap().id;
        writeln!(out, "confirmed {}", id.0).unwrap();
        out.flush().unwrap();
    }
    unreachable!("the numbers do not end");
}

fn start_child(test: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn confirmed(line: &str) -> Option<u32> {
    line.split("confirmed ").nth(1)?.trim().parse().ok()
}

#[test]
fn kill_nine_loses_no_confirmed_label() {
    if let Some(path) = std::env::var_os(CHILD) {
        label_for_ever(path.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    small(&path, 100, 1).close().unwrap();
    let mut last = 0;
    for round in 1..=4 {
        let mut child = start_child("kill_nine_loses_no_confirmed_label", &path);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stop_after = last + 17 * round;
        while last < stop_after {
            let line = lines.next().expect("the child must go on labelling").unwrap();
            last = confirmed(&line).unwrap_or(last);
        }
        if round == 2 {
            // As long as it runs, nobody else may write, and the error message states which process
            // is running.
            let error = Store::open(&path).unwrap_err();
            assert_eq!(error.code(), "project-locked");
            assert!(error.to_string().contains(&child.id().to_string()), "{error}");
            assert!(Store::open_reader(&path).unwrap().counts().unwrap().events >= last);
        }
        child.kill().unwrap(); // SIGKILL on Unix
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            last = confirmed(&line).unwrap_or(last); // confirmed before the kill, read after it
        }
        let store = Store::open(&path).unwrap_or_else(|e| panic!("after round {round}: {e}"));
        let events = store.counts().unwrap().events;
        assert!(events >= last, "{last} labels were confirmed and {events} are there");
        assert!(events <= last + 1, "{events} labels are there and only {last} were ever confirmed");
        last = events;
        store.close().unwrap();
        assert_eq!(state_of(folder.path()).len(), 1, "side files are left");
    }
    assert!(last > 150);
}

/// Ends the mount when the test ends, however it ends.
struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// A file system of `size` at `at`, where this user may mount one.
fn small_disk(at: &Path, size: &str) -> Option<Mount> {
    let done = Command::new("mount")
        .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
        .arg(at)
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|s| s.success()).then(|| Mount(at.to_owned()))
}

/// A full disk: a small one if we may mount it, otherwise the last blocks before a file size limit.
#[test]
fn full_disk_is_reported_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mount) = small_disk(folder.path(), "2m") else {
        // On other systems the unit test `store::tests::a_full_file_...` covers the same path with
        // SQLite's own limit.
        println!("may not mount here; the limit of the file is tested instead");
        return;
    };
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 10, 1);
    let mut confirmed = 0;
    let error = loop {
        match store.append_label(&label(confirmed % 10 + 1, 1, 1)) {
            Ok(_) => confirmed += 1,
            Err(e) => break e,
        }
        let padding = NewText {
            external_id: format!("pad{confirmed}"),
            body: "x".repeat(20_000),
            ..NewText::default()
        };
        let _ = store.write(move |tx| -> Result<(), StoreError> { tx.add_text(&padding).map(|_| ()) });
        assert!(confirmed < 100_000, "the disk never ran full");
    };
    assert_eq!(error.code(), "disk-full", "{error}");
    assert!(confirmed > 0);
    assert_eq!(store.counts().unwrap().events, confirmed);
    drop(store);
    let reader = Store::open_reader(&path).unwrap();
    assert_eq!(reader.current_labels(QUESTION).unwrap().len(), confirmed.min(10) as usize);
    assert_eq!(reader.counts().unwrap().events, confirmed);
    reader.close().unwrap();
    drop(mount);
}
