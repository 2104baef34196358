//! What a merge reports.

use dissensus_domain::{AnnotatorId, Event, QuestionId, TextId};

/// A text whose split changed, because the other copy recorded a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitChange {
    /// External id of the text.
    pub text: String,
    /// The previous split.
    pub was: Option<String>,
    /// The new split.
    pub now: Option<String>,
}

/// Different answers of one annotator to one question about one text, given independently in
/// different copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// The answers by time, then copy, then sequence; the last one counts.
    pub answers: Vec<Event>,
}

/// What was merged from another copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedCounts {
    /// New questions.
    pub questions: u32,
    /// New texts.
    pub texts: u32,
    /// New annotators.
    pub annotators: u32,
    /// New events.
    pub events: u32,
    /// Events of the other copy that were known here already.
    pub known: u32,
    /// New re-annotations.
    pub repeats: u32,
    /// New changes to re-annotations: retracted or restored.
    pub repeat_changes: u32,
    /// New changes to questions: prompts, help and levels edited, conditions set.
    pub question_changes: u32,
    /// Questions whose levels have new indices here.
    pub rearranged: u32,
    /// Levels that were removed in one copy and restored, because they are used in another.
    pub levels_back: u32,
    /// New names and attributes of annotators.
    pub annotator_changes: u32,
    /// New task packets.
    pub packets: u32,
    /// New submissions.
    pub submissions: u32,
    /// New decisions about texts.
    pub decisions: u32,
    /// New guideline versions.
    pub guidelines: u32,
    /// New facts about attention checks.
    pub attention_checks: u32,
    /// Annotators who had withdrawn only in the other copy, and were erased here if they were
    /// known.
    pub withdrawn: u32,
    /// Annotators of the other copy who withdrew here: nothing of theirs was merged.
    pub passed_over: u32,
    /// New saved or deleted panels.
    pub panels: u32,
    /// New facts: study settings, and records about annotators other than labels.
    pub facts: u32,
    /// Texts of both copies whose group, split or metadata changed here, because the other copy
    /// recorded them later.
    pub texts_changed: u32,
    /// Total number of texts whose split changed.
    pub splits_changed: u32,
    /// The first of these.
    pub splits: Vec<SplitChange>,
    /// Total number of annotators, questions and texts with contradicting answers, at least one of
    /// which was merged now.
    pub contradicted: u32,
    /// The first of these.
    pub contradictions: Vec<Contradiction>,
    /// Total number of events of the other copy that were left out, because they differ here under
    /// the same key or depend on such an event.
    pub left_out: u32,
    /// The subjects of the first of these.
    pub left_out_about: Vec<(QuestionId, TextId, AnnotatorId)>,
}
