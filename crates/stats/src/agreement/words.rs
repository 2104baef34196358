//! Agreement on the marked words of a text.

use super::crossed::{LeftOut, unless_cancelled};
use super::reliability::{Estimate, MIN_DECIDING};
use crate::data::ModelError;
use crate::data::progress::Progress;
use crate::metrics::{BootstrapOptions, Cluster, Figure, Interval, resample};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The words that one annotator marked in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedWords {
    /// Index of the text.
    pub text: u32,
    /// Index of the annotator.
    pub annotator: u32,
    /// Number of words of the text; the same in all answers to it.
    pub words: u32,
    /// The marked words, from 0; an empty set is an answer, too.
    pub marked: BTreeSet<u32>,
}

/// Agreement of all annotators on marked words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordAgreement {
    /// Number of texts with two answers or more, the resampled units.
    pub texts: usize,
    /// Number of words of these texts.
    pub words: u64,
    /// Mean share of these words that an answer marks; absent without words.
    pub marked: Option<f64>,
    /// Krippendorff's alpha with every word as a unit that is marked or not by each answer to its text
    /// (nominal; Krippendorff 2019, Content analysis, 4th ed., 12.3).
    pub alpha: Estimate,
    /// F1 of the words marked by two annotators of a text, pooled over all pairs:
    /// `2 |A and B| / (|A| + |B|)`, sums over pairs. Absent where no word is marked. Not corrected for
    /// chance.
    pub pairwise_f1: Estimate,
}

/// Contribution of one text to the sums for both measures.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    words: f64,
    /// Pairs of differing answers to a word, both orders, over answers - 1.
    differing: f64,
    unmarked: f64,
    marked: f64,
    /// Words marked by both of two answers, both orders, and by one of them.
    both: f64,
    either: f64,
}

/// Agreement of `answers` (any order, at most one per annotator and text). Intervals, if requested, are
/// computed as in [`super::reliability`]; they need 20 texts with two answers, and 10 with a marked word.
///
/// # Errors
/// [`ModelError::Length`] where answers to one text differ in its number of words or mark a word that does
/// not exist; [`ModelError::Cancelled`].
pub fn word_agreement(
    answers: &[MarkedWords],
    bootstrap: Option<&BootstrapOptions>,
    progress: &dyn Progress,
) -> Result<WordAgreement, ModelError> {
    if let Some(options) = bootstrap {
        options.check()?;
    }
    let mut by_text: BTreeMap<u32, Vec<&MarkedWords>> = BTreeMap::new();
    answers.iter().for_each(|answer| by_text.entry(answer.text).or_default().push(answer));
    by_text.retain(|_, answers| answers.len() > 1);
    let texts: Vec<Sums> = by_text.values().map(|answers| sums(answers)).collect::<Result<_, _>>()?;
    let deciding = texts.iter().filter(|text| text.marked > 0.0).count();
    let (people, labels) = match bootstrap {
        Some(_) => left_out(&by_text, &texts, progress)?,
        None => (Vec::new(), Vec::new()),
    };
    let whole = total_of(&texts);
    let estimate = |of: fn(&Sums) -> Option<f64>, range: (f64, f64)| {
        let value = of(&whole);
        let (mut interval, mut over_texts) = (None, None);
        if let (Some(options), Some(estimate)) = (bootstrap, value)
            && texts.len() >= Cluster::Texts.least()
            && deciding >= MIN_DECIDING
        {
            let once = vec![1; texts.len()];
            let draws =
                resample(&once, options, "agreement", progress, |weights| of(&weighted(&texts, weights)))?;
            let figure = Figure { estimate, clusters: deciding, range };
            over_texts = Interval::new(figure, draws.into_iter(), options);
            let mut left = LeftOut::default();
            people.iter().for_each(|gone| left.person(of(&whole.plus(gone, -1.0))));
            labels.iter().for_each(|gone| left.label(estimate, of(&whole.plus(gone, -1.0)), 1.0));
            interval = over_texts.and_then(|narrow| left.interval(&figure, &narrow, options));
        }
        Ok::<_, ModelError>(Estimate { value, interval, over_texts })
    };
    let all = whole.marked + whole.unmarked;
    Ok(WordAgreement {
        texts: texts.len(),
        words: whole.words as u64,
        marked: (all > 0.0).then(|| whole.marked / all),
        alpha: estimate(alpha, (f64::NEG_INFINITY, 1.0))?,
        pairwise_f1: estimate(pairwise_f1, (0.0, 1.0))?,
    })
}

