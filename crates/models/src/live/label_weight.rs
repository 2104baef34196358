//! Weight of the spread of a text's own labels in predicting the answers of others, beyond the prediction.

use super::model::LiveModel;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::maximum;
use dissensus_stats::math::distributions::student_quantile;
use rayon::prelude::*;

/// Number of random divisions of each text's people; a single one would depend on chance.
const DIVISIONS: u64 = 4;
/// Minimum number of texts with labels on both sides for learning a weight.
const MIN_TEXTS: usize = 30;
/// Candidates for the number of labels at which the weight is a half: the smallest, and the factor to the
/// next.
const SMALLEST: f64 = 0.5;
const FACTOR: f64 = 1.25;
const TRIED: i32 = 32;
/// Probability of finding a weight where there is none (two standard errors).
const BY_CHANCE: f64 = 0.0228;

/// The weight of the spread of a text's labels relative to the prediction: `n / (n + half_at)` for n labels.
///
/// Each text's people are divided into halves. The spread of one half's labels beyond its prediction, times
/// the weight, is compared with the spread of the other half's labels beyond theirs; both predictions are
/// based on the first half only. The weight has the least squared error, and is 0 unless the two halves
/// covary by more than two standard errors over texts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LabelWeight {
    /// Labels at which the weight is a half; `None` where it is 0.
    pub half_at: Option<f64>,
    /// Standard deviation between texts of the spread beyond the prediction, as the distance of two answers;
    /// 0 without a weight.
    pub sd: f64,
    /// Mean underprediction of the spread over all texts.
    pub offset: f64,
    pub texts: usize,
}

/// Values of one text: for each half, known and held out.
struct HalvesOfText {
    known: f64,
    x: f64,
    y: f64,
}

impl LabelWeight {
    /// Weight for this number of labels, 0 to 1.
    pub fn of(&self, labels: usize) -> f64 {
        match self.half_at {
            Some(half_at) if labels > 1 => labels as f64 / (labels as f64 + half_at),
            _ => 0.0,
        }
    }

    fn learn(mut texts: Vec<Vec<HalvesOfText>>) -> Self {
        texts.retain(|halves| !halves.is_empty());
        let none = Self { texts: texts.len(), ..Self::default() };
        if texts.len() < MIN_TEXTS {
            return none;
        }
        let halves = texts.iter().map(Vec::len).sum::<usize>() as f64;
        let mean = |of: fn(&HalvesOfText) -> f64| texts.iter().flatten().map(of).sum::<f64>() / halves;
        let (of_known, of_held_out) = (mean(|half| half.x), mean(|half| half.y));
        // The covariation of the two halves of each text; chance makes it negative as often as positive.
        let together: Vec<f64> = texts
            .iter()
            .map(|halves| {
                let of = |half: &HalvesOfText| (half.x - of_known) * (half.y - of_held_out);
                halves.iter().map(of).sum::<f64>() / halves.len() as f64
            })
            .collect();
        let n = together.len() as f64;
        let covariance = together.iter().sum::<f64>() / n;
        let variance = together.iter().map(|of| (of - covariance).powi(2)).sum::<f64>() / (n - 1.0);
        let bar = student_quantile(1.0 - BY_CHANCE, together.len() - 1) * (variance / n).sqrt();
        if covariance.is_nan() || covariance <= bar {
            return none;
        }
        let error = |half_at: &f64| -> f64 {
            let of = |half: &HalvesOfText| {
                let weight = half.known / (half.known + half_at);
                (half.y - of_held_out - weight * (half.x - of_known)).powi(2)
            };
            texts.iter().flatten().map(of).sum()
        };
        let tried = (0..TRIED).map(|at| SMALLEST * FACTOR.powi(at));
        let errors = tried.map(|half_at| (error(&half_at), half_at));
        let Some((_, half_at)) = errors.min_by(|a, b| a.0.total_cmp(&b.0)) else { return none };
        Self { half_at: Some(half_at), sd: covariance.sqrt(), offset: of_known, texts: texts.len() }
    }
}

impl LiveModel {
    /// The weight of labels in this project, learned from halves of each text's people.
    pub fn label_weight(&self) -> LabelWeight {
        let crossed = &self.model.crossed;
        let of_text = |text: usize| -> Vec<HalvesOfText> {
            let halves = (0..DIVISIONS).filter_map(|turn| crossed.halves_of(text, turn)).flatten();
            halves
                .map(|half| HalvesOfText { known: half.known as f64, x: half.of_known, y: half.of_held_out })
                .collect()
        };
        LabelWeight::learn((0..self.texts()).into_par_iter().map(of_text).collect())
    }

    /// Contribution of the labels of a text to its predicted split among the annotators of `mask` (all of
    /// them with `None`), and the standard deviation of the remaining uncertainty. Pairs of people who both
    /// labelled the text need no prediction.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn added_by_labels(&self, weight: &LabelWeight, text: u32, mask: Option<&[bool]>) -> (f32, f32) {
        if weight.half_at.is_none() {
            return (0.0, 0.0);
        }
        let chosen = |annotator: u32| mask.is_none_or(|mask| mask.get(annotator as usize) == Some(&true));
        let labels = self.labels_on(text, mask);
        let people = mask.map_or(self.annotators(), |mask| mask.iter().filter(|chosen| **chosen).count());
        let most = match self.is_ordinal() {
            true => maximum::squared_distance(people, self.levels()),
            false => maximum::differ(people, self.levels()),
        };
        let pairs = |n: usize| n as f64 * (n as f64 - 1.0);
        let open = if people > 1 { (1.0 - pairs(labels) / pairs(people)).max(0.0) } else { 0.0 };
        let beyond = self.model.crossed.spread_beyond(text as usize, chosen);
        let w = if beyond.is_some() { weight.of(labels) } else { 0.0 };
        let added = w * beyond.map_or(0.0, |beyond| beyond - weight.offset);
        ((open * added / most) as f32, (open * weight.sd * (1.0 - w).sqrt() / most) as f32)
    }
}
