//! Predicts the texts of a file by a bundle, without its project.

use super::BUNDLE;
use super::manifest::{BundledAnnotator, BundledQuestion, BundledWords, Manifest};
use super::sums;
use crate::error::AnalysisError;
use dissensus_domain::Question;
use dissensus_encoder::{DeviceChoice, Encoder, EncoderOptions};
use dissensus_exchange::TypedTable;
use dissensus_files::{folder_of, real_path};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use dissensus_training::encoding::{CheckedTexts, TextFileChoices};
use dissensus_training::prediction_table::{
    PredictedAnnotator, PredictedRows, PredictionChoices, PredictionFile, TableOf,
};
use dissensus_training::word_predictor::{WordPredictionFile, WordRequest};
use std::path::{Path, PathBuf};

/// A bundle whose files were verified.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub(super) dir: PathBuf,
    pub(super) manifest: Manifest,
}

impl Bundle {
    /// Reads the bundle in the folder `dir`, and checks the checksum of every file.
    ///
    /// # Errors
    /// [`AnalysisError::Bundle`]: it is no bundle, a file is missing, altered or extra, or it was made by
    /// another version of the program.
    pub fn open(dir: &Path) -> Result<Self, ProjectError> {
        if dir.is_dir() && !dir.join(BUNDLE).is_file() {
            let reason = format!("{BUNDLE} is missing");
            return Err(AnalysisError::Bundle { path: dir.to_owned(), reason }.into());
        }
        let files = sums::check(dir)?;
        Ok(Self { dir: dir.to_owned(), manifest: Manifest::read(dir, &files)? })
    }

    /// The project's notice for simulated annotators.
    pub fn notice(&self) -> Option<&str> {
        self.manifest.notice.as_deref()
    }

