//! Who differs on a text, what only the labels show, and nearby texts on which people agreed.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, import_csv};
use dissensus_analysis::agreed_texts;
use dissensus_analysis::ranking;
use dissensus_analysis::text_detail;
use dissensus_api::{DisagreementMeasure, DisagreementQuery, DisagreementRow, ImportChoices};
use dissensus_app::session::Session;
use dissensus_domain::{QuestionId, ScaleKind, TextId};
use dissensus_editing::questions;
use dissensus_project::jobs::Silent;
use dissensus_training::encoding::EncoderChoice;
use std::fmt::Write as _;
use std::path::Path;
use tempfile::TempDir;

const PEOPLE: usize = 24;
const TEXTS: usize = 48;

/// Texts that follow severity alternate with harmless ones: on the former, people with an odd number give
/// two levels more than the others, at any position. One text has a single label.
fn labels() -> String {
    let mut csv = "text_id,text,annotator_id,label\n".to_owned();
    for text in 0..TEXTS {
        for person in 0..PEOPLE {
            let noise = (text * 7 + person * 5) % 3 == 0;
            let level = match text % 2 {
                0 => 1 + (text / 2 + usize::from(noise)) % 3 + 2 * (person % 2),
                _ => 1,
            };
            writeln!(csv, "t{text},words of text {text},p{person},{level}").unwrap();
        }
    }
    csv.push_str("alone,a text of one label,p0,5\n");
    csv
}

fn project(folder: &TempDir) -> (Session, QuestionId) {
    let session = create(&folder.path().join("project.dissensus"));
    let choices = ImportChoices { scale: Some(ScaleKind::Ordinal), ..ImportChoices::default() };
    import_csv(&session, &labels(), &choices);
    let question = questions::find(&session.project, None).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    (session, question)
}

fn query(question: QuestionId, by: DisagreementMeasure) -> DisagreementQuery {
    DisagreementQuery {
        question,
        by,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    }
}

fn rows(session: &Session, by: DisagreementMeasure) -> (Vec<TextId>, Vec<f32>, Vec<DisagreementRow>) {
    let query = query(questions::find(&session.project, None).unwrap().id, by);
    let ranking = ranking::rank(&session.analysis, &query).unwrap();
    let rows = ranking::read_rows(&session.analysis, &query, &ranking.texts).unwrap();
    (ranking.texts, ranking.values, rows)
}

#[test]
fn strict_people_are_named_if_answers_follow_severity() {
    let folder = tempfile::tempdir().unwrap();
    let (session, _) = project(&folder);
    let (_, _, rows) = rows(&session, DisagreementMeasure::Split);
    let mut named = 0;
    for row in &rows {
        let Some(text) = row.external_id.strip_prefix('t').and_then(|n| n.parse::<usize>().ok()) else {
            assert_eq!((row.severity, row.compared), (None, 0), "{row:?}");
            continue;
        };
        assert_eq!(row.compared, 1, "the project has no attributes: only severity is compared");
        match text % 2 {
            0 => {
                let Some(found) = row.severity else { continue };
                named += 1;
                let (low, high) = found.interval;
                assert!(low < found.gap && found.gap < high, "{found:?}");
                // Sides are by severities without the label in question, which is approximate: not everyone
                // is on their overall side.
                let (a, b) = found.labels;
                assert!(a + b == 24 && a.min(b) >= 6, "{found:?}");
                assert_eq!(found.gap > 0.0, found.strict);
                assert!(found.gap.abs() > 1.0, "{found:?}");
            }
            _ => assert_eq!(row.severity, None, "{row:?}"),
        }
        let one = query(questions::find(&session.project, None).unwrap().id, DisagreementMeasure::Split);
        let detail = text_detail::read(&session.analysis, &one, row.text, None, None, false).unwrap();
        assert_eq!(detail.severity, row.severity, "the list and the text say the same");
    }
    assert_eq!(named, TEXTS / 2);
}

#[test]
fn ranking_by_labels_omits_single_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (session, _) = project(&folder);
    let (texts, values, rows) = rows(&session, DisagreementMeasure::Labels);
    assert_eq!((texts.len(), rows.len()), (TEXTS, TEXTS), "one label differs from nothing");
    assert!(values.windows(2).all(|pair| pair[0] >= pair[1]));
    for (row, value) in rows.iter().zip(&values) {
        assert_eq!(row.observed_split, Some(*value));
        assert_eq!(row.interval, None, "what was answered is not estimated");
        let (first, last) = row.band;
        assert!(first <= row.rank && row.rank <= last);
    }
    // Texts with the same labels share their ranks.
    assert!(rows.iter().any(|row| row.band.0 < row.band.1));
    let split = |row: &DisagreementRow| {
        let text: usize = row.external_id[1..].parse().unwrap();
        text.is_multiple_of(2)
    };
    assert!(rows[..TEXTS / 2].iter().all(split));
}

#[test]
fn near_texts_are_agreed_texts() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = project(&folder);
    let text = TextId(1);
    assert!(agreed_texts::nearest(&session.analysis, question, text).unwrap().is_empty(), "no encoder yet");
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    let encoder = Some(tiny.to_string_lossy().into_owned());
    session.encoding.encode(&EncoderChoice { encoder, ..EncoderChoice::default() }, &Silent).unwrap();
    let near = agreed_texts::nearest(&session.analysis, question, text).unwrap();
    assert_eq!(near.len(), 5);
    assert!(near.windows(2).all(|pair| pair[0].similarity >= pair[1].similarity));
    for found in &near {
        assert_ne!(found.text, text);
        let number: usize = found.external_id[1..].parse().unwrap();
        assert!(number % 2 == 1 && found.labels == PEOPLE as u32, "{found:?}");
    }
    assert!(agreed_texts::nearest(&session.analysis, question, TextId(9999)).is_err());
}
