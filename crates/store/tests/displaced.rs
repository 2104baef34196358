//! Project files that are moved, replaced, deleted, linked or restored while open or after a crash.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and its child process speaks"
)]

mod common;

use common::{QUESTION, label, small, unwatched};
use dissensus_domain::{AnnotatorId, Answer};
use dissensus_store::{CheckRecords, CopyTarget, NewText, Store, StoreError};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Passes the project to the child process, which is this test started again.
const CHILD: &str = "DISSENSUS_STORE_DISPLACED_CHILD";

const TEXTS: u32 = 100;

/// A folder with a closed project of [`TEXTS`] texts, and the folder where this user's locks are.
struct Fixture {
    folder: tempfile::TempDir,
    at: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        std::fs::create_dir(at.join("home")).unwrap();
        small(&at.join("p.dissensus"), TEXTS, 2).close().unwrap();
        Self { folder, at }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }

    fn records(&self) -> CheckRecords {
        records(&self.path("home"))
    }

    fn open(&self, name: &str) -> Result<Store, StoreError> {
        Store::open_recorded(self.path(name), &self.records(), &unwatched())
    }

    fn read(&self, name: &str) -> Result<Store, StoreError> {
        Store::open_reader_recorded(self.path(name), &self.records())
    }

    /// The labels of the first annotator in the project `name`, which nobody has open, and the path
    /// of a journal that was put aside.
    fn labels(&self, name: &str) -> (BTreeMap<u32, u16>, Option<PathBuf>) {
        let store = self.open(name).unwrap_or_else(|e| panic!("{name}: {} {e}", e.code()));
        let aside = store.foreign_journal().map(Path::to_owned);
        let labels = labels(&store);
        store.close().unwrap();
        (labels, aside)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(&self.at)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "home")
            .collect();
        names.sort();
        names
    }

    /// A second process that has `name` open.
    fn holder(&self, test: &str, name: &str) -> Holder {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(CHILD, self.path(name))
            .env("DISSENSUS_STORE_DISPLACED_HOME", self.path("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut holder = Holder { child, input, lines, confirmed: BTreeMap::new() };
        assert_eq!(holder.answer(), "open");
        holder
    }
}

fn records(home: &Path) -> CheckRecords {
    CheckRecords::inside(&home.join("checked")).with_locks(&home.join("locks"))
}

fn labels(store: &Store) -> BTreeMap<u32, u16> {
    let current = store.current_labels(QUESTION).unwrap();
    current
        .into_iter()
        .filter(|label| label.annotator == AnnotatorId(1))
        .map(|label| match label.answer {
            Answer::Level(level) => (label.text.0, level.0),
            other => panic!("{other:?}"),
        })
        .collect()
}

struct Holder {
    child: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    confirmed: BTreeMap<u32, u16>,
}

impl Holder {
    fn answer(&mut self) -> String {
        loop {
            let line = self.lines.next().expect("the child goes on speaking").unwrap();
            if let Some((_, reply)) = line.split_once("child: ") {
                return reply.to_owned();
            }
        }
    }

    fn ask(&mut self, what: &str) -> String {
        writeln!(self.input.as_mut().unwrap(), "{what}").unwrap();
        self.answer()
    }

    /// Labels a text; returns the error code if that was not confirmed.
    fn label(&mut self, text: u32, level: u16) -> Result<(), String> {
        match self.ask(&format!("label {text} {level}")).as_str() {
            "ok" => {
                self.confirmed.insert(text, level);
                Ok(())
            }
            error => Err(error.to_owned()),
        }
    }

    fn close(mut self) -> BTreeMap<u32, u16> {
        assert_eq!(self.ask("close"), "ok");
        drop(self.input.take());
        self.child.wait().unwrap();
        self.confirmed
    }

    fn kill(mut self) -> BTreeMap<u32, u16> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.confirmed
    }
}

/// In the child: opens the project and does what the test requests.
fn serve_as_child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let home = PathBuf::from(std::env::var_os("DISSENSUS_STORE_DISPLACED_HOME").unwrap());
    let store = Store::open_recorded(path, &records(&home), &unwatched()).unwrap();
    let say = |what: &str| {
        println!("child: {what}");
        std::io::stdout().flush().unwrap();
    };
    say("open");
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        let done = match words.as_slice() {
            ["label", text, level] => {
                store.append_label(&label(text.parse().unwrap(), 1, level.parse().unwrap())).map(|_| ())
            }
            ["checkpoint"] => store.checkpoint().map(|_| ()),
            ["copy", target] => {
                store.copy_to(Path::new(target), CopyTarget::New, |_, _| ControlFlow::Continue(()))
            }
            ["close"] => store.close(),
            other => panic!("{other:?}"),
        };
        match done {
            Ok(()) => say("ok"),
            Err(e) => say(e.code()),
        }
    }
    std::process::exit(0);
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}

