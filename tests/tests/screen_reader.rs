//! The window as a screen reader reads it: what Orca gets from the accessibility bus on the main way through
//! the window, recorded.
#![cfg(target_os = "linux")] // nowhere else is there a driver for the system's web view

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::bus::Bus;
use dissensus_tests::command::Bench;
use dissensus_tests::reader::{Announced, Item, Reader};
use dissensus_tests::window::{Start, Window};
use regex::Regex;

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';

/// What is read, without the figures of models, whose last digits depend on the processor.
fn record(bench: &Bench, item: &Item) -> Result<String> {
    let figures = Regex::new(r"\d+(–\d+)? %|\d+\.\d+|\d+–\d+|fitted on [^.]*")?;
    Ok(figures.replace_all(&bench.shown(&item.record()), "N").into_owned())
}

/// Fails if a control of the page is read as nothing.
fn all_named(page: &Item) -> Result<()> {
    let nameless = page.nameless();
    ensure!(nameless.is_empty(), "without a name in words: {nameless:#?}\nin\n{}", page.record());
    Ok(())
}

/// Presses a key by which the focus moves, and returns what is announced about its new place.
async fn focus_after(reader: &Reader, press: impl Future<Output = Result<()>>) -> Result<String> {
    press.await?;
    let announced = reader.announced_when(|announced| matches!(announced, Announced::Focus(_))).await?;
    let last = announced.into_iter().rev().find_map(|announced| match announced {
        Announced::Focus(words) => Some(words),
        Announced::Live(_) => None,
    });
    let last = last.context("nothing is announced of the focus")?;
    let page = reader.page_when(|_| true).await?;
    ensure!(
        page.focused().is_some_and(|words| words.starts_with(last.split(',').next().unwrap_or("?"))),
        "{last} was announced, but {:?} has the focus",
        page.focused()
    );
    Ok(last)
}

#[tokio::test]
async fn main_way_is_read() -> Result<()> {
    let bench = Bench::new();
    let bus = Bus::start()?;
    let reader = Reader::start(&bus).await?;
    let window = Window::start(&bench, Start::new(None).on_bus(&bus)).await?;

    let page = reader.page_when(|record| record.contains("See an example")).await?;
    all_named(&page)?;
    insta::assert_snapshot!("first_page", record(&bench, &page)?);

    window.click("welcome-sample").await?;
    window.text_when("status-encoding", |status| status.contains("All texts encoded")).await?;
    let page = reader.page_when(|record| record.contains("Who is labelling?")).await?;
    all_named(&page)?;
    let main = page.landmark("main").context("no main landmark")?;
    insta::assert_snapshot!("sample_opened", record(&bench, main)?);

    window.click("tour-skip").await?;
    window.gone("tour").await?;
    window.click("label-annotator-name").await?;
    window.type_text("Robin").await?;
    window.press(ENTER).await?;
    window.text_when("label-text", |body| !body.is_empty()).await?;
    let page = reader.page_when(|record| record.contains("Text to label")).await?;
    all_named(&page)?;
    let main = page.landmark("main").context("no main landmark")?;
    insta::assert_snapshot!("text_to_label", record(&bench, main)?);

    let mut announced = Vec::new();
    for _ in 0..4 {
        announced.push(focus_after(&reader, window.press(TAB)).await?);
    }
    insta::assert_snapshot!("keys", announced.join("\n"));
    window.press('3').await?;
    reader.announced_when(|announced| *announced == Announced::Live("Labelled 3".to_owned())).await?;
    window.press(ENTER).await?;
    reader
        .announced_when(
            |announced| matches!(announced, Announced::Live(words) if words.starts_with("Next: text 2")),
        )
        .await?;

    window.click("nav-findings").await?;
    window.click("tab-findings-texts").await?;
    let page = reader.page_when(|record| record.contains("The chosen text")).await?;
    all_named(&page)?;
    let main = page.landmark("main").context("no main landmark")?;
    insta::assert_snapshot!("ranking", record(&bench, main)?);

    window.click("tab-findings").await?;
    let page = reader.page_when(|record| record.contains("Which people")).await?;
    all_named(&page)?;
    let main = page.landmark("main").context("no main landmark")?;
    insta::assert_snapshot!("plots", record(&bench, main)?);

    focus_after(&reader, window.press_with_control(',')).await?;
    let page = reader.page_when(|record| record.contains("\"Settings\"")).await?;
    all_named(&page)?;
    let dialog = page.dialog().context("no dialog")?;
    insta::assert_snapshot!("settings", record(&bench, dialog)?);
    let back = focus_after(&reader, window.press(ESCAPE)).await?;
    ensure!(back.contains("Label as Robin"), "the focus goes to {back}");
    window.close().await
}
