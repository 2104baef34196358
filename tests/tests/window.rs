//! The real window, used with keyboard and mouse.
#![cfg(target_os = "linux")] // nowhere else is there a driver for the system's web view
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Context as _, Result, ensure};
use dissensus_tests::axe::Axe;
use dissensus_tests::bus::Bus;
use dissensus_tests::command::Bench;
use dissensus_tests::window::{Start, Window};
use dissensus_tests::{files, processes};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';
const DOWN: char = '\u{e015}';

/// A label that the window confirmed.
#[derive(Debug, PartialEq, Eq)]
struct Given {
    body: String,
    level: String,
}

/// Opens the texts of the findings.
async fn ranked_texts(window: &Window) -> Result<()> {
    window.click("nav-findings").await?;
    window.click("tab-findings-texts").await
}

/// Types a name into the field that asks who is labelling.
async fn join(window: &Window, name: &str) -> Result<()> {
    window.click("nav-label").await?;
    window.click("label-annotator-name").await?;
    window.type_text(name).await?;
    window.press(ENTER).await?;
    window.text_when("label-progress-done", |done| done == "0").await?;
    Ok(())
}

/// Presses the key of a level for the text on screen and waits until the window confirms the label.
async fn answer(window: &Window, level: u32, done_before: usize) -> Result<Given> {
    let body = window.text_when("label-text", |body| !body.is_empty()).await?;
    window.press(char::from_digit(level, 10).unwrap()).await?;
    confirmed(window, done_before + 1).await?;
    Ok(Given { body, level: level.to_string() })
}

async fn confirmed(window: &Window, done: usize) -> Result<()> {
    window.text_when("label-progress-done", |now| now == done.to_string()).await?;
    window.text_when("label-message", |message| message.starts_with("Labelled")).await?;
    Ok(())
}

/// Goes to the next text and waits for it.
async fn next(window: &Window, last: &Given) -> Result<()> {
    window.press(ENTER).await?;
    window.text_when("label-text", |body| !body.is_empty() && body != last.body).await?;
    Ok(())
}

/// This person's labels in the project, by text, read by the command after the window has closed.
fn kept(bench: &Bench, project: &Path, annotator: &str) -> BTreeMap<String, String> {
    let file = bench.path("kept.csv");
    let export =
        ["data".as_ref(), "export".as_ref(), project.as_os_str(), file.as_os_str(), "--force".as_ref()];
    bench.ok(export.into_iter().chain(["--question".as_ref(), "offensiveness".as_ref()]));
    let rows = csv::Reader::from_path(file).unwrap().into_deserialize::<BTreeMap<String, String>>();
    let rows = rows.map(Result::unwrap).filter(|row| row["annotator_id"] == annotator);
    rows.map(|row| (row["text"].clone(), row["label"].clone())).collect()
}

fn sample(bench: &Bench) -> PathBuf {
    bench.path("home").join("Sample.dissensus")
}

/// Chooses the language in the settings by its first letters.
async fn choose_language(window: &Window, letters: &str, direction: &str) -> Result<()> {
    window.press_with_control(',').await?;
    window.click("settings-language").await?;
    window.type_text(letters).await?;
    window.press(ENTER).await?;
    let is_wanted = |shown: &Value| shown.as_str() == Some(direction);
    window.script_when("return document.documentElement.dir", is_wanted).await?;
    window.press(ESCAPE).await?;
    window.gone("settings-dialog").await
}

