//! The open project: what it holds, what predicts for it.

use super::{GroupsChoice, PlanWish, StudyCare};
use super::{Problem, TextOrder};
use dissensus_domain::{
    AnnotatorId, Attributes, Condition, LevelEdit, QuestionHelp, QuestionId, RemarkForm, Scale,
};
use serde::{Deserialize, Serialize};

view! {
    /// The open project.
    pub struct ProjectInfo {
        /// Where the file is.
        pub path: String,
        /// File name without its ending.
        pub name: String,
        /// Texts in all.
        pub texts: u32,
        /// Annotators in all.
        pub annotators: u32,
        /// Those of them who have no label yet, for any question.
        pub annotators_without_labels: u32,
        /// Current labels in all.
        pub labels: u32,
        /// What is asked.
        pub questions: Vec<QuestionInfo>,
        /// Names of the annotators' attributes, and their values in use.
        pub attributes: Vec<AttributeInfo>,
        /// Whether how others see a text is shown to a person who has answered it; never in a packet.
        pub reveals: bool,
        /// Current labels of people to whom something of others had been shown about the text before.
        pub labels_after_shown: u32,
        /// What the study sets for the care of its people.
        pub care: StudyCare,
        /// Notice for simulated annotators, shown wherever labels are: who they are and how their labels
        /// were made.
        pub simulated_notice: Option<String>,
        /// Embeddings.
        pub encoding: EncodingState,
        /// What was chosen last in this project.
        pub choices: ProjectChoices,
        /// Whose packet this is, and what it asks; none of a whole project.
        pub packet: Option<PacketInfo>,
        /// Whether it is open to read: nothing can be written to it.
        pub read_only: bool,
        /// Notice that the journal of another file was found next to the project when it was opened, and
        /// where it was moved.
        pub journal_notice: Option<String>,
    }

    /// The packet of one person.
    pub struct PacketInfo {
        /// Who is asked.
        pub annotator: AnnotatorId,
        /// What is asked of each text, in this order.
        pub questions: Vec<QuestionId>,
    }

    /// A question and how far its labelling is.
    pub struct QuestionInfo {
        /// Its row.
        pub id: QuestionId,
        /// Short name.
        pub name: String,
        /// The sentence an annotator reads.
        pub prompt: String,
        /// The help text shown with it.
        pub help: QuestionHelp,
        /// The answers.
        pub scale: Scale,
        /// What each level means, in their order; empty without definitions.
        pub definitions: Vec<String>,
        /// Whether it offers "cannot say".
        pub cannot_say: bool,
        /// How many current answers are "cannot say"; they are not labels.
        pub unsaid: u32,
        /// For a multi-label question its options, each as a yes/no question, to which models, figures and
        /// views refer.
        pub options: Vec<QuestionInfo>,
        /// Where it is asked; everywhere without one.
        pub only_if: Option<Condition>,
        /// Which notes annotators can add to an answer.
        pub remarks: RemarkForm,
        /// Current labels.
        pub labels: u32,
        /// Annotators who have a current label for it.
        pub annotators_with_labels: u32,
        /// How it was edited since it was added.
        pub edits: QuestionEdits,
    }

    /// How a question was edited since it was added.
    #[derive(Default)]
    pub struct QuestionEdits {
        /// Every time, the first one first.
        pub edits: Vec<QuestionEditInfo>,
        /// Current labels that were given before the last one.
        pub labels_before: u32,
    }

    pub struct QuestionEditInfo {
        /// When, in milliseconds since 1970-01-01 UTC.
        pub at: f64,
        /// What changed.
        pub parts: Vec<QuestionPart>,
    }

    /// What can change of a question.
    #[derive(Copy, Eq)]
    pub enum QuestionPart {
        /// The sentence that is asked.
        Text,
        /// Help and anchors.
        Help,
        /// Names and definitions of levels.
        LevelNames,
        /// Levels added, removed or put in another order.
        Levels,
        /// Whether it offers "cannot say".
        CannotSay,
    }

    /// A question as it is to be.
    pub struct QuestionDraft {
        /// The sentence an annotator reads.
        pub prompt: String,
        /// The help text shown with it.
        pub help: QuestionHelp,
        /// All its levels, in their order.
        pub levels: Vec<LevelEdit>,
        /// Whether it offers "cannot say".
        pub cannot_say: bool,
        /// Where it is asked; everywhere without one.
        pub only_if: Option<Condition>,
        /// Which notes annotators can add to an answer.
        pub remarks: RemarkForm,
    }

    /// What depends on a level, so that it cannot be removed; empty if it can be.
    pub struct LevelUseInfo {
        /// In words: `12 answers, 1 decision stand`.
        pub words: Option<String>,
        /// Whether it was answered; an answered level keeps its position among the other answered ones if
        /// levels are ordered.
        pub answered: bool,
    }

    /// An attribute of annotators.
    pub struct AttributeInfo {
        pub name: String,
        /// Values in use, most frequent first.
        pub values: Vec<String>,
    }

    /// An annotator to choose.
    pub struct AnnotatorInfo {
        /// Its row.
        pub id: AnnotatorId,
        /// Its name in files.
        pub external_id: String,
        /// Its name on screen.
        pub name: String,
        /// Attributes of the person.
        pub attributes: Attributes,
        /// True if the labels were simulated.
        pub simulated: bool,
        /// Current labels, all questions.
        pub labels: u32,
        /// True if all data of the person came from a file, and nothing was given in a window or by the
        /// command.
        pub imported: bool,
    }

    /// How far the embeddings of the open project are.
    pub struct EncodingState {
        /// The encoder version in use, e.g. `all-MiniLM-L6-v2/53aa51172d14/mean/256`; none before the first
        /// encoding.
        pub version: Option<String>,
        /// Texts with an embedding of that version.
        pub encoded: u32,
        /// Texts in all.
        pub total: u32,
        /// Why encoding cannot start, if it cannot.
        pub problem: Option<Problem>,
    }

    /// What predicts for a question, exactly.
    pub struct ActiveModel {
        pub question: QuestionId,
        /// Key of the encoder version whose embeddings it is fitted on; none without embeddings.
        pub encoder: Option<String>,
        /// How token vectors become one.
        pub pooling: Option<String>,
        /// How exactly they are computed.
        pub precision: Option<String>,
        /// The run whose encoder that is.
        pub run: Option<u32>,
        /// True where that run tuned the encoder; false where it was trained on a frozen one.
        pub tuned: bool,
        /// The annotator model: `multilevel`, whichever model a run trained.
        pub model: String,
        /// Labels that it was last fitted on; none while it is not fitted.
        pub fitted_on: Option<u32>,
        /// Labels and retractions since, each of which it has learned.
        pub learned_since: u32,
        /// When it was fitted.
        pub fitted_at: Option<f64>,
        /// Labels of the question now.
        pub labels: u32,
    }

    /// Choices that are stored in the project, so that it opens as it was left.
    #[derive(Default)]
    pub struct ProjectChoices {
        /// The annotator who labelled last.
        pub annotator: Option<AnnotatorId>,
        /// The question shown last.
        pub question: Option<QuestionId>,
        /// The order of texts chosen last.
        pub order: TextOrder,
        /// The view shown last: `findings`, `findings-texts`, `label`; of earlier versions `overview`,
        /// `disagreement`.
        pub view: Option<String>,
        /// The attribute annotators were grouped by last.
        pub group_by: Option<String>,
        /// The groups that were compared last.
        pub compared: Option<GroupsChoice>,
        /// What was wanted of the study last.
        pub plan: Option<PlanWish>,
        /// The questions that are on one screen, in their order; none where one is asked at a time.
        #[serde(default)]
        pub screen: Vec<QuestionId>,
    }
}
