//! Labelling: the current text, the label, and the progress.

use dissensus_domain::{AnnotatorId, Answer, Note, QuestionId, SpanSet, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// The order of texts.
    #[derive(Default)]
    pub enum TextOrder {
        /// In the order of the file.
        #[default]
        File,
        /// Random, with the same order for one annotator each time.
        Random,
        /// The most informative texts for the annotator's model (BALD).
        Informative,
        /// Texts on which annotators are predicted to disagree most, with a share of random texts.
        Disagreement,
    }

    /// A text to label.
    pub struct LabelTask {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
        /// Document or thread.
        pub group: Option<String>,
        /// 1, or 2 if a packet asks it again.
        pub occasion: u16,
        /// Whether the question is asked about this text: false if this annotator's answers do not meet its
        /// condition.
        pub asked: bool,
        /// This annotator's earlier answer, if any.
        pub answer: Option<Answer>,
        /// This annotator's note on it.
        pub note: Note,
        /// The note that was typed on this computer and not saved, if it differs.
        pub draft: Option<Note>,
        /// Flagged by this annotator.
        pub flagged: bool,
        /// Skipped by this annotator.
        pub skipped: bool,
        /// Drawn at random rather than chosen by the order.
        pub random: bool,
        /// The models' predictions; only after an answer, and if the study reveals them.
        pub reveal: Option<TextPredictions>,
        /// What the other annotators marked, for a question with spans; only after an answer, and if the
        /// study reveals it.
        pub spans: Option<Vec<PersonSpans>>,
    }

    /// The spans that one annotator marked in a text.
    pub struct PersonSpans {
        pub annotator: AnnotatorId,
        pub name: String,
        /// The marked spans; none is an answer too.
        pub spans: SpanSet,
    }

    /// A label to record.
    pub struct NewLabel {
        /// The answered question.
        pub question: QuestionId,
        /// The annotator.
        pub annotator: AnnotatorId,
        /// The text judged.
        pub text: TextId,
        pub answer: Answer,
        /// How long the text was on screen.
        pub duration_ms: Option<u32>,
    }

    /// Additional data of an answer.
    #[derive(Default)]
    pub struct LabelDetails {
        /// The annotator's note on the answer.
        pub note: Note,
        /// The identity of the version of the guideline that is on screen.
        pub guideline: Option<String>,
    }

    /// Which notes to list.
    #[derive(Default)]
    pub struct NoteQuery {
        pub question: Option<QuestionId>,
        pub annotator: Option<AnnotatorId>,
        /// Only notes that contain all of these words, or whose reason, text or text id does.
        pub words: String,
        /// Only notes with this reason.
        pub reason: Option<String>,
        /// Only flagged texts.
        pub flagged: bool,
    }

    /// One person's note or flag on an answer.
    pub struct NoteInfo {
        pub question: QuestionId,
        pub question_name: String,
        pub text: TextId,
        /// Its name in files.
        pub text_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
        pub annotator: AnnotatorId,
        pub annotator_name: String,
        /// 1, or the later annotation round in which the text was asked again.
        pub occasion: u16,
        /// Their current answer in that round.
        pub answer: Option<String>,
        /// Their note.
        #[serde(flatten)]
        pub note: Note,
        /// Whether they flagged the text.
        pub flagged: bool,
        /// Whether they skipped it, and have not answered since.
        pub skipped: bool,
        /// The number of the version of the guideline that they had on screen when they answered.
        pub guideline: Option<u32>,
        /// When they last changed something.
        pub at: f64,
    }

    /// Confirmation of a label, which is on disk by then.
    pub struct LabelReceipt {
        /// The annotator's progress now.
        pub progress: Progress,
        /// The predictions for the other annotators; `None` if the study does not reveal them, or nothing is
        /// predicted.
        pub reveal: Option<TextPredictions>,
        /// What the other annotators marked, for a question with spans; `None` if the study does not reveal
        /// it.
        pub spans: Option<Vec<PersonSpans>>,
    }

    /// The retracted label.
    pub struct Undone {
        /// The question of the label.
        pub question: QuestionId,
        /// The text of the label.
        pub text: TextId,
        /// 1, or the later annotation round of the answer.
        pub occasion: u16,
        /// The retracted answer.
        pub answer: Answer,
        /// The note on the answer.
        pub note: Note,
        /// The answer that counts now, if there was an earlier one.
        pub now: Option<Answer>,
        /// The annotator's progress now.
        pub progress: Progress,
    }

    /// The progress of an annotator with one question, or with several on one screen.
    #[derive(Default)]
    pub struct Progress {
        /// Texts labelled today (local time) minus retractions; for several questions, the texts that were
        /// finished today.
        pub today: u32,
        /// Texts on which this annotator has answered every question that is asked.
        pub done: u32,
        /// Number of texts about which a question is asked.
        pub total: u32,
        /// Texts of which every unanswered question was skipped.
        pub skipped: u32,
        /// Texts flagged.
        pub flagged: u32,
        /// Texts that this annotator leaves out and has not answered; they are not in `total`.
        #[serde(default)]
        pub left_out: u32,
    }

    /// The models' predictions for a text that the annotator has answered. For a multi-label question every
    /// entry is about one option: the probability that it is chosen.
    pub struct TextPredictions {
        /// Mean over the other annotators' models, one probability per level.
        pub others: Vec<f32>,
        /// This annotator's own model *before* this answer was learned, one probability per level.
        pub mine: Vec<f32>,
        /// Number of other annotators in the mean.
        pub annotators: u32,
        /// Share of the others' labels on each level, if there are any.
        pub observed: Option<Vec<f32>>,
        /// The probability that two of all annotators, including this one, differ on this text: labels where
        /// they are given, predictions elsewhere. For a multi-label question, its mean over the options.
        pub pairwise: f32,
    }
}
