//! A packet as a web page: answered by keyboard in real browsers, from disk, without a network, and merged.
#![cfg(target_os = "linux")] // nowhere else are there drivers for all browsers
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::files;
use dissensus_tests::page::{address, hand_in, open};
use dissensus_tests::window::{Browser, Start, Window};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most bytes of a page without its texts.
const LARGEST: u64 = 1_500_000;

/// Eight texts and three questions, handed out to two people as pages.
fn handed_out(bench: &Bench) -> PathBuf {
    study(bench);
    pages(bench)
}

fn study(bench: &Bench) {
    bench.file("texts.csv", files::texts(8));
    bench.ok(["project", "new", "S.dissensus"]);
    bench.ok(["data", "import", "S.dissensus", "texts.csv"]);
    bench.ok(["data", "question", "S.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
    bench.ok(["data", "question", "S.dissensus", "kind", "--scale", "multi-label", "--levels", "slur,lie"]);
    bench.ok(["data", "question", "S.dissensus", "words", "--scale", "spans", "--levels", "insult"]);
    bench.file("guideline.md", "# Rules\n\nBe fair.");
    bench.ok(["data", "guideline", "S.dissensus", "--from", "guideline.md"]);
}

fn pages(bench: &Bench) -> PathBuf {
    let assigned = ["--annotators", "ada,ben", "--per-text", "2", "--as", "page", "--out", "pages"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(assigned));
    bench.path("pages").join("ada.html")
}

/// Answers all three questions about the text on the screen: a level, no option, nothing to mark.
async fn answer(window: &Window, level: char, done: u32) -> Result<()> {
    const NOW: &str =
        "return document.querySelector('[data-testid=\"question-now\"]')?.dataset.question ?? null";
    window.script_when(NOW, |name| name == "rude").await?;
    window.press(level).await?;
    for question in ["kind", "words"] {
        window.script_when(NOW, |name| name == question).await?;
        window.press('0').await?;
        window.press('\u{e007}').await?;
    }
    window.text_when("label-progress-done", |now| now == done.to_string()).await.map(drop)
}

async fn page_is_answered_and_merged(browser: Browser) -> Result<()> {
    let bench = Bench::without_encoder();
    let page = handed_out(&bench);
    ensure!(std::fs::metadata(&page)?.len() < LARGEST);
    let window = open(&bench, browser, &page).await?;
    ensure!(window.text("packet-person").await? == "ada");
    for (done, level) in (1..).zip(['1', '3', '2']) {
        answer(&window, level, done).await?;
    }
    // The page asked for nothing from anywhere.
    let asked = "return performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith('data:'))";
    ensure!(window.script(asked).await? == serde_json::json!([]), "{}", window.script(asked).await?);
    // Not only because nothing answers: its own policy forbids it.
    let policy = "return new Promise((done) => { \
                  document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective)); \
                  fetch('https://example.org').catch(() => setTimeout(() => done('no policy'), 2000)); })";
    ensure!(window.script(policy).await? == "connect-src", "{}", window.script(policy).await?);

    let window = match browser {
        // What this browser stores ends with it: the page is loaded again instead.
        Browser::WebKit => {
            window.go_to(&address(&page)).await?;
            window
        }
        Browser::Chromium | Browser::Firefox => {
            window.kill()?;
            open(&bench, browser, &page).await?
        }
    };
    window.text_when("label-progress-done", |now| now == "3").await?;
    answer(&window, '2', 4).await?;
    let early = bench.file("early.handin", hand_in(&window).await?);
    bench.ok(["study", "merge", "S.dissensus", &early.to_string_lossy()]);

    // The study changes, and the page is written again: it goes on where the first one was.
    bench.ok(["data", "question", "S.dissensus", "rude", "--prompt", "Is it rude?"]);
    let again = ["--write-again", "--annotators", "ada", "--as", "page", "--out", "again"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(again));
    window.go_to("about:blank").await?;
    window.go_to(&address(&bench.path("again/ada.html"))).await?;
    window.text_when("label-progress-done", |now| now == "4").await?;
    answer(&window, '1', 5).await?;
    let late = bench.file("late.handin", hand_in(&window).await?);
    for (file, new) in [(&late, 5), (&early, 5)] {
        bench.ok(["study", "merge", "S.dissensus", &file.to_string_lossy()]);
        let status: Value = bench.json(["study", "status", "S.dissensus"]);
        assert_eq!(status["people"][0]["given"], new, "{status}");
    }
    let info = bench.json(["project", "info", "S.dissensus"]);
    assert_eq!(info["labels"], 15, "three questions about five texts");
    // Levels and the version of the guideline are those that were on the screen.
    bench.ok(["data", "export", "S.dissensus", "all.csv", "--question", "rude"]);
    let rows = csv::Reader::from_path(bench.path("all.csv"))?.into_deserialize::<BTreeMap<String, String>>();
    let rows: Vec<BTreeMap<String, String>> = rows.collect::<Result<_, _>>()?;
    let mut levels: Vec<&str> = rows.iter().map(|row| row["label"].as_str()).collect();
    levels.sort_unstable();
    assert_eq!(levels, ["1", "1", "2", "2", "3"], "{rows:?}");
    window.close().await
}

#[tokio::test]
async fn page_is_answered_and_merged_in_webkit() -> Result<()> {
    page_is_answered_and_merged(Browser::WebKit).await
}

#[tokio::test]
async fn page_is_answered_and_merged_in_chromium() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    page_is_answered_and_merged(Browser::Chromium).await
}

#[tokio::test]
async fn page_is_answered_and_merged_in_firefox() -> Result<()> {
    if !Browser::Firefox.is_to_be_tested() {
        return Ok(());
    }
    page_is_answered_and_merged(Browser::Firefox).await
}

async fn page_in_a_second_tab_is_refused(browser: Browser) -> Result<()> {
    let bench = Bench::without_encoder();
    let page = handed_out(&bench);
    let window = open(&bench, browser, &page).await?;
    window.open_tab().await?;
    window.go_to(&address(&page)).await?;
    window.find("page-elsewhere").await?;
    ensure!(window.all("label-text").await?.is_empty());
    window.close_tab().await?;
    answer(&window, '1', 1).await?;
    window.close().await
}

#[tokio::test]
async fn page_in_a_second_tab_is_refused_in_every_browser() -> Result<()> {
    for browser in Browser::ALL.into_iter().filter(|browser| browser.is_to_be_tested()) {
        page_in_a_second_tab_is_refused(browser).await?;
    }
    Ok(())
}

#[tokio::test]
async fn page_for_everybody_enrols_sends_and_merges() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    study(&bench);
    let assigned = ["--to-come", "2", "--per-text", "1", "--as", "join-page", "--out", "site"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(assigned));
    let page = address(&bench.path("site/join.html"));
    let window = Window::start(&bench, Start::browser(&bench, Browser::Chromium)?).await?;
    for (at, person) in ["ana", "ben"].iter().enumerate() {
        window.go_to(&format!("{page}?PROLIFIC_PID={person}&STUDY_ID=s")).await?;
        window.click("take-part").await?;
        window.find("label-text").await?;
        answer(&window, '2', 1).await?;
        // Who comes back goes on without an invitation.
        window.go_to("about:blank").await?;
        window.go_to(&format!("{page}?PROLIFIC_PID={person}")).await?;
        window.text_when("label-progress-done", |now| now == "1").await?;
        let file = bench.file(&format!("{person}.handin"), hand_in(&window).await?);
        bench.ok(["study", "merge", "S.dissensus", &file.to_string_lossy()]);
        let info = bench.json(["project", "info", "S.dissensus"]);
        assert_eq!((&info["annotators"], &info["labels"]), (&(at + 1).into(), &(3 * (at + 1)).into()));
    }
    bench.ok(["data", "export", "S.dissensus", "all.csv", "--question", "rude"]);
    let exported = std::fs::read_to_string(bench.path("all.csv"))?;
    ensure!(
        ["PROLIFIC_PID", "STUDY_ID", "ana", "ben"].iter().all(|word| exported.contains(word)),
        "{exported}"
    );
    window.close().await
}

