//! Labels aggregated by text and by person: figures computed by hand, those of the models as in the window,
//! and no personal data for others.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{Stopped, create, import_csv};
use dissensus_analysis::ranking;
use dissensus_api::{
    ColumnChoices, DisagreementMeasure, DisagreementQuery, ImportChoices, SummaryOf, SummaryRequest,
};
use dissensus_app::session::Session;
use dissensus_editing::questions;
use dissensus_project::jobs::Follow;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_training::encoding::EncoderChoice;
use dissensus_transfer::exchange;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

fn place() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let session = create(&folder.path().join("p.dissensus"));
    (folder, session)
}

fn named(question: &str) -> ImportChoices {
    ImportChoices { question: Some(question.into()), ..ImportChoices::default() }
}

type Rows = HashMap<String, HashMap<String, String>>;

/// Rows by the first column; and the names of all columns.
fn rows(path: &Path) -> (Rows, Vec<String>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|record| {
        let record = record.unwrap();
        let cells = header.iter().cloned().zip(record.iter().map(str::to_owned)).collect();
        (record[0].to_owned(), cells)
    });
    (rows.collect(), header)
}

fn write(session: &Session, request: &SummaryRequest, out: &Path) -> (Rows, Vec<String>) {
    let asked = session.summaries.check(request, out, true).unwrap();
    if let Some(question) = asked.predicted() {
        session.live.fit(question, &Silent).unwrap();
    }
    session.summaries.write(&asked, &Silent).unwrap();
    rows(out)
}

fn refused(session: &Session, request: &SummaryRequest, out: &Path) -> String {
    let error = session.summaries.check(request, out, false).err().unwrap();
    assert!(!out.exists() || out.is_dir(), "{out:?}");
    format!("{}: {error}", error.code())
}

/// Four texts, of which one has no label; people with towns.
fn small() -> (TempDir, Session) {
    let (folder, session) = place();
    let labels = "text_id,text,thread,annotator_id,label,town,created_at\n\
        a,=1+1,x,ana,1,here,2024-05-01T10:00:00Z\na,=1+1,x,ben,3,there,2024-05-01T10:00:00Z\n\
        a,=1+1,x,cleo,3,here,2024-05-01T10:00:00Z\n\
        b,two,y,ana,1,here,2024-05-01T10:00:00Z\nb,two,y,ben,2,there,2024-05-01T10:00:00Z\n\
        c,three,y,ana,3,here,2024-05-01T10:00:00Z\n";
    import_csv(&session, labels, &named("rude"));
    import_csv(&session, "text_id,text\nd,four\n", &ImportChoices::default());
    (folder, session)
}

#[test]
fn text_summary_has_figures_of_labels() {
    let (folder, session) = small();
    let out = folder.path().join("texts.csv");
    let request = SummaryRequest { aggregate: Some("majority".into()), ..SummaryRequest::default() };
    let (found, header) = write(&session, &request, &out);
    assert_eq!(found.len(), 4);
    let cells =
        |id: &str, names: &[&str]| -> Vec<String> { names.iter().map(|n| found[id][*n].clone()).collect() };
    let counts = ["labels", "cannot_say", "count_1", "count_2", "count_3", "share_1", "share_3", "mean"];
    let a = cells("a", &counts);
    assert_eq!(a[..5], ["3", "0", "1", "0", "2"]);
    let number = |text: &str| text.parse::<f64>().unwrap();
    // Levels are numbers: (1 + 3 + 3) / 3.
    assert!((number(&a[5]) - 1.0 / 3.0).abs() < 1e-6 && (number(&a[7]) - 7.0 / 3.0).abs() < 1e-6);
    assert_eq!(cells("b", &counts)[2..], ["1", "1", "0", "0.5", "0", "1.5"]);
    // A single label has no disagreement, and nothing is known about a text without labels.
    assert_eq!(cells("c", &["labels", "disagreement", "mean"]), ["1", "", "3"]);
    assert_eq!(cells("d", &["labels", "count_1", "share_1", "mean", "disagreement"]), ["0", "0", "", "", ""]);
    // The largest mean squared distance of three labels on three levels is that of two at one end and one
    // at the other.
    assert_eq!(cells("a", &["disagreement"]), ["1"]);
    assert!(number(&cells("b", &["disagreement"])[0]) < 1.0);
    assert_eq!(cells("a", &["aggregated", "aggregated_tie"]), ["3", "false"]);
    assert_eq!(cells("b", &["aggregated", "aggregated_tie", "aggregated_probability"]), ["1", "true", "0.5"]);
    assert_eq!(cells("d", &["aggregated", "aggregated_tie"]), ["", ""]);
    // No spreadsheet interprets people's text as a formula.
    assert_eq!(found["a"]["text"], "'=1+1");
    assert!(!header.iter().any(|name| name.starts_with("predicted")));
    // A thread's name may identify its author.
    assert_eq!(found["a"]["group"], "x");
    let masked = SummaryRequest { pseudonyms: true, ..SummaryRequest::default() };
    let (found, _) = write(&session, &masked, &out);
    assert!(found.values().all(|cells| cells["group"].is_empty()));
    let jsonl = folder.path().join("texts.jsonl");
    let asked = session.summaries.check(&masked, &jsonl, false).unwrap();
    session.summaries.write(&asked, &Silent).unwrap();
    assert!(std::fs::read_to_string(jsonl).unwrap().contains("\"text\":\"=1+1\""));
}