/// Copies `from` to `to` like a restore: the complete file appears under its name.
fn restore(from: &Path, to: &Path) {
    let part = to.with_extension("tmp");
    std::fs::copy(from, &part).unwrap();
    std::fs::rename(&part, to).unwrap();
}

#[test]
fn moved_open_file_keeps_confirmed_labels() {
    serve_as_child();
    for killed in [false, true] {
        let place = Fixture::new();
        let mut holder = place.holder("moved_open_file_keeps_confirmed_labels", "p.dissensus");
        for text in 1..=20 {
            holder.label(text, 3).unwrap();
        }
        std::fs::rename(place.path("p.dissensus"), place.path("moved.dissensus")).unwrap();
        let error = place.open("moved.dissensus").unwrap_err();
        assert_eq!(error.code(), "project-locked");
        assert!(error.to_string().contains("p.dissensus"), "{error}");
        let error = place.read("moved.dissensus").unwrap_err();
        assert_eq!(error.code(), "project-journal-elsewhere", "{error}");
        assert_eq!(holder.label(21, 4), Err("project-moved".to_owned()));
        let copy = place.path("saved.dissensus");
        assert_eq!(holder.ask(&format!("copy {}", copy.display())), "ok");
        let confirmed = if killed { holder.kill() } else { holder.close() };
        assert_eq!(confirmed.len(), 20);
        if killed {
            assert_eq!(place.read("moved.dissensus").unwrap_err().code(), "project-journal-elsewhere");
        } else {
            assert_eq!(place.names(), ["moved.dissensus", "saved.dissensus"]);
        }
        assert_eq!(place.labels("moved.dissensus"), (confirmed.clone(), None), "killed: {killed}");
        assert_eq!(place.labels("saved.dissensus"), (confirmed, None));
        let left: Vec<_> = std::fs::read_dir(place.path("home/locks")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn replaced_open_file_stays_unchanged_and_can_be_saved() {
    serve_as_child();
    for killed in [false, true] {
        let place = Fixture::new();
        std::fs::copy(place.path("p.dissensus"), place.path("backup")).unwrap();
        let mut holder = place.holder("replaced_open_file_stays_unchanged_and_can_be_saved", "p.dissensus");
        for text in 1..=20 {
            holder.label(text, 3).unwrap();
        }
        restore(&place.path("backup"), &place.path("p.dissensus"));
        assert_eq!(holder.label(21, 4), Err("project-replaced".to_owned()));
        let error = place.read("p.dissensus").unwrap_err();
        assert_eq!(error.code(), "project-foreign-journal", "{error}");
        assert_eq!(place.open("p.dissensus").unwrap_err().code(), "project-locked");
        let copy = place.path("saved.dissensus");
        assert_eq!(holder.ask(&format!("copy {}", copy.display())), "ok");
        let confirmed = if killed { holder.kill() } else { holder.close() };
        if !killed {
            let reader = place.read("p.dissensus").unwrap();
            assert!(labels(&reader).is_empty(), "it was restored to before the labels");
        } else {
            assert_eq!(place.read("p.dissensus").unwrap_err().code(), "project-foreign-journal");
        }
        let (restored, aside) = place.labels("p.dissensus");
        assert!(restored.is_empty());
        assert_eq!(aside.is_some(), killed);
        let kept: Vec<_> =
            place.names().into_iter().filter(|name| name.contains("of-another-file")).collect();
        assert_eq!(kept.len(), 1, "the journal is still there: {kept:?}");
        assert!(std::fs::metadata(place.path(&kept[0])).unwrap().len() > 0);
        assert_eq!(place.labels("saved.dissensus"), (confirmed, None));
        assert!(place.read("p.dissensus").is_ok());
    }
}

#[test]
fn journal_is_set_aside_after_a_restore() {
    serve_as_child();
    const TEST: &str = "journal_is_set_aside_after_a_restore";
    // Changes to the files of a killed program, and whether the journal then continues the file.
    type Change = fn(&Fixture);
    let in_place: Change = |place| {
        let backup = std::fs::read(place.path("backup")).unwrap();
        std::fs::write(place.path("p.dissensus"), backup).unwrap();
    };
    let anew: Change = |place| {
        std::fs::remove_file(place.path("p.dissensus")).unwrap();
        std::fs::copy(place.path("backup"), place.path("p.dissensus")).unwrap();
    };
    let over: Change = |place| restore(&place.path("backup"), &place.path("p.dissensus"));
    let without_note: Change = |place| {
        restore(&place.path("backup"), &place.path("p.dissensus"));
        std::fs::remove_file(place.path("p.dissensus.lock")).unwrap();
        std::fs::remove_file(place.path("p.dissensus-shm")).unwrap();
    };
    let nothing: Change = |_| {};
    let folder_restored: Change = |place| {
        let aside = place.folder.path().with_extension("aside");
        copy_all(&place.at, &aside);
        for name in place.names() {
            std::fs::remove_file(place.path(&name)).unwrap();
        }
        // Other files first, so that no file number is reused.
        for n in 0..20 {
            std::fs::write(place.path(&format!("other{n}")), "x").unwrap();
        }
        copy_all(&aside, &place.at);
        std::fs::remove_dir_all(aside).unwrap();
    };
    let without_lock: Change = |place| std::fs::remove_file(place.path("p.dissensus.lock")).unwrap();
    for (what, change, own) in [
        ("written over in place", in_place, false),
        ("removed and copied", anew, false),
        ("replaced", over, false),
        ("replaced, without the lock file", without_note, false),
        ("nothing", nothing, true),
        ("all of the folder restored", folder_restored, true),
        ("the lock file removed", without_lock, true),
    ] {
        let place = Fixture::new();
        let mut holder = place.holder(TEST, "p.dissensus");
        for text in 1..=10 {
            holder.label(text, 1).unwrap();
        }
        assert_eq!(holder.ask("checkpoint"), "ok");
        std::fs::copy(place.path("p.dissensus"), place.path("backup")).unwrap();
        for round in 2..=3 {
            for text in 1..=10 {
                holder.label(text + 10 * round, round as u16).unwrap();
            }
            assert_eq!(holder.ask("checkpoint"), "ok");
        }
        // The same rows as in the backup, so that file and journal together would seem sound.
        holder.label(1, 4).unwrap();
        let confirmed = holder.kill();
        change(&place);
        let (found, aside) = place.labels("p.dissensus");
        assert_eq!(aside.is_none(), own, "{what}");
        if own {
            assert_eq!(found, confirmed, "{what}");
        } else {
            let backup: BTreeMap<u32, u16> = (1..=10).map(|text| (text, 1)).collect();
            assert_eq!(found, backup, "{what}");
            assert!(std::fs::metadata(aside.unwrap()).unwrap().len() > 0, "{what}");
        }
        assert_eq!(place.labels("p.dissensus"), (found, None), "{what}: the second opening finds nothing");
    }
}

#[test]
fn copy_with_side_files_has_all_confirmed_labels() {
    serve_as_child();
    let place = Fixture::new();
    let mut holder = place.holder("copy_with_side_files_has_all_confirmed_labels", "p.dissensus");
    for text in 1..=30 {
        holder.label(text, 2).unwrap();
    }
    let confirmed = holder.kill();
    let other = tempfile::tempdir().unwrap();
    copy_all(&place.at, other.path());
    let name = other.path().canonicalize().unwrap().join("p.dissensus");
    assert_eq!(place.labels(name.to_str().unwrap()), (confirmed.clone(), None));
    assert_eq!(place.labels("p.dissensus"), (confirmed, None));
}

#[test]
fn journal_follows_the_moved_file() {
    serve_as_child();
    let place = Fixture::new();
    std::fs::copy(place.path("p.dissensus"), place.path("backup")).unwrap();
    let mut holder = place.holder("journal_follows_the_moved_file", "p.dissensus");
    for text in 1..=30 {
        holder.label(text, 2).unwrap();
    }
    let confirmed = holder.kill();
    std::fs::rename(place.path("p.dissensus"), place.path("moved.dissensus")).unwrap();
    restore(&place.path("backup"), &place.path("p.dissensus"));
    let (found, aside) = place.labels("p.dissensus");
    assert!(found.is_empty() && aside.is_some());
    assert_eq!(place.read("moved.dissensus").unwrap_err().code(), "project-journal-elsewhere");
    assert_eq!(place.labels("moved.dissensus"), (confirmed, None));
}

#[test]
fn other_names_of_an_open_file_are_locked() {
    serve_as_child();
    const TEST: &str = "other_names_of_an_open_file_are_locked";
    let place = Fixture::new();
    std::fs::hard_link(place.path("p.dissensus"), place.path("hard.dissensus")).unwrap();
    std::os::unix::fs::symlink(place.path("p.dissensus"), place.path("soft.dissensus")).unwrap();
    std::os::unix::fs::symlink(&place.at, place.path("home/folder")).unwrap();
    let mut holder = place.holder(TEST, "p.dissensus");
    holder.label(1, 3).unwrap();
    for name in ["hard.dissensus", "soft.dissensus", "home/folder/p.dissensus"] {
        let error = place.open(name).unwrap_err();
        assert_eq!(error.code(), "project-locked", "{name}: {error}");
        assert!(error.to_string().contains(&holder.child.id().to_string()), "{name}: {error}");
    }
    assert_eq!(place.read("hard.dissensus").unwrap_err().code(), "project-journal-elsewhere");
    for name in ["soft.dissensus", "home/folder/p.dissensus", "p.dissensus"] {
        assert_eq!(labels(&place.read(name).unwrap()), holder.confirmed, "{name}");
    }
    let bound = place.path("home/bound");
    std::fs::create_dir(&bound).unwrap();
    let mounted =
        Command::new("mount").arg("--bind").arg(&place.at).arg(&bound).stderr(Stdio::null()).status();
    if mounted.is_ok_and(|status| status.success()) {
        let (write, read) = (place.open("home/bound/p.dissensus"), place.read("home/bound/p.dissensus"));
        let seen = read.map(|store| labels(&store));
        assert!(Command::new("umount").arg("-l").arg(&bound).status().unwrap().success());
        assert_eq!(write.unwrap_err().code(), "project-locked");
        assert_eq!(seen.unwrap(), holder.confirmed);
    }
    let confirmed = holder.close();
    assert_eq!(place.labels("hard.dissensus"), (confirmed.clone(), None));
    assert_eq!(labels(&place.read("p.dissensus").unwrap()), confirmed);
}

#[test]
fn case_insensitive_names_share_a_journal() {
    serve_as_child();
    let place = Fixture::new();
    let mut holder = place.holder("case_insensitive_names_share_a_journal", "p.dissensus");
    holder.label(1, 3).unwrap();
    // Like on a case-insensitive file system: each file has both names.
    for ending in ["", "-wal", "-shm"] {
        let name = |n: &str| place.path(&format!("{n}.dissensus{ending}"));
        std::fs::hard_link(name("p"), name("P")).unwrap();
    }
    assert_eq!(labels(&place.read("P.dissensus").unwrap()), holder.confirmed);
    assert_eq!(place.open("P.dissensus").unwrap_err().code(), "project-locked");
    holder.label(2, 3).unwrap();
    holder.close();
}

#[test]
fn writing_pauses_while_the_file_is_moved() {
    let place = Fixture::new();
    let (path, away) = (place.path("p.dissensus"), place.path("away"));
    let store = place.open("p.dissensus").unwrap();
    store.append_label(&label(1, 1, 1)).unwrap();
    let refused = |code: &str| {
        let error = store.append_label(&label(2, 1, 2)).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(store.checkpoint().unwrap_err().code(), code);
        assert_eq!(labels(&store).len(), 1, "what is open can be read");
        error.to_string()
    };
    std::fs::rename(&path, &away).unwrap();
    let error = refused("project-moved");
    assert!(!cfg!(target_os = "linux") || error.contains(&away.display().to_string()), "{error}");
    std::fs::rename(&away, &path).unwrap();
    store.append_label(&label(3, 1, 3)).unwrap();

    // A link in its place leads to the file, but its journal is not next to the file.
    std::fs::rename(&path, &away).unwrap();
    std::os::unix::fs::symlink(&away, &path).unwrap();
    assert_eq!(store.append_label(&label(2, 1, 2)).unwrap_err().code(), "project-moved");
    std::fs::remove_file(&path).unwrap();
    std::fs::rename(&away, &path).unwrap();

    // The folder cannot be reached, for example because a network is down: the state of the file is
    // unknown.
    let folder = place.at.with_extension("away");
    std::fs::rename(&place.at, &folder).unwrap();
    std::os::unix::fs::symlink(&place.at, &place.at).unwrap();
    let error = store.append_label(&label(2, 1, 2)).unwrap_err();
    assert_eq!(error.code(), "project-out-of-reach", "{error}");
    std::fs::remove_file(&place.at).unwrap();
    std::fs::rename(&folder, &place.at).unwrap();

    // Its journal is moved away.
    let (journal, aside) = (place.path("p.dissensus-wal"), place.path("aside"));
    std::fs::rename(&journal, &aside).unwrap();
    assert_eq!(store.append_label(&label(2, 1, 2)).unwrap_err().code(), "project-journal-gone");
    std::fs::rename(&aside, &journal).unwrap();

    // Touched but not written, as a backup program may do.
    std::fs::File::open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    store.append_label(&label(4, 1, 4)).unwrap();
    store.close().unwrap();
    assert_eq!(place.labels("p.dissensus").0, BTreeMap::from([(1, 1), (3, 3), (4, 4)]));
}

#[test]
fn removed_open_file_stops_writing_and_can_be_saved() {
    for (change, code) in [("remove", "project-removed"), ("overwrite", "project-replaced")] {
        let place = Fixture::new();
        let path = place.path("p.dissensus");
        let backup = std::fs::read(&path).unwrap();
        let store = place.open("p.dissensus").unwrap();
        for text in 1..=10 {
            store.append_label(&label(text, 1, 1)).unwrap();
        }
        store.checkpoint().unwrap();
        store.append_label(&label(11, 1, 1)).unwrap();
        match change {
            "remove" => std::fs::remove_file(&path).unwrap(),
            _ => std::fs::write(&path, &backup).unwrap(),
        }
        let error = store.append_label(&label(12, 1, 2)).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        if change == "remove" {
            let kept = place.path("kept.dissensus");
            store.copy_to(&kept, CopyTarget::New, |_, _| ControlFlow::Continue(())).unwrap();
            assert_eq!(place.labels("kept.dissensus").0.len(), 11);
        }
        store.close().unwrap();
        drop(store);
        if change == "overwrite" {
            assert_eq!(std::fs::read(&path).unwrap(), backup, "not a byte was written to it");
            let (found, aside) = place.labels("p.dissensus");
            assert!(found.is_empty() && aside.is_some());
        } else {
            assert!(place.names().iter().any(|name| name.contains("of-another-file")), "{:?}", place.names());
        }
    }
}

/// Ends the other thread when a test ends, however it ends.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Renames the project continuously while labels are given: each confirmed label is in the file
/// under the project's name.
#[test]
fn confirmed_labels_are_in_the_named_file() {
    for round in [0, 3] {
        let place = Fixture::new();
        let (path, away) = (place.path("p.dissensus"), place.path("away"));
        let store = place.open("p.dissensus").unwrap();
        let stop = AtomicBool::new(false);
        let (confirmed, refused) = std::thread::scope(|scope| {
            // Moved away and back, later and later within the 50 ms.
            let renamer = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::fs::rename(&path, &away).unwrap();
                    std::thread::sleep(Duration::from_millis(1 + round * 8));
                    std::fs::rename(&away, &path).unwrap();
                    std::thread::sleep(Duration::from_millis(25));
                }
            });
            let at_end = StopAtEnd(&stop);
            let (mut confirmed, mut refused) = (BTreeMap::new(), 0);
            for n in 0..1_000_u32 {
                match store.append_label(&label(n % TEXTS + 1, 1, (n / TEXTS % 5) as u16)) {
                    Ok(_) => {
                        confirmed.insert(n % TEXTS + 1, (n / TEXTS % 5) as u16);
                    }
                    Err(e) => {
                        assert_eq!(e.code(), "project-moved", "{e}");
                        // It may be in the file all the same, but is not confirmed then.
                        confirmed.remove(&(n % TEXTS + 1));
                        refused += 1;
                    }
                }
            }
            drop(at_end);
            renamer.join().unwrap();
            (confirmed, refused)
        });
        assert!(refused > 0, "the test needs some that are refused");
        store.close().unwrap();
        drop(store);
        let (found, aside) = place.labels("p.dissensus");
        assert_eq!(aside, None);
        for (text, level) in &confirmed {
            assert_eq!(
                found.get(text),
                Some(level),
                "round {round}: the confirmed label of text {text} is lost"
            );
        }
    }
}

