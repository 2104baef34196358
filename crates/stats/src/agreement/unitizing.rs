//! Krippendorff's unitizing alpha: agreement on the boundaries of marked passages.

use crate::data::ModelError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Half-open passages of a text.
type Passages = Vec<(u32, u32)>;

/// The passages of one type that one annotator marked in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedUnits {
    /// Index of the text.
    pub text: u32,
    /// Length of the text in characters; the same in all answers to it.
    pub length: u32,
    /// Half-open passages in any order; an empty list is an answer, too. Overlapping passages are one,
    /// adjacent ones are two.
    pub units: Vec<(u32, u32)>,
}

/// Agreement on the positions of passages, of one type or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unitizing {
    /// 1 less observed over expected disagreement; absent where nothing was marked in texts with two answers
    /// or more.
    pub alpha: Option<f64>,
    /// Squared differences of every two answers to a text, averaged over pairs, times the answers, summed
    /// over texts.
    pub observed: f64,
    /// Expected disagreement under all placements of all units and gaps.
    pub expected: f64,
    /// Number of passages that were joined because they overlapped another one of the same answer and type.
    pub joined: u64,
}

/// Krippendorff's alpha for unitizing (Krippendorff 1995, *On the reliability of unitizing contiguous data*;
/// 2004, *Content analysis*, 2nd ed., 11.6), with one category. `answers` are in any order, at most one per
/// annotator and text.
///
/// Two answers to a text differ by `(begin - begin)^2 + (end - end)^2` for every two passages that share a
/// character, and by the squared length of a passage that shares none. Expected disagreement is the mean of
/// the same over all possible placements of a passage of any answer relative to any other one or to a gap
/// that contains it.
///
/// The measure was designed for one continuum that all annotators have marked. Here they may have marked
/// different texts: each text is compared among those who answered it and counts with the number of its
/// answers, `sum over pairs / (answers - 1)`, like a unit in alpha for labels; expected disagreement uses all
/// units and gaps of texts with two answers or more, where a gap ends with its text, and `answers x length`,
/// summed over texts, replaces the number of raters times length. With one text this is the published
/// measure.
///
/// # Errors
/// [`ModelError::Length`] where answers to one text differ in its length or a passage is empty or out of
/// range.
pub fn unitizing_alpha(answers: &[MarkedUnits]) -> Result<Unitizing, ModelError> {
    let mut by_text: BTreeMap<u32, Vec<(u32, Passages)>> = BTreeMap::new();
    let mut joined = BTreeMap::new();
    for answer in answers {
        let (units, overlapping) = joined_passages(answer)?;
        *joined.entry(answer.text).or_insert(0) += overlapping;
        by_text.entry(answer.text).or_default().push((answer.length, units));
    }
    by_text.retain(|_, given| given.len() > 1);
    let mut observed = 0.0;
    let mut everywhere = Everywhere::default();
    for given in by_text.values() {
        let length = given[0].0;
        if let Some((found, _)) = given.iter().find(|(other, _)| *other != length) {
            return Err(wrong(length, *found));
        }
        let mut differences = 0.0;
        for (at, (_, one)) in given.iter().enumerate() {
            differences += given[..at].iter().map(|(_, other)| difference(one, other)).sum::<f64>();
            everywhere.add(one, length);
        }
        observed += 2.0 * differences / (given.len() - 1) as f64;
    }
    let joined = joined.iter().filter(|(text, _)| by_text.contains_key(text)).map(|(_, joined)| joined).sum();
    Ok(Unitizing::new(observed, everywhere.expected(), joined))
}

impl Unitizing {
    fn new(observed: f64, expected: f64, joined: u64) -> Self {
        let alpha = (expected > 0.0).then(|| 1.0 - observed / expected);
        Self { alpha, observed, expected, joined }
    }

    /// Combines several types: 1 minus the sum of observed over the sum of expected disagreements.
    pub fn together<'a>(types: impl IntoIterator<Item = &'a Self>) -> Self {
        types.into_iter().fold(Self::default(), |all, one| {
            Self::new(all.observed + one.observed, all.expected + one.expected, all.joined + one.joined)
        })
    }
}

fn wrong(expected: u32, found: u32) -> ModelError {
    let what = "the characters of a text";
    ModelError::Length { what, expected: expected as usize, found: found as usize }
}

/// The passages of an answer in order, with overlapping ones joined, and the number of joined passages.
fn joined_passages(answer: &MarkedUnits) -> Result<(Passages, u64), ModelError> {
    let mut sorted = answer.units.clone();
    sorted.sort_unstable();
    let mut units = Passages::with_capacity(sorted.len());
    for (begin, end) in sorted.iter().copied() {
        if begin >= end || end > answer.length {
            return Err(wrong(answer.length, end));
        }
        match units.last_mut().filter(|last| begin < last.1) {
            Some(last) => last.1 = last.1.max(end),
            None => units.push((begin, end)),
        }
    }
    let joined = (sorted.len() - units.len()) as u64;
    Ok((units, joined))
}

