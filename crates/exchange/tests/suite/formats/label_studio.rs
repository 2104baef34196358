//! Label Studio: tasks, JSON_MIN, CSV.

use super::reading::file;
use dissensus_domain::ScaleKind;

const TASKS: &str = r#"[
 {"id": 7, "data": {"text": "I like it 😊 , Ann", "source": "web"}, "drafts": [{"id": 1}], "predictions": [{"id": 1}, {"id": 2}],
  "annotations": [
   {"id": 1, "completed_by": 2, "was_cancelled": false, "ground_truth": true, "created_at": "2024-05-01T12:30:00.123456Z",
    "updated_at": "2024-05-02T12:30:00Z", "lead_time": 2.5, "reviews": [{"id": 9}],
    "result": [
     {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["Good, really"]}},
     {"from_name": "topics", "to_name": "text", "type": "choices", "value": {"choices": ["a", "b"]}},
     {"from_name": "stars", "to_name": "text", "type": "rating", "value": {"rating": 4}},
     {"from_name": "why", "to_name": "text", "type": "textarea", "value": {"text": ["the smile"]}},
     {"from_name": "names", "to_name": "text", "type": "labels", "value": {"start": 15, "end": 18, "text": "Ann", "labels": ["PER"]}}]},
   {"id": 2, "completed_by": {"id": 1, "email": "b@example.org"}, "lead_time": 1.0, "created_at": "2024-05-01T12:31:00Z",
    "result": [{"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["Bad"]}},
               {"from_name": "topics", "to_name": "text", "type": "choices", "value": {"choices": []}}]},
   {"id": 3, "completed_by": {"id": 1, "email": "b@example.org"}, "created_at": "2024-05-01T11:00:00Z",
    "result": [{"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["Good, really"]}}]},
   {"id": 4, "completed_by": {"email": "c@example.org"}, "was_cancelled": true, "result": []}]},
 {"id": 8, "data": {"text": "nobody yet", "source": "web"}, "annotations": []}
]"#;

#[test]
fn tasks_with_several_questions_people_and_rounds() {
    let read = file("export.json", TASKS).read();
    assert_eq!(read.format(), "label-studio");
    assert_eq!(read.problems, Vec::<String>::new());
    let spans = r#"[{"start":14,"end":17,"label":"PER"}]"#;
    assert_eq!(
        read.summaries(),
        [
            "2 7 mood Good, really".to_owned(),
            "2 7 topics a + b".to_owned(),
            "2 7 stars 4".to_owned(),
            format!("2 7 names {spans}"),
            // The later of the two annotations of one annotator is the second round, wherever it is in the
            // file.
            "b@example.org 7 mood Bad #2".to_owned(),
            "b@example.org 7 topics none".to_owned(),
            "b@example.org 7 names [] #2".to_owned(),
            "b@example.org 7 mood Good, really".to_owned(),
            "b@example.org 7 names []".to_owned(),
            "c@example.org 7 mood skipped".to_owned(),
            "c@example.org 7 topics skipped".to_owned(),
            "c@example.org 7 stars skipped".to_owned(),
            "c@example.org 7 names skipped".to_owned(),
            "8".to_owned(),
        ]
    );
    let first = &read.rows[0];
    assert_eq!((first.at_ms, first.duration_ms), (Some(1_714_566_600_123), Some(2500)));
    assert_eq!(first.note.note.as_deref(), Some("why: the smile"));
    assert_eq!(first.metadata.get("source").map(String::as_str), Some("web"));
    assert_eq!(first.text.as_deref(), Some("I like it 😊 , Ann"));
    assert_eq!(
        read.met(),
        [
            ("drafts", 1),
            ("gold", 1),
            ("later-occasions", 2),
            ("notes", 1),
            ("predictions", 2),
            ("reviews", 1),
            ("skips", 1)
        ]
    );
    let hint = |name: &str| read.source.hints().into_iter().find(|hint| hint.name == name);
    assert_eq!(hint("topics").unwrap().kind, ScaleKind::MultiLabel);
    assert_eq!(hint("topics").unwrap().levels, ["a", "b"]);
    assert_eq!(hint("names").unwrap().kind, ScaleKind::Spans);
    assert_eq!(hint("mood"), None);
    assert_eq!(read.scan.texts, 2);
}

#[test]
fn single_task_is_read() {
    let task = r#"{"id": 1, "data": {"title": "x", "review": "A good book"},
        "annotations": [{"completed_by": 1, "result": [{"from_name": "q", "to_name": "review", "type": "choices", "value": {"choices": ["y"]}}]}]}"#;
    let read = file("task.json", task).read();
    assert_eq!((read.format(), read.summaries()), ("label-studio", vec!["1 1 q y".to_owned()]));
    assert_eq!(read.roles.text.as_deref(), Some("review"), "the text that the answer is about");
}

#[test]
fn span_with_other_words_is_a_bad_row() {
    let task = r#"[{"id": 1, "data": {"text": "one two"}, "annotations": [{"id": 5, "completed_by": 1, "result": [
        {"from_name": "q", "to_name": "text", "type": "labels", "value": {"start": 0, "end": 3, "text": "two", "labels": ["x"]}}]}]}]"#;
    let message = file("a.json", task).refusal();
    assert!(
        message.contains("task 1, annotation 5") && message.contains("there the text has \"one\""),
        "{message}"
    );
}

