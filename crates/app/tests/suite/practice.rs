//! Practice before the texts, and pass marks: who may label, what is stored, and what comes back in
//! submissions.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, home, import_into, open_in};
use dissensus_api::{
    ImportChoices, MergeConsent, NewAttentionCheck, NewLabel, NewPracticeAnswer, NewPracticeRule,
    NewPracticeText, PracticeFeedback, PracticeStep, StudyRequest, TextOrder,
};
use dissensus_app::session::Session;
use dissensus_domain::{AfterFailing, AnnotatorId, Answer, CheckRule, PassStatus, QuestionId, TextId};
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_editing::withdraw;
use dissensus_labelling::LabelByName;
use dissensus_labelling::NamedAnnotator;
use dissensus_labelling::by_name;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::practice_answers;
use dissensus_labelling::progress;
use dissensus_labelling::record;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use dissensus_transfer::study;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project with a number of texts and one ordinal question of five levels, labelled by another annotator.
fn project(folder: &Path, texts: usize) -> PathBuf {
    let path = folder.join("study.dissensus");
    let session = create(&path);
    let rows: String =
        (1..=texts).map(|n| format!("t{n},Body of text {n},stranger,{}\n", n % 5 + 1)).collect();
    import_into(&session, "rude", &format!("text_id,text,annotator_id,label\n{rows}"));
    path
}

fn text(session: &Session, id: &str) -> TextId {
    texts::find(&session.project, id).unwrap().0
}

fn question(session: &Session) -> QuestionId {
    questions::find(&session.project, None).unwrap().id
}

/// Sets t1 to t3 as practice texts, with the right answers 2, 1 and 4, counted from 0.
fn with_practice(session: &Session, rule: NewPracticeRule) {
    let question = question(session);
    let one = |(id, level): (&str, u16)| NewPracticeText {
        question,
        text: text(session, id),
        answer: Some(Answer::from_level(level)),
        reason: format!("REASON {id}"),
    };
    study::set_practice(&session.study, &[("t1", 2), ("t2", 1), ("t3", 4)].map(one)).unwrap();
    study::set_practice_rule(&session.study, &rule).unwrap();
}

fn rule(pass: f64, then: AfterFailing) -> NewPracticeRule {
    NewPracticeRule { pass: Some(pass), within: None, then: Some(then) }
}

/// Answers the next practice text, right or wrong.
fn practise(session: &Session, me: AnnotatorId, right: bool) -> (String, PracticeFeedback) {
    let task = practice_answers::next(&session.labelling, me).unwrap().unwrap();
    let level = match task.external_id.as_str() {
        "t1" => 2,
        "t2" => 1,
        _ => 4,
    };
    let answer = Answer::from_level(if right { level } else { 0 });
    let new = NewPracticeAnswer { annotator: me, question: task.question, text: task.text, answer };
    (task.external_id, practice_answers::record(&session.labelling, &new).unwrap())
}

fn step(session: &Session, me: AnnotatorId) -> PracticeStep {
    practice_answers::state_of(&session.labelling, me).unwrap().unwrap().step
}

fn label(session: &Session, me: AnnotatorId, id: &str, level: u16) -> Result<(), String> {
    let (question, text) = (question(session), text(session, id));
    let new =
        NewLabel { question, annotator: me, text, answer: Answer::from_level(level), duration_ms: None };
    record::record_label(&session.labelling, &new).map(drop).map_err(|error| error.code().to_owned())
}

