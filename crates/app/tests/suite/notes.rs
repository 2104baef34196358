//! Notes with answers and the guideline that they were given under: through packets, undo, exports and
//! imports.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{OpenSession, import_as_guessed, open_in};
use dissensus_api::{
    LabelDetails, MergeConsent, NewGuideline, NewLabel, NoteQuery, Removal, StudyRequest, TextOrder,
};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, Note, NoteForm, QuestionId, TextId};
use dissensus_editing::QuestionChange;
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::remove;
use dissensus_editing::texts;
use dissensus_labelling::drafts;
use dissensus_labelling::guideline::OnScreen;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::notes;
use dissensus_labelling::reannotation;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::jobs::Silent;
use dissensus_test_support::TestProject;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use dissensus_transfer::study;
use std::path::{Path, PathBuf};

const QUESTION: QuestionId = QuestionId(1);

fn import_notes(session: &Session, file: &Path) -> Vec<String> {
    import_as_guessed(session, file).remarks
}

/// A project with a number of texts, a question with reasons, and two annotators.
fn project(folder: &Path, name: &str, texts: usize) -> (PathBuf, Session) {
    let path = folder.join(name);
    let session = TestProject::new()
        .ordinal("rude", ["1", "2", "3", "4", "5"])
        .texts_with(texts as u32, |n| format!("Body of text {n}"))
        .annotators(["ana", "ben"])
        .session(&path);
    let form = NoteForm { reasons: vec!["slang".into(), "irony".into()], confidence: true };
    let change = QuestionChange { note_form: Some(form), ..QuestionChange::default() };
    questions::edit(&session.project, QUESTION, &change).unwrap();
    (path, session)
}

fn note_with(note: &str, reasons: &[&str], confidence: Option<u8>) -> Note {
    let note = (!note.is_empty()).then(|| note.to_owned());
    Note { note, reasons: reasons.iter().map(|&r| r.to_owned()).collect(), confidence }
}

fn person(session: &Session, name: &str) -> dissensus_domain::AnnotatorId {
    annotators::find(&session.project, name).unwrap().id
}

fn text(session: &Session, name: &str) -> TextId {
    texts::find(&session.project, name).unwrap().0
}

fn label(session: &Session, who: &str, id: &str, level: u16, note: Note, guideline: Option<&str>) {
    let new = NewLabel {
        question: QUESTION,
        annotator: person(session, who),
        text: text(session, id),
        answer: Answer::from_level(level),
        duration_ms: Some(900),
    };
    let details = LabelDetails { note, guideline: guideline.map(str::to_owned) };
    record::record_label(
        &session.labelling,
        RecordLabel { details: details.clone(), ..RecordLabel::new(&new, LabelSource::Window) },
    )
    .unwrap();
}

fn guideline(body: &str, after: Option<String>) -> NewGuideline {
    let (change, by) = ("what changed".to_owned(), "ada".to_owned());
    NewGuideline { body: body.to_owned(), change, by, pictures: Vec::new(), after }
}

/// Question, text, annotator, answer and note, of every note or mark.
fn notes_matching(session: &Session, words: &str) -> Vec<String> {
    let query = NoteQuery { words: words.to_owned(), ..NoteQuery::default() };
    let found = dissensus_editing::notes::list(&session.project, &query).unwrap();
    let line = |one: dissensus_api::NoteInfo| {
        format!(
            "{} {} {:?} {:?} {:?} {:?} {} {}",
            one.text_id,
            one.annotator_name,
            one.answer,
            one.note.note,
            one.note.reasons,
            one.note.confidence,
            one.flagged,
            one.skipped
        )
    };
    found.into_iter().map(line).collect()
}