    /// Writes what annotators would answer to the texts of a file: the table of
    /// [`prediction_file::write`](crate::prediction_file::write), but with `observed` unknown throughout,
    /// because the bundle has no record of whose labels of these texts trained the model. Only the device
    /// can be chosen for the encoder.
    ///
    /// # Errors
    /// No such question or annotator; an output file that exists already (without `replace`), is the input
    /// file or has an unsupported format; a file of texts that cannot be read or has bad rows; a full disk;
    /// a cancel.
    pub fn predict(
        &self,
        choices: &PredictionChoices,
        texts: &TextFileChoices,
        out: &Path,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<PredictionFile, ProjectError> {
        let question = self.question(choices.question.as_deref())?;
        self.check_output(choices, texts, out)?;
        let chosen = chosen(&question.annotators, &choices.annotators)?;
        let written = CheckedTexts::open(texts, progress)
            .and_then(|texts| self.write(question, chosen, choices, &texts, out, device, progress));
        written.map_err(ProjectError::all_or_nothing)
    }

    /// Whether this is a question with spans whose words can be predicted by [`Bundle::predict_words`].
    pub fn has_words(&self, question: Option<&str>) -> bool {
        self.words(question).is_some()
    }

    /// Writes which words of the texts of a file annotators would mark, a row for each word and type. If
    /// annotators are chosen, each of them has a column.
    ///
    /// # Errors
    /// Those of [`Bundle::predict`]; there is no such question with spans in it.
    pub fn predict_words(
        &self,
        choices: &PredictionChoices,
        texts: &TextFileChoices,
        out: &Path,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<WordPredictionFile, ProjectError> {
        let name = choices.question.as_deref();
        let not_here = || {
            ProjectError::from(AnalysisError::NotInBundle(
                "there is no question with spans of that name in this bundle".to_owned(),
            ))
        };
        let words = self.words(name).ok_or_else(not_here)?;
        self.check_output(choices, texts, out)?;
        let chosen = chosen(&words.annotators, &choices.annotators)?;
        let asked = WordRequest {
            question: &words.name,
            types: &words.types,
            chosen: &chosen,
            observed: None,
            each: !choices.annotators.is_empty(),
            out,
            replace: choices.replace,
        };
        let written = CheckedTexts::open(texts, progress).and_then(|texts| {
            let encoder = self.encoder(words.encoder, device)?;
            words.predictor(&self.dir, Some(&encoder))?.write_file(&asked, &texts, &encoder, progress)
        });
        written.map_err(ProjectError::all_or_nothing)
    }

    /// The model of the words of the question of this name, or without one of the only question.
    fn words(&self, question: Option<&str>) -> Option<&BundledWords> {
        let all = &self.manifest.words;
        // As in a project whose only question has spans.
        if let (None, [only]) = (question, &all[..]) {
            let of_type = |name: &str| only.types.iter().any(|of| name == format!("{}: {of}", only.name));
            return self.manifest.questions.iter().all(|question| of_type(&question.name)).then_some(only);
        }
        all.iter().find(|words| question == Some(words.name.as_str()))
    }

    /// Checks that the table can be written.
    pub(super) fn check_output(
        &self,
        choices: &PredictionChoices,
        texts: &TextFileChoices,
        out: &Path,
    ) -> Result<(), ProjectError> {
        TypedTable::check(out, false)?;
        if real_path(&self.dir)
            .is_ok_and(|dir| real_path(folder_of(out)).is_ok_and(|place| place.starts_with(dir)))
        {
            let reason = format!(
                "{} would stand in it, where nothing else belongs: write it elsewhere",
                out.display()
            );
            return Err(AnalysisError::Bundle { path: self.dir.clone(), reason }.into());
        }
        check_outputs(&[out], &[texts.path.as_path()], choices.replace)
    }

    #[allow(clippy::too_many_arguments, reason = "what was asked for, checked one by one")]
    fn write(
        &self,
        question: &BundledQuestion,
        chosen: Vec<PredictedAnnotator>,
        choices: &PredictionChoices,
        texts: &CheckedTexts,
        out: &Path,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<PredictionFile, ProjectError> {
        let of = TableOf {
            model: question.model(&self.dir)?,
            question: question.name.clone(),
            levels: question.levels.clone(),
            chosen,
            everybody: choices.annotators.is_empty(),
            labelled: None,
        };
        let encoder = self.encoder(question.encoder, device)?;
        let mut rows = PredictedRows::begin(of, out, choices.replace)?;
        rows.write_file(texts, &encoder, progress)?;
        rows.finish()
    }

    /// The encoder at this index of the manifest.
    pub(super) fn encoder(&self, at: usize, device: DeviceChoice) -> Result<Encoder, ProjectError> {
        let bundled = &self.manifest.encoders[at];
        let options = EncoderOptions { device, ..bundled.options() };
        Ok(Encoder::open(&self.dir.join(&bundled.folder), &options)?)
    }

    pub(super) fn question(&self, name: Option<&str>) -> Result<&BundledQuestion, ProjectError> {
        let all = &self.manifest.questions;
        let names = || {
            let words = self.manifest.words.iter().map(|words| words.name.as_str());
            let sets = self.manifest.sets.iter().map(|sets| sets.name.as_str());
            words
                .chain(sets)
                .chain(all.iter().map(|question| question.name.as_str()))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let not_here = |words: String| Err(AnalysisError::NotInBundle(words).into());
        match (name, all.as_slice()) {
            (None, [only]) if self.manifest.words.is_empty() => Ok(only),
            (None, _) => not_here(format!(
                "this bundle has several questions: name one of {} (--question NAME)",
                names()
            )),
            (Some(name), _) => match all.iter().find(|question| question.name == name) {
                Some(found) => Ok(found),
                None => {
                    let option = format!("{name}{}", Question::OPTION_OF);
                    let old = match all.iter().any(|question| question.name.starts_with(&option)) {
                        true => " (whole answers to it take a bundle of this version with all its options)",
                        false => "",
                    };
                    not_here(format!(
                        "there is no question \"{name}\" in this bundle; it has {}{old}",
                        names()
                    ))
                }
            },
        }
    }
}

/// The chosen annotators, in the order of the rows.
pub(super) fn chosen(
    annotators: &[BundledAnnotator],
    names: &[String],
) -> Result<Vec<PredictedAnnotator>, ProjectError> {
    let all = (0..).zip(annotators).map(|(row, annotator)| PredictedAnnotator {
        row,
        id: annotator.id.clone(),
        has_labels: annotator.has_labels,
    });
    let all: Vec<PredictedAnnotator> = all.collect();
    if let Some(stranger) = names.iter().find(|name| all.iter().all(|one| one.id != **name)) {
        let few: Vec<&str> = all.iter().take(5).map(|one| one.id.as_str()).collect();
        let more = if all.len() > few.len() { ", ..." } else { "" };
        let words =
            format!("there is no annotator \"{stranger}\" in this bundle; it has {}{more}", few.join(", "));
        return Err(AnalysisError::NotInBundle(words).into());
    }
    Ok(all.into_iter().filter(|one| names.is_empty() || names.contains(&one.id)).collect())
}
