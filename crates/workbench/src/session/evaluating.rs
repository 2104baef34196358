//! Comparing annotator models on texts held out, and fitting the one that predicts for the project.

use super::live::{Steps, cancelled};
use super::{Core, Session};
use crate::clock::now_ms;
use crate::error::WorkbenchError;
use crate::work::Observer;
use dissensus_domain::{Question, Split};
use dissensus_perspectives::{FitOptions, ModelKind, SplitSpec, Target, TrainingData, evaluate};
use dissensus_store::{NewRun, WorkState};
use serde::Serialize;
use serde_json::json;
use std::collections::HashSet;

/// How texts are divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitChoice {
    /// A seeded share of the texts teaches, the rest is scored.
    ByText(f64),
    /// Texts whose split is train teach, those whose split is test are scored.
    Column,
}

impl std::str::FromStr for SplitChoice {
    type Err = WorkbenchError;

    fn from_str(name: &str) -> Result<Self, WorkbenchError> {
        if name == "column" {
            return Ok(Self::Column);
        }
        match SplitSpec::by_text_from(name) {
            Ok(SplitSpec::ByText(share)) => Ok(Self::ByText(share)),
            _ => Err(WorkbenchError::NoSuchSplit(name.to_owned())),
        }
    }
}

/// What to evaluate.
#[derive(Clone, Debug)]
pub struct EvaluateChoices {
    /// The question's name; the only one if `None`.
    pub question: Option<String>,
    /// The models.
    pub models: Vec<ModelKind>,
    /// The split.
    pub split: SplitChoice,
    /// Seed of split and fits.
    pub seed: u64,
    /// Score an ordinal question as yes/no from the level of this name up.
    pub at_least: Option<String>,
}

/// Scores of models on texts held out. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// One entry a model.
    pub models: Vec<dissensus_perspectives::Evaluation>,
    /// How texts were divided.
    pub split: SplitReport,
    /// Seed of split and fits.
    pub seed: u64,
    /// Encoder version.
    pub encoder: Option<String>,
    /// Where the embeddings were used: models on frozen embeddings are fitted on the CPU.
    pub device: String,
    /// The question.
    pub question: String,
    /// The level that counts as yes, where an ordinal question was scored so.
    pub at_least: Option<String>,
    /// Seconds it took.
    pub seconds: f64,
}

/// How texts were divided.
#[derive(Clone, Debug, Serialize)]
pub struct SplitReport {
    /// `by-text` or `column`.
    pub kind: &'static str,
    /// Share of texts that taught, by text.
    pub share: Option<f64>,
    /// Texts that taught.
    pub train_texts: usize,
    /// Texts scored.
    pub test_texts: usize,
    /// Labels that taught.
    pub train_labels: usize,
    /// Labels scored.
    pub test_labels: usize,
}

/// What training did.
#[derive(Clone, Debug, Serialize)]
pub struct Trained {
    /// The model.
    pub model: &'static str,
    /// The question.
    pub question: String,
    /// Labels it stands on.
    pub labels: usize,
    /// Annotators it knows.
    pub annotators: usize,
    /// Encoder version.
    pub encoder: Option<String>,
    /// Seconds it took.
    pub seconds: f64,
}

impl Session {
    /// Trains every model on one part of the texts and scores it on the other; kept as a run of the project where it is open to
    /// write.
    ///
    /// # Errors
    /// No labels, no such split or level, one side of the split empty, or a cancel.
    pub fn evaluate(
        &self,
        choices: &EvaluateChoices,
        observer: &dyn Observer,
    ) -> Result<Evaluation, WorkbenchError> {
        let question = self.question(choices.question.as_deref())?;
        let asked = json!({
            "question": question.name,
            "models": choices.models.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
            "split": split_name(&choices.split),
            "at_least": choices.at_least,
        });
        self.core.as_run("evaluate", asked, choices.seed, || self.core.evaluate(&question, choices, observer))
    }

    /// Fits the model that predicts for the project on all labels and keeps it.
    ///
    /// # Errors
    /// No labels, or a cancel.
    pub fn train(&self, question: Option<&str>, observer: &dyn Observer) -> Result<Trained, WorkbenchError> {
        let question = self.question(question)?;
        let labels = self.core.observations(question.id)?.len();
        if labels == 0 {
            return Err(WorkbenchError::NoLabels(question.name));
        }
        let asked = json!({ "question": question.name, "model": ModelKind::Multilevel.name() });
        self.core.as_run("train", asked, FitOptions::default().seed, || {
            let started = std::time::Instant::now();
            self.fit_anew(question.id, observer)?;
            Ok(Trained {
                model: ModelKind::Multilevel.name(),
                labels,
                annotators: self.core.index().annotators().len(),
                encoder: self.core.embeddings()?.1,
                seconds: started.elapsed().as_secs_f64(),
                question: question.name.clone(),
            })
        })
    }
}

