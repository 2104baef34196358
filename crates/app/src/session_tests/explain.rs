//! A label does not wait for an explanation: shown by blocking the explanation, not with a clock.

use crate::session::Session;
use dissensus_analysis::explain;
use dissensus_api::{ExplainQuery, NewLabel};
use dissensus_domain::{Answer, TextId};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_labelling::record;
use dissensus_project::home::Home;
use dissensus_project::jobs::Silent;
use dissensus_project::sample;
use dissensus_project::sync::lock;
use dissensus_stats::data::AnnotatorModel as _;
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

#[test]
fn label_is_recorded_and_learned_during_an_explanation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    let session = Session::open(&path, &Home::inside(folder.path(), Vec::new())).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    let person = annotators::list(&session.project).unwrap()[0].id;
    let unlabelled =
        |text: &u32| session.context.store.current_label(question, TextId(*text), person).unwrap().is_none();
    let text = TextId((1..100).find(unlabelled).unwrap());
    let row = |id: TextId| session.context.index().text_row(id).unwrap();
    let level = || session.live.models.with(question, |fitted| fitted.model.label(row(text), 0)).unwrap();
    assert_eq!(level(), None);
    let gate = Arc::new(Barrier::new(2));
    *lock(&session.context.hold_at) = Some(("explain", Arc::clone(&gate)));
    std::thread::scope(|scope| {
        let (session, person) = (&session, person);
        let explaining = scope.spawn(move || {
            let query = ExplainQuery { question, text, annotator: person, with: None, without_own: false };
            explain::explain_text(&session.analysis, &query, None, false).unwrap()
        });
        // It is running, and waits until the gate is opened.
        gate.wait();
        let (tell, hear) = mpsc::channel();
        scope.spawn(move || {
            let answer = Answer::from_level(3);
            let new = NewLabel { question, annotator: person, text, answer, duration_ms: None };
            tell.send(record::record_label(&session.labelling, &new).map(|_| ()).map_err(|e| e.to_string()))
                .unwrap();
        });
        let recorded = hear.recv_timeout(Duration::from_secs(60));
        let learned = recorded.is_ok().then(level);
        // Opened before anything can fail, so that a failure is reported instead of hanging.
        gate.wait();
        let explained = explaining.join().unwrap();
        assert_eq!(recorded, Ok(Ok(())), "the label waited for the explanation");
        assert_eq!(learned, Some(Some(3)));
        assert_eq!(
            explained.annotators[0].observed, None,
            "it explains what was predicted when it was asked for"
        );
    });
    assert!(session.live.models.with(question, |fitted| fitted.model.texts()).unwrap() > 0);
}
