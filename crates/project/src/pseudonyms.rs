//! Pseudonyms (A1, A2, ... in an order that reveals nothing about people), and hiding of rare attribute
//! values.

use crate::context::Context;
use crate::error::ProjectError;
use crate::words::counted;
use dissensus_domain::{AnnotatorId, Attributes};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use uuid::Uuid;

/// Key of the setting with the secret that determines the order of people. Every project has one; it never
/// leaves the file.
const KEY: &str = "pseudonym-key";
/// Key of the setting with the numbers of people: hashes with that secret.
const ORDER: &str = "pseudonyms";

/// Minimum number of people with an attribute value for it to be shown to others.
pub const MIN_PEOPLE: usize = 5;

/// Returns the values of attributes that enough of these people have to be shown to others: attribute and
/// value.
///
/// Values that fewer than [`MIN_PEOPLE`] people have are left blank. Where fewer people than that would then
/// have a blank, these could be identified, and the least frequent of the other values is left blank too;
/// every other value is shown.
pub fn shared_values(people: &[&Attributes]) -> BTreeSet<(String, String)> {
    let mut shown = BTreeSet::new();
    for (name, values) in by_attribute(people) {
        let mut common: Vec<(usize, &str)> =
            values.into_iter().filter(|(_, n)| *n >= MIN_PEOPLE).map(|(value, n)| (n, value)).collect();
        common.sort_unstable();
        let blank = people.len() - common.iter().map(|(n, _)| n).sum::<usize>();
        let also = usize::from((1..MIN_PEOPLE).contains(&blank));
        shown.extend(common.into_iter().skip(also).map(|(_, value)| (name.to_owned(), value.to_owned())));
    }
    shown
}

/// Number of people with each value of each attribute.
fn by_attribute<'a>(people: &[&'a Attributes]) -> BTreeMap<&'a str, BTreeMap<&'a str, usize>> {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (name, value) in people.iter().flat_map(|attributes| attributes.iter()) {
        *counts.entry(name).or_default().entry(value).or_default() += 1;
    }
    counts
}

/// Lists the blanked values of each attribute, a sentence each: for the author of a file, not for its
/// readers.
fn left_blank(people: &[&Attributes], shown: &BTreeSet<(String, String)>) -> Vec<String> {
    let of_attribute = |(name, values): (&str, BTreeMap<&str, usize>)| {
        let all = values.len();
        let blank: Vec<(&str, usize)> = values
            .into_iter()
            .filter(|(value, _)| !shown.contains(&(name.to_owned(), (*value).to_owned())))
            .collect();
        let (rare, also): (Vec<_>, Vec<_>) = blank.iter().partition(|(_, n)| *n < MIN_PEOPLE);
        let mut parts = Vec::new();
        if !rare.is_empty() {
            let people: usize = rare.iter().map(|(_, n)| n).sum();
            let values = counted(rare.len() as u64, "value");
            parts.push(match people {
                1 => format!("{values} of 1 person left blank, each of fewer than {MIN_PEOPLE} people"),
                people => {
                    format!("{values} of {people} people left blank, each of fewer than {MIN_PEOPLE} people")
                }
            });
        }
        parts.extend(also.iter().map(|(value, n)| {
            match rare.is_empty() {
                true => format!("\"{value}\" of {n} people left blank, so that nobody is among fewer than {MIN_PEOPLE} people with a blank"),
                false => format!("\"{value}\" of {n} people too, so that nobody is among fewer than {MIN_PEOPLE} people with a blank"),
            }
        }));
        let rest = match all - blank.len() {
            0 => "nothing else is known".to_owned(),
            1 => "the other value stays".to_owned(),
            n => format!("the other {n} values stay"),
        };
        (!parts.is_empty()).then(|| format!("{name}: {}; {rest}", parts.join(", and ")))
    };
    by_attribute(people).into_iter().filter_map(of_attribute).collect()
}

/// Attributes of people that may be shown to others.
pub struct SharedAttributes {
    of: HashMap<AnnotatorId, Attributes>,
    /// Number of blanked values, counted per person.
    pub suppressed: u64,
    /// The blanked values of each attribute, in a sentence.
    pub left_blank: Vec<String>,
    /// Number of people whose combination of attributes is shared by fewer than [`MIN_PEOPLE`]; including
    /// those without any value, where others have some.
    pub identifiable: u64,
}

