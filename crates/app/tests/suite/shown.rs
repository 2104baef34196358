//! What is shown of others after an answer, and what is recorded about it: later labels are marked.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, home, import, import_into, into_question, open_in};
use dissensus_analysis::text_detail;
use dissensus_api::{
    DisagreementMeasure, DisagreementQuery, LabelReceipt, MergeConsent, NewLabel, StudyRequest, TextOrder,
};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, FactKind, LabelSource, QuestionId, TextId};
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::reveal;
use dissensus_editing::texts;
use dissensus_editing::withdraw;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::next_text;
use dissensus_labelling::record;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::jobs::Silent;
use dissensus_project::sample;
use dissensus_store::Store;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use dissensus_transfer::study;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A project whose four texts another person has labelled, and Ana and Ben; nothing is shown yet.
fn project(folder: &Path) -> PathBuf {
    let path = folder.join("p.dissensus");
    let session = create(&path);
    let rows: String = (1..=4).map(|n| format!("t{n},Body of text {n},stranger,{}\n", n % 3 + 1)).collect();
    import_into(&session, "rude", &format!("text_id,text,annotator_id,label\n{rows}"));
    for person in ["ana", "ben"] {
        annotators::add(&session.project, person, &Default::default()).unwrap();
    }
    session.close();
    path
}

fn person(session: &Session, name: &str) -> AnnotatorId {
    annotators::find(&session.project, name).unwrap().id
}

fn text(session: &Session, name: &str) -> TextId {
    texts::find(&session.project, name).unwrap().0
}

fn label(session: &Session, who: &str, id: &str, level: u16) -> LabelReceipt {
    let new = NewLabel {
        question: QuestionId(1),
        annotator: person(session, who),
        text: text(session, id),
        answer: Answer::from_level(level),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &new).unwrap().receipt
}

/// Opens a text in Findings as a person.
fn look(session: &Session, who: Option<&str>, id: &str) {
    let query = DisagreementQuery {
        question: QuestionId(1),
        by: DisagreementMeasure::Labels,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    let who = who.map(|name| person(session, name));
    text_detail::read(&session.analysis, &query, text(session, id), None, who, false).unwrap();
}

/// The values of "shown" in the export, by annotator and text, where present.
fn exported(session: &Session, file: &Path) -> BTreeMap<(String, String), String> {
    exchange::export(
        &session.exchange,
        file,
        &ExportChoices { replace: true, ..ExportChoices::default() },
        &Silent,
    )
    .unwrap();
    let mut reader = csv::Reader::from_path(file).unwrap();
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|column| column == name);
    let Some(shown) = column("shown") else { return BTreeMap::new() };
    let (who, id) = (column("annotator_id").unwrap(), column("text_id").unwrap());
    let rows = reader.records().map(Result::unwrap).filter(|row| !row[shown].is_empty());
    rows.map(|row| ((row[who].to_owned(), row[id].to_owned()), row[shown].to_owned())).collect()
}

fn of(who: &str, id: &str, shown: &str) -> BTreeMap<(String, String), String> {
    BTreeMap::from([((who.to_owned(), id.to_owned()), shown.to_owned())])
}

#[test]
fn reveal_is_off_unless_the_study_enables_it() {
    let folder = tempfile::tempdir().unwrap();
    let session = open_in(folder.path(), &project(folder.path()));
    session.live.fit(QuestionId(1), &Silent).unwrap();
    let receipt = label(&session, "ana", "t1", 0);
    assert!(receipt.reveal.is_none() && receipt.spans.is_none());
    let task =
        task::read(&session.labelling, person(&session, "ana"), QuestionId(1), text(&session, "t1"), 1)
            .unwrap();
    assert!(task.answer.is_some() && task.reveal.is_none());
    label(&session, "ana", "t1", 2);
    let info = info::read(&session.project).unwrap();
    assert!(!info.reveals && info.labels_after_shown == 0);
    assert_eq!(exported(&session, &folder.path().join("out.csv")), BTreeMap::new());
    // The sample project demonstrates what a study can enable.
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    assert!(info::read(&open_in(folder.path(), &path).project).unwrap().reveals);
}

