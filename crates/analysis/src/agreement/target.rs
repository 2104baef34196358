//! How much annotators agree on one target: a question with levels, or one option or type.

use crate::Analysis;
use dissensus_domain::{Question, QuestionId, TargetKind};
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

/// How much annotators agree on one target.
///
/// # Errors
/// No such question, one with several targets, or the file cannot be read.
pub fn measure_target(cx: &Analysis, question: QuestionId) -> Result<Agreement, ProjectError> {
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

/// Agreement on one of the targets of a question.
pub(super) struct TargetAgreement {
    /// The option or type.
    pub(super) name: String,
    /// Share of the labels that include it; none without labels.
    pub(super) chosen: Option<f64>,
    pub(super) agreement: Agreement,
}

/// How much annotators agree on each option or type of a question.
pub(super) fn measure_targets(
    cx: &Analysis,
    question: &Question,
) -> Result<Vec<TargetAgreement>, ProjectError> {
    let named = question.options().into_iter().zip(question.scale.levels());
    let measured = named.map(|(target, name)| {
        let labels = cx.context.observations(target.id)?;
        let chosen = labels.iter().filter(|label| label.level == 1).count();
        Ok(TargetAgreement {
            name: name.clone(),
            chosen: (!labels.is_empty()).then(|| chosen as f64 / labels.len() as f64),
            agreement: measure_target(cx, target.id)?,
        })
    });
    measured.collect()
}

/// Alpha under the difference that fits the scale.
pub(crate) fn alpha(alphas: &Alphas, kind: TargetKind) -> Option<f64> {
    match kind {
        TargetKind::Ordinal => alphas.ordinal,
        TargetKind::Binary | TargetKind::Nominal => alphas.nominal,
    }
}

pub(crate) fn metric(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Ordinal => "ordinal",
        TargetKind::Binary | TargetKind::Nominal => "nominal",
    }
}
