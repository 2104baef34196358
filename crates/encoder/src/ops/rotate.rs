//! Rotation of pairs of components by angles, for rotary positions.

use candle_core::{CpuStorage, CustomOp3, D, Layout, Result as CandleResult, Shape, Tensor};
use pulp::Arch;

use super::storage::{floats, on_cpu, with_floats};
use crate::kernels::rows::Rotate;

/// Rotates the components `(i, i + half)` of each of the first `heads` heads of `x` `[rows, width]`, each
/// head `2 * half` wide, by angles given as `cosines` and `sines` `[rows, half]`, which get no gradient.
/// Columns after those heads are unchanged.
pub(crate) fn rotate(x: &Tensor, cosines: &Tensor, sines: &Tensor, heads: usize) -> CandleResult<Tensor> {
    if !on_cpu(x) {
        return chain(x, cosines, sines, heads);
    }
    x.contiguous()?.apply_op3(&cosines.detach(), &sines.detach(), RotateOp { heads })
}

fn chain(x: &Tensor, cosines: &Tensor, sines: &Tensor, heads: usize) -> CandleResult<Tensor> {
    let ((rows, width), half) = (x.dims2()?, cosines.dim(1)?);
    let turned = x.narrow(1, 0, heads * 2 * half)?.reshape((rows, heads, 2 * half))?;
    let (first, second) = (turned.narrow(D::Minus1, 0, half)?, turned.narrow(D::Minus1, half, half)?);
    let [cosines, sines] = [cosines, sines].map(|of| of.to_dtype(x.dtype())?.unsqueeze(1));
    let (cosines, sines) = (cosines?, sines?);
    let a = (first.broadcast_mul(&cosines)? - second.broadcast_mul(&sines)?)?;
    let b = (second.broadcast_mul(&cosines)? + first.broadcast_mul(&sines)?)?;
    let turned = Tensor::cat(&[&a, &b], 2)?.reshape((rows, heads * 2 * half))?;
    Tensor::cat(&[&turned, &x.narrow(1, heads * 2 * half, width - heads * 2 * half)?], 1)
}

struct RotateOp {
    heads: usize,
}

impl CustomOp3 for RotateOp {
    fn name(&self) -> &'static str {
        "rotate"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        xl: &Layout,
        cosines: &CpuStorage,
        cl: &Layout,
        sines: &CpuStorage,
        sl: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        let mut out = floats(x, xl)?.to_vec();
        let ((_, width), (_, half)) = (xl.shape().dims2()?, cl.shape().dims2()?);
        Arch::new().dispatch(Rotate {
            x: &mut out,
            width,
            heads: self.heads,
            cosines: floats(cosines, cl)?,
            sines: floats(sines, sl)?,
            half,
            back: false,
        });
        Ok((CpuStorage::F32(out), xl.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        cosines: &Tensor,
        sines: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (width, half) = (x.dim(1)?, cosines.dim(1)?);
        let mut dx = Vec::new();
        with_floats([cosines, sines, grad], |[cosines, sines, grad]| {
            dx = grad.to_vec();
            let (x, heads) = (&mut dx, self.heads);
            Arch::new().dispatch(Rotate { x, width, heads, cosines, sines, half, back: true });
            Ok(())
        })?;
        Ok((Some(Tensor::from_vec(dx, x.shape(), x.device())?), None, None))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gradients, tensor, variable, worst};
    use super::*;

    #[test]
    fn value_and_gradient_match_the_op_chain() {
        for (heads, all, half) in [(1, 1, 1), (2, 3, 4), (6, 9, 19)] {
            let x = variable(&[5, all * 2 * half], 5);
            let angles = tensor(&[5, half], 6);
            let (cosines, sines) = (angles.cos().unwrap(), angles.sin().unwrap());
            let fused = rotate(&x, &cosines, &sines, heads).unwrap();
            let plain = chain(&x, &cosines, &sines, heads).unwrap();
            assert!(worst(&fused, &plain) < 1e-5);
            assert!(worst(&gradients(&fused, &[&x])[0], &gradients(&plain, &[&x])[0]) < 1e-5);
        }
    }
}
