//! The papers for an institution: complete or absent, filled in from the project, and without anything about
//! one person or text.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, home, import_csv};
use dissensus_api::{ColumnChoices, ImportChoices, InstitutionPapers, NewGuideline, StudyCare, StudyRequest};
use dissensus_app::session::Session;
use dissensus_domain::{AttributeForm, FormAttribute};
use dissensus_editing::{annotators, attribute_form, care, disk_encryption, withdraw};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_transfer::study;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const FILES: [&str; 10] = [
    "README.md",
    "consent.md",
    "data-flow.md",
    "data-protection.md",
    "ethics.md",
    "licences.txt",
    "papers.html",
    "papers.json",
    "sbom.cdx.json",
    "storage.md",
];
const ACTS: &str = "<script>alert(1)</script>";

fn write(session: &Session, dir: &Path, replace: bool) -> Result<InstitutionPapers, ProjectError> {
    session.paper.write_for_institution(dir, replace, &Silent)
}

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|one| one.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Labels of people whose ids, attributes and texts must not be in any paper.
fn labelled(folder: &TestFolder, people: usize) -> Session {
    let session = folder.project("p");
    let mut csv = "text_id,text,who,label,religion,town\n".to_owned();
    for text in 0..2 {
        for person in 0..people {
            writeln!(
                csv,
                "t{text},secret words {text},person-{person}@example.org,{},faith-{person},town-{person}",
                ["no", "yes"][(text + person) % 2]
            )
            .unwrap();
        }
    }
    let columns = ColumnChoices {
        text_id: Some("text_id".to_owned()),
        text: Some("text".to_owned()),
        annotator: Some("who".to_owned()),
        label: Some("label".to_owned()),
        attributes: vec!["religion".to_owned(), "town".to_owned()],
        ..ColumnChoices::default()
    };
    let question = Some(format!("rude {ACTS}"));
    import_csv(
        &session,
        &csv,
        &ImportChoices { columns: Some(columns), question, ..ImportChoices::default() },
    );
    session
}

