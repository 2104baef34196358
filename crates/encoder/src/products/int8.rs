//! Products of activations in levels of 8 bits with weights in levels of 8 bits.
//!
//! `y = step_row * step_output * (sum of (byte - zero) * weight + sum of excess * weight)`: the sums of bytes are whole
//! numbers and so exact, whatever their order.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::finish::Finish;
use super::levels::{Excess, Levels, RowScale};
use super::vnni::{Group, ROWS, Sums, Vnni, WIDTH};

/// With more inputs a sum could leave 32 bits.
pub(super) const MOST_INPUTS: usize = i32::MAX as usize / (255 * 127);

/// Weights in levels, panel by panel.
pub(super) struct Panels {
    /// `[panels, inputs / 4]`
    groups: Vec<Group>,
    /// Of each output, filled up with zeros to whole panels.
    steps: Vec<f32>,
    /// Of each output the sum of its weights.
    totals: Vec<i32>,
    groups_per_panel: usize,
    vnni: Vnni,
}

impl Panels {
    /// `levels` and `steps` as [`super::weights::levels`] gives them.
    pub(super) fn pack(levels: &[i8], steps: &[f32], outputs: usize, inputs: usize, vnni: Vnni) -> Self {
        let panels = outputs.div_ceil(WIDTH);
        let groups_per_panel = inputs.div_ceil(4);
        let mut packed = Self {
            groups: vec![[[0; 64]; WIDTH / 16]; panels * groups_per_panel],
            steps: steps.to_vec(),
            totals: vec![0; panels * WIDTH],
            groups_per_panel,
            vnni,
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
        levels: &Levels,
        rows: &mut [&mut [f32]],
        finish: &Finish<'_>,
    ) {
        for (i, panel) in panels.enumerate() {
            let weights = &self.groups[panel * self.groups_per_panel..][..self.groups_per_panel];
            for (t, rows) in rows.chunks_mut(ROWS).enumerate() {
                let first = t * ROWS;
                let mut sums = [[0; WIDTH]; ROWS];
                let sums = &mut sums[..rows.len()];
                self.vnni.sums(levels.bytes(first), levels.stride(), weights, sums);
                for (r, (row, sums)) in rows.iter_mut().zip(sums).enumerate() {
                    let from = i * WIDTH;
                    let to = row.len().min(from + WIDTH);
                    Arch::new().dispatch(Scale {
                        sums,
                        row: levels.scale(first + r),
                        excess: levels.excess(first + r),
                        weights,
                        steps: &self.steps[panel * WIDTH..],
                        totals: &self.totals[panel * WIDTH..],
                        out: &mut row[from..to],
                        output: panel * WIDTH,
                        finish,
                    });
                }
            }
        }
    }
}

/// From a row's sums with a panel to numbers.
struct Scale<'a> {
    sums: &'a Sums,
    row: RowScale,
    excess: &'a [Excess],
    weights: &'a [Group],
    steps: &'a [f32],
    totals: &'a [i32],
    out: &'a mut [f32],
    /// The panel's first output.
    output: usize,
    finish: &'a Finish<'a>,
}

impl WithSimd for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut values = [0.0f32; WIDTH];
        for ((value, sum), total) in values.iter_mut().zip(self.sums).zip(self.totals) {
            *value = (sum - self.row.zero * total) as f32;
        }
        for Excess { input, levels } in self.excess {
            let group = self.weights[*input as usize / 4].as_flattened().as_chunks::<4>().0;
            // The input's byte to the top of each word, and back down with its sign.
            let up = 24 - *input % 4 * 8;
            for (value, word) in values.iter_mut().zip(group) {
                *value += (*levels * (i32::from_le_bytes(*word) << up >> 24)) as f32;
            }
        }
        for (value, step) in values.iter_mut().zip(self.steps) {
            *value *= self.row.step * step;
        }
        self.out.copy_from_slice(&values[..self.out.len()]);
        self.finish.apply(self.out, self.output);
    }
}
