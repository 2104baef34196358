//! Bad input gets a clear error, and nothing is lost. The messages themselves are in `snapshots/`.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::disk::SmallDisk;
use dissensus_tests::{files, processes, programs, project_file};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A project with a few labels.
fn project() -> Bench {
    filled(Bench::without_encoder())
}

fn filled(bench: Bench) -> Bench {
    bench.file("labels.csv", files::labels(10, 3));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--question", "rude"]);
    bench
}

/// Runs a command that must be refused, and checks that neither the project nor
/// any file next to it has changed.
fn refused(bench: &Bench, arguments: &[&str]) -> String {
    let before = snapshot(bench);
    let message = bench.refused(arguments);
    assert!(snapshot(bench) == before, "dissensus {arguments:?} was refused and changed something");
    message
}

/// Names and contents of all files in the folder but the command's home.
fn snapshot(bench: &Bench) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(bench.folder())
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// The messages, each under the attempt that caused it.
fn report(bench: &Bench, refuse: impl Fn(&Bench, &[&str]) -> String, tries: &[&[&str]]) -> String {
    let mut report = String::new();
    for arguments in tries {
        let message = refuse(bench, arguments);
        report.push_str(&format!("$ dissensus {}\n{message}\n\n", arguments.join(" ")));
    }
    report.trim_end().to_owned()
}

#[test]
fn invalid_files_are_refused() {
    let bench = project();
    bench.file("empty.csv", "");
    bench.file("no-text.csv", "id,label,annotator\n1,2,ana\n");
    bench.file("twice.csv", "text,text\na,b\n");
    bench.file("header.csv", "text_id,text,annotator_id,label\n");
    bench.file("texts.csv", "text_id,text\nx1,hello\n");
    bench.file("no-annotator.csv", "text_id,text,label\n1,hello,2\n");
    bench.file("table.xlsx", b"PK\x03\x04rest");
    // Half a surrogate pair.
    bench.file("utf16.csv", b"\xff\xfet\0e\0x\0t\0\n\0\x00\xd8a\0");
    fs::create_dir(bench.path("folder.csv")).unwrap();
    let import = |file: &'static str| ["data", "import", "P.dissensus", file];
    insta::assert_snapshot!(report(
        &bench,
        refused,
        &[
            &import("absent.csv"),
            &import("folder.csv"),
            &import("empty.csv"),
            &["data", "import", "P.dissensus", "header.csv", "--question", "new"],
            &import("no-text.csv"),
            &import("twice.csv"),
            &import("no-annotator.csv"),
            &import("table.xlsx"),
            &import("utf16.csv"),
            &["data", "import", "P.dissensus", "texts.csv", "--question", "kind", "--levels", "no,yes"],
            &["data", "import", "P.dissensus", "labels.csv", "--label", "rating"],
            &["data", "import", "P.dissensus", "labels.csv", "--attributes", "gendre"],
        ]
    ));
}

#[test]
fn invalid_rows_are_refused() {
    let bench = project();
    bench.file(
        "level.csv",
        "text_id,text,annotator_id,label\nx1,fine,ana,3\nx2,also fine,ana,9\nx3,fine too,ana,1\n",
    );
    bench.file("fields.csv", "text_id,text,annotator_id,label\nx1,fine,ana,3\nx2,too few\n");
    bench.file("quotes.csv", "text_id,text,annotator_id,label\nx1,fine,ana,3\nx2,\"never closed,ana,3\n");
    bench.file("blank.csv", "text_id,text,annotator_id,label\n,fine,ana,3\nx2,,ana,3\nx3,fine,,3\n");
    bench.file("changed.csv", "text_id,text,annotator_id,label\nt1,another body,ana,3\n");
    bench.file("bad.jsonl", "{\"text_id\":\"x1\",\"text\":\"fine\",\"annotator_id\":\"ana\",\"label\":3}\n{\"text_id\":\"x2\",\n[1,2]\n");
    bench.file("all-bad.csv", "text_id,text,annotator_id,label\nx1,fine,,3\nx2,fine too,,2\n");
    let import = |file: &'static str| ["data", "import", "P.dissensus", file, "--question", "rude"];
    insta::assert_snapshot!(report(
        &bench,
        refused,
        &[
            &import("level.csv"),
            &import("fields.csv"),
            &import("quotes.csv"),
            &import("blank.csv"),
            &import("changed.csv"),
            &import("bad.jsonl"),
            &["data", "import", "P.dissensus", "all-bad.csv", "--question", "new"],
            &["data", "import", "P.dissensus", "all-bad.csv", "--question", "new", "--skip-bad"],
        ]
    ));
}

