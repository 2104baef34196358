//! `kill -9` at any moment: everything confirmed is stored, and anything else is complete or absent.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::files;
use dissensus_tests::processes;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// The labels of `annotator` by text, as an export shows them.
fn labels_of(bench: &Bench, annotator: &str) -> BTreeMap<String, String> {
    bench.ok(["data", "export", "P.dissensus", "after.csv", "--force"]);
    let mut reader = csv::Reader::from_path(bench.path("after.csv")).unwrap();
    let rows = reader.deserialize::<BTreeMap<String, String>>().map(Result::unwrap);
    rows.filter(|row| row["annotator_id"] == annotator)
        .map(|row| (row["text_id"].clone(), row["label"].clone()))
        .collect()
}

#[test]
fn labels_confirmed_by_the_command_survive_kill_9() {
    let bench = Bench::without_encoder();
    bench.file("texts.csv", files::labels(100, 2));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "texts.csv"]);
    // The time one label takes on this machine, so that kills are spread over it,
    // before and after the commit.
    let once = || {
        let start = Instant::now();
        bench.ok([
            "label",
            "record",
            "P.dissensus",
            "--annotator",
            "first",
            "--text-id",
            "t0",
            "--value",
            "1",
        ]);
        start.elapsed()
    };
    // The first run also reads the program from disk:
    // the fastest of several predicts the time of the next ones.
    let usual = (0..6).map(|_| once()).min().unwrap();

    let (mut confirmed, mut killed) = (BTreeMap::new(), 0);
    for index in 0..100_u32 {
        let (text, value) = (format!("t{index}"), (index % 5 + 1).to_string());
        let mut child = bench
            .command([
                "label",
                "record",
                "P.dissensus",
                "--annotator",
                "ana",
                "--text-id",
                &text,
                "--value",
                &value,
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if index % 2 == 0 {
            sleep(usual * (index * 37 % 100) / 100);
            if !matches!(child.try_wait(), Ok(Some(_))) {
                processes::kill(child.id());
            }
        }
        let output = child.wait_with_output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        if output.status.success() {
            assert!(printed.ends_with('\n'), "{printed:?}");
        } else {
            assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
            killed += 1;
        }
        // The printed line is the confirmation: it counts even if the process is killed before it exits.
        if printed.ends_with('\n') {
            confirmed.insert(text, value);
        }
    }
    assert!(killed >= 10, "only {killed} of 50 were killed at work: nothing was tested");
    assert!(confirmed.len() >= 50, "{}", confirmed.len());
    let kept = labels_of(&bench, "ana");
    for (text, value) in &confirmed {
        assert_eq!(kept.get(text), Some(value), "the confirmed label of {text} is lost");
    }
    // A label whose command was killed may be there or not, but never with another value.
    for (text, value) in &kept {
        let index: u32 = text[1..].parse().unwrap();
        assert_eq!(*value, (index % 5 + 1).to_string(), "{text}");
    }
}

#[test]
fn killed_import_is_atomic() {
    let bench = Bench::without_encoder();
    bench.file("big.csv", files::labels(4_000, 10));
    bench.ok(["project", "new", "P.dissensus"]);
    let start = Instant::now();
    bench.ok(["project", "new", "T.dissensus"]);
    bench.ok(["data", "import", "T.dissensus", "big.csv"]);
    let usual = start.elapsed();
    let mut killed = 0;
    for part in [3, 5, 6, 7, 8, 9] {
        let mut child = bench
            .command(["data", "import", "P.dissensus", "big.csv"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        sleep(usual * part / 10);
        if matches!(child.try_wait(), Ok(Some(_))) {
            break;
        }
        processes::kill(child.id());
        child.wait().unwrap();
        killed += 1;
        let info = bench.json(["project", "info", "P.dissensus"]);
        let counts = (info["texts"].as_u64().unwrap(), info["labels"].as_u64().unwrap());
        assert!(counts == (0, 0) || counts == (4_000, 40_000), "a half import: {counts:?}");
    }
    assert!(killed > 0, "the import was never killed at work");
    bench.ok(["data", "import", "P.dissensus", "big.csv"]);
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["labels"], 40_000);
}

#[test]
fn killed_tool_export_leaves_no_partial_file() {
    let bench = Bench::without_encoder();
    bench.file("big.csv", files::labels(4_000, 10));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "big.csv"]);
    let ask =
        |file: &str| ["data", "export", "P.dissensus", file, "--format", "label-studio"].map(str::to_owned);
    let start = Instant::now();
    bench.ok(ask("whole.json"));
    let usual = start.elapsed();
    let whole = std::fs::read(bench.path("whole.json")).unwrap();
    let mut killed = 0;
    for part in [2, 4, 5, 6, 7, 8, 9] {
        let file = format!("{part}.json");
        let mut child = bench.command(ask(&file)).stdout(Stdio::null()).spawn().unwrap();
        sleep(usual * part / 10);
        if !matches!(child.try_wait(), Ok(Some(_))) {
            processes::kill(child.id());
            killed += 1;
        }
        child.wait().unwrap();
        if let Ok(written) = std::fs::read(bench.path(&file)) {
            assert!(written == whole, "{file} has {} of {} bytes", written.len(), whole.len());
        }
    }
    assert!(killed > 0, "the export was never killed at work");
    // A later export removes the files that killed ones left under other names.
    let left = || -> Vec<PathBuf> {
        let paths = std::fs::read_dir(bench.folder()).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "part")).collect()
    };
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    for part in left() {
        std::fs::File::open(part).unwrap().set_modified(an_hour_ago).unwrap();
    }
    bench.ok(ask("after.json"));
    assert_eq!(left(), Vec::<PathBuf>::new());
}