/// The header of a PNG picture of 8 x 8.
fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend([0, 0, 0, 8, 0, 0, 0, 8, 8, 6, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[test]
fn note_is_edited_and_undone_with_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = project(folder.path(), "p.dissensus", 4);
    label(&session, "ana", "t1", 3, note_with("  quotes somebody ", &["slang"], Some(2)), None);
    let task = |session: &Session| {
        task::read(&session.labelling, person(session, "ana"), QUESTION, text(session, "t1"), 1).unwrap()
    };
    assert_eq!(task(&session).note, note_with("quotes somebody", &["slang"], Some(2)));
    let labels = info::read(&session.project).unwrap().labels;
    let (ana, t1) = (person(&session, "ana"), text(&session, "t1"));
    let say = |note: Note| {
        let details = LabelDetails { note, guideline: None };
        notes::write(&session.labelling, ana, QUESTION, t1, &details, LabelSource::Window)
    };
    say(note_with("", &["irony"], Some(4))).unwrap();
    assert_eq!(task(&session).note, note_with("", &["irony"], Some(4)));
    assert_eq!(info::read(&session.project).unwrap().labels, labels, "no label changed by it");
    let undone = undo::undo(&session.labelling, ana, QUESTION, LabelSource::Window).unwrap().unwrap();
    assert_eq!(undone.note, note_with("quotes somebody", &["slang"], Some(2)));
    assert_eq!(
        task(&session).note,
        note_with("", &["irony"], Some(4)),
        "the note was added after the answer"
    );
    label(&session, "ana", "t1", 2, Note::default(), None);
    assert!(task(&session).note.is_empty(), "the window shows the whole note: an empty one is on purpose");

    for (note, words) in [
        (note_with("", &["a; b"], None), "semicolon"),
        (note_with("", &[], Some(9)), "from 1"),
        (note_with(&"x".repeat(10_001), &[], None), "10001 characters"),
    ] {
        let refused = say(note).unwrap_err();
        assert_eq!((refused.code(), refused.to_string().contains(words)), ("remark", true), "{refused}");
    }
}

#[test]
fn notes_are_found_by_words_reason_and_flag() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = project(folder.path(), "p.dissensus", 4);
    label(&session, "ana", "t1", 3, note_with("Irony?", &["slang"], None), None);
    label(&session, "ben", "t2", 0, note_with("", &[], Some(1)), None);
    label(&session, "ben", "t3", 0, Note::default(), None);
    marks::flag(&session.labelling, person(&session, "ben"), QUESTION, text(&session, "t4"), true).unwrap();
    assert_eq!(notes_matching(&session, "").len(), 3);
    assert_eq!(
        notes_matching(&session, "irony body"),
        [r#"t1 ana Some("4") Some("Irony?") ["slang"] None false false"#]
    );
    assert!(notes_matching(&session, "nothing of it").is_empty());
    let flagged = NoteQuery { flagged: true, ..NoteQuery::default() };
    assert_eq!(dissensus_editing::notes::list(&session.project, &flagged).unwrap().len(), 1);
    let of_reason = NoteQuery { reason: Some("slang".into()), ..NoteQuery::default() };
    assert_eq!(dissensus_editing::notes::list(&session.project, &of_reason).unwrap().len(), 1);
    let of_ben = NoteQuery { annotator: Some(person(&session, "ben")), ..NoteQuery::default() };
    assert_eq!(dissensus_editing::notes::list(&session.project, &of_ben).unwrap().len(), 2);
}

#[test]
fn notes_survive_export_and_repeated_import() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = project(folder.path(), "p.dissensus", 6);
    session.guideline.write(&guideline("Be fair", None), None).unwrap();
    let version = session.guideline.newest().unwrap().unwrap().id;
    label(
        &session,
        "ana",
        "t1",
        3,
        note_with("a \"quote\", and\na line", &["slang", "irony"], Some(5)),
        Some(&version),
    );
    label(&session, "ana", "t2", 1, Note::default(), Some(&version));
    label(&session, "ben", "t1", 0, note_with("", &[], Some(1)), None);
    let ben = person(&session, "ben");
    marks::flag(&session.labelling, ben, QUESTION, text(&session, "t1"), true).unwrap();
    marks::skip(&session.labelling, ben, QUESTION, text(&session, "t3")).unwrap();
    marks::flag(&session.labelling, ben, QUESTION, text(&session, "t3"), true).unwrap();
    let details = LabelDetails { note: note_with("odd", &[], None), guideline: None };
    notes::write(&session.labelling, ben, QUESTION, text(&session, "t4"), &details, LabelSource::Window)
        .unwrap();
    let before = notes_matching(&session, "");
    assert_eq!(before.len(), 4);
    for ending in ["csv", "tsv", "jsonl"] {
        let file = folder.path().join(format!("out.{ending}"));
        assert_eq!(
            exchange::export(&session.exchange, &file, &ExportChoices::default(), &Silent).unwrap().answers,
            3
        );
        let (_, other) = project(folder.path(), &format!("{ending}.dissensus"), 6);
        let notes = import_notes(&other, &file);
        assert!(notes.iter().any(|line| line.starts_with("6 marks")), "{notes:?}");
        assert_eq!(notes_matching(&other, ""), before, "{ending}");
        assert_eq!(info::read(&other.project).unwrap().labels, 3);
        let again = import_notes(&other, &file);
        assert!(!again.iter().any(|line| line.contains("of answers")), "{again:?}");
        assert_eq!(notes_matching(&other, ""), before, "{ending}, twice");
    }
    let written = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert!(
        written.lines().next().unwrap().ends_with("note,reasons,confidence,marks,guideline"),
        "{written}"
    );
    // Without notes there are no columns for them.
    let (_, plain) = project(folder.path(), "plain.dissensus", 2);
    label(&plain, "ana", "t1", 3, Note::default(), None);
    let file = folder.path().join("plain.csv");
    exchange::export(&plain.exchange, &file, &ExportChoices::default(), &Silent).unwrap();
    assert!(!std::fs::read_to_string(&file).unwrap().contains("note"));
}

