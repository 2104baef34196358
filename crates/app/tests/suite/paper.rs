//! The report for a paper's appendix: complete or absent, for every kind of question, without identifying
//! information.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{evaluate_levels, home, import_csv, on_cpu};
use dissensus_analysis::aggregation;
use dissensus_api::{ColumnChoices, ImportChoices, NewLabel, PaperRequest, PaperWritten, Removal};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, Scale, ScaleKind};
use dissensus_editing::QuestionChange;
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::remove;
use dissensus_editing::texts;
use dissensus_labelling::record;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Follow;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_training::encoding::EncoderChoice;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

const HOSTILE: &str = "=cmd|'/c'!A0<script>alert(1)</script>\\input{/etc/passwd}";
/// Special characters that a text may contain.
const ACTS: &str = "\u{1b}[2J\u{202e}<script>";

fn empty(folder: &TempDir) -> Session {
    Session::create(&folder.path().join("p.dissensus"), &home(folder)).unwrap()
}

fn import_labels(session: &Session, csv: &str, scale: ScaleKind, question: &str, levels: &[&str]) {
    let choices = ImportChoices {
        columns: Some(ColumnChoices {
            text_id: Some("text_id".to_owned()),
            text: Some("text".to_owned()),
            annotator: Some("who".to_owned()),
            label: Some("label".to_owned()),
            attributes: vec!["gender".to_owned()],
            ..ColumnChoices::default()
        }),
        question: Some(question.to_owned()),
        scale: Some(scale),
        levels: (!levels.is_empty()).then(|| levels.iter().map(|&level| level.to_owned()).collect()),
        ..ImportChoices::default()
    };
    import_csv(session, csv, &choices);
}

/// Every annotator on every text; they differ in how high they go, and on every third text in what they
/// see.
fn rows(people: usize, texts: usize, label: impl Fn(usize, usize) -> String) -> String {
    let mut csv = "text_id,text,who,label,gender\n".to_owned();
    for text in 0..texts {
        for person in 0..people {
            let gender = if person % 2 == 0 { "woman" } else { "man" };
            let label = label(text, person);
            writeln!(
                csv,
                "t{text},secret words number {text}{ACTS},person-{person}@example.org,\"{label}\",{gender}"
            )
            .unwrap();
        }
    }
    csv
}

fn level(text: usize, person: usize) -> usize {
    let base = text % 4 + usize::from(person.is_multiple_of(3));
    if text.is_multiple_of(3) && person.is_multiple_of(2) { 4 - base.min(4) } else { base.min(4) }
}

fn write(session: &Session, dir: &Path, request: PaperRequest) -> Result<PaperWritten, ProjectError> {
    Ok(session.paper.write(request, dir, &EncoderChoice::default(), &Silent)?.0)
}

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn files(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    found.insert(path.strip_prefix(dir).unwrap().to_string_lossy().replace('\\', "/"));
                }
            }
        }
    }
    found
}

/// Checks every number of a table with its interval: the interval contains it, and has both ends.
fn intervals_hold(dir: &Path) -> usize {
    let mut seen = 0;
    for name in files(dir).iter().filter(|name| name.starts_with("tables/") && name.ends_with(".csv")) {
        let mut table = csv::Reader::from_path(dir.join(name)).unwrap();
        let header: Vec<String> = table.headers().unwrap().iter().map(str::to_owned).collect();
        for row in table.records().map(Result::unwrap) {
            for (at, title) in header.iter().enumerate() {
                if header.get(at + 1).is_none_or(|next| *next != format!("{title} low")) {
                    continue;
                }
                let number = |at: usize| row[at].parse::<f64>().ok();
                match (number(at), number(at + 1), number(at + 2)) {
                    (Some(value), Some(low), Some(high)) => {
                        assert!(low <= value && value <= high, "{name} {title}: {row:?}");
                        seen += 1;
                    }
                    (_, low, high) => assert!(low.is_none() && high.is_none(), "{name} {title}: {row:?}"),
                }
            }
        }
    }
    seen
}

