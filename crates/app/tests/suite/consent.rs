//! The consent text: its versions, agreement in a packet, and the version of each answer in exports.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, import_into, open, open_in};
use dissensus_api::{MergeConsent, MergedFile, NewLabel, StudyRequest};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, QuestionId};
use dissensus_editing::{annotators, consent, labels, texts, withdraw};
use dissensus_labelling::record;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_transfer::exchange::{self, ExportChoices};
use dissensus_transfer::study;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A project of which ben has labelled all texts, and ana has a packet of all.
fn handed_out(folder: &TestFolder) -> (Session, PathBuf) {
    let session = folder.project("p");
    let rows: String = (1..=5).map(|n| format!("t{n},Body of text {n},ben,{}\n", n % 3 + 1)).collect();
    import_into(&session, "rude", &format!("text_id,text,annotator_id,label\n{rows}"));
    let request = StudyRequest {
        questions: Vec::new(),
        people: ["ana", "ben"].map(str::to_owned).to_vec(),
        per_text: 2,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 1,
    };
    let out = folder.path("packets");
    study::hand_out(&session.study, &request, &out, &Silent).unwrap();
    (session, out.join("ana.dissensus"))
}

fn label(session: &Session, id: &str) {
    let new = NewLabel {
        question: QuestionId(1),
        annotator: annotators::find(&session.project, "ana").unwrap().id,
        text: texts::find(&session.project, id).unwrap().0,
        answer: Answer::from_level(0),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &new).unwrap();
}

/// Opens ana's packet, agrees to what it asks for, labels a text, and hands in. Returns the number and the
/// body of what was asked.
fn work(folder: &TestFolder, packet: &Path, text: &str, to: &str) -> Option<(u32, String)> {
    let session = open_in(&folder.path("elsewhere"), packet);
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    let asked = consent::left(&session.project, ana).unwrap();
    if let Some(asked) = &asked {
        consent::agree(&session.project, ana, &asked.version).unwrap();
        assert_eq!(consent::left(&session.project, ana).unwrap(), None, "nobody is asked twice");
    }
    label(&session, text);
    study::hand_in(&session.study, &folder.path(to), false).unwrap();
    session.close();
    asked.map(|asked| (asked.number, asked.body))
}

fn merge(session: &Session, file: PathBuf) -> MergedFile {
    study::merge(&session.study, &[file], &MergeConsent::default(), &Silent).unwrap().files.swap_remove(0)
}

/// The column of the export by person and text; `None` if there is none.
fn exported(folder: &TestFolder, session: &Session) -> Option<BTreeMap<String, String>> {
    let file = folder.path("out.csv");
    let choices = ExportChoices { replace: true, ..ExportChoices::default() };
    exchange::export(&session.exchange, &file, &choices, &Silent).unwrap();
    let mut reader = csv::Reader::from_path(&file).unwrap();
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|column| column == name);
    let at = column("consent_version")?;
    let (who, id) = (column("annotator_id").unwrap(), column("text_id").unwrap());
    let rows = reader.records().map(Result::unwrap).filter(|row| &row[who] == "ana");
    Some(rows.map(|row| (row[id].to_owned(), row[at].to_owned())).collect())
}

fn versions(of: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
    Some(of.iter().map(|(id, version)| ((*id).to_owned(), (*version).to_owned())).collect())
}

