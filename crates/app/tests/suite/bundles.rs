//! Exported models predict as in the project, and contain neither texts nor labels.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{Stopped, encoded_sample, home, tiny};
use dissensus_analysis::bundles::{Bundle, BundleChoices};
use dissensus_analysis::prediction_file;
use dissensus_api::{ImportChoices, NewLabel, TrainChoices};
use dissensus_app::session::Session;
use dissensus_domain::{
    AnnotatorId, Answer, LabelSource, OptionSet, Question, QuestionId, Scale, ScaleKind, TextId,
};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::{EncoderChoice, TextFileChoices};
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

const NEW: [&str; 4] =
    ["You are a fool.", "What a lovely day it is", "bad bad bad words", "this is not fair"];

fn question(session: &Session) -> QuestionId {
    questions::find(&session.project, Some("offensiveness")).unwrap().id
}

fn texts(folder: &TempDir) -> TextFileChoices {
    let path = folder.path().join("new.txt");
    std::fs::write(&path, NEW.join("\n")).unwrap();
    TextFileChoices { path, ..TextFileChoices::default() }
}

fn of_offensiveness() -> PredictionChoices {
    PredictionChoices { question: Some("offensiveness".to_owned()), ..PredictionChoices::default() }
}

fn bundled(session: &Session, folder: &TempDir, choices: &BundleChoices) -> PathBuf {
    let choices = &BundleChoices { with_ids: true, ..choices.clone() };
    let dir = folder.path().join("bundle");
    session
        .bundles
        .write(
            choices,
            &dir,
            &EncoderChoice { device: DeviceChoice::Cpu, ..EncoderChoice::default() },
            &Silent,
        )
        .unwrap();
    dir
}

type Row = HashMap<String, String>;

fn table(path: &Path) -> Vec<Row> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

fn by_bundle(folder: &TempDir, dir: &Path, choices: &PredictionChoices) -> Vec<Row> {
    let out = folder.path().join("by-bundle.csv");
    let choices = PredictionChoices { replace: true, ..choices.clone() };
    let bundle = Bundle::open(dir).unwrap();
    bundle.predict(&choices, &texts(folder), &out, DeviceChoice::Cpu, &Silent).unwrap();
    table(&out)
}

/// Every file in a folder, as one string of bytes.
fn all_bytes(dir: &Path) -> Vec<u8> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { all_bytes(&path) } else { std::fs::read(path).unwrap() })
        .collect()
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

#[test]
fn bundle_predicts_like_its_project() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let dir = bundled(&session, &folder, &BundleChoices::default());
    let some = PredictionChoices {
        annotators: annotators::list(&session.project).unwrap()[..3]
            .iter()
            .map(|a| a.external_id.clone())
            .collect(),
        ..of_offensiveness()
    };
    let mut expected = Vec::new();
    for choices in [of_offensiveness(), some.clone()] {
        let out = folder.path().join(format!("by-project-{}.csv", expected.len()));
        let asked = prediction_file::check(&session.analysis, &choices, Some(&texts(&folder)), &out, &Silent)
            .unwrap();
        session.live.fit(asked.question(), &Silent).unwrap();
        prediction_file::write(&session.analysis, &asked, &tiny(), &Silent).unwrap();
        expected.push(table(&out));
    }
    drop(session);
    // In another place, under another name, and without the project.
    std::fs::remove_file(folder.path().join("sample.dissensus")).unwrap();
    let moved = folder.path().join("elsewhere");
    std::fs::rename(&dir, &moved).unwrap();
    for (choices, expected) in [of_offensiveness(), some].iter().zip(&expected) {
        let found = by_bundle(&folder, &moved, choices);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.len(), expected.len());
            for (column, value) in expected {
                match (column.as_str(), value.parse::<f64>()) {
                    ("observed", _) => assert_eq!(found[column], "", "a bundle does not know"),
                    ("text_id" | "annotator_id" | "prediction", _) => assert_eq!(found[column], *value),
                    (_, Ok(number)) => {
                        let near = (found[column].parse::<f64>().unwrap() - number).abs() < 1e-6;
                        assert!(near, "{column}: {found:?} {expected:?}");
                    }
                    (_, Err(_)) => panic!("{column}: {expected:?}"),
                }
            }
        }
    }
}

