//! Backups: when they are made and kept, what changed since, restoring and merging, and what goes wrong.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{OpenSession, TestFolder};
use dissensus_api::{AppSettings, BackupAnswers, BackupChanges, BackupInfo, NewLabel};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, QuestionId, TextId};
use dissensus_editing::{annotators, backups, choices, withdraw};
use dissensus_labelling::{record, undo};
use dissensus_project::event::Event;
use dissensus_store::Store;
use dissensus_test_support::{TestProject, forge};
use rstest::rstest;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const RUDE: QuestionId = QuestionId(1);
const ADA: AnnotatorId = AnnotatorId(1);
const BEN: AnnotatorId = AnnotatorId(2);

/// A project in which Ada has rated the first two of five texts.
fn project(folder: &TestFolder) -> Session {
    TestProject::new()
        .ordinal("rude", ["no", "a bit", "very"])
        .texts(5)
        .annotators(["ada", "ben", "Zorro Diego"])
        .labels([(1, 1, 2), (2, 1, 0), (3, 3, 1)])
        .session(&folder.path("study.dissensus"))
}

fn opened(folder: &TestFolder, path: &Path) -> Session {
    Session::open(path, &folder.home()).unwrap()
}

fn label(session: &Session, annotator: AnnotatorId, text: u32, level: u16) {
    let answer = Answer::from_level(level);
    let new = NewLabel { question: RUDE, annotator, text: TextId(text), answer, duration_ms: None };
    record::record_label(&session.labelling, &new).unwrap();
}

fn listed(session: &Session) -> Vec<BackupInfo> {
    backups::list(&session.project).unwrap().backups
}

/// Current labels as text, annotator and answer.
fn labels(store: &Store) -> BTreeSet<(u32, u32, String)> {
    let found = store.current_labels(RUDE).unwrap();
    found.iter().map(|one| (one.text.0, one.annotator.0, format!("{:?}", one.answer))).collect()
}

/// Names of everything in the folder of the project's backups.
fn files(folder: &TestFolder, session: &Session) -> Vec<String> {
    let of_project = Path::new(&listed(session)[0].file).parent().unwrap().to_owned();
    assert!(of_project.starts_with(folder.home().backups()));
    let entries = fs::read_dir(of_project).unwrap();
    let mut found: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    found.sort();
    found
}

#[test]
fn restored_file_and_project_merge_into_the_union_in_any_order() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let backup = backups::make(&session.project).unwrap();
    assert_eq!((backup.labels, backup.automatic, backup.other_file), (Some(3), false, false));
    // Later in the project: an answer is changed, one taken back, one added.
    label(&session, ADA, 1, 0);
    label(&session, ADA, 4, 1);
    label(&session, BEN, 1, 1);
    undo::undo(&session.labelling, ADA, RUDE, LabelSource::Window).unwrap();
    let home = folder.home();
    let restored = backups::restore(&home, &backup.id, Some(session.project.path()), None).unwrap();
    session.close();
    let path = PathBuf::from(&restored.path);
    assert_eq!(path.parent(), Some(folder.as_ref()));
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("study (backup 20") && name.ends_with(").dissensus"), "{name}");
    // In the restored file somebody goes on too, also on the same text.
    let session = opened(&folder, &path);
    assert_eq!(labels(&session_store(&path)), [(1, 1, 2), (2, 1, 0), (3, 3, 1)].map(shown).into());
    label(&session, BEN, 5, 2);
    label(&session, BEN, 1, 2);
    session.close();
    let original = folder.path("study.dissensus");
    let (a, b) = (folder.path("a.dissensus"), folder.path("b.dissensus"));
    fs::copy(&original, &a).unwrap();
    fs::copy(&path, &b).unwrap();
    // Both directions, and again.
    for (into, from) in [(&a, &path), (&b, &original), (&a, &b), (&b, &a)] {
        let (into, from) = (Store::open(into).unwrap(), Store::open_reader(from).unwrap());
        into.merge_from(&from).unwrap();
        from.close().unwrap();
        into.close().unwrap();
    }
    let (left, right) = (labels(&session_store(&a)), labels(&session_store(&b)));
    assert_eq!(left, right);
    assert!(left.contains(&shown((5, 2, 2))) && left.contains(&shown((1, 1, 0))), "{left:?}");
    let expected = [(1, 1, 0), (1, 2, 2), (2, 1, 0), (3, 3, 1), (5, 2, 2)].map(shown);
    assert_eq!(left, expected.into(), "the retracted answer stays retracted, and Ben's later one holds");
}

