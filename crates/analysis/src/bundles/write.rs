//! Writes a bundle next to its destination, checks it by opening it, and then moves it there.

use super::manifest::{BundledAnnotator, BundledEncoder, BundledQuestion, BundledWords, Manifest};
use super::models::{ModelToBundle, OpenedEncoder};
use super::words::{RequestedWords, WordsToBundle};
use super::{Bundle, Bundles, card, io_error, sums};
use crate::bundle_folder::BUNDLE;
use crate::error::AnalysisError;
use dissensus_domain::{Annotator, Question};
use dissensus_encoder::{DeviceChoice, copy_encoder};
use dissensus_files::{AtomicFolder, folder_of};
use dissensus_project::clock::now_ms;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::pseudonyms::Pseudonyms;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::{EncoderChoice, EncoderSwitch};
use dissensus_training::runs;
use serde::Serialize;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text that both the project's encoder and its copy read, so that a bundle whose predictions would differ
/// is never left behind.
const PROBE: &str = "You call that a recipe? It isn't one, 3 of 5 at best.";
/// Maximum difference of a component of its embedding.
const MAX_DIFFERENCE: f32 = 1e-6;

/// The parameters of a bundle.
#[derive(Clone, Debug, Default)]
pub struct BundleChoices {
    /// Questions whose live models are bundled, for a multi-label question all options; with neither these
    /// nor runs, all questions.
    pub questions: Vec<String>,
    /// Runs whose models are bundled.
    pub runs: Vec<u32>,
    /// Names annotators by their ids; otherwise they have pseudonyms.
    pub with_ids: bool,
    /// Replaces an existing bundle.
    pub replace: bool,
}

/// Summary of a written bundle.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BundleWritten {
    pub folder: PathBuf,
    /// Questions, or options of some, that it predicts.
    pub questions: Vec<String>,
    /// Questions with spans whose marked words it predicts.
    pub words: Vec<String>,
    /// Multi-label questions that it predicts as a whole.
    pub sets: Vec<String>,
    /// Number of words of labelled texts for which it contains a weight and a hash, over all questions.
    pub words_held: usize,
    /// Number of annotators that it predicts.
    pub annotators: usize,
    /// Encoder versions in it.
    pub encoders: Vec<String>,
    /// Number of labelled texts whose embeddings are in it, because predictions of new texts are compared
    /// with them.
    pub embeddings_held: usize,
    /// Size in bytes.
    pub bytes: u64,
}

