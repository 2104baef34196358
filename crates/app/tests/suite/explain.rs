//! Explanations of predictions: the sum, the labels and the texts behind it, the words, and what stays
//! hidden.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{copy_folder, encoded_sample, home, tiny, tiny_folder};
use dissensus_analysis::explain;
use dissensus_analysis::explain_words;
use dissensus_analysis::predict::{self, RequestedText};
use dissensus_analysis::text_detail;
use dissensus_api::{
    DisagreementMeasure, DisagreementQuery, ExplainQuery, ExplainedAnnotator, Explanation, ImportChoices,
    NewLabel, ScorePartKind, TextDetail,
};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, QuestionId, TextId};
use dissensus_editing::CopyChoices;
use dissensus_editing::annotators;
use dissensus_editing::copy;
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_encoder::Pooling;
use dissensus_labelling::record;
use dissensus_labelling::undo;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Follow, Progress, Silent};
use dissensus_project::sample;
use dissensus_training::encoding::EncoderChoice;
use dissensus_transfer::exchange;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use tempfile::TempDir;

fn open(folder: &TempDir, name: &str) -> Session {
    let session = Session::open(&folder.path().join(name), &home(folder.path())).unwrap();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    session
}

/// The sample, encoded by a tiny encoder, with its model.
fn sample(folder: &TempDir) -> Session {
    let session = encoded_sample(folder);
    session.live.fit(question(&session), &Silent).unwrap();
    session
}

fn question(session: &Session) -> QuestionId {
    questions::find(&session.project, Some("offensiveness")).unwrap().id
}

fn people(session: &Session) -> Vec<AnnotatorId> {
    annotators::list(&session.project).unwrap().iter().map(|a| a.id).collect()
}

fn query(session: &Session, text: u32, annotator: AnnotatorId, with: Option<AnnotatorId>) -> ExplainQuery {
    let question = question(session);
    ExplainQuery { question, text: TextId(text), annotator, with, without_own: false }
}

fn explain(session: &Session, text: u32, annotator: AnnotatorId) -> Explanation {
    explain::explain_text(&session.analysis, &query(session, text, annotator, None), None, false).unwrap()
}

fn detail(session: &Session, text: u32) -> TextDetail {
    let query = DisagreementQuery {
        question: question(session),
        by: DisagreementMeasure::Split,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    text_detail::read(&session.analysis, &query, TextId(text), None, None, false).unwrap()
}

fn part(of: &ExplainedAnnotator, kind: ScorePartKind) -> Option<f64> {
    of.parts.iter().find(|part| part.part == kind).map(|part| part.value)
}

fn label(session: &Session, annotator: AnnotatorId, text: u32, level: u16) {
    let (question, answer) = (question(session), Answer::from_level(level));
    let new = NewLabel { question, annotator, text: TextId(text), answer, duration_ms: None };
    record::record_label(&session.labelling, &new).unwrap();
}

/// A text that this person has not labelled.
fn unlabelled(session: &Session, annotator: AnnotatorId) -> u32 {
    (1..).find(|text| explain(session, *text, annotator).annotators[0].observed.is_none()).unwrap()
}

#[test]
fn parts_add_up_to_the_shown_predictions() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    for text in [1, 7, 30] {
        let detail = detail(&session, text);
        for shown in &detail.annotators {
            let found = explain(&session, text, shown.annotator);
            let [person] = found.annotators.as_slice() else { panic!("one annotator") };
            for (own, shown) in person.distribution.iter().zip(shown.distribution.as_ref().unwrap()) {
                assert!((own - f64::from(*shown)).abs() < 2e-5, "{own} {shown}");
            }
            let sum: f64 = person.parts.iter().map(|part| part.value).sum();
            assert!((sum - person.score).abs() < 1e-9);
            let odds = found.odds.unwrap();
            assert_eq!(odds.against, None);
            let above: f64 = person.distribution[usize::from(odds.level)..].iter().sum();
            // Predictions are at least 1e-6.
            assert!((above - person.probability).abs() < 1e-5, "{above} {person:?}");
            assert!(person.log_odds.abs() <= person.score.abs(), "doubt draws towards even odds");
            assert_eq!(person.observed, shown.observed);
            assert_eq!(part(person, ScorePartKind::OwnLabel).is_some(), shown.observed.is_some());
            assert_eq!(person.labels, shown.labels);
            let others = detail.annotators.iter().filter(|a| a.observed.is_some()).count();
            assert_eq!(person.others as usize, others - usize::from(shown.observed.is_some()));
        }
    }
}

