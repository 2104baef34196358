//! The scores of a model on any subset of its test answers, from sums that are computed once.

use super::answer_sums::{AnswerSums, Counts};
use super::data::SpanTexts;
use super::differing::{Differing, DifferingWords};
use super::token_scores::{PredictedMarks, TokenScores, TypeTokenScores};
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{ModelError, Observation};
use dissensus_stats::metrics::{Cluster, MIN_RARE, Resampled};
use std::collections::{BTreeMap, BTreeSet};

/// Predictions of a model for test answers, laid out so that some of them can be left out.
pub(super) struct ScoredWords<'a> {
    texts: &'a SpanTexts,
    predicted: &'a [PredictedMarks<'a>],
    types: usize,
    sums: Vec<AnswerSums>,
    by_text: Vec<TextAnswers>,
}

/// The answers to one text.
struct TextAnswers {
    /// Indices of the answers.
    people: Vec<usize>,
    /// Disagreement between all of them.
    all: Option<DifferingWords>,
}

impl<'a> ScoredWords<'a> {
    pub(super) fn new(texts: &'a SpanTexts, predicted: &'a [PredictedMarks<'a>]) -> Self {
        let types = predicted.first().map_or(0, |one| one.thresholds.len());
        let mut by_text: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, one) in predicted.iter().enumerate() {
            by_text.entry(one.answer.text).or_default().push(at);
        }
        let text = |people: Vec<usize>| {
            let own: Vec<&PredictedMarks<'_>> = people.iter().map(|at| &predicted[*at]).collect();
            TextAnswers { all: DifferingWords::new(texts, &own), people }
        };
        Self {
            texts,
            predicted,
            types,
            sums: predicted
                .iter()
                .map(|one| AnswerSums::new(texts.words(one.answer.text).len(), one))
                .collect(),
            by_text: by_text.into_values().map(text).collect(),
        }
    }

    /// Scores on the answers at the positions that `keep` selects.
    pub(super) fn scores(&self, keep: &dyn Fn(usize) -> bool) -> TokenScores {
        let mut sums = AnswerSums::none(self.types);
        let mut own: BTreeMap<u32, Vec<Counts>> = BTreeMap::new();
        for (at, (one, answer)) in self.predicted.iter().zip(&self.sums).enumerate() {
            if !keep(at) {
                continue;
            }
            sums.add(answer);
            let own = own.entry(one.answer.annotator).or_insert_with(|| vec![Counts::default(); self.types]);
            own.iter_mut().zip(&answer.types).for_each(|(own, (_, counts))| own.add(*counts));
        }
        let each = (sums.words as f64).max(1.0);
        let differing = self.differing(keep);
        let by_type = differing.by_type();
        let people = own.values().filter_map(|counts| mean(counts.iter().filter_map(|c| c.f1())));
        let losses: f64 = sums.types.iter().map(|(loss, _)| loss).sum();
        TokenScores {
            token_log_loss: losses / (each * self.types.max(1) as f64),
            token_macro_f1: mean(sums.types.iter().filter_map(|(_, counts)| counts.f1())),
            annotator_token_macro_f1: mean(people),
            span_f1_exact: sums.exact.f1(),
            span_f1_overlap: sums.overlap.f1(),
            token_disagreement_auroc: differing.any(),
            token_disagreement_auroc_by_type: mean(by_type.iter().flatten().copied()),
            token_disagreement_spearman: differing.words(),
            text_disagreement_spearman: differing.texts(),
            text_disagreement_auroc: differing.any_of_text(),
            types: sums
                .types
                .iter()
                .zip(by_type)
                .map(|((loss, counts), token_disagreement_auroc)| TypeTokenScores {
                    token_log_loss: loss / each,
                    token_f1: counts.f1(),
                    token_disagreement_auroc,
                })
                .collect(),
            n_decisions: sums.words,
        }
    }

    /// Texts with all answers retained are not recomputed.
    fn differing(&self, keep: &dyn Fn(usize) -> bool) -> Differing {
        let mut all = Differing::none(self.types);
        for TextAnswers { people, all: whole } in &self.by_text {
            let kept: Vec<&PredictedMarks<'_>> =
                people.iter().filter(|at| keep(**at)).map(|at| &self.predicted[*at]).collect();
            if kept.len() == people.len() {
                whole.iter().for_each(|text| all.add(text));
            } else if let Some(text) = DifferingWords::new(self.texts, &kept) {
                all.add(&text);
            }
        }
        all
    }

