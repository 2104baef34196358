//! Facts: the latest is in effect, copies agree on them, task packets contain the study's settings,
//! and an annotator's own records are included.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::{QUESTION, label, small};
use dissensus_domain::{
    AnnotatorId, Assignment, Fact, FactKind, FormAnswers, Packet, PacketId, QuestionId, TextId,
};
use dissensus_store::{CopyTarget, LARGEST_FACT, PacketKey, Store, StoreError};
use serde_json::{Value, json};
use std::path::Path;
use uuid::Uuid;

fn reveal(at_ms: i64, value: impl Into<Value>) -> Fact {
    Fact::of_project(FactKind::Reveal, at_ms, value)
}

fn shown(text: u32, annotator: u32, at_ms: i64) -> Fact {
    Fact {
        question: Some(QUESTION),
        text: Some(TextId(text)),
        annotator: Some(AnnotatorId(annotator)),
        ..Fact::of_project(FactKind::Shown, at_ms, json!("answers"))
    }
}

fn set(store: &Store, fact: Fact) -> Result<bool, StoreError> {
    store.write(move |tx| tx.set_fact(&fact))
}

fn note(store: &Store, fact: Fact) {
    store.write(move |tx| tx.note_fact(&fact)).unwrap();
}

fn holds(store: &Store) -> Option<Value> {
    store.fact(FactKind::Reveal, None, None, None).unwrap().map(|fact| fact.value)
}

/// Annotators and times of texts that were shown.
fn times(store: &Store) -> Vec<(u32, i64)> {
    let all = store.all_facts(FactKind::Shown).unwrap();
    all.iter().map(|fact| (fact.annotator.unwrap().0, fact.at_ms)).collect()
}

fn copied(store: &Store, to: &Path) -> Store {
    store.copy_to(to, CopyTarget::New, |_, _| std::ops::ControlFlow::Continue(())).unwrap();
    Store::open(to).unwrap()
}

#[test]
fn latest_fact_is_current_despite_clocks() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 2, 2);
    assert_eq!(holds(&store), None);
    assert!(!set(&store, reveal(1, Value::Null)).unwrap(), "nothing holds already");
    assert!(set(&store, reveal(1_000, true)).unwrap());
    assert!(!set(&store, reveal(2_000, true)).unwrap(), "it holds already");
    // The clock was set back.
    assert!(set(&store, reveal(5, false)).unwrap());
    assert_eq!(holds(&store), Some(Value::Bool(false)));
    assert!(set(&store, reveal(6, Value::Null)).unwrap());
    assert_eq!((holds(&store), store.facts(FactKind::Reveal).unwrap()), (None, Vec::new()));
    let at: Vec<i64> = store.all_facts(FactKind::Reveal).unwrap().iter().map(|fact| fact.at_ms).collect();
    assert_eq!(at, [1_000, 1_001, 1_002]);

    // Every occurrence is recorded, even within a millisecond.
    note(&store, shown(1, 1, 7));
    note(&store, shown(1, 1, 7));
    note(&store, shown(1, 2, 7));
    assert_eq!(times(&store), [(1, 7), (1, 8), (2, 7)]);
    assert_eq!(store.facts(FactKind::Shown).unwrap().len(), 2);
}

#[test]
fn facts_of_unknown_subjects_or_size_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = small(&folder.path().join("p.dissensus"), 1, 1);
    let code = |fact| set(&store, fact).unwrap_err().code();
    assert_eq!(code(shown(9, 1, 1)), "unknown");
    assert_eq!(code(shown(1, 9, 1)), "unknown");
    assert_eq!(code(Fact { question: Some(QuestionId(9)), ..shown(1, 1, 1) }), "unknown");
    assert_eq!(code(reveal(1, "x".repeat(LARGEST_FACT))), "invalid");
    assert_eq!(store.all_facts(FactKind::Shown).unwrap(), Vec::new());
}

#[test]
fn facts_merge_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let a = small(&at("a.dissensus"), 2, 2);
    let b = copied(&a, &at("b.dissensus"));
    // At the same time in both: the value decides, so that both agree.
    set(&a, reveal(10, true)).unwrap();
    set(&b, reveal(10, false)).unwrap();
    note(&a, shown(1, 1, 20));
    note(&b, shown(2, 1, 20));
    assert_eq!(a.merge_from(&b).unwrap().facts, 2);
    assert_eq!(a.merge_from(&b).unwrap().facts, 0, "twice is once");
    assert_eq!(b.merge_from(&a).unwrap().facts, 2);
    for kind in [FactKind::Reveal, FactKind::Shown] {
        assert_eq!(a.all_facts(kind).unwrap(), b.all_facts(kind).unwrap());
    }
    assert_eq!((holds(&a), holds(&b)), (Some(Value::Bool(true)), Some(Value::Bool(true))));

    // Withdrawing removes an annotator's records, in every copy.
    a.append_label(&label(1, 1, 2)).unwrap();
    a.withdraw(AnnotatorId(1), 30).unwrap();
    assert_eq!((times(&a), times(&b).len()), (Vec::new(), 2));
    assert_eq!(a.merge_from(&b).unwrap().facts, 0);
    b.merge_from(&a).unwrap();
    assert_eq!((times(&a), times(&b)), (Vec::new(), Vec::new()));
    assert_eq!(holds(&b), Some(Value::Bool(true)), "what the study sets stays");
}

