//! Several questions on one screen of the real window, answered by keyboard, and the labels then stored in
//! the file.
#![cfg(target_os = "linux")] // nowhere else is there a driver for the system's web view
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::files;
use dissensus_tests::window::Window;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ENTER: char = '\u{e007}';
const TAB: char = '\u{e004}';
const RIGHT: char = '\u{e014}';
const EMOTIONS: &str = "anger,anticipation,disgust,fear,joy,love,optimism,pessimism,sadness,surprise,trust";

/// Four texts, and three questions: which words, which of eleven emotions, how offensive (asked only if there
/// is anger).
fn study(bench: &Bench) -> PathBuf {
    let project = bench.path("Study.dissensus");
    bench.file("texts.csv", files::texts(4));
    bench.ok(["project", "new", "Study.dissensus"]);
    bench.ok(["data", "import", "Study.dissensus", "texts.csv"]);
    let question = |more: &[&str]| {
        bench.ok(["data", "question", "Study.dissensus"].iter().chain(more));
    };
    question(&["words", "--scale", "spans", "--levels", "insult,order"]);
    question(&["emotions", "--scale", "multi-label", "--levels", EMOTIONS]);
    let only_if = "emotions=anger,disgust";
    question(&["offence", "--scale", "ordinal", "--levels", "1,2,3,4,5", "--only-if", only_if]);
    bench.ok(["people", "reveal", "Study.dissensus", "on"]);
    project
}

/// Joins, and puts the three questions on the screen.
async fn begin(window: &Window) -> Result<()> {
    window.click("nav-label").await?;
    window.click("label-annotator-name").await?;
    window.type_text("Robin").await?;
    window.press(ENTER).await?;
    window.find("question-now").await?;
    window.click("questions-open").await?;
    window.click("screen-on-2").await?;
    window.click("screen-on-3").await?;
    window.click("questions-done").await?;
    window.gone("questions-dialog").await?;
    on_desk(window, "1").await?;
    framed(window, "words").await
}

/// Waits until this question receives the keys.
async fn framed(window: &Window, question: &str) -> Result<()> {
    let script = "return document.querySelector('[data-testid=\"question-now\"]')?.dataset.question ?? null";
    window.script_when(script, |name| name == question).await.map(drop)
}

/// Waits until this text can be answered.
async fn on_desk(window: &Window, text: &str) -> Result<()> {
    let script = "return document.querySelector('[data-testid=\"label-text\"]')?.dataset.textId ?? null";
    window.script_when(script, |id| id == text).await.map(drop)
}

async fn done(window: &Window, texts: u32) -> Result<()> {
    window.text_when("label-progress-done", |done| done == texts.to_string()).await.map(drop)
}

/// Text, question and label of all labels in the project, read by the command after the window has closed.
fn kept(bench: &Bench, project: &Path) -> BTreeSet<(String, String, String)> {
    let file = bench.path("kept.csv");
    bench.ok(["data".as_ref(), "export".as_ref(), project.as_os_str(), file.as_os_str(), "--force".as_ref()]);
    let rows = csv::Reader::from_path(file)
        .unwrap()
        .into_deserialize::<std::collections::BTreeMap<String, String>>();
    let rows = rows.map(Result::unwrap);
    rows.map(|row| (row["text_id"].clone(), row["question"].clone(), row["label"].clone())).collect()
}

#[tokio::test]
async fn three_keyboard_answers_survive_kill_9() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = study(&bench);
    let window = Window::open(&bench, Some(&project)).await?;
    begin(&window).await?;
    // The first word of the text is an insult.
    window.press(RIGHT).await?;
    window.press('1').await?;
    window.press(ENTER).await?;
    window.find("span-reveal").await?;
    window.press(ENTER).await?;
    framed(&window, "emotions").await?;
    ensure!(window.all("question-row").await?.len() == 1, "how offensive is asked too early");
    window.press('1').await?;
    window.press('9').await?;
    window.press(ENTER).await?;
    window.text_when("label-set", |set| set == "Given: anger + sadness").await?;
    window.press(ENTER).await?;
    framed(&window, "offence").await?;
    window.press('4').await?;
    done(&window, 1).await?;
    window.press(ENTER).await?;
    framed(&window, "words").await?;
    on_desk(&window, "2").await?;
    // One question of the second text, after the first one, is answered when the process is killed.
    window.press(TAB).await?;
    framed(&window, "emotions").await?;
    window.press('0').await?;
    window.press(ENTER).await?;
    window.text_when("label-set", |set| set == "Given: none").await?;
    window.kill()?;

    let row =
        |text: &str, question: &str, label: &str| (text.to_owned(), question.to_owned(), label.to_owned());
    let labels = kept(&bench, &project);
    let spans = labels.iter().find(|(_, question, _)| question == "words").unwrap();
    let marked: serde_json::Value = serde_json::from_str(&spans.2)?;
    ensure!(marked == json!([{ "start": 0, "end": 5, "label": "insult" }]), "{marked}");
    let expected = BTreeSet::from([
        spans.clone(),
        row("t0", "emotions", "anger + sadness"),
        row("t0", "offence", "4"),
        row("t1", "emotions", "none"),
    ]);
    assert_eq!(labels, expected);

    // The screen is restored with the project, and begins with the unanswered questions of the last text.
    let window = Window::open(&bench, Some(&project)).await?;
    window.click("nav-label").await?;
    on_desk(&window, "2").await?;
    framed(&window, "words").await?;
    done(&window, 1).await?;
    window.press('0').await?;
    window.press(ENTER).await?;
    done(&window, 2).await?;
    // Undo goes back across questions: the words of this text, its emotions, then the previous text.
    for (question, count) in [("words", 1), ("emotions", 1), ("offence", 0)] {
        window.press('u').await?;
        framed(&window, question).await?;
        done(&window, count).await?;
    }
    window.close().await?;
    assert_eq!(kept(&bench, &project).len(), 2);
    Ok(())
}

