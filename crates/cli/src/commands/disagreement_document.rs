//! The JSON document of `analyse disagreement`.

use dissensus_analysis::{TextDispersionReport, TextOptions};
use dissensus_api::{
    Border, DisagreementRow, Estimation, GroupDifference, LabelWeight, LabelsAbove, SeverityDifference,
    SideOfBorder,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Texts in the order of how much annotators would disagree.
#[derive(Serialize, JsonSchema)]
pub(super) struct DisagreementRanking<'a> {
    /// Over how many annotators.
    pub(super) annotators: u32,
    /// Those of them who have no label yet.
    pub(super) annotators_without_labels: u32,
    /// What the order stands on; for `combined`.
    pub(super) basis: Option<String>,
    /// The measure by which texts are ranked.
    pub(super) by: &'static str,
    /// How the variances behind predictions were estimated.
    pub(super) estimation: Option<Estimation>,
    /// How much a text's own labels count; for `combined`.
    pub(super) label_weight: Option<LabelWeight>,
    /// The question's levels.
    pub(super) levels: &'a [String],
    /// What is missing to tell.
    pub(super) needs: Option<String>,
    /// Who the annotators are, where they are simulated.
    pub(super) notice: Option<String>,
    /// The question.
    pub(super) question: &'a str,
    /// What is to be known.
    pub(super) remark: Option<String>,
    /// With `--text-dispersion`: whether people differ more on some texts than on others.
    pub(super) text_dispersion: Option<TextDispersionReport>,
    /// The first texts.
    pub(super) texts: Vec<RankedText<'a>>,
    /// Texts in all.
    pub(super) texts_in_all: usize,
    /// Sizes of groups of texts, from the first rank on, that cannot be told apart; for `combined`.
    pub(super) ties: Vec<u32>,
}

/// Texts of a multi-label question in the order of how much annotators would disagree.
#[derive(Serialize, JsonSchema)]
pub(super) struct DisagreementByOptions<'a> {
    /// The measure by which texts are ranked.
    pub(super) by: &'static str,
    /// What is missing to tell.
    pub(super) needs: Option<String>,
    /// Who the annotators are, where they are simulated.
    pub(super) notice: Option<String>,
    /// The question's options.
    pub(super) options: &'a [String],
    /// Whether options go together, in words.
    pub(super) options_together: Option<String>,
    /// The question.
    pub(super) question: &'a str,
    /// The first texts.
    pub(super) texts: Vec<RankedByOptions<'a>>,
    /// Texts in all.
    pub(super) texts_in_all: usize,
}

/// How much annotators would disagree on a text: labels where there are some, predictions elsewhere.
#[derive(Serialize, JsonSchema)]
pub(super) struct RankedText<'a> {
    /// Van der Eijk's coefficient of agreement, -1 (half at each end) to 1 (one level); ordinal scales of three levels or more.
    agreement: Option<f64>,
    /// First and last rank that the interval reaches; without one those of texts with the same value.
    band: (u32, u32),
    /// Share of the predicted variance that lies between people, 0 to 1.
    between: f64,
    /// Between which levels answers divide most equally; ordinal scales of three levels or more.
    border: Option<Border>,
    /// Jensen-Shannon divergence between annotators, in bits.
    divergence: f64,
    /// Mean prediction over the chosen annotators, a probability a level.
    distribution: Vec<f64>,
    /// The chance that two people are two levels apart or more; ordinal scales of three levels or more.
    far_apart: Option<f64>,
    /// Upper end of the 95 % interval of `value`.
    high: Option<f64>,
    /// Variance between annotators' expected levels; ordinal scales only.
    level_variance: Option<f64>,
    /// Lower end of the 95 % interval of `value`.
    low: Option<f64>,
    /// Mean level (index); ordinal scales only.
    mean_level: Option<f64>,
    /// Current labels on each level by the chosen annotators.
    observed: &'a [u32],
    /// The share of pairs of its labels that differ; needs two.
    observed_pairwise: Option<f64>,
    /// How split its labels alone are, over the maximum of as many people; needs two.
    observed_split: Option<f64>,
    /// The chance that two annotators drawn at random differ, 0 to 1.
    pairwise: f64,
    /// Lower and upper end of its 95 % interval.
    pairwise_interval: (f64, f64),
    /// The largest that `pairwise` can be among as many people.
    pairwise_maximum: f64,
    /// Its place in the order.
    rank: u32,
    /// The strict or the lenient, where labels show that the answers follow severity.
    severity: Option<SeverityGap>,
    /// Expected squared distance of two people's answers over its maximum, 0 to 1; without an order of the levels `pairwise` over its maximum.
    split: f64,
    /// Lower and upper end of its 95 % interval.
    split_interval: (f64, f64),
    /// The text's beginning.
    text: &'a str,
    /// Its id.
    text_id: &'a str,
    /// Who is above the border, and who is below it: those who labelled the text, and those who are predicted there with 95 % or more.
    sides: Option<&'a (SideOfBorder, SideOfBorder)>,
    /// Whether its labels form two camps: a third of them or more on either side of a level that fewer gave.
    two_camps: bool,
    /// Mean entropy of one annotator's distribution, in bits.
    uncertainty: f64,
    /// What the text is ranked by; null for `labels` with fewer than two of them.
    value: Option<f64>,
    /// The group that differs most from the others.
    who: Option<GroupGap<'a>>,
    /// Labels above the border of that group and of those it is compared with.
    who_above: Option<(LabelsAbove, LabelsAbove)>,
}

