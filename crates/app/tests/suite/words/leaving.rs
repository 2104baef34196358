//! Predicted words of other texts, by the project and by a bundle without it.

use super::*;
use dissensus_analysis::WrittenPredictions;
use dissensus_analysis::bundles::{Bundle, BundleChoices};
use dissensus_analysis::prediction_file;
use dissensus_domain::LevelId;
use dissensus_editing::annotators;
use dissensus_training::encoding::TextFileChoices;
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_training::prediction_tables::SpanPredictions;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use std::collections::HashMap;
use std::path::PathBuf;

/// A text with the marked word, one with accents and an emoji, one without a word, and one of the project.
const NEW: [&str; 4] =
    ["that is bad, bad 😀", "Größe ne\u{301}e comment", "... !!!", "this comment is fair and 2"];

type Row = HashMap<String, String>;

fn rows(path: &Path) -> Vec<Row> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap()
}

fn texts(folder: &Path) -> TextFileChoices {
    let path = folder.join("new.txt");
    std::fs::write(&path, NEW.join("\n")).unwrap();
    TextFileChoices { path, ..TextFileChoices::default() }
}

fn asked(annotators: &[&str]) -> PredictionChoices {
    PredictionChoices {
        question: Some("where".to_owned()),
        annotators: annotators.iter().map(|name| (*name).to_owned()).collect(),
        replace: true,
    }
}

fn by_project(session: &Session, folder: &Path, annotators: &[&str]) -> Vec<Row> {
    let out = folder.join("by-project.csv");
    let analysis = &session.analysis;
    let checked =
        prediction_file::check(analysis, &asked(annotators), Some(&texts(folder)), &out, &Silent).unwrap();
    prediction_file::write(analysis, &checked, &EncoderChoice::default(), &Silent).unwrap();
    rows(&out)
}

fn by_bundle(dir: &Path, folder: &Path, annotators: &[&str]) -> (SpanPredictions, Vec<Row>) {
    let (out, bundle) = (folder.join("by-bundle.csv"), Bundle::open(dir).unwrap());
    let choices = asked(annotators);
    let written = bundle.predict(&choices, &texts(folder), &out, DeviceChoice::Cpu, &Silent).unwrap();
    let WrittenPredictions::Spans(written) = written else { panic!("{written:?}") };
    (written, rows(&out))
}

fn bundled(session: &Session, folder: &Path, choices: &BundleChoices) -> PathBuf {
    let dir = folder.join("bundle");
    let with_ids = choices.runs.is_empty();
    let choices = BundleChoices { replace: true, with_ids, ..choices.clone() };
    session.bundles.write(&choices, &dir, &EncoderChoice::default(), &Silent).unwrap();
    dir
}

/// Compares the numbers; a bundle does not know the texts that the model has learned from.
fn same(by_project: &[Row], by_bundle: &[Row]) {
    assert_eq!(by_project.len(), by_bundle.len());
    for (ours, theirs) in by_project.iter().zip(by_bundle) {
        assert_eq!((ours["observed"] == "true", theirs["observed"].as_str()), (ours["text_id"] == "4", ""));
        for (column, value) in ours.iter().filter(|(column, _)| *column != "observed") {
            match (value.parse::<f64>(), theirs[column].parse::<f64>()) {
                (Ok(a), Ok(b)) => assert!((a - b).abs() < 1e-6, "{column}: {a} {b}"),
                _ => assert_eq!(*value, theirs[column]),
            }
        }
    }
}

fn all_bytes(dir: &Path) -> Vec<u8> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { all_bytes(&path) } else { std::fs::read(path).unwrap() })
        .collect()
}

