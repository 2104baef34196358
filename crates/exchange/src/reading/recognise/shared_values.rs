//! Whether columns have the same values.

use super::Table;
use super::sample::{Kind, LEVELS};
use crate::truth::missing_code;
use std::collections::{BTreeMap, BTreeSet};

/// Whether columns hold values of one kind, and each column has at least `part` of them or shares at least
/// `part` of its own.
pub(super) fn share_values(table: &Table<'_>, columns: &[usize], part: f64) -> bool {
    let filled: Vec<usize> =
        columns.iter().copied().filter(|column| table.sample.filled(*column) > 0).collect();
    let all: BTreeSet<&String> =
        filled.iter().flat_map(|column| table.sample.counts(*column).keys()).collect();
    let number = |kind: Kind| matches!(kind, Kind::ZeroOne | Kind::Steps | Kind::Numbers);
    let kinds: Vec<Kind> = filled.iter().map(|column| table.sample.kind(*column)).collect();
    if all.is_empty() || all.len() > LEVELS || filled.is_empty() {
        return false;
    }
    if kinds.iter().all(|kind| number(*kind)) {
        // Codes such as -99 mean a missing value.
        let is_level = |value: &&&String| missing_code(value).is_none() || value.len() == 1;
        let numbers: Vec<f64> =
            all.iter().filter(is_level).filter_map(|value| value.replace(',', ".").parse().ok()).collect();
        let (low, high) =
            numbers.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        return high - low <= 10.0;
    }
    let mut holders: BTreeMap<&String, usize> = BTreeMap::new();
    for value in filled.iter().flat_map(|column| table.sample.counts(*column).keys()) {
        *holders.entry(value).or_default() += 1;
    }
    let of_each = |column: &usize| {
        let counts = table.sample.counts(*column);
        let shared = counts.keys().filter(|value| holders.get(value).is_some_and(|n| *n > 1)).count();
        filled.len() == 1 || shared as f64 >= part * counts.len() as f64
    };
    kinds.windows(2).all(|pair| pair[0] == pair[1]) && filled.iter().all(of_each)
}
