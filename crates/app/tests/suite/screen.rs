//! Several questions on one screen, conditional questions, and levels that are renamed in use.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::home;
use dissensus_api::{ImportChoices, LabelTask, NewLabel, Progress as Far, ProjectChoices, TextOrder};
use dissensus_app::session::Session;
use dissensus_domain::{
    AnnotatorId, Answer, Condition, LabelSource, LevelId, NoteForm, OptionSet, QuestionId, Scale, ScaleKind,
    Span, SpanSet, TextId,
};
use dissensus_editing::annotators;
use dissensus_editing::choices;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::reveal;
use dissensus_editing::{Project, QuestionChange};
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::progress;
use dissensus_labelling::record;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::path::Path;
use std::sync::Arc;

/// Four texts, Ana and Ben, and three questions: how rude (ordinal), what is in it (options), which words
/// (spans).
struct Study {
    session: Session,
    rude: QuestionId,
    harm: QuestionId,
    words: QuestionId,
    ana: AnnotatorId,
    ben: AnnotatorId,
}

fn open(folder: &Path) -> Session {
    Session::open(&folder.join("p.dissensus"), &home(folder)).unwrap()
}

fn study(folder: &Path) -> Study {
    let session = Session::create(&folder.join("p.dissensus"), &home(folder)).unwrap();
    let file = folder.join("t.csv");
    std::fs::write(&file, "text_id,text\na,first text\nb,second text\nc,third text\nd,fourth text\n")
        .unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    let add = |name: &str, kind, levels: &[&str]| {
        questions::add(&session.project, AddQuestion::new(name, "?", Scale::new(kind, levels).unwrap()))
            .unwrap()
            .id
    };
    let rude = add("rude", ScaleKind::Ordinal, &["1", "2", "3"]);
    let harm = add("harm", ScaleKind::MultiLabel, &["threat", "slur", "lie, half"]);
    let words = add("words", ScaleKind::Spans, &["insult", "order"]);
    let join = |name| annotators::add(&session.project, name, &Default::default()).unwrap().id;
    let (ana, ben) = (join("ana"), join("ben"));
    Study { session, rude, harm, words, ana, ben }
}

impl Study {
    fn give_as(&self, annotator: AnnotatorId, question: QuestionId, text: u32, answer: Answer) {
        let new = NewLabel { question, annotator, text: TextId(text), answer, duration_ms: None };
        record::record_label(&self.session.labelling, &new).unwrap();
    }

    fn give(&self, question: QuestionId, text: u32, answer: Answer) {
        self.give_as(self.ana, question, text, answer);
    }

    fn next(&self, questions: &[QuestionId], after: Option<u32>) -> Option<u32> {
        let after = after.map(TextId);
        let next =
            next_text::choose(&self.session.labelling, self.ana, questions, TextOrder::File, after).unwrap();
        next.map(|task| task.text.0)
    }

    fn far(&self, questions: &[QuestionId]) -> (u32, u32, u32) {
        let Far { done, total, skipped, .. } =
            progress::count(&self.session.labelling, self.ana, questions).unwrap();
        (done, total, skipped)
    }

    fn task(&self, question: QuestionId, text: u32) -> LabelTask {
        task::read(&self.session.labelling, self.ana, question, TextId(text), 1).unwrap()
    }

    fn only_if(&self, question: QuestionId, words: &str) {
        let condition = questions::condition_named(&self.session.project, words).unwrap();
        set_condition(&self.session.project, question, condition).unwrap();
    }
}

fn options(of: &[u8]) -> Answer {
    Answer::Options(OptionSet::new(of.iter().copied()).unwrap())
}

fn spans(of: &[(u32, u32, u16)]) -> Answer {
    let spans = of.iter().map(|&(start, end, kind)| Span { start, end, kind: LevelId(kind) });
    Answer::Spans(SpanSet::new(spans).unwrap())
}

fn set_condition(project: &Project, question: QuestionId, only_if: Condition) -> Result<(), ProjectError> {
    let change = QuestionChange { only_if: Some(Some(only_if)), ..QuestionChange::default() };
    questions::edit(project, question, &change).map(drop)
}