#[test]
fn bundle_contains_no_texts_labels_or_attributes() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let people = annotators::list(&session.project).unwrap();
    let dir = bundled(&session, &folder, &BundleChoices::default());
    let bytes = all_bytes(&dir);
    assert!(
        people.iter().all(|a| holds(&bytes, &format!("\"{}\"", a.external_id))),
        "as they are in the project"
    );
    let values: Vec<&String> = people.iter().flat_map(|a| a.attributes.values()).collect();
    assert!(!values.is_empty() && values.iter().all(|value| !holds(&bytes, &format!("\"{value}\""))));
    let out = folder.path().join("labels.csv");
    exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
    let bodies: std::collections::HashSet<String> =
        table(&out).into_iter().map(|row| row["text"].clone()).collect();
    assert!(bodies.len() > 50 && bodies.iter().all(|body| !holds(&bytes, body)));
    // Labels: heads must be those of no label, whose length does not depend on labels.
    let card = std::fs::read_to_string(dir.join("README.md")).unwrap();
    for says in ["## offensiveness", "accuracy", "simulated", "no text, no label", "sha256sum -c"] {
        assert!(card.contains(says), "{says}: {card}");
    }
    let nobody = bundled_as(&session, &folder, "pseudonyms", &BundleChoices::default());
    let bytes = all_bytes(&nobody);
    assert!(people.iter().all(|a| !holds(&bytes, &format!("\"{}\"", a.external_id))));
    let named = by_bundle(&folder, &dir, &of_offensiveness());
    let numbered = by_bundle(&folder, &nobody, &of_offensiveness());
    // The pseudonyms equal those of an export.
    let out = folder.path().join("pseudonyms.csv");
    let choices = dissensus_transfer::exchange::ExportChoices {
        pseudonyms: Some(dissensus_transfer::exchange::Pseudonymised { notes: false }),
        ..Default::default()
    };
    exchange::export(&session.exchange, &out, &choices, &Silent).unwrap();
    let exported: std::collections::BTreeSet<String> =
        table(&out).into_iter().map(|row| row["annotator_id"].clone()).collect();
    let pseudonyms: std::collections::BTreeSet<String> =
        numbered.iter().map(|row| row["annotator_id"].clone()).collect();
    assert!(exported == pseudonyms && pseudonyms.contains("A1"), "{exported:?} {pseudonyms:?}");
    let one = PredictionChoices { annotators: vec!["A1".to_owned()], ..of_offensiveness() };
    assert!(by_bundle(&folder, &nobody, &one).iter().all(|row| row["annotator_id"] == "A1"));
    assert!(named.iter().zip(&numbered).all(|(a, b)| a["p_1"] == b["p_1"]));
}

fn bundled_as(session: &Session, folder: &TempDir, name: &str, choices: &BundleChoices) -> PathBuf {
    let dir = folder.path().join(name);
    session.bundles.write(choices, &dir, &tiny(), &Silent).unwrap();
    dir
}

/// Runs on a frozen and on a tuned encoder in one bundle, with an encoder each.
#[test]
fn runs_are_bundled_with_their_encoders() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let train = |tuning: &str, name: &str, model| {
        let question = questions::find(&session.project, Some(name)).unwrap().id;
        let asked = runs::choices_for(&session.runs, question, model, tuning).unwrap();
        let asked = TrainChoices { epochs: 1, ..asked };
        runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap().info.id
    };
    let tuned = train("last-1", "offensiveness", ModelKind::Multilevel);
    let frozen = train("frozen", "remove", ModelKind::Multilevel);
    let choices = BundleChoices { runs: vec![tuned, frozen], ..BundleChoices::default() };
    let dir = bundled(&session, &folder, &choices);
    assert!(
        dir.join("encoder/model.safetensors").exists() && dir.join("encoder-2/model.safetensors").exists()
    );
    let people = annotators::list(&session.project).unwrap();
    for (run, name) in [(tuned, "offensiveness"), (frozen, "remove")] {
        let asked = PredictionChoices { question: Some(name.to_owned()), ..PredictionChoices::default() };
        let found = by_bundle(&folder, &dir, &asked);
        let levels = questions::find(&session.project, Some(name)).unwrap().scale.levels().to_vec();
        for (text, annotator) in [(0, 0), (2, 1), (3, 5)] {
            let who = &people[annotator];
            let one = runs::predict(&session.runs, &[run], who.id, TextToPredict::New(NEW[text]), &Silent)
                .unwrap()
                .swap_remove(0);
            let row = found
                .iter()
                .find(|row| {
                    row["text_id"] == (text + 1).to_string() && row["annotator_id"] == who.external_id
                })
                .unwrap();
            for (level, p) in levels.iter().zip(&one.probabilities) {
                let found: f32 = row[&format!("p_{level}")].parse().unwrap();
                // The text was encoded in another batch.
                assert!((found - p).abs() < 1e-4, "{name} {level}: {row:?} {one:?}");
            }
        }
    }
    let card = std::fs::read_to_string(dir.join("README.md")).unwrap();
    assert!(card.contains("log\\_loss") && card.contains(&format!("Test labels of run {tuned}")), "{card}");
    // Refused by name.
    let write = |choices: BundleChoices| {
        session.bundles.write(&choices, &folder.path().join("no"), &tiny(), &Silent).unwrap_err()
    };
    let heads = train("frozen", "remove", ModelKind::SepHeads);
    let refused = write(BundleChoices { runs: vec![heads], ..BundleChoices::default() });
    assert!(refused.code() == "cannot-bundle" && refused.to_string().contains("sep-heads"), "{refused}");
    let twice = BundleChoices {
        runs: vec![frozen],
        questions: vec!["remove".to_owned()],
        ..BundleChoices::default()
    };
    assert_eq!(write(twice).code(), "question-twice");
    assert_eq!(write(BundleChoices { runs: vec![99], ..BundleChoices::default() }).code(), "no-such-run");
    assert!(!folder.path().join("no").exists());
}

