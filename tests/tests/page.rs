//! A packet as a web page: answered by keyboard in real browsers, from disk, without a network, and merged.
#![cfg(target_os = "linux")] // nowhere else are there drivers for all browsers
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::files;
use dissensus_tests::page::{address, hand_in, open, save_work};
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
    // What is saved as a precaution is as good as a submission.
    let saved = bench.file("saved.handin", save_work(&window).await?);
    bench.ok(["study", "merge", "S.dissensus", &saved.to_string_lossy()]);
    assert_eq!(bench.json(["study", "status", "S.dissensus"])["people"][0]["given"], 4);
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

/// Where a button of the question and words of an element are on the screen: their middle.
const MIDDLE: &str = "const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2]; \
    const button = (words) => middle([...document.querySelectorAll('[data-testid=\"question-now\"] button')]\
        .find((one) => one.textContent.includes(words)).getBoundingClientRect()); \
    const words = (id, word) => { \
        const all = document.createTreeWalker(document.querySelector(`[data-testid=\"${id}\"]`), NodeFilter.SHOW_TEXT); \
        for (let node = all.nextNode(); node; node = all.nextNode()) { \
            const from = node.data.indexOf(word); \
            if (from < 0) continue; \
            const range = document.createRange(); \
            range.setStart(node, from); range.setEnd(node, from + word.length); \
            return middle(range.getBoundingClientRect()); } };";

async fn tap(window: &Window, what: &str) -> Result<()> {
    let at = window.script(&format!("{MIDDLE} return {what}")).await?;
    let [Some(x), Some(y)] = [at[0].as_f64(), at[1].as_f64()] else { anyhow::bail!("{what} is not there") };
    window.tap([x, y]).await
}

#[tokio::test]
async fn page_is_answered_by_touch_on_a_phone() -> Result<()> {
    const NOW: &str =
        "return document.querySelector('[data-testid=\"question-now\"]')?.dataset.question ?? null";
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    let page = handed_out(&bench);
    let start = Start::browser(&bench, Browser::Chromium)?.with_argument("--touch-events=enabled");
    let window = Window::start(&bench, start).await?;
    window.resize(320, 640).await?;
    window.go_to(&address(&page)).await?;
    window.script_when(NOW, |name| name == "rude").await?;
    tap(&window, "button('2')").await?;
    window.script_when(NOW, |name| name == "kind").await?;
    tap(&window, "button('slur')").await?;
    tap(&window, "button('Submit')").await?;
    window.script_when(NOW, |name| name == "words").await?;
    // A passage from the first to the third word.
    let body = window.text("label-text").await?;
    let [first, _, third] = body.split(' ').take(3).collect::<Vec<_>>()[..] else {
        anyhow::bail!("a text of three words")
    };
    for word in [first, third] {
        tap(&window, &format!("words('label-text', {word:?})")).await?;
    }
    tap(&window, "button('insult')").await?;
    tap(&window, "button('Submit')").await?;
    window.text_when("label-progress-done", |now| now == "1").await?;
    let file = bench.file("ada.handin", hand_in(&window).await?);
    bench.ok(["study", "merge", "S.dissensus", &file.to_string_lossy()]);
    bench.ok(["data", "export", "S.dissensus", "all.csv"]);
    let rows = csv::Reader::from_path(bench.path("all.csv"))?.into_deserialize::<BTreeMap<String, String>>();
    let rows: Vec<BTreeMap<String, String>> = rows.collect::<Result<_, _>>()?;
    let given: BTreeMap<&str, &str> = rows.iter().map(|row| (&*row["question"], &*row["label"])).collect();
    assert_eq!((given["rude"], given["kind"]), ("2", "slur"), "{rows:?}");
    let marked: Value = serde_json::from_str(given["words"])?;
    let end = body.find(third).context("the word")? + third.len();
    assert_eq!((&marked[0]["start"], &marked[0]["end"]), (&0.into(), &end.into()), "{marked}");
    window.close().await
}

/// An address that takes submissions by POST, as form services do; gives each body.
fn receiver() -> Result<(String, std::sync::mpsc::Receiver<Value>)> {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    let address = format!("http://{}/take", listener.local_addr()?);
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else { return };
            let (mut request, mut part) = (Vec::new(), [0; 4096]);
            // The header, and as much after it as it announces.
            let whole = loop {
                let Ok(bytes @ 1..) = connection.read(&mut part) else { break None };
                request.extend_from_slice(&part[..bytes]);
                let text = String::from_utf8_lossy(&request).into_owned();
                let Some((header, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = header.lines().find_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
                });
                if body.len() >= length.unwrap_or(0) {
                    break Some((header.starts_with("POST"), body.to_owned()));
                }
            };
            let answer = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n\
                          Access-Control-Allow-Private-Network: true\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = connection.write_all(answer.as_bytes());
            if let Some((true, body)) = whole
                && sender.send(serde_json::from_str(&body).unwrap_or_default()).is_err()
            {
                return;
            }
        }
    });
    Ok((address, receiver))
}