#[tokio::test]
async fn window_and_command_agree_on_question_edits() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = study(&bench);
    bench.ok([
        "label",
        "record",
        "Study.dissensus",
        "--question",
        "offence",
        "--annotator",
        "ana",
        "--text-id",
        "t0",
        "--value",
        "5",
    ]);
    let window = Window::open(&bench, Some(&project)).await?;
    window.click("nav-label").await?;
    window.click("label-annotator-name").await?;
    window.type_text("Robin").await?;
    window.press(ENTER).await?;
    window.find("question-now").await?;
    window.click("questions-open").await?;
    window.click("question-edit-3").await?;
    window.click("rename-level-5").await?;
    window.type_text("!").await?;
    window.click("condition-level-1").await?;
    window.click("question-save").await?;
    window.find("questions-dialog").await?;
    window.close().await?;
    let info = bench.json(["project", "info", "Study.dissensus"]);
    let offence = &info["questions"][2];
    assert_eq!(offence["scale"]["levels"], json!(["1", "2", "3", "4", "5!"]));
    assert_eq!(offence["only_if"], json!({ "question": 2, "levels": [2] }), "anger was taken out");
    assert!(kept(&bench, &project).contains(&("t0".into(), "offence".into(), "5!".into())));
    let message = bench.ok(["project", "info", "Study.dissensus"]);
    insta::assert_snapshot!(bench.shown(&message));
    bench.ok(["data", "question", "Study.dissensus", "offence", "--always"]);
    assert_eq!(bench.json(["project", "info", "Study.dissensus"])["questions"][2]["only_if"], json!(null));
    for (more, why) in [
        (vec!["emotions", "--only-if", "offence=5"], "offence has 1, 2, 3, 4, 5!"),
        (vec!["emotions", "--only-if", "emotions=joy"], "its own answer"),
        (vec!["emotions", "--rename", "joy=none"], "cannot be called"),
        (vec!["nothing", "--rename", "a=b"], "no question \"nothing\""),
        (vec!["new", "--levels", "a,b", "--only-if", "offence"], "write QUESTION=LEVEL"),
    ] {
        let message = bench.refused(["data", "question", "Study.dissensus"].into_iter().chain(more));
        assert!(message.contains(why), "{message}");
    }
    Ok(())
}

/// After labelling: other people's marks are under the words,
/// and the findings show the words on which people differ.
#[tokio::test]
async fn spans_of_others_appear_after_the_answer() -> Result<()> {
    let bench = Bench::new();
    let project = study(&bench);
    bench.ok(["models", "encode", "Study.dissensus"]);
    for (who, marks) in [("ana", "insult"), ("ben", "order"), ("cem", "insult")] {
        for text in ["t0", "t1", "t2"] {
            let value = format!(r#"[{{"start": 0, "end": 5, "label": "{marks}"}}]"#);
            let label = ["label", "record", "Study.dissensus", "--annotator", who, "--text-id", text];
            bench.ok(label.into_iter().chain(["--question", "words", "--value", &value]));
        }
    }
    let window = Window::open(&bench, Some(&project)).await?;
    begin(&window).await?;
    ensure!(window.all("span-reveal").await?.is_empty(), "nothing of others before the answer");
    window.press(RIGHT).await?;
    window.press('2').await?;
    window.press(ENTER).await?;
    window.find("span-reveal").await?;
    window.click("nav-findings").await?;
    window.click("tab-findings-texts").await?;
    window.click("ranking-row").await?;
    window.click("heat-read").await?;
    let known = "return document.querySelector('[data-testid=\"heat-differ\"]')?.getAttribute('aria-pressed') ?? null";
    window.script_when(known, |pressed| pressed == "true").await?;
    window.text_when("heat-explanation", |reported| !reported.is_empty()).await?;
    // The loaded predictions are for this text only; `heat-marked` shows the words that people marked.
    window.click("heat-marked").await?;
    window.close().await
}
