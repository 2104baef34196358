//! Every view and dialog of the window over the mock: what axe-core finds in light and dark, whether all
//! of it fits or can be scrolled to in every language and in a small window that is enlarged, and the focus.
#![cfg(target_os = "linux")] // nowhere else are there drivers

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::axe::Axe;
use dissensus_tests::command::Bench;
use dissensus_tests::mock::{Mock, PROJECT};
use dissensus_tests::page::address;
use dissensus_tests::window::{Browser, Start, Window};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

const VIEWS: [&str; 8] =
    ["findings", "findings-texts", "label", "label-list", "people", "people-study", "models", "project"];
const LANGUAGES: [&str; 12] = ["ar", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "tr", "zh", "en"];

/// What opens from a view by these controls, each by its `data-testid`.
const OPENED: [(&str, &[&str]); 12] = [
    ("findings", &["who-attribute"]),
    ("findings-texts", &["ask-panel"]),
    ("findings-texts", &["ranking-people"]),
    ("findings-texts", &["detail-tab-groups"]),
    ("findings-texts", &["detail-tab-people"]),
    ("findings-texts", &["talk-open"]),
    ("label", &["label-show-imported"]),
    ("label-list", &["texts-row", "texts-remove"]),
    ("people", &["annotator-row"]),
    ("models", &["run-item"]),
    ("models", &["run-new", "run-more"]),
    ("people-study", &["study-again"]),
];

/// Whole states of the window that need other settings of the mock.
const STATES: [(&str, &str); 9] = [
    ("first start", "first"),
    ("nothing in the project", "open=/a.dissensus&empty&view=findings"),
    ("nothing to label", "open=/a.dissensus&empty&view=label"),
    ("nobody", "open=/a.dissensus&empty&view=people"),
    ("no study", "open=/a.dissensus&view=people-study"),
    ("no runs", "open=/a.dissensus&runs=none&view=models"),
    ("no encoder", "open=/a.dissensus&encoder=none&view=findings-texts"),
    ("read-only", "open=/a.dissensus&readonly&view=label"),
    ("packet", "open=/a.dissensus&packet&view=label"),
];

/// What is beyond the edges of the window and cannot be scrolled to, and controls whose words are cut off.
const CUT_OFF: &str = "
    const scrolls = (one, side) => { for (let box = one.parentElement; box; box = box.parentElement)
        if (/auto|scroll/.test(getComputedStyle(box)[`overflow${side}`])) return true; return false; };
    const all = 'button, select, input, textarea, a, h1, h2, h3, p, li, th, dt, label, [role=tab]';
    const found = [...document.querySelectorAll(all)]
        .filter((one) => one.checkVisibility() && !one.closest('.out-of-sight'))
        .flatMap((one) => {
            const { left, right, top, bottom, width } = one.getBoundingClientRect();
            if (width === 0) return [];
            const beside = (left < -1 || right > innerWidth + 1) && !scrolls(one, 'X');
            const below = (top < -1 || bottom > innerHeight + 1) && !scrolls(one, 'Y');
            const cut = one.matches('button, [role=tab]') && one.scrollWidth > one.clientWidth + 1 &&
                getComputedStyle(one).overflowX !== 'visible' && !one.matches('.clip');
            const what = [beside && 'beside the window', below && 'below the window', cut && 'cut off'];
            return what.filter(Boolean).map((what) => `${what}: ${one.textContent.trim().slice(0, 60)}`);
        });
    if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways');
    return [...new Set(found)]";

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
        Ok(Self { mock: Mock::open(bench, &folder).await?, axe, found: Vec::new(), seen: HashSet::new() })
    }

    /// Notes what axe-core finds on the screen, and a lost focus.
    async fn look(&mut self, screen: &str) -> Result<()> {
        self.mock.settled().await?;
        let focused = "return document.activeElement !== document.body";
        if self.mock.window.script(focused).await? != true {
            self.found.push(format!("{screen}: nothing has the focus"));
        }
        let content = "return document.body.innerHTML.replace(/ (id|for|aria-[a-z]+|data-[a-z-]+)=\"[^\"]*[0-9][^\"]*\"/g, '')";
        let content = self.mock.window.script(content).await?;
        if self.seen.insert(content.to_string()) {
            self.found.extend(self.axe.violations(&self.mock.window, screen).await?);
        }
        Ok(())
    }

    /// Notes what is cut off.
    async fn fit(&mut self, screen: &str) -> Result<()> {
        let all = self.mock.window.script(CUT_OFF).await?;
        let all = all.as_array().context("a list")?.iter().filter_map(Value::as_str);
        self.found.extend(all.map(|one| format!("{screen}: {one}")));
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
    eyes.mock.window.resize(1280, 800).await?;
    for view in VIEWS {
        eyes.mock.load(&format!("{PROJECT}&view={view}")).await?;
        eyes.look(view).await?;
    }
    for (name, settings) in STATES {
        eyes.mock.load(settings).await?;
        eyes.look(name).await?;
    }
    for (view, controls) in OPENED {
        eyes.mock.load(&format!("{PROJECT}&view={view}")).await?;
        for control in controls {
            eyes.mock.window.click(control).await?;
            eyes.mock.settled().await?;
        }
        eyes.look(&format!("{view}, {controls:?}")).await?;
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
    eyes.mock.window.resize(1280, 800).await?;
    let findings = format!("{PROJECT}&view=findings");
    eyes.mock.load(&findings).await?;
    let names = eyes.mock.actions().await?;
    eyes.look("list of actions").await?;
    ensure!(names.len() > 40, "{names:?}");
    for (at, name) in names.iter().enumerate() {
        eyes.mock.load(&findings).await?;
        eyes.mock.actions().await?;
        let choose = format!("document.querySelectorAll('[data-testid=palette-action]')[{at}].click()");
        eyes.mock.window.script(&choose).await?;
        eyes.look(name).await?;
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
    // The last is a window of 900 x 600 pixels that is enlarged to 200 %.
    for (width, height) in [(1280, 800), (900, 600), (450, 300)] {
        eyes.mock.window.resize(width, height).await?;
        for language in LANGUAGES {
            for view in VIEWS {
                eyes.mock.load(&format!("{PROJECT}&view={view}&language={language}")).await?;
                let screen = format!("{view}, {language}, {width} x {height}");
                eyes.fit(&screen).await?;
                if width == 900 {
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