#[test]
fn damaged_bundle_is_refused_with_the_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let dir = bundled(
        &session,
        &folder,
        &BundleChoices { questions: vec!["remove".to_owned()], ..BundleChoices::default() },
    );
    let refused = |says: &str| {
        let error = Bundle::open(&dir).unwrap_err();
        assert!(error.code() == "bundle" && error.to_string().contains(says), "{says}: {error}");
    };
    for file in [
        "bundle.json",
        "README.md",
        "heads/1.bin",
        "encoder/config.json",
        "encoder/model.safetensors",
        "encoder/1_Pooling/config.json",
    ] {
        let path = dir.join(file);
        let whole = std::fs::read(&path).unwrap();
        let mut other = whole.clone();
        other[whole.len() / 2] ^= 1;
        std::fs::write(&path, other).unwrap();
        refused(&format!("{file} has been altered"));
        std::fs::remove_file(&path).unwrap();
        refused(&format!("{file} is missing"));
        std::fs::write(&path, whole).unwrap();
        Bundle::open(&dir).unwrap();
    }
    std::fs::write(dir.join("encoder/vocab.txt"), "x").unwrap();
    refused("encoder/vocab.txt does not belong to it");
    let nowhere = Bundle::open(&folder.path().join("nowhere")).unwrap_err();
    assert!(nowhere.to_string().contains("no such folder"), "{nowhere}");
}

#[test]
fn bundle_refuses_unknown_questions_and_people() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let dir = bundled(&session, &folder, &BundleChoices::default());
    let bundle = Bundle::open(&dir).unwrap();
    let out = folder.path().join("out.csv");
    let ask = |choices: PredictionChoices| {
        bundle.predict(&choices, &texts(&folder), &out, DeviceChoice::Cpu, &Silent).unwrap_err().to_string()
    };
    let which = ask(PredictionChoices::default());
    assert!(which.contains("several questions") && which.contains("offensiveness, remove"), "{which}");
    let other = ask(PredictionChoices { question: Some("kind".to_owned()), ..PredictionChoices::default() });
    assert!(other.contains("no question \"kind\" in this bundle"), "{other}");
    let stranger = ask(PredictionChoices { annotators: vec!["nobody".to_owned()], ..of_offensiveness() });
    assert!(stranger.contains("no annotator \"nobody\" in this bundle"), "{stranger}");
    std::fs::write(&out, "somebody's own").unwrap();
    assert!(ask(of_offensiveness()).contains("exists already"));
    // Neither into the bundle, which would then be changed, nor over the project.
    let inside = bundle.predict(
        &of_offensiveness(),
        &texts(&folder),
        &dir.join("out.csv"),
        DeviceChoice::Cpu,
        &Silent,
    );
    assert_eq!(inside.unwrap_err().code(), "bundle");
    let of_project = |out: &Path, choices: &PredictionChoices| {
        prediction_file::check(&session.analysis, choices, None, out, &Silent).err().unwrap()
    };
    assert_eq!(of_project(&dir.join("out.csv"), &of_offensiveness()).code(), "bundle");
    Bundle::open(&dir).unwrap();
    // Nor of a question without labels, of which every number would be an assumption.
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&session.project, AddQuestion::new("new", "", scale)).unwrap();
    let new = PredictionChoices { question: Some("new".to_owned()), ..PredictionChoices::default() };
    assert_eq!(of_project(&folder.path().join("new.csv"), &new).code(), "no-labels");
    let project = folder.path().join("named.csv");
    let own = Session::create(&project, &home(folder.path())).unwrap();
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&own.project, AddQuestion::new("rude", "", scale)).unwrap();
    let choices = PredictionChoices { replace: true, ..PredictionChoices::default() };
    let refused = prediction_file::check(&own.analysis, &choices, None, &project, &Silent).err().unwrap();
    assert_eq!(refused.code(), "same-file", "{refused}");
}

