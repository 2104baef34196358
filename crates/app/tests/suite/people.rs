//! Withdrawal, correction of attributes, and pseudonyms: in the file, next to it and in a window that has
//! it open.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, open, tiny};
use dissensus_analysis::annotators;
use dissensus_api::{
    AnnotatorInfo, ColumnChoices, ImportChoices, LabelDetails, MergeConsent, MergedFile, NewLabel, RunDetail,
    StudyRequest, TrainChoices,
};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, Note, QuestionId, TextId};
use dissensus_editing::questions;
use dissensus_editing::withdraw;
use dissensus_encoder::DeviceChoice;
use dissensus_labelling::drafts;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_stats::data::ModelKind;
use dissensus_store::Store;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::{ExportChoices, Exported, Pseudonymised};
use dissensus_transfer::study;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn question(session: &Session) -> QuestionId {
    questions::find(&session.project, Some("offensiveness")).unwrap().id
}

/// The sample with a further annotator who labelled some of its texts.
fn with_zorro(path: &Path) -> AnnotatorId {
    sample::create(path).unwrap();
    let session = open(path);
    let person =
        dissensus_editing::annotators::add(&session.project, "Zorro Diego", &Default::default()).unwrap();
    label(&session, person.id, 12);
    session.close();
    person.id
}

fn label(session: &Session, annotator: AnnotatorId, texts: u32) {
    let question = question(session);
    for text in 1..=texts {
        let (text, answer) = (dissensus_domain::TextId(text), Answer::from_level(text as u16 % 5));
        let new = NewLabel { question, annotator, text, answer, duration_ms: Some(900) };
        record::record_label(&session.labelling, &new).unwrap();
    }
}

fn train(session: &Session, model: ModelKind, tuning: &str) -> RunDetail {
    let choices = runs::choices_for(&session.runs, question(session), model, tuning).unwrap();
    runs::train(&session.runs, &TrainChoices { epochs: 1, ..choices }, DeviceChoice::Cpu, &Silent).unwrap()
}

fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Whether a word occurs in the project file or its journal.
fn has(path: &Path, word: &str) -> bool {
    let files = [path.to_owned(), with_suffix(path, "-wal")];
    let bytes: Vec<u8> = files.iter().filter_map(|file| std::fs::read(file).ok()).flatten().collect();
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

fn copied(path: &Path, name: &str) -> PathBuf {
    let copy = path.with_file_name(name);
    std::fs::copy(path, &copy).unwrap();
    copy
}

#[test]
fn withdrawal_in_a_window_deletes_runs_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let zorro = with_zorro(&path);
    let session = open(&path);
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let before = session.encoding.state().unwrap().version;
    let tuned = train(&session, ModelKind::Multilevel, "last-1").info;
    train(&session, ModelKind::ShareRecFfn, "frozen");
    runs::use_run(&session.runs, Some(tuned.id)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    assert_ne!(session.encoding.state().unwrap().version, before);
    session.close();
    assert!(with_suffix(&path, ".runs").is_dir() && has(&path, "Zorro Diego"));

    let workbench = Application::new(home(folder.path()));
    workbench.open_project(&path.to_string_lossy()).unwrap();
    let session = workbench.open_session().unwrap();
    session.background.start();
    let traces = withdraw::traces(&session.project, zorro).unwrap();
    assert_eq!((traces.answers, traces.runs, traces.external_id.as_str()), (12, 2, "Zorro Diego"));
    let refused = withdraw::withdraw(&session.project, zorro).unwrap_err();
    assert_eq!(refused.code(), "internal", "what a window follows does not lose rows");
    let gone = workbench.alone(|session| withdraw::withdraw(&session.project, zorro)).unwrap();
    assert_eq!((gone.answers, gone.runs, gone.encoder_changed, gone.cleaned), (12, 2, true, true));
    assert!(!with_suffix(&path, ".runs").exists() && !has(&path, "Zorro Diego"));

    let session = workbench.open_session().unwrap();
    assert_eq!(dissensus_editing::annotators::list(&session.project).unwrap().len(), 8);
    assert!(runs::list(&session.runs).unwrap().is_empty());
    assert_eq!(session.encoding.state().unwrap().version, before, "the one from before the run");
    session.live.fit(question(&session), &Silent).unwrap();
    let new = dissensus_editing::annotators::add(&session.project, "Newcomer", &Default::default()).unwrap();
    assert!(new.id > zorro);
    label(&session, new.id, 3);
    let report = annotators::measure(&session.analysis, question(&session)).unwrap();
    assert_eq!(report.annotators.iter().map(|row| row.labels).sum::<u32>(), 728 + 3);
    assert_eq!(
        workbench.alone(|session| withdraw::withdraw(&session.project, zorro)).unwrap_err().code(),
        "unknown"
    );
    assert!(workbench.session().is_some(), "it is open again whatever came of it");
}

#[test]
fn interrupted_withdrawal_is_completed_on_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let zorro = with_zorro(&path);
    let session = open(&path);
    session.encoding.encode(&tiny(), &Silent).unwrap();
    let run = train(&session, ModelKind::ShareRecFfn, "frozen").info;
    runs::use_run(&session.runs, None).unwrap();
    session.close();
    let store = Store::open(&path).unwrap();
    store.withdraw(zorro, 1).unwrap();
    store.close().unwrap();
    let run = with_suffix(&path, ".runs").join(run.uid);
    // As if the removal had been interrupted too.
    let foreign = with_suffix(&path, ".runs").join("not a run");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::create_dir(with_suffix(&run, ".removed")).unwrap();
    assert!(run.is_dir());
    // A half-written card does not retain what was learned either.
    std::fs::write(run.join("run.json"), "{ half").unwrap();
    let look = Session::open_to_read(&path, &home(folder.path())).unwrap();
    assert_eq!(dissensus_editing::annotators::list(&look.project).unwrap().len(), 8);
    look.close();
    assert!(run.is_dir(), "who only reads removes nothing");
    open(&path).close();
    assert!(!run.exists() && !with_suffix(&run, ".removed").exists() && foreign.is_dir());
    assert!(!has(&path, "Zorro Diego"));
    assert_eq!(Store::open(&path).unwrap().to_clean().unwrap(), None);
}

fn request(people: &[&str]) -> StudyRequest {
    StudyRequest {
        questions: Vec::new(),
        people: people.iter().map(|name| (*name).to_owned()).collect(),
        per_text: 1,
        per_person: None,
        anchors: 2,
        repeat: 0.0,
        again_after: 5,
        new_people: false,
        balance: None,
        seed: 3,
    }
}

#[test]
fn lookalike_name_needs_consent_for_a_packet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    dissensus_editing::annotators::add(&session.project, "Ana", &Default::default()).unwrap();
    let gone = dissensus_editing::annotators::add(&session.project, "Zoe", &Default::default()).unwrap();
    withdraw::withdraw(&session.project, gone.id).unwrap();
    let people = dissensus_editing::annotators::list(&session.project).unwrap().len();
    for (names, near) in [
        (vec!["ana"], [Some("Ana"), None]),
        (vec!["Bo", "b\u{f3}"], [None, Some("Bo")]),
        (vec!["zoe"], [None, None]),
    ] {
        let draft = study::draft(&session.study, &request(&names)).unwrap();
        for (share, near) in draft.people.iter().zip(near) {
            assert_eq!(share.looks_like.as_deref(), near, "{names:?}");
            assert_eq!(share.looks_withdrawn, share.annotator == "zoe");
        }
        let out = folder.path().join(names.join("-"));
        let error = study::hand_out(&session.study, &request(&names), &out, &Silent).unwrap_err();
        assert_eq!(error.code(), "near-name", "{names:?}: {error}");
        assert!(
            !out.exists() && dissensus_editing::annotators::list(&session.project).unwrap().len() == people,
            "{names:?}"
        );
    }
    // An existing annotator is not new, even with the name in another form.
    let known = study::draft(&session.study, &request(&["Ana"])).unwrap();
    assert!(known.people[0].known && known.people[0].looks_like.is_none());
    let others = StudyRequest { new_people: true, ..request(&["ana", "zoe"]) };
    let draft = study::hand_out(&session.study, &others, &folder.path().join("out"), &Silent).unwrap();
    assert_eq!(draft.people.iter().filter(|share| share.file.is_some()).count(), 2);
    assert_eq!(dissensus_editing::annotators::list(&session.project).unwrap().len(), people + 2);
}

