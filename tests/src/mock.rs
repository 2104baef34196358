//! The window in a browser, over the invented project of `ui/src/mock`.

use crate::command::Bench;
use crate::programs;
use crate::window::{Browser, Start, Window};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The invented project, with packets that were handed out to twelve people.
pub const PROJECT: &str = "open=/home/you/Documents/Comments.dissensus&study=12";

/// Resolves once what was to be drawn is drawn: the page stays as it is for a moment.
const SETTLED: &str = "return new Promise((done) => {
    const end = () => { changes.disconnect(); clearTimeout(timer); clearTimeout(last); done(true); };
    let timer = setTimeout(end, 150);
    const last = setTimeout(end, 4000);
    const changes = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(end, 150); });
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

    /// Waits until nothing changes any more.
    ///
    /// # Errors
    /// The window has gone.
    pub async fn settled(&self) -> Result<()> {
        self.window.script(SETTLED).await.map(drop)
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
