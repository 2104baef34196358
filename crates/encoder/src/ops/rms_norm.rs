//! Normalisation by the root mean square (Zhang and Sennrich 2019, arXiv 1910.07467).

use candle_core::{CpuStorage, CustomOp2, D, DType, Layout, Result as CandleResult, Shape, Tensor};
use pulp::Arch;

use super::storage::{floats, on_cpu, with_floats};
use crate::kernels::rows::{RmsNorm, RmsNormBackward};

/// Computes `x / sqrt(mean(x^2) + epsilon) * scale` over the last axis; `scale` is `[size]`.
pub(crate) fn rms_norm(x: &Tensor, scale: &Tensor, epsilon: f32) -> CandleResult<Tensor> {
    if !on_cpu(x) {
        return chain(x, scale, epsilon);
    }
    x.contiguous()?.apply_op2(scale, RmsNormOp { epsilon })
}

fn chain(x: &Tensor, scale: &Tensor, epsilon: f32) -> CandleResult<Tensor> {
    let (dtype, x) = (x.dtype(), x.to_dtype(DType::F32)?);
    let root = (x.sqr()?.mean_keepdim(D::Minus1)? + f64::from(epsilon))?.sqrt()?;
    x.broadcast_div(&root)?.broadcast_mul(&scale.to_dtype(DType::F32)?)?.to_dtype(dtype)
}

struct RmsNormOp {
    epsilon: f32,
}

impl CustomOp2 for RmsNormOp {
    fn name(&self) -> &'static str {
        "rms-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        xl: &Layout,
        scale: &CpuStorage,
        sl: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        let mut out = floats(x, xl)?.to_vec();
        Arch::new().dispatch(RmsNorm { x: &mut out, scale: floats(scale, sl)?, epsilon: self.epsilon });
        Ok((CpuStorage::F32(out), xl.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        scale: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<(Option<Tensor>, Option<Tensor>)> {
        let size = scale.dim(0)?;
        let (mut dx, mut dscale) = (vec![0.0; x.elem_count()], vec![0.0; size]);
        with_floats([x, scale, grad], |[x, scale, grad]| {
            let (dx, dscale) = (&mut dx, &mut dscale);
            Arch::new().dispatch(RmsNormBackward { x, scale, grad, epsilon: self.epsilon, dx, dscale });
            Ok(())
        })?;
        let device = x.device();
        Ok((Some(Tensor::from_vec(dx, x.shape(), device)?), Some(Tensor::from_vec(dscale, size, device)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gradients, variable, worst};
    use super::*;

    #[test]
    fn value_and_gradients_match_the_op_chain() {
        for (rows, size) in [(1, 2), (3, 24), (7, 37), (40, 384)] {
            let (x, scale) = (variable(&[rows, size], 1), variable(&[size], 2));
            let fused = rms_norm(&x, &scale, 1e-5).unwrap();
            let plain = chain(&x, &scale, 1e-5).unwrap();
            assert!(worst(&fused, &plain) < 1e-4, "{rows} x {size}");
            let all = [&x, &scale];
            for (found, expected) in gradients(&fused, &all).iter().zip(gradients(&plain, &all)) {
                assert!(worst(found, &expected) < 1e-3, "{rows} x {size}: {}", worst(found, &expected));
            }
        }
    }
}
