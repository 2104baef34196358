//! The log of facts: one append-only table, in which the latest fact about a subject is in effect.
//!
//! [`table`] reads and writes it. What differs between kinds of facts is a description of each, a [`Kind`]:
//! how values are checked and ordered, what a merge, the history, a removal and a withdrawal do with them.
//! Merging, history, removal and withdrawal are one loop each over these descriptions.

mod annotator_facts;
mod attention_checks;
mod care;
mod conditions;
mod consent;
mod decisions;
mod form_answers;
mod join_pages;
mod level_names;
mod masks;
mod note_forms;
mod panels;
mod practice;
mod question_facts;
mod submissions;
mod table;
mod withdrawals;

pub(crate) use annotator_facts::{ATTRIBUTE_OR_NAME, names_of};
pub(crate) use conditions::{conditions, conditions_on};
pub(crate) use consent::consents;
pub use consent::{ConsentVersion, Consents};
pub(crate) use form_answers::check_given;
pub(crate) use level_names::{names_ever, renamed, with_names};
pub use masks::MaskVersion;
pub(crate) use note_forms::note_form;
pub(crate) use panels::panels;
pub use practice::PracticeFacts;
pub use submissions::Submission;
pub use table::LARGEST_FACT;
pub(crate) use table::{insert, replace_value, rows_where, select, that_hold};
pub use withdrawals::Withdrawal;
pub(crate) use withdrawals::{Hash, Hashes, name_hash, near_hash, person_hash};

use crate::dependents::Use;
use crate::history_entry::Done;
use crate::level_order::LevelOrder;
use crate::level_use::LevelUse;
use crate::merge_report::MergedCounts;
use crate::row::bad;
use crate::{Result, StoreError, WriteTx};
use dissensus_domain::{Fact, FactKind, LevelId, Scale};
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use serde_json::Value;
use strum::VariantArray as _;

/// What a submission may contain of a kind of facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// New facts if they are of a person; of others only those that are here already.
    OfPerson,
    /// Any.
    Yes,
    /// None, even if they are here already: none is ever handed out.
    No,
    /// Any, but they are not merged.
    Ignored,
}

/// How facts are listed in the history, as SQL over the columns of the table.
pub(crate) struct Listed {
    /// Name of the [`HistoryKind`](dissensus_domain::HistoryKind).
    pub(crate) kind: &'static str,
    /// Which facts are listed.
    pub(crate) which: &'static str,
    /// The text that a search looks through.
    pub(crate) words: &'static str,
    /// The name that it is signed with.
    pub(crate) signed: &'static str,
    /// The copy in which it was done.
    pub(crate) copy: &'static str,
}

impl Listed {
    /// A kind that is neither signed nor searched.
    pub(crate) const fn new(kind: &'static str) -> Self {
        Self { kind, which: "TRUE", words: "NULL", signed: "''", copy: "NULL" }
    }
}

/// Which of a question, a text and an annotator the facts of a kind are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Any of them.
    Anything,
    Project,
    Question,
    /// A question and a text.
    Text,
    Annotator,
}

impl About {
    fn name(self) -> &'static str {
        match self {
            Self::Anything => "anything",
            Self::Project => "the project",
            Self::Question => "a question",
            Self::Text => "a question and a text",
            Self::Annotator => "an annotator",
        }
    }

    fn is_of(self, fact: &Fact) -> bool {
        let parts = (fact.question.is_some(), fact.text.is_some(), fact.annotator.is_some());
        match self {
            Self::Anything => true,
            Self::Project => parts == (false, false, false),
            Self::Question => parts == (true, false, false),
            Self::Text => parts == (true, true, false),
            Self::Annotator => parts == (false, false, true),
        }
    }
}

