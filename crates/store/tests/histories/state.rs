//! The state that merged copies of a project must agree on. Levels have different row ids in each
//! copy, so everything that refers to a level is compared by the level's initial name, both in the
//! file and in what the store returns.

use dissensus_domain::{Answer, LevelId, Question};
use dissensus_store::Store;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::collections::{BTreeMap, BTreeSet};

/// The contents that copies must agree on: rows of every merged table, with names and ids in place
/// of row ids. In columns named `level`, `answer`, `content` and `value`, levels are row
/// ids of the question in the column `question`. Restored levels computed by a copy are omitted:
/// they follow from the rest, but the time of their computation does not.
const SAME_EVERYWHERE: [(&str, &str); 11] = [
    ("texts", "SELECT external_id, body, \"group\", split, metadata, noted_at_ms, coalesce(position, id), field_times FROM texts"),
    ("annotators", "SELECT external_id, name, attributes, simulated, coalesce(position, id) FROM annotators"),
    ("questions", "SELECT name, prompt, scale, noted_at_ms, coalesce(position, id) FROM questions"),
    ("levels", "SELECT q.name, l.name FROM levels l JOIN questions q ON q.id = l.question"),
    (
        "events",
        "SELECT c.uid, e.sequence, e.kind, q.name AS question, t.external_id, a.external_id, e.occasion, e.at_ms, e.duration_ms, e.source, e.level,
             e.content, rc.uid, r.sequence, e.note, e.reasons, e.confidence, g.uid, w.uid
         FROM events e JOIN copies c ON c.id = e.copy JOIN questions q ON q.id = e.question JOIN texts t ON t.id = e.text
         JOIN annotators a ON a.id = e.annotator LEFT JOIN events r ON r.id = e.replaces LEFT JOIN copies rc ON rc.id = r.copy
         LEFT JOIN guidelines g ON g.id = e.guideline LEFT JOIN wordings w ON w.id = e.wording",
    ),
    (
        "current_answers",
        "SELECT q.name AS question, t.external_id, a.external_id, n.occasion, c.uid, e.sequence, n.level, n.content
         FROM current_answers n JOIN questions q ON q.id = n.question JOIN texts t ON t.id = n.text JOIN annotators a ON a.id = n.annotator
         JOIN events e ON e.id = n.event JOIN copies c ON c.id = e.copy",
    ),
    ("guidelines", "SELECT uid, at_ms, body, change, written_by FROM guidelines"),
    ("packets", "SELECT p.uid, a.external_id, p.made_at_ms, p.seed, p.key FROM packets p JOIN annotators a ON a.id = p.annotator"),
    (
        "packet_questions",
        "SELECT p.uid, x.position, q.name FROM packet_questions x JOIN packets p ON p.id = x.packet JOIN questions q ON q.id = x.question",
    ),
    (
        "assignments",
        "SELECT p.uid, x.position, t.external_id, x.occasion, x.anchor FROM assignments x JOIN packets p ON p.id = x.packet
         JOIN texts t ON t.id = x.text",
    ),
    (
        "facts",
        "SELECT f.kind, q.name AS question, t.external_id, a.external_id, f.key, f.at_ms, f.value FROM facts f
         LEFT JOIN questions q ON q.id = f.question LEFT JOIN texts t ON t.id = f.text LEFT JOIN annotators a ON a.id = f.annotator
         WHERE json_extract(f.value, '$.back') IS NULL",
    ),
];

/// The contents of a project by kind, as sorted lines.
pub(crate) type State = BTreeMap<&'static str, Vec<String>>;

/// The initial names of levels, by the question's name and row id.
type Rows = BTreeMap<String, BTreeMap<u16, String>>;

