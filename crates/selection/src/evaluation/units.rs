//! Shares of texts, groups and labels, drawn under a seed: items of a unit are never separated.

use dissensus_stats::data::copies::{Copies, together};
use dissensus_stats::data::{Observation, majority_level};
use dissensus_stats::math::random::generator;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;

/// Computes `round(share x items)`, at least one and at most all but one.
fn share_of(items: usize, share: f64) -> usize {
    ((share * items as f64).round() as usize).clamp(1.min(items), items.saturating_sub(1).max(1))
}

/// Draws a seeded share of the items.
pub(super) fn train_mask(items: usize, share: f64, seed: u64, stream: u64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..items).collect();
    order.shuffle(&mut generator(seed, stream));
    let mut taken = vec![false; items];
    order.iter().take(share_of(items, share)).for_each(|i| taken[*i] = true);
    taken
}

/// Selects units, in seeded order, until the share of the items is reached, but never all of them. A unit
/// that would exceed the share by more than stopping before it falls short is skipped. Where every unit is
/// one item this equals [`train_mask`].
pub(super) fn share_of_units(
    units: Vec<Vec<usize>>,
    items: usize,
    share: f64,
    seed: u64,
    stream: u64,
) -> Vec<bool> {
    let mut order = units;
    order.shuffle(&mut generator(seed, stream));
    let wanted = share_of(items, share);
    let mut trains = vec![false; items];
    let (mut many, mut passed, last) = (0, order.len() < 2, order.len().saturating_sub(1));
    for (nth, unit) in order.iter().enumerate() {
        if many >= wanted {
            break;
        }
        let beyond = (many + unit.len()).saturating_sub(wanted);
        if beyond > wanted - many || (nth == last && !passed) {
            passed = true;
            continue;
        }
        many += unit.len();
        unit.iter().for_each(|item| trains[*item] = true);
    }
    if many == 0 {
        // All of them are large: the smallest is nearest.
        let smallest = order.iter().min_by_key(|unit| unit.len());
        smallest.into_iter().flatten().for_each(|item| trains[*item] = true);
    }
    trains
}

/// The same for groups, with their original rule: the group that reaches the share is included, however
/// large it is.
pub(super) fn share_of_groups(
    units: Vec<Vec<usize>>,
    items: usize,
    share: f64,
    seed: u64,
    stream: u64,
) -> Vec<bool> {
    let mut order = units;
    order.shuffle(&mut generator(seed, stream));
    let wanted = share_of(items, share);
    let mut trains = vec![false; items];
    let (mut many, last) = (0, order.len().saturating_sub(1));
    for unit in order.into_iter().take(last.max(1)) {
        if many >= wanted {
            break;
        }
        many += unit.len();
        unit.into_iter().for_each(|item| trains[item] = true);
    }
    trains
}

/// Shares of the texts within the texts of each majority label; copies count as one, with all their labels.
pub(super) fn stratified(
    sorted: &[Observation],
    copies: &Copies,
    texts: usize,
    levels: usize,
    share: f64,
    seed: u64,
) -> Vec<bool> {
    let mut of_level: Vec<Vec<Vec<usize>>> = vec![Vec::new(); levels];
    for unit in together(sorted.iter().map(|o| copies.first(o.text))) {
        let labels: Vec<Observation> = unit.iter().map(|place| sorted[*place]).collect();
        let mut members: Vec<usize> = labels.iter().map(|o| o.text as usize).collect();
        members.dedup();
        of_level[usize::from(majority_level(&labels, levels))].push(members);
    }
    let mut trains = vec![false; texts];
    for (level, mut members) in of_level.into_iter().enumerate() {
        members.shuffle(&mut generator(seed, 1024 + level as u64));
        // A single text is for training: a level that is only tested cannot be learned.
        let many = share_of(members.len(), share);
        members.iter().take(many).flatten().for_each(|t| trains[*t] = true);
    }
    trains
}

/// Key by which each of these texts is divided: its group, or itself where it has none. Groups that share a
/// body are merged, while they hold a tenth of the texts at most: a very frequent body ("[deleted]") would
/// otherwise merge all groups.
pub(super) fn group_keys(texts: &[u32], groups: &[Option<u32>], copies: &Copies) -> Vec<(bool, u32)> {
    let own = |t: &u32| groups.get(*t as usize).copied().flatten().map_or((false, *t), |group| (true, group));
    let mut key: Vec<(bool, u32)> = texts.iter().map(own).collect();
    let mut members: BTreeMap<(bool, u32), Vec<usize>> = BTreeMap::new();
    key.iter().enumerate().for_each(|(place, key)| members.entry(*key).or_default().push(place));
    let most = texts.len() / 10;
    for copies in together(texts.iter().map(|t| copies.first(*t))) {
        for pair in copies.windows(2) {
            let (a, b) = (key[pair[0]].max(key[pair[1]]), key[pair[0]].min(key[pair[1]]));
            let size = |key: &(bool, u32)| members.get(key).map_or(0, Vec::len);
            // Two copies of a single body are always merged.
            let fits = size(&a) + size(&b) <= most.max(copies.len());
            if a != b && fits {
                let moved = members.remove(&b).unwrap_or_default();
                moved.iter().for_each(|place| key[*place] = a);
                members.entry(a).or_default().extend(moved);
            }
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_unit_is_skipped_if_it_overshoots() {
        // Sixty texts with one body and forty with different ones.
        let units = || {
            let mut units = vec![(0..60).collect::<Vec<usize>>()];
            units.extend((60..100).map(|item| vec![item]));
            units
        };
        for seed in 0..50 {
            let taken = |share| share_of_units(units(), 100, share, seed, 0).iter().filter(|t| **t).count();
            assert_eq!(taken(0.25), 25, "seed {seed}");
            assert!(taken(0.7).abs_diff(70) <= 30, "seed {seed}: {}", taken(0.7));
        }
        // Two halves: one of them is selected, for any share.
        for share in [0.1, 0.5, 0.9] {
            let halves = vec![(0..10).collect(), (10..20).collect()];
            assert_eq!(share_of_units(halves, 20, share, 1, 0).iter().filter(|t| **t).count(), 10);
        }
    }

    #[test]
    fn units_of_one_item_are_drawn_like_items() {
        for (items, seed) in (1..40).flat_map(|items| (0..5).map(move |seed| (items, seed))) {
            let units: Vec<Vec<usize>> = (0..items).map(|item| vec![item]).collect();
            assert_eq!(share_of_units(units, items, 0.7, seed, 6), train_mask(items, 0.7, seed, 6));
        }
    }
}