/// A killed evaluation stores nothing: the project is unchanged, and repeating it gives the same result.
#[test]
fn killed_evaluation_leaves_the_project_unchanged() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    let info = bench.json(["project", "info", "P.dissensus"]);
    // Includes the differences between models.
    let asked =
        ["models", "evaluate", "P.dissensus", "--question", "offensiveness", "--models", "multilevel,shared"];
    let answer = || {
        let mut reported = bench.json(asked);
        reported.as_object_mut().unwrap().remove("seconds");
        reported
    };
    let start = Instant::now();
    let before = answer();
    let usual = start.elapsed();
    let mut killed = 0;
    for part in [2, 5, 8] {
        let mut child = bench.command(asked).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(usual * part / 10);
        if matches!(child.try_wait(), Ok(Some(_))) {
            break;
        }
        processes::kill(child.id());
        child.wait().unwrap();
        killed += 1;
        assert_eq!(bench.json(["project", "info", "P.dissensus"]), info);
    }
    assert!(killed > 0, "the evaluation was never killed at work");
    assert_eq!(answer(), before);
}

#[test]
fn killed_encoding_resumes() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    let encoded = || bench.json(["project", "info", "P.dissensus"])["encoding"]["encoded"].as_u64().unwrap();
    let mut child = bench
        .command(["models", "encode", "P.dissensus"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Until the first batch is in the file; the polling command has to share the file with the running one.
    let start = Instant::now();
    while encoded() == 0 && start.elapsed() < Duration::from_secs(120) {
        sleep(Duration::from_millis(30));
    }
    let at_work = !matches!(child.try_wait(), Ok(Some(_)));
    if at_work {
        processes::kill(child.id());
    }
    child.wait().unwrap();
    let kept = encoded();
    assert!(kept > 0, "nothing was stored");
    bench.ok(["models", "encode", "P.dissensus"]);
    assert_eq!(encoded(), 168);
}

#[test]
fn killed_training_resumes_to_the_same_figures() {
    killed_training_resumes("last-1");
}

#[test]
fn killed_prompt_training_resumes_to_the_same_figures() {
    killed_training_resumes("prompt-3");
}

#[test]
fn killed_joint_training_resumes_to_the_same_figures() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    let rows = (1..=60).map(|n| format!("c{n:03},{},{}\n", ["p", "q"][n % 2], ["no", "yes"][n * 7 % 5 / 3]));
    bench.file("rude.csv", format!("text_id,annotator,label\n{}", rows.collect::<String>()));
    bench.ok(["data", "import", "P.dissensus", "rude.csv", "--question", "rude"]);
    training_resumes(&bench, &["--questions", "offensiveness,rude", "--tuning", "last-1"]);
}

fn killed_training_resumes(tuning: &str) {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    training_resumes(&bench, &["--question", "offensiveness", "--tuning", tuning]);
}

