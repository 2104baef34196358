//! Names of people in a report for others, and which of their attributes are shown.

use dissensus_domain::{Annotator, AnnotatorId, Attributes};
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::pseudonyms::{MIN_PEOPLE, Pseudonyms, shared_values};
use dissensus_render::table::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Names of people in the report.
pub(super) struct People {
    /// Whether to use ids instead of pseudonyms, and show small counts unchanged.
    pub(super) with_ids: bool,
    everyone: Vec<Annotator>,
    names: HashMap<AnnotatorId, (u32, String)>,
}

/// People with one value of an attribute.
pub(super) struct Group {
    pub(super) attribute: String,
    pub(super) value: String,
    pub(super) people: Vec<AnnotatorId>,
}

/// Attribute values that are not shown.
pub(super) struct LeftOut {
    pub(super) values: usize,
    /// Attributes of which no value is shown.
    pub(super) attributes: Vec<String>,
}

impl People {
    /// Reads everyone in the project.
    pub(super) fn new(context: &Context, with_ids: bool) -> Result<Self, ProjectError> {
        let everyone = context.store.annotators()?;
        let mut names = HashMap::new();
        if with_ids {
            let ids = (1..).zip(&everyone).map(|(n, one)| (one.id, (n, one.external_id.clone())));
            names.extend(ids);
        } else {
            let pseudonyms = Pseudonyms::new(context)?;
            for one in &everyone {
                let number = pseudonyms.number(one.id)?;
                names.insert(one.id, (number, Pseudonyms::name(number)));
            }
        }
        Ok(Self { with_ids, everyone, names })
    }

    /// Name of a person in the report.
    pub(super) fn name(&self, id: AnnotatorId) -> String {
        // A person who was added between two reads of the project has no name here rather than their own.
        self.names.get(&id).map_or_else(|| "A?".to_owned(), |(_, name)| name.clone())
    }

    /// Position of a person in listings; with pseudonyms it reveals nothing.
    pub(super) fn place(&self, id: AnnotatorId) -> u32 {
        self.names.get(&id).map_or(u32::MAX, |(place, _)| *place)
    }

    /// All people.
    pub(super) fn everyone(&self) -> &[Annotator] {
        &self.everyone
    }

    /// Number of people out of `all`: hidden where it is true or untrue of so few that they could be
    /// identified.
    pub(super) fn count(&self, n: usize, all: usize) -> Cell {
        let few = |n: usize| (1..MIN_PEOPLE).contains(&n);
        match all.saturating_sub(n) {
            _ if self.with_ids => Cell::Count(n as u64),
            // Nothing is shown about so few people, not even that it is true of all or of none.
            _ if few(all) || few(n) => Cell::Few,
            others if few(others) => Cell::text("nearly all"),
            _ => Cell::Count(n as u64),
        }
    }

    /// Groups of these people by their attributes, and what is hidden because too few have it.
    pub(super) fn groups(&self, who: &HashSet<AnnotatorId>) -> (Vec<Group>, LeftOut) {
        let known: Vec<&Annotator> = self.everyone.iter().filter(|one| who.contains(&one.id)).collect();
        let attributes: Vec<&Attributes> = known.iter().map(|one| &one.attributes).collect();
        let all: BTreeSet<(String, String)> = attributes
            .iter()
            .flat_map(|known| known.iter())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let shown = if self.with_ids { all.clone() } else { shared_values(&attributes) };
        let mut whole: BTreeSet<String> = all.iter().map(|(name, _)| name.clone()).collect();
        shown.iter().for_each(|(name, _)| _ = whole.remove(name));
        let left_out = LeftOut { values: all.len() - shown.len(), attributes: whole.into_iter().collect() };
        let group = |(attribute, value): (String, String)| {
            let has = |one: &&&Annotator| one.attributes.get(&attribute) == Some(&value);
            let people = known.iter().filter(has).map(|one| one.id).collect();
            Group { attribute, value, people }
        };
        (shown.into_iter().map(group).collect(), left_out)
    }

    /// People and values by attribute, of all people, for group comparisons.
    pub(super) fn values(&self) -> BTreeMap<&str, BTreeMap<&str, Vec<AnnotatorId>>> {
        let mut values: BTreeMap<&str, BTreeMap<&str, Vec<AnnotatorId>>> = BTreeMap::new();
        for one in &self.everyone {
            for (name, value) in &one.attributes {
                values.entry(name).or_default().entry(value).or_default().push(one.id);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(with_ids: bool) -> People {
        let one = |n: u32| Annotator {
            id: AnnotatorId(n),
            external_id: format!("p{n}"),
            name: format!("Person {n}"),
            attributes: [("town".to_owned(), if n < 8 { "a" } else { "b" }.to_owned())].into(),
            simulated: false,
        };
        People { with_ids, everyone: (0..10).map(one).collect(), names: HashMap::new() }
    }

    #[test]
    fn small_groups_are_not_revealed() {
        let found = people(false);
        assert_eq!(found.count(3, 10), Cell::Few);
        assert_eq!(found.count(8, 10), Cell::text("nearly all"));
        assert_eq!([0, 5, 10].map(|n| found.count(n, 10)), [0, 5, 10].map(Cell::Count));
        for all in 1..=4 {
            for n in 0..=all {
                assert_eq!(found.count(n, all), Cell::Few, "{n} of {all}");
            }
        }
        for all in 5..=12 {
            for n in 0..=all {
                let reported = found.count(n, all);
                assert_eq!(
                    reported == Cell::text("nearly all"),
                    n >= 5 && (1..5).contains(&(all - n)),
                    "{n} of {all}"
                );
            }
        }
        assert_eq!(found.count(0, 0), Cell::Count(0));
        let who = found.everyone().iter().map(|one| one.id).collect();
        let (groups, left_out) = found.groups(&who);
        assert_eq!((groups.len(), left_out.values, left_out.attributes), (0, 2, vec!["town".to_owned()]));
        let open = people(true);
        assert_eq!(open.count(3, 10), Cell::Count(3));
        assert_eq!(open.groups(&who).0.iter().map(|g| g.people.len()).collect::<Vec<_>>(), [8, 2]);
    }
}
