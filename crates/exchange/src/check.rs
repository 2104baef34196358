//! The rules that hold between rows, and between a file and what the project already has.

use crate::{Row, RowErrorKind};
use dissensus_domain::{Attributes, Scale, ScaleError};
use foldhash::quality::RandomState;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// Marks, in the lowest bit of a text's body hash, that the text stood in a row of this file.
const SEEN: u64 = 1;

/// What the rows before, and the project, say about the next row. Preview and import use the same rules: seed one
/// `Checker` from the project, clone it for the preview, and give the other to the import.
///
/// It holds 16 bytes a text (64-bit hashes of id and body, keyed anew in every process), 8 or 16 bytes a label, and
/// the annotators with their attributes. Two of a million texts share a hash with a chance of about 3 in 10^8; a row
/// would then be refused that should not be. One checker serves one question.
#[derive(Clone, Debug)]
pub struct Checker {
    scale: Option<Scale>,
    question: Option<String>,
    keys: RandomState,
    texts: HashMap<u64, u64, BuildHasherDefault<AlreadyHashed>>,
    annotators: HashMap<String, Known>,
    labels: HashSet<u64, BuildHasherDefault<AlreadyHashed>>,
    levels: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    seen: bool,
    attributes: Attributes,
}

/// What a good row brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The text is not in the project yet, nor in a row before.
    pub new_text: bool,
    /// No row of this file before was about this text.
    pub first_of_text: bool,
    /// The annotator is not in the project yet, nor in a row before.
    pub new_annotator: bool,
    /// No row of this file before was about this annotator.
    pub first_of_annotator: bool,
    /// The row says something of a known annotator that was not known.
    pub new_attributes: bool,
    /// What becomes of the label.
    pub label: LabelVerdict,
}

/// What becomes of a row's label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelVerdict {
    /// There is none: the row introduces its text and its annotator only.
    None,
    /// To be appended.
    Added {
        /// The name of the level, in the spelling of the scale (or, without one, of [`level_name`]).
        name: String,
        /// Its index on the scale, where there is a scale.
        level: Option<u16>,
    },
    /// The same text, annotator, level (and time, where the row has one) were there before: nothing is appended.
    Repeated {
        /// The name of the level, as in `Added`.
        name: String,
    },
    /// The row answers another question than the checker's; the rest of it was not looked at.
    OtherQuestion,
}

/// Why a row does not fit, and what of it is to blame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) about: About,
    pub(crate) kind: RowErrorKind,
}

/// The part of a row that is to blame; the reader of the file knows its column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum About {
    TextId,
    Text,
    Label,
    Attribute(String),
}

/// A label in its plain spelling: trimmed, and a whole number without a point, so that `3`, `"3"` and `3.0` are one.
pub fn level_name(label: &str) -> &str {
    let label = label.trim();
    match label.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => {
            let digits = whole.strip_prefix('-').unwrap_or(whole);
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) { whole } else { label }
        }
        _ => label,
    }
}

/// The index of `label` on `scale`: by its own spelling, else by its plain one ([`level_name`]).
pub fn level_on(scale: &Scale, label: &str) -> Option<u16> {
    scale.index_of(label).or_else(|| scale.index_of(level_name(label)))
}

impl Checker {
    /// A checker for labels on `scale`; without a scale every label is taken and its levels are collected.
    pub fn new(scale: Option<Scale>) -> Self {
        Self {
            scale,
            question: None,
            keys: RandomState::default(),
            texts: HashMap::default(),
            annotators: HashMap::new(),
            labels: HashSet::default(),
            levels: BTreeMap::new(),
        }
    }

    /// Leaves rows alone that name another question than this one. Rows that name none are taken.
    #[must_use]
    pub fn for_question(mut self, name: impl Into<String>) -> Self {
        self.question = Some(name.into());
        self
    }

    /// A text that the project has.
    pub fn seed_text(&mut self, text_id: &str, body: &str) {
        let (id, body) = (self.hash(text_id), self.hash(body) & !SEEN);
        self.texts.insert(id, body);
    }

    /// An annotator that the project has.
    pub fn seed_annotator(&mut self, annotator: &str, attributes: &Attributes) {
        let known = self.annotators.entry(annotator.to_owned()).or_default();
        known.attributes.extend(attributes.iter().map(|(k, v)| (k.clone(), v.clone())));
    }

    /// A label that the project has on the checker's question; `level` is the name of its level. Seed every one, those
    /// that a later label replaced too: else reading the same file again would append an old label as the newest. Only
    /// a label that was taken back is left out: then the same row brings it back.
    pub fn seed_label(&mut self, text_id: &str, annotator: &str, level: &str, at_ms: i64) {
        self.labels.insert(self.label_key(text_id, annotator, level, None));
        self.labels.insert(self.label_key(text_id, annotator, level, Some(at_ms)));
    }

    /// The levels of the labels taken so far and how many each has. Without a scale, at most
    /// [`Scale::MAX_LEVELS`] + 1 names are collected; labels of further names are taken and not counted here.
    pub fn levels(&self) -> &BTreeMap<String, u64> {
        &self.levels
    }

    /// The scale given, or else the one that the labels so far most likely have.
    ///
    /// # Errors
    /// As [`Scale::guess`].
    pub fn scale(&self) -> Result<Scale, ScaleError> {
        match &self.scale {
            Some(scale) => Ok(scale.clone()),
            None => Scale::guess(self.levels.keys()),
        }
    }