/// A group of people who answer a text differently from the others.
#[derive(Serialize, JsonSchema)]
struct GroupGap<'a> {
    /// Whom the group is compared with: another value, or all others of whom the attribute is known.
    against: Option<&'a str>,
    /// The attribute.
    attribute: &'a str,
    /// How much higher the group answers, in levels.
    gap: f64,
    /// Its 95 % interval.
    interval: (f64, f64),
    /// Labels of the group and of those it is compared with on this text.
    labels: (u32, u32),
    /// Whether it stands after correction for all texts and groups compared.
    stands: bool,
    /// The attribute's value in the group.
    value: &'a str,
}

/// That the answers to a text follow people's severity.
#[derive(Serialize, JsonSchema)]
struct SeverityGap {
    /// How much higher that side answers than the other one, in levels.
    gap: f64,
    /// Its 95 % interval.
    interval: (f64, f64),
    /// Labels of that side and of the other one on this text.
    labels: (u32, u32),
    /// Whether the strict are the side that is further from everybody's median level; else the lenient are.
    strict: bool,
}

/// How much annotators would disagree on the options of a text.
#[derive(Serialize, JsonSchema)]
pub(super) struct RankedByOptions<'a> {
    /// The distance (MASI) between the sets of two annotators that is to be expected.
    masi: Option<f64>,
    /// The chance that two annotators differ on each option, in their order.
    options: Vec<f64>,
    /// Its mean over options.
    pairwise: f64,
    /// Its place in the order.
    rank: u32,
    /// The text.
    text: &'a str,
    /// Its id.
    text_id: &'a str,
}

impl<'a> RankedText<'a> {
    /// A text that a model predicts.
    pub(super) fn new(row: &'a DisagreementRow) -> Option<Self> {
        let scores = row.scores.as_ref()?;
        Some(Self {
            agreement: scores.agreement.map(f64::from),
            band: row.band,
            between: scores.between.into(),
            border: row.border,
            divergence: scores.divergence.into(),
            distribution: row.distribution.iter().copied().map(f64::from).collect(),
            far_apart: scores.far_apart.map(f64::from),
            high: row.interval.map(|(_, high)| high.into()),
            level_variance: scores.level_variance.map(f64::from),
            low: row.interval.map(|(low, _)| low.into()),
            mean_level: scores.mean_level.map(f64::from),
            observed: &row.observed,
            observed_pairwise: row.observed_pairwise.map(f64::from),
            observed_split: row.observed_split.map(f64::from),
            pairwise: scores.pairwise.into(),
            pairwise_interval: both(scores.pairwise_interval),
            pairwise_maximum: scores.pairwise_maximum.into(),
            rank: row.rank,
            severity: row.severity.as_ref().map(Into::into),
            sides: row.sides.as_ref(),
            split: scores.split.into(),
            split_interval: both(scores.split_interval),
            text: &row.snippet,
            text_id: &row.external_id,
            two_camps: row.two_camps,
            uncertainty: scores.uncertainty.into(),
            value: row.value.is_finite().then(|| row.value.into()),
            who: row.who.as_ref().map(Into::into),
            who_above: row.who_above,
        })
    }
}

impl<'a> From<&'a GroupDifference> for GroupGap<'a> {
    fn from(group: &'a GroupDifference) -> Self {
        Self {
            against: group.against.as_deref(),
            attribute: &group.attribute,
            gap: group.gap.into(),
            interval: both(group.interval),
            labels: group.labels,
            stands: group.stands,
            value: &group.value,
        }
    }
}

impl From<&SeverityDifference> for SeverityGap {
    fn from(side: &SeverityDifference) -> Self {
        Self { gap: side.gap.into(), interval: both(side.interval), labels: side.labels, strict: side.strict }
    }
}

impl<'a> From<&'a TextOptions> for RankedByOptions<'a> {
    fn from(text: &'a TextOptions) -> Self {
        Self {
            masi: text.masi,
            options: text.options.iter().copied().map(f64::from).collect(),
            pairwise: text.pairwise.into(),
            rank: text.rank,
            text: &text.text,
            text_id: &text.text_id,
        }
    }
}

fn both((low, high): (f32, f32)) -> (f64, f64) {
    (low.into(), high.into())
}
