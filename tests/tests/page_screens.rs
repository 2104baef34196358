//! Every screen of a page: what axe-core finds in it, in light and dark, and whether it fits on a small phone
//! in every language, and in a window that is enlarged to 400 %.
#![cfg(target_os = "linux")] // nowhere else are there drivers for all browsers
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::axe::Axe;
use dissensus_tests::command::Bench;
use dissensus_tests::files;
use dissensus_tests::page::address;
use dissensus_tests::served::{Serving, links};
use dissensus_tests::window::{Browser, Start, Window};
use serde_json::Value;
use std::path::PathBuf;

const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';
const TAB: char = '\u{e004}';

/// A small phone.
const PHONE: (u32, u32) = (320, 640);
/// A window of 1280 x 1024 pixels that is enlarged to 400 % (WCAG 2.2, 1.4.10).
const ENLARGED: (u32, u32) = (320, 256);

/// What does not fit on the screen: elements beyond its edges, and buttons whose text is cut off.
const CUT_OFF: &str = "return [...document.querySelectorAll('button, select, input, textarea, h1, h2, p, li, [role=tab], label')]\
    .filter((one) => one.checkVisibility() && !one.closest('.out-of-sight, .scroll'))\
    .flatMap((one) => { const box = one.getBoundingClientRect(); \
        const outside = box.width > 0 && (box.left < -1 || box.right > innerWidth + 1); \
        const cut = one.matches('button') && one.scrollWidth > one.clientWidth + 1; \
        return outside || cut ? [`${outside ? 'outside' : 'cut off'}: ${one.textContent.trim().slice(0, 60)}`] : []; })";

/// Looks at the screens of a browser.
struct Eyes {
    window: Window,
    axe: Axe,
    found: Vec<String>,
}

impl Eyes {
    async fn open(bench: &Bench) -> Result<Self> {
        let axe = Axe::new()?;
        let window = Window::start(bench, Start::browser(bench, Browser::Chromium)?).await?;
        window.resize(PHONE.0, PHONE.1).await?;
        Ok(Self { window, axe, found: Vec::new() })
    }

    /// Goes to a page, and looks at it once it shows this element.
    async fn go_to(&mut self, page: &str, shown: &str, screen: &str) -> Result<()> {
        self.window.go_to("about:blank").await?;
        self.window.go_to(page).await?;
        self.look_at(shown, screen).await
    }

    /// Looks at what is on the screen once it shows this element.
    async fn look_at(&mut self, shown: &str, screen: &str) -> Result<()> {
        self.window.find(shown).await?;
        self.look(screen).await
    }

    async fn look(&mut self, screen: &str) -> Result<()> {
        self.fit(screen).await?;
        self.found.extend(self.axe.violations(&self.window, screen).await?);
        Ok(())
    }

    /// Whether the screen fits in every language that can be chosen on it, English last.
    async fn fit(&mut self, screen: &str) -> Result<()> {
        const LIST: &str = "[data-testid=page-language]";
        let tags = format!("return [...document.querySelectorAll('{LIST} option')].map((one) => one.value)");
        let tags = self.window.script(&tags).await?;
        let tags: Vec<&str> = tags.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if tags.is_empty() {
            return self.note(CUT_OFF, screen).await;
        }
        ensure!(tags.len() == 12 && tags[0] == "en", "{tags:?}");
        for tag in tags.iter().rev() {
            let choose = format!(
                "const list = document.querySelector('{LIST}'); list.value = '{tag}'; \
                 list.dispatchEvent(new Event('change', {{ bubbles: true }}))"
            );
            self.window.script(&choose).await?;
            self.window.script_when("return document.documentElement.lang", |lang| lang == tag).await?;
            self.note(CUT_OFF, &format!("{screen}, {tag}")).await?;
        }
        Ok(())
    }

    /// Notes what a script finds.
    async fn note(&mut self, script: &str, place: &str) -> Result<()> {
        let all = self.window.script(script).await?;
        let all = all.as_array().context("a list")?.iter().filter_map(Value::as_str);
        self.found.extend(all.map(|one| format!("{place}: {one}")));
        Ok(())
    }

    async fn press(&self, keys: &[char]) -> Result<()> {
        for key in keys {
            self.window.press(*key).await?;
        }
        Ok(())
    }

