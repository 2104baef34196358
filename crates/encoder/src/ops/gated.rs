//! Gated nonlinearities (Shazeer 2020, arXiv 2002.05202).

use candle_core::{CpuStorage, CustomOp1, Layout, Result as CandleResult, Shape, Tensor};
use pulp::Arch;

use super::Activation;
use super::storage::{floats, on_cpu, with_floats};
use crate::kernels::rows::{SiluGated, SiluGatedBackward};

/// Computes `[rows, size]` from `[rows, 2 * size]`: the nonlinearity of the first half of each row times
/// the second.
pub(crate) fn gated(both: &Tensor, activation: Activation) -> CandleResult<Tensor> {
    if activation == Activation::Silu && on_cpu(both) {
        return both.contiguous()?.apply_op1(SiluGatedOp);
    }
    chain(both, activation)
}

fn chain(both: &Tensor, activation: Activation) -> CandleResult<Tensor> {
    let size = both.dim(1)? / 2;
    activation.apply(&both.narrow(1, 0, size)?)? * both.narrow(1, size, size)?
}

struct SiluGatedOp;

impl CustomOp1 for SiluGatedOp {
    fn name(&self) -> &'static str {
        "silu-gated"
    }

    fn cpu_fwd(&self, both: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let (rows, wide) = layout.shape().dims2()?;
        let size = wide / 2;
        let mut out = vec![0.0; rows * size];
        Arch::new().dispatch(SiluGated { both: floats(both, layout)?, out: &mut out, size });
        Ok((CpuStorage::F32(out), (rows, size).into()))
    }

    fn bwd(&self, both: &Tensor, _: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        let size = grad.dim(1)?;
        let mut dboth = vec![0.0; both.elem_count()];
        with_floats([both, grad], |[both, grad]| {
            Arch::new().dispatch(SiluGatedBackward { both, grad, dboth: &mut dboth, size });
            Ok(())
        })?;
        Tensor::from_vec(dboth, both.shape(), both.device()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gradients, variable, worst};
    use super::*;

    #[test]
    fn value_and_gradients_match_the_op_chain() {
        for shape in [[1, 2], [9, 74], [5, 96]] {
            let both = variable(&shape, 5);
            let fused = gated(&both, Activation::Silu).unwrap();
            let plain = chain(&both, Activation::Silu).unwrap();
            assert!(worst(&fused, &plain) < 1e-5, "{shape:?}");
            let [found, expected] = [&fused, &plain].map(|y| gradients(y, &[&both])[0].clone());
            assert!(worst(&found, &expected) < 1e-4, "{shape:?}");
        }
    }
}
