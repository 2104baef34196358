//! Loops over rows. Each is a `WithSimd`, so that it is compiled once for each instruction set.

use pulp::{Simd, WithSimd};

use super::gelu::{gelu, normal_cdf};
use super::math::{exp, gelu_tanh, gelu_tanh_slope, normal_pdf};

/// Number of partial sums, because the compiler may not reorder additions of floats.
const LANES: usize = 16;

pub(crate) struct AddBias<'a> {
    pub(crate) x: &'a mut [f32],
    pub(crate) bias: &'a [f32],
}

impl WithSimd for AddBias<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.x.chunks_exact_mut(self.bias.len()) {
            for (x, b) in row.iter_mut().zip(self.bias) {
                *x += b;
            }
        }
    }
}

pub(crate) struct Add<'a> {
    pub(crate) x: &'a mut [f32],
    pub(crate) y: &'a [f32],
}

impl WithSimd for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (x, y) in self.x.iter_mut().zip(self.y) {
            *x += y;
        }
    }
}

pub(crate) struct BiasResidualNorm<'a> {
    pub(crate) x: &'a mut [f32],
    pub(crate) residual: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
    pub(crate) epsilon: f32,
}

impl WithSimd for BiasResidualNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let size = self.bias.len();
        let norm = RowNorm { scale: self.scale, shift: self.shift, epsilon: self.epsilon };
        for (row, residual) in self.x.chunks_exact_mut(size).zip(self.residual.chunks_exact(size)) {
            for ((x, b), r) in row.iter_mut().zip(self.bias).zip(residual) {
                *x += b + r;
            }
            norm.apply(simd, row);
        }
    }
}

/// Layer normalisation, in place.
pub(crate) struct Norm<'a> {
    pub(crate) x: &'a mut [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
    pub(crate) epsilon: f32,
}

impl WithSimd for Norm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let norm = RowNorm { scale: self.scale, shift: self.shift, epsilon: self.epsilon };
        for row in self.x.chunks_exact_mut(self.scale.len()) {
            norm.apply(simd, row);
        }
    }
}

struct RowNorm<'a> {
    scale: &'a [f32],
    shift: &'a [f32],
    epsilon: f32,
}

impl RowNorm<'_> {
    #[inline(always)]
    fn apply<S: Simd>(&self, simd: S, row: &mut [f32]) {
        let (mean, by) = moments(simd, row, self.epsilon);
        for ((x, scale), shift) in row.iter_mut().zip(self.scale).zip(self.shift) {
            *x = (*x - mean) * by * scale + shift;
        }
    }
}

/// Backward pass: with `u = (x - mean) / deviation` and `g = grad * scale`,
/// `dx = (g - mean(g) - u mean(g u)) / deviation`, `dscale = sum grad u` and `dshift = sum grad` over rows.
pub(crate) struct NormBackward<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) grad: &'a [f32],
    pub(crate) epsilon: f32,
    pub(crate) dx: &'a mut [f32],
    pub(crate) dscale: &'a mut [f32],
    pub(crate) dshift: &'a mut [f32],
}

impl WithSimd for NormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let size = self.scale.len();
        let rows = self.x.chunks_exact(size).zip(self.grad.chunks_exact(size));
        let mut unit = vec![0.0; size];
        for ((x, grad), dx) in rows.zip(self.dx.chunks_exact_mut(size)) {
            let (mean, by) = moments(simd, x, self.epsilon);
            for (u, x) in unit.iter_mut().zip(x) {
                *u = (x - mean) * by;
            }
            for ((dx, grad), scale) in dx.iter_mut().zip(grad).zip(self.scale) {
                *dx = grad * scale;
            }
            let of_g = sum(dx, |g| g) / size as f32;
            let of_gu = dot(dx, &unit) / size as f32;
            for (dx, u) in dx.iter_mut().zip(&unit) {
                *dx = (*dx - of_g - u * of_gu) * by;
            }
            for ((dscale, grad), u) in self.dscale.iter_mut().zip(grad).zip(&unit) {
                *dscale += grad * u;
            }
            for (dshift, grad) in self.dshift.iter_mut().zip(grad) {
                *dshift += grad;
            }
        }
    }
}

