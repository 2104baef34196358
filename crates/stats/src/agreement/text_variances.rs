//! Variance of the labels of each text, estimated from few labels.

use crate::data::Observation;

/// The variance of a label about the mean of its text, text by text.
///
/// A sample variance of five labels is uncertain, and that of five equal labels is 0: each is shrunk towards
/// that of all texts by credibility (Bühlmann 1967),
/// `s_t^2 = s^2 + V / (V + 2 (s^4 + V) / (n_t - 1)) (v_t - s^2)`, where `v_t` are the sample variances, `s^2`
/// is their mean weighted by degrees of freedom, and `V`, the variance of the true ones between texts, is the
/// variance of the sample variances in excess of that of normal labels (method of moments). Where there is no
/// excess all texts have the same variance.
#[derive(Clone, Debug, PartialEq)]
pub struct TextVariances {
    /// Variance of each text, in squared levels.
    variances: Vec<f64>,
    labels: Vec<u32>,
}

impl TextVariances {
    /// Estimates the variances of `observations` on `texts`; levels count as 0, 1, 2, ... `None` without a
    /// text with two labels.
    ///
    /// # Panics
    /// If an observation is beyond the texts.
    pub fn new(observations: &[Observation], texts: usize) -> Option<Self> {
        let (mut n, mut sum, mut squares) = (vec![0_u32; texts], vec![0.0; texts], vec![0.0; texts]);
        for label in observations {
            let (text, level) = (label.text as usize, f64::from(label.level));
            n[text] += 1;
            sum[text] += level;
            squares[text] += level * level;
        }
        let sample = |text: usize| -> Option<(f64, f64)> {
            let labels = f64::from(n[text]);
            let left = squares[text] - sum[text] * sum[text] / labels;
            (n[text] > 1).then(|| (labels - 1.0, left.max(0.0) / (labels - 1.0)))
        };
        let known: Vec<(f64, f64)> = (0..texts).filter_map(sample).collect();
        let freedom: f64 = known.iter().map(|(df, _)| df).sum();
        if known.is_empty() {
            return None;
        }
        let pooled = known.iter().map(|(df, v)| df * v).sum::<f64>() / freedom;
        let spread: f64 = known.iter().map(|(df, v)| df * (v - pooled).powi(2)).sum();
        let twice = 2.0 * known.len() as f64;
        let between = ((spread - twice * pooled * pooled) / (freedom + twice)).max(0.0);
        let of_text = |text: usize| {
            let Some((df, own)) = sample(text) else { return pooled };
            let noise = 2.0 * (pooled * pooled + between) / df;
            let share = if between > 0.0 { between / (between + noise) } else { 0.0 };
            pooled + share * (own - pooled)
        };
        Some(Self { variances: (0..texts).map(of_text).collect(), labels: n })
    }

