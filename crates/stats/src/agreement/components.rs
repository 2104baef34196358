//! Decomposition of the variance of single labels into parts between texts, between annotators, and residual.

use crate::data::Observation;
use crate::math::random::generator;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// Variances of a label's parts, crossed random effects of texts and annotators, in squared levels (for a
/// scale without order: summed over the indicators of its levels). An estimate below 0 counts as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VarianceComponents {
    /// Between texts.
    pub text: f64,
    /// Between annotators: their severity.
    pub annotator: f64,
    /// Residual: individual preferences on single texts, and chance.
    pub residual: f64,
}

/// The annotators and texts of all labels: sufficient to simulate labels and to estimate components.
#[derive(Clone, Debug)]
pub struct LabelDesign {
    cells: Vec<(u32, u32)>,
    per_text: Vec<f64>,
    per_annotator: Vec<f64>,
}

impl LabelDesign {
    /// The design of `observations` among `texts` and `annotators`.
    ///
    /// # Panics
    /// If an observation is out of range.
    pub fn new(observations: &[Observation], texts: usize, annotators: usize) -> Self {
        let mut design = Self {
            cells: observations.iter().map(|o| (o.text, o.annotator)).collect(),
            per_text: vec![0.0; texts],
            per_annotator: vec![0.0; annotators],
        };
        for (text, annotator) in &design.cells {
            design.per_text[*text as usize] += 1.0;
            design.per_annotator[*annotator as usize] += 1.0;
        }
        design
    }

    /// Number of labels.
    pub fn labels(&self) -> usize {
        self.cells.len()
    }

    /// Components of values, one for each label in the order of the design: from the sums of squares of
    /// totals, unbiased for any numbers of labels (Henderson 1953, Estimation of variance and covariance
    /// components, method 1). `None` where they are not identifiable: one label per text, or one label per
    /// annotator.
    fn estimate(&self, values: impl Iterator<Item = f64>) -> Option<VarianceComponents> {
        let mut texts = vec![0.0; self.per_text.len()];
        let mut annotators = vec![0.0; self.per_annotator.len()];
        let (mut squares, mut sum) = (0.0, 0.0);
        for (value, (text, annotator)) in values.zip(&self.cells) {
            texts[*text as usize] += value;
            annotators[*annotator as usize] += value;
            squares += value * value;
            sum += value;
        }
        let n = self.cells.len() as f64;
        let of_totals = |totals: &[f64], counts: &[f64]| -> f64 {
            totals.iter().zip(counts).filter(|(_, n)| **n > 0.0).map(|(t, n)| t * t / n).sum()
        };
        let used = |counts: &[f64]| counts.iter().filter(|n| **n > 0.0).count() as f64;
        let spread = |counts: &[f64]| counts.iter().map(|n| n * n).sum::<f64>() / n;
        let (rows, columns) = (used(&self.per_text), used(&self.per_annotator));
        // Expectations of the four sums in terms of the squared mean and the three variances.
        let found = solve([
            [n, n, n, n, squares],
            [n, n, rows, rows, of_totals(&texts, &self.per_text)],
            [n, columns, n, columns, of_totals(&annotators, &self.per_annotator)],
            [n, spread(&self.per_text), spread(&self.per_annotator), 1.0, sum * sum / n],
        ])?;
        Some(VarianceComponents { text: found[1], annotator: found[2], residual: found[3] })
    }

    /// Components of simulated labels: normal effects with the variances of `of` on this design. Texts and
    /// annotators without a label take no part in the draws.
    pub fn simulated(&self, of: &VarianceComponents, seed: u64) -> Option<VarianceComponents> {
        let mut rng = generator(seed, 11);
        let mut normal = |variance: f64| -> f64 {
            let x: f64 = StandardNormal.sample(&mut rng);
            x * variance.max(0.0).sqrt()
        };
        let mut effects = |counts: &[f64], variance: f64| -> Vec<f64> {
            counts.iter().map(|labels| if *labels > 0.0 { normal(variance) } else { 0.0 }).collect()
        };
        let texts = effects(&self.per_text, of.text);
        let annotators = effects(&self.per_annotator, of.annotator);
        let values: Vec<f64> = self
            .cells
            .iter()
            .map(|(t, a)| texts[*t as usize] + annotators[*a as usize] + normal(of.residual))
            .collect();
        self.estimate(values.into_iter())
    }
}

