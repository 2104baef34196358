//! Whom a file that comes in can be of, and what taking it in would change of what is here.

use crate::facts::{select, that_hold};
use crate::identity::project_id;
use crate::migrate::back_up;
use crate::questions::by_name;
use crate::row::uid;
use crate::tx::{all, first};
use crate::withdrawals::{Hash, name_hash};
use crate::{Result, Store, StoreError, TakenIn, WriteTx};
use dissensus_domain::{AnnotatorId, CopyId, PacketId, Question, QuestionId, TextId};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use uuid::Uuid;

/// The setting with the secret that a project gets when it is made. Every whole copy of it has the same one; a packet gets one of its own.
const SECRET: &str = "pseudonym-key";

/// Changed answers of each person that are named.
const NAMED: usize = 5;

/// What taking in a file adds to a project and changes in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeEffect {
    /// Whose answers come, by external id.
    pub answers: Vec<AnswersOf>,
    /// External ids of people who are not here yet.
    pub new_people: Vec<String>,
    /// Names of questions that are not here yet.
    pub new_questions: Vec<String>,
    /// External ids of people who are here and would be erased, because they withdrew.
    pub erased: Vec<String>,
    /// Answers that count now and would count no more: another one would, or none.
    pub changed_answers: u32,
    /// The first of these.
    pub changed: Vec<ChangedAnswer>,
    /// People whose name or attributes would be others.
    pub changed_people: Vec<String>,
    /// Questions of which the text, the help, the levels or the condition would be others.
    pub changed_questions: Vec<String>,
    /// Names of people who are here, under which they decided or wrote something, and packets here, that would count as those of somebody who
    /// withdrew.
    pub withdrawn_traces: u32,
    /// What the study sets: practice, forms, limits, what is shown.
    pub study_settings: u32,
    /// What comes in, counted.
    pub taken: TakenIn,
}

/// Answers of one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswersOf {
    /// The person's external id.
    pub annotator: String,
    /// How many.
    pub answers: u32,
}

/// An answer that counts no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedAnswer {
    /// The person's external id.
    pub annotator: String,
    /// The text's external id.
    pub text: String,
    /// The question's name.
    pub question: String,
}

impl MergeEffect {
    /// Whether it does nothing at all.
    pub fn is_nothing(&self) -> bool {
        let TakenIn { known, passed_over, .. } = self.taken;
        self.withdrawn_traces == 0 && self.taken == TakenIn { known, passed_over, ..TakenIn::default() }
    }

    /// Whether it only adds: nothing that is here is erased, and nothing that holds is replaced.
    pub fn only_adds(&self) -> bool {
        let taken = &self.taken;
        self.erased.is_empty()
            && self.changed_people.is_empty()
            && self.changed_questions.is_empty()
            && self.changed_answers + self.study_settings + self.withdrawn_traces == 0
            && taken.withdrawn + taken.repeat_changes + taken.guidelines == 0
            && taken.decisions + taken.attention_checks + taken.panels + taken.texts_changed == 0
    }
}