impl SharedAttributes {
    /// Selects from `people`, whose data is not shown elsewhere, the values that enough of them have
    /// ([`shared_values`]).
    pub fn of<'a>(people: impl Iterator<Item = (AnnotatorId, &'a Attributes)>) -> Self {
        let people: Vec<(AnnotatorId, &Attributes)> = people.collect();
        let known: Vec<&Attributes> = people.iter().map(|(_, attributes)| *attributes).collect();
        let shared = shared_values(&known);
        let left_blank = left_blank(&known, &shared);
        let (mut of, mut suppressed) = (HashMap::with_capacity(people.len()), 0);
        let mut alike: BTreeMap<Attributes, u64> = BTreeMap::new();
        for (id, all) in people {
            let mut shown = all.clone();
            shown.retain(|name, value| shared.contains(&(name.clone(), value.clone())));
            suppressed += (all.len() - shown.len()) as u64;
            *alike.entry(shown.clone()).or_default() += 1;
            of.insert(id, shown);
        }
        let few = alike.values().filter(|n| alike.len() > 1 && **n < MIN_PEOPLE as u64);
        Self { identifiable: few.sum(), of, suppressed, left_blank }
    }

    /// Attributes of one person; empty for a person who is not among the people.
    pub fn person(&self, id: AnnotatorId) -> Attributes {
        self.of.get(&id).cloned().unwrap_or_default()
    }
}

/// The pseudonyms of people in this copy of the project. A number never changes, and is not reused when a
/// person is removed; numbers of people who are there when numbers are first requested are in the order of
/// hashes. Copies that were made before that may have other numbers.
pub struct Pseudonyms {
    numbers: HashMap<AnnotatorId, u32>,
}

impl Pseudonyms {
    /// Pseudonyms of everyone in the project. New numbers are stored, unless the project is read-only.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn new(context: &Context) -> Result<Self, ProjectError> {
        let store = &context.store;
        let lost = || ProjectError::internal(&"the project has no secret for pseudonyms");
        let key: String = store.setting(KEY)?.ok_or_else(lost)?;
        let mut order: Vec<String> = store.setting(ORDER)?.unwrap_or_default();
        let before = order.len();
        let people: Vec<(AnnotatorId, String)> =
            store.annotators()?.into_iter().map(|a| (a.id, hash(&key, &a.external_id))).collect();
        let mut new: Vec<String> =
            people.iter().map(|(_, hash)| hash).filter(|hash| !order.contains(hash)).cloned().collect();
        new.sort_unstable();
        order.extend(new);
        if order.len() > before && !store.is_reader() {
            store.set_setting(ORDER, &order)?;
        }
        let places: HashMap<&String, u32> = order.iter().zip(1..).collect();
        let numbers = people.iter().filter_map(|(id, hash)| Some((*id, *places.get(hash)?))).collect();
        Ok(Self { numbers })
    }

    /// Deletes the hashes of removed people: their numbers stay taken, and nothing shows whose they were.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn forget_removed(context: &Context) -> Result<(), ProjectError> {
        let store = &context.store;
        let (Some(key), Some(order)) = (store.setting::<String>(KEY)?, store.setting::<Vec<String>>(ORDER)?)
        else {
            return Ok(());
        };
        let there: HashSet<String> =
            store.annotators()?.into_iter().map(|a| hash(&key, &a.external_id)).collect();
        let kept = |known: String| match there.contains(&known) {
            true => known,
            false => Uuid::now_v7().simple().to_string(),
        };
        Ok(store.set_setting(ORDER, &order.into_iter().map(kept).collect::<Vec<_>>())?)
    }

    /// A person's number, from 1.
    pub fn number(&self, id: AnnotatorId) -> Result<u32, ProjectError> {
        let unknown = || ProjectError::internal(&"somebody has no pseudonym");
        self.numbers.get(&id).copied().ok_or_else(unknown)
    }

    /// Formats a number as a pseudonym.
    pub fn name(number: u32) -> String {
        format!("A{number}")
    }
}

