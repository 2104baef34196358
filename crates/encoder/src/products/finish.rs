//! What is done to products before they leave the cache.

use pulp::Arch;

use super::After;
use crate::fused::math::gelu;
use crate::fused::rows::BiasResidualNorm;

/// A step that looks at single numbers, done to each panel's outputs as soon as they are there.
#[derive(Clone, Copy)]
pub(super) enum Finish<'a> {
    Nothing,
    Bias(&'a [f32]),
    BiasGelu(&'a [f32]),
}

impl<'a> Finish<'a> {
    /// The part of `after` that does not need whole rows.
    pub(super) fn of(after: After<'a>) -> Self {
        match after {
            After::Nothing | After::BiasResidualNorm { .. } => Self::Nothing,
            After::Bias(bias) => Self::Bias(bias),
            After::BiasGelu(bias) => Self::BiasGelu(bias),
        }
    }

    /// `columns`: a row's outputs from number `first` on.
    #[inline(always)]
    pub(super) fn apply(&self, columns: &mut [f32], first: usize) {
        match self {
            Self::Nothing => {}
            Self::Bias(bias) => {
                for (x, b) in columns.iter_mut().zip(&bias[first..]) {
                    *x += b;
                }
            }
            Self::BiasGelu(bias) => {
                for (x, b) in columns.iter_mut().zip(&bias[first..]) {
                    *x = gelu(*x + b);
                }
            }
        }
    }
}

/// The part of `after` that needs whole rows. `out`: the rows from number `first` of the result's numbers on.
pub(super) fn whole_rows(after: After<'_>, first: usize, out: &mut [f32]) {
    if let After::BiasResidualNorm { bias, residual, scale, shift, epsilon } = after {
        let residual = &residual[first..][..out.len()];
        Arch::new().dispatch(BiasResidualNorm { x: out, residual, bias, scale, shift, epsilon });
    }
}
