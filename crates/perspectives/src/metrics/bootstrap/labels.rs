//! Labels and predictions laid out for resampling, by text and by annotator.

use super::sums::{Label, Sums};
use crate::metrics::{Scored, ordinal};
use std::collections::BTreeMap;

/// Every label; texts and annotators counted without gaps, in order of their indices.
pub(super) struct Labels<'a> {
    pub(super) scored: &'a Scored,
    pub(super) ordinal: bool,
    /// Whether levels have an order to correlate by.
    pub(super) correlates: bool,
    /// Of every label: its text, its annotator and its cell of the confusion matrix.
    pub(super) text: Vec<u32>,
    pub(super) annotator: Vec<u32>,
    pub(super) cell: Vec<u32>,
    /// Whether each level occurs among labels or predictions.
    pub(super) occurs: Vec<bool>,
    /// Labels of every text, and of every annotator.
    pub(super) of_text: Vec<Vec<u32>>,
    pub(super) of_annotator: Vec<Vec<u32>>,
}

impl<'a> Labels<'a> {
    /// `scored` has passed [`Scored::check`].
    pub(super) fn of(scored: &'a Scored, ordinal: bool) -> Self {
        let (text, of_text) = group(scored.observations.iter().map(|o| o.text));
        let (annotator, of_annotator) = group(scored.observations.iter().map(|o| o.annotator));
        let levels = scored.levels as u32;
        let cells = scored.observations.iter().zip(scored.predicted());
        let mut occurs = vec![false; scored.levels];
        let mut note = |level: u16| occurs[usize::from(level)] = true;
        let cell = cells
            .map(|(o, p)| {
                note(o.level);
                note(p);
                u32::from(o.level) * levels + u32::from(p)
            })
            .collect();
        let correlates = ordinal || scored.levels == 2;
        Self { scored, ordinal, correlates, text, annotator, cell, occurs, of_text, of_annotator }
    }

    /// Of the levels that occur, in how many of `groups` the rarest one does, among labels or predictions.
    pub(super) fn groups_of_rarest_level(&self, groups: &[Vec<u32>]) -> usize {
        let levels = self.scored.levels;
        let mut found = vec![0; levels];
        for rows in groups {
            let mut here = vec![false; levels];
            for &i in rows {
                let cell = self.cell[i as usize] as usize;
                here[cell / levels] = true;
                here[cell % levels] = true;
            }
            found.iter_mut().zip(here).for_each(|(f, here)| *f += usize::from(here));
        }
        found.into_iter().zip(&self.occurs).filter(|(_, occurs)| **occurs).map(|(f, _)| f).min().unwrap_or(0)
    }

    /// Sums over the labels of each group.
    pub(super) fn totals(&self, groups: &[Vec<u32>]) -> Vec<Sums> {
        let scored = self.scored;
        let medians = ordinal::medians(scored);
        let n = scored.observations.len().max(1) as f64;
        let centre = scored.observations.iter().map(|o| f64::from(o.level)).sum::<f64>() / n;
        let label = |i: usize| {
            let predicted = (self.cell[i] as usize % scored.levels) as u16;
            let (level, median) = (scored.observations[i].level, medians[i]);
            Sums::of(&Label { level, predicted, median, p: scored.row(i), centre })
        };
        let total = |rows: &Vec<u32>| {
            let mut sums = Sums::NONE;
            rows.iter().for_each(|&i| sums.add(1.0, &label(i as usize)));
            sums
        };
        groups.iter().map(total).collect()
    }
}

/// The group of every member counted without gaps, and the members of every group.
fn group(of: impl Iterator<Item = u32> + Clone) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut found: BTreeMap<u32, u32> = of.clone().map(|g| (g, 0)).collect();
    found.values_mut().enumerate().for_each(|(at, dense)| *dense = at as u32);
    let dense: Vec<u32> = of.map(|g| found[&g]).collect();
    let mut members = vec![Vec::new(); found.len()];
    dense.iter().enumerate().for_each(|(i, &g)| members[g as usize].push(i as u32));
    (dense, members)
}