#[tokio::test]
async fn window_has_the_language_that_was_chosen() -> Result<()> {
    let bench = Bench::new();
    let project = bench.path("P.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    let window = Window::open(&bench, Some(&project)).await?;
    window.text_when("nav-findings", |name| name.trim() == "Findings").await?;
    choose_language(&window, "Deu", "ltr").await?;
    window.text_when("nav-findings", |name| name.trim() == "Ergebnisse").await?;
    window.close().await?;

    let window = Window::open(&bench, Some(&project)).await?;
    window.text_when("nav-findings", |name| name.trim() == "Ergebnisse").await?;
    choose_language(&window, "\u{627}\u{644}", "rtl").await?;
    window.text_when("nav-findings", |name| name.trim() != "Ergebnisse").await?;
    choose_language(&window, "Eng", "ltr").await?;
    window.text_when("nav-findings", |name| name.trim() == "Findings").await?;
    window.close().await
}

#[tokio::test]
async fn views_and_dialogs_are_accessible() -> Result<()> {
    const VIEWS: [(&str, Option<&str>); 8] = [
        ("nav-findings", Some("tab-findings")),
        ("nav-findings", Some("tab-findings-texts")),
        ("nav-label", Some("tab-label")),
        ("nav-label", Some("tab-label-list")),
        ("nav-people", Some("tab-people")),
        ("nav-people", Some("tab-people-study")),
        ("nav-models", None),
        ("nav-project", None),
    ];
    const SETTLED: &str = "return document.querySelector('h1') !== null && document.querySelector('[aria-busy=\"true\"]') === null";
    let bench = Bench::new();
    let project = bench.path("P.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    let window = Window::open(&bench, Some(&project)).await?;
    let axe = Axe::new()?;
    let mut found = Vec::new();
    for (destination, tab) in VIEWS {
        window.click(destination).await?;
        if let Some(tab) = tab {
            window.click(tab).await?;
        }
        window.script_when(SETTLED, |settled| settled == true).await?;
        found.extend(axe.violations(&window, tab.unwrap_or(destination)).await?);
    }
    for (key, dialog) in [(',', "settings-dialog"), ('k', "palette")] {
        window.press_with_control(key).await?;
        window.find(dialog).await?;
        found.extend(axe.violations(&window, dialog).await?);
        window.press(ESCAPE).await?;
        window.gone(dialog).await?;
    }
    ensure!(found.is_empty(), "{}", found.join("\n"));
    window.close().await
}

#[tokio::test]
async fn keyboard_labels_and_undo_survive_closing() -> Result<()> {
    let bench = Bench::new();
    let window = Window::open(&bench, None).await?;
    window.click("welcome-sample").await?;
    window.text_when("simulated-notice", |notice| notice.contains("are simulated")).await?;
    join(&window, "Robin").await?;
    let mut given = Vec::new();
    for index in 0..10 {
        let label = answer(&window, (index % 5 + 1) as u32, index).await?;
        if index < 9 {
            next(&window, &label).await?;
        }
        given.push(label);
    }
    window.press('u').await?;
    window.text_when("label-progress-done", |done| done == "9").await?;
    given.pop();
    window.close().await?;

    let labels = kept(&bench, &sample(&bench), "Robin");
    assert_eq!(labels.len(), 9, "{labels:?}");
    for label in &given {
        assert_eq!(labels.get(&label.body), Some(&label.level), "{label:?}");
    }

    let window = Window::open(&bench, None).await?;
    window.click("recent-item").await?;
    // It opens at the last position, as the last annotator.
    window.text_when("label-progress-done", |done| done == "9").await?;
    let who = window.text("label-annotator").await?;
    ensure!(who.contains("Robin"), "opened as {who}");
    window.close().await
}

#[tokio::test]
async fn labels_confirmed_by_the_window_survive_kill_9() -> Result<()> {
    let bench = Bench::new();
    let project = bench.path("Hundred.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    let window = Window::open(&bench, Some(&project)).await?;
    join(&window, "Robin").await?;
    let mut given = Vec::new();
    // The kill happens in the middle of the work, right after a key was pressed.
    for index in 0..62 {
        let label = answer(&window, (index * 3 % 5 + 1) as u32, index).await?;
        next(&window, &label).await?;
        given.push(label);
    }
    window.press('4').await?;
    window.kill()?;

    let labels = kept(&bench, &project, "Robin");
    for label in &given {
        assert_eq!(labels.get(&label.body), Some(&label.level), "a confirmed label is lost: {label:?}");
    }
    assert!(labels.len() == 62 || labels.len() == 63, "{}", labels.len());

    // The window continues from there.
    let window = Window::open(&bench, Some(&project)).await?;
    window.click("nav-label").await?;
    window.text_when("label-progress-done", |done| done == labels.len().to_string()).await?;
    window.close().await
}

#[tokio::test]
async fn bad_row_is_explained_before_importing() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = bench.path("P.dissensus");
    bench.file("first.csv", files::labels(10, 3));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "first.csv", "--question", "offensiveness"]);
    let file = bench.file(
        "more.csv",
        "text_id,text,annotator_id,offensiveness\nx1,fine,ana,3\nx2,a level outside,ana,9\nx3,fine too,ana,1\n",
    );
    let window = Window::open(&bench, Some(&project)).await?;
    window.find("summary").await?;
    window.hand_over("importPath", &file).await?;
    let problem = window.text("import-problem").await?;
    ensure!(problem.contains("Row 2"), "{problem}");
    ensure!(problem.contains("offensiveness") && problem.contains('9'), "{problem}");
    ensure!(
        !window.find("import-confirm").await?.is_enabled().await?,
        "a file with a bad row is not imported as it is"
    );
    ensure!(window.all("import-problem").await?.len() == 1);

    window.click("import-skip-bad").await?;
    window.click("import-confirm").await?;
    let message = window.text_when("done-toast", |message| message.contains("Imported")).await?;
    ensure!(message.contains("2 texts") && message.contains("2 labels"), "{message}");
    window.close().await?;
    let labels = kept(&bench, &project, "ana");
    assert_eq!(labels, BTreeMap::from([("fine".into(), "3".into()), ("fine too".into(), "1".into())]));
    Ok(())
}

/// Chooses an entry of an open list by the beginning of its name.
async fn choose(window: &Window, list: &str, begins: &str) -> Result<()> {
    window.find(list).await?;
    window.script(&format!("document.querySelector('[data-testid=\"{list}\"]').focus()")).await?;
    window.type_text(begins).await
}

#[tokio::test]
async fn tool_export_reports_losses_before_and_after() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = bench.path("P.dissensus");
    bench.file("first.csv", files::labels(10, 3));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "first.csv", "--question", "offensiveness"]);
    let window = Window::open(&bench, Some(&project)).await?;
    window.find("summary").await?;
    window.press_with_control('e').await?;
    window.click("export-program").await?;
    window.text_when("export-held", |held| held.contains("30 labels on 10 texts by 3 people")).await?;
    choose(&window, "export-format", "CSV").await?;
    let box_of = |reported: &str| {
        reported.contains("Not in CSV with task") && reported.contains("Texts themselves: 10.")
    };
    window.text_when("export-contents", box_of).await?;
    window.press(ESCAPE).await?;

    let file = bench.path("for another.csv");
    window.hand_over("exportFor.bind(null, 'crowd-kit')", &file).await?;
    let message = window.text_when("done-toast", |message| message.contains("written to")).await?;
    ensure!(message.contains("30 labels on 10 texts by 3 people"), "{message}");
    ensure!(message.contains("Texts themselves: 10. The format has ids alone"), "{message}");
    window.close().await?;
    let rows = csv::Reader::from_path(&file)?.into_deserialize::<BTreeMap<String, String>>();
    let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
    assert_eq!(rows.len(), 30);
    assert_eq!(rows[0].keys().collect::<Vec<_>>(), ["label", "task", "worker"]);
    Ok(())
}