#[tokio::test]
async fn page_sends_what_was_answered_to_an_address() -> Result<()> {
    if !Browser::Firefox.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    study(&bench);
    let (target, received) = receiver()?;
    let assigned = ["--to-come", "2", "--per-text", "1", "--as", "join-page", "--out", "site"];
    let to = ["--send-to", &target, "--send-with", "experimentID=abc", "--completion", "C0DE"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(assigned).chain(to));
    let window = Window::start(&bench, Start::browser(&bench, Browser::Firefox)?).await?;
    window.go_to(&address(&bench.path("site/join.html"))).await?;
    window.click("take-part").await?;
    let mut done = 0;
    while window.all("packet-done").await?.is_empty() {
        done += 1;
        answer(&window, '2', done).await?;
        let next = "return ['packet-done', 'question-now'].map((id) => document.querySelector(`[data-testid=\"${id}\"]`))\
                    .some((one) => one && one.dataset.question !== 'words')";
        window.script_when(next, |next| next == true).await?;
    }
    ensure!(window.all("completion").await?.is_empty(), "the code before anything was sent");
    window.click("hand-in").await?;
    window.click("hand-in-write").await?;
    window.text_when("completion", |code| code.contains("C0DE")).await?;
    let body = received.recv_timeout(std::time::Duration::from_secs(30))?;
    assert_eq!(body["experimentID"], "abc", "{body}");
    let file = bench.file("sent.handin", body["data"].as_str().context("the submission")?);
    bench.ok(["study", "merge", "S.dissensus", &file.to_string_lossy()]);
    assert_eq!(bench.json(["project", "info", "S.dissensus"])["labels"], 3 * done);
    window.close().await
}

/// Twenty texts of the sample project, by keyboard; the browser ends half-way.
async fn twenty_texts(bench: &Bench, browser: Browser, person: &str) -> Result<()> {
    if !browser.is_to_be_tested() {
        return Ok(());
    }
    let page = bench.path("pages").join(format!("{person}.html"));
    let mut window = open(bench, browser, &page).await?;
    for done in 1..=20 {
        const NOW: &str =
            "return document.querySelector('[data-testid=\"question-now\"]')?.dataset.question ?? null";
        window.script_when(NOW, |name| name == "offensiveness").await?;
        window.press(if done % 2 == 0 { '5' } else { '1' }).await?;
        window.script_when(NOW, |name| name == "kind").await?;
        for key in ['1', '2', '\u{e007}'] {
            window.press(key).await?;
        }
        window.script_when(NOW, |name| name == "words").await?;
        for key in ['\u{e014}', '1', '\u{e007}'] {
            window.press(key).await?;
        }
        window.text_when("label-progress-done", |now| now == done.to_string()).await?;
        if done == 10 && browser == Browser::WebKit {
            // What this browser stores ends with it.
            window.go_to(&address(&page)).await?;
        } else if done == 10 {
            window.kill()?;
            window = open(bench, browser, &page).await?;
        }
        if done % 10 == 0 && done < 20 {
            window.text_when("label-progress-done", |now| now == done.to_string()).await?;
        }
    }
    bench.file(&format!("{person}.handin"), hand_in(&window).await?);
    window.close().await
}

#[tokio::test]
async fn pages_of_the_sample_project_change_its_disagreement() -> Result<()> {
    let bench = Bench::new();
    bench.ok(["project", "sample", "S.dissensus"]);
    for (name, scale, levels) in [("kind", "multi-label", "slur,threat"), ("words", "spans", "insult")] {
        bench.ok(["data", "question", "S.dissensus", name, "--scale", scale, "--levels", levels]);
    }
    bench.ok(["models", "encode", "S.dissensus"]);
    let people = ["web", "chrome", "fox"];
    let named = people.join(",");
    let assigned = ["--annotators", &named, "--per-text", "1", "--as", "page"];
    let asked =
        ["--question", "offensiveness", "--question", "kind", "--question", "words", "--out", "pages"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(assigned).chain(asked));
    let ranking = || {
        let of = ["--question", "offensiveness", "--by", "split", "--top", "1000"];
        let report = bench.json(["analyse", "disagreement", "S.dissensus"].into_iter().chain(of));
        let rows = report["texts"].as_array().cloned().unwrap_or_default();
        let values = rows.iter().map(|row| (row["text_id"].to_string(), row["split"].as_f64()));
        values.collect::<BTreeMap<_, _>>()
    };
    let before = ranking();
    let [web, chrome, fox] = people.map(|person| bench.path(&format!("{person}.handin")));
    tokio::try_join!(
        twenty_texts(&bench, Browser::WebKit, people[0]),
        twenty_texts(&bench, Browser::Chromium, people[1]),
        twenty_texts(&bench, Browser::Firefox, people[2]),
    )?;
    let files: Vec<PathBuf> = [web, chrome, fox].into_iter().filter(|file| file.exists()).collect();
    for file in &files {
        bench.ok(["study", "merge", "S.dissensus", &file.to_string_lossy()]);
    }
    let status = bench.json(["study", "status", "S.dissensus"]);
    for person in status["people"].as_array().context("people")?.iter().take(files.len()) {
        assert_eq!(person["given"], 20, "{status}");
    }
    let after = ranking();
    let moved = before.iter().filter(|(text, value)| after.get(*text) != Some(value)).count();
    ensure!(moved > 20, "{moved} of {} texts have another disagreement", before.len());
    Ok(())
}