/// Hash of a person's external id, as stored in the setting.
fn hash(key: &str, name: &str) -> String {
    let digest = Sha256::new().chain_update(key).chain_update([0]).chain_update(name).finalize();
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tables: &[Attributes]) -> BTreeSet<(String, String)> {
        shared_values(&tables.iter().collect::<Vec<_>>())
    }

    /// A number of people with each value of one attribute, and a number without one.
    fn people(values: &[(&str, usize)], without: usize) -> Vec<Attributes> {
        let of = |(value, n): &(&str, usize)| {
            vec![Attributes::from([("age".to_owned(), (*value).to_owned())]); *n]
        };
        values.iter().flat_map(of).chain(vec![Attributes::new(); without]).collect()
    }

    fn blanked_values(values: &[(&str, usize)], without: usize) -> Vec<String> {
        let people = people(values, without);
        let people: Vec<&Attributes> = people.iter().collect();
        left_blank(&people, &shared_values(&people))
    }

    #[test]
    fn rare_values_are_blanked() {
        let values =
            |found: BTreeSet<(String, String)>| found.into_iter().map(|(_, v)| v).collect::<Vec<_>>();
        // Only because of rare values, five people have a blank.
        assert_eq!(values(shown(&people(&[("20", 8), ("30", 6), ("70", 2), ("80", 3)], 0))), ["20", "30"]);
        assert_eq!(
            blanked_values(&[("20", 8), ("30", 6), ("70", 2), ("80", 3)], 0),
            ["age: 2 values of 5 people left blank, each of fewer than 5 people; the other 2 values stay"]
        );
        // One person would have a blank: the six are hidden too, the eight stay.
        assert_eq!(values(shown(&people(&[("20", 8), ("30", 6), ("70", 1)], 0))), ["20"]);
        assert_eq!(
            blanked_values(&[("20", 8), ("30", 6), ("70", 1)], 0),
            [
                "age: 1 value of 1 person left blank, each of fewer than 5 people, and \"30\" of 6 people too, so that nobody is among fewer than 5 people with a blank; the other value stays"
            ]
        );
        // A person without an answer has a blank as well.
        assert_eq!(values(shown(&people(&[("20", 8), ("30", 6), ("70", 1)], 4))), ["20", "30"]);
        assert_eq!(
            blanked_values(&[("20", 8), ("30", 6)], 2),
            [
                "age: \"30\" of 6 people left blank, so that nobody is among fewer than 5 people with a blank; the other value stays"
            ]
        );
        assert!(
            blanked_values(&[("20", 8), ("30", 6)], 5).is_empty()
                && blanked_values(&[("20", 8)], 0).is_empty()
        );
    }

    /// In random tables no class of an attribute, including blanks, has one to four people; and a blanked
    /// value is rare, or one of the least frequent of an attribute whose rare values and blanks cover fewer
    /// than five people.
    #[test]
    fn no_class_is_small_and_blanking_is_minimal() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut partly, mut also) = (0, 0);
        for _ in 0..3000 {
            let (n, kinds) = (random(60) + 1, random(8) + 1);
            let tables: Vec<Attributes> = (0..n)
                .map(|_| {
                    let mut of = Attributes::new();
                    for name in ["age", "town"] {
                        let value = if random(25) == 0 { 0 } else { 1 + random(kinds).min(random(kinds)) };
                        if value > 0 {
                            of.insert(name.to_owned(), value.to_string());
                        }
                    }
                    of
                })
                .collect();
            let shown = shown(&tables);
            for name in ["age", "town"] {
                let (mut all, mut classes) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
                for table in &tables {
                    let value = table.get(name).map_or("", String::as_str);
                    *all.entry(value).or_default() += 1;
                    let seen = shown.contains(&(name.to_owned(), value.to_owned()));
                    *classes.entry(if seen { value } else { "" }).or_default() += 1;
                }
                let alone = classes.len() == 1;
                assert!(alone || classes.values().all(|n| *n >= MIN_PEOPLE), "{classes:?} of {all:?}");
                let blank = all.get("").copied().unwrap_or(0)
                    + all
                        .iter()
                        .filter(|(v, n)| !v.is_empty() && **n < MIN_PEOPLE)
                        .map(|(_, n)| n)
                        .sum::<usize>();
                let common: Vec<(usize, &str)> = {
                    let values = all.iter().filter(|(v, n)| !v.is_empty() && **n >= MIN_PEOPLE);
                    let mut values: Vec<_> = values.map(|(v, n)| (*n, *v)).collect();
                    values.sort_unstable();
                    values
                };
                let gone: Vec<_> = common.iter().filter(|(_, v)| !classes.contains_key(v)).collect();
                let expected: Vec<_> =
                    common.iter().take(usize::from((1..MIN_PEOPLE).contains(&blank))).collect();
                assert_eq!(gone, expected, "{all:?}");
                partly += usize::from(blank > 0 && classes.len() > 1);
                also += usize::from(!gone.is_empty() && classes.len() > 1);
            }
        }
        assert!(partly > 500 && also > 100, "{partly} {also}: both cases come up");
    }
}