    async fn asked(&self, question: &str) -> Result<()> {
        asked(&self.window, question).await
    }

    async fn close(self) -> Result<()> {
        ensure!(self.found.is_empty(), "{}", self.found.join("\n"));
        self.window.close().await
    }
}

/// Waits until the desk asks this question.
async fn asked(window: &Window, question: &str) -> Result<()> {
    const NOW: &str =
        "return document.querySelector('[data-testid=\"question-now\"]')?.dataset.question ?? null";
    window.script_when(NOW, |name| name == question).await.map(drop)
}

/// Three texts and three questions, with everything that a study can have.
fn study(bench: &Bench) {
    bench.file("texts.csv", files::texts(4));
    bench.ok(["project", "new", "S.dissensus"]);
    bench.ok(["data", "import", "S.dissensus", "texts.csv"]);
    for (name, scale, levels) in
        [("rude", "ordinal", "1,2,3"), ("kind", "multi-label", "slur,lie"), ("words", "spans", "insult")]
    {
        bench.ok(["data", "question", "S.dissensus", name, "--scale", scale, "--levels", levels]);
    }
    bench.file("guideline.md", "# Rules\n\nBe fair.");
    bench.ok(["data", "guideline", "S.dissensus", "--from", "guideline.md"]);
}

fn pages(bench: &Bench, form: &str) -> PathBuf {
    let assigned = ["--annotators", "ada", "--per-text", "1", "--as", form, "--out", "pages"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(assigned));
    bench.path("pages").join("ada.html")
}

#[tokio::test]
async fn screens_of_a_page_fit_and_are_accessible() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    study(&bench);
    bench.ok(["people", "form", "S.dissensus", "--ask", "gender=woman|man", "--ask", "age=18-29|30+"]);
    let care = ["--question", "rude", "--level", "3", "--limit", "1", "--strict", "off"];
    bench.ok(["people", "care", "S.dissensus"].into_iter().chain(care));
    let practice = ["--question", "rude", "--text-id", "t0", "--value", "2", "--reason", "It is, a little"];
    bench.ok(["label", "practice", "S.dissensus"].into_iter().chain(practice));
    let page = pages(&bench, "page");
    let mut eyes = Eyes::open(&bench).await?;
    eyes.go_to(&address(&page), "about-you", "form").await?;
    let withhold = "document.querySelectorAll('[data-testid=about-withheld]').forEach((one) => one.click())";
    eyes.window.script(withhold).await?;
    eyes.window.click("about-done").await?;

    eyes.look_at("practice-next", "before practice").await?;
    eyes.window.click("practice-next").await?;
    eyes.look_at("practice-at", "practice").await?;
    eyes.window.press('1').await?;
    eyes.look_at("practice-feedback", "feedback").await?;
    eyes.window.click("practice-go-on").await?;
    eyes.look_at("practice-next", "after practice").await?;
    eyes.window.click("practice-next").await?;

    eyes.look_at("label-text", "a scale").await?;
    eyes.window.press('3').await?;
    eyes.asked("kind").await?;
    eyes.look("a set of options").await?;
    eyes.press(&['1', ENTER]).await?;
    eyes.asked("words").await?;
    eyes.look("spans").await?;
    eyes.window.press('n').await?;
    eyes.look("a note").await?;
    eyes.press(&[ESCAPE, 'g']).await?;
    eyes.look_at("guideline-panel", "the guideline").await?;
    eyes.press(&['g', '0', ENTER]).await?;
    eyes.look_at("care-finished", "finished for today").await?;
    eyes.window.click("care-go-on").await?;
    eyes.asked("rude").await?;
    for (control, dialog) in [("hand-in", "hand-in-dialog"), ("care", "care-dialog")] {
        eyes.window.click(control).await?;
        eyes.look_at(dialog, dialog).await?;
        eyes.window.press(ESCAPE).await?;
        eyes.window.gone(dialog).await?;
    }
    eyes.window.click("tab-label-list").await?;
    eyes.look_at("texts-total", "the list").await?;
    eyes.window.click("tab-label").await?;

    while eyes.window.all("packet-done").await?.is_empty() {
        eyes.asked("rude").await?;
        eyes.window.press('1').await?;
        eyes.asked("kind").await?;
        eyes.press(&['0', ENTER]).await?;
        eyes.asked("words").await?;
        eyes.press(&['0', ENTER]).await?;
        let next = "return document.querySelector('[data-testid=packet-done]') !== null || \
                    document.querySelector('[data-testid=\"question-now\"]')?.dataset.question === 'rude'";
        eyes.window.script_when(next, |next| next == true).await?;
    }
    eyes.look("everything answered").await?;
    eyes.window.click("hand-in").await?;
    eyes.window.click("hand-in-write").await?;
    eyes.window.gone("hand-in-dialog").await?;
    eyes.look_at("done-toast", "handed in").await?;
    // The notice covers it until it is closed.
    eyes.window.script("document.querySelector('[data-testid=stop-here]').click()").await?;
    eyes.look_at("stop-page", "stopped").await?;
    eyes.close().await
}

