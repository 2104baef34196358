//! What annotators would answer to a multi-label question as a whole, of the texts of the project or of another file, as a table: a row for each text.

use super::Analysis;
use dissensus_api::whole_sets_together;
use dissensus_domain::{Question, QuestionId, TextId};
use dissensus_exchange::TypedTable;
use dissensus_models::live::LiveModel;
use dissensus_project::error::WorkbenchError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_store::body_hash;
use dissensus_training::encoding::{CheckedTexts, EncoderChoice, TextFileChoices};
use dissensus_training::prediction_table::{PredictedAnnotator, PredictionChoices};
use dissensus_training::set_table::{SetPredictionFile, SetRows, SetTable, SetsAsked};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Bodies that are read together.
const TOGETHER: usize = 256;

/// A table of whole answers that was asked for: its names, files and texts were found in order.
pub struct CheckedSets {
    question: Question,
    chosen: Vec<PredictedAnnotator>,
    choices: PredictionChoices,
    out: PathBuf,
    texts: Option<CheckedTexts>,
}

impl CheckedSets {
    /// The question that is predicted: its models must be live ([`dissensus_training::live::LiveModels::fit`]) before the table is written.
    pub fn question(&self) -> QuestionId {
        self.question.id
    }
}

/// The live models of a question's options, and the key of the encoder version that they stand on.
pub(crate) struct ModelsOfOptions {
    pub(crate) models: Vec<LiveModel>,
    pub(crate) encoder: Option<String>,
}

impl Analysis {
    /// Looks whether a table of whole answers can be written at all, before anything is encoded or fitted for it: of every text of the project, or of those of a file, which is
    /// read once.
    ///
    /// # Errors
    /// No such question or annotator; a question that is no multi-label question; two columns of one name; what [`Analysis::check_predictions`] says of files.
    pub fn check_set_predictions(
        &self,
        choices: &PredictionChoices,
        texts: Option<&TextFileChoices>,
        out: &Path,
        progress: &dyn Progress,
    ) -> Result<CheckedSets, WorkbenchError> {
        let question = self.context.index().question_asked_for(choices.question.as_deref())?.clone();
        if !question.scale.is_multi_label() {
            return Err(WorkbenchError::NoOptions(question.name));
        }
        TypedTable::check(out, false)?;
        let read = texts.map(|texts| texts.path.as_path()).into_iter().chain([self.context.store.path()]);
        check_outputs(&[out], &read.collect::<Vec<_>>(), choices.replace)?;
        let chosen = self.chosen_rows(choices)?;
        SetTable::check_columns(question.scale.levels(), &chosen, !choices.annotators.is_empty())?;
        let texts = texts.map(|texts| CheckedTexts::open(texts, progress)).transpose();
        let texts = texts.map_err(WorkbenchError::all_or_nothing)?;
        Ok(CheckedSets { question, chosen, choices: choices.clone(), out: out.to_owned(), texts })
    }

