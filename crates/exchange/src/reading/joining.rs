//! Two tables with the same texts: the columns that have their ids.

use super::list_cell::parse_list;
use super::recognise::Sample;
use super::reshape::{AnswerPosition, Reshape};
use crate::truth::truth_value;
use crate::{ExchangeError, Source};
use std::collections::{BTreeSet, HashMap, HashSet};

/// How many values of a column are compared.
const COMPARED: usize = 2_000;
/// The least part of the values of one column that the other one must have.
const SHARED: f64 = 0.5;

/// Finds the pair of columns by which two tables can be joined, in the order of the tables: the pair with the
/// most values in common, if one of the two columns has each value only once.
pub fn find_join(one: &Source, other: &Source) -> Result<Option<(String, String)>, ExchangeError> {
    let (one, other) = (Sample::read(one)?, Sample::read(other)?);
    // The columns of the other table by value: of many columns few have values in common.
    let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
    for b in (0..other.width()).filter(|b| other.counts(*b).len() > 1) {
        other.counts(b).keys().for_each(|value| holders.entry(value).or_default().push(b));
    }
    let mut best: Option<(f64, (String, String))> = None;
    for a in (0..one.width()).filter(|a| one.counts(*a).len() > 1) {
        let mut shared = vec![0_usize; other.width()];
        let values: Vec<&String> = one.counts(a).keys().take(COMPARED).collect();
        for b in values.iter().filter_map(|value| holders.get(value.as_str())).flatten() {
            shared[*b] += 1;
        }
        for b in (0..other.width()).filter(|b| shared[*b] > 0) {
            let there = other.counts(b);
            // One of the two has each value once; if both do, they may be row numbers.
            let once = [one.counts(a).len() == one.rows(), there.len() == other.rows()];
            if once == [false, false] {
                continue;
            }
            let weight = if once == [true, true] { 0.5 } else { 1.0 };
            let part = shared[b] as f64 / values.len().min(there.len()) as f64;
            let same_name = one.columns[a].eq_ignore_ascii_case(&other.columns[b]);
            // Of two equally good columns the one with more values.
            let many = 0.001 * shared[b] as f64 / COMPARED as f64;
            let score = weight * (part + if same_name { 0.25 } else { 0.0 }) + many;
            if part >= SHARED && best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, (one.columns[a].clone(), other.columns[b].clone())));
            }
        }
    }
    Ok(best.map(|(_, columns)| columns))
}

/// Those of these columns whose cells are lists.
pub fn list_columns(source: &Source, names: &[String]) -> Result<Vec<String>, ExchangeError> {
    if source.is_of_tool() {
        return Ok(Vec::new());
    }
    let sample = Sample::read(source)?;
    let holds_lists = |name: &&String| {
        let column = sample.columns.iter().position(|column| column == *name);
        column.is_some_and(|column| {
            let mut filled = sample.values(column).filter(|value| !value.is_empty()).peekable();
            filled.peek().is_some() && filled.all(|value| parse_list(value, None).is_some())
        })
    };
    Ok(names.iter().filter(holds_lists).cloned().collect())
}

/// Finds the columns of answers whose values are all words for yes and no, both of them, in more than two
/// spellings.
pub(crate) fn truth_columns(
    source: &Source,
    other: Option<&Source>,
    reshape: &Reshape,
) -> Result<HashSet<usize>, ExchangeError> {
    let names = reshape.table.columns();
    let holder = other.filter(|other| other.columns() == names).unwrap_or(source);
    let sample = Sample::read(holder)?;
    let columns = match reshape.slots.is_empty() {
        true => {
            reshape.roles.label.iter().filter_map(|label| names.iter().position(|n| n == label)).collect()
        }
        false => {
            let whole = |(place, _): &(AnswerPosition, _)| place.field.is_none().then_some(place.column);
            reshape.slots.iter().flat_map(|slot| slot.places.iter().filter_map(whole)).collect::<Vec<_>>()
        }
    };
    let is_truth = |column: &usize| {
        if *column >= sample.width() {
            return false;
        }
        let mut values: BTreeSet<String> = BTreeSet::new();
        let mut truths = [false, false];
        for value in sample.counts(*column).keys().filter(|value| !reshape.rules.leaves_out(value)) {
            let Some(truth) = truth_value(value) else { return false };
            truths[usize::from(truth)] = true;
            values.insert(value.to_lowercase());
        }
        truths == [true, true] && values.len() > 2
    };
    Ok(columns.into_iter().filter(is_truth).collect())
}