fn messages_of(file: &MergedFile) -> Vec<&str> {
    file.problems.iter().map(|problem| problem.problem.code.as_str()).collect()
}

#[test]
fn withdrawn_data_cannot_be_imported_or_merged_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = folder.join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let packets =
        study::hand_out(&session.study, &request(&["zorro", "ben"]), &folder.join("packets"), &Silent)
            .unwrap();
    session.close();
    let packets: Vec<PathBuf> =
        packets.people.iter().map(|person| PathBuf::from(person.file.as_ref().unwrap())).collect();
    let packet = open(&packets[0]);
    assert_eq!(dissensus_editing::annotators::list(&packet.project).unwrap()[0].external_id, "zorro");
    let me = dissensus_editing::annotators::list(&packet.project).unwrap()[0].id;
    assert_eq!(withdraw::withdraw(&packet.project, me).unwrap_err().code(), "in-packet");
    label(&packet, me, 2);
    study::hand_in(&packet.study, &folder.join("zorro.handin"), false).unwrap();
    packet.close();
    let session = open(&path);
    let first =
        study::merge(&session.study, &[folder.join("zorro.handin")], &MergeConsent::all(), &Silent).unwrap();
    assert!(first.files[0].new > 0);
    session.close();
    let old = copied(&path, "old copy.dissensus");

    let session = open(&path);
    let zorro = dissensus_editing::annotators::find(&session.project, "zorro").unwrap().id;
    let gone = withdraw::withdraw(&session.project, zorro).unwrap();
    assert_eq!((gone.packets, gone.answers), (1, first.files[0].new));
    let back = [folder.join("zorro.handin"), packets[0].clone(), old.clone(), packets[1].clone()];
    let report = study::merge(&session.study, &back, &MergeConsent::all(), &Silent).unwrap();
    assert_eq!(messages_of(&report.files[0]), ["merge-withdrawn"]);
    assert_eq!(messages_of(&report.files[1]), ["merge-withdrawn"]);
    assert!(report.files[0].problems[0].problem.message.contains("has withdrawn"));
    assert_eq!((messages_of(&report.files[2]), report.files[2].new), (vec!["merge-remark"], 0));
    assert!(
        report.files[2].problems[0]
            .problem
            .message
            .contains("1 person who has withdrawn from the project is still")
    );
    assert!(!report.files[3].refused, "others' packets come in: {:?}", report.files[3]);
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let rows = "text_id,text,annotator_id,label\nnew,A new comment.,cleo,2\nnew,A new comment.,zorro,1\n";
    std::fs::write(folder.join("all.csv"), rows).unwrap();
    let choices = ImportChoices { question: Some("offensiveness".into()), ..ImportChoices::default() };
    let refused =
        exchange::import(&session.exchange, &folder.join("all.csv"), &choices, Some(&silent)).unwrap_err();
    assert_eq!(refused.code(), "withdrawn", "{refused}");
    assert!(refused.to_string().contains("Label under another id"), "{refused}");
    assert!(refused.to_string().contains("\"zorro\""), "{refused}");
    assert!(
        dissensus_editing::annotators::find(&session.project, "cleo").is_err(),
        "nothing of the file was taken"
    );
    assert_eq!(
        dissensus_editing::annotators::add(&session.project, "zorro", &Default::default())
            .unwrap_err()
            .code(),
        "withdrawn"
    );
    let again = study::hand_out(&session.study, &request(&["zorro", "cleo"]), &folder.join("more"), &Silent)
        .unwrap_err();
    assert_eq!(again.code(), "withdrawn");
    assert!(dissensus_editing::annotators::find(&session.project, "zorro").is_err());
    session.close();
    // File names in the titles of the person's jobs are no longer in the list; nor is anything else.
    assert!(!has(&path, "\"zorro\"") && has(&old, "zorro"));
}

