//! One label for each text out of those of many people: majority, Dawid-Skene, MACE and GLAD.
//!
//! Aggregation believes that a text has one true level and that people differ by error. Models of annotators do not; these
//! are the yardstick they are held against, and what other tools expect to be given.

mod dawid_skene;
mod digamma;
mod glad;
mod mace;
mod majority;
mod votes;

use crate::data::progress::Progress;
use crate::data::{Embeddings, Observation, Target, TrainingData};
use crate::data::{PerspectivesError, value_named};
use serde::{Deserialize, Serialize};
use votes::Votes;

/// Levels whose posteriors are this close tie.
const TIE: f64 = 1e-9;

/// How labels are aggregated.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Aggregator {
    /// The posterior is the share of labels; the label the most frequent level.
    Majority,
    /// Every annotator has a confusion matrix; plain EM from the vote shares (Dawid and Skene 1979).
    DawidSkene,
    /// Every annotator either knows a text's level or says one of their own liking (Hovy et al. 2013).
    Mace,
    /// Every annotator has an ability and every text a difficulty (Whitehill et al. 2009).
    Glad,
}

impl Aggregator {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl std::str::FromStr for Aggregator {
    type Err = PerspectivesError;

    fn from_str(name: &str) -> Result<Self, PerspectivesError> {
        value_named("aggregation", name)
    }
}

/// How MACE's M-step makes probabilities of expected counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaceMethod {
    /// Variational Bayes with Beta(0.5, 0.5) on knowing and Dirichlet(10) on what is said otherwise: the default of Hovy et
    /// al.'s program and of crowd-kit.
    #[default]
    Variational,
    /// Plain EM, counts smoothed by 0.01 / levels.
    Plain,
}

/// How aggregators that iterate do so.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AggregationOptions {
    /// Rounds of EM, at most.
    pub iterations: usize,
    /// EM has converged when a round moves the log-likelihood by less than this for each label, in nats.
    pub tolerance: f64,
    /// Random starts of MACE, at least one; the one with the best likelihood wins.
    pub restarts: usize,
    /// Seed of these starts; nothing else is random.
    pub seed: u64,
    /// MACE's M-step.
    pub mace: MaceMethod,
}

impl Default for AggregationOptions {
    fn default() -> Self {
        Self { iterations: 500, tolerance: 1e-8, restarts: 10, seed: 0, mace: MaceMethod::default() }
    }
}

/// A text on which several levels are equally likely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tie {
    /// The text.
    pub text: u32,
    /// The levels that share the largest posterior, from the lowest: the first one became the label.
    pub levels: Vec<u16>,
}

/// What an aggregator thinks of one annotator. Everything but `labels` is absent for who gave none, and where the
/// aggregator has no such notion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorQuality {
    /// Labels given.
    pub labels: usize,
    /// Expected accuracy: the mean posterior of the levels this person said.
    pub agreement: Option<f64>,
    /// Dawid-Skene: P(says k | true c), row-major levels x levels `[c * levels + k]`. Rows of levels that somebody used sum
    /// to 1; those of levels that none of the person's texts seems to have are uniform over what the person used. Rows of
    /// levels that nobody used are 0.
    pub confusion: Option<Vec<f64>>,
    /// MACE: chance of saying something without looking at the text, 0 to 1.
    pub spamming: Option<f64>,
    /// MACE: what the person says then, one probability per level.
    pub strategy: Option<Vec<f64>>,
    /// GLAD: ability, the log odds of being right on a text of difficulty 1; 0 is guessing, below it contrariness.
    pub ability: Option<f64>,
}

/// How an iteration ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AggregationFit {
    /// Rounds of EM.
    pub iterations: usize,
    /// Whether it converged within them.
    pub converged: bool,
    /// Log-likelihood of all labels in nats; for GLAD with the log prior.
    pub log_likelihood: f64,
}

/// Labels brought together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregation {
    /// By whom.
    pub aggregator: Aggregator,
    /// Levels of the scale.
    pub levels: usize,
    /// P(level of the text | all labels), texts x levels, row-major; rows sum to 1. Levels that nobody used at all have 0.
    /// Uniform over all levels for texts without labels: `counts` tells them apart.
    pub posterior: Vec<f64>,
    /// Labels of every text.
    pub counts: Vec<u32>,
    /// The most likely level of every text, the lowest of those that tie; `None` without labels.
    pub labels: Vec<Option<u16>>,
    /// Texts with labels on which levels tie, in their order.
    pub ties: Vec<Tie>,
    /// One entry per annotator.
    pub annotators: Vec<AnnotatorQuality>,
    /// Dawid-Skene: how common levels are; one probability per level.
    pub prior: Option<Vec<f64>>,
    /// GLAD: how hard every text is, above 0, `1 / exp(beta)`; `None` for texts without labels.
    pub difficulty: Option<Vec<Option<f64>>>,
    /// How EM ended; absent for the majority.
    pub fit: Option<AggregationFit>,
}

