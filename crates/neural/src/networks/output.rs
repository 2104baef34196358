//! Converts a network's outputs to probabilities of levels, and computes the loss of labels.
//!
//! A network returns outputs `r` for each (text, annotator): one for each level of a choice, one fewer for
//! other scales. Choice scales take their softmax. Binary and ordinal ones use cumulative logits:
//! intercepts `o_1 = r_0`, `o_j = o_{j-1} - exp(r_{j-1})` and `P(y >= j) = sigma(o_j)`, so that levels stay
//! in order for any output (McCullagh 1980, Regression models for ordinal data).

use candle_core::{D, Result, Tensor};
use dissensus_models::link::Link;
use dissensus_stats::data::Target;

/// Maximum logarithm of a gap between thresholds.
const WIDEST: f64 = 6.0;

/// Computes log probabilities of the levels, `[rows, levels]`, from outputs `[rows, width]`.
pub(crate) fn log_probabilities(outputs: &Tensor, target: Target) -> Result<Tensor> {
    if Link::new(target).softmax {
        let top = outputs.max_keepdim(D::Minus1)?.detach();
        let shifted = outputs.broadcast_sub(&top)?;
        return shifted.broadcast_sub(&shifted.exp()?.sum_keepdim(D::Minus1)?.log()?);
    }
    // In log space: `P(y = 0) = sigma(-o_1)`, `P(y = last) = sigma(o_last)`, and between them
    // `sigma(a) - sigma(b) = sigma(a) sigma(-b) (1 - exp(b - a))`, which avoids differences of nearly equal
    // numbers and keeps the gradient correct where a label is nearly impossible.
    let mut intercept = outputs.narrow(1, 0, 1)?;
    let mut log_p = vec![softplus(&intercept)?.neg()?];
    for j in 1..outputs.dim(1)? {
        let gap = outputs.narrow(1, j, 1)?.clamp(-WIDEST, WIDEST)?.exp()?;
        let next = (&intercept - &gap)?;
        let between = (log_one_less_exp(&gap)? - softplus(&intercept.neg()?)?)?;
        log_p.push((between - softplus(&next)?)?);
        intercept = next;
    }
    log_p.push(softplus(&intercept.neg()?)?.neg()?);
    Tensor::cat(&log_p, 1)
}

/// Computes `ln(1 + exp(x))` as a log-sum-exp: it neither overflows nor loses its gradient, and propagates
/// NaN.
fn softplus(x: &Tensor) -> Result<Tensor> {
    let top = x.relu()?.detach();
    &top + (top.neg()?.exp()? + (x - &top)?.exp()?)?.log()?
}

/// Computes `ln(1 - exp(-g))` for `g > 0`, exact for small `g`: `1 - exp(-g) = 2 t / (1 + t)` with
/// `t = tanh(g / 2)`.
fn log_one_less_exp(g: &Tensor) -> Result<Tensor> {
    let t = (g * 0.5)?.tanh()?;
    ((&t * 2.0)? / (t + 1.0)?)?.log()
}