#[test]
fn bad_row_is_located_and_can_be_skipped() {
    let bench = project();
    let csv =
        "text_id,text,annotator_id,label\nx1,fine,ana,3\nx2,\"a level, outside\",ana,9\nx3,fine too,ana,1\n";
    bench.file("level.csv", csv);
    let message = refused(&bench, &["data", "import", "P.dissensus", "level.csv", "--question", "rude"]);
    assert!(message.contains("row 2") && message.contains("label") && message.contains('9'), "{message}");

    bench.ok(["data", "import", "P.dissensus", "level.csv", "--question", "rude", "--skip-bad"]);
    let info = bench.json(["project", "info", "P.dissensus"]);
    assert_eq!((info["texts"].as_u64(), info["labels"].as_u64()), (Some(12), Some(32)), "{info}");
    let rejected = snapshot(&bench).into_iter().find(|(name, _)| name.contains("reject")).unwrap();
    let rejected = String::from_utf8(rejected.1).unwrap();
    let mut reader = csv::Reader::from_reader(rejected.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 1, "{rejected}");
    assert!(
        rows[0].iter().any(|cell| cell.contains("\"a level, outside\",ana,9")),
        "the row itself: {rejected}"
    );
    assert!(rows[0].iter().any(|cell| cell == "2"), "its number: {rejected}");
}

#[test]
fn invalid_utf_8_is_located_by_its_byte() {
    let bench = project();
    let mut bytes = b"\xEF\xBB\xBFtext_id,text,annotator_id,label\nx1,fine,ana,3\nx2,br".to_vec();
    let offset = bytes.len();
    bytes.extend(b"\xffken,ana,3\n");
    bench.file("bytes.csv", bytes);
    let message = refused(&bench, &["data", "import", "P.dissensus", "bytes.csv", "--question", "rude"]);
    assert!(message.contains(&offset.to_string()), "byte {offset} is not named: {message}");
    insta::assert_snapshot!(message);
}

