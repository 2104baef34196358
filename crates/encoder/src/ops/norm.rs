//! Layer normalisation (Ba et al. 2016, arXiv 1607.06450).

use candle_core::{CpuStorage, CustomOp3, D, DType, Layout, Result as CandleResult, Shape, Tensor};
use pulp::Arch;

use super::storage::{floats, on_cpu, with_floats};
use crate::kernels::rows::{Norm, NormBackward};

/// Computes `(x - mean) / sqrt(variance + epsilon) * scale + shift` over the last axis; `scale` and `shift`
/// are `[size]`.
pub(crate) fn norm(x: &Tensor, scale: &Tensor, shift: &Tensor, epsilon: f32) -> CandleResult<Tensor> {
    if !on_cpu(x) {
        let (dtype, x) = (x.dtype(), x.to_dtype(DType::F32)?);
        let centred = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
        let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
        let unit = centred.broadcast_div(&(variance + f64::from(epsilon))?.sqrt()?)?;
        let scaled = unit.broadcast_mul(&scale.to_dtype(DType::F32)?)?;
        return scaled.broadcast_add(&shift.to_dtype(DType::F32)?)?.to_dtype(dtype);
    }
    x.contiguous()?.apply_op3(scale, shift, NormOp { epsilon })
}

struct NormOp {
    epsilon: f32,
}

impl CustomOp3 for NormOp {
    fn name(&self) -> &'static str {
        "layer-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        xl: &Layout,
        scale: &CpuStorage,
        sl: &Layout,
        shift: &CpuStorage,
        hl: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        let mut out = floats(x, xl)?.to_vec();
        let (scale, shift) = (floats(scale, sl)?, floats(shift, hl)?);
        Arch::new().dispatch(Norm { x: &mut out, scale, shift, epsilon: self.epsilon });
        Ok((CpuStorage::F32(out), xl.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        scale: &Tensor,
        _: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let size = scale.dim(0)?;
        let (mut dx, mut dscale, mut dshift) = (vec![0.0; x.elem_count()], vec![0.0; size], vec![0.0; size]);
        with_floats([x, scale, grad], |[x, scale, grad]| {
            Arch::new().dispatch(NormBackward {
                x,
                scale,
                grad,
                epsilon: self.epsilon,
                dx: &mut dx,
                dscale: &mut dscale,
                dshift: &mut dshift,
            });
            Ok(())
        })?;
        let device = x.device();
        Ok((
            Some(Tensor::from_vec(dx, x.shape(), device)?),
            Some(Tensor::from_vec(dscale, size, device)?),
            Some(Tensor::from_vec(dshift, size, device)?),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gradients, variable, worst};
    use super::*;

    #[test]
    fn value_and_gradients_match_the_op_chain() {
        for (rows, size) in [(1, 2), (3, 24), (7, 37), (40, 384)] {
            let (x, scale, shift) = (variable(&[rows, size], 1), variable(&[size], 2), variable(&[size], 3));
            let fused = norm(&x, &scale, &shift, 1e-5).unwrap();
            let chain = {
                let centred = x.broadcast_sub(&x.mean_keepdim(1).unwrap()).unwrap();
                let variance = centred.sqr().unwrap().mean_keepdim(1).unwrap();
                let unit = centred.broadcast_div(&(variance + 1e-5).unwrap().sqrt().unwrap()).unwrap();
                unit.broadcast_mul(&scale).unwrap().broadcast_add(&shift).unwrap()
            };
            assert!(worst(&fused, &chain) < 1e-4, "{rows} x {size}");
            let all = [&x, &scale, &shift];
            for (found, expected) in gradients(&fused, &all).iter().zip(gradients(&chain, &all)) {
                assert!(worst(found, &expected) < 1e-3, "{rows} x {size}: {}", worst(found, &expected));
            }
        }
    }
}