#[test]
fn sample_report_is_complete_and_names_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    let session = Session::open(&path, &home(&folder)).unwrap();
    let dir = folder.path().join("appendix");
    let written = write(&session, &dir, PaperRequest::default()).unwrap();
    assert_eq!(files(&dir), written.files.iter().cloned().collect());
    let on_disk: u64 = files(&dir).iter().map(|name| fs::metadata(dir.join(name)).unwrap().len()).sum();
    assert_eq!(written.bytes, on_disk as f64);
    for name in ["report.html", "data-statement.md", "crowdworksheets.md", "labels.csv", "reproduce.json"] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    assert!(intervals_hold(&dir) > 10);
    // No id or name, and no sentence of a text except in labels.csv.
    let ids: Vec<String> = annotators::list(&session.project)
        .unwrap()
        .into_iter()
        .flat_map(|one| [one.external_id, one.name])
        .collect();
    for name in files(&dir) {
        let text = read(&dir, &name);
        for id in &ids {
            let telling = |hit: usize| {
                let around = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
                around(text[..hit].chars().next_back()) && around(text[hit + id.len()..].chars().next())
            };
            assert!(!text.match_indices(id.as_str()).any(|(hit, _)| telling(hit)), "{name} names {id}");
        }
    }
    let page = read(&dir, "report.html");
    let offensiveness = questions::find(&session.project, Some("offensiveness")).unwrap();
    assert!(page.contains("728 labels by 8 people"), "{page}");
    assert!(
        page.contains("prefers-color-scheme:dark") && !page.contains("<script") && !page.contains("src=")
    );
    assert!(page.contains("simulated: a stated formula"), "{page}");
    // The same numbers as elsewhere.
    let alpha = aggregation::estimate_reliability(&session.analysis, offensiveness.id, &Silent)
        .unwrap()
        .alpha_ordinal;
    let name = files(&dir)
        .into_iter()
        .find(|name| name.ends_with("agreement.csv") && !name.contains("self"))
        .unwrap();
    assert!(read(&dir, &name).contains(&alpha.value.unwrap().to_string()), "{}", read(&dir, &name));
    // Nothing is recorded, and the command is named.
    assert!(page.contains("dissensus models evaluate PROJECT --question offensiveness"), "{page}");
    // Soft labels: one row per text, shares that sum to 1.
    let soft = files(&dir).into_iter().find(|name| name.contains("soft-labels")).unwrap();
    let mut table = csv::Reader::from_path(dir.join(&soft)).unwrap();
    let shares: Vec<usize> = table
        .headers()
        .unwrap()
        .iter()
        .enumerate()
        .filter(|(_, h)| h.starts_with("share_"))
        .map(|(at, _)| at)
        .collect();
    for row in table.records().map(Result::unwrap) {
        let sum: f64 = shares.iter().map(|at| row[*at].parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{row:?}");
    }
    let reproduce: serde_json::Value = serde_json::from_str(&read(&dir, "reproduce.json")).unwrap();
    // Both questions.
    assert_eq!(reproduce["project"]["labels"], 1456);
    assert_eq!(reproduce["files"].as_array().unwrap().len() + 1, written.files.len());
    for form in ["data-statement.md", "crowdworksheets.md"] {
        let text = read(&dir, form);
        assert!(
            text.contains("728")
                && text.contains("To be answered by the authors")
                && text.contains("simulated") == (form == "data-statement.md"),
            "{text}"
        );
    }
    // The same again from a copy of the file: only timestamps differ.
    drop(session);
    let copy = folder.path().join("copy.dissensus");
    fs::copy(&path, &copy).unwrap();
    let session = Session::open_to_read(&copy, &home(&folder)).unwrap();
    let again = folder.path().join("again");
    write(&session, &again, PaperRequest::default()).unwrap();
    for name in files(&dir).iter().filter(|name| name.starts_with("tables/") || name.ends_with("labels.csv"))
    {
        assert_eq!(read(&dir, name), read(&again, name), "{name}");
    }
    let second: serde_json::Value = serde_json::from_str(&read(&again, "reproduce.json")).unwrap();
    assert_eq!(second["project"]["events_sha256"], reproduce["project"]["events_sha256"]);
}