fn export(folder: &Path, session: &Session, leave_out_failed: bool) -> Vec<String> {
    let file = folder.join("export.csv");
    let choices = ExportChoices { replace: true, leave_out_failed, ..ExportChoices::default() };
    exchange::export(&session.exchange, &file, &choices, &Silent).unwrap();
    std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn practice_comes_first_with_feedback_and_no_labels() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 12);
    let session = open_in(folder, &path);
    let ana = annotators::add(&session.project, "ana", &Default::default()).unwrap().id;
    assert!(
        practice_answers::state_of(&session.labelling, ana).unwrap().is_none(),
        "nothing is practised on yet"
    );
    assert!(!export(folder, &session, false)[0].contains("practice"));
    with_practice(&session, rule(1.0, AfterFailing::GoOn));

    assert_eq!(
        next_text::choose(&session.labelling, ana, question(&session), TextOrder::File, None)
            .unwrap_err()
            .code(),
        "practice-first"
    );
    assert_eq!(label(&session, ana, "t5", 1), Err("practice-first".to_owned()));
    assert_eq!(label(&session, ana, "t1", 1), Err("practice-first".to_owned()));
    let refused = by_name::record(&session.labelling, &LabelByName::new("zoe", "t5", "2", None)).unwrap_err();
    assert!(refused.to_string().contains("practice texts that are left (3)"), "{refused}");
    assert_eq!(
        annotators::list(&session.project).unwrap().len(),
        2,
        "nobody is added for a label that is refused"
    );

    let (first, reported) = practise(&session, ana, true);
    assert_eq!((first.as_str(), reported.right, reported.reason.as_str()), ("t1", true, "REASON t1"));
    // Two at once: only one of two answers to one text is accepted.
    let twice = || {
        let new = NewPracticeAnswer {
            annotator: ana,
            question: question(&session),
            text: text(&session, "t2"),
            answer: Answer::from_level(3),
        };
        practice_answers::record(&session.labelling, &new)
    };
    let both =
        std::thread::scope(|scope| [scope.spawn(twice), scope.spawn(twice)].map(|one| one.join().unwrap()));
    let refused: Vec<_> = both.iter().filter_map(|one| one.as_ref().err()).collect();
    assert_eq!((refused.len(), refused[0].code()), (1, "practice-answered"));
    let reported = both.iter().find_map(|one| one.as_ref().ok()).unwrap();
    assert_eq!((reported.right, reported.answer_name.as_str(), reported.state.done), (false, "2", 2));

    // After an interruption it continues where it was.
    session.close();
    drop(session);
    let session = open_in(folder, &path);
    let (last, reported) = practise(&session, ana, true);
    assert_eq!((last.as_str(), reported.state.step), ("t3", PracticeStep::Label), "who fails goes on");
    let result = reported.state.result.unwrap();
    assert_eq!((result.status, result.right, result.of), (PassStatus::Failed, 2, 3));
    assert!(practice_answers::next(&session.labelling, ana).unwrap().is_none());

    let next = next_text::choose(&session.labelling, ana, question(&session), TextOrder::File, None)
        .unwrap()
        .unwrap();
    assert_eq!(next.external_id, "t4", "what is practised on is asked of nobody else");
    assert_eq!(label(&session, ana, "t1", 1), Err("practice-text".to_owned()));
    let progress = progress::count(&session.labelling, ana, question(&session)).unwrap();
    assert_eq!((progress.done, progress.total), (0, 9));
    assert_eq!(info::read(&session.project).unwrap().labels, 12, "no label came of it");
    assert_eq!(label(&session, ana, "t5", 3), Ok(()));
    assert_eq!(progress::count(&session.labelling, ana, question(&session)).unwrap().done, 1);

    // Labels of those who failed are marked, and excluded only on request.
    let rows = export(folder, &session, false);
    let column = rows[0].split(',').position(|name| name == "practice").unwrap();
    let of = |id: &str, who: &str| {
        let row = rows.iter().find(|row| row.starts_with(&format!("{id},")) && row.contains(who)).unwrap();
        row.split(',').nth(column).unwrap().to_owned()
    };
    assert_eq!((of("t5", "ana").as_str(), of("t5", "stranger").as_str()), ("failed", "unfinished"));
    assert_eq!((rows.len(), export(folder, &session, true).len()), (14, 13));
    assert!(
        !rows.iter().any(|row| row.contains("t2") && row.contains("ana")),
        "practice answers are no labels"
    );
    // The file imports again, without the study's results of people.
    let again = folder.join("again.dissensus");
    let other = Session::create(&again, &home(folder)).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let imported = exchange::import(
        &other.exchange,
        &folder.join("export.csv"),
        &ImportChoices::default(),
        Some(&silent),
    )
    .unwrap();
    assert_eq!(imported.labels, 12);
    let info = info::read(&other.project).unwrap();
    assert!(info.attributes.is_empty(), "{:?}", info.attributes);
    assert!(!export(folder, &other, false)[0].contains("practice"));

    // A wrong right answer is corrected: those judged by it are judged again.
    let one = NewPracticeText {
        question: question(&session),
        text: text(&session, "t2"),
        answer: Some(Answer::from_level(3)),
        reason: String::new(),
    };
    study::set_practice(&session.study, std::slice::from_ref(&one)).unwrap();
    let setup = study::practice(&session.study).unwrap();
    assert_eq!((setup.people[0].result.status, setup.people[0].result.right), (PassStatus::Passed, 3));
    assert_eq!((setup.texts[1].given, setup.texts[1].right), (1, 1));
    // One that is added later is asked of those who begin then, and of none who are done.
    let more = NewPracticeText { text: text(&session, "t9"), ..one };
    study::set_practice(&session.study, &[more]).unwrap();
    assert_eq!(step(&session, ana), PracticeStep::Label);
}

