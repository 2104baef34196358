//! How the labels of a file change existing labels: which of them replace another label, and which do not
//! count.

use std::collections::{BTreeMap, HashMap};

/// Maximum number of examples stored for each kind of change.
pub const MAX_POSITIONS: usize = 20;
/// How many examples of a kind that a later row can revoke are stored.
const WATCHED_POSITIONS: usize = 1_000;

/// How a label relates to another one of the same annotator, text and question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Two rows have different labels: the later time counts, else the later row.
    ReplacedInFile,
    /// The file makes another label current than before; the replaced label was given in the window or by the
    /// command.
    ReplacedGiven,
    /// The same for a label that was imported or simulated.
    ReplacedImported,
    /// The current label of the project is a different one with a later time, and stays current.
    Older,
    /// The current label is given once more, at another time.
    GivenAgain,
    /// A row repeats a label of the project that another label has since replaced; that one stays current,
    /// and no row of the file repeats it.
    Outdated,
    /// A re-annotation is already a label of the project.
    RepeatIsLabel,
    /// Neither the file nor the project has an answer of this annotator to this text that a re-annotation
    /// could be compared with: counted once for both.
    NoFirstAnswer,
}

/// An example of a label that changes another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The row, from 1.
    pub row: u64,
    pub annotator: String,
    pub text_id: String,
    /// The label that counts.
    pub counts: String,
    /// The label that does not count; the same label for [`ChangeKind::GivenAgain`].
    pub instead_of: String,
}

/// Counts of changes, with the first examples of each kind.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    counts: BTreeMap<ChangeKind, u64>,
    places: BTreeMap<ChangeKind, Vec<Change>>,
    /// Examples that a later row can revoke, by the checker's number of annotator and text.
    watched: BTreeMap<ChangeKind, HashMap<u64, Change, foldhash::fast::RandomState>>,
}

impl Changes {
    /// Returns the number of labels of the file ([`ChangeKind::ReplacedGiven`],
    /// [`ChangeKind::ReplacedImported`]: labels of the project; [`ChangeKind::Outdated`]: rows) with this
    /// kind of change.
    pub fn count(&self, kind: ChangeKind) -> u64 {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// Returns the first examples, at most [`MAX_POSITIONS`], by row. For replaced labels of the project the
    /// row is the one that counts; for outdated rows there is only the first of each annotator and text. If
    /// there are very many, some of the first may be missing.
    pub fn first(&self, kind: ChangeKind) -> Vec<Change> {
        let watched = self.watched.get(&kind).into_iter().flat_map(HashMap::values);
        let mut places: Vec<Change> =
            self.places.get(&kind).into_iter().flatten().chain(watched).cloned().collect();
        places.sort_by_key(|place| place.row);
        places.truncate(MAX_POSITIONS);
        places
    }

    /// Counts a label of the file; `place` is called only if the example is stored.
    pub(crate) fn add(&mut self, kind: ChangeKind, place: impl FnOnce() -> Change) {
        *self.counts.entry(kind).or_default() += 1;
        let places = self.places.entry(kind).or_default();
        if places.len() < MAX_POSITIONS {
            places.push(place());
        }
    }

    /// Replaces the count for the project's label of one annotator and text: it was counted as `was`, and
    /// counts as `told` now. Its example stays while the kind does not change; with `elsewhere` it is
    /// replaced anyway.
    pub(crate) fn of_pair(
        &mut self,
        pair: u64,
        was: Option<(ChangeKind, u32)>,
        reported: Option<(ChangeKind, u32)>,
        elsewhere: bool,
        place: impl FnOnce() -> Change,
    ) {
        if let Some((kind, counted)) = was {
            *self.counts.entry(kind).or_default() -= u64::from(counted);
            if elsewhere || reported.is_none_or(|(now, _)| now != kind) {
                self.watched.entry(kind).or_default().remove(&pair);
            }
        }
        if let Some((kind, counted)) = reported {
            *self.counts.entry(kind).or_default() += u64::from(counted);
            let new = elsewhere || was.is_none_or(|(before, _)| before != kind);
            let watched = self.watched.entry(kind).or_default();
            if new && watched.len() < WATCHED_POSITIONS {
                watched.insert(pair, place());
            }
        }
    }
}
