//! A folder of submissions: what comes while others are merged, and what cannot be merged yet.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, create, import_into, open};
use dissensus_api::{CollectedFiles, MergeConsent, NewLabel, StudyRequest, TextOrder};
use dissensus_app::session::Session;
use dissensus_domain::Answer;
use dissensus_editing::{CopyChoices, annotators, copy, info, withdraw};
use dissensus_labelling::{next_text, record};
use dissensus_project::encryption::{encrypt_content, typed_passphrase};
use dissensus_project::jobs::Silent;
use dissensus_store::Store;
use dissensus_transfer::study::{self, DropFolder};
use std::path::Path;
use std::sync::Mutex;

/// A project with two texts, a question, and packets of these people in `packets`.
fn handed_out(project: &Path, folder: &TestFolder, people: &[&str]) {
    let session = create(project);
    import_into(&session, "rude", "text_id,text,annotator_id,label\nt1,a,x,1\nt2,b,x,2\n");
    assign(&session, folder, people);
    session.close();
}

fn assign(session: &Session, folder: &TestFolder, people: &[&str]) {
    let request = StudyRequest {
        questions: Vec::new(),
        // The first has labelled every text.
        people: ["x"].iter().chain(people).map(|&name| name.to_owned()).collect(),
        per_text: 1 + people.len() as u32,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 1,
    };
    study::hand_out(&session.study, &request, &folder.path("packets"), &Silent).unwrap();
}

/// The submission of a person who has answered one text.
fn submission(folder: &TestFolder, person: &str) -> Vec<u8> {
    let packet = open(&folder.path(&format!("packets/{person}.dissensus")));
    let question = info::read(&packet.project).unwrap().questions[0].id;
    let annotator = annotators::list(&packet.project).unwrap()[0].id;
    let next = next_text::choose(&packet.labelling, annotator, [question], TextOrder::File, None).unwrap();
    let (text, answer) = (next.unwrap().text, Answer::from_level(1));
    record::record_label(
        &packet.labelling,
        &NewLabel { question, annotator, text, answer, duration_ms: None },
    )
    .unwrap();
    let file = folder.path("submission");
    study::hand_in(&packet.study, &file, true).unwrap();
    packet.close();
    std::fs::read(file).unwrap()
}

/// The names of the files, and whether they were merged.
fn merged(found: &CollectedFiles) -> Vec<(String, bool)> {
    let name = |file: &str| file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    found.files.iter().map(|file| (name(&file.file), !file.refused)).collect()
}

#[test]
fn file_that_comes_while_others_are_merged_is_merged_next() {
    let folder = TestFolder::new();
    let project = folder.path("study.dissensus");
    handed_out(&project, &folder, &["ada", "ben"]);
    let (drop, late) = (folder.path("drop"), submission(&folder, "ben"));
    std::fs::create_dir(&drop).unwrap();
    std::fs::write(drop.join("ada.handin"), submission(&folder, "ada")).unwrap();
    let session = open(&project);
    // It is written as soon as the first one is in the project.
    let (target, content) = (drop.join("ben.handin"), Mutex::new(Some(late)));
    session.subscribe(move |_| {
        if let Some(content) = content.lock().unwrap().take() {
            std::fs::write(&target, content).unwrap();
        }
    });
    let mut watched = DropFolder::new(&drop);
    assert_eq!(merged(&watched.collect(&session.study).unwrap()), [("ada.handin".to_owned(), true)]);
    assert!(watched.has_news().unwrap());
    assert_eq!(merged(&watched.collect(&session.study).unwrap()), [("ben.handin".to_owned(), true)]);
    assert!(!watched.has_news().unwrap());
}