#[test]
fn only_labels_changed_after_reveal_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let session = open_in(folder.path(), &path);
    session.live.fit(QuestionId(1), &Silent).unwrap();
    reveal::set(&session.project, true).unwrap();
    let receipt = label(&session, "ana", "t1", 0);
    assert!(receipt.reveal.unwrap().observed.is_some());
    // What is shown is on disk before: another program that reads the file finds it.
    let noted = Store::open_reader(&path).unwrap().all_facts(FactKind::Shown).unwrap();
    assert_eq!(noted.len(), 1);
    let out = folder.path().join("out.csv");
    assert_eq!(
        (reveal::labels_after_shown(&session.project).unwrap(), exported(&session, &out)),
        (0, BTreeMap::new())
    );
    label(&session, "ben", "t1", 1);
    label(&session, "ana", "t1", 2);
    let after = of("ana", "t1", "answers; predictions");
    assert_eq!(
        (reveal::labels_after_shown(&session.project).unwrap(), exported(&session, &out)),
        (1, after.clone())
    );
    // Taken back and given again it was still after; showing it again adds nothing.
    undo::undo(&session.labelling, person(&session, "ana"), QuestionId(1), LabelSource::Window)
        .unwrap()
        .unwrap();
    assert_eq!(reveal::labels_after_shown(&session.project).unwrap(), 0, "the first answer is current again");
    label(&session, "ana", "t1", 0);
    assert_eq!(reveal::labels_after_shown(&session.project).unwrap(), 1);
    let count = || Store::open_reader(&path).unwrap().all_facts(FactKind::Shown).unwrap().len();
    assert_eq!(count(), 2, "Ana once, Ben once");
    // After disabling, it is no longer shown, and what was shown remains recorded.
    reveal::set(&session.project, false).unwrap();
    assert!(label(&session, "ana", "t2", 0).reveal.is_none());
    assert_eq!((reveal::labels_after_shown(&session.project).unwrap(), count()), (1, 2));
    // The command shows nothing, and records nothing.
    reveal::set(&session.project, true).unwrap();
    by_name::record(&session.labelling, &LabelByName::new("ana", "t3", "1", None)).unwrap();
    by_name::record(&session.labelling, &LabelByName::new("ana", "t3", "2", None)).unwrap();
    assert_eq!(count(), 2);
}

#[test]
fn text_opened_in_disagreement_counts_as_shown() {
    let folder = tempfile::tempdir().unwrap();
    let session = open_in(folder.path(), &project(folder.path()));
    let out = folder.path().join("out.csv");
    look(&session, None, "t1");
    label(&session, "ana", "t1", 0);
    assert_eq!(exported(&session, &out), BTreeMap::new(), "nobody was labelling");
    look(&session, Some("ana"), "t2");
    look(&session, Some("ana"), "t2");
    label(&session, "ben", "t2", 0);
    label(&session, "ana", "t2", 0);
    // Without a model there are only answers.
    assert_eq!(exported(&session, &out), of("ana", "t2", "answers"));
    // Only existing labels can be shown: t3 was answered only by the person who looks at it.
    look(&session, Some("stranger"), "t3");
    assert_eq!(reveal::labels_after_shown(&session.project).unwrap(), 1);
}

