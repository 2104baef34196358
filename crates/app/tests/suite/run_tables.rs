//! Tables of predictions of several runs: each equals the table of the run on its own, a text is read once
//! for all runs on one encoder, and either all tables are written or none.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{Stopped, create, import_into, tiny};
use dissensus_analysis::prediction_file;
use dissensus_api::TrainChoices;
use dissensus_app::session::Session;
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_encoder::DeviceChoice;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::TextFileChoices;
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_training::runs;
use dissensus_training::runs::RunPredictionFile;
use dissensus_training::runs::TextToPredict;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const TEXTS: u32 = 60;
const PEOPLE: [&str; 4] = ["a", "b", "c", "d"];

fn body(text: u32) -> String {
    format!("this comment is {} and {text}", ["good", "bad", "fair", "not fair", "ungood"][text as usize % 5])
}

fn import_labels(session: &Session, question: &str, people: &[&str], label: impl Fn(u32, u32) -> String) {
    let mut csv = "text_id,text,annotator_id,label\n".to_owned();
    for text in 0..TEXTS {
        for (nth, who) in people.iter().enumerate() {
            writeln!(csv, "t{text},{},{who},{}", body(text), label(text, nth as u32)).unwrap();
        }
    }
    import_into(session, question, &csv);
}

/// "rude", yes or no, by everyone but "d", and "tone", 1 to 3, by everyone.
fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let session = create(&folder.path().join("p.dissensus"));
    let rude = |text: u32, who: u32| {
        ["no", "yes"][usize::from(text % 5 == 1 || (text + who).is_multiple_of(7))].to_owned()
    };
    import_labels(&session, "rude", &PEOPLE[..3], rude);
    import_labels(&session, "tone", &PEOPLE, |text, who| (1 + (text + who) % 3).to_string());
    session.encoding.encode(&tiny(), &Silent).unwrap();
    (folder, session)
}

fn train(session: &Session, question: &str, model: ModelKind, tuning: &str) -> u32 {
    let question = questions::find(&session.project, Some(question)).unwrap().id;
    let choices = runs::choices_for(&session.runs, question, model, tuning).unwrap();
    let choices = TrainChoices { epochs: 2, patience: 0, split: SplitSpec::ByText(0.6), ..choices };
    runs::train(&session.runs, &choices, DeviceChoice::Cpu, &Silent).unwrap().info.id
}

type Row = HashMap<String, String>;

/// By text and annotator.
fn table(path: &Path) -> HashMap<(String, String), Row> {
    let file = std::fs::read_to_string(path).unwrap();
    let mut lines = file.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    lines
        .map(|values| {
            let row: Row = header.iter().cloned().zip(values).collect();
            ((row["text_id"].clone(), row["annotator_id"].clone()), row)
        })
        .collect()
}

fn probabilities(row: &Row, levels: &[&str]) -> Vec<f32> {
    levels.iter().map(|level| row[&format!("p_{level}")].parse().unwrap()).collect()
}

fn near(found: &[f32], expected: &[f32]) {
    let same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(same && found.len() == expected.len(), "{found:?} {expected:?}");
}

fn tables(
    session: &Session,
    runs: &[u32],
    texts: Option<&Path>,
    out: &Path,
) -> Result<Vec<RunPredictionFile>, ProjectError> {
    let texts = texts.map(|path| TextFileChoices { path: path.to_owned(), ..TextFileChoices::default() });
    runs::prediction_tables(&session.runs, runs, &PredictionChoices::default(), texts.as_ref(), out, &Silent)
}

