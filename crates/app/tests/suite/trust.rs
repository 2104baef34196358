//! Trust in merged files: their holders may have edited them, and the project accepts from each only what
//! its holder may state. docs/src/explanation/privacy.md describes the threats.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, open, write_former_submission};
use dissensus_api::{
    ImportChoices, MergeChangeKind, MergeConsent, MergedFile, MergedKind, NewDecision, NewGuideline,
    NewLabel, StudyRequest, TextOrder,
};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, QuestionId};
use dissensus_editing::QuestionChange;
use dissensus_editing::annotators;
use dissensus_editing::attribute_form;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_editing::withdraw;
use dissensus_labelling::next_text;
use dissensus_labelling::reannotation;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::undo;
use dissensus_project::jobs::{Follow, Progress, Silent};
use dissensus_test_support::forge;
use dissensus_test_support::rusqlite::Connection;
use dissensus_test_support::rusqlite::types::Value;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use dissensus_transfer::study;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Ada is the forger everywhere.
const FORGER: &str = "ada";

/// A project of six texts that ben and cleo labelled, with packets for ada and ben, in both of which two
/// texts are answered.
struct World {
    folder: tempfile::TempDir,
    project: PathBuf,
    ada: PathBuf,
    ben: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("study.dissensus");
        let session = Session::create(&project, &home(folder.path())).unwrap();
        let mut rows = "text_id,text,annotator_id,label,age\n".to_owned();
        for text in 1..=6 {
            for person in ["ben", "cleo"] {
                rows += &format!("t{text},Body of text {text},{person},{},30\n", text % 3 + 1);
            }
        }
        let file = folder.path().join("labels.csv");
        std::fs::write(&file, rows).unwrap();
        let choices = ImportChoices { question: Some("rude".into()), ..ImportChoices::default() };
        let silent: Arc<dyn Progress> = Arc::new(Silent);
        exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
        // There is an answer from here and not only from a file, so that the project has a copy id of its
        // own.
        let world = |name: &str| folder.path().join("packets").join(format!("{name}.dissensus"));
        let request = StudyRequest {
            questions: Vec::new(),
            people: vec!["ada".into(), "dora".into()],
            per_text: 2,
            per_person: None,
            anchors: 0,
            repeat: 0.0,
            again_after: 1,
            new_people: false,
            balance: None,
            seed: 3,
        };
        study::hand_out(&session.study, &request, &folder.path().join("packets"), &Silent).unwrap();
        session.close();
        let (ada, ben) = (world("ada"), world("dora"));
        let world = Self { folder, project, ada, ben };
        label(&world.ada, 2);
        label(&world.ben, 2);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A copy of ada's packet, forged.
    fn forged(&self, name: &str, edit: impl FnOnce(&Connection)) -> PathBuf {
        let file = self.path(name);
        std::fs::copy(&self.ada, &file).unwrap();
        forge(&file, |c| {
            edit(c);
            Ok(())
        });
        file
    }

    fn merge(&self, file: &Path, consent: &MergeConsent) -> MergedFile {
        let session = open(&self.project);
        let report = study::merge(&session.study, &[file.to_owned()], consent, &Silent).unwrap();
        session.close();
        report.files.into_iter().next().unwrap()
    }

    fn state(&self) -> BTreeMap<String, Vec<String>> {
        state(&self.project)
    }
}

/// Answers a number of texts as the only person of the packet.
fn label(file: &Path, texts: usize) {
    let session = open(file);
    let question = info::read(&session.project).unwrap().questions[0].id;
    let me = annotators::list(&session.project).unwrap()[0].id;
    for _ in 0..texts {
        let next =
            next_text::choose(&session.labelling, me, [question], TextOrder::File, None).unwrap().unwrap();
        answer(&session, question, me, next.text, 1);
    }
    session.close();
}

fn answer(
    session: &Session,
    question: QuestionId,
    annotator: dissensus_domain::AnnotatorId,
    text: dissensus_domain::TextId,
    level: u16,
) {
    let answer = Answer::from_level(level);
    record::record_label(
        &session.labelling,
        &NewLabel { question, annotator, text, answer, duration_ms: None },
    )
    .unwrap();
}

/// Everything in a project file that the forger must not change, table by table, except the program's own
/// records.
fn state(file: &Path) -> BTreeMap<String, Vec<String>> {
    let conn = Connection::open(file).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut statement = conn.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows: Vec<String> = statement
            .query_map([], |r| (0..columns).map(|n| r.get::<_, Value>(n)).collect::<Result<Vec<_>, _>>())
            .unwrap()
            .map(|row| format!("{:?}", row.unwrap()))
            .collect();
        rows.sort();
        rows
    };
    let names: Vec<String> = {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
        conn.prepare(sql).unwrap().query_map([], |r| r.get(0)).unwrap().map(|name| name.unwrap()).collect()
    };
    let forger = format!("(SELECT id FROM annotators WHERE external_id = '{FORGER}')");
    let mut state = BTreeMap::new();
    for name in names {
        let has = |column: &str| {
            let sql = format!("SELECT 1 FROM pragma_table_info('{name}') WHERE name = '{column}'");
            conn.prepare(&sql).unwrap().exists([]).unwrap()
        };
        let sql = match name.as_str() {
            "settings" => "SELECT value FROM settings WHERE key = 'pseudonym-key'".to_owned(),
            "jobs" | "copies" | "heads" => continue,
            // The wording of an answer is stated by its author.
            "wordings" => format!(
                "SELECT uid, content FROM wordings WHERE id IN (SELECT wording FROM events WHERE annotator NOT IN {forger})"
            ),
            // The study has no attribute form.
            "annotators" => "SELECT id, external_id, name, attributes FROM annotators".to_owned(),
            _ if name != "packets" && has("annotator") => {
                format!("SELECT * FROM {name} WHERE annotator IS NULL OR annotator NOT IN {forger}")
            }
            _ => format!("SELECT * FROM {name}"),
        };
        state.insert(name.clone(), rows(&sql));
    }
    // Of the forger: only answers to what was asked.
    let asked = "SELECT 1 FROM assignments AS i JOIN packets AS p ON p.id = i.packet WHERE p.annotator = e.annotator AND i.text = e.text";
    let sql = format!("SELECT e.id FROM events AS e WHERE e.annotator IN {forger} AND NOT EXISTS ({asked})");
    assert_eq!(rows(&sql), Vec::<String>::new());
    let sql = format!("SELECT * FROM events WHERE occasion > 1 AND annotator IN {forger}");
    assert_eq!(rows(&sql), Vec::<String>::new(), "nothing is asked again");
    let sql = format!(
        "SELECT id FROM events WHERE annotator IN {forger} AND at_ms NOT BETWEEN 0 AND 253402300799999"
    );
    assert_eq!(rows(&sql), Vec::<String>::new(), "every time has a date");
    state
}

fn codes(file: &MergedFile) -> Vec<&str> {
    file.problems.iter().map(|one| one.problem.code.as_str()).collect()
}

