//! Which groups of annotators are compared.

use super::Analysis;
use crate::error::WorkbenchError;
use crate::live::{Comparison, Fitted, Over, Sides};
use crate::view::{GroupChoice, GroupDifference};
use dissensus_domain::Annotator;
use dissensus_perspectives::{GroupGap, GroupPair};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Groups of fewer people are not compared.
pub(super) const FEWEST_PEOPLE: usize = 5;

/// Annotators by the values of every attribute.
type Values<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<u32>>>;

impl Analysis {
    /// The comparison that `choice` asks for among `over`; with `None` every value of an attribute against its other values.
    ///
    /// # Errors
    /// Nobody has the values of `choice`.
    pub(super) fn comparison(
        &self,
        fitted: &mut Fitted,
        choice: Option<&GroupChoice>,
        over: &Over,
    ) -> Result<Arc<Comparison>, WorkbenchError> {
        let index = self.context.index();
        let people: Vec<(u32, &Annotator)> = index
            .annotators()
            .iter()
            .enumerate()
            .filter(|(row, _)| over.mask().is_none_or(|mask| mask.get(*row) == Some(&true)))
            .map(|(row, annotator)| (row as u32, annotator))
            .collect();
        let values = by_value(&people);
        let (groups, pairs, sides) = match choice {
            None => against_others(&values),
            Some(choice) => chosen_pair(&values, choice)?,
        };
        Ok(fitted.comparison(choice, over, |model| Comparison::of(model, &groups, pairs, sides)))
    }
}

fn by_value<'a>(people: &[(u32, &'a Annotator)]) -> Values<'a> {
    let mut values: Values<'a> = BTreeMap::new();
    for (row, annotator) in people {
        for (name, value) in &annotator.attributes {
            values.entry(name).or_default().entry(value).or_default().push(*row);
        }
    }
    values
}

type Groups = (Vec<Vec<u32>>, Vec<GroupPair>, Vec<Sides>);

/// Every value with enough people on both sides; of two values only the first one is spoken of.
fn against_others(values: &Values<'_>) -> Groups {
    let (mut groups, mut pairs, mut sides) = (Vec::new(), Vec::new(), Vec::new());
    for (attribute, of_values) in values {
        let first = groups.len();
        groups.extend(of_values.values().cloned());
        let all: usize = of_values.values().map(Vec::len).sum();
        for (at, (value, people)) in of_values.iter().enumerate() {
            let enough = people.len() >= FEWEST_PEOPLE && all - people.len() >= FEWEST_PEOPLE;
            let said = of_values.len() == 2 && at == 1;
            if !enough || said {
                continue;
            }
            let others = (first..groups.len()).filter(|group| *group != first + at).collect();
            pairs.push(GroupPair { first: others, second: vec![first + at] });
            // Of two values the other one has a name.
            let other = of_values.keys().find(|other| of_values.len() == 2 && *other != value);
            sides.push(Sides {
                attribute: (*attribute).to_owned(),
                value: (*value).to_owned(),
                against: other.map(|other| (*other).to_owned()),
            });
        }
    }
    (groups, pairs, sides)
}

fn chosen_pair(values: &Values<'_>, choice: &GroupChoice) -> Result<Groups, WorkbenchError> {
    let of_values = values.get(choice.attribute.as_str());
    let find = |value: &str| {
        of_values.and_then(|values| values.get(value)).cloned().ok_or_else(|| {
            let list = |names: Vec<&str>| names.join(", ");
            let hint = match of_values {
                Some(values) => {
                    format!("; {} is one of {}", choice.attribute, list(values.keys().copied().collect()))
                }
                None => format!("; the attributes are {}", list(values.keys().copied().collect())),
            };
            WorkbenchError::NoSuchAttribute { name: choice.attribute.clone(), value: value.to_owned(), hint }
        })
    };
    let groups = vec![find(&choice.first)?, find(&choice.second)?];
    let sides = Sides {
        attribute: choice.attribute.clone(),
        value: choice.second.clone(),
        against: Some(choice.first.clone()),
    };
    Ok((groups, vec![GroupPair { first: vec![0], second: vec![1] }], vec![sides]))
}

/// As the window shows it.
pub(super) fn difference(comparison: &Comparison, at: usize, gap: &GroupGap) -> GroupDifference {
    let Sides { attribute, value, against } = comparison.sides[at].clone();
    GroupDifference {
        attribute,
        value,
        against,
        gap: gap.gap as f32,
        interval: (gap.interval.0 as f32, gap.interval.1 as f32),
        labels: (gap.sides[1].labels, gap.sides[0].labels),
        stands: comparison.stands(gap),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_with_all_others_of_the_attribute() {
        let many = |from: u32| (from..from + 5).collect::<Vec<u32>>();
        let values: Values<'_> = [
            ("age", [("old", many(0)), ("young", many(5)), ("unique", vec![10])].into()),
            ("gender", [("man", many(0)), ("woman", many(5))].into()),
        ]
        .into();
        let (groups, pairs, sides) = against_others(&values);
        let named: Vec<(&str, &str)> =
            sides.iter().map(|s| (s.attribute.as_str(), s.value.as_str())).collect();
        assert_eq!(named, [("age", "old"), ("age", "young"), ("gender", "man")]);
        assert_eq!(sides[2].against.as_deref(), Some("woman"));
        assert_eq!(groups.len(), 5);
        assert_eq!(pairs[1], GroupPair { first: vec![0, 1], second: vec![2] });
        assert_eq!(pairs[2], GroupPair { first: vec![4], second: vec![3] });
    }
}
