//! Whom a file that comes in can be of, and what taking it in would change of what is here.

use crate::facts::{select, that_hold};
use crate::identity::project_id;
use crate::migrate::back_up;
use crate::questions::by_name;
use crate::repeat::Repeat;
use crate::repeats::counting;
use crate::row::uid;
use crate::tx::{all, first};
use crate::withdrawals::{Hash, name_hash};
use crate::{Result, Store, StoreError, TakenIn, WriteTx};
use dissensus_domain::{
    AnnotatorId, CopyId, Event, PacketId, Question, QuestionId, TextId, current_answer, marks,
};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    /// Answers that count now and would count no more: another one would, also one that says the same, or none. So are answers beside which
    /// something else would be said, and flags that would be taken off.
    pub changed_answers: u32,
    /// The first of these.
    pub changed: Vec<ChangedAnswer>,
    /// Answers of later occasions that count now, and would not, or with something else beside them.
    pub changed_repeats: u32,
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
        let TakenIn { known, passed_over, left_out, ref left_out_about, .. } = self.taken;
        let left_out_about = left_out_about.clone();
        let nothing = TakenIn { known, passed_over, left_out, left_out_about, ..TakenIn::default() };
        self.withdrawn_traces == 0 && self.taken == nothing
    }

    /// Whether it only adds: nothing that is here is erased, and nothing that holds is replaced.
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
        let (before, copy) = (self.clone(), other.clone());
        let taken = self.take_in_checked(other, packet, move |tx, taken| {
            // Readers see the project as it was before this transaction.
            let effect = before.with_reader(|c| effect(c, tx, taken))?;
            let effect = effect.map_err(|e| tx.explain("comparing with what is here", e))?;
            if !allow(&effect) {
                return Err(Stop::Left(Box::new(effect)));
            }
            // Nobody agreed to a copy that brought nothing.
            if packet.is_none() && !effect.is_nothing() {
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
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn shares_secret(&self, other: &Store) -> Result<bool> {
        let secret = self.setting::<String>(SECRET)?;
        Ok(secret.is_some() && secret == other.setting::<String>(SECRET)?)
    }

    /// Whether something was done in `other` under a copy under which people did something here to whom no packet was ever handed out: then
    /// it was done in no packet, whatever either file says of where its copies were taken in.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn has_history_of(&self, other: &Store) -> Result<bool> {
        let sql = "SELECT uid FROM copies AS c WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.copy = c.id
                       AND e.annotator NOT IN (SELECT annotator FROM packets))";
        let whole: Vec<Uuid> = self.read("reading the copies", |c| all(c, sql, [], |r| uid(r, 0)))?;
        let known = self.copy_origins()?;
        let of_packet = |copy: &Uuid| matches!(known.get(&CopyId(*copy)), Some(crate::CopyOrigin::Packet(_)));
        let whole: BTreeSet<Uuid> = whole.into_iter().filter(|copy| !of_packet(copy)).collect();
        let sql = "SELECT uid FROM copies";
        let theirs: Vec<Uuid> = other.read("reading the copies", |c| all(c, sql, [], |r| uid(r, 0)))?;
        Ok(theirs.iter().any(|copy| whole.contains(copy)))
    }

    /// Whether a packet was ever handed out, also to somebody who withdrew.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn ever_handed_out(&self) -> Result<bool> {
        let sql = "SELECT 1 WHERE EXISTS (SELECT 1 FROM packets) OR EXISTS (SELECT 1 FROM withdrawn_packets)";
        self.read("reading the packets", |c| Ok(first(c, sql, [], |_| Ok(()))?.is_some()))
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
        let copies: Vec<Uuid> =
            other.read("reading the copies", |c| all(c, "SELECT uid FROM copies", [], |r| uid(r, 0)))?;
        for copy in copies {
            if let Some(crate::CopyOrigin::Packet(packet)) = known.get(&CopyId(copy)) {
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
    let mut keys =
        after.prepare_cached("SELECT DISTINCT question, text, annotator FROM events WHERE id > ?1")?;
    let mut rows = keys.query([last])?;
    while let Some(row) = rows.next()? {
        let key = (QuestionId(row.get(0)?), TextId(row.get(1)?), AnnotatorId(row.get(2)?));
        // Events are only added, so those of before are the first ones.
        let now = crate::events::of_text(after, key)?;
        let was: Vec<Event> = now.iter().filter(|event| event.id.0 <= last).cloned().collect();
        if !replaces_what_held(&was, &now) {
            continue;
        }
        effect.changed_answers += 1;
        if effect.changed.len() < NAMED {
            effect.changed.push(changed(after, key.0, key.1, key.2)?);
        }
    }
    if effect.taken.repeats + effect.taken.repeat_changes > 0 {
        effect.changed_repeats = changed_repeats(before, after)?;
    }
    Ok(())
}

/// Whether of one person's events on a text another answer counts, or something else is said beside it, or a flag is gone.
fn replaces_what_held(was: &[Event], now: &[Event]) -> bool {
    let other_answer =
        current_answer(was).is_some_and(|was| current_answer(now).is_none_or(|now| now.id != was.id));
    let (was, now) = (marks(was), marks(now));
    other_answer || (!was.remark.is_empty() && was.remark != now.remark) || (was.flagged && !now.flagged)
}

/// Answers of later occasions that counted, of which another one counts now, or none, or with something else beside them.
fn changed_repeats(before: &Connection, after: &Connection) -> rusqlite::Result<u32> {
    let mut changed = 0;
    for question in questions(before)? {
        let now: HashMap<_, Repeat> = counting(after, question.id, None)?
            .into_iter()
            .map(|repeat| ((repeat.text, repeat.annotator, repeat.occasion), repeat))
            .collect();
        for was in counting(before, question.id, None)? {
            let now = now.get(&(was.text, was.annotator, was.occasion));
            let says = was.details != crate::AnswerDetails::default();
            let same = |now: &Repeat| {
                (now.at_ms, &now.answer) == (was.at_ms, &was.answer)
                    && (!says || now.details == was.details)
                    && (was.wording.is_none() || now.wording == was.wording)
            };
            changed += u32::from(!now.is_some_and(same));
        }
    }
    Ok(changed)
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
