//! Attribute values that form groups with slopes of their own.

use dissensus_stats::data::Attribute;
use dissensus_stats::math::axpy;
use serde::{Deserialize, Serialize};

/// Minimum number of annotators with labels for a value to form a group; members of smaller ones are
/// predicted like the average annotator.
const MIN_GROUP: usize = 10;
/// Largest number of groups per attribute, those with most labels: the cost of the estimation is cubic in
/// their number.
const MAX_GROUPS: usize = 12;

/// One column per group, attribute after attribute. Effects are deviations: the effects of an attribute,
/// weighted by the labels of its groups, have the mean 0, so that the shared head stays that of the average
/// label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupColumns {
    /// Column of every value of every attribute; `None` for values that are not groups.
    of_value: Vec<Vec<Option<u16>>>,
    /// First column of each attribute, followed by the total number of columns.
    starts: Vec<usize>,
    /// Share of each column in the labels of its attribute.
    shares: Vec<f64>,
}

impl GroupColumns {
    /// The groups of the `chosen` ones of `attributes`.
    pub(super) fn new(attributes: &[Attribute], chosen: &[usize], labels_of: &[usize]) -> Self {
        let mut columns = Self { of_value: Vec::new(), starts: vec![0], shares: Vec::new() };
        for (at, attribute) in attributes.iter().enumerate() {
            let mut of_value = vec![None; attribute.values.len()];
            if chosen.contains(&at) {
                let groups = groups(attribute, labels_of);
                let all: usize = groups.iter().map(|(_, labels)| labels).sum();
                for (value, labels) in groups {
                    of_value[value] = Some(columns.shares.len() as u16);
                    columns.shares.push(labels as f64 / all as f64);
                }
                columns.starts.push(columns.shares.len());
            }
            columns.of_value.push(of_value);
        }
        columns
    }

    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.shares.len()
    }

    /// The columns of an annotator with these values, one entry per attribute; unknown values have no column.
    pub(super) fn of(&self, values: &[Option<u16>]) -> Vec<u16> {
        let of = |(columns, value): (&Vec<Option<u16>>, &Option<u16>)| {
            columns.get(usize::from((*value)?)).copied().flatten()
        };
        self.of_value.iter().zip(values).filter_map(of).collect()
    }

    /// The columns of every annotator.
    pub(super) fn of_all(&self, attributes: &[Attribute], annotators: usize) -> Vec<Vec<u16>> {
        let values = |a: usize| -> Vec<Option<u16>> {
            attributes.iter().map(|attribute| attribute.of.get(a).copied().flatten()).collect()
        };
        (0..annotators).map(|a| self.of(&values(a))).collect()
    }

    /// Column ranges of the attributes.
    fn attributes(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.starts.windows(2).map(|w| w[0]..w[1])
    }

    /// `C x`: effects (columns x `width`) minus their weighted means.
    pub(super) fn deviations(&self, effects: &mut [f64], width: usize) {
        for columns in self.attributes() {
            for i in 0..width {
                let mean: f64 = columns.clone().map(|c| self.shares[c] * effects[c * width + i]).sum();
                columns.clone().for_each(|c| effects[c * width + i] -= mean);
            }
        }
    }

    /// `C' x`: converts derivatives with respect to deviations to those with respect to effects (columns x
    /// `width`).
    pub(super) fn transposed(&self, by_deviations: &mut [f64], width: usize) {
        for columns in self.attributes() {
            for i in 0..width {
                let sum: f64 = columns.clone().map(|c| by_deviations[c * width + i]).sum();
                columns.clone().for_each(|c| by_deviations[c * width + i] -= self.shares[c] * sum);
            }
        }
    }

    /// Whether the sizes are consistent.
    pub(super) fn fits(&self) -> bool {
        let columns = self.len();
        self.starts.first() == Some(&0)
            && self.starts.last() == Some(&columns)
            && self.starts.is_sorted()
            && self.of_value.iter().flatten().flatten().all(|column| usize::from(*column) < columns)
    }
}

/// The values of an attribute that form groups, in order, each with its number of labels.
fn groups(attribute: &Attribute, labels_of: &[usize]) -> Vec<(usize, usize)> {
    let mut counts = vec![(0, 0); attribute.values.len()];
    for (given, value) in labels_of.iter().zip(&attribute.of) {
        if let Some(value) = value.filter(|_| *given > 0) {
            let (people, labels) = &mut counts[usize::from(value)];
            *people += 1;
            *labels += given;
        }
    }
    let counts = counts.into_iter().enumerate().filter(|(_, (people, _))| *people >= MIN_GROUP);
    let mut groups: Vec<(usize, usize)> = counts.map(|(value, (_, labels))| (value, labels)).collect();
    groups.sort_by_key(|(value, labels)| (std::cmp::Reverse(*labels), *value));
    groups.truncate(MAX_GROUPS);
    groups.sort_unstable();
    groups
}

/// The values of an attribute that form groups.
pub(crate) fn groups_of(attribute: &Attribute, labels_of: &[usize]) -> Vec<usize> {
    groups(attribute, labels_of).into_iter().map(|(value, _)| value).collect()
}

/// Number of labels in the groups of an attribute; `None` where it has fewer than two.
pub(super) fn labels_in_groups(attribute: &Attribute, labels_of: &[usize]) -> Option<usize> {
    let groups = groups(attribute, labels_of);
    (groups.len() > 1).then(|| groups.into_iter().map(|(_, labels)| labels).sum())
}

/// Prior means of annotators' slopes by their groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupEffects {
    pub(super) columns: GroupColumns,
    /// Columns of every annotator.
    pub(super) of: Vec<Vec<u16>>,
    /// Posterior means, columns x slopes.
    pub(super) means: Vec<f64>,
    /// Their covariance is `root root'`; (columns x slopes) x (columns x slopes).
    pub(super) root: Vec<f64>,
}

impl GroupEffects {
    /// Groups with known slopes of 0.
    pub(super) fn new(columns: GroupColumns, of: Vec<Vec<u16>>, slopes: usize) -> Self {
        let all = columns.len() * slopes;
        Self { columns, of, means: vec![0.0; all], root: vec![0.0; all * all] }
    }

    /// Expected slopes of an annotator in these columns.
    pub(super) fn mean(&self, columns: &[u16], slopes: usize) -> Vec<f64> {
        sum_of(&self.means, columns, slopes)
    }

    /// Whether the sizes are consistent.
    pub(super) fn fits(&self, annotators: usize, slopes: usize) -> bool {
        let all = self.columns.len() * slopes;
        self.columns.fits()
            && self.of.len() == annotators
            && self.of.iter().flatten().all(|column| usize::from(*column) < self.columns.len())
            && self.means.len() == all
            && self.root.len() == all * all
    }
}

/// Sum of some blocks of `size` numbers.
pub(super) fn sum_of(blocks: &[f64], columns: &[u16], size: usize) -> Vec<f64> {
    let mut sum = vec![0.0; size];
    columns.iter().for_each(|&c| axpy(1.0, &blocks[usize::from(c) * size..][..size], &mut sum));
    sum
}
