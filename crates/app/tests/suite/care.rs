//! Care for annotators: a limit of harmful texts per day, excluded topics, and what the study learns about
//! these.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, import_into, open_in};
use dissensus_api::{
    CareInfo, HarmfulFrom, ImportChoices, MergeConsent, NewLabel, OwnCare, StudyCare, StudyRequest, TextOrder,
};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, FactKind, LevelId, QuestionId, TextId};
use dissensus_editing::QuestionChange;
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::reveal;
use dissensus_editing::withdraw;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::care;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::progress;
use dissensus_labelling::record;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_store::Store;
use dissensus_transfer::exchange;
use dissensus_transfer::study;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const RUDE: QuestionId = QuestionId(1);

/// Eight texts in two groups, of which t3 and t6 are about war; another person has labelled them, and Ana
/// and Ben have joined.
fn project(folder: &Path) -> PathBuf {
    let path = folder.join("p.dissensus");
    let session = create(&path);
    let body =
        |n: usize| if n.is_multiple_of(3) { format!("War is text {n}") } else { format!("Body of text {n}") };
    let rows: String =
        (1..=8).map(|n| format!("t{n},{},g{},stranger,{}\n", body(n), n % 2, n % 3 + 1)).collect();
    import_into(&session, "rude", &format!("text_id,text,group,annotator_id,label\n{rows}"));
    for person in ["ana", "ben"] {
        annotators::add(&session.project, person, &Default::default()).unwrap();
    }
    session.close();
    path
}

fn person(session: &Session, name: &str) -> AnnotatorId {
    annotators::find(&session.project, name).unwrap().id
}

fn harmful(level: u16) -> HarmfulFrom {
    HarmfulFrom { question: RUDE, level: LevelId(level) }
}

fn limit(limit: u32, strict: bool) -> StudyCare {
    StudyCare { limit: Some(limit), strict, greyscale: false, harmful: vec![harmful(2)] }
}

/// Reads and labels the next text, like the window, and returns the resulting care state.
fn label_next(session: &Session, who: AnnotatorId, level: u16) -> CareInfo {
    let task = next_text::choose(&session.labelling, who, RUDE, TextOrder::File, None).unwrap().unwrap();
    care::note_read(&session.labelling, who, task.text).unwrap();
    let answer = Answer::from_level(level);
    let new = NewLabel { question: RUDE, annotator: who, text: task.text, answer, duration_ms: None };
    record::record_label(&session.labelling, &new).unwrap();
    care::note_read(&session.labelling, who, task.text).unwrap()
}

fn next(session: &Session, who: AnnotatorId) -> Option<String> {
    next_text::choose(&session.labelling, who, RUDE, TextOrder::File, None)
        .unwrap()
        .map(|task| task.external_id)
}

#[test]
fn daily_limit_can_be_exceeded_only_if_the_study_allows() {
    let folder = tempfile::tempdir().unwrap();
    let session = open_in(folder.path(), &project(folder.path()));
    let (ana, ben) = (person(&session, "ana"), person(&session, "ben"));
    assert!(!care::state(&session.labelling, ana).unwrap().reached, "nothing is set at first");
    dissensus_editing::care::set(&session.project, &limit(2, false)).unwrap();
    assert!(!label_next(&session, ana, 2).reached);
    assert!(!label_next(&session, ana, 0).reached, "it is not harmful to her");
    let info = label_next(&session, ana, 2);
    assert!(info.reached && info.may_go_on);
    assert!(!care::state(&session.labelling, ben).unwrap().reached, "a limit is of each person");
    // It persists when the project is opened again, and in another window on this computer.
    session.close();
    let session = open_in(folder.path(), &folder.path().join("p.dissensus"));
    assert!(care::state(&session.labelling, ana).unwrap().reached);
    dissensus_editing::care::set(&session.project, &limit(2, true)).unwrap();
    let refused = care::go_on_today(&session.labelling, ana).unwrap_err();
    assert_eq!(refused.code(), "finished-today");
    assert!(care::state(&session.labelling, ana).unwrap().reached);
    dissensus_editing::care::set(&session.project, &limit(2, false)).unwrap();
    assert!(!care::go_on_today(&session.labelling, ana).unwrap().reached);
    assert!(!label_next(&session, ana, 2).reached, "until the day ends");
    // The command is not limited: scripts are not people.
    by_name::record(&session.labelling, &LabelByName::new("ana", "t8", "1", None)).unwrap();
}

