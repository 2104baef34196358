//! Compares the loops over rows with their definitions in 64 bits, with every instruction set of the
//! machine. Gradients are compared with central differences of the definition.

use pulp::Arch;

use super::super::reference::{every_arch, gelu, scattered};
use super::*;

/// Around the boundaries of vectors and of the partial sums.
const SIZES: [usize; 6] = [1, 3, 16, 17, 33, 100];
const ROWS: usize = 5;

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f64], most: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        let error = (f64::from(*found) - expected).abs() / expected.abs().max(1.0);
        assert!(error < most, "{what}: {found}, not {expected}");
    }
}

/// The gradient of `sum(grad * of(x))`.
fn slope(x: &[f64], grad: &[f64], of: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let value = |x: &[f64]| of(x).iter().zip(grad).map(|(y, g)| y * g).sum::<f64>();
    (0..x.len())
        .map(|i| {
            let at = |by: f64| {
                let mut moved = x.to_vec();
                moved[i] += by;
                value(&moved)
            };
            (at(STEP) - at(-STEP)) / (2.0 * STEP)
        })
        .collect()
}

fn each_row(x: &[f64], size: usize, of: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    x.chunks_exact(size).flat_map(of).collect()
}

fn norm(x: &[f64], scale: &[f64], shift: &[f64], epsilon: f64) -> Vec<f64> {
    each_row(x, scale.len(), |row| {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
        let by = (variance + epsilon).sqrt().recip();
        row.iter().zip(scale.iter().zip(shift)).map(|(x, (a, b))| (x - mean) * by * a + b).collect()
    })
}

fn softmax(x: &[f64], size: usize) -> Vec<f64> {
    each_row(x, size, |row| {
        let total: f64 = row.iter().map(|x| x.exp()).sum();
        row.iter().map(|x| x.exp() / total).collect()
    })
}

fn gelu_tanh(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
    0.5 * x * (1.0 + inner.tanh())
}

fn every_case() -> impl Iterator<Item = (Arch, usize)> {
    every_arch().into_iter().flat_map(|arch| SIZES.into_iter().map(move |size| (arch, size)))
}

#[test]
fn sums_match_plain_sums() {
    for (arch, size) in every_case() {
        let (x, bias) = (scattered(ROWS * size, 1), scattered(size, 2));
        let mut out = x.clone();
        arch.dispatch(AddBias { x: &mut out, bias: &bias });
        let expected: Vec<f64> =
            wide(&x).iter().zip(wide(&bias).iter().cycle()).map(|(x, b)| x + b).collect();
        assert_close(&out, &expected, 1e-6, &format!("bias, {arch:?}, {size}"));

        let mut sums = vec![0.0; size];
        arch.dispatch(ColumnSums { x: &x, sums: &mut sums });
        let expected: Vec<f64> =
            (0..size).map(|i| wide(&x).iter().skip(i).step_by(size).sum::<f64>()).collect();
        assert_close(&sums, &expected, 1e-6, &format!("columns, {arch:?}, {size}"));

        let squares = arch.dispatch(SquareSum { x: &x });
        let expected: f64 = wide(&x).iter().map(|x| x * x).sum();
        assert!((squares / expected - 1.0).abs() < 1e-6, "squares, {arch:?}, {size}");
    }
}

#[test]
fn norms_and_gradients_match_the_definitions() {
    for (arch, size) in every_case() {
        let [x, residual, grad] = [1, 2, 3].map(|seed| scattered(ROWS * size, seed));
        let [bias, scale, shift] = [4, 5, 6].map(|seed| scattered(size, seed));
        let epsilon = 1e-3;
        let (wide_scale, wide_shift) = (wide(&scale), wide(&shift));
        let of = |x: &[f64]| norm(x, &wide_scale, &wide_shift, f64::from(epsilon));
        let what = |name: &str| format!("{name}, {arch:?}, {size}");

        let mut out = x.clone();
        arch.dispatch(Norm { x: &mut out, scale: &scale, shift: &shift, epsilon });
        assert_close(&out, &of(&wide(&x)), 1e-5, &what("norm"));

        let mut out = x.clone();
        let fused = BiasResidualNorm {
            x: &mut out,
            residual: &residual,
            bias: &bias,
            scale: &scale,
            shift: &shift,
            epsilon,
        };
        arch.dispatch(fused);
        let sums: Vec<f64> = wide(&x)
            .iter()
            .zip(wide(&residual))
            .zip(wide(&bias).iter().cycle())
            .map(|((x, r), b)| x + r + b)
            .collect();
        assert_close(&out, &of(&sums), 1e-5, &what("bias, residual, norm"));

        let (mut dx, mut dscale, mut dshift) = (vec![0.0; x.len()], vec![0.0; size], vec![0.0; size]);
        arch.dispatch(NormBackward {
            x: &x,
            scale: &scale,
            grad: &grad,
            epsilon,
            dx: &mut dx,
            dscale: &mut dscale,
            dshift: &mut dshift,
        });
        let (wide_x, wide_grad) = (wide(&x), wide(&grad));
        assert_close(&dx, &slope(&wide_x, &wide_grad, of), 1e-4, &what("dx"));
        let of_scale = |scale: &[f64]| norm(&wide_x, scale, &wide_shift, f64::from(epsilon));
        assert_close(&dscale, &slope(&wide_scale, &wide_grad, of_scale), 1e-4, &what("dscale"));
        let of_shift = |shift: &[f64]| norm(&wide_x, &wide_scale, shift, f64::from(epsilon));
        assert_close(&dshift, &slope(&wide_shift, &wide_grad, of_shift), 1e-4, &what("dshift"));
    }
}