    /// Width of the 95 % interval of the mean of a text's labels, in levels; `None` without a label.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn width(&self, text: usize) -> Option<f64> {
        let n = f64::from(self.labels[text]);
        (n > 0.0).then(|| 2.0 * super::components::Z * (self.variances[text] / n).sqrt())
    }

    /// Labels that a text needs for an interval of this width: `(2 z / width)^2 s_t^2`, at least one.
    ///
    /// # Panics
    /// The same as [`TextVariances::width`].
    pub fn labels_for_width(&self, text: usize, width: f64) -> f64 {
        // Tolerance for rounding: 16.000000000000004 labels count as 16.
        ((2.0 * super::components::Z / width).powi(2) * self.variances[text] - 1e-6).ceil().max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn labels(of: &[&[u16]]) -> Vec<Observation> {
        let text = |(text, levels): (usize, &&[u16])| {
            let one = |(annotator, level): (usize, &u16)| Observation {
                text: text as u32,
                annotator: annotator as u32,
                level: *level,
            };
            levels.iter().enumerate().map(one).collect::<Vec<_>>()
        };
        of.iter().enumerate().flat_map(text).collect()
    }

    /// By hand: sample variances 0, 2 and 0 of two labels each vary no more than by chance: all texts get
    /// 2/3.
    #[test]
    fn variances_shrink_fully_if_chance_explains_them() {
        let found = TextVariances::new(&labels(&[&[1, 1], &[0, 2], &[3, 3], &[2], &[]]), 5).unwrap();
        let width = |n: f64| 2.0 * 1.959_963_984_540_054 * (2.0 / 3.0 / n).sqrt();
        for (text, n) in [(0, 2.0), (1, 2.0), (3, 1.0)] {
            assert!((found.width(text).unwrap() - width(n)).abs() < 1e-12, "{text}");
        }
        assert_eq!(found.width(4), None);
        assert!((found.labels_for_width(4, width(1.0)) - 1.0).abs() < 1e-9);
        assert_eq!(found.labels_for_width(0, width(7.0)), 7.0);
        assert!(TextVariances::new(&labels(&[&[1], &[2]]), 2).is_none());
        assert!(TextVariances::new(&[], 0).is_none());
    }

    /// By hand: twelve texts of ten labels, six with variance 0 and six with 40/9 (five at either end of five
    /// levels). s^2 = 20/9, the sample variances spread by 9 x 12 x (20/9)^2 = 533.3, of which 24 s^4 = 118.5
    /// is chance: V = 414.8 / 132 = 3.142.
    #[test]
    fn differing_variances_shrink_little() {
        let (alike, apart): ([u16; 10], [u16; 10]) = ([2; 10], [0, 0, 0, 0, 0, 4, 4, 4, 4, 4]);
        let all: Vec<&[u16]> = (0..12).map(|t| if t % 2 == 0 { &alike[..] } else { &apart[..] }).collect();
        let found = TextVariances::new(&labels(&all), 12).unwrap();
        let pooled = 20.0 / 9.0;
        let between = (108.0 * pooled * pooled - 24.0 * pooled * pooled) / 132.0;
        let share = between / (between + 2.0 * (pooled * pooled + between) / 9.0);
        assert!((found.variances[0] - pooled * (1.0 - share)).abs() < 1e-12);
        assert!((found.variances[1] - pooled * (1.0 + share)).abs() < 1e-12);
        assert!(found.variances[0] > 0.0 && share > 0.5, "{share}");
    }

    /// Texts on which people agree and texts on which they are divided, six to ten labels each: for texts
    /// that may stop because their interval is narrow enough, the coverage of the interval is nearly the
    /// nominal one, although they were selected by their labels.
    #[test]
    fn texts_stopped_by_width_have_valid_intervals() {
        let chances: [[f64; 5]; 3] =
            [[0.8, 0.15, 0.05, 0.0, 0.0], [0.1, 0.3, 0.3, 0.2, 0.1], [0.4, 0.1, 0.0, 0.1, 0.4]];
        let mean = |p: &[f64; 5]| -> f64 { p.iter().enumerate().map(|(c, p)| c as f64 * p).sum() };
        let (mut held, mut stopped, mut wide) = (0_u32, 0_u32, 0_u32);
        for seed in 0..40 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut all = Vec::new();
            for text in 0..150 {
                for annotator in 0..rng.random_range(6..=10) {
                    let (mut left, mut level) = (rng.random::<f64>(), 0);
                    while level < 4 && left >= chances[text % 3][level] {
                        left -= chances[text % 3][level];
                        level += 1;
                    }
                    all.push(Observation { text: text as u32, annotator, level: level as u16 });
                }
            }
            let found = TextVariances::new(&all, 150).unwrap();
            for text in (0..150).filter(|text| found.width(*text).unwrap() <= 1.4) {
                let levels: Vec<f64> =
                    all.iter().filter(|o| o.text as usize == text).map(|o| f64::from(o.level)).collect();
                let own = levels.iter().sum::<f64>() / levels.len() as f64;
                stopped += 1;
                wide += u32::from(text % 3 == 2);
                held += u32::from((own - mean(&chances[text % 3])).abs() <= found.width(text).unwrap() / 2.0);
            }
        }
        let share = f64::from(held) / f64::from(stopped);
        eprintln!("{stopped} of 6000 texts stop, {wide} of the divided ones; {share:.3} hold the mean");
        assert!(stopped > 1000 && share > 0.92, "{stopped} {share}");
        assert!(wide * 20 < stopped, "{wide} divided texts of {stopped}");
    }
}
