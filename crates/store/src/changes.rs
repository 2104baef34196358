//! What differs between an earlier state of a project and this one, from the events and facts of both files.

use crate::recorded_events::{REMOVED, highest};
use crate::tx::all;
use crate::{Result, Store};
use dissensus_domain::{Fact, FactKind};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use uuid::Uuid;

/// Tables whose rows are counted by [`Store::content_stamp`]. None of them changes by looking at a project.
const STAMPED: [&str; 9] =
    ["events", "facts", "texts", "annotators", "questions", "guidelines", "packets", "runs", "copies"];

/// Columns that change in existing rows, and what was recorded last. All are hashed by
/// [`Store::content_stamp`].
const CHANGING: [&str; 6] = [
    "SELECT noted_at_ms, field_times, \"group\", split, metadata FROM texts ORDER BY id",
    "SELECT name, attributes, simulated FROM annotators ORDER BY id",
    "SELECT prompt, noted_at_ms FROM questions ORDER BY id",
    "SELECT coalesce(ended_ms, 0) FROM runs ORDER BY id",
    "SELECT c.uid, e.sequence FROM events AS e JOIN copies AS c ON c.id = e.copy ORDER BY e.id DESC LIMIT 1",
    "SELECT kind, key, at_ms, value FROM facts ORDER BY id DESC LIMIT 1",
];

/// What differs between an earlier state of a project and this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Answers, by annotator and question; only those with a difference.
    pub answers: Vec<AnswerChanges>,
    /// Skips, flags and notes that were added.
    pub marks: u32,
    pub texts_added: u32,
    pub texts_removed: u32,
    pub people_added: u32,
    pub people_removed: u32,
    /// People with a new name or a new value of an attribute.
    pub people_changed: u32,
    /// People who withdrew since.
    pub people_withdrawn: u32,
    pub questions_added: u32,
    pub questions_removed: u32,
    /// Questions with a new wording, other levels or other settings.
    pub questions_changed: u32,
    /// Versions of the guideline that were added.
    pub guidelines: u32,
    /// Task packets that were handed out.
    pub packets: u32,
    /// Everything else that was recorded: settings of the study, decisions, attention checks, panels.
    pub other: u32,
}

/// How the current answers of one annotator to one question differ, in all annotation rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerChanges {
    pub annotator: String,
    pub question: String,
    /// Answered now, and not in the earlier state.
    pub added: u32,
    /// Answered again since.
    pub changed: u32,
    /// Taken back since, or removed with an import.
    pub withdrawn: u32,
    /// Answers of the earlier state that were never known here: an older file has replaced a newer one.
    pub missing: u32,
}

/// An event in any file: its copy and sequence number.
type Identity = (Uuid, u32);

/// Names of rows, by row id.
#[derive(Default)]
struct Names {
    questions: HashMap<u32, String>,
    texts: HashMap<u32, String>,
    /// External ids, which identify people, each with the name that is shown.
    annotators: HashMap<u32, (String, String)>,
}

/// One state of a project, in terms that are the same in all files.
struct State {
    names: Names,
    /// The highest sequence number of each copy, also of events that were removed with an import.
    highest: HashMap<Uuid, u32>,
    guidelines: HashSet<Uuid>,
    packets: HashSet<Uuid>,
    facts: Vec<Fact>,
}