#[test]
fn neighbouring_level_is_correct_within_the_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let session = open_in(folder, &project(folder, 6));
    with_practice(
        &session,
        NewPracticeRule { pass: Some(1.0), within: Some(1), then: Some(AfterFailing::Stop) },
    );
    for (id, value, right) in [("t1", "4", true), ("t2", "1", true), ("t3", "3", false)] {
        let reported = practice_answers::record_by_name(
            &session.labelling,
            NamedAnnotator { name: "ana", new: false },
            id,
            value,
            None,
        )
        .unwrap();
        assert_eq!((reported.feedback.right, reported.new_annotator), (right, id == "t1"), "{id}");
    }
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    assert_eq!(step(&session, ana), PracticeStep::Stopped);
    assert_eq!(label(&session, ana, "t5", 1), Err("practice-stopped".to_owned()));
    let none = practice_answers::record_by_name(
        &session.labelling,
        NamedAnnotator { name: "ben", new: false },
        "t5",
        "1",
        None,
    )
    .unwrap_err();
    assert_eq!(none.code(), "practice-not-there");
    assert!(
        annotators::find(&session.project, "ben").is_err(),
        "nobody is added for an answer that is refused"
    );
    for pass in [-0.1, 1.5, f64::NAN] {
        let rule = NewPracticeRule { pass: Some(pass), ..NewPracticeRule::default() };
        assert_eq!(study::set_practice_rule(&session.study, &rule).unwrap_err().code(), "plan-range");
    }
}