#[test]
fn every_kind_is_reported_and_names_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let session = empty(&folder);
    let levels = ["0", "1", "2", "3", HOSTILE];
    let named = |at: usize| levels[at].replace('"', "\"\"");
    import_labels(&session, &rows(12, 40, |t, p| named(level(t, p))), ScaleKind::Ordinal, HOSTILE, &levels);
    let choice = |t: usize, p: usize| ["a", "b", "c"][(level(t, p) + t) % 3].to_owned();
    import_labels(&session, &rows(12, 40, choice), ScaleKind::Choice, "choice", &["a", "b", "c"]);
    let yes = |t: usize, p: usize| if level(t, p) > 2 { "yes" } else { "no" }.to_owned();
    import_labels(&session, &rows(12, 40, yes), ScaleKind::Binary, "binary", &[]);
    let set = |t: usize, p: usize| match level(t, p) {
        0 => "none".to_owned(),
        1 => "anger".to_owned(),
        2 => "anger + joy".to_owned(),
        _ => "joy".to_owned(),
    };
    import_labels(&session, &rows(12, 40, set), ScaleKind::MultiLabel, "set", &["anger", "joy"]);
    let span = |t: usize, p: usize| match level(t, p) % 3 {
        0 => "[]".to_owned(),
        n => format!(
            "[{{\"\"start\"\":{},\"\"end\"\":{},\"\"label\"\":\"\"toxic\"\"}}]",
            7 * (n - 1),
            7 * (n - 1) + 6
        ),
    };
    import_labels(&session, &rows(12, 40, span), ScaleKind::Spans, "span", &["toxic"]);
    let dir = folder.path().join("report");
    let written =
        write(&session, &dir, PaperRequest { quote_texts: true, ..PaperRequest::default() }).unwrap();
    assert_eq!(written.questions.len(), 5);
    assert!(intervals_hold(&dir) > 40);
    let all = files(&dir);
    for question in ["choice", "binary", "set", "span"] {
        for what in ["agreement", "levels", "labels", "contested", "groups"] {
            assert!(
                all.iter().any(|name| name.ends_with(&format!("{question}-{what}.csv"))),
                "{question} {what}: {all:?}"
            );
        }
    }
    assert_eq!(all.iter().filter(|name| name.contains("soft-labels")).count(), 5, "{all:?}");
    for name in all.iter().filter(|name| *name != "labels.csv") {
        let text = read(&dir, name);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{name}");
        assert!(!name.contains("script") || !name.contains('<'), "{name}");
        match name.rsplit('.').next().unwrap() {
            "html" | "svg" | "md" => assert!(!text.contains("<script>"), "{name}"),
            "tex" => {
                let table = text.lines().filter(|line| !line.starts_with('%')).collect::<Vec<_>>().join("\n");
                assert!(!table.contains("\\input"), "{name}: {table}");
            }
            "csv" => {
                let mut table =
                    csv::ReaderBuilder::new().has_headers(false).from_path(dir.join(name)).unwrap();
                for cell in table
                    .records()
                    .map(Result::unwrap)
                    .flat_map(|row| row.iter().map(str::to_owned).collect::<Vec<_>>())
                {
                    let formula = cell.starts_with(['=', '+', '@', '-']) && cell.parse::<f64>().is_err();
                    assert!(!formula, "{name}: {cell}");
                }
            }
            _ => {}
        }
    }
    // Women and men are compared in each question, corrected for all of its tests: no p is smaller than
    // before.
    let groups = all.iter().find(|name| name.ends_with("set-groups.csv")).unwrap();
    assert_eq!(read(&dir, groups).lines().count(), 3, "{}", read(&dir, groups));
    assert!(read(&dir, "report.html").contains("secret words number"));
}

#[test]
fn report_states_missing_data_without_figures() {
    let folder = tempfile::tempdir().unwrap();
    let session = empty(&folder);
    // No question at all.
    let none = write(&session, &folder.path().join("none"), PaperRequest::default()).unwrap();
    assert!(none.notes[0].contains("asks no question yet"), "{:?}", none.notes);
    // A question without labels.
    questions::add(
        &session.project,
        AddQuestion::new("rude", "Is it rude?", Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap()),
    )
    .unwrap();
    let unlabelled = write(&session, &folder.path().join("unlabelled"), PaperRequest::default()).unwrap();
    assert!(unlabelled.notes.iter().any(|note| note.contains("no labels yet")), "{:?}", unlabelled.notes);
    // One person.
    import_labels(
        &session,
        &rows(1, 30, |t, _| (t % 5).to_string()),
        ScaleKind::Ordinal,
        "alone",
        &["0", "1", "2", "3", "4"],
    );
    let dir = folder.path().join("alone");
    let alone = write(&session, &dir, PaperRequest::default()).unwrap();
    for words in [
        "Too little to tell how people agree",
        "Severity compares people",
        "Too little to tell where labels differ",
        "nothing to compare",
    ] {
        assert!(alone.notes.iter().any(|note| note.contains(words)), "{words}: {:?}", alone.notes);
    }
    assert!(!files(&dir).iter().any(|name| name.contains("agreement") || name.contains("severity")));
    assert_eq!(intervals_hold(&dir), 0);
}

