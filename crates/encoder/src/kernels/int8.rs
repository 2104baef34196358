//! Products of activations quantised to 8 bits with weights quantised to 8 bits.
//!
//! `y = step_row * step_output * (sum of (byte - zero) * weight + sum of excess * weight)`: the sums of
//! bytes are integers and so exact, regardless of their order.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::epilogue::TileEpilogue;
use super::quantize::{Outlier, QuantizedRows};
use super::vnni::{Group, ROWS, Sums, Vnni, WIDTH};

/// Maximum number of inputs, beyond which a sum could exceed 32 bits.
pub(super) const MAX_INPUTS: usize = i32::MAX as usize / (255 * 127);

/// Quantised weights, panel by panel.
pub(super) struct PackedWeights {
    /// `[panels, inputs / 4]`
    groups: Vec<Group>,
    /// Step of each output, padded with zeros to whole panels.
    steps: Vec<f32>,
    /// Sum of the weights of each output.
    totals: Vec<i32>,
    groups_per_panel: usize,
    vnni: Vnni,
    arch: Arch,
}

impl PackedWeights {
    /// `levels` and `steps` as returned by [`super::quantize_weights::levels`].
    pub(super) fn pack(
        (vnni, arch): (Vnni, Arch),
        levels: &[i8],
        steps: &[f32],
        outputs: usize,
        inputs: usize,
    ) -> Self {
        let panels = outputs.div_ceil(WIDTH);
        let groups_per_panel = inputs.div_ceil(4);
        let mut packed = Self {
            groups: vec![[[0; 64]; WIDTH / 16]; panels * groups_per_panel],
            steps: steps.to_vec(),
            totals: vec![0; panels * WIDTH],
            groups_per_panel,
            vnni,
            arch,
        };
        packed.steps.resize(panels * WIDTH, 0.0);
        for (output, row) in levels.chunks_exact(inputs.max(1)).enumerate() {
            packed.totals[output] = row.iter().map(|w| i32::from(*w)).sum();
            let (panel, column) = (output / WIDTH, output % WIDTH);
            let groups = &mut packed.groups[panel * groups_per_panel..];
            for (input, w) in row.iter().enumerate() {
                groups[input / 4][column / 16][column % 16 * 4 + input % 4] = w.cast_unsigned();
            }
        }
        packed
    }

    /// `rows`: for each row of `levels` the outputs of `panels`.
    pub(super) fn multiply(
        &self,
        panels: Range<usize>,
        levels: &QuantizedRows,
        rows: &mut [&mut [f32]],
        finish: &TileEpilogue<'_>,
    ) {
        let mut sums = [[0; WIDTH]; ROWS];
        for (i, panel) in panels.enumerate() {
            let weights = &self.groups[panel * self.groups_per_panel..][..self.groups_per_panel];
            for (t, rows) in rows.chunks_mut(ROWS).enumerate() {
                let first = t * ROWS;
                let sums = &mut sums[..rows.len()];
                self.vnni.sums(levels.bytes(first), levels.stride(), weights, sums);
                self.arch.dispatch(Scale {
                    weights: self,
                    panel,
                    levels,
                    first,
                    sums,
                    column: i * WIDTH,
                    rows,
                    finish,
                });
            }
        }
    }
}

/// Converts the sums of some rows with a panel to numbers.
struct Scale<'a, 'b> {
    weights: &'a PackedWeights,
    panel: usize,
    levels: &'a QuantizedRows,
    /// Index of the first row among `levels`.
    first: usize,
    sums: &'a [Sums],
    /// Column of the panel's outputs in the rows.
    column: usize,
    rows: &'a mut [&'b mut [f32]],
    finish: &'a TileEpilogue<'a>,
}

impl WithSimd for Scale<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F32_LANES {
            16 => self.rows::<S, { WIDTH / 16 }>(simd),
            8 => self.rows::<S, { WIDTH / 8 }>(simd),
            4 => self.rows::<S, { WIDTH / 4 }>(simd),
            _ => self.rows::<S, WIDTH>(simd),
        }
    }
}

impl Scale<'_, '_> {
    #[inline(always)]
    fn rows<S: Simd, const VECTORS: usize>(self, simd: S) {
        let PackedWeights { groups, steps, totals, groups_per_panel, .. } = self.weights;
        let weights = &groups[self.panel * groups_per_panel..][..*groups_per_panel];
        let output = self.panel * WIDTH;
        let bias = self.finish.bias::<S, VECTORS>(simd, output);
        for (r, (row, sums)) in self.rows.iter_mut().zip(self.sums).enumerate() {
            let scale = self.levels.scale(self.first + r);
            let mut values = [0.0f32; WIDTH];
            for ((value, sum), total) in values.iter_mut().zip(sums).zip(&totals[output..]) {
                *value = (sum - scale.zero_point * total) as f32;
            }
            for excess in self.levels.excess(self.first + r) {
                add(*excess, weights, &mut values);
            }
            for (value, step) in values.iter_mut().zip(&steps[output..]) {
                *value *= scale.scale * step;
            }
            let mut vectors = [simd.splat_f32s(0.0); VECTORS];
            vectors.copy_from_slice(&S::as_simd_f32s(&values).0[..VECTORS]);
            let to = row.len().min(self.column + WIDTH);
            self.finish.store(simd, vectors, &bias, &mut row[self.column..to]);
        }
    }
}

/// Adds the excess of one number, times the weights of its input.
#[inline(always)]
fn add(excess: Outlier, weights: &[Group], values: &mut [f32; WIDTH]) {
    let words = weights[excess.input as usize / 4].as_flattened().as_chunks::<4>().0;
    // Shifts the input's byte to the top of each word, and back down with its sign.
    let up = 24 - excess.input % 4 * 8;
    for (value, word) in values.iter_mut().zip(words) {
        *value += (excess.levels * (i32::from_le_bytes(*word) << up >> 24)) as f32;
    }
}