#[test]
fn line_of_200_megabytes_is_refused_without_buffering() {
    let bench = project();
    let path = bench.path("line.csv");
    let mut file = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    file.write_all(b"text_id,text,annotator_id,label\nx1,").unwrap();
    let part = vec![b'a'; 1 << 20];
    for _ in 0..200 {
        file.write_all(&part).unwrap();
    }
    file.write_all(b",ana,3\n").unwrap();
    file.into_inner().unwrap();
    let before = fs::read(bench.path("P.dissensus")).unwrap();
    let mut child = bench
        .command(["data", "import", "P.dissensus", "line.csv", "--question", "rude"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let peak = processes::peak_memory(&mut child);
    let output = child.wait_with_output().unwrap();
    let message = bench.without_paths(&String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(fs::read(bench.path("P.dissensus")).unwrap() == before, "the project has changed");
    if cfg!(target_os = "linux") {
        let peak = peak.expect("Linux tells the memory of a process");
        assert!(peak < 100 << 20, "{} MiB for a line of 200 MB", peak >> 20);
    }
    insta::assert_snapshot!(message);
}

#[test]
fn other_files_are_refused_as_projects() {
    let bench = project();
    bench.file("text.dissensus", "these are only words");
    bench.file("empty.dissensus", "");
    fs::create_dir(bench.path("folder.dissensus")).unwrap();
    let newer = bench.path("newer.dissensus");
    fs::copy(bench.path("P.dissensus"), &newer).unwrap();
    project_file::make_newer(&newer, 7).unwrap();
    let cut = fs::read(bench.path("P.dissensus")).unwrap();
    bench.file("cut.dissensus", &cut[..cut.len() / 2]);
    let label = |file| ["label", "record", file, "--annotator", "ana", "--text-id", "t1", "--value", "3"];
    insta::assert_snapshot!(report(
        &bench,
        refused,
        &[
            &["project", "info", "absent.dissensus"],
            &label("absent.dissensus"),
            &label("text.dissensus"),
            &label("empty.dissensus"),
            &label("folder.dissensus"),
            &label("newer.dissensus"),
            &["analyse", "agreement", "newer.dissensus"],
            &label("cut.dissensus"),
            &["project", "new", "P.dissensus"],
            &["project", "sample", "P.dissensus"],
        ]
    ));
}

#[test]
fn corrupt_page_is_reported_and_nothing_changes() {
    let bench = project();
    project_file::damage_pages(&bench.path("P.dissensus"), 1).unwrap();
    let tries: [&[&str]; 3] = [
        &["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t1", "--value", "3"],
        &["analyse", "agreement", "P.dissensus"],
        &["data", "import", "P.dissensus", "labels.csv", "--question", "rude"],
    ];
    for arguments in tries {
        let message = refused(&bench, arguments);
        assert!(message.contains("damaged"), "{arguments:?}: {message}");
    }
    insta::assert_snapshot!(refused(&bench, tries[0]));
}

#[test]
fn full_disk_is_reported_and_confirmed_labels_stay() {
    let bench = project();
    fs::create_dir(bench.path("small")).unwrap();
    let disk = match SmallDisk::mount(&bench.path("small"), 2 << 20) {
        Ok(disk) => disk,
        // Without the right to mount, a limit on the size of files reaches the same code.
        Err(_) => return full_by_limit(&bench),
    };
    let project = disk.path("P.dissensus");
    bench.ok(["project".as_ref(), "new".as_ref(), project.as_os_str()]);
    bench.file("texts.csv", files::labels(200, 2));
    bench.ok(["data".as_ref(), "import".as_ref(), project.as_os_str(), "texts.csv".as_ref()]);
    let info = || bench.json(["project".as_ref(), "info".as_ref(), project.as_os_str()]);
    assert_eq!(info()["labels"], 400);
    // An import that does not fit is refused as a whole.
    bench.file("big.csv", files::labels(20_000, 3));
    let message =
        bench.refused(["data".as_ref(), "import".as_ref(), project.as_os_str(), "big.csv".as_ref()]);
    assert!(message.contains("full") || message.contains("space"), "{message}");
    assert_eq!(info()["labels"], 400);
    // Single labels until the disk is full: each was confirmed or refused, and the confirmed ones are stored.
    let filler = disk.path("filler");
    fill(&filler);
    let mut confirmed = 0;
    for index in 0..200 {
        let label = ["--annotator", "ana", "--text-id", &format!("t{index}"), "--value", "3"];
        let arguments = ["label".as_ref(), "record".as_ref(), project.as_os_str()]
            .into_iter()
            .chain(label.iter().map(|a| a.as_ref()));
        let outcome = bench.run(arguments);
        match outcome.code {
            Some(0) => confirmed += 1,
            Some(1) => {
                // SQLite cannot distinguish a full disk from a failing one while it opens its shared memory.
                assert!(outcome.err.contains("the disk"), "{}", outcome.err);
                break;
            }
            _ => panic!("{outcome:?}"),
        }
    }
    assert!(confirmed < 200, "the disk was never full");
    fs::remove_file(filler).unwrap();
    assert_eq!(info()["labels"].as_u64(), Some(400 + confirmed));
}

#[test]
fn full_disk_at_a_checkpoint_keeps_the_previous_one() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    let train = ["models", "train", "P.dissensus", "--question", "offensiveness", "--model", "share-rec-ffn"];
    let train: Vec<&str> =
        train.into_iter().chain(["--epochs", "3", "--patience", "0", "--split", "by-text:0.7"]).collect();
    let whole = bench.json(&train);
    // Mounted over the folder of the finished run, which is not needed again.
    let folder = bench.path("P.dissensus.runs");
    // Space for one checkpoint of 647 kB, and not for a second one.
    let disk = match SmallDisk::mount(&folder, 700 << 10) {
        Ok(disk) => disk,
        // Without the right to mount, a limit on the size of files stops a checkpoint larger than the project
        // in the same code.
        Err(_) => {
            let tuned = ["--model", "shared", "--tuning", "last-1", "--epochs", "1"];
            let train: Vec<&str> = train[..5].iter().copied().chain(tuned).collect();
            let message = limited(&bench, &train, 4096);
            return assert!(message.contains("state.safetensors"), "{message}");
        }
    };
    let message = bench.refused(&train);
    assert!(message.contains("state.safetensors") && message.contains("No space left"), "{message}");
    let run = fs::read_dir(disk.path("")).unwrap().flatten().next().unwrap().path();
    let kept = fs::read_dir(run.join("checkpoints")).unwrap().count();
    assert_eq!(kept, 1, "the checkpoint of before, and nothing half written");
    disk.resize(64 << 20).unwrap();
    let mended = bench.json(["models", "runs", "resume", "P.dissensus", "2"]);
    assert_eq!(mended["info"]["scores"], whole["info"]["scores"]);
}

/// Fills the remaining space.
fn fill(path: &std::path::Path) {
    let mut file = fs::File::create(path).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
}

fn full_by_limit(bench: &Bench) {
    bench.file("big.csv", files::labels(20_000, 3));
    let before = bench.json(["project", "info", "P.dissensus"]);
    limited(bench, &["data", "import", "P.dissensus", "big.csv", "--question", "rude"], 1024);
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["labels"], before["labels"]);
}

/// The error of a command that may write no file larger than so many blocks of 512 bytes.
fn limited(bench: &Bench, arguments: &[&str], blocks: u32) -> String {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let output = std::process::Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(dissensus_tests::programs::command())
        .args(arguments)
        .env("DISSENSUS_HOME", bench.path("home"))
        .env("DISSENSUS_MODELS", bench.models())
        .current_dir(bench.folder())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    message
}

#[test]
fn missing_encoder_error_says_how_to_get_one() {
    let bench = project();
    let message = refused(&bench, &["models", "encode", "P.dissensus"]);
    assert!(
        message.contains("dissensus models encode PROJECT --encoder") && !message.contains("cargo"),
        "{message}"
    );
    insta::assert_snapshot!(message);
    // Commands that need no encoder still work.
    bench.ok(["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t1", "--value", "3"]);
    bench.ok(["analyse", "agreement", "P.dissensus"]);
    bench.ok(["data", "export", "P.dissensus", "out.csv"]);
}

/// A folder with a very small encoder of random weights, to be damaged.
fn tiny_encoder(bench: &Bench, name: &str) {
    let fixture = programs::checkout().join("crates/encoder/tests/fixtures/tiny");
    let folder = bench.path(name);
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(fixture).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
}

#[test]
fn invalid_encoder_folders_are_distinguished() {
    let bench = project();
    fs::create_dir(bench.path("nothing")).unwrap();
    for name in ["unreadable", "foreign", "cut", "pickled"] {
        tiny_encoder(&bench, name);
    }
    bench.file("unreadable/config.json", "{ \"model_type\": ");
    bench.file("foreign/config.json", "{ \"model_type\": \"t5\" }");
    let weights = fs::read(bench.path("cut/model.safetensors")).unwrap();
    bench.file("cut/model.safetensors", &weights[..weights.len() - 1000]);
    fs::rename(bench.path("pickled/model.safetensors"), bench.path("pickled/pytorch_model.bin")).unwrap();
    let encode = |folder: &'static str| ["models", "encode", "P.dissensus", "--encoder", folder];
    insta::assert_snapshot!(report(
        &bench,
        refused,
        &[
            &encode("./absent"),
            &encode("./nothing"),
            &encode("./unreadable"),
            &encode("./foreign"),
            &encode("./cut"),
            &encode("./pickled"),
        ]
    ));
}

#[test]
fn changed_encoder_is_another_encoder() {
    let bench = project();
    tiny_encoder(&bench, "tiny");
    let encode = || bench.json(["models", "encode", "P.dissensus", "--encoder", "./tiny"]);
    let (first, again) = (encode(), encode());
    assert_eq!((&first["texts"], &first["kept"]), (&10.into(), &0.into()), "{first}");
    assert_eq!(
        (&again["texts"], &again["kept"]),
        (&0.into(), &10.into()),
        "nothing is encoded twice: {again}"
    );
    let mut weights = fs::read(bench.path("tiny/model.safetensors")).unwrap();
    // The lowest bit of one weight, far behind the header.
    let last = weights.len() - 400;
    weights[last] ^= 1;
    bench.file("tiny/model.safetensors", weights);
    let changed = encode();
    assert_eq!(changed["texts"], 10, "embeddings of another encoder are not taken for this one's: {changed}");
    assert_ne!(changed["encoder"], first["encoder"]);
}

#[test]
fn project_is_open_in_one_program() {
    let bench = Bench::new();
    bench.file("texts.csv", files::labels(600, 2));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "texts.csv", "--question", "rude"]);
    let mut child = bench
        .command(["models", "encode", "P.dissensus"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lock = bench.path("P.dissensus.lock");
    let start = Instant::now();
    while !lock.exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let label = ["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t1", "--value", "3"];
    let outcome = bench.run(label);
    let at_work = !processes::ended_within(&mut child, Duration::ZERO);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(at_work, "the encoding was over before the label was tried");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.err.contains("open"), "{}", outcome.err);
    // The process that held the lock is dead, and its lock is released.
    bench.ok(label);
}

