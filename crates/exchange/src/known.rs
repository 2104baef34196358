//! The texts and annotators of the project and of earlier rows: one set for a whole file, whatever questions
//! its rows answer.

use crate::level_name::level_name;
use crate::misfit::{About, Misfit};
use crate::row::{Row, is_made_id};
use crate::row_error::RowErrorKind;
use dissensus_domain::{Attributes, composed};
use foldhash::quality::RandomState;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// Marks, in the lowest bit of a text's body hash, that the text occurred in a row of this file.
const SEEN: u64 = 1;

/// Texts and annotators. Each has a number, from 0 in the order in which it was added.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownItems {
    keys: RandomState,
    texts: HashMap<u64, KnownText, BuildHasherDefault<AlreadyHashed>>,
    /// The ids of the project's texts by their bodies, for a file without ids; `None` if several have the
    /// same body.
    ids: HashMap<u64, Option<String>, BuildHasherDefault<AlreadyHashed>>,
    /// The bodies of the project's texts whose ids were made from them.
    made_ids: HashSet<u64, BuildHasherDefault<AlreadyHashed>>,
    /// The file has no ids of texts.
    by_body: bool,
    annotators: HashMap<String, KnownAnnotator, foldhash::fast::RandomState>,
    /// Ids of annotators whose characters change once accents are composed, by the composed form.
    composed: HashMap<String, String, foldhash::fast::RandomState>,
}

/// A known text; id and body are represented by 64-bit hashes.
#[derive(Clone, Copy, Debug)]
struct KnownText {
    body: u64,
    /// Hash of split, group and metadata in the first row of this file about it; 0 before.
    metadata: u64,
    number: u32,
    characters: u32,
}

#[derive(Clone, Debug)]
struct KnownAnnotator {
    number: u32,
    seen: bool,
    attributes: Attributes,
}

/// How a row relates to a text or an annotator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) number: u32,
    /// Neither in the project nor in a row before.
    pub(crate) new: bool,
    /// No row of this file before was about it.
    pub(crate) first: bool,
    /// The row adds an attribute to an existing annotator.
    pub(crate) new_attributes: bool,
    /// The row has other metadata of a text than the first row about it.
    pub(crate) other_metadata: bool,
    /// The text is new, and the project has its body under other ids, or under one made from the body.
    pub(crate) same_body: bool,
    /// Number of attributes for which the project retains its own, different value; in the first row of each
    /// annotator.
    pub(crate) kept_attributes: u32,
}

impl KnownItems {
    pub(crate) fn seed_text(&mut self, text_id: &str, body: &str) -> u32 {
        let (id, characters) = (self.hash(text_id), body.chars().count() as u32);
        let made = is_made_id(text_id, body);
        let (body, number) = (self.hash(body) & !SEEN, self.texts.len() as u32);
        if self.by_body {
            let only = self.ids.entry(body).or_insert_with(|| Some(text_id.to_owned()));
            if only.as_deref() != Some(text_id) {
                *only = None;
            }
        }
        if made {
            self.made_ids.insert(body);
        }
        self.texts.entry(id).or_insert(KnownText { body, metadata: 0, number, characters }).number
    }

    pub(crate) fn seed_annotator(&mut self, annotator: &str, attributes: &Attributes) -> u32 {
        let number = self.annotators.len() as u32;
        let unknown = || KnownAnnotator { number, seen: false, attributes: Attributes::new() };
        let typed = composed(annotator);
        if typed != annotator {
            self.composed.entry(typed).or_insert_with(|| annotator.to_owned());
        }
        let known = self.annotators.entry(annotator.to_owned()).or_insert_with(unknown);
        known.attributes.extend(attributes.iter().map(|(k, v)| (k.clone(), v.clone())));
        known.number
    }

    fn hash(&self, value: &str) -> u64 {
        self.keys.hash_one(value)
    }

    /// Finds texts of the project by their bodies, because the file has no ids. Before any text is seeded.
    pub(crate) fn find_by_body(&mut self) {
        self.by_body = true;
    }

    /// Returns the id of the only text of the project with the body of a row, if that is not the id made from
    /// the body. Bodies are compared character by character, as everywhere in imports.
    pub(crate) fn id_by_body(&self, row: &Row) -> Option<&String> {
        let (id, body) = (row.text_id.as_ref()?, row.text.as_ref()?);
        match self.texts.contains_key(&self.hash(id)) {
            true => None,
            false => self.ids.get(&(self.hash(body) & !SEEN))?.as_ref(),
        }
    }

    pub(crate) fn check_text(&self, row: &Row) -> Result<(), Misfit> {
        let Some(text_id) = &row.text_id else { return Ok(()) };
        match (self.texts.get(&self.hash(text_id)), &row.text) {
            (Some(known), Some(body)) if known.body & !SEEN != self.hash(body) & !SEEN => {
                Err(Misfit { about: About::Text, kind: RowErrorKind::OtherBody { text_id: text_id.clone() } })
            }
            (None, None) => Err(Misfit {
                about: About::TextId,
                kind: RowErrorKind::UnknownText { text_id: text_id.clone(), near: self.same_number(text_id) },
            }),
            _ => Ok(()),
        }
    }

    /// Returns the id of a text that is the same number as this one, in another spelling: `7`, `7.0`, `007`.
    fn same_number(&self, text_id: &str) -> Option<String> {
        let whole = level_name(text_id);
        let digits = whole.trim_start_matches('0');
        let spellings = [whole.to_owned(), digits.to_owned(), format!("{whole}.0")];
        let other = |spelling: &String| spelling != text_id && !spelling.is_empty();
        let is_number = !whole.is_empty() && whole.bytes().all(|b| b.is_ascii_digit());
        spellings
            .into_iter()
            .filter(|_| is_number)
            .filter(other)
            .find(|id| self.texts.contains_key(&self.hash(id)))
    }

