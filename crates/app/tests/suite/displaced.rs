//! The project file is moved or replaced while a session has it open.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, sample_in};
use dissensus_app::session::Session;
use dissensus_domain::Answer;
use dissensus_editing::copy;
use dissensus_editing::copy::CopyChoices;
use dissensus_editing::info;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_project::jobs::Follow;
use dissensus_store::Store;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const QUESTION: Option<&str> = Some("offensiveness");

fn open(folder: &TempDir) -> (Session, PathBuf) {
    (sample_in(folder), folder.path().join("sample.dissensus"))
}

/// Labels the nth text as ana, cyclically. The error's code if it was not confirmed.
fn label(session: &Session, n: usize) -> Result<(String, u16), &'static str> {
    let (text, level) = (format!("c{:03}", n % 100 + 1), (n / 100 % 5) as u16);
    match by_name::record(
        &session.labelling,
        &LabelByName::new("ana", &text, &(level + 1).to_string(), QUESTION),
    ) {
        Ok(_) => Ok((text, level)),
        Err(e) => Err(e.code()),
    }
}

/// ana's answers in the project at `path`.
fn labels(path: &Path) -> BTreeMap<String, u16> {
    let store = Store::open(path).unwrap();
    let ana = store.annotators().unwrap().into_iter().find(|person| person.external_id == "ana").unwrap().id;
    let names: BTreeMap<_, _> =
        store.texts_page(0, 1_000).unwrap().into_iter().map(|text| (text.id, text.external_id)).collect();
    let question = store.questions().unwrap()[0].id;
    let current = store.current_labels(question).unwrap().into_iter().filter(|label| label.annotator == ana);
    current
        .filter_map(|label| match label.answer {
            Answer::Level(level) => Some((names[&label.text].clone(), level.0)),
            _ => None,
        })
        .collect()
}

#[test]
fn confirmed_labels_survive_moving_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let (session, path) = open(&folder);
    let away = folder.path().join("away");
    let stop = AtomicBool::new(false);
    let (mut confirmed, mut refused, mut other_errors) = (BTreeMap::new(), 0, Vec::new());
    std::thread::scope(|scope| {
        let renamer = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(&path, &away).unwrap();
                std::thread::sleep(Duration::from_millis(10));
                std::fs::rename(&away, &path).unwrap();
                std::thread::sleep(Duration::from_millis(40));
            }
        });
        for n in 0..1_000 {
            match label(&session, n) {
                Ok((text, level)) => {
                    confirmed.insert(text, level);
                }
                Err(code) => {
                    if code != "project-moved" && !renamer.is_finished() {
                        other_errors.push(code);
                    }
                    confirmed.remove(&format!("c{:03}", n % 100 + 1));
                    refused += 1;
                }
            }
        }
        // Also where an assertion is to fail: the scope waits for the thread.
        stop.store(true, Ordering::Relaxed);
    });
    assert!(other_errors.is_empty(), "{other_errors:?}");
    assert!(refused > 0, "the test needs some that are refused");
    session.close();
    let found = labels(&path);
    for (text, level) in &confirmed {
        assert_eq!(found.get(text), Some(level), "the confirmed label of {text} is lost");
    }
}

#[test]
fn replaced_open_project_can_be_saved_as_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let (session, path) = open(&folder);
    let backup = std::fs::read(&path).unwrap();
    let confirmed: BTreeMap<_, _> = (0..20).map(|n| label(&session, n).unwrap()).collect();
    let part = folder.path().join("part");
    std::fs::write(&part, &backup).unwrap();
    std::fs::rename(&part, &path).unwrap();

    assert_eq!(label(&session, 20), Err("project-replaced"));
    assert!(info::read(&session.project).is_ok(), "what is open can still be seen");
    let copy = folder.path().join("copy.dissensus");
    copy::save_copy(
        &session.project,
        &copy,
        CopyChoices { replace: true, ..CopyChoices::default() },
        Follow::Job,
    )
    .unwrap();
    session.close();
    drop(session);
    assert_eq!(labels(&copy), confirmed);

    assert_eq!(std::fs::read(&path).unwrap(), backup, "not a byte was written to it");
    let again = Session::open(&path, &home(&folder)).unwrap();
    assert_eq!(info::journal_notice(&again.project), None, "the journal went with the session");
    again.close();
}
