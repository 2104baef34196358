//! Intervals of figures about words, and of their differences.

use super::data::SpanAnswer;
use super::evaluate::SpanPredictions;
use super::scored_words::ScoredWords;
use super::simulated::{Simulated, simulated};
use super::token_scores::{PredictedMarks, TokenScores};
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::{Progress, Silent};
use dissensus_stats::math::random::generator;
use dissensus_stats::math::sigmoid;
use dissensus_stats::metrics::Resampled;
use rand_distr::{Distribution as _, StandardNormal};

/// The probabilities that generated the marks, for a person of average readiness, with scores multiplied by
/// `steepness`.
fn predictions(data: &Simulated, answers: &[&SpanAnswer], steepness: f64) -> SpanPredictions {
    let of = |answer: &&SpanAnswer| {
        let p = |word: usize| {
            let state = data.texts.state(word);
            sigmoid(steepness * (1.5 * f64::from(state[0]) + f64::from(state[5]) - 1.5)) as f32
        };
        data.texts.words(answer.text).map(p).collect()
    };
    SpanPredictions::new("known", answers.iter().map(of).collect(), vec![0.4])
}

fn all(data: &Simulated) -> Vec<&SpanAnswer> {
    data.answers.iter().collect()
}

fn resampled(data: &Simulated, steepness: f64) -> Resampled {
    let answers = all(data);
    predictions(data, &answers, steepness).resampled(&data.texts, &answers, 5, &Silent).unwrap()
}

#[test]
fn subset_is_scored_independently() {
    let data = simulated(40, 8, 1.0, 31);
    let answers = all(&data);
    let p: Vec<Vec<f32>> = answers
        .iter()
        .enumerate()
        .map(|(at, answer)| {
            let words = data.texts.words(answer.text);
            words.map(|word| 0.05 + 0.9 * ((word * 7 + at * 13) % 10) as f32 / 10.0).collect()
        })
        .collect();
    let of = |at: &usize| PredictedMarks { answer: answers[*at], probabilities: &p[*at], thresholds: &[0.5] };
    let places: Vec<usize> = (0..answers.len()).collect();
    let predicted: Vec<PredictedMarks<'_>> = places.iter().map(of).collect();
    let scored = ScoredWords::new(&data.texts, &predicted);
    let keeps: [&dyn Fn(usize) -> bool; 4] =
        [&|_| true, &|at| answers[at].annotator != 3, &|at| !answers[at].text.is_multiple_of(3), &|at| {
            at % 7 != 0
        }];
    for keep in keeps {
        let kept: Vec<PredictedMarks<'_>> = places.iter().filter(|at| keep(**at)).map(of).collect();
        assert_eq!(scored.scores(keep), TokenScores::new(&data.texts, &kept));
    }
}

/// Texts and people of each world are drawn anew: an interval must contain the value of all worlds combined.
#[test]
fn ninety_percent_intervals_cover() {
    let worlds: Vec<Simulated> = (0..60).map(|seed| simulated(60, 12, 0.7, 1000 + seed)).collect();
    let whole: Vec<[(&str, Option<f64>); 10]> = worlds
        .iter()
        .map(|data| {
            let answers = all(data);
            let known = predictions(data, &answers, 1.0);
            known.evaluation(&data.texts, &answers, |_| true).scores.values()
        })
        .collect();
    // In these worlds people differ on at least one word of nearly every text.
    let keys = whole[0].iter().enumerate().filter(|(_, (key, _))| *key != "text_disagreement_auroc");
    for (at, (key, _)) in keys {
        let figures: Vec<f64> = whole.iter().map(|of| of[at].1.unwrap()).collect();
        let truth = figures.iter().sum::<f64>() / 60.0;
        let held = worlds.iter().filter(|data| {
            let (low, high) = resampled(data, 1.0).intervals(0.9).unwrap()[*key];
            (low..high).contains(&truth)
        });
        let held = held.count();
        assert!((46..=60).contains(&held), "{key}: {held} of 60 hold {truth}");
    }
}

