//! Entries of the history of a project, and what selects them.

use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, HistoryKind, LevelId, PacketId, QuestionId, TextId,
};

/// Filter for the history. The default matches everything.
#[derive(Clone, Debug, Default)]
pub struct HistoryFilter {
    /// Kinds of entries; all kinds if empty.
    pub kinds: Vec<HistoryKind>,
    /// Entries by or about this annotator.
    pub annotator: Option<AnnotatorId>,
    /// Entries about this text.
    pub text: Option<TextId>,
    /// Entries about this question.
    pub question: Option<QuestionId>,
    /// Earliest time, in milliseconds since 1970-01-01 UTC.
    pub since_ms: Option<i64>,
    /// Latest time, in milliseconds since 1970-01-01 UTC.
    pub until_ms: Option<i64>,
    /// Entries whose written text contains this, or whose text has this id.
    pub words: Option<String>,
    /// With `words`: also entries by these annotators, whose names contain the words.
    pub people: Vec<AnnotatorId>,
    /// With `words`: also entries signed with a name that contains the words.
    pub signed: bool,
    /// The annotator who reads the history. For texts that they have not answered, the search does
    /// not match what others wrote, and attention checks are hidden.
    pub reader: Option<AnnotatorId>,
}

/// The position of an entry: by time, then source, then row. The next page starts after the last
/// entry of the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryPlace {
    /// Time of the entry, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Index of the source table.
    pub source: u8,
    /// Row in the source.
    pub row: i64,
}

/// An entry of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    pub place: HistoryPlace,
    pub kind: HistoryKind,
    /// The annotator who did it, or whom it is about.
    pub annotator: Option<AnnotatorId>,
    /// The question that it is about.
    pub question: Option<QuestionId>,
    /// The text that it is about.
    pub text: Option<TextId>,
    /// The copy in which it was done, if known.
    pub copy: Option<CopyId>,
    /// The name that it is signed with, if that is not an annotator.
    pub by: String,
    pub what: Done,
}

/// What was done.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// An answer, retraction, skip, flag or note, with the answer that it replaces or retracts.
    Event {
        event: Box<Event>,
        /// The previous answer.
        before: Option<Answer>,
    },
    /// A decision about a text.
    Decision {
        /// Name of the outcome.
        outcome: String,
        /// The answer decided on.
        answer: Option<Answer>,
        comment: String,
    },
    /// A new guideline version.
    Guideline {
        /// Summary of the change, written by its author.
        change: String,
    },
    /// The levels of the question were renamed.
    LevelNames {
        /// The names of all levels, in order.
        names: Vec<String>,
    },
    /// The condition of the question was set.
    Condition {
        /// The question that it depends on.
        other: QuestionId,
        /// The levels that meet the condition; empty if the question is always asked.
        levels: Vec<LevelId>,
    },
    /// The notes that a question offers were set.
    RemarkForm {
        reasons: Vec<String>,
        /// Whether annotators are asked for their confidence.
        confidence: bool,
    },
    /// The name or an attribute of an annotator was set.
    Person {
        /// The attribute; `None` for the name.
        attribute: Option<String>,
        /// The new value; empty if it was removed.
        value: String,
    },
    /// A task packet was created.
    HandedOut {
        /// Number of texts, including those for re-annotation.
        texts: u32,
    },
    /// A submission was merged.
    HandedIn {
        /// Number of answers in it.
        answers: u32,
    },
    /// The right answer of an attention check was set.
    Check {
        /// The answer; `None` if the text is no longer a check.
        answer: Option<Answer>,
        /// Why this answer is right.
        reason: String,
    },
    /// A panel was saved or deleted.
    Panel {
        name: String,
        /// Whether it was saved, as opposed to deleted.
        kept: bool,
    },
    /// A long-running job.
    Job {
        /// `import`, `encode`, ...
        kind: String,
        /// What it works on.
        title: String,
        /// Its final state, or `running`.
        state: String,
        /// Its result, or why it failed.
        note: Option<String>,
    },
    /// A training run.
    Run {
        /// Its number in this file.
        number: u32,
        /// Its final state, or `running`.
        state: String,
    },
    /// An evaluation, or a fit of the live model.
    Evaluation {
        /// `evaluation` or `fit`.
        kind: String,
        /// Its final state, or `running`.
        state: String,
    },
    /// A fact: a study setting, or a record about an annotator.
    Fact {
        /// Name of its kind.
        name: String,
        /// The new value; null if it was removed.
        value: serde_json::Value,
    },
    /// An annotator withdrew.
    Withdrawal,
}

/// Where the work of a copy was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOrigin {
    /// In this file.
    Here,
    /// In another copy of the project, which was merged.
    Elsewhere,
    /// In a task packet, which was merged.
    Packet(PacketId),
}
