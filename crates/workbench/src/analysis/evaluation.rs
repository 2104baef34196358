//! Comparing annotator models on texts held out, and fitting the one that predicts for the project.

use crate::clock::now_ms;
use crate::core::Core;
use crate::encoding::Seen;
use crate::encoding::encoders::EncoderChoice;
use crate::error::WorkbenchError;
use crate::jobs::{Activity, Observer};
use crate::live::{Steps, cancelled};
use crate::runs::{Material, first_texts};
use crate::session::Session;
use dissensus_domain::{Question, ScaleKind};
use dissensus_encoder::{DeviceChoice, Encoder, EncoderOptions, Pooling};
use dissensus_perspectives::metrics::Scored;
use dissensus_perspectives::{
    ColdStart, Embeddings, FitOptions, LearningCurve, ModelKind, Observation, Scores, SeenByEncoder,
    SplitColumns, SplitSpec, TrainingData, dichotomize, evaluate, fit, learning_curve,
};
use dissensus_store::{EvaluationKind, NewEvaluation, WorkState};
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeSet, HashSet};

/// Folds of the training texts by which a pooling is chosen: differences are small, and one part kept back would be noise.
const POOLING_FOLDS: u8 = 10;

/// Poolings that were tried.
#[derive(Clone, Debug, Serialize)]
pub struct PoolingChoice {
    /// The one that the project uses now.
    pub chosen: String,
    /// The one that the encoder was made with.
    pub own: String,
    /// All of them, best first.
    pub tried: Vec<PoolingLoss>,
}

/// One pooling.
#[derive(Clone, Debug, Serialize)]
pub struct PoolingLoss {
    /// Its name.
    pub pooling: String,
    /// Log loss of `shared` on labels of texts that it did not learn from.
    pub log_loss: f64,
}

/// What to evaluate.
#[derive(Clone, Debug)]
pub struct EvaluateChoices {
    /// The question's name; the only one if `None`.
    pub question: Option<String>,
    /// The models.
    pub models: Vec<ModelKind>,
    /// The split.
    pub split: SplitSpec,
    /// Seed of split and fits; of 32 bits, as in runs.
    pub seed: u32,
    /// Score an ordinal question as yes/no from the level of this name up.
    pub at_least: Option<String>,
    /// What learns of the encoder: `frozen`, `last-K`, `lora`, `lora-RANK` or `full`. With all but the first, each model is
    /// trained as a run of its own.
    pub tuning: String,
    /// Where to compute, with an encoder that learns.
    pub device: DeviceChoice,
}

