//! Tests whether the answers to a text follow people's severity: the strict against the lenient, text by
//! text.

use super::model::LiveModel;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::{
    GroupGap, GroupGaps, GroupPair, LabelledSide, difference_p_value, independent_discoveries,
    permutation_p_value,
};
use dissensus_stats::math::attenuation;
use rayon::prelude::*;

/// Minimum number of labels of a person on other texts for assigning the person to the strict or the lenient.
pub const MIN_LABELS_FOR_A_SIDE: usize = 5;
/// Minimum number of labels of either side on a text: one person is not "the strict".
const MIN_ON_A_SIDE: usize = 2;
/// False discovery rate among the texts on which the two sides are reported to differ.
const FALSE_DISCOVERIES: f64 = 0.025;
/// Largest p value of the permutation test on the labels of the text, required in addition to the test of the
/// model.
const BY_CHANCE: f64 = 0.05;
/// The lenient are the first group, the strict the second.
const PAIR: usize = 0;

/// The chosen people in two halves by severity, and the texts on which their labels show it.
///
/// Severities differ between people everywhere; the test is whether *this* text shows it. A label's annotator
/// is strict or lenient by the posterior without this label, so that no label determines the side that it
/// then counts for. The p value is that of the difference of the two sides' mean labels if all people
/// answered as predicted for a person of average severity ([`difference_p_value`]), corrected over all texts
/// by Benjamini and Hochberg (1995) at 2.5 %, because labels of different texts are independent under this
/// hypothesis; the other 2.5 % are left to the groups that are compared in addition (see
/// [`GroupGaps::NEXT_TO_SEVERITY`]). Because labels can be spread more widely than predicted, an exact
/// permutation test of the labels of the text among its people must also have a p value of at most 5 %.
#[derive(Clone, Debug)]
pub struct SeveritySides {
    /// Variation of the gap over texts, for its size and its interval.
    gaps: GroupGaps,
    median: f64,
    /// Whether each annotator is in one of the halves.
    chosen: Vec<bool>,
    /// Largest significant p value.
    limit: f64,
    texts: usize,
}

/// The labels of a text by their annotators' half.
struct Answers {
    lenient: Vec<u16>,
    strict: Vec<u16>,
}

impl SeveritySides {
    /// Divides the people of `mask` (all with `None`) into two halves; `None` where levels have no order, or
    /// a side would have fewer than five people.
    pub fn estimate(model: &LiveModel, mask: Option<&[bool]>) -> Option<Self> {
        const MIN_PEOPLE: usize = 5;
        let known = |a: &u32| {
            let chosen = mask.is_none_or(|mask| mask.get(*a as usize) == Some(&true));
            chosen && model.labels_of(*a) >= MIN_LABELS_FOR_A_SIDE
        };
        let people: Vec<u32> = (0..model.annotators() as u32).filter(known).collect();
        let severity = |a: u32| model.severity(a).map(|severity| severity.mean);
        let severities = people.iter().map(|a| severity(*a)).collect::<Option<Vec<f64>>>()?;
        let median = median(&severities)?;
        let side = |above: bool| -> Vec<u32> {
            let on = |s: f64| if above { s > median } else { s < median };
            people.iter().zip(&severities).filter(|(_, s)| on(**s)).map(|(a, _)| *a).collect()
        };
        let groups = vec![side(false), side(true)];
        if groups.iter().any(|side| side.len() < MIN_PEOPLE) {
            return None;
        }
        let mut chosen = vec![false; model.annotators()];
        people.iter().for_each(|a| chosen[*a as usize] = true);
        let pair = GroupPair { first: vec![0], second: vec![1] };
        let gaps = GroupGaps::estimate(model, groups, vec![pair]);
        let mut sides = Self { gaps, median, chosen, limit: 0.0, texts: 0 };
        let p: Vec<f64> =
            (0..model.texts() as u32).into_par_iter().filter_map(|text| sides.p_value(model, text)).collect();
        sides.texts = p.len();
        let discovered = independent_discoveries(&p, FALSE_DISCOVERIES);
        sides.limit = p
            .iter()
            .zip(discovered)
            .filter(|(_, is_discovered)| *is_discovered)
            .map(|(p, _)| *p)
            .fold(0.0, f64::max);
        Some(sides)
    }

    /// Number of texts with enough labels of both sides, for which the correction is made.
    pub fn texts(&self) -> usize {
        self.texts
    }

    /// How much higher the strict answer a text than the lenient, in levels, with the 95 % interval of this
    /// one gap; for `p` and `significant` see [`SeveritySides`]. `labels` are those of either half. `None`
    /// without enough labels of both sides.
    ///
    /// # Panics
    /// If there is no such text, or the model's annotators have changed.
    pub fn on_text(&self, model: &LiveModel, text: u32) -> Option<GroupGap> {
        let answers = self.answers(model, text)?;
        let p = p_of(model, text, &answers);
        let found = self.gaps.on_text(model, text as usize, &model.level_steps(text)).swap_remove(PAIR);
        let apart = found.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        // Answers that run against severity do not follow it.
        let alike = answers.difference() > 0.0 && found.gap > 0.0;
        let dealt = || permutation_p_value(&answers.lenient, &answers.strict) <= BY_CHANCE;
        let labels = [answers.lenient.len() as u32, answers.strict.len() as u32];
        Some(GroupGap {
            p: Some(p),
            significant: p <= self.limit && apart && alike && dealt(),
            labels,
            ..found
        })
    }

    fn p_value(&self, model: &LiveModel, text: u32) -> Option<f64> {
        self.answers(model, text).map(|answers| p_of(model, text, &answers))
    }

    fn answers(&self, model: &LiveModel, text: u32) -> Option<Answers> {
        let crossed = &model.model.crossed;
        let mut answers = Answers { lenient: Vec::new(), strict: Vec::new() };
        for (at, label) in crossed.labels[text as usize].iter().enumerate() {
            let annotator = label.annotator as usize;
            if self.chosen.get(annotator) != Some(&true)
                || model.labels_of(label.annotator) <= MIN_LABELS_FOR_A_SIDE
            {
                continue;
            }
            let severity = crossed.severity_without(text as usize, at)?;
            if severity > self.median {
                answers.strict.push(label.level);
            } else if severity < self.median {
                answers.lenient.push(label.level);
            }
        }
        let enough = answers.lenient.len().min(answers.strict.len()) >= MIN_ON_A_SIDE;
        enough.then_some(answers)
    }
}

impl Answers {
    /// How much higher the strict answer, in levels.
    fn difference(&self) -> f64 {
        mean(&self.strict) - mean(&self.lenient)
    }
}

/// The p value if all people answer like a person of average severity.
fn p_of(model: &LiveModel, text: u32, answers: &Answers) -> f64 {
    let crossed = &model.model.crossed;
    let (at, q) = (text as usize, crossed.link.scores());
    let mut average = vec![0.0; crossed.link.intercepts()];
    crossed.link.intercepts_of(&crossed.fixed_effects, &[], &mut average);
    let mut p = vec![0.0; model.levels()];
    crossed.link.probabilities(
        &crossed.u[at * q..(at + 1) * q],
        &average,
        attenuation(crossed.v[at] + crossed.noise(at)),
        &mut p,
    );
    let [lenient, strict] = [&answers.lenient, &answers.strict]
        .map(|levels| LabelledSide { observed: mean(levels), predicted: vec![&p[..]; levels.len()] });
    difference_p_value([&lenient, &strict])
}

fn mean(levels: &[u16]) -> f64 {
    levels.iter().map(|level| f64::from(*level)).sum::<f64>() / levels.len() as f64
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_averages_the_middle_values() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