#[test]
fn open_window_merges_a_withdrawal_only_when_safe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let zorro = with_zorro(&path);
    let copy = copied(&path, "copy.dissensus");
    let elsewhere = open(&copy);
    withdraw::withdraw(&elsewhere.project, zorro).unwrap();
    elsewhere.close();
    let workbench = Application::new(home(folder.path()));
    workbench.open_project(&path.to_string_lossy()).unwrap();
    let session = workbench.open_session().unwrap();
    session.background.start();
    assert!(study::is_to_erase_for(&session.study, &copy) && !study::is_to_erase_for(&session.study, &path));
    // What was typed and not given is on this computer only.
    let (text, typed) = (TextId(1), Note { note: Some("half a thou".to_owned()), ..Note::default() });
    drafts::save(&session.labelling, zorro, question(&session), text, 1, Some(&typed)).unwrap();
    let drafts_here = || {
        let config = std::fs::read_dir(folder.path().join("home")).unwrap();
        let names = config.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("drafts-")).count()
    };
    assert_eq!(drafts_here(), 1);
    let files = [copy.clone()];
    let report = study::merge(&session.study, &files, &MergeConsent::all(), &Silent).unwrap();
    assert_eq!(messages_of(&report.files[0]), ["merge-erases"]);
    let report = workbench
        .alone(|session| study::merge(&session.study, &files, &MergeConsent::all(), &Silent))
        .unwrap();
    assert_eq!((report.files[0].withdrawn, report.files[0].refused), (1, false));
    assert_eq!(drafts_here(), 0);
    let session = workbench.open_session().unwrap();
    assert_eq!(dissensus_editing::annotators::list(&session.project).unwrap().len(), 8);
    assert!(!study::is_to_erase_for(&session.study, &copy), "known by now");
    assert!(!has(&path, "Zorro Diego"));
}

fn known(session: &Session, id: AnnotatorId) -> AnnotatorInfo {
    dissensus_editing::annotators::list(&session.project)
        .unwrap()
        .into_iter()
        .find(|person| person.id == id)
        .unwrap()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn corrections_of_a_person_are_atomic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let zorro = with_zorro(&path);
    let copy = copied(&path, "copy.dissensus");
    let session = open(&path);
    let change = |name, set: &[(&str, &str)], unset: &[&str]| {
        let unset: Vec<String> = unset.iter().map(|name| (*name).to_owned()).collect();
        dissensus_editing::annotators::change(&session.project, zorro, name, &pairs(set), &unset)
    };
    change(Some(" Don Diego "), &[("gender", "man"), ("age", "30-39")], &[]).unwrap();
    change(None, &[("gender", "prefer not to say")], &["age"]).unwrap();
    let person = known(&session, zorro);
    assert_eq!((person.name.as_str(), person.external_id.as_str()), ("Don Diego", "Zorro Diego"));
    assert_eq!(person.attributes.into_iter().collect::<Vec<_>>(), pairs(&[("gender", "prefer not to say")]));
    assert_eq!(dissensus_editing::annotators::find(&session.project, "Don Diego").unwrap().id, zorro);
    let before = known(&session, zorro);
    let taken = dissensus_editing::annotators::list(&session.project).unwrap()[0].external_id.clone();
    for (name, set, unset, why) in [
        (Some(""), &[][..], &[][..], "blank"),
        (Some(taken.as_str()), &[], &[], "is taken"),
        (Some("New"), &[("gender", "")], &[], "the value of the attribute \"gender\" is blank"),
        (Some("New"), &[("", "x")], &[], "blank"),
        (Some("New"), &[("gender", "x")], &["gender"], "given twice"),
        (Some("New"), &[("a", "x"), ("a", "y")], &[], "given twice"),
        (Some("New"), &[("b", "x")], &["hobby"], "is not known"),
    ] {
        let error = change(name, set, unset).unwrap_err();
        assert_eq!(error.code(), "name");
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(known(&session, zorro), before, "{why}");
    }
    let nobody =
        dissensus_editing::annotators::change(&session.project, AnnotatorId(99), Some("x"), &[], &[])
            .unwrap_err();
    assert_eq!(nobody.code(), "unknown");
    session.close();
    // Copies that were changed separately agree after a merge in either direction.
    let there = open(&copy);
    dissensus_editing::annotators::change(&there.project, zorro, None, &pairs(&[("age", "40-49")]), &[])
        .unwrap();
    study::merge(&there.study, std::slice::from_ref(&path), &MergeConsent::all(), &Silent).unwrap();
    let here = open(&path);
    study::merge(&here.study, std::slice::from_ref(&copy), &MergeConsent::all(), &Silent).unwrap();
    assert_eq!(known(&here, zorro), known(&there, zorro));
    assert_eq!(known(&here, zorro).attributes.get("age").map(String::as_str), Some("40-49"));
}