    /// Checks that spans which end at `end` are within the text of a row.
    pub(crate) fn check_end(&self, row: &Row, end: u32) -> Result<(), Misfit> {
        let characters = match (&row.text, &row.text_id) {
            (Some(body), _) => body.chars().count() as u32,
            (None, Some(id)) => self.texts.get(&self.hash(id)).map_or(0, |known| known.characters),
            (None, None) => return Ok(()),
        };
        match end > characters {
            true => Err(Misfit { about: About::Label, kind: RowErrorKind::SpanOutside { end, characters } }),
            false => Ok(()),
        }
    }

    pub(crate) fn check_attributes(&self, row: &Row) -> Result<(), Misfit> {
        let Some((annotator, known)) =
            row.annotator.as_ref().filter(|_| !row.settled).and_then(|a| Some((a, self.annotators.get(a)?)))
        else {
            return Ok(());
        };
        for (name, now) in &row.attributes {
            if let Some(before) = known.attributes.get(name).filter(|before| *before != now) {
                let (annotator, before, now) = (annotator.clone(), before.clone(), now.clone());
                let kind = RowErrorKind::OtherAttribute { annotator, before, now };
                return Err(Misfit { about: About::Attribute(name.clone()), kind });
            }
        }
        Ok(())
    }

    /// Remembers the text of a row that was found to fit.
    pub(crate) fn remember_text(&mut self, row: &Row) -> Option<Mention> {
        let key = self.hash(row.text_id.as_ref()?);
        let body = row.text.as_ref().map_or(0, |body| self.hash(body));
        let number = self.texts.len() as u32;
        let metadata = match row.metadata.is_empty() && row.split.is_none() && row.group.is_none() {
            true => 1,
            false => self.keys.hash_one((&row.split, &row.group, &row.metadata)) | 1,
        };
        let same_body = match self.by_body {
            true => self.ids.contains_key(&(body & !SEEN)),
            false => self.made_ids.contains(&(body & !SEEN)),
        };
        Some(match self.texts.entry(key) {
            Entry::Vacant(entry) => {
                let characters = row.text.as_ref().map_or(0, |body| body.chars().count() as u32);
                entry.insert(KnownText { body: body | SEEN, metadata, number, characters });
                Mention { number, new: true, first: true, same_body, ..Mention::default() }
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                let first = known.body & SEEN == 0;
                known.body |= SEEN;
                if known.metadata == 0 {
                    known.metadata = metadata;
                }
                // A row without a body has no metadata of its text.
                let other_metadata = row.text.is_some() && known.metadata != metadata;
                Mention { number: known.number, first, other_metadata, ..Mention::default() }
            }
        })
    }

    /// Remembers the annotator of a row that was found to fit.
    pub(crate) fn remember_annotator(&mut self, row: &Row) -> Option<Mention> {
        let annotator = self.spelt(row.annotator.as_ref()?);
        if let Some(known) = self.annotators.get_mut(&annotator) {
            let before = known.attributes.len();
            for (name, value) in &row.attributes {
                if !known.attributes.contains_key(name) {
                    known.attributes.insert(name.clone(), value.clone());
                }
            }
            let first = !std::mem::replace(&mut known.seen, true);
            let differs = |(name, value): &(&String, &String)| {
                known.attributes.get(*name).is_some_and(|kept| kept != *value)
            };
            // Without a rule such a row is bad.
            let kept_attributes = match first && row.settled {
                true => row.attributes.iter().filter(differs).count() as u32,
                false => 0,
            };
            let new_attributes = known.attributes.len() > before;
            let number = known.number;
            return Some(Mention { number, first, new_attributes, kept_attributes, ..Mention::default() });
        }
        let number = self.annotators.len() as u32;
        let known = KnownAnnotator { number, seen: true, attributes: row.attributes.clone() };
        self.annotators.insert(annotator, known);
        Some(Mention { number, new: true, first: true, ..Mention::default() })
    }

    /// Returns the known spelling of an annotator's id, however its accents were typed: unchanged if known,
    /// else composed.
    fn spelt(&self, annotator: &str) -> String {
        if annotator.is_ascii() || self.annotators.contains_key(annotator) {
            return annotator.to_owned();
        }
        let typed = composed(annotator);
        match self.annotators.contains_key(&typed) {
            true => typed,
            false => self.composed.get(&typed).cloned().unwrap_or(typed),
        }
    }

    /// The ids of annotators by their numbers.
    pub(crate) fn annotator_numbers(&self) -> impl Iterator<Item = (u32, &String)> {
        self.annotators.iter().map(|(name, known)| (known.number, name))
    }

    pub(crate) fn annotators(&self) -> usize {
        self.annotators.len()
    }

    /// Splits the annotators, in the order in which they were added, at `number`.
    pub(crate) fn annotators_split_at(&self, number: usize) -> (Vec<String>, Vec<String>) {
        let mut found: Vec<(u32, &String)> =
            self.annotators.iter().map(|(name, known)| (known.number, name)).collect();
        found.sort_unstable();
        let mut known: Vec<String> = found.into_iter().map(|(_, name)| name.clone()).collect();
        let new = known.split_off(number.min(known.len()));
        (known, new)
    }
}

/// Passes a hash through: the keys are already keyed hashes.
#[derive(Clone, Copy, Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only `u64` keys are used, and those are passed to `write_u64`; this fulfils the contract of the
        // trait all the same.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