impl Store {
    /// A short text that differs between two states with different contents, except for settings of the
    /// window and derived data. Reads what is recorded about texts, people and questions; of labels it scans
    /// indexes only.
    pub fn content_stamp(&self) -> Result<String> {
        self.read("counting what the project contains", |c| {
            let counts = STAMPED.iter().map(|table| {
                c.query_row(&format!("SELECT count(*), coalesce(max(id), 0) FROM {table}"), [], |r| {
                    Ok(format!("{}.{}", r.get::<_, i64>(0)?, r.get::<_, i64>(1)?))
                })
            });
            let mut hasher = DefaultHasher::new();
            for (number, sql) in CHANGING.iter().enumerate() {
                number.hash(&mut hasher);
                let mut statement = c.prepare_cached(sql)?;
                let columns = statement.column_count();
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    for column in 0..columns {
                        match row.get::<_, Value>(column)? {
                            Value::Null => 0_u8.hash(&mut hasher),
                            Value::Integer(number) => number.hash(&mut hasher),
                            Value::Real(number) => number.to_bits().hash(&mut hasher),
                            Value::Text(text) => text.hash(&mut hasher),
                            Value::Blob(bytes) => bytes.hash(&mut hasher),
                        }
                    }
                }
            }
            let counts = counts.collect::<rusqlite::Result<Vec<_>>>()?.join("-");
            Ok(format!("{counts}-{:016x}", hasher.finish()))
        })
    }

    /// What changed between `earlier`, another file of this project, and this one. Reads both tables of
    /// current answers.
    pub fn changes_since(&self, earlier: &Self) -> Result<Changes> {
        let (before, now) = (State::read(earlier)?, State::read(self)?);
        let mut found =
            Changes { answers: answer_changes(self, &now, earlier, &before)?, ..Changes::default() };
        found.marks = self.read("counting skips, flags and notes", |c| {
            let sql = "SELECT c.uid, e.sequence FROM events AS e JOIN copies AS c ON c.id = e.copy
                       WHERE e.kind NOT IN ('answer', 'retraction')";
            let marks = all(c, sql, [], |r| Ok((r.get(0)?, r.get(1)?)))?;
            Ok(counted(marks.iter().filter(|event| !before.knows(event)).count()))
        })?;
        fn difference<'a, T: Eq + Hash + 'a>(
            these: impl Iterator<Item = &'a T>,
            others: impl Iterator<Item = &'a T>,
        ) -> u32 {
            let others: HashSet<&T> = others.collect();
            counted(these.filter(|one| !others.contains(one)).count())
        }
        let texts = |state: &State| state.names.texts.values().cloned().collect::<HashSet<_>>();
        let people =
            |state: &State| state.names.annotators.values().map(|(id, _)| id.clone()).collect::<HashSet<_>>();
        let questions = |state: &State| state.names.questions.values().cloned().collect::<HashSet<_>>();
        let both = |of: &dyn Fn(&State) -> HashSet<String>| {
            let (old, new) = (of(&before), of(&now));
            (difference(new.iter(), old.iter()), difference(old.iter(), new.iter()))
        };
        (found.texts_added, found.texts_removed) = both(&texts);
        (found.people_added, found.people_removed) = both(&people);
        (found.questions_added, found.questions_removed) = both(&questions);
        found.guidelines = difference(now.guidelines.iter(), before.guidelines.iter());
        found.packets = difference(now.packets.iter(), before.packets.iter());
        count_facts(&mut found, &before, &now);
        // Everybody who withdrew is missing among the people too.
        found.people_removed = found.people_removed.saturating_sub(found.people_withdrawn);
        Ok(found)
    }

    /// Erases everybody who withdrew in `other`, a file of the same project, as a merge with it would, and
    /// merges nothing else. [`Store::clean_after_erasing`] must follow.
    pub fn erase_withdrawn_in(&self, other: &Self) -> Result<()> {
        let mut facts = other.every_fact()?;
        facts.retain(|fact| {
            use FactKind::{Withdrawal, WithdrawnName, WithdrawnPacket};
            matches!(fact.kind, Withdrawal | WithdrawnName | WithdrawnPacket)
        });
        self.write(move |tx| tx.add_withdrawals(&facts).map(drop))
    }
}

impl State {
    fn read(store: &Store) -> Result<Self> {
        let facts = store.every_fact()?;
        let removed: BTreeMap<Uuid, u32> = store.setting(REMOVED)?.unwrap_or_default();
        store.read("comparing with an earlier state", |c| {
            let pairs = |sql| all(c, sql, [], |r| Ok((r.get::<_, u32>(0)?, r.get::<_, String>(1)?)));
            let uids = |sql| all(c, sql, [], |r| r.get::<_, Uuid>(0));
            let people = all(c, "SELECT id, external_id, name FROM annotators", [], |r| {
                Ok((r.get(0)?, (r.get(1)?, r.get(2)?)))
            })?;
            let names = Names {
                questions: pairs("SELECT id, name FROM questions")?.into_iter().collect(),
                texts: pairs("SELECT id, external_id FROM texts")?.into_iter().collect(),
                annotators: people.into_iter().collect(),
            };
            let mut highest = highest(c)?;
            for (copy, sequence) in removed {
                let known = highest.entry(copy).or_default();
                *known = sequence.max(*known);
            }
            Ok(Self {
                names,
                highest,
                guidelines: uids("SELECT uid FROM guidelines")?.into_iter().collect(),
                packets: uids("SELECT uid FROM packets")?.into_iter().collect(),
                facts,
            })
        })
    }

    /// Whether an event is or was in this state: those of one copy are appended in order.
    fn knows(&self, (copy, sequence): &Identity) -> bool {
        self.highest.get(copy).is_some_and(|highest| sequence <= highest)
    }

    /// A hash of a fact that is the same in all files.
    fn hash(&self, fact: &Fact) -> u64 {
        let mut hasher = DefaultHasher::new();
        fact.kind.hash(&mut hasher);
        fact.question.and_then(|id| self.names.questions.get(&id.0)).hash(&mut hasher);
        fact.text.and_then(|id| self.names.texts.get(&id.0)).hash(&mut hasher);
        fact.annotator.and_then(|id| self.names.annotators.get(&id.0)).map(|(id, _)| id).hash(&mut hasher);
        (&fact.key, fact.at_ms, fact.value.to_string()).hash(&mut hasher);
        hasher.finish()
    }
}

