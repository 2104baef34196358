//! Frozen products on the CPU that a graph passes through: weights packed once for the product and once,
//! transposed, for its gradient.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, Layout, Result as CandleResult, Shape, Tensor};

use super::packed::PackedLinear;
use crate::options::Precision;

/// `x W^T + b`, differentiable only with respect to `x`.
pub(crate) struct FrozenLinear(Arc<BothWays>);

struct BothWays {
    product: PackedLinear,
    /// From the gradient of the product to that of `x`: the same weight transposed, without bias.
    gradient: PackedLinear,
}

impl FrozenLinear {
    /// `weight` `[outputs, inputs]`, `bias` `[outputs]`.
    pub(crate) fn pack(weight: &Tensor, bias: Option<&Tensor>) -> CandleResult<Self> {
        // In full precision: a gradient of rounded weights would belong to another model.
        let product = PackedLinear::pack(weight, bias, Precision::Fp32)?;
        let gradient = PackedLinear::pack(&weight.t()?.contiguous()?, None, Precision::Fp32)?;
        Ok(Self(Arc::new(BothWays { product, gradient })))
    }

    /// Maps `[rows, inputs]` to `[rows, outputs]`.
    pub(crate) fn apply(&self, x: &Tensor) -> CandleResult<Tensor> {
        x.contiguous()?.apply_op1(Apply(Arc::clone(&self.0)))
    }
}

struct Apply(Arc<BothWays>);

impl CustomOp1 for Apply {
    fn name(&self) -> &'static str {
        "frozen-linear"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        self.0.product.run_alone(x, layout)
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        self.0.gradient.apply(grad).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linear;
    use crate::ops::testing::{gradients, variable, worst};

    /// One row and many rows are computed by different loops, and widths that do not fill a panel are
    /// padded.
    #[test]
    fn packed_product_matches_the_plain_one() {
        for (rows, outputs, inputs) in [(1, 3, 5), (7, 50, 33), (300, 96, 130)] {
            let (w, b) = (variable(&[outputs, inputs], 2), variable(&[outputs], 3));
            for bias in [None, Some(b.as_tensor())] {
                let x = variable(&[rows, inputs], 1);
                let found = FrozenLinear::pack(&w, bias).unwrap().apply(&x).unwrap();
                let plain = linear(&x, &w, bias, false).unwrap();
                assert!(worst(&found, &plain) < 1e-4, "{rows} rows");
                let [found, plain] = [&found, &plain].map(|y| gradients(y, &[&x])[0].clone());
                assert!(worst(&found, &plain) < 1e-3, "{rows} rows: {}", worst(&found, &plain));
            }
        }
    }

    #[test]
    fn wrong_row_width_is_an_error() {
        let linear = FrozenLinear::pack(&variable(&[3, 5], 1), None).unwrap();
        assert!(linear.apply(&variable(&[2, 4], 2)).unwrap_err().to_string().contains("5 inputs"));
    }
}
