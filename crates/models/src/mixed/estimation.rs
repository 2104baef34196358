//! Estimated parameters, how the estimation ended, and what the labels cannot identify.

use super::crossed::CrossedEffects;
use dissensus_stats::data::GroupSlopes;
use serde::{Deserialize, Serialize};

/// Number of annotators with labels below which the estimated spread of severities stays near its initial
/// value.
const FEW_ANNOTATORS: usize = 5;

/// Minimum number of distinct texts with labels that did not tune the encoder for calibrating `multilevel`.
pub const MIN_CALIBRATION_TEXTS: usize = 30;
/// Minimum number of labels of such texts for calibrating `multilevel`.
pub const MIN_CALIBRATION_LABELS: usize = 150;

/// A parameter that the labels do not identify, independent of their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimationLimit {
    /// There are no labels.
    NoLabels,
    /// All labels are the same level.
    OneLevel,
    /// Levels that no annotator has used.
    UnusedLevels {
        /// Number of unused levels.
        levels: u32,
    },
    /// Labels of one annotator only.
    OneAnnotator,
    /// Labels of few annotators.
    FewAnnotators {
        /// Number of annotators with labels.
        annotators: u32,
    },
    /// No text has labels of two annotators: a text's own effect, in addition to its embedding, cannot be
    /// distinguished from chance in one answer.
    OneLabelPerText,
    /// No annotator has labelled two texts.
    OneLabelPerAnnotator,
    /// Groups of annotators who have no text in common, directly or through others.
    Islands {
        /// Number of groups.
        groups: u32,
    },
    /// The encoder was tuned on labels, and there are too few labels of other texts, see
    /// [`MIN_CALIBRATION_TEXTS`] and [`MIN_CALIBRATION_LABELS`].
    TunedOnAllTexts,
    /// The estimation had not converged within the maximum number of rounds.
    NotConverged,
}

impl EstimationLimit {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoLabels => "no_labels",
            Self::OneLevel => "one_level",
            Self::UnusedLevels { .. } => "unused_levels",
            Self::OneAnnotator => "one_annotator",
            Self::FewAnnotators { .. } => "few_annotators",
            Self::OneLabelPerText => "one_label_per_text",
            Self::OneLabelPerAnnotator => "one_label_per_annotator",
            Self::Islands { .. } => "islands",
            Self::TunedOnAllTexts => "tuned_on_all_texts",
            Self::NotConverged => "not_converged",
        }
    }
}

impl std::fmt::Display for EstimationLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoLabels => f.write_str("There are no labels yet: every figure here is an assumption."),
            Self::OneLevel => f.write_str(
                "All labels are the same level: how far texts and annotators differ cannot be estimated.",
            ),
            Self::UnusedLevels { levels: 1 } => {
                f.write_str("One level has never been used: the place of its threshold is an assumption.")
            }
            Self::UnusedLevels { levels } => {
                write!(f, "{levels} levels have never been used: the places of their thresholds are an assumption.")
            }
            Self::OneAnnotator => f.write_str(
                "Only one annotator has labels: how far annotators differ is an assumption, not an estimate.",
            ),
            Self::FewAnnotators { annotators } => write!(
                f,
                "Only {annotators} annotators have labels: how far annotators in general differ is hardly known."
            ),
            Self::OneLabelPerText => f.write_str(
                "No text has labels of two annotators: how far texts differ beyond their embeddings cannot be distinguished from \
                 chance in single answers, and predicted disagreement rests on an assumption about it.",
            ),
            Self::OneLabelPerAnnotator => f.write_str(
                "No annotator has labelled two texts: severities are hardly more than an assumption.",
            ),
            Self::Islands { groups } => write!(
                f,
                "The annotators fall into {groups} groups without a text in common: severities can be compared within a \
                 group, not between groups."
            ),
            Self::TunedOnAllTexts => write!(
                f,
                "Fewer than {MIN_CALIBRATION_LABELS} labels of {MIN_CALIBRATION_TEXTS} different texts did not tune the \
                 encoder: how far new texts differ beyond their embeddings cannot be estimated, and their predictions are \
                 surer than they should be."
            ),
            Self::NotConverged => f.write_str(
                "The estimation of the variances had not settled when it was stopped: figures may still move.",
            ),
        }
    }
}