fn sums(answers: &[&MarkedWords]) -> Result<Sums, ModelError> {
    let (words, people) = (answers[0].words, answers.len() as f64);
    let mut counts = vec![0_u32; words as usize];
    for answer in answers {
        let beyond = answer.marked.last().is_some_and(|last| *last >= words);
        if answer.words != words || beyond {
            let found = answer.marked.last().map_or(answer.words, |last| answer.words.max(last + 1));
            let (what, expected) = ("the words of a text", words as usize);
            return Err(ModelError::Length { what, expected, found: found as usize });
        }
        answer.marked.iter().for_each(|word| counts[*word as usize] += 1);
    }
    let mut sums = Sums { words: f64::from(words), ..Sums::default() };
    for count in counts {
        let marked = f64::from(count);
        sums.differing += 2.0 * marked * (people - marked) / (people - 1.0);
        sums.marked += marked;
        sums.unmarked += people - marked;
        sums.both += marked * (marked - 1.0);
        sums.either += marked * (people - 1.0);
    }
    Ok(sums)
}

impl Sums {
    /// The sum of these and `weight` times the others.
    fn plus(&self, of: &Self, weight: f64) -> Self {
        Self {
            words: self.words + weight * of.words,
            differing: self.differing + weight * of.differing,
            unmarked: self.unmarked + weight * of.unmarked,
            marked: self.marked + weight * of.marked,
            both: self.both + weight * of.both,
            either: self.either + weight * of.either,
        }
    }
}

fn weighted(texts: &[Sums], weights: &[f64]) -> Sums {
    texts.iter().zip(weights).fold(Sums::default(), |sum, (text, weight)| sum.plus(text, *weight))
}

fn total_of(texts: &[Sums]) -> Sums {
    texts.iter().fold(Sums::default(), |sum, text| sum.plus(text, 1.0))
}

/// Change of the sums when leaving out each person, and each answer.
fn left_out(
    by_text: &BTreeMap<u32, Vec<&MarkedWords>>,
    texts: &[Sums],
    progress: &dyn Progress,
) -> Result<(Vec<Sums>, Vec<Sums>), ModelError> {
    let (mut people, mut labels): (BTreeMap<u32, Sums>, Vec<Sums>) = (BTreeMap::new(), Vec::new());
    for (answers, all) in by_text.values().zip(texts) {
        unless_cancelled(progress)?;
        for (at, answer) in answers.iter().enumerate() {
            let mut others = answers.clone();
            others.remove(at);
            // A single remaining answer has no pairs.
            let rest = if others.len() > 1 { sums(&others)? } else { Sums::default() };
            let gone = all.plus(&rest, -1.0);
            let person = people.entry(answer.annotator).or_default();
            *person = person.plus(&gone, 1.0);
            labels.push(gone);
        }
    }
    Ok((people.into_values().collect(), labels))
}

/// `1 - (n - 1) D / (2 n_0 n_1)`, n answers to words, of which n_1 mark; D sums differing pairs.
fn alpha(sums: &Sums) -> Option<f64> {
    let expected = 2.0 * sums.marked * sums.unmarked;
    (expected > 1e-9).then(|| 1.0 - (sums.marked + sums.unmarked - 1.0) * sums.differing / expected)
}

