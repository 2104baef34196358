//! The crossed model of lme4 and ordinal, for tests: scalar intercepts of texts and annotators, with the
//! marginal likelihood by the Laplace approximation at the joint mode of all effects (Pinheiro and Bates
//! 1995), maximised over thresholds and two standard deviations.
//!
//! A second implementation of the same model that shares no code with the estimation of the product, tested
//! against R.

use dissensus_stats::math::lbfgs;
use nalgebra::{Cholesky, DMatrix, DVector};

/// (text, annotator, level).
type Row = (usize, usize, usize);

struct Design {
    rows: Vec<Row>,
    texts: usize,
    annotators: usize,
    levels: usize,
}

/// Thresholds ascending, then standard deviations of texts and annotators.
struct Fit {
    log_likelihood: f64,
    thresholds: Vec<f64>,
    text_sd: f64,
    annotator_sd: f64,
    severities: Vec<f64>,
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Design {
    fn new(rows: Vec<Row>) -> Self {
        let count = |part: &dyn Fn(&Row) -> usize| rows.iter().map(part).max().unwrap() + 1;
        let (texts, annotators, levels) = (count(&|r| r.0), count(&|r| r.1), count(&|r| r.2));
        Self { rows, texts, annotators, levels }
    }

    /// Log-likelihood of one label and its first and second derivative with respect to the predictor `eta`.
    fn label(&self, thresholds: &[f64], eta: f64, level: usize) -> (f64, f64, f64) {
        let above = if level == 0 { 1.0 } else { sigmoid(eta - thresholds[level - 1]) };
        let next = if level + 1 == self.levels { 0.0 } else { sigmoid(eta - thresholds[level]) };
        let second = -above * (1.0 - above) - next * (1.0 - next);
        ((above - next).ln(), 1.0 - above - next, second)
    }

    /// The Laplace approximation and the modes of the standardised effects, texts first; `effects` holds the
    /// starting point of the search.
    fn marginal(&self, thresholds: &[f64], sds: [f64; 2], effects: &mut DVector<f64>) -> f64 {
        let n = self.texts + self.annotators;
        let mut hessian = DMatrix::identity(n, n);
        let mut value = 0.0;
        for _ in 0..100 {
            let mut gradient = -effects.clone();
            hessian = DMatrix::identity(n, n);
            value = -0.5 * effects.norm_squared();
            for &(text, annotator, level) in &self.rows {
                let (t, a) = (text, self.texts + annotator);
                let (log, first, second) =
                    self.label(thresholds, sds[0] * effects[t] + sds[1] * effects[a], level);
                value += log;
                for (i, si) in [(t, sds[0]), (a, sds[1])] {
                    gradient[i] += si * first;
                    for (j, sj) in [(t, sds[0]), (a, sds[1])] {
                        hessian[(i, j)] -= si * sj * second;
                    }
                }
            }
            let mut step = Cholesky::new(hessian.clone()).unwrap().solve(&gradient);
            let size = step.amax();
            if size > 1.0 {
                step /= size;
            }
            *effects += &step;
            if size < 1e-9 {
                break;
            }
        }
        let log_determinant: f64 =
            Cholesky::new(hessian).unwrap().l_dirty().diagonal().iter().map(|l| 2.0 * l.ln()).sum();
        value - 0.5 * log_determinant
    }

    fn fit(&self) -> Fit {
        let k = self.levels - 1;
        let unpack = |x: &[f64]| -> (Vec<f64>, [f64; 2]) {
            let mut thresholds = vec![x[0]];
            for i in 1..k {
                thresholds.push(thresholds[i - 1] + x[i].exp());
            }
            (thresholds, [x[k].exp(), x[k + 1].exp()])
        };
        let mut effects = DVector::zeros(self.texts + self.annotators);
        let mut x = vec![0.0; k + 2];
        x[0] = 0.5 - 0.5 * k as f64;
        let mut objective = |x: &[f64], gradient: &mut [f64]| -> f64 {
            let mut at = |x: &[f64]| {
                let (thresholds, sds) = unpack(x);
                -self.marginal(&thresholds, sds, &mut effects)
            };
            for i in 0..x.len() {
                let (mut below, mut above) = (x.to_vec(), x.to_vec());
                below[i] -= 1e-4;
                above[i] += 1e-4;
                gradient[i] = (at(&above) - at(&below)) / 2e-4;
            }
            at(x)
        };
        lbfgs::minimise(&mut x, &vec![0.02; k + 2], 100, 1e-11, &mut objective);
        let (thresholds, sds) = unpack(&x);
        let log_likelihood = self.marginal(&thresholds, sds, &mut effects);
        let severities = effects.iter().skip(self.texts).map(|e| e * sds[1]).collect();
        Fit { log_likelihood, thresholds, text_sd: sds[0], annotator_sd: sds[1], severities }
    }
}

mod tests {
    use super::*;
    use crate::link::Link;
    use crate::mixed::CrossedEffects;
    use crate::mixed::convergence::FINAL;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::{Observation, Target};
    use serde_json::Value;

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let (ma, mb) = (mean(a), mean(b));
        let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
            x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
        };
        product(a, ma, b, mb) / (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt()
    }

