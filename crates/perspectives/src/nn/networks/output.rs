//! From a network's outputs to probabilities of levels, and the loss of labels under them.
//!
//! A network gives outputs `r` for each (text, annotator): one for each level of a choice, one fewer for the others. Choice scales take their softmax. Binary and ordinal ones
//! take cumulative logits: offsets `o_1 = r_0`, `o_j = o_{j-1} - exp(r_{j-1})` and `P(y >= j) = sigma(o_j)`, so that levels
//! stay in order whatever the network says (McCullagh 1980, Regression models for ordinal data).

use crate::data::Target;
use crate::mixed::link::Link;
use candle_core::{D, Result, Tensor};

/// Added to every probability, so that its logarithm is finite.
const FLOOR: f64 = 1e-7;
/// Largest logarithm of a gap between thresholds.
const WIDEST: f64 = 6.0;

/// Logarithms of the probabilities of the levels, `[rows, levels]`, from outputs `[rows, width]`.
pub(crate) fn log_probabilities(outputs: &Tensor, target: Target) -> Result<Tensor> {
    if Link::new(target).softmax {
        let top = outputs.max_keepdim(D::Minus1)?.detach();
        let shifted = outputs.broadcast_sub(&top)?;
        return shifted.broadcast_sub(&shifted.exp()?.sum_keepdim(D::Minus1)?.log()?);
    }
    let rows = outputs.dim(0)?;
    let one = Tensor::ones((rows, 1), outputs.dtype(), outputs.device())?;
    let zero = one.zeros_like()?;
    let mut offset = outputs.narrow(1, 0, 1)?;
    let mut above = vec![one, sigmoid(&offset)?];
    for j in 1..outputs.dim(1)? {
        let gap = outputs.narrow(1, j, 1)?.clamp(-WIDEST, WIDEST)?.exp()?;
        offset = (offset - gap)?;
        above.push(sigmoid(&offset)?);
    }
    above.push(zero);
    let bounds = Tensor::cat(&above, 1)?;
    let levels = target.levels;
    // Added rather than clamped to: a maximum would turn what is not a number into one, and the loss must show it.
    ((bounds.narrow(1, 0, levels)? - bounds.narrow(1, 1, levels)?)? + FLOOR)?.log()
}

/// `1 / (1 + exp(-x))` by the hyperbolic tangent, which neither overflows nor lacks a gradient.
fn sigmoid(x: &Tensor) -> Result<Tensor> {
    ((x * 0.5)?.tanh()? * 0.5)? + 0.5
}

/// `-sum_i sum_c targets_ic ln p_ic`: the sum over rows, because the caller knows what to divide by.
pub(crate) fn loss(outputs: &Tensor, targets: &Tensor, target: Target) -> Result<Tensor> {
    (log_probabilities(outputs, target)? * targets)?.sum_all()?.neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, Var};
    use dissensus_domain::ScaleKind;

    #[test]
    fn they_are_those_of_the_link_and_their_slopes_are_right() {
        for (kind, levels) in [(ScaleKind::Binary, 2), (ScaleKind::Ordinal, 5), (ScaleKind::Choice, 3)] {
            let target = Target { kind, levels };
            let n = Link::new(target).offsets();
            let r: Vec<f32> = (0..n).map(|i| 0.4 - 0.3 * i as f32).collect();
            let var = Var::from_vec(r.clone(), (1, n), &Device::Cpu).unwrap();
            let log_p = log_probabilities(&var, target).unwrap();
            let ours: Vec<f32> = log_p.exp().unwrap().flatten_all().unwrap().to_vec1().unwrap();
            let link = Link::new(target);
            let base: Vec<f64> = r.iter().map(|&r| f64::from(r)).collect();
            let mut offsets = vec![0.0; n];
            link.offsets_of(&base, &[], &mut offsets);
            let mut p = vec![0.0; levels];
            link.probabilities(&vec![0.0; link.scores()], &offsets, 1.0, &mut p);
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

    #[test]
    fn what_is_nearly_impossible_has_a_finite_loss() {
        let target = Target { kind: ScaleKind::Ordinal, levels: 3 };
        let r = Tensor::new(&[[200.0f32, -50.0], [-200.0, 90.0]], &Device::Cpu).unwrap();
        let all = log_probabilities(&r, target).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert!(all.iter().all(|p| p.is_finite()), "{all:?}");
    }
}