/// Trains the project `P.dissensus`, and again with a kill in the middle.
fn training_resumes(bench: &Bench, asked: &[&str]) {
    bench.ok(["models", "encode", "P.dissensus"]);
    let train =
        ["models", "train", "P.dissensus", "--epochs", "2", "--patience", "0", "--split", "by-text:0.7"];
    let train: Vec<&str> = train.iter().chain(asked).copied().collect();
    let whole = bench.json(&train);
    let mut child = bench.command(&train).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let runs = bench.path("P.dissensus.runs");
    let is_whole = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("step-");
    let has_checkpoint = |run: std::fs::DirEntry| {
        std::fs::read_dir(run.path().join("checkpoints")).is_ok_and(|entries| entries.flatten().any(is_whole))
    };
    // The finished run has no checkpoints any more.
    let any = || std::fs::read_dir(&runs).is_ok_and(|entries| entries.flatten().any(has_checkpoint));
    let start = Instant::now();
    while !any() && start.elapsed() < Duration::from_secs(180) {
        sleep(Duration::from_millis(5));
    }
    assert!(matches!(child.try_wait(), Ok(None)), "it was never killed at work");
    processes::kill(child.id());
    child.wait().unwrap();

    // Changes to the project in the meantime make no difference: labels of training texts, annotators, texts.
    let label =
        ["label", "record", "P.dissensus", "--question", "offensiveness", "--annotator", "new", "--text-id"];
    for text in ["c001", "c002", "c003", "c004"] {
        bench.ok(label.into_iter().chain([text, "--value", "3"]));
    }
    bench.file("more.csv", "text_id,text\nx1,One more\nx2,And another\n");
    bench.ok(["data", "import", "P.dissensus", "more.csv"]);
    let newest = bench.json(["models", "runs", "list", "P.dissensus"])[0]["id"].to_string();
    let mended = bench.json(["models", "runs", "resume", "P.dissensus", &newest]);
    let runs = |document: &serde_json::Value| match document["runs"].as_array() {
        Some(runs) => runs.clone(),
        None => vec![document.clone()],
    };
    let curve = |run: &serde_json::Value| -> Vec<(serde_json::Value, serde_json::Value)> {
        let epochs = run["info"]["epochs"].as_array().unwrap();
        epochs.iter().map(|e| (e["train_loss"].clone(), e["validation_loss"].clone())).collect()
    };
    assert_eq!(runs(&mended).len(), runs(&whole).len());
    for (mended, whole) in runs(&mended).iter().zip(&runs(&whole)) {
        assert_eq!(mended["info"]["scores"], whole["info"]["scores"]);
        assert_eq!(curve(mended), curve(whole));
        assert_eq!(curve(whole).len(), 2);
    }
}

/// The labels in a copy of the project file only, without the files next to it.
#[cfg(unix)]
fn labels_in_file_alone(bench: &Bench) -> u64 {
    std::fs::copy(bench.path("P.dissensus"), bench.path("alone.dissensus")).unwrap();
    bench.json(["project", "info", "alone.dissensus"])["labels"].as_u64().unwrap()
}

#[cfg(unix)]
#[test]
fn terminated_command_leaves_one_complete_file() {
    let bench = Bench::without_encoder();
    bench.file("big.csv", files::labels(4_000, 10));
    for signal in ["TERM", "HUP", "INT"] {
        // If the signal arrives before the import is running, the command ends at once, which is another
        // promise: then it is sent later. A busy machine is slow.
        let mut after = Duration::from_millis(300);
        loop {
            for side in ["", "-wal", "-shm", ".lock"] {
                let _ = std::fs::remove_file(bench.path(&format!("P.dissensus{side}")));
            }
            bench.ok(["project", "new", "P.dissensus"]);
            let mut child = bench
                .command(["data", "import", "P.dissensus", "big.csv"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            sleep(after);
            let reported = std::process::Command::new("kill")
                .args([&format!("-{signal}"), &child.id().to_string()])
                .status();
            assert!(reported.unwrap().success());
            let status = child.wait().unwrap();
            let message = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
            // Stopped, or finished just before.
            assert!(matches!(status.code(), Some(130 | 0)), "{signal}: {status}");
            let labels = labels_in_file_alone(&bench);
            assert_eq!(labels, if status.success() { 40_000 } else { 0 }, "{signal}");
            if !status.success() && !message.contains("stopped at your request") {
                after *= 2;
                assert!(after < Duration::from_secs(60), "{signal}: it was never at work: {message}");
                continue;
            }
            for side in ["P.dissensus-wal", "P.dissensus-shm", "P.dissensus.lock"] {
                assert!(!bench.path(side).exists(), "{signal}: {side} is left");
            }
            break;
        }
    }
}

#[test]
fn killed_copy_leaves_no_file() {
    let bench = Bench::without_encoder();
    bench.file("big.csv", files::labels(4_000, 10));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "big.csv"]);
    let start = Instant::now();
    bench.ok(["project", "copy", "P.dissensus", "whole.dissensus"]);
    let usual = start.elapsed();
    let mut killed = 0;
    for part in 1..10 {
        let target = format!("Q{part}.dissensus");
        let mut child =
            bench.command(["project", "copy", "P.dissensus", &target]).stdout(Stdio::null()).spawn().unwrap();
        sleep(usual * part / 10);
        if matches!(child.try_wait(), Ok(Some(_))) {
            break;
        }
        processes::kill(child.id());
        child.wait().unwrap();
        killed += 1;
        if bench.path(&target).exists() {
            assert_eq!(bench.json(["project", "info", &target])["labels"], 40_000, "half a copy");
        }
    }
    assert!(killed > 0, "the copy was never killed at work");
    assert_eq!(bench.json(["project", "info", "whole.dissensus"])["labels"], 40_000);
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["labels"], 40_000);
}

