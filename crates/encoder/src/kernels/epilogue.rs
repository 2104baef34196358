//! Epilogues: operations on products before they leave the cache.

use pulp::{Arch, Simd};

use super::gelu::gelu;
use super::rows::BiasResidualNorm;

/// Operation on the product of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Epilogue<'a> {
    Nothing,
    /// Adds the bias: `[outputs]`.
    Bias(&'a [f32]),
    /// `gelu(product + bias)` with the error function.
    BiasGelu(&'a [f32]),
    /// Layer normalisation of `product + bias + residual`.
    BiasResidualNorm {
        bias: &'a [f32],
        residual: &'a [f32],
        scale: &'a [f32],
        shift: &'a [f32],
        /// Added to the variance.
        epsilon: f32,
    },
}

/// An elementwise operation, applied to each panel's outputs while they are in registers.
#[derive(Clone, Copy)]
pub(super) enum TileEpilogue<'a> {
    Nothing,
    Bias(&'a [f32]),
    BiasGelu(&'a [f32]),
}

impl<'a> TileEpilogue<'a> {
    /// The part of `after` that does not need whole rows.
    pub(super) fn new(after: Epilogue<'a>) -> Self {
        match after {
            Epilogue::Nothing | Epilogue::BiasResidualNorm { .. } => Self::Nothing,
            Epilogue::Bias(bias) => Self::Bias(bias),
            Epilogue::BiasGelu(bias) => Self::BiasGelu(bias),
        }
    }

    /// The bias of a panel's outputs, of which `output` is the first.
    #[inline(always)]
    pub(super) fn bias<S: Simd, const VECTORS: usize>(&self, simd: S, output: usize) -> [S::f32s; VECTORS] {
        let mut vectors = [simd.splat_f32s(0.0); VECTORS];
        if let Self::Bias(bias) | Self::BiasGelu(bias) = self {
            for (vector, bias) in vectors.iter_mut().zip(bias[output..].chunks(S::F32_LANES)) {
                *vector = simd.partial_load_f32s(bias);
            }
        }
        vectors
    }

    /// Stores a row's outputs of one panel. `row`: as many of them as exist.
    #[inline(always)]
    pub(super) fn store<S: Simd, const VECTORS: usize>(
        &self,
        simd: S,
        products: [S::f32s; VECTORS],
        bias: &[S::f32s; VECTORS],
        row: &mut [f32],
    ) {
        let mut finished = products;
        for (product, bias) in finished.iter_mut().zip(bias) {
            *product = match self {
                Self::Nothing => *product,
                Self::Bias(_) => simd.add_f32s(*product, *bias),
                Self::BiasGelu(_) => gelu(simd, simd.add_f32s(*product, *bias)),
            };
        }
        // Partial vectors are stored by a function call each, so only where a panel ends within one.
        if row.len() == VECTORS * S::F32_LANES {
            S::as_mut_simd_f32s(row).0.copy_from_slice(&finished);
            return;
        }
        for (columns, finished) in row.chunks_mut(S::F32_LANES).zip(finished) {
            simd.partial_store_f32s(columns, finished);
        }
    }
}

/// Applies the part of `after` that needs whole rows. `out`: the rows from index `first` of the result on.
pub(super) fn whole_rows(arch: Arch, after: Epilogue<'_>, first: usize, out: &mut [f32]) {
    if let Epilogue::BiasResidualNorm { bias, residual, scale, shift, epsilon } = after {
        let residual = &residual[first..][..out.len()];
        arch.dispatch(BiasResidualNorm { x: out, residual, bias, scale, shift, epsilon });
    }
}