    fn designs() -> Vec<Value> {
        let file: Value =
            serde_json::from_str(include_str!("../../tests/fixtures/crossed_effects.json")).unwrap();
        let designs = file["designs"].as_array().unwrap().clone();
        assert_eq!(designs.len(), 3);
        designs
    }

    fn numbers(value: &Value) -> Vec<f64> {
        match value {
            Value::Array(all) => all.iter().map(|x| x.as_f64().unwrap()).collect(),
            one => vec![one.as_f64().unwrap()],
        }
    }

    #[test]
    fn laplace_matches_glmer_and_clmm() {
        for theirs in designs() {
            let name = theirs["name"].as_str().unwrap();
            let design = Design::new(serde_json::from_value(theirs["rows"].clone()).unwrap());
            let ours = design.fit();
            let their = |key: &str| theirs[key].as_f64().unwrap();
            assert!(
                (ours.log_likelihood - their("log_likelihood")).abs() < 0.01,
                "{name}: {}",
                ours.log_likelihood
            );
            assert!((ours.text_sd / their("text_sd") - 1.0).abs() < 0.02, "{name}: {}", ours.text_sd);
            let annotator_sd = ours.annotator_sd;
            assert!((annotator_sd / their("annotator_sd") - 1.0).abs() < 0.02, "{name}: {annotator_sd}");
            for (a, b) in ours.thresholds.iter().zip(numbers(&theirs["thresholds"])) {
                assert!((a - b).abs() < 0.02, "{name}: {a} {b}");
            }
            assert!(correlation(&ours.severities, &numbers(&theirs["severities"])) > 0.999, "{name}");
        }
    }

    /// The product's estimation on the same labels gives the same severities, and standard deviations no
    /// smaller than those of the Laplace approximation, which is known to underestimate them for few binary
    /// labels.
    #[test]
    fn estimation_is_close_to_r() {
        for theirs in designs() {
            let name = theirs["name"].as_str().unwrap();
            let rows: Vec<Row> = serde_json::from_value(theirs["rows"].clone()).unwrap();
            let design = Design::new(rows);
            let mut observations: Vec<Observation> = design
                .rows
                .iter()
                .map(|&(t, a, level)| Observation {
                    text: t as u32,
                    annotator: a as u32,
                    level: level as u16,
                })
                .collect();
            observations.sort_by_key(|o| (o.text, o.annotator));
            let kind = if design.levels == 2 { TargetKind::Binary } else { TargetKind::Ordinal };
            let link = Link::new(Target { kind, levels: design.levels });
            let mut crossed =
                CrossedEffects::new(link, vec![0.0; design.texts], design.annotators, &observations);
            crossed.expectation_maximisation(FINAL);
            let ours = crossed.estimation();
            let severities: Vec<f64> =
                (0..design.annotators).map(|a| crossed.severity(a).unwrap().mean).collect();
            let r = correlation(&severities, &numbers(&theirs["severities"]));
            let text = ours.text_sd / theirs["text_sd"].as_f64().unwrap();
            let annotator = ours.annotator_sd.unwrap() / theirs["annotator_sd"].as_f64().unwrap();
            let away = ours.log_likelihood - theirs["log_likelihood"].as_f64().unwrap();
            assert!(
                ours.converged && r > 0.99 && (0.95..1.3).contains(&text) && (0.95..1.3).contains(&annotator),
                "{name}: r {r}, texts {text}, annotators {annotator}, log likelihood {away}, {ours:?}"
            );
        }
    }
}