#[test]
fn small_groups_are_reported_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let session = empty(&folder);
    let csv = rows(12, 30, |t, p| level(t, p).to_string());
    // Two people of a third gender; then hardly anyone has none of the other values, so that the whole
    // attribute is hidden.
    let rare: String = csv
        .lines()
        .map(|line| match line.contains("person-0@") || line.contains("person-1@") {
            true => format!("{}\n", line.rsplit_once(',').unwrap().0.to_owned() + ",rare-gender"),
            false => format!("{line}\n"),
        })
        .collect();
    import_labels(&session, &rare, ScaleKind::Ordinal, "q", &["0", "1", "2", "3", "4"]);
    let masked = folder.path().join("masked");
    let written = write(&session, &masked, PaperRequest::default()).unwrap();
    assert!(written.suppressed >= 2);
    for name in files(&masked) {
        let text = read(&masked, &name);
        assert!(!text.contains("rare-gender") && !text.contains("person-"), "{name}");
    }
    let open = folder.path().join("open");
    write(&session, &open, PaperRequest { with_ids: true, ..PaperRequest::default() }).unwrap();
    assert!(
        read(&open, "data-statement.md").contains("rare\\-gender | 2"),
        "{}",
        read(&open, "data-statement.md")
    );
    assert!(read(&open, "labels.csv").contains("person-3@example.org"));
    assert!(read(&open, "tables/people.csv").contains("person-3@example.org"));
}

/// Stops at the step of this number.
struct StopAt(u64, AtomicU64);

impl Progress for StopAt {
    fn report(&self, done: u64, _: Option<u64>, _: &str) {
        self.1.fetch_max(done, Ordering::SeqCst);
    }

    fn cancelled(&self) -> bool {
        self.1.load(Ordering::SeqCst) >= self.0
    }
}

#[test]
fn report_folder_is_atomic_and_replaces_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let session = empty(&folder);
    import_labels(
        &session,
        &rows(6, 25, |t, p| level(t, p).to_string()),
        ScaleKind::Ordinal,
        "q",
        &["0", "1", "2", "3", "4"],
    );
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let dir = out.join("report");
    let left =
        || -> Vec<PathBuf> { fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect() };
    // Stopped at each step: nothing is left.
    for step in [0, 3, 6, 8, 10, 11] {
        let stop = StopAt(step, AtomicU64::new(0));
        let error =
            session.paper.write(PaperRequest::default(), &dir, &EncoderChoice::default(), &stop).unwrap_err();
        assert_eq!((error.code(), left()), ("cancelled", Vec::new()), "step {step}: {error}");
    }
    let code = |dir: &Path, replace| {
        write(&session, dir, PaperRequest { replace, ..PaperRequest::default() })
            .err()
            .map_or("", |e| e.code())
    };
    // An empty folder is replaced.
    fs::create_dir(&dir).unwrap();
    assert_eq!(code(&dir, false), "");
    let first = files(&dir);
    assert_eq!((code(&dir, false), code(&dir, true)), ("export-exists", ""));
    assert_eq!(files(&dir), first);
    // Other files in the folder are not ours.
    fs::write(dir.join("notes.txt"), "mine").unwrap();
    assert_eq!((code(&dir, false), code(&dir, true)), ("export-exists", "not-a-report"));
    assert_eq!(read(&dir, "notes.txt"), "mine");
    fs::remove_file(dir.join("notes.txt")).unwrap();
    // So are edits of the forms.
    let form = format!("{}\nWe paid 12 euros an hour.", read(&dir, "data-statement.md"));
    fs::write(dir.join("data-statement.md"), &form).unwrap();
    let request = PaperRequest { replace: true, ..PaperRequest::default() };
    let refused = write(&session, &dir, request).unwrap_err();
    assert_eq!(refused.code(), "report-changed");
    assert!(refused.to_string().contains("(data-statement.md)"), "{refused}");
    assert_eq!(read(&dir, "data-statement.md"), form);
    fs::remove_file(dir.join("data-statement.md")).unwrap();
    assert_eq!((code(&dir, true), files(&dir)), ("", first));
    let other = out.join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.tex"), "years").unwrap();
    assert_eq!(code(&other, true), "not-a-report");
    fs::write(out.join("file"), "x").unwrap();
    assert_eq!((code(&out.join("file"), true), code(&out.join("no/where"), false)), ("not-a-report", "io"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&other, out.join("link")).unwrap();
        assert_eq!(code(&out.join("link"), true), "not-a-report");
        assert!(other.join("thesis.tex").is_file());
    }
    // As a job of the window, with labels that changed since.
    session
        .paper
        .write(
            PaperRequest { replace: true, ..PaperRequest::default() },
            &out.join("job"),
            &EncoderChoice::default(),
            Follow::Job,
        )
        .unwrap();
    let jobs = jobs::list(&session.project).unwrap();
    assert!(jobs.iter().any(|job| job.kind == "report" && job.title == "job"), "{jobs:?}");
    import_labels(
        &session,
        &rows(7, 25, |t, p| level(t, p).to_string()),
        ScaleKind::Ordinal,
        "q",
        &["0", "1", "2", "3", "4"],
    );
    assert_eq!(code(&out.join("job"), true), "");
    assert!(read(&out.join("job"), "report.html").contains("175 labels by 7 people"));
}

