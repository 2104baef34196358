//! Verdicts of panels.

use dissensus_domain::{PanelShare, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// Members of a panel, and its rule.
    pub struct PanelRequest {
        pub question: QuestionId,
        /// The members by external id or name; drawn at random if empty.
        pub members: Vec<String>,
        /// Number of members to draw.
        pub size: u32,
        /// Shares of attribute values among the drawn members.
        pub shares: Vec<PanelShare>,
        /// Seed of the draws.
        pub seed: u32,
        /// The rule in text form: majority, mean, median, veto:LEVEL, quorum:MEMBERS@LEVEL.
        pub rule: String,
        /// How many panels to draw in addition to the first, to see how far the verdict depends on its
        /// members.
        pub draws: u32,
    }

    /// The order of texts.
    #[derive(Copy, Default)]
    pub enum PanelOrder {
        /// Texts with the least certain verdict first.
        #[default]
        Unsure,
        /// Texts whose verdict depends most on the drawn members first.
        Members,
        /// Texts on which the two compositions differ most first.
        Apart,
    }

    /// A panel that is saved under a name.
    pub struct SavedPanelInfo {
        pub name: String,
        /// The question's name; none if the panel is for any question.
        pub question: Option<String>,
        /// The members by external id; none if they are drawn.
        pub members: Vec<String>,
        /// Number of members to draw.
        pub size: u32,
        /// Shares of attribute values among the drawn members.
        pub shares: Vec<PanelShare>,
        /// Seed of the draws.
        pub seed: u32,
        pub rule: String,
        /// When it was saved.
        pub saved_at: f64,
    }

    /// A description of a panel.
    pub struct PanelInfo {
        /// The question's name.
        pub question: String,
        pub rule: String,
        /// Possible outcomes, in the order of all probabilities.
        pub outcomes: Vec<String>,
        /// External ids of the members, for a recipe those of the first panel drawn.
        pub members: Vec<String>,
        /// Number of members who have no label on this question; they are predicted as average people.
        pub strangers: u32,
        /// Number of people from whom a recipe draws: those with labels; none if members are named.
        pub pool: Option<u32>,
        /// Number of panels drawn.
        pub draws: u32,
        /// The confidence level of all ranges and intervals.
        pub level: f64,
        /// False if majorities of so large a panel are estimated by simulation, within a standard error of
        /// 0.01.
        pub exact: bool,
    }

    /// Verdicts on texts, the least certain first.
    pub struct PanelVerdicts {
        pub panel: PanelInfo,
        /// The panel to compare with, if one was requested.
        pub compared: Option<PanelInfo>,
        pub texts_in_all: u32,
        /// The shown texts.
        pub texts: Vec<PanelText>,
    }

    /// The expected verdict of a panel on a text.
    pub struct PanelText {
        /// The text; none for a text of another file.
        pub text: Option<TextId>,
        /// Its name in files.
        pub text_id: String,
        /// Beginning of the text.
        pub snippet: String,
        /// The panel's verdict.
        pub verdict: PanelVerdict,
        /// Members who answered this text; their answers are used instead of predictions.
        pub answered: u32,
        /// The verdicts with other members of the same recipe.
        pub others: Option<PanelOthers>,
        /// The expected verdict of the panel to compare with.
        pub comparison: Option<PanelComparison>,
    }

    /// An expected verdict.
    pub struct PanelVerdict {
        /// Index of the likeliest outcome.
        pub likeliest: u32,
        /// Probabilities of the outcomes.
        pub probabilities: Vec<f64>,
        /// Certainty: the probability of the likeliest outcome.
        pub sure: f64,
        /// The central range (`level`) of that probability if the text were known exactly.
        pub range: (f64, f64),
        /// Whether nearly any probability of it is possible, so that labels of this text would help.
        pub too_little: bool,
        /// For the rule of means: the mean level expected, counted from 1, and the interval that contains it
        /// with the probability `level`.
        pub mean: Option<(f64, f64, f64)>,
    }

    /// The verdicts of many panels drawn from one recipe.
    pub struct PanelOthers {
        /// For each outcome the share of panels for which it is the likeliest.
        pub shares: Vec<f64>,
        /// Probabilities of the outcomes, averaged over the panels.
        pub probabilities: Vec<f64>,
        /// Share of the panels whose likeliest outcome differs from the most frequent one.
        pub otherwise: f64,
    }

    /// The verdict of another composition on the same text.
    pub struct PanelComparison {
        pub verdict: PanelVerdict,
        /// Its probabilities, averaged over its panels.
        pub probabilities: Vec<f64>,
        /// Half the sum of the differences between these and those of the first composition, from 0 to 1.
        pub apart: f64,
    }
}