fn pairwise_f1(sums: &Sums) -> Option<f64> {
    (sums.either > 1e-9).then(|| sums.both / sums.either)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::reliability;
    use crate::data::progress::Silent;
    use crate::data::{Observation, Target};
    use dissensus_domain::TargetKind;

    fn marked(text: u32, words: u32, marked: &[u32]) -> MarkedWords {
        MarkedWords { text, annotator: 0, words, marked: marked.iter().copied().collect() }
    }

    /// Texts of different lengths with one to five answers each.
    fn made_up() -> Vec<MarkedWords> {
        let answer = |text: u32, who: u32| {
            let words = 3 + text * 7 % 11;
            let chosen = (0..words).filter(|word| (word * 5 + text * 3 + who * (word % 3)) % 7 < 2);
            MarkedWords { text, annotator: who, words, marked: chosen.collect() }
        };
        (0..40).flat_map(|text| (0..1 + text % 5).map(move |who| answer(text, who))).collect()
    }

    /// The alpha of labels, which is tested against other programs, with each word as a text.
    #[test]
    fn alpha_uses_words_as_units() {
        let answers = made_up();
        let mut units = Vec::new();
        let mut people: BTreeMap<u32, u32> = BTreeMap::new();
        for answer in &answers {
            let annotator = people.entry(answer.text).or_default();
            for word in 0..answer.words {
                let level = u16::from(answer.marked.contains(&word));
                units.push(Observation { text: answer.text * 100 + word, annotator: *annotator, level });
            }
            *annotator += 1;
        }
        let target = Target { kind: TargetKind::Binary, levels: 2 };
        let expected = reliability(&units, 4_000, 5, target, None, &Silent).unwrap().alpha_nominal.value;
        let found = word_agreement(&answers, None, &Silent).unwrap();
        assert!((found.alpha.value.unwrap() - expected.unwrap()).abs() < 1e-12, "{found:?}");
        assert_eq!(found.texts, 32, "one answer gives no agreement");
    }

    #[test]
    fn f1_averages_all_pairs() {
        let answers = made_up();
        let (mut both, mut either) = (0, 0);
        for (at, a) in answers.iter().enumerate() {
            for b in answers[..at].iter().filter(|b| b.text == a.text) {
                both += 2 * a.marked.intersection(&b.marked).count();
                either += a.marked.len() + b.marked.len();
            }
        }
        let found = word_agreement(&answers, None, &Silent).unwrap().pairwise_f1.value.unwrap();
        assert!((found - both as f64 / either as f64).abs() < 1e-12, "{found}");
    }

    #[test]
    fn extreme_and_undefined_agreement() {
        let same = [marked(0, 4, &[1, 2]), marked(0, 4, &[1, 2]), marked(1, 2, &[]), marked(1, 2, &[])];
        let found = word_agreement(&same, None, &Silent).unwrap();
        assert_eq!((found.alpha.value, found.pairwise_f1.value), (Some(1.0), Some(1.0)));
        assert_eq!((found.words, found.marked), (6, Some(4.0 / 12.0)));
        let apart = [marked(0, 4, &[0, 1]), marked(0, 4, &[2, 3])];
        let found = word_agreement(&apart, None, &Silent).unwrap();
        assert!(found.alpha.value.unwrap() < 0.0 && found.pairwise_f1.value == Some(0.0), "{found:?}");
        let nothing = [marked(0, 4, &[]), marked(0, 4, &[]), marked(1, 3, &[1])];
        let found = word_agreement(&nothing, None, &Silent).unwrap();
        assert_eq!((found.alpha.value, found.pairwise_f1.value, found.marked), (None, None, Some(0.0)));
        assert_eq!(word_agreement(&[], None, &Silent).unwrap(), WordAgreement::default());
        for wrong in [marked(0, 5, &[]), marked(0, 4, &[4])] {
            assert!(word_agreement(&[marked(0, 4, &[]), wrong], None, &Silent).is_err());
        }
    }

    #[test]
    fn intervals_contain_their_estimates() {
        let found = word_agreement(&made_up(), Some(&BootstrapOptions::default()), &Silent).unwrap();
        for estimate in [found.alpha, found.pairwise_f1] {
            let (value, interval) = (estimate.value.unwrap(), estimate.over_texts.unwrap());
            assert!(interval.low < value && value < interval.high, "{value} in {interval:?}");
        }
        let few: Vec<MarkedWords> = made_up().into_iter().filter(|answer| answer.text < 20).collect();
        let found = word_agreement(&few, Some(&BootstrapOptions::default()), &Silent).unwrap();
        assert!(found.alpha.value.is_some() && found.alpha.over_texts.is_none());
    }
}