/// What came of [`Store::take_in_if`].
#[derive(Debug)]
pub enum MergeOutcome {
    /// It was taken in.
    Taken(MergeEffect),
    /// It was not: this is what it would do.
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
    /// Takes in another copy as [`Store::take_in`] does, or a packet as [`Store::take_in_packet`], where `allow` agrees to what that does;
    /// otherwise nothing is changed. It is computed in the transaction itself, so that what is agreed to is what happens.
    ///
    /// # Errors
    /// As there.
    pub fn take_in_if(
        &self,
        other: &Store,
        packet: Option<PacketId>,
        allow: impl FnOnce(&MergeEffect) -> bool + Send + 'static,
    ) -> Result<MergeOutcome> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let before = self.clone();
        let taken = self.take_in_checked(other, packet, move |tx, taken| {
            // Readers see the project as it was before this transaction.
            let effect = before.with_reader(|c| effect(c, tx, taken))?;
            let effect = effect.map_err(|e| tx.explain("comparing with what is here", e))?;
            if !allow(&effect) {
                return Err(Stop::Left(Box::new(effect)));
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
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn shares_secret(&self, other: &Store) -> Result<bool> {
        let secret = self.setting::<String>(SECRET)?;
        Ok(secret.is_some() && secret == other.setting::<String>(SECRET)?)
    }

    /// Copies under which something was done in this file itself, without those that were taken in.
    fn own_copies(&self) -> Result<BTreeSet<CopyId>> {
        let uids: Vec<Uuid> =
            self.read("reading the copies", |c| all(c, "SELECT uid FROM copies", [], |r| uid(r, 0)))?;
        let elsewhere = self.copy_origins()?;
        Ok(uids.into_iter().map(CopyId).filter(|copy| !elsewhere.contains_key(copy)).collect())
    }

    /// Whether `other` went on from a file that was taken in here as a whole copy.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn knows_copy(&self, other: &Store) -> Result<bool> {
        let known = self.copy_origins()?;
        let elsewhere = |copy: &CopyId| known.get(copy) == Some(&crate::CopyOrigin::Elsewhere);
        Ok(other.own_copies()?.iter().any(elsewhere))
    }

    /// Whether something was done in `other` under a copy that is known here as this project itself or as a whole copy of it.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn has_history_of(&self, other: &Store) -> Result<bool> {
        let known = self.copy_origins()?;
        let ours = self.own_copies()?;
        let whole =
            |copy: &CopyId| ours.contains(copy) || known.get(copy) == Some(&crate::CopyOrigin::Elsewhere);
        Ok(other.own_copies()?.iter().any(whole))
    }

    /// Packets that `other` has or went on from, as this project knows them: those in its table, and those under whose copies something was
    /// done in it.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn packets_in(&self, other: &Store) -> Result<Vec<PacketId>> {
        let mut found: Vec<PacketId> =
            other.packet_holders()?.into_iter().map(|(packet, _)| packet).collect();
        let known = self.copy_origins()?;
        for copy in other.own_copies()? {
            if let Some(crate::CopyOrigin::Packet(packet)) = known.get(&copy) {
                found.push(*packet);
            }
        }
        Ok(found)
    }

    /// The first event of `other` under a copy under which somebody else than `person` did something here: nobody works in a packet but its
    /// person, so it was not written there.
    ///
    /// # Errors
    /// Only what the disk says.
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

    /// Copies the project as it is to `NAME.dissensus.before-EVENT` beside it, or where that is taken to the next free name.
    ///
    /// # Errors
    /// What the disk says.
    pub fn back_up(&self, event: &str) -> Result<PathBuf> {
        self.with_reader(|conn| {
            let tx = conn
                .unchecked_transaction()
                .map_err(|e| StoreError::explain(self.path(), "copying the project", e))?;
            back_up(&tx, self.file(), self.path(), event)
        })?
    }
}

type Decided = BTreeMap<(String, u32, u32, u32), serde_json::Value>;

/// What the study sets and holds, questions left out.
fn settings(c: &Connection) -> rusqlite::Result<Decided> {
    let mut facts = select(c, "", [])?;
    facts.retain(|fact| !fact.kind.is_of_person() && !fact.kind.is_of_question());
    let place = |fact: &dissensus_domain::Fact| {
        let row = |id: Option<u32>| id.unwrap_or(0);
        (
            fact.kind.to_string(),
            row(fact.question.map(|id| id.0)),
            row(fact.text.map(|id| id.0)),
            row(fact.annotator.map(|id| id.0)),
        )
    };
    Ok(that_hold(facts).into_iter().map(|fact| (place(&fact), fact.value)).collect())
}

fn questions(c: &Connection) -> rusqlite::Result<Vec<Question>> {
    let names = all(c, "SELECT name FROM questions ORDER BY id", [], |r| r.get::<_, String>(0))?;
    names.iter().filter_map(|name| by_name(c, name).transpose()).collect()
}

