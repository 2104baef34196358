//! Models that are fitted while an import ends: no label is lost.

use crate::session::Session;
use dissensus_analysis::explain;
use dissensus_api::ExplainQuery;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, QuestionId, TextId};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_labelling::feed;
use dissensus_models::live::LiveModel;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_store::{NewAnnotator, NewLabel, NewText, StoreError};
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::live::fit::LabelState;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

fn opened(folder: &TempDir) -> (Session, QuestionId) {
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    let session = Session::open(&path, &Home::inside(folder.path(), Vec::new())).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    (session, question)
}

/// Commits a person and labels like an import: in the file, and unknown to the session.
fn commit(session: &Session, question: QuestionId, name: &str, labels: u32) -> AnnotatorId {
    let name = name.to_owned();
    let write = move |tx: &mut dissensus_store::WriteTx<'_>| -> Result<AnnotatorId, StoreError> {
        let new = NewAnnotator { external_id: name.clone(), name, ..NewAnnotator::default() };
        let annotator = tx.add_annotator(&new)?;
        for text in (1..=labels).map(TextId) {
            let (answer, source) = (Answer::from_level(2), LabelSource::Import);
            tx.add_label(&NewLabel {
                question,
                text,
                annotator,
                answer,
                at_ms: 1,
                duration_ms: None,
                source,
            })?;
        }
        Ok(annotator)
    };
    session.context.store.write(write).unwrap()
}

/// The end of an import after its commit, in the middle of a fit.
struct ImportEnds<'a> {
    session: &'a Session,
    ended: AtomicBool,
}

impl Progress for ImportEnds<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        if !self.ended.swap(true, Ordering::Relaxed) {
            self.session.context.reload();
            feed::skip(&self.session.labelling).unwrap();
        }
    }
}

#[test]
fn labels_imported_during_a_fit_are_in_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let before = session.context.observations(question).unwrap().len();
    commit(&session, question, "robin", 40);
    let import = ImportEnds { session: &session, ended: AtomicBool::new(false) };
    session.live.fit(question, &import).unwrap();
    assert!(import.ended.into_inner());
    let labels = session.context.observations(question).unwrap().len();
    assert_eq!(labels, before + 40);
    let live = session.live.models.with(question, |fitted| (fitted.model.labels(), fitted.is_due()));
    assert_eq!(live, Some((labels, true)));
}

/// Attributes are imported while a model is being fitted without them: a fit is due at once.
#[test]
fn attributes_imported_during_a_fit_make_the_next_one_due() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../encoder/tests/fixtures/tiny").to_owned();
    let choice = EncoderChoice { encoder: Some(tiny), ..EncoderChoice::default() };
    session.encoding.encode(&choice, &Silent).unwrap();
    let people: Vec<AnnotatorId> =
        (0..20).map(|n| commit(&session, question, &format!("robin {n}"), 3)).collect();
    session.context.reload();
    feed::skip(&session.labelling).unwrap();
    struct LabelsDuringFit<'a>(&'a Session, &'a [AnnotatorId], AtomicBool);
    impl Progress for LabelsDuringFit<'_> {
        fn report(&self, _: u64, _: Option<u64>, _: &str) {
            if self.2.swap(true, Ordering::Relaxed) {
                return;
            }
            let people = self.1.to_vec();
            let tell = move |tx: &mut dissensus_store::WriteTx<'_>| -> Result<(), StoreError> {
                for (n, id) in people.iter().enumerate() {
                    let hand = if n % 2 == 0 { "left" } else { "right" };
                    tx.set_attributes(*id, &[("hand".to_owned(), hand.to_owned())].into(), 1)?;
                }
                Ok(())
            };
            self.0.context.store.write(tell).unwrap();
            self.0.context.reload();
            feed::skip(&self.0.labelling).unwrap();
        }
    }
    let due = || session.live.models.with(question, |fitted| fitted.is_due());
    session.live.fit(question, &LabelsDuringFit(&session, &people, AtomicBool::new(false))).unwrap();
    assert_eq!(due(), Some(true));
    session.live.refit(question, &Silent).unwrap();
    assert_eq!(due(), Some(false));
}

#[test]
fn labels_of_an_unindexed_person_are_learned_after_reload() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    session.live.fit(question, &Silent).unwrap();
    let bytes = session.live.models.with(question, |fitted| fitted.model.to_bytes().unwrap()).unwrap();
    let mut model = LiveModel::from_bytes(&bytes).unwrap();
    let store = &session.context.store;
    let before = store.last_event().unwrap();
    let mut known = LabelState { generation: session.live.models.generation(), seen: before };
    commit(&session, question, "robin", 3);
    // After that, an annotator answers who was there from the start.
    let row = (0..model.texts() as u32).find(|row| model.label(*row, 0).is_none()).unwrap();
    let (text, annotator) = {
        let index = session.context.index();
        (index.texts()[row as usize], index.annotators()[0].id)
    };
    let (answer, source) = (Answer::from_level(2), LabelSource::Window);
    let new = NewLabel { question, text, annotator, answer, at_ms: 2, duration_ms: None, source };
    store.append_label(&new).unwrap();
    let mut learned = || {
        let labels = session.live.catch_up(question, &mut model, &mut known).unwrap();
        (labels, known.seen)
    };
    assert_eq!(learned(), (1, before));
    session.context.reload();
    let all = store.last_event().unwrap();
    assert_eq!(learned(), (3, all));
    assert_eq!(learned(), (0, all));
}

/// An import's additions are in the index before the live model is discarded.
#[test]
fn text_added_after_the_fit_cannot_be_explained() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = opened(&folder);
    session.live.fit(question, &Silent).unwrap();
    let new = NewText { external_id: "late-1".into(), body: "You came late".into(), ..NewText::default() };
    let text = session.context.store.write(move |tx| tx.add_text(&new)).unwrap();
    session.context.reload();
    let annotator = annotators::list(&session.project).unwrap()[0].id;
    let query = ExplainQuery { question, text, annotator, with: None, without_own: false };
    let error = explain::explain_text(&session.analysis, &query, None, true).unwrap_err();
    assert_eq!(error.code(), "text-not-fitted");
    assert!(error.to_string().contains("late-1"), "{error}");
    feed::skip(&session.labelling).unwrap();
    session.live.fit(question, &Silent).unwrap();
    explain::explain_text(&session.analysis, &query, None, true).unwrap();
}
