//! The most frequent level: of a text's labels, and as a baseline of each annotator's.

use super::Observation;

/// The most frequent level of one text; the lowest in case of ties.
pub fn majority_level(group: &[Observation], levels: usize) -> u16 {
    let mut counts = vec![0usize; levels];
    for o in group {
        counts[usize::from(o.level)] += 1;
    }
    most_frequent(&counts)
}

/// Predicts each annotator's most frequent training level, regardless of the text (scikit-learn's
/// `DummyClassifier` with `strategy="most_frequent"`, one for each annotator; for annotators without a
/// training label that of all labels). Ties are resolved to the lowest level. The baseline of every figure
/// about an annotator: it uses only training labels.
pub struct MostFrequentLevel {
    of_annotator: Vec<Option<u16>>,
    overall: u16,
}

impl MostFrequentLevel {
    /// Fits to training labels, whose levels are below `levels`.
    pub fn fit(train: &[Observation], levels: usize) -> Self {
        let (of_annotator, overall) =
            own_levels(train, levels, |own| own.iter().any(|n| *n > 0).then(|| most_frequent(own)));
        Self { of_annotator, overall }
    }

    pub fn predict(&self, annotator: u32) -> u16 {
        self.of_annotator.get(annotator as usize).copied().flatten().unwrap_or(self.overall)
    }
}

/// Predicts the (lower) median of each annotator's training levels, regardless of the text; for annotators
/// without a training label that of all labels. The baseline of distances, which it minimises among constant
/// predictions.
pub struct MedianLevel {
    of_annotator: Vec<Option<u16>>,
    overall: u16,
}

impl MedianLevel {
    /// Fits to training labels, whose levels are below `levels`.
    pub fn fit(train: &[Observation], levels: usize) -> Self {
        let (of_annotator, overall) = own_levels(train, levels, median);
        Self { of_annotator, overall }
    }

    pub fn predict(&self, annotator: u32) -> u16 {
        self.of_annotator.get(annotator as usize).copied().flatten().unwrap_or(self.overall)
    }
}

/// The level that `of` selects from each annotator's labels, counted by level, and from all of them; the
/// lowest level where there are none.
fn own_levels(
    train: &[Observation],
    levels: usize,
    of: impl Fn(&[usize]) -> Option<u16>,
) -> (Vec<Option<u16>>, u16) {
    let annotators = train.iter().map(|o| o.annotator as usize + 1).max().unwrap_or(0);
    let mut counts = vec![0usize; annotators * levels];
    let mut overall = vec![0usize; levels];
    for o in train {
        counts[o.annotator as usize * levels + usize::from(o.level)] += 1;
        overall[usize::from(o.level)] += 1;
    }
    (counts.chunks_exact(levels.max(1)).map(&of).collect(), of(&overall).unwrap_or(0))
}

/// The lowest level that at least half of the labels do not exceed; `None` without labels.
fn median(counts: &[usize]) -> Option<u16> {
    let all: usize = counts.iter().sum();
    let mut below = 0;
    let reaches = |n: &usize| {
        below += n;
        2 * below >= all
    };
    let at = counts.iter().position(reaches)?;
    (all > 0).then_some(at as u16)
}

/// Position of the largest count, the first in case of ties.
fn most_frequent(counts: &[usize]) -> u16 {
    let top = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|&c| c == top).unwrap_or(0) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_by_annotator() {
        let o = |annotator, level| Observation { text: 0, annotator, level };
        let found = MedianLevel::fit(&[o(0, 4), o(0, 0), o(0, 3), o(2, 1), o(2, 2)], 5);
        assert_eq!([0, 1, 2, u32::MAX].map(|a| found.predict(a)), [3, 2, 1, 2]);
        assert_eq!(MedianLevel::fit(&[], 5).predict(0), 0);
    }

    #[test]
    fn ties_go_to_the_lowest_level() {
        let group = |levels: &[u16]| -> Vec<Observation> {
            levels
                .iter()
                .enumerate()
                .map(|(a, &level)| Observation { text: 0, annotator: a as u32, level })
                .collect()
        };
        assert_eq!(majority_level(&group(&[2, 1, 2]), 3), 2);
        assert_eq!(majority_level(&group(&[2, 1]), 3), 1);
    }

    #[test]
    fn baseline_is_the_most_frequent_training_level() {
        let o = |text, annotator, level| Observation { text, annotator, level };
        let train = [o(0, 0, 2), o(1, 0, 2), o(2, 0, 1), o(0, 2, 1), o(1, 2, 0), o(2, 2, 2)];
        let baseline = MostFrequentLevel::fit(&train, 3);
        // Annotator 1 has no training label, 2 one of each level, and 7 is not among them at all.
        assert_eq!([0, 1, 2, 7].map(|a| baseline.predict(a)), [2, 2, 0, 2]);
        assert_eq!(MostFrequentLevel::fit(&[], 3).predict(0), 0);
    }
}
