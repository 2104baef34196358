//! A page whose tab or browser ends, or whose storage is full, at any moment: no confirmed answer is lost.
//!
//! An answer is confirmed once the page counts it. A script in the page answers as fast as the page goes on
//! and collects what it saw confirmed; the test reads that before it ends anything, so that all of it has to
//! be there afterwards. Longer runs, of which `--nocapture` prints the counts: `DISSENSUS_ROUNDS=100`, and
//! `DISSENSUS_SEED` for other moments.
#![cfg(target_os = "linux")] // nowhere else are there drivers for all browsers
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would
#![allow(clippy::print_stdout)] // counts of longer runs, as tests print them

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::draws::{Draws, setting};
use dissensus_tests::files;
use dissensus_tests::page::{address, hand_in};
use dissensus_tests::window::{Browser, Start, Window};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Answers in the page, by keys. `until` gives what is confirmed once it is so much, or everything.
const ANSWERING: &str = include_str!("page_kills.js");
/// The most answers that are waited for in a round.
const MOST: usize = 8;
/// So many texts have to be left for a round. While an answer of the reading is on its way, more are given.
const ROOM: usize = 4 * MOST;

/// How a round ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The tab goes to another page.
    Leave,
    /// The tab is closed.
    Close,
    /// The process in which the page runs is killed; the browser is closed and started again.
    Crash,
    /// The browser is killed.
    Kill,
    /// A write of the storage is refused, and all later ones.
    Refuse,
    /// A write of the storage is undone by the browser, and all later ones.
    Abort,
}

impl End {
    fn of(browser: Browser) -> Vec<Self> {
        let all = [Self::Leave, Self::Close, Self::Crash, Self::Kill, Self::Refuse, Self::Abort];
        // What WebKit stores ends with it, and its driver ends it with its page.
        let ends_it = |end: &Self| matches!(end, Self::Crash | Self::Kill);
        all.into_iter().filter(|end| browser != Browser::WebKit || !ends_it(end)).collect()
    }
}

/// A study of one question, and what was seen of one person's page.
struct Block {
    bench: Bench,
    texts: usize,
    page: PathBuf,
    /// The rounds and levels of confirmed answers, by the text's id.
    confirmed: BTreeMap<String, (usize, String)>,
    round: usize,
    /// Texts that were asked again after their answer was confirmed.
    asked_again: Vec<String>,
}

