//! Possible slips of a project: planted ones are found, changed ones are gone, and no label waits.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, sample_with_question};
use dissensus_analysis::SlipChoices;
use dissensus_analysis::slips;
use dissensus_api::{NewLabel, SlipKind, SlipReport, WorkState};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, QuestionId};
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_labelling::record;
use dissensus_project::jobs::{Follow, Progress, Silent};
use dissensus_transfer::exchange;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const ALL: SlipChoices = SlipChoices { annotator: None, below: 0.05, top: 1000 };

fn opened(folder: &TempDir) -> (Session, QuestionId) {
    let (session, question) = sample_with_question(folder);
    session.live.fit(question, &Silent).unwrap();
    (session, question)
}

fn open(folder: &TempDir, path: &Path) -> (Session, QuestionId) {
    let session = Session::open(path, &home(folder.path())).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    (session, question)
}

fn slips(session: &Session, question: QuestionId) -> SlipReport {
    slips::find(&session.analysis, question, ALL, &Silent).unwrap()
}

/// Gives the highest level to a text that its annotator finds harmless; returns the previous answer.
fn plant(session: &Session, question: QuestionId) -> (NewLabel, Answer) {
    let everyone = SlipChoices { below: 1.0, ..ALL };
    let all = slips::find(&session.analysis, question, everyone, &Silent).unwrap();
    let harmless = all.slips.iter().chain(&all.contested).find(|row| {
        row.level == 0 && row.usual == 0 && row.same_labels + 1 >= row.others_labels && row.others_labels > 3
    });
    let row = harmless.unwrap();
    let new = NewLabel {
        question,
        text: row.text,
        annotator: row.annotator,
        answer: Answer::from_level(4),
        duration_ms: None,
    };
    (new, Answer::from_level(row.level))
}

fn is_listed(report: &SlipReport, label: &NewLabel) -> bool {
    report.slips.iter().any(|row| row.text == label.text && row.annotator == label.annotator)
}

#[test]
fn short_list_has_the_first_slips_of_each_kind() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let wide = SlipChoices { below: 0.3, ..ALL };
    let all = slips::find(&session.analysis, question, wide, &Silent).unwrap();
    let short = slips::find(&session.analysis, question, SlipChoices { top: 1, ..wide }, &Silent).unwrap();
    for kind in [SlipKind::OwnView, SlipKind::Divided] {
        let of = |report: &SlipReport| {
            let rows = report.contested.iter().filter(|row| row.kind == kind);
            rows.map(|row| (row.text, row.annotator)).collect::<Vec<_>>()
        };
        let (all, short) = (of(&all), of(&short));
        assert!(all.len() > 1, "{kind:?}: {}", all.len());
        assert_eq!(short, all[..1], "{kind:?}");
    }
    assert_eq!(short.contested_in_all, all.contested_in_all);
}

#[test]
fn planted_slip_is_listed_and_a_corrected_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let before = slips(&session, question);
    assert_eq!(before.judged, 728);
    assert!(
        before.slips.iter().all(|row| row.kind == SlipKind::Slip && row.own <= 0.05 && row.others <= 0.2)
    );
    assert!(before.contested.iter().all(|row| row.kind != SlipKind::Slip));
    assert!(before.slips.windows(2).all(|pair| pair[0].own <= pair[1].own));
    // The labels of the sample were drawn from a model: about as many are listed as expected by chance.
    let (listed, expected) = (f64::from(before.slips_in_all), before.slips_expected);
    assert!((listed - expected).abs() < 4.0 * expected.sqrt(), "{listed} {expected}");

    let (slip, was) = plant(&session, question);
    assert!(!is_listed(&before, &slip));
    record::record_label(&session.labelling, &slip).unwrap();
    let planted = slips(&session, question);
    assert!(is_listed(&planted, &slip));
    let first = &planted.slips[0];
    assert!(planted.slips.iter().position(|row| row.text == slip.text).unwrap() < 3, "{first:?}");

    // It is also in that annotator's list, and in no other.
    let own = SlipChoices { annotator: Some(slip.annotator), ..ALL };
    let own = slips::find(&session.analysis, question, own, &Silent).unwrap();
    assert!(is_listed(&own, &slip));
    assert!(own.slips.iter().chain(&own.contested).all(|row| row.annotator == slip.annotator));
    assert!(own.judged < planted.judged && own.slips_expected < planted.slips_expected);

    record::record_label(&session.labelling, &NewLabel { answer: was, ..slip.clone() }).unwrap();
    assert!(!is_listed(&slips(&session, question), &slip));
}

/// Labels during the search, then continues or stops.
struct LabelsMeanwhile<'a> {
    session: &'a Session,
    label: NewLabel,
    done: AtomicBool,
    stop: bool,
}

impl Progress for LabelsMeanwhile<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        if !self.done.swap(true, Ordering::Relaxed) {
            record::record_label(&self.session.labelling, &self.label).unwrap();
        }
    }
    fn cancelled(&self) -> bool {
        self.stop
    }
}

#[test]
fn labels_are_not_blocked_by_slip_detection() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let (label, _) = plant(&session, question);
    let meanwhile = |stop| LabelsMeanwhile {
        session: &session,
        label: label.clone(),
        done: AtomicBool::new(false),
        stop,
    };
    let stopped = slips::find(&session.analysis, question, ALL, &meanwhile(true)).unwrap_err();
    assert_eq!(stopped.code(), "cancelled");
    let report = slips::find(&session.analysis, question, ALL, &meanwhile(false)).unwrap();
    assert!(is_listed(&report, &label), "the first, cancelled look recorded it");
}

#[test]
fn slip_list_is_reproducible_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let (label, _) = plant(&session, question);
    record::record_label(&session.labelling, &label).unwrap();
    session.live.refit(question, &Silent).unwrap();
    let first = slips::find(&session.analysis, question, ALL, Follow::Job).unwrap();
    let jobs = jobs::list(&session.project).unwrap();
    assert!(jobs.iter().any(|job| job.title == "unusual labels" && job.state == WorkState::Finished));
    drop(session);
    let copy = folder.path().join("copy.dissensus");
    std::fs::copy(folder.path().join("sample.dissensus"), &copy).unwrap();
    let (session, question) = open(&folder, &copy);
    let again = slips(&session, question);
    assert_eq!(first.slips.len(), again.slips.len());
    for (a, b) in first.slips.iter().zip(&again.slips) {
        assert_eq!((a.text, a.annotator, a.level), (b.text, b.annotator, b.level));
        assert!((a.own - b.own).abs() < 1e-9);
    }
}

#[test]
fn slip_detection_reports_missing_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.dissensus");
    let session = Session::create(&path, &home(folder.path())).unwrap();
    let file = folder.path().join("few.csv");
    std::fs::write(&file, "text_id,text,annotator_id,label\n1,a,ana,1\n1,a,ben,2\n2,b,ana,2\n").unwrap();
    let silent: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
    exchange::import(&session.exchange, &file, &Default::default(), Some(&silent)).unwrap();
    let question = questions::find(&session.project, None).unwrap().id;
    let report = slips(&session, question);
    assert_eq!(report.needs.as_deref(), Some("The annotator models are being fitted."));
    session.live.fit(question, &Silent).unwrap();
    let report = slips(&session, question);
    assert_eq!((report.judged, report.slips.len(), report.slips_expected), (0, 0, 0.0));
    assert!(report.needs.unwrap().contains("11 labels or more"));
    assert!(report.remark.unwrap().contains("1 label of texts that nobody else has labelled"));
}
