//! Why a prediction is what it is.

use dissensus_domain::{AnnotatorId, Answer, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// The prediction to explain.
    #[derive(Copy, Eq)]
    pub struct ExplainQuery {
        pub question: QuestionId,
        pub text: TextId,
        /// Whose prediction.
        pub annotator: AnnotatorId,
        /// A second annotator, to see why the two differ.
        pub with: Option<AnnotatorId>,
        /// As if they had not labelled the text: what was predicted of them before the answer.
        pub without_own: bool,
    }

    /// The odds that an explanation takes apart.
    #[derive(Copy, Eq)]
    pub struct ExplainedOdds {
        /// The level (index).
        pub level: u16,
        /// Choice scales: the level (index) that it is compared with. `None` on ordered scales, where an
        /// answer of `level` or above is compared with one below.
        pub against: Option<u16>,
    }

    /// A part of a prediction.
    #[derive(Copy, Eq, Hash)]
    pub enum ScorePartKind {
        /// The average annotator on a text of score 0.
        Average,
        /// The contribution of the text's words.
        Words,
        /// What the other annotators' labels of this text add.
        Others,
        /// What this annotator's own label of this text adds.
        OwnLabel,
        /// The annotator's severity; on choice scales how much more readily the annotator takes the level.
        Severity,
        /// How far this threshold of the annotator is from the average one, beyond the severity.
        Thresholds,
        /// How much more or less strongly the annotator reacts to what this text is about.
        Slope,
        /// The contribution of the annotator's discrimination: how much more or less closely than the
        /// average annotator the labels follow texts.
        Discrimination,
    }

    /// A part and how much it adds.
    #[derive(Copy)]
    pub struct ScorePart {
        pub part: ScorePartKind,
        /// Logits that it adds.
        pub value: f64,
    }

    /// A label of the annotator that moves the prediction.
    pub struct InfluentialLabel {
        /// The labelled text.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// Its body, cut to 280 characters.
        pub snippet: String,
        /// The label.
        pub answer: Answer,
        /// Effect of the label: on ordered scales, in expected levels (on a binary scale the probability of
        /// the upper level); on choice scales, in the probability of the explained level. Above 0 if the
        /// prediction would be lower without it.
        pub change: f64,
    }

    /// A text that is near the explained one.
    pub struct NearText {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// Its body, cut to 280 characters.
        pub snippet: String,
        /// Cosine of the two embeddings, -1 to 1.
        pub similarity: f32,
        /// What the annotator answered; of texts on which people agreed, what most of them did.
        pub answer: Answer,
        /// Labels behind the answer.
        pub labels: u32,
    }

    /// One annotator's prediction in its parts.
    pub struct ExplainedAnnotator {
        pub annotator: AnnotatorId,
        /// Name on screen.
        pub name: String,
        /// Whether the prediction is hidden because the person is labelling and has not answered this text;
        /// nothing about it is returned then.
        pub hidden: bool,
        /// Labels that the model of this person is based on.
        pub labels: u32,
        /// What the person answered on this text.
        pub observed: Option<Answer>,
        /// What the person answered or is predicted to answer and why, in two sentences; empty while hidden.
        pub sentence: String,
        /// The prediction, a probability a level; empty while hidden.
        pub distribution: Vec<f64>,
        /// The parts, whose sum is `score`; empty while hidden. A part that the scale or the model does not
        /// have is not listed.
        pub parts: Vec<ScorePart>,
        /// Their sum, in logits.
        pub score: f64,
        /// The logarithm of the odds: the score shrunk towards even odds, because text and annotator are not
        /// known exactly.
        pub log_odds: f64,
        /// The probability that these odds are.
        pub probability: f64,
        /// Labels of others on this text.
        pub others: u32,
        /// The labels of this annotator that move the prediction most, the strongest first.
        pub influences: Vec<InfluentialLabel>,
        /// The nearest texts that this annotator labelled.
        pub nearest: Vec<NearText>,
    }

    /// How much one part contributes to the difference between two annotators.
    #[derive(Copy)]
    pub struct PartDifference {
        /// The part; `None` for what is drawn off because text and annotator are not known exactly.
        pub part: Option<ScorePartKind>,
        /// The first annotator's minus the second's, in logits.
        pub value: f64,
    }

    /// Why one annotator, or two, are predicted to answer a text as they are.
    pub struct Explanation {
        /// The text; `None` for one that is not in the project.
        pub text: Option<TextId>,
        /// The odds taken apart; `None` where all is hidden.
        pub odds: Option<ExplainedOdds>,
        /// The annotators asked for, in that order.
        pub annotators: Vec<ExplainedAnnotator>,
        /// For two annotators: the differences of the parts of their odds, the largest first. Their sum is
        /// the difference of the logarithms of the odds.
        pub differences: Vec<PartDifference>,
        /// The nearest texts on which people agreed: two labels or more, split 0.1 or less of its maximum.
        pub agreed: Vec<NearText>,
        /// What to know about it, such as a missing encoder.
        pub remark: Option<String>,
    }

    /// A word, or some words that are left out together, and what the score loses without it.
    pub struct WordEffect {
        /// The words with the characters that follow them; all of them in order make up the text.
        pub words: String,
        /// Logits: the score of the whole text minus the score without these words.
        pub change: f64,
    }

    /// The words that carry a text's score: the effect of leaving them out on the score of the text's
    /// embedding, which is not a causal effect.
    pub struct ExplainedWords {
        /// The odds that the score is of.
        pub odds: ExplainedOdds,
        /// The score of the whole text, as of a text without labels, in logits.
        pub score: f64,
        pub pieces: Vec<WordEffect>,
        /// How many words are left out at a time.
        pub together: u32,
        /// Why there are none; `None` where there are some.
        pub needs: Option<String>,
        /// What labels of this text have to do with the score; `None` where it has none.
        pub remark: Option<String>,
    }
}
