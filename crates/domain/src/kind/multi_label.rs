//! Questions with any subset of several options as their answer.

use super::{AnswerForm, QuestionKind, TargetKind, other_form};
use crate::{Answer, AnswerError, LevelId, OptionSet, Scale, ScaleError};
use std::collections::BTreeSet;

/// The empty set of options.
pub(super) const NONE: &str = "none";
pub(super) const AND: &str = " + ";

pub(super) struct MultiLabel;

impl QuestionKind for MultiLabel {
    fn title(&self) -> &'static str {
        "any of several"
    }

    fn form(&self) -> AnswerForm {
        AnswerForm::Options
    }

    fn target(&self) -> TargetKind {
        TargetKind::Binary
    }

    fn check_names(&self, names: &[String]) -> Result<(), ScaleError> {
        if names.len() < 2 {
            return Err(ScaleError::TooFew(names.len()));
        }
        check_count(names)?;
        match names.iter().find(|name| option_names(name) != [name.as_str()]) {
            Some(name) if !name.is_empty() => Err(ScaleError::OptionName(name.clone())),
            _ => Ok(()),
        }
    }

    fn check_new_names(&self, names: &[String]) -> Result<(), ScaleError> {
        // "65 +" and "other" would be written like "65" and "+ other".
        match names.iter().find(|name| name.ends_with(AND.trim_end())) {
            Some(name) => Err(ScaleError::OptionEnd(name.clone())),
            None => Ok(()),
        }
    }

    fn names_from_values(&self, values: BTreeSet<String>) -> Vec<String> {
        let options: BTreeSet<&str> = values.iter().flat_map(|value| option_names(value)).collect();
        options.into_iter().map(str::to_owned).collect()
    }

    fn check(&self, answer: &Answer, scale: &Scale) -> Result<(), AnswerError> {
        let Answer::Options(set) = answer else { return Err(other_form(answer, scale)) };
        match set
            .iter()
            .map(|option| LevelId(option.into()))
            .find(|option| scale.index_of_id(*option).is_none())
        {
            Some(option) => Err(AnswerError::OptionOutside { option, options: scale.levels().join(", ") }),
            None => Ok(()),
        }
    }

    fn parse(&self, cell: &str, scale: &Scale) -> Option<Answer> {
        if cell.trim().is_empty() || contradicts_itself(cell) {
            return None;
        }
        let option = |name: &str| scale.id_named(name).and_then(|option| u8::try_from(option.0).ok());
        let options = option_names(cell).into_iter().map(option).collect::<Option<Vec<u8>>>()?;
        OptionSet::new(options).ok().map(Answer::Options)
    }
}

/// Checks that an [`OptionSet`] can hold as many options.
pub(super) fn check_count(names: &[String]) -> Result<(), ScaleError> {
    match names.len() > Scale::MAX_OPTIONS {
        true => Err(ScaleError::TooManyOptions(names.len())),
        false => Ok(()),
    }
}

pub(super) fn set_name(options: &[String], set: u64) -> String {
    let members: Vec<&str> = options
        .iter()
        .enumerate()
        .filter(|(k, _)| set >> k & 1 == 1)
        .map(|(_, name)| name.as_str())
        .collect();
    if members.is_empty() { NONE.to_owned() } else { members.join(AND) }
}

/// The options named in a value, as parsed by [`Scale::answer_named`].
pub fn option_names(value: &str) -> Vec<&str> {
    names(value).into_iter().filter(|name| *name != NONE).collect()
}

/// Whether a value contains both "none" and options, which is not valid on any scale of options.
pub fn contradicts_itself(value: &str) -> bool {
    value.contains(NONE) && names(value).contains(&NONE) && !option_names(value).is_empty()
}

fn names(value: &str) -> Vec<&str> {
    let value = value.trim();
    let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner
        .unwrap_or(value)
        .split(|c: char| matches!(c, ';' | '|' | '[' | ']') || inner.is_some() && c == ',')
        .flat_map(|part| part.split(AND))
        .map(|part| part.trim().trim_matches(['"', '\'']))
        .filter(|part| !part.is_empty())
        .collect()
}

/// Recovers the options if `levels` are all of their subsets, which is how earlier versions stored
/// a scale of up to six options.
pub(crate) fn options_of(levels: &[String]) -> Option<Vec<String>> {
    if levels.len() < 4 || !levels.len().is_power_of_two() {
        return None;
    }
    let ones = (0..levels.len().trailing_zeros()).map(|k| levels[1 << k].clone());
    let options: Vec<String> = ones.collect();
    (0..).zip(levels).all(|(set, name)| *name == set_name(&options, set)).then_some(options)
}

/// Whether some of these values are sets of a small number of options that occur in more than one
/// value.
pub(super) fn reads_as_answers(values: &BTreeSet<String>) -> bool {
    let named: Vec<Vec<&str>> = values.iter().map(|value| option_names(value)).collect();
    let options: BTreeSet<&str> = named.iter().flatten().copied().collect();
    // A list is a set, however few options it names.
    let lists = values.iter().all(|value| value.starts_with('['));
    if lists && (2..=Scale::MAX_OPTIONS).contains(&options.len()) {
        return true;
    }
    named.iter().any(|parts| parts.len() > 1)
        && (2..=Scale::MAX_OPTIONS).contains(&options.len())
        && named.iter().map(Vec::len).sum::<usize>() > options.len()
}
