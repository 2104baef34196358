//! One training, from its choices to its scores.

use super::Runs;
use super::auxiliary::{AuxiliaryLabels, file_name};
use super::data::RunData;
use super::energy::Energy;
use super::notes::{calibration, notes, sizes};
use crate::encoding::encoders::SelectedEncoder;
use crate::encoding::{OtherTrainingData, Seen};
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use crate::saved_runs::{Card, Outcome, SavedRun, choices, io, write_card};
use crate::view::{EpochInfo, GradientNorm, TrainChoices};
use dissensus_domain::{AnnotatorId, ScaleKind};
use dissensus_encoder::{BatchPlan, DeviceChoice, EncoderOptions, FreezePolicy, PrecisionChoice};
use dissensus_perspectives::{
    AnnotatorModel, AuxiliaryTask, Embeddings, EncoderToTune, EpochRecord, FitOptions, ModelKind,
    TrainConfig, Trained, Trainer, TrainingData, f1_rule_by_calibration, f1_rule_by_folds,
    f1_rule_by_validation, fit, metrics,
};
use dissensus_store::RunId;
use std::path::Path;
use std::sync::Arc;

impl Runs {
    /// Trains, scores once, and keeps the predictions of the run.
    pub(super) fn train_run(
        &self,
        run: RunId,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<Outcome, WorkbenchError> {
        let began = std::time::Instant::now();
        let energy = Energy::now();
        let mut kept = self.kept.get(run.0)?;
        let (config, split) = choices::config(&kept.choices)?;
        if kept.run.start.is_none() {
            self.start_on(&kept, &config, split)?;
            kept = self.kept.get(run.0)?;
        }
        let mut data = self.run_data(&kept)?;
        let embeddings = if config.policy == FreezePolicy::Frozen {
            self.run_embeddings(&data)?
        } else {
            Arc::new(self.before_tuning(&data)?)
        };
        let question = self.context.index().with_levels(kept.choices.question)?.clone();
        let sizes = sizes(&data.division);
        let mut notes = notes(config.network.model, &question, &data.division);
        notes.extend(Seen::note(data.left_out));
        notes.extend(data.notes_of_copies());
        let options = FitOptions { seed: u64::from(kept.choices.seed), ..FitOptions::default() };
        let mut work = Work {
            runs: self,
            kept: &kept,
            data: &data,
            device,
            progress,
            options: &options,
            before: 0.0,
            rule: None,
        };
        let (kind, config_is_convex) = (config.network.model, config.is_convex());
        let training = data.training(&embeddings);
        let (model, device) = if config_is_convex {
            let model = fit(kind, &training, &options, progress)?;
            (model, "cpu".to_owned())
        } else {
            work.in_steps(&training, config, &mut notes)?
        };
        let (before, rule) = (work.before, work.rule);
        progress.report(1, Some(1), "scoring");
        let rule = match (rule, data.division.validation.as_slice(), config_is_convex) {
            (Some(rule), ..) => rule,
            (None, [], true) => {
                let key = data.encoder.as_ref().map(|encoder| encoder.key.as_str());
                let seen = self.encoding.seen_by(key, &self.context.index())?;
                f1_rule_by_folds(kind, &data.training(&embeddings), seen.rows(), None, &options, progress)?
            }
            (None, validation, _) => {
                f1_rule_by_validation(model.as_ref(), validation, &data.division.train, None)
            }
        };
        let scored = data.division.test.score(model.name(), model.as_ref())?.tuned_by(&rule);
        let ordinal = question.scale.kind() == ScaleKind::Ordinal;
        let report = metrics::Report::of(
            &scored,
            &data.division.train,
            ordinal,
            &metrics::ReportOptions::default(),
            progress,
        )?;
        self.context.store.set_run_predictions(run, scored.probabilities)?;
        Ok(Outcome {
            report: Some(report),
            f1_rule: Some(rule),
            sizes,
            encoder: data.encoder.map(|encoder| encoder.key),
            device,
            seconds: before + began.elapsed().as_secs_f64(),
            energy_joules: energy.joules_since(),
            notes,
            calibrated: true,
            ..Outcome::default()
        })
    }

    /// Threads that a training may take: all, but one less where somebody labels meanwhile.
    fn threads_for_training(&self) -> Option<usize> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let labelled_meanwhile = self.context.works_in_background();
        labelled_meanwhile.then_some(cores.saturating_sub(1).max(1))
    }
}

