//! What axe-core finds on a screen of a browser or of the window.

use crate::programs;
use crate::window::Window;
use anyhow::{Context as _, Result};
use serde_json::Value;

/// What axe-core finds against WCAG 2.2 AA and good practice.
const VIOLATIONS: &str = "return axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })\
    .then(({ violations }) => violations.flatMap(({ id, help, nodes }) => \
        nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)}`)))";

/// The script of axe-core.
pub struct Axe(String);

impl Axe {
    /// Reads the script from the packages of `ui`.
    ///
    /// # Errors
    /// It is not installed.
    pub fn new() -> Result<Self> {
        let path = programs::checkout().join("ui/node_modules/axe-core/axe.min.js");
        let script = std::fs::read_to_string(&path)
            .context("axe-core is missing: `cargo xtask test --only ui-packages`")?;
        Ok(Self(script))
    }

    /// The violations on a screen in light and dark, each with the name of the screen.
    pub async fn violations(&self, window: &Window, screen: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        window.script(&self.0).await?;
        for theme in ["light", "dark"] {
            window.script(&format!("document.documentElement.dataset.theme = '{theme}'")).await?;
            // Colours are read once they have faded over, which begins with the next frame.
            let still = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => \
                done(document.getAnimations().every((one) => one.playState !== 'running')))))";
            window.script_when(still, |still| still == true).await?;
            let all = window.script(VIOLATIONS).await?;
            let all = all.as_array().context("a list")?.iter().filter_map(Value::as_str);
            found.extend(all.map(|one| format!("{screen}, {theme}: {one}")));
        }
        Ok(found)
    }
}
