//! How much the annotators of a question agree.

use super::Analysis;
use dissensus_domain::{QuestionId, TargetKind};
use dissensus_project::error::ProjectError;
use dissensus_stats::agreement::Alphas;
use dissensus_stats::agreement::agreement;
use dissensus_stats::data::Observation;
use serde::Serialize;
use std::collections::HashSet;

/// How much the annotators of a question agree.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreement {
    pub question: String,
    /// Krippendorff's alpha; none with fewer than two labels on any text, or one level only.
    pub alpha: Option<f64>,
    /// The difference function alpha used: `nominal` or `ordinal`.
    pub metric: &'static str,
    /// Share of pairs of labels on one text that are equal.
    pub pairwise_agreement: Option<f64>,
    pub labels: u32,
    /// Texts with a label.
    pub texts: u32,
    /// Annotators with a label.
    pub annotators: u32,
    /// Other annotators of the project, who have no label for the question yet.
    pub annotators_without_labels: u32,
}

/// How much the annotators of a question agree.
///
/// # Errors
/// No such question, or the file cannot be read.
pub fn measure(cx: &Analysis, question: QuestionId) -> Result<Agreement, ProjectError> {
    let (name, target) = cx.context.question_parts(question)?;
    let labels = cx.context.observations(question)?;
    let (texts, annotators) = cx.context.sizes();
    let found = agreement(&labels, texts, annotators, target)?;
    let distinct = |of: fn(&Observation) -> u32| labels.iter().map(of).collect::<HashSet<_>>().len() as u32;
    let with_labels = distinct(|o| o.annotator);
    Ok(Agreement {
        question: name,
        alpha: alpha(&found.all, target.kind),
        metric: metric(target.kind),
        pairwise_agreement: found.pairwise,
        labels: labels.len() as u32,
        texts: distinct(|o| o.text),
        annotators: with_labels,
        annotators_without_labels: annotators as u32 - with_labels,
    })
}

/// Alpha under the difference that fits the scale.
pub(super) fn alpha(alphas: &Alphas, kind: TargetKind) -> Option<f64> {
    match kind {
        TargetKind::Ordinal => alphas.ordinal,
        TargetKind::Binary | TargetKind::Nominal => alphas.nominal,
    }
}

pub(super) fn metric(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Ordinal => "ordinal",
        TargetKind::Binary | TargetKind::Nominal => "nominal",
    }
}