/// Every 50 ms another file takes the name, made from the file that has the name at that time.
#[test]
fn no_label_is_confirmed_in_a_replaced_file() {
    let place = Fixture::new();
    let path = place.path("p.dissensus");
    std::fs::hard_link(&path, place.path("first")).unwrap();
    let store = place.open("p.dissensus").unwrap();
    let replaced = AtomicBool::new(false);
    let stop = AtomicBool::new(false);
    let (confirmed, refused) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                restore(&path, &path);
                replaced.store(true, Ordering::SeqCst);
            }
        });
        let _at_end = StopAtEnd(&stop);
        let (mut confirmed, mut refused) = (BTreeMap::new(), None);
        for n in 0..1_000_u32 {
            let late = replaced.load(Ordering::SeqCst);
            match store.append_label(&label(n % TEXTS + 1, 1, (n / TEXTS % 5) as u16)) {
                Ok(_) => {
                    assert!(!late, "label {n} was confirmed after another file had the name");
                    confirmed.insert(n % TEXTS + 1, (n / TEXTS % 5) as u16);
                }
                Err(e) => {
                    assert_eq!(e.code(), "project-moved", "{e}");
                    refused.get_or_insert((n % TEXTS + 1, (n / TEXTS % 5) as u16));
                }
            }
        }
        (confirmed, refused)
    });
    assert!(!confirmed.is_empty());
    // The first refused label may already be in the file: it is refused where the name was taken while it
    // was written. No later one is.
    let is_whole = |found: &BTreeMap<u32, u16>| {
        confirmed.iter().all(|(text, level)| {
            found.get(text).is_some_and(|found| found == level || refused == Some((*text, *found)))
        })
    };
    let copy = place.path("saved.dissensus");
    store.copy_to(&copy, CopyTarget::New, |_, _| ControlFlow::Continue(())).unwrap();
    store.close().unwrap();
    drop(store);
    let saved = place.labels("saved.dissensus").0;
    assert!(is_whole(&saved));
    // The file that was open has them too, under its remaining name.
    let first = place.labels("first").0;
    assert!(is_whole(&first));
    assert!(place.open("p.dissensus").is_ok(), "and the other one is sound");
}

