//! Tables of whole answers to a multi-label question: a row for each text.

use super::{
    PredictedAnnotator, PredictionFile, PredictionTable, TableFile, TableRequest, number, observed_column,
    observed_value, of_two, text,
};
use crate::encoding::EncodedText;
use crate::requested_model::{OptionAnswers, RequestedModel, known};
use dissensus_domain::{Answer, OptionSet, Scale, ScaleKind};
use dissensus_exchange::{TypedColumn, Value};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_stats::disagreement::{FactorsOf, WholeSets, pairs_of};
use dissensus_store::body_hash;
use serde::Serialize;
use std::collections::HashSet;

/// Maximum number of people whose whole sets are compared.
const MAX_PEOPLE: usize = 300;

/// Summary of a written table of whole answers.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionPredictions {
    #[serde(flatten)]
    pub table: PredictionFile,
    pub options: Vec<String>,
    /// Annotators over whom the most likely set is computed: all, or a selection of 300.
    pub annotators_of_sets: usize,
    /// Pairs of these over which the MASI distance is computed: all, or about 1,000 of them.
    pub pairs: usize,
    /// Texts for which the search for the most likely set reached its limit: another set may be likelier.
    pub sets_not_exact: u64,
    /// Number of factors shared by the options of a set; with 0, options are independent of each other.
    pub factors: usize,
    /// Whether factors in MASI distances are per person or per text; if missing, options are independent
    /// there.
    pub factors_of: Option<FactorsOf>,
    /// The correlations in words.
    pub options_together: String,
}

/// A table of whole answers, and the live models of the options that predict.
pub struct OptionTable {
    models: Vec<RequestedModel>,
    /// Hashes of bodies that the models have learned from; `None` if they are not known.
    observed: Option<HashSet<[u8; 32]>>,
    scale: Scale,
    sets: WholeSets,
    /// In words, which options are correlated.
    together: String,
    /// Indices of the people whose whole sets are compared.
    of_sets: Vec<usize>,
    sets_not_exact: u64,
    /// Whether each annotator has columns.
    each: bool,
    file: TableFile,
}

/// The columns of a table of these options, including those of each of these annotators.
pub(super) fn columns(
    options: &[String],
    named: &[PredictedAnnotator],
    knows_observed: bool,
) -> Vec<TypedColumn> {
    let mut columns = vec![
        text("text_id"),
        text("most_likely_set"),
        number("probability"),
        number("masi"),
        observed_column(knows_observed),
    ];
    for option in options {
        columns.extend([number(format!("expected_{option}")), number(format!("differ_{option}"))]);
    }
    for PredictedAnnotator { id, .. } in named {
        columns.extend([text(format!("set_{id}")), number(format!("probability_{id}"))]);
        columns.extend(options.iter().map(|option| number(format!("p_{id}_{option}"))));
    }
    columns
}

impl OptionTable {
    /// A table from these models, one for each option; `together` describes which options are correlated in
    /// `sets`.
    ///
    /// # Errors
    /// Two columns of one name; a folder that is missing or cannot be written.
    pub fn create(
        asked: &TableRequest<'_>,
        models: Vec<LiveModel>,
        observed: Option<HashSet<[u8; 32]>>,
        (sets, together): (WholeSets, String),
    ) -> Result<Self, ProjectError> {
        let people: Vec<u32> = asked.annotators.iter().map(|one| one.row).collect();
        let model = |model| RequestedModel::new(model, people.clone(), asked.everybody);
        let scale = Scale::new(ScaleKind::MultiLabel, asked.levels.iter().cloned())
            .map_err(|error| ProjectError::internal(&error))?;
        let columns = columns(asked.levels, asked.named(), observed.is_some());
        Ok(Self {
            models: models.into_iter().map(model).collect(),
            file: TableFile::create(asked, columns, observed.is_some())?,
            observed,
            scale,
            sets,
            together,
            of_sets: people_of_sets(people.len()),
            sets_not_exact: 0,
            each: !asked.named().is_empty(),
        })
    }