/// Counts facts that the earlier state does not have.
fn count_facts(found: &mut Changes, before: &State, now: &State) {
    let known: HashSet<u64> = before.facts.iter().map(|fact| before.hash(fact)).collect();
    let (mut questions, mut people, mut withdrawn) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for fact in now.facts.iter().filter(|fact| !known.contains(&now.hash(fact))) {
        match fact.kind {
            kind if kind.is_of_question() => questions.extend(fact.question),
            FactKind::AnnotatorName | FactKind::AnnotatorAttribute => people.extend(fact.annotator),
            FactKind::Withdrawal => withdrawn.extend(fact.key.clone()),
            FactKind::WithdrawnName | FactKind::WithdrawnPacket | FactKind::Shown | FactKind::LeftOut => {}
            _ => found.other += 1,
        }
    }
    // What was added together with a question or a person is no change of it.
    let old_questions: HashSet<&String> = before.names.questions.values().collect();
    let old_people: HashSet<&String> = before.names.annotators.values().map(|(id, _)| id).collect();
    let was = |id: &u32| now.names.questions.get(id).is_some_and(|name| old_questions.contains(name));
    let was_there = |id: &u32| now.names.annotators.get(id).is_some_and(|(id, _)| old_people.contains(id));
    found.questions_changed = counted(questions.iter().filter(|id| was(&id.0)).count());
    found.people_changed = counted(people.iter().filter(|id| was_there(&id.0)).count());
    found.people_withdrawn = counted(withdrawn.len());
}

/// Question, text, annotator and annotation round of an answer, in row ids of one file.
type Key = (u32, u32, u32, u16);

/// Calls `each` with every current answer and the event that gave it.
fn each_answer(c: &Connection, mut each: impl FnMut(Key, Identity)) -> rusqlite::Result<()> {
    let mut statement = c.prepare_cached(
        "SELECT a.question, a.text, a.annotator, a.occasion, c.uid, e.sequence
         FROM current_answers AS a CROSS JOIN events AS e ON e.id = a.event CROSS JOIN copies AS c ON c.id = e.copy",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?), (row.get(4)?, row.get(5)?));
    }
    Ok(())
}

fn answer_changes(ours: &Store, now: &State, earlier: &Store, before: &State) -> Result<Vec<AnswerChanges>> {
    fn rows<'a>(names: impl Iterator<Item = (&'a u32, &'a String)>) -> HashMap<&'a str, u32> {
        names.map(|(row, name)| (name.as_str(), *row)).collect()
    }
    let questions = rows(now.names.questions.iter());
    let texts = rows(now.names.texts.iter());
    let people = rows(now.names.annotators.iter().map(|(row, (id, _))| (row, id)));
    // By our rows, and what has none here by its own.
    let here = |(question, text, annotator, occasion): Key| {
        let question = questions.get(before.names.questions.get(&question)?.as_str())?;
        let text = texts.get(before.names.texts.get(&text)?.as_str())?;
        let annotator = people.get(before.names.annotators.get(&annotator)?.0.as_str())?;
        Some((*question, *text, *annotator, occasion))
    };
    let mut changes: BTreeMap<(String, String), AnswerChanges> = BTreeMap::new();
    let mut at = |names: &Names, key: Key, count: fn(&mut AnswerChanges)| {
        let annotator = names.annotators.get(&key.2).map(|(_, name)| name.clone()).unwrap_or_default();
        let question = names.questions.get(&key.0).cloned().unwrap_or_default();
        let one = changes.entry((question.clone(), annotator.clone())).or_insert_with(|| AnswerChanges {
            annotator,
            question,
            ..AnswerChanges::default()
        });
        count(one);
    };
    let mut old: HashMap<Key, (Key, Identity)> = HashMap::new();
    let mut gone: Vec<(Key, Identity)> = Vec::new();
    earlier.read("comparing the answers", |c| {
        each_answer(c, |key, event| match here(key) {
            Some(ours) => drop(old.insert(ours, (key, event))),
            None => gone.push((key, event)),
        })
    })?;
    ours.read("comparing the answers", |c| {
        each_answer(c, |key, event| match old.remove(&key) {
            None => at(&now.names, key, |one| one.added += 1),
            Some((_, old)) if old == event => {}
            Some((_, old)) if now.knows(&old) => at(&now.names, key, |one| one.changed += 1),
            Some(_) => at(&now.names, key, |one| one.missing += 1),
        })
    })?;
    gone.extend(old.into_values());
    for (key, event) in gone {
        match now.knows(&event) {
            true => at(&before.names, key, |one| one.withdrawn += 1),
            false => at(&before.names, key, |one| one.missing += 1),
        }
    }
    Ok(changes.into_values().collect())
}

fn counted(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