#[test]
fn near_texts_and_influential_labels_are_named_with_their_answers() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let person = people(&session)[0];
    let found = explain(&session, 5, person);
    let of = &found.annotators[0];
    assert_eq!((of.influences.len(), of.nearest.len()), (5, 5));
    assert!(of.influences.windows(2).all(|w| w[0].change.abs() >= w[1].change.abs()));
    assert!(of.nearest.windows(2).all(|w| w[0].similarity >= w[1].similarity));
    assert!(of.nearest.iter().all(|near| near.text != TextId(5) && near.labels == 1));
    for near in &of.nearest {
        let answer = explain(&session, near.text.0, person).annotators[0].observed.clone();
        assert_eq!(answer.as_ref(), Some(&near.answer));
    }
    assert!(!found.agreed.is_empty() && found.agreed.iter().all(|near| near.labels >= 2));
}

#[test]
fn two_annotators_differ_by_the_sum_of_their_parts() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let all = people(&session);
    let asked = query(&session, 9, all[0], Some(all[1]));
    let found = explain::explain_text(&session.analysis, &asked, None, false).unwrap();
    let [first, second] = found.annotators.as_slice() else { panic!("two annotators") };
    let sum: f64 = found.differences.iter().map(|difference| difference.value).sum();
    assert!((sum - (first.log_odds - second.log_odds)).abs() < 1e-9);
    assert!(found.differences.windows(2).all(|w| w[0].value.abs() >= w[1].value.abs()));
    let words = found.differences.iter().find(|d| d.part == Some(ScorePartKind::Words));
    assert_eq!(words, None, "the text is the same for both");
}

#[test]
fn own_prediction_is_hidden_until_answered() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let all = people(&session);
    let (me, other) = (all[0], all[1]);
    let text = unlabelled(&session, me);
    let asked = query(&session, text, me, None);
    let found = explain::explain_text(&session.analysis, &asked, Some(me), false).unwrap();
    assert_eq!((found.odds, found.agreed.len()), (None, 0));
    let hidden = &found.annotators[0];
    assert!(hidden.hidden && hidden.parts.is_empty() && hidden.distribution.is_empty());
    assert!(hidden.influences.is_empty() && hidden.nearest.is_empty());
    let words = explain_words::explain_text(
        &session.analysis,
        &asked,
        Some(me),
        false,
        &EncoderChoice::default(),
        &Silent,
    );
    assert_eq!(words.unwrap_err().code(), "blind");
    assert_eq!(
        explain_words::explain_text(
            &session.analysis,
            &asked,
            Some(me),
            false,
            &EncoderChoice::default(),
            Follow::Job
        )
        .unwrap_err()
        .code(),
        "blind"
    );
    // Compared with another person it stays hidden, and so does the difference.
    for (a, b) in [(me, other), (other, me)] {
        let both =
            explain::explain_text(&session.analysis, &query(&session, text, a, Some(b)), Some(me), false)
                .unwrap();
        let reported: Vec<bool> = both.annotators.iter().map(|person| person.hidden).collect();
        assert_eq!(reported, [a == me, b == me]);
        assert!(both.differences.is_empty() && both.odds.is_some());
    }
    assert!(!explain::explain_text(&session.analysis, &asked, Some(me), true).unwrap().annotators[0].hidden);
    assert!(
        !explain::explain_text(&session.analysis, &asked, Some(other), false).unwrap().annotators[0].hidden
    );
    label(&session, me, text, 3);
    assert!(!explain::explain_text(&session.analysis, &asked, Some(me), false).unwrap().annotators[0].hidden);
}