#[test]
fn invalid_labels_are_refused() {
    let bench = filled(Bench::new());
    bench.ok(["models", "encode", "P.dissensus"]);
    bench.ok(["project", "new", "empty.dissensus"]);
    let label = |text, value| {
        ["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", text, "--value", value]
    };
    // Without the stored model, which may be fitted before a refusal.
    let info = |bench: &Bench| {
        let mut info = bench.json(["project", "info", "P.dissensus"]);
        let questions = info["questions"].as_array_mut().unwrap();
        questions.iter_mut().for_each(|question| drop(question["estimation"].take()));
        info
    };
    let before = info(&bench);
    insta::assert_snapshot!(report(
        &bench,
        // A model fitted before the refusal may be stored, but no labels.
        |bench, arguments| bench.refused(arguments),
        &[
            &label("t1", "9"),
            &label("t1", ""),
            &label("nowhere", "3"),
            &["label", "undo", "P.dissensus", "--annotator", "nobody"],
            &["data", "question", "P.dissensus", "rude", "--levels", "no,yes"],
            &["data", "question", "P.dissensus", "kind", "--levels", "yes"],
            &["data", "question", "P.dissensus", "kind", "--levels", "no,maybe,yes", "--scale", "binary"],
            &["data", "question", "P.dissensus", "kind", "--levels", "no,no"],
            &["label", "record", "empty.dissensus", "--annotator", "ana", "--text-id", "t1", "--value", "1"],
            &["analyse", "agreement", "empty.dissensus"],
            &["analyse", "agreement", "P.dissensus", "--question", "nice"],
            &["models", "predict", "P.dissensus", "--annotator", "nobody", "--text-id", "t1"],
            &["models", "predict", "P.dissensus", "--annotator", "a0", "--text-id", "nowhere"],
            &["models", "evaluate", "P.dissensus", "--split", "column"],
            &["models", "evaluate", "P.dissensus", "--at-least", "9"],
            &["data", "export", "P.dissensus", "labels.csv"],
            &["data", "export", "P.dissensus", "labels.docx"],
        ]
    ));
    assert_eq!(info(&bench), before);
}

