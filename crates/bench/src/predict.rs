//! Predictions and disagreement of all annotators on all texts, in bounded memory.

use crate::figures::peak_mib;
use dissensus_selection::bench::predictor;
use dissensus_stats::data::AnnotatorModel;
use dissensus_stats::disagreement::disagreement_of_texts;
use serde::Serialize;
use std::time::Instant;

/// Number of texts timed in the large run; the rate is the same for all.
const LARGE_TEXTS_TIMED: usize = 2_000;

/// Prediction speed.
#[derive(Clone, Debug, Serialize)]
pub struct PredictBench {
    /// One entry per size.
    pub runs: Vec<PredictTime>,
    /// Peak memory of the process in MiB, where the system reports it.
    pub peak_mib: Option<f64>,
}

/// Time of one pass over all predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PredictTime {
    /// Total number of texts; see `texts_timed`.
    pub texts: usize,
    pub annotators: usize,
    pub levels: usize,
    /// Number of texts timed: all, or the first ones if there is a limit.
    pub texts_timed: usize,
    /// Seconds for those texts, with all measures.
    pub seconds: f64,
    /// (text, annotator) distributions per second.
    pub distributions_per_second: f64,
    /// Mean of the pairwise measure, so that the compiler cannot optimize the work away.
    pub mean_pairwise: f64,
}

/// Times 10,000 texts x 262 annotators x 5 levels; with `large` also 100,000 x 17,000 binary, of which some
/// texts are timed.
pub fn predict(large: bool) -> PredictBench {
    let mut runs = vec![timed(predictor(10_000, 262, 5, 1).as_ref(), true, None)];
    if large {
        runs.push(timed(predictor(100_000, 17_000, 2, 1).as_ref(), false, Some(LARGE_TEXTS_TIMED)));
    }
    PredictBench { runs, peak_mib: peak_mib() }
}

/// Times the measures of all texts, or of the first `limit` if all would take too long.
fn timed(model: &dyn AnnotatorModel, ordinal: bool, limit: Option<usize>) -> PredictTime {
    let texts_timed = limit.unwrap_or(usize::MAX).min(model.texts());
    let start = Instant::now();
    let all = disagreement_of_texts(model, 0..texts_timed, None, ordinal);
    let seconds = start.elapsed().as_secs_f64();
    let sum: f64 = all.iter().map(|d| f64::from(d.pairwise)).sum();
    PredictTime {
        texts: model.texts(),
        annotators: model.annotators(),
        levels: model.levels(),
        texts_timed,
        seconds,
        distributions_per_second: (texts_timed * model.annotators()) as f64 / seconds.max(1e-9),
        mean_pairwise: sum / texts_timed.max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_texts_are_timed_with_a_limit() {
        let model = predictor(50, 7, 5, 3);
        let (all, some) = (timed(model.as_ref(), true, None), timed(model.as_ref(), true, Some(20)));
        assert_eq!((all.texts_timed, some.texts_timed, some.texts), (50, 20, 50));
        assert!(all.seconds > 0.0 && (0.0..=1.0).contains(&all.mean_pairwise), "{all:?}");
    }
}