impl Block {
    fn new(texts: usize) -> Self {
        let bench = Bench::without_encoder();
        bench.file("texts.csv", files::texts(texts));
        bench.ok(["project", "new", "S.dissensus"]);
        bench.ok(["data", "import", "S.dissensus", "texts.csv"]);
        bench.ok(["data", "question", "S.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
        let assigned = ["--annotators", "ada,ben", "--per-text", "2", "--as", "page", "--out", "pages"];
        bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(assigned));
        let page = bench.path("pages").join("ada.html");
        Self { bench, texts, page, confirmed: BTreeMap::new(), round: 0, asked_again: Vec::new() }
    }

    async fn start(&self, browser: Browser) -> Result<Window> {
        Window::start(&self.bench, Start::browser(&self.bench, browser)?).await
    }

    /// Opens the page in the tab, and returns how many texts it counts as answered.
    async fn load(&self, window: &Window) -> Result<usize> {
        window.go_to(&address(&self.page)).await?;
        let done = window.text_when("label-progress-done", |done| !done.is_empty()).await?;
        Ok(done.parse()?)
    }

    /// Remembers what was read of the page as confirmed.
    fn note(&mut self, read: &Value) -> Result<()> {
        for answer in read["confirmed"].as_array().context("what was confirmed")? {
            let [text, level] = [0, 1].map(|at| answer[at].as_str().unwrap_or_default().to_owned());
            let before = self.confirmed.insert(text.clone(), (self.round, level));
            if before.is_some_and(|(round, _)| round != self.round) {
                self.asked_again.push(text);
            }
        }
        Ok(())
    }

    /// Answers what is left and merges it; counts what is missing in the project, and what is there twice.
    async fn finish(mut self, browser: Browser, window: Window, seen: &mut Seen) -> Result<()> {
        self.load(&window).await?;
        seen.confirmed += self.confirmed.len();
        self.answer(&window, 0).await?;
        let read = window.script("return window.answering.until(Infinity)").await?;
        self.note(&read)?;
        window.find("packet-done").await?;
        let file = self.bench.file("ada.handin", hand_in(&window).await?);
        let mut given = BTreeMap::<String, usize>::new();
        let lines = std::fs::read_to_string(&file)?;
        let lines: Vec<Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        for event in lines.iter().filter_map(|line| line.get("event")) {
            ensure!(event["answer"]["kind"] == "level", "only answers were given: {event}");
            let text = usize::try_from(event["text"].as_u64().context("a text")?)?;
            *given.entry(lines[1]["texts"][text][0].as_str().unwrap_or_default().to_owned()).or_default() +=
                1;
        }
        seen.doubled += given.values().filter(|times| **times > 1).count();

        let report = self.bench.json(["study", "merge", "S.dissensus", "ada.handin"]);
        ensure!(report["files"][0]["refused"] == false, "{report}");
        self.bench.ok(["data", "export", "S.dissensus", "all.csv"]);
        let rows = csv::Reader::from_path(self.bench.path("all.csv"))?.into_deserialize();
        let rows: Vec<BTreeMap<String, String>> = rows.collect::<Result<_, _>>()?;
        let merged: BTreeMap<_, _> = rows.iter().map(|row| (&row["text_id"], &row["label"])).collect();
        let missing: Vec<_> =
            self.confirmed.iter().filter(|(text, (_, level))| merged.get(text) != Some(&level)).collect();
        if !missing.is_empty() || !self.asked_again.is_empty() {
            println!("{browser:?} lost {missing:?} and {:?} of {:?}", self.asked_again, self.confirmed);
        }
        seen.missing += missing.len() + self.asked_again.len();
        let labels = self.bench.json(["project", "info", "S.dissensus"])["labels"].as_u64();
        ensure!(labels == Some(self.texts as u64) && rows.len() == self.texts, "{labels:?} labels");
        window.close_tab().await?;
        window.close().await
    }

    /// Begins to answer in the page, with levels of this round.
    async fn answer(&mut self, window: &Window, round: usize) -> Result<()> {
        self.round = round;
        window.script(&format!("{ANSWERING}; window.answering = answering({round})")).await.map(drop)
    }

    /// Reads what the page shows as confirmed at a random moment.
    async fn read(&mut self, window: &Window, draws: &mut Draws) -> Result<Value> {
        let wanted = draws.below(MOST + 1);
        let mut read = window.script(&format!("return window.answering.until({wanted})")).await?;
        // What ends the page comes right behind a confirmation, or at any moment after it.
        if draws.below(2) == 0 {
            tokio::time::sleep(Duration::from_millis(draws.below(40) as u64)).await;
            read = window.script("return window.answering.until(0)").await?;
        }
        self.note(&read)?;
        Ok(read)
    }
}

/// What was seen in all rounds.
#[derive(Debug, Default)]
struct Seen {
    rounds: BTreeMap<End, usize>,
    /// Answers that were confirmed before a page ended.
    confirmed: usize,
    missing: usize,
    doubled: usize,
    /// Answers that were saved and not read before the page ended.
    unread: usize,
    /// Rounds in which the first write that failed was none of an answer, but of what was read.
    of_reading: usize,
}

async fn confirmed_answers_stay(browser: Browser) -> Result<()> {
    if !browser.is_to_be_tested() {
        return Ok(());
    }
    let rounds = usize::try_from(setting("DISSENSUS_ROUNDS", 8))?;
    let seed = setting("DISSENSUS_SEED", 15);
    let mut draws = Draws::new(seed);
    let began = Instant::now();
    let mut seen = Seen::default();
    let texts = ROOM + (rounds * MOST).clamp(MOST, 200);
    let mut block = Block::new(texts);
    let mut window = block.start(browser).await?;
    let mut ends = Vec::new();
    for round in 1..=rounds {
        if ends.is_empty() {
            ends = End::of(browser);
            draws.shuffle(&mut ends);
        }
        let end = ends.pop().context("an end")?;
        window.open_tab().await?;
        let done = block.load(&window).await?;
        // Whatever was confirmed is counted when the page comes again.
        if done < block.confirmed.len() {
            println!("{browser:?}, round {round}: {done} are left of {:?}", block.confirmed);
            seen.missing += block.confirmed.len() - done;
        }
        let unread = done.saturating_sub(block.confirmed.len());
        if block.texts - done < ROOM {
            seen.unread += unread;
            block.finish(browser, window, &mut seen).await?;
            block = Block::new(texts);
            window = block.start(browser).await?;
            window.open_tab().await?;
            block.load(&window).await?;
        }
        if matches!(end, End::Leave | End::Close) {
            // After a real key, browsers ask before they leave a page with unsent work. This one shows a
            // hidden text, and does nothing here.
            window.press('b').await?;
        }
        block.answer(&window, round).await?;
        match end {
            End::Leave => {
                block.read(&window, &mut draws).await?;
                window.go_to("about:blank").await?;
                window.close_tab().await?;
            }
            End::Close => {
                block.read(&window, &mut draws).await?;
                window.close_tab().await?;
            }
            End::Crash => {
                block.read(&window, &mut draws).await?;
                window.kill_pages()?;
                window.terminate()?;
                window = block.start(browser).await?;
            }
            End::Kill => {
                block.read(&window, &mut draws).await?;
                window.kill()?;
                window = block.start(browser).await?;
            }
            End::Refuse | End::Abort => {
                let (after, abort) = (draws.below(3 * MOST), end == End::Abort);
                let read = window.script(&format!("return window.answering.full({after}, {abort})")).await?;
                block.note(&read)?;
                let shown = read["shown"].as_array().context("the messages of the page")?;
                ensure!(
                    shown
                        .iter()
                        .any(|one| one.as_str().is_some_and(|one| one.contains("the answer was not saved"))),
                    "{read}"
                );
                ensure!(read["after"] == json!(0), "an answer was confirmed on a full storage: {read}");
                seen.of_reading += usize::from(read["isAnswer"] == json!(false));
                let again = block.load(&window).await?;
                ensure!(read["done"] == json!(again), "{again} are stored: {read}");
                window.close_tab().await?;
            }
        }
        *seen.rounds.entry(end).or_default() += 1;
    }
    window.open_tab().await?;
    let done = block.load(&window).await?;
    seen.missing += block.confirmed.len().saturating_sub(done);
    seen.unread += done.saturating_sub(block.confirmed.len());
    block.finish(browser, window, &mut seen).await?;
    println!("{browser:?}, seed {seed}, {:.1} s: {seen:?}", began.elapsed().as_secs_f64());
    ensure!(seen.missing == 0 && seen.doubled == 0, "answers were lost or doubled: {seen:?}");
    ensure!(seen.confirmed >= rounds, "too few answers: nothing was tested");
    Ok(())
}

#[tokio::test]
async fn confirmed_answers_stay_in_webkit() -> Result<()> {
    confirmed_answers_stay(Browser::WebKit).await
}

#[tokio::test]
async fn confirmed_answers_stay_in_chromium() -> Result<()> {
    confirmed_answers_stay(Browser::Chromium).await
}

#[tokio::test]
async fn confirmed_answers_stay_in_firefox() -> Result<()> {
    confirmed_answers_stay(Browser::Firefox).await
}
