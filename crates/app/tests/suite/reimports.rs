//! Imports of what a project has already: equal bodies, answers given again, skipped texts, many annotators.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, import, import_as_guessed, import_csv};
use dissensus_api::{ImportChoices, ImportReport};
use dissensus_app::session::Session;
use dissensus_editing::info;
use dissensus_project::jobs::Silent;
use dissensus_transfer::exchange::{self, ExportChoices};
use std::path::Path;

const WITH_IDS: &str =
    "text_id,text,annotator_id,label\n1,Hello there,ada,1\n2,\"Good, bye\",ada,2\n3,Once more,ada,3\n";
const BODIES: &str = "text,annotator_id,label\nHello there,ben,3\n\"Good, bye\",ben,2\nOnce more,ben,1\n";

fn texts(session: &Session) -> u32 {
    info::read(&session.project).unwrap().texts
}

fn codes(report: &ImportReport) -> Vec<&str> {
    report.notices.iter().map(|notice| notice.code.as_str()).collect()
}

#[test]
fn body_without_an_id_finds_its_text() {
    let place = TestFolder::new();
    let session = place.project("p");
    import_csv(&session, WITH_IDS, &ImportChoices::default());
    let report = import_csv(&session, BODIES, &ImportChoices::default());
    assert_eq!((report.texts, report.labels), (0, 3), "{report:?}");
    assert!(codes(&report).contains(&"texts-by-body"), "{report:?}");
    // What is reported about the text has the id that the project knows.
    let again = import_csv(&session, "text,annotator_id,label\nOnce more,ben,2\n", &ImportChoices::default());
    let replaced = again.notices.iter().find(|notice| notice.code == "replaced-labels").unwrap();
    assert_eq!(replaced.places[0].text_id, "3", "{again:?}");
    let out = place.path("out.csv");
    exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
    let table = std::fs::read_to_string(out).unwrap();
    assert!(table.contains("1,Hello there,ben,3,") && table.contains("3,Once more,ben,2,"), "{table}");
}

#[test]
fn second_text_with_a_body_is_reported() {
    let place = TestFolder::new();
    let session = place.project("p");
    import_csv(&session, BODIES, &ImportChoices::default());
    let report = import_csv(&session, WITH_IDS, &ImportChoices::default());
    assert_eq!(report.texts, 3);
    let notice = report.notices.iter().find(|notice| notice.code == "same-bodies").unwrap();
    assert_eq!(notice.count, 3);
    assert!(notice.message.contains("--ignore text_id"), "{notice:?}");
    // As the notice says.
    let session = place.project("q");
    import_csv(&session, BODIES, &ImportChoices::default());
    let file = place.file("ids.csv", WITH_IDS);
    let mut columns = exchange::guess_columns(&session.exchange, &file, &ImportChoices::default()).unwrap();
    columns.text_id = None;
    columns.ignored = vec!["text_id".to_owned()];
    let chosen = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
    let report = import(&session, &file, &chosen);
    assert_eq!((report.texts, report.labels), (0, 3), "{report:?}");
}

#[test]
fn later_time_counts_where_columns_are_named() {
    let place = TestFolder::new();
    for (nth, [later, earlier]) in [
        ["12/20/2024 10:00", "12/13/2024 10:00"],
        ["20.12.2024 10:00", "13.12.2024 10:00"],
        ["2024-12-20T10:00:00Z", "2024-12-13T10:00:00Z"],
    ]
    .into_iter()
    .enumerate()
    {
        let session = place.project(&format!("p{nth}"));
        let file = place.file(
            &format!("{nth}.csv"),
            &format!("text_id,text,annotator_id,label,created_at\n1,hello there,x,5,{later}\n1,hello there,x,1,{earlier}\n2,bye,x,2,{earlier}\n"),
        );
        let columns = exchange::guess_columns(&session.exchange, &file, &ImportChoices::default()).unwrap();
        assert_eq!(columns.time.as_deref(), Some("created_at"));
        let chosen = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
        let report = import(&session, &file, &chosen);
        assert_eq!(report.changes.replaced_in_file, 1, "{report:?}");
        let place_of =
            &report.notices.iter().find(|notice| notice.code == "replaced-in-file").unwrap().places[0];
        assert_eq!((place_of.counts.as_str(), place_of.instead_of.as_str()), ("5", "1"), "{later}");
    }
}

#[test]
fn answers_given_again_are_counted_and_keep_their_text() {
    let place = TestFolder::new();
    let session = place.project("p");
    let again = "text_id,text,annotator_id,label,explanation\n1,You are so nice today,x,1,I think it is polite\n\
                 1,You are so nice today,x,2,on second thought it is ironic\n2,Go away now please,x,4,clearly a rude remark\n";
    let report = import_csv(&session, again, &ImportChoices::default());
    assert_eq!((report.texts, report.changes.replaced_in_file), (2, 1), "{report:?}");
    assert!(codes(&report).contains(&"replaced-in-file"));
}

#[test]
fn every_annotator_of_a_file_is_listed() {
    let place = TestFolder::new();
    let session = place.project("p");
    let rows: String = (0..450).map(|n| format!("{},Text {},p{n},{}\n", n % 9, n % 9, n % 2)).collect();
    let report =
        import_csv(&session, &format!("text_id,text,annotator_id,label\n{rows}"), &ImportChoices::default());
    assert_eq!(report.people.len(), 450);
}

/// Rows without a label are counted apart from labels, in the result and in the card of a data set.
#[test]
fn skipped_texts_are_no_labels_of_an_export() {
    let place = TestFolder::new();
    let session = place.project("p");
    let task = |nth: usize, answer: &str| {
        format!(
            "{{\"text\":\"Text {nth}\",\"label\":\"RUDE\",\"answer\":\"{answer}\",\"_input_hash\":{nth},\"_task_hash\":{nth},\"_session_id\":\"d-ada\",\"_view_id\":\"classification\"}}\n"
        )
    };
    let lines: String =
        (0..8).map(|nth| task(nth, ["accept", "reject", "ignore", "accept"][nth % 4])).collect();
    import_as_guessed(&session, &place.file("prodigy.jsonl", &lines));
    let export = |path: &Path, choices: &ExportChoices| {
        exchange::export(&session.exchange, path, choices, &Silent).unwrap()
    };
    let out = place.path("out.csv");
    let done = export(&out, &ExportChoices::default());
    assert_eq!((done.answers, done.unanswered), (6, 2));
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 9);
    let folder = place.path("dataset");
    export(&folder, &ExportChoices { dataset: true, ..ExportChoices::default() });
    let card = std::fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(card.contains("2 of the rows have no label") && card.contains("| rows | 8 |"), "{card}");
    // They come back as skipped.
    let copy = place.project("copy");
    import_as_guessed(&copy, &out);
    let again = place.path("again.csv");
    let done = exchange::export(&copy.exchange, &again, &ExportChoices::default(), &Silent).unwrap();
    assert_eq!((done.answers, done.unanswered, texts(&copy)), (6, 2, 8));
}
