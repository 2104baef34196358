//! The same answers given in a page, on a server, in a packet by window and command, and in the project make
//! the same project.
#![cfg(target_os = "linux")] // nowhere else are there drivers for all browsers
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::files;
use dissensus_tests::page::{address, hand_in};
use dissensus_tests::served::{Serving, links};
use dissensus_tests::window::{Browser, Start, Window};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';
const RIGHT: char = '\u{e014}';

/// How the command records answers: it shows no guideline.
const COMMAND: &str = "command, guideline \"\"";
/// How the desk of a page records answers.
const DESK: &str = "window, guideline \"1\"";

/// What one person says about a text: as keys of the desk, and as values of the command.
struct Given {
    text: &'static str,
    note: Option<&'static str>,
    level: char,
    options: (&'static str, &'static str),
    /// The first word of the text, where it is marked.
    marks: Option<&'static str>,
}

const GIVEN: [Given; 4] = [
    Given {
        text: "t0",
        note: Some("wry, \"so\""),
        level: '2',
        options: ("12", "slur;lie"),
        marks: Some("Thank"),
    },
    Given { text: "t1", note: None, level: '1', options: ("0", "none"), marks: None },
    Given { text: "t2", note: None, level: '3', options: ("2", "lie"), marks: Some("To") },
    Given { text: "t3", note: Some("müde — 疲"), level: '3', options: ("1", "slur"), marks: None },
];

/// Four texts and three questions for two people: `study.dissensus`, with packets as pages and as files.
fn handed_out(bench: &Bench) {
    bench.file("texts.csv", files::texts(GIVEN.len()));
    bench.ok(["project", "new", "study.dissensus"]);
    bench.ok(["data", "import", "study.dissensus", "texts.csv"]);
    for (name, scale, levels) in
        [("rude", "ordinal", "1,2,3"), ("kind", "multi-label", "slur,lie"), ("words", "spans", "insult")]
    {
        bench.ok(["data", "question", "study.dissensus", name, "--scale", scale, "--levels", levels]);
    }
    bench.file("guideline.md", "# Rules\n\nBe fair.");
    bench.ok(["data", "guideline", "study.dissensus", "--from", "guideline.md"]);
    let assigned = ["--annotators", "ada,ben", "--per-text", "2", "--as", "page", "--out", "pages"];
    bench.ok(["study", "assign", "study.dissensus"].into_iter().chain(assigned));
    let again = ["--write-again", "--annotators", "ada", "--out", "packets"];
    bench.ok(["study", "assign", "study.dissensus"].into_iter().chain(again));
}

/// A project of its own for one way of answering.
fn copy(bench: &Bench, way: &str) -> String {
    let project = format!("{way}.dissensus");
    std::fs::copy(bench.path("study.dissensus"), bench.path(&project)).unwrap();
    project
}

/// Gives all answers by the command.
fn record(bench: &Bench, project: &str) {
    for Given { text, note, level, options, marks } in &GIVEN {
        let marks: Vec<_> = marks
            .iter()
            .map(|word| serde_json::json!({"start": 0, "end": word.len(), "label": "insult"}))
            .collect();
        let (level, marks) = (level.to_string(), serde_json::to_string(&marks).unwrap());
        for (question, value) in [("rude", level.as_str()), ("kind", options.1), ("words", &marks)] {
            let label = ["label", "record", project, "--annotator", "ada", "--text-id", text];
            let note = note.filter(|_| question == "rude").map(|note| ["--note", note]);
            let more =
                ["--question", question, "--value", value].into_iter().chain(note.into_iter().flatten());
            bench.ok(label.into_iter().chain(more));
        }
    }
}

/// Gives all answers by the keys of the desk, in the order in which it asks.
async fn answer(window: &Window) -> Result<()> {
    const NOW: &str =
        "return document.querySelector('[data-testid=\"question-now\"]')?.dataset.question ?? null";
    const TEXT: &str = "const body = document.querySelector('[data-testid=\"label-text\"]')?.textContent; \
                        return body?.replace(/.* number (\\d+)\\s*/, 't$1') ?? null";
    let mut last = Value::Null;
    for done in 1..=GIVEN.len() {
        window.script_when(NOW, |name| name == "rude").await?;
        let is_next = |text: &Value| *text != last && GIVEN.iter().any(|given| *text == given.text);
        let text = window.script_when(TEXT, is_next).await?;
        let given = GIVEN.iter().find(|given| text == given.text).context("a text")?;
        if let Some(note) = given.note {
            window.click("label-note").await?;
            window.type_text(note).await?;
            window.press(ESCAPE).await?;
        }
        window.press(given.level).await?;
        window.script_when(NOW, |name| name == "kind").await?;
        for key in given.options.0.chars().chain([ENTER]) {
            window.press(key).await?;
        }
        window.script_when(NOW, |name| name == "words").await?;
        let keys: &[char] = if given.marks.is_some() { &[RIGHT, '1', ENTER] } else { &['0', ENTER] };
        for key in keys {
            window.press(*key).await?;
        }
        window.text_when("label-progress-done", |now| now == done.to_string()).await?;
        if done == 1 {
            window.script_when(NOW, |name| name == "rude").await?;
            window.press('u').await?;
            window.script_when(NOW, |name| name == "words").await?;
            for key in keys {
                window.press(*key).await?;
            }
            window.text_when("label-progress-done", |now| now == done.to_string()).await?;
        }
        last = text;
    }
    window.find("packet-done").await.map(drop)
}