impl Core {
    fn evaluate(
        &self,
        question: &Question,
        choices: &EvaluateChoices,
        observer: &dyn Observer,
    ) -> Result<Evaluation, WorkbenchError> {
        let started = std::time::Instant::now();
        let at_least = choices.at_least.as_deref().map(|name| level_index(question, name)).transpose()?;
        let observations = self.observations(question.id)?;
        if observations.is_empty() {
            return Err(WorkbenchError::NoLabels(question.name.clone()));
        }
        let (embeddings, encoder) = self.embeddings()?;
        let split = self.split(&choices.split)?;
        let options = FitOptions { seed: choices.seed, ..FitOptions::default() };
        let data = TrainingData {
            embeddings: &embeddings,
            observations: &observations,
            annotators: self.index().annotators().len(),
            target: Target { kind: question.scale.kind(), levels: question.scale.len() },
            attributes: &[],
        };
        let (train, test) = split.assign(embeddings.texts, choices.seed)?;
        let labels = |side: &[bool]| observations.iter().filter(|o| side[o.text as usize]).count();
        let texts = |side: &[bool]| {
            let labelled = observations.iter().map(|o| o.text).filter(|text| side[*text as usize]);
            labelled.collect::<HashSet<_>>().len()
        };
        let report = SplitReport {
            kind: if choices.split == SplitChoice::Column { "column" } else { "by-text" },
            share: match choices.split {
                SplitChoice::ByText(share) => Some(share),
                SplitChoice::Column => None,
            },
            train_texts: texts(&train),
            test_texts: texts(&test),
            train_labels: labels(&train),
            test_labels: labels(&test),
        };
        let mut steps = Steps(observer);
        let models =
            evaluate(&data, &split, &choices.models, at_least, &options, &mut steps).map_err(cancelled)?;
        Ok(Evaluation {
            models,
            split: report,
            seed: choices.seed,
            encoder,
            device: "cpu".to_owned(),
            question: question.name.clone(),
            at_least: choices.at_least.clone(),
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    fn split(&self, choice: &SplitChoice) -> Result<SplitSpec, WorkbenchError> {
        match choice {
            SplitChoice::ByText(share) => Ok(SplitSpec::ByText(*share)),
            SplitChoice::Column => {
                let mut parts = Vec::with_capacity(self.index().texts().len());
                self.store.for_each_text(|text| {
                    parts.push(text.split.as_deref().and_then(Split::from_name));
                    Ok::<(), WorkbenchError>(())
                })?;
                for (part, name) in [(Split::Train, "train"), (Split::Test, "test")] {
                    if !parts.contains(&Some(part)) {
                        return Err(WorkbenchError::EmptySplit(name));
                    }
                }
                Ok(SplitSpec::Assigned(parts))
            }
        }
    }

    /// Runs `work` as a run of the project, with its outcome; a project open to read keeps none.
    fn as_run<T: Serialize>(
        &self,
        kind: &str,
        configuration: serde_json::Value,
        seed: u64,
        work: impl FnOnce() -> Result<T, WorkbenchError>,
    ) -> Result<T, WorkbenchError> {
        if self.store.is_reader() {
            return work();
        }
        let run = self.store.add_run(&NewRun {
            kind: kind.to_owned(),
            configuration,
            seed,
            device: "cpu".to_owned(),
            started_ms: now_ms(),
        })?;
        let result = work();
        let (state, metrics) = match &result {
            Ok(found) => (WorkState::Finished, serde_json::to_value(found).ok()),
            Err(WorkbenchError::Cancelled) => (WorkState::Cancelled, None),
            Err(_) => (WorkState::Failed, None),
        };
        self.store.finish_run(run, state, metrics, now_ms())?;
        result
    }
}

fn split_name(split: &SplitChoice) -> String {
    match split {
        SplitChoice::ByText(share) => format!("by-text:{share}"),
        SplitChoice::Column => "column".to_owned(),
    }
}

fn level_index(question: &Question, name: &str) -> Result<u16, WorkbenchError> {
    question.scale.index_of(name).ok_or_else(|| WorkbenchError::NotOnScale {
        value: name.to_owned(),
        question: question.name.clone(),
        levels: question.scale.levels().join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_read_by_name() {
        assert_eq!("column".parse::<SplitChoice>().unwrap(), SplitChoice::Column);
        assert_eq!("by-text:0.7".parse::<SplitChoice>().unwrap(), SplitChoice::ByText(0.7));
        assert_eq!("by-text:7".parse::<SplitChoice>().unwrap_err().code(), "split");
    }
}