/// Squared differences of two answers to one text.
fn difference(one: &[(u32, u32)], other: &[(u32, u32)]) -> f64 {
    let square = |a: u32, b: u32| (f64::from(a) - f64::from(b)).powi(2);
    let mut sum = 0.0;
    let mut met = vec![false; other.len()];
    let mut from = 0;
    for (begin, end) in one {
        // Passages that end before this one begins end before all that follow.
        from += other[from..].iter().take_while(|passage| passage.1 <= *begin).count();
        let sharing = other[from..].iter().take_while(|passage| passage.0 < *end).count();
        for at in from..from + sharing {
            met[at] = true;
            sum += square(*begin, other[at].0) + square(*end, other[at].1);
        }
        if sharing == 0 {
            sum += square(*end, *begin);
        }
    }
    let alone = other.iter().zip(met).filter(|(_, met)| !met);
    sum + alone.map(|((begin, end), _)| square(*end, *begin)).sum::<f64>()
}

/// All units and gaps of all answers.
#[derive(Debug, Default)]
struct Everywhere {
    /// Answers times characters.
    places: f64,
    units: Vec<f64>,
    gaps: Vec<f64>,
}

impl Everywhere {
    fn add(&mut self, units: &[(u32, u32)], length: u32) {
        self.places += f64::from(length);
        let mut at = 0;
        for (begin, end) in units {
            self.gap(at, *begin);
            self.units.push(f64::from(end - begin));
            at = *end;
        }
        self.gap(at, length);
    }

    fn gap(&mut self, begin: u32, end: u32) {
        if begin < end {
            self.gaps.push(f64::from(end - begin));
        }
    }

    /// `2 n sum_g [(N - 1) (2 l^3 - 3 l^2 + l) / 3 + l^2 sum_(gaps h >= l) (h - l + 1)]` over
    /// `(n (n - 1) - sum_g l (l - 1))`: N units of length l, n answers times characters.
    fn expected(mut self) -> f64 {
        self.gaps.sort_unstable_by(|a, b| b.total_cmp(a));
        self.units.sort_unstable_by(|a, b| b.total_cmp(a));
        let others = self.units.len() as f64 - 1.0;
        let (mut sum, mut taken) = (0.0, 0.0);
        let (mut holding, mut held_length) = (0_usize, 0.0);
        for length in &self.units {
            while let Some(gap) = self.gaps.get(holding).filter(|gap| *gap >= length) {
                (holding, held_length) = (holding + 1, held_length + gap);
            }
            let in_units = others * (2.0 * length.powi(3) - 3.0 * length.powi(2) + length) / 3.0;
            let in_gaps = length.powi(2) * (held_length - holding as f64 * (length - 1.0));
            sum += in_units + in_gaps;
            taken += length * (length - 1.0);
        }
        let pairs = self.places * (self.places - 1.0) - taken;
        if pairs > 0.0 { 2.0 * self.places * sum / pairs } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: u32, length: u32, units: &[(u32, u32)]) -> MarkedUnits {
        MarkedUnits { text, length, units: units.to_vec() }
    }

    #[test]
    fn extreme_and_undefined_agreement() {
        let alpha = |answers: &[MarkedUnits]| unitizing_alpha(answers).unwrap().alpha;
        let same = [marked(0, 30, &[(2, 9)]), marked(0, 30, &[(2, 9)]), marked(1, 9, &[]), marked(1, 9, &[])];
        assert_eq!(alpha(&same), Some(1.0));
        assert!(alpha(&[marked(0, 30, &[(2, 9)]), marked(0, 30, &[(12, 19)])]).unwrap() < 0.0);
        assert_eq!(alpha(&[marked(0, 30, &[]), marked(0, 30, &[]), marked(1, 9, &[(1, 2)])]), None);
        assert_eq!(alpha(&[]), None);
        // A text of one character, marked by all or by one: no length differs by chance.
        assert_eq!(alpha(&[marked(0, 1, &[(0, 1)]), marked(0, 1, &[(0, 1)])]), None);
        for wrong in [marked(0, 29, &[]), marked(0, 30, &[(4, 4)]), marked(0, 30, &[(9, 31)])] {
            assert!(unitizing_alpha(&[marked(0, 30, &[]), wrong]).is_err());
        }
    }

    #[test]
    fn overlapping_units_merge_and_touching_do_not() {
        let one = marked(0, 40, &[(3, 9), (20, 30)]);
        let joined = unitizing_alpha(&[one.clone(), marked(0, 40, &[(5, 9), (3, 7), (20, 30)])]).unwrap();
        assert_eq!((joined.alpha, joined.joined), (Some(1.0), 1));
        let touching = unitizing_alpha(&[one, marked(0, 40, &[(3, 7), (7, 9), (20, 30)])]).unwrap();
        assert!(touching.alpha.unwrap() < 1.0 && touching.joined == 0, "{touching:?}");
        let alone = unitizing_alpha(&[marked(5, 40, &[(3, 7), (5, 9)])]).unwrap();
        assert_eq!(alone.joined, 0, "a text with one answer is not compared");
    }

    #[test]
    fn agreement_is_independent_of_order() {
        let answers: Vec<MarkedUnits> = (0..60)
            .map(|nth: u32| {
                let (text, length) = (nth % 14, 20 + nth % 14 * 3);
                let begin = nth * 7 % 11;
                marked(text, length, &[(begin, begin + 1 + nth % 5), (begin + 7, begin + 8)])
            })
            .collect();
        let found = unitizing_alpha(&answers).unwrap();
        let turned: Vec<MarkedUnits> =
            answers.iter().rev().map(|a| MarkedUnits { text: 99 - a.text, ..a.clone() }).collect();
        let turned = unitizing_alpha(&turned).unwrap();
        assert!((found.alpha.unwrap() - turned.alpha.unwrap()).abs() < 1e-12);
    }
}