fn session_store(path: &Path) -> Store {
    Store::open_reader(path).unwrap()
}

fn shown((text, annotator, level): (u32, u32, u16)) -> (u32, u32, String) {
    (text, annotator, format!("{:?}", Answer::from_level(level)))
}

#[test]
fn changes_are_counted_by_person_and_question() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let first = backups::make(&session.project).unwrap();
    let since = |session: &Session, id: &str| backups::changes_since(&session.project, id).unwrap();
    assert_eq!(since(&session, &first.id), BackupChanges::default());
    label(&session, ADA, 1, 0);
    // Changed twice is one changed answer.
    label(&session, ADA, 1, 1);
    label(&session, ADA, 3, 1);
    label(&session, BEN, 4, 1);
    label(&session, BEN, 5, 1);
    undo::undo(&session.labelling, BEN, RUDE, LabelSource::Window).unwrap();
    dissensus_labelling::marks::flag(&session.labelling, BEN, RUDE, TextId(2), true).unwrap();
    annotators::add(&session.project, "Cleo", &Default::default()).unwrap();
    annotators::change(&session.project, ADA, Some("Ada L."), &[], &[]).unwrap();
    let answers = |annotator: &str, added, changed, withdrawn, missing| BackupAnswers {
        annotator: annotator.to_owned(),
        question: "rude".to_owned(),
        added,
        changed,
        withdrawn,
        missing,
    };
    let found = since(&session, &first.id);
    assert_eq!(found.answers, [answers("Ada L.", 1, 1, 0, 0), answers("ben", 1, 0, 0, 0)]);
    assert_eq!((found.marks, found.people_added, found.people_changed), (1, 1, 1));
    assert_eq!((found.texts_added, found.questions_changed, found.people_removed), (0, 0, 0));
    // Seen from the restored older file, the second backup has answers that this file never had.
    let second = backups::make(&session.project).unwrap();
    let restored = backups::restore(&folder.home(), &first.id, Some(session.project.path()), None).unwrap();
    session.close();
    let session = opened(&folder, Path::new(&restored.path));
    assert!(listed(&session).iter().all(|one| one.other_file), "they were made of the other file");
    let found = since(&session, &second.id);
    assert_eq!(found.answers.iter().map(|one| one.missing).sum::<u32>(), 3, "{found:?}");
    assert_eq!((found.people_removed, found.answers.iter().map(|one| one.withdrawn).sum::<u32>()), (1, 0));
    // An answer of the backup that is taken back here is counted as that.
    label(&session, ADA, 2, 2);
    undo::undo(&session.labelling, ADA, RUDE, LabelSource::Window).unwrap();
    assert_eq!(since(&session, &first.id), BackupChanges::default(), "the earlier answer holds again");
}

#[test]
fn automatic_backups_are_made_when_something_changed() {
    let folder = TestFolder::new();
    let session = project(&folder);
    session.back_up_automatically();
    session.close();
    let path = folder.path("study.dissensus");
    let session = opened(&folder, &path);
    let made = listed(&session);
    assert_eq!(made.len(), 1);
    assert!(made[0].automatic && made[0].labels == Some(3));
    // Nothing changes: nothing is made.
    session.back_up_automatically();
    session.close();
    let session = opened(&folder, &path);
    assert_eq!(listed(&session), made);
    // Work of the same day: the last automatic backup of a day is kept.
    session.back_up_automatically();
    label(&session, BEN, 1, 1);
    session.close();
    let session = opened(&folder, &path);
    let after = listed(&session);
    assert_eq!((after.len(), after[0].labels), (1, Some(4)));
    assert_ne!(after[0].id, made[0].id);
    // One that was asked for stays next to it.
    backups::make(&session.project).unwrap();
    session.back_up_automatically();
    label(&session, BEN, 2, 1);
    session.close();
    let session = opened(&folder, &path);
    let kept: Vec<(Option<u32>, bool)> =
        listed(&session).iter().map(|one| (one.labels, one.automatic)).collect();
    assert_eq!(kept, [(Some(5), true), (Some(4), false)]);
    assert_eq!(files(&folder, &session).len(), 5, "two backups, two descriptions, the lock");
}