#[test]
fn text_is_done_when_all_questions_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let (rude, harm, words) = (study.rude, study.harm, study.words);
    let all = [words, harm, rude];
    study.give(rude, 1, Answer::from_level(2));
    study.give(harm, 1, options(&[]));
    assert_eq!((study.far(&all), study.next(&all, None)), ((0, 4, 0), Some(1)));
    assert_eq!((study.far(&[rude]), study.next(&[rude], None)), ((1, 4, 0), Some(2)));
    study.give(words, 1, spans(&[]));
    assert_eq!((study.far(&all), study.next(&all, None)), ((1, 4, 0), Some(2)));
    assert_eq!(study.far(&[words, words]), (1, 4, 0), "named twice is asked once");
    let none: &[QuestionId] = &[];
    let refused =
        next_text::choose(&study.session.labelling, study.ana, none, TextOrder::File, None).unwrap_err();
    assert_eq!(refused.code(), "no-question");
}

#[test]
fn others_answers_are_hidden_until_answered() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    reveal::set(&study.session.project, true).unwrap();
    study.give_as(study.ben, study.words, 1, spans(&[(0, 5, 0)]));
    study.give_as(study.ben, study.rude, 1, Answer::from_level(2));
    // An answer to one question does not open another one.
    study.give(study.rude, 1, Answer::from_level(0));
    let task = study.task(study.words, 1);
    assert!(task.spans.is_none() && task.reveal.is_none() && task.answer.is_none());
    study.give(study.words, 1, spans(&[]));
    assert_eq!(study.task(study.words, 1).spans.unwrap().len(), 1);
}

#[test]
fn undo_goes_back_across_questions_and_texts() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let all = [study.words, study.harm, study.rude];
    study.give(study.words, 1, spans(&[(0, 5, 1)]));
    study.give(study.rude, 1, Answer::from_level(1));
    study.give_as(study.ben, study.rude, 1, Answer::from_level(2));
    study.give(study.harm, 2, options(&[0]));
    let undo = |questions: &[QuestionId]| {
        let undone = undo::undo(&study.session.labelling, study.ana, questions, LabelSource::Window).unwrap();
        undone.map(|undone| (undone.question, undone.text.0))
    };
    assert_eq!(undo(&all), Some((study.harm, 2)));
    // Only answers to questions on the screen are taken back.
    assert_eq!(undo(&[study.words]), Some((study.words, 1)));
    assert_eq!(undo(&all), Some((study.rude, 1)));
    assert_eq!(undo(&all), None);
    assert_eq!(progress::count(&study.session.labelling, study.ben, study.rude).unwrap().done, 1);
}

#[test]
fn skip_affects_only_unanswered_questions() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let all = [study.words, study.rude];
    study.give(study.rude, 1, Answer::from_level(1));
    let far = marks::skip(&study.session.labelling, study.ana, all, TextId(1)).unwrap();
    assert_eq!((far.done, far.skipped), (0, 1));
    assert!(study.task(study.words, 1).skipped && !study.task(study.rude, 1).skipped);
    assert_eq!(study.next(&all, None), Some(2));
    for text in 2..=4 {
        marks::skip(&study.session.labelling, study.ana, all, TextId(text)).unwrap();
    }
    assert_eq!(study.next(&all, None), Some(1), "nothing else is left");
    // One of two that were skipped is answered: the other is still skipped.
    study.give(study.rude, 2, Answer::from_level(1));
    assert_eq!(study.far(&all), (0, 4, 4));
    // A missing text: nothing is written for any of the questions.
    let events = marks::skip(&study.session.labelling, study.ana, all, TextId(99)).unwrap_err();
    assert!(events.to_string().contains("99"), "{events}");
}

