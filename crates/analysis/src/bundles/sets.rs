//! Multi-label questions as a whole, in writing and in using a bundle.

use super::manifest::{BundledQuestion, BundledSets, are_one};
use super::models::ModelToBundle;
use super::open::chosen;
use super::{Bundle, Bundles};
use crate::error::AnalysisError;
use crate::set_distances;
use dissensus_api::{sets_of_run_together, whole_sets_together};
use dissensus_domain::{AnswerForm, Question};
use dissensus_encoder::DeviceChoice;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::disagreement::WholeSets;
use dissensus_stats::options::OptionFactors;
use dissensus_training::encoding::{CheckedTexts, TextFileChoices};
use dissensus_training::prediction_table::PredictionChoices;
use dissensus_training::runs;
use dissensus_training::set_table::{SetPredictionFile, SetRows, SetTableRequest};
use std::path::Path;

impl Bundles {
    /// The multi-label questions all of whose options are among these models, on one encoder and of the same
    /// annotators (according to `described` for each model), with the correlations between their options.
    pub(super) fn whole_questions(
        &self,
        models: &[ModelToBundle],
        described: &[BundledQuestion],
        progress: &dyn Progress,
    ) -> Result<Vec<BundledSets>, ProjectError> {
        let index = self.context.index();
        let mut all = Vec::new();
        for question in
            index.questions().iter().filter(|question| question.scale.form() == AnswerForm::Options)
        {
            let place = |option: &Question| models.iter().position(|model| model.question.id == option.id);
            let places: Option<Vec<usize>> = question.options().iter().map(place).collect();
            if let Some(places) = places.filter(|places| are_one(places, described)) {
                all.push(self.whole_question(question, models, places, progress)?);
            }
        }
        Ok(all)
    }

    fn whole_question(
        &self,
        question: &Question,
        models: &[ModelToBundle],
        places: Vec<usize>,
        progress: &dyn Progress,
    ) -> Result<BundledSets, ProjectError> {
        let options = question.scale.levels();
        let runs: Option<Vec<u32>> = places.iter().map(|at| models[*at].run).collect();
        let (factors, distances, together) = match runs {
            None => {
                let found = set_distances::options_together(&self.analysis, question, progress)?;
                let said = whole_sets_together(&found, options);
                let sets = found.whole_sets()?;
                (sets.factors().clone(), sets.distances(), said)
            }
            Some(runs) => {
                let found = runs::jointly_learned_options(&self.runs, &runs)?;
                let said = sets_of_run_together(found.as_ref(), options);
                let independent = || OptionFactors::independent(options.len());
                (found.map_or_else(independent, |found| Ok(found.factors))?, None, said)
            }
        };
        let name = question.name.clone();
        Ok(BundledSets { name, options: options.to_vec(), questions: places, factors, distances, together })
    }
}

impl Bundle {
    /// Whether this is a multi-label question that can be predicted as a whole by [`Bundle::predict_sets`].
    pub fn has_sets(&self, question: Option<&str>) -> bool {
        self.sets(question).is_some()
    }

    /// Writes what annotators would answer to all options: the table of
    /// [`prediction_file::write`](crate::prediction_file::write), but with `observed` unknown throughout.
    ///
    /// # Errors
    /// Those of [`Bundle::predict`]; there is no such multi-label question in it; two columns of one name.
    pub fn predict_sets(
        &self,
        choices: &PredictionChoices,
        texts: &TextFileChoices,
        out: &Path,
        device: DeviceChoice,
        progress: &dyn Progress,
    ) -> Result<SetPredictionFile, ProjectError> {
        let not_here = || {
            let words = "there is no whole multi-label question of that name in this bundle";
            ProjectError::from(AnalysisError::NotInBundle(words.to_owned()))
        };
        let of = self.sets(choices.question.as_deref()).ok_or_else(not_here)?;
        self.check_output(choices, texts, out)?;
        let questions: Vec<&BundledQuestion> =
            of.questions.iter().map(|at| &self.manifest.questions[*at]).collect();
        let chosen = chosen(&questions[0].annotators, &choices.annotators)?;
        let everybody = choices.annotators.is_empty();
        let written = CheckedTexts::open(texts, progress).and_then(|texts| {
            let asked = SetTableRequest {
                question: &of.name,
                options: &of.options,
                chosen: &chosen,
                each: !everybody,
                knows_observed: false,
                sets: WholeSets::new(of.factors.clone(), of.distances)?,
                together: of.together.clone(),
                out,
                replace: choices.replace,
            };
            let models = questions.iter().map(|question| question.model(&self.dir));
            let models = models.collect::<Result<Vec<_>, _>>()?;
            let encoder = self.encoder(questions[0].encoder, device)?;
            let mut rows = SetRows::begin(models, everybody, None, asked)?;
            rows.write_file(&texts, &encoder, progress)?;
            rows.finish()
        });
        written.map_err(ProjectError::all_or_nothing)
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
}