#[test]
fn submission_of_a_packet_that_only_a_copy_knows_is_merged_after_that_copy() {
    let folder = TestFolder::new();
    let (project, other) = (folder.path("study.dissensus"), folder.path("copy.dissensus"));
    handed_out(&project, &folder, &["ada"]);
    let session = open(&project);
    copy::save_copy(&session.project, &other, CopyChoices::default(), &Silent).unwrap();
    let colleague = open(&other);
    assign(&colleague, &folder, &["ada", "ben"]);
    colleague.close();
    let drop = folder.path("drop");
    std::fs::create_dir(&drop).unwrap();
    std::fs::write(drop.join("ben.handin"), submission(&folder, "ben")).unwrap();
    let mut watched = DropFolder::new(&drop);
    let found = watched.collect(&session.study).unwrap();
    assert_eq!(found.files[0].problems[0].problem.code, "merge-unknown-packet");
    // It is reported once, and tried again once the project knows more.
    assert_eq!(merged(&watched.collect(&session.study).unwrap()), []);
    study::merge(&session.study, &[other], &MergeConsent::all(), &Silent).unwrap();
    assert_eq!(merged(&watched.collect(&session.study).unwrap()), [("ben.handin".to_owned(), true)]);
    assert!(!watched.has_news().unwrap());
}

#[test]
fn encrypted_submissions_are_reported_once_and_merged_with_their_passphrases() {
    let folder = TestFolder::new();
    let project = folder.path("study.dissensus");
    handed_out(&project, &folder, &["ada", "ben"]);
    let drop = folder.path("drop");
    std::fs::create_dir(&drop).unwrap();
    for (person, words) in [("ada", "quiet harbour"), ("ben", "seven lamps")] {
        let mut file = std::fs::File::create(drop.join(format!("{person}.handin.age"))).unwrap();
        let passphrase = typed_passphrase(words).unwrap();
        encrypt_content(&submission(&folder, person), &mut file, &passphrase).unwrap();
    }
    let session = open(&project);
    let found = |ada: Option<bool>, ben: Option<bool>| {
        let both = [("ada.handin.age", ada), ("ben.handin.age", ben)];
        both.into_iter().filter_map(|(name, merged)| Some((name.to_owned(), merged?))).collect::<Vec<_>>()
    };
    let mut watched = DropFolder::new(&drop);
    let first = watched.collect(&session.study).unwrap();
    assert_eq!(merged(&first), found(Some(false), Some(false)));
    assert_eq!(first.files[0].problems[0].problem.code, "encrypted");
    assert_eq!(merged(&watched.collect(&session.study).unwrap()), []);
    assert!(!watched.has_news().unwrap());
    let mut unlock = |words: &str| watched.unlock(&session.study, typed_passphrase(words).unwrap());
    assert_eq!(unlock("another one").unwrap_err().code(), "passphrase-wrong");
    assert_eq!(merged(&unlock("seven lamps").unwrap()), found(Some(false), Some(true)));
    assert_eq!(merged(&unlock("quiet harbour").unwrap()), found(Some(true), None));
    // The next program does not ask again for what was merged.
    let mut next = DropFolder::new(&drop);
    assert_eq!(merged(&next.collect(&session.study).unwrap()), []);
    assert!(!next.has_news().unwrap());
}

#[test]
fn nothing_of_the_name_of_a_file_stays_after_a_withdrawal() {
    let folder = TestFolder::new();
    let project = folder.path("study.dissensus");
    handed_out(&project, &folder, &["ada"]);
    let drop = folder.path("drop");
    std::fs::create_dir(&drop).unwrap();
    std::fs::write(drop.join("5f3aPROLIFIC.handin"), submission(&folder, "ada")).unwrap();
    let session = open(&project);
    DropFolder::new(&drop).collect(&session.study).unwrap();
    let ada = annotators::list(&session.project).unwrap().into_iter().find(|one| one.external_id == "ada");
    withdraw::withdraw(&session.project, ada.unwrap().id).unwrap();
    session.close();
    let jobs = Store::open_reader(&project).unwrap().jobs(100).unwrap();
    let titles: Vec<&str> = jobs.iter().map(|job| job.title.as_str()).collect();
    assert!(!titles.iter().any(|title| title.contains("PROLIFIC") || title.contains("ada")), "{titles:?}");
}
