//! The nonlinearities of feed-forward parts.

use candle_core::{CpuStorage, CustomOp1, Layout, Result as CandleResult, Shape, Tensor};
use pulp::Arch;

use super::storage::{floats, on_cpu, with_floats};
use crate::kernels::rows::{Gelu, GeluBackward, GeluTanh, GeluTanhBackward};

/// An elementwise nonlinearity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    /// `x Phi(x)` with the error function (Hendrycks and Gimpel 2016, arXiv 1606.08415).
    Gelu,
    /// The same, approximated with tanh.
    GeluTanh,
    /// `max(x, 0)`.
    Relu,
    /// `x / (1 + e^-x)`.
    Silu,
    /// `tanh x`.
    Tanh,
}

impl Activation {
    /// The names that [`Activation::named`] supports, for error messages.
    pub(crate) const NAMES: &str = "gelu, gelu_new, gelu_pytorch_tanh, relu, silu and tanh can be read";

    /// Finds an activation by its name in configurations.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "gelu" => Some(Self::Gelu),
            "gelu_new" | "gelu_pytorch_tanh" | "gelu_approximate" | "gelu_fast" => Some(Self::GeluTanh),
            "relu" => Some(Self::Relu),
            "silu" | "swish" => Some(Self::Silu),
            "tanh" => Some(Self::Tanh),
            _ => None,
        }
    }

    /// Applies it to every element.
    pub(crate) fn apply(self, x: &Tensor) -> CandleResult<Tensor> {
        match self {
            Self::Relu => x.relu(),
            Self::Silu => x.silu(),
            Self::Tanh => x.tanh(),
            Self::Gelu if !on_cpu(x) => x.gelu_erf(),
            Self::GeluTanh if !on_cpu(x) => gelu_tanh_chain(x),
            Self::Gelu => x.contiguous()?.apply_op1(GeluOp { tanh: false }),
            Self::GeluTanh => x.contiguous()?.apply_op1(GeluOp { tanh: true }),
        }
    }
}

/// Computes `0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`: the backward pass of the tensor library's
/// own version has only four correct digits.
fn gelu_tanh_chain(x: &Tensor) -> CandleResult<Tensor> {
    let cube = (x.sqr()? * x)?;
    let inner = ((x + (cube * 0.044_715)?)? * (2.0 / std::f64::consts::PI).sqrt())?;
    (x * 0.5)? * (inner.tanh()? + 1.0)?
}

struct GeluOp {
    tanh: bool,
}

impl CustomOp1 for GeluOp {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let mut out = floats(x, layout)?.to_vec();
        if self.tanh {
            Arch::new().dispatch(GeluTanh { x: &mut out });
        } else {
            Arch::new().dispatch(Gelu { x: &mut out });
        }
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        let mut dx = vec![0.0; x.elem_count()];
        with_floats([x, grad], |[x, grad]| {
            if self.tanh {
                Arch::new().dispatch(GeluTanhBackward { x, grad, dx: &mut dx });
            } else {
                Arch::new().dispatch(GeluBackward { x, grad, dx: &mut dx });
            }
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
        let x = variable(&[9, 37], 5);
        let phi = ((x.as_tensor() / 2f64.sqrt()).unwrap().erf().unwrap() + 1.0).unwrap();
        let chain = ((x.as_tensor() * 0.5).unwrap() * phi).unwrap();
        let fused = Activation::Gelu.apply(&x).unwrap();
        assert!(worst(&fused, &chain) < 3e-6);
        assert!(worst(&gradients(&fused, &[&x])[0], &gradients(&chain, &[&x])[0]) < 2e-5);

        let chain = gelu_tanh_chain(&x).unwrap();
        let fused = Activation::GeluTanh.apply(&x).unwrap();
        assert!(worst(&fused, &chain) < 3e-6);
        assert!(worst(&gradients(&fused, &[&x])[0], &gradients(&chain, &[&x])[0]) < 2e-5);
    }
}
