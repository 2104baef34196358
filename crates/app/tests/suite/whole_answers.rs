//! Whole answers to a multi-label question: predicted for the texts of a file, of the project and by a
//! bundle.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{Stopped, TestFolder, import_csv, tiny};
use dissensus_analysis::WrittenPredictions;
use dissensus_analysis::bundles::{Bundle, BundleChoices};
use dissensus_analysis::multi_label;
use dissensus_analysis::predict::RequestedText;
use dissensus_analysis::prediction_file;
use dissensus_analysis::set_distances;
use dissensus_analysis::whole_answer;
use dissensus_api::{ImportChoices, NewLabel};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, OptionSet, Question, TextId};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::{EncoderChoice, TextFileChoices};
use dissensus_training::prediction_tables::OptionPredictions;
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use dissensus_transfer::exchange;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SETS: [&str; 4] = ["glad", "sad; tired", "glad; new", "sad; tired; new"];
const NEW: [&str; 5] = [
    "You are a fool.",
    "What a lovely day it is",
    "bad bad bad words",
    "this is not fair",
    "the comment h a",
];

/// A body that the encoder's few words distinguish from the others: `the comment h a` is that of 7.
fn body(n: u32) -> String {
    let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
    format!("the comment {} {}", letter(n), letter(n / 26))
}

fn texts(place: &TestFolder) -> TextFileChoices {
    let path = place.file("new.txt", &NEW.join("\n"));
    TextFileChoices { path, ..TextFileChoices::default() }
}

/// 240 texts that two people have answered, *sad* and *tired* always together, and a third person
/// without answers.
fn labelled(place: &TestFolder) -> (Session, Question) {
    let session = place.project("p");
    let set = |text: u32, who: u32| {
        SETS[((text * (7 + 4 * who) % 13 < 6) as usize) + 2 * usize::from(text % 5 < 2)]
    };
    let row = |n: u32| (0..2).map(move |who| format!("t{n},{},a{who},{}\n", body(n), set(n, who)));
    let rows: String = (0..240).flat_map(row).collect();
    let csv = format!("text_id,text,annotator_id,label\n{rows}");
    import_csv(
        &session,
        &csv,
        &ImportChoices { question: Some("sets".to_owned()), ..ImportChoices::default() },
    );
    annotators::add(&session.project, "new", &Default::default()).unwrap();
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let question = questions::find(&session.project, None).unwrap();
    (session, question)
}

fn predict(
    place: &TestFolder,
    session: &Session,
    choices: &PredictionChoices,
    of_file: bool,
) -> Result<(OptionPredictions, Vec<Row>), ProjectError> {
    let (out, texts) = (place.path("sets-out.csv"), texts(place));
    let choices = PredictionChoices { replace: true, ..choices.clone() };
    let asked =
        prediction_file::check(&session.analysis, &choices, of_file.then_some(&texts), &out, &Silent)?;
    session.live.fit(asked.question(), &Silent)?;
    let WrittenPredictions::Options(written) =
        prediction_file::write(&session.analysis, &asked, &tiny(), &Silent)?
    else {
        panic!("no sets were written")
    };
    Ok((written, table(&out)))
}

type Row = HashMap<String, String>;

fn table(path: &Path) -> Vec<Row> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

fn of(annotators: &[&str]) -> PredictionChoices {
    PredictionChoices {
        annotators: annotators.iter().map(|name| (*name).to_owned()).collect(),
        ..PredictionChoices::default()
    }
}

/// A table of one option: for each text the mean probability, and the probability that two people differ.
fn of_option(
    place: &TestFolder,
    session: &Session,
    option: &Question,
    choices: &PredictionChoices,
) -> Vec<(f64, f64)> {
    let out = place.path("one.csv");
    let choices = PredictionChoices { question: Some(option.name.clone()), replace: true, ..choices.clone() };
    let asked =
        prediction_file::check(&session.analysis, &choices, Some(&texts(place)), &out, &Silent).unwrap();
    prediction_file::write(&session.analysis, &asked, &tiny(), &Silent).unwrap();
    let rows = table(&out);
    let people = rows.len() / NEW.len();
    rows.chunks(people)
        .map(|own| {
            let mean = own.iter().map(|row| number(row, "p_yes")).sum::<f64>() / people as f64;
            (mean, number(&own[0], "disagreement_pairwise"))
        })
        .collect()
}

