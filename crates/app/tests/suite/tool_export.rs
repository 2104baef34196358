//! Files for other tools as use cases: losses are reported before, and the rest can be imported again.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, import};
use dissensus_api::{ExportRequest, ImportChoices, ImportReport};
use dissensus_app::session::Session;
use dissensus_exchange::{LossReason, ToolFormat};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Follow;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use dissensus_transfer::exchange::{Exported, Pseudonymised, ToolExport, ToolExportChoices, export_formats};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Three people, three texts, questions of levels, sets and spans; a second round, a note, a flag, a skip.
const LABELS: &str = "text_id,text,annotator_id,label,question,split,group,created_at,duration_ms,source,occasion,note,reasons,confidence,marks,guideline,age,page
t1,so 😊 good,ana,1,mood,train,g1,2024-05-01T10:00:00Z,1500,import,1,\"well, so\",r1,4,flagged,,30,1
t1,so 😊 good,ben,3,mood,train,g1,2024-05-01T10:01:00.250Z,,import,1,,,,,,40,1
t1,so 😊 good,eve@example.org,2,mood,train,g1,2024-05-01T10:02:00Z,800,import,1,,,,,,50,1
t1,so 😊 good,ana,2,mood,train,g1,2024-05-02T10:00:00Z,,import,2,,,,,,30,1
t2,\"=1+1, {\"\"a\"\":1}\",ana,2,mood,test,g1,2024-05-01T10:03:00Z,,import,1,,,,,,30,2
t2,\"=1+1, {\"\"a\"\":1}\",ben,[cannot say],mood,test,g1,2024-05-01T10:04:00Z,,import,1,,,,,,40,2
t3,never,ben,,mood,,,2024-05-01T10:05:00Z,,import,1,,,,skipped,,40,3
t1,so 😊 good,ana,rude + odd,topics,train,g1,2024-05-01T10:06:00Z,,import,1,,,,,,30,1
t1,so 😊 good,ben,none,topics,train,g1,2024-05-01T10:07:00Z,,import,1,,,,,,40,1
t2,\"=1+1, {\"\"a\"\":1}\",eve@example.org,odd,topics,test,g1,2024-05-01T10:08:00Z,,import,1,,,,,,50,2
t1,so 😊 good,ana,\"[{\"\"start\"\":3,\"\"end\"\":4,\"\"label\"\":\"\"E\"\"},{\"\"start\"\":5,\"\"end\"\":9,\"\"label\"\":\"\"V\"\"}]\",parts,train,g1,2024-05-01T10:09:00Z,,import,1,,,,,,30,1
t1,so 😊 good,ben,[],parts,train,g1,2024-05-01T10:10:00Z,,import,1,,,,,,40,1
t2,\"=1+1, {\"\"a\"\":1}\",ben,\"[{\"\"start\"\":0,\"\"end\"\":1,\"\"label\"\":\"\"V\"\"}]\",parts,test,g1,2024-05-01T10:11:00Z,,import,1,,,,,,40,2
";

/// A project with [`LABELS`].
fn labelled(place: &TestFolder) -> Session {
    let (session, file) = (place.project("p"), place.file("labels.csv", LABELS));
    let report = import_format(&session, &file, None);
    assert_eq!((report.texts, report.annotators, report.labels, report.repeats), (3, 3, 11, 1), "{report:?}");
    session
}

/// Files other than projects and those of the session.
fn files(place: &TestFolder) -> BTreeSet<String> {
    let names = std::fs::read_dir(place).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names
        .filter(|name| !name.contains(".dissensus") && !["home", "labels.csv"].contains(&name.as_str()))
        .collect()
}

fn import_format(session: &Session, file: &Path, format: Option<&str>) -> ImportReport {
    let choices = ImportChoices { format: format.map(str::to_owned), ..ImportChoices::default() };
    import(session, file, &choices)
}

fn ready(session: &Session, format: ToolFormat, question: Option<&str>) -> ToolExport {
    let choices = ToolExportChoices { question: question.map(str::to_owned), ..ToolExportChoices::default() };
    exchange::for_tool(&session.exchange, format, &choices, &Silent).unwrap()
}

fn lost(export: &ToolExport) -> BTreeMap<&'static str, u64> {
    export.losses().iter().map(|loss| (loss.reason.name(), loss.count)).collect()
}

/// Rows of a plain export: the basis for comparing formats.
type Rows = BTreeSet<[String; 8]>;