#[test]
fn personal_limit_can_be_lower_and_flags_count() {
    let folder = tempfile::tempdir().unwrap();
    let session = open_in(folder.path(), &project(folder.path()));
    let ana = person(&session, "ana");
    let own = |limit| OwnCare { limit, ..OwnCare::default() };
    assert_eq!(care::set_own(&session.labelling, ana, &own(Some(0))).unwrap_err().code(), "setting");
    let info = care::set_own(&session.labelling, ana, &own(Some(1))).unwrap();
    assert_eq!((info.limit, info.reached), (Some(1), false));
    assert!(!label_next(&session, ana, 2).reached, "nobody has marked texts as harmful");
    marks::flag(&session.labelling, ana, RUDE, TextId(1), true).unwrap();
    assert!(care::note_read(&session.labelling, ana, TextId(1)).unwrap().reached);
    dissensus_editing::care::set(&session.project, &limit(3, true)).unwrap();
    assert_eq!(care::set_own(&session.labelling, ana, &own(Some(9))).unwrap().limit, Some(3));
    // Her chosen level applies if the study names none.
    dissensus_editing::care::set(&session.project, &StudyCare::default()).unwrap();
    let own = OwnCare { limit: Some(2), harmful: Some(harmful(1)), ..OwnCare::default() };
    care::set_own(&session.labelling, ana, &own).unwrap();
    assert!(label_next(&session, ana, 1).reached);
    let off = OwnCare { harmful: Some(harmful(9)), ..OwnCare::default() };
    assert_eq!(care::set_own(&session.labelling, ana, &off).unwrap_err().code(), "level-removed");
    // It stays the same level when another one is added below it.
    let question = questions::find(&session.project, None).unwrap();
    let below: Vec<String> =
        std::iter::once("0".to_owned()).chain(question.scale.levels().iter().cloned()).collect();
    let levels = Some(questions::levels_named(&question, &below));
    let change = QuestionChange { levels, ..QuestionChange::default() };
    questions::edit(&session.project, question.id, &change).unwrap();
    assert_eq!(care::state(&session.labelling, ana).unwrap().own.harmful, Some(harmful(1)));
}

#[test]
fn predicted_harm_counts_and_names_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.dissensus");
    sample::create(&path).unwrap();
    let session = open_in(folder.path(), &path);
    reveal::set(&session.project, false).unwrap();
    session.live.fit(RUDE, &Silent).unwrap();
    let ana = annotators::add(&session.project, "ana", &Default::default()).unwrap().id;
    dissensus_editing::care::set(
        &session.project,
        &StudyCare { harmful: vec![harmful(3)], ..StudyCare::default() },
    )
    .unwrap();
    let texts = info::read(&session.project).unwrap().texts;
    let mut draft = vec![(0, 0)];
    for text in 1..=texts {
        let info = care::note_read(&session.labelling, ana, TextId(text)).unwrap();
        // The displayed counts change only after every fifth text.
        if text % 5 != 0 {
            assert_eq!(Some(&(info.today, info.in_all)), draft.last(), "text {text}");
        }
        draft.push((info.today, info.in_all));
    }
    let (today, in_all) = draft[draft.len() - 1];
    assert!(today > 5 && today < texts / 2 && today == in_all, "{today} of {texts}");
    // None of this is in the project.
    session.close();
    let store = Store::open_reader(&path).unwrap();
    assert!(store.all_facts(FactKind::LeftOut).unwrap().is_empty());
}

