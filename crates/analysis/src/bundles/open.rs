//! Predicts the texts of a file by a bundle, without its project.

use super::manifest::{BundledAnnotator, BundledQuestion, BundledSets, BundledWords, Manifest};
use super::sums;
use crate::bundle_folder::{self, BUNDLE};
use crate::error::AnalysisError;
use crate::prediction_file::WrittenPredictions;
use dissensus_domain::{AnswerForm, Question};
use dissensus_encoder::{DeviceChoice, Encoder, EncoderOptions};
use dissensus_exchange::TypedTable;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use dissensus_stats::disagreement::WholeSets;
use dissensus_training::encoding::{CheckedTexts, TextFileChoices};
use dissensus_training::prediction_tables::{
    LevelTable, OptionTable, PredictedAnnotator, PredictionChoices, PredictionTable as _, TableRequest,
    check_columns, write_spans,
};
use std::path::{Path, PathBuf};

/// A bundle whose files were verified.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub(super) dir: PathBuf,
    pub(super) manifest: Manifest,
}

/// What a bundle predicts of a question.
enum Bundled<'a> {
    Levels(&'a BundledQuestion),
    /// All options of a multi-label question together.
    Options(&'a BundledSets),
    /// The words of a question with spans.
    Spans(&'a BundledWords),
}

impl Bundled<'_> {
    fn form(&self) -> AnswerForm {
        match self {
            Self::Levels(_) => AnswerForm::Level,
            Self::Options(_) => AnswerForm::Options,
            Self::Spans(_) => AnswerForm::Spans,
        }
    }

    /// The question's name, and its levels, options or types.
    fn levels(&self) -> (&str, &[String]) {
        match self {
            Self::Levels(question) => (&question.name, &question.levels),
            Self::Options(sets) => (&sets.name, &sets.options),
            Self::Spans(words) => (&words.name, &words.types),
        }
    }

    /// The annotators of its models.
    fn annotators<'a>(&'a self, bundle: &'a Bundle) -> &'a [BundledAnnotator] {
        match self {
            Self::Levels(question) => &question.annotators,
            Self::Options(sets) => &bundle.manifest.questions[sets.questions[0]].annotators,
            Self::Spans(words) => &words.annotators,
        }
    }
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
    /// file or has an unsupported format; two columns of one name; a file of texts that cannot be read or has
    /// bad rows; a full disk; cancellation.
    pub fn predict(
        &self,
        choices: &PredictionChoices,
        texts: &TextFileChoices,
        out: &Path,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<WrittenPredictions, ProjectError> {
        let of = self.bundled(choices.question.as_deref())?;
        self.check_output(choices, texts, out)?;
        let annotators = chosen(of.annotators(self), &choices.annotators)?;
        let everybody = choices.annotators.is_empty();
        let (question, levels) = of.levels();
        let request = TableRequest {
            question,
            levels,
            annotators: &annotators,
            everybody,
            out,
            replace: choices.replace,
        };
        check_columns(of.form(), levels, if everybody { &[] } else { &annotators })?;
        let written = CheckedTexts::open(texts, progress)
            .and_then(|texts| self.write(&of, &request, &texts, device, progress));
        written.map_err(ProjectError::all_or_nothing)
    }

    fn write(
        &self,
        of: &Bundled<'_>,
        asked: &TableRequest<'_>,
        texts: &CheckedTexts,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<WrittenPredictions, ProjectError> {
        Ok(match of {
            Bundled::Levels(question) => {
                let encoder = self.encoder(question.encoder, device)?;
                let table = LevelTable::create(asked, question.model(&self.dir)?, None)?;
                WrittenPredictions::Levels(table.write_file(texts, &encoder, progress)?)
            }
            Bundled::Options(sets) => {
                let questions = || sets.questions.iter().map(|at| &self.manifest.questions[*at]);
                let models = questions().map(|question| question.model(&self.dir));
                let models = models.collect::<Result<Vec<_>, _>>()?;
                let whole = WholeSets::new(sets.factors.clone(), sets.distances)?;
                let encoder = self.encoder(self.manifest.questions[sets.questions[0]].encoder, device)?;
                let table = OptionTable::create(asked, models, None, (whole, sets.together.clone()))?;
                WrittenPredictions::Options(table.write_file(texts, &encoder, progress)?)
            }
            Bundled::Spans(words) => {
                let encoder = self.encoder(words.encoder, device)?;
                let predictor = words.predictor(&self.dir, Some(&encoder))?;
                let written = write_spans(&predictor, asked, None, texts, &encoder, progress)?;
                WrittenPredictions::Spans(written)
            }
        })
    }

    /// What the bundle predicts of the question of this name, or without one of the only question.
    fn bundled(&self, question: Option<&str>) -> Result<Bundled<'_>, ProjectError> {
        if let Some(words) = self.words(question) {
            return Ok(Bundled::Spans(words));
        }
        if let Some(sets) = self.sets(question) {
            return Ok(Bundled::Options(sets));
        }
        self.question(question).map(Bundled::Levels)
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

    /// The multi-label question of this name, or without one the only question.
    fn sets(&self, question: Option<&str>) -> Option<&BundledSets> {
        let all = &self.manifest.sets;
        if let (None, [only]) = (question, &all[..]) {
            let nothing_else =
                self.manifest.words.is_empty() && self.manifest.questions.len() == only.questions.len();
            return nothing_else.then_some(only);
        }
        all.iter().find(|sets| question == Some(sets.name.as_str()))
    }

    /// Checks that the table can be written.
    fn check_output(
        &self,
        choices: &PredictionChoices,
        texts: &TextFileChoices,
        out: &Path,
    ) -> Result<(), ProjectError> {
        TypedTable::check(out, false)?;
        bundle_folder::check_outside(out)?;
        check_outputs(&[out], &[texts.path.as_path()], choices.replace)
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
