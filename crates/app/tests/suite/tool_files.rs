//! Files of annotation tools as use cases: recognised, reported, imported completely or not at all, and
//! again without duplicates.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, try_import};
use dissensus_analysis::repeats;
use dissensus_api::{ImportChoices, ImportNotice, NoteQuery};
use dissensus_app::session::Session;
use dissensus_domain::{QuestionId, ScaleKind};
use dissensus_editing::info;
use dissensus_editing::notes;
use dissensus_project::jobs::Progress;
use dissensus_transfer::exchange;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const TASKS: &str = r#"[
 {"id": 7, "data": {"text": "I like it", "source": "web"}, "drafts": [{"id": 1}],
  "annotations": [
   {"id": 1, "completed_by": 2, "ground_truth": true, "created_at": "2024-05-01T12:30:00Z", "lead_time": 2.5,
    "result": [
     {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["Good"]}},
     {"from_name": "topics", "to_name": "text", "type": "choices", "value": {"choices": ["a, or b", "c"]}},
     {"from_name": "parts", "to_name": "text", "type": "labels", "value": {"start": 2, "end": 6, "text": "like", "labels": ["V"]}}]},
   {"id": 2, "completed_by": {"email": "b@example.org"}, "created_at": "2024-05-01T12:31:00Z",
    "result": [{"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["Bad"]}}]},
   {"id": 3, "completed_by": {"email": "b@example.org"}, "created_at": "2024-05-01T12:40:00Z",
    "result": [{"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["Good"]}}]},
   {"id": 4, "completed_by": {"email": "c@example.org"}, "was_cancelled": true, "result": []}]},
 {"id": 8, "data": {"text": "nobody yet", "source": "web"}, "annotations": []}
]"#;

fn counted(notices: &[ImportNotice], code: &str) -> u32 {
    notices.iter().find(|notice| notice.code == code).map_or(0, |notice| notice.count)
}

fn question(session: &Session, name: &str) -> QuestionId {
    info::read(&session.project)
        .unwrap()
        .questions
        .into_iter()
        .find(|question| question.name == name)
        .unwrap()
        .id
}

#[test]
fn tool_file_is_previewed_and_imported() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("export.json", TASKS);
    let preview = exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap();
    assert_eq!((preview.format.name.as_str(), preview.format.of_tool), ("label-studio", true));
    assert_eq!(preview.questions, ["mood", "parts", "topics"]);
    assert_eq!((preview.new_texts, preview.new_annotators, preview.repeats), (2, 3, 2));
    assert!(preview.problem.is_none() && preview.bad_row_count == 0, "{preview:?}");
    for (code, count) in [("drafts", 1), ("gold", 1), ("skips", 1), ("later-occasions", 2)] {
        assert_eq!(counted(&preview.notices, code), count, "{code}");
    }
    let report = try_import(&session, &file, &ImportChoices::default()).unwrap();
    // Mood by two people, topics by one, parts by two, who were shown both.
    assert_eq!((report.texts, report.annotators, report.labels, report.repeats), (2, 3, 5, 2));
    assert_eq!(report.format.title, "Label Studio JSON");
    assert_eq!(counted(&report.notices, "drafts"), 1);
    assert!(
        report.remarks.iter().any(|remark| remark.contains("3 stored as skipped now")),
        "{:?}",
        report.remarks
    );
    let kinds: Vec<(String, ScaleKind, String)> = info::read(&session.project)
        .unwrap()
        .questions
        .into_iter()
        .map(|question| (question.name.clone(), question.scale.kind(), question.scale.levels().join("|")))
        .collect();
    let has = |name: &str, kind, levels: &str| kinds.contains(&(name.to_owned(), kind, levels.to_owned()));
    assert!(has("mood", ScaleKind::Binary, "Bad|Good"), "{kinds:?}");
    // A comma in the name of an option is part of the name.
    assert!(has("topics", ScaleKind::MultiLabel, "a, or b|c"), "{kinds:?}");
    assert!(has("parts", ScaleKind::Spans, "V"), "{kinds:?}");
    let skipped = notes::list(
        &session.project,
        &NoteQuery { question: Some(question(&session, "mood")), ..NoteQuery::default() },
    )
    .unwrap();
    assert!(skipped.iter().any(|mark| mark.skipped), "{skipped:?}");
    assert_eq!(repeats::report(&session.analysis, question(&session, "mood")).unwrap().annotators.len(), 1);
}

#[test]
fn renamed_file_imports_nothing_new() {
    let place = TestFolder::new();
    let session = place.project("p");
    try_import(&session, &place.file("export.json", TASKS), &ImportChoices::default()).unwrap();
    let again = try_import(&session, &place.file("copy.json", TASKS), &ImportChoices::default()).unwrap();
    assert_eq!((again.texts, again.annotators, again.labels, again.repeats), (0, 0, 0, 0), "{again:?}");
    assert_eq!(again.repeated_rows, 7);
}

#[test]
fn answer_changed_in_the_tool_replaces_the_old_one() {
    let place = TestFolder::new();
    let session = place.project("p");
    try_import(&session, &place.file("export.json", TASKS), &ImportChoices::default()).unwrap();
    let changed = TASKS.replacen("\"choices\": [\"Good\"]", "\"choices\": [\"Bad\"]", 1);
    let report =
        try_import(&session, &place.file("later.json", &changed), &ImportChoices::default()).unwrap();
    assert_eq!((report.labels, report.changes.replaced_labels), (1, 1), "{report:?}");
}

#[test]
fn stopped_import_leaves_nothing() {
    /// Stops at the fifth report.
    #[derive(Debug, Default)]
    struct Stopping(AtomicU32);
    impl Progress for Stopping {
        fn report(&self, _: u64, _: Option<u64>, _: &str) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= 5
        }
    }
    let place = TestFolder::new();
    let session = place.project("p");
    let line = |n: u32| {
        format!(
            "{{\"text\":\"text {n}\",\"_input_hash\":{n},\"label\":\"rude\",\"_view_id\":\"classification\",\"answer\":\"{}\",\"_annotator_id\":\"a{}\"}}\n",
            if n.is_multiple_of(3) { "accept" } else { "reject" },
            n % 7
        )
    };
    let file = place.file("db.jsonl", &(0..4000).map(line).collect::<String>());
    let stopping: Arc<dyn Progress> = Arc::new(Stopping::default());
    let error =
        exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&stopping)).unwrap_err();
    assert_eq!(error.problem().code, "cancelled", "{error}");
    assert!(info::read(&session.project).unwrap().questions.is_empty());
    assert_eq!(try_import(&session, &file, &ImportChoices::default()).unwrap().labels, 4000);
}