#[test]
fn filtered_topics_are_not_offered_and_only_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let session = open_in(folder.path(), &path);
    let (ana, ben) = (person(&session, "ana"), person(&session, "ben"));
    label_next(&session, ana, 0);
    let own = OwnCare { words: vec!["WAR".into()], ..OwnCare::default() };
    let info = care::set_own(&session.labelling, ana, &own).unwrap();
    assert_eq!(info.left_out, 2);
    let progress = progress::count(&session.labelling, ana, RUDE).unwrap();
    assert_eq!((progress.done, progress.total, progress.left_out, progress.skipped), (1, 6, 2, 0));
    // Neither in file order nor as a neighbour.
    assert_eq!(next(&session, ana).as_deref(), Some("t2"));
    let neighbour = next_text::neighbour(&session.labelling, ana, RUDE, TextId(2), 1).unwrap().unwrap();
    assert_eq!(neighbour.external_id, "t4");
    let before = next_text::neighbour(&session.labelling, ana, RUDE, TextId(4), -1).unwrap().unwrap();
    assert_eq!(before.external_id, "t2");
    for order in [TextOrder::File, TextOrder::Random] {
        let mut seen = Vec::new();
        let mut after = None;
        while seen.len() < 6 {
            let task =
                next_text::choose(&session.labelling, ana, RUDE, order.clone(), after).unwrap().unwrap();
            assert!(!["t3", "t6"].contains(&task.external_id.as_str()), "{order:?}");
            after = Some(task.text);
            seen.push(task.text);
        }
    }
    while next(&session, ana).is_some() {
        label_next(&session, ana, 0);
    }
    let progress = progress::count(&session.labelling, ana, RUDE).unwrap();
    assert_eq!((progress.done, progress.total), (6, 6), "she is done");
    assert_eq!(progress::count(&session.labelling, ben, RUDE).unwrap().total, 8);
    // A group, and texts that were added later.
    let own = OwnCare { groups: vec!["g0".into()], ..OwnCare::default() };
    care::set_own(&session.labelling, ben, &own).unwrap();
    assert_eq!(progress::count(&session.labelling, ben, RUDE).unwrap().total, 4);
    let groups = dissensus_editing::care::text_groups(&session.project).unwrap();
    assert_eq!(groups.iter().map(|group| group.texts).collect::<Vec<_>>(), [4, 4]);
    let more = folder.path().join("more.csv");
    std::fs::write(&more, "text_id,text,group\nt9,After the war,g1\n").unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &more, &ImportChoices::default(), Some(&silent)).unwrap();
    assert_eq!(progress::count(&session.labelling, ana, RUDE).unwrap().left_out, 3);
    session.close();
    let store = Store::open_reader(&path).unwrap();
    assert_eq!(store.left_out(ana).unwrap(), 3);
    // Neither the words nor which texts are in the file.
    let facts = format!("{:?}", store.all_facts(FactKind::LeftOut).unwrap());
    assert!(!facts.to_lowercase().contains("war"), "{facts}");
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(5).any(|window| window == b"\"WAR\""));
}