#[test]
fn whole_row_matches_the_tables_of_options() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place);
    for choices in [of(&[]), of(&["a1", "new"])] {
        let (written, rows) = predict(&place, &session, &choices, true).unwrap();
        assert_eq!((written.table.texts, written.options.len(), rows.len()), (5, 4, 5));
        for option in question.options() {
            let name = option.name.strip_prefix(&format!("{}: ", question.name)).unwrap();
            let own = of_option(&place, &session, &option, &choices);
            for (row, (expected, differ)) in rows.iter().zip(own) {
                assert!((number(row, &format!("expected_{name}")) - expected).abs() < 1e-6, "{name}");
                assert!((number(row, &format!("differ_{name}")) - differ).abs() < 1e-6, "{name}");
            }
        }
        for row in &rows {
            assert!((0.0..=1.0).contains(&number(row, "masi")));
            let named: Vec<&str> = row["most_likely_set"].split(" + ").collect();
            assert!(named.iter().all(|name| *name == "none" || question.scale.index_of(name).is_some()));
        }
        // The last text has the body of one that was answered.
        let observed: Vec<&str> = rows.iter().map(|row| row["observed"].as_str()).collect();
        assert_eq!(observed, ["false", "false", "false", "false", "true"]);
        assert_eq!(written.table.observed, Some(1));
        let has_columns = rows[0].contains_key("set_a1");
        assert_eq!(has_columns, !choices.annotators.is_empty());
        assert_eq!(written.table.annotators_without_labels, 1);
    }
}

/// *sad* and *tired* are more likely together than if each were decided independently, and the predictions
/// of each option are unchanged.
#[test]
fn set_predictions_use_option_correlations() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place);
    let (written, rows) = predict(&place, &session, &of(&["a0"]), true).unwrap();
    assert!(written.factors > 0, "{written:?}");
    assert!(written.options_together.contains("sad and tired (+"), "{}", written.options_together);
    assert_eq!((written.table.annotators, written.pairs), (1, 0));
    for row in &rows {
        assert_eq!(row["set_a0"], row["most_likely_set"], "one person");
        assert_eq!((row["masi"].as_str(), row["differ_sad"].as_str()), ("", ""), "who differs from nobody");
        let chosen: Vec<&str> = row["most_likely_set"].split(" + ").collect();
        let alone: f64 = question
            .scale
            .levels()
            .iter()
            .map(|name| {
                let p = number(row, &format!("p_a0_{name}"));
                assert!((number(row, &format!("expected_{name}")) - p).abs() < 1e-6);
                if chosen.contains(&name.as_str()) { p } else { 1.0 - p }
            })
            .product();
        let together = number(row, "probability");
        assert!(together > alone + 0.05, "{together} for {alone} of {}", row["most_likely_set"]);
        assert_eq!(chosen.contains(&"sad"), chosen.contains(&"tired"), "{row:?}");
    }
    // The same figures for one typed text.
    session.live.fit(question.id, &Silent).unwrap();
    let text = session.encoding.embed(NEW[1], &tiny()).unwrap();
    let one = whole_answer::predict(
        &session.analysis,
        &question,
        Some(AnnotatorId(1)),
        RequestedText::New(&text),
        &Silent,
    )
    .unwrap();
    assert_eq!(one.most_likely_set, rows[1]["most_likely_set"]);
    assert!((one.probability - number(&rows[1], "probability")).abs() < 1e-6);
    let everybody =
        whole_answer::predict(&session.analysis, &question, None, RequestedText::New(&text), &Silent)
            .unwrap();
    let (_, all) = predict(&place, &session, &of(&[]), true).unwrap();
    assert!((everybody.masi.unwrap() - number(&all[1], "masi")).abs() < 1e-6);
    // A pair of options is named once, though both sets and distances mention it.
    let found = &everybody.options_together;
    assert_eq!(found.matches("sad and tired").count(), 1, "{found}");
    for option in &everybody.options {
        let expected = number(&all[1], &format!("expected_{}", option.option));
        assert!((option.expected - expected).abs() < 1e-6);
    }
}

