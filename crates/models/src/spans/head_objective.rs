//! The penalised log-likelihood of one type's marks, for the quasi-Newton minimiser.

use super::data::{SpanAnswer, SpanTexts};
use dissensus_stats::math::sigmoid;

/// Precisions of the normal priors, i.e. twice the factors of ridge penalties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Priors {
    /// For the first half of the states (token embeddings).
    pub(super) embedding: f64,
    /// For the second half (a contextual layer); `None` leaves it out.
    pub(super) context: Option<f64>,
    /// For the effects of word forms.
    pub(super) forms: f64,
    /// For annotators' readiness; `None` leaves annotators out.
    pub(super) annotators: Option<f64>,
    /// Mean of the constant's wide prior: the log-odds of the type's rate, so that a type without any marks
    /// has a finite constant.
    pub(super) constant: f64,
}

/// Precision of the constant's prior.
const CONSTANT: f64 = 0.01;

/// Means and a common scale, under which the states of training words have a root mean square of 1.
#[derive(Clone, Debug)]
pub struct Scaling {
    pub(super) mean: Vec<f32>,
    /// For the first and the second half.
    pub(super) factors: [f32; 2],
}

impl Scaling {
    /// Computes the scaling over the words of these texts.
    pub fn new(texts: &SpanTexts, rows: &[u32]) -> Self {
        let dim = texts.dim();
        let mut sum = vec![0.0_f64; dim];
        let mut words = 0.0_f64;
        for word in rows.iter().flat_map(|text| texts.words(*text)) {
            sum.iter_mut().zip(texts.state(word)).for_each(|(sum, value)| *sum += f64::from(*value));
            words += 1.0;
        }
        let mean: Vec<f32> = sum.iter().map(|sum| (sum / words.max(1.0)) as f32).collect();
        let mut squares = [0.0_f64; 2];
        for word in rows.iter().flat_map(|text| texts.words(*text)) {
            for (column, (value, mean)) in texts.state(word).iter().zip(&mean).enumerate() {
                squares[usize::from(column >= dim / 2)] += f64::from(value - mean).powi(2);
            }
        }
        let halves = [dim / 2, dim - dim / 2];
        let factor = |half: usize| {
            let square = squares[half] / (words.max(1.0) * halves[half].max(1) as f64);
            if square > 1e-12 { (1.0 / square.sqrt()) as f32 } else { 0.0 }
        };
        let factors = [factor(0), factor(1)];
        Self { mean, factors }
    }

    /// The identity scaling.
    pub(super) fn none(dim: usize) -> Self {
        Self { mean: vec![0.0; dim], factors: [1.0, 1.0] }
    }

    /// Converts a constant and weights for scaled states to those that give the same scores on unscaled ones.
    pub(super) fn worked_into(&self, constant: f64, weights: &[f32]) -> (f64, Vec<f32>) {
        let half = weights.len() / 2;
        let mut shifted = constant;
        let scaled = weights.iter().zip(&self.mean).enumerate().map(|(column, (weight, mean))| {
            let weight = f64::from(*weight) * f64::from(self.factors[usize::from(column >= half)]);
            shifted -= weight * f64::from(*mean);
            weight as f32
        });
        let scaled = scaled.collect();
        (shifted, scaled)
    }

    /// A word's states as input of the head: `(state - mean) * factor`.
    pub fn scaled(&self, state: &[f32], into: &mut [f32]) {
        let half = state.len() / 2;
        for (column, ((value, mean), scaled)) in state.iter().zip(&self.mean).zip(into).enumerate() {
            *scaled = (value - mean) * self.factors[usize::from(column >= half)];
        }
    }
}

/// Training words and answers, laid out for many passes.
pub(super) struct Design {
    /// Scaled states, `[words][dim]`.
    pub(super) states: Vec<f32>,
    pub(super) dim: usize,
    forms: Vec<u32>,
    weights: Vec<f32>,
    answers: Vec<DesignAnswer>,
    annotators: usize,
    form_count: usize,
}

struct DesignAnswer {
    first: usize,
    words: usize,
    annotator: u32,
    answer: usize,
}