#[tokio::test]
async fn screens_before_a_page_fit_and_are_accessible() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    study(&bench);
    let page = pages(&bench, "page");
    let again = ["--write-again", "--annotators", "ada", "--as", "locked-page", "--out", "locked"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(again));
    let everybody = ["--to-come", "2", "--per-text", "2", "--as", "join-page", "--out", "site"];
    bench.ok(["study", "assign", "S.dissensus"].into_iter().chain(everybody));

    let mut eyes = Eyes::open(&bench).await?;
    eyes.go_to(&address(&bench.path("locked/ada.html")), "passphrase", "locked").await?;
    eyes.window.type_text("abcd").await?;
    eyes.window.click("unlock").await?;
    eyes.look_at("wrong-passphrase", "a wrong passphrase").await?;

    let joins = address(&bench.path("site/join.html"));
    eyes.go_to(&joins, "take-part", "invitation").await?;
    eyes.window.click("take-part").await?;
    eyes.window.find("label-text").await?;
    eyes.go_to(&format!("{joins}?PROLIFIC_PID=%7B%7Bid%7D%7D"), "page-failed", "an id that is none").await?;

    // Saved by a browser without what its scripts had read, or in the middle.
    let content = std::fs::read_to_string(&page)?;
    let (before, _) = content.split_once("id=\"packet\">").context("the packet")?;
    for (name, end) in
        [("empty", "</script>"), ("cut", "{\"version\":1,"), ("other", "{\"version\":9}</script>")]
    {
        let script = content.rsplit_once("<script").context("the script")?.1;
        let broken = format!("{before}id=\"packet\">{end}</script><script{script}");
        let file = bench.file(&format!("{name}.html"), broken);
        eyes.go_to(&address(&file), "page-failed", name).await?;
    }

    // Without the end of the script nothing runs.
    let cut = bench.file("no-script.html", &content[..content.len() - 3000]);
    eyes.window.go_to(&address(&cut)).await?;
    let shown = "const one = document.querySelector('.incomplete'); return one && getComputedStyle(one).opacity === '1'";
    eyes.window.script_when(shown, |shown| shown == true).await?;
    eyes.window.go_to(&address(&page)).await?;
    eyes.window.find("label-text").await?;
    ensure!(eyes.window.script("return document.querySelector('.incomplete') === null").await? == true);
    eyes.window.open_tab().await?;
    eyes.go_to(&address(&page), "page-elsewhere", "open elsewhere").await?;
    eyes.window.close_tab().await?;
    eyes.close().await
}

#[tokio::test]
async fn screens_of_a_server_fit_and_are_accessible() -> Result<()> {
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    study(&bench);
    pages(&bench, "page");
    let serving =
        Serving::start_with(&bench, "S.dissensus", "127.0.0.1:0", &["--join", "--per-person", "2"])?;
    let links = links(&bench, "S.dissensus", &serving.address);
    let (_, link) = links.iter().find(|(name, _)| name == "ada").context("a link")?;
    let mut eyes = Eyes::open(&bench).await?;
    for (path, screen) in [("/", "the server"), ("/join", "joining"), ("/p/none", "a wrong link")] {
        eyes.window.go_to(&format!("{}{path}", serving.address)).await?;
        eyes.window
            .script_when("return document.querySelector('h1') !== null", |shown| shown == true)
            .await?;
        eyes.look(screen).await?;
    }
    eyes.go_to(link, "send-status", "a served page").await?;
    eyes.window.find("label-text").await?;
    serving.kill()?;
    eyes.press(&['1']).await?;
    eyes.asked("kind").await?;
    let left = "return document.querySelector('[data-testid=\"send-status\"]')?.dataset.left ?? null";
    eyes.window.script_when(left, |left| left != "0").await?;
    eyes.look("answers that wait").await?;
    eyes.close().await
}