#[test]
fn extreme_values_work() {
    let bench = Bench::new();
    let long = "A comment that goes on and on, ".repeat(1_613); // a little over 50,000 characters
    assert!(long.len() > 50_000);
    bench.file(
        "odd.csv",
        format!("text_id,text,annotator_id,label\nlong,\"{long}\",ana,no\nhtml,<img src=x onerror=alert(1)>,<b>bo</b>,yes\n"),
    );
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "odd.csv"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    bench.ok(["analyse", "disagreement", "P.dissensus"]);
    bench.ok(["analyse", "agreement", "P.dissensus"]);
    bench.ok(["models", "predict", "P.dissensus", "--annotator", "<b>bo</b>", "--text-id", "long"]);
    bench.file("header.csv", "text_id,text,annotator_id,label\n");
    bench.ok(["data", "import", "P.dissensus", "header.csv"]);

    // One label in the whole project, and an annotator without any.
    bench.file(
        "one.csv",
        "text_id,text,annotator_id,label\na,one text,ana,yes\nb,another text,bo,\nc,a third,ana,\n",
    );
    bench.ok(["project", "new", "Q.dissensus"]);
    bench.ok(["data", "import", "Q.dissensus", "one.csv", "--scale", "binary", "--levels", "no,yes"]);
    bench.ok(["analyse", "disagreement", "Q.dissensus"]);
    bench.ok(["models", "predict", "Q.dissensus", "--annotator", "bo", "--text-id", "a"]);
    let outcome = bench.run(["models", "evaluate", "Q.dissensus"]);
    assert!(matches!(outcome.code, Some(0 | 1)) && !outcome.err.contains("panicked"), "{outcome:?}");
}

