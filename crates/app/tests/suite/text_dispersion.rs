//! Whether texts differ in dispersion: reported, stopped, and no label waits.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::sample_with_question;
use dissensus_analysis::SlipChoices;
use dissensus_analysis::slips;
use dissensus_analysis::text_dispersion;
use dissensus_api::NewLabel;
use dissensus_app::session::Session;
use dissensus_domain::Answer;
use dissensus_labelling::record;
use dissensus_project::jobs::{Progress, Silent};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn text_dispersion_is_reported_and_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    let before = text_dispersion::measure(&session.analysis, question, 0, &Silent).unwrap();
    assert!(before.found.is_none() && !before.words.is_empty(), "not fitted yet: {before:?}");
    session.live.fit(question, &Silent).unwrap();
    let report = text_dispersion::measure(&session.analysis, question, 0, &Silent).unwrap();
    let found = report.found.unwrap();
    assert!(found.statistic.is_finite() && found.replicates == 39, "{found:?}");
    assert!((0.02..=1.0).contains(&found.p) && found.texts > 50, "{found:?}");
    assert_eq!(report, text_dispersion::measure(&session.analysis, question, 0, &Silent).unwrap());
}

/// Records a label at the first report, then asks to stop.
struct LabelsMeanwhile<'a> {
    session: &'a Session,
    label: NewLabel,
    done: AtomicBool,
}

impl Progress for LabelsMeanwhile<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        if !self.done.swap(true, Ordering::Relaxed) {
            record::record_label(&self.session.labelling, &self.label).unwrap();
        }
    }

    fn cancelled(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }
}

#[test]
fn dispersion_does_not_block_labels_and_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    session.live.fit(question, &Silent).unwrap();
    let everyone = SlipChoices { below: 1.0, top: 1, ..SlipChoices::default() };
    let row = slips::find(&session.analysis, question, everyone, &Silent).unwrap().slips.remove(0);
    let answer = Answer::from_level(if row.level == 0 { 1 } else { 0 });
    let label = NewLabel { question, text: row.text, annotator: row.annotator, answer, duration_ms: None };
    let meanwhile = LabelsMeanwhile { session: &session, label, done: AtomicBool::new(false) };
    let error = text_dispersion::measure(&session.analysis, question, 0, &meanwhile).unwrap_err();
    assert_eq!(error.code(), "cancelled");
    assert!(meanwhile.done.load(Ordering::Relaxed));
}