#[test]
fn form_answers_of_copies_merge() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let a = small(&at("a.dissensus"), 1, 1);
    let b = copied(&a, &at("b.dissensus"));
    let say = |store: &Store, attribute: &str, value: Option<&str>, at_ms| {
        let answers = FormAnswers([(attribute.to_owned(), value.map(str::to_owned))].into());
        store.write(move |tx| tx.answer_form(AnnotatorId(1), &answers, at_ms)).unwrap();
    };
    // One copy has no gender; the other one, later, has an age.
    say(&a, "gender", None, 10);
    say(&b, "age", Some("45-49"), 20);
    a.merge_from(&b).unwrap();
    b.merge_from(&a).unwrap();
    for store in [&a, &b] {
        let known = store.form_answers(AnnotatorId(1)).unwrap();
        assert_eq!(known.0.len(), 2, "nobody is asked again for what they would not say");
        assert_eq!((known.0["gender"].as_deref(), known.0["age"].as_deref()), (None, Some("45-49")));
    }
    // The latest answer is in effect, also after merging.
    say(&b, "gender", Some("woman"), 30);
    a.merge_from(&b).unwrap();
    assert_eq!(a.form_answers(AnnotatorId(1)).unwrap().0["gender"].as_deref(), Some("woman"));
}

#[test]
fn packets_carry_settings_and_submit_own_facts() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let id = PacketId(Uuid::from_u128(7));
    let store = small(&at("p.dissensus"), 3, 2);
    set(&store, reveal(1, false)).unwrap();
    set(&store, reveal(2, true)).unwrap();
    note(&store, shown(1, 1, 3));
    // All earlier practice answers of the packet's annotator are included, and none of others.
    for (annotator, round) in [(2, 1), (2, 2), (1, 1)] {
        let value = json!({"round": round, "answer": {"level": 1}, "last": false});
        note(&store, Fact { kind: FactKind::PracticeAnswer, value, ..shown(1, annotator, 4) });
    }
    let item = Assignment { text: TextId(1), occasion: 1, anchor: false };
    let packet = Packet {
        id,
        annotator: AnnotatorId(2),
        made_at_ms: 5,
        seed: 1,
        questions: vec![QUESTION],
        assignments: vec![item],
    };
    store.write(move |tx| tx.add_packet(&packet, &PacketKey([9; 32]))).unwrap();
    store.write_packet(id, at("a2.dissensus")).unwrap();

    let file = Store::open(at("a2.dissensus")).unwrap();
    assert_eq!(file.all_facts(FactKind::Reveal).unwrap(), [reveal(2, true)], "what held before stays out");
    assert_eq!(times(&file), [], "and what was noted of others");
    assert_eq!(file.all_facts(FactKind::PracticeAnswer).unwrap().len(), 2);
    note(&file, shown(1, 1, 50));
    assert_eq!(store.merge_packet(&file, id).unwrap().facts, 1);
    assert_eq!(times(&store), [(1, 3), (2, 50)]);
    assert_eq!(store.merge_packet(&file, id).unwrap().facts, 0);

    // A submission cannot change settings.
    set(&file, reveal(60, false)).unwrap();
    assert_eq!(store.merge_packet(&file, id).unwrap_err().code(), "copies-conflict");
    assert_eq!(holds(&store), Some(Value::Bool(true)));
}

#[test]
fn facts_are_append_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 1, 1);
    set(&store, reveal(1, true)).unwrap();
    store.close().unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    for sql in ["UPDATE facts SET value = 'false'", "DELETE FROM facts"] {
        assert!(raw.execute(sql, []).unwrap_err().to_string().contains("facts are added"), "{sql}");
    }
}

