//! What a run keeps in the project, and how it is shown.

use super::folder::RunFolder;
use crate::core::Core;
use crate::error::WorkbenchError;
use crate::levels::level_of;
use crate::sync::lock;
use crate::view::{
    EpochInfo, JobState, Problem, RunAnnotator, RunBin, RunClass, RunDetail, RunInfo, RunMetric, RunScores,
    RunSizes, TrainChoices,
};
use dissensus_domain::{QuestionId, Scale};
use dissensus_perspectives::Scores;
use dissensus_perspectives::metrics::{AnnotatorScores, CalibrationBin, ClassScores, Report};
use dissensus_store::{Run, RunId, WorkState};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How a run ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Outcome {
    pub(crate) report: Option<Report>,
    pub(crate) sizes: RunSizes,
    pub(crate) encoder: Option<String>,
    pub(crate) device: String,
    pub(crate) seconds: f64,
    /// Joules of the processor, where the system counts them.
    pub(crate) energy_joules: Option<f64>,
    pub(crate) notes: Vec<String>,
    pub(crate) problem: Option<Problem>,
    /// It could not be resumed because the checkpoint in its folder is of other data.
    pub(crate) other_checkpoint: bool,
}

/// A run of the project, read.
pub(crate) struct Kept {
    pub(crate) run: Run,
    pub(crate) choices: TrainChoices,
    pub(crate) outcome: Outcome,
    pub(crate) epochs: Vec<EpochInfo>,
}

impl Core {
    /// Every training run, newest first. A row that cannot be read any more (of a newer version, say) is left out.
    pub(crate) fn kept_runs(&self) -> Result<Vec<Kept>, WorkbenchError> {
        Ok(self.store.runs()?.into_iter().filter_map(read).collect())
    }

    pub(crate) fn kept_run(&self, id: u32) -> Result<Kept, WorkbenchError> {
        let found = self.store.run(RunId(id))?.and_then(read);
        found.ok_or(WorkbenchError::NoSuchRun(id))
    }

    /// SHA-256 of a question's current labels, in hexadecimal. Kept until a label is recorded or retracted: a run at work asks
    /// for it twice a second.
    pub(crate) fn data_sum(&self, question: QuestionId) -> Result<String, WorkbenchError> {
        let last = self.store.last_event()?;
        if let Some((_, sum)) = lock(&self.training.sums).get(&question).filter(|(at, _)| *at == last) {
            return Ok(sum.clone());
        }
        let mut labels = self.store.current_labels(question)?;
        labels.sort_unstable_by_key(|label| (label.text, label.annotator));
        let mut sum = Sha256::new();
        for label in labels {
            sum.update(label.text.0.to_le_bytes());
            sum.update(label.annotator.0.to_le_bytes());
            match level_of(&label.answer) {
                Some(level) => sum.update(level.to_le_bytes()),
                None => sum.update(format!("{:?}", label.answer)),
            }
        }
        let sum: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        lock(&self.training.sums).insert(question, (last, sum.clone()));
        Ok(sum)
    }

    /// As the list shows them.
    pub(crate) fn infos(&self, kept: &[Kept]) -> Result<Vec<RunInfo>, WorkbenchError> {
        let predicts = self.run_in_use()?;
        kept.iter()
            .map(|kept| {
                let changed = self.labels_changed(kept, kept.choices.question)?;
                self.info_of(kept, changed, predicts)
            })
            .collect()
    }

    fn info_of(
        &self,
        kept: &Kept,
        data_changed: bool,
        predicts: Option<u32>,
    ) -> Result<RunInfo, WorkbenchError> {
        let Kept { run, choices, outcome, epochs } = kept;
        let live = self.training.state(run.id.0);
        let finished = run.state == WorkState::Finished;
        let seconds = match (&live, finished) {
            (Some(live), _) => live.seconds,
            (None, true) => outcome.seconds,
            (None, false) => epochs.last().map_or(0.0, |epoch| epoch.seconds),
        };
        Ok(RunInfo {
            id: run.id.0,
            uid: run.uid.to_string(),
            question: choices.question,
            question_name: self
                .index()
                .question(choices.question)
                .map_or_else(String::new, |question| question.name.clone()),
            model: choices.model.clone(),
            tuning: choices.tuning.clone(),
            layers: choices.layers,
            rank: choices.rank,
            split: choices.split.clone(),
            seed: choices.seed,
            state: state(run.state),
            job: live.as_ref().map(|live| live.job),
            started_at: run.asked.started_ms as f64,
            seconds,
            device: if outcome.device.is_empty() { run.asked.device.clone() } else { outcome.device.clone() },
            epochs: epochs.clone(),
            epochs_planned: choices.epochs,
            seconds_left: live.as_ref().and_then(|live| live.seconds_left),
            scores: outcome.report.as_ref().map(scores),
            problem: outcome.problem.clone(),
            predicts: finished && predicts == Some(run.id.0),
            usable: finished && self.can_be_used(kept),
            data_changed,
            resumable: live.is_none() && self.cannot_resume(kept)?.is_none(),
        })
    }