const COMPARED: [&str; 8] =
    ["text_id", "annotator_id", "question", "label", "created_at", "occasion", "marks", "text"];

fn rows(session: &Session, folder: &TestFolder) -> Rows {
    let file = folder.path("plain.csv");
    exchange::export(
        &session.exchange,
        &file,
        &ExportChoices { replace: true, ..ExportChoices::default() },
        &Silent,
    )
    .unwrap();
    let mut reader = csv::Reader::from_path(&file).unwrap();
    let rows = reader.deserialize::<BTreeMap<String, String>>().map(Result::unwrap);
    let cell = |row: &BTreeMap<String, String>, name: &str| match (name, row.get(name)) {
        ("occasion", None) => "1".to_owned(),
        (_, cell) => cell.cloned().unwrap_or_default(),
    };
    let found = rows.map(|row| COMPARED.map(|name| cell(&row, name))).collect();
    std::fs::remove_file(file).unwrap();
    found
}

/// The project's rows that a format can represent, as they are imported again.
fn expected(all: &Rows, format: ToolFormat, question: Option<&str>) -> Rows {
    let [label, time, occasion, marks] = [3, 4, 5, 6];
    let mut kept = Rows::new();
    for row in all {
        let mut row = row.clone();
        if question.is_some_and(|question| row[2] != question) || row[label] == "[cannot say]" {
            continue;
        }
        let whole = matches!(format, ToolFormat::LabelStudio | ToolFormat::Prodigy);
        if !whole {
            if row[occasion] != "1" || row[label].is_empty() || row[label] == "[]" || row[label] == "none" {
                continue;
            }
            row[time].clear();
        }
        if format != ToolFormat::Prodigy && row[marks] == "flagged" {
            row[marks].clear();
        }
        match format {
            ToolFormat::Doccano if question == Some("parts") => row[2] = "spans".to_owned(),
            ToolFormat::Doccano | ToolFormat::CrowdKit | ToolFormat::Wide => row[2] = "label".to_owned(),
            _ => {}
        }
        kept.insert(row);
    }
    kept
}

#[test]
fn tool_export_round_trips() {
    let place = TestFolder::new();
    let session = labelled(&place);
    let all = rows(&session, &place);
    let cases = [
        (ToolFormat::LabelStudio, None),
        (ToolFormat::LabelStudio, Some("parts")),
        (ToolFormat::Prodigy, None),
        (ToolFormat::Prodigy, Some("mood")),
        (ToolFormat::Doccano, Some("parts")),
        (ToolFormat::Doccano, Some("topics")),
        (ToolFormat::Lewidi, Some("mood")),
        (ToolFormat::CrowdKit, Some("mood")),
        (ToolFormat::Wide, Some("mood")),
    ];
    for (nth, (format, question)) in cases.into_iter().enumerate() {
        let export = ready(&session, format, question);
        let file = place.path(&format!("out-{nth}.{}", format.ending()));
        let written = export.write(&file, false, &Silent).unwrap();
        let copy = place.project(&format!("copy-{nth}"));
        if format == ToolFormat::CrowdKit {
            // The texts themselves are not in it.
            assert_eq!(lost(&export)["bodies"], 2);
            let texts = place.path("texts.csv");
            std::fs::write(&texts, "text_id,text\nt1,so 😊 good\nt2,\"=1+1, {\"\"a\"\":1}\"\n").unwrap();
            import_format(&copy, &texts, None);
        }
        let named = (format == ToolFormat::Wide).then_some("wide");
        let report = import_format(&copy, &file, named);
        assert_eq!(report.format.name, format.name());
        assert_eq!(u64::from(report.labels + report.repeats), written.answers, "{format}");
        let mut found = rows(&copy, &place);
        let wanted = expected(&all, format, question);
        // Labels imported without a time have the time of the import.
        if !matches!(format, ToolFormat::LabelStudio | ToolFormat::Prodigy) {
            found = found
                .into_iter()
                .map(|mut row| {
                    row[4].clear();
                    row
                })
                .collect();
        }
        assert_eq!(found, wanted, "{format} {question:?}");
        // The same file is recognised completely.
        let again = import_format(&copy, &file, named);
        assert_eq!((again.labels, again.repeats, again.texts, again.annotators), (0, 0, 0, 0), "{format}");
    }
}

