//! Disagreement: texts ranked by it, and the details of one text.

use super::Estimation;
use dissensus_domain::{AnnotatorId, Answer, Attributes, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// Measures by which texts are ranked.
    #[derive(Copy, Eq, Hash, Default)]
    pub enum DisagreementMeasure {
        /// `split`, combined with a text's labels by a weight learned from held-out labels. Texts that it
        /// cannot distinguish are adjacent, those whose labels form two camps first.
        #[default]
        Combined,
        /// Expected squared distance of two people's answers, divided by its maximum; for unordered levels
        /// the probability that they differ, divided by its maximum.
        Split,
        /// The probability that two people are two levels apart or more.
        FarApart,
        /// The probability that two people are on opposite sides of a cut.
        OppositeSides,
        /// Share of the predicted variance that is between people.
        Between,
        /// Split beyond the usual one of texts of the same mean level.
        Surprising,
        /// The widest gap between two groups of people.
        GroupGap,
        /// The probability that two annotators differ.
        Pairwise,
        /// Jensen-Shannon divergence.
        Divergence,
        /// Mean entropy.
        Uncertainty,
        /// The split of the given labels, without any prediction; needs two labels.
        Labels,
    }

    /// Two groups of annotators to compare.
    #[derive(Eq, Hash)]
    pub struct GroupChoice {
        /// The attribute that distinguishes them.
        pub attribute: String,
        /// Value of the attribute in the first group.
        pub first: String,
        /// Value of the attribute in the second group.
        pub second: String,
    }

    /// A query for a ranking of texts.
    pub struct DisagreementQuery {
        pub question: QuestionId,
        /// The measure to rank by.
        pub by: DisagreementMeasure,
        /// The lowest level (index) above the cut of `opposite_sides`; the middle of the scale with `None`.
        pub cut: Option<u16>,
        /// The groups of `group_gap`; if `None`, every value of an attribute is compared with its other
        /// values, and the widest gap counts.
        pub groups: Option<GroupChoice>,
        /// Only texts that contain this, ignoring case.
        pub search: Option<String>,
        /// Only annotators with all of these values.
        pub attributes: Attributes,
        /// Only texts with observed labels.
        pub labelled_only: bool,
    }

    /// Disagreement measures of a text. `pairwise`, `split`, `far_apart`, `mean_level` and `agreement` use
    /// the label of each person who has labelled the text and predictions for the others; the other measures
    /// use predictions only.
    pub struct DisagreementScores {
        /// The probability that two annotators drawn at random differ, 0 to 1.
        pub pairwise: f32,
        /// Lower and upper end of its 95 % interval, for the uncertainty of the model.
        pub pairwise_interval: (f32, f32),
        /// Maximum of `pairwise` for as many people.
        pub pairwise_maximum: f32,
        /// Expected squared distance of two people's answers divided by its maximum, 0 to 1; for unordered
        /// levels `pairwise` divided by its maximum.
        pub split: f32,
        /// Lower and upper end of its 95 % interval.
        pub split_interval: (f32, f32),
        /// The probability that two people are two levels apart or more; ordinal scales of three levels or
        /// more.
        pub far_apart: Option<f32>,
        /// Maximum of `far_apart` for as many people.
        pub far_apart_maximum: Option<f32>,
        /// Mean level (index), with the label of each person who has labelled the text; ordinal scales only.
        pub mean_level: Option<f32>,
        /// Van der Eijk's coefficient of agreement, -1 (half at each end) over 0 (all levels alike) to 1
        /// (one level); ordinal scales of three levels or more.
        pub agreement: Option<f32>,
        /// Share of the predicted variance that is between people, 0 to 1.
        pub between: f32,
        /// Jensen-Shannon divergence between annotators, in bits: the part that is between people.
        pub divergence: f32,
        /// Mean entropy of one annotator's distribution, in bits: uncertainty within people.
        pub uncertainty: f32,
        /// Variance between annotators' expected levels; ordinal scales only.
        pub level_variance: Option<f32>,
    }

    /// How much the spread of a text's own labels counts relative to the prediction, learned from held-out
    /// labels.
    #[derive(Copy)]
    pub struct LabelWeight {
        /// Number of labels at which they count half; `None` if they do not improve predictions of held-out
        /// labels.
        pub half_at: Option<f64>,
        /// The median number of labels of texts with two or more.
        pub labels: u32,
        /// Weight of so many labels, 0 to 1.
        pub weight: f64,
        /// Texts whose people could be divided to learn it; below 30 nothing is learned.
        pub texts: u32,
    }

    /// The border between levels at which a text's answers divide most equally.
    #[derive(Copy)]
    pub struct Border {
        /// The lowest level (index) above it.
        pub level: u16,
        /// Share of people who answer that level or a higher one: by their label, or as predicted. Without a
        /// model, of the labels only.
        pub above: f32,
        /// Its interval; `None` without a model.
        pub interval: Option<(f32, f32)>,
    }

    /// How many labels of a group are above a border.
    #[derive(Copy)]
    pub struct LabelsAbove {
        /// Labels above it.
        pub above: u32,
        /// All labels.
        pub labels: u32,
    }

    /// Texts ranked by predicted disagreement.
    #[derive(Default)]
    pub struct Ranking {
        /// Increases whenever predictions change.
        pub revision: u32,
        /// Texts, most disagreement first.
        pub texts: Vec<TextId>,
        /// The measure of each text, in the same order.
        pub values: Vec<f32>,
        /// Mean level (index) of each text, in the same order; empty for unordered scales.
        pub means: Vec<f32>,
        /// Split of each text, in the same order.
        pub splits: Vec<f32>,
        /// Mean level (index) of their labels, without predictions, in the same order; not a number with
        /// fewer than two labels, empty for unordered scales.
        pub observed_means: Vec<f32>,
        /// How split their labels are, without predictions, in the order of `observed_means`.
        pub observed_splits: Vec<f32>,
        /// Labels that the chosen annotators gave them, in the same order.
        pub labels: Vec<u32>,
        /// Number of annotators over whom the measures are computed.
        pub annotators: u32,
        /// How many of them have no label for the question yet; they are predicted as average people.
        pub annotators_without_labels: u32,
        /// A note on these predictions, for example on a missing encoder.
        pub remark: Option<String>,
        /// How the variances behind them were estimated; none without a live model.
        pub estimation: Option<Estimation>,
        /// What is missing before these figures are meaningful; `None` if there is enough data.
        pub needs: Option<String>,
        /// Sizes of groups of consecutive texts that cannot be distinguished, from the first text on; later
        /// texts are in none. For `combined` only.
        pub ties: Vec<u32>,
        /// How much labels count; for `combined` only.
        pub label_weight: Option<LabelWeight>,
        /// What the ranking is based on, in a sentence; for `combined` only.
        pub basis: Option<String>,
        /// Whether the ranking uses only labels because the models are still being fitted.
        pub by_labels: bool,
    }

    /// A group of people who answer a text differently from the others.
    pub struct GroupDifference {
        pub attribute: String,
        /// Value of the attribute in the group.
        pub value: String,
        /// The people with whom the group is compared: another value, or all others whose attribute is
        /// known.
        pub against: Option<String>,
        /// How much higher the group answers, in levels.
        pub gap: f32,
        /// Its 95 % interval.
        pub interval: (f32, f32),
        /// Labels of the group and of those it is compared with on this text.
        pub labels: (u32, u32),
        /// Whether the labels of the group on this text are further from the others' than those of people
        /// drawn at random, after correction for all texts and groups compared (false discovery rate 5 %).
        pub significant: bool,
    }

    /// The people on one side of the border that a text sits on.
    #[derive(Default)]
    pub struct SideOfBorder {
        /// Number of people who labelled the text so.
        pub labelled: u32,
        /// Number of people who did not label it and are predicted to answer so with 95 % or more.
        pub predicted: u32,
        /// The first of them, those who labelled it before those who are predicted: above the border the
        /// strictest, below it the most lenient.
        pub people: Vec<PersonOnSide>,
    }

    /// A person on one side of a border.
    pub struct PersonOnSide {
        pub annotator: AnnotatorId,
        /// Name on screen.
        pub name: String,
        /// Whether the person labelled the text; otherwise the answer is predicted.
        pub labelled: bool,
    }

    /// A text on which the answers follow people's severity: those above the median severity and those below
    /// it, in two halves.
    #[derive(Copy)]
    pub struct SeverityDifference {
        /// Whether the strict are the side that is further from the median level of all people; otherwise
        /// the lenient are.
        pub strict: bool,
        /// How much higher that side answers than the other one, in levels.
        pub gap: f32,
        /// Its 95 % interval.
        pub interval: (f32, f32),
        /// Labels of that side and of the other one on this text.
        pub labels: (u32, u32),
    }

    /// One text of the ranking.
    pub struct DisagreementRow {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// The body, cut to 280 characters.
        pub snippet: String,
        /// Mean prediction over the chosen annotators, a probability per level; given labels do not replace
        /// predictions here. Empty without a model.
        pub distribution: Vec<f32>,
        /// How much they would disagree; `None` without a model.
        pub scores: Option<DisagreementScores>,
        /// The value by which the text is ranked; not a number for `labels` with fewer than two of them.
        pub value: f32,
        /// Its 95 % interval; `None` for divergence, uncertainty and labels.
        pub interval: Option<(f32, f32)>,
        /// Its rank among the texts of the query, from 1; 0 without a model.
        pub rank: u32,
        /// First and last rank within the interval; without one those of texts with the same value.
        pub band: (u32, u32),
        /// The group that differs most from the others: for `group_gap` the one that ranks the text,
        /// otherwise only a group whose gap is significant.
        pub who: Option<GroupDifference>,
        /// The strict or the lenient, if labels show that the answers follow severity, after correction for
        /// all texts.
        pub severity: Option<SeverityDifference>,
        /// The border between levels that divides the answers; ordinal scales of three levels or more, with
        /// two labels or a model.
        pub border: Option<Border>,
        /// Whether its labels form two camps: at least a third of them on either side of a level that fewer
        /// people gave.
        pub two_camps: bool,
        /// Labels above that border of the group `who` and of those it is compared with.
        pub who_above: Option<(LabelsAbove, LabelsAbove)>,
        /// The people above that border, and those below it; needs a model.
        pub sides: Option<(SideOfBorder, SideOfBorder)>,
        /// Pairs of groups that were compared on this text, including the strict and the lenient: both have
        /// labels on it.
        pub compared: u32,
        /// How split the observed labels are, divided by the maximum for as many people; needs two labels.
        pub observed_split: Option<f32>,
        /// Current labels on each level by the chosen annotators.
        pub observed: Vec<u32>,
        /// Probability that two of those labels differ; needs two.
        pub observed_pairwise: Option<f32>,
    }

    /// One annotator's distribution on a text.
    pub struct AnnotatorPrediction {
        pub annotator: AnnotatorId,
        /// Name on screen.
        pub name: String,
        /// Attributes of the person.
        pub attributes: Attributes,
        /// True if the labels were simulated.
        pub simulated: bool,
        /// One probability per level; `None` while hidden, and if nothing is predicted for the person yet.
        pub distribution: Option<Vec<f32>>,
        /// Whether the prediction is hidden: the person is labelling and has not answered this text.
        pub hidden: bool,
        /// Mean level (index), for ordinal and binary scales.
        pub expected: Option<f32>,
        /// What the person answered.
        pub observed: Option<Answer>,
        /// Labels that the model of this person is based on.
        pub labels: u32,
    }

    /// A group of annotators on a text.
    pub struct GroupPrediction {
        /// Value of the attribute, or "not known".
        pub value: String,
        /// Number of annotators.
        pub annotators: u32,
        /// Mean prediction, one probability per level.
        pub distribution: Vec<f32>,
        /// Mean of their labels on this text (index); `None` without labels, or for unordered scales.
        pub observed: Option<f32>,
        pub labels: u32,
        /// How much higher they answer than all others whose attribute is known, in levels, with its 95 %
        /// interval; `None` with fewer than five people on either side.
        pub gap: Option<f32>,
        /// Its 95 % interval.
        pub gap_interval: Option<(f32, f32)>,
        /// Whether the gap is significant after correction for all texts and groups compared.
        pub significant: bool,
    }

    /// All data on one text.
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
        /// How much annotators would disagree; `None` unless two or more of them are predicted from enough
        /// labels.
        pub scores: Option<DisagreementScores>,
        /// What is missing before there are scores and groups; `None` if there is enough data.
        pub needs: Option<String>,
        /// Everyone's distribution and label, lowest expected level first.
        pub annotators: Vec<AnnotatorPrediction>,
        /// The same by the chosen attribute; empty without scores.
        pub groups: Vec<GroupPrediction>,
        /// Every group of five people or more against those others whose attribute is known; ordinal scales.
        /// Empty without scores.
        pub differences: Vec<GroupDifference>,
        /// The strict or the lenient, see [`DisagreementRow::severity`].
        pub severity: Option<SeverityDifference>,
        /// How many people answered "cannot say".
        pub cannot_say: u32,
    }
}

impl DisagreementMeasure {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::Split => "split",
            Self::FarApart => "far-apart",
            Self::OppositeSides => "opposite-sides",
            Self::Between => "between",
            Self::Surprising => "surprising",
            Self::GroupGap => "group-gap",
            Self::Pairwise => "pairwise",
            Self::Divergence => "divergence",
            Self::Uncertainty => "uncertainty",
            Self::Labels => "labels",
        }
    }
}

impl DisagreementQuery {
    /// A query for all texts and all people, with only the measure chosen.
    pub fn of_everything(question: QuestionId, by: DisagreementMeasure) -> Self {
        Self {
            question,
            by,
            cut: None,
            groups: None,
            search: None,
            attributes: Attributes::new(),
            labelled_only: false,
        }
    }
}
