//! Disagreement: texts in order of it, and one text.

use super::Estimation;
use dissensus_domain::{AnnotatorId, Answer, Attributes, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// Which measure ranks.
    #[derive(Default)]
    pub enum DisagreementMeasure {
        /// The chance that two annotators differ.
        #[default]
        Pairwise,
        /// Jensen-Shannon divergence.
        Divergence,
        /// Mean entropy.
        Uncertainty,
    }

    /// What to rank.
    pub struct DisagreementQuery {
        /// The question.
        pub question: QuestionId,
        /// The measure to rank by.
        pub by: DisagreementMeasure,
        /// Only texts that contain this, in any case.
        pub search: Option<String>,
        /// Only annotators with all of these values.
        pub attributes: Attributes,
        /// Only texts with observed labels.
        pub labelled_only: bool,
    }

    /// The three disagreement measures of a text, each with what they stand on.
    pub struct DisagreementScores {
        /// The chance that two annotators drawn at random differ, 0 to 1: the headline.
        pub pairwise: f32,
        /// Lower and upper end of its 90 % interval: the model's own doubt.
        pub pairwise_interval: (f32, f32),
        /// Jensen-Shannon divergence between annotators, in bits: the part that is between people.
        pub divergence: f32,
        /// Mean entropy of one annotator's distribution, in bits: uncertainty within people.
        pub uncertainty: f32,
        /// Variance between annotators' expected levels; ordinal scales only.
        pub level_variance: Option<f32>,
    }

    /// Texts in order of predicted disagreement.
    pub struct Ranking {
        /// Grows whenever predictions change.
        pub revision: u32,
        /// Texts, most disagreement first.
        pub texts: Vec<TextId>,
        /// Annotators the measures run over.
        pub annotators: u32,
        /// Those of them who have no label for the question yet, and are predicted from what is known of everyone.
        pub annotators_without_labels: u32,
        /// What to know about these predictions, such as a missing encoder.
        pub remark: Option<String>,
        /// How the variances behind them were estimated; none without a live model.
        pub estimation: Option<Estimation>,
    }

    /// One text of the ranking.
    pub struct DisagreementRow {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// The body, cut to 280 characters.
        pub snippet: String,
        /// Mean prediction over the chosen annotators, a probability a level.
        pub distribution: Vec<f32>,
        /// How much they would disagree.
        pub scores: DisagreementScores,
        /// Current labels on each level by the chosen annotators.
        pub observed: Vec<u32>,
        /// Chance that two of those labels differ; needs two.
        pub observed_pairwise: Option<f32>,
    }

    /// One annotator's distribution on a text.
    pub struct AnnotatorPrediction {
        /// Who.
        pub annotator: AnnotatorId,
        /// Name on screen.
        pub name: String,
        /// What is known of the person.
        pub attributes: Attributes,
        /// True where no person stands behind the labels.
        pub simulated: bool,
        /// A probability a level; `None` while blind: the person is labelling and has not answered this text.
        pub distribution: Option<Vec<f32>>,
        /// Mean level (index), ordinal and binary scales.
        pub expected: Option<f32>,
        /// What the person answered.
        pub observed: Option<Answer>,
        /// Labels the model of this person stands on.
        pub labels: u32,
    }

    /// A group of annotators on a text.
    pub struct GroupPrediction {
        /// Value of the attribute, or "not known".
        pub value: String,
        /// How many annotators.
        pub annotators: u32,
        /// Mean prediction, a probability a level.
        pub distribution: Vec<f32>,
    }

    /// Everything about one text.
    pub struct TextDetail {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
        /// Document or thread.
        pub group: Option<String>,
        /// The part of the official split.
        pub split: Option<String>,
        /// Other columns of the file it came from.
        pub metadata: Vec<(String, String)>,
        /// How much annotators would disagree.
        pub scores: DisagreementScores,
        /// Everyone's distribution, lowest expected level first.
        pub annotators: Vec<AnnotatorPrediction>,
        /// The same by the chosen attribute.
        pub groups: Vec<GroupPrediction>,
    }
}
