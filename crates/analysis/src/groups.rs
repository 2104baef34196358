//! Selection of the groups of annotators that are compared.

use super::Analysis;
use crate::error::AnalysisError;
use dissensus_api::{GroupChoice, GroupDifference, SeverityDifference};
use dissensus_domain::Annotator;
use dissensus_project::error::ProjectError;
use dissensus_stats::disagreement::{GroupGap, GroupPair};
use dissensus_training::live::{Comparison, Fitted, Over, Sides};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Groups of fewer people are not compared.
pub(super) const MIN_PEOPLE: usize = 5;
/// Maximum number of values of an attribute that are compared, the largest ones: work and memory grow with
/// its square.
const MAX_VALUES: usize = 50;

/// Annotators by the values of every attribute.
pub(super) type Values<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<u32>>>;

/// The comparison requested by `choice` among `over`; with `None` every value of an attribute against
/// its other values.
///
/// # Errors
/// No annotator has the values of `choice`.
pub(super) fn comparison(
    cx: &Analysis,
    fitted: &mut Fitted,
    choice: Option<&GroupChoice>,
    over: &Over,
) -> Result<Arc<Comparison>, ProjectError> {
    let index = cx.context.index();
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
    Ok(fitted.comparison(choice, over, |model| match choice {
        None => Comparison::next_to_severity(model, groups, pairs, sides, over.mask()),
        Some(_) => Comparison::new(model, groups, pairs, sides),
    }))
}

pub(super) fn by_value<'a>(people: &[(u32, &'a Annotator)]) -> Values<'a> {
    let mut values: Values<'a> = BTreeMap::new();
    for (row, annotator) in people {
        for (name, value) in &annotator.attributes {
            values.entry(name).or_default().entry(value).or_default().push(*row);
        }
    }
    values
}

type Groups = (Vec<Vec<u32>>, Vec<GroupPair>, Vec<Sides>);

/// Every value with enough people on both sides; of two values only the first one is reported. Values of too
/// few people form one group of others.
fn against_others(values: &Values<'_>) -> Groups {
    let (mut groups, mut pairs, mut sides) = (Vec::new(), Vec::new(), Vec::new());
    for (attribute, of_values) in values {
        let mut large: Vec<(&str, &Vec<u32>)> =
            of_values.iter().map(|(v, p)| (*v, p)).filter(|(_, p)| p.len() >= MIN_PEOPLE).collect();
        large.sort_by_key(|(value, people)| (Reverse(people.len()), *value));
        large.truncate(MAX_VALUES);
        large.sort_by_key(|(value, _)| *value);
        let kept: HashSet<&str> = large.iter().map(|(value, _)| *value).collect();
        let small = of_values.iter().filter(|(value, _)| !kept.contains(*value));
        let others: Vec<u32> = small.flat_map(|(_, people)| people.iter().copied()).collect();
        let all: usize = of_values.values().map(Vec::len).sum();
        let first = groups.len() as u32;
        groups.extend(large.iter().map(|(_, people)| (*people).clone()));
        if !others.is_empty() {
            groups.push(others);
        }
        let last = groups.len() as u32;
        for (at, (value, people)) in (first..).zip(&large) {
            let is_mirrored = of_values.len() == 2 && large.len() == 2 && at > first;
            if all - people.len() < MIN_PEOPLE || is_mirrored {
                continue;
            }
            pairs.push(GroupPair {
                first: (first..last).filter(|group| *group != at).collect(),
                second: vec![at],
            });
            // Of two values the other one is named.
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

fn chosen_pair(values: &Values<'_>, choice: &GroupChoice) -> Result<Groups, ProjectError> {
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
            ProjectError::from(AnalysisError::NoSuchAttribute {
                name: choice.attribute.clone(),
                value: value.to_owned(),
                hint,
            })
        })
    };
    let groups = vec![find(&choice.first)?, find(&choice.second)?];
    if groups.iter().any(|people| people.len() < MIN_PEOPLE) {
        return Ok((Vec::new(), Vec::new(), Vec::new()));
    }
    let sides = Sides {
        attribute: choice.attribute.clone(),
        value: choice.second.clone(),
        against: Some(choice.first.clone()),
    };
    Ok((groups, vec![GroupPair { first: vec![0], second: vec![1] }], vec![sides]))
}

