//! Re-annotations of format 18, which had four tables for them: as events they count as before, and copies
//! that are migrated apart agree after a merge.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use dissensus_domain::AnnotatorId;
use dissensus_store::{CheckRecords, Store};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// A copy of a kept file under this name.
fn kept(file: &str, folder: &Path, name: &str) -> PathBuf {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats").join(file);
    let path = folder.join(name);
    std::fs::copy(kept, &path).unwrap();
    path
}

fn of_18(folder: &Path, name: &str) -> PathBuf {
    kept("version-18.dissensus", folder, name)
}

fn lines(path: &Path, sql: &str) -> Vec<String> {
    let conn = Connection::open(path).unwrap();
    let mut statement = conn.prepare(sql).unwrap();
    let found = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    found.map(Result::unwrap).collect()
}

fn run(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// What counted by the rules of format 18: of the answers of a round whose last change is no retraction the
/// last one by time, then the greater one, with its last note, and whether it was given.
fn counted_in_18(path: &Path) -> Vec<String> {
    const SAME: &str = "o.question = r.question AND o.text = r.text AND o.annotator = r.annotator
        AND o.occasion = r.occasion AND o.at_ms = r.at_ms AND o.answer = r.answer";
    let sql = format!(
        "SELECT concat_ws(' ', question, text, annotator, occasion, at_ms, answer, given, wording, said) FROM (
             SELECT r.*, row_number() OVER (
                     PARTITION BY question, text, annotator, occasion ORDER BY at_ms DESC, answer DESC) AS place,
                 r.source IN ('window', 'command')
                     OR EXISTS (SELECT 1 FROM repeat_origins AS o WHERE {SAME} AND o.source IN ('window', 'command')) AS given,
                 (SELECT hex(max(o.wording)) FROM repeat_origins AS o WHERE {SAME}) AS wording,
                 coalesce((SELECT concat_ws('|', o.note, iif(o.reasons = '[]', '', o.reasons), o.confidence)
                     FROM repeat_remarks AS o WHERE {SAME}
                     ORDER BY o.said_at_ms DESC, o.note DESC, o.reasons DESC, o.confidence DESC LIMIT 1), '||0') AS said
             FROM repeats AS r WHERE coalesce((SELECT o.counts FROM repeat_changes AS o WHERE {SAME}
                 ORDER BY o.changed_at_ms DESC, o.counts DESC LIMIT 1), 1) = 1
         ) WHERE place = 1 ORDER BY question, text, annotator, occasion"
    );
    lines(path, &sql)
}

/// The same of a migrated file.
fn counted(store: &Store) -> Vec<String> {
    let sql = "SELECT concat_ws(' ', n.question, n.text, n.annotator, n.occasion, e.at_ms,
                   coalesce(n.content, json_object('kind', 'level', 'value', n.level)),
                   e.source IN ('window', 'command'), coalesce(hex(w.uid), ''))
               FROM current_answers AS n JOIN events AS e ON e.id = n.event LEFT JOIN wordings AS w ON w.id = e.wording
               WHERE n.occasion > 1 ORDER BY n.question, n.text, n.annotator, n.occasion";
    let found = lines(store.file(), sql);
    let questions = store.questions().unwrap();
    let notes: Vec<String> = questions
        .iter()
        .flat_map(|question| store.repeats(question.id).unwrap())
        .map(|repeat| {
            let note = repeat.details.note;
            let reasons = if note.reasons.is_empty() {
                String::new()
            } else {
                serde_json::to_string(&note.reasons).unwrap()
            };
            format!("{}|{reasons}|{}", note.note.unwrap_or_default(), note.confidence.unwrap_or(0))
        })
        .collect();
    assert_eq!(found.len(), notes.len());
    found.into_iter().zip(notes).map(|(found, notes)| format!("{found} {notes}")).collect()
}

/// Every event of a later round, with the identities of what it refers to.
fn events(store: &Store) -> Vec<String> {
    let sql = "SELECT concat_ws(' ', hex(c.uid), e.sequence, e.kind, e.question, e.text, e.annotator, e.occasion, e.at_ms, e.source,
                   e.level, e.content, hex(rc.uid), r.sequence, e.note, e.reasons, e.confidence, hex(g.uid), hex(w.uid))
               FROM events AS e JOIN copies AS c ON c.id = e.copy LEFT JOIN events AS r ON r.id = e.replaces
               LEFT JOIN copies AS rc ON rc.id = r.copy LEFT JOIN guidelines AS g ON g.id = e.guideline
               LEFT JOIN wordings AS w ON w.id = e.wording WHERE e.occasion > 1 ORDER BY 1";
    lines(store.file(), sql)
}