/// Control characters and invisible characters: escape sequences, C1 controls, direction overrides.
fn hidden_characters(text: &str) -> Vec<char> {
    let hidden = |c: &char| {
        c.is_control() && *c != '\n'
            || matches!(c, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    };
    text.chars().filter(hidden).collect()
}

/// The output on both streams.
fn printed(bench: &Bench, arguments: &[&str]) -> String {
    let outcome = bench.run(arguments);
    format!("{}{}", outcome.out, outcome.err)
}

#[test]
fn escape_sequences_are_shown_escaped() {
    let bench = Bench::new();
    let osc = "\u{1b}]0;OWNED\u{7}";
    let body = format!("{osc}\u{1b}[2Jhello \u{9b}2J \u{1b}]8;;http://x\u{7}link \u{202e}txet\u{8}");
    let csv = format!(
        "text_id,text,annotator_id,label,{osc}\nt1,{body},ana,1,x\nt1,{body},ben,2,x\nt2,\u{202e}b,ana,1,x\nt2,\u{202e}b,ben,3,x\n"
    );
    bench.file("l.csv", csv);
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "l.csv", "--prompt", &format!("how {osc}rude?")]);
    bench.file("twice.csv", format!("{osc},{osc}\na,b\n"));
    bench.file("level.csv", format!("text_id,text,annotator_id,label\nt9,x,ana,{}\n", "9\u{200b}"));
    bench.file("id.csv", format!("text_id,text,annotator_id,label\nt{osc},x,ana,1\n"));
    bench.file("body.csv", format!("text_id,text,annotator_id,label\nt1,{osc},ana,1\n"));
    bench.file("absent.csv", "text_id,text\nq,x\n");
    let named = format!("{osc}.dissensus");
    let message = [
        printed(&bench, &["project", "info", "P.dissensus"]),
        printed(&bench, &["analyse", "disagreement", "P.dissensus"]),
        printed(&bench, &["analyse", "aggregate", "P.dissensus", "--method", "majority"]),
        printed(&bench, &["data", "import", "P.dissensus", "l.csv", "--dry-run"]),
        printed(&bench, &["data", "import", "P.dissensus", "twice.csv"]),
        printed(&bench, &["data", "import", "P.dissensus", "level.csv"]),
        printed(&bench, &["data", "import", "P.dissensus", "id.csv"]),
        printed(&bench, &["data", "import", "P.dissensus", "body.csv"]),
        printed(&bench, &["data", "import", "P.dissensus", "l.csv", "--label", &format!("x{osc}")]),
        printed(&bench, &["data", "import", "P.dissensus", "l.csv", "--annotator", &format!("=x{osc}")]),
        printed(
            &bench,
            &[
                "label",
                "record",
                "P.dissensus",
                "--annotator",
                "ana",
                "--text-id",
                &format!("e{osc}vil"),
                "--value",
                "1",
            ],
        ),
        printed(
            &bench,
            &[
                "label",
                "record",
                "P.dissensus",
                "--annotator",
                &format!("e{osc}vil"),
                "--text-id",
                "t1",
                "--value",
                "1",
            ],
        ),
        printed(
            &bench,
            &["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t1", "--value", osc],
        ),
        printed(
            &bench,
            &["data", "question", "P.dissensus", "q", "--prompt", &format!("why{osc}"), "--levels", "a,b"],
        ),
        printed(&bench, &["data", "question", "P.dissensus", "r", "--levels", &format!("a,b{osc}")]),
        printed(&bench, &["project", "new", &named]),
        printed(&bench, &["project", "info", &format!("absent{named}")]),
    ];
    for message in &message {
        assert!(hidden_characters(message).is_empty(), "{message:?}");
    }
    assert!(message[0].contains("how \\u{1b}]0;OWNED\\u{7}rude?"), "{}", message[0]);
    assert!(message[1].contains("\\u{1b}[2Jhello"), "{}", message[1]);
    let json = bench.json(["project", "info", "P.dissensus"]);
    assert_eq!(json["questions"][0]["prompt"], format!("how {osc}rude?"), "JSON lists what is there");
}

