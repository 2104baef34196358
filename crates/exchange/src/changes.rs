//! What the labels of a file change beyond adding to what is there: which of them replace another label, and which do not
//! count.

use std::collections::{BTreeMap, HashMap};

/// How many places of each kind are kept.
pub const KEPT_PLACES: usize = 20;
/// How many places of a kind are watched that a later row can take back.
const WATCHED_PLACES: usize = 1_000;

/// How a label stands to another one of the same annotator, text and question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Two rows give different labels: the later time counts, else the later row.
    ReplacedInFile,
    /// After the last row another label is current than before the first one; the old one was given in the window or by the
    /// command.
    ReplacedGiven,
    /// The same of a label that was imported or simulated.
    ReplacedImported,
    /// The current label of the project is a different one with a later time, and stays current.
    Older,
    /// The current label is given once more, at another time.
    GivenAgain,
    /// A row says what the project has and what another label has replaced there since; that one stays current, and no row
    /// of the file says it.
    Outdated,
    /// An answer of a later occasion is a label of the project already.
    RepeatIsLabel,
    /// Neither the file nor the project has an answer of this annotator to this text that an answer of a later occasion could
    /// be compared with: counted once for both.
    NoFirstAnswer,
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
    counts: BTreeMap<ChangeKind, u64>,
    places: BTreeMap<ChangeKind, Vec<Change>>,
    /// Places that a later row can take back, by the checker's number of annotator and text.
    watched: BTreeMap<ChangeKind, HashMap<u64, Change, foldhash::fast::RandomState>>,
}

impl Changes {
    /// How many labels of the file ([`ChangeKind::ReplacedGiven`], [`ChangeKind::ReplacedImported`]: labels of the project;
    /// [`ChangeKind::Outdated`]: rows) there are of a kind.
    pub fn count(&self, kind: ChangeKind) -> u64 {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// The first of them, at most [`KEPT_PLACES`], by row. Of labels of the project that are replaced the row is the one that counts;
    /// of outdated rows only the first of an annotator and text is there. Of very many, some of the first may be missing.
    pub fn first(&self, kind: ChangeKind) -> Vec<Change> {
        let watched = self.watched.get(&kind).into_iter().flat_map(HashMap::values);
        let mut places: Vec<Change> =
            self.places.get(&kind).into_iter().flatten().chain(watched).cloned().collect();
        places.sort_by_key(|place| place.row);
        places.truncate(KEPT_PLACES);
        places
    }

    /// Counts a label of the file; its place is made only where it is kept.
    pub(crate) fn add(&mut self, kind: ChangeKind, place: impl FnOnce() -> Change) {
        *self.counts.entry(kind).or_default() += 1;
        let places = self.places.entry(kind).or_default();
        if places.len() < KEPT_PLACES {
            places.push(place());
        }
    }

    /// What the rows so far do to the label of the project of one annotator and text was counted as `was`, and is `told` now. The first
    /// place is kept, unless it is told anew or `elsewhere`.
    pub(crate) fn of_pair(
        &mut self,
        pair: u64,
        was: Option<(ChangeKind, u32)>,
        told: Option<(ChangeKind, u32)>,
        elsewhere: bool,
        place: impl FnOnce() -> Change,
    ) {
        if let Some((kind, counted)) = was {
            *self.counts.entry(kind).or_default() -= u64::from(counted);
            if elsewhere || told.is_none_or(|(now, _)| now != kind) {
                self.watched.entry(kind).or_default().remove(&pair);
            }
        }
        if let Some((kind, counted)) = told {
            *self.counts.entry(kind).or_default() += u64::from(counted);
            let new = elsewhere || was.is_none_or(|(before, _)| before != kind);
            let watched = self.watched.entry(kind).or_default();
            if new && watched.len() < WATCHED_PLACES {
                watched.insert(pair, place());
            }
        }
    }
}
