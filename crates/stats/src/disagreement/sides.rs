//! Comparison of two groups of people by their labels: mean difference over all texts, and agreement.

use super::crossed_jackknife::SideLabel;
use super::mean_gap::{MeanGap, mean_gap};
use super::side_agreement::{SideAgreement, side_agreement};
use crate::data::progress::Progress;
use crate::data::{ModelError, Observation, Target};
use std::collections::{BTreeMap, HashMap};

/// Comparison of the labels of two sides over all texts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SidesCompared {
    /// Number of people of either side with labels.
    pub people: [usize; 2],
    /// Number of labels of either side.
    pub labels: [usize; 2],
    /// Number of texts with labels of both sides.
    pub shared_texts: usize,
    /// Number of people of either side with labels on these texts.
    pub people_on_shared: [usize; 2],
    /// How much higher side 1 answers; `None` without an order of the levels or with too little data
    /// ([`SidesCompared::MIN_PEOPLE`], [`SidesCompared::MIN_TEXTS`]).
    pub gap: Option<MeanGap>,
    /// Their agreement; `None` with too little data.
    pub agreement: Option<SideAgreement>,
}

impl SidesCompared {
    /// Minimum number of people of a side for results about people like them.
    pub const MIN_PEOPLE: usize = 5;
    /// Minimum number of texts with labels of both sides for results about other texts.
    pub const MIN_TEXTS: usize = 10;

    /// Compares the people in `sides` (indices of annotators, each on one side at most), on `texts` texts in
    /// total. Only labels are used, no predictions.
    ///
    /// # Errors
    /// [`ModelError::Cancelled`].
    pub fn new(
        observations: &[Observation],
        texts: usize,
        sides: [&[u32]; 2],
        target: Target,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        let all = labels_of_sides(observations, sides);
        let shared: Vec<Vec<SideLabel>> = all.iter().filter(has_both).cloned().collect();
        let mut found = Self {
            people: people(&all),
            labels: [0, 1].map(|side| all.iter().flatten().filter(|label| label.side == side).count()),
            shared_texts: shared.len(),
            people_on_shared: people(&shared),
            ..Self::default()
        };
        if found.is_enough() {
            let unseen = unseen(shared.len(), texts);
            found.gap = if target.kind.is_ordered() { mean_gap(shared, unseen, progress)? } else { None };
            let ordinal = target.kind.has_distances();
            found.agreement = Some(side_agreement(&all, target.levels, ordinal, progress)?);
        }
        Ok(found)
    }

    /// Whether enough people labelled enough shared texts.
    pub fn is_enough(&self) -> bool {
        self.people_on_shared.iter().all(|people| *people >= Self::MIN_PEOPLE)
            && self.shared_texts >= Self::MIN_TEXTS
    }
}

/// How much higher side 1 answers than side 0: the gap of [`SidesCompared::new`] without its more expensive
/// parts; `None` with too little data.
///
/// # Errors
/// [`ModelError::Cancelled`].
pub fn gap_of_sides(
    observations: &[Observation],
    texts: usize,
    sides: [&[u32]; 2],
    progress: &dyn Progress,
) -> Result<Option<MeanGap>, ModelError> {
    let mut shared = labels_of_sides(observations, sides);
    shared.retain(|labels| has_both(&labels));
    let found = SidesCompared {
        shared_texts: shared.len(),
        people_on_shared: people(&shared),
        ..SidesCompared::default()
    };
    let unseen = unseen(shared.len(), texts);
    if found.is_enough() { mean_gap(shared, unseen, progress) } else { Ok(None) }
}

/// The labels of people of either side, text by text.
fn labels_of_sides(observations: &[Observation], sides: [&[u32]; 2]) -> Vec<Vec<SideLabel>> {
    let side_of: HashMap<u32, (u8, u32)> = (0u8..)
        .zip(sides)
        .flat_map(|(side, people)| people.iter().map(move |person| (*person, side)))
        .zip(0u32..)
        .map(|((person, side), at)| (person, (side, at)))
        .collect();
    let mut by_text: BTreeMap<u32, Vec<SideLabel>> = BTreeMap::new();
    for o in observations {
        if let Some(&(side, person)) = side_of.get(&o.annotator) {
            let label = SideLabel { person, side, level: o.level, weight: 1.0 };
            by_text.entry(o.text).or_default().push(label);
        }
    }
    by_text.into_values().collect()
}

/// Whether both sides labelled a text.
fn has_both(labels: &&Vec<SideLabel>) -> bool {
    [0, 1].iter().all(|side| labels.iter().any(|label| label.side == *side))
}

/// The share of all texts without labels of both sides.
fn unseen(shared: usize, texts: usize) -> f64 {
    1.0 - shared as f64 / texts.max(shared).max(1) as f64
}

fn people(texts: &[Vec<SideLabel>]) -> [usize; 2] {
    [0, 1].map(|side| {
        let mut people: Vec<u32> =
            texts.iter().flatten().filter(|label| label.side == side).map(|label| label.person).collect();
        people.sort_unstable();
        people.dedup();
        people.len()
    })
}