#[test]
fn export_imports_again_with_any_header() {
    let bench = Bench::without_encoder();
    bench.file("h.csv", "text_id,text,annotator_id,lab\u{1b}[2Jel\nt1,x,ana,1\nt1,x,ben,2\n");
    bench.ok(["project", "new", "P.dissensus"]);
    let message = bench.refused([
        "data",
        "import",
        "P.dissensus",
        "h.csv",
        "--annotator",
        "annotator_id",
        "--label",
        "lab\u{1b}[2Jel",
    ]);
    assert!(message.contains("the question name") && message.contains("control character"), "{message}");
    bench.ok([
        "data",
        "import",
        "P.dissensus",
        "h.csv",
        "--annotator",
        "annotator_id",
        "--label",
        "lab\u{1b}[2Jel",
        "--question",
        "label",
    ]);
    bench.ok(["data", "export", "P.dissensus", "out.csv"]);
    bench.ok(["project", "new", "Q.dissensus"]);
    bench.ok(["data", "import", "Q.dissensus", "out.csv"]);
    assert_eq!(bench.json(["project", "info", "Q.dissensus"])["labels"], 2);
}

#[test]
fn thousands_of_keys_round_trip_proportionally() {
    let bench = Bench::without_encoder();
    let lines: String = (0..3_000)
        .map(|n| format!("{{\"text_id\":\"t{n}\",\"text\":\"text {n}\",\"annotator_id\":\"ana\",\"label\":{},\"key {n}\":\"{n}\"}}\n", n % 2))
        .collect();
    let given = lines.len() as u64;
    bench.file("keys.jsonl", lines);
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "keys.jsonl"]);
    for (name, project) in [("out.csv", "C.dissensus"), ("out.jsonl", "J.dissensus")] {
        bench.ok(["data", "export", "P.dissensus", name]);
        let size = fs::metadata(bench.path(name)).unwrap().len();
        assert!(size < 4 * given, "{name} has {size} bytes, and {given} came in");
        bench.ok(["project", "new", project]);
        bench.ok(["data", "import", project, name]);
        let again = format!("again-{name}");
        bench.ok(["data", "export", project, &again]);
        assert!(fs::read(bench.path(name)).unwrap() == fs::read(bench.path(&again)).unwrap(), "{name}");
    }
}

/// A text with `{}` for each placeholder such as `{name}` or `{0:?}`.
fn without_placeholders(text: &str) -> String {
    let mut parts = text.split('{');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push('{');
        let name = part.split_once('}').filter(|(name, _)| !name.contains(['"', '\n']));
        plain.push_str(&name.map_or(part.to_owned(), |(_, after)| format!("}}{after}")));
    }
    plain
}

/// All Rust sources below `folder`.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.fold(String::new(), |mut all, path| {
        if path.is_dir() {
            all.push_str(&sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all.push_str(&fs::read_to_string(&path).unwrap());
        }
        all
    })
}

#[test]
fn refusals_of_the_mock_are_messages_of_the_program() {
    // A string in a source may continue on the next line after a backslash.
    let source = sources(&programs::checkout().join("crates")).replace("\r\n", "\n");
    let mut lines = source.split("\\\n");
    let first = lines.next().unwrap().to_owned();
    let source = lines.fold(first, |all, line| all + line.trim_start()).replace("\\\"", "\"");
    let source = without_placeholders(&source);
    let mock = fs::read(programs::checkout().join("ui/src/mock/refusals.json")).unwrap();
    let mock: BTreeMap<String, String> = serde_json::from_slice(&mock).unwrap();
    assert!(mock.len() > 20, "{mock:?}");
    let unknown: Vec<_> = mock
        .iter()
        .filter(|(code, message)| {
            let code = code.split(' ').next().unwrap();
            [code, &without_placeholders(message)].iter().any(|text| !source.contains(&format!("\"{text}\"")))
        })
        .collect();
    assert!(unknown.is_empty(), "no message of the program: {unknown:#?}");
}
