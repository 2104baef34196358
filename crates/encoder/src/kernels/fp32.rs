//! Products in 32-bit floats: one kernel, compiled for each set of vector instructions.
//!
//! The weights of a few vectors' worth of outputs are stored together, input by input: a panel. A tile is
//! some rows times one panel; its sums stay in registers while inputs and weights are streamed. A panel is
//! larger than the first-level cache, so its weights are prefetched.

use std::array::from_fn;
use std::hint::black_box;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::epilogue::TileEpilogue;
use super::prefetch::prefetch;

/// Prefetch distance in bytes: the time of some hundred multiplications, in which the second-level cache
/// can answer, and mostly the third.
const PREFETCH_BYTES: usize = 2304;

/// Weights, panel by panel: for each input the weights to all outputs of the panel. The last panel is
/// padded with zeros.
pub(super) struct PackedWeights {
    values: Vec<f32>,
    /// Number of outputs in a panel.
    width: usize,
    inputs: usize,
    arch: Arch,
}

impl PackedWeights {
    pub(super) fn pack(arch: Arch, weight: &[f32], outputs: usize, inputs: usize) -> Self {
        let mut panels = Self::empty(arch);
        panels.repack(weight.chunks_exact(inputs.max(1)), outputs, inputs);
        panels
    }

    /// Without weights, to be packed later.
    pub(super) fn empty(arch: Arch) -> Self {
        Self { values: Vec::new(), width: arch.dispatch(PanelWidth), inputs: 0, arch }
    }

    /// Packs other weights into the same memory. `rows`: the weights of one output after the other.
    pub(super) fn repack<'a>(
        &mut self,
        rows: impl Iterator<Item = &'a [f32]>,
        outputs: usize,
        inputs: usize,
    ) {
        let width = self.clear(outputs, inputs);
        for (output, row) in rows.enumerate() {
            let from = output / width * width * inputs + output % width;
            for (to, w) in self.values[from..].iter_mut().step_by(width).zip(row) {
                *to = *w;
            }
        }
    }

    /// The same for transposed weights. `rows`: the weights of one input after the other.
    pub(super) fn repack_transposed<'a>(
        &mut self,
        rows: impl Iterator<Item = &'a [f32]>,
        outputs: usize,
        inputs: usize,
    ) {
        let width = self.clear(outputs, inputs);
        for (input, row) in rows.enumerate() {
            for (panel, part) in row.chunks(width).enumerate() {
                self.values[(panel * inputs + input) * width..][..part.len()].copy_from_slice(part);
            }
        }
    }

    fn clear(&mut self, outputs: usize, inputs: usize) -> usize {
        self.inputs = inputs;
        self.values.clear();
        self.values.resize(outputs.div_ceil(self.width) * self.width * inputs, 0.0);
        self.width
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// `x`: whole rows of inputs. `rows`: for each of them the outputs of `panels`.
    pub(super) fn multiply(
        &self,
        panels: Range<usize>,
        x: &[f32],
        rows: &mut [&mut [f32]],
        finish: &TileEpilogue<'_>,
    ) {
        self.arch.dispatch(Multiply { weights: self, panels, x, rows, finish });
    }
}

/// Width of a panel in vectors. With them and the rows of a tile, nearly all registers hold sums.
const fn panel_vectors<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 3 } else { 2 }
}

const fn tile_rows<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 8 } else { 6 }
}

struct PanelWidth;

impl WithSimd for PanelWidth {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        panel_vectors::<S>() * S::F32_LANES
    }
}

struct Multiply<'a, 'b> {
    weights: &'a PackedWeights,
    panels: Range<usize>,
    x: &'a [f32],
    rows: &'a mut [&'b mut [f32]],
    finish: &'a TileEpilogue<'a>,
}

impl WithSimd for Multiply<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let PackedWeights { values, width, inputs, .. } = self.weights;
        for (i, panel) in self.panels.enumerate() {
            let weights = &values[panel * width * inputs..][..width * inputs];
            for (t, rows) in self.rows.chunks_mut(tile_rows::<S>()).enumerate() {
                let x = &self.x[t * tile_rows::<S>() * inputs..][..rows.len() * inputs];
                let place = Position { column: i * width, output: panel * width };
                let tile = Tile { x, inputs: *inputs, weights, rows, place, finish: self.finish };
                if S::REGISTER_COUNT >= 32 {
                    tile.compute::<S, 3>(simd);
                } else {
                    tile.compute::<S, 2>(simd);
                }
            }
        }
    }
}

