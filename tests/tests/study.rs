//! A study of two people on two copies: assigned, labelled in the real window and by the command, killed in
//! between, submitted and merged.
#![cfg(target_os = "linux")] // nowhere else is there a driver for the system's web view
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::files;
use dissensus_tests::window::Window;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Six texts and one question, assigned to two people: all texts to both, some of them twice.
fn handed_out(bench: &Bench) -> PathBuf {
    bench.file("texts.csv", files::texts(6));
    bench.ok(["project", "new", "Study.dissensus"]);
    bench.ok(["data", "import", "Study.dissensus", "texts.csv"]);
    bench.ok(["data", "question", "Study.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
    bench.ok(["data", "question", "Study.dissensus", "rude", "--reason", "slang", "--reason", "irony"]);
    bench.file("guideline.md", "# Rules\n\nBe fair.");
    bench.ok(["data", "guideline", "Study.dissensus", "--from", "guideline.md"]);
    let reported = bench.json([
        "study",
        "assign",
        "Study.dissensus",
        "--annotators",
        "ada,ben",
        "--per-text",
        "2",
        "--repeat",
        "0.3",
        "--again-after",
        "2",
        "--out",
        "packets",
    ]);
    assert_eq!(reported["people"][0]["texts"], 6);
    assert_eq!(reported["people"][0]["repeats"], 2);
    bench.path("packets").join("ada.dissensus")
}

fn study(bench: &Bench) -> Value {
    bench.json(["study", "status", "Study.dissensus"])
}

/// The answers of one person in an export of the project, by text and annotation round.
fn answers(bench: &Bench, person: &str) -> BTreeMap<(String, String), String> {
    bench.ok(["data", "export", "Study.dissensus", "all.csv", "--force"]);
    let rows =
        csv::Reader::from_path(bench.path("all.csv")).unwrap().into_deserialize::<BTreeMap<String, String>>();
    let rows = rows.map(Result::unwrap).filter(|row| row["annotator_id"] == person);
    let occasion = |row: &BTreeMap<String, String>| row.get("occasion").cloned().unwrap_or_default();
    rows.map(|row| ((row["text_id"].clone(), occasion(&row)), row["label"].clone())).collect()
}

/// Answers the text on screen and waits for the next one.
async fn answer(window: &Window, level: char, done: u32) -> Result<()> {
    const HERE: &str =
        "return document.querySelector('[data-testid=\"label-text\"]')?.dataset.textId ?? \"\"";
    let here = window.script_when(HERE, |text| text != "").await?;
    window.press(level).await?;
    window.text_when("label-progress-done", |now| now == done.to_string()).await?;
    // A key that is pressed before the next text is on screen is not meant for it, and is ignored.
    window.script_when(HERE, |text| *text != here).await?;
    Ok(())
}

#[tokio::test]
async fn study_of_two_people_merges_after_a_kill() -> Result<()> {
    let bench = Bench::without_encoder();
    let packet = handed_out(&bench);

    // Ada labels in the window, which opens for her only.
    let window = Window::open(&bench, Some(&packet)).await?;
    ensure!(window.text("packet-person").await? == "ada");
    ensure!(window.all("nav-findings").await?.is_empty());
    // A dropped file is refused before it is shown, and there is nothing to confirm.
    let more = bench.file("more.csv", "text,annotator,label\nanother text,ben,2\n");
    window.hand_over("importPath", &more).await?;
    let reported = window.text_when("import-stopped", |reported| !reported.is_empty()).await?;
    ensure!(reported.starts_with("This is the packet of one person"), "{reported}");
    ensure!(window.all("import-format").await?.is_empty());
    window.press('\u{E00C}').await?; // Escape
    window.gone("import-stopped").await?;
    // Before her first answer she adds a reason and a note to it.
    window.click("remark-reason").await?;
    window.click("label-note").await?;
    window.type_text("quotes somebody").await?;
    window.press('\u{E00C}').await?; // Escape
    for done in 1..=3 {
        answer(&window, '3', done).await?;
    }
    // The fourth may or may not be on disk when the kill comes.
    window.press('3').await?;
    window.kill()?;

    let window = Window::open(&bench, Some(&packet)).await?;
    let done = window.text_when("label-progress-done", |done| done == "3" || done == "4").await?;
    let first = bench.path("first.handin");
    window.hand_over("handIn", &first).await?;
    window.text_when("packet-status", |text| text.starts_with("Submitted")).await?;
    for done in done.parse::<u32>()? + 1..=8 {
        answer(&window, '2', done).await?;
    }
    window.find("packet-done").await?;
    window.hand_over("handIn", &bench.path("second.handin")).await?;
    let reported = "return document.body.textContent.includes('All 8 texts submitted as second.handin')";
    window.script_when(reported, |reported| *reported == json!(true)).await?;
    window.close().await?;

    // Ben labels with the command, on another machine.
    std::fs::create_dir(bench.path("ben's")).unwrap();
    std::fs::rename(bench.path("packets").join("ben.dissensus"), bench.path("ben's").join("p.dissensus"))
        .unwrap();
    for text in ["t0", "t1", "t2", "t3", "t4", "t5"] {
        bench.ok([
            "label",
            "record",
            "ben's/p.dissensus",
            "--annotator",
            "ben",
            "--text-id",
            text,
            "--value",
            "1",
        ]);
    }
    bench.ok(["study", "hand-in", "ben's/p.dissensus", "ben.handin"]);

    // The newer submission first, dropped on the window of the project.
    let window = Window::open(&bench, Some(&bench.path("Study.dissensus"))).await?;
    window.find("nav-people").await?;
    window.hand_over("importPath", &bench.path("second.handin")).await?;
    window
        .text_when("merged-file", |reported| reported.contains("second.handin") && reported.contains("8 new"))
        .await?;
    window.click("merged-close").await?;
    window.click("nav-people").await?;
    window.click("tab-people-study").await?;
    window.text_when("study-progress", |text| text.starts_with("8 of 16")).await?;
    window.close().await?;

    // Then the older submission, then all of them again.
    for files in [vec!["ben.handin", "first.handin"], vec!["second.handin", "ben.handin"]] {
        let outcome = bench.run(["study", "merge", "Study.dissensus", "--json"].into_iter().chain(files));
        ensure!(outcome.code == Some(0), "{} {}", outcome.out, outcome.err);
        let report: Value = serde_json::from_str(&outcome.out)?;
        for file in report["files"].as_array().unwrap() {
            ensure!(file["refused"] == json!(false), "{file}");
        }
    }
    let report = study(&bench);
    ensure!(report["given"] == 8 + 6 && report["wanted"] == 16, "{report}");
    ensure!(report["texts_done"] == 6, "{report}");
    let ada = answers(&bench, "ada");
    ensure!(ada.len() == 8, "{ada:?}");
    let texts: BTreeSet<&String> = ada.keys().map(|(text, _)| text).collect();
    ensure!(texts.len() == 6, "{ada:?}");
    let given: Vec<&String> = ada.values().collect();
    ensure!(given.iter().filter(|level| **level == "3").count() == done.parse::<usize>()?, "{ada:?}");
    ensure!(answers(&bench, "ben").values().all(|level| level == "1"));

    // Her note and reason were merged too, and her labels name the version of the guideline shown with them.
    let notes = bench.json(["label", "notes", "Study.dissensus", "--search", "quotes"]);
    ensure!(notes.as_array().map(Vec::len) == Some(1), "{notes}");
    let one = &notes[0];
    ensure!(one["annotator_name"] == "ada" && one["answer"] == "3" && one["guideline"] == 1, "{one}");
    ensure!(one["note"] == "quotes somebody" && one["reasons"] == json!(["slang"]), "{one}");

    // A packet never contained data of other people.
    let bytes = std::fs::read(&packet).unwrap();
    ensure!(!bytes.windows(3).any(|three| three == b"ben"), "ben is in ada's packet");
    Ok(())
}

#[test]
fn changed_submission_is_refused_and_others_merged() {
    let bench = Bench::without_encoder();
    handed_out(&bench);
    for (who, level) in [("ada", "3"), ("ben", "1")] {
        let packet = format!("packets/{who}.dissensus");
        let asked = bench.json(["study", "status", &packet, "--texts"]);
        let again = asked.as_array().unwrap().iter().find(|text| text["occasion"] == 2).unwrap();
        let text = again["text_id"].as_str().unwrap();
        let label = ["label", "record", &packet, "--annotator", who, "--text-id", text, "--value"];
        bench.ok(label.into_iter().chain([level]));
        bench.ok(label.into_iter().chain(["2", "--occasion", "2"]));
        let message = bench.refused(label.into_iter().chain(["2", "--occasion", "3"]));
        insta::assert_snapshot!(bench.shown(&message));
        bench.ok(["study", "hand-in", &packet, &format!("{who}.handin")]);
    }
    let message = bench.refused(["study", "hand-in", "packets/ada.dissensus", "ada.handin"]);
    insta::assert_snapshot!(bench.shown(&message));
    let mut bytes = std::fs::read(bench.path("ada.handin")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(bench.path("ada.handin"), bytes).unwrap();
    let outcome = bench.run(["study", "merge", "Study.dissensus", "ada.handin", "ben.handin", "--json"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    let report: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(report["files"][0]["problems"][0]["problem"]["code"], "merge-tampered");
    assert_eq!(
        (&report["files"][0]["refused"], &report["files"][1]["refused"]),
        (&json!(true), &json!(false))
    );
    insta::assert_snapshot!(bench.shown(&outcome.err));
    assert!(answers(&bench, "ada").is_empty());
    let ben = answers(&bench, "ben");
    assert_eq!(ben.values().cloned().collect::<Vec<_>>(), ["1", "2"], "{ben:?}");
    assert_eq!(bench.json(["study", "status", "packets/ben.dissensus"])["since"], 0);
    for (arguments, why) in [
        (vec!["study", "merge", "packets/ada.dissensus", "ben.handin"], "this is a packet for one person"),
        (vec!["study", "hand-in", "Study.dissensus", "x.handin"], "this is a whole project"),
        (vec!["data", "import", "packets/ada.dissensus", "texts.csv"], "this is the packet of one person"),
        (
            vec!["data", "import", "packets/ada.dissensus", "texts.csv", "--dry-run"],
            "this is the packet of one person",
        ),
        (
            vec![
                "study",
                "assign",
                "Study.dissensus",
                "--annotators",
                "ada,ben",
                "--per-text",
                "3",
                "--out",
                "more",
            ],
            "3 people are needed",
        ),
        (
            vec![
                "study",
                "assign",
                "Study.dissensus",
                "--annotators",
                "ada,ben",
                "--per-text",
                "2",
                "--out",
                "more",
            ],
            "nothing is left",
        ),
        (vec!["study", "assign", "Study.dissensus", "--per-text", "2", "--out", "more"], "--to-come"),
    ] {
        let message = bench.refused(&arguments);
        assert!(message.contains(why), "{arguments:?}: {message}");
    }
}

#[test]
fn person_is_corrected_pseudonymised_and_erased() {
    let bench = Bench::new();
    handed_out(&bench);
    let label = ["label", "record", "packets/ada.dissensus", "--annotator", "ada", "--text-id"];
    let texts = bench.json(["study", "status", "packets/ada.dissensus", "--texts"]);
    let text = texts[0]["text_id"].as_str().unwrap().to_owned();
    bench.ok(label.into_iter().chain([text.as_str(), "--value", "1"]));
    bench.ok(["study", "hand-in", "packets/ada.dissensus", "ada.handin"]);
    bench.ok(["study", "merge", "Study.dissensus", "ada.handin"]);
    std::fs::copy(bench.path("Study.dissensus"), bench.path("copy.dissensus")).unwrap();

    let about = ["people", "show", "Study.dissensus", "--annotator", "ada"];
    bench.ok(about.into_iter().chain(["--name", "Ada L.", "--set", "age=30-39", "--set", "gender=woman"]));
    let reported = bench.json(about.into_iter().chain(["--unset", "age"]));
    assert_eq!((&reported["name"], &reported["attributes"]), (&json!("Ada L."), &json!({"gender": "woman"})));
    let wrong = bench.run(about.into_iter().chain(["--set", "age"]));
    assert!(wrong.code == Some(2) && wrong.err.contains("ATTRIBUTE=VALUE"), "{wrong:?}");
    let message = bench.refused(about.into_iter().chain(["--set", "gender="]));
    insta::assert_snapshot!(bench.shown(&message));
    let reported = bench.json(["data", "export", "Study.dissensus", "shared.csv", "--pseudonyms"]);
    assert_eq!(reported["suppressed"], 1);
    let shared = std::fs::read_to_string(bench.path("shared.csv")).unwrap();
    assert!(!shared.contains("ada") && !shared.contains("woman") && shared.contains("A"), "{shared}");

    let reported = bench.run(["people", "withdraw", "Study.dissensus", "--annotator", "ada"]);
    assert_eq!(reported.code, Some(0));
    insta::assert_snapshot!(bench.shown(&reported.out));
    assert_eq!(bench.json(["people", "withdraw", "Study.dissensus", "--annotator", "ada"])["answers"], 1);
    assert_eq!(answers(&bench, "ada").len(), 1, "nothing was erased");
    let message =
        bench.refused(["people", "withdraw", "packets/ada.dissensus", "--annotator", "ada", "--yes"]);
    insta::assert_snapshot!(bench.shown(&message));
    let message = bench.refused(["people", "withdraw", "Study.dissensus", "--annotator", "nobody", "--yes"]);
    assert!(message.contains("nobody"), "{message}");
    let gone = bench.json(["people", "withdraw", "Study.dissensus", "--annotator", "Ada L.", "--yes"]);
    assert_eq!((&gone["answers"], &gone["packets"], &gone["cleaned"]), (&json!(1), &json!(1), &json!(true)));
    let message = bench.refused(about);
    assert!(message.contains("ada"), "{message}");
    let bytes = std::fs::read(bench.path("Study.dissensus")).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"Ada L."));
    let outcome = bench.run(["study", "merge", "Study.dissensus", "ada.handin", "copy.dissensus", "--json"]);
    let report: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(report["files"][0]["problems"][0]["problem"]["code"], "merge-withdrawn");
    assert_eq!((&report["files"][1]["refused"], &report["files"][1]["new"]), (&json!(false), &json!(0)));
    let before = std::fs::read(bench.path("copy.dissensus")).unwrap();
    let reported = bench.run(["study", "merge", "copy.dissensus", "Study.dissensus", "--whole-copy"]);
    assert_eq!(reported.code, Some(1));
    insta::assert_snapshot!(bench.shown(&reported.out));
    let reported = bench.run(["study", "merge", "copy.dissensus", "Study.dissensus", "--dry-run"]);
    assert_eq!(reported.code, Some(0));
    insta::assert_snapshot!(bench.shown(&reported.out));
    assert_eq!(std::fs::read(bench.path("copy.dissensus")).unwrap(), before);
    let report = bench.json(["study", "merge", "copy.dissensus", "Study.dissensus", "--whole-copy", "--yes"]);
    assert!(report["files"][0]["backup"].as_str().unwrap().contains(".before-merge-"), "{report}");
    assert_eq!(report["files"][0]["withdrawn"], 1);
    assert!(bench.refused(["people", "show", "copy.dissensus", "--annotator", "ada"]).contains("ada"));
}

#[test]
fn submissions_in_a_folder_are_merged_once_whatever_the_service_does_to_them() -> Result<()> {
    let bench = Bench::without_encoder();
    handed_out(&bench);
    std::fs::create_dir_all(bench.path("drop/ben"))?;
    bench.file("drop/desktop.ini", "[.ShellClassInfo]");
    bench.file("drop/notes.csv", "a,b\n1,2\n");
    std::fs::copy(bench.path("packets/ada.dissensus"), bench.path("drop/ada.dissensus"))?;
    let collect = || bench.run(["study", "collect", "Study.dissensus", "drop"]);
    let nothing = collect();
    assert!(nothing.out.contains("ada.dissensus: no submission, passed over"), "{nothing:?}");
    assert!(nothing.out.contains("Nothing new") && !nothing.out.contains("notes.csv"), "{nothing:?}");
    let label = |person: &str, text: &str| {
        let packet = format!("packets/{person}.dissensus");
        let given = ["--question", "rude", "--annotator", person, "--text-id", text, "--value", "2"];
        bench.ok(["label", "record", &packet].into_iter().chain(given));
        bench.ok(["study", "hand-in", &packet, &format!("{person}.handin"), "--force"]);
        std::fs::read(bench.path(&format!("{person}.handin"))).unwrap()
    };
    let texts = bench.json(["study", "status", "packets/ada.dissensus", "--texts"]);
    let text = |at: usize| texts[at]["text_id"].as_str().unwrap_or_default().to_owned();
    let ada = label("ada", &text(0));
    // Half of a file is there, and another one under the name that it has while it is copied.
    bench.file("drop/ada.handin", &ada[..ada.len() / 2]);
    bench.file("drop/ben/ben.handin.part", &ada);
    bench.file("drop/empty.handin", "");
    let early = collect();
    assert_eq!((early.code, early.out.matches("not complete yet").count()), (Some(0), 2), "{early:?}");
    assert_eq!(study(&bench)["people"][0]["given"], 0);
    bench.file("drop/ada.handin", &ada);
    // The service keeps a second copy, because two computers wrote the file.
    bench.file("drop/ada (conflicted copy 2026-11-30).handin", &ada);
    bench.file("drop/ben/ben.handin", label("ben", &text(0)));
    let merged = collect();
    assert!(
        merged.out.contains("ada.handin: handed in by ada") && merged.out.contains("ben.handin"),
        "{merged:?}"
    );
    assert_eq!(
        study(&bench)["people"].as_array().map(|people| people.iter().map(|one| one["given"] == 1).collect()),
        Some(vec![true, true])
    );
    // The copy is named, and is no refusal; the history names what was merged.
    const COPY: &str = "ada (conflicted copy 2026-11-30).handin";
    assert_eq!(merged.code, Some(0), "{merged:?}");
    let named = format!("{COPY}: a submission, nothing new\n  it has the same content as ada.handin");
    assert!(merged.out.contains(&named), "{}", merged.out);
    let history = bench.ok(["project", "history", "Study.dissensus"]);
    let jobs = |name: &str| history.lines().filter(|line| line.contains(name)).count();
    assert_eq!((jobs("merging ada"), jobs("merging ben"), jobs("handin")), (1, 1, 0), "{history}");
    // Each once, whatever its name, also by a later command; then a later submission under the same name.
    let again = collect();
    assert!(again.out.contains("Nothing new in drop"), "{again:?}");
    bench.file("drop/ben/ada-DESKTOP.handin", &ada);
    let another = collect();
    let named = "ada-DESKTOP.handin: a submission, nothing new\n  it has the same content as ada.handin\n";
    assert!(another.code == Some(0) && another.out.contains(named), "{another:?}");
    assert!(collect().out.contains("Nothing new in drop"));
    bench.file("drop/ada.handin", label("ada", &text(1)));
    let later = collect();
    assert_eq!((later.code, later.out.matches("handed in by ada").count()), (Some(0), 1), "{later:?}");
    assert_eq!(study(&bench)["people"][0]["given"], 2);
    // One that was changed is named, and does not keep others from being merged.
    let changed = String::from_utf8(ada)?.replacen("\"value\":1", "\"value\":2", 1);
    bench.file("drop/ada.handin", changed);
    bench.file("drop/ben/ben.handin", label("ben", &text(1)));
    let refused = collect();
    assert!(refused.code == Some(1) && refused.out.contains("was changed"), "{refused:?}");
    assert_eq!(study(&bench)["people"][1]["given"], 2);
    let missing = bench.refused(["study", "collect", "Study.dissensus", "nowhere"]);
    assert!(missing.contains("nowhere"), "{missing}");
    Ok(())
}

#[test]
fn refusals_name_the_way_out() {
    let bench = Bench::without_encoder();
    handed_out(&bench);
    let assign = |more: &[&str]| {
        let fixed = ["study", "assign", "Study.dissensus", "--write-again", "--out", "packets"];
        bench.refused(fixed.iter().chain(more))
    };
    // Without an option that this command has not.
    let there = assign(&[]);
    assert!(there.contains("ada.dissensus exists already") && !there.contains("--force"), "{there}");
    let blank = bench.run(["study", "assign", "Study.dissensus", "--out", "x", "--completion", ""]);
    assert!(blank.code == Some(2) && blank.err.contains("--completion"), "{blank:?}");
    bench.ok(["study", "assign", "Study.dissensus", "--write-again", "--as", "page", "--out", "pages"]);
    for command in
        [vec!["study", "status", "pages/ada.html"], vec!["study", "hand-in", "pages/ada.html", "a.handin"]]
    {
        let page = bench.refused(command);
        assert!(page.contains("is a page: open it in a browser"), "{page}");
    }
}

#[test]
fn page_of_too_many_texts_is_refused_before_anything_is_written() {
    let bench = Bench::without_encoder();
    bench.file("texts.csv", files::texts(10_001));
    bench.ok(["project", "new", "Study.dissensus"]);
    bench.ok(["data", "import", "Study.dissensus", "texts.csv"]);
    bench.ok(["data", "question", "Study.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
    let assign = |more: &[&str]| -> Vec<String> {
        let fixed = ["study", "assign", "Study.dissensus", "--per-text", "1", "--out", "out"];
        fixed.iter().chain(more).map(|argument| (*argument).to_owned()).collect()
    };
    for (format, way_out) in
        [("page", "--per-person"), ("locked-page", "--per-person"), ("join-page", "study serve --join")]
    {
        let people = if format == "join-page" { ["--to-come", "2"] } else { ["--annotators", "ada"] };
        let why = bench.refused(assign(&[&["--as", format][..], &people].concat()));
        assert!(why.contains("10001 texts") && why.contains("10000"), "{format}: {why}");
        assert!(why.contains(way_out) && why.contains("--as file"), "{format}: {why}");
        assert!(!bench.path("out").exists(), "{format}");
    }
    assert_eq!(bench.json(["project", "info", "Study.dissensus"])["annotators"], 0);
    // Two people can have half of them each; as files one can have all.
    bench.ok(assign(&["--as", "page", "--annotators", "ada,ben", "--per-person", "6000"]));
    bench.ok([
        "study",
        "assign",
        "Study.dissensus",
        "--per-text",
        "2",
        "--annotators",
        "cleo",
        "--out",
        "cleo",
    ]);
    let again =
        ["study", "assign", "Study.dissensus", "--write-again", "--annotators", "cleo", "--as", "page"];
    let why = bench.refused(again.iter().chain(&["--out", "again"]));
    assert!(why.contains("10001 texts") && !bench.path("again").exists(), "{why}");
}

#[test]
fn watched_folder_is_merged_while_others_use_the_project() -> Result<()> {
    let bench = Bench::without_encoder();
    handed_out(&bench);
    std::fs::create_dir_all(bench.path("drop"))?;
    let mut watching = bench.command(["study", "collect", "Study.dissensus", "drop", "--watch"]).spawn()?;
    let texts = bench.json(["study", "status", "packets/ada.dissensus", "--texts"]);
    let text = texts[0]["text_id"].as_str().unwrap_or_default();
    let given = ["--question", "rude", "--annotator", "ada", "--text-id", text, "--value", "2"];
    bench.ok(["label", "record", "packets/ada.dissensus"].into_iter().chain(given));
    bench.ok(["study", "hand-in", "packets/ada.dissensus", "drop/ada.handin"]);
    let start = std::time::Instant::now();
    while study(&bench)["people"][0]["given"] != 1 {
        ensure!(start.elapsed().as_secs() < 60, "it is not merged");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    // It has not the project for itself.
    bench.ok(["people", "show", "Study.dissensus", "--annotator", "ada", "--set", "region=north"]);
    dissensus_tests::processes::terminate(watching.id());
    ensure!(dissensus_tests::processes::ended_within(&mut watching, std::time::Duration::from_secs(30)));
    Ok(())
}
