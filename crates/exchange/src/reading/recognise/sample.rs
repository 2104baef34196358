//! The first rows of a table, column by column, and what their values have in common.

use crate::reading::list_cell::parse_list;
use crate::reading::value_rules::is_comma_number;
use crate::records::Records;
use crate::truth::{Missing, missing_code};
use crate::{ExchangeError, Source};
use std::collections::{BTreeMap, HashMap, HashSet};

/// How many rows of a file are inspected: enough for a few hundred annotators, few enough for a preview.
const ROWS: u64 = 5_000;
const BYTES: u64 = 32 << 20;
const VALUES: u64 = 500_000;
/// A column with more different values than this holds no answers on a scale.
pub(crate) const LEVELS: usize = 20;
/// The longest value of an answer on a scale, in bytes.
const LEVEL_BYTES: usize = 80;
/// The maximum distance between whole numbers of one scale.
const NUMBERS: i64 = 20;

/// The kind of values in a column of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// 0 and 1.
    ZeroOne,
    /// True and false, in any case.
    TrueFalse,
    /// Whole numbers close together.
    Steps,
    /// Other numbers.
    Numbers,
    /// Words.
    Words,
}

/// The first rows of a table. Values are trimmed.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) columns: Vec<String>,
    rows: usize,
    values: Vec<Vec<String>>,
    /// How many rows have each value that is not blank.
    counts: Vec<BTreeMap<String, usize>>,
}

impl Sample {
    /// Reads the first rows of a source. Bad rows are skipped.
    pub(crate) fn read(source: &Source) -> Result<Self, ExchangeError> {
        let mut records = Records::open(source)?;
        let width = source.columns().len();
        let rows = ROWS.min(VALUES / width.max(1) as u64).max(20);
        let mut values: Vec<Vec<String>> = vec![Vec::new(); width];
        while records.row() < rows && records.position() < BYTES {
            match records.advance() {
                Ok(true) => {
                    for (column, values) in values.iter_mut().enumerate() {
                        values.push(records.cells().get(column).trim().to_owned());
                    }
                }
                Ok(false) => break,
                Err(e) if e.is_fatal() => {
                    return Err(ExchangeError::reading(source.path(), std::io::Error::other(e.to_string())));
                }
                Err(_) => {}
            }
        }
        Ok(Self::from_columns(source.columns().to_vec(), values))
    }

    pub(crate) fn from_columns(columns: Vec<String>, values: Vec<Vec<String>>) -> Self {
        let count = |values: &Vec<String>| {
            let mut counts = BTreeMap::new();
            for value in values.iter().filter(|value| !value.is_empty()) {
                match counts.get_mut(value.as_str()) {
                    Some(count) => *count += 1,
                    None => drop(counts.insert(value.clone(), 1)),
                }
            }
            counts
        };
        let counts = values.iter().map(count).collect();
        Self { columns, rows: values.first().map_or(0, Vec::len), values, counts }
    }

