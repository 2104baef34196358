//! Fits an annotator model of any kind.

#[cfg(test)]
mod tests;

use dissensus_models::batch::{Multilevel, Prepared, majority, sep_heads, shared};
use dissensus_neural::trainer::fit_network;
use dissensus_stats::data::progress::{Progress, step};
use dissensus_stats::data::{AnnotatorModel, FitOptions, ModelError, ModelKind, TrainingData};

/// Fits a model.
///
/// # Errors
/// What is wrong with `data` (see [`ModelError`]), or [`ModelError::Cancelled`].
pub fn fit(
    kind: ModelKind,
    data: &TrainingData<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Box<dyn AnnotatorModel>, ModelError> {
    let prepared = Prepared::new(data, options)?;
    fit_prepared(kind, &prepared, options, progress)
}

pub(crate) fn fit_prepared(
    kind: ModelKind,
    prepared: &Prepared<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Box<dyn AnnotatorModel>, ModelError> {
    step(progress, kind.name(), 0.0)?;
    let model: Box<dyn AnnotatorModel> = match kind {
        ModelKind::Majority => Box::new(majority::fit(prepared)),
        ModelKind::Shared => Box::new(shared::fit(prepared)),
        ModelKind::SepHeads => Box::new(sep_heads::fit(prepared, progress)?),
        ModelKind::ShareRecFfn | ModelKind::ShareRecDcn => {
            Box::new(fit_network(kind, prepared, options, progress)?)
        }
        ModelKind::Multilevel => Box::new(Multilevel::fit(prepared, options, progress)?),
    };
    step(progress, kind.name(), 1.0)?;
    Ok(model)
}