impl Bundles {
    /// Writes models of the project into the new folder `dir`, with everything needed to predict new texts
    /// and without texts and labels. The folder is written atomically.
    ///
    /// # Errors
    /// A folder of that name (without `replace`, or no bundle); no such question or run; a question without
    /// labels; a run that is not of `multilevel`; no encoder; a full disk; cancellation.
    pub fn write(
        &self,
        choices: &BundleChoices,
        dir: &Path,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<(BundleWritten, Option<EncoderSwitch>), ProjectError> {
        check_place(dir, choices.replace)?;
        let questions = self.questions_of(choices)?;
        self.write_checked(choices, &questions, dir, encoder, progress).map_err(ProjectError::all_or_nothing)
    }

    fn write_checked(
        &self,
        choices: &BundleChoices,
        questions: &[Question],
        dir: &Path,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<(BundleWritten, Option<EncoderSwitch>), ProjectError> {
        let asked = self.requested_words(questions, &choices.runs)?;
        self.check_names(questions, &choices.runs, &asked)?;
        let (mut models, mut words) = (Vec::new(), Vec::new());
        for run in &choices.runs {
            models.push(self.run_model(*run, progress)?);
        }
        for RequestedWords { question, trained } in &asked {
            let Some(trained) = trained else { continue };
            let own = models.iter().find(|model| model.run.is_some_and(|run| trained.runs.contains(&run)));
            let Some(own) = own else { continue };
            words.push(self.run_words(question, trained, &own.encoder, progress)?);
        }
        let mut switch = None;
        if !questions.is_empty() {
            switch = self.encoding.ensure_encoded(encoder, progress)?;
            let (encoder, selected, dir) = self.encoding.open_in_use(encoder)?;
            let in_use = OpenedEncoder { encoder: Arc::new(encoder), dir };
            for question in questions {
                models.push(self.live_model(question, &in_use, progress)?);
            }
            for RequestedWords { question, .. } in asked.iter().filter(|asked| asked.trained.is_none()) {
                words.push(self.live_words(question, &in_use, &selected.encoder, progress)?);
            }
        }
        let place = AtomicFolder::create(dir).map_err(|e| io_error(dir, "making", e))?;
        let manifest = self.fill(place.path(), &models, &words, !choices.with_ids, progress)?;
        let bytes = check_copy(place.path(), &models)?;
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        // Checked again, because minutes have passed.
        check_place(dir, choices.replace)?;
        let ended = if choices.replace { place.finish() } else { place.finish_new() };
        ended.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ProjectError::ExportExists(dir.to_owned()),
            _ => io_error(dir, "writing", error),
        })?;
        let people: std::collections::BTreeSet<&str> = manifest
            .questions
            .iter()
            .flat_map(|q| q.annotators.iter())
            .chain(manifest.words.iter().flat_map(|w| w.annotators.iter()))
            .map(|a| a.id.as_str())
            .collect();
        let written = BundleWritten {
            folder: dir.to_owned(),
            questions: manifest.questions.iter().map(|q| q.name.clone()).collect(),
            words: manifest.words.iter().map(|w| w.name.clone()).collect(),
            sets: manifest.sets.iter().map(|s| s.name.clone()).collect(),
            words_held: manifest.words.iter().map(|w| w.forms).sum(),
            annotators: people.len(),
            encoders: manifest.encoders.iter().map(|e| e.version.clone()).collect(),
            embeddings_held: manifest.questions.iter().map(|q| q.embeddings_held).sum(),
            bytes,
        };
        Ok((written, switch))
    }

    /// The chosen questions, with the options of multi-label ones.
    fn questions_of(&self, choices: &BundleChoices) -> Result<Vec<Question>, ProjectError> {
        let index = self.context.index();
        let chosen = match (choices.questions.as_slice(), choices.runs.as_slice()) {
            ([], []) => {
                let labelled = |question: &&Question| -> Result<bool, ProjectError> {
                    Ok(!self.context.store.current_labels(question.id)?.is_empty())
                };
                let mut chosen = Vec::new();
                for question in index.questions() {
                    if labelled(&question)? {
                        chosen.push(question.id);
                    }
                }
                // Without any label, the first question is chosen, whose error reports this.
                chosen.extend(
                    index.questions().first().filter(|_| chosen.is_empty()).map(|question| question.id),
                );
                chosen
            }
            (names, _) => {
                let named = |name: &String| Ok(index.find_question(Some(name))?.id);
                names.iter().map(named).collect::<Result<Vec<_>, ProjectError>>()?
            }
        };
        if chosen.is_empty() && choices.runs.is_empty() {
            return Err(ProjectError::NoQuestion);
        }
        let learned = chosen.into_iter().flat_map(|id| index.learned(id));
        learned.map(|id| index.with_levels(id).cloned()).collect()
    }

