//! Quantises rows of activations: 8 bits for nearly all numbers, more for the few outliers.
//!
//! Each row has its own step, so that a row's result depends on no other row. In transformers a few
//! channels are ten times as large as all others (Dettmers et al. 2022, arXiv 2208.07339); a step that
//! covered them would leave the others too few levels. The range is therefore that of the row without its
//! very largest and smallest numbers, where this makes it clearly narrower, and what those numbers have
//! beyond it is stored next to the bytes as their *excess*.

use std::cell::RefCell;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

/// Number of extremes tracked in parallel; an outlier is recognised only against those of the other lanes.
const LANES: usize = 16;

/// Number of extremes excluded on either side of a narrowed range.
const LEFT_OUT: usize = 2;

/// A range is narrowed only if the full one is larger by this factor: an excess costs time.
const WORTH_NARROWING: f32 = 1.5;

/// And not if it is larger by this factor, so that every level is exact in 32 bits.
const TOO_NARROW: f32 = 1024.0;

/// Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
const ROUND: f32 = 12_582_912.0;

/// Quantisation of a row: `x` is level `round(x / step)`, byte `level + zero`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QParams {
    /// NaN if the row has a non-finite number.
    pub(super) scale: f32,
    /// The byte of 0.
    pub(super) zero_point: i32,
}

impl QParams {
    #[inline(always)]
    pub(super) fn new(row: &[f32]) -> Self {
        let mut low = [0.0f32; LANES];
        let mut high = [0.0f32; LANES];
        let mut widest = [0u32; LANES];
        let mut see = |lane: usize, x: f32| {
            low[lane] = if x < low[lane] { x } else { low[lane] };
            high[lane] = if x > high[lane] { x } else { high[lane] };
            widest[lane] = widest[lane].max(x.to_bits() << 1);
        };
        let (chunks, rest) = row.as_chunks::<LANES>();
        for chunk in chunks {
            for (lane, x) in chunk.iter().enumerate() {
                see(lane, *x);
            }
        }
        for (lane, x) in rest.iter().enumerate() {
            see(lane, *x);
        }
        if widest.iter().any(|bits| *bits >= f32::INFINITY.to_bits() << 1) {
            return Self { scale: f32::NAN, zero_point: 0 };
        }
        let negative = low.map(|x| -x);
        let whole = (largest(&negative), largest(&high));
        let narrow = (largest_after(negative, LEFT_OUT), largest_after(high, LEFT_OUT));
        let by = (whole.0 + whole.1) / (narrow.0 + narrow.1);
        Self::between(if by > WORTH_NARROWING && by < TOO_NARROW { narrow } else { whole })
    }

    /// The 256 levels from `-below` to `above`, including 0.
    #[inline(always)]
    fn between((below, above): (f32, f32)) -> Self {
        let step = (below + above) / 255.0;
        if step < f32::MIN_POSITIVE {
            return Self { scale: 0.0, zero_point: 0 };
        }
        Self { scale: step, zero_point: whole(below / step) }
    }

    #[inline(always)]
    fn per_step(self) -> f32 {
        if self.scale > 0.0 { self.scale.recip() } else { 0.0 }
    }
}

/// Rounds to the nearest integer, ties to even, for numbers below 2^22.
#[inline(always)]
fn whole(x: f32) -> i32 {
    (x + ROUND).to_bits() as i32 - ROUND.to_bits() as i32
}

#[inline(always)]
fn largest(lanes: &[f32; LANES]) -> f32 {
    lanes.iter().fold(0.0, |most, x| if *x > most { *x } else { most })
}

/// The maximum after removing the maximum `times` times.
#[inline(always)]
fn largest_after(mut lanes: [f32; LANES], times: usize) -> f32 {
    for _ in 0..times {
        let most = largest(&lanes);
        lanes = lanes.map(|x| if x == most { 0.0 } else { x });
    }
    largest(&lanes)
}