#[test]
fn explanation_follows_a_label_and_is_the_same_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let me = people(&session)[0];
    let text = unlabelled(&session, me);
    let before = explain(&session, text, me);
    label(&session, me, text, 4);
    let after = explain(&session, text, me);
    let (old, new) = (&before.annotators[0], &after.annotators[0]);
    assert_eq!(new.labels, old.labels + 1);
    assert_eq!(new.observed, Some(Answer::from_level(4)));
    assert!(part(new, ScorePartKind::OwnLabel).unwrap() > 0.0);
    assert_eq!(
        part(new, ScorePartKind::Words),
        part(old, ScorePartKind::Words),
        "no text teaches its own words"
    );
    let asked = ExplainQuery { without_own: true, ..query(&session, text, me, None) };
    let guess = explain::explain_text(&session.analysis, &asked, Some(me), false).unwrap();
    let guess = &guess.annotators[0];
    assert_eq!((guess.observed.clone(), part(guess, ScorePartKind::OwnLabel)), (None, None));
    assert!((guess.log_odds - old.log_odds).abs() < 0.02, "the guess of before: {guess:?} {old:?}");
    undo::undo(&session.labelling, me, question(&session), LabelSource::Window).unwrap();
    let undone = explain(&session, text, me);
    // The text is refitted meanwhile, to the accuracy at which its last fit stopped.
    let back = (undone.annotators[0].log_odds - old.log_odds).abs();
    assert!(back < 0.02 && back < 0.1 * (new.log_odds - old.log_odds).abs(), "{back}");
    label(&session, me, text, 4);

    let copy = folder.path().join("copy.dissensus");
    copy::save_copy(&session.project, &copy, CopyChoices::default(), &Silent).unwrap();
    let shown = |session: &Session| {
        let found = explain(session, text, me);
        (found.odds, found.annotators[0].influences.clone(), found.annotators[0].log_odds, found.agreed)
    };
    session.close();
    drop(session);
    // Both are read from the file: the model stored there, and later labels.
    let reopened = |name: &str| shown(&open(&folder, name));
    let (original, copied) = (reopened("sample.dissensus"), reopened("copy.dissensus"));
    assert_eq!(reopened("copy.dissensus"), copied);
    assert_eq!(original.0, copied.0);
    assert!((original.2 - copied.2).abs() < 0.05, "{original:?} {copied:?}");
}

#[test]
fn explanations_are_read_while_labels_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let all = people(&session);
    let start = Barrier::new(3);
    std::thread::scope(|scope| {
        for annotator in &all[1..3] {
            let (session, start) = (&session, &start);
            scope.spawn(move || {
                start.wait();
                for text in 1..40 {
                    let person = explain(session, text, *annotator).annotators.swap_remove(0);
                    let sum: f64 = person.parts.iter().map(|part| part.value).sum();
                    assert!((sum - person.score).abs() < 1e-9);
                }
            });
        }
        start.wait();
        for text in 1..40 {
            label(&session, all[0], text, (text % 5) as u16);
        }
    });
}

/// 60 texts of which every second one has the relevant word, and 4 annotators who all rate those high.
fn made_up(folder: &TempDir) -> Session {
    let path = folder.path().join("words.dissensus");
    let session = Session::create(&path, &home(folder.path())).unwrap();
    let mut rows = "text_id,text,annotator_id,label\n".to_owned();
    let others = ["tea", "the bus", "my street", "a lamp", "this rain", "the sea"];
    for i in 0..60 {
        let word = if i % 2 == 0 { "xyzzy" } else { "calm" };
        let text = format!("{} is {word} {}", others[i % 6], others[(i / 6) % 6]);
        for person in 0..4 {
            let level = if i % 2 == 0 { 4 + (i + person) / 2 % 2 } else { 1 + (i + person) / 2 % 2 };
            writeln!(rows, "t{i},{text} {i},p{person},{level}").unwrap();
        }
    }
    let file = folder.path().join("rows.csv");
    std::fs::write(&file, rows).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(
        &session.exchange,
        &file,
        &ImportChoices { question: Some("offensiveness".into()), ..ImportChoices::default() },
        Some(&silent),
    )
    .unwrap();
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session.live.fit(question(&session), &Silent).unwrap();
    session
}

