//! The first start as somebody meets it who has never seen the window: the tour, played only by what the
//! screen says, and links from web pages.
#![cfg(target_os = "linux")] // nowhere else is there a driver for the system's web view

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::bus::Bus;
use dissensus_tests::command::Bench;
use dissensus_tests::window::{Start, Window};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

const ENTER: char = '\u{e007}';
/// The step and the sentence of the tour: all of it, and the names of controls and the keys in it.
const READ: &str = r#"
    const tour = document.querySelector("[data-testid=tour]");
    if (tour === null) return null;
    const all = (which) => [...tour.querySelectorAll(`p ${which}`)].map((one) => one.innerText.trim());
    return { sentence: tour.innerText, controls: all("strong"), keys: all("kbd") };
"#;
/// More than the tour needs, also if at first no text changes its place.
const MOST_ACTS: usize = 60;

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What the tour says once it says something else than `before`; null once it has ended.
async fn changed(window: &Window, before: &Value) -> Result<Value> {
    window.script_when(READ, |now| now["sentence"] != before["sentence"]).await
}

/// Does what the sentence says, from left to right: clicks what it names, writes a name where it names a
/// field, and presses its keys, of two digits one between them.
async fn obey(window: &Window, asked: &Value, turn: usize) -> Result<Value> {
    for name in strings(&asked["controls"]) {
        window.click_named(&name).await?;
        let field = window.script("return document.activeElement instanceof HTMLInputElement").await?;
        if field == true {
            window.type_text("Robin").await?;
        }
    }
    let keys = strings(&asked["keys"]);
    let digits: Vec<u32> = keys.iter().filter_map(|key| key.parse().ok()).collect();
    let mut now = asked.clone();
    if let [first, last] = digits[..] {
        // Nobody answers a text that is not there yet; its place is there before it.
        window.text_when("label-text", |text| !text.is_empty()).await?;
        let shown = window.all("label-reveal").await?;
        ensure!(shown.is_empty(), "a text that is not answered yet shows predictions");
        let level = first + turn as u32 % (last - first + 1);
        window.press(char::from_digit(level, 10).context("a level has one digit")?).await?;
        now = changed(window, asked).await?;
    }
    // The only other key; the step may have ended with the last answer.
    if keys.len() > digits.len() && (digits.is_empty() || now["keys"] == asked["keys"]) {
        let text = "return document.querySelector('main').innerText";
        let before = window.script(text).await?;
        window.press(ENTER).await?;
        window.script_when(text, |now| *now != before).await?;
        if !digits.is_empty() {
            window
                .script_when("return document.querySelector('[data-testid=label-reveal]') === null", |gone| {
                    gone == true
                })
                .await?;
            return Ok(now);
        }
    }
    if now["sentence"] == asked["sentence"] { changed(window, asked).await } else { Ok(now) }
}

