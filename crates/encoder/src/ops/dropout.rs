//! Dropout (Srivastava et al. 2014) whose mask is a function of a seed, so that the backward pass
//! recomputes it and none is stored.

use candle_core::{CpuStorage, CustomOp1, Layout, Result as CandleResult, Shape, Tensor};
use pulp::Arch;

use super::storage::{floats, on_cpu, with_floats};
use crate::kernels::rows::DropoutRows;

/// Sets elements to 0 with probability `p` and divides the others by `1 - p`. The same seed drops the same
/// elements.
pub(crate) fn dropout(x: &Tensor, p: f32, seed: u32) -> CandleResult<Tensor> {
    if p <= 0.0 {
        return Ok(x.clone());
    }
    if !on_cpu(x) {
        let mut mask = vec![1.0f32; x.elem_count()];
        Arch::new().dispatch(DropoutRows { x: &mut mask, p, seed });
        let mask = Tensor::from_vec(mask, x.shape(), x.device())?;
        return x.mul(&mask.to_dtype(x.dtype())?);
    }
    x.contiguous()?.apply_op1(DropoutOp { p, seed })
}

struct DropoutOp {
    p: f32,
    seed: u32,
}

impl CustomOp1 for DropoutOp {
    fn name(&self) -> &'static str {
        "dropout"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let mut out = floats(x, layout)?.to_vec();
        Arch::new().dispatch(DropoutRows { x: &mut out, p: self.p, seed: self.seed });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        let mut dx = with_floats([grad], |[grad]| Ok(grad.to_vec()))?;
        Arch::new().dispatch(DropoutRows { x: &mut dx, p: self.p, seed: self.seed });
        Tensor::from_vec(dx, x.shape(), x.device()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    #[test]
    fn dropout_rate_and_gradient_mask_are_right() {
        let x = Var::from_tensor(&Tensor::ones((200, 300), candle_core::DType::F32, &Device::Cpu).unwrap())
            .unwrap();
        let y = dropout(&x, 0.1, 42).unwrap();
        let values = y.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let dropped = values.iter().filter(|v| **v == 0.0).count() as f64 / values.len() as f64;
        assert!((dropped - 0.1).abs() < 0.006, "{dropped}");
        assert!(values.iter().all(|v| *v == 0.0 || (*v - 1.0 / 0.9).abs() < 1e-6));
        let store = y.sum_all().unwrap().backward().unwrap();
        let grad = store.get(&x).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(grad, values);
    }

    #[test]
    fn dropout_depends_on_the_seed_and_rate() {
        let x = Tensor::ones(1000, candle_core::DType::F32, &Device::Cpu).unwrap();
        let of = |seed| dropout(&x, 0.5, seed).unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(of(1), of(1));
        let same = of(1).iter().zip(of(2)).filter(|(a, b)| **a == *b).count();
        assert!((400..600).contains(&same), "{same}");
        assert_eq!(dropout(&x, 0.0, 1).unwrap().to_vec1::<f32>().unwrap(), vec![1.0; 1000]);
    }
}