#[test]
fn migration_of_format_18_keeps_reannotations() {
    let folder = tempfile::tempdir().unwrap();
    let path = of_18(folder.path(), "p.dissensus");
    let before = counted_in_18(&path);
    let store = Store::open(&path).unwrap();
    assert_eq!(counted(&store), before);
    let listed = before.join("\n");
    // Changed, restored, of several rounds, noted, of one time, an answer that says nothing; and one that was
    // changed without the note of the first.
    for expected in [
        "1 1 1 2 200 {\"kind\":\"level\",\"value\":3} 1 D91CA1D5E0EA1753178B654D13A83E9C n|[\"ironic\"]|3",
        "1 1 2 2 310 {\"kind\":\"level\",\"value\":2} 1 D91CA1D5E0EA1753178B654D13A83E9C ||0",
        "1 2 2 2 320 {\"kind\":\"level\",\"value\":1} 0  ||0",
        "2 2 1 2 360 {\"kind\":\"options\",\"value\":[0,3]} 1  |[\"ironic\"]|4",
        "1 2 3 2 400 {\"kind\":\"level\",\"value\":2} 0  ||0",
        "1 2 1 2 410 {\"kind\":\"cannot-say\"} 1  ||0",
        "4 2 3 2 440 {\"kind\":\"level\",\"value\":1} 1  ||0",
    ] {
        assert!(listed.contains(expected), "{expected} is not in\n{listed}");
    }
    assert!(!listed.contains("1 1 2 3 ") && !listed.contains("1 1 3 2 "), "retracted");
    let spans = store.questions().unwrap()[2].id;
    let guideline = store.repeats(spans).unwrap()[0].details.guideline.unwrap();
    assert_eq!(guideline.0.as_u128(), 9);
    store.check_current_answers().unwrap();
    let left = lines(&path, "SELECT name FROM sqlite_schema WHERE name LIKE 'repeat%'");
    assert_eq!(left, [""; 0]);
    // Undo goes on: the last answer that was given.
    let given = store.newest_given(store.questions().unwrap()[3].id, AnnotatorId(3)).unwrap().unwrap();
    assert_eq!((given.at_ms, given.occasion), (440, 2));
}

#[test]
fn unused_reannotations_of_an_import_of_format_18_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(of_18(folder.path(), "p.dissensus")).unwrap();
    let rounds = || counted(&store).iter().map(|line| line[..8].to_owned()).collect::<Vec<_>>();
    let before = rounds();
    let answers = store.last_import().unwrap().unwrap().answers;
    let taken = store.write(|tx| tx.remove_last_import()).unwrap();
    assert_eq!((answers, taken.answers, taken.retained_answers), (3, 3, 0));
    let gone: Vec<String> = before.into_iter().filter(|line| !rounds().contains(line)).collect();
    assert_eq!(gone, ["1 2 3 2 "]);
    store.check_current_answers().unwrap();
}

#[test]
fn copies_migrated_separately_have_equal_events() {
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open(of_18(folder.path(), "here.dissensus")).unwrap();
    let there = Store::open(of_18(folder.path(), "there.dissensus")).unwrap();
    assert_eq!(events(&here), events(&there));
    // One that is not migrated is copied, and the copy migrated, for a merge.
    let old = of_18(folder.path(), "old.dissensus");
    let bytes = std::fs::read(&old).unwrap();
    let copy = folder.path().join("copy.dissensus");
    Store::copy_of_earlier(&old, &copy, &CheckRecords::default()).unwrap();
    let (expected, migrated) = (events(&here), Store::open(&copy).unwrap());
    for (into, from) in [(&here, &there), (&there, &here), (&here, &migrated), (&migrated, &here)] {
        let taken = into.merge_from(from).unwrap();
        assert_eq!((taken.events, taken.repeats, taken.repeat_changes, taken.left_out), (0, 0, 0, 0));
        assert_eq!(events(into), expected);
    }
    assert_eq!(std::fs::read(&old).unwrap(), bytes);
    // What is given in one of them afterwards comes into the others.
    let undone = here.write(|tx| {
        let questions = [1, 2, 3, 4].map(dissensus_domain::QuestionId);
        tx.undo(questions, AnnotatorId(3), 500, dissensus_domain::LabelSource::Window)
    });
    assert!(matches!(undone.unwrap(), dissensus_store::Undo::TakenBack(event) if event.occasion == 2));
    assert_eq!(there.merge_from(&here).unwrap().repeat_changes, 1);
    assert_eq!(counted(&there), counted(&here));
}

