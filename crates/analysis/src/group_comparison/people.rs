//! The members of a group.

use crate::chosen::no_such_attribute;
use crate::error::AnalysisError;
use dissensus_api::{GroupsChoice, PeopleChoice};
use dissensus_domain::{Annotator, AnnotatorId};
use dissensus_project::error::ProjectError;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Maximum number of listed names before the others are counted.
const NAMED: usize = 3;

/// A group: rows of its people in order, and its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) people: Vec<u32>,
    pub(super) words: String,
}

/// The two groups of a choice.
///
/// # Errors
/// A group is empty, no annotator matches it, or an annotator is in both.
pub(super) fn groups(annotators: &[Annotator], choice: &GroupsChoice) -> Result<[Group; 2], ProjectError> {
    let a = group(annotators, &choice.a, "A")?;
    let b = group(annotators, &choice.b, "B")?;
    let first: HashSet<u32> = a.people.iter().copied().collect();
    let both: Vec<&str> = b
        .people
        .iter()
        .filter(|row| first.contains(row))
        .map(|row| annotators[*row as usize].name.as_str())
        .collect();
    if !both.is_empty() {
        return Err(AnalysisError::GroupsOverlap { names: few(&both) }.into());
    }
    Ok([a, b])
}

fn group(
    annotators: &[Annotator],
    choice: &PeopleChoice,
    which: &'static str,
) -> Result<Group, ProjectError> {
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in &choice.attributes {
        let known = |a: &Annotator| a.attributes.get(name) == Some(value);
        if !annotators.iter().any(known) {
            return Err(no_such_attribute(annotators, &[(name.clone(), value.clone())].into()));
        }
        wanted.entry(name).or_default().insert(value);
    }
    let named: HashSet<AnnotatorId> = choice.annotators.iter().copied().collect();
    let fits = |a: &Annotator| {
        let has = |(name, values): (&&str, &BTreeSet<&str>)| {
            a.attributes.get(*name).is_some_and(|value| values.contains(value.as_str()))
        };
        named.contains(&a.id) || (!wanted.is_empty() && wanted.iter().all(has))
    };
    let people: Vec<u32> = (0..).zip(annotators).filter(|(_, a)| fits(a)).map(|(row, _)| row).collect();
    if people.is_empty() {
        return Err(AnalysisError::EmptyGroup(which).into());
    }
    let names: Vec<&str> =
        annotators.iter().filter(|a| named.contains(&a.id)).map(|a| a.name.as_str()).collect();
    let values = wanted
        .iter()
        .map(|(name, values)| format!("{name} {}", values.iter().copied().collect::<Vec<_>>().join(" or ")));
    let mut words = values.collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        let and = if words.is_empty() { "" } else { " and " };
        words = format!("{words}{and}{}", few(&names));
    }
    Ok(Group { people, words })
}

/// The first names, and how many more there are.
fn few(names: &[&str]) -> String {
    let (first, rest) = names.split_at(names.len().min(NAMED));
    match (first, rest.len()) {
        (_, more) if more > 0 => format!("{} and {more} more", first.join(", ")),
        ([first @ .., last], _) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => first.join(""),
    }
}

/// The attribute of which A and B are one value each, and these values.
pub(super) fn one_attribute(choice: &GroupsChoice) -> Option<(&str, [&str; 2])> {
    let ([(name, a)], [(of_b, b)]) = (&choice.a.attributes[..], &choice.b.attributes[..]) else {
        return None;
    };
    let nobody_else = choice.a.annotators.is_empty() && choice.b.annotators.is_empty();
    (nobody_else && name == of_b).then_some((name.as_str(), [a.as_str(), b.as_str()]))
}

/// The attribute of which A and B are one value each, if it has no other values.
pub(super) fn whole_attribute<'a>(annotators: &[Annotator], choice: &'a GroupsChoice) -> Option<&'a str> {
    let (name, values) = one_attribute(choice)?;
    let all: BTreeSet<&str> =
        annotators.iter().filter_map(|person| person.attributes.get(name)).map(String::as_str).collect();
    (all == BTreeSet::from(values)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people() -> Vec<Annotator> {
        let one = |(id, (name, gender, age)): (u32, (&str, &str, &str))| Annotator {
            id: AnnotatorId(id),
            external_id: name.to_lowercase(),
            name: name.to_owned(),
            attributes: [("gender".to_owned(), gender.to_owned()), ("age".to_owned(), age.to_owned())].into(),
            simulated: false,
        };
        let all = [("Ana", "Woman", "30"), ("Ben", "Man", "30"), ("Cy", "Man", "40"), ("Dee", "Woman", "50")];
        (0..).zip(all).map(one).collect()
    }

    fn with(values: &[(&str, &str)], annotators: &[u32]) -> PeopleChoice {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        PeopleChoice {
            attributes: values.iter().map(own).collect(),
            annotators: annotators.iter().map(|id| AnnotatorId(*id)).collect(),
        }
    }

    #[test]
    fn values_are_alternatives_and_attributes_are_combined() {
        let of = |choice| group(&people(), &choice, "A").unwrap();
        assert_eq!(of(with(&[("age", "30"), ("age", "40")], &[])).people, [0, 1, 2]);
        let found = of(with(&[("age", "30"), ("age", "40"), ("gender", "Man")], &[3]));
        assert_eq!((found.people, found.words.as_str()), (vec![1, 2, 3], "age 30 or 40, gender Man and Dee"));
        assert_eq!(of(with(&[], &[0, 1, 2, 3])).words, "Ana, Ben, Cy and 1 more");
        assert_eq!(of(with(&[], &[0, 1])).words, "Ana and Ben");
    }

    #[test]
    fn nobody_can_be_in_both_groups() {
        let choice = GroupsChoice { a: with(&[("gender", "Man")], &[]), b: with(&[("age", "30")], &[]) };
        let error = groups(&people(), &choice).unwrap_err();
        assert_eq!(error.code(), "groups-overlap");
        assert!(error.to_string().starts_with("in both groups: Ben; "), "{error}");
        let empty = GroupsChoice { a: PeopleChoice::default(), ..choice };
        assert_eq!(groups(&people(), &empty).unwrap_err().code(), "empty-group");
        let nobody = with(&[("gender", "Other")], &[]);
        assert_eq!(group(&people(), &nobody, "B").unwrap_err().code(), "no-such-attribute");
        // Each value exists, but no annotator has both.
        let apart = with(&[("gender", "Man"), ("age", "50")], &[]);
        assert_eq!(group(&people(), &apart, "B").unwrap_err().code(), "empty-group");
    }

    #[test]
    fn two_groups_can_cover_a_whole_attribute() {
        let of = |a, b| GroupsChoice { a: with(a, &[]), b: with(b, &[]) };
        let gender = of(&[("gender", "Man")], &[("gender", "Woman")]);
        assert_eq!(whole_attribute(&people(), &gender), Some("gender"));
        assert_eq!(whole_attribute(&people(), &of(&[("age", "30")], &[("age", "40")])), None);
    }
}
