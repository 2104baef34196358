//! Values of tensors as slices, for loops on the CPU.

use candle_core::{CpuStorage, DType, Layout, Result as CandleResult, Storage, Tensor, bail};
use pulp::Arch;

use crate::kernels::rows::SquareSum;

/// Values of a contiguous layout of 32-bit floats.
pub(super) fn floats<'a>(storage: &'a CpuStorage, layout: &Layout) -> CandleResult<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&values[from..to]),
        _ => bail!("a fused step takes contiguous 32-bit floats, not {:?}", layout.shape()),
    }
}

/// Calls `work` with the values of tensors on the CPU, which are copied only if they are not contiguous.
pub(super) fn with_floats<const N: usize, R>(
    tensors: [&Tensor; N],
    work: impl FnOnce([&[f32]; N]) -> CandleResult<R>,
) -> CandleResult<R> {
    let mut contiguous = Vec::with_capacity(N);
    for tensor in tensors {
        contiguous.push(tensor.to_dtype(DType::F32)?.contiguous()?);
    }
    let guards: Vec<_> = contiguous.iter().map(Tensor::storage_and_layout).collect();
    let mut slices: [&[f32]; N] = [&[]; N];
    for (slice, (storage, layout)) in slices.iter_mut().zip(&guards) {
        match &**storage {
            Storage::Cpu(storage) => *slice = floats(storage, layout)?,
            _ => bail!("a fused step's CPU backward was given a tensor of another device"),
        }
    }
    work(slices)
}

/// The sum of all squares.
pub(crate) fn square_sum(x: &Tensor) -> CandleResult<f64> {
    if !on_cpu(x) {
        return Ok(f64::from(x.to_dtype(DType::F32)?.sqr()?.sum_all()?.to_scalar::<f32>()?));
    }
    with_floats([x], |[x]| Ok(Arch::new().dispatch(SquareSum { x })))
}

/// Whether an operation can use its CPU loop.
pub(super) fn on_cpu(x: &Tensor) -> bool {
    x.device().is_cpu() && x.dtype() == DType::F32
}