#[tokio::test]
async fn column_choices_are_reused_and_import_can_be_removed() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = bench.path("P.dissensus");
    bench.ok(["project", "new", "P.dissensus"]);
    let rows = |n: u32| {
        format!("text_id,text,annotator_id,label,town\nx{n},one {n},ana,1,york\ny{n},two {n},ben,2,hull\n")
    };
    let (first, second) = (bench.file("first.csv", rows(1)), bench.file("second.csv", rows(2)));
    let window = Window::open(&bench, Some(&project)).await?;
    window.find("nav-label").await?;
    window.hand_over("importPath", &first).await?;
    window.find("import-role-town").await?;
    ensure!(window.all("import-as-last-time").await?.is_empty());
    choose(&window, "import-role-town", "Group").await?;
    window.text_when("import-role-town", |role| role.contains("Group")).await?;
    window.click("import-confirm").await?;
    window.text_when("done-toast", |message| message.contains("Imported 2 texts")).await?;

    window.hand_over("importPath", &second).await?;
    window.find("import-as-last-time").await?;
    window.text_when("import-role-town", |role| role.contains("Group")).await?;
    window.click("import-use-guess").await?;
    window.text_when("import-role-town", |role| !role.contains("Group")).await?;
    window.press(ESCAPE).await?;
    window.click("discard-yes").await?;

    // Imports once more with the last choices, and undoes that right after.
    window.hand_over("importPath", &second).await?;
    window.find("import-as-last-time").await?;
    window.click("import-confirm").await?;
    window.gone("import-confirm").await?;
    window.click("toast-act").await?;
    window.click("remove-confirm").await?;
    window.text_when("done-toast", |message| message.contains("was removed")).await?;
    window.close().await?;
    let info = bench.json(["project", "info", "P.dissensus"]);
    assert_eq!(info["texts"], 2, "{info}");
    Ok(())
}

#[tokio::test]
async fn pasted_rows_are_imported() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = bench.path("P.dissensus");
    bench.ok(["project", "new", "P.dissensus"]);
    let window = Window::open(&bench, Some(&project)).await?;
    window.find("nav-label").await?;
    window.hand_over("paste", Path::new("so good\nwell, no\n\nx\n")).await?;
    window.text_when("import-dialog", |shown| shown.contains("Import pasted rows")).await?;
    window.text_when("import-dialog", |shown| shown.contains("3 new texts")).await?;
    window.click("import-header").await?;
    window.text_when("import-dialog", |shown| shown.contains("2 new texts")).await?;
    window.click("import-confirm").await?;
    window.text_when("done-toast", |message| message.contains("Imported 2 texts")).await?;
    window.close().await?;
    let left = std::fs::read_dir(bench.path("home").join("pasted"))?.count();
    assert_eq!(left, 0, "what was pasted is left");
    Ok(())
}

/// Texts and their predictions in the order shown: the rendered rows of the ranking, once they are there and
/// differ from `before`.
async fn ranking(window: &Window, before: &[String]) -> Result<Vec<String>> {
    let rows = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    // A row is rendered a moment before its content.
    let drawn =
        |rows: &[String]| rows.len() >= 5 && rows.iter().all(|row| row.split_whitespace().count() > 3);
    let script = "return [...document.querySelectorAll('[data-testid=\"ranking-row\"]')].map((row) => row.dataset.textId + ' ' + row.innerText)";
    let found = window
        .script_when(script, |value| {
            let rows = rows(value);
            drawn(&rows) && rows != before
        })
        .await?;
    Ok(rows(&found))
}

