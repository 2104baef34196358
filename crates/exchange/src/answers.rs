//! The labels of one question as the project and the rows before have them: what a row adds, and what it only repeats.

use crate::level_name::{level_name, level_on};
use crate::row::Row;
use crate::row_error::RowErrorKind;
use crate::verdict::LabelVerdict;
use dissensus_domain::{Scale, ScaleError};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;

/// No entry.
const NONE: u32 = u32::MAX;
/// Answers beyond those that are counted by name are told apart by a hash from here on.
const HASHED: u32 = 1 << 31;

/// What is known of the answers to one question.
///
/// An annotator's answers to one text are a list in the order in which they were appended. Rows with a time are compared
/// with all of them: the same answer at the same time is a repetition. Rows without one are compared in order: each either
/// stands further down in the project's list, or it and all that follow are new. So a file 3, 4, 3 brings three answers, and
/// none when it is read again.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    scale: Option<Scale>,
    /// Names of answers without a scale, by their number.
    numbers: HashMap<String, u32, foldhash::fast::RandomState>,
    levels: BTreeMap<String, u64>,
    lists: HashMap<u64, List, foldhash::fast::RandomState>,
    entries: Vec<Entry>,
    /// Entries from here on came with the rows of this file.
    seeded: u32,
    /// Answers with their times, of the lists that have several: a long list is not walked for every row.
    several: HashSet<(u64, u32, i64), foldhash::fast::RandomState>,
    pub(crate) rows: u64,
    pub(crate) added: u64,
    pub(crate) repeated: u64,
}

/// One annotator's answers to one text.
#[derive(Clone, Copy, Debug)]
struct List {
    /// Where to look on for the next row without a time; none where all that follow are new.
    next: u32,
    last: u32,
    /// The answer of the row before, as a number; none where no row was about this list.
    said: u32,
    /// That row had no time.
    untimed: bool,
    several: bool,
    /// The latest time of all.
    latest: i64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    answer: u32,
    next: u32,
    at_ms: i64,
}

/// A label that was found to be on the scale.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    name: String,
    level: Option<u16>,
}

impl Answers {
    pub(crate) fn new(scale: Option<Scale>) -> Self {
        Self {
            scale,
            numbers: HashMap::default(),
            levels: BTreeMap::new(),
            lists: HashMap::default(),
            entries: Vec::new(),
            seeded: 0,
            several: HashSet::default(),
            rows: 0,
            added: 0,
            repeated: 0,
        }
    }

    /// An answer that the project has. All of them are seeded before the first row.
    pub(crate) fn seed(&mut self, text: u32, annotator: u32, level: u16, at_ms: i64) {
        let pair = pair(text, annotator);
        self.append(pair, u32::from(level), at_ms);
        self.seeded = self.entries.len() as u32;
    }

    pub(crate) fn set_scale(&mut self, scale: Scale) {
        self.scale = Some(scale);
    }

    pub(crate) fn levels(&self) -> &BTreeMap<String, u64> {
        &self.levels
    }

    /// The scale given, or else the one that the labels so far most likely have.
    pub(crate) fn scale(&self) -> Result<Scale, ScaleError> {
        match &self.scale {
            Some(scale) => Ok(scale.clone()),
            None => Scale::guess(self.levels.keys()),
        }
    }

    /// The level's name and index, where the label is on the scale.
    pub(crate) fn judge(&self, label: &str) -> Result<Judged, RowErrorKind> {
        let Some(scale) = &self.scale else {
            return Ok(Judged { name: level_name(label).to_owned(), level: None });
        };
        let found =
            level_on(scale, label).and_then(|level| Some((scale.name_of(level)?.to_owned(), Some(level))));
        match found {
            Some((name, level)) => Ok(Judged { name, level }),
            None => Err(RowErrorKind::UnknownLevel {
                label: label.to_owned(),
                levels: scale.options().into_iter().map(str::to_owned).collect(),
            }),
        }
    }