#[tokio::test]
async fn locked_page_opens_with_its_passphrase_only() -> Result<()> {
    let bench = Bench::without_encoder();
    study(&bench);
    let assigned = ["--annotators", "ada", "--per-text", "1", "--as", "locked-page", "--out", "pages"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(assigned));
    let list = std::fs::read_to_string(bench.path("pages/passphrases.csv"))?;
    let passphrase = list.lines().nth(1).and_then(|row| row.rsplit_once(',')).context("no passphrase")?.1;
    let window = Window::start(&bench, Start::browser(&bench, Browser::WebKit)?).await?;
    window.go_to(&address(&bench.path("pages/ada.html"))).await?;
    window.find("passphrase").await?;
    window.type_text("abcd").await?;
    window.click("unlock").await?;
    window.find("wrong-passphrase").await?;
    ensure!(window.all("label-text").await?.is_empty());
    window
        .script(
            "const field = document.querySelector('[data-testid=passphrase]'); field.focus(); field.select()",
        )
        .await?;
    window.type_text(&passphrase.to_uppercase().replace('-', " ")).await?;
    window.click("unlock").await?;
    window.find("label-text").await?;
    answer(&window, '1', 1).await?;
    let file = bench.file("ada.handin", hand_in(&window).await?);
    bench.ok(["study", "merge", "S.dissensus", &file.to_string_lossy()]);
    assert_eq!(bench.json(["project", "info", "S.dissensus"])["labels"], 3);
    window.close().await
}