#[test]
fn import_does_not_restore_a_replaced_note() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = project(folder.path(), "p.dissensus", 3);
    label(&session, "ana", "t1", 3, note_with("irony", &[], Some(1)), None);
    marks::flag(&session.labelling, person(&session, "ana"), QUESTION, text(&session, "t1"), true).unwrap();
    let file = folder.path().join("before.csv");
    exchange::export(&session.exchange, &file, &ExportChoices::default(), &Silent).unwrap();
    label(&session, "ana", "t1", 1, Note::default(), None);
    marks::flag(&session.labelling, person(&session, "ana"), QUESTION, text(&session, "t1"), false).unwrap();
    import_notes(&session, &file);
    assert!(notes_matching(&session, "").is_empty(), "{:?}", notes_matching(&session, ""));
    // An older row after a newer one adds its note to its own answer, which is not current.
    let (_, other) = project(folder.path(), "o.dissensus", 3);
    let file = folder.path().join("in.csv");
    std::fs::write(
        &file,
        "text_id,text,annotator_id,label,question,created_at,source,note,reasons,confidence,marks,guideline\n\
         t1,Body of text 1,ana,3,rude,2022-01-01T00:00:00Z,import,,,,,\n\
         t1,Body of text 1,ana,1,rude,2021-01-01T00:00:00Z,import,old note of 1,,,,\n",
    )
    .unwrap();
    import_notes(&other, &file);
    assert!(notes_matching(&other, "").is_empty(), "{:?}", notes_matching(&other, ""));
}

#[test]
fn metadata_named_like_notes_stays_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = project(folder.path(), "p.dissensus", 1);
    let file = folder.path().join("more.csv");
    std::fs::write(&file, "text_id,text,note,confidence\nm1,One more,author note,0.8\n").unwrap();
    import_notes(&session, &file);
    label(&session, "ana", "m1", 3, Note::default(), None);
    for noted in [false, true] {
        if noted {
            label(&session, "ben", "m1", 3, note_with("mine", &[], None), None);
        }
        let out = folder.path().join(format!("{noted}.csv"));
        exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
        let (_, other) = project(folder.path(), &format!("{noted}.dissensus"), 1);
        import_notes(&other, &out);
        assert_eq!(notes_matching(&other, "").len(), usize::from(noted));
        let again = folder.path().join(format!("{noted}-again.csv"));
        exchange::export(&other.exchange, &again, &ExportChoices::default(), &Silent).unwrap();
        let written = std::fs::read_to_string(&again).unwrap();
        assert!(written.contains("author note") && written.contains("0.8"), "{written}");
    }
}

#[test]
fn import_does_not_replace_the_projects_notes() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = project(folder.path(), "p.dissensus", 3);
    label(&session, "ana", "t1", 3, note_with("mine", &[], None), None);
    let file = folder.path().join("in.csv");
    std::fs::write(
        &file,
        "text_id,text,annotator_id,label,question,created_at,source,note,reasons,confidence,marks,guideline\n\
         t1,Body of text 1,ana,4,rude,2020-01-01T00:00:00Z,window,theirs,,,flagged,\n\
         t2,Body of text 2,ana,,rude,2020-01-01T00:00:00Z,,noted,,,skipped,\n\
         t3,Body of text 3,ana,,unknown,2020-01-01T00:00:00Z,,lost?,,,,\n",
    )
    .unwrap();
    let notes = import_notes(&session, &file);
    assert!(notes.iter().any(|line| line.starts_with("1 mark left out")), "{notes:?}");
    assert_eq!(
        notes_matching(&session, ""),
        [
            r#"t1 ana Some("4") Some("mine") [] None true false"#,
            r#"t2 ana None Some("noted") [] None false true"#
        ]
    );
    assert_eq!(info::read(&session.project).unwrap().labels, 1);
}

