//! `project backup`: what a script sees, two commands at once, a lost file, and a full disk.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::disk::SmallDisk;
use dissensus_tests::{files, processes, programs};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

fn project() -> Bench {
    let bench = Bench::without_encoder();
    bench.file("labels.csv", files::labels(40, 3));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--question", "rude"]);
    bench
}

fn list(bench: &Bench) -> Vec<Value> {
    bench.json(["project", "backup", "list", "P.dissensus"])["backups"].as_array().unwrap().clone()
}

fn time_of(backup: &Value) -> String {
    backup["id"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
}

/// The names in the folder of the only project's backups.
fn folder(bench: &Bench) -> Vec<PathBuf> {
    let mut projects = fs::read_dir(bench.path("home/backups")).unwrap();
    let of_project = projects.next().unwrap().unwrap().path();
    fs::read_dir(of_project).unwrap().map(|file| file.unwrap().path()).collect()
}

#[test]
fn backups_are_made_compared_restored_and_deleted() {
    let bench = project();
    let made = bench.json(["project", "backup", "make", "P.dissensus"]);
    assert_eq!((&made["labels"], &made["automatic"]), (&120.into(), &false.into()));
    let nothing = bench.ok(["project", "backup", "changes", "P.dissensus"]);
    assert!(nothing.contains("Nothing has changed since the backup of"), "{nothing}");
    bench.ok(["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t1", "--value", "3"]);
    let changes = bench.json(["project", "backup", "changes", "P.dissensus", &time_of(&made)]);
    assert_eq!(
        (&changes["answers"][0]["annotator"], &changes["answers"][0]["added"]),
        (&"ana".into(), &1.into())
    );
    let restored = bench.json(["project", "backup", "restore", "P.dissensus"]);
    let restored = restored["path"].as_str().unwrap();
    assert_eq!(bench.json(["project", "info", restored])["labels"], 120);
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["labels"], 121);
    // The restored file receives what came later.
    bench.ok(["study", "merge", restored, "P.dissensus", "--whole-copy", "--yes"]);
    assert_eq!(bench.json(["project", "info", restored])["labels"], 121);
    let gone = bench.json(["project", "backup", "delete", "P.dissensus", &time_of(&made)]);
    assert_eq!(gone["backup"]["id"], made["id"]);
    assert!(list(&bench).is_empty());
    let refused = bench.refused(["project", "backup", "restore", "P.dissensus"]);
    assert!(refused.contains("there is no backup of this file yet"), "{refused}");
}

#[test]
fn two_commands_back_up_at_once() {
    let bench = project();
    let make = || bench.command(["project", "backup", "make", "P.dissensus"]).spawn().unwrap();
    let running: Vec<_> = (0..3).map(|_| make()).collect();
    for mut one in running {
        assert!(one.wait().unwrap().success());
    }
    assert_eq!(list(&bench).len(), 3);
    assert_eq!(folder(&bench).len(), 7, "three backups, three descriptions, the lock");
}

/// Starts a command as often as this and kills it, later each time; returns how many were killed at work.
fn kill_each(bench: &Bench, times: u32, arguments: impl Fn(u32) -> Vec<String>) -> u32 {
    let begin = Instant::now();
    bench.ok(arguments(times));
    let usual = begin.elapsed();
    let mut killed = 0;
    for nth in 0..times {
        let mut command = bench.command(arguments(nth));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(usual * nth / times);
        if !matches!(child.try_wait(), Ok(Some(_))) {
            processes::kill(child.id());
            killed += 1;
        }
        child.wait().unwrap();
    }
    killed
}