/// While a reader prevents checkpoints, the file falls behind by any number of attempted
/// checkpoints, even across a crash and another opening. Wherever both are copied, the journal
/// belongs to the file.
#[test]
fn delayed_journal_belongs_to_its_file() {
    let place = Fixture::new();
    let copy_of = |from: &str, to: &str| {
        for ending in ["", "-wal"] {
            std::fs::copy(place.path(&format!("{from}{ending}")), place.path(&format!("{to}{ending}")))
                .unwrap();
        }
    };
    let mut from = "p.dissensus".to_owned();
    for round in 1..=3_u32 {
        let store = place.open(&from).unwrap();
        assert_eq!(store.foreign_journal(), None, "round {round}");
        let reader = rusqlite::Connection::open(place.path(&from)).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM texts", [], |_| Ok(())).unwrap();
        for text in 1..=5 {
            store.append_label(&label(10 * round + text, 1, 1)).unwrap();
            store.checkpoint().unwrap();
        }
        // Like after a crash: file and journal unchanged, in another place.
        let to = format!("round-{round}.dissensus");
        copy_of(&from, &to);
        drop(reader);
        store.close().unwrap();
        from = to;
    }
    let (labels, aside) = place.labels(&from);
    assert_eq!((labels.len(), aside), (15, None));
}