#[test]
fn bundle_predicts_marked_words() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 40);
    let own = by_project(&session, folder.path(), &["c", "a"]);
    let dir = bundled(&session, folder.path(), &BundleChoices::default());
    drop(session);
    std::fs::remove_file(folder.path().join("p.dissensus")).unwrap();
    let (written, found) = by_bundle(&dir, folder.path(), &["c", "a"]);
    assert_eq!(
        (written.table.texts, written.table.annotators, written.table.annotators_without_labels),
        (4, 2, 0)
    );
    // Six words of the first text, with the emoji; three of the second; none; six; two types each.
    assert_eq!((written.rows, found.len()), (28, 28));
    same(&own, &found);
    let word = |text: &str, start: &str, of_type: &str| -> &Row {
        let is = |row: &&Row| row["text_id"] == text && row["start"] == start && row["type"] == of_type;
        found.iter().find(is).unwrap()
    };
    let (bad, that) = (word("1", "8", "insult"), word("1", "0", "insult"));
    assert_eq!((bad["word"].as_str(), bad["end"].as_str()), ("bad", "11"));
    assert!(number(bad, "expected") > 2.0 * number(that, "expected"), "{bad:?} {that:?}");
    assert_eq!(word("2", "6", "all")["word"], "ne\u{301}e");
    let of_all = word("2", "6", "all");
    assert!(number(of_all, "p_c") > number(of_all, "p_a"), "c marks everything: {of_all:?}");
    let mean = (number(of_all, "p_a") + number(of_all, "p_c")) / 2.0;
    assert!((number(of_all, "expected") - mean).abs() < 1e-5);
    assert!(number(of_all, "differ") > number(bad, "differ"), "{of_all:?} {bad:?}");

    // It contains nothing of the texts.
    let bytes = all_bytes(&dir.join("heads"));
    assert!(!bytes.windows(7).any(|window| window == b"comment"));
    let card = std::fs::read_to_string(dir.join("README.md")).unwrap();
    assert!(
        [
            "where: which words are marked",
            "a weight and a hash of",
            "Nothing was held out of this model of words"
        ]
        .iter()
        .all(|words| card.contains(words)),
        "{card}"
    );

    // It does not contain how much a person has labelled.
    let kept = std::fs::read_to_string(dir.join("heads/words-1.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept.as_object().unwrap().keys().collect::<Vec<_>>(), ["learned", "readiness", "states"]);

    // A single person has no differences, and everyone together has no columns of their own.
    let (_, alone) = by_bundle(&dir, folder.path(), &["b"]);
    assert!(alone.iter().all(|row| row["differ"].is_empty() && row["p_b"] == row["expected"]));
    let (written, all) = by_bundle(&dir, folder.path(), &[]);
    assert!(written.table.annotators == 3 && !all[0].contains_key("p_a"));
}

#[test]
fn run_is_bundled_with_its_word_model() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 90);
    // A question without words comes first.
    let asked = choices(&session, ModelKind::Multilevel, &["rude", "where"]);
    let first = runs::train(&session.runs, &asked, DeviceChoice::Cpu, &Silent).unwrap();
    let all = all(&session, &first);
    let id_of = |name: &str| all.iter().find(|run| run.info.question_name == name).unwrap().info.id;
    let runs = vec![id_of("rude"), id_of("where: all"), id_of("where: insult")];
    annotators::add(&session.project, "late", &Default::default()).unwrap();
    let manifest = |dir: &Path| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(dir.join("bundle.json")).unwrap()).unwrap()
    };
    // Words are exported if all types of their question are.
    for some in [&runs[..1], &runs[1..2]] {
        let of_some = BundleChoices { runs: some.to_vec(), ..BundleChoices::default() };
        assert!(manifest(&bundled(&session, folder.path(), &of_some)).get("words").is_none());
    }
    let of_runs = BundleChoices { runs: runs.clone(), ..BundleChoices::default() };
    let dir = bundled(&session, folder.path(), &of_runs);
    // Pseudonyms, in the order of the model.
    let pseudonym =
        |at: usize| manifest(&dir)["words"][0]["annotators"][at]["id"].as_str().unwrap().to_owned();
    let (a, c) = (pseudonym(0), pseudonym(2));
    let (written, away) = by_bundle(&dir, folder.path(), &[&a, &c]);
    assert_eq!((written.table.annotators, written.rows), (2, 28), "its words stand in it once");
    let both = BundleChoices { questions: vec!["where".to_owned()], ..of_runs.clone() };
    let twice =
        session.bundles.write(&both, &folder.path().join("twice"), &EncoderChoice::default(), &Silent);
    let refused = twice.unwrap_err();
    assert_eq!(refused.code(), "question-twice");
    assert!(refused.to_string().starts_with("\"where"), "{refused}");
    let words = manifest(&dir)["words"][0].clone();
    let figure = |words: &serde_json::Value| {
        let figures = words["held_out"]["figures"].as_array().unwrap().clone();
        figures.into_iter().find(|figure| figure["name"] == "log loss of words").unwrap()["value"].clone()
    };
    let scores = &runs::trained_words(&session.runs, runs[1]).unwrap()[0].scores.scores;
    assert_eq!(figure(&words), scores.token_log_loss);
    assert_eq!(
        (&words["run"], words["annotators"].as_array().unwrap().len()),
        (&id_of("where: insult").into(), 3)
    );

    // The project predicts the same once it uses the run.
    runs::use_run(&session.runs, Some(runs[2])).unwrap();
    session.encoding.encode(&EncoderChoice::default(), &Silent).unwrap();
    let live = BundleChoices { questions: vec!["where".to_owned()], ..BundleChoices::default() };
    let of_live = manifest(&bundled(&session, folder.path(), &live))["words"][0].clone();
    assert_eq!(
        (&of_live["run"], figure(&of_live)),
        (&runs[2].into(), figure(&words)),
        "the heads are the run's"
    );
    assert_eq!(of_live["annotators"].as_array().unwrap().len(), 4);
    let here = by_project(&session, folder.path(), &["a", "c"]);
    let renamed = |row: &Row| -> Row {
        let name = |column: &str| column.replace("p_a", &format!("p_{a}")).replace("p_c", &format!("p_{c}"));
        row.iter().map(|(column, value)| (name(column), value.clone())).collect()
    };
    same(&here.iter().map(renamed).collect::<Vec<_>>(), &away);
}