#[test]
fn packet_has_the_guideline_and_submits_notes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, session) = project(folder.path(), "p.dissensus", 30);
    let written = session.guideline.write(&guideline("# Rules\nBe fair", None), None).unwrap();
    let request = StudyRequest {
        questions: Vec::new(),
        people: vec!["ana".into(), "ben".into()],
        per_text: 1,
        per_person: None,
        anchors: 2,
        repeat: 0.1,
        again_after: 5,
        new_people: false,
        balance: None,
        seed: 3,
    };
    let handed_out = study::hand_out(&session.study, &request, &folder.path().join("out"), &Silent).unwrap();
    let packet = PathBuf::from(handed_out.people[0].file.clone().unwrap());
    session.close();
    drop(session);
    let hers = open_in(folder.path(), &packet);
    let seen = hers.guideline.newest().unwrap().unwrap();
    assert_eq!((seen.id.as_str(), seen.body.as_str()), (written.guideline.id.as_str(), "# Rules\nBe fair"));
    assert!(hers.guideline.write(&guideline("mine", None), None).is_err(), "a packet writes no guideline");
    assert_eq!(info::read(&hers.project).unwrap().questions[0].note_form.reasons, ["slang", "irony"]);
    let me = annotators::list(&hers.project).unwrap()[0].id;
    let (mut after, mut again) = (None, 0);
    while let Some(task) = next_text::choose(&hers.labelling, me, QUESTION, TextOrder::File, after).unwrap() {
        assert!(task.note.is_empty(), "a text that is asked again comes without its notes");
        let new = NewLabel {
            question: QUESTION,
            annotator: me,
            text: task.text,
            answer: Answer::from_level(1),
            duration_ms: None,
        };
        let note = note_with(&format!("{} on {}", task.external_id, task.occasion), &["irony"], Some(3));
        let details = LabelDetails { note: note.clone(), guideline: Some(seen.id.clone()) };
        match task.occasion {
            1 => drop(
                record::record_label(
                    &hers.labelling,
                    RecordLabel { details: details.clone(), ..RecordLabel::new(&new, LabelSource::Window) },
                )
                .unwrap(),
            ),
            occasion => {
                again += 1;
                reannotation::record(
                    &hers.labelling,
                    &RecordLabel { details: details.clone(), ..RecordLabel::new(&new, LabelSource::Window) },
                    occasion,
                )
                .unwrap();
                let now = task::read(&hers.labelling, me, QUESTION, task.text, occasion).unwrap();
                assert_eq!(now.note, note);
                // A note added later to the same answer is not a new answer: undo takes back the answer.
                let later = LabelDetails { note: note_with("later", &[], None), guideline: None };
                reannotation::record(
                    &hers.labelling,
                    &RecordLabel { details: later.clone(), ..RecordLabel::new(&new, LabelSource::Window) },
                    occasion,
                )
                .unwrap();
                let undone = undo::undo(&hers.labelling, me, QUESTION, LabelSource::Window).unwrap().unwrap();
                assert_eq!((undone.now, undone.note.note.as_deref()), (None, Some("later")));
                reannotation::record(
                    &hers.labelling,
                    &RecordLabel { details: details.clone(), ..RecordLabel::new(&new, LabelSource::Window) },
                    occasion,
                )
                .unwrap();
            }
        }
        after = Some(task.text);
    }
    assert!(again > 0);
    let handed = folder.path().join("ana.handin");
    study::hand_in(&hers.study, &handed, false).unwrap();
    hers.close();
    drop(hers);
    let session = open_in(folder.path(), &path);
    // The guideline has changed meanwhile; her labels refer to the version that she had.
    session.guideline.write(&guideline("# Rules\nBe fair, and quick", None), None).unwrap();
    for _ in 0..2 {
        let report =
            study::merge(&session.study, std::slice::from_ref(&handed), &MergeConsent::all(), &Silent)
                .unwrap();
        assert!(report.files.iter().all(|file| !file.refused), "{:?}", report.files);
    }
    let found = dissensus_editing::notes::list(&session.project, &NoteQuery::default()).unwrap();
    assert!(found.len() >= 15 && found.iter().all(|one| one.guideline == Some(1)), "{found:?}");
    let own = |one: &dissensus_api::NoteInfo| format!("{} on {}", one.text_id, one.occasion);
    assert!(found.iter().all(|one| one.note.note == Some(own(one))), "{found:?}");
    assert_eq!(found.iter().filter(|one| one.occasion == 2).count(), again);
    let discussion = study::discussion(&session.study, QUESTION, found[0].text).unwrap();
    let hers = discussion.answers.iter().find(|one| one.name == "ana").unwrap();
    assert_eq!((hers.note.confidence, hers.guideline), (Some(3), Some(1)));
}

