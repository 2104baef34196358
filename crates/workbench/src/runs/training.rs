//! One training, from its choices to its scores.

use super::choices;
use super::energy::Energy;
use super::folder::{Card, io, write_card};
use super::kept::{Kept, Outcome};
use super::start::RunData;
use crate::core::Core;
use crate::encoding::Seen;
use crate::encoding::encoders::Chosen;
use crate::error::WorkbenchError;
use crate::jobs::Observer;
use crate::levels::level_of;
use crate::live::{Steps, cancelled};
use crate::view::{EpochInfo, GradientLength, RunSizes};
use dissensus_domain::{AnnotatorId, CurrentLabel, Question, ScaleKind, Split, TextId};
use dissensus_encoder::{DeviceChoice, EncoderOptions, FreezePolicy, PrecisionChoice};
use dissensus_perspectives::{
    AnnotatorModel, Attribute, DataSplit, Embeddings, EncoderToTune, EpochRecord, FitOptions, ModelKind,
    Observation, SplitColumns, SplitSpec, Target, TrainObserver, Trained, Trainer, TrainingData, fit,
    metrics,
};
use dissensus_store::RunId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Is told how a run goes, beside its progress.
pub(crate) trait RunObserver: Observer {
    /// An evaluation came out; all of them so far.
    fn evaluated(&self, epochs: &[EpochInfo]);
}

/// The data of a question as models take them, all of one moment.
pub(crate) struct Material {
    pub(crate) question: Question,
    pub(crate) observations: Vec<Observation>,
    pub(crate) attributes: Vec<Attribute>,
    /// Annotators and texts, by row.
    pub(crate) annotators: Vec<AnnotatorId>,
    pub(crate) texts: Vec<TextId>,
    pub(crate) parts: Vec<Option<Split>>,
    pub(crate) groups: Vec<Option<u32>>,
}

impl Material {
    pub(crate) fn data<'a>(&'a self, embeddings: &'a Embeddings) -> TrainingData<'a> {
        TrainingData {
            embeddings,
            observations: &self.observations,
            annotators: self.annotators.len(),
            target: self.target(),
            attributes: &self.attributes,
        }
    }

    pub(crate) fn target(&self) -> Target {
        Target { kind: self.question.scale.kind(), levels: self.question.scale.len() }
    }

    pub(crate) fn columns(&self) -> SplitColumns<'_> {
        SplitColumns { parts: &self.parts, groups: &self.groups, ..SplitColumns::default() }
    }

    /// Texts with a label.
    pub(crate) fn labelled_texts(&self) -> usize {
        self.observations.iter().map(|o| o.text).collect::<BTreeSet<_>>().len()
    }

    /// Says what is missing where the official split is asked for and there is none.
    pub(crate) fn check_split(&self, split: SplitSpec) -> Result<(), WorkbenchError> {
        if split != SplitSpec::Column {
            return Ok(());
        }
        let missing = [(Split::Train, "train"), (Split::Test, "test")]
            .into_iter()
            .find(|(part, _)| !self.parts.contains(&Some(*part)));
        missing.map_or(Ok(()), |(_, name)| Err(WorkbenchError::EmptySplit(name)))
    }

    /// The official split where the project has one, else by text.
    pub(crate) fn usual_split(&self) -> SplitSpec {
        let official = [Split::Train, Split::Test].iter().all(|part| self.parts.contains(&Some(*part)));
        if official { SplitSpec::Column } else { SplitSpec::ByText(0.7) }
    }
}

impl Core {
    /// Labels, texts and annotators of a question, read in one moment: an import beside it is in all of them or in none.
    pub(crate) fn material(&self, question: &Question) -> Result<Material, WorkbenchError> {
        let snapshot = self.store.question_snapshot(question.id)?;
        let texts: Vec<TextId> = snapshot.texts.iter().map(|text| text.id).collect();
        let annotators: Vec<AnnotatorId> = snapshot.annotators.iter().map(|a| a.id).collect();
        let observation = |label: &CurrentLabel| {
            Some(Observation {
                text: texts.binary_search(&label.text).ok()? as u32,
                annotator: annotators.binary_search(&label.annotator).ok()? as u32,
                level: level_of(&label.answer)?,
            })
        };
        let observations: Vec<Observation> = snapshot.labels.iter().filter_map(observation).collect();
        if observations.is_empty() {
            return Err(WorkbenchError::NoLabels(question.name.clone()));
        }
        let (mut parts, mut groups) = (Vec::new(), Vec::new());
        let mut names: BTreeMap<String, u32> = BTreeMap::new();
        for text in snapshot.texts {
            parts.push(text.split.as_deref().and_then(Split::from_name));
            groups.push(text.group.map(|name| {
                let next = names.len() as u32;
                *names.entry(name).or_insert(next)
            }));
        }
        Ok(Material {
            question: question.clone(),
            observations,
            attributes: attributes(&snapshot.annotators),
            annotators,
            texts,
            parts,
            groups,
        })
    }

