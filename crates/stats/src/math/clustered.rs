//! Sums over labels with standard errors that account for the correlation of labels of one annotator, or of
//! one text.

use crate::math::distributions::student_quantile;

/// One-sided confidence that a gain must have, with Student's t over annotators, so that it is valid with few
/// of them.
const CONFIDENCE: f64 = 0.977_249_868;
/// Smallest total gain of the labels, in nats: where every label is the same level, all gains are tiny and
/// nearly equal.
const MIN_GAIN: f64 = 2.0;
/// Minimum number of annotators with labels for a test over annotators.
pub const MIN_ANNOTATORS: usize = 3;

/// Whether labels gain by more than chance; `gains` are (text, gain), annotator by annotator.
pub fn more_than_chance(gains: &[Vec<(u32, f64)>], texts: usize) -> bool {
    if gains.len() < MIN_ANNOTATORS {
        return false;
    }
    let (total, error) = total_and_two_way_error(gains, texts);
    total > MIN_GAIN && total > student_quantile(CONFIDENCE, gains.len() - 1) * error
}

/// Sum of gains and the standard error of that sum over annotators: the square root of n times their sample
/// variance.
pub fn total_and_error(gains: &[f64]) -> (f64, f64) {
    let n = gains.len() as f64;
    let total: f64 = gains.iter().sum();
    let squares: f64 = gains.iter().map(|g| (g - total / n).powi(2)).sum();
    let error = if gains.len() < 2 { f64::INFINITY } else { (squares / (n - 1.0) * n).sqrt() };
    (total, error)
}

/// Sum of values of labels, (text, value) annotator by annotator, and its standard error where labels of one
/// annotator and labels of one text covary: variances over annotators and over texts minus that over labels,
/// which both include (Cameron, Gelbach and Miller 2011, Robust inference with multiway clustering); not
/// below the larger of the two.
pub fn total_and_two_way_error(gains: &[Vec<(u32, f64)>], texts: usize) -> (f64, f64) {
    let mut by_text = vec![0.0; texts];
    let mut labelled = vec![false; texts];
    gains.iter().flatten().for_each(|&(text, gain)| {
        by_text[text as usize] += gain;
        labelled[text as usize] = true;
    });
    let by_text: Vec<f64> =
        by_text.into_iter().zip(labelled).filter(|(_, l)| *l).map(|(gain, _)| gain).collect();
    let by_annotator: Vec<f64> = gains.iter().map(|labels| labels.iter().map(|l| l.1).sum()).collect();
    let by_label: Vec<f64> = gains.iter().flatten().map(|l| l.1).collect();
    let (total, annotators) = total_and_error(&by_annotator);
    let (texts, labels) = (total_and_error(&by_text).1, total_and_error(&by_label).1);
    let both = annotators.powi(2) + texts.powi(2) - labels.powi(2);
    (total, both.max(annotators.powi(2)).max(texts.powi(2)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_error_of_a_sum_is_exact() {
        let (total, error) = total_and_error(&[1.0, 3.0]);
        assert_eq!(total, 4.0);
        assert!((error - 2.0).abs() < 1e-12);
        assert_eq!(total_and_error(&[1.0]).1, f64::INFINITY);
    }

    /// Values common to one annotator, or one text, count as one; unrelated values as in an ordinary sum.
    #[test]
    fn clustered_values_widen_the_error() {
        let by = |value: &dyn Fn(u32, u32) -> f64| -> Vec<Vec<(u32, f64)>> {
            (0..12).map(|a| (0..12).map(|t| (t, value(a, t))).collect()).collect()
        };
        let sign = |n: u32| if n.is_multiple_of(2) { 1.0 } else { -1.0 };
        let alone = total_and_two_way_error(&by(&|a, t| sign(a * 5 + t * 7 + a * t / 3)), 12).1;
        let annotators = total_and_two_way_error(&by(&|a, _| sign(a)), 12).1;
        let texts = total_and_two_way_error(&by(&|_, t| sign(t)), 12).1;
        // 12 independent values of 12 labels each: 12 times the root of 12, with Bessel's correction.
        let expected = 12.0 * (12.0f64 * 12.0 / 11.0).sqrt();
        assert!(
            (annotators - expected).abs() < 0.2 * expected && (texts - annotators).abs() < 1e-9,
            "{annotators} {texts}"
        );
        assert!(alone < 0.6 * annotators, "{alone} {annotators}");
    }
}