/// Later labels are in the next table; for a text of the project its answers are used and reported.
#[test]
fn next_table_includes_later_labels() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place);
    let (before, rows) = predict(&place, &session, &of(&[]), false).unwrap();
    assert_eq!((before.table.texts, before.table.observed), (240, Some(240)));
    let new: ImportChoices = ImportChoices::default();
    let file = place.path("more.csv");
    std::fs::write(&file, "text_id,text\nmore,a text that nobody knows\n").unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &new, Some(&silent)).unwrap();
    session.encoding.encode(&tiny(), &Silent).unwrap();
    assert!(whole_answer::given_answers(&session.analysis, &question, "more").unwrap().is_empty());
    assert_eq!(
        whole_answer::given_answers(&session.analysis, &question, "no").unwrap_err().code(),
        "no-such-text"
    );
    let (unanswered, all) = predict(&place, &session, &of(&[]), false).unwrap();
    assert_eq!((unanswered.table.texts, unanswered.table.observed, all.len()), (241, Some(240), 241));
    let glad = question.scale.index_of("glad").unwrap() as u8;
    for annotator in [AnnotatorId(1), AnnotatorId(2)] {
        let answer = Answer::Options(OptionSet::new([glad]).unwrap());
        let label =
            NewLabel { question: question.id, text: TextId(241), annotator, answer, duration_ms: None };
        record::record_label(&session.labelling, RecordLabel::new(&label, LabelSource::Command)).unwrap();
    }
    let (after, answered) = predict(&place, &session, &of(&[]), false).unwrap();
    assert_eq!(after.table.observed, Some(241));
    let share = |rows: &[Row]| number(&rows[240], "expected_glad");
    assert!(share(&answered) > share(&all), "{} {}", share(&answered), share(&all));
    assert_eq!(rows.len(), 240);
    let given = whole_answer::given_answers(&session.analysis, &question, "more").unwrap();
    let given: Vec<(&str, &str)> =
        given.iter().map(|one| (one.annotator.as_str(), one.answer.as_str())).collect();
    assert_eq!(given, [("a0", "glad"), ("a1", "glad")]);

    // Distances and differences use these answers unchanged: the same for two people, and for everyone
    // those of `disagreement`.
    let (_, two) = predict(&place, &session, &of(&["a0", "a1"]), false).unwrap();
    assert_eq!((number(&two[240], "masi"), number(&two[240], "differ_glad")), (0.0, 0.0));
    let together = set_distances::measure(&session.analysis, &question, &Silent).unwrap();
    let (ranked, _) = multi_label::rank(&session.analysis, &question, 241, together.as_ref()).unwrap();
    for text in ["t0", "t5", "more"] {
        let expected = ranked.iter().find(|one| one.text_id == text).unwrap().masi.unwrap();
        let row = answered.iter().find(|row| row["text_id"] == text).unwrap();
        assert!((number(row, "masi") - expected).abs() < 1e-6, "{text}: {} {expected}", row["masi"]);
        let one = RequestedText::OfProject(text);
        let one = whole_answer::predict(&session.analysis, &question, None, one, &Silent).unwrap();
        assert!((one.masi.unwrap() - expected).abs() < 1e-6 && one.is_exact);
    }
}

fn bundled(place: &TestFolder, session: &Session) -> PathBuf {
    let dir = place.path("bundle");
    let device = EncoderChoice { device: DeviceChoice::Cpu, ..EncoderChoice::default() };
    let choices = BundleChoices { replace: true, with_ids: true, ..BundleChoices::default() };
    let (written, _) = session.bundles.write(&choices, &dir, &device, &Silent).unwrap();
    assert_eq!(written.sets, ["sets"]);
    dir
}

fn by_bundle(place: &TestFolder, dir: &Path, choices: &PredictionChoices) -> Result<Vec<Row>, ProjectError> {
    let out = place.path("by-bundle.csv");
    let choices = PredictionChoices { replace: true, ..choices.clone() };
    let bundle = Bundle::open(dir)?;
    let written = bundle.predict(&choices, &texts(place), &out, DeviceChoice::Cpu, &Silent)?;
    assert!(
        matches!(&written, WrittenPredictions::Options(written) if written.table.observed.is_none()),
        "{written:?}"
    );
    Ok(table(&out))
}