#[test]
fn repeated_practice_has_another_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let session = open_in(folder, &project(folder, 30));
    let question = question(&session);
    let texts: Vec<NewPracticeText> = (1..=8)
        .map(|n| NewPracticeText {
            question,
            text: text(&session, &format!("t{n}")),
            answer: Some(Answer::from_level(0)),
            reason: String::new(),
        })
        .collect();
    study::set_practice(&session.study, &texts).unwrap();
    study::set_practice_rule(&session.study, &rule(0.75, AfterFailing::Practise)).unwrap();
    let ana = annotators::add(&session.project, "ana", &Default::default()).unwrap().id;
    let mut orders = Vec::new();
    for (round, level) in [(1, 1), (2, 2), (3, 0)] {
        let mut order = Vec::new();
        while let Some(task) =
            practice_answers::next(&session.labelling, ana).unwrap().filter(|task| task.round == round)
        {
            assert_eq!(label(&session, ana, "t20", 1), Err("practice-first".to_owned()));
            let answer = Answer::from_level(level);
            let new = NewPracticeAnswer { annotator: ana, question, text: task.text, answer };
            practice_answers::record(&session.labelling, &new).unwrap();
            order.push(task.external_id);
        }
        orders.push(order);
    }
    assert!(orders.iter().all(|order| order.len() == 8), "{orders:?}");
    assert!(orders[0] != orders[1] && orders[1] != orders[2] && orders[0] != orders[2], "{orders:?}");
    assert_eq!(step(&session, ana), PracticeStep::Label);
    assert_eq!(label(&session, ana, "t20", 1), Ok(()));
    let setup = study::practice(&session.study).unwrap();
    let rounds: Vec<(u32, u32)> =
        setup.people[0].rounds.iter().map(|round| (round.right, round.of)).collect();
    assert_eq!(rounds, [(0, 8), (0, 8), (8, 8)], "every round is stored");
}

fn request(people: &[&str]) -> StudyRequest {
    StudyRequest {
        questions: Vec::new(),
        people: people.iter().map(|name| (*name).to_owned()).collect(),
        per_text: 2,
        per_person: None,
        anchors: 2,
        repeat: 0.0,
        again_after: 5,
        new_people: false,
        balance: None,
        seed: 3,
    }
}