    /// Writes the row of a text, which has these rows in the models.
    fn write(&mut self, rows: &[u32], id: &str, body: &str) -> Result<(), ProjectError> {
        let models = || self.models.iter().zip(rows);
        let options: Vec<OptionAnswers> = models().map(|(model, row)| model.option_answers(*row)).collect();
        // Whether labels of this exact text count.
        let answered = models().any(|(model, row)| model.is_answered(*row));
        let same = |known: &HashSet<[u8; 32]>| body_hash(body).is_some_and(|hash| known.contains(&hash));
        let observed = self.observed.as_ref().map(|known| answered || same(known));
        let people = options.first().map_or(0, |option| option.yes.len());
        let probabilities = |who: &[usize]| -> Vec<f32> {
            who.iter().flat_map(|who| options.iter().map(move |option| option.yes[*who])).collect()
        };
        let masi =
            self.sets.masi(&known(&options, &self.of_sets), answered).map_or(f32::NAN, |masi| masi as f32);
        let found = self.sets.of_anybody(&probabilities(&self.of_sets));
        let likely = self.name(found.map_or_else(OptionSet::default, |found| found.set));
        self.sets_not_exact += u64::from(found.is_some_and(|found| !found.is_exact));
        let mut values = vec![
            Value::Text(id),
            Value::Text(&likely),
            Value::Number(found.map_or(f32::NAN, |found| found.probability as f32)),
            of_two(people, masi),
            observed_value(observed),
        ];
        for option in &options {
            let sum: f64 = option.yes.iter().map(|p| f64::from(*p)).sum();
            values.extend([Value::Number((sum / people as f64) as f32), of_two(people, option.differ)]);
        }
        let own: Vec<(String, f64, Vec<f32>)> = if self.each {
            let all = probabilities(&(0..people).collect::<Vec<_>>());
            let sets = self.sets.of_each(&all).into_iter();
            sets.zip(all.chunks(options.len()))
                .map(|((set, p), own)| (self.name(set), p, own.to_vec()))
                .collect()
        } else {
            Vec::new()
        };
        for (set, p, yes) in &own {
            values.extend([Value::Text(set), Value::Number(*p as f32)]);
            values.extend(yes.iter().map(|p| Value::Number(*p)));
        }
        self.file.write_row(&values)?;
        self.file.count_text(u64::from(observed == Some(true)));
        Ok(())
    }

    /// The set as an answer is written in files of labels.
    fn name(&self, set: OptionSet) -> String {
        self.scale.name_of_answer(&Answer::Options(set)).unwrap_or_default().into_owned()
    }
}

impl PredictionTable for OptionTable {
    type Summary = OptionPredictions;

    fn write_text(&mut self, row: u32, id: &str, body: &str) -> Result<(), ProjectError> {
        self.write(&vec![row; self.models.len()], id, body)
    }

    fn write_new_text(&mut self, id: &str, body: &str, text: &EncodedText) -> Result<(), ProjectError> {
        let rows: Vec<u32> = self.models.iter_mut().map(|model| model.add(text)).collect::<Result<_, _>>()?;
        self.write(&rows, id, body)
    }

    fn finish(self, bad_rows: u64) -> Result<OptionPredictions, ProjectError> {
        Ok(OptionPredictions {
            table: self.file.finish(bad_rows)?,
            options: self.scale.levels().to_vec(),
            annotators_of_sets: self.of_sets.len(),
            pairs: pairs_of(self.of_sets.len()).len(),
            sets_not_exact: self.sets_not_exact,
            factors: self.sets.factors().factors(),
            factors_of: self.sets.distances(),
            options_together: self.together,
        })
    }
}

/// Indices of the people, of so many, whose whole sets are compared.
pub fn people_of_sets(people: usize) -> Vec<usize> {
    spread(people, MAX_PEOPLE)
}

/// All indices below `of`, or `most` of them, spread evenly.
fn spread(of: usize, most: usize) -> Vec<usize> {
    if of <= most { (0..of).collect() } else { (0..most).map(|nth| nth * of / most).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_options_and_annotators() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let ana = PredictedAnnotator { row: 0, id: "ana".to_owned(), has_labels: true };
        let found = columns(&names(&["joy", "anger"]), &[ana], true);
        assert_eq!(
            found.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
            [
                "text_id",
                "most_likely_set",
                "probability",
                "masi",
                "observed",
                "expected_joy",
                "differ_joy",
                "expected_anger",
                "differ_anger",
                "set_ana",
                "probability_ana",
                "p_ana_joy",
                "p_ana_anger"
            ]
        );
    }

    #[test]
    fn people_are_sampled_evenly() {
        assert_eq!(spread(3, 300), [0, 1, 2]);
        assert_eq!(spread(9, 3), [0, 3, 6]);
        assert_eq!(spread(1_000, 300).len(), 300);
        assert_eq!(spread(301, 300).last(), Some(&299));
    }
}
