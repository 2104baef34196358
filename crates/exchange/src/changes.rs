//! What the labels of a file change beyond adding to what is there: which of them replace another label, and which do not
//! count.

use std::collections::{BTreeMap, HashMap};

/// How many places of each kind are kept.
pub const KEPT_PLACES: usize = 20;
/// How many places are watched of rows that may turn out to be outdated: a later row can confirm the current label.
const WATCHED_PLACES: usize = 1_000;

/// How a label stands to another one of the same annotator, text and question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Two rows give different labels: the later time counts, else the later row.
    ReplacedInFile,
    /// A different label of the project is replaced that was given in the window or by the command.
    ReplacedGiven,
    /// A different label of the project is replaced that was imported or simulated.
    ReplacedImported,
    /// The current label of the project is a different one with a later time, and stays current.
    Older,
    /// The current label is given once more, at another time.
    GivenAgain,
    /// The file says what the project has and what another label has replaced there since; that one stays current. Rows
    /// of files that also say the current label are not counted.
    Outdated,
}

/// Where a label stands to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The row, from 1.
    pub row: u64,
    /// The id of the annotator.
    pub annotator: String,
    /// The id of the text.
    pub text_id: String,
    /// The label that counts.
    pub counts: String,
    /// The label that does not. The same where it is given again.
    pub instead_of: String,
}

/// What labels change, with the first places of each kind.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    found: BTreeMap<ChangeKind, (u64, Vec<Change>)>,
    /// Of the annotators and texts that are outdated so far, by the checker's number of the pair.
    outdated: u64,
    watched: HashMap<u64, Change, foldhash::fast::RandomState>,
}

impl Changes {
    /// How many labels (of [`ChangeKind::Outdated`]: annotators' labels of a text) there are of a kind.
    pub fn count(&self, kind: ChangeKind) -> u64 {
        match kind {
            ChangeKind::Outdated => self.outdated,
            kind => self.found.get(&kind).map_or(0, |(count, _)| *count),
        }
    }

    /// The first of them, at most [`KEPT_PLACES`], by row. Of very many outdated ones some of the first may be missing.
    pub fn first(&self, kind: ChangeKind) -> Vec<Change> {
        let mut places = match kind {
            ChangeKind::Outdated => self.watched.values().cloned().collect(),
            kind => self.found.get(&kind).map_or_else(Vec::new, |(_, places)| places.clone()),
        };
        places.sort_by_key(|place| place.row);
        places.truncate(KEPT_PLACES);
        places
    }

    /// Counts a label; its place is made only where it is kept.
    pub(crate) fn add(&mut self, kind: ChangeKind, place: impl FnOnce() -> Change) {
        let (count, places) = self.found.entry(kind).or_default();
        *count += 1;
        if places.len() < KEPT_PLACES {
            places.push(place());
        }
    }

    /// The rows so far say of `pair` only what is no longer current; `new` where they did not before.
    pub(crate) fn outdated(&mut self, pair: u64, new: bool, place: impl FnOnce() -> Change) {
        self.outdated += u64::from(new);
        if self.watched.len() < WATCHED_PLACES || self.watched.contains_key(&pair) {
            self.watched.insert(pair, place());
        }
    }

    /// A row says of `pair` what is current, or makes it so.
    pub(crate) fn not_outdated(&mut self, pair: u64) {
        self.outdated -= 1;
        self.watched.remove(&pair);
    }
}