/// Compares the project as it was with the one that a transaction leaves.
fn effect(before: &Connection, tx: &WriteTx<'_>, taken: &TakenIn) -> rusqlite::Result<MergeEffect> {
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

/// Names and packets of people who are here that a copy says to be those of somebody who withdrew.
fn withdrawn_traces(before: &Connection, after: &Connection) -> rusqlite::Result<u32> {
    let project = project_id(before)?;
    let gone = |c: &Connection| -> rusqlite::Result<(BTreeSet<Hash>, BTreeSet<Uuid>)> {
        let names = all(c, "SELECT name FROM withdrawn_names", [], |r| r.get(0))?;
        let packets = all(c, "SELECT packet FROM withdrawn_packets", [], |r| uid(r, 0))?;
        Ok((names.into_iter().collect(), packets.into_iter().collect()))
    };
    let ((names_before, packets_before), (names, packets)) = (gone(before)?, gone(after)?);
    let sql = "SELECT decided_by FROM decisions UNION SELECT written_by FROM guidelines";
    let signed: Vec<String> = all(before, sql, [], |r| r.get(0))?;
    let new = |name: &String| {
        let hash = name_hash(project, name);
        !name.is_empty() && names.contains(&hash) && !names_before.contains(&hash)
    };
    // Those of people who are erased are told with them.
    let handed_out: Vec<Uuid> = all(after, "SELECT uid FROM packets", [], |r| uid(r, 0))?;
    let refused = |packet: &&Uuid| packets.contains(*packet) && !packets_before.contains(*packet);
    let found = signed.iter().filter(|name| new(name)).count() + handed_out.iter().filter(refused).count();
    Ok(u32::try_from(found).unwrap_or(u32::MAX))
}

/// Whose answers came, and which ones they replace.
fn answers(before: &Connection, after: &Connection, effect: &mut MergeEffect) -> rusqlite::Result<()> {
    let last: u32 = before.query_row("SELECT coalesce(max(id), 0) FROM events", [], |r| r.get(0))?;
    let sql = "SELECT annotator, count(*) FROM events WHERE id > ?1 AND kind = 'answer' GROUP BY annotator";
    let mut came: BTreeMap<u32, u32> =
        all(after, sql, [last], |r| Ok((r.get(0)?, r.get(1)?)))?.into_iter().collect();
    let sql = "SELECT annotator, count(*) FROM repeats GROUP BY annotator";
    let repeats = |c: &Connection| -> rusqlite::Result<BTreeMap<u32, u32>> {
        Ok(all(c, sql, [], |r| Ok((r.get(0)?, r.get(1)?)))?.into_iter().collect())
    };
    let known = repeats(before)?;
    for (annotator, now) in repeats(after)? {
        let new = now.saturating_sub(known.get(&annotator).copied().unwrap_or(0));
        if new > 0 {
            *came.entry(annotator).or_default() += new;
        }
    }
    for (annotator, answers) in came {
        let sql = "SELECT external_id FROM annotators WHERE id = ?1";
        let annotator = after.query_row(sql, [annotator], |r| r.get(0))?;
        effect.answers.push(AnswersOf { annotator, answers });
    }
    let current =
        "SELECT level, content FROM current_answers WHERE question = ?1 AND text = ?2 AND annotator = ?3";
    let mut keys =
        after.prepare_cached("SELECT DISTINCT question, text, annotator FROM events WHERE id > ?1")?;
    let mut rows = keys.query([last])?;
    while let Some(row) = rows.next()? {
        let key: (u32, u32, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let answer = |c: &Connection| {
            first(c, current, key, |r| Ok((r.get::<_, Option<u16>>(0)?, r.get::<_, Option<String>>(1)?)))
        };
        let Some(was) = answer(before)? else { continue };
        if answer(after)?.is_some_and(|now| now == was) {
            continue;
        }
        effect.changed_answers += 1;
        if effect.changed.len() < NAMED {
            effect.changed.push(changed(after, QuestionId(key.0), TextId(key.1), AnnotatorId(key.2))?);
        }
    }
    Ok(())
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
