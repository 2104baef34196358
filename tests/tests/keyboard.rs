//! The main tasks of the window by keys alone, over the mock: every control is reached by Tab, has a visible
//! focus, and no step loses it.
#![cfg(target_os = "linux")] // nowhere else are there drivers

use anyhow::{Result, bail, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::mock::{Mock, PROJECT};
use dissensus_tests::window::Browser;
use std::path::Path;

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';
const SPACE: char = ' ';
const PAGE_DOWN: char = '\u{e00f}';
const RIGHT: char = '\u{e014}';
const DOWN: char = '\u{e015}';

/// More stops than any screen has.
const MANY: usize = 120;

/// What is wrong with the focus, or null.
const FOCUS: &str = "
    const one = document.activeElement;
    if (!one || one === document.body) return 'nothing has the focus';
    const name = `${one.tagName} ${one.dataset.testid ?? one.getAttribute('aria-label') ?? one.textContent.trim().slice(0, 40)}`;
    const seen = ({ outlineStyle, outlineWidth, boxShadow }) =>
        (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
    // A list draws the focus on its chosen row, a drawing on its point; what only holds the focus draws none.
    const rows = [...one.querySelectorAll('.selected, .chosen, [aria-selected=true]')];
    const held = one.matches('main, [data-focus-held], [role=dialog], section[tabindex]');
    // The field of the list of actions shows its cursor, and always has the focus.
    const own = one.matches('[data-testid=palette-field]');
    if (held || own || [one, ...rows].some((part) => seen(getComputedStyle(part)))) return null;
    return `the focus is not seen on ${name}`";

/// Somebody without a mouse.
struct Hands {
    mock: Mock,
}

impl Hands {
    async fn open(bench: &Bench) -> Result<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("keyboard");
        let mock = Mock::open(bench, &folder).await?;
        mock.window.resize(1280, 800).await?;
        Ok(Self { mock })
    }

    /// Opens the window with these settings of the mock.
    async fn begin(&self, settings: &str) -> Result<()> {
        self.mock.load(settings).await
    }

    /// Whether an element with this `data-testid` has the focus.
    async fn is_on(&self, id: &str) -> Result<bool> {
        let script = format!("return document.activeElement?.closest('[data-testid=\"{id}\"]') !== null");
        Ok(self.mock.window.script(&script).await? == true)
    }

    /// Moves on with Tab until this control has the focus; each stop on the way is checked.
    async fn tab_to(&self, id: &str) -> Result<()> {
        self.mock.window.find(id).await?;
        for _ in 0..MANY {
            if self.is_on(id).await? {
                return Ok(());
            }
            self.mock.window.press(TAB).await?;
            // Behind the last stop the browser has its own, which the window does not.
            let problem = self.mock.window.script(FOCUS).await?;
            let problem = problem.as_str().unwrap_or_default();
            ensure!(problem.is_empty() || problem.starts_with("nothing"), "on the way to `{id}`: {problem}");
        }
        bail!("Tab does not reach `{id}`")
    }

    /// Moves on to a control and presses Enter.
    async fn enter(&self, id: &str) -> Result<()> {
        self.tab_to(id).await?;
        self.press(ENTER).await
    }

    /// Presses a key; afterwards something has the focus.
    async fn press(&self, key: char) -> Result<()> {
        self.mock.window.press(key).await?;
        self.focused().await
    }

    async fn press_with_control(&self, key: char) -> Result<()> {
        self.mock.window.press_with_control(key).await?;
        self.focused().await
    }

    async fn focused(&self) -> Result<()> {
        self.mock.settled().await?;
        let problem = self.mock.window.script(FOCUS).await?;
        ensure!(problem.is_null(), "{problem}");
        Ok(())
    }

    /// Chooses an action by its name in the list of actions.
    async fn choose(&self, action: &str) -> Result<()> {
        self.mock.window.press_with_control('k').await?;
        self.mock.window.find("palette-field").await?;
        self.mock.window.type_text(action).await?;
        self.press(ENTER).await
    }

    /// Waits until this element is there.
    async fn sees(&self, id: &str) -> Result<()> {
        self.mock.window.find(id).await.map(drop)
    }

    /// Closes a dialog with Escape; then the view has the focus again.
    async fn leave(&self, dialog: &str) -> Result<()> {
        self.sees(dialog).await?;
        self.mock.window.press(ESCAPE).await?;
        self.mock.window.gone(dialog).await?;
        self.focused().await
    }

    /// Tab stays in an open dialog, and goes round in it.
    async fn stays_in(&self, dialog: &str) -> Result<()> {
        self.sees(dialog).await?;
        for _ in 0..MANY / 4 {
            self.mock.window.press(TAB).await?;
            ensure!(self.is_on(dialog).await?, "Tab leaves `{dialog}`");
        }
        Ok(())
    }
}

#[tokio::test]
async fn main_tasks_need_no_mouse() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    let hands = Hands::open(&bench).await?;

    // Open the sample.
    hands.begin("first").await?;
    hands.enter("welcome-sample").await?;
    hands.sees("nav-findings").await?;

    // Import a table.
    let project = |view: &str| format!("{PROJECT}&view={view}");
    hands.begin(&project("project")).await?;
    hands.press_with_control('i').await?;
    hands.stays_in("import-dialog").await?;
    hands.tab_to("import-skip-bad").await?;
    hands.press(SPACE).await?;
    hands.enter("import-confirm").await?;
    hands.mock.window.gone("import-dialog").await?;
    hands.focused().await?;

    // Add a question.
    hands.choose("Add a question").await?;
    hands.tab_to("question-prompt").await?;
    hands.mock.window.type_text("Is it fair?").await?;
    hands.tab_to("question-name").await?;
    hands.mock.window.type_text("fair").await?;
    hands.enter("question-add").await?;
    hands.mock.window.gone("question-dialog").await?;
    hands.focused().await?;

    // Label texts, and undo.
    hands.begin(&project("label")).await?;
    hands.tab_to("label-annotator-name").await?;
    hands.mock.window.type_text("Ada").await?;
    hands.press(ENTER).await?;
    for done in ["1", "2"] {
        hands.press('2').await?;
        hands.mock.window.text_when("label-progress-done", |now| now == done).await?;
        if done == "1" {
            hands.press(ENTER).await?;
        }
    }
    hands.press('u').await?;
    hands.mock.window.text_when("label-progress-done", |now| now == "1").await?;

    // Read the ranking and open a text.
    hands.begin(&project("findings")).await?;
    hands.press_with_control(PAGE_DOWN).await?;
    hands.tab_to("ranking-list").await?;
    hands.press(DOWN).await?;
    hands.sees("text-pane").await?;
    hands.tab_to("detail-tab-people").await?;
    hands.press(ENTER).await?;
    hands.focused().await?;

    // Compare groups.
    hands.choose("Compare groups").await?;
    hands.enter("group-compare").await?;
    hands.sees("group-overall").await?;

    // Train a model.
    hands.begin(&project("models")).await?;
    hands.press('n').await?;
    hands.stays_in("run-dialog").await?;
    hands.enter("run-start").await?;
    hands.mock.window.gone("run-dialog").await?;
    hands.focused().await?;

    // Plan a study and hand it out.
    hands.begin(&project("people-study")).await?;
    hands.enter("study-plan").await?;
    hands.tab_to("study-names").await?;
    hands.mock.window.type_text("Zoe").await?;
    hands.enter("study-hand-out").await?;
    hands.leave("study-handed").await?;

    // Merge submissions.
    hands.enter("study-take-in").await?;
    hands.leave("merged").await?;

    // Export.
    hands.press_with_control('e').await?;
    hands.stays_in("export-dialog").await?;
    hands.enter("export-go").await?;
    hands.mock.window.gone("export-dialog").await?;
    hands.focused().await?;

    // Change settings; the focus goes back to where it was.
    hands.tab_to("study-plan").await?;
    hands.press_with_control(',').await?;
    hands.tab_to("settings-letters").await?;
    hands.press(SPACE).await?;
    hands.leave("settings-dialog").await?;
    ensure!(hands.is_on("study-plan").await?, "the focus is not back where the dialog was opened");

    // Tabs by arrows.
    hands.tab_to("tab-people-study").await?;
    hands.press(RIGHT).await?;
    ensure!(hands.is_on("tab-people").await?);
    hands.mock.window.close().await
}
