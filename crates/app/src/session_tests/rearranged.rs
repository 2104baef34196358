//! Levels that are rearranged while a window is open: labels keep their names, and models follow.

use crate::session::Session;
use dissensus_analysis::slips::{self, SlipChoices};
use dissensus_analysis::{prediction_file, ranking, who_differs};
use dissensus_api::{DisagreementMeasure, DisagreementQuery, MergeConsent};
use dissensus_api::{NewLabel, SummaryOf, SummaryRequest};
use dissensus_domain::{AnnotatorId, CurrentLabel, Question, QuestionId, Scale, ScaleKind, TextId};
use dissensus_editing::{AddQuestion, QuestionChange, annotators, questions};
use dissensus_labelling::record::record_label;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_transfer::study;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

fn open(path: &Path) -> Session {
    Session::open(path, &Home::inside(path.parent().unwrap(), Vec::new())).unwrap()
}

fn question(session: &Session) -> Question {
    questions::find(&session.project, Some("offensiveness")).unwrap()
}

/// Sets the levels, by their names.
fn set(session: &Session, levels: &[&str]) {
    let asked = question(session);
    let names: Vec<String> = levels.iter().map(|name| (*name).to_owned()).collect();
    let levels = Some(questions::levels_named(&asked, &names));
    let change = QuestionChange { levels, ..QuestionChange::default() };
    assert!(questions::edit(&session.project, asked.id, &change).unwrap().rearranged);
}

fn levels(session: &Session) -> Vec<String> {
    question(session).scale.levels().to_vec()
}

/// The sample, open as in a window, with the first person and a text without a label of theirs.
fn window(folder: &Path, name: &str) -> (Session, AnnotatorId, TextId) {
    let path = folder.join(name);
    if !path.exists() {
        sample::create(&path).unwrap();
    }
    let session = open(&path);
    session.background.start();
    let who = annotators::list(&session.project).unwrap()[0].id;
    let asked = question(&session).id;
    let unlabelled =
        |text: &u32| session.context.store.current_label(asked, TextId(*text), who).unwrap().is_none();
    let text = TextId((1..100).find(unlabelled).unwrap());
    (session, who, text)
}

/// Records the level that `shown`, the scale of a window, has under this name.
fn record(
    session: &Session,
    shown: &Question,
    (annotator, text): (AnnotatorId, TextId),
    level: &str,
) -> Result<(), ProjectError> {
    let answer = shown.scale.answer_named(level).unwrap();
    let new = NewLabel { question: shown.id, annotator, text, answer, duration_ms: None };
    record_label(&session.labelling, &new).map(drop)
}

/// The current labels by name, with the row of the text and of the annotator.
fn labels(session: &Session) -> Vec<(u32, u32, String)> {
    let asked = question(session);
    let labels = session.context.store.current_labels(asked.id).unwrap();
    let name = |label: &CurrentLabel| asked.scale.name_of_answer(&label.answer).unwrap().into_owned();
    labels.iter().map(|label| (label.text.0, label.annotator.0, name(label))).collect()
}

/// The next text without a label of this person.
fn next_text(session: &Session, who: AnnotatorId, after: TextId) -> TextId {
    let labelled = labels(session);
    let is_free = |text: &u32| !labelled.iter().any(|label| (label.0, label.1) == (*text, who.0));
    TextId((after.0 + 1..100).find(is_free).unwrap())
}

#[test]
fn window_with_an_earlier_order_records_the_named_level() {
    let folder = tempfile::tempdir().unwrap();
    let (session, who, text) = window(folder.path(), "p.dissensus");
    let shown = question(&session);
    let before = labels(&session);
    let names: Vec<&str> = shown.scale.levels().iter().map(String::as_str).collect();
    set(&session, &[&["none at all"], &names[..]].concat());
    record(&session, &shown, (who, text), names[2]).unwrap();
    let mut expected = before;
    expected.push((text.0, who.0, names[2].to_owned()));
    expected.sort_unstable();
    let mut now = labels(&session);
    now.sort_unstable();
    assert_eq!(now, expected, "every label keeps its name");
    // The live model learned it in the column that the level has now.
    session.live.fit(shown.id, &Silent).unwrap();
    let row = session.context.index().text_row(text).unwrap();
    let column = session.live.with(&question(&session), |fitted| fitted.model.label(row, 0)).unwrap();
    assert_eq!(column, Some(Some(3)));
    session.close();
}

#[test]
fn level_removed_while_shown_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (session, who, text) = window(folder.path(), "p.dissensus");
    let before = levels(&session);
    let names: Vec<&str> = before.iter().map(String::as_str).collect();
    set(&session, &[&names[..], &["beyond"]].concat());
    let shown = question(&session);
    set(&session, &names);
    let labels_before = labels(&session);
    let error = record(&session, &shown, (who, text), "beyond").unwrap_err();
    assert_eq!(error.code(), "level-removed");
    assert!(error.to_string().contains(&names.join(", ")), "{error}");
    assert_eq!(labels(&session), labels_before);
    record(&session, &shown, (who, text), names[0]).unwrap();
    session.close();
}

