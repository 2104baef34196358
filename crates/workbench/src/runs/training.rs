//! One training from its choices to its scores.

use super::choices;
use super::energy::Energy;
use super::kept::Outcome;
use crate::core::Core;
use crate::encoding::Seen;
use crate::encoding::encoders::{self, Chosen};
use crate::error::WorkbenchError;
use crate::jobs::Observer;
use crate::live::{Steps, cancelled};
use crate::view::{EpochInfo, GradientLength, RunSizes, TrainChoices};
use dissensus_domain::{Question, ScaleKind, Split};
use dissensus_encoder::{DeviceChoice, EncoderOptions, FreezePolicy, PrecisionChoice};
use dissensus_perspectives::{
    AnnotatorModel, Attribute, Division, Embeddings, EpochRecord, FitOptions, Learnable, ModelKind,
    Observation, SplitColumns, SplitSpec, Target, TrainObserver, Trained, Trainer, TrainingData, fit,
    metrics,
};
use dissensus_store::{RunId, RunLabel, RunLabels, RunPart};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a run tells while it is at work, beside how far it is.
pub(crate) trait RunObserver: Observer {
    /// An evaluation came out; all of them so far.
    fn evaluated(&self, epochs: &[EpochInfo]);
}

/// The data of a question as models take them.
pub(crate) struct Material {
    pub(crate) question: Question,
    pub(crate) observations: Vec<Observation>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) annotators: usize,
    pub(crate) texts: usize,
    pub(crate) parts: Vec<Option<Split>>,
    pub(crate) groups: Vec<Option<u32>>,
}