/// Adds answers of a pool of 48, with some of what happened to each, to a file of format 18.
fn add_some(path: &Path, rng: &mut ChaCha8Rng, share: f64) {
    let mut sql = String::new();
    for n in 0..48_u32 {
        if !rng.random_bool(share) {
            continue;
        }
        let (text, annotator, occasion) = (1 + n % 2, 1 + n / 2 % 2, 2 + n / 4 % 2);
        let (at_ms, level) = (500 + n / 8 % 2, n / 16);
        let key = format!(
            "1, {text}, {annotator}, {occasion}, {at_ms}, '{{\"kind\":\"level\",\"value\":{level}}}'"
        );
        let source = |rng: &mut ChaCha8Rng| if rng.random_bool(0.5) { "import" } else { "window" };
        sql += &format!("INSERT OR IGNORE INTO repeats VALUES ({key}, '{}');", source(rng));
        for change in 0..4 {
            if rng.random_bool(share / 2.0) {
                sql +=
                    &format!("INSERT INTO repeat_changes VALUES ({key}, {}, {});", 501 + change, change % 2);
            }
            if rng.random_bool(share / 4.0) {
                let (at_ms, sure) = (500 + change, n % 3);
                sql += &format!(
                    "INSERT INTO repeat_remarks VALUES ({key}, {at_ms}, 'note {change}', '[]', {sure}, x'');"
                );
            }
        }
        if rng.random_bool(share / 2.0) {
            let wording = if rng.random_bool(0.5) { "D91CA1D5E0EA1753178B654D13A83E9C" } else { "" };
            sql += &format!("INSERT INTO repeat_origins VALUES ({key}, '{}', x'{wording}');", source(rng));
        }
    }
    run(path, &format!("BEGIN; {sql} COMMIT;"));
}

#[test]
fn copies_of_format_18_merge_as_before() {
    for seed in 0..24 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.dissensus", "b.dissensus", "c.dissensus"].map(|name| of_18(folder.path(), name));
        let stores = files.each_ref().map(|file| {
            add_some(file, &mut rng, 0.4);
            let before = counted_in_18(file);
            let store = Store::open(file).unwrap();
            assert_eq!(counted(&store), before, "seed {seed}, {}", file.display());
            store.check_current_answers().unwrap();
            store
        });
        let [a, b, c] = &stores;
        for (into, from) in [(a, b), (c, a), (b, c), (a, c), (b, a), (c, b)] {
            assert_eq!(into.merge_from(from).unwrap().left_out, 0, "seed {seed}");
        }
        for other in [b, c] {
            assert_eq!(events(other), events(a), "seed {seed}");
            assert_eq!(counted(other), counted(a), "seed {seed}");
            other.check_current_answers().unwrap();
        }
        assert_eq!(a.merge_from(b).unwrap().repeats, 0);
    }
}

#[test]
fn withdrawals_hold_in_any_migration_order() {
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open(of_18(folder.path(), "here.dissensus")).unwrap();
    let there = Store::open(of_18(folder.path(), "there.dissensus")).unwrap();
    let of_cleo = |store: &Store| counted(store).iter().filter(|line| line[4..].starts_with("3 ")).count();
    assert_eq!((of_cleo(&here), of_cleo(&there)), (2, 2));
    // The ids of migrated re-annotations are hashes of them, which go with them.
    let of_content = |store: &Store| {
        let named = "FROM copies WHERE substr(hex(uid), 13, 1) = '5'";
        let without = "AND NOT EXISTS (SELECT 1 FROM events AS e WHERE e.copy = copies.id)";
        let sql = format!("SELECT (SELECT count(*) {named}) || ' ' || (SELECT count(*) {named} {without})");
        lines(store.file(), &sql).remove(0)
    };
    assert!(of_content(&here).ends_with(" 0") && !of_content(&here).starts_with("0 "));
    let before = of_content(&here);
    here.withdraw(AnnotatorId(3), 600).unwrap();
    assert!(of_content(&here) != before && of_content(&here).ends_with(" 0"), "{}", of_content(&here));
    assert_eq!(here.merge_from(&there).unwrap().repeats, 0);
    assert_eq!(of_cleo(&here), 0);
    there.merge_from(&here).unwrap();
    assert_eq!(of_content(&there), of_content(&here));
    assert_eq!(events(&there), events(&here));
}

#[test]
fn packet_of_format_17_has_the_same_work_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = kept("packet-17.dissensus", folder.path(), "p.dissensus");
    let sql = "UPDATE settings SET value = json_array((SELECT count(*) FROM events) - 1, (SELECT count(*) FROM repeats) - 1,
                   (SELECT count(*) FROM repeat_changes) + (SELECT count(*) FROM repeat_remarks)) WHERE key = 'handed-in'";
    run(&path, sql);
    let left = |store: &Store| {
        let (work, submitted) = (store.work_rows().unwrap(), store.submitted_rows().unwrap().unwrap());
        [0, 1, 2].map(|at| work[at] - submitted[at])
    };
    let store = Store::open(&path).unwrap();
    let facts = lines(
        &path,
        "SELECT CAST(count(*) AS TEXT) FROM facts WHERE kind IN ('shown', 'form-answers', 'practice-answer', 'left-out')",
    );
    assert_eq!(left(&store), [1, 1, facts[0].parse().unwrap()]);
}