#[tokio::test]
async fn ranking_changes_after_a_label() -> Result<()> {
    let bench = Bench::new();
    let project = bench.path("S.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    bench.ok(["models".as_ref(), "encode".as_ref(), project.as_os_str()]);
    let window = Window::open(&bench, Some(&project)).await?;
    ranked_texts(&window).await?;
    let revision = window.text_when("ranking-revision", |revision| revision != "0").await?;
    let before = ranking(&window, &[]).await?;

    window.click("nav-label").await?;
    join(&window, "Robin").await?;
    for index in 0..3 {
        let label = answer(&window, 5, index).await?;
        // With an encoder, other people's views are shown, and only after the answer.
        window.text_when("label-reveal", |reveal| reveal.contains("Others")).await?;
        next(&window, &label).await?;
        ensure!(
            window.all("label-reveal").await?.is_empty(),
            "a text that is not answered yet shows predictions"
        );
    }
    ranked_texts(&window).await?;
    window.text_when("ranking-revision", |now| now != revision).await?;
    // Labels of a new annotator change the ranking.
    ranking(&window, &before).await?;
    window.close().await
}

#[tokio::test]
async fn prediction_shows_its_parts_and_words() -> Result<()> {
    let bench = Bench::new();
    let project = bench.path("S.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    bench.ok(["models".as_ref(), "encode".as_ref(), project.as_os_str()]);
    let window = Window::open(&bench, Some(&project)).await?;
    ranked_texts(&window).await?;
    window.text_when("ranking-revision", |revision| revision != "0").await?;
    window.find("people-dots").await?;
    window.script("document.querySelector('[data-testid=people-dots] circle.hollow, [data-testid=people-dots] circle').dispatchEvent(new MouseEvent('click', { bubbles: true }))").await?;
    // A sentence and probabilities first; logits add up, each rounded to two digits.
    window.text_when("why-sentence", |message| message.contains('%')).await?;
    window.click("why-logits").await?;
    let figures = "return [...document.querySelectorAll('[data-testid=why-sum] tr')].map((row) => Number(row.lastElementChild.textContent.replace('−', '-')))";
    let adds_up = |found: &Value| {
        let figures: Vec<f64> = found.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        figures
            .split_last()
            .is_some_and(|(sum, parts)| parts.len() > 4 && (parts.iter().sum::<f64>() - sum).abs() < 0.05)
    };
    window.script_when(figures, adds_up).await?;
    window.click("why-words-ask").await?;
    let marked = "return document.querySelectorAll('[data-testid=why-words] mark').length";
    window.script_when(marked, |words| words.as_u64() > Some(3)).await?;
    window.press(ESCAPE).await?;
    window.gone("why").await?;
    window.close().await
}

/// States of the runs in the list, newest first.
async fn run_states(window: &Window) -> Result<Vec<String>> {
    let states = window
        .script("return [...document.querySelectorAll('[data-testid=\"run-item\"]')].map((row) => row.dataset.state)")
        .await?;
    Ok(states.as_array().unwrap().iter().map(|state| state.as_str().unwrap_or_default().to_owned()).collect())
}

/// Waits until the runs in the list, newest first, are in these states.
async fn run_states_when(window: &Window, wanted: &[&str]) -> Result<()> {
    let script =
        "return [...document.querySelectorAll('[data-testid=\"run-item\"]')].map((row) => row.dataset.state)";
    window.script_when(script, |states| *states == serde_json::json!(wanted)).await.map(|_| ())
}

#[tokio::test]
async fn model_is_trained_during_labelling_and_compared() -> Result<()> {
    let bench = Bench::new();
    let project = bench.path("S.dissensus");
    let project_arg = project.as_os_str();
    bench.ok(["project".as_ref(), "sample".as_ref(), project_arg]);
    bench.ok(["models".as_ref(), "encode".as_ref(), project_arg]);
    let train =
        ["models".as_ref(), "train".as_ref(), project_arg, "--question".as_ref(), "offensiveness".as_ref()];
    bench.ok(train.into_iter().chain([
        "--model".as_ref(),
        "shared".as_ref(),
        "--split".as_ref(),
        "by-text:0.7".as_ref(),
    ]));
    let window = Window::open(&bench, Some(&project)).await?;
    window.click("nav-models").await?;
    window.find("run-item").await?;
    ensure!(run_states(&window).await? == ["finished"]);

    window.click("run-new").await?;
    window.click("run-start").await?;
    // The dialog closes once the run has begun; until then it covers the page.
    window.gone("run-dialog").await?;
    // Labelling does not wait for the training.
    window.click("nav-label").await?;
    join(&window, "Robin").await?;
    let label = answer(&window, 4, 0).await?;
    next(&window, &label).await?;

    window.click("nav-models").await?;
    run_states_when(&window, &["finished", "finished"]).await?;
    window.click("run-item").await?;
    // The window shows the value that the command reads from the project, which stores it with all digits.
    let shown: f64 = window.text("run-metric-log_loss").await?.parse()?;
    for (check, ticked) in window.all("run-check").await?.into_iter().zip(["1 of 2", "2 of 2"]) {
        check.click().await?;
        window.text_when("run-compare", |shown| shown.contains(ticked)).await?;
    }
    window.click("run-compare").await?;
    window.find("compare-view").await?;
    window.find("compare-metric-log_loss").await?;
    window.close().await?;
    assert_eq!(kept(&bench, &project, "Robin").len(), 1);
    let runs = bench.json(["models".as_ref(), "runs".as_ref(), "list".as_ref(), project_arg]);
    let newest = runs[0]["id"].to_string();
    let run = bench.json(["models".as_ref(), "runs".as_ref(), "show".as_ref(), project_arg, newest.as_ref()]);
    let kept =
        run["info"]["scores"]["metrics"].as_array().into_iter().flatten().find(|m| m["key"] == "log_loss");
    let kept = kept.and_then(|metric| metric["value"].as_f64()).unwrap();
    ensure!((kept - shown).abs() < 0.0006, "the window shows {shown}, the project has {kept}");
    Ok(())
}

#[tokio::test]
async fn texts_and_names_are_never_html() -> Result<()> {
    let bench = Bench::without_encoder();
    let body = "<img src=x onerror=\"window.struck = 1\"><script>window.struck = 2</script><b>bold</b>";
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["text_id", "text", "annotator_id", "offensiveness"]).unwrap();
    writer.write_record(["<u>id</u>", body, "<i onclick=x>bo</i>", "1"]).unwrap();
    writer.write_record(["t2", "an ordinary text", "ana", "2"]).unwrap();
    bench.file("markup.csv", writer.into_inner().unwrap());
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "markup.csv"]);
    let window = Window::open(&bench, Some(&bench.path("P.dissensus"))).await?;
    join(&window, "<s>Robin</s>").await?;
    window.text_when("label-text", |shown| shown == body).await?;
    ensure!(window.text("label-annotator").await?.contains("<s>Robin</s>"));
    for (view, shows) in [
        ("nav-findings", "offensiveness"),
        ("tab-findings-texts", "an ordinary text"),
        ("nav-people", "<i onclick=x>bo</i>"),
    ] {
        window.click(view).await?;
        let script = format!("return document.querySelector('main').innerText.includes({shows:?})");
        window.script_when(&script, |there| there == true).await?;
    }
    ensure!(window.script("return window.struck ?? null").await?.is_null(), "a text was run as a script");
    window.close().await
}

#[tokio::test]
async fn project_open_elsewhere_is_reported() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = bench.path("S.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    let first = Window::open(&bench, Some(&project)).await?;
    first.find("summary").await?;
    // A user with another home folder, so that the two are separate windows.
    let other = Bench::without_encoder();
    let second = Window::open(&other, Some(&project)).await?;
    let problem = second.text("problem-toast").await?;
    ensure!(problem.contains("is open already"), "{problem}");
    second.find("welcome-sample").await?;
    join(&first, "Robin").await?;
    answer(&first, 3, 0).await?;
    second.close().await?;
    first.close().await
}

#[tokio::test]
async fn second_double_click_reuses_the_window() -> Result<()> {
    let bench = Bench::without_encoder();
    let bus = Bus::start()?;
    let (first, second) = (bench.path("First.dissensus"), bench.path("Second one.dissensus"));
    for project in [&first, &second] {
        bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    }
    let window = Window::start(&bench, Start::new(Some(&first)).on_bus(&bus)).await?;
    window.text_when("status-project", |shown| shown.contains("First")).await?;

    let again = Start::new(Some(Path::new("Second one.dissensus"))).on_bus(&bus);
    let status = window.another(&bench, &again).current_dir(bench.folder()).status()?;
    ensure!(status.success(), "the second start: {status}");
    window.text_when("status-project", |shown| shown.contains("Second one")).await?;
    // The first project was closed in between, and can be opened by others.
    let label =
        ["label", "record", "First.dissensus", "--question", "offensiveness", "--annotator", "sim-ada"];
    bench.ok(label.into_iter().chain(["--text-id", "c131", "--value", "3"]));
    window.close().await
}