/// In place: `x / sqrt(mean(x^2) + epsilon) * scale`.
pub(crate) struct RmsNorm<'a> {
    pub(crate) x: &'a mut [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) epsilon: f32,
}

impl WithSimd for RmsNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.x.chunks_exact_mut(self.scale.len()) {
            let by = over_root_mean_square(row, self.epsilon);
            for (x, scale) in row.iter_mut().zip(self.scale) {
                *x *= by * scale;
            }
        }
    }
}

/// Backward pass: with `u = x / r` for the root mean square `r` and `g = grad * scale`,
/// `dx = (g - u mean(g u)) / r` and `dscale = sum grad u` over rows.
pub(crate) struct RmsNormBackward<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) grad: &'a [f32],
    pub(crate) epsilon: f32,
    pub(crate) dx: &'a mut [f32],
    pub(crate) dscale: &'a mut [f32],
}

impl WithSimd for RmsNormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let size = self.scale.len();
        let rows = self.x.chunks_exact(size).zip(self.grad.chunks_exact(size));
        for ((x, grad), dx) in rows.zip(self.dx.chunks_exact_mut(size)) {
            let by = over_root_mean_square(x, self.epsilon);
            for ((dx, grad), scale) in dx.iter_mut().zip(grad).zip(self.scale) {
                *dx = grad * scale;
            }
            let of_gu = dot(dx, x) * by / size as f32;
            for (dx, x) in dx.iter_mut().zip(x) {
                *dx = (*dx - x * by * of_gu) * by;
            }
            for ((dscale, grad), x) in self.dscale.iter_mut().zip(grad).zip(x) {
                *dscale += grad * (x * by);
            }
        }
    }
}

#[inline(always)]
fn over_root_mean_square(row: &[f32], epsilon: f32) -> f32 {
    (sum(row, |x| x * x) / row.len() as f32 + epsilon).sqrt().recip()
}

/// Maps rows of `[silu's argument, gate]`, each half `size` wide, to `silu(argument) * gate`.
pub(crate) struct SiluGated<'a> {
    pub(crate) both: &'a [f32],
    pub(crate) out: &'a mut [f32],
    pub(crate) size: usize,
}

impl WithSimd for SiluGated<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.both.chunks_exact(2 * self.size).map(|row| row.split_at(self.size));
        for ((x, gate), out) in rows.zip(self.out.chunks_exact_mut(self.size)) {
            for ((out, x), gate) in out.iter_mut().zip(x).zip(gate) {
                *out = x / (1.0 + exp(-x)) * gate;
            }
        }
    }
}

/// The derivative of `silu(x)` is `s (1 + x (1 - s))` with `s = 1 / (1 + e^-x)`.
pub(crate) struct SiluGatedBackward<'a> {
    pub(crate) both: &'a [f32],
    pub(crate) grad: &'a [f32],
    pub(crate) dboth: &'a mut [f32],
    pub(crate) size: usize,
}

impl WithSimd for SiluGatedBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let size = self.size;
        let rows = self.both.chunks_exact(2 * size).zip(self.grad.chunks_exact(size));
        for ((both, grad), dboth) in rows.zip(self.dboth.chunks_exact_mut(2 * size)) {
            let ((x, gate), (dx, dgate)) = (both.split_at(size), dboth.split_at_mut(size));
            for ((dx, x), (gate, grad)) in dx.iter_mut().zip(x).zip(gate.iter().zip(grad)) {
                let s = 1.0 / (1.0 + exp(-x));
                *dx = grad * gate * s * (1.0 + x * (1.0 - s));
            }
            for ((dgate, x), grad) in dgate.iter_mut().zip(x).zip(grad) {
                *dgate = grad * x / (1.0 + exp(-x));
            }
        }
    }
}