    /// The figures, and the same without groups of texts, annotators or answers, as the basis of intervals.
    ///
    /// # Errors
    /// [`ModelError::Cancelled`].
    pub(super) fn resampled(&self, seed: u64, progress: &dyn Progress) -> Result<Resampled, ModelError> {
        let answer = |one: &PredictedMarks<'_>| Observation {
            text: one.answer.text,
            annotator: one.answer.annotator,
            level: 0,
        };
        let whole = self.scores(&|_| true).values();
        let supported = self.supported(&whole);
        let answers = self.predicted.iter().map(answer).collect();
        let without = |keep: &(dyn Fn(usize) -> bool + Sync)| {
            self.scores(keep).values().into_iter().map(|(_, value)| value).collect()
        };
        Resampled::over(answers, whole.to_vec(), supported, seed, without, progress)
    }

    /// Which figures have enough data: 20 texts and 5 annotators; for F1, marks of each type (for spans: of
    /// any type) in 10 texts and by 5 annotators; for AUROC, 10 texts with a word on which annotators differ
    /// and 10 with one on which they agree (over texts: 10 texts of each kind); for correlations, 20 texts
    /// with two answers.
    fn supported(&self, whole: &[(&'static str, Option<f64>)]) -> Vec<bool> {
        let annotators: BTreeSet<u32> = self.predicted.iter().map(|one| one.answer.annotator).collect();
        let enough =
            self.by_text.len() >= Cluster::Texts.least() && annotators.len() >= Cluster::Annotators.least();
        let all_types = u64::MAX;
        let marked = |types: u64| {
            let with = || {
                let answers = self.predicted.iter().map(|one| one.answer);
                answers.filter(move |answer| answer.marks.iter().any(|(_, bits)| bits & types != 0))
            };
            let texts: BTreeSet<u32> = with().map(|answer| answer.text).collect();
            let people: BTreeSet<u32> = with().map(|answer| answer.annotator).collect();
            texts.len() >= MIN_RARE && people.len() >= Cluster::Annotators.least()
        };
        let occurs = |of_type: usize| self.sums.iter().any(|sums| sums.types[of_type].1.occurs());
        let each_type = (0..self.types).all(|of_type| !occurs(of_type) || marked(1 << of_type));
        let two: Vec<&DifferingWords> = self.by_text.iter().filter_map(|text| text.all.as_ref()).collect();
        let both = |of: &dyn Fn(&DifferingWords) -> (bool, bool)| {
            let found: Vec<(bool, bool)> = two.iter().map(|text| of(text)).collect();
            (found.iter().filter(|f| f.0).count(), found.iter().filter(|f| f.1).count())
        };
        let (differ, agree) = both(&|text| text.both_in_any(self.types));
        let types = (0..self.types).map(|of_type| both(&|text| text.both(of_type, self.types)));
        let auroc_of_types =
            types.into_iter().all(|(differ, agree)| differ == 0 || differ.min(agree) >= MIN_RARE);
        let of = |key: &str| match key {
            "token_macro_f1" | "annotator_token_macro_f1" => each_type,
            "span_f1_exact" | "span_f1_overlap" => marked(all_types),
            "token_disagreement_auroc" => differ.min(agree) >= MIN_RARE,
            "token_disagreement_auroc_by_type" => auroc_of_types,
            "token_disagreement_spearman" | "text_disagreement_spearman" => {
                two.len() >= Cluster::Texts.least()
            }
            "text_disagreement_auroc" => differ.min(two.len() - differ) >= MIN_RARE,
            _ => true,
        };
        whole.iter().map(|(key, _)| enough && of(key)).collect()
    }
}

impl TokenScores {
    /// Computes the sums of all these answers.
    pub(super) fn new(texts: &SpanTexts, predicted: &[PredictedMarks<'_>]) -> Self {
        ScoredWords::new(texts, predicted).scores(&|_| true)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}
