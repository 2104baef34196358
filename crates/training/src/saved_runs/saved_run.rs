//! What a run keeps in the project.

use super::{SavedRuns, choices};
use dissensus_api::{EpochInfo, Problem, RunSizes, TrainChoices};
use dissensus_models::spans::SpanEvaluation;
use dissensus_project::error::WorkbenchError;
use dissensus_stats::metrics::{F1Rule, Report};
use dissensus_stats::options::OptionCorrelations;
use dissensus_store::{Run, RunId};
use serde::{Deserialize, Serialize};

/// Where the configuration of a run has what the runs of one training have in common.
pub(crate) const GROUP: &str = "group";
/// Where the configuration of a run has the names that the levels of its question began with, in their order then.
pub(crate) const LEVEL_KEYS: &str = "level_keys";

/// How a run ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    pub report: Option<Report>,
    /// The answer tuned for macro-F1; none of runs before there was one.
    pub(crate) f1_rule: Option<F1Rule>,
    pub(crate) sizes: RunSizes,
    pub(crate) encoder: Option<String>,
    pub(crate) device: String,
    pub(crate) seconds: f64,
    /// Joules of the processor, where the system counts them.
    pub(crate) energy_joules: Option<f64>,
    pub(crate) notes: Vec<String>,
    /// Its `multilevel` was calibrated where an encoder had learned labels; those of runs before that took embeddings at face value.
    pub(crate) calibrated: bool,
    /// Of a type of spans whose words were learned too: the scores on words of its whole question.
    pub(crate) words: Option<TrainedWordScores>,
    /// Of an option of a multi-label question all of whose options were learned: which of them go together, learned on what was held out for tuning.
    pub(crate) together: Option<OptionCorrelations>,
    pub(crate) problem: Option<Problem>,
    /// It could not be resumed because the checkpoint in its folder is of other data or of an earlier version.
    pub(crate) other_checkpoint: bool,
}

/// Scores on marked words that a training learned, on its test answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TrainedWordScores {
    pub(crate) model: SpanEvaluation,
    pub(crate) baselines: Vec<SpanEvaluation>,
    /// Answers of training, validation and test.
    pub(crate) answers: [u32; 3],
}

/// A run of the project, read.
pub struct SavedRun {
    pub(crate) run: Run,
    pub(crate) choices: TrainChoices,
    /// What the runs of one training have in common; none of a run that is trained alone.
    pub(crate) group: Option<String>,
    /// Which levels its question had, by the names that these began with; none of runs before there was more than one order of them.
    pub(crate) level_keys: Option<Vec<String>>,
    pub outcome: Outcome,
    pub(crate) epochs: Vec<EpochInfo>,
}

impl SavedRuns {
    /// Every training run, newest first. A row that cannot be read any more (of a newer version, say) is left out, and the log says so.
    pub(crate) fn all(&self) -> Result<Vec<SavedRun>, WorkbenchError> {
        let readable = |run: Run| {
            let id = run.id.0;
            let saved = read(run)
                .map_err(|error| error.to_string())
                .and_then(|saved| saved.ok_or_else(|| "what is kept of it cannot be read".to_owned()));
            saved.map_err(|why| tracing::warn!(run = id, why, "a run is left out of the list")).ok()
        };
        Ok(self.context.store.runs()?.into_iter().filter_map(readable).collect())
    }

    /// One run.
    ///
    /// # Errors
    /// There is no such run, a name in its choices is not known, or the file cannot be read.
    pub fn get(&self, id: u32) -> Result<SavedRun, WorkbenchError> {
        let found = self.context.store.run(RunId(id))?.map(read).transpose()?.flatten();
        found.ok_or(WorkbenchError::NoSuchRun(id))
    }
}

impl SavedRuns {
    /// The runs that are trained together with this one on one encoder, itself among them, in the order of their questions; only itself
    /// where it is trained alone.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub(crate) fn together(&self, id: u32) -> Result<Vec<SavedRun>, WorkbenchError> {
        let kept = self.get(id)?;
        match self.numbers_together(&kept)? {
            numbers if numbers.len() < 2 => Ok(vec![kept]),
            numbers => numbers.into_iter().map(|number| self.get(number)).collect(),
        }
    }

    /// Makes sure that the levels of a run's question are those that it learned: what it predicts would else be read as other levels.
    ///
    /// # Errors
    /// Levels were added, removed or put in another order since, or the file cannot be read.
    pub(crate) fn has_same_levels(&self, kept: &SavedRun) -> Result<(), WorkbenchError> {
        let (store, question) = (&self.context.store, kept.choices.question.row());
        let same = match &kept.level_keys {
            Some(keys) => store.level_keys(question)? == *keys,
            None => !store.question_versions(question)?.iter().any(|version| version.rearranged),
        };
        match same {
            true => Ok(()),
            false => Err(WorkbenchError::OtherLevels(kept.run.id.0)),
        }
    }

    /// Their numbers.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn numbers_together(&self, kept: &SavedRun) -> Result<Vec<u32>, WorkbenchError> {
        let Some(group) = &kept.group else { return Ok(vec![kept.run.id.0]) };
        Ok(self.context.store.runs_of_group(group)?.into_iter().map(|id| id.0).collect())
    }
}

fn read(run: Run) -> Result<Option<SavedRun>, WorkbenchError> {
    let choices = choices::read(run.asked.configuration.clone())?;
    let group = run.asked.configuration.get(GROUP).and_then(|group| group.as_str()).map(str::to_owned);
    let level_keys = run.asked.configuration.get(LEVEL_KEYS);
    let level_keys = level_keys.and_then(|keys| serde_json::from_value(keys.clone()).ok());
    let outcome = run.metrics.clone().map(serde_json::from_value).transpose();
    let epochs = run.history.clone().map(serde_json::from_value).transpose();
    let (Some(choices), Ok(outcome), Ok(epochs)) = (choices, outcome, epochs) else { return Ok(None) };
    Ok(Some(SavedRun {
        run,
        choices,
        group,
        level_keys,
        outcome: outcome.unwrap_or_default(),
        epochs: epochs.unwrap_or_default(),
    }))
}
