//! What is evaluated, and how.

use crate::Analysis;
use dissensus_domain::{Question, QuestionId};
use dissensus_project::error::ProjectError;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::{FitOptions, ModelKind};
use dissensus_training::encoding::EncoderChoice;

/// The parameters of an evaluation.
#[derive(Clone, Debug)]
pub struct EvaluateChoices {
    /// The question's name; the only one if `None`.
    pub question: Option<String>,
    pub models: Vec<ModelKind>,
    pub split: SplitSpec,
    /// Seed of split and fits; 32 bits, as in runs.
    pub seed: u32,
    /// Scores an ordinal question as yes/no from the level of this name up.
    pub at_least: Option<String>,
    /// Which part of the encoder is tuned: `frozen`, `last-K`, `lora`, `lora-RANK`, `prompt-N` or `full`.
    /// With all but the first, each model is trained as a run of its own.
    pub tuning: String,
    /// How the project's encoder is opened to read words or to be tuned, such as on which device.
    pub encoder: EncoderChoice,
    /// Whether to compute prediction sets too; only on a frozen encoder.
    pub prediction_sets: bool,
    /// Leaves out labels that were decided to be slips.
    pub without_slips: bool,
}

impl EvaluateChoices {
    pub(super) fn fit_options(&self) -> FitOptions {
        FitOptions { seed: u64::from(self.seed), ..FitOptions::default() }
    }

    /// A note for figures without slips.
    pub(super) fn slips_note(
        &self,
        cx: &Analysis,
        question: QuestionId,
    ) -> Result<Option<String>, ProjectError> {
        const NOTE: &str = "Labels that were decided to be slips are left out, of what is learned and of what is scored: these figures are over \
                        the other labels, and are not to be compared with those over all.";
        let note = self.without_slips.then(|| cx.context.slips_note(question)).transpose()?;
        Ok(note.map(|left_out| format!("{NOTE} {left_out}")))
    }
}

/// The index of the level of this name.
pub(crate) fn level_index(question: &Question, name: &str) -> Result<u16, ProjectError> {
    question.scale.index_of(name).ok_or_else(|| ProjectError::NotOnScale {
        value: name.to_owned(),
        question: question.name.clone(),
        levels: question.scale.levels().join(", "),
    })
}