impl Design {
    /// Lays out the answers (indices into `answers`) and the words of their texts.
    pub(super) fn new(
        texts: &SpanTexts,
        answers: &[SpanAnswer],
        of: &[usize],
        annotators: usize,
        scaling: &Scaling,
    ) -> Self {
        let mut rows: Vec<u32> = of.iter().map(|answer| answers[*answer].text).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut first_of = std::collections::HashMap::new();
        let dim = texts.dim();
        let mut design = Self {
            states: Vec::new(),
            dim,
            forms: Vec::new(),
            weights: Vec::new(),
            answers: Vec::new(),
            annotators,
            form_count: texts.forms(),
        };
        for row in rows {
            first_of.insert(row, design.forms.len());
            for word in texts.words(row) {
                let at = design.states.len();
                design.states.resize(at + dim, 0.0);
                scaling.scaled(texts.state(word), &mut design.states[at..]);
                design.forms.push(texts.form(word));
                design.weights.push(texts.weight(word));
            }
        }
        design.answers = of
            .iter()
            .map(|&answer| {
                let SpanAnswer { text, annotator, .. } = answers[answer];
                let words = texts.words(text).len();
                DesignAnswer { first: first_of[&text], words, annotator, answer }
            })
            .collect();
        design
    }

    pub(super) fn words(&self) -> usize {
        self.forms.len()
    }

    /// Numbers of parameters: constant, states, forms, annotators.
    pub(super) fn parameters(&self) -> usize {
        1 + self.dim + self.form_count + self.annotators
    }

    fn columns(&self, priors: &Priors) -> usize {
        if priors.context.is_some() { self.dim } else { self.dim / 2 }
    }

    /// Scores of all training words under `x`, without annotators.
    pub(super) fn scores(&self, x: &[f64], priors: &Priors, scores: &mut Vec<f64>) {
        let columns = self.columns(priors);
        let weights: Vec<f32> = x[1..=columns].iter().map(|value| *value as f32).collect();
        let forms = 1 + self.dim;
        scores.clear();
        scores.extend((0..self.words()).map(|word| {
            let row = &self.states[word * self.dim..word * self.dim + columns];
            x[0] + f64::from(dot(row, &weights)) + x[forms + self.forms[word] as usize]
        }));
    }

    /// The precision of each parameter's prior.
    fn precisions(&self, priors: &Priors) -> Vec<f64> {
        let half = self.dim / 2;
        let mut all = vec![CONSTANT];
        all.extend(std::iter::repeat_n(priors.embedding, half));
        all.extend(std::iter::repeat_n(priors.context.unwrap_or(1.0), self.dim - half));
        all.extend(std::iter::repeat_n(priors.forms, self.form_count));
        all.extend(std::iter::repeat_n(priors.annotators.unwrap_or(1.0), self.annotators));
        all
    }

    /// A diagonal approximation of the inverse Hessian for words marked at about this rate.
    pub(super) fn inverse_hessian(&self, priors: &Priors, rate: f64) -> Vec<f64> {
        let curvature = (rate * (1.0 - rate)).max(1e-4);
        let mut diagonal = self.precisions(priors);
        let forms = 1 + self.dim;
        let annotators = forms + self.form_count;
        let mut total = 0.0;
        for answer in &self.answers {
            let mut own = 0.0;
            for word in answer.first..answer.first + answer.words {
                let weight = f64::from(self.weights[word]);
                diagonal[forms + self.forms[word] as usize] += weight * curvature;
                own += weight;
            }
            diagonal[annotators + answer.annotator as usize] += own * curvature;
            total += own;
        }
        diagonal[..forms].iter_mut().for_each(|value| *value += total * curvature);
        diagonal.iter().map(|value| 1.0 / value.max(1e-9)).collect()
    }