#[test]
fn levels_are_named_as_in_other_files() {
    let (folder, session) = place();
    let choices = ImportChoices {
        levels: Some(vec!["-1".into(), "mean".into(), "disagreement".into()]),
        scale: Some(dissensus_domain::ScaleKind::Ordinal),
        ..named("rude")
    };
    let mut csv = "text_id,text,annotator_id,label,labels\n".to_owned();
    for text in 0..12_u32 {
        for who in 0..6_u32 {
            let level = ["-1", "mean", "disagreement"][((text + who) % 3) as usize];
            let level = if text == 0 { "-1" } else { level };
            writeln!(csv, "t{text},@you are {text},p{who},{level},{}", if who < 5 { "-7" } else { "here" })
                .unwrap();
        }
    }
    import_csv(&session, &csv, &ImportChoices { columns: Some(with_attribute()), ..choices });
    encode(&session);
    let out = folder.path().join("texts.csv");
    let request =
        SummaryRequest { predicted: true, aggregate: Some("majority".into()), ..SummaryRequest::default() };
    let (found, header) = write(&session, &request, &out);
    assert_eq!((found["t0"]["aggregated"].as_str(), found["t0"]["text"].as_str()), ("-1", "'@you are 0"));
    for name in [
        "predicted_-1",
        "level_predicted_mean",
        "predicted_disagreement",
        "predicted_mean",
        "expected_disagreement",
    ] {
        assert_eq!(header.iter().filter(|one| *one == name).count(), 1, "{name} {header:?}");
    }
    for cells in found.values() {
        let number = |name: &str| cells[name].parse::<f64>().unwrap();
        let p = ["predicted_-1", "level_predicted_mean", "predicted_disagreement"].map(number);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-4);
        assert!((p[1] + 2.0 * p[2] - number("predicted_mean")).abs() < 1e-4);
        let expected = number("expected_disagreement");
        assert!(
            number("expected_disagreement_lower") <= expected
                && expected <= number("expected_disagreement_upper")
        );
    }
    // A value of five people is shown, that of the sixth is hidden.
    let people = folder.path().join("people.csv");
    let masked = SummaryRequest { of: SummaryOf::People, pseudonyms: true, ..SummaryRequest::default() };
    let (found, _) = write(&session, &masked, &people);
    let order: Vec<String> = {
        let mut reader = csv::Reader::from_path(&people).unwrap();
        reader.records().map(|record| record.unwrap()[0].to_owned()).collect()
    };
    assert_eq!(order, ["A1", "A2", "A3", "A4", "A5", "A6"]);
    let reported: Vec<&String> = found.values().filter_map(|cells| cells.get("attribute_labels")).collect();
    assert!(
        reported.is_empty()
            || reported.iter().all(|value| [&"-7".to_owned(), &String::new()].contains(value))
    );
    let open = SummaryRequest { pseudonyms: false, ..masked };
    let (found, _) = write(&session, &open, &people);
    assert_eq!(
        (found["p0"]["attribute_labels"].as_str(), found["p5"]["attribute_labels"].as_str()),
        ("-7", "here")
    );
}

