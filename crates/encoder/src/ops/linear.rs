//! `x W^T + b`, whose backward pass skips frozen weights.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp2, CustomOp3, Layout, Result as CandleResult, Shape, Tensor, bail};
use pulp::Arch;

use super::storage::{floats, on_cpu, with_floats};
use crate::kernels::rows::{AddBias, ColumnSums};

/// Multiplies `x` `[rows, inputs]` by the transpose of `weight` `[outputs, inputs]` and adds `bias`
/// `[outputs]`. With `learns` false weight and bias get no gradient, tracked or not, and the backward pass
/// costs half.
pub(crate) fn linear(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    learns: bool,
) -> CandleResult<Tensor> {
    if !on_cpu(x) {
        let (weight, bias) = if learns {
            (weight.clone(), bias.cloned())
        } else {
            (weight.detach(), bias.map(Tensor::detach))
        };
        let product = x.matmul(&weight.t()?)?;
        return bias.map_or(Ok(product.clone()), |bias| product.broadcast_add(&bias));
    }
    let x = x.contiguous()?;
    match bias {
        None => x.apply_op2(weight, Linear { learns }),
        Some(bias) => x.apply_op3(weight, bias, Linear { learns }),
    }
}

struct Linear {
    learns: bool,
}

impl Linear {
    fn product(
        x: &CpuStorage,
        xl: &Layout,
        w: &CpuStorage,
        wl: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        let ((rows, inputs), (outputs, _)) = (xl.shape().dims2()?, wl.shape().dims2()?);
        let product = x.matmul(w, (1, rows, outputs, inputs), xl, &wl.transpose(0, 1)?)?;
        Ok((product, (rows, outputs).into()))
    }

    /// Gradients of `x` and, if it is trainable, of the weight.
    fn gradients(&self, x: &Tensor, w: &Tensor, grad: &Tensor) -> CandleResult<(Tensor, Option<Tensor>)> {
        let grad = grad.contiguous()?;
        let dw = if self.learns { Some(grad.t()?.matmul(&x.detach())?) } else { None };
        Ok((grad.matmul(&w.detach())?, dw))
    }
}

impl CustomOp2 for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        xl: &Layout,
        w: &CpuStorage,
        wl: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        Self::product(x, xl, w, wl)
    }

    fn bwd(
        &self,
        x: &Tensor,
        w: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<(Option<Tensor>, Option<Tensor>)> {
        let (dx, dw) = self.gradients(x, w, grad)?;
        Ok((Some(dx), dw))
    }
}

impl CustomOp3 for Linear {
    fn name(&self) -> &'static str {
        "linear-bias"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        xl: &Layout,
        w: &CpuStorage,
        wl: &Layout,
        b: &CpuStorage,
        bl: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        let (product, shape) = Self::product(x, xl, w, wl)?;
        let CpuStorage::F32(mut values) = product else { bail!("a product of floats is not of floats") };
        Arch::new().dispatch(AddBias { x: &mut values, bias: floats(b, bl)? });
        Ok((CpuStorage::F32(values), shape))
    }

    fn bwd(
        &self,
        x: &Tensor,
        w: &Tensor,
        _: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (dx, dw) = self.gradients(x, w, grad)?;
        let db = if self.learns { Some(column_sums(grad)?) } else { None };
        Ok((Some(dx), dw, db))
    }
}

/// Sums over rows: `[rows, columns]` to `[columns]`.
fn column_sums(x: &Tensor) -> CandleResult<Tensor> {
    let columns = x.dim(1)?;
    let mut sums = vec![0.0; columns];
    with_floats([x], |[x]| {
        Arch::new().dispatch(ColumnSums { x, sums: &mut sums });
        Ok(())
    })?;
    Tensor::from_vec(sums, columns, x.device())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gradients, variable, worst};
    use super::*;

    #[test]
    fn value_and_gradients_match_the_op_chain() {
        let (x, w, b) = (variable(&[7, 5], 1), variable(&[3, 5], 2), variable(&[3], 3));
        let fused = linear(&x, &w, Some(&b), true).unwrap();
        let chain = x.matmul(&w.t().unwrap()).unwrap().broadcast_add(&b).unwrap();
        assert!(worst(&fused, &chain) < 1e-5);
        let all = [&x, &w, &b];
        for (found, expected) in gradients(&fused, &all).iter().zip(gradients(&chain, &all)) {
            assert!(worst(found, &expected) < 1e-4);
        }
        let unbiased = linear(&x, &w, None, true).unwrap();
        assert!(worst(&gradients(&unbiased, &[&w])[0], &gradients(&chain, &[&w])[0]) < 1e-4);
    }

    #[test]
    fn frozen_weight_gets_no_gradient() {
        let (x, w, b) = (variable(&[4, 5], 1), variable(&[3, 5], 2), variable(&[3], 3));
        let store = linear(&x, &w, Some(&b), false).unwrap().sum_all().unwrap().backward().unwrap();
        assert!(store.get(&x).is_some() && store.get(&w).is_none() && store.get(&b).is_none());
    }
}
