//! The weights of a linear layer, packed for the kernel that reads them, and the product with rows of
//! activations.

use std::ops::Range;

use pulp::Arch;
use rayon::prelude::*;

use super::epilogue::{self, Epilogue, TileEpilogue};
use super::{fp32, quantize, quantize_weights};
#[cfg(target_arch = "x86_64")]
use super::{int8, vnni};
use crate::options::Precision;

/// Minimum number of rows that are distributed among threads: enough to amortise reading the weights.
const MIN_ROWS: usize = 64;

/// Bytes of rows that are multiplied by all weights before the next rows. A panel of weights stays in a
/// core's second-level cache while these are streamed, so that they need not fit next to it; weights are
/// read from slower memory once for all of them.
const BLOCK_BYTES: usize = 1 << 20;

/// The packed weights of one linear layer.
pub(crate) struct Packed {
    store: Store,
    outputs: usize,
    inputs: usize,
    /// The instruction set to use.
    arch: Arch,
}

/// Whether this machine has an instruction for products of bytes, which are then the fastest.
pub(crate) fn has_byte_products() -> bool {
    #[cfg(target_arch = "x86_64")]
    return vnni::Vnni::detect().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Weights in the layout of a kernel.
enum Store {
    Fp32(fp32::PackedWeights),
    /// Quantised weights stored and multiplied as floats: the same numbers, on machines without products of
    /// bytes.
    FakeQuantized(fp32::PackedWeights),
    #[cfg(target_arch = "x86_64")]
    Int8(int8::PackedWeights),
}

impl Store {
    fn pack(arch: Arch, weight: &[f32], outputs: usize, inputs: usize, precision: Precision) -> Self {
        match precision {
            // Half precision is never packed: it is for other devices.
            Precision::Fp32 | Precision::Half => {
                Self::Fp32(fp32::PackedWeights::pack(arch, weight, outputs, inputs))
            }
            Precision::Int8 => {
                #[cfg(target_arch = "x86_64")]
                if let Some(vnni) = vnni::Vnni::detect().filter(|_| inputs <= int8::MAX_INPUTS) {
                    return Self::bytes((vnni, arch), weight, outputs, inputs);
                }
                Self::rounded(arch, weight, outputs, inputs)
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn bytes(instructions: (vnni::Vnni, Arch), weight: &[f32], outputs: usize, inputs: usize) -> Self {
        let (levels, steps) = quantize_weights::levels(weight, inputs);
        Self::Int8(int8::PackedWeights::pack(instructions, &levels, &steps, outputs, inputs))
    }

    fn rounded(arch: Arch, weight: &[f32], outputs: usize, inputs: usize) -> Self {
        Self::FakeQuantized(fp32::PackedWeights::pack(
            arch,
            &quantize_weights::rounded(weight, inputs),
            outputs,
            inputs,
        ))
    }

    /// Number of outputs in a panel.
    fn width(&self) -> usize {
        match self {
            Self::Fp32(panels) | Self::FakeQuantized(panels) => panels.width(),
            #[cfg(target_arch = "x86_64")]
            Self::Int8(_) => vnni::WIDTH,
        }
    }

    /// Prepares the rows `x` for this kernel, and calls `work` with a function that multiplies them all.
    fn with_rows<R>(&self, arch: Arch, x: &[f32], inputs: usize, work: impl FnOnce(&Multiply<'_>) -> R) -> R {
        match self {
            Self::Fp32(weights) => work(&|panels, out, finish| weights.multiply(panels, x, out, finish)),
            Self::FakeQuantized(weights) => quantize::with_rounded(arch, x, inputs, |x| {
                work(&|panels, out, finish| weights.multiply(panels, x, out, finish))
            }),
            #[cfg(target_arch = "x86_64")]
            Self::Int8(weights) => quantize::with_levels(arch, x, inputs, |x| {
                work(&|panels, out, finish| weights.multiply(panels, x, out, finish))
            }),
        }
    }
}

/// Multiplies by some panels on this thread, given the outputs of those panels for each row.
type Multiply<'a> = dyn Fn(Range<usize>, &mut [&mut [f32]], &TileEpilogue<'_>) + Sync + 'a;

impl Packed {
    /// Packs `weight`: `[outputs, inputs]`, row by row.
    ///
    /// # Panics
    /// Where `weight` has another size.
    pub(crate) fn new(weight: &[f32], outputs: usize, inputs: usize, precision: Precision) -> Self {
        Self::for_arch(Arch::new(), weight, outputs, inputs, precision)
    }

    /// The same for an instruction set other than the machine's best.
    fn for_arch(arch: Arch, weight: &[f32], outputs: usize, inputs: usize, precision: Precision) -> Self {
        assert_eq!(weight.len(), outputs * inputs, "a weight is [outputs, inputs]");
        Self { store: Store::pack(arch, weight, outputs, inputs, precision), outputs, inputs, arch }
    }

    /// Number of columns of the result.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of columns of the input.
    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Computes `out = after(x W^T)`, with `x` as `[rows, inputs]` and `out` as `[rows, outputs]`; `out` is
    /// overwritten.
    ///
    /// # Panics
    /// Where the sizes of `x`, `out` and `after` do not match.
    pub(crate) fn apply(&self, x: &[f32], out: &mut [f32], after: Epilogue<'_>) {
        if self.outputs == 0 || out.is_empty() {
            return;
        }
        let rows = out.len() / self.outputs;
        assert_eq!(out.len(), rows * self.outputs, "a result is whole rows");
        assert_eq!(x.len(), rows * self.inputs, "as many rows go in as come out");
        let threads = rayon::current_num_threads();
        if threads > 1 && rows < threads * MIN_ROWS {
            self.share_outputs(threads, x, out, after);
            return;
        }
        let block = self.block_rows(rows, threads);
        let one = |(i, out): (usize, &mut [f32])| {
            let from = i * block;
            let x = &x[from * self.inputs..][..out.len() / self.outputs * self.inputs];
            self.multiply(x, out, &TileEpilogue::new(after));
            epilogue::whole_rows(self.arch, after, from * self.outputs, out);
        };
        if threads == 1 {
            out.chunks_mut(block * self.outputs).enumerate().for_each(one);
        } else {
            out.par_chunks_mut(block * self.outputs).enumerate().for_each(one);
        }
    }

    /// Multiplies a block of rows on this thread.
    fn multiply(&self, x: &[f32], out: &mut [f32], finish: &TileEpilogue<'_>) {
        let mut out: Vec<&mut [f32]> = out.chunks_exact_mut(self.outputs).collect();
        self.store
            .with_rows(self.arch, x, self.inputs, |multiply| multiply(0..self.panels(), &mut out, finish));
    }

    /// For few rows: every thread computes all rows of its share of the outputs, so that each weight is
    /// read once.
    fn share_outputs(&self, threads: usize, x: &[f32], out: &mut [f32], after: Epilogue<'_>) {
        let finish = TileEpilogue::new(after);
        let shares = shares(self.panels(), threads, self.store.width(), out, self.outputs);
        self.store.with_rows(self.arch, x, self.inputs, |multiply| {
            shares.into_par_iter().for_each(|(panels, mut out)| multiply(panels, &mut out, &finish));
        });
        epilogue::whole_rows(self.arch, after, 0, out);
    }

    /// Size of blocks: equal, of whole tiles, with no small remainder, at least one per thread.
    fn block_rows(&self, rows: usize, threads: usize) -> usize {
        let most = (BLOCK_BYTES / (size_of::<f32>() * self.inputs.max(1))).max(MIN_ROWS);
        let blocks = rows.div_ceil(most).max(threads);
        rows.div_ceil(blocks).next_multiple_of(8)
    }

    fn panels(&self) -> usize {
        self.outputs.div_ceil(self.store.width())
    }
}

/// Contiguous panels for every thread, and the corresponding columns of `out`, row by row.
fn shares(
    panels: usize,
    threads: usize,
    width: usize,
    out: &mut [f32],
    outputs: usize,
) -> Vec<(Range<usize>, Vec<&mut [f32]>)> {
    let each = panels.div_ceil(threads);
    let mut shares: Vec<_> = (0..panels)
        .step_by(each)
        .map(|from| (from..(from + each).min(panels), Vec::with_capacity(out.len() / outputs)))
        .collect();
    for row in out.chunks_exact_mut(outputs) {
        for ((_, rows), columns) in shares.iter_mut().zip(row.chunks_mut(each * width)) {
            rows.push(columns);
        }
    }
    shares
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
