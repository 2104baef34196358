//! A training in steps: a tuned encoder, or frozen embeddings, with a head for each run.

use super::Runs;
use super::auxiliary::{AuxiliaryLabels, file_name};
use super::list::announce;
use super::member::Member;
use super::notes::{calibration, words_at_face_value};
use super::words::{WordsAtWork, save_learned_words};
use crate::encoding::OtherTrainingData;
use crate::encoding::encoders::SelectedEncoder;
use crate::runs::auxiliary;
use crate::runs::held;
use crate::runs::tuned_data;
use crate::runs::words;
use crate::saved_runs::{Card, TrainedWordScores, io, write_card};
use dissensus_api::{EpochInfo, GradientNorm, TrainChoices};
use dissensus_domain::AnnotatorId;
use dissensus_encoder::{BatchPlan, DeviceChoice, EncoderOptions, FreezePolicy, PrecisionChoice};
use dissensus_files::link_or_copy_folder;
use dissensus_neural::trainer::{
    AuxiliaryTask, EncoderToTune, EpochRecord, Head, JointQuestion, TrainConfig, Trained, Trainer,
    WordQuestion,
};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::scored_by_calibration;
use dissensus_stats::data::{AnnotatorModel, Embeddings, FitOptions, ModelError, ModelKind, TrainingData};
use dissensus_stats::metrics;
use dissensus_store::{RunId, body_hash};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The model of a run that was trained.
pub(crate) struct FittedRun {
    pub model: Box<dyn AnnotatorModel>,
    pub(super) device: String,
    pub(super) notes: Vec<String>,
    /// Predictions of validation labels without them, if the model has learned them since.
    pub(super) held_out: Option<metrics::Scored>,
    /// For a type of spans whose words were learned too.
    pub(super) words: Option<TrainedWordScores>,
}

/// Threads that a training may use: all, but one less if a window is open for labelling.
fn threads_for_training(cx: &Runs) -> Option<usize> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let labelled_meanwhile = cx.context.works_in_background();
    labelled_meanwhile.then_some(cores.saturating_sub(1).max(1))
}

/// A training at work.
pub(super) struct Work<'a> {
    pub(super) runs: &'a Runs,
    pub(super) device: DeviceChoice,
    pub(super) progress: &'a dyn Progress,
    pub(super) options: &'a FitOptions,
}

/// Stops a training whose runs could not be used any more.
struct UntilRearranged<'a> {
    progress: &'a dyn Progress,
    /// Why they could not.
    error: OnceLock<ProjectError>,
}

impl UntilRearranged<'_> {
    fn check(&self, same: impl FnOnce() -> Result<(), ProjectError>) {
        if let Err(error @ ProjectError::OtherLevels(_)) = same() {
            // The first reason is as good as a later one.
            let _ = self.error.set(error);
        }
    }

    fn unless_rearranged<T>(self, trained: Result<T, ModelError>) -> Result<T, ProjectError> {
        match self.error.into_inner() {
            Some(error) => Err(error),
            None => Ok(trained?),
        }
    }
}

impl Progress for UntilRearranged<'_> {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        self.progress.report(done, total, doing);
    }

    fn cancelled(&self) -> bool {
        self.error.get().is_some() || self.progress.cancelled()
    }
}

/// Called with the model of each run as soon as it exists, because the models of many runs at a time would
/// fill the memory.
type Score<'s> = dyn FnMut(&mut Member, FittedRun) -> Result<(), ProjectError> + 's;

