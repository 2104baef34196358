//! The steps between two matrix products, each in one pass over memory.
//!
//! On the CPU they replace chains of tensor operations whose error function and exponential are computed number by
//! number, and whose parallel loops all share one pool, so that workers would wait for each other. The loops are plain
//! Rust; `pulp` compiles them for the vector instructions that the machine turns out to have. On other devices the same
//! steps are the tensor library's own operations.

mod math;
mod rows;

use candle_core::{
    CpuStorage, InplaceOp1, InplaceOp2, InplaceOp3, Layout, Result as CandleResult, Tensor, bail,
};
use candle_nn::ops::{layer_norm, softmax_last_dim};
use pulp::Arch;

use rows::{AddBias, BiasGelu, BiasResidualNorm, Softmax};

/// `x + bias`, row by row. `x` is used up: on the CPU its memory becomes the result's.
pub(crate) fn bias(x: Tensor, bias: &Tensor) -> CandleResult<Tensor> {
    if !x.device().is_cpu() {
        return x.broadcast_add(bias);
    }
    x.inplace_op2(bias, &BiasOp { gelu: false })?;
    Ok(x)
}

/// `gelu(x + bias)` by the error function. `x` is used up.
pub(crate) fn bias_gelu(x: Tensor, bias: &Tensor) -> CandleResult<Tensor> {
    if !x.device().is_cpu() {
        return x.broadcast_add(bias)?.gelu_erf();
    }
    x.inplace_op2(bias, &BiasOp { gelu: true })?;
    Ok(x)
}

/// Layer normalisation of `x + bias + residual`. `x` is used up. `parameters` is `[3, size]`: bias, scale and shift.
pub(crate) fn bias_residual_norm(
    x: Tensor,
    residual: &Tensor,
    parameters: &Tensor,
    epsilon: f32,
) -> CandleResult<Tensor> {
    if !x.device().is_cpu() {
        let sum = (x.broadcast_add(&parameters.get(0)?)? + residual)?;
        return layer_norm(&sum, &parameters.get(1)?, &parameters.get(2)?, epsilon);
    }
    x.inplace_op3(residual, parameters, &NormOp { epsilon })?;
    Ok(x)
}

/// Softmax of attention scores `[texts, heads, longest, longest]` over each text's own `lengths` keys; keys beyond get
/// the weight 0. `scores` is used up. `mask` says the same for devices that add it: 0, or minus infinity beyond.
pub(crate) fn masked_softmax(
    scores: Tensor,
    lengths: &[usize],
    mask: Option<&Tensor>,
) -> CandleResult<Tensor> {
    if !scores.device().is_cpu() {
        return match mask {
            None => softmax_last_dim(&scores),
            Some(mask) => softmax_last_dim(&scores.broadcast_add(mask)?),
        };
    }
    let rows_per_text = scores.dim(1)? * scores.dim(2)?;
    scores.inplace_op1(&SoftmaxOp { lengths: lengths.to_vec(), rows_per_text })?;
    Ok(scores)
}

/// The values of a contiguous tensor.
fn floats<'a>(storage: &'a CpuStorage, layout: &Layout) -> CandleResult<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&values[from..to]),
        _ => bail!("a fused step takes contiguous 32-bit floats, not {:?}", layout.shape()),
    }
}

fn floats_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> CandleResult<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&mut values[from..to]),
        _ => bail!("a fused step takes contiguous 32-bit floats, not {:?}", layout.shape()),
    }
}

struct BiasOp {
    gelu: bool,
}

impl InplaceOp2 for BiasOp {
    fn name(&self) -> &'static str {
        "bias"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, xl: &Layout, bias: &CpuStorage, bl: &Layout) -> CandleResult<()> {
        let (x, bias) = (floats_mut(x, xl)?, floats(bias, bl)?);
        if self.gelu {
            Arch::new().dispatch(BiasGelu { x, bias });
        } else {
            Arch::new().dispatch(AddBias { x, bias });
        }
        Ok(())
    }
}

struct NormOp {
    epsilon: f32,
}

impl InplaceOp3 for NormOp {
    fn name(&self) -> &'static str {
        "bias-residual-norm"
    }

    fn cpu_fwd(
        &self,
        x: &mut CpuStorage,
        xl: &Layout,
        residual: &CpuStorage,
        rl: &Layout,
        parameters: &CpuStorage,
        pl: &Layout,
    ) -> CandleResult<()> {
        let (x, residual, parameters) = (floats_mut(x, xl)?, floats(residual, rl)?, floats(parameters, pl)?);
        let (bias, rest) = parameters.split_at(parameters.len() / 3);
        let (scale, shift) = rest.split_at(rest.len() / 2);
        Arch::new().dispatch(BiasResidualNorm { x, residual, bias, scale, shift, epsilon: self.epsilon });
        Ok(())
    }
}

struct SoftmaxOp {
    lengths: Vec<usize>,
    rows_per_text: usize,
}

impl InplaceOp1 for SoftmaxOp {
    fn name(&self) -> &'static str {
        "masked-softmax"
    }

    fn cpu_fwd(&self, scores: &mut CpuStorage, layout: &Layout) -> CandleResult<()> {
        let longest = layout.dims().last().copied().unwrap_or(1);
        let scores = floats_mut(scores, layout)?;
        Arch::new().dispatch(Softmax {
            scores,
            lengths: &self.lengths,
            rows_per_text: self.rows_per_text,
            longest,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    /// Numbers between -6 and 6 without a pattern.
    fn scattered(n: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 12.0
            })
            .collect()
    }

    fn tensor(shape: &[usize], seed: u64) -> Tensor {
        Tensor::from_vec(scattered(shape.iter().product(), seed), shape, &Device::Cpu).unwrap()
    }

    fn worst(a: &Tensor, b: &Tensor) -> f32 {
        let flat = |t: &Tensor| t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        flat(a).iter().zip(flat(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn each_fused_step_is_the_tensor_librarys_chain() {
        for (rows, size) in [(1, 1), (3, 24), (7, 37), (40, 384)] {
            let (x, b, residual) = (tensor(&[rows, size], 1), tensor(&[size], 2), tensor(&[rows, size], 3));
            let copy = || x.copy().unwrap();
            let sum = x.broadcast_add(&b).unwrap();
            assert_eq!(worst(&bias(copy(), &b).unwrap(), &sum), 0.0);
            assert!(worst(&bias_gelu(copy(), &b).unwrap(), &sum.gelu_erf().unwrap()) < 3e-6);
            let (scale, shift) = (tensor(&[size], 4), tensor(&[size], 5));
            let parameters = Tensor::stack(&[&b, &scale, &shift], 0).unwrap();
            let chain = layer_norm(&(sum + &residual).unwrap(), &scale, &shift, 1e-5).unwrap();
            let fused = bias_residual_norm(copy(), &residual, &parameters, 1e-5).unwrap();
            assert!(worst(&fused, &chain) < 1e-4, "{rows} x {size}: {}", worst(&fused, &chain));
        }
    }

    #[test]
    fn softmax_gives_keys_beyond_a_text_no_weight() {
        let scores = tensor(&[2, 3, 5, 5], 9);
        let mut mask = [0.0f32; 10];
        mask[8..].fill(f32::NEG_INFINITY);
        let mask = Tensor::from_slice(&mask, (2, 1, 1, 5), &Device::Cpu).unwrap();
        let chain = softmax_last_dim(&scores.broadcast_add(&mask).unwrap()).unwrap();
        let fused = masked_softmax(scores.copy().unwrap(), &[5, 3], Some(&mask)).unwrap();
        assert!(worst(&fused, &chain) < 1e-6);
    }
}