/// Variances of a fitted model and details of their estimation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimation {
    /// Standard deviation of the texts' effects, in addition to what their embeddings predict, in logits.
    pub text_sd: f64,
    /// Standard deviation of the annotators' severities, in logits; `None` for choice scales.
    pub annotator_sd: Option<f64>,
    /// Standard deviation of the logarithms of the annotators' discriminations; `None` where the model has no
    /// discriminations.
    pub discrimination_sd: Option<f64>,
    /// Whether groups of annotators have slopes of their own; `None` where there were no groups to try.
    pub group_slopes: Option<GroupSlopes>,
    /// Rounds of expectation maximisation in the last estimation.
    pub rounds: u32,
    /// Largest relative change of a standard deviation still expected when the estimation ended.
    pub change: f64,
    /// Whether that is below the tolerance.
    pub converged: bool,
    /// Approximate log marginal likelihood of the labels (natural logarithm).
    pub log_likelihood: f64,
    /// Parameters that the labels do not identify.
    pub limits: Vec<EstimationLimit>,
}

impl CrossedEffects {
    /// The current estimation: variances of the last one, limits of the current labels.
    pub(crate) fn estimation(&self) -> Estimation {
        let end = self.convergence;
        Estimation {
            text_sd: self.text_var.sqrt(),
            annotator_sd: self.severity(usize::MAX).map(|severity| severity.sd),
            discrimination_sd: self.discrimination(usize::MAX).map(|discrimination| discrimination.sd),
            group_slopes: self.group_slopes.clone(),
            rounds: end.rounds,
            change: end.change,
            converged: end.converged,
            log_likelihood: end.log_likelihood,
            limits: self.limits(),
        }
    }

    fn limits(&self) -> Vec<EstimationLimit> {
        let mut counts = vec![0usize; self.link.levels];
        self.labels.iter().flatten().for_each(|label| counts[usize::from(label.level)] += 1);
        if counts.iter().all(|n| *n == 0) {
            return vec![EstimationLimit::NoLabels];
        }
        let mut limits = Vec::new();
        let unused = counts.iter().filter(|n| **n == 0).count();
        if unused + 1 == counts.len() {
            limits.push(EstimationLimit::OneLevel);
        } else if unused > 0 {
            limits.push(EstimationLimit::UnusedLevels { levels: unused as u32 });
        }
        let annotators = self.annotators.iter().filter(|a| !a.labels.is_empty()).count();
        match annotators {
            1 => limits.push(EstimationLimit::OneAnnotator),
            n if n < FEW_ANNOTATORS => {
                limits.push(EstimationLimit::FewAnnotators { annotators: n as u32 });
            }
            _ => {}
        }
        if annotators > 1 {
            let single_text = self.labels.iter().all(|labels| labels.len() < 2);
            let single_annotator = self.annotators.iter().all(|a| a.labels.len() < 2);
            if single_text {
                limits.push(EstimationLimit::OneLabelPerText);
            }
            if single_annotator {
                limits.push(EstimationLimit::OneLabelPerAnnotator);
            }
            let groups = self.groups();
            // Where every text or every annotator is isolated, the other limits already report it.
            if groups > 1 && !single_text && !single_annotator {
                limits.push(EstimationLimit::Islands { groups: groups as u32 });
            }
        }
        if self.too_few_untuned {
            limits.push(EstimationLimit::TunedOnAllTexts);
        }
        if !self.convergence.converged {
            limits.push(EstimationLimit::NotConverged);
        }
        limits
    }

    /// Connected components of the graph of texts and annotators that have labels.
    fn groups(&self) -> usize {
        let mut parent: Vec<usize> = (0..self.annotators.len()).collect();
        fn root(parent: &mut [usize], mut at: usize) -> usize {
            while parent[at] != at {
                parent[at] = parent[parent[at]];
                at = parent[at];
            }
            at
        }
        for labels in &self.labels {
            for pair in labels.windows(2) {
                let (a, b) = (
                    root(&mut parent, pair[0].annotator as usize),
                    root(&mut parent, pair[1].annotator as usize),
                );
                parent[a] = b;
            }
        }
        let known = self.annotators.iter().enumerate().filter(|(_, a)| !a.labels.is_empty());
        known.filter(|(at, _)| parent[*at] == *at).count()
    }
}