#[test]
fn killed_backups_and_restored_files_are_whole_or_absent() {
    let bench = project();
    let arguments = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect();
    let killed = kill_each(&bench, 16, |_| arguments(&["project", "backup", "make", "P.dissensus"]));
    assert!(killed >= 4, "only {killed} were killed at work");
    let made = list(&bench);
    assert!(!made.is_empty());
    for (nth, backup) in made.iter().enumerate() {
        assert_eq!(backup["labels"], 120);
        let to = format!("{nth}.dissensus");
        bench.ok(["project", "backup", "restore", "P.dissensus", &time_of(backup), "--to", &to]);
        assert_eq!(bench.json(["project", "info", &to])["labels"], 120);
    }
    let restored = |nth: u32| format!("restored-{nth}.dissensus");
    let restore = |nth| arguments(&["project", "backup", "restore", "P.dissensus", "--to", &restored(nth)]);
    let killed = kill_each(&bench, 10, restore);
    assert!(killed >= 2, "only {killed} were killed at work");
    for file in (0..=10).map(restored).filter(|file| bench.path(file).exists()) {
        assert_eq!(bench.json(["project", "info", &file])["labels"], 120, "{file}");
    }
    // What was left of a backup is removed with the next one, once it is a few seconds old.
    let is_part = |file: &PathBuf| file.to_string_lossy().ends_with(".part");
    for part in folder(&bench).into_iter().filter(is_part) {
        let old = SystemTime::now() - Duration::from_mins(1);
        fs::File::open(part).unwrap().set_modified(old).unwrap();
    }
    bench.ok(["project", "backup", "make", "P.dissensus"]);
    assert!(!folder(&bench).iter().any(is_part));
    assert_eq!(folder(&bench).len(), 2 * list(&bench).len() + 1, "each has its description; and the lock");
}

#[test]
fn lost_and_damaged_files_come_back() {
    let bench = project();
    bench.ok(["project", "backup", "make", "P.dissensus"]);
    fs::write(bench.path("P.dissensus"), b"nothing of a project").unwrap();
    let restored = bench.json(["project", "backup", "restore", "P.dissensus"]);
    assert_eq!(bench.json(["project", "info", restored["path"].as_str().unwrap()])["labels"], 120);
    fs::remove_file(bench.path("P.dissensus")).unwrap();
    let outcome = bench.run(["project", "backup", "list", "P.dissensus"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.err.contains("these are the backups of this path"), "{}", outcome.err);
    bench.ok(["project", "backup", "restore", "P.dissensus", "--to", "P.dissensus"]);
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["labels"], 120);
    // A path without backups has the error of opening it.
    let missing = bench.refused(["project", "backup", "list", "missing.dissensus"]);
    assert!(missing.contains("there is no project at"), "{missing}");
}

#[test]
fn full_disk_leaves_earlier_backups_and_nothing_half_written() {
    let bench = project();
    fs::create_dir_all(bench.path("home/backups")).unwrap();
    let size = fs::metadata(bench.path("P.dissensus")).unwrap().len();
    // Without the right to mount, a limit on the size of files reaches the same code.
    let disk = SmallDisk::mount(&bench.path("home/backups"), 3 * size).ok();
    bench.ok(["project", "backup", "make", "P.dissensus"]);
    let before = folder(&bench);
    let message = match &disk {
        Some(disk) => {
            let mut filler = fs::File::create(disk.path("filler")).unwrap();
            while filler.write_all(&[0; 4096]).is_ok() {}
            bench.refused(["project", "backup", "make", "P.dissensus"])
        }
        None => limited(&bench, size / 2 / 512),
    };
    assert!(["full", "space", "too large"].iter().any(|word| message.contains(word)), "{message}");
    if let Some(disk) = &disk {
        fs::remove_file(disk.path("filler")).unwrap();
    }
    assert_eq!(folder(&bench), before);
    let restored = bench.json(["project", "backup", "restore", "P.dissensus"]);
    assert_eq!(bench.json(["project", "info", restored["path"].as_str().unwrap()])["labels"], 120);
    bench.ok(["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t1", "--value", "3"]);
}

/// Makes a backup while no file may have more than so many blocks of 512 bytes.
fn limited(bench: &Bench, blocks: u64) -> String {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let output = std::process::Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(programs::command())
        .args(["project", "backup", "make", "P.dissensus"])
        .env("DISSENSUS_HOME", bench.path("home"))
        .current_dir(bench.folder())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}