/// Twelve people, seven of them women, each from a different town, who labelled two texts that were
/// imported with an extra column.
fn a_dozen(path: &Path) -> Session {
    let session = Session::create(path, &home(path.parent().unwrap())).unwrap();
    let mut rows = "text_id,text,annotator_id,label,gender,town,source_url\n".to_owned();
    for text in 1..=2 {
        for n in 1..=12 {
            let gender = if n <= 7 {
                "woman"
            } else if n <= 11 {
                "man"
            } else {
                ""
            };
            rows += &format!("t{text},Body {text},person-{n:02},{},{gender},town-{n},url-{text}\n", n % 3);
        }
    }
    let file = path.with_file_name("dozen.csv");
    std::fs::write(&file, rows).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let mut choices = ImportChoices { question: Some("rude".into()), ..ImportChoices::default() };
    let guessed = exchange::preview(&session.exchange, &file, &choices).unwrap().columns;
    choices.columns = Some(ColumnChoices { attributes: vec!["gender".into(), "town".into()], ..guessed });
    exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    session
}

fn for_others(session: &Session, name: &str, notes: bool) -> (Exported, String) {
    let file = session.project.path().with_file_name(name);
    let pseudonyms = Some(Pseudonymised { notes });
    let choices = ExportChoices { pseudonyms, replace: true, ..ExportChoices::default() };
    let done = exchange::export(&session.exchange, &file, &choices, &Silent).unwrap();
    (done, std::fs::read_to_string(file).unwrap())
}

/// The label of each pseudonym on each text, from the file.
fn by_pseudonym(file: &str) -> Vec<(String, String, String)> {
    let mut lines = file.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let (text, who, label) = (at("text_id"), at("annotator_id"), at("label"));
    let cells = lines.map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    cells.map(|row| (row[text].clone(), row[who].clone(), row[label].clone())).collect()
}

#[test]
fn pseudonymised_exports_name_nobody_and_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let session = a_dozen(&path);
    let (done, first) = for_others(&session, "first.csv", false);
    // Twelve towns and four men: too few of each.
    assert_eq!((done.answers, done.suppressed, done.identifiable), (24, 12 + 4, 0));
    for word in ["person-", "town", "man,", "url-", "20"] {
        assert!(!first.contains(word), "{word} in {first}");
    }
    assert_eq!(first.matches("woman").count(), 14);
    let rows = by_pseudonym(&first);
    let number = |name: &str| name.strip_prefix('A').unwrap().parse::<u32>().unwrap();
    for text in ["t1", "t2"] {
        let of_text: Vec<u32> = rows.iter().filter(|row| row.0 == text).map(|row| number(&row.1)).collect();
        assert_eq!(of_text, (1..=12).collect::<Vec<_>>(), "in the order of pseudonyms");
    }
    let in_order_of_coming = (1..=12).all(|n| rows[n - 1].2 == (n % 3).to_string());
    assert!(!in_order_of_coming, "one chance in many millions");
    assert_eq!(for_others(&session, "second.csv", false).1, first);
    session.close();
    let reader = Session::open_to_read(&path, &home(folder.path())).unwrap();
    assert_eq!(for_others(&reader, "third.csv", false).1, first);
    reader.close();
    // People come and go: the others' pseudonyms do not change.
    let session = open(&path);
    dissensus_editing::annotators::add(&session.project, "newcomer", &Default::default()).unwrap();
    let gone = dissensus_editing::annotators::find(&session.project, "person-03").unwrap().id;
    withdraw::withdraw(&session.project, gone).unwrap();
    let later = by_pseudonym(&for_others(&session, "later.csv", false).1);
    assert_eq!(later.len(), 22);
    assert!(later.iter().all(|row| rows.contains(row)), "{later:?}");
    let plain = folder.path().join("plain.csv");
    exchange::export(&session.exchange, &plain, &ExportChoices::default(), &Silent).unwrap();
    let plain = std::fs::read_to_string(plain).unwrap();
    for word in ["person-01", "town-1", "url-1"] {
        assert!(plain.contains(word), "a file that imports again keeps ids: {word}");
    }
}