/// The state of the file at one moment while its program had it open, with its journal.
struct Moment {
    file: Vec<u8>,
    journal: Vec<u8>,
    /// How many labels were in the file when the journal started, and how many are in both
    /// together.
    began: usize,
    labels: usize,
}

/// Combines each moment's journal with each moment's file, like a backup of a folder that deletes
/// nothing. The journal is only used if the file is in the state in which that journal started, or
/// in one that it reached while that journal was written back.
#[test]
fn older_journal_does_not_revert_a_newer_file() {
    let place = Fixture::new();
    let (path, journal) = (place.path("p.dissensus"), place.path("p.dissensus-wal"));
    let moment = |began: usize, labels: u32| Moment {
        file: std::fs::read(&path).unwrap(),
        journal: std::fs::read(&journal).unwrap_or_default(),
        began,
        labels: labels as usize,
    };
    let mut moments = Vec::new();
    for round in 0..2_u32 {
        let store = place.open("p.dissensus").unwrap();
        for text in 1..=6 {
            let text = 6 * round + text;
            store.append_label(&label(text, 1, 1)).unwrap();
            let began = ((text - 1) / 3 * 3) as usize;
            moments.push(moment(began, text));
            if text % 3 == 0 {
                store.checkpoint().unwrap();
                moments.push(moment(began, text));
            }
        }
        store.close().unwrap();
        moments.push(moment(6, 6 * round + 6));
    }
    let other = tempfile::tempdir().unwrap();
    let at = other.path().canonicalize().unwrap().join("q.dissensus");
    let put = |file: &[u8], journal: &[u8]| {
        for entry in std::fs::read_dir(other.path()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        std::fs::write(&at, file).unwrap();
        std::fs::write(at.with_extension("dissensus-wal"), journal).unwrap();
    };
    let name = at.to_str().unwrap();
    let mut counts = [0; 2];
    for file in &moments {
        put(&file.file, &[]);
        let alone = place.labels(name).0.len();
        for other in moments.iter().filter(|other| !other.journal.is_empty()) {
            put(&file.file, &other.journal);
            let own = (other.began..=other.labels).contains(&alone);
            let expected = if own { other.labels } else { alone };
            let what = format!("a file of {alone}, a journal from {} to {}", other.began, other.labels);
            match place.read(name) {
                Ok(store) => assert_eq!(labels(&store).len(), expected, "{what}"),
                Err(e) => assert!(!own && e.code() == "project-foreign-journal", "{what}: {e}"),
            }
            let (found, aside) = place.labels(name);
            assert_eq!((found.len(), aside.is_none()), (expected, own), "{what}");
            counts[usize::from(own)] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

/// The copy that `merge` makes before erasing, like every other copy, retains its contents,
/// whatever journal is next to it.
#[test]
fn restored_backup_ignores_the_killed_journal() {
    serve_as_child();
    const TEST: &str = "restored_backup_ignores_the_killed_journal";
    for (in_place, note) in [(true, true), (true, false), (false, true), (false, false)] {
        let place = Fixture::new();
        let mut holder = place.holder(TEST, "p.dissensus");
        for text in 1..=5 {
            holder.label(text, 1).unwrap();
        }
        let copy = place.path("before");
        assert_eq!(holder.ask(&format!("copy {}", copy.display())), "ok");
        for text in 6..=9 {
            holder.label(text, 1).unwrap();
        }
        holder.kill();
        if in_place {
            std::fs::write(place.path("p.dissensus"), std::fs::read(&copy).unwrap()).unwrap();
        } else {
            restore(&copy, &place.path("p.dissensus"));
        }
        if !note {
            std::fs::remove_file(place.path("p.dissensus.lock")).unwrap();
        }
        assert_eq!(place.read("p.dissensus").unwrap_err().code(), "project-foreign-journal");
        let (found, aside) = place.labels("p.dissensus");
        assert_eq!((found.len(), aside.is_some()), (5, true), "in place: {in_place}, note: {note}");
    }
}

/// A journal whose first transaction is the first one with a mark distinguishes its file from other
/// files without a mark.
#[test]
fn unmarked_file_with_a_foreign_journal_is_valid() {
    let place = Fixture::new();
    let unmark = |name: &str| {
        let conn = rusqlite::Connection::open(place.path(name)).unwrap();
        conn.execute("DELETE FROM settings WHERE key = 'journal'", []).unwrap();
    };
    // Two files of an earlier version: one project at two moments, the second with more texts than
    // fit in its first pages.
    std::fs::copy(place.path("p.dissensus"), place.path("later.dissensus")).unwrap();
    let store = place.open("later.dissensus").unwrap();
    for n in 0..300 {
        let text = NewText { external_id: format!("more{n}"), body: "x".repeat(500), ..NewText::default() };
        store.write(move |tx| tx.add_text(&text).map(|_| ())).unwrap();
    }
    store.close().unwrap();
    drop(store);
    unmark("p.dissensus");
    unmark("later.dissensus");
    let base = std::fs::read(place.path("p.dissensus")).unwrap();
    let store = place.open("p.dissensus").unwrap();
    for text in 1..=5 {
        store.append_label(&label(text, 1, 1)).unwrap();
    }
    let journal = std::fs::read(place.path("p.dissensus-wal")).unwrap();
    assert!(journal.len() > 4096);
    store.close().unwrap();
    drop(store);
    let later = std::fs::read(place.path("later.dissensus")).unwrap();
    for (file, own) in [(&base, true), (&later, false)] {
        let other = tempfile::tempdir().unwrap();
        let at = other.path().canonicalize().unwrap().join("q.dissensus");
        std::fs::write(&at, file).unwrap();
        std::fs::write(at.with_extension("dissensus-wal"), &journal).unwrap();
        let name = at.to_str().unwrap();
        match place.read(name) {
            Ok(store) => assert_eq!((labels(&store).len(), own), (5, true)),
            Err(e) => assert_eq!((e.code(), own), ("project-foreign-journal", false), "{e}"),
        }
        let (found, aside) = place.labels(name);
        assert_eq!((found.len(), aside.is_none()), (if own { 5 } else { 0 }, own));
    }
}

/// Leaves the file and the rollback journal of a program that was killed halfway through a
/// transaction: half of it is in the file. It starts with the next mark if `marked`.
fn half_a_transaction(path: &Path, marked: bool) -> (Vec<u8>, Vec<u8>) {
    let conn = rusqlite::Connection::open(path).unwrap();
    let set = |pragma: &str, value: &str| {
        conn.pragma_update_and_check(None, pragma, value, |_| Ok(())).ok();
    };
    set("journal_mode", "DELETE");
    set("cache_size", "1");
    set("cache_spill", "1");
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    if marked {
        let next = "json_extract(value, '$.count') + 1";
        let sql = format!(
            "UPDATE settings SET value = json_set(value, '$.count', {next}, '$.count_again', {next}) WHERE key = 'journal'"
        );
        assert_eq!(conn.execute(&sql, []).unwrap(), 1);
    }
    conn.execute("UPDATE annotators SET name = 'half'", []).unwrap();
    for n in 0..200 {
        let (name, body) = (format!("half{n}"), "y".repeat(3000));
        conn.execute("INSERT INTO texts (external_id, body, metadata) VALUES (?1, ?2, '{}')", (name, body))
            .unwrap();
    }
    let journal = path.with_extension("dissensus-journal");
    (std::fs::read(path).unwrap(), std::fs::read(journal).unwrap())
}

/// A rollback journal would restore the state before that journal started in any file.
#[test]
fn rollback_journal_affects_only_its_file() {
    let place = Fixture::new();
    let journal = |name: &str| place.path(&format!("{name}.dissensus-journal"));
    let give = |name: &str, texts: std::ops::RangeInclusive<u32>| {
        let store = place.open(&format!("{name}.dissensus")).unwrap();
        for text in texts {
            store.append_label(&label(text, 1, 1)).unwrap();
        }
        store.close().unwrap();
    };
    give("p", 1..=3);
    std::fs::copy(place.path("p.dissensus"), place.path("unmarked.dissensus")).unwrap();
    std::fs::copy(place.path("p.dissensus"), place.path("marked.dissensus")).unwrap();
    give("p", 4..=9);
    let whole = std::fs::read(place.path("p.dissensus")).unwrap();
    let (_, unmarked) = half_a_transaction(&place.path("unmarked.dissensus"), false);
    let (half, marked) = half_a_transaction(&place.path("marked.dissensus"), true);
    // What a program leaves that is killed while creating a project: there were no pages before.
    let mut made = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    for number in [0_u32, 7, 0, 512, 4096] {
        made.extend(number.to_be_bytes());
    }
    made.resize(512, 0);
    for (what, file, left, own) in [
        ("a project that was being made", &whole, &made, false),
        ("an older state", &whole, &marked, false),
        ("an older state, without its mark", &whole, &unmarked, false),
        ("what is no journal", &whole, &b"none at all".to_vec(), false),
        ("its own", &half, &marked, true),
    ] {
        std::fs::write(place.path("p.dissensus"), file).unwrap();
        std::fs::write(journal("p"), left).unwrap();
        let error = place.read("p.dissensus").unwrap_err();
        let code = if own { "project-unfinished" } else { "project-foreign-journal" };
        assert_eq!(error.code(), code, "{what}: {error}");
        assert!(std::fs::read(place.path("p.dissensus")).unwrap() == *file, "{what}: reading writes nothing");
        assert!(std::fs::read(journal("p")).unwrap() == *left, "{what}");
        let (found, aside) = place.labels("p.dissensus");
        assert_eq!(found.len(), if own { 3 } else { 9 }, "{what}");
        assert_eq!(aside.is_none(), own, "{what}");
        assert!(!journal("p").exists(), "{what}");
        if let Some(aside) = aside {
            assert!(std::fs::read(aside).unwrap() == *left, "{what}: it is still there");
        }
        assert_eq!(place.labels("p.dissensus").1, None, "{what}: the second opening finds nothing");
    }
}

/// A program that is killed while creating a project leaves the complete project or none, and
/// nothing that could be treated as a part of another file of that name.
#[test]
fn project_creation_is_atomic() {
    if let Some(folder) = std::env::var_os(CHILD) {
        println!("child: begins");
        for n in 0..10_000 {
            Store::create(Path::new(&folder).join(format!("p{n}.dissensus"))).unwrap().close().unwrap();
        }
    }
    for round in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "project_creation_is_atomic", "--nocapture", "--test-threads=1"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("child: begins")));
        std::thread::sleep(Duration::from_millis(40 + 7 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            assert!(!(name.starts_with('p') && name.ends_with("-journal")), "{name} is left");
            if name.starts_with('p') && name.ends_with(".dissensus") {
                Store::open_reader(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
                Store::open(&path).unwrap().close().unwrap();
            }
        }
    }
}

/// Confirmed writes are in the file that the path used for opening leads to.
#[test]
fn no_label_is_confirmed_through_a_changed_link() {
    let place = Fixture::new();
    std::fs::copy(place.path("p.dissensus"), place.path("other.dissensus")).unwrap();
    std::fs::create_dir(place.path("home/other")).unwrap();
    std::fs::copy(place.path("p.dissensus"), place.path("home/other/p.dissensus")).unwrap();
    let before = std::fs::read(place.path("other.dissensus")).unwrap();
    let aim = |link: &str, at: &Path| {
        let new = place.path("home/new");
        std::os::unix::fs::symlink(at, &new).unwrap();
        std::fs::rename(new, place.path(link)).unwrap();
    };
    // The file itself, or a folder on the way to it; then the new target of the link.
    for (n, link, name, home, elsewhere) in [
        (1, "home/link.dissensus", "home/link.dissensus", "p.dissensus", "other.dissensus"),
        (2, "home/folder", "home/folder/p.dissensus", "", "home/other"),
    ] {
        aim(link, &place.path(home));
        let store = place.open(name).unwrap();
        store.append_label(&label(n, 1, 1)).unwrap();
        let refused = || {
            let error = store.append_label(&label(90, 1, 2)).unwrap_err();
            assert_eq!(error.code(), "project-link-changed", "{error}");
            assert!(error.to_string().contains(&place.path("p.dissensus").display().to_string()), "{error}");
            assert_eq!(store.must_be_in_place().unwrap_err().code(), "project-link-changed");
        };
        aim(link, &place.path(elsewhere));
        refused();
        std::fs::remove_file(place.path(link)).unwrap();
        refused();
        aim(link, &place.path(home));
        store.append_label(&label(n + 10, 1, 1)).unwrap();
        aim(link, &place.path(elsewhere));
        store.close().unwrap();
        assert_eq!(std::fs::read(place.path("other.dissensus")).unwrap(), before);
    }
    assert!(place.names().iter().all(|name| !name.contains("-wal")), "closed whole: {:?}", place.names());
    assert_eq!(place.labels("p.dissensus"), ([1, 2, 11, 12].map(|text| (text, 1)).into(), None));
}

/// Side files of an open project are overwritten and deleted together with it.
#[test]
fn side_file_names_are_refused_for_projects() {
    let place = Fixture::new();
    let store = place.open("p.dissensus").unwrap();
    for ending in ["-wal", "-shm", "-journal", ".lock"] {
        let path = place.path(&format!("p.dissensus{ending}"));
        let before = std::fs::read(&path).ok();
        let copied = store.copy_to(&path, CopyTarget::Replace, |_, _| ControlFlow::Continue(()));
        assert_eq!(copied.unwrap_err().code(), "project-side-file", "{ending}");
        assert_eq!(std::fs::read(&path).ok(), before, "{ending}");
        let made = Store::create(place.path(&format!("none.dissensus{ending}")));
        assert_eq!(made.unwrap_err().code(), "project-side-file", "{ending}");
    }
    store.append_label(&label(1, 1, 1)).unwrap();
    store.close().unwrap();
    assert_eq!(place.labels("p.dissensus").0.len(), 1);
}