#[test]
fn killed_assignment_is_completed_by_the_advised_command() {
    let bench = Bench::without_encoder();
    small_project(&bench, "P.dissensus");
    let people: Vec<String> = (0..40).map(|n| format!("p{n}")).collect();
    let assign = |people: &str, per_text: &str, out: &str| {
        bench.command([
            "study",
            "assign",
            "P.dissensus",
            "--annotators",
            people,
            "--per-text",
            per_text,
            "--out",
            out,
        ])
    };
    let mut child = assign(&people.join(","), "40", "packets")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let written = || std::fs::read_dir(bench.path("packets")).map_or(0, Iterator::count);
    let deadline = Instant::now() + Duration::from_secs(60);
    while written() < 3 {
        assert!(Instant::now() < deadline, "no packet was written");
        sleep(Duration::from_millis(1));
    }
    processes::kill(child.id());
    child.wait().unwrap();
    let refused = assign("zoe", "41", "more").output().unwrap();
    let reported = String::from_utf8(refused.stderr).unwrap();
    let advice = reported.split('`').nth(1).unwrap_or_else(|| panic!("no command in {reported}"));
    let names = advice.split('"').nth(1).unwrap();
    assert!(names.split(',').count() > 1, "killed after its work: {advice}");
    let advised = advice.replace("PROJECT", "P.dissensus").replace("FOLDER", "again").replace('"', "");
    bench.ok(advised.split(' ').skip(1));
    assert_eq!(std::fs::read_dir(bench.path("again")).unwrap().count(), names.split(',').count());
    let more = assign("zoe", "41", "more").output().unwrap();
    assert!(more.status.success(), "{}", String::from_utf8_lossy(&more.stderr));
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_an_encoding_that_can_be_resumed() {
    let bench = Bench::new();
    bench.ok(["project", "new", "P.dissensus"]);
    // Enough for a few seconds of work.
    let words = ["fair", "bad", "good", "rude", "kind", "odd", "sad", "glad", "loud", "calm"];
    let rows: String = (0..1_000)
        .map(|i| {
            let text: Vec<&str> = (0..40).map(|k| words[(i / 7 + k * (i + 3)) % 10]).collect();
            let label = if i % 2 == 0 { "yes" } else { "no" };
            format!("{i},{} {i},a,{label}\n", text.join(" "))
        })
        .collect();
    bench.file("many.csv", format!("text_id,text,annotator_id,label\n{rows}"));
    bench.ok(["data", "import", "P.dissensus", "many.csv"]);
    let encoded = || bench.json(["project", "info", "P.dissensus"])["encoding"]["encoded"].as_u64().unwrap();
    let mut child = bench
        .command(["models", "encode", "P.dissensus"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while encoded() == 0 && start.elapsed() < Duration::from_secs(120) {
        sleep(Duration::from_millis(30));
    }
    let asked = Instant::now();
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let status = child.wait().unwrap();
    let took = asked.elapsed();
    let message = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(status.code(), Some(130), "{message}");
    assert!(message.contains("stopped at your request; what was finished is stored"), "{message}");
    // The promise is one second; the machine may be busy with other work.
    assert!(took < Duration::from_secs(5), "it took {took:?}");
    let kept = encoded();
    assert!(kept > 0 && kept < 1_000, "{kept} were stored");
    bench.ok(["models", "encode", "P.dissensus"]);
    assert_eq!(encoded(), 1_000);
}

/// An import that has the project open for long enough to change its file meanwhile.
fn import_at_work(bench: &Bench, project: &str) -> std::process::Child {
    let child = bench
        .command(["data", "import", project, "big.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    // The lock names the open file once the project is open.
    while !std::fs::read_to_string(bench.path(&format!("{project}.lock")))
        .is_ok_and(|text| text.contains("\"file\""))
    {
        assert!(Instant::now() < deadline, "the import never opened the project");
        sleep(Duration::from_millis(1));
    }
    child
}

fn small_project(bench: &Bench, name: &str) {
    bench.file("big.csv", files::labels(4_000, 10));
    bench.file("texts.csv", files::labels(100, 2));
    bench.ok(["project", "new", name]);
    bench.ok(["data", "import", name, "texts.csv"]);
}

fn failed(child: std::process::Child) -> String {
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "nothing is confirmed");
    words
}

#[test]
fn moved_project_is_locked_under_its_new_name() {
    let bench = Bench::without_encoder();
    small_project(&bench, "P.dissensus");
    let child = import_at_work(&bench, "P.dissensus");
    // However slow this machine is, the import has not ended when the other command starts.
    processes::hold(child.id());
    std::fs::rename(bench.path("P.dissensus"), bench.path("Q.dissensus")).unwrap();
    let label =
        ["label", "record", "Q.dissensus", "--annotator", "second", "--text-id", "t1", "--value", "1"];
    let words = bench.refused(label);
    assert!(words.contains("is open already") && words.contains("P.dissensus"), "{words}");
    processes::go_on(child.id());
    let words = failed(child);
    assert!(words.contains("was moved") && words.contains("Q.dissensus"), "{words}");
    bench.ok(label);
    let info = bench.json(["project", "info", "Q.dissensus"]);
    assert!([201, 40_001].contains(&info["labels"].as_u64().unwrap()), "none or all of the import: {info}");
}

#[test]
fn replaced_project_keeps_its_restored_content() {
    let bench = Bench::without_encoder();
    small_project(&bench, "P.dissensus");
    std::fs::copy(bench.path("P.dissensus"), bench.path("backup")).unwrap();
    bench.ok(["label", "record", "P.dissensus", "--annotator", "later", "--text-id", "t1", "--value", "1"]);
    for killed in [false, true] {
        let mut child = import_at_work(&bench, "P.dissensus");
        processes::hold(child.id());
        std::fs::copy(bench.path("backup"), bench.path("part")).unwrap();
        std::fs::rename(bench.path("part"), bench.path("P.dissensus")).unwrap();
        if killed {
            processes::kill(child.id());
            child.wait().unwrap();
        } else {
            processes::go_on(child.id());
            let words = failed(child);
            assert!(words.contains("another file took the place"), "{words}");
        }
        bench.ok(["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t1", "--value", "1"]);
        assert_eq!(bench.json(["project", "info", "P.dissensus"])["labels"], 201, "killed: {killed}");
    }
}

#[test]
fn backup_with_a_foreign_journal_is_intact() {
    let bench = Bench::without_encoder();
    small_project(&bench, "P.dissensus");
    std::fs::copy(bench.path("P.dissensus"), bench.path("backup")).unwrap();
    let mut child = import_at_work(&bench, "P.dissensus");
    let journal = bench.path("P.dissensus-wal");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !std::fs::metadata(&journal).is_ok_and(|about| about.len() > 0) {
        assert!(Instant::now() < deadline && matches!(child.try_wait(), Ok(None)), "nothing was written");
    }
    processes::kill(child.id());
    child.wait().unwrap();
    std::fs::copy(bench.path("backup"), bench.path("part")).unwrap();
    std::fs::rename(bench.path("part"), bench.path("P.dissensus")).unwrap();
    let words = bench.refused(["project", "info", "P.dissensus"]);
    assert!(words.contains("the journal of another file"), "{words}");
    let outcome = bench.run([
        "label",
        "record",
        "P.dissensus",
        "--annotator",
        "ana",
        "--text-id",
        "t1",
        "--value",
        "1",
    ]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.err.contains(".of-another-file-"), "{}", outcome.err);
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["labels"], 201);
    let names = std::fs::read_dir(bench.folder()).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<PathBuf> =
        names.filter(|path| path.to_string_lossy().contains("-wal.of-another-file-")).collect();
    assert_eq!(kept.len(), 1);
    assert!(std::fs::metadata(&kept[0]).unwrap().len() > 0);
}

#[cfg(unix)]
#[test]
fn hard_link_to_an_open_project_is_locked() {
    let bench = Bench::without_encoder();
    small_project(&bench, "P.dissensus");
    std::fs::hard_link(bench.path("P.dissensus"), bench.path("H.dissensus")).unwrap();
    let child = import_at_work(&bench, "P.dissensus");
    processes::hold(child.id());
    let label = ["label", "record", "H.dissensus", "--annotator", "hh", "--text-id", "t1", "--value", "1"];
    assert!(bench.refused(label).contains("is open already"));
    processes::go_on(child.id());
    assert!(child.wait_with_output().unwrap().status.success());
    bench.ok(label);
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["labels"], 40_001);
}

/// The file is moved away and back repeatedly: each label that the command confirmed is in it.
#[test]
fn labels_confirmed_while_moving_the_project_are_in_it() {
    let bench = Bench::without_encoder();
    small_project(&bench, "P.dissensus");
    let (path, away) = (bench.path("P.dissensus"), bench.path("away"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (mut confirmed, mut refused) = (BTreeMap::new(), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                std::fs::rename(&path, &away).unwrap();
                sleep(Duration::from_millis(5));
                std::fs::rename(&away, &path).unwrap();
                sleep(Duration::from_millis(45));
            }
        });
        for index in 0..100_u32 {
            let (text, value) = (format!("t{index}"), (index % 5 + 1).to_string());
            let label = [
                "label",
                "record",
                "P.dissensus",
                "--annotator",
                "ana",
                "--text-id",
                &text,
                "--value",
                &value,
            ];
            match bench.run(label).code {
                Some(0) => {
                    confirmed.insert(text, value);
                }
                _ => refused += 1,
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(confirmed.len() > 10 && refused > 0, "{} confirmed, {refused} refused", confirmed.len());
    let kept = labels_of(&bench, "ana");
    for (text, value) in &confirmed {
        assert_eq!(kept.get(text), Some(value), "the confirmed label of {text} is lost");
    }
}

/// Copies and new projects under these names are refused: files next to an open project are overwritten and
/// deleted with it.
#[test]
fn side_file_names_are_refused_for_copies() {
    let bench = Bench::without_encoder();
    small_project(&bench, "P.dissensus");
    for ending in ["-wal", "-shm", "-journal", ".lock"] {
        let name = format!("P.dissensus{ending}");
        for asked in [vec!["project", "copy", "P.dissensus", &name, "--force"], vec!["project", "new", &name]]
        {
            let output = bench.command(&asked).output().unwrap();
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(
                !output.status.success() && message.contains("choose another name"),
                "{asked:?}: {message}"
            );
        }
        assert!(!bench.path(&name).exists(), "{name}");
    }
    bench.ok(["project", "info", "P.dissensus"]);
}

/// The journal left by a program that was killed while it created a project records a database without pages:
/// a backup put in its place must stay whole, even when only read,
/// and the advice must name existing commands.
#[test]
fn backup_with_a_creation_journal_is_not_emptied() {
    let bench = Bench::without_encoder();
    small_project(&bench, "P.dissensus");
    let whole = std::fs::read(bench.path("P.dissensus")).unwrap();
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    for number in [0_u32, 7, 0, 512, 4096] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    std::fs::write(bench.path("P.dissensus-journal"), &journal).unwrap();
    for asked in [vec!["project", "info", "P.dissensus"], vec!["data", "export", "P.dissensus", "out.csv"]] {
        let output = bench.command(&asked).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("journal of another file"), "{message}");
        let advice: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
        for command in advice.iter().filter(|word| !word.starts_with('-')) {
            bench.ok(command.split(' ').chain(["--help"]));
        }
        assert!(advice.contains(&"label record"), "{message}");
        assert!(std::fs::read(bench.path("P.dissensus")).unwrap() == whole);
    }
    bench.ok(["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t0", "--value", "1"]);
    assert_eq!(labels_of(&bench, "ana").get("t0").map(String::as_str), Some("1"));
    assert!(!bench.path("P.dissensus-journal").exists());
    let kept = std::fs::read_dir(bench.path("")).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept.filter(|path| path.to_string_lossy().contains("-journal.of-another")).collect();
    assert_eq!(kept.len(), 1);
    assert!(std::fs::read(&kept[0]).unwrap() == journal);
}
