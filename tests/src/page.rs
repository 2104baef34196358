//! A packet as a page in a browser.

use crate::command::Bench;
use crate::window::{Browser, Start, Window};
use anyhow::Result;
use std::path::Path;

/// Opens the page of a file in a browser, and waits for its first text.
///
/// # Errors
/// The browser does not start, or the page shows no text.
pub async fn open(bench: &Bench, browser: Browser, page: &Path) -> Result<Window> {
    let window = Window::start(bench, Start::browser(bench, browser)?).await?;
    window.go_to(&address(page)).await?;
    window.find("label-text").await?;
    Ok(window)
}

/// The address of a page that is a file.
pub fn address(page: &Path) -> String {
    format!("file://{}", page.display())
}

/// Hands in, and returns the file that the browser would save.
///
/// # Errors
/// The page does not offer it.
pub async fn hand_in(window: &Window) -> Result<String> {
    keep_files(window).await?;
    window.click("hand-in").await?;
    window.click("hand-in-write").await?;
    let saved = kept_file(window).await?;
    window.gone("hand-in-dialog").await?;
    Ok(saved)
}

/// Saves the work, and returns the file that the browser would save.
///
/// # Errors
/// The page does not offer it.
pub async fn save_work(window: &Window) -> Result<String> {
    keep_files(window).await?;
    window.click("save-work").await?;
    kept_file(window).await
}

/// Keeps the next file that the page would have the browser save.
async fn keep_files(window: &Window) -> Result<()> {
    let keep = "const real = URL.createObjectURL; window.saved = null; \
                URL.createObjectURL = (blob) => { void blob.text().then((text) => (window.saved = text)); \
                return real.call(URL, blob); }";
    window.script(keep).await.map(drop)
}

async fn kept_file(window: &Window) -> Result<String> {
    let saved = window.script_when("return window.saved ?? null", |saved| saved.is_string()).await?;
    Ok(saved.as_str().unwrap_or_default().to_owned())
}
