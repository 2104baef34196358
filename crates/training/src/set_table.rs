//! Writes a table of whole answers to a multi-label question, a row for each text.

use crate::encoding::{CheckedTexts, EncodedText};
use crate::error::TrainingError;
use crate::prediction_table::PredictedAnnotator;
use crate::requested_model::{OptionAnswers, RequestedModel, known};
use dissensus_domain::{Answer, OptionSet, Scale, ScaleKind};
use dissensus_encoder::Encoder;
use dissensus_exchange::{ColumnKind, TypedColumn, TypedTable, Value};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::disagreement::{FactorsOf, WholeSets, pairs_of};
use dissensus_store::body_hash;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Maximum number of people whose whole sets are compared.
const MOST_PEOPLE: usize = 300;

/// Summary of a written table of whole answers to the texts of a file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetPredictionFile {
    pub file: PathBuf,
    pub question: String,
    pub options: Vec<String>,
    /// Texts predicted, one row each.
    pub texts: u64,
    /// Annotators over whom the figures are computed.
    pub annotators: usize,
    /// How many of them have no label; they count as the average person.
    pub annotators_without_labels: usize,
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
    /// Texts whose body has an answer in the project or trained its encoder, from which the model has
    /// learned. `None` if it is not known.
    pub observed: Option<u64>,
    /// Bad rows of the file of texts that were left out.
    pub bad_rows: u64,
}

/// The parameters of a table of whole answers.
pub struct SetTableRequest<'a> {
    pub question: &'a str,
    pub options: &'a [String],
    /// The annotators whose answers are predicted.
    pub chosen: &'a [PredictedAnnotator],
    /// Whether each of them has its own columns.
    pub each: bool,
    /// Whether it is known what the model has learned from.
    pub knows_observed: bool,
    pub sets: WholeSets,
    /// Which options are correlated, in words.
    pub together: String,
    pub out: &'a Path,
    pub replace: bool,
}

/// The file of a table, and a summary of the rows written so far.
pub struct SetTable {
    scale: Scale,
    /// Ids of the annotators who have their own columns.
    each: Vec<String>,
    sets: WholeSets,
    /// Indices of the people whose whole sets are compared.
    of_sets: Vec<usize>,
    table: TypedTable,
    written: SetPredictionFile,
    replace: bool,
}

impl SetTable {
    /// Checks that no two columns have the same name.
    ///
    /// # Errors
    /// [`TrainingError::ColumnTwice`].
    pub fn check_columns(
        options: &[String],
        chosen: &[PredictedAnnotator],
        each: bool,
    ) -> Result<(), ProjectError> {
        columns(options, &ids(chosen, each), true).map(|_| ())
    }

    /// Begins the table.
    ///
    /// # Errors
    /// Two columns of one name; a folder that is missing or cannot be written.
    pub(crate) fn begin(asked: SetTableRequest<'_>) -> Result<Self, ProjectError> {
        let SetTableRequest { question, options, chosen, each, knows_observed, sets, together, out, replace } =
            asked;
        let each = ids(chosen, each);
        let columns = columns(options, &each, knows_observed)?;
        let of_sets = people_of_sets(chosen.len());
        let written = SetPredictionFile {
            file: out.to_owned(),
            question: question.to_owned(),
            options: options.to_vec(),
            texts: 0,
            annotators: chosen.len(),
            annotators_without_labels: chosen.iter().filter(|one| !one.has_labels).count(),
            annotators_of_sets: of_sets.len(),
            pairs: pairs_of(of_sets.len()).len(),
            sets_not_exact: 0,
            factors: sets.factors().factors(),
            factors_of: sets.distances(),
            options_together: together,
            observed: knows_observed.then_some(0),
            bad_rows: 0,
        };
        let scale = Scale::new(ScaleKind::MultiLabel, options.iter().cloned())
            .map_err(|error| ProjectError::internal(&error))?;
        let table = TypedTable::create(out, columns)?;
        Ok(Self { scale, each, sets, of_sets, table, written, replace })
    }