impl Work<'_> {
    /// Trains the members as one, on the embeddings `x` if the encoder is frozen. The first one's folder
    /// holds the checkpoints. Returns the seconds of training before an interruption.
    pub(super) fn in_steps(
        &self,
        members: &mut [Member],
        x: &Arc<Embeddings>,
        config: &TrainConfig,
        score: &mut Score<'_>,
    ) -> Result<f64, ProjectError> {
        let folders: Vec<PathBuf> = members
            .iter()
            .map(|member| self.runs.kept.make_folder(&member.kept))
            .collect::<Result<_, _>>()?;
        let Some(first) = folders.first() else { return Err(ProjectError::NoQuestion) };
        let checkpoints = first.join("checkpoints");
        let began = std::time::Instant::now();
        let runs: Vec<RunId> = members.iter().map(|member| member.kept.run.id).collect();
        let mut epochs: Vec<Vec<EpochInfo>> =
            members.iter().map(|member| member.kept.epochs.clone()).collect();
        let watched = UntilRearranged { progress: self.progress, error: OnceLock::new() };
        let evaluated = |record: &EpochRecord| {
            for (nth, epochs) in epochs.iter_mut().enumerate() {
                // Steps after the checkpoint from which it resumed are repeated.
                epochs.retain(|epoch| epoch.step < record.step);
                epochs.push(epoch_info(record, nth));
            }
            store_history(self.runs, &runs, &epochs);
            // What is learned from here on would be of no use.
            watched.check(|| self.have_same_levels(&runs));
        };
        if config.policy == FreezePolicy::Frozen {
            let trained = trainer(members, x, None, config)?.in_folder(&checkpoints).run(&watched, evaluated);
            let trained = watched.unless_rearranged(trained)?;
            let before = (trained.seconds - began.elapsed().as_secs_f64()).max(0.0);
            let device = trained.device.to_owned();
            for ((member, head), folder) in members.iter_mut().zip(trained.into_heads()).zip(&folders) {
                let data = member.data.training(x);
                let model = self.finished(head, config.network.model, &data, x, folder)?;
                self.save_card(member, folder)?;
                let device = device.clone();
                score(member, FittedRun { model, device, notes: Vec::new(), held_out: None, words: None })?;
            }
            return Ok(before);
        }
        let chosen = members[0].data.encoder.clone();
        let found = self.runs.encoding.find_encoder(None, chosen.as_ref())?;
        let options = EncoderOptions {
            device: self.device,
            threads: threads_for_training(self.runs),
            // Tuning computes in fp32, regardless of the precision of the project's embeddings.
            precision: PrecisionChoice::default(),
            ..chosen.as_ref().map(SelectedEncoder::options).unwrap_or_default()
        };
        let mut bodies = self.runs.context.bodies()?;
        bodies.truncate(members[0].data.texts);
        let texts: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let encoder = EncoderToTune { dir: &found.dir, options: &options, texts: &texts };
        let auxiliary = auxiliary::stored_auxiliary(&members[0].kept, first)?;
        let auxiliary_bodies: Vec<Vec<&str>> = auxiliary.iter().map(AuxiliaryLabels::bodies).collect();
        let tasks: Vec<AuxiliaryTask<'_>> =
            auxiliary.iter().zip(&auxiliary_bodies).map(|(labels, bodies)| labels.task(bodies)).collect();
        let words = words::words_to_learn(members, first, &texts)?;
        let asked: Vec<WordQuestion<'_>> = words
            .iter()
            .map(|words| words.asked(words.members.iter().map(|at| weight_of(&members[*at])).sum()))
            .collect();
        let mut trainer =
            trainer(members, x, Some(encoder), config)?.with_words(&asked)?.with_auxiliary(&tasks)?;
        for (nth, member) in members.iter().enumerate() {
            if let Some(head) = held::head_held_for(self.runs, &member.kept)? {
                trainer = trainer.holding(nth, &head)?;
            }
        }
        let trained = trainer.in_folder(&checkpoints).run(&watched, evaluated);
        let trained = watched.unless_rearranged(trained)?;
        let before = (trained.seconds - began.elapsed().as_secs_f64()).max(0.0);
        let (cut, device) = (trained.cut_for_prompt(), trained.device.to_owned());
        self.progress.report(0, None, "encoding with the tuned encoder");
        let x = self.embedded(&trained, &texts)?;
        let parent = chosen.as_ref().map(|chosen| chosen.key.as_str());
        let others: Vec<&OtherTrainingData> = auxiliary.iter().map(|labels| &labels.taught).collect();
        self.save_encoder(&trained, &folders, &runs, parent, &found.dir, &others)?;
        let scores = self.finish_words(&words, &trained, &texts, &folders, members)?;
        let of_members = members.iter_mut().zip(trained.into_heads()).zip(&folders).zip(scores);
        for (((member, head), folder), words) in of_members {
            let mut notes: Vec<String> = cut.iter().cloned().collect();
            notes.extend(words.as_ref().and_then(words_at_face_value));
            notes.push(format!("The tuned encoder is in {}.", folder.join("encoder").display()));
            let x = Arc::new(tuned_data::after_tuning(self.runs, &member.data, x.clone())?);
            let validation = &member.data.division.validation;
            let held_out = if config.network.model == ModelKind::Multilevel {
                notes.extend(calibration(&x, validation));
                let data = member.data.training(&x);
                Some(scored_by_calibration(&data, validation, self.options, self.progress)?)
            } else {
                None
            };
            let labels = member.data.training_and_validation();
            let data = TrainingData { observations: &labels, ..member.data.training(&x) };
            let model = self.finished(head, config.network.model, &data, &x, folder)?;
            self.save_card(member, folder)?;
            score(member, FittedRun { model, device: device.clone(), notes, held_out, words })?;
        }
        Ok(before)
    }

    /// Makes sure that the questions of these runs still have the levels that they learn.
    fn have_same_levels(&self, runs: &[RunId]) -> Result<(), ProjectError> {
        runs.iter().try_for_each(|run| self.runs.kept.has_same_levels(&self.runs.kept.get(run.0)?))
    }

    /// Calibrates, scores and stores what was learned of words; the scores of each run, only for types of
    /// spans.
    fn finish_words(
        &self,
        words: &[WordsAtWork],
        trained: &Trained,
        bodies: &[&str],
        folders: &[PathBuf],
        members: &[Member],
    ) -> Result<Vec<Option<TrainedWordScores>>, ProjectError> {
        let mut scores = vec![None; members.len()];
        let (Some(encoder), false) = (trained.encoder()?, words.is_empty()) else { return Ok(scores) };
        let mut learned = Vec::new();
        for (words, head) in words.iter().zip(&trained.word_heads) {
            let Some(first) = words.members.first() else { continue };
            let taught = and_copies(tuned_data::taught(self.runs, &members[*first].data)?, bodies);
            let (kept, found) = words.finished(head, &encoder, bodies, &taught, self.progress)?;
            words.members.iter().for_each(|at| scores[*at] = Some(found.clone()));
            learned.push(kept);
        }
        save_learned_words(&learned, folders)?;
        Ok(scores)
    }

    /// Writes the tuned encoder into the folder of every run, as one file with a hard link in each if the
    /// file system supports them, so that each folder is complete and independent of the others.
    fn save_encoder(
        &self,
        trained: &Trained,
        folders: &[PathBuf],
        runs: &[RunId],
        parent: Option<&str>,
        parent_dir: &Path,
        others: &[&OtherTrainingData],
    ) -> Result<(), ProjectError> {
        let tuned: Vec<PathBuf> = folders.iter().map(|folder| folder.join("encoder")).collect();
        for folder in tuned.iter().filter(|folder| folder.exists()) {
            std::fs::remove_dir_all(folder).map_err(|e| io(folder, "replacing", e))?;
        }
        let Some((first, copies)) = tuned.split_first() else { return Ok(()) };
        trained.save_encoder(first)?;
        for run in runs {
            let encoding = &self.runs.encoding;
            encoding.store_encoder_training_data(*run, first, parent, Some(parent_dir), others)?;
        }
        for copy in copies {
            link_or_copy_folder(first, copy).map_err(|e| io(copy, "writing", e))?;
        }
        Ok(())
    }

    /// Encodes every text with the tuned encoder.
    fn embedded(&self, trained: &Trained, texts: &[&str]) -> Result<Embeddings, ProjectError> {
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
            return Err(ProjectError::Cancelled);
        }
        Ok(Embeddings::new(encoder.version().dim, rows.concat())?)
    }

    fn finished(
        &self,
        head: Head,
        kind: ModelKind,
        data: &TrainingData<'_>,
        x: &Arc<Embeddings>,
        folder: &Path,
    ) -> Result<Box<dyn AnnotatorModel>, ProjectError> {
        if kind == ModelKind::Multilevel {
            return Ok(head.model(data, self.options)?);
        }
        let model = head.network_model(Arc::clone(x))?;
        model.save(folder)?;
        Ok(Box::new(model))
    }

    /// Writes the card with the meaning of the saved network's numbers: levels, annotators, choices.
    fn save_card(&self, member: &Member, folder: &Path) -> Result<(), ProjectError> {
        let index = self.runs.context.index();
        let (choices, question) = (&member.kept.choices, &member.question);
        let of = |id: &AnnotatorId| {
            index.annotator_row(*id).map(|row| index.annotators()[row as usize].external_id.clone())
        };
        let card = Card {
            id: Some(member.kept.run.uid),
            question: Some(question.name.clone()),
            levels: question.scale.levels().to_vec(),
            annotators: member.data.annotators.iter().filter_map(of).collect(),
            choices: Some(
                serde_json::to_value(without_folders(choices)).map_err(|e| ProjectError::internal(&e))?,
            ),
        };
        write_card(folder, &card)
    }
}

