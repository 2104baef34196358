//! Determines whose file is about to be merged, and what merging it would change.

use crate::identity::{is_of_content, project_id};
use crate::log::{Hashes, name_hash, select, that_hold};
use crate::migrate::back_up;
use crate::questions::by_name;
use crate::row::uid;
use crate::tx::{all, first};
use crate::{MergedCounts, Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    AnnotatorId, CopyId, Event, FIRST_OCCASION, FactKind, PacketId, Question, QuestionId, Silent, TextId,
    current_answer, marks,
};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use strum::VariantArray as _;
use uuid::Uuid;

/// The setting with the secret that is created together with a project. All whole copies share it;
/// a task packet gets its own.
const SECRET: &str = "pseudonym-key";

/// Number of changed answers listed per annotator.
const NAMED: usize = 5;

/// What merging a file would add to a project and change in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeEffect {
    /// Numbers of new answers, by annotator.
    pub answers: Vec<AnswersOf>,
    /// External ids of new annotators.
    pub new_people: Vec<String>,
    /// Names of new questions.
    pub new_questions: Vec<String>,
    /// External ids of annotators of this project who would be erased, because they withdrew.
    pub erased: Vec<String>,
    /// Current answers that would no longer count, because another answer (even an equal one) or
    /// none would; also answers whose note would change, and flags that would be cancelled.
    pub changed_answers: u32,
    /// The first of these.
    pub changed: Vec<ChangedAnswer>,
    /// Re-annotations that count and would no longer count, or would have a different note.
    pub changed_repeats: u32,
    /// Annotators whose name or attributes would change.
    pub changed_people: Vec<String>,
    /// Questions whose prompt, help, levels or condition would change.
    pub changed_questions: Vec<String>,
    /// Names under which annotators of this project decided or wrote something, and task packets of
    /// this project, that would be treated as those of an annotator who withdrew.
    pub withdrawn_traces: u32,
    /// Study settings that would change: practice, forms, limits, what is shown.
    pub study_settings: u32,
    /// Counts of what would be merged.
    pub taken: MergedCounts,
}

/// Number of answers of one annotator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswersOf {
    /// External id.
    pub annotator: String,
    pub answers: u32,
}

/// An answer that would no longer count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedAnswer {
    /// External id of the annotator.
    pub annotator: String,
    /// External id of the text.
    pub text: String,
    /// Name of the question.
    pub question: String,
}

impl MergeEffect {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        let MergedCounts { known, passed_over, left_out, ref left_out_about, .. } = self.taken;
        let left_out_about = left_out_about.clone();
        let nothing =
            MergedCounts { known, passed_over, left_out, left_out_about, ..MergedCounts::default() };
        self.withdrawn_traces == 0 && self.taken == nothing
    }

    /// Whether it only adds: nothing is erased, and nothing in effect is replaced.
    pub fn only_adds(&self) -> bool {
        let taken = &self.taken;
        self.erased.is_empty()
            && self.changed_people.is_empty()
            && self.changed_questions.is_empty()
            && self.changed_answers + self.changed_repeats + self.study_settings + self.withdrawn_traces == 0
            && taken.withdrawn + taken.repeat_changes + taken.guidelines == 0
            && taken.decisions + taken.attention_checks + taken.panels + taken.texts_changed == 0
    }
}

/// The result of [`Store::merge_if`].
#[derive(Debug)]
pub enum MergeOutcome {
    /// The file was merged.
    Taken(MergeEffect),
    /// The file was not merged; this is what merging would do.
    Left(MergeEffect),
}