/// Every kind of model of a run: fitted label by label, solved, a network on a frozen and on a tuned
/// encoder.
fn runs(session: &Session) -> [(u32, &'static str, Vec<&'static str>); 5] {
    let (binary, levels) = (vec!["no", "yes"], vec!["1", "2", "3"]);
    [
        (train(session, "rude", ModelKind::Multilevel, "frozen"), "rude", binary.clone()),
        (train(session, "tone", ModelKind::ShareRecFfn, "frozen"), "tone", levels.clone()),
        (train(session, "rude", ModelKind::SepHeads, "frozen"), "rude", binary.clone()),
        (train(session, "tone", ModelKind::Shared, "last-1"), "tone", levels),
        (train(session, "rude", ModelKind::Multilevel, "last-1"), "rude", binary),
    ]
}

#[test]
fn tables_of_several_runs_match_single_ones() {
    let (folder, session) = project();
    let runs = runs(&session);
    let numbers: Vec<u32> = runs.iter().map(|run| run.0).collect();
    let path = |name: &str| folder.path().join(name);
    let new = path("new.txt");
    std::fs::write(&new, format!("you are bad\n{}\nhow fair\n", body(3).to_uppercase())).unwrap();
    for (texts, name) in [(Some(new.as_path()), "file"), (None, "project")] {
        let together = tables(&session, &numbers, texts, &path(&format!("{name}.csv"))).unwrap();
        assert_eq!(together.iter().map(|one| one.run).collect::<Vec<_>>(), numbers);
        for ((run, question, levels), written) in runs.iter().zip(&together) {
            let (file, rows) =
                (&written.written.table.file, if texts.is_some() { 3 } else { u64::from(TEXTS) });
            assert_eq!(*file, path(&format!("{name}-{run}.csv")));
            assert_eq!((written.written.table.texts, written.written.rows), (rows, rows * 4), "{written:?}");
            // "d" has not answered "rude".
            assert_eq!(written.written.table.annotators_without_labels, usize::from(*question == "rude"));
            let alone = path(&format!("{name}-alone-{run}.csv"));
            tables(&session, &[*run], texts, &alone).unwrap();
            assert_eq!(std::fs::read(file).unwrap(), std::fs::read(&alone).unwrap(), "to the byte");
            let found = table(&alone);
            for who in annotators::list(&session.project).unwrap() {
                let (id, body) = if texts.is_some() { ("3", "how fair") } else { ("t7", "") };
                let says = match texts {
                    Some(_) => {
                        runs::predict(&session.runs, &[*run], who.id, TextToPredict::New(body), &Silent)
                            .unwrap()
                            .swap_remove(0)
                    }
                    None => {
                        runs::predict(&session.runs, &[*run], who.id, TextToPredict::OfProject(id), &Silent)
                            .unwrap()
                            .swap_remove(0)
                    }
                };
                let row = &found[&(id.to_owned(), who.external_id.clone())];
                near(&probabilities(row, levels), &says.probabilities);
                for measure in ["disagreement_split", "disagreement_pairwise"] {
                    assert!((0.0..=1.0).contains(&row[measure].parse::<f32>().unwrap()), "{row:?}");
                }
            }
            // Training labels are reported, also for a body that is in the project.
            let observed = found.values().filter(|row| row["observed"] == "true").count() as u64;
            assert_eq!(Some(observed), written.written.table.observed);
            let copy = found.get(&("2".to_owned(), "a".to_owned()));
            let own = runs::detail(&session.runs, *run).unwrap().info.scores.unwrap().labels;
            assert!(own > 0 && observed < rows * 4, "what is tested is not observed");
            if let Some(copy) = copy {
                let project = table(&path(&format!("file-{run}.csv")));
                assert_eq!(copy["observed"], project[&("2".to_owned(), "a".to_owned())]["observed"]);
            }
        }
    }
}

