//! Pseudonyms: A1, A2, ... in an order that tells nothing of anybody, and values of attributes that too few people have.

use crate::context::Context;
use crate::error::WorkbenchError;
use dissensus_domain::{AnnotatorId, Attributes};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use uuid::Uuid;

/// The setting with the secret that puts people in order. Every project has one; it never leaves the file.
const KEY: &str = "pseudonym-key";
/// The setting with who has which number: hashes under that secret.
const ORDER: &str = "pseudonyms";

/// A value of an attribute that fewer people than this have is not shown to others.
pub(crate) const FEWEST: usize = 5;

/// Values of attributes that enough of these people have to be shown to others: attribute and value.
///
/// Where hardly anybody has none of them, not having one says as much as a value would: the whole attribute is left out.
pub(crate) fn shared_values(people: &[&Attributes]) -> BTreeSet<(String, String)> {
    let mut shared: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (name, value) in people.iter().flat_map(|attributes| attributes.iter()) {
        *shared.entry((name, value)).or_default() += 1;
    }
    let common = |name: &str, value: &str| shared.get(&(name, value)).is_some_and(|n| *n >= FEWEST);
    let told =
        |name: &str| people.iter().filter(|all| all.get(name).is_some_and(|v| common(name, v))).count();
    let names: BTreeSet<&str> = shared.keys().map(|(name, _)| *name).collect();
    let hidden: BTreeSet<&str> =
        names.into_iter().filter(|name| (1..FEWEST).contains(&(people.len() - told(name)))).collect();
    let enough = |(name, value): &&(&str, &str)| common(name, value) && !hidden.contains(name);
    shared.keys().filter(enough).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// What others may see of people's attributes.
pub(crate) struct SharedAttributes {
    of: HashMap<AnnotatorId, Attributes>,
    /// Values that are left out.
    pub(crate) suppressed: u64,
    /// People whose attributes, taken together, are those of fewer than [`FEWEST`]; those without any value too, where others have some.
    pub(crate) told_apart: u64,
}

impl SharedAttributes {
    /// Of `people`, nothing of whom is shown elsewhere: values that enough of them have ([`shared_values`]).
    pub(crate) fn of<'a>(people: impl Iterator<Item = (AnnotatorId, &'a Attributes)>) -> Self {
        let people: Vec<(AnnotatorId, &Attributes)> = people.collect();
        let shared = shared_values(&people.iter().map(|(_, attributes)| *attributes).collect::<Vec<_>>());
        let (mut of, mut suppressed) = (HashMap::with_capacity(people.len()), 0);
        let mut alike: BTreeMap<Attributes, u64> = BTreeMap::new();
        for (id, all) in people {
            let mut shown = all.clone();
            shown.retain(|name, value| shared.contains(&(name.clone(), value.clone())));
            suppressed += (all.len() - shown.len()) as u64;
            *alike.entry(shown.clone()).or_default() += 1;
            of.insert(id, shown);
        }
        let few = alike.values().filter(|n| alike.len() > 1 && **n < FEWEST as u64);
        Self { told_apart: few.sum(), of, suppressed }
    }

    /// Attributes of one person; none of somebody who is not among the people.
    pub(crate) fn person(&self, id: AnnotatorId) -> Attributes {
        self.of.get(&id).cloned().unwrap_or_default()
    }
}

/// Who is called what in this copy of the project. A number once given stays, and is nobody else's when somebody goes; numbers of people who
/// are there when numbers are first asked for are in an order by hashes. Copies that were made before that may number otherwise.
pub(crate) struct Pseudonyms {
    numbers: HashMap<AnnotatorId, u32>,
}

impl Pseudonyms {
    /// Those of everybody in the project. Numbers given for the first time are kept, where the project is open to write.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn of(context: &Context) -> Result<Self, WorkbenchError> {
        let store = &context.store;
        let lost = || WorkbenchError::internal(&"the project has no secret for pseudonyms");
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

    /// Forgets which number was whose of people who are gone: it stays taken, and nothing tells any more whose it was.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn forget_gone(context: &Context) -> Result<(), WorkbenchError> {
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

    /// Somebody's number, from 1.
    pub(crate) fn number(&self, id: AnnotatorId) -> Result<u32, WorkbenchError> {
        let unknown = || WorkbenchError::internal(&"somebody has no pseudonym");
        self.numbers.get(&id).copied().ok_or_else(unknown)
    }

    /// How a number is written.
    pub(crate) fn name(number: u32) -> String {
        format!("A{number}")
    }
}

/// Somebody, by their external id, as the setting has them.
fn hash(key: &str, name: &str) -> String {
    let digest = Sha256::new().chain_update(key).chain_update([0]).chain_update(name).finalize();
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