/// Changes the manifest by hand, with its checksum.
fn changed(dir: &Path, change: impl Fn(&mut serde_json::Value)) {
    let path = dir.join("bundle.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    let bytes = serde_json::to_vec_pretty(&manifest).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let sums = std::fs::read_to_string(dir.join("SHA256SUMS")).unwrap();
    let of = |line: &str| match line.ends_with(" bundle.json") {
        true => format!("{sum}  bundle.json\n"),
        false => format!("{line}\n"),
    };
    std::fs::write(dir.join("SHA256SUMS"), sums.lines().map(of).collect::<String>()).unwrap();
}

#[test]
fn bundle_predicts_sets_like_its_project() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place);
    let dir = bundled(&place, &session);
    let some = of(&["a1", "new"]);
    let expected: Vec<Vec<Row>> =
        [of(&[]), some.clone()].iter().map(|of| predict(&place, &session, of, true).unwrap().1).collect();
    drop(session);
    // In another place, and without the project.
    std::fs::remove_file(place.path("p.dissensus")).unwrap();
    let moved = place.path("elsewhere");
    std::fs::rename(&dir, &moved).unwrap();
    for (choices, expected) in [of(&[]), some].iter().zip(&expected) {
        let found = by_bundle(&place, &moved, choices).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.len(), expected.len());
            for (column, value) in expected {
                match value.parse::<f64>() {
                    _ if column == "observed" => assert_eq!(found[column], ""),
                    Ok(value) => assert!((number(found, column) - value).abs() < 1e-6, "{column}"),
                    Err(_) => assert_eq!(found[column], *value, "{column}"),
                }
            }
        }
    }
    let card = std::fs::read_to_string(moved.join("README.md")).unwrap();
    assert!(card.contains("## sets: whole answers") && card.contains("sad and tired"), "{card}");
    // An option alone is a question of two levels.
    let name = question.options()[0].name.clone();
    let option = PredictionChoices { question: Some(name.clone()), ..of(&[]) };
    let (bundle, out) = (Bundle::open(&moved).unwrap(), place.path("option.csv"));
    let levels = bundle.predict(&option, &texts(&place), &out, DeviceChoice::Cpu, &Silent).unwrap();
    assert!(matches!(&levels, WrittenPredictions::Levels(levels) if levels.table.question == name));
    assert_eq!(by_bundle(&place, &moved, &of(&["nobody"])).unwrap_err().code(), "not-in-bundle");
}

#[test]
fn older_bundle_opens_and_an_inconsistent_one_is_refused() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place);
    let dir = bundled(&place, &session);
    let written = std::fs::read(dir.join("bundle.json")).unwrap();
    let written: serde_json::Value = serde_json::from_slice(&written).unwrap();
    changed(&dir, |manifest| {
        manifest.as_object_mut().unwrap().remove("sets").unwrap();
    });
    let bundle = Bundle::open(&dir).unwrap();
    let out = place.path("old.csv");
    let asked = |name: &str| PredictionChoices { question: Some(name.to_owned()), ..of(&[]) };
    let refused =
        bundle.predict(&asked("sets"), &texts(&place), &out, DeviceChoice::Cpu, &Silent).unwrap_err();
    assert!(refused.to_string().contains("of this version"), "{refused}");
    let option = asked(&question.options()[0].name);
    let levels = bundle.predict(&option, &texts(&place), &out, DeviceChoice::Cpu, &Silent).unwrap();
    assert!(matches!(&levels, WrittenPredictions::Levels(levels) if levels.rows == 15), "{levels:?}");
    for (key, value) in [
        ("questions", serde_json::json!([0, 1, 2, 9])),
        ("questions", serde_json::json!([0, 1, 2])),
        ("factors", serde_json::json!({"options": 4, "factors": 1, "loadings": [1.0]})),
        ("factors", serde_json::json!({"options": 3, "factors": 0, "loadings": []})),
    ] {
        changed(&dir, |manifest| {
            manifest.clone_from(&written);
            manifest["sets"][0][key] = value.clone();
        });
        let refused = Bundle::open(&dir).unwrap_err();
        assert!(refused.to_string().contains("options of \"sets\""), "{key} {value}: {refused}");
    }
}