impl LabelDesign {
    /// Draws components that are compatible with labels like these: draws with seeds from 0 on form the
    /// intervals of everything that is computed from components.
    ///
    /// They are generalized pivots (Weerahandi 1993, Generalized confidence intervals; Burdick, Borror and
    /// Montgomery 2005, Design and analysis of gauge R&R studies, ch. 2): labels are simulated with the
    /// components `found`; by as much as their mean squares of texts, of people and of the residual are
    /// *above* those used for the simulation, the true ones are assumed to be *below* those found. With
    /// complete designs this is the exact inversion of F and chi-squared. (Quantiles of the simulated
    /// components themselves cover too little with few people: .80 to .84 for 95 %, on 30 texts by 5 people.)
    pub fn plausible(&self, found: &VarianceComponents, seed: u64) -> Option<VarianceComponents> {
        let again = self.simulated(found, seed)?;
        let (text, annotator, residual) =
            (found.text.max(0.0), found.annotator.max(0.0), found.residual.max(0.0));
        // Mean squares are positive, but their estimates in unbalanced designs may not be.
        let least = 1e-6 * (text + annotator + residual);
        let inverted = |found: f64, again: f64| found * found / again.max(least);
        let rest = inverted(residual, again.residual);
        // Mean square over the number of labels: the variance between units plus this share of the residual.
        let between = |counts: &[f64], found: f64, again_between: f64| -> f64 {
            let (all, used) = (self.cells.len() as f64, counts.iter().filter(|n| **n > 0.0).count() as f64);
            let each = (all - counts.iter().map(|n| n * n).sum::<f64>() / all) / (used - 1.0);
            inverted(found + residual / each, again_between + again.residual / each) - rest / each
        };
        Some(VarianceComponents {
            text: between(&self.per_text, text, again.text),
            annotator: between(&self.per_annotator, annotator, again.annotator),
            residual: rest,
        })
    }
}

impl VarianceComponents {
    /// Components of `observations` on `design`, which was built from them; levels count as 0, 1, 2, ...
    /// where they are `ordered`, else as indicators. `None` where components are not identifiable.
    pub fn new(
        observations: &[Observation],
        design: &LabelDesign,
        levels: usize,
        ordered: bool,
    ) -> Option<Self> {
        if ordered {
            return design.estimate(observations.iter().map(|o| f64::from(o.level)));
        }
        let mut sum = Self::default();
        for level in 0..levels {
            let is = |o: &Observation| f64::from(u8::from(usize::from(o.level) == level));
            let one = design.estimate(observations.iter().map(is))?;
            sum.text += one.text;
            sum.annotator += one.annotator;
            sum.residual += one.residual;
        }
        Some(sum)
    }

    /// Variance of a label about its text's mean, for labels of different people.
    fn within(&self) -> f64 {
        self.annotator.max(0.0) + self.residual.max(0.0)
    }

    /// Annotators per text for a `reliability` of its mean: `R/(1-R) (s_a^2 + s_e^2) / s_t^2`
    /// (Spearman-Brown; Shavelson and Webb 1991, Generalizability theory). Infinite where texts do not
    /// differ.
    pub fn annotators_for_reliability(&self, reliability: f64) -> f64 {
        reliability / (1.0 - reliability) * self.within() / self.text.max(0.0)
    }

    /// Reliability of the mean of this many annotators.
    pub fn reliability_of(&self, annotators: f64) -> f64 {
        let text = self.text.max(0.0);
        if text == 0.0 { 0.0 } else { text / (text + self.within() / annotators) }
    }

