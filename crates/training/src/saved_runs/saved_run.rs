//! The stored data of a run.

use super::{SavedRuns, choices};
use crate::error::TrainingError;
use dissensus_api::{EpochInfo, Problem, RunSizes, TrainChoices};
use dissensus_domain::{LevelId, Question, QuestionId};
use dissensus_models::spans::SpanEvaluation;
use dissensus_project::error::ProjectError;
use dissensus_stats::metrics::{F1Rule, Report};
use dissensus_stats::options::OptionCorrelations;
use dissensus_store::{Run, RunId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Key in the configuration of a run for what the runs of one training share.
pub(crate) const GROUP: &str = "group";
/// Key in the configuration of a run with the original names of the levels of its question, in their order
/// at that time.
pub(crate) const LEVEL_KEYS: &str = "level_keys";
/// Key in the configuration of a run for the ids of these levels. Earlier versions did not store them, and
/// named an option by its position among them.
pub(crate) const LEVEL_IDS: &str = "level_ids";

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    pub report: Option<Report>,
    /// The answer tuned for macro-F1; none for older runs.
    pub(crate) f1_rule: Option<F1Rule>,
    pub(crate) sizes: RunSizes,
    pub(crate) encoder: Option<String>,
    pub(crate) device: String,
    pub(crate) seconds: f64,
    /// Energy of the processor in joules, if the system counts it.
    pub(crate) energy_joules: Option<f64>,
    pub(crate) notes: Vec<String>,
    /// Whether its `multilevel` was calibrated for an encoder that had learned labels; earlier runs took
    /// such embeddings at face value.
    pub(crate) calibrated: bool,
    /// For a type of spans whose words were learned too: the scores on words of its whole question.
    pub(crate) words: Option<TrainedWordScores>,
    /// For an option of a multi-label question all of whose options were learned: the correlations between
    /// them, learned on the labels that were held out for tuning.
    pub(crate) together: Option<OptionCorrelations>,
    pub(crate) problem: Option<Problem>,
    /// Whether it could not be resumed because the checkpoint in its folder is of other data or of an
    /// earlier version.
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

/// A stored run.
pub struct SavedRun {
    pub(crate) run: Run,
    pub(crate) choices: TrainChoices,
    /// Identifies the runs of one training; none for a run that is trained separately.
    pub(crate) group: Option<String>,
    /// The levels of its question, by their original names; none for runs from before levels could be
    /// reordered.
    pub(crate) level_keys: Option<Vec<String>>,
    /// Whether an earlier version stored it, without the ids of these levels: that version's hash of the
    /// labels named levels by their position.
    pub(crate) by_position: bool,
    /// The position of its option among these levels.
    pub(crate) column: Option<usize>,
    pub outcome: Outcome,
    pub(crate) epochs: Vec<EpochInfo>,
}

impl SavedRuns {
    /// Every training run, newest first. A row that cannot be read (for example of a newer version) is left
    /// out and logged.
    pub(crate) fn all(&self) -> Result<Vec<SavedRun>, ProjectError> {
        let readable = |run: Run| {
            let id = run.id.0;
            let saved = self
                .read(run)
                .map_err(|error| error.to_string())
                .and_then(|saved| saved.ok_or_else(|| "what is stored of it cannot be read".to_owned()));
            saved.map_err(|why| tracing::warn!(run = id, why, "a run is left out of the list")).ok()
        };
        Ok(self.context.store.runs()?.into_iter().filter_map(readable).collect())
    }

    /// One run.
    ///
    /// # Errors
    /// There is no such run, a name in its choices is not known, or the file cannot be read.
    pub fn get(&self, id: u32) -> Result<SavedRun, ProjectError> {
        let found = self.context.store.run(RunId(id))?.map(|run| self.read(run)).transpose()?.flatten();
        found.ok_or(ProjectError::from(TrainingError::NoSuchRun(id)))
    }
}

impl SavedRuns {
    /// The runs that are trained together with this one on one encoder, including itself, in the order of
    /// their questions; only itself if it is trained separately.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub(crate) fn together(&self, id: u32) -> Result<Vec<SavedRun>, ProjectError> {
        let kept = self.get(id)?;
        match self.joint_numbers(&kept)? {
            numbers if numbers.len() < 2 => Ok(vec![kept]),
            numbers => numbers.into_iter().map(|number| self.get(number)).collect(),
        }
    }

    /// Makes sure that a run's question still has the levels that the run learned; otherwise its predictions
    /// would be read as other levels. A run of an option learned yes and no, wherever the option is now.
    ///
    /// # Errors
    /// Levels were added, removed or reordered since, or the option was removed; or the file cannot be read.
    pub(crate) fn has_same_levels(&self, kept: &SavedRun) -> Result<(), ProjectError> {
        let question = kept.choices.question;
        let same = match question.option() {
            Some(option) => {
                let questions = self.context.store.questions()?;
                let whole = questions.iter().find(|known| known.id == question.row());
                whole.is_some_and(|whole| whole.scale.index_of_id(option).is_some())
            }
            None => self.has_same_scale(kept)?,
        };
        match same {
            true => Ok(()),
            false => Err(ProjectError::OtherLevels(kept.run.id.0)),
        }
    }

    /// Whether the whole question of a run still has the levels, options or types that it had at the start,
    /// in that order.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn has_same_scale(&self, kept: &SavedRun) -> Result<bool, ProjectError> {
        let (store, question) = (&self.context.store, kept.choices.question.row());
        Ok(match &kept.level_keys {
            Some(keys) => store.level_keys(question)? == *keys,
            None => !store.question_versions(question)?.iter().any(|version| version.rearranged),
        })
    }

    /// The names of the levels that a run learned, by column: the current ones, or the original names of
    /// levels that were removed.
    pub(crate) fn level_names(&self, kept: &SavedRun, whole: &Question) -> Result<Vec<String>, ProjectError> {
        let Some(learned) = &kept.level_keys else { return Ok(whole.scale.levels().to_vec()) };
        let keys = self.context.store.keys_by_id(whole.id)?;
        let id = |key: &String| keys.iter().position(|known| known == key).map(|id| LevelId(id as u16));
        let name = |key: &String| id(key).and_then(|id| whole.scale.name_of(id)).unwrap_or(key).to_owned();
        Ok(learned.iter().map(name).collect())
    }

    /// The numbers of the runs that are trained together with this one.
    pub(crate) fn joint_numbers(&self, kept: &SavedRun) -> Result<Vec<u32>, ProjectError> {
        let Some(group) = &kept.group else { return Ok(vec![kept.run.id.0]) };
        Ok(self.context.store.runs_of_group(group)?.into_iter().map(|id| id.0).collect())
    }
}