impl Aggregation {
    /// The posterior of one text.
    pub fn row(&self, text: usize) -> &[f64] {
        &self.posterior[text * self.levels..(text + 1) * self.levels]
    }
}

/// Aggregates `observations` (any order, at most one per person and text) of `annotators` people on `texts` texts. Every
/// number is finite whatever the labels: people with one label, one level only, no labels at all.
///
/// # Errors
/// What an observation or the scale can have wrong; [`PerspectivesError::Cancelled`].
pub fn aggregate(
    aggregator: Aggregator,
    observations: &[Observation],
    texts: usize,
    annotators: usize,
    target: Target,
    options: &AggregationOptions,
    progress: &mut dyn Progress,
) -> Result<Aggregation, PerspectivesError> {
    let embeddings = Embeddings::none(texts);
    let sorted = TrainingData { embeddings: &embeddings, observations, annotators, target, attributes: &[] }
        .sorted()?;
    let votes = Votes::new(&sorted, texts, annotators, target.levels);
    let found = match aggregator {
        Aggregator::Majority => Found { posterior: majority::shares(&votes), ..Default::default() },
        Aggregator::DawidSkene => dawid_skene::fit(&votes, options, progress)?,
        Aggregator::Mace => mace::fit(&votes, options, progress)?,
        Aggregator::Glad => glad::fit(&votes, options, progress)?,
    };
    Ok(votes.aggregation(aggregator, found))
}

/// What an aggregator found, over texts with labels and levels that somebody used.
#[derive(Default)]
struct Found {
    /// Labelled texts x used levels.
    posterior: Vec<f64>,
    /// One entry per annotator, `labels` and `agreement` not filled in, over all levels; empty for no opinion.
    annotators: Vec<AnnotatorQuality>,
    /// Of used levels.
    prior: Option<Vec<f64>>,
    /// Of labelled texts.
    difficulty: Option<Vec<f64>>,
    fit: Option<AggregationFit>,
}