#[tokio::test]
async fn page_can_be_used_enlarged_without_colours_and_by_keys_only() -> Result<()> {
    // A text that is marked has a caret, the frame of an input can be drawn by its label, and a focus that
    // scripts set is none of Tab's.
    const OUTLINED: &str = "const one = document.activeElement; \
        const framed = (style) => (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== 'none'; \
        const marked = one.querySelector('.caret') !== null || \
            [one, one.closest('label')].some((part) => part && framed(getComputedStyle(part))); \
        if (one.tabIndex < 0) return null; \
        if (one.dataset.reached) return 'again'; \
        one.dataset.reached = 'yes'; \
        return [one.dataset.testid ?? one.textContent.trim().slice(0, 40), marked]";
    if !Browser::Chromium.is_to_be_tested() {
        return Ok(());
    }
    let bench = Bench::without_encoder();
    study(&bench);
    let page = address(&pages(&bench, "page"));
    let mut eyes = Eyes::open(&bench).await?;
    eyes.window.resize(ENLARGED.0, ENLARGED.1).await?;
    eyes.go_to(&page, "label-text", "enlarged").await?;
    // Every control that Tab reaches shows that it has the focus.
    let mut reached = Vec::new();
    for _ in 0..40 {
        eyes.window.press(TAB).await?;
        let now = eyes.window.script(OUTLINED).await?;
        if now == "again" {
            break;
        }
        let Some(name) = now[0].as_str() else { continue };
        ensure!(now[1] == true, "{name} does not show the focus");
        reached.push(name.to_owned());
    }
    ensure!(reached.len() >= 8, "{reached:?}");
    eyes.window.go_to(&page).await?;
    eyes.asked("rude").await?;
    eyes.window.press('2').await?;
    eyes.asked("kind").await?;
    eyes.look("enlarged, a set of options").await?;
    ensure!(eyes.found.is_empty(), "{}", eyes.found.join("\n"));
    eyes.window.close().await?;

    // A browser in which nobody has chosen a language.
    let other = Bench::without_encoder();
    let start = Start::browser(&other, Browser::Chromium)?
        .with_argument("--force-prefers-reduced-motion")
        .with_argument("--force-high-contrast")
        .with_argument("--accept-lang=de");
    let window = Window::start(&other, start).await?;
    window.go_to(&page).await?;
    window.find("label-text").await?;
    // The study leaves the language to the browser.
    ensure!(window.script("return document.documentElement.lang").await? == "de");
    let wanted = "return ['(forced-colors: active)', '(prefers-reduced-motion: reduce)'].map((one) => matchMedia(one).matches)";
    ensure!(window.script(wanted).await? == serde_json::json!([true, true]));
    let moving = "return [...document.querySelectorAll('*')].filter((one) => { \
                  const style = getComputedStyle(one); \
                  return [style.transitionDuration, style.animationDuration].some((time) => parseFloat(time) > 0.01) })\
                  .map((one) => one.className)";
    let moving = window.script(moving).await?;
    ensure!(moving == serde_json::json!([]), "{moving}");
    // What is chosen is shown by more than a colour that the system has replaced.
    window.press('1').await?;
    asked(&window, "kind").await?;
    window.press('1').await?;
    let chosen = "const one = document.querySelector('[aria-pressed=true], [aria-checked=true]'); \
                  return one === null ? null : one.querySelector('svg') !== null || getComputedStyle(one).forcedColorAdjust === 'none' || \
                  parseFloat(getComputedStyle(one).outlineWidth) >= 1 || parseFloat(getComputedStyle(one).borderWidth) >= 2";
    window.script_when(chosen, |chosen| chosen == true).await?;
    window.close().await
}