    /// The embeddings in use of the texts of `material`, and their version. Texts that were imported since are left out.
    pub(crate) fn embeddings_for(
        &self,
        material: &Material,
    ) -> Result<(Arc<Embeddings>, Option<String>), WorkbenchError> {
        let (all, key) = self.embeddings()?;
        if all.texts < material.texts.len() {
            // An import has just ended and the index is about to follow it.
            return Err(WorkbenchError::Busy("import"));
        }
        Ok((super::start::first_texts(&all, material.texts.len())?, key))
    }

    /// Trains, scores once, and keeps the predictions of the run.
    pub(crate) fn train_run(
        &self,
        run: RunId,
        device: DeviceChoice,
        observer: &dyn RunObserver,
    ) -> Result<Outcome, WorkbenchError> {
        let began = std::time::Instant::now();
        let energy = Energy::now();
        let mut kept = self.kept_run(run.0)?;
        let (config, split) = choices::config(&kept.choices)?;
        if kept.run.start.is_none() {
            self.start_on(&kept, &config, split)?;
            kept = self.kept_run(run.0)?;
        }
        let mut data = self.run_data(&kept)?;
        let embeddings = if config.policy == FreezePolicy::Frozen {
            self.run_embeddings(&data)?
        } else {
            Arc::new(Embeddings::none(data.texts))
        };
        let question =
            self.index().question(kept.choices.question).cloned().ok_or(WorkbenchError::NoQuestion)?;
        let sizes = sizes(&data.division);
        let mut notes = notes(config.network.model, &question, &data.division);
        notes.extend(Seen::note(data.left_out));
        let options = FitOptions { seed: u64::from(kept.choices.seed), ..FitOptions::default() };
        let mut work =
            Work { core: self, kept: &kept, data: &data, device, observer, options: &options, before: 0.0 };
        let training = data.training(&embeddings);
        let (model, device) = if config.is_convex() {
            let model =
                fit(config.network.model, &training, &options, &mut Steps(observer)).map_err(cancelled)?;
            (model, "cpu".to_owned())
        } else {
            work.in_steps(&training, config, &mut notes)?
        };
        let before = work.before;
        observer.step(1, Some(1), "scoring");
        let scored = data.division.test.score(model.name(), model.as_ref())?;
        let ordinal = question.scale.kind() == ScaleKind::Ordinal;
        let mut report = metrics::Report::of(
            &scored,
            &data.division.train,
            ordinal,
            &metrics::ReportOptions::default(),
            &mut Steps(observer),
        )
        .map_err(cancelled)?;
        if question.scale.kind() == ScaleKind::MultiChoice {
            report.options = metrics::option_scores(&scored);
        }
        self.store.set_run_predictions(run, scored.probabilities)?;
        Ok(Outcome {
            report: Some(report),
            sizes,
            encoder: data.encoder.map(|encoder| encoder.key),
            device,
            seconds: before + began.elapsed().as_secs_f64(),
            energy_joules: energy.joules_since(),
            notes,
            ..Outcome::default()
        })
    }

    /// Every body, in the order of the rows.
    pub(super) fn bodies(&self) -> Result<Vec<String>, WorkbenchError> {
        let mut bodies = Vec::with_capacity(self.index().texts().len());
        self.store.for_each_text(|text| {
            bodies.push(text.body);
            Ok::<(), WorkbenchError>(())
        })?;
        Ok(bodies)
    }
}

/// A gradient-trained run at work.
struct Work<'a> {
    core: &'a Core,
    kept: &'a Kept,
    data: &'a RunData,
    device: DeviceChoice,
    observer: &'a dyn RunObserver,
    options: &'a FitOptions,
    /// Seconds that were trained before it was interrupted.
    before: f64,
}