    /// Says what `row` brings and remembers it, or why it does not fit. A row that does not fit leaves no trace.
    ///
    /// # Errors
    /// A text id with another body, a label on an unknown text, another value of an annotator's attribute, or a
    /// label that is not on the scale.
    pub(crate) fn check(&mut self, row: &Row) -> Result<Verdict, Misfit> {
        if let (Some(mine), Some(theirs)) = (&self.question, &row.question)
            && mine != theirs
        {
            return Ok(Verdict {
                new_text: false,
                first_of_text: false,
                new_annotator: false,
                first_of_annotator: false,
                new_attributes: false,
                label: LabelVerdict::OtherQuestion,
            });
        }
        self.check_text(row)?;
        self.check_attributes(row)?;
        let label = self.judge_label(row)?;
        let (new_text, first_of_text) = self.remember_text(row);
        let (new_annotator, first_of_annotator, new_attributes) = self.remember_annotator(row);
        let label = self.remember_label(row, label);
        Ok(Verdict { new_text, first_of_text, new_annotator, first_of_annotator, new_attributes, label })
    }

    fn hash(&self, value: &str) -> u64 {
        self.keys.hash_one(value)
    }

    fn label_key(&self, text_id: &str, annotator: &str, level: &str, at_ms: Option<i64>) -> u64 {
        self.keys.hash_one((text_id, annotator, level, at_ms))
    }

    fn check_text(&self, row: &Row) -> Result<(), Misfit> {
        let Some(text_id) = &row.text_id else { return Ok(()) };
        match (self.texts.get(&self.hash(text_id)), &row.text) {
            (Some(known), Some(body)) if known & !SEEN != self.hash(body) & !SEEN => {
                Err(Misfit { about: About::Text, kind: RowErrorKind::OtherBody { text_id: text_id.clone() } })
            }
            (None, None) => Err(Misfit {
                about: About::TextId,
                kind: RowErrorKind::UnknownText { text_id: text_id.clone() },
            }),
            _ => Ok(()),
        }
    }

    fn check_attributes(&self, row: &Row) -> Result<(), Misfit> {
        let Some((annotator, known)) =
            row.annotator.as_ref().and_then(|a| Some((a, self.annotators.get(a)?)))
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

    /// The level's name and index.
    fn judge_label(&self, row: &Row) -> Result<Option<(String, Option<u16>)>, Misfit> {
        let Some(label) = &row.label else { return Ok(None) };
        let Some(scale) = &self.scale else { return Ok(Some((level_name(label).to_owned(), None))) };
        match level_on(scale, label).and_then(|level| Some((scale.name_of(level)?.to_owned(), Some(level)))) {
            Some(found) => Ok(Some(found)),
            None => {
                let kind = RowErrorKind::UnknownLevel {
                    label: label.clone(),
                    levels: scale.options().into_iter().map(str::to_owned).collect(),
                };
                Err(Misfit { about: About::Label, kind })
            }
        }
    }

    /// Whether the text is new to the project and new in this file.
    fn remember_text(&mut self, row: &Row) -> (bool, bool) {
        let Some(text_id) = &row.text_id else { return (false, false) };
        let body = row.text.as_ref().map_or(0, |body| self.hash(body));
        match self.texts.entry(self.keys.hash_one(text_id.as_str())) {
            Entry::Vacant(entry) => {
                entry.insert(body | SEEN);
                (true, true)
            }
            Entry::Occupied(mut entry) => {
                let first = *entry.get() & SEEN == 0;
                *entry.get_mut() |= SEEN;
                (false, first)
            }
        }
    }

    /// Whether the annotator is new to the project, new in this file, or better known than before.
    fn remember_annotator(&mut self, row: &Row) -> (bool, bool, bool) {
        let Some(annotator) = &row.annotator else { return (false, false, false) };
        if let Some(known) = self.annotators.get_mut(annotator) {
            let before = known.attributes.len();
            for (name, value) in &row.attributes {
                if !known.attributes.contains_key(name) {
                    known.attributes.insert(name.clone(), value.clone());
                }
            }
            let first = !std::mem::replace(&mut known.seen, true);
            return (false, first, known.attributes.len() > before);
        }
        let known = Known { seen: true, attributes: row.attributes.clone() };
        self.annotators.insert(annotator.clone(), known);
        (true, true, false)
    }

    fn remember_label(&mut self, row: &Row, label: Option<(String, Option<u16>)>) -> LabelVerdict {
        let (Some((name, level)), Some(text_id), Some(annotator)) = (label, &row.text_id, &row.annotator)
        else {
            return LabelVerdict::None;
        };
        let at_any_time = self.labels.insert(self.label_key(text_id, annotator, &name, None));
        let new = match row.at_ms {
            None => at_any_time,
            at_ms => self.labels.insert(self.label_key(text_id, annotator, &name, at_ms)),
        };
        if !new {
            return LabelVerdict::Repeated { name };
        }
        let room = self.levels.len() <= Scale::MAX_LEVELS;
        match self.levels.get_mut(&name) {
            Some(count) => *count += 1,
            None if room => drop(self.levels.insert(name.clone(), 1)),
            None => {}
        }
        LabelVerdict::Added { name, level }
    }
}

/// Hands a hash through: the keys are keyed hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only `u64` keys are used, and those come through `write_u64`; this keeps the trait's promise all the same.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
