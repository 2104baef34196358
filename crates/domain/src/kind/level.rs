//! Questions with one level of a scale as their answer: binary, choice and ordinal.

use super::{AnswerForm, QuestionKind, TargetKind, other_form};
use crate::{Answer, AnswerError, Scale, ScaleError};
use std::collections::BTreeSet;

pub(super) struct Levels(pub TargetKind);

impl QuestionKind for Levels {
    fn title(&self) -> &'static str {
        match self.0 {
            TargetKind::Binary => "yes or no",
            TargetKind::Nominal => "one of several",
            TargetKind::Ordinal => "one of several in order",
        }
    }

    fn form(&self) -> AnswerForm {
        AnswerForm::Level
    }

    fn target(&self) -> TargetKind {
        self.0
    }

    fn check_names(&self, names: &[String]) -> Result<(), ScaleError> {
        if names.len() < 2 {
            return Err(ScaleError::TooFew(names.len()));
        }
        if names.len() > Scale::MAX_LEVELS {
            return Err(ScaleError::TooMany(names.len()));
        }
        if self.0 == TargetKind::Binary && names.len() != 2 {
            return Err(ScaleError::NotBinary(names.len(), names.join(", ")));
        }
        Ok(())
    }

    fn names_from_values(&self, values: BTreeSet<String>) -> Vec<String> {
        if self.0 == TargetKind::Binary && values.len() == 1 {
            // Only one class so far: a usual pair implies the other one.
            if let Some(pair) = values.iter().next().and_then(|only| usual_pair(only)) {
                return pair.map(str::to_owned).to_vec();
            }
        }
        match whole_numbers(&values) {
            Some(numbers)
                if self.0 == TargetKind::Ordinal
                    && spread(&numbers) <= Scale::MAX_ORDINAL_SPREAD
                    && numbers.len() > 1 =>
            {
                let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
                (low..=high).map(|n| n.to_string()).collect()
            }
            Some(numbers) => numbers.iter().map(ToString::to_string).collect(),
            None => {
                let mut levels: Vec<String> = values.into_iter().collect();
                if levels.len() == 2 && reads_as_no(&levels[1]) && !reads_as_no(&levels[0]) {
                    levels.swap(0, 1);
                }
                levels
            }
        }
    }

    fn check(&self, answer: &Answer, scale: &Scale) -> Result<(), AnswerError> {
        match answer {
            Answer::Level(level) if scale.index_of_id(*level).is_none() => {
                Err(AnswerError::LevelOutside { level: *level, levels: scale.levels().join(", ") })
            }
            Answer::Level(_) => Ok(()),
            other => Err(other_form(other, scale)),
        }
    }

    fn parse(&self, cell: &str, scale: &Scale) -> Option<Answer> {
        scale.id_named(cell).map(Answer::Level)
    }

    fn is_right(&self, scale: &Scale, right: &Answer, given: &Answer, within: u16) -> bool {
        match (self.0, scale.index_of_answer(right), scale.index_of_answer(given)) {
            (TargetKind::Ordinal, Some(right), Some(given)) => right.abs_diff(given) <= within,
            _ => right == given,
        }
    }
}

/// Guesses the kind of levels from the distinct values of a column.
pub(super) fn guess(values: &BTreeSet<String>) -> TargetKind {
    // A single value of a usual pair implies the other one.
    let paired = |only: &String| usual_pair(only).is_some();
    if values.len() == 2 || values.len() == 1 && values.iter().all(paired) {
        return TargetKind::Binary;
    }
    match whole_numbers(values) {
        Some(numbers) if spread(&numbers) <= Scale::MAX_ORDINAL_SPREAD => TargetKind::Ordinal,
        _ => TargetKind::Nominal,
    }
}

/// All values as sorted whole numbers; `None` if there are none or one is not a whole number.
fn whole_numbers(values: &BTreeSet<String>) -> Option<Vec<i64>> {
    let mut numbers = Vec::with_capacity(values.len());
    for value in values {
        let number: i64 = value.parse().ok()?;
        if number.to_string() != *value {
            return None; // "01" or "+1" is a name, not a number
        }
        numbers.push(number);
    }
    numbers.sort_unstable();
    (!numbers.is_empty()).then_some(numbers)
}

fn spread(numbers: &[i64]) -> i64 {
    numbers[numbers.len() - 1].saturating_sub(numbers[0])
}

fn reads_as_no(name: &str) -> bool {
    let name = name.to_lowercase();
    ["no", "false", "n", "f", "negative", "none", "ok", "normal"].contains(&name.as_str())
        || name.starts_with("no")
        || name.starts_with("non")
        || name.starts_with("not")
        || name.starts_with("un")
}

fn usual_pair(only: &str) -> Option<[&'static str; 2]> {
    [["0", "1"], ["no", "yes"], ["false", "true"], ["False", "True"], ["No", "Yes"]]
        .into_iter()
        .find(|pair| pair.contains(&only))
}