/// The excess of a number beyond the byte of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outlier {
    pub(super) input: u32,
    /// In levels.
    pub(super) levels: i32,
}

/// Rows as bytes, in a buffer reused from one product to the next.
#[derive(Default)]
pub(super) struct QuantizedRows {
    bytes: Vec<u8>,
    /// Number of bytes in a row: the inputs, padded to whole groups of four.
    stride: usize,
    rows: Vec<(QParams, Range<usize>)>,
    excess: Vec<Outlier>,
}

impl QuantizedRows {
    /// `x`: `[rows, inputs]`
    pub(super) fn fill(&mut self, arch: Arch, x: &[f32], inputs: usize) {
        let rows = x.len() / inputs.max(1);
        self.stride = inputs.next_multiple_of(4);
        self.rows.clear();
        self.excess.clear();
        self.bytes.clear();
        self.bytes.resize(rows * self.stride, 0);
        arch.dispatch(Fill { levels: self, x, inputs });
    }

    /// All rows from index `row` on.
    pub(super) fn bytes(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.stride..]
    }

    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    pub(super) fn scale(&self, row: usize) -> QParams {
        self.rows[row].0
    }

    pub(super) fn excess(&self, row: usize) -> &[Outlier] {
        &self.excess[self.rows[row].1.clone()]
    }
}

struct Fill<'a> {
    levels: &'a mut QuantizedRows,
    x: &'a [f32],
    inputs: usize,
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let QuantizedRows { bytes, stride, rows, excess } = self.levels;
        let bytes = bytes.chunks_exact_mut((*stride).max(1));
        for (bytes, row) in bytes.zip(self.x.chunks_exact(self.inputs.max(1))) {
            let qparams = QParams::new(row);
            let first = excess.len();
            if fill_row(qparams, row, bytes) {
                collect(qparams, row, excess);
            }
            rows.push((qparams, first..excess.len()));
        }
    }
}

/// Quantises a row; returns whether some number has an excess.
#[inline(always)]
fn fill_row(qparams: QParams, row: &[f32], bytes: &mut [u8]) -> bool {
    if qparams.scale.is_nan() {
        return false;
    }
    let per_step = qparams.per_step();
    let mut outside = 0;
    for (byte, x) in bytes.iter_mut().zip(row) {
        let level = whole(x * per_step) + qparams.zero_point;
        let inside = level.clamp(0, 255);
        outside |= level ^ inside;
        *byte = inside as u8;
    }
    outside != 0
}

#[inline(always)]
fn collect(qparams: QParams, row: &[f32], excess: &mut Vec<Outlier>) {
    let per_step = qparams.per_step();
    let beyond = |x: f32| {
        let level = whole(x * per_step) + qparams.zero_point;
        level - level.clamp(0, 255)
    };
    for (c, chunk) in row.chunks(LANES).enumerate() {
        if chunk.iter().fold(0, |any, x| any | beyond(*x)) == 0 {
            continue;
        }
        for (i, x) in chunk.iter().enumerate() {
            let levels = beyond(*x);
            if levels != 0 {
                excess.push(Outlier { input: (c * LANES + i) as u32, levels });
            }
        }
    }
}

thread_local! {
    /// Buffers reused between products, so that these allocate nothing.
    static LEVELS: RefCell<QuantizedRows> = RefCell::default();
    static ROUNDED: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with the quantised rows `x`.
pub(super) fn with_levels<R>(
    arch: Arch,
    x: &[f32],
    inputs: usize,
    work: impl FnOnce(&QuantizedRows) -> R,
) -> R {
    // Taken out: while this thread waits for others in `work`, it may be assigned another product.
    let mut levels = LEVELS.take();
    levels.fill(arch, x, inputs);
    let result = work(&levels);
    LEVELS.set(levels);
    result
}

/// Calls `work` with the values of `x` after quantisation, for machines without products of bytes.
pub(super) fn with_rounded<R>(arch: Arch, x: &[f32], inputs: usize, work: impl FnOnce(&[f32]) -> R) -> R {
    let mut out = ROUNDED.take();
    out.clear();
    out.resize(x.len(), 0.0);
    arch.dispatch(Rounded { x, inputs, out: &mut out });
    let result = work(&out);
    ROUNDED.set(out);
    result
}

struct Rounded<'a> {
    x: &'a [f32],
    inputs: usize,
    out: &'a mut [f32],
}

