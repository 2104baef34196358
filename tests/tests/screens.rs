//! Every view and dialog of the window over the mock: what axe-core finds in light and dark, whether all
//! of it fits or can be scrolled to in every language and in a small window that is enlarged, the focus, and
//! in the pseudo-language whether all of it is translated and has room for texts that are 40 % longer.
#![cfg(target_os = "linux")] // nowhere else are there drivers

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::axe::Axe;
use dissensus_tests::command::Bench;
use dissensus_tests::mock::{Mock, PROJECT, screens, views};
use dissensus_tests::page::address;
use dissensus_tests::window::{Browser, Start, Window};
use std::collections::HashSet;
use std::path::Path;

const LANGUAGES: [&str; 12] = ["ar", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "tr", "zh", "en"];
const USUAL: [u32; 2] = [1280, 800];
const SMALL: [u32; 2] = [900, 600];
/// The small one, enlarged to 200 %.
const ENLARGED: [u32; 2] = [450, 300];

/// Looks at the window.
struct Eyes {
    mock: Mock,
    axe: Axe,
    found: Vec<String>,
    /// The screens that were looked at, without what is numbered in them: several actions lead to one.
    seen: HashSet<String>,
}

impl Eyes {
    async fn open(bench: &Bench) -> Result<Self> {
        let axe = Axe::new()?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mock");
        let mock = Mock::open(bench, &folder).await?;
        mock.resize(USUAL).await?;
        Ok(Self { mock, axe, found: Vec::new(), seen: HashSet::new() })
    }

    /// Whether this is the first time that the screen is looked at.
    async fn is_new(&mut self) -> Result<bool> {
        let content = "return document.body.innerHTML\
            .replace(/ (id|for|aria-[a-z]+|data-[a-z-]+)=\"[^\"]*[0-9][^\"]*\"/g, '')";
        let content = self.mock.window.script(content).await?;
        Ok(self.seen.insert(content.to_string()))
    }

    /// Notes what axe-core finds on the screen, and a lost focus.
    async fn look(&mut self, screen: &str) -> Result<()> {
        self.mock.settled().await?;
        let focused = "return document.activeElement !== document.body";
        if self.mock.window.script(focused).await? != true {
            self.found.push(format!("{screen}: nothing has the focus"));
        }
        if self.is_new().await? {
            self.found.extend(self.axe.violations(&self.mock.window, screen).await?);
        }
        Ok(())
    }

    /// Notes what is not translated, and what of it has no room, in the usual window and in a small one.
    async fn read(&mut self, screen: &str) -> Result<()> {
        self.mock.settled().await?;
        if self.is_new().await? {
            self.note(screen, "untranslated").await?;
            self.note(screen, "misplaced").await?;
            self.mock.resize(SMALL).await?;
            self.mock.settled().await?;
            self.note(&format!("{screen}, small"), "misplaced").await?;
            self.mock.resize(USUAL).await?;
        }
        Ok(())
    }

    /// Notes what a function of the mock finds.
    async fn note(&mut self, screen: &str, function: &str) -> Result<()> {
        let found = self.mock.found(function).await?;
        self.found.extend(found.into_iter().map(|one| format!("{screen}: {one}")));
        Ok(())
    }

    async fn close(self) -> Result<()> {
        ensure!(self.found.is_empty(), "{}", self.found.join("\n"));
        self.mock.window.close().await
    }
}

#[tokio::test]
async fn views_dialogs_and_states_are_accessible() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    let mut eyes = Eyes::open(&bench).await?;
    for screen in screens() {
        eyes.mock.show(&screen).await.context(screen.name.clone())?;
        eyes.look(&screen.name).await?;
    }
    eyes.close().await
}

#[tokio::test]
async fn every_action_leads_to_something_accessible() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    let mut eyes = Eyes::open(&bench).await?;
    let findings = format!("{PROJECT}&view=findings");
    eyes.mock.load(&findings).await?;
    let names = eyes.mock.actions().await?;
    eyes.look("list of actions").await?;
    ensure!(names.len() > 40, "{names:?}");
    for (at, name) in names.iter().enumerate() {
        eyes.mock.load(&findings).await?;
        eyes.mock.act(at).await?;
        eyes.look(name).await?;
    }
    eyes.close().await
}

#[tokio::test]
async fn everything_is_translated_and_has_room() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    let mut eyes = Eyes::open(&bench).await?;
    for mut screen in screens() {
        screen.settings += "&pseudo";
        eyes.mock.show(&screen).await.context(screen.name.clone())?;
        eyes.read(&screen.name).await?;
    }
    let findings = format!("{PROJECT}&view=findings&pseudo");
    eyes.mock.load(&findings).await?;
    let names = eyes.mock.actions().await?;
    eyes.read("list of actions").await?;
    for (at, name) in names.iter().enumerate() {
        eyes.mock.load(&findings).await?;
        eyes.mock.act(at).await?;
        eyes.read(name).await?;
    }
    eyes.close().await
}

#[tokio::test]
async fn views_fit_in_every_language_and_size() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    let mut eyes = Eyes::open(&bench).await?;
    for view in views() {
        eyes.mock.show(&view).await?;
        for language in LANGUAGES {
            eyes.mock.speak(language).await?;
            for size in [USUAL, SMALL, ENLARGED] {
                eyes.mock.resize(size).await?;
                eyes.mock.settled().await?;
                let screen = format!("{}, {language}, {size:?}", view.name);
                eyes.note(&screen, "beyondWindow").await?;
                if size == SMALL {
                    let found = eyes.axe.violations_of_words(&eyes.mock.window, &screen).await?;
                    eyes.found.extend(found);
                }
            }
        }
    }
    eyes.close().await
}

#[tokio::test]
async fn report_is_accessible() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    bench.ok(["project", "sample", "P.dissensus"]);
    bench.ok(["report", "P.dissensus", "report"]);
    let axe = Axe::new()?;
    let browser = Window::start(&bench, Start::browser(&bench, Browser::Chromium)?).await?;
    browser.resize(1000, 800).await?;
    browser.go_to(&address(&bench.path("report/report.html"))).await?;
    let found = axe.violations(&browser, "report").await?;
    ensure!(found.is_empty(), "{}", found.join("\n"));
    // Every plot says what it shows, and has its figures in a table.
    let nameless = "return [...document.querySelectorAll('svg')].filter((one) => !one.ariaLabel).length";
    ensure!(browser.script(nameless).await? == 0, "a plot has no text");
    browser.close().await
}