fn exec(c: &Connection, sql: &str) {
    c.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Writes the packet's own key into its row, so that the file claims to be a whole copy.
fn disguise(c: &Connection) {
    let key: String =
        c.query_row("SELECT value FROM settings WHERE key = 'packet-key'", [], |r| r.get(0)).unwrap();
    let hex: String = key
        .trim_matches(['[', ']'])
        .split(',')
        .map(|byte| format!("{:02x}", byte.trim().parse::<u8>().unwrap()))
        .collect();
    exec(c, &format!("UPDATE packets SET key = x'{hex}'"));
}

/// A withdrawal of a person, which can be computed from the project and the name.
fn withdraw(c: &Connection, person: &str) {
    use sha2::Digest as _;
    let project: Vec<u8> = c.query_row("SELECT uid FROM project", [], |r| r.get(0)).unwrap();
    let hash = sha2::Sha256::new_with_prefix(b"dissensus withdrawn person\0")
        .chain_update(project)
        .chain_update(person);
    let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let copy = as_uuid(&"01".repeat(16));
    let sql = format!(
        "INSERT OR IGNORE INTO facts (kind, key, at_ms, value) VALUES ('withdrawal', '{hash}', 1, '\"{copy}\"')"
    );
    exec(c, &sql);
}

const STRIP: &str =
    "DELETE FROM facts WHERE kind = 'hand-in'; DELETE FROM assignments; DELETE FROM packet_questions; DELETE FROM packets;
                     DELETE FROM settings WHERE key IN ('packet-key', 'handed-in')";

#[test]
fn packet_disguised_as_a_copy_is_recognised() {
    let world = World::new();
    let before = world.state();
    let forged = world.forged("forged.dissensus", |c| {
        disguise(c);
        withdraw(c, "ben");
    });
    for consent in [MergeConsent::default(), MergeConsent::all()] {
        let file = world.merge(&forged, &consent);
        assert!(file.refused && file.kind == Some(MergedKind::Packet), "{file:?}");
        assert_eq!(file.annotator.as_deref(), Some(FORGER));
        assert_eq!(world.state(), before);
    }
    // What its owner may state is accepted all the same.
    let honest = world.forged("honest.dissensus", disguise);
    let file = world.merge(&honest, &MergeConsent::default());
    assert!(!file.refused && file.new == 2 && file.kind == Some(MergedKind::Packet), "{file:?}");
    assert!(file.problems.iter().any(|one| one.problem.message.contains("claims to be a whole copy")));
    assert_eq!(world.state(), before);
}

#[test]
fn stripped_packet_is_refused_as_a_copy() {
    let world = World::new();
    let before = world.state();
    let forged = world.forged("forged.dissensus", |c| {
        exec(c, STRIP);
        withdraw(c, "ben");
    });
    let file = world.merge(&forged, &MergeConsent::all());
    assert_eq!((codes(&file), file.refused), (vec!["merge-no-copy"], true));
    // Nor after its sessions are known, directly or through another copy.
    let there = world.path("there.dissensus");
    std::fs::copy(&world.project, &there).unwrap();
    let session = open(&there);
    let files = [world.ada.clone()];
    assert!(
        !study::merge(&session.study, &files, &MergeConsent::default(), &Silent).unwrap().files[0].refused
    );
    session.close();
    assert!(!world.merge(&there, &MergeConsent::all()).refused);
    let file = world.merge(&forged, &MergeConsent::all());
    assert_eq!((file.kind, file.refused), (Some(MergedKind::Packet), true), "{file:?}");
    assert_eq!(world.state(), before);
}

#[test]
fn submission_is_limited_to_its_packet() {
    let world = World::new();
    let before = world.state();
    // Signed with the packet's key, over a packet with another person's withdrawal.
    let forged = world.forged("forged.dissensus", |c| withdraw(c, "ben"));
    let handed = world.path("forged.handin");
    write_former_submission(&forged, &handed, 1, 2);
    let file = world.merge(&handed, &MergeConsent::all());
    assert!(file.refused, "{file:?}");
    // The present format has no place for it.
    let session = open(&forged);
    let present = world.path("present.handin");
    study::hand_in(&session.study, &present, false).unwrap();
    session.close();
    let file = world.merge(&present, &MergeConsent::all());
    assert!(!file.refused && file.withdrawn == 0, "{file:?}");
    assert_eq!(world.state(), before);
    // Through the window's entry point.
    let session = open(&world.project);
    let report =
        study::merge(&session.study, &[handed, forged.clone()], &MergeConsent::all(), Follow::Job).unwrap();
    assert!(report.files.iter().all(|file| file.refused), "{report:?}");
    session.close();
    // A forged packet that is opened is a file of its own.
    forge(&forged, |c| {
        disguise(c);
        Ok(())
    });
    open(&forged).close();
    assert_eq!(world.state(), before);
}

#[test]
fn answers_under_another_persons_identity_are_refused() {
    let world = World::new();
    let before = world.state();
    let conn = Connection::open(&world.project).unwrap();
    let ours: Vec<u8> = conn.query_row("SELECT uid FROM copies", [], |r| r.get(0)).unwrap();
    drop(conn);
    let hex: String = ours.iter().map(|byte| format!("{byte:02x}")).collect();
    for sequence in [0, 900] {
        let forged = world.forged("forged.dissensus", |c| {
            exec(
                c,
                &format!(
                    "UPDATE copies SET uid = x'{hex}'; UPDATE events SET sequence = sequence + {sequence}"
                ),
            );
        });
        let file = world.merge(&forged, &MergeConsent::all());
        assert!(file.refused && codes(&file).contains(&"merge-not-as-handed-out"), "{file:?}");
        assert_eq!(world.state(), before);
    }
}

#[test]
fn whole_copy_needs_consent_once_and_for_each_change() {
    let world = World::new();
    let there = world.path("there.dissensus");
    std::fs::copy(&world.project, &there).unwrap();
    let add = |file: &Path, name: &str, text: usize, level: u16| {
        let session = open(file);
        let question = info::read(&session.project).unwrap().questions[0].id;
        let person = annotators::add(&session.project, name, &Default::default()).map(|p| p.id);
        let person = person.unwrap_or_else(|_| annotators::find(&session.project, name).unwrap().id);
        let text = texts::find(&session.project, &format!("t{text}")).unwrap().0;
        answer(&session, question, person, text, level);
        session.close();
    };
    add(&there, "emil", 1, 0);
    let before = std::fs::read(&world.project).unwrap();
    let file = world.merge(&there, &MergeConsent::default());
    assert_eq!((codes(&file), file.refused, file.new), (vec!["merge-new-copy"], true, 0));
    let effect = file.effect.unwrap();
    assert_eq!((effect.answers[0].annotator.as_str(), effect.answers[0].answers), ("emil", 1));
    assert_eq!((effect.new_people, effect.changes), (vec!["emil".to_owned()], vec![]));
    let asks = file.asks.unwrap();
    assert!(asks.whole_copy && !asks.changes);
    let session = open(&world.project);
    let preview = study::preview_merge(&session.study, std::slice::from_ref(&there)).unwrap();
    assert!(preview.files[0].asks.is_some() && !preview.files[0].refused);
    session.close();
    assert_eq!(state_of_all(&world.project), state_of_all_bytes(&before, &world.path("b.dissensus")));
    // Consent to changes is not sufficient for a new copy.
    let changes = MergeConsent { changes: true, ..MergeConsent::default() };
    assert!(world.merge(&there, &changes).refused);
    let copies = MergeConsent { whole_copies: true, ..MergeConsent::default() };
    let file = world.merge(&there, &copies);
    assert!(!file.refused && file.new > 0 && file.asks.is_none() && file.backup.is_none(), "{file:?}");
    // Known by now.
    add(&there, "emil", 2, 0);
    assert!(!world.merge(&there, &MergeConsent::default()).refused);
    // Another person's answer differs there.
    add(&there, "cleo", 1, 0);
    let file = world.merge(&there, &MergeConsent::default());
    assert_eq!((codes(&file), file.refused), (vec!["merge-changes"], true));
    let asks = file.asks.unwrap();
    assert!(asks.changes && !asks.whole_copy);
    let changes_there = file.effect.unwrap().changes;
    assert_eq!((changes_there[0].kind, changes_there[0].count), (MergeChangeKind::Answers, 1));
    assert_eq!(changes_there[0].names, ["cleo, t1, rude"]);
    // Consent covers what was shown.
    let seen = MergeConsent { seen: vec![asks.seen.clone()], ..MergeConsent::all() };
    add(&there, "ben", 2, 0);
    let file = world.merge(&there, &seen);
    assert_eq!((codes(&file), file.refused), (vec!["merge-changed-since"], true));
    let seen = MergeConsent { seen: vec![file.asks.unwrap().seen], ..MergeConsent::all() };
    let before = state_of_all(&world.project);
    let file = world.merge(&there, &seen);
    assert!(!file.refused, "{file:?}");
    assert!(file.backup_words().unwrap().contains("to go back, close the project"));
    let backup = PathBuf::from(file.backup.unwrap());
    assert!(backup.file_name().unwrap().to_string_lossy().starts_with("study.dissensus.before-merge-"));
    assert_eq!(state_of_all(&backup), before);
    assert_ne!(state_of_all(&world.project), before);
}

/// All rows that people can see.
fn state_of_all(file: &Path) -> BTreeMap<String, Vec<String>> {
    let conn = Connection::open(file).unwrap();
    let mut state = state(file);
    let mut all = conn.prepare("SELECT id, annotator, text, level FROM events ORDER BY id").unwrap();
    let rows = all.query_map([], |r| {
        Ok(format!(
            "{:?}",
            (r.get::<_, u32>(0)?, r.get::<_, u32>(1)?, r.get::<_, u32>(2)?, r.get::<_, Option<u16>>(3)?)
        ))
    });
    state.insert("every event".into(), rows.unwrap().map(|row| row.unwrap()).collect());
    state
}

fn state_of_all_bytes(bytes: &[u8], file: &Path) -> BTreeMap<String, Vec<String>> {
    std::fs::write(file, bytes).unwrap();
    state_of_all(file)
}

#[test]
fn merged_withdrawal_needs_consent_and_a_backup() {
    let world = World::new();
    let there = world.path("there.dissensus");
    std::fs::copy(&world.project, &there).unwrap();
    let session = open(&there);
    let ben = annotators::find(&session.project, "ben").unwrap().id;
    withdraw::withdraw(&session.project, ben).unwrap();
    session.close();
    let before = state_of_all(&world.project);
    let copies = MergeConsent { whole_copies: true, ..MergeConsent::default() };
    let file = world.merge(&there, &copies);
    assert_eq!((codes(&file), file.refused, file.withdrawn), (vec!["merge-changes"], true, 0));
    let erased = &file.effect.unwrap().changes[0];
    assert_eq!((erased.kind, erased.names.as_slice()), (MergeChangeKind::Erased, &["ben".to_owned()][..]));
    assert_eq!(state_of_all(&world.project), before);
    let file = world.merge(&there, &MergeConsent::all());
    assert_eq!((file.withdrawn, file.refused), (1, false));
    assert!(file.backup_words().unwrap().contains("delete it as soon as"));
    let backup = PathBuf::from(file.backup.unwrap());
    assert_eq!(state_of_all(&backup), before);
    // A person who withdraws later is informed of that copy too.
    let session = open(&world.project);
    assert!(annotators::find(&session.project, "ben").is_err());
    let cleo = annotators::find(&session.project, "cleo").unwrap().id;
    let gone = withdraw::withdraw(&session.project, cleo).unwrap();
    assert_eq!(gone.copies, [backup.to_string_lossy()]);
    // A second one on the same day gets another name.
    session.close();
    let session = open(&there);
    let dora = annotators::find(&session.project, "dora").unwrap().id;
    withdraw::withdraw(&session.project, dora).unwrap();
    session.close();
    let second = PathBuf::from(world.merge(&there, &MergeConsent::all()).backup.unwrap());
    assert!(second != backup && second.is_file() && backup.is_file());
}

#[test]
fn every_change_of_a_whole_copy_is_listed() {
    let world = World::new();
    type Change<'a> = (&'a str, &'a dyn Fn(&Session), MergeChangeKind);
    let kinds: [Change<'_>; 4] = [
        (
            "decision",
            &|session| {
                let question = info::read(&session.project).unwrap().questions[0].id;
                let text = texts::find(&session.project, "t1").unwrap().0;
                let decision = NewDecision {
                    question,
                    text,
                    outcome: dissensus_domain::Outcome::Ambiguous,
                    answer: None,
                    comment: "x".into(),
                    by: "z".into(),
                };
                study::decide(&session.study, &decision).unwrap();
            },
            MergeChangeKind::Decisions,
        ),
        (
            "guideline",
            &|session| {
                let (body, change, by) = ("Be kind.".to_owned(), String::new(), "z".to_owned());
                let new = NewGuideline { body, change, by, pictures: Vec::new(), after: None };
                session.guideline.write(&new, None).unwrap();
            },
            MergeChangeKind::Guideline,
        ),
        (
            "person",
            &|session| {
                let ben = annotators::find(&session.project, "ben").unwrap().id;
                annotators::change(&session.project, ben, Some("Benjamin"), &[], &[]).unwrap();
            },
            MergeChangeKind::People,
        ),
        (
            "question",
            &|session| {
                let names = ["a", "b", "c"].map(String::from);
                let question = info::read(&session.project).unwrap().questions[0].id;
                questions::rename_levels(&session.project, question, &names).unwrap();
            },
            MergeChangeKind::Questions,
        ),
    ];
    let copies = MergeConsent { whole_copies: true, ..MergeConsent::default() };
    for (name, change, kind) in kinds {
        let there = world.path(&format!("{name}.dissensus"));
        std::fs::copy(&world.project, &there).unwrap();
        let session = open(&there);
        change(&session);
        session.close();
        let before = state_of_all(&world.project);
        let file = world.merge(&there, &copies);
        assert_eq!((codes(&file), file.refused), (vec!["merge-changes"], true), "{name}");
        assert_eq!(
            file.effect.unwrap().changes.iter().map(|one| one.kind).collect::<Vec<_>>(),
            [kind],
            "{name}"
        );
        assert_eq!(state_of_all(&world.project), before, "{name}");
    }
}

/// Forgeries by ada, each with what a packet knows: people's names, ids of texts, its own rows. `n` makes
/// it different each time.
fn forgery(c: &Connection, which: u64, n: u64) {
    let at = [1_i64, 1_700_000_000_000, 32_503_680_000_000][n as usize % 3] + n as i64;
    let uid = format!("{:032x}", u128::from(n) + (1 << 100));
    match which {
        0 => disguise_if_packet(c),
        1 => exec(c, STRIP),
        2 => exec(c, &format!("UPDATE settings SET value = '\"{uid}{uid}\"' WHERE key = 'pseudonym-key'")),
        3 => withdraw(c, ["ben", "cleo", "dora"][n as usize % 3]),
        4 => exec(
            c,
            &format!(
                "INSERT OR IGNORE INTO annotators (id, external_id, name, attributes, simulated) SELECT 7, 'ben', 'ben', '{{}}', 0;
                 INSERT OR IGNORE INTO events (copy, sequence, kind, question, text, annotator, at_ms, source, level)
                 SELECT min(c.id), {}, 'answer', 1, 1, 7, {at}, 'window', 0 FROM copies AS c",
                n + 1000
            ),
        ),
        5 => exec(c, "UPDATE annotators SET external_id = 'cleo' WHERE id = 1"),
        6 => exec(c, &format!("INSERT OR IGNORE INTO texts (external_id, body, metadata) VALUES ('new-{n}', 'body', '{{}}')")),
        7 => exec(c, "UPDATE texts SET body = body || ' changed' WHERE id = 2"),
        8 => exec(c, &format!("INSERT OR IGNORE INTO questions (name, prompt, scale) VALUES ('q{n}', '?', 'binary')")),
        9 => exec(c, &format!("INSERT OR IGNORE INTO facts (kind, question, at_ms, value) VALUES ('prompt', 1, {at}, '\"forged\"')")),
        10 => exec(c, &format!("INSERT OR IGNORE INTO guidelines (uid, at_ms, body, change, written_by) VALUES (x'{uid}', {at}, 'forged', '', 'ben')")),
        11 => exec(
            c,
            &format!(
                r#"INSERT OR IGNORE INTO facts (kind, question, text, at_ms, value)
                 VALUES ('decision', 1, 1, {at}, '{{"answer":null,"by":"ben","comment":"forged","outcome":"slip"}}')"#
            ),
        ),
        12 => exec(c, &format!("INSERT OR IGNORE INTO facts (kind, at_ms, value) VALUES ('reveal', {at}, 'true')")),
        13 => exec(c, &format!("INSERT OR IGNORE INTO facts (kind, annotator, at_ms, value) VALUES ('annotator-name', 1, {at}, '\"Dr. Ada\"')")),
        14 => exec(c, &format!("INSERT OR IGNORE INTO facts (kind, text, question, at_ms, value) VALUES ('practice-text', 1, 1, {at}, '{{}}')")),
        15 => exec(c, &format!("UPDATE events SET at_ms = {at}")),
        16 => exec(c, &format!("UPDATE copies SET uid = x'{uid}'")),
        17 => exec(c, &format!("INSERT OR IGNORE INTO packets SELECT 9, x'{uid}', annotator, made_at_ms, seed, key FROM packets LIMIT 1")),
        18 => exec(
            c,
            &format!("INSERT OR REPLACE INTO settings VALUES ('copies_taken_in', '{{\"{}\": null}}')", as_uuid(&uid)),
        ),
        19 => exec(
            c,
            &format!(
                "INSERT OR IGNORE INTO facts (kind, key, at_ms, value)
                 SELECT 'withdrawn-packet', {PACKET_UID}, 0, '\"' || hex(zeroblob(32)) || '\"' FROM packets"
            ),
        ),
        20 => exec(c, &hand_in(at, &n.to_string())),
        21 => exec(c, "UPDATE events SET level = (level + 1) % 3 WHERE kind = 'answer' AND level IS NOT NULL"),
        22 => exec(c, &format!("INSERT OR IGNORE INTO facts (kind, annotator, at_ms, value) VALUES ('left-out', 1, {at}, '{n}')")),
        23 => submits_attribute(c, at, &format!(r#"{{"gender":{{"value":"{n}","at_ms":{at}}}}}"#)),
        24 => exec(
            c,
            &format!(
                "INSERT OR IGNORE INTO events (copy, sequence, kind, question, text, annotator, occasion, at_ms, source, level)
                 SELECT min(c.id), {}, 'answer', 1, 1, 1, {}, {at}, 'window', 1 FROM copies AS c",
                n + 9000,
                n % 65_533 + 2
            ),
        ),
        25 => exec(c, &format!("UPDATE events SET at_ms = {}", if n.is_multiple_of(2) { i64::MAX } else { i64::MIN })),
        26 => exec(c, "DELETE FROM settings WHERE key = 'packet-key'"),
        _ => exec(
            c,
            &format!(
                "INSERT OR IGNORE INTO events (copy, sequence, kind, question, text, annotator, at_ms, source, level)
                 SELECT min(c.id), {}, 'answer', 1, {}, 1, {at}, 'window', {} FROM copies AS c",
                n + 5000,
                n % 6 + 1,
                n % 3
            ),
        ),
    }
}

/// SQL for the id of a packet as facts name it.
const PACKET_UID: &str =
    "lower(substr(hex(uid), 1, 8) || '-' || substr(hex(uid), 9, 4) || '-' || substr(hex(uid), 13, 4) || '-'
    || substr(hex(uid), 17, 4) || '-' || substr(hex(uid), 21))";

/// SQL that says that every packet was handed in.
fn hand_in(at: i64, answers: &str) -> String {
    format!(
        "INSERT OR IGNORE INTO facts (kind, annotator, key, at_ms, value)
         SELECT 'hand-in', annotator, {PACKET_UID}, {at}, '{answers}' FROM packets"
    )
}

fn disguise_if_packet(c: &Connection) {
    if c.prepare("SELECT 1 FROM settings WHERE key = 'packet-key'").unwrap().exists([]).unwrap() {
        disguise(c);
    }
}

fn as_uuid(hex: &str) -> String {
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// A small random number generator, so that a seed determines a history.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn forged_histories_gain_no_rights() {
    merge_forged_histories(0..200);
}

#[test]
#[ignore = "takes minutes: run by `cargo xtask test --only stress`"]
fn stress_forged_histories_gain_no_rights() {
    merge_forged_histories(200..1_200);
}

/// Merges a randomly forged history for each seed, of which each has up to four forgeries.
fn merge_forged_histories(seeds: std::ops::Range<u64>) {
    let enough = (seeds.end - seeds.start) / 20;
    let world = World::new();
    let before = world.state();
    let session = open(&world.project);
    let (mut taken, mut refused) = (0, 0);
    for seed in seeds {
        let mut draw = Draw(seed * 7_919 + 1);
        let forged = world.forged("forged.dissensus", |c| {
            for _ in 0..1 + draw.below(4) {
                let (which, n) = (draw.below(32), draw.below(1 << 20));
                forgery(c, which, n);
            }
        });
        let consent = if draw.below(2) == 0 { MergeConsent::all() } else { MergeConsent::default() };
        let files = [forged, world.ada.clone()];
        let report =
            study::merge(&session.study, &files[..1 + draw.below(2) as usize], &consent, &Silent).unwrap();
        match report.files[0].refused {
            true => refused += 1,
            false => taken += 1,
        }
        // The oracle: everything but ada's answers to what she was asked is unchanged.
        assert_eq!(world.state(), before, "seed {seed}");
    }
    session.close();
    assert!(taken > enough && refused > enough, "{taken} taken in, {refused} refused: both are to be tried");
}

/// Replaces ada's first answer with another one.
const OTHER_ANSWER: &str = "UPDATE events SET level = (level + 1) % 3 WHERE id = 1;
                            UPDATE current_answers SET level = (level + 1) % 3 WHERE event = 1";

#[test]
fn submission_cannot_become_a_packet() {
    let world = World::new();
    let before = world.state();
    let handed = world.path("ada.handin");
    write_former_submission(&world.ada, &handed, 1, 2);
    // A third party on the way has the packet's project without its key.
    let bytes = std::fs::read(&handed).unwrap();
    let begins = bytes.windows(15).position(|part| part == b"SQLite format 3").unwrap();
    let forged = world.path("forged.dissensus");
    for key in [None, Some("07".repeat(32))] {
        std::fs::write(&forged, &bytes[begins..]).unwrap();
        forge(&forged, |c| {
            exec(c, OTHER_ANSWER);
            if let Some(key) = &key {
                exec(c, &format!("UPDATE packets SET key = x'{key}'"));
                exec(c, &format!("INSERT INTO settings VALUES ('packet-key', '{:?}')", [7; 32]));
            }
            Ok(())
        });
        for consent in [MergeConsent::default(), MergeConsent::all()] {
            let file = world.merge(&forged, &consent);
            assert_eq!((codes(&file), file.refused), (vec!["merge-no-key"], true), "{file:?}");
            let session = open(&world.project);
            let preview = study::preview_merge(&session.study, std::slice::from_ref(&forged)).unwrap();
            assert!(preview.files[0].refused);
            session.close();
        }
    }
    // One more answer without a database editor.
    std::fs::write(&forged, &bytes[begins..]).unwrap();
    label(&forged, 1);
    assert_eq!(codes(&world.merge(&forged, &MergeConsent::all())), ["merge-no-key"]);
    assert_eq!(world.state(), before);
    let genuine = world.merge(&handed, &MergeConsent::default());
    assert!(!genuine.refused && genuine.new == 2, "{genuine:?}");
}

#[test]
fn packet_is_recognised_after_all_holders_withdrew() {
    let world = World::new();
    let forged = world.forged("forged.dissensus", |c| {
        exec(c, STRIP);
        exec(c, "UPDATE annotators SET external_id = 'eve', name = 'eve'; UPDATE facts SET value = '\"eve\"' WHERE value = '\"ada\"'");
        withdraw(c, "ben");
    });
    let session = open(&world.project);
    for name in ["ada", "dora"] {
        let person = annotators::find(&session.project, name).unwrap().id;
        withdraw::withdraw(&session.project, person).unwrap();
    }
    session.close();
    let before = state_of_all(&world.project);
    let file = world.merge(&forged, &MergeConsent::all());
    assert_eq!((codes(&file), file.refused), (vec!["merge-no-copy"], true), "{file:?}");
    assert_eq!(state_of_all(&world.project), before);
}

#[test]
fn packet_of_unknown_origin_is_refused_as_a_copy() {
    let world = World::new();
    assert!(!world.merge(&world.ada, &MergeConsent::default()).refused);
    // As in a project of an earlier version, which did not record it.
    forge(&world.project, |c| {
        exec(c, "DELETE FROM settings WHERE key = 'copies_taken_in'");
        Ok(())
    });
    let before = state_of_all(&world.project);
    let forged = world.forged("forged.dissensus", |c| {
        exec(c, STRIP);
        withdraw(c, "ben");
    });
    let file = world.merge(&forged, &MergeConsent::all());
    assert_eq!((codes(&file), file.refused), (vec!["merge-no-copy"], true), "{file:?}");
    assert_eq!(state_of_all(&world.project), before);
}

/// Gives an answer in a person's name.
fn answer_as(file: &Path, name: &str, text: usize, level: u16) {
    let session = open(file);
    let question = info::read(&session.project).unwrap().questions[0].id;
    let person = annotators::add(&session.project, name, &Default::default()).map(|p| p.id);
    let person = person.unwrap_or_else(|_| annotators::find(&session.project, name).unwrap().id);
    let text = texts::find(&session.project, &format!("t{text}")).unwrap().0;
    answer(&session, question, person, text, level);
    session.close();
}

#[test]
fn unknown_copy_always_needs_consent() {
    let world = World::new();
    let copies = MergeConsent { whole_copies: true, ..MergeConsent::default() };
    let there = world.path("there.dissensus");
    std::fs::copy(&world.project, &there).unwrap();
    answer_as(&there, "emil", 1, 0);
    assert!(!world.merge(&there, &copies).refused);
    // A colleague gets a copy of the project in its current state.
    let never = world.path("never.dissensus");
    std::fs::copy(&world.project, &never).unwrap();
    answer_as(&never, "fay", 2, 0);
    let before = state_of_all(&world.project);
    for edit in [
        "SELECT 1",
        "DELETE FROM settings WHERE key = 'copies_taken_in'",
        "DELETE FROM settings WHERE key IN ('copies_taken_in', 'known-copies', 'work-secrets')",
        "UPDATE settings SET value = (SELECT value FROM settings WHERE key = 'known-copies') WHERE key = 'work-secrets'",
    ] {
        forge(&never, |c| {
            if edit != "SELECT 1" {
                exec(c, edit);
            }
            Ok(())
        });
        let file = world.merge(&never, &MergeConsent::default());
        assert_eq!((codes(&file), file.refused), (vec!["merge-new-copy"], true), "{edit}");
        assert_eq!(state_of_all(&world.project), before, "{edit}");
    }
    // A copy without additions does not become known.
    let empty = world.path("empty.dissensus");
    std::fs::copy(&world.project, &empty).unwrap();
    forge(&empty, |c| {
        exec(c, "INSERT OR REPLACE INTO settings VALUES ('work-secrets', '[\"mine\"]')");
        Ok(())
    });
    assert!(!world.merge(&empty, &MergeConsent::default()).refused);
    answer_as(&empty, "gus", 3, 0);
    assert_eq!(codes(&world.merge(&empty, &MergeConsent::default())), ["merge-new-copy"]);
    // A known copy is merged without a question.
    answer_as(&there, "emil", 2, 1);
    assert!(!world.merge(&there, &MergeConsent::default()).refused);
}

#[test]
fn copy_is_known_after_any_merged_change() {
    let world = World::new();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    type Work<'a> = (&'a str, &'a dyn Fn(&Session));
    let works: [Work<'_>; 6] = [
        ("decision", &|session| {
            let question = info::read(&session.project).unwrap().questions[0].id;
            let text = texts::find(&session.project, "t1").unwrap().0;
            let outcome = dissensus_domain::Outcome::Ambiguous;
            let (comment, by) = ("x".to_owned(), "z".to_owned());
            study::decide(
                &session.study,
                &NewDecision { question, text, outcome, answer: None, comment, by },
            )
            .unwrap();
        }),
        ("guideline", &|session| {
            let (body, change, by) = ("Be kind.".to_owned(), String::new(), "z".to_owned());
            let new = NewGuideline { body, change, by, pictures: Vec::new(), after: None };
            session.guideline.write(&new, None).unwrap();
        }),
        ("person", &|session| {
            annotators::add(&session.project, "gil", &Default::default()).unwrap();
        }),
        ("levels", &|session| {
            let question = info::read(&session.project).unwrap().questions[0].id;
            questions::rename_levels(&session.project, question, &["a", "b", "c"].map(String::from)).unwrap();
        }),
        ("texts", &|session| {
            let file = world.path("more.csv");
            std::fs::write(&file, "text_id,text\nt7,Body of text 7\n").unwrap();
            exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
        }),
        ("hand-ins", &|session| {
            let packet = [world.ada.clone()];
            let report = study::merge(&session.study, &packet, &MergeConsent::default(), &Silent).unwrap();
            assert!(!report.files[0].refused && report.files[0].new > 0);
        }),
    ];
    for (name, work) in works {
        let there = world.path(&format!("{name}.dissensus"));
        std::fs::copy(&world.project, &there).unwrap();
        let session = open(&there);
        work(&session);
        session.close();
        assert_eq!(codes(&world.merge(&there, &MergeConsent::default())), ["merge-new-copy"], "{name}");
        assert!(!world.merge(&there, &MergeConsent::all()).refused, "{name}");
        for later in ["later", "still later"] {
            let session = open(&there);
            annotators::add(&session.project, &format!("{name}, {later}"), &Default::default()).unwrap();
            session.close();
        }
        let file = world.merge(&there, &MergeConsent::default());
        assert_eq!((codes(&file), file.refused), (Vec::<&str>::new(), false), "{name}");
    }
}

#[test]
fn known_copy_needs_consent_to_replace_facts() {
    let world = World::new();
    let event = |kind: &str, more: &str, values: &str| {
        format!(
            "INSERT INTO events (copy, sequence, kind, question, text, annotator, at_ms, source {more})
             SELECT (SELECT max(copy) FROM events), (SELECT max(sequence) + 9 FROM events AS e WHERE e.copy = (SELECT max(copy) FROM events)), '{kind}', 1, t.id, a.id, 4000000000000 + (SELECT count(*) FROM events), 'window' {values}
             FROM texts AS t, annotators AS a WHERE t.external_id = 't1' AND a.external_id = 'cleo'"
        )
    };
    let again = "INSERT OR REPLACE INTO current_answers (question, occasion, text, annotator, event, level)
                 SELECT question, occasion, text, annotator, id, level FROM events WHERE occasion = 2 ORDER BY id";
    forge(&world.project, |c| {
        exec(c, &event("note", ", note, confidence", ", 'quotes somebody', 2"));
        exec(c, &event("flag", "", ""));
        exec(c, &event("answer", ", level, occasion", ", 1, 2"));
        exec(c, again);
        Ok(())
    });
    let copies = MergeConsent { whole_copies: true, ..MergeConsent::default() };
    let there = world.path("there.dissensus");
    std::fs::copy(&world.project, &there).unwrap();
    answer_as(&there, "emil", 1, 0);
    assert!(!world.merge(&there, &copies).refused);
    let same = "(SELECT level FROM current_answers WHERE text = t.id AND annotator = a.id AND occasion = 1)";
    let its = "(SELECT event FROM current_answers WHERE text = t.id AND annotator = a.id AND occasion = 1)";
    let current = "UPDATE current_answers SET event = (SELECT max(id) FROM events)
                   WHERE occasion = 1 AND text = (SELECT id FROM texts WHERE external_id = 't1') AND annotator = (SELECT id FROM annotators WHERE external_id = 'cleo')";
    for (name, edit, kind) in [
        ("an empty note", event("note", "", ""), MergeChangeKind::Answers),
        ("another note", event("note", ", note", ", 'I hate this study'"), MergeChangeKind::Answers),
        ("no flag", event("unflag", "", ""), MergeChangeKind::Answers),
        (
            "the same answer at another time",
            format!("{}; {current}", event("answer", ", level, replaces", &format!(", {same}, {its}"))),
            MergeChangeKind::Answers,
        ),
        (
            "another repeat",
            format!("{}; {again}", event("answer", ", level, occasion", ", 0, 2")),
            MergeChangeKind::RepeatedAnswers,
        ),
    ] {
        let forged = world.path("forged.dissensus");
        std::fs::copy(&there, &forged).unwrap();
        forge(&forged, |c| {
            exec(c, &edit);
            Ok(())
        });
        let before = state_of_all(&world.project);
        let file = world.merge(&forged, &MergeConsent::default());
        assert_eq!((codes(&file), file.refused), (vec!["merge-changes"], true), "{name}");
        let changes = file.effect.unwrap().changes;
        assert_eq!(
            changes.iter().map(|one| (one.kind, one.count)).collect::<Vec<_>>(),
            [(kind, 1)],
            "{name}"
        );
        assert_eq!(state_of_all(&world.project), before, "{name}");
    }
    // Pure additions are still merged without a question.
    answer_as(&there, "emil", 2, 0);
    assert!(!world.merge(&there, &MergeConsent::default()).refused);
}

/// Inserts a form-answers fact of the packet's owner.
fn submits_attribute(c: &Connection, at_ms: i64, value: &str) {
    let sql = "INSERT INTO facts (kind, annotator, at_ms, value) VALUES ('form-answers', 1, ?1, ?2)";
    c.execute(sql, dissensus_test_support::rusqlite::params![at_ms, value]).unwrap();
}

#[test]
fn packet_submits_only_attributes_of_the_form() {
    let world = World::new();
    let attribute = |name: &str, values: &[&str]| dissensus_domain::FormAttribute {
        name: name.into(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        ..Default::default()
    };
    let session = open(&world.project);
    let form = dissensus_domain::AttributeForm { attributes: vec![attribute("region", &["north", "south"])] };
    attribute_form::set(&session.project, &form).unwrap();
    let ada = annotators::find(&session.project, FORGER).unwrap().id;
    let known = ("gender".to_owned(), "woman".to_owned());
    annotators::change(&session.project, ada, None, &[known], &[]).unwrap();
    session.close();
    let attributes = || {
        let session = open(&world.project);
        let of = annotators::find(&session.project, FORGER).unwrap().attributes.clone();
        session.close();
        of
    };
    let before = attributes();
    let long = "x".repeat(5_000);
    for value in [
        r#"{"gender":{"value":"man","at_ms":4000000000000}}"#.to_owned(),
        r#"{"region":{"value":"moon","at_ms":5}}"#.to_owned(),
        r#"{"region":{"value":"north","at_ms":9223372036854775807}}"#.to_owned(),
        r#"{"region":{"value":"north","at_ms":-9223372036854775808}}"#.to_owned(),
        r#"{"":{"value":"x","at_ms":5}}"#.to_owned(),
        r#"{"a\nb":{"value":"x","at_ms":5}}"#.to_owned(),
        format!(r#"{{"{long}":{{"value":"x","at_ms":5}}}}"#),
        "[1]".to_owned(),
    ] {
        let forged = world.forged("forged.dissensus", |c| submits_attribute(c, 5, &value));
        let file = world.merge(&forged, &MergeConsent::all());
        assert!(file.refused, "{value} {file:?}");
        assert_eq!(attributes(), before, "{value}");
    }
    let honest = world.forged("honest.dissensus", |c| {
        submits_attribute(c, 5, r#"{"region":{"value":"north","at_ms":4000000000000}}"#);
    });
    assert!(!world.merge(&honest, &MergeConsent::default()).refused);
    assert_eq!(attributes()["region"], "north");
    // Later settings here take precedence, whatever time the packet gave.
    let session = open(&world.project);
    let now = ("region".to_owned(), "south".to_owned());
    annotators::change(&session.project, ada, None, &[now], &[]).unwrap();
    session.close();
    assert_eq!(attributes()["region"], "south");
    // In a project that has such a time from before, setting an attribute fails with an error.
    forge(&world.project, |c| {
        exec(
            c,
            "INSERT INTO facts (kind, annotator, key, at_ms, value)
             SELECT 'annotator-attribute', id, 'region', 9223372036854775807, '\"x\"' FROM annotators WHERE external_id = 'ada'",
        );
        Ok(())
    });
    let session = open(&world.project);
    let now = ("region".to_owned(), "north".to_owned());
    let error = annotators::change(&session.project, ada, None, &[now], &[]).unwrap_err();
    assert!(error.to_string().contains("end of time"), "{error}");
    session.close();
}

#[test]
fn packet_times_must_be_valid_dates() {
    let world = World::new();
    let before = world.state();
    for at in [i64::MAX, i64::MIN, -2_208_988_800_001, 253_402_300_800_000] {
        for (what, sql) in [
            ("event", format!("UPDATE events SET at_ms = {at}")),
            ("beginning", format!("UPDATE copies SET made_at_ms = {at}")),
            ("hand-in", hand_in(at, "1")),
            (
                "fact",
                format!(
                    "INSERT INTO facts (kind, annotator, at_ms, value) VALUES ('left-out', 1, {at}, '1')"
                ),
            ),
        ] {
            let forged = world.forged("forged.dissensus", |c| exec(c, &sql));
            let file = world.merge(&forged, &MergeConsent::all());
            assert!(file.refused, "{what} at {at}: {file:?}");
            assert_eq!(world.state(), before, "{what} at {at}");
        }
    }
    // An answer of a round that was not asked, and one at an impossible time.
    for (occasion, at) in [(65_535, 5), (2, i64::MAX)] {
        let forged = world.forged("forged.dissensus", |c| {
            exec(
                c,
                &format!(
                    "INSERT INTO events (copy, sequence, kind, question, text, annotator, occasion, at_ms, source, level)
                     SELECT min(c.id), 9000, 'answer', 1, 1, 1, {occasion}, {at}, 'window', 1 FROM copies AS c"
                ),
            );
        });
        assert!(world.merge(&forged, &MergeConsent::all()).refused, "{occasion} {at}");
        assert_eq!(world.state(), before);
    }
    // A project that has such a time from before can still be written.
    forge(&world.project, |c| {
        exec(
            c,
            "UPDATE events SET at_ms = 9223372036854775807 WHERE id = 1; UPDATE events SET at_ms = -9223372036854775808 WHERE id = 2",
        );
        Ok(())
    });
    let session = open(&world.project);
    for ending in ["csv", "jsonl", "parquet", "xlsx"] {
        exchange::export(
            &session.exchange,
            &world.path(&format!("out.{ending}")),
            &ExportChoices { replace: true, ..ExportChoices::default() },
            &Silent,
        )
        .unwrap();
    }
    session.close();
}

#[test]
fn packet_cannot_add_a_wording() {
    let world = World::new();
    let before = world.state();
    let reword = |c: &Connection, from: &str, to: &str| {
        use sha2::Digest as _;
        let (id, content): (u32, String) =
            c.query_row("SELECT id, content FROM wordings", [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
        let forged = content.replace(from, to);
        assert_ne!(forged, content);
        let uid: Vec<u8> = sha2::Sha256::digest(&forged)[..16].to_vec();
        let sql = "INSERT INTO wordings VALUES (77, ?1, ?2)";
        c.execute(sql, dissensus_test_support::rusqlite::params![uid, forged]).unwrap();
        exec(c, &format!("UPDATE events SET wording = 77 WHERE wording = {id}"));
    };
    for (from, to) in [
        ("\"prompt\":\"", "\"prompt\":\"NOT "),
        ("[\"1\",\"\"]", "[\"one\",\"\"]"),
        ("[\"1\",\"\"]", "[\"1\",\"forged\"]"),
        ("[\"1\",\"\"],", ""),
        ("[\"1\",\"\"],[\"2\",\"\"],[\"3\",\"\"]", ""),
        ("\"levels\"", "\"help\":{\"text\":\"forged\",\"low\":\"\",\"high\":\"\"},\"levels\""),
    ] {
        let forged = world.forged("forged.dissensus", |c| reword(c, from, to));
        let file = world.merge(&forged, &MergeConsent::all());
        assert!(file.refused, "{to}: {file:?}");
        assert!(file.problems[0].problem.message.contains("wording"), "{file:?}");
        assert_eq!(world.state(), before, "{to}");
    }
    // A wording that was current at assignment is accepted, even if it has changed here by now.
    let session = open(&world.project);
    let question = info::read(&session.project).unwrap().questions[0].id;
    let prompt = Some("Is it ruder?".to_owned());
    let edit = QuestionChange { prompt, ..Default::default() };
    questions::edit(&session.project, question, &edit).unwrap();
    session.close();
    assert!(!world.merge(&world.ada, &MergeConsent::default()).refused);
}

/// A packet and a file that differ only in what an event refers to: the answer that is taken back, or the
/// wording on screen. Each copy retains its own, and reports this.
#[test]
fn copies_report_events_with_other_references() {
    for what in ["retraction", "wording"] {
        let world = World::new();
        let session = open(&world.project);
        let question = info::read(&session.project).unwrap().questions[0].id;
        let edit = QuestionChange { prompt: Some("Is it ruder?".to_owned()), ..Default::default() };
        questions::edit(&session.project, question, &edit).unwrap();
        session.close();
        let there = world.path("there.dissensus");
        std::fs::copy(&world.project, &there).unwrap();
        let session = open(&world.ada);
        let (me, question) = (
            annotators::list(&session.project).unwrap()[0].id,
            info::read(&session.project).unwrap().questions[0].id,
        );
        let next =
            next_text::choose(&session.labelling, me, [question], TextOrder::File, None).unwrap().unwrap();
        answer(&session, question, me, next.text, 0);
        answer(&session, question, me, next.text, 1);
        undo::undo(&session.labelling, me, question, LabelSource::Window).unwrap().unwrap();
        session.close();
        let forged = world.forged("forged.dissensus", |c| match what {
            "retraction" => exec(
                c,
                "UPDATE events SET replaces = (SELECT max(id) FROM events WHERE kind = 'answer') - 1 WHERE kind = 'retraction';
                 UPDATE current_answers SET event = (SELECT max(id) FROM events WHERE kind = 'answer'), level = 1
                 WHERE text = (SELECT text FROM events WHERE kind = 'retraction')",
            ),
            _ => {
                use sha2::Digest as _;
                let content: String = c.query_row("SELECT content FROM wordings", [], |r| r.get(0)).unwrap();
                let prompt = serde_json::from_str::<serde_json::Value>(&content).unwrap()["prompt"].to_string();
                let other =
                    content.replace(&format!("\"prompt\":{prompt}"), "\"prompt\":\"Is it ruder?\"");
                assert_ne!(other, content);
                let uid: Vec<u8> = sha2::Sha256::digest(&other)[..16].to_vec();
                let sql = "INSERT INTO wordings VALUES (77, ?1, ?2)";
                c.execute(sql, dissensus_test_support::rusqlite::params![uid, other]).unwrap();
                exec(c, "UPDATE events SET wording = 77 WHERE wording IS NOT NULL");
            }
        });
        let merged = |into: &Path, from: &Path| {
            let session = open(into);
            let report =
                study::merge(&session.study, &[from.to_owned()], &MergeConsent::all(), &Silent).unwrap();
            session.close();
            report.files.into_iter().next().unwrap()
        };
        assert!(!merged(&world.project, &world.ada).refused, "{what}");
        let file = merged(&there, &forged);
        assert!(!file.refused, "{what}: {file:?}");
        for (into, from) in [(&there, &world.project), (&world.project, &there)] {
            let file = merged(into, from);
            let reported = file.problems.iter().any(|one| one.problem.message.contains("left out"));
            assert!(!file.refused && reported, "{what}: {file:?}");
        }
    }
}

/// A packet states the wording of a later answer once: changes afterwards are refused.
#[test]
fn packet_cannot_change_a_stated_wording() {
    let world = World::new();
    let session = open(&world.project);
    let question = info::read(&session.project).unwrap().questions[0].id;
    let edit = QuestionChange { prompt: Some("Is it ruder?".to_owned()), ..Default::default() };
    questions::edit(&session.project, question, &edit).unwrap();
    let request = StudyRequest {
        questions: Vec::new(),
        people: vec!["gil".into()],
        per_text: 3,
        per_person: None,
        anchors: 6,
        repeat: 0.5,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 3,
    };
    study::hand_out(&session.study, &request, &world.path("more"), &Silent).unwrap();
    session.close();
    let packet = world.path("more").join("gil.dissensus");
    let session = open(&packet);
    let (me, question) = (
        annotators::list(&session.project).unwrap()[0].id,
        info::read(&session.project).unwrap().questions[0].id,
    );
    let mut again = 0;
    while let Some(next) =
        next_text::choose(&session.labelling, me, [question], TextOrder::File, None).unwrap()
    {
        let new = NewLabel {
            question,
            annotator: me,
            text: next.text,
            answer: Answer::from_level(1),
            duration_ms: None,
        };
        match next.occasion {
            1 => drop(record::record_label(&session.labelling, &new).unwrap()),
            occasion => {
                again += 1;
                reannotation::record(
                    &session.labelling,
                    &RecordLabel::new(&new, LabelSource::Window),
                    occasion,
                )
                .unwrap();
            }
        }
    }
    assert!(again > 0, "the test needs texts that are asked again");
    session.close();
    assert!(!world.merge(&packet, &MergeConsent::default()).refused);
    let before = world.state();
    dissensus_test_support::forge(&packet, |c| {
        use sha2::Digest as _;
        let content: String = c.query_row("SELECT content FROM wordings", [], |r| r.get(0))?;
        let other = content.replace("\"prompt\":\"Is it ruder?\"", "\"prompt\":\"rude\"");
        assert_ne!(other, content);
        let uid: Vec<u8> = sha2::Sha256::digest(&other)[..16].to_vec();
        let sql = "INSERT INTO wordings VALUES (77, ?1, ?2)";
        c.execute(sql, dissensus_test_support::rusqlite::params![uid, other])?;
        exec(c, "UPDATE events SET wording = 77 WHERE occasion > 1");
        Ok(())
    });
    let file = world.merge(&packet, &MergeConsent::all());
    assert!(file.refused, "{file:?}");
    assert!(file.problems[0].problem.message.contains("differs in the other copy"), "{file:?}");
    assert_eq!(world.state(), before);
}

#[test]
fn other_file_name_of_the_project_is_recognised() {
    let world = World::new();
    let names = ["hard.dissensus", "soft.dissensus"].map(|name| world.path(name));
    std::fs::hard_link(&world.project, &names[0]).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&world.project, &names[1]).unwrap();
    #[cfg(not(unix))]
    std::fs::hard_link(&world.project, &names[1]).unwrap();
    for name in &names {
        let file = world.merge(name, &MergeConsent::all());
        assert!(file.refused && file.problems[0].problem.message.contains("the project itself"), "{file:?}");
    }
}

/// Makes a file one of format 17, the last with tables of their own for names and attributes.
fn as_format_17(conn: &Connection) {
    exec(
        conn,
        "DROP INDEX facts_are_facts; DROP TRIGGER facts_are_not_changed; DROP TRIGGER facts_are_not_deleted;
         CREATE TEMP TABLE named AS SELECT annotator, coalesce('attribute:' || key, 'name'), at_ms, json_extract(value, '$')
             FROM facts WHERE kind IN ('annotator-name', 'annotator-attribute');
         DELETE FROM facts WHERE key IS NOT NULL OR kind = 'annotator-name';
         ALTER TABLE facts DROP COLUMN key;
         DROP INDEX events_again; ALTER TABLE events DROP COLUMN occasion;
         CREATE TEMP TABLE current AS SELECT question, text, annotator, event, level, content FROM current_answers;
         DROP TABLE current_answers",
    );
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let mut files: Vec<_> = std::fs::read_dir(migrations).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let old = Connection::open_in_memory().unwrap();
    files[..17].iter().for_each(|file| exec(&old, &std::fs::read_to_string(file).unwrap()));
    let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'table' DESC, name";
    let mut parts = old.prepare(sql).unwrap();
    let parts = parts.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?))).unwrap();
    for (name, sql) in parts.map(Result::unwrap) {
        let known =
            conn.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?1").unwrap().exists([&name]).unwrap();
        if !known {
            exec(conn, &sql);
        }
    }
    exec(
        conn,
        "INSERT INTO annotator_changes SELECT * FROM temp.named; INSERT INTO current_answers SELECT * FROM temp.current;
         PRAGMA user_version = 17",
    );
}

/// The journal of a copy in an earlier format is merged with it.
#[test]
fn copy_of_an_earlier_format_merges_with_its_journal() {
    let world = World::new();
    let there = world.path("there.dissensus");
    std::fs::copy(&world.project, &there).unwrap();
    answer_as(&there, "emil", 1, 0);
    let conn = Connection::open(&there).unwrap();
    as_format_17(&conn);
    conn.close().unwrap();
    // As left behind by a killed program.
    let conn = Connection::open(&there).unwrap();
    conn.set_db_config(
        dissensus_test_support::rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
        true,
    )
    .unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    exec(&conn, "INSERT INTO texts (external_id, body, metadata) VALUES ('in-the-journal', 'x', '{}')");
    drop(conn);
    let journal = world.path("there.dissensus-wal");
    let before = (std::fs::read(&there).unwrap(), std::fs::read(&journal).unwrap());
    assert!(!before.1.is_empty(), "the test needs a journal");
    let file = world.merge(&there, &MergeConsent::all());
    assert!(!file.refused, "{file:?}");
    let session = open(&world.project);
    assert!(texts::find(&session.project, "in-the-journal").is_ok());
    assert!(annotators::find(&session.project, "emil").is_ok());
    session.close();
    assert!(
        (std::fs::read(&there).unwrap(), std::fs::read(&journal).unwrap()) == before,
        "it stays as it was"
    );
}

#[test]
fn copies_with_a_packet_and_its_forgery_merge() {
    let world = World::new();
    let there = world.path("there.dissensus");
    std::fs::copy(&world.project, &there).unwrap();
    let other = world.forged("other.dissensus", |c| exec(c, OTHER_ANSWER));
    let merged = |into: &Path, from: &Path| {
        let session = open(into);
        let report = study::merge(&session.study, &[from.to_owned()], &MergeConsent::all(), &Silent).unwrap();
        session.close();
        report.files.into_iter().next().unwrap()
    };
    assert!(!merged(&world.project, &world.ada).refused);
    assert!(!merged(&there, &other).refused);
    answer_as(&there, "emil", 1, 0);
    for _ in 0..2 {
        for (into, from) in [(&there, &world.project), (&world.project, &there)] {
            let file = merged(into, from);
            assert!(!file.refused, "{file:?}");
            let reported = file.problems.iter().find(|one| one.problem.message.contains("left out"));
            let reported = &reported.unwrap().problem.message;
            assert!(reported.contains("1 answer or mark") && reported.contains("ada, t"), "{reported}");
        }
    }
    // Everything else is the same in both.
    let rows = |file: &Path| {
        let conn = Connection::open(file).unwrap();
        let sql = "SELECT c.uid, e.sequence, a.external_id, t.external_id FROM events AS e JOIN copies AS c ON c.id = e.copy
                   JOIN annotators AS a ON a.id = e.annotator JOIN texts AS t ON t.id = e.text ORDER BY 1, 2";
        let mut rows = conn.prepare(sql).unwrap();
        let rows = rows.query_map([], |r| {
            Ok((r.get::<_, Vec<u8>>(0)?, r.get::<_, u32>(1)?, r.get::<_, String>(2)?, r.get::<_, String>(3)?))
        });
        rows.unwrap().map(|row| row.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&world.project), rows(&there));
    // Later answers of the person count in both.
    label(&world.ada, 1);
    assert!(!merged(&world.project, &world.ada).refused);
    assert!(!merged(&there, &world.project).refused);
}
