//! How long a page takes to show its first text, and the next one after an answer, on a slow device.
//!
//! Chromium slows its processor down four times. `--nocapture` prints the times; of large pages:
//! `DISSENSUS_TEXTS=10000`.
#![cfg(target_os = "linux")] // nowhere else is there a driver for Chromium
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would
#![allow(clippy::print_stdout)] // times of large pages, as tests print them

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::draws::setting;
use dissensus_tests::files;
use dissensus_tests::page::address;
use dissensus_tests::window::{Browser, Start, Window};
use serde_json::{Value, json};

/// Notes when the first text is on the screen.
const FIRST_TEXT: &str = "new MutationObserver((_, all) => { \
    if (!document.querySelector('[data-testid=label-text]')) return; \
    all.disconnect(); \
    requestAnimationFrame(() => setTimeout(() => (window.firstText = performance.now()))); \
}).observe(document, { subtree: true, childList: true })";

/// Answers by keys, and gives the time from each key to the next text.
const ANSWERS: &str = "const here = () => document.querySelector('[data-testid=label-text]')?.dataset.textId; \
    const times = []; \
    const answer = () => new Promise((done) => { \
        const [before, began] = [here(), performance.now()]; \
        const look = () => (here() !== before ? done(performance.now() - began) : requestAnimationFrame(look)); \
        for (const kind of ['keydown', 'keyup']) \
            document.activeElement.dispatchEvent(new KeyboardEvent(kind, { key: '2', code: 'Digit2', bubbles: true, cancelable: true })); \
        look(); }); \
    return (async () => { for (let n = 0; n < 20; n += 1) times.push(await answer()); return times; })()";

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[tokio::test]
async fn page_of_many_texts_is_usable_on_a_slow_device() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let texts = usize::try_from(setting("DISSENSUS_TEXTS", 200))?;
    let bench = Bench::without_encoder();
    bench.file("texts.csv", files::texts(texts));
    bench.ok(["project", "new", "S.dissensus"]);
    bench.ok(["data", "import", "S.dissensus", "texts.csv"]);
    bench.ok(["data", "question", "S.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
    let assigned = ["--annotators", "ada", "--per-text", "1", "--as", "page", "--out", "pages"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(assigned));
    let page = address(&bench.path("pages/ada.html"));
    let window = Window::start(&bench, Start::browser(&bench, Browser::Chromium)?).await?;
    // The first page of a browser waits for the browser itself.
    window.go_to(&page).await?;
    window.find("label-text").await?;
    window.devtools("Emulation.setCPUThrottlingRate", &json!({ "rate": 4 })).await?;
    window.devtools("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": FIRST_TEXT })).await?;
    let mut first = Vec::new();
    for _ in 0..5 {
        window.go_to(&page).await?;
        let shown = window.script_when("return window.firstText ?? null", Value::is_number).await?;
        first.push(shown.as_f64().context("a time")?);
    }
    let answers = window.script(ANSWERS).await?;
    let answers: Vec<f64> = answers.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    ensure!(answers.len() == 20, "{answers:?}");
    window.text_when("label-progress-done", |done| done == "20").await?;
    let longest = answers.iter().copied().fold(0.0, f64::max);
    println!(
        "{texts} texts, processor slowed down 4 times: first text after {:.0} ms, next text {:.0} ms after an \
         answer (median of 20), {longest:.0} ms (longest)",
        median(first),
        median(answers),
    );
    window.close().await
}