#[tokio::test]
async fn closing_during_training_asks_first() -> Result<()> {
    let bench = Bench::new();
    let project = bench.path("S.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    bench.ok(["models".as_ref(), "encode".as_ref(), project.as_os_str()]);
    let window = Window::open(&bench, Some(&project)).await?;
    window.click("nav-models").await?;
    window.click("run-new").await?;
    // The next tuning after the frozen encoder: every text goes through the encoder in every epoch.
    window.click("run-tuning").await?;
    window.press(DOWN).await?;
    window.press(ENTER).await?;
    window.find("run-slow").await?;
    window.click("run-start").await?;
    window.gone("run-dialog").await?;
    run_states_when(&window, &["running"]).await?;

    window.press_with_control('q').await?;
    window.text_when("leave-dialog", |shown| shown.contains("1 run is still training")).await?;
    window.click("leave-keep").await?;
    window.gone("leave-dialog").await?;
    run_states_when(&window, &["running"]).await?;

    window.press_with_control('q').await?;
    window.find("leave-stop").await?;
    // The window may be gone before its driver has answered the click.
    let _ = window.click("leave-stop").await;
    window.ended().await?;
    let runs = bench.json(["models".as_ref(), "runs".as_ref(), "list".as_ref(), project.as_os_str()]);
    ensure!(runs[0]["state"] != "running" && runs[0]["state"] != "finished", "{runs}");
    Ok(())
}

#[tokio::test]
async fn system_shutdown_closes_the_project() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = bench.path("S.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    let window = Window::open(&bench, Some(&project)).await?;
    join(&window, "Robin").await?;
    let given = answer(&window, 4, 0).await?;
    processes::terminate(window.process()?);
    window.ended().await?;

    // A copy of the one file, as someone would mail it.
    let copy = bench.path("Copy.dissensus");
    std::fs::copy(&project, &copy)?;
    ensure!(!bench.path("S.dissensus-wal").exists(), "the project was not closed");
    assert_eq!(kept(&bench, &copy, "Robin").get(&given.body), Some(&given.level));
    Ok(())
}

#[tokio::test]
async fn missing_encoder_is_offered_for_download() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = bench.path("S.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    // Nothing listens on the discard port.
    let start = Start::new(Some(&project)).with_hub("http://127.0.0.1:9");
    let window = Window::start(&bench, start).await?;
    window.click("encoder-get").await?;
    window.text_when("encoder-size", |size| size.contains("MB") && size.contains("SHA-256")).await?;
    window.click("encoder-download").await?;
    let problem = window.text("encoder-problem").await?;
    ensure!(problem.contains("127.0.0.1:9") && problem.contains("folder"), "{problem}");
    window.text_when("encoder-download", |button| button == "Try again").await?;

    // A folder with the encoder on another disk works too.
    window.hand_over("encoderFolder", &Bench::new().models().join("all-MiniLM-L6-v2")).await?;
    window.text_when("status-encoding", |shown| shown.contains("All texts encoded")).await?;
    window.close().await
}

#[tokio::test]
async fn window_zooms_in_and_out() -> Result<()> {
    let bench = Bench::without_encoder();
    let window = Window::open(&bench, None).await?;
    window.find("welcome-sample").await?;
    let width = "return window.innerWidth";
    let at_first = window.script(width).await?.as_f64().unwrap();
    // The larger the zoom, the fewer CSS pixels the page has.
    window.press_with_control('+').await?;
    window.script_when(width, |now| now.as_f64() < Some(at_first * 0.9)).await?;
    window.press_with_control('0').await?;
    window.script_when(width, |now| now.as_f64() == Some(at_first)).await?;
    window.press_with_control('-').await?;
    window.script_when(width, |now| now.as_f64() > Some(at_first * 1.1)).await?;
    window.close().await
}

/// The sample with all its embeddings.
fn encoded_sample(bench: &Bench) -> PathBuf {
    let project = bench.path("S.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    bench.ok(["models".as_ref(), "encode".as_ref(), project.as_os_str()]);
    project
}

/// A document of the command about the question `offensiveness` of `project`.
fn json_of(bench: &Bench, [group, verb]: [&str; 2], project: &Path, more: &[&str]) -> Value {
    let arguments =
        [group.as_ref(), verb.as_ref(), project.as_os_str(), "--question".as_ref(), "offensiveness".as_ref()];
    bench.json(arguments.into_iter().chain(more.iter().map(OsStr::new)))
}

/// The texts of the cells of all rows that `rows` selects, as `cells` in a row selects them.
async fn table(window: &Window, rows: &str, cells: &str) -> Result<Vec<Vec<String>>> {
    let script = format!(
        "return [...document.querySelectorAll({rows:?})].map((row) =>
            [...row.querySelectorAll({cells:?})].map((cell) => cell.textContent.trim()))"
    );
    Ok(serde_json::from_value(window.script(&script).await?)?)
}

/// A number as the window writes it: "1,456", "−0.12", "+3 points", "48 %".
fn number(shown: &str) -> Result<f64> {
    let plain: String = shown.chars().filter(|c| !matches!(c, ',' | '+')).collect();
    let first = plain.replace('−', "-");
    let first = first.split_whitespace().next().unwrap_or_default();
    first.parse().with_context(|| format!("{shown:?} is no number"))
}

/// Compares a number on screen, with so many decimals, with the value from the command.
fn same(what: &str, shown: &str, reported: &Value, decimals: i32) -> Result<()> {
    let Some(reported) = reported.as_f64() else {
        ensure!(shown == "–", "{what}: the window shows {shown}, the command prints {reported}");
        return Ok(());
    };
    let half = 0.5001 * 10.0_f64.powi(-decimals);
    ensure!(
        (number(shown)? - reported).abs() <= half,
        "{what}: the window shows {shown}, the command prints {reported}"
    );
    Ok(())
}

/// Compares the text of a bar ("what: 1: 20 %, 4: 61 %";
/// levels below 5 % are omitted) with the shares of the levels.
fn same_shares(what: &str, bar: &str, levels: &[Value], reported: &[f64]) -> Result<()> {
    let shares: BTreeMap<&str, f64> = bar
        .split(", ")
        .filter_map(|part| {
            let (before, share) = part.rsplit_once(": ")?;
            Some((before.rsplit(' ').next()?, number(share).ok()?))
        })
        .collect();
    ensure!(!shares.is_empty(), "{what}: {bar:?}");
    for (level, reported) in levels.iter().zip(reported) {
        match shares.get(level.as_str().unwrap()) {
            Some(shown) => {
                ensure!((shown - reported * 100.0).abs() <= 0.51, "{what}: {bar:?} and {reported}")
            }
            None => ensure!(*reported < 0.0501, "{what}: {bar:?} leaves out a level with {reported}"),
        }
    }
    Ok(())
}

fn shares(values: &Value) -> Vec<f64> {
    values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

#[tokio::test]
async fn window_and_command_agree_after_an_answer() -> Result<()> {
    let bench = Bench::new();
    let project = encoded_sample(&bench);
    let reported = json_of(&bench, ["analyse", "disagreement"], &project, &["--top", "1000"]);
    let levels = reported["levels"].as_array().unwrap();
    let window = Window::open(&bench, Some(&project)).await?;
    // The models are fitted before the answer, so that they have not learned from it.
    ranked_texts(&window).await?;
    window.text_when("ranking-revision", |revision| revision != "0").await?;
    window
        .script_when("return document.querySelectorAll('[data-testid=\"ranking-row\"] strong').length", |n| {
            n.as_u64() > Some(3)
        })
        .await?;
    let rows = table(&window, "[data-testid=\"ranking-row\"]", ".measure strong").await?;
    for (row, reported) in rows.iter().zip(reported["texts"].as_array().unwrap()).take(4) {
        same("split", &row[0], &reported["value"], 2)?;
    }

    window.click("nav-label").await?;
    join(&window, "Robin").await?;
    let given = answer(&window, 4, 0).await?;
    window.text_when("label-reveal", |reveal| reveal.contains("Predicted for the others (8)")).await?;
    let text = reported["texts"].as_array().unwrap().iter().find(|text| text["text"] == given.body.as_str());
    let text = text.unwrap();
    let bars = "return [...document.querySelectorAll('[data-testid=\"label-reveal\"] [role=img]')].map((bar) => bar.ariaLabel)";
    let bars: Vec<String> = serde_json::from_value(window.script(bars).await?)?;
    let bar = |name: &str| bars.iter().find(|bar| bar.starts_with(name)).with_context(|| format!("{bars:?}"));
    same_shares("predicted", bar("Predicted for the others")?, levels, &shares(&text["distribution"]))?;
    let counts = shares(&text["observed"]);
    let all: f64 = counts.iter().sum();
    let observed: Vec<f64> = counts.iter().map(|count| count / all.max(1.0)).collect();
    if all > 0.0 {
        same_shares("observed", bar("Others' labels")?, levels, &observed)?;
    }
    let differ = window.text("label-reveal-differ").await?;
    // Over everyone: Robin, who has no labels yet, did not exist when the command ran.
    let shown: f64 = differ.trim_end_matches(|c: char| !c.is_ascii_digit()).parse()?;
    ensure!(
        (shown - text["pairwise"].as_f64().unwrap() * 100.0).abs() <= 1.5,
        "{differ}: {}",
        text["pairwise"]
    );
    let progress = window.script("return document.querySelector('[role=progressbar]').ariaValueMax").await?;
    ensure!(progress == reported["texts_in_all"].to_string().as_str(), "{progress}");
    window.close().await
}

#[tokio::test]
async fn people_view_shows_labels_and_agreement() -> Result<()> {
    let bench = Bench::new();
    let project = encoded_sample(&bench);
    let agreement = json_of(&bench, ["analyse", "agreement"], &project, &[]);
    let file = bench.path("all.csv");
    let export = ["data".as_ref(), "export".as_ref(), project.as_os_str(), file.as_os_str()];
    bench.ok(export.into_iter().chain(["--question".as_ref(), "offensiveness".as_ref()]));
    // Labels of each person, by level.
    let mut given: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for row in csv::Reader::from_path(file)?.into_deserialize::<BTreeMap<String, String>>() {
        let row = row?;
        let levels = given.entry(row["annotator_id"].trim_start_matches("sim-").to_owned()).or_default();
        *levels.entry(row["label"].clone()).or_default() += 1;
    }
    ensure!(given.len() as u64 == agreement["annotators"].as_u64().unwrap(), "{given:?}");

    let window = Window::open(&bench, Some(&project)).await?;
    window.click("nav-people").await?;
    // Sorted by name, so that the order of rows does not change while values arrive.
    window.find("annotator-row").await?;
    window
        .script("document.querySelector('[data-testid=\"annotator-list\"] [role=columnheader].name button').click()")
        .await?;
    // Severity is shown once the models of the annotators are fitted, which may be a moment later.
    let severities = "return [...document.querySelectorAll('[data-testid=\"annotator-row\"] .severity svg')].map((mark) => mark.ariaLabel)";
    let refresh = "document.querySelector('[data-testid=\"annotators-update\"]:not(:disabled)')?.click();";
    let severities = window
        .script_when(&format!("{refresh} {severities}"), |all| {
            let all: Vec<&str> = all.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            all.len() == given.len() && all.iter().all(|mark| mark.contains('±'))
        })
        .await?;
    same("alpha", &window.text("annotators-alpha").await?, &agreement["alpha"], 2)?;
    // Accuracy is measured by a separate job.
    let shown = "return [...document.querySelectorAll('[data-testid=\"annotator-row\"]')].map((row) => row.innerText)";
    window.script_when(shown, |rows| !rows.to_string().contains('…')).await?;
    // The update requested above may begin another measurement: only a finished one may be read.
    let mut tries = 0;
    // A column in which people do not differ is omitted.
    let heads = "return [...document.querySelectorAll('[data-testid=\"annotator-list\"] [role=columnheader]')].map((head) => head.classList[0])";
    let (rows, heads) = loop {
        let rows = table(&window, "[data-testid=\"annotator-row\"]", "[role=gridcell]").await?;
        let heads: Vec<String> = serde_json::from_value(window.script(heads).await?)?;
        let at = heads.iter().position(|head| head == "held_out_accuracy");
        if rows.iter().all(|row| at.is_some_and(|at| row.get(at).is_some_and(|cell| cell.contains('%')))) {
            break (rows, heads);
        }
        tries += 1;
        ensure!(tries < 100, "not measured: {rows:?}");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    };
    let uses = "return [...document.querySelectorAll('[data-testid=\"annotator-row\"] .use[role=img]')].map((use) => use.ariaLabel)";
    let uses: Vec<String> = serde_json::from_value(window.script(uses).await?)?;
    let place = |column: &str| heads.iter().position(|head| head == column);
    for (row, uses) in rows.iter().zip(&uses) {
        let name = row[0].split_whitespace().next().unwrap_or_default().to_lowercase();
        let reported = given.get(&name).with_context(|| format!("{name} of {given:?}"))?;
        let labels = reported.values().sum::<usize>();
        match place("labels") {
            Some(at) => same("labels", &row[at], &Value::from(labels), 0)?,
            None => ensure!(given.values().all(|of| of.values().sum::<usize>() == labels), "{given:?}"),
        }
        for level in ["1", "2", "3", "4", "5"] {
            let count = reported.get(level).copied().unwrap_or_default();
            ensure!(
                format!("{uses},").contains(&format!(" {level}: {count},")),
                "{name}: {uses}, {reported:?}"
            );
        }
        let accuracy = place("held_out_accuracy").map(|at| row[at].as_str()).unwrap_or_default();
        for figure in accuracy.split_whitespace().filter(|word| !["%", "guess"].contains(word)) {
            let share = number(figure)?;
            ensure!((0.0..=100.0).contains(&share), "{name}: {accuracy}");
        }
    }
    // Stricter annotators give higher levels:
    // the most severe one has a higher mean than the least severe one.
    let mean = |name: &str| {
        let levels = &given[name];
        let sum: f64 = levels.iter().map(|(level, n)| level.parse::<f64>().unwrap() * *n as f64).sum();
        sum / levels.values().sum::<usize>() as f64
    };
    let mut judged: Vec<(f64, f64)> = Vec::new();
    for (row, mark) in rows.iter().zip(severities.as_array().unwrap()) {
        let name = row[0].split_whitespace().next().unwrap_or_default().to_lowercase();
        let severity = mark.as_str().unwrap().split_whitespace().nth(1).unwrap_or_default();
        judged.push((number(severity)?, mean(&name)));
    }
    judged.sort_by(|a, b| a.0.total_cmp(&b.0));
    ensure!(judged[0].1 < judged[judged.len() - 1].1, "{judged:?}");
    window.close().await
}

#[tokio::test]
async fn run_detail_shows_every_figure_of_the_command() -> Result<()> {
    let bench = Bench::new();
    let project = encoded_sample(&bench);
    json_of(&bench, ["models", "train"], &project, &["--model", "sep-heads", "--split", "by-text:0.7"]);
    let run =
        bench.json(["models".as_ref(), "runs".as_ref(), "show".as_ref(), project.as_os_str(), "1".as_ref()]);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let window = Window::open(&bench, Some(&project)).await?;
    window.click("nav-models").await?;
    window.click("run-item").await?;
    window.find("run-annotator").await?;

    for metric in list(&run["info"]["scores"]["metrics"]) {
        let key = metric["key"].as_str().unwrap();
        let shown = window.text(&format!("run-metric-{key}")).await?;
        same(key, &shown, &metric["value"], 3)?;
        let interval = window.text(&format!("run-interval-{key}")).await?;
        let Some((low, high)) = interval.trim_matches(['[', ']']).split_once(", ") else {
            ensure!(metric["low"].is_null() && interval == "–", "{key}: {interval}, {metric}");
            continue;
        };
        same(key, low, &metric["low"], 3)?;
        same(key, high, &metric["high"], 3)?;
    }
    let classes = table(&window, "[data-testid=\"run-class\"]", "th, td").await?;
    assert_eq!(classes.len(), list(&run["classes"]).len());
    for (row, reported) in classes.iter().zip(list(&run["classes"])) {
        assert_eq!(reported["name"], row[0].as_str());
        for (cell, key) in row[1..].iter().zip(["precision", "recall", "f1", "support"]) {
            same(key, cell, &reported[key], if key == "support" { 0 } else { 2 })?;
        }
    }
    let confusion = table(&window, "[data-testid=\"run-confusion\"] tbody tr", "td").await?;
    let confusion: Vec<Vec<f64>> =
        confusion.iter().map(|row| row.iter().map(|n| number(n)).collect()).collect::<Result<_>>()?;
    assert_eq!(confusion, list(&run["confusion"]).iter().map(shares).collect::<Vec<_>>());
    let people = table(&window, "[data-testid=\"run-annotator\"]", "[role=rowheader], [role=cell]").await?;
    assert_eq!(people.len(), list(&run["annotators"]).len());
    for reported in list(&run["annotators"]) {
        let row = people.iter().find(|row| reported["name"] == row[0].as_str());
        let row = row.with_context(|| format!("{reported} is not in {people:?}"))?;
        same("labels", &row[1], &reported["labels"], 0)?;
        same("accuracy", &row[2], &Value::from(reported["accuracy"].as_f64().unwrap() * 100.0), 0)?;
        same("log loss", &row[4], &reported["log_loss"], 3)?;
    }
    let settings = window.text("run-settings").await?;
    for (part, what) in [("train", "Learned from"), ("test", "Scored on")] {
        let [texts, labels] = ["texts", "labels"].map(|of| run["sizes"][format!("{part}_{of}")].clone());
        let line = settings.lines().collect::<Vec<_>>().join(" ");
        ensure!(
            line.contains(&format!("{what} {texts} texts, {labels} labels")),
            "{texts}, {labels}: {line}"
        );
    }
    window.close().await
}

/// The selected entry: the text's row in the file.
const CHOSEN: &str = "return document.querySelector('[data-testid=\"texts-row\"][aria-selected=\"true\"]')?.dataset.textId ?? null";

#[tokio::test]
async fn text_is_searched_answered_and_listed_as_own() -> Result<()> {
    let bench = Bench::without_encoder();
    let project = bench.path("S.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    let reported = bench.json([
        "data".as_ref(),
        "texts".as_ref(),
        project.as_os_str(),
        "--search".as_ref(),
        "absolute potato".as_ref(),
    ]);
    let wanted = reported["rows"][0]["text"].to_string();
    let window = Window::open(&bench, Some(&project)).await?;
    // It opens with the progress, as printed by the command.
    let overview = bench.json(["project".as_ref(), "overview".as_ref(), project.as_os_str()]);
    let alpha = overview["agreement"][0]["alpha"].as_f64().unwrap();
    window.text_when("summary-alpha", |shown| shown.contains(&format!("{alpha:.2}"))).await?;
    ensure!(window.all("label-person").await?.is_empty(), "no strangers");
    join(&window, "Robin").await?;

    window.press_with_control('f').await?;
    window.text_when("texts-total", |total| total.starts_with("1")).await?;
    window.press('/').await?;
    window.type_text("absolute potato").await?;
    let count = reported["total"].as_u64().unwrap();
    window.text_when("texts-total", |total| total.starts_with(&format!("{count} text"))).await?;
    window.press(ENTER).await?;
    window.script_when(CHOSEN, |text| *text == Value::String(wanted.clone())).await?;
    window.press(ENTER).await?;
    let given = answer(&window, 4, 0).await?;
    ensure!(given.body.contains("absolute potato"), "{}", given.body);

    // It is found again among the own texts, and the answer is changed from there.
    window.press_with_control('f').await?;
    window.click("texts-filter-answered").await?;
    window.text_when("texts-total", |total| total == "1 text").await?;
    // The search left one text too: the list of own texts may still be loading,
    // and nothing is selected in it.
    for _ in 0..50 {
        window.press(DOWN).await?;
        if window.script(CHOSEN).await? == Value::String(wanted.clone()) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    window.script_when(CHOSEN, |text| *text == Value::String(wanted.clone())).await?;
    window.press(ENTER).await?;
    window.text_when("label-text", |body| body == given.body).await?;
    window.press('2').await?;
    window.text_when("label-message", |message| message == "Labelled 2").await?;
    window.close().await?;
    assert_eq!(kept(&bench, &project, "Robin").get(&given.body).map(String::as_str), Some("2"));
    Ok(())
}

#[tokio::test]
async fn submissions_in_a_watched_folder_are_merged() -> Result<()> {
    let bench = Bench::without_encoder();
    bench.file("texts.csv", files::texts(3));
    bench.ok(["project", "new", "S.dissensus"]);
    bench.ok(["data", "import", "S.dissensus", "texts.csv"]);
    bench.ok(["data", "question", "S.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
    bench.ok([
        "study",
        "assign",
        "S.dissensus",
        "--annotators",
        "ada",
        "--per-text",
        "1",
        "--out",
        "packets",
    ]);
    let packet = "packets/ada.dissensus";
    let submission = |text: &str| {
        let label = ["label", "record", packet, "--annotator", "ada", "--text-id", text];
        bench.ok(label.into_iter().chain(["--question", "rude", "--value", "2"]));
        bench.ok(["study", "hand-in", packet, "ada.handin", "--force"]);
        std::fs::read(bench.path("ada.handin"))
    };
    let (drop, project) = (bench.path("drop"), bench.path("S.dissensus"));
    std::fs::create_dir(&drop)?;
    let first = submission("t0")?;

    let window = Window::open(&bench, Some(&project)).await?;
    window.click("nav-people").await?;
    window.click("tab-people-study").await?;
    window.hand_over("watchFolder", &drop).await?;
    std::fs::write(drop.join("ada.handin"), &first[..first.len() / 2])?;
    window.text_when("study-watched", |line| line.contains("1 not complete yet")).await?;
    std::fs::write(drop.join("ada.handin"), &first)?;
    window.text_when("study-watched", |line| line.contains("1 file merged")).await?;
    window.text_when("study-progress", |line| line.starts_with("1 of 3")).await?;
    window.close().await?;

    // It is watched again with the project; what was merged before is not merged again.
    std::fs::write(drop.join("ada (1).handin"), submission("t1")?)?;
    let window = Window::open(&bench, Some(&project)).await?;
    window.text_when("study-progress", |line| line.starts_with("2 of 3")).await?;
    window.text_when("study-watched", |line| line.contains("1 file merged")).await?;
    window.click("study-unwatch").await?;
    window.gone("study-watched").await?;
    window.close().await
}
