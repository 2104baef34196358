//! What axe-core finds on a screen of a browser or of the window.

use crate::programs;
use crate::window::Window;
use anyhow::{Context as _, Result};
use serde_json::Value;

/// WCAG 2.2 AA and good practice.
const RULES: &str = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']";
/// The rules of WCAG about colours, the only ones of which the answer depends on the theme.
const COLOURS: &str = "{ type: 'rule', values: ['color-contrast', 'link-in-text-block'] }";

/// The script that lists what axe-core finds against these rules.
fn violations(rules: &str) -> String {
    format!(
        "return axe.run(document, {{ runOnly: {rules}, resultTypes: ['violations'] }})\
         .then(({{ violations }}) => violations.flatMap(({{ id, help, nodes }}) => \
         nodes.map((node) => `${{id}}: ${{help}}: ${{node.html.slice(0, 200)}}`)))"
    )
}

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
        for (theme, rules) in [("light", RULES), ("dark", COLOURS)] {
            window.script(&format!("document.documentElement.dataset.theme = '{theme}'")).await?;
            // Colours are read once they have faded over, which begins with the next frame.
            let still = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => \
                done(document.getAnimations().every((one) => one.playState !== 'running')))))";
            window.script_when(still, |still| still == true).await?;
            found.extend(listed(window, &violations(rules), &format!("{screen}, {theme}")).await?);
        }
        Ok(found)
    }

    /// The violations in another language: all but those of colours, which are the same in each.
    pub async fn violations_of_words(&self, window: &Window, screen: &str) -> Result<Vec<String>> {
        window.script(&self.0).await?;
        let script = violations(RULES)
            .replace("resultTypes", "rules: { 'color-contrast': { enabled: false } }, resultTypes");
        listed(window, &script, screen).await
    }
}

/// What a script lists, each with the name of the screen.
async fn listed(window: &Window, script: &str, screen: &str) -> Result<Vec<String>> {
    let all = window.script(script).await?;
    let all = all.as_array().context("a list")?.iter().filter_map(Value::as_str);
    Ok(all.map(|one| format!("{screen}: {one}")).collect())
}