/// The difference as shown in the window; `None` if there is too little data for an interval.
pub(super) fn difference(comparison: &Comparison, at: usize, gap: &GroupGap) -> Option<GroupDifference> {
    let (low, high) = gap.interval?;
    let Sides { attribute, value, against } = comparison.sides[at].clone();
    Some(GroupDifference {
        attribute,
        value,
        against,
        gap: gap.gap as f32,
        interval: (low as f32, high as f32),
        labels: (gap.labels[1], gap.labels[0]),
        significant: gap.significant,
    })
}

/// The difference as shown in the window, if the answers follow severity; named after the side that is
/// further from the median level of the people.
pub(super) fn severity_difference(gap: &GroupGap, panel: &[f32]) -> Option<SeverityDifference> {
    let (low, high) = gap.interval?;
    // The halves are equally large, so that the mean of all is midway between them.
    let mean: f64 = panel.iter().enumerate().map(|(level, p)| level as f64 * f64::from(*p)).sum();
    let mut cumulative = 0.0;
    let median = panel.iter().position(|p| {
        cumulative += p;
        cumulative >= 0.5
    })?;
    let strict = (mean + gap.gap / 2.0 - median as f64).abs() >= (mean - gap.gap / 2.0 - median as f64).abs();
    let sign = if strict { 1.0 } else { -1.0 };
    let ends = [sign * low, sign * high].map(|end| end as f32);
    let [lenient_labels, strict_labels] = gap.labels;
    gap.significant.then_some(SeverityDifference {
        strict,
        gap: (sign * gap.gap) as f32,
        interval: (ends[0].min(ends[1]), ends[0].max(ends[1])),
        labels: if strict { (strict_labels, lenient_labels) } else { (lenient_labels, strict_labels) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_named_after_the_farther_side() {
        let gap = GroupGap {
            gap: 1.0,
            interval: Some((0.4, 1.6)),
            labels: [6, 3],
            p: Some(1e-6),
            significant: true,
        };
        // The lowest level is the most frequent: the strict differ.
        let found = severity_difference(&gap, &[0.7, 0.1, 0.1, 0.1]).unwrap();
        assert_eq!((found.strict, found.gap, found.interval, found.labels), (true, 1.0, (0.4, 1.6), (3, 6)));
        // The highest level is the most frequent: the lenient differ, and they are lower.
        let found = severity_difference(&gap, &[0.1, 0.1, 0.1, 0.7]).unwrap();
        assert_eq!(
            (found.strict, found.gap, found.interval, found.labels),
            (false, -1.0, (-1.6, -0.4), (6, 3))
        );
        assert_eq!(severity_difference(&GroupGap { significant: false, ..gap }, &[0.5, 0.5]), None);
        assert_eq!(severity_difference(&GroupGap { interval: None, ..gap }, &[0.5, 0.5]), None);
    }

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
        // The one of a single person comes last, among the others.
        assert_eq!(pairs[1], GroupPair { first: vec![0, 2], second: vec![1] });
        assert_eq!(pairs[2], GroupPair { first: vec![4], second: vec![3] });
    }

    #[test]
    fn values_of_few_people_form_one_group() {
        let names: Vec<String> = (0..2000).map(|i| format!("town {i:04}")).collect();
        let few = names.iter().zip(100u32..).map(|(name, row)| (name.as_str(), vec![row]));
        let values: Values<'_> =
            [("town", few.chain([("city", (0..5).collect::<Vec<u32>>())]).collect())].into();
        let (groups, pairs, sides) = against_others(&values);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [5, 2000]);
        assert_eq!(pairs, [GroupPair { first: vec![1], second: vec![0] }]);
        assert_eq!(sides[0].against, None);
        let many: Values<'_> =
            [("town", names.iter().map(|name| (name.as_str(), vec![0; 5])).collect())].into();
        assert_eq!(against_others(&many).1.len(), MAX_VALUES);
    }

    #[test]
    fn each_chosen_group_needs_five_people() {
        let values: Values<'_> =
            [("side", [("left", (0..4).collect::<Vec<u32>>()), ("right", (4..20).collect())].into())].into();
        let choice = GroupChoice { attribute: "side".into(), first: "left".into(), second: "right".into() };
        assert!(chosen_pair(&values, &choice).unwrap().1.is_empty());
    }
}
