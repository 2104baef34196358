//! Softmax over the last axis.

use candle_core::{CpuStorage, CustomOp1, D, DType, Layout, Result as CandleResult, Shape, Tensor};
use pulp::Arch;

use super::storage::{floats, on_cpu, with_floats};
use crate::kernels::rows::{Softmax, SoftmaxBackward};

/// Computes `e^x / sum e^x` over the last axis.
pub(crate) fn softmax(x: &Tensor) -> CandleResult<Tensor> {
    if !on_cpu(x) {
        let (dtype, x) = (x.dtype(), x.to_dtype(DType::F32)?);
        let powers = x.broadcast_sub(&x.detach().max_keepdim(D::Minus1)?)?.exp()?;
        return powers.broadcast_div(&powers.sum_keepdim(D::Minus1)?)?.to_dtype(dtype);
    }
    x.contiguous()?.apply_op1(SoftmaxOp)
}

struct SoftmaxOp;

impl CustomOp1 for SoftmaxOp {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let size = layout.dims().last().copied().unwrap_or(1);
        let mut out = floats(x, layout)?.to_vec();
        Arch::new().dispatch(Softmax { x: &mut out, size });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, result: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        let size = x.dims().last().copied().unwrap_or(1);
        let mut dx = vec![0.0; x.elem_count()];
        with_floats([&result.detach(), grad], |[result, grad]| {
            Arch::new().dispatch(SoftmaxBackward { result, grad, dx: &mut dx, size });
            Ok(())
        })?;
        Tensor::from_vec(dx, x.shape(), x.device()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gradients, variable, worst};
    use super::*;

    #[test]
    fn value_and_gradients_match_the_op_chain() {
        let x = variable(&[2, 3, 5, 19], 5);
        let powers = x.exp().unwrap();
        let chain = powers.broadcast_div(&powers.sum_keepdim(D::Minus1).unwrap()).unwrap();
        let fused = softmax(&x).unwrap();
        assert!(worst(&fused, &chain) < 1e-6);
        assert!(worst(&gradients(&fused, &[&x])[0], &gradients(&chain, &[&x])[0]) < 1e-5);
    }
}