impl WithSimd for Rounded<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let inputs = self.inputs.max(1);
        for (out, row) in self.out.chunks_exact_mut(inputs).zip(self.x.chunks_exact(inputs)) {
            let qparams = QParams::new(row);
            let per_step = qparams.per_step();
            for (out, x) in out.iter_mut().zip(row) {
                *out = whole(x * per_step) as f32 * qparams.scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::every_arch;
    use super::*;

    /// Dequantised values of `row`, which must be the same with all vector instructions.
    fn back(row: &[f32]) -> (QParams, Vec<f32>, Vec<Outlier>) {
        let mut found = every_arch().into_iter().map(|arch| back_by(arch, row));
        let first = found.next().unwrap();
        found.for_each(|other| assert_eq!(other, first));
        first
    }

    fn back_by(arch: Arch, row: &[f32]) -> (QParams, Vec<f32>, Vec<Outlier>) {
        let mut levels = QuantizedRows::default();
        levels.fill(arch, row, row.len());
        let qparams = levels.scale(0);
        let mut found: Vec<i32> =
            levels.bytes(0)[..row.len()].iter().map(|b| i32::from(*b) - qparams.zero_point).collect();
        for Outlier { input, levels } in levels.excess(0) {
            found[*input as usize] += levels;
        }
        let found = found.iter().map(|level| *level as f32 * qparams.scale).collect();
        (qparams, found, levels.excess(0).to_vec())
    }

    #[test]
    fn uniform_row_needs_no_excess() {
        let row: Vec<f32> = (0..100).map(|i| (i * 37 % 100) as f32 / 10.0 - 3.0).collect();
        let (qparams, found, excess) = back(&row);
        assert!((qparams.scale - 9.9 / 255.0).abs() < 1e-6);
        assert!(excess.is_empty());
        assert!(row.iter().zip(found).all(|(a, b)| (a - b).abs() <= 0.501 * qparams.scale));
    }

    #[test]
    fn outlier_keeps_the_precision_of_others() {
        let mut row: Vec<f32> = (0..100).map(|i| (i * 37 % 100) as f32 / 50.0 - 1.0).collect();
        (row[17], row[60]) = (40.0, -20.0);
        let (qparams, found, excess) = back(&row);
        assert!(qparams.scale < 2.0 / 255.0);
        assert!(excess.iter().any(|e| e.input == 17 && e.levels > 0));
        assert!(excess.iter().any(|e| e.input == 60 && e.levels < 0));
        assert!(row.iter().zip(found).all(|(a, b)| (a - b).abs() <= 0.51 * qparams.scale));
    }

    #[test]
    fn zero_and_constant_rows_are_exact() {
        assert_eq!(back(&[0.0; 5]).1, [0.0; 5]);
        assert_eq!(back(&[3.0]).1, [3.0]);
        assert_eq!(back(&[0.0, -2.0, 0.0]).1, [0.0, -2.0, 0.0]);
        assert_eq!(back(&[1e-42, -1e-43]).1, [0.0, 0.0]);
    }

    #[test]
    fn largest_value_of_each_lane_is_excluded() {
        let mut lanes = [0.5; LANES];
        (lanes[3], lanes[9]) = (7.0, 8.0);
        assert_eq!((largest(&lanes), largest_after(lanes, 1), largest_after(lanes, 2)), (8.0, 7.0, 0.5));
        assert_eq!([0.5, 1.5, 2.4, -2.6].map(whole), [0, 2, 2, -3]);
    }
}
