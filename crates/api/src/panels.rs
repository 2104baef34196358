//! Verdicts of panels.

use dissensus_domain::{PanelShare, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// Who sits on a panel, and its rule.
    pub struct PanelWish {
        pub question: QuestionId,
        /// The members by external id or name; drawn at random if empty.
        pub members: Vec<String>,
        /// Members to draw.
        pub size: u32,
        /// Shares of values of attributes among those drawn.
        pub shares: Vec<PanelShare>,
        /// What draws them.
        pub seed: u32,
        /// The rule as it is written: majority, mean, median, veto:LEVEL, quorum:MEMBERS@LEVEL.
        pub rule: String,
        /// How many panels to draw in addition to the first, to see how far the verdict depends on its
        /// members.
        pub draws: u32,
    }

    /// Which texts come first.
    #[derive(Copy, Default)]
    pub enum PanelOrder {
        /// Those whose verdict is least sure.
        #[default]
        Unsure,
        /// Those whose verdict depends most on who of the recipe sits on the panel.
        Members,
        /// Those on which the two compositions are furthest apart.
        Apart,
    }

    /// A panel that is saved under a name.
    pub struct KeptPanel {
        pub name: String,
        /// The question's name; none where it is asked of whichever question is looked at.
        pub question: Option<String>,
        /// The members by external id; none where they are drawn.
        pub members: Vec<String>,
        /// Members to draw.
        pub size: u32,
        /// Shares of values of attributes among those drawn.
        pub shares: Vec<PanelShare>,
        /// What draws them.
        pub seed: u32,
        pub rule: String,
        /// When it was saved.
        pub saved_at: f64,
    }

    /// The panel that verdicts are of.
    pub struct PanelInfo {
        /// The question's name.
        pub question: String,
        pub rule: String,
        /// What it may decide, in the order of all probabilities.
        pub outcomes: Vec<String>,
        /// External ids of the members, of a recipe those of the first panel drawn.
        pub members: Vec<String>,
        /// Members who have no label on this question: they are predicted as average people.
        pub strangers: u32,
        /// People that a recipe draws from: those with labels; none where members are named.
        pub pool: Option<u32>,
        /// Panels drawn.
        pub draws: u32,
        /// The level of all ranges and intervals.
        pub level: f64,
        /// False where majorities of so large a panel are drawn by chance, within a standard error of 0.01.
        pub exact: bool,
    }

    /// Verdicts on texts, the least sure first.
    pub struct PanelVerdicts {
        pub panel: PanelInfo,
        /// The panel to compare with, if one was requested.
        pub beside: Option<PanelInfo>,
        pub texts_in_all: u32,
        /// Those that are shown.
        pub texts: Vec<PanelText>,
    }

    /// What a panel is expected to decide on a text.
    pub struct PanelText {
        /// The text; none of another file.
        pub text: Option<TextId>,
        /// Its name in files.
        pub text_id: String,
        /// How it begins.
        pub snippet: String,
        /// The panel's verdict.
        pub verdict: PanelVerdict,
        /// Members who answered this text; their answers are used instead of predictions.
        pub answered: u32,
        /// How it would be with other members of the same recipe.
        pub others: Option<PanelOthers>,
        /// The expected verdict of the panel to compare with.
        pub beside: Option<PanelBeside>,
    }

    /// A verdict that is expected.
    pub struct PanelVerdict {
        /// The likeliest outcome.
        pub likeliest: u32,
        /// Probabilities of the outcomes.
        pub probabilities: Vec<f64>,
        /// How sure: the probability of the likeliest.
        pub sure: f64,
        /// The ends of the central part (`level`) of that probability were the text known exactly.
        pub range: (f64, f64),
        /// Whether nearly any probability of it is possible, so that labels of this text would help.
        pub too_little: bool,
        /// For the rule of means: the mean level expected, counted from 1, and the interval that contains it
        /// with the probability `level`.
        pub mean: Option<(f64, f64, f64)>,
    }

    /// The verdicts of many panels drawn from one recipe.
    pub struct PanelOthers {
        /// Share of the panels of which each outcome is the likeliest.
        pub shares: Vec<f64>,
        /// Probabilities of the outcomes, averaged over the panels.
        pub probabilities: Vec<f64>,
        /// Share of the panels whose likeliest outcome is another than the most frequent one.
        pub otherwise: f64,
    }

    /// The verdict of another composition on the same text.
    pub struct PanelBeside {
        pub verdict: PanelVerdict,
        /// Its probabilities, averaged over its panels.
        pub probabilities: Vec<f64>,
        /// Half the sum of the differences between these and those of the first composition, from 0 to 1.
        pub apart: f64,
    }
}