#[test]
fn bundle_replaces_only_bundles_and_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let one = |name: &str| BundleChoices { questions: vec![name.to_owned()], ..BundleChoices::default() };
    let dir = bundled(&session, &folder, &one("remove"));
    let again = |choices: BundleChoices, dir: &Path| session.bundles.write(&choices, dir, &tiny(), &Silent);
    assert_eq!(again(one("offensiveness"), &dir).unwrap_err().code(), "export-exists");
    by_bundle(&folder, &dir, &PredictionChoices::default());
    let replaced = again(BundleChoices { replace: true, ..one("offensiveness") }, &dir).unwrap().0;
    assert_eq!(replaced.questions, ["offensiveness"]);
    by_bundle(&folder, &dir, &of_offensiveness());
    let mine = folder.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    std::fs::write(mine.join("thesis.tex"), "x").unwrap();
    let refused = again(BundleChoices { replace: true, ..one("remove") }, &mine).unwrap_err();
    assert!(refused.code() == "not-a-bundle" && mine.join("thesis.tex").exists());
    // A bundle with other files in it, including hidden ones, is not deleted with them, nor a folder that
    // only looks like one, nor behind a link.
    for name in ["thesis.tex", "encoder/notes.txt", ".hidden"] {
        std::fs::write(dir.join(name), "x").unwrap();
        let refused = again(BundleChoices { replace: true, ..one("remove") }, &dir).unwrap_err();
        assert_eq!(refused.code(), "not-a-bundle", "{name}");
        std::fs::remove_file(dir.join(name)).unwrap();
    }
    std::fs::write(mine.join("bundle.json"), "{}").unwrap();
    let refused = again(BundleChoices { replace: true, ..one("remove") }, &mine).unwrap_err();
    assert!(refused.code() == "not-a-bundle" && mine.join("thesis.tex").exists());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&dir, folder.path().join("link")).unwrap();
        let refused =
            again(BundleChoices { replace: true, ..one("remove") }, &folder.path().join("link")).unwrap_err();
        assert_eq!(refused.code(), "not-a-bundle");
    }
    // A question without answers is excluded where all are meant, and refused by its name.
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&session.project, AddQuestion::new("unasked", "", scale)).unwrap();
    assert_eq!(again(one("unasked"), &folder.path().join("new")).unwrap_err().code(), "no-labels");
    let all = again(BundleChoices { replace: true, ..BundleChoices::default() }, &dir).unwrap().0;
    assert_eq!(all.questions, ["offensiveness", "remove"]);
    let nowhere = again(one("remove"), &folder.path().join("no/such/dir")).unwrap_err();
    assert_eq!(nowhere.code(), "io");
    assert!(nowhere.to_string().contains("is not there; make that first"), "{nowhere}");
    assert_eq!(again(one("kind"), &folder.path().join("new")).unwrap_err().code(), "no-such-question");
    // No other files remain.
    let left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(left.iter().all(|name| !name.contains(".part")) && !left.contains(&"new".to_owned()), "{left:?}");
}

#[test]
fn cancelled_bundle_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    session.live.fit(question(&session), &Silent).unwrap();
    let dir = folder.path().join("bundle");
    let choices = BundleChoices { questions: vec!["offensiveness".to_owned()], ..BundleChoices::default() };
    let stopped = session.bundles.write(&choices, &dir, &tiny(), &Stopped).unwrap_err();
    assert!(matches!(stopped, ProjectError::CancelledUnwritten), "{stopped}");
    assert!(!dir.exists());
}