#[test]
fn no_automatic_backup_of_the_sample_of_readers_or_where_it_is_off() {
    let folder = TestFolder::new();
    project(&folder).close();
    let path = folder.path("study.dissensus");
    let session = opened(&folder, &path);
    let off = AppSettings { backups: false, ..AppSettings::default() };
    choices::apply_settings(&session.project, &off);
    session.back_up_automatically();
    session.close();
    let session = Session::open_to_read(&path, &folder.home()).unwrap();
    session.back_up_automatically();
    assert!(listed(&session).is_empty());
    // Somebody who asks for one gets it.
    backups::make(&session.project).unwrap();
    assert_eq!(listed(&session).len(), 1);
    session.close();
    let application = Application::new(folder.home());
    application.open_sample().unwrap();
    application.session().unwrap().back_up_automatically();
    application.close_project();
    let empty = Session::create(&folder.path("empty.dissensus"), &folder.home()).unwrap();
    empty.back_up_automatically();
    empty.close();
    assert_eq!(backups::list_all(&folder.home()).backups.len(), 1);
}

#[test]
fn failed_automatic_backup_is_a_notice_and_labels_go_on() {
    let folder = TestFolder::new();
    let session = project(&folder);
    // A file has the name of the folder.
    fs::create_dir_all(folder.path("home")).unwrap();
    fs::write(folder.home().backups(), b"in the way").unwrap();
    let heard = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&heard);
    session.subscribe(move |event| {
        if matches!(event, Event::Project) {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    session.back_up_automatically();
    label(&session, BEN, 1, 1);
    session.close();
    assert_eq!(heard.load(Ordering::SeqCst), 1);
    let notice = dissensus_editing::info::read(&opened_again(&folder).project).unwrap().backup_notice;
    assert_eq!(notice, None, "a new session has not failed yet");
    let session = opened_again(&folder);
    let refused = backups::make(&session.project).unwrap_err();
    assert_eq!(refused.code(), "io");
    assert!(refused.to_string().contains("backing up to"), "{refused}");
    assert_eq!(session_store(&folder.path("study.dissensus")).counts().unwrap().labels, 4);
    assert_eq!(fs::read(folder.home().backups()).unwrap(), b"in the way");
}

fn opened_again(folder: &TestFolder) -> Session {
    opened(folder, &folder.path("study.dissensus"))
}

#[test]
fn several_programs_back_up_at_once() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let path = folder.path("study.dissensus");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let reader = Session::open_to_read(&path, &folder.home()).unwrap();
                backups::make(&reader.project).unwrap();
                reader.close();
            });
        }
        for text in 1..=5 {
            label(&session, BEN, text, 1);
        }
    });
    let made = listed(&session);
    let ids: BTreeSet<&str> = made.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids.len(), 4);
    for one in &made {
        let found = session_store(Path::new(&one.file)).counts().unwrap();
        assert_eq!(Some(found.labels), one.labels);
    }
    let left = files(&folder, &session);
    assert_eq!(left.len(), 9, "four backups, four descriptions, the lock: {left:?}");
}

#[test]
fn what_a_killed_program_left_is_removed() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let first = backups::make(&session.project).unwrap();
    let inside = Path::new(&first.file).parent().unwrap();
    let part = inside.join(".dissensus-killed.part");
    fs::create_dir(&part).unwrap();
    fs::write(part.join("backup.dissensus"), b"half").unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 24 * 60 * 60);
    fs::File::open(&part).unwrap().set_modified(old).unwrap();
    fs::write(inside.join("2026-01-01T00-00-00Z.json"), b"{}").unwrap();
    fs::write(inside.join("notes.txt"), b"mine").unwrap();
    assert_eq!(listed(&session).len(), 1, "none of it is a backup");
    backups::make(&session.project).unwrap();
    let left = files(&folder, &session);
    assert_eq!(left.len(), 6, "two backups, two descriptions, the lock, and a foreign file: {left:?}");
    assert!(left.contains(&"notes.txt".to_owned()));
}