/// Rows of the export without times, and apart from them how the answers came and what was on the screen.
fn exported(bench: &Bench, project: &str) -> Result<(Vec<BTreeMap<String, String>>, String)> {
    let file = format!("{project}.csv");
    bench.ok(["data", "export", project, &file, "--wordings", "--force"]);
    let rows = csv::Reader::from_path(bench.path(&file))?.into_deserialize();
    let mut rows: Vec<BTreeMap<String, String>> = rows.collect::<Result<_, _>>()?;
    let mut ways = BTreeSet::new();
    for row in &mut rows {
        for time in ["created_at", "duration_ms"] {
            row.remove(time).context(time)?;
        }
        let [source, guideline] = ["source", "guideline"].map(|column| row.remove(column));
        ways.insert(format!(
            "{}, guideline {:?}",
            source.context("a source")?,
            guideline.context("a version")?
        ));
    }
    rows.sort();
    Ok((rows, ways.into_iter().collect::<Vec<_>>().join("; ")))
}

/// Checks that a project is the one to which the command gave all answers directly.
fn check(bench: &Bench, project: &str, expected_way: &str) -> Result<()> {
    let direct = bench.path("direct.dissensus");
    if !direct.exists() {
        copy(bench, "direct");
        record(bench, "direct.dissensus");
    }
    let (expected, _) = exported(bench, "direct.dissensus")?;
    ensure!(expected.len() == 3 * GIVEN.len(), "{expected:#?}");
    let (rows, way) = exported(bench, project)?;
    assert_eq!(rows, expected, "{project}");
    assert_eq!(way, expected_way, "{project}");
    assert_eq!(bench.json(["project", "info", project])["labels"], expected.len(), "{project}");
    Ok(())
}

#[test]
fn same_answers_in_a_packet_make_the_same_project() -> Result<()> {
    let bench = Bench::without_encoder();
    handed_out(&bench);
    record(&bench, "packets/ada.dissensus");
    bench.ok(["study", "hand-in", "packets/ada.dissensus", "packet.handin"]);
    let project = copy(&bench, "packet");
    bench.ok(["study", "merge", &project, "packet.handin"]);
    check(&bench, &project, COMMAND)
}

#[tokio::test]
async fn same_answers_in_the_window_make_the_same_project() -> Result<()> {
    let bench = Bench::without_encoder();
    handed_out(&bench);
    let window = Window::open(&bench, Some(&bench.path("packets/ada.dissensus"))).await?;
    answer(&window).await?;
    let submission = bench.path("window.handin");
    window.hand_over("handIn", &submission).await?;
    window.find("done-toast").await?;
    window.close().await?;
    let project = copy(&bench, "window");
    bench.ok(["study", "merge", &project, "window.handin"]);
    check(&bench, &project, DESK)
}

/// In a page that is a file, and in one of a server.
async fn same_answers_in_a_page_make_the_same_project(browser: Browser) -> Result<()> {
    if !browser.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    handed_out(&bench);
    let window = Window::start(&bench, Start::browser(&bench, browser)?).await?;
    window.go_to(&address(&bench.path("pages/ada.html"))).await?;
    answer(&window).await?;
    bench.file("page.handin", hand_in(&window).await?);
    let page = copy(&bench, "page");
    bench.ok(["study", "merge", &page, "page.handin"]);
    check(&bench, &page, DESK)?;

    let served = copy(&bench, "server");
    let serving = Serving::start(&bench, &served, "127.0.0.1:0")?;
    let links = links(&bench, &served, &serving.address);
    let (_, link) = links.iter().find(|(name, _)| name == "ada").context("a link")?;
    window.go_to(link).await?;
    answer(&window).await?;
    let left = "return document.querySelector('[data-testid=\"send-status\"]')?.dataset.left ?? null";
    window.script_when(left, |left| left == "0").await?;
    serving.end()?;
    check(&bench, &served, DESK)?;
    window.close().await
}

#[tokio::test]
async fn same_answers_in_webkit_make_the_same_project() -> Result<()> {
    same_answers_in_a_page_make_the_same_project(Browser::WebKit).await
}

#[tokio::test]
async fn same_answers_in_chromium_make_the_same_project() -> Result<()> {
    same_answers_in_a_page_make_the_same_project(Browser::Chromium).await
}

#[tokio::test]
async fn same_answers_in_firefox_make_the_same_project() -> Result<()> {
    same_answers_in_a_page_make_the_same_project(Browser::Firefox).await
}