#[test]
fn losses_are_reported_before_writing() {
    let place = TestFolder::new();
    let session = labelled(&place);
    let export = ready(&session, ToolFormat::LabelStudio, None);
    assert_eq!(files(&place), BTreeSet::new());
    let reported = lost(&export);
    for (reason, count) in
        [("cannot-say", 1), ("flags", 1), ("notes", 1), ("reasons", 1), ("confidence", 1), ("attributes", 3)]
    {
        assert_eq!(reported.get(reason), Some(&count), "{reason} in {reported:?}");
    }
    assert!(
        !["skips", "times", "later-answers", "spans"].iter().any(|reason| reported.contains_key(reason)),
        "{reported:?}"
    );
    assert_eq!((export.exported().answers, export.exported().left_out), (11, 1));
    assert_eq!(export.texts_and_people(), (3, 3));

    let one = ready(&session, ToolFormat::Lewidi, None);
    assert_eq!(one.question(), Some("mood"), "the first that can be held");
    assert_eq!(lost(&one)["other-questions"], 6);
    assert_eq!(one.losses()[0].reason, LossReason::OtherQuestions);
    let unknown = ToolExportChoices { question: Some("nothing".to_owned()), ..ToolExportChoices::default() };
    let error = exchange::for_tool(&session.exchange, ToolFormat::Wide, &unknown, &Silent).unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
    // Spans in a format without them: there is nothing to write, and nothing is written.
    let none = ready(&session, ToolFormat::CrowdKit, Some("parts"));
    assert_eq!(
        (none.exported(), lost(&none)["spans"]),
        (&Exported { left_out: 3, ..Exported::default() }, 3)
    );
    let error = none.write(&place.path("x.csv"), false, &Silent).unwrap_err();
    assert_eq!((error.code(), files(&place)), ("nothing-to-export", BTreeSet::new()));
}

#[test]
fn pseudonyms_hide_people_in_every_format() {
    let place = TestFolder::new();
    let session = labelled(&place);
    let choices = ToolExportChoices {
        pseudonyms: Some(Pseudonymised { notes: false }),
        question: Some("mood".to_owned()),
        ..ToolExportChoices::default()
    };
    for format in ToolFormat::all() {
        let export = exchange::for_tool(&session.exchange, *format, &choices, &Silent).unwrap();
        let file = place.path(&format!("masked.{}", format.ending()));
        export.write(&file, true, &Silent).unwrap();
        assert_eq!(export.exported().suppressed, 3, "{format}");
        let mut content = std::fs::read(&file).unwrap();
        if *format == ToolFormat::Doccano {
            let mut archive = zip_entries(&file);
            archive.sort();
            assert_eq!(archive.len(), 3, "a file for each person");
            content = archive.concat().into_bytes();
        }
        let content = String::from_utf8_lossy(&content).into_owned();
        for reported in
            ["ana", "eve@example.org", "2024-05-01", "17145", "well, so", "page", "lead_time\":1.5"]
        {
            assert!(!content.contains(reported), "{format}: {reported} in {content}");
        }
        assert!(["A1", "A2", "A3"].iter().all(|name| content.contains(name)), "{format}: {content}");
    }
}

/// Names and contents of an archive's files.
fn zip_entries(path: &Path) -> Vec<String> {
    let session = dissensus_exchange::Source::open(path).unwrap();
    let roles = dissensus_exchange::guess_roles(&session).unwrap();
    let rows = dissensus_exchange::read_rows(&session, &roles).unwrap();
    let by: BTreeMap<String, String> = rows
        .map(|row| row.unwrap())
        .map(|row| (row.annotator.clone().unwrap_or_default(), format!("{row:?}")))
        .collect();
    by.into_values().collect()
}

#[test]
fn existing_file_is_replaced_only_on_request() {
    let place = TestFolder::new();
    let session = labelled(&place);
    let export = ready(&session, ToolFormat::Prodigy, None);
    let file = place.path("out.jsonl");
    std::fs::write(&file, "mine").unwrap();
    assert_eq!(export.write(&file, false, &Silent).unwrap_err().code(), "export-exists");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    export.write(&file, true, &Silent).unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().starts_with('{'));
    let error = export.write(&place.path("out.csv"), false, &Silent).unwrap_err();
    assert_eq!(error.code(), "file-format", "{error}");
    assert_eq!(files(&place), BTreeSet::from(["out.jsonl".to_owned()]));
}