/// Rotates, in place, the pairs of components `(i, i + half)` of the first `heads` heads of each row by the
/// row's angles; with `back` in the opposite direction.
pub(crate) struct Rotate<'a> {
    pub(crate) x: &'a mut [f32],
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) cosines: &'a [f32],
    pub(crate) sines: &'a [f32],
    pub(crate) half: usize,
    pub(crate) back: bool,
}

impl WithSimd for Rotate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let half = self.half;
        let sign = if self.back { -1.0 } else { 1.0 };
        let angles = self.cosines.chunks_exact(half).zip(self.sines.chunks_exact(half));
        for (row, (cosines, sines)) in self.x.chunks_exact_mut(self.width).zip(angles) {
            for head in row.chunks_exact_mut(2 * half).take(self.heads) {
                let (first, second) = head.split_at_mut(half);
                let pairs = first.iter_mut().zip(second);
                for ((a, b), (cosine, sine)) in pairs.zip(cosines.iter().zip(sines)) {
                    let (x, y, sine) = (*a, *b, sign * sine);
                    *a = x * cosine - y * sine;
                    *b = y * cosine + x * sine;
                }
            }
        }
    }
}

/// Mean, and inverse standard deviation.
#[inline(always)]
fn moments<S: Simd>(simd: S, row: &[f32], epsilon: f32) -> (f32, f32) {
    let size = row.len() as f32;
    let (vectors, rest) = S::as_simd_f32s(row);
    let (fours, ones) = vectors.as_chunks::<4>();
    // Four partial sums: an addition takes four cycles, and the next to the same sum would wait for it.
    let mut sums = [simd.splat_f32s(0.0); 4];
    for vectors in fours.iter().map(|four| &four[..]).chain([ones]) {
        for (sum, x) in sums.iter_mut().zip(vectors) {
            *sum = simd.add_f32s(*sum, *x);
        }
    }
    let mean = (total(simd, sums) + rest.iter().sum::<f32>()) / size;
    let centre = simd.splat_f32s(mean);
    let mut squares = [simd.splat_f32s(0.0); 4];
    for vectors in fours.iter().map(|four| &four[..]).chain([ones]) {
        for (sum, x) in squares.iter_mut().zip(vectors) {
            let from_mean = simd.sub_f32s(*x, centre);
            *sum = simd.mul_add_e_f32s(from_mean, from_mean, *sum);
        }
    }
    let of_rest = rest.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>();
    let variance = (total(simd, squares) + of_rest) / size;
    (mean, (variance + epsilon).sqrt().recip())
}

#[inline(always)]
fn total<S: Simd>(simd: S, [a, b, c, d]: [S::f32s; 4]) -> f32 {
    simd.reduce_sum_f32s(simd.add_f32s(simd.add_f32s(a, b), simd.add_f32s(c, d)))
}

/// Sums the rows of `x`.
pub(crate) struct ColumnSums<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) sums: &'a mut [f32],
}

impl WithSimd for ColumnSums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.x.chunks_exact(self.sums.len()) {
            for (sum, x) in self.sums.iter_mut().zip(row) {
                *sum += x;
            }
        }
    }
}

pub(crate) struct Gelu<'a> {
    pub(crate) x: &'a mut [f32],
}

impl WithSimd for Gelu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for x in self.x.chunks_mut(S::F32_LANES) {
            let y = gelu(simd, simd.partial_load_f32s(x));
            simd.partial_store_f32s(x, y);
        }
    }
}

/// The derivative of `x Phi(x)` is `Phi(x) + x phi(x)`.
pub(crate) struct GeluBackward<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) grad: &'a [f32],
    pub(crate) dx: &'a mut [f32],
}

impl WithSimd for GeluBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (dx, x) in self.dx.chunks_mut(S::F32_LANES).zip(self.x.chunks(S::F32_LANES)) {
            let cdf = normal_cdf(simd, simd.partial_load_f32s(x));
            simd.partial_store_f32s(dx, cdf);
        }
        for ((dx, x), grad) in self.dx.iter_mut().zip(self.x).zip(self.grad) {
            *dx = grad * (*dx + x * normal_pdf(*x));
        }
    }
}