#[test]
fn shown_marks_survive_export_and_import() {
    let folder = tempfile::tempdir().unwrap();
    let session = open_in(folder.path(), &project(folder.path()));
    look(&session, Some("ana"), "t2");
    label(&session, "ana", "t1", 0);
    label(&session, "ana", "t2", 1);
    for ending in ["csv", "tsv", "jsonl"] {
        let file = folder.path().join(format!("out.{ending}"));
        exchange::export(
            &session.exchange,
            &file,
            &ExportChoices { replace: true, ..ExportChoices::default() },
            &Silent,
        )
        .unwrap();
        let path = folder.path().join(format!("{ending}.dissensus"));
        let other = Session::create(&path, &home(folder.path())).unwrap();
        import(&other, &file, &into_question("rude"));
        import(&other, &file, &into_question("rude"));
        let out = folder.path().join("again.csv");
        assert_eq!(exported(&other, &out), of("ana", "t2", "answers"), "{ending}");
        other.close();
        assert_eq!(
            Store::open_reader(&path).unwrap().all_facts(FactKind::Shown).unwrap().len(),
            1,
            "{ending}"
        );
    }
}

#[test]
fn shown_marks_merge_and_are_withdrawn() {
    let folder = tempfile::tempdir().unwrap();
    let here = project(folder.path());
    let there = folder.path().join("copy.dissensus");
    std::fs::copy(&here, &there).unwrap();
    let other = open_in(folder.path(), &there);
    reveal::set(&other.project, true).unwrap();
    look(&other, Some("ana"), "t1");
    other.close();
    let session = open_in(folder.path(), &here);
    label(&session, "ana", "t1", 0);
    assert_eq!(reveal::labels_after_shown(&session.project).unwrap(), 0);
    for _ in 0..2 {
        study::merge(&session.study, std::slice::from_ref(&there), &MergeConsent::all(), &Silent).unwrap();
        assert_eq!(
            reveal::labels_after_shown(&session.project).unwrap(),
            1,
            "it was shown in the copy before"
        );
        assert!(info::read(&session.project).unwrap().reveals);
    }
    withdraw::withdraw(&session.project, person(&session, "ana")).unwrap();
    assert_eq!(reveal::labels_after_shown(&session.project).unwrap(), 0);
    session.close();
    assert!(Store::open_reader(&here).unwrap().all_facts(FactKind::Shown).unwrap().is_empty());
}

#[test]
fn clock_set_back_does_not_undo_shown_marks() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let store = Store::open(&path).unwrap();
    let ana = store.annotator_by_external("ana").unwrap().unwrap().id;
    let shown = dissensus_domain::Shown { answers: true, predictions: false };
    let tomorrow = 4_000_000_000_000;
    store.write(move |tx| tx.add_shown(QuestionId(1), TextId(1), ana, shown, tomorrow)).unwrap();
    store.close().unwrap();
    let session = open_in(folder.path(), &path);
    label(&session, "ana", "t1", 0);
    assert_eq!(reveal::labels_after_shown(&session.project).unwrap(), 1);
}

#[test]
fn packet_never_reveals_answers() {
    let folder = tempfile::tempdir().unwrap();
    let session = open_in(folder.path(), &project(folder.path()));
    reveal::set(&session.project, true).unwrap();
    let request = StudyRequest {
        questions: Vec::new(),
        people: vec!["ana".into()],
        per_text: 1,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 0,
        new_people: false,
        balance: None,
        seed: 1,
    };
    let draft = study::hand_out(&session.study, &request, &folder.path().join("out"), &Silent).unwrap();
    let packet = open_in(folder.path(), Path::new(draft.people[0].file.as_ref().unwrap()));
    assert!(!info::read(&packet.project).unwrap().reveals);
    assert_eq!(reveal::set(&packet.project, true).unwrap_err().code(), "in-packet");
    let me = annotators::list(&packet.project).unwrap()[0].id;
    let task =
        next_text::choose(&packet.labelling, me, QuestionId(1), TextOrder::File, None).unwrap().unwrap();
    let new = NewLabel {
        question: QuestionId(1),
        annotator: me,
        text: task.text,
        answer: Answer::from_level(1),
        duration_ms: None,
    };
    let receipt = record::record_label(&packet.labelling, &new).unwrap().receipt;
    assert!(receipt.reveal.is_none() && receipt.spans.is_none());
}