/// Reads the contents of a project.
pub(crate) fn state(store: &Store) -> State {
    let conn = Connection::open(store.file()).unwrap();
    let mut rows = Rows::new();
    let sql = "SELECT q.name, l.level, l.name FROM levels l JOIN questions q ON q.id = l.question";
    for (question, row, key) in all(&conn, sql, |r| (text(r, 0), r.get::<_, u16>(1).unwrap(), text(r, 2))) {
        rows.entry(question).or_default().insert(row, key);
    }
    let mut found: State = SAME_EVERYWHERE
        .into_iter()
        .map(|(table, sql)| {
            let mut statement = conn.prepare(sql).unwrap();
            let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let line = |row: &Row<'_>| {
                let cells: Vec<String> =
                    columns.iter().enumerate().map(|(at, column)| cell(&rows, row, at, column)).collect();
                Ok(cells.join(" "))
            };
            (table, statement.query_map([], line).unwrap().map(Result::unwrap).collect())
        })
        .collect();
    found.extend(state_of_store(store, &conn));
    found.values_mut().for_each(|lines| lines.sort_unstable());
    found
}

fn all<T>(conn: &Connection, sql: &str, read: impl Fn(&Row<'_>) -> T) -> Vec<T> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| Ok(read(row))).unwrap().map(Result::unwrap).collect()
}

fn text(row: &Row<'_>, at: usize) -> String {
    row.get(at).unwrap()
}

/// A cell with the names of levels in place of their row ids.
fn cell(rows: &Rows, row: &Row<'_>, at: usize, column: &str) -> String {
    let raw = row.get_ref(at).unwrap();
    let key = |LevelId(level): LevelId| {
        let question: String = row.get("question").unwrap();
        rows[&question].get(&level).unwrap_or_else(|| panic!("no level {level} of {question}")).clone()
    };
    let json = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).unwrap();
    match (column, raw) {
        ("level", ValueRef::Integer(level)) => key(LevelId(u16::try_from(level).unwrap())),
        ("answer" | "content", ValueRef::Text(answer)) if !answer.is_empty() => {
            by_keys(&serde_json::from_slice(answer).unwrap(), key)
        }
        ("value", ValueRef::Text(value)) => {
            let mut value = json(value);
            let kind: String = row.get("kind").unwrap();
            if let (true, Some(level)) = (kind == "harmful", value.as_u64()) {
                return key(LevelId(u16::try_from(level).unwrap()));
            }
            if let Some(answer) = value.get_mut("answer").filter(|answer| !answer.is_null()) {
                let named = by_keys(&serde_json::from_value(answer.clone()).unwrap(), key);
                *answer = named.into();
            }
            value.to_string()
        }
        _ => format!("{raw:?}"),
    }
}

/// An answer with names for its levels.
pub(crate) fn by_keys(answer: &Answer, key: impl Fn(LevelId) -> String) -> String {
    let mut named: Vec<String> = match answer {
        Answer::CannotSay => return "cannot say".to_owned(),
        Answer::Level(level) => return key(*level),
        Answer::Options(set) => set.iter().map(|option| key(LevelId(option.into()))).collect(),
        Answer::Spans(spans) => spans
            .as_slice()
            .iter()
            .map(|span| format!("{}-{} {}", span.start, span.end, key(span.kind)))
            .collect(),
    };
    named.sort_unstable();
    format!("{named:?}")
}

