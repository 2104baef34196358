//! The open project: its content, and the models that predict for it.

use super::{GroupsChoice, PlanRequest, StudyCare};
use super::{Problem, TextOrder};
use dissensus_domain::{
    AnnotatorId, Attributes, Condition, Language, LevelEdit, LevelId, NoteForm, QuestionHelp, QuestionId,
    Scale,
};
use serde::{Deserialize, Serialize};

view! {
    /// The open project.
    pub struct ProjectInfo {
        /// Where the file is.
        pub path: String,
        /// File name without its extension.
        pub name: String,
        /// Number of all texts.
        pub texts: u32,
        /// Number of all annotators.
        pub annotators: u32,
        /// How many of them have no label yet, for any question.
        pub annotators_without_labels: u32,
        /// Number of all current labels.
        pub labels: u32,
        /// The questions.
        pub questions: Vec<QuestionInfo>,
        /// Names of the annotators' attributes, and their values in use.
        pub attributes: Vec<AttributeInfo>,
        /// Whether other people's views of a text are revealed to a person who has answered it; never in a
        /// packet.
        pub reveals: bool,
        /// Current labels of people to whom other people's data on the text had been revealed before.
        pub labels_after_shown: u32,
        /// The study's settings for the care of its annotators.
        pub care: StudyCare,
        /// The language in which annotators use the desk; none leaves it to each person's system.
        pub language: Option<Language>,
        /// Notice for simulated annotators, shown wherever labels are: who they are and how their labels
        /// were made.
        pub simulated_notice: Option<String>,
        /// State of the embeddings.
        pub encoding: EncodingState,
        /// The last choices in this project.
        pub choices: ProjectChoices,
        /// The annotator and the questions of this packet; none for a whole project.
        pub packet: Option<PacketInfo>,
        /// Whether it is open read-only.
        pub read_only: bool,
        /// Notice that the journal of another file was found next to the project when it was opened, and
        /// where it was moved.
        pub journal_notice: Option<String>,
        /// Notice that the project is in a folder that a service synchronises, and what to do.
        pub sync_notice: Option<String>,
        /// Notice that the project is on a network share, and what to do.
        pub network_notice: Option<String>,
        /// Notice that other users of this computer can read the project, and what to do.
        pub readable_notice: Option<String>,
        /// Notice that the last automatic backup failed, and what to do.
        pub backup_notice: Option<String>,
    }

    /// Whether the disk of the open project is encrypted.
    pub struct DiskInfo {
        pub encryption: DiskEncryption,
        /// The same in words, with advice where it is not encrypted.
        pub sentence: String,
    }

    /// What the system says of the encryption of a disk.
    #[derive(Copy, Eq)]
    pub enum DiskEncryption {
        /// The system encrypts it.
        Encrypted,
        /// The system does not encrypt it; the drive itself or another program may.
        NotEncrypted,
        /// The system does not say.
        Unknown,
    }

    /// The task packet of one person.
    pub struct PacketInfo {
        /// The annotator.
        pub annotator: AnnotatorId,
        /// The questions about each text, in this order.
        pub questions: Vec<QuestionId>,
    }

    /// A question and the progress of its labelling.
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
        pub cannot_say_answers: u32,
        /// For a multi-label question its options, each as a yes/no question, to which models, figures and
        /// views refer.
        pub options: Vec<QuestionInfo>,
        /// Condition under which it is asked; always if none.
        pub only_if: Option<Condition>,
        /// Which notes annotators can add to an answer.
        pub note_form: NoteForm,
        /// Current labels.
        pub labels: u32,
        /// Annotators who have a current label for it.
        pub annotators_with_labels: u32,
        /// Edits since the question was added.
        pub edits: QuestionEdits,
    }

    /// Edits of a question since it was added.
    #[derive(Default)]
    pub struct QuestionEdits {
        /// All edits, the oldest first.
        pub edits: Vec<QuestionEditInfo>,
        /// Current labels that were given before the last edit.
        pub labels_before: u32,
    }

    pub struct QuestionEditInfo {
        /// Time of the edit, in milliseconds since 1970-01-01 UTC.
        pub at: f64,
        /// The edited parts.
        pub parts: Vec<QuestionPart>,
    }

    /// Parts of a question that can be edited.
    #[derive(Copy, Eq)]
    pub enum QuestionPart {
        /// The prompt.
        Text,
        /// Help and anchors.
        Help,
        /// Names and definitions of levels.
        LevelNames,
        /// Levels added, removed or reordered.
        Levels,
        /// Whether it offers "cannot say".
        CannotSay,
    }

    /// A question to save.
    pub struct QuestionDraft {
        /// The sentence an annotator reads.
        pub prompt: String,
        /// The help text shown with it.
        pub help: QuestionHelp,
        /// All its levels, in their order; unchanged if none.
        pub levels: Option<Vec<LevelEdit>>,
        /// The levels when editing them began: if they differ by now, the edit is refused.
        pub levels_before: Option<Vec<LevelEdit>>,
        /// Whether it offers "cannot say".
        pub cannot_say: bool,
        /// Condition under which it is asked; always if none.
        pub only_if: Option<Condition>,
        /// Which notes annotators can add to an answer.
        pub note_form: NoteForm,
    }

    /// What depends on a level, so that it cannot be removed; empty if it can be.
    pub struct LevelUseInfo {
        pub level: LevelId,
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

    /// An annotator in a list.
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
        /// Number of current labels, over all questions.
        pub labels: u32,
        /// True if all data of the person came from a file, and nothing was given in a window or by the
        /// command.
        pub imported: bool,
    }

    /// Progress of the embeddings of the open project.
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

    /// The exact model that predicts for a question.
    pub struct ActiveModel {
        pub question: QuestionId,
        /// Key of the encoder version whose embeddings it is fitted on; none without embeddings.
        pub encoder: Option<String>,
        /// How token vectors are combined into one.
        pub pooling: Option<String>,
        /// The precision of their computation.
        pub precision: Option<String>,
        /// The run of that encoder.
        pub run: Option<u32>,
        /// True if that run tuned the encoder; false if it was trained on a frozen one.
        pub tuned: bool,
        /// The annotator model: `multilevel`, regardless of the model that a run trained.
        pub model: String,
        /// Number of labels that it was last fitted on; none while it is not fitted.
        pub fitted_on: Option<u32>,
        /// Labels and retractions since, all of which it has learned.
        pub learned_since: u32,
        /// Time of the fit.
        pub fitted_at: Option<f64>,
        /// Current number of labels of the question.
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
        /// The attribute by which annotators were grouped last.
        pub group_by: Option<String>,
        /// The groups that were compared last.
        pub compared: Option<GroupsChoice>,
        /// The last requirements of the study plan.
        pub plan: Option<PlanRequest>,
        /// The questions that are on one screen, in their order; none if one is asked at a time.
        #[serde(default)]
        pub screen: Vec<QuestionId>,
    }
}