#[test]
fn guideline_with_pictures_is_checked_and_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = project(folder.path(), "p.dissensus", 3);
    std::fs::write(folder.path().join("a.png"), png()).unwrap();
    let body = "# Rules\r\n\r\n![one](a.png) [link](https://x.org) <b>x</b>";
    let written = session.guideline.write(&guideline(body, None), Some(folder.path())).unwrap();
    assert_eq!(written.notices.len(), 2);
    let name = written.guideline.body.split("picture:").nth(1).unwrap()[..16].to_owned();
    assert_eq!(session.guideline.picture(&name).unwrap().media_type, "image/png");
    assert!(!written.guideline.body.contains('\r'));

    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("private.png"), png()).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(elsewhere.path().join("private.png"), folder.path().join("out.png")).unwrap();
    let refused =
        |new: &NewGuideline, folder: Option<&Path>| session.guideline.write(new, folder).unwrap_err();
    for (body, code, words) in [
        ("  \n", "guideline-blank", "cannot be empty"),
        ("![x](https://x.org/a.png)", "guideline-picture", "is elsewhere"),
        ("![x](data:image/png;base64,AAAA)", "guideline-picture", "is elsewhere"),
        ("![x](../a.png)", "guideline-picture", "next to the guideline"),
        ("![x](/etc/passwd)", "guideline-picture", "next to the guideline"),
        ("![x](missing.png)", "guideline-picture", "there is no file"),
        ("![x](picture:0000000000000000)", "guideline-picture", "no such picture"),
        ("![a ![b](a.png)](a.png)", "guideline-picture", "within the words of another"),
        ("![x](out.png)", "guideline-picture", "leads out of"),
        ("![x][r]\n\n[r]: a.png", "guideline-picture", "where it is shown"),
    ] {
        let error = refused(&guideline(body, None), Some(folder.path()));
        assert_eq!(error.code(), code, "{body}");
        assert!(error.to_string().contains(words), "{body}: {error}");
    }
    let long = "x".repeat(200_001);
    assert_eq!(refused(&guideline(&long, None), None).code(), "guideline-long");
    assert_eq!(refused(&guideline(&written.guideline.body, None), None).code(), "guideline-unchanged");
    // Two concurrent writes: the second has not seen what the first wrote.
    let first = written.guideline.id.clone();
    session.guideline.write(&guideline("two", Some(first.clone())), None).unwrap();
    let error = refused(&guideline("also two", Some(first)), None);
    assert_eq!(error.code(), "guideline-outdated");
    assert!(error.to_string().contains("version 2 was written meanwhile by ada"), "{error}");
    assert_eq!(session.guideline.versions().unwrap().len(), 2);
    assert_eq!(session.guideline.version(Some(1)).unwrap().number, 1);
    let none = session.guideline.version(Some(7)).unwrap_err().to_string();
    assert!(none.contains("versions 1 to 2"), "{none}");
}