impl Work<'_> {
    fn in_steps(
        &mut self,
        data: &TrainingData<'_>,
        config: dissensus_perspectives::TrainConfig,
        notes: &mut Vec<String>,
    ) -> Result<(Box<dyn AnnotatorModel>, String), WorkbenchError> {
        let validation = &self.data.division.validation;
        let folder = self.core.make_run_folder(self.kept)?;
        let checkpoints = folder.join("checkpoints");
        let kind = config.network.model;
        let began = std::time::Instant::now();
        let mut watch = Watch { observer: self.observer, epochs: self.kept.epochs.clone() };
        if config.policy == FreezePolicy::Frozen {
            let trained = Trainer::new(*data, validation, None, config)?
                .in_folder(&checkpoints)
                .run(&mut watch)
                .map_err(cancelled)?;
            self.before = (trained.seconds - began.elapsed().as_secs_f64()).max(0.0);
            let device = trained.device.to_owned();
            let model = self.finished(trained, kind, data, &folder)?;
            return Ok((model, device));
        }
        let chosen = self.data.encoder.as_ref();
        let found = self.core.find_encoder(None, chosen)?;
        let options = EncoderOptions {
            device: self.device,
            threads: self.core.threads_for_training(),
            // What learns computes in fp32, whatever the project's embeddings do.
            precision: PrecisionChoice::default(),
            ..chosen.map(Chosen::options).unwrap_or_default()
        };
        let mut bodies = self.core.bodies()?;
        bodies.truncate(self.data.texts);
        let texts: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let encoder = EncoderToTune { dir: &found.dir, options: &options, texts: &texts };
        let trained = Trainer::new(*data, validation, Some(encoder), config)?
            .in_folder(&checkpoints)
            .run(&mut watch)
            .map_err(cancelled)?;
        self.before = (trained.seconds - began.elapsed().as_secs_f64()).max(0.0);
        let device = trained.device.to_owned();
        self.observer.step(0, None, "encoding with the tuned encoder");
        let x = self.embedded(&trained, &texts)?;
        let tuned = folder.join("encoder");
        if tuned.exists() {
            std::fs::remove_dir_all(&tuned).map_err(|e| io(&tuned, "replacing", e))?;
        }
        trained.save_encoder(&tuned)?;
        let parent = chosen.map(|chosen| chosen.key.as_str());
        self.core.keep_encoder_training_data(self.kept.run.id, &tuned, parent)?;
        notes.push(format!("The tuned encoder is in {}.", tuned.display()));
        let model = self.finished(trained, kind, &TrainingData { embeddings: &x, ..*data }, &folder)?;
        Ok((model, device))
    }

    /// Every text under the tuned encoder.
    fn embedded(&self, trained: &Trained, texts: &[&str]) -> Result<Embeddings, WorkbenchError> {
        let Some(encoder) = trained.encoder()? else { return Ok(Embeddings::none(texts.len())) };
        let mut rows = vec![Vec::new(); texts.len()];
        let mut done = 0;
        let plan = dissensus_encoder::BatchPlan::default();
        let stream = encoder.encode_stream(texts, &plan, |batch| {
            done += batch.indices.len() as u64;
            for (at, row) in batch.indices.into_iter().zip(batch.embeddings) {
                rows[at] = row;
            }
            self.observer.step(done, Some(texts.len() as u64), "encoding with the tuned encoder");
            if self.observer.cancelled() {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
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
        let index = self.core.index();
        let choices = &self.kept.choices;
        let question = index.question(choices.question).ok_or(WorkbenchError::NoQuestion)?;
        let of = |id: &AnnotatorId| {
            index.annotator_row(*id).map(|row| index.annotators()[row as usize].external_id.clone())
        };
        let card = Card {
            id: Some(self.kept.run.uid),
            question: Some(question.name.clone()),
            levels: question.scale.levels().to_vec(),
            annotators: self.data.annotators.iter().filter_map(of).collect(),
            choices: Some(serde_json::to_value(choices).map_err(|e| WorkbenchError::internal(&e))?),
        };
        write_card(folder, &card)
    }
}

/// Tells a run's observer what the trainer tells.
struct Watch<'a> {
    observer: &'a dyn RunObserver,
    epochs: Vec<EpochInfo>,
}

impl TrainObserver for Watch<'_> {
    fn step(&mut self, done: u32, steps: u32) {
        self.observer.step(u64::from(done), Some(u64::from(steps)), "training");
    }

    fn evaluated(&mut self, record: &EpochRecord) {
        // What came after the checkpoint it went on from is done again.
        self.epochs.retain(|epoch| epoch.step < record.step);
        self.epochs.push(epoch_info(record));
        self.observer.evaluated(&self.epochs);
    }

    fn cancelled(&self) -> bool {
        self.observer.cancelled()
    }
}