#[test]
fn decisive_word_has_the_largest_effect() {
    let folder = tempfile::tempdir().unwrap();
    let session = made_up(&folder);
    let question = question(&session);
    let person = people(&session)[0];
    let found = explain::explain_new_text(
        &session.analysis,
        question,
        &session.encoding.embed("my tea is xyzzy", &EncoderChoice::default()).unwrap(),
        person,
        None,
    );
    let odds = found.unwrap().odds.unwrap();
    let words = explain_words::explain_odds(
        &session.analysis,
        question,
        None,
        "my tea is xyzzy",
        odds,
        &EncoderChoice::default(),
        &Silent,
    )
    .unwrap();
    let changes: Vec<(&str, f64)> = words.pieces.iter().map(|p| (p.words.trim(), p.change)).collect();
    let largest = changes.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap();
    assert_eq!(largest.0, "xyzzy", "{changes:?}");
    assert!(largest.1 > 0.3, "{changes:?}");
    assert_eq!((words.together, words.needs.as_deref(), words.remark), (1, None, None));

    let one = explain_words::explain_odds(
        &session.analysis,
        question,
        None,
        "xyzzy",
        odds,
        &EncoderChoice::default(),
        &Silent,
    );
    let one = one.unwrap();
    assert!(one.pieces.is_empty() && one.needs.unwrap().contains("only word"));
}

/// Its embedding and its n-grams are the same as in the project.
#[test]
fn new_text_is_predicted_like_its_unlabelled_copy() {
    let folder = tempfile::tempdir().unwrap();
    let session = made_up(&folder);
    let file = folder.path().join("texts.csv");
    std::fs::write(&file, "text_id,text\nsame,my tea is xyzzy\ncalm,my tea is calm\n").unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    session.encoding.encode(&EncoderChoice::default(), &Silent).unwrap();
    let question = question(&session);
    session.live.fit(question, &Silent).unwrap();
    let person = people(&session)[1];
    let known = |id: &str| {
        predict::predict(&session.analysis, question, person, RequestedText::OfProject(id))
            .unwrap()
            .probabilities
    };
    let new = session.encoding.embed("my tea is xyzzy", &EncoderChoice::default()).unwrap();
    let new = predict::predict(&session.analysis, question, person, RequestedText::New(&new))
        .unwrap()
        .probabilities;
    for (new, known) in new.iter().zip(known("same")) {
        assert!((new - known).abs() < 1e-4, "{new} {known}");
    }
    assert!(known("calm")[4] < new[4] - 0.2, "{:?} {new:?}", known("calm"));
}

/// The contribution of a new text's words to its prediction.
fn score_of(session: &Session, body: &str) -> f64 {
    let x = session.encoding.embed(body, &EncoderChoice::default()).unwrap();
    let person = people(session)[0];
    let found = explain::explain_new_text(&session.analysis, question(session), &x, person, None).unwrap();
    part(&found.annotators[0], ScorePartKind::Words).unwrap()
}

#[test]
fn word_effect_is_the_score_difference_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let session = made_up(&folder);
    let all = people(&session);
    let mut seen = Vec::new();
    for pooling in [None, Some(Pooling::Cls)] {
        if pooling.is_some() {
            session.encoding.encode(&EncoderChoice { pooling, ..EncoderChoice::default() }, &Silent).unwrap();
            session.live.fit(question(&session), &Silent).unwrap();
        }
        let asked = query(&session, 2, all[0], None);
        let words = explain_words::explain_text(
            &session.analysis,
            &asked,
            None,
            false,
            &EncoderChoice::default(),
            Follow::Job,
        )
        .unwrap();
        assert!(words.remark.as_ref().unwrap().contains("also learned from the labels of this one"));
        let body: String = words.pieces.iter().map(|piece| piece.words.as_str()).collect();
        assert_eq!(body, detail(&session, 2).body);
        assert!((words.score - score_of(&session, &body)).abs() < 1e-5);
        for out in [0, 1, words.pieces.len() - 1] {
            let rest: String = (words.pieces.iter().enumerate())
                .filter(|(at, _)| *at != out)
                .map(|(_, piece)| piece.words.as_str())
                .collect();
            let change = words.score - score_of(&session, &rest);
            assert!((words.pieces[out].change - change).abs() < 1e-5, "{:?} {change}", words.pieces[out]);
        }
        assert!(words.pieces.iter().any(|piece| piece.change.abs() > 0.01));
        seen.push(words.pieces);
    }
    assert_ne!(seen[0], seen[1], "another pooling, other scores");
}

