//! Packets, submissions and copies that are encrypted with a passphrase, by the command.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::{files, processes};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

/// How an encrypted file begins.
const MAGIC: &[u8] = b"age-encryption.org/v1\n";

fn study(bench: &Bench) {
    bench.file("texts.csv", files::texts(4));
    bench.file("words.txt", "quiet harbour seven\n");
    bench.file("other.txt", "another one\n");
    bench.ok(["project", "new", "S.dissensus"]);
    bench.ok(["data", "import", "S.dissensus", "texts.csv"]);
    bench.ok(["data", "question", "S.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
}

fn assign(bench: &Bench, more: &[&str]) {
    let assign = ["study", "assign", "S.dissensus", "--annotators", "ada,ben", "--per-text", "2"];
    bench.ok(assign.iter().chain(more));
}

/// The code of the error of the only file of a merge.
fn merge_code(bench: &Bench, arguments: &[&str]) -> String {
    let merged = bench.run(["study", "merge", "S.dissensus", "--json"].iter().chain(arguments));
    let report: Value = serde_json::from_str(&merged.out).unwrap();
    report["files"][0]["problems"][0]["problem"]["code"].as_str().unwrap_or_default().to_owned()
}

fn is_encrypted(path: &Path) -> bool {
    std::fs::read(path).unwrap().starts_with(MAGIC)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn each_packet_has_its_own_passphrase() {
    let bench = Bench::without_encoder();
    study(&bench);
    assign(&bench, &["--as", "locked-file", "--out", "packets"]);
    let folder = bench.path("packets");
    assert_eq!(names_in(&folder), ["ada.dissensus.age", "ben.dissensus.age", "passphrases.csv"]);
    assert!(is_encrypted(&folder.join("ada.dissensus.age")));
    let list = std::fs::read_to_string(folder.join("passphrases.csv")).unwrap();
    let passphrases: Vec<&str> = list.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1).collect();
    assert_ne!(passphrases[0], passphrases[1]);
    bench.file("ada.txt", passphrases[0]);
    let decrypt = ["project", "decrypt", "packets/ada.dissensus.age", "ada.dissensus", "--passphrase-file"];
    let refused = bench.refused(decrypt.iter().chain(&["words.txt"]));
    assert!(refused.contains("not the passphrase"), "{refused}");
    assert!(!bench.path("ada.dissensus").exists());
    bench.ok(decrypt.iter().chain(&["ada.txt"]));
    assert_eq!(bench.json(["study", "status", "ada.dissensus", "--texts"]).as_array().unwrap().len(), 4);
    // It is not written over what was labelled since.
    let refused = bench.refused(decrypt.iter().chain(&["ada.txt"]));
    assert!(refused.contains("exists already"), "{refused}");
    // Written again, they have the same passphrases.
    let again = ["study", "assign", "S.dissensus", "--write-again", "--as", "locked-file", "--out", "again"];
    bench.ok(again);
    assert_eq!(std::fs::read_to_string(bench.path("again/passphrases.csv")).unwrap(), list);
    assert_eq!(names_in(bench.folder()).iter().filter(|name| name.ends_with(".part")).count(), 0);
}

#[test]
fn encrypted_work_comes_back() {
    let bench = Bench::without_encoder();
    study(&bench);
    assign(&bench, &["--passphrase-file", "words.txt", "--out", "packets"]);
    assert_eq!(names_in(&bench.path("packets")), ["ada.dissensus.age", "ben.dissensus.age"]);
    for person in ["ada", "ben"] {
        let (locked, open) = (format!("packets/{person}.dissensus.age"), format!("{person}.dissensus"));
        bench.ok(["project", "decrypt", &locked, &open, "--passphrase-file", "words.txt"]);
        bench.ok(["label", "record", &open, "--annotator", person, "--text-id", "t1", "--value", "2"]);
        let file = format!("{person}.handin.age");
        bench.ok(["study", "hand-in", &open, &file, "--passphrase-file", "words.txt"]);
        assert!(is_encrypted(&bench.path(&file)));
    }
    // An earlier submission is replaced only with --force, any other encrypted file never.
    let hand_in = ["study", "hand-in", "ada.dissensus", "--passphrase-file", "words.txt"];
    bench.refused(hand_in.iter().chain(&["ada.handin.age"]));
    bench.ok(hand_in.iter().chain(&["ada.handin.age", "--force"]));
    bench.refused(hand_in.iter().chain(&["packets/ada.dissensus.age", "--force"]));

    // Without a passphrase nobody is asked where nobody can answer.
    let refused = bench.refused(["study", "merge", "S.dissensus", "ada.handin.age"]);
    assert!(refused.contains("--passphrase-file"), "{refused}");
    let merge = ["study", "merge", "S.dissensus", "ada.handin.age", "--passphrase-file"];
    bench.refused(merge.iter().chain(&["other.txt"]));
    let report = bench.json(merge.iter().chain(&["words.txt"]));
    assert_eq!(report["files"][0]["annotator"], "ada");
    assert_eq!(report["files"][0]["file"], "ada.handin.age");

    // From a folder: without the passphrase, with another one, cut off, and as it was sent.
    let drop = bench.path("drop");
    std::fs::create_dir(&drop).unwrap();
    let whole = std::fs::read(bench.path("ben.handin.age")).unwrap();
    std::fs::write(drop.join("ben.handin.age"), &whole[..whole.len() - 1]).unwrap();
    let collect = ["study", "collect", "S.dissensus", "drop"];
    let refused = bench.run(collect);
    assert!(refused.code != Some(0) && refused.out.contains("is encrypted"), "{}", refused.out);
    let refused = bench.run(collect.iter().chain(&["--passphrase-file", "other.txt"]));
    assert!(refused.code != Some(0) && refused.out.contains("not the passphrase"), "{}", refused.out);
    let waiting = bench.ok(collect.iter().chain(&["--passphrase-file", "words.txt"]));
    assert!(waiting.contains("not complete yet"), "{waiting}");
    std::fs::write(drop.join("ben.handin.age"), &whole).unwrap();
    let merged = bench.ok(collect.iter().chain(&["--passphrase-file", "words.txt"]));
    assert!(merged.contains("handed in by ben"), "{merged}");
    let merged = bench.ok(collect.iter().chain(&["--passphrase-file", "words.txt"]));
    assert!(merged.contains("Nothing new"), "{merged}");
    let info = bench.json(["project", "info", "S.dissensus"]);
    assert_eq!(info["labels"], 2);
}

#[test]
fn folder_of_submissions_merges_nothing_else_that_is_encrypted() {
    let bench = Bench::without_encoder();
    study(&bench);
    assign(&bench, &["--passphrase-file", "words.txt", "--out", "packets"]);
    bench.ok(["project", "copy", "S.dissensus", "copy.dissensus.age", "--passphrase-file", "words.txt"]);
    for encrypted in ["copy.dissensus.age", "packets/ada.dissensus.age"] {
        let drop = bench.path("drop");
        std::fs::create_dir(&drop).unwrap();
        std::fs::copy(bench.path(encrypted), drop.join("ada.handin.age")).unwrap();
        let collect = ["study", "collect", "S.dissensus", "drop", "--passphrase-file", "words.txt"];
        let refused = bench.run(collect);
        assert_ne!(refused.code, Some(0), "{encrypted}");
        assert!(refused.out.contains("neither a submission"), "{encrypted}: {}", refused.out);
        std::fs::remove_dir_all(drop).unwrap();
    }
}

#[test]
fn encrypted_copy_is_the_project() {
    let bench = Bench::without_encoder();
    study(&bench);
    let copy = ["project", "copy", "S.dissensus", "copy.dissensus.age", "--passphrase-file", "words.txt"];
    let before = names_in(bench.folder()).len();
    bench.ok(copy);
    assert!(is_encrypted(&bench.path("copy.dissensus.age")));
    assert_eq!(names_in(bench.folder()).len(), before + 1, "nothing else stays");
    bench.refused(copy);
    bench.ok(copy.iter().chain(&["--force"]));
    // Another file is not replaced, and the folder of runs is not encrypted.
    let other = ["project", "copy", "S.dissensus", "texts.csv", "--force", "--passphrase-file", "words.txt"];
    bench.refused(other);
    bench.refused(copy.iter().chain(&["--force", "--runs"]));
    // It is no project until it is decrypted.
    let refused = bench.refused(["project", "info", "copy.dissensus.age"]);
    assert!(refused.contains("project decrypt"), "{refused}");
    assert_eq!(merge_code(&bench, &["copy.dissensus.age", "--passphrase-file", "words.txt"]), "");
    let decrypt = ["project", "decrypt", "copy.dissensus.age", "back.dissensus"];
    let done = bench.json(decrypt.iter().chain(&["--passphrase-file", "words.txt"]));
    assert_eq!(done["bytes"], std::fs::metadata(bench.path("back.dissensus")).unwrap().len());
    let [back, here] =
        ["back", "S"].map(|name| bench.json(["project", "info", &format!("{name}.dissensus")]));
    assert_eq!(back["texts"], here["texts"]);
}

#[test]
fn forgotten_passphrase_costs_only_the_file_that_it_opens() {
    let bench = Bench::without_encoder();
    study(&bench);
    assign(&bench, &["--passphrase-file", "words.txt", "--out", "packets"]);
    let hand_in = |open: &str, file: &str, words: &str| {
        bench.ok(["study", "hand-in", open, file, "--passphrase-file", words]);
    };
    let open_and_label = |packet: &str, person: &str, text: &str, words: &str| {
        let open = format!("{person}.dissensus");
        bench.ok(["project", "decrypt", packet, &open, "--passphrase-file", words]);
        bench.ok(["label", "record", &open, "--annotator", person, "--text-id", text, "--value", "2"]);
    };
    open_and_label("packets/ada.dissensus.age", "ada", "t1", "words.txt");
    hand_in("ada.dissensus", "first.handin.age", "words.txt");
    // From here on, nobody remembers words.txt: Ada hands in again, and Ben gets his packet again.
    hand_in("ada.dissensus", "second.handin.age", "other.txt");
    let again = ["study", "assign", "S.dissensus", "--write-again", "--out", "again", "--passphrase-file"];
    bench.ok(again.iter().chain(&["other.txt"]));
    open_and_label("again/ben.dissensus.age", "ben", "t2", "other.txt");
    hand_in("ben.dissensus", "ben.handin.age", "other.txt");
    let merge = |file: &str, words: &str| {
        let report = bench.json(["study", "merge", "S.dissensus", file, "--passphrase-file", words]);
        report["files"][0]["new"].as_u64().unwrap()
    };
    assert_eq!((merge("second.handin.age", "other.txt"), merge("ben.handin.age", "other.txt")), (1, 1));
    // Somebody finds it after all: nothing comes twice.
    assert_eq!(merge("first.handin.age", "words.txt"), 0);
    assert_eq!(bench.json(["project", "info", "S.dissensus"])["labels"], 2);
}

#[test]
fn killed_encryption_leaves_a_whole_file_or_none() {
    let bench = Bench::without_encoder();
    study(&bench);
    let copy = |file: &str| {
        ["project", "copy", "S.dissensus", file, "--passphrase-file", "words.txt"].map(str::to_owned)
    };
    let begin = Instant::now();
    bench.ok(copy("last.age"));
    let (usual, mut killed) = (begin.elapsed(), 0);
    for nth in 0..10 {
        let mut command = bench.command(copy(&format!("{nth}.age")));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(usual * nth / 10);
        if !matches!(child.try_wait(), Ok(Some(_))) {
            processes::kill(child.id());
            killed += 1;
        }
        child.wait().unwrap();
    }
    assert!(killed >= 2, "only {killed} were killed at work");
    let names = names_in(bench.folder());
    let copies: Vec<&String> = names.iter().filter(|name| name.ends_with(".age")).collect();
    for name in copies {
        let open = format!("{name}.dissensus");
        bench.ok(["project", "decrypt", name, &open, "--passphrase-file", "words.txt"]);
        assert_eq!(bench.json(["project", "info", &open])["texts"], 4);
    }
    assert_eq!(bench.json(["project", "info", "S.dissensus"])["texts"], 4);
}

#[test]
fn encrypted_table_is_imported() {
    let bench = Bench::without_encoder();
    study(&bench);
    // Made by another program: see tools/fixtures/age.mjs.
    let fixture = include_bytes!("../../crates/files/tests/fixtures/typage-table.age");
    std::fs::write(bench.path("more.csv.age"), fixture).unwrap();
    let import = ["data", "import", "S.dissensus", "more.csv.age", "--passphrase-file"];
    bench.refused(import.iter().chain(&["other.txt"]));
    let refused = bench.refused(import.iter().chain(&["words.txt", "--skip-bad"]));
    assert!(refused.contains("project decrypt"), "{refused}");
    bench.ok(import.iter().chain(&["words.txt"]));
    assert_eq!(bench.json(["project", "info", "S.dissensus"])["texts"], 5);
}

#[test]
fn passphrase_is_no_empty_line_and_no_page_is_encrypted_twice() {
    let bench = Bench::without_encoder();
    study(&bench);
    bench.file("empty.txt", "\nsecond line\n");
    let copy = ["project", "copy", "S.dissensus", "c.age", "--passphrase-file", "empty.txt"];
    let refused = bench.refused(copy);
    assert!(refused.contains("first line is empty"), "{refused}");
    assert!(!bench.path("c.age").exists());
    let refused = bench.refused(["project", "copy", "S.dissensus", "c.age", "--encrypt"]);
    assert!(refused.contains("DISSENSUS_PASSPHRASE"), "{refused}");
    let assign = ["study", "assign", "S.dissensus", "--annotators", "ada", "--per-text", "1", "--as", "page"];
    let refused = bench.refused(assign.iter().chain(&["--out", "p", "--passphrase-file", "words.txt"]));
    assert!(refused.contains("locked-page"), "{refused}");
    assert_eq!(bench.json(["project", "info", "S.dissensus"])["annotators"], 0);
}

#[test]
fn empty_variable_is_no_passphrase() {
    let bench = Bench::without_encoder();
    study(&bench);
    std::fs::create_dir(bench.path("drop")).unwrap();
    let with_variable = |arguments: &[&str], words: &str| {
        bench.command(arguments).env("DISSENSUS_PASSPHRASE", words).output().unwrap()
    };
    let collect = ["study", "collect", "S.dissensus", "drop"];
    let done = with_variable(&collect, "");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(!with_variable(&collect, " ").status.success(), "a blank one is a mistake");
    let copy = with_variable(&["project", "copy", "S.dissensus", "c.age", "--encrypt"], "");
    let refused = String::from_utf8_lossy(&copy.stderr).into_owned();
    assert!(!copy.status.success() && refused.contains("a passphrase is needed"), "{refused}");
}