/// Reduces the paths of other projects to file names, because a run's folder is shared.
fn without_folders(choices: &TrainChoices) -> TrainChoices {
    let mut choices = choices.clone();
    for other in &mut choices.auxiliary {
        other.project = file_name(Path::new(&other.project));
    }
    choices
}

/// Extends a selection of texts by all copies of their bodies.
fn and_copies(taught: Vec<bool>, bodies: &[&str]) -> Vec<bool> {
    let hashes: Vec<Option<[u8; 32]>> = bodies.iter().map(|body| body_hash(body)).collect();
    let learned: HashSet<[u8; 32]> =
        hashes.iter().zip(&taught).filter(|(_, taught)| **taught).filter_map(|(hash, _)| *hash).collect();
    let copies = |(hash, taught): (&Option<[u8; 32]>, bool)| {
        taught || hash.is_some_and(|hash| learned.contains(&hash))
    };
    hashes.iter().zip(taught).map(copies).collect()
}

/// The training of these members, with a head for each.
fn trainer<'a>(
    members: &'a [Member],
    x: &'a Embeddings,
    encoder: Option<EncoderToTune<'a>>,
    config: &TrainConfig,
) -> Result<Trainer<'a>, ProjectError> {
    let [first, others @ ..] = members else { return Err(ProjectError::NoQuestion) };
    let trainer =
        Trainer::new(first.data.training(x), &first.data.division.validation, encoder, config.clone())?;
    if others.is_empty() {
        return Ok(trainer);
    }
    let question = |member: &'a Member| JointQuestion {
        data: member.data.training(x),
        validation: &member.data.division.validation,
        weight: weight_of(member),
    };
    let questions: Vec<JointQuestion<'_>> = others.iter().map(question).collect();
    Ok(trainer.with_questions(weight_of(first), &questions)?)
}