    pub(crate) fn detail(&self, kept: &Kept) -> Result<RunDetail, WorkbenchError> {
        let info =
            self.infos(std::slice::from_ref(kept))?.pop().ok_or(WorkbenchError::NoSuchRun(kept.run.id.0))?;
        let index = self.index();
        let scale = index.question(kept.choices.question).map(|q| &q.scale);
        let levels: Vec<&str> =
            scale.map(|s| s.levels().iter().map(String::as_str).collect()).unwrap_or_default();
        let options = scale.map(Scale::options).unwrap_or_default();
        let report = kept.outcome.report.as_ref();
        let named = |names: &[&str], classes: &[ClassScores]| -> Vec<RunClass> {
            let class = |class: &ClassScores| RunClass {
                name: names.get(class.level).copied().unwrap_or_default().to_owned(),
                precision: class.precision,
                recall: class.recall,
                f1: class.f1,
                support: class.support as u32,
            };
            classes.iter().map(class).collect()
        };
        let bin = |bin: &CalibrationBin| {
            Some(RunBin { confidence: bin.confidence?, accuracy: bin.accuracy?, labels: bin.labels as u32 })
        };
        let person = |a: &AnnotatorScores| {
            let who = index.annotators().get(a.annotator as usize)?;
            Some(RunAnnotator {
                annotator: who.id,
                name: who.name.clone(),
                labels: a.labels as u32,
                accuracy: a.accuracy,
                baseline: a.baseline,
                log_loss: a.log_loss,
            })
        };
        let mut notes = kept.outcome.notes.clone();
        if let Some(joules) = kept.outcome.energy_joules {
            notes.push(format!("The processor used {:.1} kJ.", joules / 1000.0));
        }
        if let RunFolder::Foreign(path, reason) = self.find_run_folder(kept) {
            notes.push(format!("The files at {} are not those of this run: {reason}.", path.display()));
        }
        Ok(RunDetail {
            info,
            choices: kept.choices.clone(),
            sizes: kept.outcome.sizes.clone(),
            encoder: kept.outcome.encoder.clone(),
            classes: report.map(|r| named(&levels, &r.classes)).unwrap_or_default(),
            options: report.map(|r| named(&options, &r.options)).unwrap_or_default(),
            confusion: report
                .map(|r| r.confusion.iter().map(|row| row.iter().map(|n| *n as u32).collect()).collect())
                .unwrap_or_default(),
            calibration: report.map(|r| r.calibration.iter().filter_map(bin).collect()).unwrap_or_default(),
            annotators: report.map(|r| r.annotators.iter().filter_map(person).collect()).unwrap_or_default(),
            notes,
        })
    }
}

fn read(run: Run) -> Option<Kept> {
    let choices = super::choices::read(run.asked.configuration.clone())?;
    let outcome = run.metrics.clone().map(serde_json::from_value).transpose().ok()?.unwrap_or_default();
    let epochs = run.history.clone().map(serde_json::from_value).transpose().ok()?.unwrap_or_default();
    Some(Kept { run, choices, outcome, epochs })
}

fn state(state: WorkState) -> JobState {
    match state {
        WorkState::Running => JobState::Running,
        WorkState::Finished => JobState::Finished,
        WorkState::Cancelled => JobState::Cancelled,
        WorkState::Failed => JobState::Failed,
        WorkState::Interrupted => JobState::Interrupted,
    }
}

/// Metrics of which less is better.
const LOWER: [&str; 6] =
    ["log_loss", "brier", "ece", "soft_cross_entropy", "mae", "ranked_probability_score"];

/// Whether more of a metric is better.
pub(super) fn higher_is_better(key: &str) -> bool {
    !LOWER.contains(&key)
}

fn scores(report: &Report) -> RunScores {
    let Scores { n_labels, n_texts, n_annotators, .. } = &report.scores;
    let metric = |(key, value): (&'static str, Option<f64>)| {
        let interval = report.interval_of(key);
        Some(RunMetric {
            key: key.to_owned(),
            value: value?,
            low: interval.map(|i| i.low),
            high: interval.map(|i| i.high),
            higher_is_better: higher_is_better(key),
        })
    };
    RunScores {
        metrics: report.scores.values().into_iter().filter_map(metric).collect(),
        labels: *n_labels as u32,
        texts: *n_texts as u32,
        annotators: *n_annotators as u32,
    }
}