    /// Sets how many rows of a file were left out.
    pub(crate) fn bad_rows(&mut self, rows: u64) {
        self.written.bad_rows = rows;
    }

    /// Writes the row of a text, with the predictions for each option in `options`; `answered`: whether
    /// labels of this exact text count in it.
    pub(crate) fn write(
        &mut self,
        id: &str,
        options: &[OptionAnswers],
        answered: bool,
        observed: Option<bool>,
    ) -> Result<(), ProjectError> {
        let people = options.first().map_or(0, |option| option.yes.len());
        let rows = |who: &[usize]| -> Vec<f32> {
            who.iter().flat_map(|who| options.iter().map(move |option| option.yes[*who])).collect()
        };
        let several = rows(&self.of_sets);
        // Undefined for a single person.
        let of_two = |measure: f32| if people < 2 { f32::NAN } else { measure };
        let masi =
            self.sets.masi(&known(options, &self.of_sets), answered).map_or(f32::NAN, |masi| masi as f32);
        let found = self.sets.of_anybody(&several);
        let chance = found.map_or(f64::NAN, |found| found.probability);
        let likely = self.name(found.map_or_else(OptionSet::default, |found| found.set));
        self.written.sets_not_exact += u64::from(found.is_some_and(|found| !found.is_exact));
        let mut values = vec![Value::Text(id), Value::Text(&likely), Value::Number(chance as f32)];
        values.push(Value::Number(of_two(masi)));
        values.push(observed.map_or(Value::Number(f32::NAN), Value::Flag));
        for option in options {
            let sum: f64 = option.yes.iter().map(|p| f64::from(*p)).sum();
            values.push(Value::Number((sum / people as f64) as f32));
            values.push(Value::Number(of_two(option.differ)));
        }
        let own: Vec<(String, f64, Vec<f32>)> = if self.each.is_empty() {
            Vec::new()
        } else {
            let all = rows(&(0..people).collect::<Vec<_>>());
            let sets = self.sets.of_each(&all).into_iter();
            sets.zip(all.chunks(options.len()))
                .map(|((set, p), own)| (self.name(set), p, own.to_vec()))
                .collect()
        };
        for (set, p, yes) in &own {
            values.extend([Value::Text(set), Value::Number(*p as f32)]);
            values.extend(yes.iter().map(|p| Value::Number(*p)));
        }
        self.table.write(&values)?;
        self.written.texts += 1;
        self.written.observed = self.written.observed.map(|sum| sum + u64::from(observed == Some(true)));
        Ok(())
    }

    /// The set as an answer is written in files of labels.
    fn name(&self, set: OptionSet) -> String {
        self.scale.name_of_answer(&Answer::Options(set)).unwrap_or_default().into_owned()
    }

    pub(crate) fn finish(self) -> Result<SetPredictionFile, ProjectError> {
        self.table.finish(self.replace)?;
        Ok(self.written)
    }
}

/// Ids of the annotators who have their own columns.
fn ids(chosen: &[PredictedAnnotator], each: bool) -> Vec<String> {
    if each { chosen.iter().map(|one| one.id.clone()).collect() } else { Vec::new() }
}

/// The columns of a table, including those of each of these annotators.
fn columns(
    options: &[String],
    each: &[String],
    knows_observed: bool,
) -> Result<Vec<TypedColumn>, ProjectError> {
    let text = |name: String| TypedColumn::new(name, ColumnKind::Text);
    let number = |name: String| TypedColumn::new(name, ColumnKind::Number);
    let mut columns = vec![
        text("text_id".to_owned()),
        text("most_likely_set".to_owned()),
        number("probability".to_owned()),
        number("masi".to_owned()),
        // A flag is yes or no; a number can be missing.
        TypedColumn::new("observed", if knows_observed { ColumnKind::Flag } else { ColumnKind::Number }),
    ];
    for option in options {
        columns.push(number(format!("expected_{option}")));
        columns.push(number(format!("differ_{option}")));
    }
    for who in each {
        columns.push(text(format!("set_{who}")));
        columns.push(number(format!("probability_{who}")));
        columns.extend(options.iter().map(|option| number(format!("p_{who}_{option}"))));
    }
    let mut names = HashSet::new();
    match columns.iter().find(|column| !names.insert(column.name.as_str())) {
        Some(twice) => Err(TrainingError::ColumnTwice(twice.name.clone()).into()),
        None => Ok(columns),
    }
}