    /// Checks that names are unique, because questions of a bundle are requested by name.
    fn check_names(
        &self,
        questions: &[Question],
        runs: &[u32],
        words: &[RequestedWords],
    ) -> Result<(), ProjectError> {
        let mut names: Vec<String> = questions.iter().map(|question| question.name.clone()).collect();
        for run in runs {
            names.push(runs::detail(&self.runs, *run)?.info.question_name);
        }
        names.extend(words.iter().map(|of| of.question.name.clone()));
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => Err(AnalysisError::QuestionTwice(twice[0].clone()).into()),
            None => Ok(()),
        }
    }

    /// Writes all files.
    fn fill(
        &self,
        dir: &Path,
        models: &[ModelToBundle],
        words: &[WordsToBundle],
        anonymous: bool,
        progress: &dyn Progress,
    ) -> Result<Manifest, ProjectError> {
        let mut manifest = Manifest {
            format: Manifest::format_of(words.len()),
            program: concat!("dissensus ", env!("CARGO_PKG_VERSION")).to_owned(),
            made_at: jiff::Timestamp::from_millisecond(now_ms()).unwrap_or_default().to_string(),
            anonymous,
            notice: self.context.store.setting(dissensus_project::sample::NOTICE_KEY)?,
            encoders: Vec::new(),
            questions: Vec::new(),
            words: Vec::new(),
            sets: Vec::new(),
        };
        let names = Names::new(&self.context, anonymous)?;
        make(&dir.join("heads"))?;
        for (at, model) in models.iter().enumerate() {
            if progress.cancelled() {
                return Err(ProjectError::Cancelled);
            }
            progress.report(at as u64, Some(models.len() as u64), "writing");
            let head = format!("heads/{}.bin", at + 1);
            let path = dir.join(&head);
            let bytes = model.model.to_bytes_for_new_texts()?;
            std::fs::write(&path, bytes).map_err(|e| io_error(&path, "writing", e))?;
            let encoder = place_encoder(dir, &model.encoder, &mut manifest.encoders)?;
            manifest.questions.push(described(model, head, encoder, names.of(&model.annotators)?));
        }
        manifest.sets = self.whole_questions(models, &manifest.questions, progress)?;
        for (at, of) in words.iter().enumerate() {
            let file = format!("heads/words-{}.json", at + 1);
            let path = dir.join(&file);
            let json = serde_json::to_vec(&of.predictor).map_err(|e| ProjectError::internal(&e))?;
            std::fs::write(&path, json).map_err(|e| io_error(&path, "writing", e))?;
            let encoder = place_encoder(dir, &of.encoder, &mut manifest.encoders)?;
            manifest.words.push(BundledWords {
                name: of.question.name.clone(),
                types: of.question.scale.levels().to_vec(),
                model: ModelKind::Multilevel.name().to_owned(),
                run: of.run,
                file,
                encoder,
                answers: of.predictor.learned.answers,
                forms: of.predictor.learned.forms.len(),
                annotators: names.of(&of.annotators)?,
                held_out: of.held_out.clone(),
            });
        }
        let path = dir.join(BUNDLE);
        let json = serde_json::to_string_pretty(&manifest).map_err(|e| ProjectError::internal(&e))?;
        std::fs::write(&path, json + "\n").map_err(|e| io_error(&path, "writing", e))?;
        let path = dir.join("README.md");
        std::fs::write(&path, card::card(&manifest)).map_err(|e| io_error(&path, "writing", e))?;
        sums::write(dir)?;
        Ok(manifest)
    }
}

fn described(
    of: &ModelToBundle,
    head: String,
    encoder: usize,
    annotators: Vec<BundledAnnotator>,
) -> BundledQuestion {
    BundledQuestion {
        name: of.question.name.clone(),
        prompt: of.question.prompt.clone(),
        help: of.question.help.clone(),
        definitions: of.question.definitions.clone(),
        scale: of.question.scale.kind(),
        levels: of.question.scale.levels().to_vec(),
        model: ModelKind::Multilevel.name().to_owned(),
        run: of.run,
        head,
        encoder,
        labels: of.model.labels(),
        annotators,
        embeddings_held: of.model.embeddings_held(),
        reads_ngrams: of.model.reads_ngrams(),
        held_out: of.held_out.clone(),
    }
}

/// Annotators' names in the manifest: pseudonyms, external ids, or unchanged names.
struct Names(Option<HashMap<String, String>>);

impl Names {
    fn new(context: &Context, pseudonyms: bool) -> Result<Self, ProjectError> {
        if !pseudonyms {
            return Ok(Self(None));
        }
        let known = Pseudonyms::new(context)?;
        let name = |a: &Annotator| Ok((a.external_id.clone(), Pseudonyms::name(known.number(a.id)?)));
        Ok(Self(Some(context.index().annotators().iter().map(name).collect::<Result<_, ProjectError>>()?)))
    }