#[test]
fn agreement_is_split_by_guideline_version() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = project(folder.path(), "p.dissensus", 60);
    let write = |body: &str| session.guideline.write(&guideline(body, None), None).unwrap().guideline.id;
    // Under the first version they agree on nothing, under the second on everything; three texts have no
    // version.
    let first = write("one");
    let second = write("two");
    for n in 1..=60_u16 {
        let version = match n {
            1..=3 => None,
            4..=32 => Some(first.as_str()),
            _ => Some(second.as_str()),
        };
        let id = format!("t{n}");
        let apart = if n <= 32 { n / 5 % 5 } else { n % 5 };
        label(&session, "ana", &id, n % 5, Note::default(), version);
        label(&session, "ben", &id, apart, Note::default(), version);
    }
    let found = session.guideline.agreement(OnScreen::Guideline).unwrap();
    let [rude] = found.as_slice() else { panic!("{found:?}") };
    let figures: Vec<_> = rude.figures.iter().map(|one| (one.number, one.labels, one.texts)).collect();
    assert_eq!(figures, [(None, 6, 3), (Some(1), 58, 29), (Some(2), 56, 28)]);
    assert_eq!(rude.figures[0].alpha, None, "too little to tell");
    assert!(rude.figures[1].alpha.unwrap() < 0.5);
    assert!((rude.figures[2].alpha.unwrap() - 1.0).abs() < 1e-9);
    let [_, first, second] = rude.figures.as_slice() else { panic!("{found:?}") };
    let (alpha, low, high) = (first.alpha.unwrap(), first.low.unwrap(), first.high.unwrap());
    assert!(low <= alpha && alpha <= high, "{first:?}");
    assert_eq!((second.low, second.high), (None, None), "where nobody differs there is nothing to resample");
}

#[test]
fn unsaved_note_is_kept_as_a_draft() {
    let folder = tempfile::tempdir().unwrap();
    let (path, session) = project(folder.path(), "p.dissensus", 3);
    let (ana, ben) = (person(&session, "ana"), person(&session, "ben"));
    let t2 = text(&session, "t2");
    let typed = note_with("half a thou", &["irony"], None);
    drafts::save(&session.labelling, ana, QUESTION, t2, 1, Some(&typed)).unwrap();
    drafts::save(&session.labelling, ana, QUESTION, t2, 2, Some(&note_with("again", &[], None))).unwrap();
    // The program is killed: nothing is closed, and the last writes are in the journal.
    std::mem::forget(session);
    let moved = folder.path().join("moved.dissensus");
    for ending in ["", "-wal"] {
        let of = |path: &Path| format!("{}{ending}", path.display());
        std::fs::copy(of(&path), of(&moved)).unwrap();
    }
    let session = open_in(folder.path(), &moved);
    let task = |who, text| task::read(&session.labelling, who, QUESTION, text, 1).unwrap();
    let back = task(ana, t2);
    assert_eq!((back.draft, back.note), (Some(typed.clone()), Note::default()));
    assert_eq!(task(ben, t2).draft, None, "what one person types is nobody else's");
    assert_eq!(task(ana, text(&session, "t1")).draft, None);
    assert_eq!(
        task::read(&session.labelling, ana, QUESTION, t2, 2).unwrap().draft,
        Some(note_with("again", &[], None))
    );
    let query = NoteQuery::default();
    assert!(
        dissensus_editing::notes::list(&session.project, &query).unwrap().is_empty(),
        "it is not in the project"
    );
    // Once submitted it is no draft; also if the program is killed before it deletes the draft.
    let details = LabelDetails { note: typed.clone(), guideline: None };
    let answer = Answer::from_level(2);
    let new = NewLabel { question: QUESTION, annotator: ana, text: t2, answer, duration_ms: None };
    record::record_label(
        &session.labelling,
        RecordLabel { details: details.clone(), ..RecordLabel::new(&new, LabelSource::Window) },
    )
    .unwrap();
    assert_eq!((task(ana, t2).draft, task(ana, t2).note), (None, typed.clone()));
    drafts::save(&session.labelling, ana, QUESTION, t2, 1, None).unwrap();
    let nothing = LabelDetails::default();
    notes::write(&session.labelling, ana, QUESTION, t2, &nothing, LabelSource::Window).unwrap();
    assert_eq!(task(ana, t2).draft, None, "what was given and deleted does not come back");
    // A removed person leaves nothing on this computer.
    drafts::save(&session.labelling, ben, QUESTION, t2, 1, Some(&typed)).unwrap();
    remove::remove(&session.project, &Removal::Annotator(ben)).unwrap();
    let again = annotators::add(&session.project, "ben", &Default::default()).unwrap();
    assert_eq!(task(again.id, t2).draft, None);
}
