//! Operations between two matrix products, each in one pass over memory, each with its own backward pass.
//!
//! The tensor library's own fused layer norm and softmax have no backward pass, its chains of small
//! operations compute the error function and the exponential number by number, and its parallel loops all
//! share one pool, so that workers would wait for each other. The loops here are plain Rust; `pulp`
//! compiles them for the vector instructions of the machine, detected at run time. On other devices the
//! same operations are chains of the tensor library's differentiable ones.
//!
//! An operation whose arguments are not tracked records nothing, so that inference and training share one
//! path.

mod activation;
mod dropout;
mod gated;
mod linear;
mod norm;
mod rms_norm;
mod rotate;
mod softmax;
mod storage;

pub(crate) use activation::Activation;
pub(crate) use dropout::dropout;
pub(crate) use gated::gated;
pub(crate) use linear::linear;
pub(crate) use norm::norm;
pub(crate) use rms_norm::rms_norm;
pub(crate) use rotate::rotate;
pub(crate) use softmax::softmax;
pub(crate) use storage::square_sum;

#[cfg(test)]
pub(crate) mod testing {
    use candle_core::{Device, Tensor, Var};

    /// Pseudo-random numbers between -6 and 6.
    pub(super) fn scattered(n: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 12.0
            })
            .collect()
    }

    pub(crate) fn tensor(shape: &[usize], seed: u64) -> Tensor {
        Tensor::from_vec(scattered(shape.iter().product(), seed), shape, &Device::Cpu).unwrap()
    }

    pub(crate) fn variable(shape: &[usize], seed: u64) -> Var {
        Var::from_tensor(&tensor(shape, seed)).unwrap()
    }

    pub(crate) fn worst(a: &Tensor, b: &Tensor) -> f32 {
        let flat = |t: &Tensor| t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        flat(a).iter().zip(flat(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    /// Gradients of `sum(y * weights)` for scattered weights with respect to each variable.
    pub(crate) fn gradients(y: &Tensor, variables: &[&Var]) -> Vec<Tensor> {
        let weights = tensor(y.dims(), 77);
        let store = (y * weights).unwrap().sum_all().unwrap().backward().unwrap();
        variables.iter().map(|v| store.get(v).unwrap().clone()).collect()
    }
}