/// Computes `-sum_i sum_c targets_ic ln p_ic`: the sum over rows, because the caller knows the divisor.
pub(crate) fn loss(outputs: &Tensor, targets: &Tensor, target: Target) -> Result<Tensor> {
    (log_probabilities(outputs, target)? * targets)?.sum_all()?.neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, Var};
    use dissensus_domain::TargetKind;

    #[test]
    fn probabilities_match_the_link_with_gradients() {
        for (kind, levels) in [(TargetKind::Binary, 2), (TargetKind::Ordinal, 5), (TargetKind::Nominal, 3)] {
            let target = Target { kind, levels };
            let n = Link::new(target).intercepts();
            let r: Vec<f32> = (0..n).map(|i| 0.4 - 0.3 * i as f32).collect();
            let var = Var::from_vec(r.clone(), (1, n), &Device::Cpu).unwrap();
            let log_p = log_probabilities(&var, target).unwrap();
            let ours: Vec<f32> = log_p.exp().unwrap().flatten_all().unwrap().to_vec1().unwrap();
            let link = Link::new(target);
            let fixed_effects: Vec<f64> = r.iter().map(|&r| f64::from(r)).collect();
            let mut intercepts = vec![0.0; n];
            link.intercepts_of(&fixed_effects, &[], &mut intercepts);
            let mut p = vec![0.0; levels];
            link.probabilities(&vec![0.0; link.scores()], &intercepts, 1.0, &mut p);
            for (ours, theirs) in ours.iter().zip(&p) {
                assert!((f64::from(*ours) - theirs).abs() < 1e-6, "{kind}: {ours} {theirs}");
            }
            let wanted = Tensor::from_vec(vec![1.0f32 / levels as f32; levels], (1, levels), &Device::Cpu);
            let wanted = wanted.unwrap();
            let value = |r: &[f32]| {
                let r = Tensor::from_slice(r, (1, n), &Device::Cpu).unwrap();
                f64::from(loss(&r, &wanted, target).unwrap().to_scalar::<f32>().unwrap())
            };
            let gradients = loss(&var, &wanted, target).unwrap().backward().unwrap();
            let slopes: Vec<f32> = gradients.get(&var).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            for (i, slope) in slopes.iter().enumerate() {
                let (mut a, mut b) = (r.clone(), r.clone());
                a[i] += 1e-2;
                b[i] -= 1e-2;
                let numeric = (value(&a) - value(&b)) / 2e-2;
                assert!((numeric - f64::from(*slope)).abs() < 2e-4, "{kind} {i}: {numeric} {slope}");
            }
        }
    }

    /// Values and gradients of `-softplus(-o)` and `-softplus(o)`, and of the ordinal levels, in double
    /// precision.
    #[test]
    fn improbable_labels_have_exact_losses_and_gradients() {
        let binary = Target { kind: TargetKind::Binary, levels: 2 };
        let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
        let sigma = |x: f64| 1.0 / (1.0 + (-x).exp());
        for o in [-30.0_f64, -17.5, -5.0, 0.0, 5.0, 15.0, 17.5, 30.0] {
            let var = Var::from_vec(vec![o as f32], (1, 1), &Device::Cpu).unwrap();
            for (wanted, value, slope) in
                [([1.0f32, 0.0], softplus(o), sigma(o)), ([0.0, 1.0], softplus(-o), -sigma(-o))]
            {
                let wanted = Tensor::from_slice(&wanted, (1, 2), &Device::Cpu).unwrap();
                let loss = loss(&var, &wanted, binary).unwrap();
                let gradient = loss.backward().unwrap().get(&var).unwrap().flatten_all().unwrap();
                let (ours, of) = (
                    f64::from(loss.to_scalar::<f32>().unwrap()),
                    f64::from(gradient.to_vec1::<f32>().unwrap()[0]),
                );
                assert!((ours - value).abs() < 1e-5 * value.max(1.0), "{o}: {ours} {value}");
                assert!((of - slope).abs() < 1e-6, "{o}: gradient {of} {slope}");
            }
        }
        let ordinal = Target { kind: TargetKind::Ordinal, levels: 3 };
        for (o, r) in [(30.0_f64, 1.0_f64), (-30.0, 1.0), (0.0, -5.5), (22.0, 2.5), (-18.0, 0.0)] {
            let below = o - r.exp();
            // ln P(y = 1) by exact expansion, where the difference of sigmoids has no digits left.
            let middle = -softplus(-o) - softplus(below) + (-(-r.exp()).exp_m1()).ln();
            let values = [-softplus(o), middle, -softplus(-below)];
            let var = Var::from_vec(vec![o as f32, r as f32], (1, 2), &Device::Cpu).unwrap();
            let log_p = log_probabilities(&var, ordinal).unwrap().flatten_all().unwrap();
            for (level, (ours, value)) in log_p.to_vec1::<f32>().unwrap().iter().zip(values).enumerate() {
                let error = (f64::from(*ours) - value).abs();
                assert!(error < 2e-5 * value.abs().max(1.0), "{o} {r} {level}: {ours} {value}");
            }
            // The gradient of the middle level with respect to the first output: sigma(-o) - sigma(below).
            let wanted = Tensor::from_slice(&[0.0f32, 1.0, 0.0], (1, 3), &Device::Cpu).unwrap();
            let slopes = loss(&var, &wanted, ordinal).unwrap().backward().unwrap();
            let slopes: Vec<f32> = slopes.get(&var).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            let slope = -(sigma(-o) - sigma(below));
            assert!((f64::from(slopes[0]) - slope).abs() < 1e-5, "{o} {r}: {} {slope}", slopes[0]);
        }
    }

    #[test]
    fn nan_propagates_to_the_loss() {
        let binary = Target { kind: TargetKind::Binary, levels: 2 };
        let r = Tensor::new(&[[f32::NAN]], &Device::Cpu).unwrap();
        let wanted = Tensor::from_slice(&[1.0f32, 0.0], (1, 2), &Device::Cpu).unwrap();
        assert!(loss(&r, &wanted, binary).unwrap().to_scalar::<f32>().unwrap().is_nan());
    }

    #[test]
    fn improbable_labels_have_finite_losses() {
        let target = Target { kind: TargetKind::Ordinal, levels: 3 };
        let r = Tensor::new(&[[200.0f32, -50.0], [-200.0, 90.0]], &Device::Cpu).unwrap();
        let all = log_probabilities(&r, target).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert!(all.iter().all(|p| p.is_finite()), "{all:?}");
    }
}
