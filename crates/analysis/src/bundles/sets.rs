//! Multi-label questions as a whole in a bundle.

use super::Bundles;
use super::manifest::{BundledQuestion, BundledSets, are_one};
use super::models::ModelToBundle;
use crate::set_distances;
use dissensus_api::{sets_of_run_together, whole_sets_together};
use dissensus_domain::Question;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::options::OptionFactors;
use dissensus_training::runs;

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
        for question in index.questions().iter().filter(|question| question.scale.form().is_set()) {
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
                let words = whole_sets_together(&found, options);
                let sets = found.whole_sets()?;
                (sets.factors().clone(), sets.distances(), words)
            }
            Some(runs) => {
                let found = runs::jointly_learned_options(&self.runs, &runs)?;
                let words = sets_of_run_together(found.as_ref(), options);
                let independent = || OptionFactors::independent(options.len());
                (found.map_or_else(independent, |found| Ok(found.factors))?, None, words)
            }
        };
        let name = question.name.clone();
        Ok(BundledSets { name, options: options.to_vec(), questions: places, factors, distances, together })
    }
}