/// A gradient-trained run at work.
struct Work<'a> {
    runs: &'a Runs,
    kept: &'a SavedRun,
    data: &'a RunData,
    device: DeviceChoice,
    progress: &'a dyn Progress,
    options: &'a FitOptions,
    /// Seconds that were trained before it was interrupted.
    before: f64,
    /// The answer for macro-F1, where it was chosen before the model learned the validation labels.
    rule: Option<metrics::F1Rule>,
}

impl Work<'_> {
    fn in_steps(
        &mut self,
        data: &TrainingData<'_>,
        config: TrainConfig,
        notes: &mut Vec<String>,
    ) -> Result<(Box<dyn AnnotatorModel>, String), WorkbenchError> {
        let validation = &self.data.division.validation;
        let folder = self.runs.kept.make_folder(self.kept)?;
        let checkpoints = folder.join("checkpoints");
        let kind = config.network.model;
        let began = std::time::Instant::now();
        let mut epochs = self.kept.epochs.clone();
        let evaluated = |record: &EpochRecord| {
            // What came after the checkpoint it went on from is done again.
            epochs.retain(|epoch| epoch.step < record.step);
            epochs.push(epoch_info(record));
            self.runs.evaluated(self.kept.run.id, &epochs);
        };
        if config.policy == FreezePolicy::Frozen {
            let trained = Trainer::new(*data, validation, None, config)?
                .in_folder(&checkpoints)
                .run(self.progress, evaluated)?;
            self.before = (trained.seconds - began.elapsed().as_secs_f64()).max(0.0);
            let device = trained.device.to_owned();
            let model = self.finished(trained, kind, data, &folder)?;
            return Ok((model, device));
        }
        let chosen = self.data.encoder.as_ref();
        let found = self.runs.encoding.find_encoder(None, chosen)?;
        let options = EncoderOptions {
            device: self.device,
            threads: self.runs.threads_for_training(),
            // What learns computes in fp32, whatever the project's embeddings do.
            precision: PrecisionChoice::default(),
            ..chosen.map(SelectedEncoder::options).unwrap_or_default()
        };
        let mut bodies = self.runs.context.bodies()?;
        bodies.truncate(self.data.texts);
        let texts: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let encoder = EncoderToTune { dir: &found.dir, options: &options, texts: &texts };
        let auxiliary = self.runs.kept_auxiliary(self.kept, &folder)?;
        let auxiliary_bodies: Vec<Vec<&str>> = auxiliary.iter().map(AuxiliaryLabels::bodies).collect();
        let tasks: Vec<AuxiliaryTask<'_>> =
            auxiliary.iter().zip(&auxiliary_bodies).map(|(labels, bodies)| labels.task(bodies)).collect();
        let trained = Trainer::new(*data, validation, Some(encoder), config)?
            .with_auxiliary(&tasks)?
            .in_folder(&checkpoints)
            .run(self.progress, evaluated)?;
        self.before = (trained.seconds - began.elapsed().as_secs_f64()).max(0.0);
        notes.extend(trained.cut_for_prompt());
        let device = trained.device.to_owned();
        self.progress.report(0, None, "encoding with the tuned encoder");
        let x = self.embedded(&trained, &texts)?;
        let tuned = folder.join("encoder");
        if tuned.exists() {
            std::fs::remove_dir_all(&tuned).map_err(|e| io(&tuned, "replacing", e))?;
        }
        trained.save_encoder(&tuned)?;
        let parent = chosen.map(|chosen| chosen.key.as_str());
        let others: Vec<&OtherTrainingData> = auxiliary.iter().map(|labels| &labels.taught).collect();
        self.runs.encoding.keep_encoder_training_data(
            self.kept.run.id,
            &tuned,
            parent,
            Some(&found.dir),
            &others,
        )?;
        notes.push(format!("The tuned encoder is in {}.", tuned.display()));
        let x = self.runs.after_tuning(self.data, x)?;
        let data = TrainingData { embeddings: &x, ..*data };
        if kind == ModelKind::Multilevel {
            self.rule = Some(f1_rule_by_calibration(&data, validation, self.options, self.progress)?);
            notes.extend(calibration(&x, validation));
        }
        let labels = self.data.training_and_validation();
        let model = self.finished(trained, kind, &TrainingData { observations: &labels, ..data }, &folder)?;
        Ok((model, device))
    }

    /// Every text under the tuned encoder.
    fn embedded(&self, trained: &Trained, texts: &[&str]) -> Result<Embeddings, WorkbenchError> {
        let Some(encoder) = trained.encoder()? else { return Ok(Embeddings::none(texts.len())) };
        let mut rows = vec![Vec::new(); texts.len()];
        let mut done = 0;
        let plan = BatchPlan::default();
        let stream = encoder.encode_stream(texts, &plan, |batch| {
            done += batch.indices.len() as u64;
            for (at, row) in batch.indices.into_iter().zip(batch.embeddings) {
                rows[at] = row;
            }
            self.progress.report(done, Some(texts.len() as u64), "encoding with the tuned encoder");
            self.progress.flow()
        })?;
        if stream.cancelled {
            return Err(WorkbenchError::Cancelled);
        }
        Ok(Embeddings::new(encoder.version().dim, rows.concat())?)
    }

    fn finished(
        &self,
        trained: Trained,
        kind: ModelKind,
        data: &TrainingData<'_>,
        folder: &Path,
    ) -> Result<Box<dyn AnnotatorModel>, WorkbenchError> {
        let model: Box<dyn AnnotatorModel> = if kind == ModelKind::Multilevel {
            trained.model(data, self.options)?
        } else {
            let model = trained.network_model(Arc::new(data.embeddings.clone()))?;
            model.save(folder)?;
            Box::new(model)
        };
        self.keep_card(folder)?;
        Ok(model)
    }

    /// What the numbers of the saved network mean: levels, annotators, choices.
    fn keep_card(&self, folder: &Path) -> Result<(), WorkbenchError> {
        let index = self.runs.context.index();
        let choices = &self.kept.choices;
        let question = index.with_levels(choices.question)?;
        let of = |id: &AnnotatorId| {
            index.annotator_row(*id).map(|row| index.annotators()[row as usize].external_id.clone())
        };
        let card = Card {
            id: Some(self.kept.run.uid),
            question: Some(question.name.clone()),
            levels: question.scale.levels().to_vec(),
            annotators: self.data.annotators.iter().filter_map(of).collect(),
            choices: Some(
                serde_json::to_value(without_folders(choices)).map_err(|e| WorkbenchError::internal(&e))?,
            ),
        };
        write_card(folder, &card)
    }
}

/// Of other projects the names of their files alone: a run's folder is handed on.
fn without_folders(choices: &TrainChoices) -> TrainChoices {
    let mut choices = choices.clone();
    for other in &mut choices.auxiliary {
        other.project = file_name(Path::new(&other.project));
    }
    choices
}

fn epoch_info(record: &EpochRecord) -> EpochInfo {
    let gradient =
        |g: &dissensus_perspectives::GradientNorm| GradientNorm { group: g.group.clone(), norm: g.norm };
    EpochInfo {
        epoch: record.epoch,
        step: record.step,
        train_loss: record.train_loss,
        validation_loss: record.validation.map(|v| v.log_loss),
        validation_accuracy: record.validation.map(|v| v.accuracy),
        rate: record.learning_rate,
        seconds: record.seconds,
        best: record.best,
        gradients: record.gradients.iter().map(gradient).collect(),
    }
}