#[test]
fn unnamed_annotators_must_be_named() {
    let place = TestFolder::new();
    let session = place.project("p");
    let merged = "{\"id\":1,\"text\":\"a\",\"label\":[\"x\"],\"Comments\":[]}\n{\"id\":2,\"text\":\"b\",\"label\":[\"y\"],\"Comments\":[]}\n";
    let file = place.file("all.jsonl", merged);
    let preview = exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap();
    assert!(preview.problem.unwrap().message.contains("merged"), "the preview shows the reason");
    assert_eq!(preview.rows.len(), 2, "and shows what is there");
    let mut columns = exchange::guess_columns(&session.exchange, &file, &ImportChoices::default()).unwrap();
    columns.annotator = Some("=everybody".to_owned());
    let named = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
    assert_eq!(try_import(&session, &file, &named).unwrap().labels, 2);

    let tasks = place.file("export.json", TASKS);
    let one = ImportChoices { question: Some("mood".to_owned()), ..ImportChoices::default() };
    let error = try_import(&session, &tasks, &one).unwrap_err();
    assert_eq!(error.problem().code, "several-questions", "{error}");
    assert!(error.to_string().contains("mood, topics, parts"), "{error}");
}

#[test]
fn named_format_is_used() {
    let place = TestFolder::new();
    let session = place.project("p");
    let line = "{\"text\":\"a\",\"_input_hash\":1,\"label\":\"x\",\"answer\":\"accept\",\"annotator\":\"ann\"}\n\
                {\"text\":\"b\",\"_input_hash\":2,\"label\":\"y\",\"answer\":\"accept\",\"annotator\":\"ann\"}\n";
    let file = place.file("db.jsonl", line);
    let plain = ImportChoices { format: Some("jsonl".to_owned()), ..ImportChoices::default() };
    let preview = exchange::preview(&session.exchange, &file, &plain).unwrap();
    assert_eq!((preview.format.name.as_str(), preview.format.of_tool), ("jsonl", false));
    let report = try_import(&session, &file, &plain).unwrap();
    assert_eq!((report.labels, report.question.as_deref()), (2, Some("db")));
    let unknown = ImportChoices { format: Some("excel".to_owned()), ..ImportChoices::default() };
    let error = exchange::preview(&session.exchange, &file, &unknown).unwrap_err();
    assert_eq!(error.problem().code, "file-format");
}

#[test]
fn answers_by_text_id_need_imported_texts() {
    let place = TestFolder::new();
    let session = place.project("p");
    let states = place.path("output");
    for (person, value) in [("alice", "positive"), ("bob", "negative")] {
        let folder = states.join(person);
        std::fs::create_dir_all(&folder).unwrap();
        let state = format!(
            r#"{{"user_id": "{person}", "instance_id_to_label_to_value": {{"r1": [[{{"schema": "mood", "name": "{value}"}}, "true"]]}}}}"#
        );
        std::fs::write(folder.join("user_state.json"), state).unwrap();
    }
    let preview = exchange::preview(&session.exchange, &states, &ImportChoices::default()).unwrap();
    assert_eq!(preview.format.name, "potato-state");
    let reported =
        preview.problem.map_or_else(|| preview.bad_rows[0].message.clone(), |problem| problem.message);
    assert!(reported.contains("import the texts first"), "{reported}");
    let texts = place.file("data.jsonl", "{\"id\":\"r1\",\"text\":\"so good\"}\n");
    try_import(&session, &texts, &ImportChoices::default()).unwrap();
    let report = try_import(&session, &states, &ImportChoices::default()).unwrap();
    assert_eq!((report.texts, report.annotators, report.labels), (0, 2, 2));
}