#[test]
fn known_and_new_people_are_predicted() {
    let (folder, session) = project();
    let run = train(&session, "tone", ModelKind::SepHeads, "frozen");
    annotators::add(&session.project, "New", &Default::default()).unwrap();
    let stranger = annotators::list(&session.project).unwrap().pop().unwrap();
    let write = |annotators: &[&str], name: &str| {
        let annotators = annotators.iter().map(|id| (*id).to_owned()).collect();
        let choices = PredictionChoices { annotators, ..PredictionChoices::default() };
        let out = folder.path().join(name);
        let written = runs::prediction_tables(&session.runs, &[run], &choices, None, &out, &Silent).unwrap();
        (written[0].written.clone(), table(&out))
    };
    let (written, rows) = write(&["a", &stranger.external_id], "two.csv");
    assert_eq!((written.table.annotators, written.table.annotators_without_labels), (2, 1));
    let row = &rows[&("t1".to_owned(), stranger.external_id.clone())];
    let says = runs::predict(&session.runs, &[run], stranger.id, TextToPredict::OfProject("t1"), &Silent)
        .unwrap()
        .swap_remove(0);
    assert!(!says.knows_annotator && row["observed"] == "false");
    near(&probabilities(row, &["1", "2", "3"]), &says.probabilities);
    assert!(row["disagreement_split"].parse::<f32>().unwrap() > 0.0);
    let (_, rows) = write(&["a"], "one.csv");
    assert!(rows.len() == TEXTS as usize && rows.values().all(|row| row["disagreement_split"].is_empty()));
    // Everyone means everyone that the run knows.
    assert_eq!(write(&[], "all.csv").0.table.annotators, PEOPLE.len());
}

#[test]
fn invalid_prediction_table_is_refused() {
    let (folder, session) = project();
    let rude = train(&session, "rude", ModelKind::Shared, "frozen");
    let tone = train(&session, "tone", ModelKind::ShareRecFfn, "frozen");
    let out = folder.path().join("out.csv");
    let choices = |question: Option<&str>| PredictionChoices {
        question: question.map(Into::into),
        ..PredictionChoices::default()
    };
    let refused = |runs: &[u32], choices: &PredictionChoices, out: &Path| {
        let error = runs::prediction_tables(&session.runs, runs, choices, None, out, &Silent).unwrap_err();
        format!("{}: {error}", error.code())
    };
    let none = choices(None);
    for (found, message) in [
        (refused(&[99], &none, &out), "no-such-run"),
        (refused(&[rude, rude], &none, &out), "it is named twice"),
        (refused(&[rude, tone], &choices(Some("rude")), &out), "predicts nothing of \"rude\""),
        (refused(&[rude], &none, &out.with_extension("docx")), ".parquet"),
        (
            refused(&[rude], &PredictionChoices { annotators: vec!["nobody".into()], ..none.clone() }, &out),
            "nobody",
        ),
    ] {
        assert!(found.contains(message), "{found}\n{message}");
    }
    let taken = folder.path().join(format!("out-{tone}.csv"));
    std::fs::write(&taken, "somebody's own").unwrap();
    assert!(refused(&[rude, tone], &none, &out).contains("--force"));
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "somebody's own");
    std::fs::remove_file(&taken).unwrap();
    let stopped =
        runs::prediction_tables(&session.runs, &[rude, tone], &none, None, &out, &Stopped).unwrap_err();
    assert_eq!(stopped.code(), "cancelled");
    let left: Vec<PathBuf> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("out"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn window_fits_a_model_and_writes_predictions() {
    let (folder, session) = project();
    let out = folder.path().join("would.csv");
    let done = prediction_file::write_live(&session.analysis, "rude", &out, false).unwrap();
    assert_eq!(
        (done.table.texts, done.table.annotators, done.table.annotators_without_labels, done.rows),
        (60, 4, 1, 240)
    );
    assert_eq!(table(&out).len(), 240);
    let again = prediction_file::write_live(&session.analysis, "rude", &out, false).unwrap_err();
    assert_eq!(again.code(), "export-exists");
    prediction_file::write_live(&session.analysis, "rude", &out, true).unwrap();
    let unknown = prediction_file::write_live(&session.analysis, "kind", &folder.path().join("x.csv"), false);
    assert!(unknown.is_err() && !folder.path().join("x.csv").exists());
}
