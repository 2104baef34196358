//! The JSON document of `analyse disagreement`.

use dissensus_analysis::{TextDispersionReport, TextOptions};
use dissensus_api::{
    Border, DisagreementRow, Estimation, GroupDifference, LabelWeight, LabelsAbove, SeverityDifference,
    SideOfBorder,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Texts ranked by disagreement among annotators.
#[derive(Serialize, JsonSchema)]
pub(super) struct DisagreementRanking<'a> {
    /// Number of annotators that predictions are over.
    pub(super) annotators: u32,
    /// Number of these annotators who have no label yet.
    pub(super) annotators_without_labels: u32,
    /// What the order is based on; for `combined`.
    pub(super) basis: Option<String>,
    /// The measure by which texts are ranked.
    pub(super) by: &'static str,
    /// How the variances behind predictions were estimated.
    pub(super) estimation: Option<Estimation>,
    /// Weight of a text's own labels; for `combined`.
    pub(super) label_weight: Option<LabelWeight>,
    /// The question's levels.
    pub(super) levels: &'a [String],
    /// What is missing to compute the ranking.
    pub(super) needs: Option<String>,
    /// Notice about simulated annotators.
    pub(super) notice: Option<String>,
    /// The question.
    pub(super) question: &'a str,
    /// Note about the ranking.
    pub(super) remark: Option<String>,
    /// With `--text-dispersion`: whether annotators differ more on some texts than on others.
    pub(super) text_dispersion: Option<TextDispersionReport>,
    /// The top texts.
    pub(super) texts: Vec<RankedText<'a>>,
    /// Number of texts in all.
    pub(super) texts_in_all: usize,
    /// Sizes of groups of texts, from the first rank on, that cannot be distinguished; for `combined`.
    pub(super) ties: Vec<u32>,
}

/// Texts of a multi-label question ranked by disagreement among annotators.
#[derive(Serialize, JsonSchema)]
pub(super) struct DisagreementByOptions<'a> {
    /// The measure by which texts are ranked.
    pub(super) by: &'static str,
    /// What is missing to compute the ranking.
    pub(super) needs: Option<String>,
    /// Notice about simulated annotators.
    pub(super) notice: Option<String>,
    /// The question's options.
    pub(super) options: &'a [String],
    /// Whether options are correlated, in words.
    pub(super) options_together: Option<String>,
    /// The question.
    pub(super) question: &'a str,
    /// The top texts.
    pub(super) texts: Vec<RankedByOptions<'a>>,
    /// Number of texts in all.
    pub(super) texts_in_all: usize,
}

/// Disagreement on a text: from its labels where there are any, else from predictions.
#[derive(Serialize, JsonSchema)]
pub(super) struct RankedText<'a> {
    /// Van der Eijk's coefficient of agreement, -1 (half at each end) to 1 (one level); only for ordinal
    /// scales with at least three levels.
    agreement: Option<f64>,
    /// First and last rank within the interval; without an interval, the ranks of texts with the same value.
    band: (u32, u32),
    /// Share of the predicted variance that is between annotators, 0 to 1.
    between: f64,
    /// The two levels between which answers divide most equally; only for ordinal scales with at least three
    /// levels.
    border: Option<Border>,
    /// Jensen-Shannon divergence between annotators, in bits.
    divergence: f64,
    /// Mean prediction over the chosen annotators: a probability for each level.
    distribution: Vec<f64>,
    /// Probability that two annotators are two or more levels apart; only for ordinal scales with at least
    /// three levels.
    far_apart: Option<f64>,
    /// Upper end of the 95 % interval of `value`.
    high: Option<f64>,
    /// Variance between annotators' expected levels; only for ordinal scales.
    level_variance: Option<f64>,
    /// Lower end of the 95 % interval of `value`.
    low: Option<f64>,
    /// Mean level (index); only for ordinal scales.
    mean_level: Option<f64>,
    /// Number of current labels on each level by the chosen annotators.
    observed: &'a [u32],
    /// Share of pairs of its labels that differ; needs two labels.
    observed_pairwise: Option<f64>,
    /// Split of its labels only, over the maximum for as many annotators; needs two labels.
    observed_split: Option<f64>,
    /// Probability that two annotators drawn at random differ, 0 to 1.
    pairwise: f64,
    /// Ends of its 95 % interval.
    pairwise_interval: (f64, f64),
    /// Maximum of `pairwise` for as many annotators.
    pairwise_maximum: f64,
    /// Rank of the text.
    rank: u32,
    /// Gap between strict and lenient annotators, where labels show that the answers follow severity.
    severity: Option<SeverityGap>,
    /// Expected squared distance between two annotators' answers over its maximum, 0 to 1; without an order
    /// of the levels, `pairwise` over its maximum.
    split: f64,
    /// Ends of its 95 % interval.
    split_interval: (f64, f64),
    /// Beginning of the text.
    text: &'a str,
    /// Id of the text.
    text_id: &'a str,
    /// Annotators above and below the border: those who labelled the text, and those who are predicted there
    /// with a probability of at least 95 %.
    sides: Option<&'a (SideOfBorder, SideOfBorder)>,
    /// Whether its labels form two camps: at least a third of them on either side of a level that fewer
    /// annotators chose.
    two_camps: bool,
    /// Mean entropy of one annotator's distribution, in bits.
    uncertainty: f64,
    /// The value that the text is ranked by; null for `labels` with fewer than two labels.
    value: Option<f64>,
    /// The group that differs most from the others.
    who: Option<GroupGap<'a>>,
    /// Labels above the border from that group and from those it is compared with.
    who_above: Option<(LabelsAbove, LabelsAbove)>,
}

/// A group of annotators who answer a text differently from the others.
#[derive(Serialize, JsonSchema)]
struct GroupGap<'a> {
    /// The compared group: another value, or all others with a known value of the attribute.
    against: Option<&'a str>,
    /// The attribute.
    attribute: &'a str,
    /// How much higher the group answers, in levels.
    gap: f64,
    /// Its 95 % interval.
    interval: (f64, f64),
    /// Number of labels on this text from the group and from those it is compared with.
    labels: (u32, u32),
    /// Whether the difference is significant after correction for all texts and groups compared.
    significant: bool,
    /// The attribute's value in the group.
    value: &'a str,
}

/// Shows that the answers to a text follow annotators' severity.
#[derive(Serialize, JsonSchema)]
struct SeverityGap {
    /// How much higher this side answers than the other, in levels.
    gap: f64,
    /// Its 95 % interval.
    interval: (f64, f64),
    /// Number of labels on this text from this side and from the other.
    labels: (u32, u32),
    /// Whether the strict annotators are the side further from the median level of all; otherwise the lenient
    /// ones are.
    strict: bool,
}

/// Predicted disagreement on the options of a text.
#[derive(Serialize, JsonSchema)]
pub(super) struct RankedByOptions<'a> {
    /// Expected distance (MASI) between the sets of two annotators.
    masi: Option<f64>,
    /// Probability for each option that two annotators differ on it, in order.
    options: Vec<f64>,
    /// Mean of these probabilities over options.
    pairwise: f64,
    /// Rank of the text.
    rank: u32,
    /// The text.
    text: &'a str,
    /// Id of the text.
    text_id: &'a str,
}

impl<'a> RankedText<'a> {
    /// Returns the entry for a text that the model predicts.
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
            significant: group.significant,
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