/// Scores of models on texts held out. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// One entry a model.
    pub models: Vec<dissensus_perspectives::Evaluation>,
    /// How texts were divided.
    pub split: SplitReport,
    /// Seed of split and fits.
    pub seed: u32,
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
    /// `by-text`, `column`, ...
    pub kind: &'static str,
    /// The whole name, for example `by-text:0.7`.
    pub name: String,
    /// Training share, where there is one.
    pub share: Option<f64>,
    /// Divisions whose labels are scored together: 1, or the folds of a cross-validation.
    pub folds: usize,
    /// Training texts.
    pub train_texts: usize,
    /// Test texts.
    pub test_texts: usize,
    /// Training labels.
    pub train_labels: usize,
    /// Test labels.
    pub test_labels: usize,
    /// Texts that the split would score, and that are left out because the encoder in use was tuned on their labels.
    pub left_out_texts: usize,
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
            "split": choices.split.name(),
            "at_least": choices.at_least,
        });
        if choices.tuning != "frozen" {
            return self.evaluate_tuned(&question, choices, observer);
        }
        self.core.recorded(EvaluationKind::Evaluation, asked, u64::from(choices.seed), || {
            self.core.evaluate(&question, choices, observer)
        })
    }

    /// How labels are divided where nobody says: officially where texts are assigned, else 70 % of the texts are training texts.
    ///
    /// # Errors
    /// No such question, or no labels.
    pub fn usual_split(&self, question: Option<&str>) -> Result<SplitSpec, WorkbenchError> {
        Ok(self.core.material(&self.question(question)?)?.usual_split())
    }

    /// Cold start: a share of the annotators is held out entirely, and each model is trained on so many labels of each of them.
    /// `by_text` is the share of texts that is never trained on, if any.
    ///
    /// # Errors
    /// No labels, no such level, nobody with labels enough, or a cancel.
    pub fn learning_curve(
        &self,
        choices: &EvaluateChoices,
        labels: &[usize],
        by_text: Option<f64>,
        observer: &dyn Observer,
    ) -> Result<LearningCurve, WorkbenchError> {
        let question = self.question(choices.question.as_deref())?;
        let at_least = choices.at_least.as_deref().map(|name| level_index(&question, name)).transpose()?;
        let material = self.core.material(&question)?;
        let (embeddings, version) = self.core.embeddings_for(&material)?;
        let asked =
            ColdStart { labels: labels.to_vec(), by_text_too: by_text, at_least, ..ColdStart::default() };
        let options = FitOptions { seed: u64::from(choices.seed), ..FitOptions::default() };
        let data = material.data(&embeddings);
        let seen = self.core.seen_by(version.as_deref(), &self.core.index())?;
        let mut steps = Steps(observer);
        learning_curve(&data, &choices.models, &asked, seen.rows(), &options, &mut steps).map_err(cancelled)
    }

    /// Encodes with every pooling and makes that one the project's whose embeddings predict best: log loss of `shared` on ten folds
    /// of the training texts. Labels that are scored by this split are not looked at. The encoder's own pooling stays
    /// unless another is better by more than a standard error of the difference (the rule of Breiman et al. 1984,
    /// Classification and regression trees, section 3.4.3): differences are small, and the best of five is lucky.
    ///
    /// # Errors
    /// As [`Session::encode`] and [`Session::evaluate`].
    pub fn choose_pooling(
        &self,
        question: Option<&str>,
        split: Option<SplitSpec>,
        seed: u64,
        choice: &EncoderChoice,
        observer: &dyn Observer,
    ) -> Result<PoolingChoice, WorkbenchError> {
        let question = self.question(question)?;
        let material = self.core.material(&question)?;
        let split = split.unwrap_or_else(|| material.usual_split());
        material.check_split(split)?;
        let core = &self.core;
        let _reserved = core.reservations.reserve(Activity::Encoding)?;
        let seen = core.active_encoder()?;
        let open = |pooling: Option<Pooling>| {
            let choice = EncoderChoice { pooling, ..choice.clone() };
            core.open_encoder(&choice, seen.current.as_ref(), observer)
        };
        let (_, _, dir) = open(choice.pooling)?;
        let own = Encoder::open(&dir, &EncoderOptions::default())?.version().pooling;
        let mut tried: Vec<(Pooling, Vec<f64>)> = Vec::new();
        for pooling in [Pooling::Mean, Pooling::Cls, Pooling::Max, Pooling::Mean2, Pooling::Max2] {
            // The project's encoder stays as it is until all have been tried.
            let (encoder, version, _) = open(Some(pooling))?;
            core.encode_version(&encoder, &version.key, observer)?;
            let embeddings = core.embeddings_of(&version.key)?;
            let embeddings = first_texts(&std::sync::Arc::new(embeddings), material.texts.len())?;
            let data = material.data(&embeddings);
            let train = split.divide(&data, material.columns(), seed, 0.0)?.train;
            let data = TrainingData { observations: &train, ..data };
            let seen = core.seen_by(Some(&version.key), &core.index())?;
            tried.push((pooling, cross_validated(&data, seen.rows(), seed, observer)?));
        }
        tried.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
        let losses = |pooling: Pooling| tried.iter().find(|(p, _)| *p == pooling).map(|(_, losses)| losses);
        let best = tried.first().map_or(own, |(pooling, _)| *pooling);
        let kept = match (losses(own), losses(best)) {
            (Some(ours), Some(theirs)) if !clearly_better(theirs, ours) => own,
            _ => best,
        };
        let (_, version, _) = open(Some(kept))?;
        if !core.choose_encoder(&version, &seen)? {
            return Err(WorkbenchError::EncoderSwitched);
        }
        let tried = tried
            .iter()
            .map(|(pooling, losses)| PoolingLoss { pooling: pooling.to_string(), log_loss: mean(losses) });
        Ok(PoolingChoice { chosen: kept.to_string(), own: own.to_string(), tried: tried.collect() })
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
        self.core.recorded(EvaluationKind::Fit, asked, FitOptions::default().seed, || {
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

impl Session {
    /// As [`Session::evaluate`] with an encoder that learns: one run a model (and fold), each with an encoder of its own.
    fn evaluate_tuned(
        &self,
        question: &Question,
        choices: &EvaluateChoices,
        observer: &dyn Observer,
    ) -> Result<Evaluation, WorkbenchError> {
        let started = std::time::Instant::now();
        let at_least = choices.at_least.as_deref().map(|name| level_index(question, name)).transpose()?;
        let material = self.core.material(question)?;
        material.check_split(choices.split)?;
        let seen = self.core.seen_by_encoder(&self.core.index())?;
        let split = self.core.split_report(&material, &seen, choices)?;
        let (mut models, mut device) = (Vec::new(), "cpu".to_owned());
        for kind in &choices.models {
            let mut asked = self.train_choices(question.id, *kind, &choices.tuning)?;
            asked.seed = choices.seed;
            let mut folds = Vec::new();
            for split in choices.split.each() {
                asked.split = split.name();
                let run = self.run(&asked, choices.device, observer)?;
                device = run.info.device;
                folds.push(self.core.scored(&self.core.kept_run(run.info.id)?)?);
            }
            let mut scored = Scored::pooled(folds);
            if let Some(level) = at_least {
                scored = dichotomize(&scored, level);
            }
            let ordinal = question.scale.kind() == ScaleKind::Ordinal && at_least.is_none();
            models.push(dissensus_perspectives::Evaluation {
                model: kind.name().to_owned(),
                scores: Scores::of(&scored, ordinal),
            });
        }
        Ok(Evaluation {
            models,
            split,
            seed: choices.seed,
            encoder: self.core.embeddings()?.1,
            device,
            question: question.name.clone(),
            at_least: choices.at_least.clone(),
            seconds: started.elapsed().as_secs_f64(),
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
        let material = self.material(question)?;
        material.check_split(choices.split)?;
        let (embeddings, encoder) = self.embeddings_for(&material)?;
        let options = FitOptions { seed: u64::from(choices.seed), ..FitOptions::default() };
        let data = material.data(&embeddings);
        let seen = self.seen_by(encoder.as_deref(), &self.index())?;
        let report = self.split_report(&material, &seen, choices)?;
        let mut steps = Steps(observer);
        let models = evaluate(
            &data,
            choices.split,
            SplitColumns { seen: seen.rows(), ..material.columns() },
            &choices.models,
            at_least,
            &options,
            &mut steps,
        )
        .map_err(cancelled)?;
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

    fn split_report(
        &self,
        material: &Material,
        seen: &Seen,
        choices: &EvaluateChoices,
    ) -> Result<SplitReport, WorkbenchError> {
        let none = Embeddings::none(material.texts.len());
        let (kind, share) = choices.split.parts();
        let (mut train, mut test_texts, mut test_labels) = (BTreeSet::new(), 0, 0);
        let mut left_out_texts = 0;
        for split in choices.split.each() {
            let columns = SplitColumns { seen: seen.rows(), ..material.columns() };
            let division = split.divide(&material.data(&none), columns, u64::from(choices.seed), 0.0)?;
            left_out_texts += division.test.left_out();
            train.extend(division.train);
            test_texts += division.test.texts();
            test_labels += division.test.labels();
        }
        let train_texts: HashSet<u32> = train.iter().map(|o| o.text).collect();
        Ok(SplitReport {
            kind,
            name: choices.split.name(),
            share,
            folds: choices.split.each().len(),
            train_texts: train_texts.len(),
            test_texts,
            train_labels: train.len(),
            test_labels,
            left_out_texts,
        })
    }

    /// Does `work` and records it in the project with what it found; a project open to read keeps no record.
    fn recorded<T: Serialize>(
        &self,
        kind: EvaluationKind,
        configuration: serde_json::Value,
        seed: u64,
        work: impl FnOnce() -> Result<T, WorkbenchError>,
    ) -> Result<T, WorkbenchError> {
        if self.store.is_reader() {
            return work();
        }
        let entry = self.store.add_evaluation(&NewEvaluation {
            kind,
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
        // What was computed, or why it failed, says more than that it could not be recorded; the record then stays "running"
        // and is interrupted when the project is opened again.
        let _ = self.store.finish_evaluation(entry, state, metrics, now_ms());
        result
    }
}

/// Losses of `shared` on every label, of texts that it did not learn from: ten folds of the texts.
fn cross_validated(
    data: &TrainingData<'_>,
    seen: SeenByEncoder<'_>,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Vec<f64>, WorkbenchError> {
    let mut losses = Vec::with_capacity(data.observations.len());
    let mut unseen = 0;
    for split in (SplitSpec::KFold { folds: POOLING_FOLDS, fold: None }).each() {
        let mut division = split.divide(data, SplitColumns { seen, ..SplitColumns::default() }, seed, 0.0)?;
        unseen += division.test.texts();
        if division.test.labels() == 0 {
            continue;
        }
        let options = FitOptions { seed, ..FitOptions::default() };
        let train = TrainingData { observations: &division.train, ..*data };
        let model = fit(ModelKind::Shared, &train, &options, &mut Steps(observer)).map_err(cancelled)?;
        let scored = division.test.score("shared", model.as_ref())?;
        let of =
            |(i, o): (usize, &Observation)| -f64::from(scored.row(i)[usize::from(o.level)]).max(1e-9).ln();
        losses.extend(scored.observations.iter().enumerate().map(of));
    }
    seen.check("choosing a pooling", unseen)?;
    Ok(losses)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Whether losses are lower by more than a standard error of the paired difference.
fn clearly_better(losses: &[f64], than: &[f64]) -> bool {
    let differences: Vec<f64> = than.iter().zip(losses).map(|(b, a)| b - a).collect();
    let gain = mean(&differences);
    let square = differences.iter().map(|d| (d - gain).powi(2)).sum::<f64>();
    let n = differences.len() as f64;
    gain > (square / (n - 1.0).max(1.0) / n.max(1.0)).sqrt()
}

fn level_index(question: &Question, name: &str) -> Result<u16, WorkbenchError> {
    question.scale.index_of(name).ok_or_else(|| WorkbenchError::NotOnScale {
        value: name.to_owned(),
        question: question.name.clone(),
        levels: question.scale.options().join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_by_luck_is_not_better() {
        let than = [1.0, 0.4, 0.9, 0.5, 0.7, 0.6];
        let lower = |by: [f64; 6]| -> Vec<f64> { than.iter().zip(by).map(|(l, by)| l - by).collect() };
        assert!(clearly_better(&lower([0.1, 0.12, 0.09, 0.1, 0.11, 0.1]), &than));
        assert!(!clearly_better(&lower([0.4, -0.3, 0.2, -0.3, 0.3, -0.1]), &than));
        assert!(!clearly_better(&than, &than));
    }
}