#[test]
fn rearranged_copies_merge_into_an_open_window() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let elsewhere = path.with_file_name("copy.dissensus");
    std::fs::copy(&path, &elsewhere).unwrap();
    let (other, who, text) = window(folder.path(), "copy.dissensus");
    let before = levels(&other);
    let names: Vec<&str> = before.iter().map(String::as_str).collect();
    set(&other, &[&["none at all"], &names[..]].concat());
    let shown = question(&other);
    record(&other, &shown, (who, text), "none at all").unwrap();
    other.close();
    let (session, who, text) = window(folder.path(), "p.dissensus");
    set(&session, &[&names[..2], &["between"], &names[2..]].concat());
    let shown = question(&session);
    let later = next_text(&session, who, text);
    record(&session, &shown, (who, later), "between").unwrap();
    session.live.fit(shown.id, &Silent).unwrap();
    let files = [elsewhere];
    let report = study::merge(&session.study, &files, &MergeConsent::all(), &Silent).unwrap();
    assert!(!report.files[0].refused, "{:?}", report.files[0].problems);
    let found = labels(&session);
    assert!(found.contains(&(text.0, who.0, "none at all".to_owned())));
    assert!(found.contains(&(later.0, who.0, "between".to_owned())));
    // The window still shows its own earlier order.
    let last = next_text(&session, who, later);
    record(&session, &shown, (who, last), names[4]).unwrap();
    assert!(labels(&session).contains(&(last.0, who.0, names[4].to_owned())));
    session.live.fit(shown.id, &Silent).unwrap();
    let column = session.live.with(&question(&session), |fitted| fitted.model.levels()).unwrap();
    assert_eq!(column, Some(levels(&session).len()));
    session.close();
}

/// Adds a level below all others in the middle of a fit, once.
struct Rearranged<'a> {
    session: &'a Session,
    done: AtomicBool,
}

impl Progress for Rearranged<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        if !self.done.swap(true, Ordering::Relaxed) {
            add_lowest(self.session);
        }
    }
}

#[test]
fn fit_on_earlier_levels_is_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let asked = question(&session);
    let before = session.context.observations(asked.id).unwrap();
    let rearranged = Rearranged { session: &session, done: AtomicBool::new(false) };
    session.live.fit(asked.id, &rearranged).unwrap();
    assert!(rearranged.done.into_inner());
    let found = session
        .live
        .with(&question(&session), |fitted| (fitted.model.levels(), fitted.model.observations()))
        .unwrap();
    let (columns, mut learned) = found.unwrap();
    assert_eq!(columns, asked.scale.len() + 1);
    let mut expected = before;
    expected.iter_mut().for_each(|label| label.level += 1);
    learned.sort_unstable_by_key(|label| (label.text, label.annotator));
    expected.sort_unstable_by_key(|label| (label.text, label.annotator));
    assert_eq!(learned, expected);
    session.close();
}

/// Adds an option in front of the others in the middle of a fit, once.
struct OptionAdded<'a>(&'a Session, QuestionId, AtomicBool);

impl Progress for OptionAdded<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        if !self.2.swap(true, Ordering::Relaxed) {
            let names = ["sport", "art", "law"].map(str::to_owned);
            let asked = questions::find(&self.0.project, Some("topics")).unwrap();
            let levels = Some(questions::levels_named(&asked, &names));
            let change = QuestionChange { levels, ..QuestionChange::default() };
            questions::edit(&self.0.project, self.1, &change).unwrap();
        }
    }
}

#[test]
fn option_added_during_a_fit_is_fitted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let scale = Scale::new(ScaleKind::MultiLabel, ["art", "law"]).unwrap();
    let asked = questions::add(&session.project, AddQuestion::new("topics", "Which?", scale)).unwrap().id;
    let shown = questions::find(&session.project, Some("topics")).unwrap();
    let who = annotators::list(&session.project).unwrap()[0].id;
    for text in 1..=9 {
        record(&session, &shown, (who, TextId(text)), if text % 3 == 0 { "law" } else { "art" }).unwrap();
    }
    session.live.fit(asked, &OptionAdded(&session, asked, AtomicBool::new(false))).unwrap();
    let chosen = |name: &str| {
        let now = questions::find(&session.project, Some("topics")).unwrap();
        let option = now.option(now.scale.id_named(name).unwrap()).unwrap();
        let labels = session.live.with(&option, |fitted| fitted.model.observations()).unwrap();
        labels.unwrap().iter().filter(|label| label.level == 1).count()
    };
    assert_eq!(["sport", "art", "law"].map(chosen), [0, 6, 3]);
    session.close();
}