#[test]
fn failed_set_table_leaves_no_file() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place);
    let (out, texts) = (place.path("out.csv"), texts(&place));
    let check = |choices: &PredictionChoices, texts: &TextFileChoices| {
        prediction_file::check(&session.analysis, choices, Some(texts), &out, &Silent)
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(check(&of(&["nobody"]), &texts).code(), "no-such-annotator");
    let named = |name: &str| PredictionChoices { question: Some(name.to_owned()), ..of(&[]) };
    assert_eq!(check(&named("sets: lazy"), &texts).code(), "no-such-question");
    let empty = place.path("empty.csv");
    std::fs::write(&empty, "").unwrap();
    let found = check(&of(&[]), &TextFileChoices { path: empty, ..TextFileChoices::default() });
    assert!(found.to_string().contains("empty.csv"), "{found}");
    session.live.fit(question.id, &Silent).unwrap();
    let asked = prediction_file::check(&session.analysis, &of(&[]), Some(&texts), &out, &Silent).unwrap();
    let stopped = prediction_file::write(&session.analysis, &asked, &tiny(), &Stopped).unwrap_err();
    assert!(stopped.to_string().contains("nothing was written"), "{stopped}");
    // The second writer to a name gets an error, and the first one's file stays.
    prediction_file::write(&session.analysis, &asked, &tiny(), &Silent).unwrap();
    let first = std::fs::read(&out).unwrap();
    assert!(prediction_file::write(&session.analysis, &asked, &tiny(), &Silent).is_err());
    assert_eq!(std::fs::read(&out).unwrap(), first);
    let left: Vec<String> = std::fs::read_dir(&place)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("out.csv") && name != "out.csv")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Texts that are longer than the encoder reads, and every kind of file.
#[test]
fn long_texts_and_all_formats_are_written() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place);
    session.live.fit(question.id, &Silent).unwrap();
    let path = place.path("long.txt");
    std::fs::write(&path, format!("{}\nshort\n", "many words of it ".repeat(2_000))).unwrap();
    let texts = TextFileChoices { path, ..TextFileChoices::default() };
    for name in ["a.csv", "a.tsv", "a.jsonl", "a.parquet"] {
        let out = place.path(name);
        let asked =
            prediction_file::check(&session.analysis, &of(&["a0"]), Some(&texts), &out, &Silent).unwrap();
        let written = prediction_file::write(&session.analysis, &asked, &tiny(), &Silent).unwrap();
        assert!(
            matches!(&written, WrittenPredictions::Options(file) if file.table.texts == 2),
            "{name}: {written:?}"
        );
        assert!(std::fs::metadata(&out).unwrap().len() > 100);
    }
    let line = std::fs::read_to_string(place.path("a.jsonl")).unwrap();
    let row: serde_json::Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert!(row["expected_glad"].is_number() && row["masi"].is_null() && row["observed"] == false, "{row}");
}

/// Runs of all options in one training include its correlations between options; runs of some of them
/// answer option by option.
#[test]
fn runs_of_all_options_are_bundled_as_a_whole() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place);
    let asked = runs::choices_for(&session.runs, question.id, ModelKind::Multilevel, "frozen").unwrap();
    let first = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    let mut runs = first.info.trained_with.clone();
    runs.push(first.info.id);
    runs.sort_unstable();
    let write = |runs: Vec<u32>, name: &str| {
        let choices = BundleChoices { runs, with_ids: true, ..BundleChoices::default() };
        session.bundles.write(&choices, &place.path(name), &tiny(), &Silent).unwrap().0
    };
    assert_eq!(write(runs.clone(), "whole").sets, ["sets"]);
    let rows = by_bundle(&place, &place.path("whole"), &of(&["a0"])).unwrap();
    for (text, row) in NEW.iter().zip(&rows) {
        for (run, name) in runs.iter().zip(question.scale.levels()) {
            let one =
                runs::predict(&session.runs, &[*run], AnnotatorId(1), TextToPredict::New(text), &Silent)
                    .unwrap()
                    .swap_remove(0);
            // The text was encoded in another batch.
            assert!((number(row, &format!("p_a0_{name}")) - f64::from(one.probabilities[1])).abs() < 1e-4);
        }
        let set = &row["most_likely_set"];
        assert_eq!(set.contains("sad"), set.contains("tired"), "{row:?}");
    }
    let manifest = std::fs::read_to_string(place.path("whole/bundle.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let sets = &manifest["sets"][0];
    assert!(sets["factors"]["factors"].as_u64().unwrap() > 0 && sets["distances"].is_null(), "{sets}");
    assert!(write(runs[1..].to_vec(), "some").sets.is_empty());
}