#[test]
fn softmax_and_gradient_match_the_definitions() {
    for (arch, size) in every_case() {
        let (x, grad) = (scattered(ROWS * size, 1), scattered(ROWS * size, 2));
        let mut out = x.clone();
        arch.dispatch(Softmax { x: &mut out, size });
        assert_close(&out, &softmax(&wide(&x), size), 1e-6, &format!("{arch:?}, {size}"));
        let mut dx = vec![0.0; x.len()];
        arch.dispatch(SoftmaxBackward { result: &out, grad: &grad, dx: &mut dx, size });
        let expected = slope(&wide(&x), &wide(&grad), |x| softmax(x, size));
        assert_close(&dx, &expected, 1e-5, &format!("dx, {arch:?}, {size}"));
    }
}

#[test]
fn softmax_of_masked_scores_is_zero() {
    for arch in every_arch() {
        let mut out = [0.5, -1e30, 0.5, -1e30];
        arch.dispatch(Softmax { x: &mut out, size: 4 });
        assert_eq!(out, [0.5, 0.0, 0.5, 0.0], "{arch:?}");
    }
}

#[test]
fn activations_and_gradients_match_the_definitions() {
    let x: Vec<f32> = (-8_013..8_000).map(|i| i as f32 / 1_000.0).collect();
    let grad = scattered(x.len(), 2);
    let expected = |of: fn(f64) -> f64| wide(&x).into_iter().map(of).collect::<Vec<f64>>();
    let slopes = |of: fn(f64) -> f64| {
        let slope = |x: f64| (of(x + 1e-5) - of(x - 1e-5)) / 2e-5;
        wide(&x).into_iter().zip(wide(&grad)).map(|(x, g)| g * slope(x)).collect::<Vec<f64>>()
    };
    for arch in every_arch() {
        let (mut y, mut dx) = (x.clone(), vec![f32::NAN; x.len()]);
        arch.dispatch(Gelu { x: &mut y });
        assert_close(&y, &expected(gelu), 1e-6, &format!("gelu, {arch:?}"));
        arch.dispatch(GeluBackward { x: &x, grad: &grad, dx: &mut dx });
        assert_close(&dx, &slopes(gelu), 2e-6, &format!("gelu's gradient, {arch:?}"));

        let (mut y, mut dx) = (x.clone(), vec![f32::NAN; x.len()]);
        arch.dispatch(GeluTanh { x: &mut y });
        assert_close(&y, &expected(gelu_tanh), 1e-6, &format!("tanh gelu, {arch:?}"));
        arch.dispatch(GeluTanhBackward { x: &x, grad: &grad, dx: &mut dx });
        assert_close(&dx, &slopes(gelu_tanh), 2e-6, &format!("tanh gelu's gradient, {arch:?}"));
    }
}

#[test]
fn dropout_is_the_same_on_all_instruction_sets() {
    let dropped = |arch: Arch| {
        let mut x = vec![1.0; 1001];
        arch.dispatch(DropoutRows { x: &mut x, p: 0.3, seed: 7 });
        x
    };
    let scalar = dropped(Arch::Scalar);
    assert!((250..350).contains(&scalar.iter().filter(|x| **x == 0.0).count()));
    every_arch().into_iter().for_each(|arch| assert_eq!(dropped(arch), scalar, "{arch:?}"));
}
