//! Baselines for words without a model of their meaning.

use super::data::{SpanAnswer, SpanTexts};

/// Pseudo-count of words added to those of a form, with the rates of all words.
const SMOOTHING: f64 = 10.0;
/// Pseudo-count of words added to those of an annotator, marked as often as all words.
const ANNOTATOR_SMOOTHING: f64 = 20.0;

/// Rates at which words are marked.
#[derive(Clone, Debug)]
pub struct WordFrequency {
    /// For each type, over all answers.
    rates: Vec<f64>,
    /// For each form and type, smoothed.
    forms: Vec<f64>,
    /// For each annotator and type, relative to the rate of all, smoothed.
    annotators: Vec<f64>,
}

impl WordFrequency {
    /// Fits the rates to the answers that `train` selects.
    pub fn fit(
        texts: &SpanTexts,
        answers: &[SpanAnswer],
        train: &[usize],
        annotators: usize,
        types: usize,
    ) -> Self {
        let forms = texts.forms();
        let (mut of_form, mut form_words) = (vec![0.0; forms * types], vec![0.0; forms]);
        let (mut of_annotator, mut annotator_words) = (vec![0.0; annotators * types], vec![0.0; annotators]);
        let (mut marks, mut words) = (vec![0.0; types], 0.0);
        for answer in train.iter().map(|answer| &answers[*answer]) {
            let range = texts.words(answer.text);
            let annotator = answer.annotator as usize;
            words += range.len() as f64;
            annotator_words[annotator] += range.len() as f64;
            range.clone().for_each(|word| form_words[texts.form(word) as usize] += 1.0);
            for (word, bits) in &answer.marks {
                let form = texts.form(range.start + *word as usize) as usize;
                for of_type in (0..types).filter(|of_type| bits >> of_type & 1 == 1) {
                    of_form[form * types + of_type] += 1.0;
                    of_annotator[annotator * types + of_type] += 1.0;
                    marks[of_type] += 1.0;
                }
            }
        }
        // Half a mark, so that no rate is 0.
        let rates: Vec<f64> = marks.iter().map(|marks| (marks + 0.5) / (words + 1.0)).collect();
        let smoothed = |counts: &mut [f64], words: &[f64], added: f64| {
            for (counts, words) in counts.chunks_exact_mut(types.max(1)).zip(words) {
                for (count, rate) in counts.iter_mut().zip(&rates) {
                    *count = (*count + added * rate) / (words + added);
                }
            }
        };
        smoothed(&mut of_form, &form_words, SMOOTHING);
        smoothed(&mut of_annotator, &annotator_words, ANNOTATOR_SMOOTHING);
        for shares in of_annotator.chunks_exact_mut(types.max(1)) {
            shares.iter_mut().zip(&rates).for_each(|(share, rate)| *share /= rate);
        }
        Self { rates, forms: of_form, annotators: of_annotator }
    }

    /// The smoothed rate of each word's form times the annotator's rate of marking relative to all others:
    /// `[words][types]`.
    pub fn probabilities(&self, texts: &SpanTexts, text: u32, annotator: u32) -> Vec<f32> {
        let types = self.rates.len();
        let own = &self.annotators[annotator as usize * types..][..types];
        let word = |word: usize| {
            let form = &self.forms[texts.form(word) as usize * types..][..types];
            form.iter().zip(own).map(|(form, own)| (form * own).clamp(1e-6, 1.0 - 1e-6) as f32)
        };
        texts.words(text).flat_map(word).collect()
    }
}

/// The rate at which an annotator marks, for all words: `[words][types]`.
pub(super) fn annotator_rates(frequency: &WordFrequency, words: usize, annotator: u32) -> Vec<f32> {
    let types = frequency.rates.len();
    let own = &frequency.annotators[annotator as usize * types..][..types];
    let one: Vec<f32> = own
        .iter()
        .zip(&frequency.rates)
        .map(|(own, rate)| (own * rate).clamp(1e-6, 1.0 - 1e-6) as f32)
        .collect();
    one.repeat(words)
}