#[test]
fn concurrent_exports_leave_one_complete_file() {
    let place = TestFolder::new();
    let session = labelled(&place);
    let export = ready(&session, ToolFormat::LabelStudio, None);
    let alone = place.path("alone.json");
    export.write(&alone, false, &Silent).unwrap();
    let whole = std::fs::read(&alone).unwrap();
    for nth in 0..20 {
        let file = place.path(&format!("{nth}.json"));
        let write = || export.write(&file, false, &Silent);
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(write);
            (write(), other.join().unwrap())
        });
        let codes: Vec<&str> =
            [&first, &second].into_iter().filter_map(|one| Some(one.as_ref().err()?.code())).collect();
        assert_eq!(codes, ["export-exists"], "{first:?} {second:?}");
        assert_eq!(std::fs::read(&file).unwrap(), whole);
    }
    // Two concurrent exports of a project, to different files, each have all of the project.
    let both = std::thread::scope(|scope| {
        let one = |name: &'static str| {
            let (session, place) = (&session, &place);
            scope.spawn(move || {
                let file = place.path(name);
                ready(session, ToolFormat::LabelStudio, None).write(&file, false, &Silent).unwrap();
                std::fs::read(file).unwrap()
            })
        };
        [one("left.json"), one("right.json")].map(|thread| thread.join().unwrap())
    });
    assert_eq!(both, [whole.clone(), whole]);
}

#[test]
fn cancelled_export_leaves_nothing() {
    /// Stops at the first report.
    #[derive(Debug, Default)]
    struct Stopping(AtomicU32);
    impl Progress for Stopping {
        fn report(&self, _: u64, _: Option<u64>, _: &str) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= 1
        }
    }
    let place = TestFolder::new();
    let session = labelled(&place);
    for format in ToolFormat::all() {
        let export = ready(&session, *format, Some("mood"));
        let file = place.path(&format!("out.{}", format.ending()));
        let error = export.write(&file, false, &Stopping::default()).unwrap_err();
        assert!(matches!(error, ProjectError::Cancelled), "{format}: {error}");
        assert_eq!(files(&place), BTreeSet::new(), "{format}");
    }
}

#[test]
fn window_previews_the_content_of_an_export() {
    let place = TestFolder::new();
    let session = labelled(&place);
    let table = exchange::export_contents(&session.exchange, &ExportRequest::default()).unwrap();
    assert_eq!((table.texts, table.people, table.answers, table.losses.len()), (3, 3, 12, 0), "{table:?}");
    for format in export_formats() {
        let question = format.one_question.then(|| "mood".to_owned());
        let request =
            ExportRequest { format: Some(format.name.clone()), question, ..ExportRequest::default() };
        let before = files(&place);
        let reported = exchange::export_contents(&session.exchange, &request).unwrap();
        assert_eq!(files(&place), before, "nothing is written");
        assert_eq!(reported.question.as_deref(), request.question.as_deref(), "{}", format.name);
        let of = ToolFormat::named(&format.name).unwrap();
        let expected = ready(&session, of, request.question.as_deref());
        let messages: Vec<String> = expected.losses().iter().map(dissensus_exchange::Loss::message).collect();
        assert_eq!(reported.losses.iter().map(|loss| loss.message.clone()).collect::<Vec<_>>(), messages);
        let out = place.path(&match format.ending.as_str() {
            "" => format.name.clone(),
            ending => format!("{}.{ending}", format.name),
        });
        assert_eq!(
            exchange::export_for_tool(&session.exchange, &out, &request, false, Follow::Job).unwrap(),
            reported
        );
        assert!(out.exists(), "{}", format.name);
        let again =
            exchange::export_for_tool(&session.exchange, &out, &request, false, Follow::Job).unwrap_err();
        assert_eq!(again.code(), "export-exists");
        exchange::export_for_tool(&session.exchange, &out, &request, true, Follow::Job).unwrap();
    }
    let masked = ExportRequest { pseudonyms: true, ..ExportRequest::default() };
    assert!(exchange::export_contents(&session.exchange, &masked).unwrap().suppressed > 0);
    let unknown = ExportRequest { format: Some("papyrus".into()), ..ExportRequest::default() };
    assert_eq!(exchange::export_contents(&session.exchange, &unknown).unwrap_err().code(), "file-format");
    let wrong = ExportRequest { format: Some("prodigy".into()), ..ExportRequest::default() };
    let named =
        exchange::export_for_tool(&session.exchange, &place.path("x.csv"), &wrong, false, Follow::Job);
    assert!(named.is_err() && !place.path("x.csv").exists());
}