/// Two models with equal errors, each by independent noise on every word.
#[test]
fn ninety_percent_intervals_of_no_difference_cover_zero() {
    let held = (0..60).filter(|seed| {
        let data = simulated(60, 12, 0.7, 2000 + seed);
        let answers = all(&data);
        let noisy = |stream: u64| {
            let mut rng = generator(*seed, stream);
            let noise: Vec<f64> = (0..60 * 12).map(|_| StandardNormal.sample(&mut rng)).collect();
            let of = |answer: &&SpanAnswer| {
                let p = |word: usize| {
                    let state = data.texts.state(word);
                    let score = 1.5 * f64::from(state[0]) + f64::from(state[5]) - 1.5;
                    sigmoid(score + 0.7 * noise[word]) as f32
                };
                data.texts.words(answer.text).map(p).collect()
            };
            let noisy = SpanPredictions::new("noisy", answers.iter().map(of).collect(), vec![0.4]);
            noisy.resampled(&data.texts, &answers, *seed, &Silent).unwrap()
        };
        let difference = noisy(1).less(&noisy(2), 0.9).unwrap()["token_log_loss"];
        difference.low.unwrap() < 0.0 && difference.high.unwrap() > 0.0
    });
    let held = held.count();
    assert!((46..=60).contains(&held), "{held} of 60");
}

#[test]
fn difference_detects_a_worse_model() {
    let data = simulated(150, 10, 0.5, 32);
    let (known, flat, steep) = (resampled(&data, 1.0), resampled(&data, 0.2), resampled(&data, 1.1));
    let worse = flat.less(&known, 0.9).unwrap();
    let loss = worse["token_log_loss"];
    assert!(loss.low.unwrap() > 0.0 && loss.difference > 0.02, "{loss:?}");
    let close = steep.less(&known, 0.9).unwrap()["token_log_loss"];
    // Both models see the same texts: their difference has a much smaller error than either.
    let (low, high) = known.intervals(0.9).unwrap()["token_log_loss"];
    assert!(close.high.unwrap() - close.low.unwrap() < 0.3 * (high - low));
    assert!(known.less(&known, 0.9).unwrap().values().all(|one| one.difference == 0.0 && one.low.is_none()));
    let other = simulated(149, 10, 0.5, 32);
    let refused = known.less(&resampled(&other, 1.0), 0.9).unwrap_err();
    assert!(matches!(refused, ModelError::DifferentLabels { .. }));
    assert_eq!(known.intervals(1.0).unwrap_err(), ModelError::Confidence(1.0));
}

#[test]
fn figures_of_too_little_data_have_no_interval() {
    let keys = |data: &Simulated| -> Vec<String> {
        resampled(data, 1.0).intervals(0.9).unwrap().into_keys().collect()
    };
    let mut enough = simulated(60, 8, 1.0, 33);
    // Texts without disagreement are needed as well.
    enough.answers.iter_mut().filter(|answer| answer.text < 15).for_each(|answer| answer.marks.clear());
    assert_eq!(keys(&enough).len(), 10);
    assert!(!keys(&simulated(60, 8, 1.0, 33)).contains(&"text_disagreement_auroc".to_owned()));
    assert!(keys(&simulated(19, 8, 1.0, 33)).is_empty());
    assert!(keys(&simulated(60, 4, 1.0, 33)).is_empty());
    // Marks in nine texts are too few for F1 and for detecting disagreement, but not for the loss.
    let mut rare = simulated(60, 8, 1.0, 33);
    rare.answers.iter_mut().filter(|answer| answer.text >= 9).for_each(|answer| answer.marks.clear());
    assert_eq!(keys(&rare), ["text_disagreement_spearman", "token_disagreement_spearman", "token_log_loss"]);
}

#[test]
fn intervals_stay_in_range_and_can_be_cancelled() {
    let mut data = simulated(25, 6, 1.0, 34);
    // One text in five is marked as predicted, and all others have no marks.
    for answer in &mut data.answers {
        answer.marks.clear();
        if answer.text.is_multiple_of(2) {
            answer.marks.push((3, 1));
        }
    }
    let answers = all(&data);
    let p = |answer: &&SpanAnswer| -> Vec<f32> {
        (0..12).map(|word| if word == 3 && answer.text.is_multiple_of(2) { 0.99 } else { 0.001 }).collect()
    };
    let mut p: Vec<Vec<f32>> = answers.iter().map(p).collect();
    p[0][3] = 0.01;
    let known = SpanPredictions::new("known", p, vec![0.5]);
    let own = known.resampled(&data.texts, &answers, 1, &Silent).unwrap();
    let found = known.evaluation(&data.texts, &answers, |_| true).with_intervals(&own, 0.9).unwrap();
    let (low, high) = found.intervals["span_f1_exact"];
    assert!(low < found.scores.span_f1_exact.unwrap() && high == 1.0, "{low} {high}");
    assert!(found.intervals["token_log_loss"].0 >= 0.0);

    struct Stop;
    impl Progress for Stop {
        fn report(&self, _: u64, _: Option<u64>, _: &str) {}
        fn cancelled(&self) -> bool {
            true
        }
    }
    let stopped = known.resampled(&data.texts, &answers, 1, &Stop).unwrap_err();
    assert_eq!(stopped, ModelError::Cancelled);
}