/// Position of a panel's outputs.
#[derive(Clone, Copy)]
struct Position {
    /// In the output rows.
    column: usize,
    /// Among all outputs.
    output: usize,
}

/// Some rows times one panel.
struct Tile<'a, 'b> {
    x: &'a [f32],
    inputs: usize,
    weights: &'a [f32],
    rows: &'a mut [&'b mut [f32]],
    place: Position,
    finish: &'a TileEpilogue<'a>,
}

impl Tile<'_, '_> {
    /// Computes only the vectors of the panel that have outputs: the last panel is padded with zeros.
    #[inline(always)]
    fn compute<S: Simd, const PANEL: usize>(self, simd: S) {
        let columns = self.rows.first().map_or(0, |row| row.len() - self.place.column);
        match columns.div_ceil(S::F32_LANES) {
            1 => self.vectors::<S, PANEL, 1>(simd),
            2 => self.vectors::<S, PANEL, 2>(simd),
            _ => self.vectors::<S, PANEL, PANEL>(simd),
        }
    }

    /// Dispatches by the number of rows of the tile, which must be known at compile time.
    #[inline(always)]
    fn vectors<S: Simd, const PANEL: usize, const VECTORS: usize>(self, simd: S) {
        match self.rows.len() {
            1 => simd.vectorize(SizedTile::<PANEL, VECTORS, 1>(self)),
            2 => simd.vectorize(SizedTile::<PANEL, VECTORS, 2>(self)),
            3 => simd.vectorize(SizedTile::<PANEL, VECTORS, 3>(self)),
            4 => simd.vectorize(SizedTile::<PANEL, VECTORS, 4>(self)),
            5 => simd.vectorize(SizedTile::<PANEL, VECTORS, 5>(self)),
            6 => simd.vectorize(SizedTile::<PANEL, VECTORS, 6>(self)),
            7 => simd.vectorize(SizedTile::<PANEL, VECTORS, 7>(self)),
            _ => simd.vectorize(SizedTile::<PANEL, VECTORS, 8>(self)),
        }
    }
}

/// A tile of `ROWS` rows and the first `VECTORS` vectors of a panel of `PANEL`.
struct SizedTile<'a, 'b, const PANEL: usize, const VECTORS: usize, const ROWS: usize>(Tile<'a, 'b>);

impl<const PANEL: usize, const VECTORS: usize, const ROWS: usize> WithSimd
    for SizedTile<'_, '_, PANEL, VECTORS, ROWS>
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // The epilogue must not take registers from the loop over inputs: if it sees both together, the
        // compiler puts sums in memory there.
        let sums = black_box(self.sums(simd));
        let Tile { rows, place, finish, .. } = self.0;
        let bias = finish.bias::<S, VECTORS>(simd, place.output);
        for (row, sums) in rows.iter_mut().zip(sums) {
            let to = row.len().min(place.column + VECTORS * S::F32_LANES);
            finish.store(simd, sums, &bias, &mut row[place.column..to]);
        }
    }
}

impl<const PANEL: usize, const VECTORS: usize, const ROWS: usize> SizedTile<'_, '_, PANEL, VECTORS, ROWS> {
    #[inline(always)]
    fn sums<S: Simd>(&self, simd: S) -> [[S::f32s; VECTORS]; ROWS] {
        let Tile { x, inputs, weights, .. } = self.0;
        let rows: [&[f32]; ROWS] = from_fn(|row| &x[row * inputs..][..inputs]);
        // All of one known length, so that the loop has no bounds checks.
        let weights = &S::as_simd_f32s(weights).0.as_chunks::<PANEL>().0[..inputs];
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
        for (i, weights) in weights.iter().enumerate() {
            prefetch::<PREFETCH_BYTES, _>(weights);
            for (sums, row) in sums.iter_mut().zip(&rows) {
                let x = simd.splat_f32s(row[i]);
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum = simd.mul_add_e_f32s(x, *weight, *sum);
                }
            }
        }
        sums
    }
}