#[test]
fn copied_and_moved_files_have_their_own_backups() {
    let folder = TestFolder::new();
    let session = project(&folder);
    session.back_up_automatically();
    session.close();
    let (path, copy) = (folder.path("study.dissensus"), folder.path("copy.dissensus"));
    fs::copy(&path, &copy).unwrap();
    let session = opened(&folder, &copy);
    session.back_up_automatically();
    label(&session, BEN, 1, 1);
    session.close();
    let session = opened(&folder, &copy);
    let found = listed(&session);
    let seen: Vec<(bool, Option<u32>)> = found.iter().map(|one| (one.other_file, one.labels)).collect();
    assert_eq!(seen, [(false, Some(4)), (true, Some(3))], "the copy does not displace the other's backup");
    assert!(found[1].path.as_deref().is_some_and(|path| path.ends_with("study.dissensus")));
    session.close();
    // The file is lost: its backups are found by its path, and without a project by anybody.
    fs::remove_file(&path).unwrap();
    let lost = backups::list_of_file(&folder.home(), &path).backups;
    assert_eq!(lost.iter().map(|one| one.labels).collect::<Vec<_>>(), [Some(3)]);
    let application = Application::new(folder.home());
    assert_eq!(dissensus_app::backups::list(&application).unwrap().backups.len(), 2);
    let restored = dissensus_app::backups::restore(&application, &lost[0].id, None).unwrap();
    assert_eq!(application.open_project(&restored.path).unwrap().labels, 3);
}

#[test]
fn restoring_never_replaces_a_file() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let backup = backups::make(&session.project).unwrap();
    let (home, path) = (folder.home(), session.project.path());
    let restore = |target: Option<&Path>| backups::restore(&home, &backup.id, Some(path), target);
    let (first, second) = (restore(None).unwrap().path, restore(None).unwrap().path);
    assert!(second.ends_with(", 2).dissensus"), "{second}");
    assert_ne!(first, second);
    let taken = folder.file("taken.dissensus", "something else");
    assert_eq!(restore(Some(&taken)).unwrap_err().code(), "project-exists");
    assert_eq!(fs::read_to_string(&taken).unwrap(), "something else");
    assert_eq!(restore(Some(path)).unwrap_err().code(), "project-exists");
    let gone = folder.path("gone/study.dissensus");
    let missing = backups::restore(&home, &backup.id, Some(&gone), None).unwrap_err();
    assert_eq!(missing.code(), "restore-folder");
    // The backup itself is as it was, and can be deleted.
    assert_eq!(backups::changes_since(&session.project, &backup.id).unwrap(), BackupChanges::default());
    backups::delete(&home, &backup.id).unwrap();
    assert!(listed(&session).is_empty());
    for id in [&*backup.id, "", "x", "../../study", "0198f2c4-7d1e-7a31-9c55-3a1b6f2e8d07/../x"] {
        assert_eq!(backups::delete(&home, id).unwrap_err().code(), "no-backup", "{id}");
        assert_eq!(restore_code(&home, id), "no-backup", "{id}");
    }
}

fn restore_code(home: &dissensus_project::home::Home, id: &str) -> &'static str {
    backups::restore(home, id, None, None).unwrap_err().code()
}