#[test]
fn conditional_question_keeps_its_answers() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let (rude, harm, words) = (study.rude, study.harm, study.words);
    study.only_if(harm, "rude=2,3");
    study.only_if(words, "harm=lie, half");
    let all = [rude, harm, words];
    assert!(!study.task(harm, 1).asked && !study.task(words, 1).asked && study.task(rude, 1).asked);
    study.give(rude, 1, Answer::from_level(0));
    assert_eq!(
        (study.far(&all), study.next(&all, None)),
        ((1, 4, 0), Some(2)),
        "nothing else is asked of it"
    );
    study.give(rude, 2, Answer::from_level(2));
    assert_eq!((study.far(&all), study.next(&all, None)), ((1, 4, 0), Some(2)));
    study.give(harm, 2, options(&[2]));
    assert!(study.task(words, 2).asked);
    study.give(words, 2, spans(&[(0, 6, 0)]));
    assert_eq!(study.far(&all), (2, 4, 0));
    // On its own, a question counts the texts about which it is asked.
    assert_eq!((study.far(&[harm]), study.next(&[harm], None)), ((1, 1, 0), None));
    // After another answer above, the answer below is retained, but no longer counts.
    study.give(rude, 2, Answer::from_level(0));
    let (of_harm, of_words) = (study.task(harm, 2), study.task(words, 2));
    assert!(!of_harm.asked && of_harm.answer == Some(options(&[2])));
    assert!(!of_words.asked && of_words.answer.is_some());
    assert_eq!((study.far(&all), study.far(&[harm])), ((2, 4, 0), (0, 0, 0)));
    // By name it can be given all the same, which is reported.
    let named = |value| {
        by_name::record(&study.session.labelling, &LabelByName::new("ana", "b", value, Some("harm"))).unwrap()
    };
    assert!(!named("slur").asked);
    study.give(rude, 2, Answer::from_level(1));
    assert!(named("threat").asked);
    // For everyone by their own answers.
    let of_ben = task::read(&study.session.labelling, study.ben, harm, TextId(2), 1).unwrap();
    assert!(!of_ben.asked);
    study.session.close();

    let again = open(folder.path());
    let found = questions::find(&again.project, Some("words")).unwrap();
    assert_eq!(found.only_if, Some(Condition::new(harm, [2])));
    assert!(task::read(&again.labelling, study.ana, harm, TextId(2), 1).unwrap().asked);
}

#[test]
fn invalid_conditions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let project = &study.session.project;
    for (words, why) in [
        ("rude", "write QUESTION=LEVEL"),
        ("rued=1", "the questions are rude, harm, words"),
        ("rude=4", "rude has 1, 2, 3"),
        ("rude=1,,2", "rude has 1, 2, 3"),
        ("harm=lie", "harm has threat, slur, lie, half"),
        ("harm: threat=yes", "the questions are"),
    ] {
        let error = questions::condition_named(project, words).unwrap_err();
        assert!(error.code() == "words" && error.to_string().contains(why), "{error}");
    }
    study.only_if(study.harm, "rude=3");
    let back = questions::condition_named(project, "harm=threat").unwrap();
    let error = set_condition(project, study.rude, back).unwrap_err();
    assert!(error.to_string().contains("neither would ever be asked"), "{error}");
    let option = Condition::new(study.harm.of_option(0), [1]);
    assert_eq!(set_condition(project, study.words, option).unwrap_err().code(), "whole-question");
    // A new question with an invalid condition is not added at all.
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let wrong = Some(Condition::new(study.rude, [7]));
    assert!(
        questions::add(project, AddQuestion { only_if: wrong, ..AddQuestion::new("sure", "", scale) })
            .is_err()
    );
    assert!(questions::find(project, Some("sure")).is_err());
    // Nor is one with an option that its kind does not have, or with a blank reason.
    let spans = || AddQuestion::new("where", "", Scale::new(ScaleKind::Spans, ["slur"]).unwrap());
    let blank = NoteForm { reasons: vec![" ".to_owned()], confidence: false };
    let wrong =
        [AddQuestion { cannot_say: Some(true), ..spans() }, AddQuestion { note_form: blank, ..spans() }];
    for new in wrong {
        assert!(questions::add(project, new.clone()).is_err(), "{new:?}");
        assert!(questions::find(project, Some("where")).is_err(), "{new:?}");
    }
    let reasons = NoteForm { reasons: vec!["irony".to_owned()], confidence: true };
    questions::add(project, AddQuestion { note_form: reasons.clone(), ..spans() }).unwrap();
    assert_eq!(questions::find(project, Some("where")).unwrap().note_form, reasons);
    assert_eq!(questions::find(project, Some("rude")).unwrap().only_if, None);
}