/// Columns as guessed, with the last one as an attribute of annotators.
fn with_attribute() -> ColumnChoices {
    ColumnChoices {
        text_id: Some("text_id".into()),
        text: Some("text".into()),
        annotator: Some("annotator_id".into()),
        label: Some("label".into()),
        attributes: vec!["labels".into()],
        ..ColumnChoices::default()
    }
}

#[test]
fn people_have_level_counts_and_pseudonyms() {
    let (folder, session) = small();
    let out = folder.path().join("people.csv");
    let request = SummaryRequest { of: SummaryOf::People, ..SummaryRequest::default() };
    let (found, _) = write(&session, &request, &out);
    let ana = &found["ana"];
    let cells: Vec<&str> = ["town", "labels", "count_1", "count_2", "count_3", "shared_texts"]
        .iter()
        .map(|n| ana[*n].as_str())
        .collect();
    assert_eq!(cells, ["here", "3", "2", "0", "1", "2"]);
    assert!((ana["mean"].parse::<f64>().unwrap() - 5.0 / 3.0).abs() < 1e-6);
    // It would be read as attributes of people.
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let again =
        exchange::import(&session.exchange, &out, &ImportChoices::default(), Some(&silent)).unwrap_err();
    assert_eq!(again.code(), "is-summary");
    // Of three pairs with others none is equal.
    assert_eq!(ana["agreement_with_others"], "0");
    let masked = SummaryRequest { pseudonyms: true, ..request };
    let (found, header) = write(&session, &masked, &out);
    assert_eq!(found.keys().filter(|id| ["A1", "A2", "A3"].contains(&id.as_str())).count(), 3);
    assert!(
        ["name", "town", "seconds_per_label", "timed_labels"].iter().all(|n| !header.iter().any(|h| h == n))
    );
    let file = std::fs::read_to_string(&out).unwrap();
    assert!(["ana", "ben", "cleo", "here"].iter().all(|who| !file.contains(who)), "{file}");
}

/// 40 texts with labels of two or three of four people, three levels, encoded.
fn encoded() -> (TempDir, Session) {
    let (folder, session) = place();
    let mut csv = "text_id,text,annotator_id,label\n".to_owned();
    for text in 0..40_u32 {
        for who in (0..4_u32).filter(|who| (text + who) % 4 != 0 && (text * who) % 5 != 3) {
            let word = ["good", "bad", "fair", "ungood"][text as usize % 4];
            let level = 1 + (text + who * u32::from(text.is_multiple_of(3))) % 3;
            writeln!(csv, "t{text},a {word} comment and {text},p{who},{level}").unwrap();
        }
    }
    import_csv(&session, &csv, &named("rude"));
    encode(&session);
    (folder, session)
}

fn encode(session: &Session) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    let tiny =
        EncoderChoice { encoder: Some(dir.to_string_lossy().into_owned()), ..EncoderChoice::default() };
    session.encoding.encode(&tiny, &Silent).unwrap();
}