/// Whether EM has converged: the log-likelihood moved by less than `tolerance` a label.
fn settled(before: f64, now: f64, labels: usize, tolerance: f64) -> bool {
    (now - before).abs() < tolerance * labels.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::Silent;
    use dissensus_domain::ScaleKind;
    use serde_json::Value;
    use strum::VariantArray;

    /// Made by tools/fixtures/aggregation.py.
    pub(super) fn fixture() -> Value {
        serde_json::from_str(include_str!("../../tests/fixtures/aggregation.json")).unwrap()
    }

    fn observations(case: &Value) -> Vec<Observation> {
        let rows: Vec<(u32, u32, u16)> = serde_json::from_value(case["rows"].clone()).unwrap();
        rows.into_iter().map(|(text, annotator, level)| Observation { text, annotator, level }).collect()
    }

    fn size(case: &Value) -> (usize, usize, usize) {
        let of = |key: &str| case[key].as_u64().unwrap() as usize;
        (of("texts"), of("annotators"), of("levels"))
    }

    pub(super) fn votes(case: &Value) -> Votes {
        let (texts, annotators, levels) = size(case);
        let mut sorted = observations(case);
        sorted.sort_unstable();
        Votes::new(&sorted, texts, annotators, levels)
    }

    pub(super) fn numbers(of: &Value) -> Vec<f64> {
        serde_json::from_value(of.clone()).unwrap()
    }

    pub(super) fn near(name: &str, ours: &[f64], theirs: &Value, most: f64) {
        let theirs = numbers(theirs);
        assert_eq!(ours.len(), theirs.len(), "{name}");
        for (at, (a, b)) in ours.iter().zip(&theirs).enumerate() {
            assert!((a - b).abs() < most, "{name} at {at}: {a} against {b}");
        }
    }

    fn run(
        aggregator: Aggregator,
        of: &[Observation],
        texts: usize,
        people: usize,
        levels: usize,
    ) -> Aggregation {
        let target = Target { kind: ScaleKind::Choice, levels };
        let options = AggregationOptions::default();
        aggregate(aggregator, of, texts, people, target, &options, &mut Silent).unwrap()
    }

    fn o(text: u32, annotator: u32, level: u16) -> Observation {
        Observation { text, annotator, level }
    }

    fn sound(found: &Aggregation, texts: usize, people: usize) {
        assert_eq!((found.counts.len(), found.labels.len(), found.annotators.len()), (texts, texts, people));
        for t in 0..texts {
            let row = found.row(t);
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9 && row.iter().all(|p| *p >= 0.0));
            assert_eq!(found.labels[t].is_some(), found.counts[t] > 0);
            if found.counts[t] == 0 {
                assert!(row.iter().all(|p| *p == 1.0 / found.levels as f64));
            }
        }
        let shown = format!("{found:?}");
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
        for person in &found.annotators {
            assert_eq!(person.agreement.is_some(), person.labels > 0);
            if let Some(confusion) = &person.confusion {
                for row in confusion.chunks_exact(found.levels) {
                    let sum: f64 = row.iter().sum();
                    assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn converged_labels_are_those_of_crowd_kit() {
        let fixture = fixture();
        let mut compared = 0;
        for name in ["binary", "levels"] {
            let case = &fixture[name];
            let (texts, people, levels) = size(case);
            let of = observations(case);
            for (aggregator, key, most) in [
                (Aggregator::Majority, "majority", 1e-12),
                (Aggregator::DawidSkene, "dawid_skene_end", 1e-3),
                (Aggregator::Mace, "mace_vb_end", 1e-3),
                (Aggregator::Glad, "glad", 1e-2),
            ] {
                let found = run(aggregator, &of, texts, people, levels);
                sound(&found, texts, people);
                let theirs = numbers(&case[key]["posterior"]);
                let used = theirs.len() / texts;
                let ours: Vec<f64> = (0..texts).flat_map(|t| found.row(t)[..used].to_vec()).collect();
                near(key, &ours, &case[key]["posterior"], most);
                assert!(found.fit.is_none_or(|f| f.converged), "{key}: {:?}", found.fit);
                compared += 1;
            }
        }
        assert_eq!(compared, 8);
    }

    #[test]
    fn ties_are_stated_and_go_to_the_lowest() {
        let of = [o(0, 0, 2), o(0, 1, 1), o(1, 0, 2), o(1, 1, 2), o(3, 0, 0)];
        let found = run(Aggregator::Majority, &of, 4, 2, 3);
        assert_eq!(found.labels, [Some(1), Some(2), None, Some(0)]);
        assert_eq!(found.ties, [Tie { text: 0, levels: vec![1, 2] }]);
        assert_eq!(found.row(0), [0.0, 0.5, 0.5]);
        assert_eq!(found.counts, [2, 2, 0, 1]);
    }

    #[test]
    fn edge_cases_are_finite() {
        let lone: Vec<Observation> = (0..6).map(|t| o(t, t, (t % 3) as u16)).collect();
        let one_class: Vec<Observation> = (0..12).map(|i| o(i / 3, i % 3, 1)).collect();
        let contrary: Vec<Observation> = (0..40).map(|i| o(i / 4, i % 4, u16::from(i % 4 < 2))).collect();
        let crowd: Vec<Observation> = (0..3000).map(|a| o(0, a, u16::from(a % 3 == 0))).collect();
        for aggregator in Aggregator::VARIANTS.iter().copied() {
            for (of, texts, people, levels) in [
                (&[][..], 0, 0, 2),
                (&[][..], 3, 2, 4),
                (&[o(1, 1, 1)][..], 3, 2, 2),
                (&lone[..], 7, 8, 3),
                (&one_class[..], 5, 3, 2),
                (&contrary[..], 10, 4, 2),
                (&crowd[..], 1, 3000, 2),
            ] {
                sound(&run(aggregator, of, texts, people, levels), texts, people);
            }
            assert!(run(aggregator, &one_class, 5, 3, 2).labels[..4].iter().all(|l| *l == Some(1)));
        }
    }

    #[test]
    fn results_do_not_depend_on_order_and_are_seeded() {
        let fixture = fixture();
        let case = &fixture["levels"];
        let (texts, people, levels) = size(case);
        let mut of = observations(case);
        for aggregator in Aggregator::VARIANTS.iter().copied() {
            let first = run(aggregator, &of, texts, people, levels);
            of.reverse();
            assert_eq!(run(aggregator, &of, texts, people, levels), first);
        }
    }

    /// Two careful people and three who answer at random: the careful ones must be trusted.
    #[test]
    fn spammers_are_found() {
        let fixture = fixture();
        let case = &fixture["spammers"];
        let (texts, people, levels) = size(case);
        let truth: Vec<u16> = serde_json::from_value(case["truth"].clone()).unwrap();
        let right =
            |found: &Aggregation| found.labels.iter().zip(&truth).filter(|(l, t)| **l == Some(**t)).count();
        let of = observations(case);
        let majority = right(&run(Aggregator::Majority, &of, texts, people, levels));
        for aggregator in [Aggregator::DawidSkene, Aggregator::Mace, Aggregator::Glad] {
            let found = run(aggregator, &of, texts, people, levels);
            assert!(right(&found) > majority, "{aggregator:?}: {} of {majority}", right(&found));
            let trust = |a: usize| found.annotators[a].agreement.unwrap();
            assert!(trust(0).min(trust(1)) > trust(2).max(trust(3)).max(trust(4)) + 0.2);
            if let Some(spamming) = found.annotators[0].spamming {
                assert!(spamming < 0.3 && found.annotators[2].spamming.unwrap() > 0.6);
            }
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let target = Target { kind: ScaleKind::Binary, levels: 2 };
        let options = AggregationOptions::default();
        let error = aggregate(Aggregator::Glad, &[o(0, 0, 2)], 1, 1, target, &options, &mut Silent);
        assert!(matches!(error, Err(PerspectivesError::UnknownLevel { level: 2, .. })));
        assert_eq!("dawid-skene".parse(), Ok(Aggregator::DawidSkene));
        assert!("vote".parse::<Aggregator>().is_err());
    }
}