    /// Annotators per text for a 95 % interval of its mean level of this width:
    /// `(2 z / width)^2 (s_a^2 + s_e^2)`.
    pub fn annotators_for_width(&self, width: f64) -> f64 {
        (2.0 * Z / width).powi(2) * self.within()
    }

    /// Width of the 95 % interval of a text's mean level from this many annotators.
    pub fn width_of(&self, annotators: f64) -> f64 {
        2.0 * Z * (self.within() / annotators).sqrt()
    }

    /// Labels per person for a `reliability` of that person's severity, where the texts' levels are known
    /// from others: `R/(1-R) s_e^2 / s_a^2`.
    pub fn labels_for_reliability(&self, reliability: f64) -> f64 {
        reliability / (1.0 - reliability) * self.residual.max(0.0) / self.annotator.max(0.0)
    }
}

/// The 97.5 % quantile of a standard normal.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// Solves four equations in four unknowns, with the right side last; `None` where they are singular.
fn solve(mut rows: [[f64; 5]; 4]) -> Option<[f64; 4]> {
    for column in 0..4 {
        let pivot = (column..4).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let pivot = rows[column];
        if pivot[column].abs() < 1e-9 {
            return None;
        }
        for row in &mut rows[column + 1..] {
            let by = row[column] / pivot[column];
            row.iter_mut().zip(pivot).skip(column).for_each(|(x, p)| *x -= by * p);
        }
    }
    let mut out = [0.0; 4];
    for row in (0..4).rev() {
        let known: f64 = (row + 1..4).map(|i| rows[row][i] * out[i]).sum();
        out[row] = (rows[row][4] - known) / rows[row][row];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(texts: u32, people: u32, each: u32) -> LabelDesign {
        let cell =
            |t: u32, i: u32| Observation { text: t, annotator: (t * 7 + i * 3 + t / 5) % people, level: 0 };
        let mut all: Vec<Observation> =
            (0..texts).flat_map(|t| (0..each + t % 3).map(move |i| cell(t, i))).collect();
        all.sort_unstable();
        all.dedup();
        LabelDesign::new(&all, texts as usize, people as usize)
    }

    #[test]
    fn complete_table_matches_anova_components() {
        // Mean squares of rows 4.8333, of columns 7.0, of residuals 0.3333 (R: anova(lm(y ~ row + column))).
        let table = [[1, 2, 4], [2, 3, 4], [3, 5, 6], [0, 1, 3]];
        let observations: Vec<Observation> = (0..12)
            .map(|i| Observation {
                text: i / 3,
                annotator: i % 3,
                level: table[i as usize / 3][i as usize % 3],
            })
            .collect();
        let design = LabelDesign::new(&observations, 4, 3);
        let found = VarianceComponents::new(&observations, &design, 7, true).unwrap();
        let mean = |of: &dyn Fn(&Observation) -> bool| {
            let values: Vec<f64> =
                observations.iter().filter(|o| of(o)).map(|o| f64::from(o.level)).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let grand = mean(&|_| true);
        let rows: f64 = (0..4).map(|t| 3.0 * (mean(&|o| o.text == t) - grand).powi(2)).sum::<f64>() / 3.0;
        let columns: f64 =
            (0..3).map(|a| 4.0 * (mean(&|o| o.annotator == a) - grand).powi(2)).sum::<f64>() / 2.0;
        let total: f64 = observations.iter().map(|o| (f64::from(o.level) - grand).powi(2)).sum();
        let rest = (total - 3.0 * rows - 2.0 * columns) / 6.0;
        assert!((found.residual - rest).abs() < 1e-9, "{found:?} {rest}");
        assert!((found.text - (rows - rest) / 3.0).abs() < 1e-9, "{found:?}");
        assert!((found.annotator - (columns - rest) / 4.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn components_are_recovered_on_average_from_uneven_numbers_of_labels() {
        let (design, truth) =
            (design(80, 25, 4), VarianceComponents { text: 0.4, annotator: 0.3, residual: 0.6 });
        let runs = 300;
        let mut mean = VarianceComponents::default();
        for seed in 0..runs {
            let one = design.simulated(&truth, seed).unwrap();
            mean.text += one.text / runs as f64;
            mean.annotator += one.annotator / runs as f64;
            mean.residual += one.residual / runs as f64;
        }
        println!("{mean:?}");
        assert!((mean.text - 0.4).abs() < 0.02, "{mean:?}");
        assert!((mean.annotator - 0.3).abs() < 0.02, "{mean:?}");
        assert!((mean.residual - 0.6).abs() < 0.01, "{mean:?}");
    }

    #[test]
    fn units_without_labels_change_no_draw() {
        let all: Vec<Observation> =
            (0..150).map(|i| Observation { text: i / 5, annotator: i % 5, level: 0 }).collect();
        let moved: Vec<Observation> =
            all.iter().map(|o| Observation { text: o.text + 3, annotator: 2 * o.annotator, ..*o }).collect();
        let truth = VarianceComponents { text: 0.4, annotator: 0.2, residual: 0.6 };
        let (few, many) = (LabelDesign::new(&all, 30, 5), LabelDesign::new(&moved, 90, 60));
        for seed in 0..5 {
            assert_eq!(few.plausible(&truth, seed), many.plausible(&truth, seed));
        }
    }

    #[test]
    fn confounded_components_are_not_estimated() {
        let one_a_text: Vec<Observation> =
            (0..20).map(|t| Observation { text: t, annotator: t % 4, level: (t % 2) as u16 }).collect();
        let design = LabelDesign::new(&one_a_text, 20, 4);
        assert_eq!(VarianceComponents::new(&one_a_text, &design, 2, true), None);
        let one_a_person: Vec<Observation> =
            (0..20).map(|a| Observation { text: a % 4, annotator: a, level: (a % 2) as u16 }).collect();
        let design = LabelDesign::new(&one_a_person, 4, 20);
        assert_eq!(VarianceComponents::new(&one_a_person, &design, 2, true), None);
    }

    #[test]
    fn pivots_of_a_complete_design_invert_f() {
        // 30 texts by 5 people: the ratio of the mean squares of people and residual is an F of 4 and 116
        // degrees of freedom, whose quantiles (scipy's f.ppf of .05 and .95) bound the ratio of the variance
        // between people to the residual.
        let all: Vec<Observation> =
            (0..150).map(|i| Observation { text: i / 5, annotator: i % 5, level: 0 }).collect();
        let design = LabelDesign::new(&all, 30, 5);
        let found = VarianceComponents { text: 0.4, annotator: 0.2, residual: 0.6 };
        let mut ratios: Vec<f64> = (0..4000)
            .map(|seed| design.plausible(&found, seed).unwrap())
            .map(|c| c.annotator / c.residual)
            .collect();
        ratios.sort_by(f64::total_cmp);
        let observed = 1.0 + 30.0 * 0.2 / 0.6;
        for (at, quantile) in [(200, 2.449_880_31), (3800, 0.176_705_5)] {
            let exact = (observed / quantile - 1.0) / 30.0;
            assert!((ratios[at] / exact - 1.0).abs() < 0.12, "{} {exact}", ratios[at]);
        }
    }

    #[test]
    fn planned_numbers_match_the_formulas() {
        let c = VarianceComponents { text: 0.285, annotator: 0.192, residual: 0.523 };
        assert!((c.annotators_for_reliability(0.8) - 10.035).abs() < 1e-3);
        assert!((c.labels_for_reliability(0.8) - 10.896).abs() < 1e-3);
        assert!((c.reliability_of(c.annotators_for_reliability(0.7)) - 0.7).abs() < 1e-12);
        assert!((c.width_of(c.annotators_for_width(0.9)) - 0.9).abs() < 1e-12);
        let flat = VarianceComponents { text: -0.01, annotator: 0.0, residual: 1.0 };
        assert!(flat.annotators_for_reliability(0.8).is_infinite());
        assert!(flat.labels_for_reliability(0.8).is_infinite());
        assert_eq!(flat.reliability_of(5.0), 0.0);
    }
}