#[test]
fn packets_and_submissions_contain_practice() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 20);
    let session = open_in(folder, &path);
    with_practice(&session, rule(0.6, AfterFailing::Stop));
    let check = |id: &str| NewAttentionCheck {
        question: question(&session),
        text: text(&session, id),
        answer: Some(Answer::from_level(0)),
        reason: String::new(),
    };
    assert_eq!(study::set_checks(&session.study, &[check("t1")]).unwrap_err().code(), "check-in-practice");
    let draft = study::draft(&session.study, &request(&["ada", "ben"])).unwrap();
    assert_eq!(draft.texts, 17, "what is practised on is in no plan");
    let reported =
        study::hand_out(&session.study, &request(&["ada", "ben"]), &folder.join("out"), &Silent).unwrap();
    let packets: Vec<PathBuf> =
        reported.people.iter().map(|one| PathBuf::from(one.file.as_ref().unwrap())).collect();
    let late = NewPracticeText {
        question: question(&session),
        text: text(&session, "t7"),
        answer: Some(Answer::from_level(0)),
        reason: String::new(),
    };
    let refused = study::set_practice(&session.study, &[late]).unwrap_err();
    assert_eq!(refused.code(), "practice-cannot");
    assert!(refused.to_string().contains("\"t7\"") && refused.to_string().contains("2 people"), "{refused}");
    session.close();
    drop(session);

    let mut handed = Vec::new();
    for (packet, good) in packets.iter().zip([false, true]) {
        let own = open_in(folder, packet);
        let me = info::read(&own.project).unwrap().packet.unwrap().annotator;
        assert!(
            study::packet_texts(&own.study)
                .unwrap()
                .iter()
                .all(|one| !["t1", "t2", "t3"].contains(&one.text_id.as_str()))
        );
        assert_eq!(
            study::practice(&own.study).unwrap_err().code(),
            "is-packet",
            "right answers are not listed"
        );
        let state = study::open_packet(&own.study).unwrap().unwrap();
        assert_eq!((state.wanted, state.practice.unwrap().total), (17, 3));
        assert_eq!(
            next_text::choose(&own.labelling, me, question(&own), TextOrder::File, None).unwrap_err().code(),
            "practice-first"
        );
        practise(&own, me, true);
        // Also when submitted halfway: later practice comes with the next submission.
        let early = folder.join(format!("early-{good}"));
        study::hand_in(&own.study, &early, false).unwrap();
        practise(&own, me, good);
        assert_eq!(study::open_packet(&own.study).unwrap().unwrap().since, 1);
        let (_, reported) = practise(&own, me, good);
        assert_eq!(reported.state.step, if good { PracticeStep::Label } else { PracticeStep::Stopped });
        if good {
            let next = next_text::choose(&own.labelling, me, question(&own), TextOrder::File, None)
                .unwrap()
                .unwrap();
            label(&own, me, &next.external_id, 2).unwrap();
        } else {
            let stopped =
                next_text::choose(&own.labelling, me, question(&own), TextOrder::File, None).unwrap_err();
            assert_eq!(stopped.code(), "practice-stopped");
        }
        let file = folder.join(format!("late-{good}"));
        study::hand_in(&own.study, &file, false).unwrap();
        own.close();
        handed.extend([file, early]);
    }

    let session = open_in(folder, &path);
    for _ in 0..2 {
        let merged = study::merge(&session.study, &handed, &MergeConsent::all(), &Silent).unwrap();
        assert!(merged.files.iter().all(|file| !file.refused), "{merged:?}");
        let report = study::report(&session.study).unwrap();
        let of = |name: &str| {
            report.people.iter().find(|one| one.annotator == name).unwrap().practice.clone().unwrap()
        };
        let (ada, ben) = (of("ada"), of("ben"));
        assert_eq!((ada.status, ada.right, ada.rounds_begun), (PassStatus::Failed, 1, 1));
        assert_eq!((ben.status, ben.right, ben.of), (PassStatus::Passed, 3, 3));
    }
    assert_eq!(
        info::read(&session.project).unwrap().labels,
        21,
        "of all that was practised nothing is a label"
    );
    // Blocked people are not planned for.
    let more = StudyRequest { per_text: 3, ..request(&["ada", "ben", "cleo"]) };
    let refused = study::draft(&session.study, &more).unwrap_err();
    assert!(refused.code() == "plan-stopped" && refused.to_string().contains("ada"), "{refused}");
    study::set_practice_rule(&session.study, &rule(0.6, AfterFailing::GoOn)).unwrap();
    study::draft(&session.study, &more).unwrap();
    // After passing, an annotator does not practise again in the next packet.
    let again =
        study::write_again(&session.study, &["ben".to_owned()], &folder.join("again"), &Silent).unwrap();
    session.close();
    drop(session);
    let own = open_in(folder, Path::new(&again[0]));
    let me = info::read(&own.project).unwrap().packet.unwrap().annotator;
    assert_eq!(step(&own, me), PracticeStep::Label);
    own.close();
    drop(own);

    // A withdrawal erases practice too.
    let session = open_in(folder, &path);
    let ada = annotators::find(&session.project, "ada").unwrap().id;
    withdraw::withdraw(&session.project, ada).unwrap();
    assert!(study::practice(&session.study).unwrap().people.iter().all(|one| one.annotator != "ada"));
}

#[test]
fn practice_merges_and_first_answers_count() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let session = open_in(folder, &path);
    with_practice(&session, rule(1.0, AfterFailing::Stop));
    let ana = annotators::add(&session.project, "ana", &Default::default()).unwrap().id;
    session.close();
    drop(session);
    let copy = folder.join("copy.dissensus");
    std::fs::copy(&path, &copy).unwrap();
    // First in the one, all wrong; then in the other, all right: the annotator has seen the answers.
    for (file, right) in [(&path, false), (&copy, true)] {
        let session = open_in(folder, file);
        for _ in 0..3 {
            practise(&session, ana, right);
        }
        session.close();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let result_of = |from: &Path, into: &Path| {
        let both = folder.join("both.dissensus");
        std::fs::copy(into, &both).unwrap();
        let session = open_in(folder, &both);
        let merged = study::merge(&session.study, &[from.to_owned()], &MergeConsent::all(), &Silent).unwrap();
        assert!(!merged.files[0].refused && merged.files[0].new == 3, "{merged:?}");
        let people = study::practice(&session.study).unwrap().people;
        (people[0].result.status, people[0].result.right, people[0].rounds.len())
    };
    assert_eq!(result_of(&path, &copy), (PassStatus::Failed, 0, 1));
    assert_eq!(result_of(&copy, &path), (PassStatus::Failed, 0, 1));
}