#[test]
fn levels_in_use_are_renamed_and_keep_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let project = &study.session.project;
    study.give(study.rude, 1, Answer::from_level(2));
    study.give(study.harm, 1, options(&[0, 2]));
    study.only_if(study.words, "rude=3");
    let rename = |name: &str, changes: &[&str]| {
        let question = questions::find(project, Some(name)).unwrap();
        let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
        questions::names_after(&question, &changes)
            .and_then(|names| questions::rename_levels(project, question.id, &names))
    };
    // Two names are swapped at once; an old name may contain a comma, a new one an equals sign.
    rename("rude", &["1=2", "2=1", "3=very=rude"]).unwrap();
    rename("harm", &["lie, half=half-truth"]).unwrap();
    assert_eq!(questions::find(project, Some("rude")).unwrap().scale.levels(), ["2", "1", "very=rude"]);
    assert_eq!(questions::find(project, Some("harm: half-truth")).unwrap().id, study.harm.of_option(2));
    assert_eq!(study.task(study.rude, 1).answer, Some(Answer::from_level(2)));
    assert!(study.task(study.words, 1).asked, "a condition follows its level");
    by_name::record(&study.session.labelling, &LabelByName::new("ben", "a", "very=rude", Some("rude")))
        .unwrap();
    for (question, change, why) in [
        ("rude", "9=x", "write OLD=NEW"),
        ("rude", "2", "write OLD=NEW"),
        ("rude", "2=1", "listed twice"),
        ("rude", "2=", "is blank"),
        ("harm", "slur=none", "cannot be called"),
        ("words", "order=a + b", "cannot be called"),
    ] {
        let error = rename(question, &[change]).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let yes_no = || Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(project, AddQuestion::new("harm: new", "", yes_no())).unwrap();
    assert_eq!(rename("harm", &["slur=new"]).unwrap_err().code(), "name", "another question is called that");
    let export = folder.path().join("out.csv");
    exchange::export(
        &study.session.exchange,
        &export,
        &ExportChoices { question: Some("harm".to_owned()), ..ExportChoices::default() },
        &Silent,
    )
    .unwrap();
    let written = std::fs::read_to_string(&export).unwrap();
    assert!(written.contains("threat + half-truth"), "{written}");
}

#[test]
fn screens_and_labels_do_not_deadlock() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    study.only_if(study.words, "rude=2,3");
    let (rude, harm, words) = (study.rude, study.harm, study.words);
    let orders = [[rude, harm, words], [words, harm, rude], [harm, rude, words]];
    std::thread::scope(|scope| {
        for order in orders {
            let study = &study;
            scope.spawn(move || {
                for turn in 0..40_u16 {
                    study.give(order[0], u32::from(turn % 4) + 1, answer_to(study, order[0], turn));
                    study.far(&order);
                    study.next(&order, None);
                    marks::skip(&study.session.labelling, study.ana, order, TextId(u32::from(turn % 4) + 1))
                        .unwrap();
                    undo::undo(&study.session.labelling, study.ana, order, LabelSource::Window).unwrap();
                    study.give(order[0], u32::from(turn % 4) + 1, answer_to(study, order[0], turn));
                }
            });
        }
    });
    // The in-memory state equals the file.
    let before = (study.far(&orders[0]), study.far(&[words]));
    let (ana, questions) = (study.ana, orders[0]);
    study.session.close();
    let again = open(folder.path());
    let far = |questions: &[QuestionId]| {
        let Far { done, total, skipped, .. } = progress::count(&again.labelling, ana, questions).unwrap();
        (done, total, skipped)
    };
    assert_eq!((far(&questions), far(&[words])), before);
}

fn answer_to(study: &Study, question: QuestionId, turn: u16) -> Answer {
    match question {
        of if of == study.rude => Answer::from_level(turn % 3),
        of if of == study.harm => options(&[(turn % 3) as u8]),
        _ => spans(&[(0, 5, turn % 2)]),
    }
}

#[test]
fn questions_of_the_screen_are_stored_in_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path());
    let screen = vec![study.words, study.rude];
    let choices = ProjectChoices { screen: screen.clone(), ..ProjectChoices::default() };
    choices::save(&study.session.project, &choices).unwrap();
    study.session.close();
    // Moved to another place, for example to another person.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join("p.dissensus"), elsewhere.path().join("p.dissensus")).unwrap();
    assert_eq!(info::read(&open(elsewhere.path()).project).unwrap().choices.screen, screen);
}
