//! Agreement on each option of a question, and on whole sets.

use super::target::{self, Agreement};
use crate::Analysis;
use dissensus_domain::{Answer, CurrentLabel, Question};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::agreement::{Estimate, SetAnswer, set_reliability};
use dissensus_stats::metrics::BootstrapOptions;
use serde::Serialize;

/// Agreement on the options of a question.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionAgreements {
    pub question: String,
    /// Krippendorff's alpha of whole sets under the MASI distance (Passonneau 2006), with an interval over
    /// texts; for spans the sets of types that a text has.
    pub alpha_masi: Estimate,
    /// The mean of Krippendorff's alpha over the options for which it is defined; none if there are none.
    pub mean_alpha: Option<f64>,
    /// Agreement on each option.
    pub options: Vec<OptionAgreement>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionAgreement {
    pub option: String,
    /// Share of the labels that include it; none without labels.
    pub chosen: Option<f64>,
    /// The figures of the option as a yes/no question.
    #[serde(flatten)]
    pub agreement: Agreement,
}

/// How much annotators agree on each option, and on whole sets.
pub(super) fn measure(
    cx: &Analysis,
    question: &Question,
    progress: &dyn Progress,
) -> Result<OptionAgreements, ProjectError> {
    let targets = target::measure_targets(cx, question)?;
    if targets.iter().all(|one| one.agreement.labels == 0) {
        return Err(ProjectError::NoLabels(question.name.clone()));
    }
    let alphas: Vec<f64> = targets.iter().filter_map(|one| one.agreement.alpha).collect();
    let (texts, annotators) = cx.context.sizes();
    let answers = set_answers(cx, question)?;
    let found = set_reliability(&answers, texts, annotators, Some(&BootstrapOptions::default()), progress)?;
    let option = |one: target::TargetAgreement| OptionAgreement {
        option: one.name,
        chosen: one.chosen,
        agreement: one.agreement,
    };
    Ok(OptionAgreements {
        question: question.name.clone(),
        alpha_masi: found.alpha_masi,
        mean_alpha: (!alphas.is_empty()).then(|| alphas.iter().sum::<f64>() / alphas.len() as f64),
        options: targets.into_iter().map(option).collect(),
    })
}

/// The answered sets of options, by rows and columns.
fn set_answers(cx: &Analysis, question: &Question) -> Result<Vec<SetAnswer>, ProjectError> {
    let labels = cx.context.store.current_labels(question.id)?;
    let index = cx.context.index();
    let answer = |label: &CurrentLabel| {
        let Answer::Options(set) = label.answer else { return None };
        let (text, annotator) = (index.text_row(label.text)?, index.annotator_row(label.annotator)?);
        Some(SetAnswer { text, annotator, set: question.scale.columns_of(set) })
    };
    Ok(labels.iter().filter_map(answer).collect())
}