#[test]
fn packet_has_limits_and_submits_only_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let session = open_in(folder.path(), &path);
    dissensus_editing::care::set(&session.project, &StudyCare { greyscale: true, ..limit(1, true) }).unwrap();
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
    let file = PathBuf::from(draft.people[0].file.as_ref().unwrap());
    let packet = Session::open(&file, &Home::inside(&folder.path().join("elsewhere"), Vec::new())).unwrap();
    let care = info::read(&packet.project).unwrap().care;
    assert_eq!((care.limit, care.strict, care.greyscale), (Some(1), true, true));
    assert_eq!(care.harmful.iter().map(|one| one.level.0).collect::<Vec<_>>(), [2]);
    assert_eq!(
        dissensus_editing::care::set(&packet.project, &StudyCare::default()).unwrap_err().code(),
        "in-packet"
    );
    let me = annotators::list(&packet.project).unwrap()[0].id;
    let own = OwnCare { words: vec!["war".into()], ..OwnCare::default() };
    assert_eq!(care::set_own(&packet.labelling, me, &own).unwrap().left_out, 2);
    while next_text::choose(&packet.labelling, me, RUDE, TextOrder::File, None).unwrap().is_some() {
        label_next(&packet, me, 0);
    }
    let open_packet = study::open_packet(&packet.study).unwrap().unwrap();
    assert_eq!((open_packet.given, open_packet.wanted), (6, 6));
    // She changes an answer: the day ends, and that is not in the submission.
    let new = NewLabel {
        question: RUDE,
        annotator: me,
        text: TextId(1),
        answer: Answer::from_level(2),
        duration_ms: None,
    };
    record::record_label(&packet.labelling, &new).unwrap();
    assert!(care::note_read(&packet.labelling, me, TextId(1)).unwrap().reached);
    let hand_in = folder.path().join("ana.handin");
    study::hand_in(&packet.study, &hand_in, false).unwrap();
    for _ in 0..2 {
        let merged =
            study::merge(&session.study, std::slice::from_ref(&hand_in), &MergeConsent::all(), &Silent)
                .unwrap();
        assert!(!merged.files[0].refused, "{:?}", merged.files[0].problems);
        let report = study::report(&session.study).unwrap();
        assert_eq!((report.people[0].left_out, report.people[0].given), (2, 6));
    }
    assert_eq!(dissensus_editing::care::read(&session.project).unwrap().limit, Some(1));
    // On this computer she has read nothing.
    assert!(!care::state(&session.labelling, person(&session, "ana")).unwrap().reached);
}

#[test]
fn care_settings_merge_and_withdrawal_erases_counts() {
    let folder = tempfile::tempdir().unwrap();
    let here = project(folder.path());
    let there = folder.path().join("copy.dissensus");
    std::fs::copy(&here, &there).unwrap();
    let other = open_in(folder.path(), &there);
    dissensus_editing::care::set(&other.project, &limit(7, false)).unwrap();
    other.close();
    let session = open_in(folder.path(), &here);
    let ana = person(&session, "ana");
    study::merge(&session.study, std::slice::from_ref(&there), &MergeConsent::all(), &Silent).unwrap();
    assert_eq!(dissensus_editing::care::read(&session.project).unwrap(), limit(7, false));
    let twice = StudyCare { harmful: vec![harmful(1), harmful(2)], ..StudyCare::default() };
    assert_eq!(dissensus_editing::care::set(&session.project, &twice).unwrap_err().code(), "setting");
    assert_eq!(dissensus_editing::care::read(&session.project).unwrap(), limit(7, false), "nothing half set");
    label_next(&session, ana, 2);
    let own = OwnCare { words: vec!["war".into()], ..OwnCare::default() };
    care::set_own(&session.labelling, ana, &own).unwrap();
    let kept = || {
        let files = std::fs::read_dir(folder.path().join("home")).unwrap();
        files
            .filter(|file| {
                let name = file.as_ref().unwrap().file_name().to_string_lossy().into_owned();
                name.starts_with("care-")
            })
            .count()
    };
    assert_eq!(kept(), 1);
    withdraw::withdraw(&session.project, ana).unwrap();
    assert_eq!(kept(), 0);
    session.close();
    assert!(Store::open_reader(&here).unwrap().all_facts(FactKind::LeftOut).unwrap().is_empty());
}

/// The log names the level itself, also where its id is another number than its position.
#[test]
fn history_names_the_harmful_level() {
    let folder = tempfile::tempdir().unwrap();
    let session = open_in(folder.path(), &project(folder.path()));
    let question = questions::find(&session.project, Some("rude")).unwrap();
    let mut names = question.scale.levels().to_vec();
    names.insert(0, "none at all".to_owned());
    let levels = Some(questions::levels_named(&question, &names));
    questions::edit(&session.project, RUDE, &QuestionChange { levels, ..QuestionChange::default() }).unwrap();
    dissensus_editing::care::set(&session.project, &limit(1, false)).unwrap();
    let request = dissensus_api::HistoryRequest { limit: 100, ..Default::default() };
    let log = dissensus_editing::history::read(&session.project, &request).unwrap();
    let expected = format!("harmful: {}", question.scale.name_of(LevelId(2)).unwrap());
    assert!(log.entries.iter().any(|entry| entry.what == expected), "{:?}", log.entries);
}