#[test]
fn failed_attention_checks_stop_or_require_practice() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 20);
    let session = open_in(folder, &path);
    let question = question(&session);
    let checks: Vec<NewAttentionCheck> = (11..=14)
        .map(|n| NewAttentionCheck {
            question,
            text: text(&session, &format!("t{n}")),
            answer: Some(Answer::from_level(0)),
            reason: String::new(),
        })
        .collect();
    study::set_checks(&session.study, &checks).unwrap();
    study::set_check_rule(&session.study, Some(CheckRule { pass: 0.5, within: 0, then: AfterFailing::Stop }))
        .unwrap();
    let add = |name: &str| annotators::add(&session.project, name, &Default::default()).unwrap().id;
    let (ana, ben) = (add("ana"), add("ben"));
    assert!(
        practice_answers::state_of(&session.labelling, ana).unwrap().is_none(),
        "a mark that is not missed is not mentioned"
    );
    for (id, level) in [("t11", 3), ("t1", 2), ("t12", 3)] {
        assert_eq!(label(&session, ana, id, level), Ok(()), "{id}");
    }
    assert_eq!(label(&session, ana, "t13", 3), Ok(()), "two of four can still be reached until here");
    assert_eq!(label(&session, ana, "t2", 3), Err("practice-stopped".to_owned()));
    let state = practice_answers::state_of(&session.labelling, ana).unwrap().unwrap();
    assert!(state.step == PracticeStep::Stopped && state.by_checks);
    assert_eq!(label(&session, ben, "t2", 3), Ok(()), "nobody else is");
    // If an answer three levels away counts as right too, none was missed: the pass mark is applied to
    // earlier answers.
    let right = || study::list_checks(&session.study).unwrap().iter().map(|check| check.right).sum::<u32>();
    let exact = right();
    study::set_check_rule(&session.study, Some(CheckRule { pass: 0.5, within: 3, then: AfterFailing::Stop }))
        .unwrap();
    assert!(
        practice_answers::state_of(&session.labelling, ana).unwrap().is_none(),
        "all three are near enough"
    );
    assert!(right() >= exact + 3, "{exact} and {}", right());
    study::set_check_rule(&session.study, Some(CheckRule { pass: 0.5, within: 0, then: AfterFailing::Stop }))
        .unwrap();
    assert_eq!((right(), label(&session, ana, "t2", 3)), (exact, Err("practice-stopped".to_owned())));
    let rows = export(folder, &session, false);
    let column = rows[0].split(',').position(|name| name == "attention_checks").unwrap();
    let of = |who: &str| {
        rows.iter().find(|row| row.contains(who)).unwrap().split(',').nth(column).unwrap().to_owned()
    };
    assert_eq!((of("ana").as_str(), of("ben").as_str()), ("failed", "unfinished"));
    assert_eq!(rows.len() - export(folder, &session, true).len(), 4 + 20, "the stranger misses them too");
    assert!(study::draft(&session.study, &request(&["ana"])).unwrap_err().code() == "plan-stopped");

    // The practice round comes next; labels stay, so the failed checks are still failed.
    study::set_check_rule(
        &session.study,
        Some(CheckRule { pass: 0.5, within: 0, then: AfterFailing::Practise }),
    )
    .unwrap();
    assert_eq!(label(&session, ana, "t2", 3), Ok(()), "nothing is there to practise on");
    with_practice(&session, rule(0.0, AfterFailing::GoOn));
    for _ in 0..3 {
        assert_eq!(label(&session, ana, "t4", 3), Err("practice-first".to_owned()));
        practise(&session, ana, true);
    }
    assert_eq!(label(&session, ana, "t4", 3), Ok(()));
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(label(&session, ana, "t14", 3), Ok(()), "another check");
    let state = practice_answers::state_of(&session.labelling, ana).unwrap().unwrap();
    assert_eq!((state.step, state.by_checks, state.round), (PracticeStep::Practise, true, 2));

    // Packets have no right answers of checks: the next packet states who has to practise again.
    let reported =
        study::hand_out(&session.study, &request(&["ana", "ben"]), &folder.join("out"), &Silent).unwrap();
    session.close();
    drop(session);
    for (person, round) in reported.people.iter().zip([2, 1]) {
        let own = open_in(folder, Path::new(person.file.as_ref().unwrap()));
        let me = info::read(&own.project).unwrap().packet.unwrap().annotator;
        let state = practice_answers::state_of(&own.labelling, me).unwrap().unwrap();
        assert_eq!((state.step, state.round), (PracticeStep::Practise, round), "{}", person.annotator);
        assert!(study::check_rule(&own.study).unwrap().rule.is_none());
        for _ in 0..3 {
            practise(&own, me, true);
        }
        assert_eq!(step(&own, me), PracticeStep::Label);
        own.close();
    }
}