#[test]
fn damaged_and_newer_backups_are_refused_and_nothing_is_left() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let (damaged, newer) =
        (backups::make(&session.project).unwrap(), backups::make(&session.project).unwrap());
    let size = fs::metadata(&damaged.file).unwrap().len();
    fs::File::options().write(true).open(&damaged.file).unwrap().set_len(size / 2).unwrap();
    // The format's number in the header.
    let mut bytes = fs::read(&newer.file).unwrap();
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    fs::write(&newer.file, bytes).unwrap();
    // A description that somebody damaged hides nothing.
    fs::write(Path::new(&newer.file).with_extension("json"), b"{\"labels\": \"many\"").unwrap();
    let before = fs::read_dir(&folder).unwrap().count();
    for (backup, codes) in
        [(&damaged, ["project-damaged", "project-altered"]), (&newer, ["project-newer", "project-newer"])]
    {
        let found = backups::changes_since(&session.project, &backup.id).unwrap_err();
        assert!(codes.contains(&found.code()), "{found}");
        let path = Some(session.project.path());
        let found = backups::restore(&folder.home(), &backup.id, path, None).unwrap_err();
        assert!(codes.contains(&found.code()), "{found}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), before);
    let found = listed(&session);
    assert_eq!(found.iter().map(|one| one.labels).collect::<Vec<_>>(), [None, Some(3)]);
}

#[test]
fn people_who_withdraw_are_erased_from_backups_too() {
    let folder = TestFolder::new();
    let session = project(&folder);
    backups::make(&session.project).unwrap();
    label(&session, BEN, 1, 1);
    let second = backups::make(&session.project).unwrap();
    let damaged = backups::make(&session.project).unwrap();
    fs::write(&damaged.file, b"Zorro Diego").unwrap();
    let contains = |file: &str| {
        let bytes = fs::read(file).unwrap();
        bytes.windows(11).any(|part| part == b"Zorro Diego")
    };
    assert!(contains(&second.file));
    let gone = withdraw::withdraw(&session.project, AnnotatorId(3)).unwrap();
    assert!(gone.cleaned);
    assert_eq!(gone.copies, [damaged.file.as_str()], "what cannot be erased from is listed");
    let found = listed(&session);
    assert_eq!(found.iter().map(|one| one.labels).collect::<Vec<_>>(), [Some(4), Some(3), Some(2)]);
    for one in found.iter().filter(|one| one.id != damaged.id) {
        assert!(!contains(&one.file), "{}", one.file);
        let store = session_store(Path::new(&one.file));
        assert_eq!(Some(store.counts().unwrap().labels), one.labels);
        assert!(store.has_withdrawn("Zorro Diego").unwrap());
    }
    // A restored backup keeps the person out.
    let restored = backups::restore(&folder.home(), &second.id, Some(session.project.path()), None).unwrap();
    assert!(!contains(&restored.path));
    assert_eq!(backups::changes_since(&session.project, &second.id).unwrap(), BackupChanges::default());
}

#[test]
fn older_file_in_place_of_the_project_displaces_no_backup() {
    let folder = TestFolder::new();
    project(&folder).close();
    let (path, older) = (folder.path("study.dissensus"), folder.path("yesterday"));
    fs::copy(&path, &older).unwrap();
    let session = opened(&folder, &path);
    session.back_up_automatically();
    label(&session, BEN, 1, 1);
    label(&session, BEN, 2, 1);
    session.close();
    // Yesterday's file, and some more work on it the same day.
    fs::copy(&older, &path).unwrap();
    for (text, expected) in [(3, [4, 5]), (4, [5, 5])] {
        let session = opened(&folder, &path);
        session.back_up_automatically();
        label(&session, BEN, text, 1);
        session.close();
        let session = opened(&folder, &path);
        let kept: Vec<u32> = listed(&session).iter().filter_map(|one| one.labels).collect();
        assert_eq!(kept, expected, "the only backup with the work of the morning, and the last one");
        session.close();
    }
}

#[test]
fn backup_that_cannot_be_rewritten_delays_nothing_else_of_a_withdrawal() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let (first, second) =
        (backups::make(&session.project).unwrap(), backups::make(&session.project).unwrap());
    let contains =
        |file: &str| fs::read(file).unwrap().windows(11).any(|part| part == b"Zorro Diego".as_slice());
    // The newest, which is the first in line, is in use elsewhere.
    let held = Store::open(&second.file).unwrap();
    let gone = withdraw::withdraw(&session.project, AnnotatorId(3)).unwrap();
    assert!(!gone.cleaned);
    assert_eq!(gone.copies, [second.file.as_str()]);
    assert!(!contains(&first.file) && contains(&second.file));
    session.close();
    let path = folder.path("study.dissensus");
    assert!(!contains(&path.to_string_lossy()), "the project itself was written anew");
    assert!(session_store(&path).to_clean().unwrap().is_some());
    held.close().unwrap();
    // The next opening finishes it.
    opened(&folder, &path).close();
    assert!(!contains(&second.file));
    assert_eq!(session_store(&path).to_clean().unwrap(), None);
}

#[rstest]
fn parts_of_backups_do_not_survive_a_withdrawal(#[values(true, false)] has_backups: bool) {
    let folder = TestFolder::new();
    let session = project(&folder);
    let backup = backups::make(&session.project).unwrap();
    let part = Path::new(&backup.file).with_file_name(".dissensus-killed.part");
    if !has_backups {
        backups::delete(&folder.home(), &backup.id).unwrap();
    }
    fs::create_dir(&part).unwrap();
    fs::write(part.join("backup.dissensus"), b"Zorro Diego").unwrap();
    assert!(withdraw::withdraw(&session.project, AnnotatorId(3)).unwrap().cleaned);
    assert!(!part.exists());
}

#[test]
fn closing_does_not_wait_for_a_program_that_holds_the_folder() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let backup = backups::make(&session.project).unwrap();
    let lock = fs::File::open(Path::new(&backup.file).with_file_name("backups.lock")).unwrap();
    lock.lock().unwrap();
    session.back_up_automatically();
    label(&session, BEN, 1, 1);
    session.close();
    drop(lock);
    let session = opened_again(&folder);
    assert_eq!(listed(&session), [backup], "the project was closed without one");
    session.back_up_automatically();
    session.close();
    let labels: Vec<Option<u32>> = listed(&opened_again(&folder)).iter().map(|one| one.labels).collect();
    assert_eq!(labels, [Some(4), Some(3)], "it was made later");
}