/// Why a transaction is rolled back.
enum Stop {
    Failed(StoreError),
    Left(Box<MergeEffect>),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl Store {
    /// Merges another copy like [`Store::merge_from`], or a submission like [`Store::merge_packet`],
    /// if `allow` accepts the effect; otherwise nothing changes. The effect is computed within the
    /// transaction, so that what is accepted is exactly what happens.
    pub fn merge_if(
        &self,
        other: &Store,
        packet: Option<PacketId>,
        allow: impl FnOnce(&MergeEffect) -> bool + Send + 'static,
    ) -> Result<MergeOutcome> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (before, copy) = (self.clone(), other.clone());
        let taken = self.merge_checked(other, packet, move |tx, taken| {
            // Readers see the project as it was before this transaction.
            let effect = before.with_reader(|c| effect(c, tx, taken))?;
            let effect = effect.map_err(|e| tx.explain("comparing with what is here", e))?;
            if !allow(&effect) {
                return Err(Stop::Left(Box::new(effect)));
            }
            // A copy that changes nothing was not approved by anyone, so it is not remembered.
            if packet.is_none() && !effect.is_empty() {
                tx.know_copy(&copy)?;
            }
            sender.send(effect).map_err(|_| StoreError::Closed(tx.path.to_owned()))?;
            Ok(())
        });
        match taken {
            Ok(_) => Ok(MergeOutcome::Taken(receiver.recv().unwrap_or_default())),
            Err(Stop::Left(effect)) => Ok(MergeOutcome::Left(*effect)),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// Whether `other` has the secret that only whole copies of this project have.
    pub fn shares_secret(&self, other: &Store) -> Result<bool> {
        let secret = self.setting::<String>(SECRET)?;
        Ok(secret.is_some() && secret == other.setting::<String>(SECRET)?)
    }

    /// Whether `other` has a copy id under which annotators without any task packet have events
    /// here. Such events were not created in a task packet, whatever either file records about the
    /// origin of its copies.
    pub fn has_history_of(&self, other: &Store) -> Result<bool> {
        let sql = "SELECT uid FROM copies AS c WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.copy = c.id
                       AND e.annotator NOT IN (SELECT annotator FROM packets))";
        let whole: Vec<Uuid> = self.read("reading the copies", |c| all(c, sql, [], |r| uid(r, 0)))?;
        let known = self.copy_origins()?;
        let of_packet = |copy: &Uuid| matches!(known.get(&CopyId(*copy)), Some(crate::CopyOrigin::Packet(_)));
        let whole: BTreeSet<Uuid> =
            whole.into_iter().filter(|copy| !of_packet(copy) && !is_of_content(CopyId(*copy))).collect();
        let sql = "SELECT uid FROM copies";
        let theirs: Vec<Uuid> = other.read("reading the copies", |c| all(c, sql, [], |r| uid(r, 0)))?;
        Ok(theirs.iter().any(|copy| whole.contains(copy)))
    }

    /// Whether a task packet was ever created, including those for annotators who withdrew.
    pub fn has_had_packets(&self) -> Result<bool> {
        let sql = "SELECT 1 WHERE EXISTS (SELECT 1 FROM packets)
                       OR EXISTS (SELECT 1 FROM facts WHERE kind = 'withdrawn-packet')";
        self.read("reading the packets", |c| Ok(first(c, sql, [], |_| Ok(()))?.is_some()))
    }

    /// Task packets that `other` contains or continues, as far as this project knows: those in its
    /// table, and those under whose copy ids it has events.
    pub fn packets_in(&self, other: &Store) -> Result<Vec<PacketId>> {
        let mut found: Vec<PacketId> =
            other.packet_holders()?.into_iter().map(|(packet, _)| packet).collect();
        let known = self.copy_origins()?;
        let copies: Vec<Uuid> =
            other.read("reading the copies", |c| all(c, "SELECT uid FROM copies", [], |r| uid(r, 0)))?;
        for copy in copies {
            if let Some(crate::CopyOrigin::Packet(packet)) = known.get(&CopyId(copy)) {
                found.push(*packet);
            }
        }
        Ok(found)
    }

    /// The first copy id in `other` under which an annotator other than `person` has events here.
    /// Only its own annotator works in a task packet, so such events were not created in one.
    pub fn copy_of_others(&self, other: &Store, person: AnnotatorId) -> Result<Option<CopyId>> {
        let sql =
            "SELECT c.uid FROM copies AS c WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.copy = c.id)";
        let used: Vec<Uuid> = other.read("reading the copies", |c| all(c, sql, [], |r| uid(r, 0)))?;
        let sql = "SELECT 1 FROM copies AS c JOIN events AS e ON e.copy = c.id
                   WHERE c.uid = ?1 AND e.annotator <> ?2 LIMIT 1";
        for uid in used {
            let others = self.read("reading the copies", |c| first(c, sql, (uid, person.0), |_| Ok(())))?;
            if others.is_some() {
                return Ok(Some(CopyId(uid)));
            }
        }
        Ok(None)
    }

    /// Copies the project to `NAME.dissensus.before-EVENT` next to it, or to the next free name.
    pub fn back_up(&self, event: &str) -> Result<PathBuf> {
        self.with_reader(|conn| {
            let tx = conn
                .unchecked_transaction()
                .map_err(|e| StoreError::explain(self.path(), "copying the project", e))?;
            back_up(&tx, self.file(), self.path(), event, &Silent)
        })?
    }
}

type SettingValues = BTreeMap<(String, u32, u32, u32, Option<String>), serde_json::Value>;

/// The study settings, except those of questions.
fn settings(c: &Connection) -> rusqlite::Result<SettingValues> {
    let kinds = FactKind::VARIANTS.iter().filter(|kind| kind.is_setting());
    let kinds: Vec<String> = kinds.map(|kind| format!("'{}'", kind.name())).collect();
    let facts = select(c, &format!("WHERE kind IN ({})", kinds.join(", ")), [])?;
    let place = |fact: &dissensus_domain::Fact| {
        let row = |id: Option<u32>| id.unwrap_or(0);
        (
            fact.kind.to_string(),
            row(fact.question.map(|id| id.0)),
            row(fact.text.map(|id| id.0)),
            row(fact.annotator.map(|id| id.0)),
            fact.key.clone(),
        )
    };
    Ok(that_hold(facts).into_iter().map(|fact| (place(&fact), fact.value)).collect())
}

fn questions(c: &Connection) -> rusqlite::Result<Vec<Question>> {
    let names = all(c, "SELECT name FROM questions ORDER BY id", [], |r| r.get::<_, String>(0))?;
    names.iter().filter_map(|name| by_name(c, name).transpose()).collect()
}

/// Compares the project before a transaction with the state that it leaves.
fn effect(before: &Connection, tx: &WriteTx<'_>, taken: &MergedCounts) -> rusqlite::Result<MergeEffect> {
    let after = tx.conn;
    let mut effect = MergeEffect { taken: taken.clone(), ..MergeEffect::default() };
    let was = crate::annotators::all_in(before)?;
    let now: BTreeMap<AnnotatorId, _> =
        crate::annotators::all_in(after)?.into_iter().map(|person| (person.id, person)).collect();
    for person in &was {
        match now.get(&person.id) {
            None => effect.erased.push(person.external_id.clone()),
            Some(now) if now != person => effect.changed_people.push(person.external_id.clone()),
            Some(_) => {}
        }
    }
    let known: BTreeSet<AnnotatorId> = was.iter().map(|person| person.id).collect();
    let new = now.values().filter(|person| !known.contains(&person.id));
    effect.new_people = new.map(|person| person.external_id.clone()).collect();
    let was: BTreeMap<QuestionId, Question> = questions(before)?.into_iter().map(|q| (q.id, q)).collect();
    for question in questions(after)? {
        match was.get(&question.id) {
            None => effect.new_questions.push(question.name),
            Some(was) if *was != question => effect.changed_questions.push(question.name),
            Some(_) => {}
        }
    }
    let (was, now) = (settings(before)?, settings(after)?);
    let gone = was.keys().filter(|place| !now.contains_key(*place)).count();
    let other = now.iter().filter(|(place, value)| was.get(*place) != Some(value)).count();
    effect.study_settings = u32::try_from(gone + other).unwrap_or(u32::MAX);
    effect.withdrawn_traces = withdrawn_traces(before, after)?;
    answers(before, after, &mut effect)?;
    Ok(effect)
}

/// Counts names and task packets here that a copy attributes to an annotator who withdrew.
fn withdrawn_traces(before: &Connection, after: &Connection) -> rusqlite::Result<u32> {
    let project = project_id(before)?;
    let (gone_before, gone) = (Hashes::read(before)?, Hashes::read(after)?);
    let sql = "SELECT json_extract(value, '$.by') FROM facts WHERE kind = 'decision'
               UNION SELECT written_by FROM guidelines";
    let signed: Vec<String> = all(before, sql, [], |r| r.get(0))?;
    let new = |name: &String| {
        let hash = name_hash(project, name);
        !name.is_empty() && gone.names.contains(&hash) && !gone_before.names.contains(&hash)
    };
    // Those of erased annotators are reported together with them.
    let handed_out: Vec<Uuid> = all(after, "SELECT uid FROM packets", [], |r| uid(r, 0))?;
    let refused = |packet: &&Uuid| gone.packets.contains(*packet) && !gone_before.packets.contains(*packet);
    let found = signed.iter().filter(|name| new(name)).count() + handed_out.iter().filter(refused).count();
    Ok(u32::try_from(found).unwrap_or(u32::MAX))
}

/// Determines whose answers were added, and which ones they replace.
fn answers(before: &Connection, after: &Connection, effect: &mut MergeEffect) -> rusqlite::Result<()> {
    let last: u32 = before.query_row("SELECT coalesce(max(id), 0) FROM events", [], |r| r.get(0))?;
    let sql = "SELECT annotator, count(*) FROM events WHERE id > ?1 AND kind = 'answer'
               GROUP BY annotator ORDER BY annotator";
    for (annotator, answers) in all(after, sql, [last], |r| Ok((r.get::<_, u32>(0)?, r.get(1)?)))? {
        let sql = "SELECT external_id FROM annotators WHERE id = ?1";
        let annotator = after.query_row(sql, [annotator], |r| r.get(0))?;
        effect.answers.push(AnswersOf { annotator, answers });
    }
    let mut keys = after
        .prepare_cached("SELECT DISTINCT question, text, annotator, occasion FROM events WHERE id > ?1")?;
    let mut rows = keys.query([last])?;
    while let Some(row) = rows.next()? {
        let key = (QuestionId(row.get(0)?), TextId(row.get(1)?), AnnotatorId(row.get(2)?), row.get(3)?);
        // Events are only added, so the previous ones come first.
        let now = crate::events::events_of_key(after, key)?;
        let was: Vec<Event> = now.iter().filter(|event| event.id.0 <= last).cloned().collect();
        if !replaces_what_held(&was, &now) {
            continue;
        }
        if key.3 > FIRST_OCCASION {
            effect.changed_repeats += 1;
            continue;
        }
        effect.changed_answers += 1;
        if effect.changed.len() < NAMED {
            effect.changed.push(changed(after, key.0, key.1, key.2)?);
        }
    }
    Ok(())
}

/// Whether, among one annotator's events on a text, another answer counts, the note changed, or a
/// flag was cancelled.
fn replaces_what_held(was: &[Event], now: &[Event]) -> bool {
    let other_answer =
        current_answer(was).is_some_and(|was| current_answer(now).is_none_or(|now| now.id != was.id));
    let (was, now) = (marks(was), marks(now));
    other_answer || (!was.note.is_empty() && was.note != now.note) || (was.flagged && !now.flagged)
}

fn changed(
    c: &Connection,
    question: QuestionId,
    text: TextId,
    annotator: AnnotatorId,
) -> rusqlite::Result<ChangedAnswer> {
    let sql = "SELECT a.external_id, t.external_id, q.name FROM annotators AS a, texts AS t, questions AS q
               WHERE a.id = ?3 AND t.id = ?2 AND q.id = ?1";
    c.query_row(sql, (question.0, text.0, annotator.0), |r| {
        Ok(ChangedAnswer { annotator: r.get(0)?, text: r.get(1)?, question: r.get(2)? })
    })
}