pub(crate) struct GeluTanh<'a> {
    pub(crate) x: &'a mut [f32],
}

impl WithSimd for GeluTanh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for x in self.x {
            *x = gelu_tanh(*x);
        }
    }
}

pub(crate) struct GeluTanhBackward<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) grad: &'a [f32],
    pub(crate) dx: &'a mut [f32],
}

impl WithSimd for GeluTanhBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((dx, x), grad) in self.dx.iter_mut().zip(self.x).zip(self.grad) {
            *dx = grad * gelu_tanh_slope(*x);
        }
    }
}

/// Sum of squares, with blocks summed in 32 bits and the blocks' sums in 64.
pub(crate) struct SquareSum<'a> {
    pub(crate) x: &'a [f32],
}

impl WithSimd for SquareSum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        self.x.chunks(1024).map(|part| f64::from(sum(part, |x| x * x))).sum()
    }
}

/// Softmax in place, over rows of `size`.
pub(crate) struct Softmax<'a> {
    pub(crate) x: &'a mut [f32],
    pub(crate) size: usize,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.x.chunks_exact_mut(self.size.max(1)) {
            softmax(row);
        }
    }
}

/// Backward pass: `dx = p (grad - sum(grad p))` for the softmax's result `p`.
pub(crate) struct SoftmaxBackward<'a> {
    pub(crate) result: &'a [f32],
    pub(crate) grad: &'a [f32],
    pub(crate) dx: &'a mut [f32],
    pub(crate) size: usize,
}

impl WithSimd for SoftmaxBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.result.chunks_exact(self.size).zip(self.grad.chunks_exact(self.size));
        for ((p, grad), dx) in rows.zip(self.dx.chunks_exact_mut(self.size)) {
            let mean = dot(p, grad);
            for ((dx, p), grad) in dx.iter_mut().zip(p).zip(grad) {
                *dx = p * (grad - mean);
            }
        }
    }
}

/// Dropout in place: drops the elements whose hashed index is below `p`.
pub(crate) struct DropoutRows<'a> {
    pub(crate) x: &'a mut [f32],
    pub(crate) p: f32,
    pub(crate) seed: u32,
}

impl WithSimd for DropoutRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let below = (f64::from(self.p) * 4_294_967_296.0) as u32;
        let keep = 1.0 / (1.0 - self.p);
        let seed = scramble(self.seed);
        for (i, x) in self.x.iter_mut().enumerate() {
            let kept = scramble((i as u32).wrapping_add(seed)) >= below;
            *x *= if kept { keep } else { 0.0 };
        }
    }
}

/// A 32-bit hash in which each input bit changes about half of the output bits: two rounds of multiply and
/// xor-shift, the constants of Wellons' `lowbias32`.
#[inline(always)]
fn scramble(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

#[inline(always)]
fn softmax(row: &mut [f32]) {
    let most = largest(row);
    for x in row.iter_mut() {
        *x = exp(*x - most);
    }
    let by = sum(row, |x| x).recip();
    for x in row {
        *x *= by;
    }
}

/// Folds by halves, so that each step can process all its pairs at once.
#[inline(always)]
fn folded(lanes: [f32; LANES], both: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = lanes;
    for half in [8, 4, 2, 1] {
        for i in 0..half {
            lanes[i] = both(lanes[i], lanes[i + half]);
        }
    }
    lanes[0]
}

#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().map(|x| of(*x)).sum();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += of(*x);
        }
    }
    folded(lanes, |a, b| a + b) + rest
}

#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder().iter().fold(f32::NEG_INFINITY, |m, x| if *x > m { *x } else { m });
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = if *x > *lane { *x } else { *lane };
        }
    }
    folded(lanes, |a, b| if b > a { b } else { a }).max(rest)
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left.zip(right) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    folded(lanes, |a, b| a + b) + rest
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