fn weight_of(member: &Member) -> f64 {
    let choices = &member.kept.choices;
    let own = choices.joint.iter().find(|joint| joint.question == choices.question);
    own.map_or(1.0, |joint| joint.weight)
}

/// With several questions, the validation figures are those of the `nth`; the training loss is that of all.
fn epoch_info(record: &EpochRecord, nth: usize) -> EpochInfo {
    let validation = if record.questions.is_empty() { record.validation } else { record.questions[nth] };
    let gradient =
        |g: &dissensus_neural::trainer::GradientNorm| GradientNorm { group: g.group.clone(), norm: g.norm };
    EpochInfo {
        epoch: record.epoch,
        step: record.step,
        train_loss: record.train_loss,
        validation_loss: validation.map(|v| v.log_loss),
        validation_accuracy: validation.map(|v| v.accuracy),
        rate: record.learning_rate,
        seconds: record.seconds,
        best: record.best,
        gradients: record.gradients.iter().map(gradient).collect(),
    }
}

/// Stores the evaluations of runs so far, and notifies listeners.
fn store_history(cx: &Runs, runs: &[RunId], epochs: &[Vec<EpochInfo>]) {
    // The history is in the checkpoint too: a disk that refuses this will refuse that, which is an error
    // there.
    for (run, epochs) in runs.iter().zip(epochs) {
        if let Ok(history) = serde_json::to_value(epochs) {
            let _ = cx.context.store.set_run_history(*run, history);
        }
    }
    announce(cx, runs);
}