    /// Removes the values of these columns.
    pub(crate) fn without(mut self, names: &[String]) -> Self {
        for column in (0..self.columns.len()).filter(|column| names.contains(&self.columns[*column])) {
            self.values[column].iter_mut().for_each(String::clear);
            self.counts[column].clear();
        }
        self
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn value(&self, column: usize, row: usize) -> &str {
        &self.values[column][row]
    }

    pub(crate) fn values(&self, column: usize) -> impl Iterator<Item = &str> {
        self.values[column].iter().map(String::as_str)
    }

    /// The different values that are not blank, with the number of rows of each.
    pub(crate) fn counts(&self, column: usize) -> &BTreeMap<String, usize> {
        &self.counts[column]
    }

    /// How many rows have a value.
    pub(crate) fn filled(&self, column: usize) -> usize {
        self.counts[column].values().sum()
    }

    /// Whether all values are few and short, as those of answers on a scale are.
    pub(crate) fn is_few(&self, column: usize) -> bool {
        let counts = &self.counts[column];
        (1..=LEVELS).contains(&counts.len()) && counts.keys().all(|value| value.len() <= LEVEL_BYTES)
    }

    /// The kind of value of a column of few values.
    pub(crate) fn kind(&self, column: usize) -> Kind {
        // A word for a missing value has no kind.
        let is_value = |name: &&str| missing_code(name) != Some(Missing::Word);
        let names: Vec<&str> = self.counts[column].keys().map(String::as_str).filter(is_value).collect();
        if names.iter().all(|name| matches!(*name, "0" | "1" | "0.0" | "1.0")) {
            return Kind::ZeroOne;
        }
        if names.iter().all(|name| name.eq_ignore_ascii_case("true") || name.eq_ignore_ascii_case("false")) {
            return Kind::TrueFalse;
        }
        let number = |name: &str| match is_comma_number(name) {
            true => name.replace(',', ".").parse::<f64>().ok(),
            false => name.parse::<f64>().ok(),
        };
        let numbers: Vec<f64> =
            names.iter().filter_map(|name| number(name)).filter(|x| x.is_finite()).collect();
        if numbers.len() < names.len() {
            return Kind::Words;
        }
        let (low, high) =
            numbers.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        let steps = numbers.iter().all(|x| x.fract() == 0.0) && high - low <= NUMBERS as f64;
        if steps { Kind::Steps } else { Kind::Numbers }
    }

    /// Among the values of `by` that several rows have, returns how many have different values in `column`,
    /// and how many there are.
    pub(crate) fn varies_within(&self, column: usize, by: usize) -> (usize, usize) {
        let mut seen: HashMap<&str, (&str, bool, bool)> = HashMap::new();
        for row in 0..self.rows {
            let (key, value) = (self.value(by, row), self.value(column, row));
            if key.is_empty() || value.is_empty() {
                continue;
            }
            seen.entry(key)
                .and_modify(|(first, differs, again)| {
                    *differs |= *first != value;
                    *again = true;
                })
                .or_insert((value, false, false));
        }
        let several = seen.values().filter(|(.., again)| *again);
        (seen.values().filter(|(_, differs, _)| *differs).count(), several.count())
    }

    /// Whether hardly any two rows have the same values in these columns together.
    pub(crate) fn is_unique(&self, columns: &[usize]) -> bool {
        let mut seen = HashSet::new();
        let again = (0..self.rows).filter(|row| {
            let key: Vec<&str> = columns.iter().map(|column| self.value(*column, *row)).collect();
            !seen.insert(key)
        });
        again.count() * 20 <= self.rows
    }

    /// Returns the mean number of characters of a value, and the share of values with a space.
    pub(crate) fn wordiness(&self, column: usize) -> (f64, f64) {
        let filled = self.filled(column).max(1) as f64;
        let length: usize = self.values(column).map(|value| value.chars().count()).sum();
        let spaced = self.values(column).filter(|value| value.contains(char::is_whitespace)).count();
        (length as f64 / filled, spaced as f64 / filled)
    }

    /// Returns the entries of each row, if a column holds lists: in nine of ten rows that have a value.
    pub(crate) fn lists(
        &self,
        column: usize,
        separator: Option<&str>,
    ) -> Option<Vec<Vec<serde_json::Value>>> {
        let begins = |value: &str| value.starts_with(['[', '{', '(']);
        let filled = self.filled(column);
        let likely = self.values(column).filter(|value| begins(value)).count();
        if separator.is_none() && likely * 10 < filled * 9 || filled == 0 {
            return None;
        }
        let mut bad = 0;
        let lists = self.values(column).map(|value| {
            let list = parse_list(value, separator);
            bad += usize::from(list.is_none() && !value.is_empty());
            list.unwrap_or_default()
        });
        let lists: Vec<_> = lists.collect();
        (bad * 10 <= filled).then_some(lists)
    }
}