/// Facts that this program never writes: question, text, annotator, key and value.
const MALFORMED: [(&str, &str); 24] = [
    ("decision", r#"1, 1, NULL, NULL, '{"answer":null}'"#),
    ("decision", r#"1, 1, NULL, NULL, '{"answer":null,"by":null,"comment":"","outcome":"slip"}'"#),
    ("decision", r#"1, 1, NULL, NULL, '[null,"somebody","","slip"]'"#),
    ("decision", r#"1, NULL, NULL, NULL, '{"answer":null,"by":"","comment":"","outcome":"slip"}'"#),
    ("decision", r#"1, 1, 1, NULL, '{"answer":null,"by":"","comment":"","outcome":"slip"}'"#),
    ("decision", r#"1, 1, NULL, 'key', '{"answer":null,"by":"","comment":"","outcome":"slip"}'"#),
    ("attention-check", r#"1, 1, NULL, NULL, '{"answer":null}'"#),
    ("condition", r#"1, NULL, NULL, NULL, '[[],"rude"]'"#),
    ("condition", r#"1, 1, NULL, NULL, '{"levels":[],"question":"rude"}'"#),
    ("remark-form", r#"1, NULL, NULL, NULL, '[true,[]]'"#),
    ("annotator-name", r#"NULL, NULL, 1, NULL, '1'"#),
    ("annotator-name", r#"NULL, NULL, 1, 'key', '"name"'"#),
    ("annotator-attribute", r#"NULL, NULL, 1, NULL, '"value"'"#),
    ("annotator-attribute", r#"NULL, NULL, 1, printf('%.*c', 100000, 'k'), '"value"'"#),
    ("panel", r#"NULL, NULL, NULL, '', 'null'"#),
    ("panel", r#"NULL, NULL, NULL, NULL, 'null'"#),
    ("panel", r#"NULL, NULL, NULL, 'few', '{"members":1}'"#),
    ("hand-in", r#"NULL, NULL, 1, 'packet', '1'"#),
    ("withdrawal", r#"NULL, NULL, NULL, 'ab', '"00000000-0000-0000-0000-000000000000"'"#),
    (
        "withdrawal",
        r#"NULL, NULL, NULL, hex(zeroblob(31)) || 'AB', '"00000000-0000-0000-0000-000000000000"'"#,
    ),
    ("withdrawal", r#"NULL, NULL, NULL, hex(zeroblob(32)), '"nowhere"'"#),
    ("withdrawal", r#"1, NULL, NULL, hex(zeroblob(32)), '"00000000-0000-0000-0000-000000000000"'"#),
    // Settings with a key would be compared with those without.
    ("reveal", "NULL, NULL, NULL, 'key', 'true'"),
    ("care", "NULL, NULL, NULL, 'key', '{}'"),
];

#[test]
fn copy_with_an_invalid_fact_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    small(&path, 2, 2).close().unwrap();
    for (kind, row) in MALFORMED {
        let other = crate::common::copied(&path, "other.dissensus");
        let conn = rusqlite::Connection::open(&other).unwrap();
        let sql = format!(
            "INSERT INTO facts (kind, at_ms, question, text, annotator, key, value) VALUES ('{kind}', 5, {row})"
        );
        conn.execute(&sql, []).unwrap();
        drop(conn);
        let (store, from) = (Store::open(&path).unwrap(), Store::open_reader(&other).unwrap());
        let refused = store.merge_from(&from).map(drop).unwrap_err();
        assert!(matches!(refused.code(), "invalid" | "copies-conflict"), "{kind} {row}: {refused:?}");
        from.close().unwrap();
        store.close().unwrap();
    }
}

#[test]
fn withdrawal_facts_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    small(&path, 2, 2).close().unwrap();
    let hash = "0".repeat(64);
    for (kind, key, value, right) in [
        ("withdrawn-name", hash.as_str(), hash.as_str(), true),
        ("withdrawn-name", "name", &hash, false),
        ("withdrawn-name", &hash, "person", false),
        ("withdrawn-packet", "00000000-0000-0000-0000-00000000000a", &hash, true),
        ("withdrawn-packet", "00000000-0000-0000-0000-00000000000A", &hash, false),
        ("withdrawn-packet", "0000000000000000000000000000000a", &hash, false),
        ("withdrawn-packet", "00000000-0000-0000-0000-00000000000a", "person", false),
    ] {
        let other = crate::common::copied(&path, "other.dissensus");
        let conn = rusqlite::Connection::open(&other).unwrap();
        let copy = "\"00000000-0000-0000-0000-000000000000\"";
        let sql = "INSERT INTO facts (kind, key, at_ms, value) VALUES (?1, ?2, 0, ?3)";
        conn.execute(sql, ("withdrawal", &hash, copy)).unwrap();
        conn.execute(sql, (kind, key, format!("\"{value}\""))).unwrap();
        drop(conn);
        let (store, from) = (Store::open(&path).unwrap(), Store::open_reader(&other).unwrap());
        let taken = store.merge_from(&from).map(|taken| taken.withdrawn).map_err(|e| e.code());
        assert_eq!(taken, if right { Ok(1) } else { Err("invalid") }, "{kind} {key} {value}");
        from.close().unwrap();
        store.close().unwrap();
        if right {
            std::fs::remove_file(&path).unwrap();
            small(&path, 2, 2).close().unwrap();
        }
    }
}