#[test]
fn notes_are_exported_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let session = a_dozen(&folder.path().join("p.dissensus"));
    let annotator = dissensus_editing::annotators::find(&session.project, "person-01").unwrap().id;
    let question = questions::find(&session.project, None).unwrap().id;
    let (text, answer) = (dissensus_domain::TextId(1), Answer::from_level(2));
    let note = Note { note: Some("a secret note".into()), confidence: Some(4), ..Note::default() };
    let new = NewLabel { question, annotator, text, answer, duration_ms: None };
    let details = LabelDetails { note, guideline: None };
    record::record_label(
        &session.labelling,
        RecordLabel { details: details.clone(), ..RecordLabel::new(&new, LabelSource::Window) },
    )
    .unwrap();
    let (_, silent) = for_others(&session, "a.csv", false);
    assert!(!silent.contains("secret") && silent.contains("confidence"), "{silent}");
    assert!(for_others(&session, "b.csv", true).1.contains("a secret note"));
}

#[test]
fn lookalike_of_a_withdrawn_name_needs_consent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    sample::create(&path).unwrap();
    let session = open(&path);
    let jose =
        dissensus_editing::annotators::add(&session.project, "Jos\u{e9}", &Default::default()).unwrap();
    label(&session, jose.id, 3);
    session.close();
    let there = folder.path().join("there.dissensus");
    std::fs::copy(&path, &there).unwrap();
    let session = open(&path);
    withdraw::withdraw(&session.project, jose.id).unwrap();
    let people = || dissensus_editing::annotators::list(&session.project).unwrap().len();
    let before = people();
    for (name, code) in [
        ("Jos\u{e9}", "withdrawn"),
        ("Jose\u{301}", "withdrawn"),
        ("JOS\u{c9}", "near-name"),
        ("jose", "near-name"),
        ("Jos\u{e9} ", "withdrawn"),
    ] {
        let error =
            dissensus_editing::annotators::add(&session.project, name, &Default::default()).unwrap_err();
        assert_eq!(error.code(), code, "{name}: {error}");
    }
    assert_eq!(people(), before);
    // Confirmed to be another person.
    dissensus_editing::annotators::add_new(&session.project, "JOS\u{c9}", &Default::default()).unwrap();
    assert_eq!(people(), before + 1);
    session.close();
    // A copy of an earlier version has the name as typed.
    dissensus_test_support::forge(&there, |c| {
        c.execute_batch(
            "UPDATE annotators SET external_id = 'Jose' || char(769), name = 'Jose' || char(769) WHERE external_id = 'Jos' || char(233);
             UPDATE facts SET value = '\"Jose' || char(769) || '\"' WHERE value = '\"Jos' || char(233) || '\"';",
        )?;
        Ok(())
    });
    let session = open(&path);
    let files = study::merge(&session.study, &[there], &MergeConsent::all(), &Silent).unwrap().files;
    assert!(!files[0].refused, "{files:?}");
    let reported =
        files[0].problems.iter().any(|one| one.problem.message.contains("nothing of theirs was taken"));
    assert!(reported, "{files:?}");
    assert_eq!(dissensus_editing::annotators::list(&session.project).unwrap().len(), before + 1);
    session.close();
}
