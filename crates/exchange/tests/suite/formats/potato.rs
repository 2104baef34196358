//! Potato: states and exports, which have only the ids of texts.

use super::reading::{archive, file, folder};
use dissensus_exchange::{Checker, guess_roles, read_rows};

const ALICE: &str = r#"{"user_id": "alice", "instance_id_ordering": ["r1", "r2"],
  "instance_id_to_label_to_value": {
    "r1": [[{"schema": "sentiment", "name": "positive"}, "true"], [{"schema": "aspects", "name": "acting"}, true], [{"schema": "aspects", "name": "plot"}, true],
           [{"schema": "quality", "name": "scale_4"}, "4"], [{"schema": "why", "name": "text_box"}, "so good"]],
    "r2": [[{"schema": "sentiment", "name": "negative"}, "true"], [{"schema": "aspects", "name": "plot"}, true]]},
  "instance_id_to_span_to_value": {"r1": [[{"schema": "parts", "name": "key", "start": 2, "end": 5}, "true"]]},
  "instance_id_to_behavioral_data": {"r1": {"session_start": 1700000000.0, "session_end": 1700000010.0, "total_time_ms": 9500,
     "annotation_changes": [{"timestamp": 1700000004.5}]}},
  "phase_to_page_to_label_to_value": {"consent": {"p": []}}}"#;
const BOB: &str = r#"{"user_id": "bob", "instance_id_to_label_to_value": {"r1": [[{"schema": "sentiment", "name": "negative"}, "true"]]}}"#;

#[test]
fn state_folder_is_read() {
    let files = [("alice/user_state.json", ALICE), ("bob/user_state.json", BOB), ("alice/other.txt", "x")];
    for fixture in [folder(&files), archive("states.zip", &files)] {
        let source = dissensus_exchange::Source::open(&fixture.path).unwrap();
        let roles = guess_roles(&source).unwrap();
        assert_eq!((source.format().name, roles.text.as_deref()), ("potato-state", None));
        let read = fixture.read();
        // Without the texts every row is bad, with a message about what to do.
        assert_eq!(read.scan.problem_count, read.scan.rows);
        assert!(read.scan.problems[0].to_string().contains("import the texts first"));
        let span = r#"alice r1 parts [{"start":2,"end":5,"label":"key"}]"#;
        assert_eq!(
            read.summaries(),
            [
                "alice r1 aspects acting + plot",
                "alice r1 quality 4",
                "alice r1 sentiment positive",
                span,
                "alice r2 aspects plot",
                "alice r2 sentiment negative",
                "bob r1 sentiment negative"
            ]
        );
        assert_eq!((read.rows[0].at_ms, read.rows[0].duration_ms), (Some(1_700_000_004_500), Some(9500)));
        assert_eq!(read.rows[0].note.note.as_deref(), Some("why: so good"));
        // With them they are labels.
        let mut checker = Checker::by_question(None);
        checker.seed_text("r1", "one text");
        checker.seed_text("r2", "another");
        let mut rows = read_rows(&source, &roles).unwrap();
        let mut labels = 0;
        while let Some(row) = rows.next_checked(&mut checker) {
            row.unwrap();
            labels += 1;
        }
        assert_eq!(labels, 7);
    }
}

#[test]
fn line_and_csv_exports_are_read() {
    let lines = r#"{"instance_id":"r1","user_id":"alice","labels":{"sentiment":{"positive":"true"},"aspects":{"acting":"true","plot":"true"}},"spans":{"parts":[{"start":0,"end":2,"name":"key"}]},"links":{}}
{"instance_id":"r1","user_id":"bob","labels":{"sentiment":{"positive":"true"},"aspects":{"acting":"true"}},"spans":{},"links":{}}
"#;
    let read = file("annotations.jsonl", lines).read();
    let span = r#"alice r1 parts [{"start":0,"end":2,"label":"key"}]"#;
    let wanted = [
        "alice r1 aspects acting + plot",
        "alice r1 sentiment positive",
        span,
        "bob r1 aspects acting",
        "bob r1 sentiment positive",
    ];
    assert_eq!((read.format(), read.summaries()), ("potato", wanted.map(str::to_owned).to_vec()));
    let csv = "instance_id,user_id,sentiment.positive,sentiment.negative,aspects.acting,aspects.plot,quality.label\n\
        r1,alice,true,,true,true,4\nr1,bob,,true,,true,2\n";
    let read = file("annotations.csv", csv).read();
    let wanted = [
        "alice r1 aspects acting + plot",
        "alice r1 quality 4",
        "alice r1 sentiment positive",
        "bob r1 aspects plot",
        "bob r1 quality 2",
        "bob r1 sentiment negative",
    ];
    assert_eq!((read.format(), read.summaries()), ("potato", wanted.map(str::to_owned).to_vec()));
}