/// Every option of a multi-label question is addressed by its own name.
#[test]
fn multi_label_question_is_bundled_by_option() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sets.dissensus");
    let session = Session::create(&path, &home(folder.path())).unwrap();
    let file = folder.path().join("texts.csv");
    let rows: String = (0..30).map(|n| format!("t{n},body number {n}\n")).collect();
    std::fs::write(&file, format!("text_id,text\n{rows}")).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    for name in ["ana", "ben", "cleo"] {
        annotators::add(&session.project, name, &Default::default()).unwrap();
    }
    let scale = Scale::new(ScaleKind::MultiLabel, ["joy", "anger"]).unwrap();
    questions::add(&session.project, AddQuestion::new("feelings", "What is in it?", scale)).unwrap();
    let question = questions::find(&session.project, None).unwrap().id;
    for (text, annotator) in (1..=30).flat_map(|text| (1..=3).map(move |annotator| (text, annotator))) {
        let chosen = (0..2_u8).filter(|option| (text + annotator * 2 + u32::from(*option)) % 3 == 0);
        let answer = Answer::Options(OptionSet::new(chosen).unwrap());
        let (text, annotator) = (TextId(text), AnnotatorId(annotator));
        let new = NewLabel { question, text, annotator, answer, duration_ms: None };
        record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command)).unwrap();
    }
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let dir = bundled(&session, &folder, &BundleChoices::default());
    for option in questions::find(&session.project, None).unwrap().options() {
        let Question { name, .. } = option;
        let rows = by_bundle(
            &folder,
            &dir,
            &PredictionChoices { question: Some(name), ..PredictionChoices::default() },
        );
        assert_eq!(rows.len(), 3 * NEW.len());
        assert!(rows.iter().all(|row| row.contains_key("p_yes")));
    }
}

/// Stops encoding after a number of texts, and counts how many were reused.
#[derive(Default)]
struct StopsEncoding {
    at: Option<u64>,
    encoded: AtomicU64,
    kept: AtomicU64,
}

impl Progress for StopsEncoding {
    fn report(&self, done: u64, _: Option<u64>, doing: &str) {
        match doing {
            "kept" => self.kept.store(done, Ordering::Relaxed),
            doing if doing.ends_with("texts/s") => self.encoded.store(done, Ordering::Relaxed),
            _ => {}
        }
    }

    fn cancelled(&self) -> bool {
        self.at.is_some_and(|at| self.encoded.load(Ordering::Relaxed) >= at)
    }
}

#[test]
fn interrupted_prediction_resumes_with_its_embeddings() {
    let folder = tempfile::tempdir().unwrap();
    let session = encoded_sample(&folder);
    let bundle = Bundle::open(&bundled(&session, &folder, &BundleChoices::default())).unwrap();
    let path = folder.path().join("long.csv");
    let line = |nth: usize| format!("n{nth},\"{} {nth}, and {}\"", NEW[nth % 4], nth * nth);
    let lines = |count: usize| (0..count).map(line).collect::<Vec<_>>().join("\n");
    std::fs::write(&path, format!("text_id,text\n{}\n", lines(2100))).unwrap();
    let keep = folder.path().join("long.embeddings");
    let predict = |out: &str, keep: Option<&Path>, progress: &StopsEncoding| {
        let texts = TextFileChoices {
            path: path.clone(),
            keep: keep.map(Path::to_owned),
            ..TextFileChoices::default()
        };
        let out = folder.path().join(out);
        let written = bundle.predict(&of_offensiveness(), &texts, &out, DeviceChoice::Cpu, progress);
        written.map(|_| table(&out))
    };
    let whole = predict("whole.csv", None, &StopsEncoding::default()).unwrap();
    let stops = StopsEncoding { at: Some(1200), ..StopsEncoding::default() };
    assert_eq!(predict("out.csv", Some(&keep), &stops).unwrap_err().code(), "cancelled");
    assert!(!folder.path().join("out.csv").exists() && keep.exists());
    let resumed = StopsEncoding::default();
    let again = predict("out.csv", Some(&keep), &resumed).unwrap();
    let kept = resumed.kept.load(Ordering::Relaxed);
    assert!(kept >= 1024 && kept.is_multiple_of(512), "{kept}");
    let equal = |a: &[Row], b: &[Row]| {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            for (column, value) in a {
                match (value.parse::<f64>(), b[column].parse::<f64>()) {
                    (Ok(x), Ok(y)) => assert!((x - y).abs() < 1e-5, "{column}: {a:?} {b:?}"),
                    _ => assert_eq!(*value, b[column], "{column}"),
                }
            }
        }
    };
    equal(&again, &whole);
    // A text before the end of the stored embeddings has changed: later ones are encoded again, and no old
    // result is used.
    std::fs::write(&path, format!("text_id,text\n{}\n", lines(2100).replacen(" 600,", " six hundred,", 1)))
        .unwrap();
    let changed = StopsEncoding::default();
    let other = predict("changed.csv", Some(&keep), &changed).unwrap();
    assert_eq!(changed.kept.load(Ordering::Relaxed), 512);
    equal(&other, &predict("changed-whole.csv", None, &StopsEncoding::default()).unwrap());
}