#[test]
fn predictions_match_the_list_and_their_intervals() {
    let (folder, session) = encoded();
    let out = folder.path().join("texts.csv");
    let request = SummaryRequest { predicted: true, ..SummaryRequest::default() };
    let (found, _) = write(&session, &request, &out);
    let question = questions::find(&session.project, None).unwrap().id;
    let query = DisagreementQuery {
        question,
        by: DisagreementMeasure::Split,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    let ids = ranking::rank(&session.analysis, &query).unwrap().texts;
    let shown = ranking::read_rows(&session.analysis, &query, &ids).unwrap();
    assert_eq!(shown.len(), 40);
    let mut different = std::collections::HashSet::new();
    for row in shown {
        let cells = &found[&row.external_id];
        let number = |name: &str| cells[name].parse::<f32>().unwrap();
        let p = ["1", "2", "3"].map(|level| number(&format!("predicted_{level}")));
        assert_eq!(p.to_vec(), row.distribution);
        assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        let split = number("expected_disagreement");
        assert_eq!(split, row.scores.as_ref().unwrap().split);
        assert!((p[0] + 2.0 * p[1] + 3.0 * p[2] - number("predicted_mean")).abs() < 1e-5);
        assert!(
            number("expected_disagreement_lower") <= split && split <= number("expected_disagreement_upper")
        );
        different.insert(cells["expected_disagreement"].clone());
    }
    assert!(different.len() > 10, "{different:?}");
    let people = SummaryRequest { of: SummaryOf::People, predicted: true, ..SummaryRequest::default() };
    let (found, _) = write(&session, &people, &folder.path().join("people.csv"));
    let severities: Vec<f32> = found.values().map(|cells| cells["severity"].parse().unwrap()).collect();
    assert!(severities.iter().any(|s| *s > 0.0) && severities.iter().any(|s| *s < 0.0), "{severities:?}");
}

#[test]
fn window_fits_the_model_of_a_summary() {
    let (folder, session) = encoded();
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let request = SummaryRequest { predicted: true, ..SummaryRequest::default() };
    let asked = session.summaries.check(&request, &at("a.parquet"), false).unwrap();
    let written = session.summaries.write(&asked, Follow::Job).unwrap();
    assert_eq!((written.rows, written.question.as_str()), (40, "rude"));
    let again = session.summaries.write(&asked, Follow::Job).unwrap_err();
    assert_eq!(again.code(), "export-exists");
    let asked = session.summaries.check(&request, &at("b.csv"), false).unwrap();
    assert_eq!(session.summaries.write(&asked, &Stopped).unwrap_err().code(), "cancelled");
    assert!(!at("b.csv").exists());
    assert!(refused(&session, &request, &at("c.conll")).contains(".csv"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("p.dissensus"), at("own.csv")).unwrap();
        let own = session.summaries.check(&request, &at("own.csv"), true).err().unwrap();
        assert_eq!(own.code(), "same-file");
    }
    let unknown = SummaryRequest { question: Some("kind".into()), ..request.clone() };
    assert!(refused(&session, &unknown, &at("d.csv")).starts_with("no-such-question"));
    let both =
        SummaryRequest { of: SummaryOf::People, aggregate: Some("glad".into()), ..SummaryRequest::default() };
    assert!(refused(&session, &both, &at("d.csv")).contains("one row a text"));
}

#[test]
fn summaries_of_sets_and_spans_omit_other_columns() {
    let (folder, session) = place();
    let choices = ImportChoices {
        scale: Some(dissensus_domain::ScaleKind::MultiLabel),
        levels: Some(vec!["a".into(), "b".into()]),
        ..named("topics")
    };
    let sets = "text_id,text,annotator_id,label\nt,one,x,a + b\nt,one,y,a\nu,two,x,none\n";
    import_csv(&session, sets, &choices);
    let out = folder.path().join("sets.csv");
    let request = SummaryRequest { aggregate: Some("majority".into()), ..SummaryRequest::default() };
    let (found, _) = write(&session, &request, &out);
    let cells: Vec<&str> =
        ["labels", "count_a", "count_b", "share_b", "mean", "disagreement", "aggregated", "aggregated_tie"]
            .iter()
            .map(|name| found["t"][*name].as_str())
            .collect();
    assert_eq!(cells, ["2", "2", "1", "0.5", "", "1", "a", "true"]);
    assert_eq!((found["u"]["count_a"].as_str(), found["u"]["aggregated"].as_str()), ("0", "none"));
    let predicted = SummaryRequest { predicted: true, ..SummaryRequest::default() };
    assert!(refused(&session, &predicted, &folder.path().join("no.csv")).contains("topics"));
    let people = SummaryRequest { of: SummaryOf::People, ..SummaryRequest::default() };
    let (found, header) = write(&session, &people, &folder.path().join("people.csv"));
    assert_eq!(found["x"]["count_a"], "1");
    assert!(!header.iter().any(|name| name == "agreement_with_others"));
}