impl Material {
    pub(crate) fn data<'a>(&'a self, embeddings: &'a Embeddings) -> TrainingData<'a> {
        TrainingData {
            embeddings,
            observations: &self.observations,
            annotators: self.annotators,
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

    /// Official where the project says itself which texts teach and which are scored, else by text.
    pub(crate) fn usual_split(&self) -> SplitSpec {
        let official = [Split::Train, Split::Test].iter().all(|part| self.parts.contains(&Some(*part)));
        if official { SplitSpec::Column } else { SplitSpec::ByText(0.7) }
    }
}

impl Core {
    /// Everything that is known of a question's labels.
    pub(crate) fn material(&self, question: &Question) -> Result<Material, WorkbenchError> {
        let observations = self.observations(question.id)?;
        if observations.is_empty() {
            return Err(WorkbenchError::NoLabels(question.name.clone()));
        }
        let (mut parts, mut groups) = (Vec::new(), Vec::new());
        let mut names: BTreeMap<String, u32> = BTreeMap::new();
        self.store.for_each_text(|text| {
            parts.push(text.split.as_deref().and_then(Split::from_name));
            groups.push(text.group.map(|name| {
                let next = names.len() as u32;
                *names.entry(name).or_insert(next)
            }));
            Ok::<(), WorkbenchError>(())
        })?;
        let index = self.index();
        Ok(Material {
            question: question.clone(),
            observations,
            attributes: attributes(index.annotators()),
            annotators: index.annotators().len(),
            texts: index.texts().len(),
            parts,
            groups,
        })
    }

    /// Trains, scores once, and keeps labels and predictions of the run.
    pub(crate) fn train_run(
        &self,
        run: RunId,
        asked: &TrainChoices,
        device: DeviceChoice,
        observer: &dyn RunObserver,
    ) -> Result<Outcome, WorkbenchError> {
        let began = std::time::Instant::now();
        let energy = Energy::now();
        let (config, split) = choices::config(asked)?;
        let question = self.index().question(asked.question).cloned().ok_or(WorkbenchError::NoQuestion)?;
        let material = self.material(&question)?;
        material.check_split(split)?;
        let (embeddings, encoder) = if config.policy == FreezePolicy::Frozen {
            self.embeddings()?
        } else {
            (Arc::new(Embeddings::none(material.texts)), self.embeddings()?.1)
        };
        let data = material.data(&embeddings);
        let kept_back = if config.is_solved() { 0.0 } else { asked.validation };
        // Of a run on frozen embeddings that is their encoder, of a run that tunes the one that it begins with.
        let seen = self.seen_by(encoder.as_deref(), &self.index())?;
        let columns = SplitColumns { seen: seen.rows(), ..material.columns() };
        let division = split.divide(&data, columns, u64::from(asked.seed), kept_back)?;
        seen.rows().check(&split.name(), division.test.texts())?;
        let sizes = sizes(&division);
        for (part, labels) in [(RunPart::Train, &division.train), (RunPart::Validation, &division.validation)]
        {
            let labels = RunLabels { labels: self.named(labels), probabilities: Vec::new() };
            self.store.put_run_labels(run, part, labels)?;
        }
        let mut notes = notes(config.network.model, &material, &division);
        notes.extend(Seen::note(division.test.left_out()));
        let options = FitOptions { seed: u64::from(asked.seed), ..FitOptions::default() };
        let mut work = Work { core: self, run, asked, device, observer, options: &options, before: 0.0 };
        let Division { train, validation, mut test } = division;
        let data = TrainingData { observations: &train, ..data };
        let (model, device) = if config.is_solved() {
            let model =
                fit(config.network.model, &data, &options, &mut Steps(observer)).map_err(cancelled)?;
            (model, "cpu".to_owned())
        } else {
            work.in_steps(&data, &validation, config, &mut notes)?
        };
        observer.step(1, Some(1), "scoring");
        let scored = test.score(model.name(), model.as_ref())?;
        let ordinal = question.scale.kind() == ScaleKind::Ordinal;
        let mut report =
            metrics::Report::of(&scored, ordinal, &metrics::ReportOptions::default(), &mut Steps(observer))
                .map_err(cancelled)?;
        if question.scale.kind() == ScaleKind::MultiChoice {
            report.options = metrics::option_scores(&scored);
        }
        let kept =
            RunLabels { labels: self.named(&scored.observations), probabilities: scored.probabilities };
        self.store.put_run_labels(run, RunPart::Test, kept)?;
        Ok(Outcome {
            report: Some(report),
            sizes,
            encoder,
            device,
            seconds: work.before + began.elapsed().as_secs_f64(),
            energy_joules: energy.joules_since(),
            notes,
            problem: None,
        })
    }

    /// Where the files of a run are: beside the project.
    pub(crate) fn run_folder(&self, run: RunId) -> PathBuf {
        self.store.path().with_extension("runs").join(run.0.to_string())
    }

    /// Rows of the arrays as rows of the project.
    fn named(&self, observations: &[Observation]) -> Vec<RunLabel> {
        let index = self.index();
        let label = |o: &Observation| RunLabel {
            text: index.texts()[o.text as usize],
            annotator: index.annotators()[o.annotator as usize].id,
            level: o.level,
        };
        observations.iter().map(label).collect()
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

/// A training in steps at work.
struct Work<'a> {
    core: &'a Core,
    run: RunId,
    asked: &'a TrainChoices,
    device: DeviceChoice,
    observer: &'a dyn RunObserver,
    options: &'a FitOptions,
    /// Seconds that were trained before it broke off.
    before: f64,
}

impl Work<'_> {
    fn in_steps(
        &mut self,
        data: &TrainingData<'_>,
        validation: &[Observation],
        config: dissensus_perspectives::TrainConfig,
        notes: &mut Vec<String>,
    ) -> Result<(Box<dyn AnnotatorModel>, String), WorkbenchError> {
        let folder = self.core.run_folder(self.run);
        let checkpoints = folder.join("checkpoints");
        let kind = config.network.model;
        let began = std::time::Instant::now();
        let mut watch = Watch { observer: self.observer, epochs: self.core.epochs_so_far(self.run) };
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
        let chosen = self.core.chosen()?;
        let found = encoders::find(&self.core.home, None, chosen.as_ref())?;
        let options = EncoderOptions {
            device: self.device,
            threads: self.core.threads_for_training(),
            // What learns computes in fp32, whatever the project's embeddings do.
            precision: PrecisionChoice::default(),
            ..chosen.as_ref().map(Chosen::options).unwrap_or_default()
        };
        let bodies = self.core.bodies()?;
        let texts: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let learnable = Learnable { dir: &found.dir, options: &options, texts: &texts };
        let trained = Trainer::new(*data, validation, Some(learnable), config)?
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
        let parent = self.core.embeddings()?.1;
        self.core.keep_encoder_training_data(self.run, &tuned, parent.as_deref())?;
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
        // What it needs to go on from is of no use once it has ended.
        let _ = std::fs::remove_dir_all(folder.join("checkpoints"));
        Ok(model)
    }

    /// What the numbers of the saved network mean: levels, annotators, choices.
    fn keep_card(&self, folder: &Path) -> Result<(), WorkbenchError> {
        let index = self.core.index();
        let question = index.question(self.asked.question).ok_or(WorkbenchError::NoQuestion)?;
        let annotators: Vec<&str> = index.annotators().iter().map(|a| a.external_id.as_str()).collect();
        let card = serde_json::json!({
            "question": question.name,
            "levels": question.scale.levels(),
            "annotators": annotators,
            "choices": self.asked,
        });
        let path = folder.join("run.json");
        std::fs::write(&path, format!("{card:#}\n")).map_err(|e| io(&path, "writing", e))
    }
}

fn io(path: &Path, doing: &'static str, source: std::io::Error) -> WorkbenchError {
    WorkbenchError::Io { path: path.to_owned(), doing, source }
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
        |g: &dissensus_perspectives::GradientLength| GradientLength { group: g.group.clone(), norm: g.norm };
    EpochInfo {
        epoch: record.epoch,
        step: record.step,
        train_loss: Some(record.train_loss),
        validation_loss: record.validation.map(|v| v.log_loss),
        validation_accuracy: record.validation.map(|v| v.accuracy),
        rate: record.rate,
        seconds: record.seconds,
        best: record.best,
        gradients: record.gradients.iter().map(gradient).collect(),
    }
}

fn sizes(division: &Division) -> RunSizes {
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
fn notes(kind: ModelKind, material: &Material, division: &Division) -> Vec<String> {
    let mut notes = Vec::new();
    let people = |labels: &[Observation]| labels.iter().map(|o| o.annotator).collect::<BTreeSet<_>>();
    let (taught, all) = (people(&division.train), people(&material.observations));
    let strangers = all.difference(&taught).count();
    if strangers > 0 && !matches!(kind, ModelKind::Majority | ModelKind::Shared) {
        let (them, who) =
            if strangers == 1 { ("annotator has", "that person") } else { ("annotators have", "them") };
        let instead = match kind {
            ModelKind::SepHeads => "the shared head predicts for",
            ModelKind::Multilevel => "the average person stands for",
            _ => "the stranger's vector stands for",
        };
        notes.push(format!("{strangers} {them} no label among those that taught: {instead} {who}."));
    }
    if kind == ModelKind::Majority {
        let mut texts = 0;
        let mut ties = 0;
        for group in division.train.chunk_by(|a, b| a.text == b.text) {
            let mut counts = vec![0; material.question.scale.len()];
            group.iter().for_each(|o| counts[usize::from(o.level)] += 1);
            let top = counts.iter().max().copied().unwrap_or(0);
            texts += 1;
            ties += u32::from(counts.iter().filter(|n| **n == top).count() > 1);
        }
        notes.push(format!(
            "{ties} of {texts} texts have no majority: the lowest of the most frequent levels counts as theirs."
        ));
    }
    let mut given = vec![0_usize; material.question.scale.len()];
    division.train.iter().for_each(|o| given[usize::from(o.level)] += 1);
    if material.question.scale.kind() == ScaleKind::MultiChoice {
        // Most sets never occur; what is to be known is an option that nobody gave.
        for (option, name) in material.question.scale.options().into_iter().enumerate() {
            if given.iter().enumerate().all(|(set, n)| set >> option & 1 == 0 || *n == 0) {
                notes.push(format!("Nobody gave the option \"{name}\" among the labels that taught."));
            }
        }
        return notes;
    }
    for (level, _) in given.iter().enumerate().filter(|(_, n)| **n == 0) {
        let name = material.question.scale.name_of(level as u16).unwrap_or_default();
        notes.push(format!("Nobody gave the level \"{name}\" among the labels that taught."));
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