fn epoch_info(record: &EpochRecord) -> EpochInfo {
    let gradient =
        |g: &dissensus_perspectives::GradientNorm| GradientLength { group: g.group.clone(), norm: g.norm };
    EpochInfo {
        epoch: record.epoch,
        step: record.step,
        train_loss: Some(record.train_loss),
        validation_loss: record.validation.map(|v| v.log_loss),
        validation_accuracy: record.validation.map(|v| v.accuracy),
        rate: record.learning_rate,
        seconds: record.seconds,
        best: record.best,
        gradients: record.gradients.iter().map(gradient).collect(),
    }
}

fn sizes(division: &DataSplit) -> RunSizes {
    let texts = |labels: &[Observation]| labels.iter().map(|o| o.text).collect::<BTreeSet<_>>().len() as u32;
    RunSizes {
        train_texts: texts(&division.train),
        train_labels: division.train.len() as u32,
        validation_texts: texts(&division.validation),
        validation_labels: division.validation.len() as u32,
        test_texts: division.test.texts() as u32,
        test_labels: division.test.labels() as u32,
    }
}

/// What is to be known before figures are read.
fn notes(kind: ModelKind, question: &Question, division: &DataSplit) -> Vec<String> {
    let mut notes = Vec::new();
    let people = |labels: &[Observation]| labels.iter().map(|o| o.annotator).collect::<BTreeSet<_>>();
    let mut all = people(division.test.observations());
    all.extend(people(&division.validation));
    let unseen = all.difference(&people(&division.train)).count();
    if unseen > 0 && !matches!(kind, ModelKind::Majority | ModelKind::Shared) {
        let (them, who) =
            if unseen == 1 { ("annotator has", "that annotator") } else { ("annotators have", "them") };
        let instead = match kind {
            ModelKind::SepHeads => "the shared head predicts for",
            ModelKind::Multilevel => "the average annotator stands for",
            _ => "the vector for unseen annotators stands for",
        };
        notes.push(format!("{unseen} {them} no training label: {instead} {who}."));
    }
    if kind == ModelKind::Majority {
        let mut texts = 0;
        let mut ties = 0;
        for group in division.train.chunk_by(|a, b| a.text == b.text) {
            let mut counts = vec![0; question.scale.len()];
            group.iter().for_each(|o| counts[usize::from(o.level)] += 1);
            let top = counts.iter().max().copied().unwrap_or(0);
            texts += 1;
            ties += u32::from(counts.iter().filter(|n| **n == top).count() > 1);
        }
        notes.push(format!(
            "{ties} of {texts} texts have no majority: the lowest of the most frequent levels counts as theirs."
        ));
    }
    let mut given = vec![0_usize; question.scale.len()];
    division.train.iter().for_each(|o| given[usize::from(o.level)] += 1);
    if question.scale.kind() == ScaleKind::MultiChoice {
        // Most sets never occur; what is to be known is an option that nobody gave.
        for (option, name) in question.scale.options().into_iter().enumerate() {
            if given.iter().enumerate().all(|(set, n)| set >> option & 1 == 0 || *n == 0) {
                notes.push(format!("Nobody gave the option \"{name}\" in the training labels."));
            }
        }
        return notes;
    }
    for (level, _) in given.iter().enumerate().filter(|(_, n)| **n == 0) {
        let name = question.scale.name_of(level as u16).unwrap_or_default();
        notes.push(format!("Nobody gave the level \"{name}\" in the training labels."));
    }
    notes
}

/// Annotators' attributes as the models take them; values in order of their names.
fn attributes(annotators: &[dissensus_domain::Annotator]) -> Vec<Attribute> {
    let names: BTreeSet<&str> =
        annotators.iter().flat_map(|a| a.attributes.keys().map(String::as_str)).collect();
    let of = |name: &str| {
        let value =
            |a: &dissensus_domain::Annotator| a.attributes.get(name).filter(|v| !v.is_empty()).cloned();
        let values: Vec<String> =
            annotators.iter().filter_map(value).collect::<BTreeSet<_>>().into_iter().collect();
        let place = |v: String| values.binary_search(&v).ok().and_then(|at| u16::try_from(at).ok());
        let of = annotators.iter().map(|a| value(a).and_then(place)).collect();
        Attribute { name: name.to_owned(), values, of }
    };
    names.into_iter().map(of).collect()
}