    /// `sum of weights x Bernoulli deviances / 2 + penalties`, and its gradient. `answers` are all answers,
    /// `of_type` is the type.
    pub(super) fn objective(
        &self,
        x: &[f64],
        gradient: &mut [f64],
        answers: &[SpanAnswer],
        of_type: usize,
        priors: &Priors,
        scores: &mut Vec<f64>,
    ) -> f64 {
        self.scores(x, priors, scores);
        let annotators = 1 + self.dim + self.form_count;
        gradient.fill(0.0);
        let mut residuals = vec![0.0_f64; self.words()];
        let mut loss = 0.0;
        for answer in &self.answers {
            let own = annotators + answer.annotator as usize;
            let readiness = if priors.annotators.is_some() { x[own] } else { 0.0 };
            let mut sum = 0.0;
            let marks = answers[answer.answer].marked(answer.words, of_type);
            for (word, marked) in (answer.first..answer.first + answer.words).zip(marks) {
                let weight = f64::from(self.weights[word]);
                let score = scores[word] + readiness;
                let p = sigmoid(score);
                loss -= weight * ln_probability(score, marked);
                let residual = weight * (p - f64::from(u8::from(marked)));
                residuals[word] += residual;
                sum += residual;
            }
            gradient[own] += sum;
        }
        if priors.annotators.is_none() {
            gradient[annotators..].fill(0.0);
        }
        self.add_gradient(&residuals, gradient, self.columns(priors));
        for (at, ((value, precision), gradient)) in
            x.iter().zip(self.precisions(priors)).zip(gradient).enumerate()
        {
            let from_mean = if at == 0 { value - priors.constant } else { *value };
            loss += 0.5 * precision * from_mean * from_mean;
            *gradient += precision * from_mean;
        }
        loss
    }

    fn add_gradient(&self, residuals: &[f64], gradient: &mut [f64], columns: usize) {
        let forms = 1 + self.dim;
        let mut states = vec![0.0_f32; columns];
        // Sums in single precision over blocks of words, accumulated in double.
        for (block, residuals) in residuals.chunks(256).enumerate() {
            states.fill(0.0);
            for (nth, residual) in residuals.iter().enumerate() {
                let word = block * 256 + nth;
                let row = &self.states[word * self.dim..word * self.dim + columns];
                let scale = *residual as f32;
                states.iter_mut().zip(row).for_each(|(sum, value)| *sum += scale * value);
                gradient[0] += residual;
                gradient[forms + self.forms[word] as usize] += residual;
            }
            gradient[1..=columns].iter_mut().zip(&states).for_each(|(sum, value)| *sum += f64::from(*value));
        }
    }

    /// For each annotator the curvature of the log-likelihood in that annotator's readiness.
    pub(super) fn curvatures(&self, x: &[f64], scores: &[f64]) -> Vec<f64> {
        let annotators = 1 + self.dim + self.form_count;
        let mut all = vec![0.0; self.annotators];
        for answer in &self.answers {
            let readiness = x[annotators + answer.annotator as usize];
            let words = answer.first..answer.first + answer.words;
            for (score, weight) in scores[words.clone()].iter().zip(&self.weights[words]) {
                let p = sigmoid(score + readiness);
                all[answer.annotator as usize] += f64::from(*weight) * p * (1.0 - p);
            }
        }
        all
    }

    /// Weighted share over all answers of words that are marked with the type, with half a mark added,
    /// strictly between 0 and 1.
    pub(super) fn rate(&self, answers: &[SpanAnswer], of_type: usize) -> f64 {
        let (mut marked, mut all) = (0.5, 1.0);
        for answer in &self.answers {
            let marks = answers[answer.answer].marked(answer.words, of_type);
            for (word, is) in (answer.first..answer.first + answer.words).zip(marks) {
                all += f64::from(self.weights[word]);
                marked += f64::from(u8::from(is)) * f64::from(self.weights[word]);
            }
        }
        marked / all
    }
}

/// `ln p` where the word is marked, `ln (1 - p)` where it is not, for a score in logits.
pub(super) fn ln_probability(score: f64, marked: bool) -> f64 {
    let score = if marked { score } else { -score };
    if score > 0.0 { -(-score).exp().ln_1p() } else { score - score.exp().ln_1p() }
}

/// Dot product in single precision with eight running sums.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    for (x, y) in a8.iter().zip(b8) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>()
}