/// All texts by how differently people are predicted to answer.
fn ranked(session: &Session, question: QuestionId) -> Vec<(TextId, f32)> {
    let query = DisagreementQuery::of_everything(question, DisagreementMeasure::Pairwise);
    let found = ranking::rank(&session.analysis, &query).unwrap();
    found.texts.iter().copied().zip(found.values.iter().copied()).collect()
}

#[test]
fn ranking_after_rearranging_matches_a_reopened_project() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let asked = question(&session);
    session.live.fit(asked.id, &Silent).unwrap();
    let names: Vec<&str> = asked.scale.levels().iter().map(String::as_str).collect();
    set(&session, &[&["none at all"], &names[..]].concat());
    assert!(
        session.live.with(&question(&session), |_| ()).unwrap().is_none(),
        "the model on the earlier levels is dropped"
    );
    session.live.fit(asked.id, &Silent).unwrap();
    let here = ranked(&session, asked.id);
    session.close();
    let session = open(&path);
    session.live.refit(asked.id, &Silent).unwrap();
    assert!(!here.is_empty());
    assert_eq!(ranked(&session, asked.id), here);
    session.close();
}

/// Adds a level below all others.
fn add_lowest(session: &Session) {
    let names = levels(session);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    set(session, &[&["none at all"], &names[..]].concat());
}

#[test]
fn tables_checked_before_levels_moved_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let asked = question(&session);
    let outputs = ["predictions.csv", "summary.csv"].map(|name| folder.path().join(name));
    let choices = PredictionChoices { question: Some(asked.name.clone()), ..PredictionChoices::default() };
    let predictions =
        prediction_file::check(&session.analysis, &choices, None, &outputs[0], &Silent).unwrap();
    let request = SummaryRequest {
        of: SummaryOf::Texts,
        question: Some(asked.name.clone()),
        predicted: true,
        aggregate: None,
        pseudonyms: false,
    };
    let summary = session.summaries.check(&request, &outputs[1], false).unwrap();
    add_lowest(&session);
    session.live.fit(asked.id, &Silent).unwrap();
    let written =
        prediction_file::write(&session.analysis, &predictions, &EncoderChoice::default(), &Silent).map(drop);
    assert_eq!(written.unwrap_err().code(), "levels-rearranged");
    let written = session.summaries.write(&summary, &Silent).map(drop);
    assert_eq!(written.unwrap_err().code(), "levels-rearranged");
    assert_eq!(outputs.map(|out| out.exists()), [false, false], "probabilities would be under other names");
    session.close();
}

#[test]
fn slips_keep_their_names_when_levels_move_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let asked = question(&session).id;
    session.live.fit(asked, &Silent).unwrap();
    let rearranged = Rearranged { session: &session, done: AtomicBool::new(false) };
    let choices = SlipChoices { below: 1.0, top: 50, ..SlipChoices::default() };
    let found = slips::find(&session.analysis, asked, choices, &rearranged).unwrap();
    assert!(rearranged.done.into_inner());
    let given = labels(&session);
    let rows: Vec<_> = found.slips.into_iter().chain(found.contested).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let label = (row.text.0, row.annotator.0, row.level_name);
        assert!(given.contains(&label), "{label:?} is no label");
    }
    session.close();
}

#[test]
fn figures_of_levels_that_move_meanwhile_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let asked = question(&session).id;
    let rearranged = Rearranged { session: &session, done: AtomicBool::new(false) };
    let error = who_differs::find(&session.analysis, asked, &rearranged).map(drop).unwrap_err();
    assert!(rearranged.done.into_inner());
    assert_eq!(error.code(), "levels-rearranged");
    session.close();
}

/// Notes at each report the levels that the index has after so many files.
struct LevelsAfter<'a>(&'a Session, Mutex<Vec<Vec<String>>>);

impl Progress for LevelsAfter<'_> {
    fn report(&self, _: u64, _: Option<u64>, doing: &str) {
        if doing == "files" {
            self.1.lock().unwrap().push(levels(self.0));
        }
    }
}

#[test]
fn each_merged_file_is_in_the_index_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let files = ["one.dissensus", "two.dissensus"].map(|name| path.with_file_name(name));
    for (file, added) in files.iter().zip(["none at all", "beyond"]) {
        std::fs::copy(&path, file).unwrap();
        let session = open(file);
        let names = levels(&session);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        set(&session, &[&names[..], &[added]].concat());
        session.close();
    }
    let session = open(&path);
    let seen = LevelsAfter(&session, Mutex::default());
    let report = study::merge(&session.study, &files, &MergeConsent::all(), &seen).unwrap();
    assert!(report.files.iter().all(|file| !file.refused), "{report:?}");
    // The later edit holds as a whole: its copy did not have the level of the other one.
    let last = seen.1.into_inner().unwrap().into_iter().filter_map(|mut names| names.pop());
    assert_eq!(last.collect::<Vec<_>>(), ["5", "none at all", "beyond"]);
    session.close();
}
