//! Explanations of predictions.

use dissensus_domain::{AnnotatorId, Answer, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// The prediction to explain.
    #[derive(Copy, Eq)]
    pub struct ExplainQuery {
        pub question: QuestionId,
        pub text: TextId,
        /// The annotator of the prediction.
        pub annotator: AnnotatorId,
        /// A second annotator, to see why the two differ.
        pub with: Option<AnnotatorId>,
        /// Explains the prediction without the annotators' own labels of the text, as it was before their
        /// answers.
        pub without_own: bool,
    }

    /// The odds that are explained.
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
        /// The contribution of the other annotators' labels of this text.
        Others,
        /// The contribution of this annotator's own label of this text.
        OwnLabel,
        /// The annotator's severity; on choice scales how much more readily the annotator takes the level.
        Severity,
        /// How far this threshold of the annotator is from the average one, beyond the severity.
        Thresholds,
        /// How much more or less strongly the annotator reacts to the topic of this text.
        Slope,
        /// The contribution of the annotator's discrimination: how much more or less closely than the
        /// average annotator the labels follow texts.
        Discrimination,
    }

    /// A part and its contribution.
    #[derive(Copy)]
    pub struct ScorePart {
        pub part: ScorePartKind,
        /// Contribution in logits.
        pub value: f64,
    }

    /// A label of the annotator that influences the prediction.
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

    /// A text that is similar to the explained one.
    pub struct NearText {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// Its body, cut to 280 characters.
        pub snippet: String,
        /// Cosine of the two embeddings, -1 to 1.
        pub similarity: f32,
        /// The annotator's answer; for texts on which people agreed, the most frequent answer.
        pub answer: Answer,
        /// Number of labels behind the answer.
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
        /// The person's answer to this text.
        pub observed: Option<Answer>,
        /// The answer or the prediction and its reasons, in two sentences; empty while hidden.
        pub sentence: String,
        /// The prediction, one probability per level; empty while hidden.
        pub distribution: Vec<f64>,
        /// The parts, whose sum is `score`; empty while hidden. A part that the scale or the model does not
        /// have is not listed.
        pub parts: Vec<ScorePart>,
        /// Their sum, in logits.
        pub score: f64,
        /// The logarithm of the odds: the score shrunk towards even odds, because text and annotator are not
        /// known exactly.
        pub log_odds: f64,
        /// The probability that corresponds to these odds.
        pub probability: f64,
        /// Number of labels of others on this text.
        pub others: u32,
        /// The labels of this annotator with the largest influence on the prediction, the strongest first.
        pub influences: Vec<InfluentialLabel>,
        /// The nearest texts that this annotator labelled.
        pub nearest: Vec<NearText>,
    }

    /// How much one part contributes to the difference between two annotators.
    #[derive(Copy)]
    pub struct PartDifference {
        /// The part; `None` for the shrinkage because text and annotator are not known exactly.
        pub part: Option<ScorePartKind>,
        /// The first annotator's minus the second's, in logits.
        pub value: f64,
    }

    /// Explains the predicted answers of one or two annotators to a text.
    pub struct Explanation {
        /// The text; `None` for one that is not in the project.
        pub text: Option<TextId>,
        /// The explained odds; `None` if all is hidden.
        pub odds: Option<ExplainedOdds>,
        /// The requested annotators, in the requested order.
        pub annotators: Vec<ExplainedAnnotator>,
        /// For two annotators: the differences of the parts of their odds, the largest first. Their sum is
        /// the difference of the logarithms of the odds.
        pub differences: Vec<PartDifference>,
        /// The nearest texts on which people agreed: two labels or more, split 0.1 or less of its maximum.
        pub agreed: Vec<NearText>,
        /// A note, for example on a missing encoder.
        pub remark: Option<String>,
    }

    /// A word, or words that are left out together, and the effect of leaving it out.
    pub struct WordEffect {
        /// The words with the characters that follow them; all of them in order make up the text.
        pub words: String,
        /// Logits: the score of the whole text minus the score without these words.
        pub change: f64,
    }

    /// The words that carry a text's score: the effect of leaving them out on the score of the text's
    /// embedding, which is not a causal effect.
    pub struct ExplainedWords {
        /// The odds to which the score belongs.
        pub odds: ExplainedOdds,
        /// The score of the whole text, as of a text without labels, in logits.
        pub score: f64,
        pub pieces: Vec<WordEffect>,
        /// Number of words that are left out at a time.
        pub together: u32,
        /// Why there are no words; `None` if there are.
        pub needs: Option<String>,
        /// A note on the role of labels of this text in the score; `None` if it has none.
        pub remark: Option<String>,
    }
}