#[test]
fn each_answer_keeps_the_version_it_was_given_under() {
    let folder = TestFolder::new();
    let (session, packet) = handed_out(&folder);
    // A submission from before the text, merged after it was set.
    assert_eq!(work(&folder, &packet, "t1", "before.handin"), None);
    assert_eq!(exported(&folder, &session), None, "without a text there is no such column");
    consent::set(&session.project, Some("# One\n")).unwrap();
    assert!(!merge(&session, folder.path("before.handin")).refused);
    assert_eq!(exported(&folder, &session), versions(&[("t1", "")]));
    // The same packet, and one that is written again, with the second version.
    let again = folder.path("again");
    let write_again = |session: &Session| {
        std::fs::create_dir_all(&again).unwrap();
        study::write_again(&session.study, &["ana".to_owned()], &again, &Silent).unwrap();
    };
    assert_eq!(work(&folder, &packet, "t2", "still.handin"), None, "it was handed out without a text");
    write_again(&session);
    let asked = work(&folder, &again.join("ana.dissensus"), "t3", "one.handin");
    assert_eq!(asked, Some((1, "# One".to_owned())));
    consent::set(&session.project, Some("# Two\r\nmore")).unwrap();
    for file in ["still.handin", "one.handin"] {
        assert!(!merge(&session, folder.path(file)).refused, "{file}");
    }
    assert_eq!(exported(&folder, &session), versions(&[("t1", ""), ("t2", ""), ("t3", "1")]));
    std::fs::remove_file(again.join("ana.dissensus")).unwrap();
    write_again(&session);
    let asked = work(&folder, &again.join("ana.dissensus"), "t4", "two.handin");
    assert_eq!(asked, Some((2, "# Two\nmore".to_owned())), "a new version is asked for, with its number");
    assert!(!merge(&session, folder.path("two.handin")).refused);
    let expected = versions(&[("t1", ""), ("t2", ""), ("t3", "1"), ("t4", "2")]);
    assert_eq!(exported(&folder, &session), expected);
    let of = |name: &str| {
        let rows = labels::list(&session.project, None).unwrap();
        rows.into_iter()
            .filter(|row| row.annotator_id == name)
            .map(|row| row.consent_version)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("ana"), [None, None, Some(1), Some(2)]);
    assert_eq!(of("ben"), [None; 5], "imported labels were given elsewhere");
    let state = consent::read(&session.project).unwrap();
    assert_eq!(state.in_effect, Some(2));
    let people: Vec<_> = state.versions.iter().map(|one| one.people.clone()).collect();
    assert_eq!(people, [vec![], vec!["ana".to_owned()]], "the last agreement counts");
    // Nothing is asked any more; what was agreed to stays.
    consent::set(&session.project, None).unwrap();
    assert_eq!(exported(&folder, &session), expected);
    // Who withdraws is gone with the agreements.
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    withdraw::withdraw(&session.project, ana).unwrap();
    let state = consent::read(&session.project).unwrap();
    assert_eq!((state.in_effect, state.versions.len()), (None, 2));
    assert!(state.versions.iter().all(|one| one.people.is_empty()));
    assert_eq!(exported(&folder, &session), versions(&[]));
    let papers = folder.path("papers");
    consent::set(&session.project, Some("Only *this* text")).unwrap();
    session.paper.write_for_institution(&papers, false, &Silent).unwrap();
    let sheet = std::fs::read_to_string(papers.join("consent.md")).unwrap().replace('\\', "");
    assert!(sheet.contains("Only *this* text") && sheet.contains("Text: version 3"), "{sheet}");
    assert!(sheet.contains(&consent::read(&session.project).unwrap().versions[2].version));
    session.close();
}

#[test]
fn copies_agree_on_versions() {
    let folder = TestFolder::new();
    let (session, _) = handed_out(&folder);
    consent::set(&session.project, Some("one")).unwrap();
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    session.close();
    let (here, there) = (folder.path("p.dissensus"), folder.path("copy.dissensus"));
    std::fs::copy(&here, &there).unwrap();
    for (file, text, id) in [(&here, "two", "t1"), (&there, "other two", "t2")] {
        let session = open_in(&folder.path(&format!("home of {text}")), file);
        let state = consent::set(&session.project, Some(text)).unwrap();
        consent::agree(&session.project, ana, &state.versions[1].version).unwrap();
        label(&session, id);
        session.close();
    }
    let session = open(&here);
    let all = MergeConsent::all();
    let merged = study::merge(&session.study, &[there], &all, &Silent).unwrap();
    assert!(!merged.files[0].refused, "{merged:?}");
    let state = consent::read(&session.project).unwrap();
    let bodies: Vec<&str> = state.versions.iter().map(|one| one.body.as_str()).collect();
    assert_eq!(bodies, ["one", "two", "other two"]);
    assert_eq!(exported(&folder, &session), versions(&[("t1", "2"), ("t2", "3")]));
    session.close();
}

#[test]
fn bad_texts_and_agreements_are_refused() {
    let folder = TestFolder::new();
    let (session, packet) = handed_out(&folder);
    let code = |result: Result<(), ProjectError>| dissensus_api::Problem::from(result.unwrap_err()).code;
    let set = |body: &str| consent::set(&session.project, Some(body)).map(drop);
    assert_eq!(code(set(" \n\t")), "consent-blank");
    assert_eq!(code(set(&"x".repeat(50_001))), "consent-long");
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    assert_eq!(code(consent::agree(&session.project, ana, "none")), "consent-outdated");
    set("one").unwrap();
    assert_eq!(code(set("one\n")), "consent-unchanged");
    let first = consent::read(&session.project).unwrap().versions[0].version.clone();
    set("two").unwrap();
    assert_eq!(code(consent::agree(&session.project, ana, &first)), "consent-outdated");
    session.close();
    let packet = open_in(&folder.path("elsewhere"), &packet);
    assert_eq!(code(consent::set(&packet.project, Some("mine")).map(drop)), "in-packet");
    packet.close();
    // A submission with an agreement to a text that was never handed out.
    let forged = folder.path("packets/ana.dissensus");
    let c = dissensus_test_support::rusqlite::Connection::open(&forged).unwrap();
    let sql = "INSERT INTO facts (kind, annotator, at_ms, value) VALUES ('consent-given', 1, 5, ?1)";
    c.execute(sql, [format!("\"{}\"", "0".repeat(64))]).unwrap();
    drop(c);
    let session = open(&folder.path("p.dissensus"));
    assert!(merge(&session, forged).refused);
    session.close();
}