/// A description of a kind of facts.
pub(crate) struct Kind {
    /// What a fact is about.
    pub(crate) about: About,
    /// Whether a fact has a key.
    pub(crate) keyed: bool,
    /// The fact as messages of a merge name it: what it is, and which one.
    pub(crate) title: fn(&Fact) -> (&'static str, String),
    /// What messages about its time call it, if not by the name of its kind.
    pub(crate) noun: Option<&'static str>,
    /// Checks a fact that defines a question in another copy, where it was added with this scale.
    pub(crate) sound: fn(&WriteTx<'_>, &Fact, &Scale) -> std::result::Result<(), String>,
    /// Checks a fact before it is stored, here or in a merge: it must be readable by all that read the kind.
    pub(crate) check: fn(&WriteTx<'_>, &Fact) -> Result<()>,
    /// Updates what is derived from a fact after it was added.
    pub(crate) added: fn(&mut WriteTx<'_>, &Fact) -> Result<()>,
    /// Whether this value is in effect, as opposed to one that removes an earlier value.
    pub(crate) is_in_effect: fn(&Value) -> bool,
    /// Replaces row ids of levels of the fact's question in a value.
    pub(crate) with_levels: fn(Value, &dyn Fn(LevelId) -> LevelId) -> Value,
    /// The order of facts about one subject with the same time, which can come from separate copies; the
    /// last one is in effect. It is the same in every copy: row ids of levels are replaced by ranks.
    pub(crate) order: fn(&Value, &Ordering<'_>) -> rusqlite::Result<String>,
    /// The name of another question in a value.
    pub(crate) other_question: fn(&Value) -> Option<&str>,
    /// What a submission may contain.
    pub(crate) submitted: Submitted,
    /// Where a merge counts new facts.
    pub(crate) count: fn(&mut MergedCounts) -> &mut u32,
    /// Where answers in values count as uses of a level.
    pub(crate) used: Option<fn(&mut LevelUse) -> &mut u32>,
    /// How it is listed in the history; `None` if it is not.
    pub(crate) listed: Option<Listed>,
    /// What the history says about it.
    pub(crate) done: fn(&Connection, &Fact) -> rusqlite::Result<Done>,
    /// Whether it prevents the removal of its question, text and annotator, and as what; otherwise it is
    /// removed with them.
    pub(crate) keeps: Option<Use>,
    /// Whether it counts as work on a question or annotator, which then outlasts the removal of an import.
    pub(crate) is_work: bool,
    /// The value without names of annotators who withdrew, if it can name annotators.
    pub(crate) without_withdrawn: Option<fn(&WriteTx<'_>, Value) -> Result<Value>>,
}

/// A setting of the study whose value only its users read, and the default for all other kinds.
const SETTING: Kind = Kind {
    about: About::Anything,
    keyed: false,
    title: |fact| ("fact", fact.kind.name().to_owned()),
    noun: None,
    sound: |_, _, _| Ok(()),
    check: |_, _| Ok(()),
    added: |_, _| Ok(()),
    is_in_effect: |value| !value.is_null(),
    with_levels: |value, _| value,
    order: |value, _| Ok(value.to_string()),
    other_question: |_| None,
    submitted: Submitted::OfPerson,
    count: |report| &mut report.facts,
    used: None,
    listed: Some(Listed { words: "value", ..Listed::new("iif(annotator IS NULL, 'setting', 'noted')") }),
    done: |_, fact| Ok(Done::Fact { name: fact.kind.name().to_owned(), value: fact.value.clone() }),
    keeps: None,
    is_work: true,
    without_withdrawn: None,
};

/// Records of what an annotator was shown.
const SHOWN: Kind = Kind { keeps: Some(Use::Shown), ..SETTING };

fn refused(fact: &Fact, why: impl Into<String>) -> StoreError {
    StoreError::Invalid { what: fact.kind.to_string(), why: why.into() }
}

/// Reads the value of a fact that is to be stored. Lists are refused, since SQL reads the members of a
/// value by their names.
fn checked<T: DeserializeOwned>(fact: &Fact) -> Result<T> {
    if fact.value.is_array() {
        return Err(refused(fact, "its value is a list"));
    }
    T::deserialize(&fact.value).map_err(|e| refused(fact, e.to_string()))
}

/// Reads the value of a fact.
fn read<T: DeserializeOwned>(value: &Value) -> rusqlite::Result<T> {
    T::deserialize(value).map_err(|e| bad(6, e))
}

/// What [`Kind::order`] may use: the ranks of levels, and the file for those of other questions.
pub(crate) struct Ordering<'c> {
    pub(crate) conn: &'c Connection,
    pub(crate) levels: LevelOrder,
}

/// The description of a kind.
pub(crate) fn kind(kind: FactKind) -> &'static Kind {
    match kind {
        FactKind::Reveal
        | FactKind::Language
        | FactKind::AttributeForm
        | FactKind::PracticeRule
        | FactKind::PracticeAgain
        | FactKind::CheckRule
        | FactKind::Care
        | FactKind::LeftOut => &SETTING,
        FactKind::Shown => &SHOWN,
        FactKind::FormAnswers => &form_answers::KIND,
        FactKind::PracticeText | FactKind::PracticeAnswer => &practice::KIND,
        FactKind::Consent => &consent::TEXT,
        FactKind::ConsentGiven => &consent::GIVEN,
        FactKind::Harmful => &care::HARMFUL,
        FactKind::Prompt => &question_facts::PROMPT,
        FactKind::Help => &question_facts::HELP,
        FactKind::Levels => &question_facts::LEVELS,
        FactKind::CannotSay => &question_facts::CANNOT_SAY,
        FactKind::LevelNames => &level_names::KIND,
        FactKind::Condition => &conditions::KIND,
        FactKind::RemarkForm => &note_forms::KIND,
        FactKind::AnnotatorName => &annotator_facts::NAME,
        FactKind::AnnotatorAttribute => &annotator_facts::ATTRIBUTE,
        FactKind::Decision => &decisions::KIND,
        FactKind::AttentionCheck => &attention_checks::KIND,
        FactKind::Panel => &panels::KIND,
        FactKind::JoinPage => &join_pages::KIND,
        FactKind::MaskRules => &masks::RULES,
        FactKind::PacketMasks => &masks::OF_PACKET,
        FactKind::HandIn => &submissions::KIND,
        FactKind::Withdrawal => &withdrawals::KIND,
        FactKind::WithdrawnName => &withdrawals::NAME,
        FactKind::WithdrawnPacket => &withdrawals::PACKET,
    }
}

/// SQL with the names of the kinds that satisfy `which`, as a list in parentheses.
pub(crate) fn names_where(which: impl Fn(&Kind) -> bool) -> String {
    let names = FactKind::VARIANTS.iter().filter(|one| which(kind(**one)));
    format!("({})", names.map(|one| format!("'{}'", one.name())).collect::<Vec<_>>().join(", "))
}