/// The content stamp of a project after a statement.
fn stamp_after(path: &Path, sql: &str) -> String {
    forge(path, |c| c.execute_batch(sql));
    session_store(path).content_stamp().unwrap()
}

#[rstest]
#[case("UPDATE texts SET split = 'test' WHERE id = 1")]
#[case("UPDATE texts SET \"group\" = 'a' WHERE id = 1")]
#[case("UPDATE texts SET metadata = '{\"a\": \"b\"}' WHERE id = 1")]
#[case("UPDATE texts SET noted_at_ms = noted_at_ms + 1 WHERE id = 1")]
#[case("UPDATE texts SET field_times = '{\"split\": 7}' WHERE id = 1")]
#[case("UPDATE annotators SET simulated = 1 WHERE id = 1")]
#[case("UPDATE runs SET state = 'finished', ended_ms = 9 WHERE id = 1")]
fn stamp_differs_after_changes_of_existing_rows(#[case] change: &str) {
    let folder = TestFolder::new();
    project(&folder).close();
    let path = folder.path("study.dissensus");
    let run = "INSERT INTO runs (uid, configuration, seed, device, started_ms, state)
               VALUES (zeroblob(16), '{}', 1, 'cpu', 5, 'interrupted')";
    let before = stamp_after(&path, run);
    assert_eq!(stamp_after(&path, "INSERT INTO settings VALUES ('width', '5')"), before);
    assert_ne!(stamp_after(&path, change), before);
}

#[test]
fn stamp_differs_between_two_histories_of_equal_length() {
    let folder = TestFolder::new();
    project(&folder).close();
    let (one, other) = (folder.path("study.dissensus"), folder.path("other.dissensus"));
    fs::copy(&one, &other).unwrap();
    let stamp = |path: &Path| session_store(path).content_stamp().unwrap();
    assert_eq!(stamp(&one), stamp(&other));
    for path in [&one, &other] {
        let session = opened(&folder, path);
        label(&session, BEN, 1, 1);
        session.close();
    }
    assert_ne!(stamp(&one), stamp(&other));
}

#[test]
fn removed_import_is_not_reported_as_lost() {
    let folder = TestFolder::new();
    project(&folder).close();
    let path = folder.path("study.dissensus");
    let store = Store::open(&path).unwrap();
    store
        .write(|tx| {
            let begun = tx.begin_import("labels.csv", 77)?;
            let mut labels = tx.label_appender()?;
            for text in [1, 2] {
                let new = dissensus_store::NewLabel {
                    question: RUDE,
                    text: TextId(text),
                    annotator: BEN,
                    answer: Answer::from_level(1),
                    at_ms: 600,
                    duration_ms: None,
                    source: LabelSource::Import,
                };
                labels.append_with(&new, &dissensus_store::AnswerDetails::default())?;
            }
            drop(labels);
            tx.end_import(begun)
        })
        .unwrap();
    store.close().unwrap();
    let session = opened(&folder, &path);
    let backup = backups::make(&session.project).unwrap();
    session.close();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.write(|tx| tx.remove_last_import()).unwrap().answers, 2);
    store.close().unwrap();
    let session = opened(&folder, &path);
    let found = backups::changes_since(&session.project, &backup.id).unwrap();
    assert_eq!(found.answers.iter().map(|one| (one.withdrawn, one.missing)).collect::<Vec<_>>(), [(2, 0)]);
}

#[test]
fn backup_of_another_project_is_restored_next_to_that_one() {
    let folder = TestFolder::new();
    let session = project(&folder);
    let backup = backups::make(&session.project).unwrap();
    session.close();
    fs::create_dir(folder.path("second")).unwrap();
    let second = folder.path("second/other.dissensus");
    TestProject::new().ordinal("rude", ["no", "yes"]).texts(1).session(&second).close();
    let application = Application::new(folder.home());
    application.open_project(&second.to_string_lossy()).unwrap();
    let restored = dissensus_app::backups::restore(&application, &backup.id, None).unwrap();
    let path = PathBuf::from(&restored.path);
    assert_eq!(path.parent(), Some(folder.as_ref()));
    assert!(path.file_name().unwrap().to_string_lossy().starts_with("study (backup 20"), "{path:?}");
}
