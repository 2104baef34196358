//! The window in a browser, over the invented project of `ui/src/mock`.

use crate::command::Bench;
use crate::programs;
use crate::window::{Browser, Start, Window};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The invented project, with packets that were handed out to twelve people.
pub const PROJECT: &str = "open=/home/you/Documents/Comments.dissensus&study=12";

const VIEWS: [&str; 8] =
    ["findings", "findings-texts", "label", "label-list", "people", "people-study", "models", "project"];

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

/// What the window can show.
pub struct Screen {
    pub name: String,
    /// Of the mock: see `ui/src/mock/bindings.ts`.
    pub settings: String,
    /// What is clicked then.
    controls: &'static [&'static str],
}

/// Every view over the invented project.
pub fn views() -> Vec<Screen> {
    VIEWS.iter().map(|view| screen((*view).to_owned(), format!("{PROJECT}&view={view}"), &[])).collect()
}

/// Every view, what opens from it, and the states of the window that need other settings.
pub fn screens() -> Vec<Screen> {
    let states =
        STATES.iter().map(|(name, settings)| screen((*name).to_owned(), (*settings).to_owned(), &[]));
    let opened = OPENED.iter().map(|(view, controls)| {
        screen(format!("{view}, {controls:?}"), format!("{PROJECT}&view={view}"), controls)
    });
    views().into_iter().chain(states).chain(opened).collect()
}

fn screen(name: String, settings: String, controls: &'static [&'static str]) -> Screen {
    Screen { name, settings, controls }
}

/// Resolves once what was to be drawn is drawn: true if the page stays as it is for a moment, false if it
/// never does.
const SETTLED: &str = "return new Promise((done) => {
    const end = (still) => { changes.disconnect(); clearTimeout(timer); clearTimeout(last); done(still); };
    let timer = setTimeout(end, 150, true);
    const last = setTimeout(end, 10_000, false);
    const changes = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(end, 150, true); });
    changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
})";

/// A browser that shows the window.
pub struct Mock {
    pub window: Window,
    folder: PathBuf,
}

impl Mock {
    /// Builds the window over the mock into this folder, once for a test program, and opens a browser.
    ///
    /// # Errors
    /// The packages of `ui` are not installed, or the browser does not start.
    pub async fn open(bench: &Bench, folder: &Path) -> Result<Self> {
        static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
        let built = BUILT.get_or_init(|| build(folder).map_err(|error| format!("{error:#}")));
        ensure!(built.is_ok(), "the window over the mock was not built: {built:?}");
        // Scripts of a file are modules, which a browser otherwise takes from servers only.
        let start = Start::browser(bench, Browser::Chromium)?.with_argument("--allow-file-access-from-files");
        Ok(Self { window: Window::start(bench, start).await?, folder: folder.to_owned() })
    }

    /// Loads the window with these settings of the mock (see `ui/src/mock/bindings.ts`), until it is drawn.
    ///
    /// # Errors
    /// It is not.
    pub async fn load(&self, settings: &str) -> Result<()> {
        let page = format!("file://{}/index.html?{settings}", self.folder.display());
        self.window.go_to(&page).await?;
        self.window
            .script_when("return document.querySelector('main') !== null", |there| there == true)
            .await?;
        self.settled().await
    }

    /// Loads the window with the view, the settings or the dialog of a screen.
    ///
    /// # Errors
    /// It is not drawn.
    pub async fn show(&self, screen: &Screen) -> Result<()> {
        self.load(&screen.settings).await?;
        for control in screen.controls {
            self.window.click(control).await?;
            self.settled().await?;
        }
        Ok(())
    }

    /// Makes the page this wide and high, in pixels; smaller than a window can be, too.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn resize(&self, [width, height]: [u32; 2]) -> Result<()> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.window.devtools("Emulation.setDeviceMetricsOverride", &size).await
    }

    /// What a function of `ui/src/mock/messages.ts` finds on the screen.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn found(&self, function: &str) -> Result<Vec<String>> {
        let all = self.window.script(&format!("return shown.{function}()")).await?;
        let all = all.as_array().context("a list")?.iter().filter_map(Value::as_str);
        Ok(all.map(str::to_owned).collect())
    }

    /// Waits until nothing changes any more.
    ///
    /// # Errors
    /// It goes on changing: something asks or draws over and over, for which the processor is needed.
    pub async fn settled(&self) -> Result<()> {
        let still = self.window.script(SETTLED).await?;
        ensure!(still == true, "the window does not come to rest");
        Ok(())
    }

    /// Changes the language of the window.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn speak(&self, language: &str) -> Result<()> {
        self.window.script(&format!("return shown.speak('{language}')")).await?;
        self.settled().await
    }

    /// Opens the list of actions by its key, and returns their names.
    ///
    /// # Errors
    /// It does not open.
    pub async fn actions(&self) -> Result<Vec<String>> {
        self.window.press_with_control('k').await?;
        self.window.find("palette-field").await?;
        self.settled().await?;
        let names = "return [...document.querySelectorAll('[data-testid=palette-action]')]\
            .map((one) => one.querySelector('.title, span')?.textContent.trim() ?? '')";
        let names = self.window.script(names).await?;
        let names = names.as_array().into_iter().flatten().filter_map(|name| name.as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// Opens the list of actions, and chooses the one at this place in it.
    ///
    /// # Errors
    /// It is not there.
    pub async fn act(&self, at: usize) -> Result<()> {
        self.actions().await?;
        let choose = format!("document.querySelectorAll('[data-testid=palette-action]')[{at}].click()");
        self.window.script(&choose).await.map(drop)
    }
}

fn build(folder: &Path) -> Result<()> {
    let ui = programs::checkout().join("ui");
    let output = Command::new("node")
        .arg(ui.join("node_modules/vite/bin/vite.js"))
        .args(["build", "--mode", "mock", "--base", "./", "--logLevel", "error", "--emptyOutDir", "--outDir"])
        .arg(folder)
        .current_dir(&ui)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