#[test]
fn image_tasks_are_refused() {
    let task = r#"[{"id": 1, "data": {"image": "/data/a.png"}, "annotations": [{"id": 5, "completed_by": 1, "result": [
        {"from_name": "q", "to_name": "image", "type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["x"]}}]}]}]"#;
    let message = file("a.json", task).refusal();
    assert!(message.contains("no answers about texts") && message.contains("rectanglelabels"), "{message}");
}

#[test]
fn answers_without_annotator_need_a_name() {
    let task = r#"[{"id": 1, "data": {"text": "x"}, "annotations": [{"completed_by": null, "result": [
        {"from_name": "q", "to_name": "text", "type": "choices", "value": {"choices": ["x"]}}]}]}]"#;
    let fixture = file("a.json", task);
    assert!(
        fixture.refusal().contains("none of its annotations has \"completed_by\""),
        "{}",
        fixture.refusal()
    );
    assert_eq!(fixture.read_as(Some("=ann")).summaries(), ["ann 1 q x"]);
}

#[test]
fn json_min_and_csv_records_are_read() {
    let records = r#"[
     {"id": 1, "text": "a b", "annotator": 1, "annotation_id": 10, "created_at": "2024-05-01T12:30:00Z", "lead_time": 3.25,
      "mood": "Good", "many": {"choices": ["x", "y"]}, "names": [{"start": 0, "end": 1, "text": "a", "labels": ["N"]}]},
     {"id": 1, "text": "a b", "annotator": 2, "annotation_id": 11, "created_at": "2024-05-01T12:31:00Z", "lead_time": 1,
      "mood": "Bad", "many": "x", "names": []}]"#;
    let read = file("min.json", records).read();
    assert_eq!(read.format(), "label-studio-flat");
    let spans = r#"[{"start":0,"end":1,"label":"N"}]"#;
    assert_eq!(
        read.summaries(),
        ["1 1 many x + y", "1 1 mood Good", &format!("1 1 names {spans}"), "2 1 many x", "2 1 mood Bad"]
    );
    assert_eq!(read.rows[0].duration_ms, Some(3250));

    let csv = "annotation_id,annotator,created_at,id,lead_time,many,mood,text,site\n\
        10,ada@example.org,2024-05-01T12:30:00Z,1,3.25,\"{\"\"choices\"\":[\"\"x\"\",\"\"y\"\"]}\",Good,a b,s1\n\
        11,bo@example.org,2024-05-01T12:31:00Z,1,1,x,Bad,a b,s1\n\
        12,bo@example.org,2024-05-01T12:32:00Z,2,1,,Bad,c d,s1\n";
    let read = file("export.csv", csv).read();
    assert_eq!(read.format(), "label-studio-flat");
    assert_eq!(
        read.summaries(),
        [
            "ada@example.org 1 many x + y",
            "ada@example.org 1 mood Good",
            "bo@example.org 1 many x",
            "bo@example.org 1 mood Bad",
            "bo@example.org 2 mood Bad"
        ]
    );
    assert_eq!(read.rows[0].metadata.get("site").map(String::as_str), Some("s1"));
}

#[test]
fn csv_without_answers_is_refused() {
    let csv = "id,annotator,annotation_id,lead_time,uri\n4,a@example.org,9,10.7,spotify://x\n";
    let message = file("export.csv", csv).refusal();
    assert!(message.contains("no column differs"), "{message}");
}