#[test]
fn failed_word_table_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 40);
    let analysis = &session.analysis;
    let (new, out) = (texts(folder.path()), folder.path().join("out.csv"));
    let of = |question: &str| PredictionChoices {
        question: Some(question.to_owned()),
        ..PredictionChoices::default()
    };
    let check = |choices: &PredictionChoices, out: &Path| {
        prediction_file::check(analysis, choices, Some(&new), out, &Silent).err().map(|e| e.to_string())
    };
    let of_project = prediction_file::check(analysis, &of("where"), None, &out, &Silent).err().unwrap();
    assert_eq!(of_project.code(), "one-option", "{of_project}");
    assert!(check(&asked(&["nobody"]), &out).unwrap().contains("nobody"));
    assert!(check(&of("where"), &new.path).is_some(), "the file that is read");
    std::fs::write(&out, "mine").unwrap();
    assert!(check(&of("where"), &out).is_some());
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");

    let other = folder.path().join("other.csv");
    let checked = prediction_file::check(analysis, &of("where"), Some(&new), &other, &Silent).unwrap();
    assert!(prediction_file::write(analysis, &checked, &EncoderChoice::default(), &Stopped).is_err());
    assert!(!other.exists());
    // A file that changes between two reads is not half predicted.
    let checked = prediction_file::check(analysis, &of("where"), Some(&new), &other, &Silent).unwrap();
    std::fs::write(&new.path, "another text").unwrap();
    let error = prediction_file::write(analysis, &checked, &EncoderChoice::default(), &Silent).unwrap_err();
    assert_eq!(error.code(), "file-changed", "{error}");
    assert!(!other.exists());
}

/// More words than are used for training: answers to the other texts still inform about their annotators.
#[test]
fn people_beyond_the_word_limit_are_still_known() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path(), 6);
    let long = |text: u32| format!("{} {text}", "good bad ".repeat(500));
    let mut csv = "text_id,text\n".to_owned();
    (0..210).for_each(|text| csv.push_str(&format!("long{text},{}\n", long(text))));
    let file = folder.path().join("long.csv");
    std::fs::write(&file, csv).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    for text in 0..210 {
        annotators::add(&session.project, &format!("only{text}"), &Default::default()).unwrap();
        let marked = Answer::Spans(SpanSet::new([Span { start: 5, end: 8, kind: LevelId(0) }]).unwrap());
        label(&session, id(&session, "where"), TEXTS + 1 + text, 4 + text, marked);
    }
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let out = folder.path().join("out.csv");
    let everybody = PredictionChoices { question: Some("where".to_owned()), ..PredictionChoices::default() };
    let asked =
        prediction_file::check(&session.analysis, &everybody, Some(&texts(folder.path())), &out, &Silent)
            .unwrap();
    let written =
        prediction_file::write(&session.analysis, &asked, &EncoderChoice::default(), &Silent).unwrap();
    let WrittenPredictions::Spans(written) = written else { panic!("{written:?}") };
    assert_eq!((written.table.annotators, written.table.annotators_without_labels), (213, 0));
}