/// Indices of the people, of so many, whose whole sets are compared.
pub fn people_of_sets(people: usize) -> Vec<usize> {
    spread(people, MOST_PEOPLE)
}

/// All indices below `of`, or `most` of them, spread evenly.
fn spread(of: usize, most: usize) -> Vec<usize> {
    if of <= most { (0..of).collect() } else { (0..most).map(|nth| nth * of / most).collect() }
}

/// The table being written, and the live models of the options that predict.
pub struct SetRows {
    models: Vec<RequestedModel>,
    /// Hashes of bodies that the models have learned from; `None` if they are not known.
    observed: Option<HashSet<[u8; 32]>>,
    file: SetTable,
}

impl SetRows {
    /// A table from these models, one for each option, see [`SetTable::begin`].
    pub fn begin(
        models: Vec<LiveModel>,
        everybody: bool,
        observed: Option<HashSet<[u8; 32]>>,
        asked: SetTableRequest<'_>,
    ) -> Result<Self, ProjectError> {
        let people: Vec<u32> = asked.chosen.iter().map(|one| one.row).collect();
        let model = |model| RequestedModel::new(model, people.clone(), everybody);
        let models = models.into_iter().map(model).collect();
        Ok(Self { models, observed, file: SetTable::begin(asked)? })
    }

    /// Writes the rows of all texts of a file, which the models do not retain.
    pub fn write_file(
        &mut self,
        checked: &CheckedTexts,
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<(), ProjectError> {
        checked.encode(encoder, progress, |text, embedding| {
            let encoded = EncodedText::new(&text.body, embedding)?;
            let rows: Vec<u32> =
                self.models.iter_mut().map(|model| model.add(&encoded)).collect::<Result<_, _>>()?;
            self.write(&rows, &text.id, &text.body)
        })?;
        self.file.bad_rows(checked.bad());
        Ok(())
    }

    /// Writes the row of a text, which has these rows in the models.
    pub fn write(&mut self, rows: &[u32], id: &str, body: &str) -> Result<(), ProjectError> {
        let asked = || self.models.iter().zip(rows);
        let options: Vec<OptionAnswers> = asked().map(|(model, row)| model.option_answers(*row)).collect();
        let answered = asked().any(|(model, row)| model.is_answered(*row));
        let same = |known: &HashSet<[u8; 32]>| body_hash(body).is_some_and(|hash| known.contains(&hash));
        let observed = self.observed.as_ref().map(|known| answered || same(known));
        self.file.write(id, &options, answered, observed)
    }

    pub fn finish(self) -> Result<SetPredictionFile, ProjectError> {
        self.file.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_column_names_are_refused() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let found = columns(&names(&["joy", "anger"]), &names(&["ana"]), true).unwrap();
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
        let twice = columns(&names(&["b_c", "c"]), &names(&["a", "a_b"]), true).unwrap_err();
        assert!(twice.to_string().contains("\"p_a_b_c\""), "{twice}");
        assert_eq!(twice.code(), "column-twice");
    }

    #[test]
    fn people_are_sampled_evenly() {
        assert_eq!(spread(3, 300), [0, 1, 2]);
        assert_eq!(spread(9, 3), [0, 3, 6]);
        assert_eq!(spread(1_000, 300).len(), 300);
        assert_eq!(spread(301, 300).last(), Some(&299));
    }
}