/// Counts reports, and stops at the first word.
#[derive(Default)]
struct Stops(AtomicU32);

impl Progress for Stops {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn occlusion_is_one_cancellable_job_and_is_cached() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample(&folder);
    let asked = query(&session, 3, people(&session)[0], None);
    let stops = Stops::default();
    let stopped = explain_words::explain_text(
        &session.analysis,
        &asked,
        None,
        false,
        &EncoderChoice::default(),
        &stops,
    );
    assert_eq!(stopped.unwrap_err().code(), "cancelled");
    assert!(stops.0.load(Ordering::Relaxed) > 0);

    let jobs = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&jobs);
    session.subscribe(move |event| {
        if let Event::Job(job) = event
            && job.kind == "words"
        {
            received.lock().unwrap().push((job.done, job.total));
        }
    });
    let first = explain_words::explain_text(
        &session.analysis,
        &asked,
        None,
        false,
        &EncoderChoice::default(),
        Follow::Job,
    )
    .unwrap();
    let reported = std::mem::take(&mut *jobs.lock().unwrap());
    let pieces = first.pieces.len() as u32;
    assert_eq!(reported.last(), Some(&(pieces + 1, Some(pieces + 1))));
    assert!(pieces <= 64);
    // Cached: no job, and after another label no encoding either.
    label(&session, asked.annotator, 3, 0);
    let again = explain_words::explain_text(
        &session.analysis,
        &asked,
        None,
        false,
        &EncoderChoice::default(),
        Follow::Job,
    )
    .unwrap();
    assert!(jobs.lock().unwrap().is_empty());
    assert_eq!(again.pieces.len(), first.pieces.len());
    assert!(jobs::list(&session.project).unwrap().iter().filter(|job| job.kind == "words").count() == 1);
}

#[test]
fn missing_encoder_is_reported_and_the_sum_remains() {
    let folder = tempfile::tempdir().unwrap();
    let moved = folder.path().join("tiny");
    copy_folder(&tiny_folder(), &moved);
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    let session = Session::open(&path, &home(folder.path())).unwrap();
    let person = people(&session)[0];
    let asked = query(&session, 1, person, None);

    // Never encoded: the text contributes nothing, people and labels do.
    session.live.fit(question(&session), &Silent).unwrap();
    let found = explain(&session, 1, person);
    assert_eq!(part(&found.annotators[0], ScorePartKind::Words), Some(0.0));
    assert!(found.annotators[0].nearest.is_empty() && found.agreed.is_empty());
    assert!(found.remark.unwrap().contains("no embeddings yet"));
    assert!(!found.annotators[0].influences.is_empty());
    let words = explain_words::explain_text(
        &session.analysis,
        &asked,
        None,
        false,
        &EncoderChoice::default(),
        Follow::Job,
    )
    .unwrap();
    assert!(words.pieces.is_empty() && words.needs.unwrap().contains("no embeddings yet"));

    let choice = EncoderChoice { encoder: Some(moved.to_string_lossy().into_owned()), ..tiny() };
    session.encoding.encode(&choice, &Silent).unwrap();
    session.live.fit(question(&session), &Silent).unwrap();
    std::fs::remove_dir_all(&moved).unwrap();
    assert_eq!(explain(&session, 1, person).annotators[0].nearest.len(), 5);
    let error = explain_words::explain_text(
        &session.analysis,
        &asked,
        None,
        false,
        &EncoderChoice::default(),
        Follow::Job,
    )
    .unwrap_err();
    assert!(error.code().starts_with("encoder-"), "{error}");
}