    fn of(&self, annotators: &[BundledAnnotator]) -> Result<Vec<BundledAnnotator>, ProjectError> {
        let Some(names) = &self.0 else { return Ok(annotators.to_vec()) };
        let lost = || ProjectError::internal(&"somebody has no pseudonym");
        let name = |one: &BundledAnnotator| {
            let id = names.get(&one.id).cloned().ok_or_else(lost)?;
            Ok(BundledAnnotator { id, ..one.clone() })
        };
        annotators.iter().map(name).collect()
    }
}

/// The index of a model's encoder, which is copied unless an earlier model has the same.
fn place_encoder(
    dir: &Path,
    of: &OpenedEncoder,
    encoders: &mut Vec<BundledEncoder>,
) -> Result<usize, ProjectError> {
    let version = of.encoder.version();
    // Keys have only a part of the checksum and a name, which different folders may share, so the whole
    // version is compared.
    let same = |one: &BundledEncoder| *one == BundledEncoder::new(one.folder.clone(), version);
    if let Some(at) = encoders.iter().position(same) {
        return Ok(at);
    }
    let folder =
        if encoders.is_empty() { "encoder".to_owned() } else { format!("encoder-{}", encoders.len() + 1) };
    make(&dir.join(&folder))?;
    copy_encoder(&of.dir, version, &dir.join(&folder))?;
    encoders.push(BundledEncoder::new(folder, version));
    Ok(encoders.len() - 1)
}

/// Opens the written bundle as a user would, and compares an embedding by each copied encoder with one by
/// its original. Returns the size of all files.
fn check_copy(dir: &Path, models: &[ModelToBundle]) -> Result<u64, ProjectError> {
    let bundle = Bundle::open(dir)?;
    let mut checked = Vec::new();
    for (model, question) in models.iter().zip(&bundle.manifest.questions) {
        question.model(dir)?;
        if checked.contains(&question.encoder) {
            continue;
        }
        checked.push(question.encoder);
        let original = model.encoder.encoder.encode(&[PROBE])?.swap_remove(0);
        let device: DeviceChoice = model.encoder.encoder.device_name().parse()?;
        let copy = bundle.encoder(question.encoder, device)?.encode(&[PROBE])?.swap_remove(0);
        let same = original.len() == copy.len()
            && original.iter().zip(&copy).all(|(a, b)| (a - b).abs() <= MAX_DIFFERENCE);
        if !same {
            let words = "the copy of the encoder in a bundle gives other embeddings than the project's";
            return Err(ProjectError::Internal(words.to_owned()));
        }
    }
    for words in &bundle.manifest.words {
        words.predictor(dir, None)?;
    }
    bytes_in(dir)
}

fn check_place(dir: &Path, replace: bool) -> Result<(), ProjectError> {
    if dir.file_name().is_none() {
        return Err(ProjectError::NotAFileName(dir.display().to_string()));
    }
    if std::fs::symlink_metadata(dir).is_ok() {
        if !replace {
            return Err(ProjectError::ExportExists(dir.to_owned()));
        }
        // Other files in the folder, and the target of a link, must not be deleted.
        let is_folder = std::fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir());
        if !is_folder || !sums::contains_only_bundle_files(dir) {
            return Err(AnalysisError::NotABundle(dir.to_owned()).into());
        }
    }
    if !folder_of(dir).is_dir() {
        return Err(io_error(dir, "making", no_folder()));
    }
    Ok(())
}

/// A system's own error would not say what is missing.
fn no_folder() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the folder that it would be in is not there; make that first")
}

fn make(dir: &Path) -> Result<(), ProjectError> {
    std::fs::create_dir(dir).map_err(|e| io_error(dir, "making", e))
}

fn bytes_in(dir: &Path) -> Result<u64, ProjectError> {
    let read = |e| io_error(dir, "reading", e);
    let mut sum = 0;
    for entry in std::fs::read_dir(dir).map_err(read)? {
        let entry = entry.map_err(read)?;
        let about = entry.metadata().map_err(read)?;
        sum += if about.is_dir() { bytes_in(&entry.path())? } else { about.len() };
    }
    Ok(sum)
}