/// The clock is ahead when checks are missed, and right when the person practises after them.
#[test]
fn practice_counts_after_checks_missed_under_a_fast_clock() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 20);
    let session = open_in(folder, &path);
    let (question, ids) = (question(&session), ["t11", "t12", "t13"].map(|id| text(&session, id)));
    let checks = ids.map(|text| NewAttentionCheck {
        question,
        text,
        answer: Some(Answer::from_level(0)),
        reason: String::new(),
    });
    study::set_checks(&session.study, &checks).unwrap();
    let rule_of_checks = CheckRule { pass: 0.5, within: 0, then: AfterFailing::Practise };
    study::set_check_rule(&session.study, Some(rule_of_checks)).unwrap();
    with_practice(&session, rule(0.0, AfterFailing::GoOn));
    let ana = annotators::add(&session.project, "ana", &Default::default()).unwrap().id;
    for _ in 0..3 {
        practise(&session, ana, true);
    }
    assert_eq!(step(&session, ana), PracticeStep::Label);
    session.close();
    drop(session);

    let store = dissensus_store::Store::open(&path).unwrap();
    for text in ids {
        let label = dissensus_store::NewLabel {
            question,
            text,
            annotator: ana,
            answer: Answer::from_level(3),
            at_ms: 4_000_000_000_000,
            duration_ms: None,
            source: dissensus_domain::LabelSource::Window,
        };
        store.append_label(&label).unwrap();
    }
    store.close().unwrap();

    let session = open_in(folder, &path);
    assert_eq!(step(&session, ana), PracticeStep::Practise);
    for _ in 0..3 {
        practise(&session, ana, true);
    }
    assert_eq!(step(&session, ana), PracticeStep::Label);
}

