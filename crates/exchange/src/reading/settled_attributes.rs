//! Attributes of annotators that have several values in one table, settled by a rule before the rows are
//! read.

use super::table_reading::AttributeConflicts;
use crate::row::Row;
use dissensus_domain::Attributes;
use std::collections::HashMap;

/// The different values of one attribute of one annotator, in order of their first rows.
#[derive(Clone, Debug, Default)]
struct Values {
    /// Values with their numbers of rows.
    counts: Vec<(String, u64)>,
    places: HashMap<String, usize>,
    /// The place of the value of the last row.
    last: usize,
}

impl Values {
    fn take(&mut self, value: &str) {
        self.last = match self.places.get(value) {
            Some(at) => *at,
            None => {
                self.counts.push((value.to_owned(), 0));
                self.places.insert(value.to_owned(), self.counts.len() - 1);
                self.counts.len() - 1
            }
        };
        self.counts[self.last].1 += 1;
    }

    fn settle(self, rule: AttributeConflicts) -> Option<String> {
        let at = match rule {
            _ if self.counts.len() == 1 => 0,
            AttributeConflicts::Unknown => return None,
            AttributeConflicts::Refuse | AttributeConflicts::First => 0,
            AttributeConflicts::Last => self.last,
            AttributeConflicts::MostFrequent => {
                let most = self.counts.iter().map(|(_, count)| *count).max()?;
                self.counts.iter().position(|(_, count)| *count == most)?
            }
        };
        self.counts.into_iter().nth(at).map(|(value, _)| value)
    }
}

/// Collects one value for each attribute of each annotator. Memory grows with annotators and their different
/// values, not with rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettledAttributes {
    people: HashMap<String, HashMap<String, Values>, foldhash::fast::RandomState>,
    settled: HashMap<String, Attributes, foldhash::fast::RandomState>,
    conflicts: u64,
}

impl SettledAttributes {
    /// Adds the attributes of a row's annotator.
    pub(crate) fn take(&mut self, row: &Row) {
        let Some(annotator) = row.annotator.as_ref().filter(|_| !row.attributes.is_empty()) else { return };
        let person = self.people.entry(annotator.clone()).or_default();
        for (name, value) in &row.attributes {
            if !person.contains_key(name) {
                person.insert(name.clone(), Values::default());
            }
            if let Some(values) = person.get_mut(name) {
                values.take(value);
            }
        }
    }

    /// Chooses the value of each attribute.
    pub(crate) fn settle(&mut self, rule: AttributeConflicts) {
        for (annotator, attributes) in std::mem::take(&mut self.people) {
            let conflicts = attributes.values().filter(|values| values.counts.len() > 1).count();
            self.conflicts += conflicts as u64;
            let settled =
                attributes.into_iter().filter_map(|(name, values)| Some((name, values.settle(rule)?)));
            self.settled.insert(annotator, settled.collect());
        }
    }

    /// The attributes of an annotator as they were settled.
    pub(crate) fn of(&self, annotator: &str) -> Attributes {
        self.settled.get(annotator).cloned().unwrap_or_default()
    }

    /// Number of attributes of annotators that had several values.
    pub(crate) fn conflicts(&self) -> u64 {
        self.conflicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_resolves_attribute_conflicts() {
        let row = |age: &str| Row {
            annotator: Some("ada".to_owned()),
            attributes: Attributes::from([("age".to_owned(), age.to_owned())]),
            ..Row::default()
        };
        let settled = |rule| {
            let mut all = SettledAttributes::default();
            for age in ["30", "31", "31", "32"] {
                all.take(&row(age));
            }
            all.settle(rule);
            assert_eq!(all.conflicts(), 1);
            all.of("ada").get("age").cloned()
        };
        assert_eq!(settled(AttributeConflicts::First).as_deref(), Some("30"));
        assert_eq!(settled(AttributeConflicts::Last).as_deref(), Some("32"));
        assert_eq!(settled(AttributeConflicts::MostFrequent).as_deref(), Some("31"));
        assert_eq!(settled(AttributeConflicts::Unknown), None);
    }
}