impl SavedRuns {
    fn read(&self, run: Run) -> Result<Option<SavedRun>, ProjectError> {
        let Some(mut saved) = read(run)? else { return Ok(None) };
        let ids = saved.run.asked.configuration.get(LEVEL_IDS);
        let ids: Option<Vec<LevelId>> = ids.and_then(|ids| serde_json::from_value(ids.clone()).ok());
        let option = saved.choices.question.option();
        saved.by_position = ids.is_none();
        saved.column = match (option, &ids) {
            (None, _) => None,
            (Some(option), Some(ids)) => ids.iter().position(|id| id == &option),
            (Some(at), None) => Some(usize::from(at.0)),
        };
        if ids.is_none() {
            self.name_options_by_id(&mut saved)?;
        }
        Ok(Some(saved))
    }

    /// Names the options in the choices of a run of an earlier version by their ids, in place of their
    /// positions.
    fn name_options_by_id(&self, saved: &mut SavedRun) -> Result<(), ProjectError> {
        let store = &self.context.store;
        // Each question's levels are recorded by the runs that learned it.
        let mut keys: HashMap<QuestionId, Vec<String>> = HashMap::new();
        let mut known = |question: QuestionId, level_keys: Option<Vec<String>>| {
            level_keys.map(|level_keys| keys.entry(question.row()).or_insert(level_keys));
        };
        known(saved.choices.question, saved.level_keys.clone());
        let others = |question: &QuestionId| question.row() != saved.choices.question.row();
        if saved.choices.joint.iter().any(|joint| others(&joint.question))
            && let Some(group) = &saved.group
        {
            for id in store.runs_of_group(group)? {
                if let Some(run) = store.run(id)?.map(read).transpose()?.flatten() {
                    known(run.choices.question, run.level_keys);
                }
            }
        }
        for held in saved.choices.held.iter().filter(|held| others(&held.question)) {
            if let Some(run) = store.run(RunId(held.run))?.map(read).transpose()?.flatten() {
                known(run.choices.question, run.level_keys);
            }
        }
        let by_id = |question: &mut QuestionId| -> Result<(), ProjectError> {
            if let (Some(_), Some(keys)) = (question.option(), keys.get(&question.row())) {
                *question = option_by_id(*question, keys, &store.keys_by_id(*question)?);
            }
            Ok(())
        };
        by_id(&mut saved.choices.question)?;
        saved.choices.joint.iter_mut().try_for_each(|joint| by_id(&mut joint.question))?;
        saved.choices.held.iter_mut().try_for_each(|held| by_id(&mut held.question))
    }
}

/// The option that an earlier version named by its position among levels with these original names.
fn option_by_id(question: QuestionId, keys: &[String], keys_by_id: &[String]) -> QuestionId {
    let key = question.option().and_then(|at| keys.get(usize::from(at.0)));
    let id = key.and_then(|key| keys_by_id.iter().position(|known| known == key));
    id.map_or(question, |id| question.of_option(LevelId(id as u16)))
}

fn read(run: Run) -> Result<Option<SavedRun>, ProjectError> {
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
        by_position: false,
        column: None,
        outcome: outcome.unwrap_or_default(),
        epochs: epochs.unwrap_or_default(),
    }))
}
