//! Labels and predictions laid out for resampling, by text and by annotator.

use super::sums::{Confusion, Label, Sums};
use crate::metrics::{Scored, Scores, ordinal};
use std::collections::BTreeMap;

/// All labels; texts and annotators are indexed without gaps, in order of their indices.
pub(super) struct Labels<'a> {
    pub(super) scored: &'a Scored,
    pub(super) ordinal: bool,
    /// Whether levels have an order for correlations.
    pub(super) correlates: bool,
    /// Text and annotator of every label.
    pub(super) text: Vec<u32>,
    pub(super) annotator: Vec<u32>,
    /// Labels against the most likely level, the answer tuned for macro-F1 and the median (ordered levels
    /// only).
    likely: Cells,
    tuned: Cells,
    median: Option<Cells>,
    /// Labels of every text, and of every annotator.
    pub(super) of_text: Vec<Vec<u32>>,
    pub(super) of_annotator: Vec<Vec<u32>>,
}

impl<'a> Labels<'a> {
    /// Lays out `scored`, which must have passed [`Scored::check`].
    pub(super) fn new(scored: &'a Scored, ordinal: bool) -> Self {
        let (text, of_text) = group(scored.observations.iter().map(|o| o.text));
        let (annotator, of_annotator) = group(scored.observations.iter().map(|o| o.annotator));
        let likely = Cells::new(scored, &scored.predicted());
        let tuned = Cells::new(scored, &scored.tuned_or_predicted());
        let median = ordinal.then(|| Cells::new(scored, &ordinal::medians(scored)));
        let correlates = ordinal || scored.levels == 2;
        Self { scored, ordinal, correlates, text, annotator, likely, tuned, median, of_text, of_annotator }
    }

    /// Number of `groups` in which the rarest of the occurring levels appears, among labels or answers: for
    /// the answers tuned for macro-F1, and for the medians (0 where levels have no order).
    pub(super) fn groups_of_rarest_level(&self, groups: &[Vec<u32>]) -> (usize, usize) {
        let of = |cells: &Cells| cells.groups_of_rarest_level(groups);
        (of(&self.tuned), self.median.as_ref().map_or(0, of))
    }

    /// Writes the numbers that are based on confusion matrices, where label `i` has the weight `weight(i)`.
    /// Nothing is written if the total weight is 0.
    pub(super) fn write_confusions(&self, weight: impl Fn(usize) -> f64, scores: &mut Scores) {
        scores.macro_f1 = self.tuned.confusion(&weight).macro_f1(&self.tuned.occurs);
        if let Some(median) = &self.median {
            scores.macro_f1_median = median.confusion(&weight).macro_f1(&median.occurs);
            scores.quadratic_kappa = self.likely.confusion(&weight).quadratic_kappa();
        }
    }

    /// Sums over the labels of each group.
    pub(super) fn totals(&self, groups: &[Vec<u32>]) -> Vec<Sums> {
        let scored = self.scored;
        let medians = ordinal::medians(scored);
        let n = scored.observations.len().max(1) as f64;
        let centre = scored.observations.iter().map(|o| f64::from(o.level)).sum::<f64>() / n;
        let label = |i: usize| {
            let predicted = (self.likely.cell[i] as usize % scored.levels) as u16;
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

/// Labels against one answer to each.
struct Cells {
    levels: usize,
    /// Cell of the confusion matrix of every label.
    cell: Vec<u32>,
    /// Whether each level occurs among labels or answers.
    occurs: Vec<bool>,
}

impl Cells {
    fn new(scored: &Scored, answers: &[u16]) -> Self {
        let levels = scored.levels;
        let mut occurs = vec![false; levels];
        let mut note = |level: u16| occurs[usize::from(level)] = true;
        let cell = scored
            .observations
            .iter()
            .zip(answers)
            .map(|(o, &answer)| {
                note(o.level);
                note(answer);
                u32::from(o.level) * levels as u32 + u32::from(answer)
            })
            .collect();
        Self { levels, cell, occurs }
    }

    fn confusion(&self, weight: impl Fn(usize) -> f64) -> Confusion {
        let mut confusion = Confusion::new(self.levels);
        self.cell.iter().enumerate().for_each(|(i, &cell)| confusion.add(weight(i), cell as usize));
        confusion
    }

    fn groups_of_rarest_level(&self, groups: &[Vec<u32>]) -> usize {
        let levels = self.levels;
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
}

/// Index of the group of every member, without gaps, and the members of every group.
fn group(of: impl Iterator<Item = u32> + Clone) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut found: BTreeMap<u32, u32> = of.clone().map(|g| (g, 0)).collect();
    found.values_mut().enumerate().for_each(|(at, dense)| *dense = at as u32);
    let dense: Vec<u32> = of.map(|g| found[&g]).collect();
    let mut members = vec![Vec::new(); found.len()];
    dense.iter().enumerate().for_each(|(i, &g)| members[g as usize].push(i as u32));
    (dense, members)
}