#[test]
fn empty_project_has_all_papers() {
    let folder = TestFolder::new();
    let session = folder.project("p");
    let dir = folder.path("papers");
    let written = write(&session, &dir, false).unwrap();
    assert_eq!(names(&dir), FILES.map(str::to_owned).into());
    assert_eq!(written.files.iter().cloned().collect::<BTreeSet<_>>(), names(&dir));
    let sheets = FILES.iter().filter(|name| name.ends_with(".md") && **name != "README.md");
    let open: usize = sheets.map(|name| read(&dir, name).matches("\\[to fill in\\]").count()).sum();
    assert_eq!(written.open as usize, open);
    assert!(read(&dir, "ethics.md").contains("0 texts, 0 questions, 0 labels"));
    assert!(read(&dir, "ethics.md").contains("No attributes of people are collected."));
    assert!(read(&dir, "ethics.md").contains("The project has no guideline yet."));
    let sbom: serde_json::Value = serde_json::from_str(&read(&dir, "sbom.cdx.json")).unwrap();
    assert_eq!(sbom["metadata"]["component"]["version"], env!("CARGO_PKG_VERSION"));
    let names: Vec<&str> =
        sbom["components"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    for of_some_system in ["candle-metal-kernels", "cudarc", "windows", "objc2"] {
        assert!(names.contains(&of_some_system), "{of_some_system}");
    }
    assert!(read(&dir, "licences.txt").contains("\nserde "));
    let unescaped = |name| read(&dir, name).replace('\\', "");
    for expected in
        ["of-another-file-DATE", "org.dissensus.window", "deletes nothing by itself but automatic backups"]
    {
        assert!(unescaped("storage.md").contains(expected), "{expected}");
    }
    let disk = disk_encryption::of(&session.project).sentence;
    assert!(unescaped("storage.md").contains(&disk), "{disk}");
    for expected in ["release-assets.githubusercontent.com", "name and version of this program"] {
        assert!(unescaped("data-flow.md").contains(expected), "{expected}");
    }
}

#[test]
fn papers_are_filled_in_and_name_nobody() {
    let folder = TestFolder::new();
    let session = labelled(&folder, 262);
    let form = AttributeForm {
        attributes: vec![FormAttribute {
            name: "sexual orientation".to_owned(),
            values: vec!["a".to_owned(), "b".to_owned()],
            ..FormAttribute::default()
        }],
    };
    attribute_form::set(&session.project, &form).unwrap();
    care::set(&session.project, &StudyCare { limit: Some(20), strict: true, ..StudyCare::default() })
        .unwrap();
    let version = NewGuideline {
        body: "secret guideline".to_owned(),
        change: String::new(),
        by: "secret author".to_owned(),
        pictures: Vec::new(),
        after: None,
    };
    session.guideline.write(&version, None).unwrap();
    let someone = annotators::list(&session.project).unwrap()[0].id;
    withdraw::withdraw(&session.project, someone).unwrap();
    let dir = folder.path("papers");
    write(&session, &dir, false).unwrap();
    let ethics = read(&dir, "ethics.md");
    for expected in [
        "2 texts, 1 question, 522 labels",
        "261 people are in the project, 261 of them with labels",
        "| religion | imported or entered | to check: may be religious or philosophical beliefs",
        "| sexual orientation | asked in the form",
        "| town | imported or entered | no special category by its name |",
        "After 20 harmful texts a day a person is asked no more",
        "The guideline has 1 version; version 1 is the newest.",
        "1 person withdrew so far.",
    ] {
        assert!(ethics.contains(expected), "{expected}: {ethics}");
    }
    assert!(read(&dir, "data-protection.md").contains("261 people are in the project"));
    assert!(read(&dir, "consent.md").contains("You are asked about yourself: sexual orientation."));
    for name in FILES {
        let content = read(&dir, name);
        for secret in
            ["secret words", "@example.org", "faith-", "town-", "secret guideline", "secret author", ACTS]
        {
            assert!(!content.contains(secret), "{secret} is in {name}");
        }
    }
    let page = read(&dir, "papers.html");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"));
}

#[test]
fn papers_that_were_filled_in_are_not_replaced() {
    let folder = TestFolder::new();
    let session = labelled(&folder, 6);
    let dir = folder.path("papers");
    fs::create_dir(&dir).unwrap();
    write(&session, &dir, false).unwrap();
    let code = |replace| write(&session, &dir, replace).err().map_or("", |error| error.code());
    assert_eq!(code(false), "export-exists");
    assert_eq!(code(true), "");
    let path = dir.join("ethics.md");
    let filled = read(&dir, "ethics.md").replace("\\[to fill in\\] Title", "A study");
    fs::write(&path, &filled).unwrap();
    assert_eq!(code(true), "report-changed");
    assert_eq!(read(&dir, "ethics.md"), filled);
    fs::remove_file(&path).unwrap();
    fs::write(dir.join("signed.pdf"), "x").unwrap();
    assert_eq!(code(true), "not-a-report");
    assert!(dir.join("signed.pdf").is_file());
}

#[test]
fn packet_has_no_papers() {
    let folder = TestFolder::new();
    let session = labelled(&folder, 2);
    let packets = folder.path("packets");
    let request = StudyRequest {
        questions: Vec::new(),
        people: vec!["ada".to_owned()],
        per_text: 1,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 1,
        new_people: true,
        balance: None,
        seed: 1,
    };
    study::hand_out(&session.study, &request, &packets, &Silent).unwrap();
    session.close();
    let packet = Session::open(&packets.join("ada.dissensus"), &home(&folder)).unwrap();
    let dir = folder.path("papers");
    let error = write(&packet, &dir, false).unwrap_err();
    assert_eq!(error.code(), ProjectError::InPacket.code());
    assert!(!dir.exists());
}