    /// Writes what annotators would answer to all options by the live models, a row for each text: the set that one of them, drawn at random, is most likely to answer and its probability, the MASI
    /// distance that two of them are expected to have, whether the model has learned from the text, and of each option the share of them who would choose it and
    /// the probability that two of them differ on it. Distances and differences take answers to the text as they were given; sets, probabilities and shares are what is predicted, whatever was answered. With annotators chosen each of them has columns. Sets take into account which options go together, where held-out answers show it.
    ///
    /// Of a file's texts one whose body is in the project is predicted as any other one, by what it says alone; `observed` tells of it.
    ///
    /// # Errors
    /// Models that are not live ([`dissensus_training::live::LiveModels::fit`] makes them so); two columns of one name; a file of that name by now (without `replace`); a full disk; a cancel. For a file's texts
    /// also: it has changed; the encoder is not there, or is not the one that the live models stand on. Nothing is left of a table that was not finished.
    pub fn set_predictions(
        &self,
        asked: &CheckedSets,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<SetPredictionFile, WorkbenchError> {
        self.write_sets(asked, encoder, progress).map_err(WorkbenchError::all_or_nothing)
    }

    fn write_sets(
        &self,
        asked: &CheckedSets,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<SetPredictionFile, WorkbenchError> {
        let found = self.models_of_options(&asked.question)?;
        let together = self.options_together(&asked.question, progress)?;
        let first = found.models.first();
        let has_labels = |row: u32| first.is_some_and(|model| model.labels_of(row) > 0);
        let chosen: Vec<PredictedAnnotator> = asked
            .chosen
            .iter()
            .map(|one| PredictedAnnotator { has_labels: has_labels(one.row), ..one.clone() })
            .collect();
        let observed = self.bodies_learned_from(first, found.encoder.as_deref())?;
        let options = asked.question.scale.levels();
        let table = SetsAsked {
            question: &asked.question.name,
            options,
            chosen: &chosen,
            each: !asked.choices.annotators.is_empty(),
            knows_observed: true,
            sets: together.whole_sets()?,
            together: whole_sets_together(&together, options),
            out: &asked.out,
            replace: asked.choices.replace,
        };
        let everybody = asked.choices.annotators.is_empty();
        let texts = first.map_or(0, |model| model.texts());
        let mut rows = SetRows::begin(found.models, everybody, Some(observed), table)?;
        match &asked.texts {
            Some(checked) => {
                let opened = self.encoding.open_in_use(encoder)?.0;
                // Another program may have given the project another encoder since the models were fitted.
                if found.encoder != Some(opened.version().key()) {
                    return Err(WorkbenchError::EncoderNotOfModel);
                }
                rows.write_file(checked, &opened, progress)?;
            }
            None => self.write_sets_of_project(&mut rows, asked.question.scale.len(), texts, progress)?,
        }
        rows.finish()
    }

    fn write_sets_of_project(
        &self,
        rows: &mut SetRows,
        options: usize,
        texts: usize,
        progress: &dyn Progress,
    ) -> Result<(), WorkbenchError> {
        let index = self.context.index();
        for (row, id) in index.texts().iter().enumerate().take(texts) {
            if progress.cancelled() {
                return Err(WorkbenchError::Cancelled);
            }
            let found = self.context.store.text(*id)?;
            let text = found.ok_or_else(|| WorkbenchError::NoSuchText(id.0.to_string()))?;
            rows.write(&vec![row as u32; options], &text.external_id, &text.body)?;
            progress.report(row as u64 + 1, Some(texts as u64), "predicting");
        }
        Ok(())
    }

    /// Copies of the live models of a question's options, all on the same embeddings of the same texts.
    ///
    /// # Errors
    /// They are not live.
    pub(crate) fn models_of_options(&self, question: &Question) -> Result<ModelsOfOptions, WorkbenchError> {
        let not_live = || WorkbenchError::NotEncoded(self.context.store.path().to_owned());
        let copy = |fitted: &mut dissensus_training::live::Fitted| {
            Some((fitted.model.to_bytes(), fitted.basis.version.clone()))
        };
        let all = self.live.of_all(question.id, copy).ok_or_else(not_live)?;
        let encoder = all.first().and_then(|(_, version)| version.clone());
        let models = all.into_iter().map(|(bytes, _)| Ok(LiveModel::from_bytes(&bytes?)?));
        Ok(ModelsOfOptions { models: models.collect::<Result<_, WorkbenchError>>()?, encoder })
    }

    /// Hashes of the bodies that have a label in this model, or taught the encoder.
    fn bodies_learned_from(
        &self,
        model: Option<&LiveModel>,
        encoder: Option<&str>,
    ) -> Result<HashSet<[u8; 32]>, WorkbenchError> {
        let index = self.context.index();
        let has_label = |(row, _): &(usize, &TextId)| {
            model.is_some_and(|model| *row < model.texts() && model.labels_on(*row as u32, None) > 0)
        };
        let seen = self.encoding.seen_by(encoder, &index)?;
        let labelled = index.texts().iter().enumerate().filter(has_label).map(|(_, id)| *id);
        let taught =
            index.texts().iter().zip(seen.taught()).filter(|(_, taught)| **taught).map(|(id, _)| *id);
        let texts: Vec<TextId> = labelled.chain(taught).collect::<BTreeSet<_>>().into_iter().collect();
        let mut bodies = HashSet::new();
        for chunk in texts.chunks(TOGETHER) {
            bodies.extend(self.context.store.bodies(chunk)?.iter().filter_map(|body| body_hash(body)));
        }
        Ok(bodies)
    }
}