    /// What becomes of a label that fits, given by `annotator` to `text`.
    pub(crate) fn remember(
        &mut self,
        text: u32,
        annotator: u32,
        row: &Row,
        judged: Judged,
        now_ms: i64,
    ) -> LabelVerdict {
        let Judged { name, level } = judged;
        let answer = self.number(&name, level);
        let pair = pair(text, annotator);
        let before = self.lists.get(&pair).copied();
        let known = before.is_some_and(|list| match row.at_ms {
            Some(at_ms) => self.has_at(pair, list, answer, at_ms),
            None => list.said == answer || self.found_further_down(pair, list, answer),
        });
        if known {
            self.said(pair, answer, row.at_ms.is_none());
            self.repeated += 1;
            return LabelVerdict::Repeated { name };
        }
        let at_ms = match (row.at_ms, before) {
            (Some(at_ms), _) => at_ms,
            (None, Some(list)) => now_ms.max(list.latest),
            (None, None) => now_ms,
        };
        // Times say which of two answers is the later one; where they cannot, the later row is.
        let follows_row = before.is_some_and(|list| {
            list.said != NONE && row.at_ms.is_some() && (list.untimed || list.latest == at_ms)
        }) || row.at_ms.is_none()
            && before.is_some_and(|list| list.said != NONE && list.untimed);
        self.append(pair, answer, at_ms);
        if let Some(list) = self.lists.get_mut(&pair) {
            list.next = NONE;
        }
        self.said(pair, answer, row.at_ms.is_none());
        self.added += 1;
        let room = self.levels.len() <= Scale::MAX_LEVELS;
        match self.levels.get_mut(&name) {
            Some(count) => *count += 1,
            None if room => drop(self.levels.insert(name.clone(), 1)),
            None => {}
        }
        LabelVerdict::Added { name, level, at_ms, follows_row }
    }

    fn number(&mut self, name: &str, level: Option<u16>) -> u32 {
        if let Some(level) = level {
            return u32::from(level);
        }
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        // A column of free texts read as labels must not fill the memory: it is no scale and will be refused.
        if self.numbers.len() > Scale::MAX_LEVELS {
            return HASHED | (self.numbers.hasher().hash_one(name) as u32 >> 2);
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn has_at(&self, pair: u64, list: List, answer: u32, at_ms: i64) -> bool {
        if list.several {
            return self.several.contains(&(pair, answer, at_ms));
        }
        let entry = self.entries[list.last as usize];
        entry.answer == answer && entry.at_ms == at_ms
    }

    /// Looks for the answer further down in the project's list, and goes on behind it. Each entry is passed once.
    fn found_further_down(&mut self, pair: u64, list: List, answer: u32) -> bool {
        let mut at = list.next;
        while at < self.seeded {
            let entry = self.entries[at as usize];
            if entry.answer == answer {
                if let Some(list) = self.lists.get_mut(&pair) {
                    list.next = entry.next;
                }
                return true;
            }
            at = entry.next;
        }
        false
    }

    fn said(&mut self, pair: u64, answer: u32, untimed: bool) {
        if let Some(list) = self.lists.get_mut(&pair) {
            (list.said, list.untimed) = (answer, untimed);
        }
    }

    fn append(&mut self, pair: u64, answer: u32, at_ms: i64) {
        let new = self.entries.len() as u32;
        self.entries.push(Entry { answer, next: NONE, at_ms });
        let first = List { next: new, last: new, said: NONE, untimed: false, several: false, latest: at_ms };
        let list = match self.lists.entry(pair) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(first);
                return;
            }
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
        };
        let last = self.entries[list.last as usize];
        if !std::mem::replace(&mut list.several, true) {
            self.several.insert((pair, last.answer, last.at_ms));
        }
        self.several.insert((pair, answer, at_ms));
        self.entries[list.last as usize].next = new;
        list.last = new;
        list.latest = list.latest.max(at_ms);
    }
}

fn pair(text: u32, annotator: u32) -> u64 {
    u64::from(text) << 32 | u64::from(annotator)
}