#[test]
fn practice_round_on_replaced_texts_is_void() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 12);
    let session = open_in(folder, &path);
    let ana = annotators::add(&session.project, "ana", &Default::default()).unwrap().id;
    with_practice(&session, rule(1.0, AfterFailing::Stop));
    for _ in 0..3 {
        practise(&session, ana, false);
    }
    assert_eq!(step(&session, ana), PracticeStep::Stopped);
    // Nor can a real text be skipped or viewed before the practice is passed.
    let (asked, t5) = (question(&session), text(&session, "t5"));
    let code = |refused: dissensus_project::error::ProjectError| refused.code().to_owned();
    let stopped = label(&session, ana, "t5", 1).unwrap_err();
    assert_eq!(code(marks::skip(&session.labelling, ana, [asked], t5).unwrap_err()), stopped);
    assert_eq!(code(marks::flag(&session.labelling, ana, asked, t5, true).unwrap_err()), stopped);
    assert_eq!(code(next_text::neighbour(&session.labelling, ana, asked, t5, 1).unwrap_err()), stopped);

    // All texts are replaced: without wrong answers on the old ones no one passes.
    let off = |id: &str| NewPracticeText {
        question: asked,
        text: text(&session, id),
        answer: None,
        reason: String::new(),
    };
    study::set_practice(&session.study, &["t1", "t2", "t3"].map(off)).unwrap();
    let new = NewPracticeText { answer: Some(Answer::from_level(4)), ..off("t4") };
    study::set_practice(&session.study, &[new]).unwrap();
    let now = practice_answers::state_of(&session.labelling, ana).unwrap().unwrap();
    assert_eq!((now.step, now.round, now.done, now.total), (PracticeStep::Practise, 2, 0, 1));
    assert!(now.result.is_none(), "{:?}", now.result);
    let (next, _) = practise(&session, ana, true);
    assert_eq!((next.as_str(), step(&session, ana)), ("t4", PracticeStep::Label));
    // A text whose right answer people have seen is not a real text afterwards.
    let first = next_text::choose(&session.labelling, ana, asked, TextOrder::File, None).unwrap().unwrap();
    assert_eq!(first.external_id, "t5");
    let check = NewAttentionCheck {
        question: asked,
        text: text(&session, "t1"),
        answer: Some(Answer::from_level(2)),
        reason: String::new(),
    };
    assert!(study::set_checks(&session.study, &[check]).is_err());
}

#[test]
fn practice_texts_in_packets_are_not_assigned() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 20);
    let session = open_in(folder, &path);
    let ana = annotators::add(&session.project, "ana", &Default::default()).unwrap().id;
    with_practice(&session, rule(0.8, AfterFailing::Stop));
    let asked = question(&session);
    let set = |id: &str, answer: Option<u16>| {
        let answer = answer.map(Answer::from_level);
        let new =
            NewPracticeText { question: asked, text: text(&session, id), answer, reason: String::new() };
        study::set_practice(&session.study, &[new]).unwrap();
    };
    // Removed before there is any packet, it is a normal text.
    set("t9", Some(0));
    set("t9", None);
    assert_eq!(study::draft(&session.study, &request(&["ana", "ben"])).unwrap().texts, 17);
    for _ in 0..3 {
        practise(&session, ana, true);
    }
    assert_eq!(step(&session, ana), PracticeStep::Label);
    set("t3", None);
    set("t4", Some(0));
    assert_eq!(step(&session, ana), PracticeStep::Label, "a round that ended is not begun again");
    let reported =
        study::hand_out(&session.study, &request(&["ana", "ben"]), &folder.join("out"), &Silent).unwrap();
    for (person, wanted) in reported.people.iter().zip([PracticeStep::Label, PracticeStep::Practise]) {
        let own = open_in(folder, Path::new(person.file.as_ref().unwrap()));
        let me = info::read(&own.project).unwrap().packet.unwrap().annotator;
        assert_eq!(step(&own, me), wanted, "{}", person.annotator);
        assert_eq!(study::open_packet(&own.study).unwrap().unwrap().since, 0, "nothing was done in it yet");
    }
    // Both packets were handed out with the right answers of t1, t2 and t4.
    std::thread::sleep(std::time::Duration::from_millis(5));
    set("t1", None);
    assert_eq!(label(&session, ana, "t1", 1), Err("practice-text".to_owned()));
    set("t4", None);
    let check = |id: &str| NewAttentionCheck {
        question: asked,
        text: text(&session, id),
        answer: Some(Answer::from_level(2)),
        reason: String::new(),
    };
    assert_eq!(study::set_checks(&session.study, &[check("t4")]).unwrap_err().code(), "check-in-practice");
    assert_eq!(
        study::draft(&session.study, &request(&["ana", "cleo"])).unwrap().texts,
        16,
        "t1 to t4 are in no plan"
    );
    assert!(study::set_checks(&session.study, &[check("t9")]).is_ok());
}