#[test]
fn agreement_is_split_by_wording_on_screen() {
    let folder = tempfile::tempdir().unwrap();
    let session = empty(&folder);
    let csv = rows(3, 60, |text, person| level(text, person).to_string());
    import_labels(&session, &csv, ScaleKind::Ordinal, "rude", &["0", "1", "2", "3", "4"]);
    let dir = folder.path().join("one");
    write(&session, &dir, PaperRequest::default()).unwrap();
    assert!(!files(&dir).iter().any(|name| name.contains("agreement-by")), "nothing to divide by");
    let question = info::read(&session.project).unwrap().questions[0].clone();
    let label_all = |texts: std::ops::Range<usize>| {
        for name in ["nora", "otto"] {
            let person = match annotators::find(&session.project, name) {
                Ok(person) => person.id,
                Err(_) => annotators::add(&session.project, name, &Default::default()).unwrap().id,
            };
            for n in texts.clone() {
                let text = texts::find(&session.project, &format!("t{n}")).unwrap().0;
                let answer = Answer::from_level(u16::try_from(level(n, name.len())).unwrap());
                let new =
                    NewLabel { question: question.id, annotator: person, text, answer, duration_ms: None };
                record::record_label(&session.labelling, &new).unwrap();
            }
        }
    };
    label_all(0..25);
    let change =
        QuestionChange { prompt: Some("How rude is it, really?".into()), ..QuestionChange::default() };
    questions::edit(&session.project, question.id, &change).unwrap();
    label_all(25..50);
    let dir = folder.path().join("two");
    write(&session, &dir, PaperRequest::default()).unwrap();
    let table = read(&dir, "tables/agreement-by-wording.csv");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').take(5).collect()).collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert_eq!(rows[0][..2], ["rude", "not known"], "{table}");
    assert_eq!(rows[1][..2], ["rude", "1"], "{table}");
    assert_eq!(rows[1][3..], ["50", "25"], "{table}");
    assert_eq!(rows[2][1], "2", "{table}");
    assert!(table.contains("\"How rude is it, really?\""), "{table}");
    assert!(
        !files(&dir).iter().any(|name| name.contains("agreement-by-guideline")),
        "no version was written"
    );
}

#[test]
fn stored_evaluation_is_reported_with_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let session = empty(&folder);
    import_labels(
        &session,
        &rows(12, 60, |t, p| level(t, p).to_string()),
        ScaleKind::Ordinal,
        "q",
        &["0", "1", "2", "3", "4"],
    );
    let choices = dissensus_analysis::EvaluateChoices {
        question: Some("q".to_owned()),
        models: vec![dissensus_stats::data::ModelKind::Shared, dissensus_stats::data::ModelKind::Multilevel],
        split: "by-text:0.7".parse().unwrap(),
        seed: 3,
        at_least: None,
        tuning: "frozen".to_owned(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    let found = match evaluate_levels(&session.analysis, &choices, &Silent) {
        Ok(found) => found,
        Err(error) => panic!("{error}"),
    };
    let dir = folder.path().join("report");
    let written = write(&session, &dir, PaperRequest::default()).unwrap();
    assert!(!written.notes.iter().any(|note| note.contains("No evaluation")), "{:?}", written.notes);
    let models = read(&dir, "tables/models.csv");
    let loss = found.models.iter().find(|one| one.model == "multilevel").unwrap().scores.log_loss.unwrap();
    assert!(models.contains(&loss.to_string()), "{models}");
    assert!(read(&dir, "tables/model-differences.csv").contains("shared,"));
    assert!(dir.join("figures/calibration.svg").is_file());
    assert!(read(&dir, "report.html").contains("seed 3"));
    assert!(intervals_hold(&dir) > 5);
    // Other labels under the same name: the evaluation is of those that were taken back.
    remove::remove(&session.project, &Removal::LastImport).unwrap();
    let csv = rows(12, 60, |t, p| (4 - level(t, p)).to_string());
    import_labels(&session, &csv, ScaleKind::Ordinal, "q", &["0", "1", "2", "3", "4"]);
    let dir = folder.path().join("anew");
    write(&session, &dir, PaperRequest::default()).unwrap();
    let page = read(&dir, "report.html");
    assert!(page.contains("No evaluation of models is on record") && !page.contains("seed 3"));
    assert!(page.contains("The model is one without text embeddings"), "severities state their basis");
}