/// All numbers of a sentence, in the digits of any language.
fn numbers(sentence: &str) -> Vec<u32> {
    let latin: String = sentence
        .chars()
        .map(|c| match u32::from(c) {
            eastern @ 0x660..=0x669 => char::from_digit(eastern - 0x660, 10).unwrap_or(' '),
            _ if c.is_ascii_digit() => c,
            _ => ' ',
        })
        .collect();
    latin.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

#[tokio::test]
async fn tour_is_finished_by_what_the_screen_says_in_english() -> Result<()> {
    play_tour("en", "ltr").await
}

#[tokio::test]
async fn tour_is_finished_by_what_the_screen_says_in_german() -> Result<()> {
    play_tour("de", "ltr").await
}

#[tokio::test]
async fn tour_is_finished_by_what_the_screen_says_in_arabic() -> Result<()> {
    play_tour("ar", "rtl").await
}

/// Takes the tour from the first page to its end.
async fn play_tour(language: &str, direction: &str) -> Result<()> {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("home"))?;
    let settings = format!(r#"{{"theme":"light","language":"{language}"}}"#);
    std::fs::write(bench.path("home/settings.json"), settings)?;
    let window = Window::open(&bench, None).await?;
    window.script_when("return document.documentElement.dir", |dir| dir == direction).await?;

    // The first of the three doors.
    let door = "return document.querySelector('main section button strong')?.innerText ?? null";
    let door = window.script_when(door, Value::is_string).await?;
    let doors = "return document.querySelectorAll('main section button strong').length";
    ensure!(window.script(doors).await? == 3, "not three doors");
    let whole = "return document.querySelector('main section button')?.innerText.trim()";
    ensure!(
        window
            .script(whole)
            .await?
            .as_str()
            .is_some_and(|name| name.starts_with(door.as_str().unwrap_or("?")))
    );
    window.click_named(window.script(whole).await?.as_str().unwrap_or_default()).await?;

    let mut asked = changed(&window, &Value::Null).await?;
    let mut last = asked.clone();
    for turn in 0..MOST_ACTS {
        if asked.is_null() {
            break;
        }
        last = asked.clone();
        asked = if strings(&asked["controls"]).is_empty() && strings(&asked["keys"]).is_empty() {
            changed(&window, &asked).await?
        } else {
            obey(&window, &asked, turn).await?
        };
    }
    ensure!(asked.is_null(), "the tour does not end: {asked}");

    // Its last sentence is about the row that is now selected, which is where it says.
    let row = "return document.querySelector('[data-testid=\"ranking-row\"][aria-selected=\"true\"]')?.innerText ?? null";
    let row = window.script_when(row, Value::is_string).await?;
    let place = numbers(row.as_str().unwrap_or_default()).first().copied().context("the row has no rank")?;
    let sentence = last["sentence"].as_str().unwrap_or_default();
    let named = numbers(sentence);
    ensure!(named.contains(&place), "row {place} is not in {sentence}");
    ensure!(named.iter().any(|number| *number != place && *number > 0), "nothing moved: {sentence}");
    window.close().await?;

    // The file has the labels, and the tour does not come again.
    let window = Window::open(&bench, None).await?;
    window.click("welcome-sample").await?;
    window.text_when("status-project", |shown| shown.contains("Sample")).await?;
    ensure!(window.all("tour").await?.is_empty(), "the tour is shown again");
    window.close().await
}

/// A browser that writes down what it is to open.
fn browser(bench: &Bench) -> Result<(PathBuf, PathBuf)> {
    let (folder, opened) = (bench.path("programs"), bench.path("opened"));
    std::fs::create_dir_all(&folder)?;
    let program = folder.join("xdg-open");
    let script =
        format!("#!/bin/sh\nprintf '%s' \"$1\" > '{0}.part' && mv '{0}.part' '{0}'\n", opened.display());
    std::fs::write(&program, script)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    Ok((folder, opened))
}

#[tokio::test]
async fn link_opens_a_page_only_once_it_is_confirmed() -> Result<()> {
    let bench = Bench::without_encoder();
    let bus = Bus::start()?;
    let (programs, opened) = browser(&bench)?;
    let link = "dissensus://page?url=http%3A%2F%2F127.0.0.1%3A9%2Fp%2Fabc";
    let start = Start::new(None).with_programs(&programs).on_bus(&bus);
    let window = Window::start(&bench, start.with_argument(link)).await?;
    window.text_when("link-host", |host| host == "127.0.0.1:9").await?;
    window.find("link-unencrypted").await?;
    // Neither a key of a habit nor declining opens it.
    window.press(ENTER).await?;
    window.find("link-dialog").await?;
    window.click("link-decline").await?;
    window.gone("link-dialog").await?;
    ensure!(!opened.exists(), "a page was opened without being asked for");

    // A second click on a link reaches the same window.
    let again = Start::new(None).with_programs(&programs).on_bus(&bus).with_argument(link);
    ensure!(window.another(&bench, &again).status()?.success());
    window.click("link-follow").await?;
    window.gone("link-dialog").await?;
    let start = std::time::Instant::now();
    while !opened.exists() {
        ensure!(start.elapsed().as_secs() < 60, "no page is opened");
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    ensure!(std::fs::read_to_string(&opened)? == "http://127.0.0.1:9/p/abc");

    // What is no link of ours is explained, and does nothing.
    let other = Start::new(None).on_bus(&bus).with_argument("dissensus://page?url=file:///etc/passwd");
    ensure!(window.another(&bench, &other).status()?.success());
    let explained = "return document.body.innerText.includes('https://')";
    window.script_when(explained, |found| found == true).await?;
    ensure!(window.all("link-dialog").await?.is_empty());
    window.close().await
}