/// What the store returns: current values.
fn state_of_store(store: &Store, conn: &Connection) -> State {
    let external = |table: &str| -> BTreeMap<u32, String> {
        let sql = format!("SELECT id, external_id FROM {table}");
        all(conn, &sql, |r| (r.get(0).unwrap(), text(r, 1))).into_iter().collect()
    };
    let (texts, people) = (external("texts"), external("annotators"));
    let questions = store.questions().unwrap();
    let keys: BTreeMap<u32, Vec<String>> =
        questions.iter().map(|q| (q.id.0, store.keys_by_id(q.id).unwrap())).collect();
    let name = |id: u32| &questions.iter().find(|question| question.id.0 == id).unwrap().name;
    let named =
        |question: u32, answer: &Answer| by_keys(answer, |id| keys[&question][usize::from(id.0)].clone());
    let asked = |question: &Question| {
        let Question { name: asked, prompt, help, scale, cannot_say, only_if, note_form, .. } = question;
        let ids = scale.ids().iter();
        let levels: Vec<(&String, &String, &str)> = ids
            .zip(scale.levels())
            .map(|(id, name)| (&keys[&question.id.0][usize::from(id.0)], name, question.definition(*id)))
            .collect();
        let only_if = only_if.as_ref().map(|only_if| {
            let other = only_if.question.0;
            let levels = only_if.levels.iter().map(|id| &keys[&other][usize::from(id.0)]);
            (name(other), levels.collect::<BTreeSet<_>>())
        });
        format!("{asked} {prompt} {help:?} {levels:?} {cannot_say} {only_if:?} {note_form:?}")
    };
    let mut found: State = [("what is asked", questions.iter().map(asked).collect())].into();
    let edits = |question: &Question| {
        let versions = store.question_versions(question.id).unwrap();
        versions.iter().map(|version| format!("{} {version:?}", question.name)).collect::<Vec<_>>()
    };
    found.insert("edits of questions", questions.iter().flat_map(edits).collect());
    let wordings = store.wordings().unwrap();
    found.insert("wordings", wordings.iter().map(|version| format!("{version:?}")).collect());
    let mut labels = Vec::new();
    let (mut repeats, mut decisions) = (Vec::new(), Vec::new());
    for question in &questions {
        let id = question.id;
        for label in store.current_labels(id).unwrap() {
            let (text, who) = (&texts[&label.text.0], &people[&label.annotator.0]);
            labels.push(format!("{} {text} {who} {}", question.name, named(id.0, &label.answer)));
        }
        for repeat in store.repeats(id).unwrap() {
            let (text, who) = (&texts[&repeat.text.0], &people[&repeat.annotator.0]);
            let answer = named(id.0, &repeat.answer);
            repeats.push(format!(
                "{} {text} {who} {} {answer} {:?}",
                question.name, repeat.occasion, repeat.details
            ));
        }
        let mut of_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for decision in store.decisions(id).unwrap() {
            let answer = decision.answer.as_ref().map(|answer| named(id.0, answer));
            of_text.entry(&texts[&decision.text.0]).or_default().push(format!(
                "{} {answer:?} {} {} {}",
                decision.at_ms, decision.outcome, decision.comment, decision.by
            ));
        }
        decisions.extend(
            of_text.into_iter().map(|(text, in_order)| format!("{} {text} {in_order:?}", question.name)),
        );
    }
    found.extend([("labels", labels), ("repeats that count", repeats), ("decisions in order", decisions)]);
    let checks = store.attention_checks().unwrap();
    let check = checks.iter().map(|check| {
        let answer = check.answer.as_ref().map(|answer| named(check.question.0, answer));
        format!("{} {} {answer:?} {}", name(check.question.0), texts[&check.text.0], check.reason)
    });
    found.insert("checks that hold", check.collect());
    let practice = store.practice().unwrap();
    let right = practice.texts.iter().map(|one| {
        let answer = named(one.question.0, &one.answer);
        format!("{} {} {answer} {}", name(one.question.0), texts[&one.text.0], one.reason)
    });
    let given = practice.answers.iter().map(|one| {
        let (text, who) = (&texts[&one.text.0], &people[&one.annotator.0]);
        format!("{} {text} {who} {} {}", name(one.question.0), one.round, named(one.question.0, &one.answer))
    });
    found.insert("practice that holds", right.chain(given).collect());
    let harmful = store.harmful_levels().unwrap();
    let harmful = harmful.iter().map(|(question, place)| {
        format!("{} {}", name(question.0), named(question.0, &Answer::Level(*place)))
    });
    found.insert("what is harmful", harmful.collect());
    found
}

/// The difference between two projects.
pub(crate) fn difference(one: &State, other: &State) -> Option<String> {
    let what = one.keys().find(|what| one[*what] != other[*what])?;
    let only = |a: &State, b: &State| -> Vec<String> {
        a[*what].iter().filter(|line| !b[*what].contains(line)).cloned().collect()
    };
    Some(format!("{what}: here {:#?}, there {:#?}", only(one, other), only(other, one)))
}
