//! The loops over rows. Each is a `WithSimd` so that it is compiled once for each set of vector instructions.

use pulp::{Simd, WithSimd};

use super::math::{exp, gelu};

/// Sums kept side by side, because additions of floats may not be reordered by the compiler.
const LANES: usize = 16;

pub(super) struct AddBias<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) bias: &'a [f32],
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

pub(super) struct BiasGelu<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) bias: &'a [f32],
}

impl WithSimd for BiasGelu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.x.chunks_exact_mut(self.bias.len()) {
            for (x, b) in row.iter_mut().zip(self.bias) {
                *x = gelu(*x + b);
            }
        }
    }
}

pub(super) struct BiasResidualNorm<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) residual: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) scale: &'a [f32],
    pub(super) shift: &'a [f32],
    pub(super) epsilon: f32,
}

impl WithSimd for BiasResidualNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let size = self.bias.len();
        for (row, residual) in self.x.chunks_exact_mut(size).zip(self.residual.chunks_exact(size)) {
            for ((x, b), r) in row.iter_mut().zip(self.bias).zip(residual) {
                *x += b + r;
            }
            let mean = sum(row, |x| x) / size as f32;
            let variance = sum(row, |x| (x - mean) * (x - mean)) / size as f32;
            let by = (variance + self.epsilon).sqrt().recip();
            for ((x, scale), shift) in row.iter_mut().zip(self.scale).zip(self.shift) {
                *x = (*x - mean) * by * scale + shift;
            }
        }
    }
}

pub(super) struct Softmax<'a> {
    pub(super) scores: &'a mut [f32],
    pub(super) lengths: &'a [usize],
    pub(super) rows_per_text: usize,
    pub(super) longest: usize,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let texts = self.scores.chunks_exact_mut(self.rows_per_text * self.longest);
        for (text, length) in texts.zip(self.lengths) {
            for row in text.chunks_exact_mut(self.longest) {
                let (real, beyond) = row.split_at_mut(*length);
                softmax(real);
                beyond.fill(0.0);
            }
        }
    }
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
    lanes.iter().sum::<f32>() + rest
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
    lanes.iter().fold(rest, |m, x| if *x > m { *x } else { m })
}
