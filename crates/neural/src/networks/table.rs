//! Weights that belong to annotators: one row each; a step updates only the rows it used.
//!
//! A dense gradient of all annotators' rows would make the cost of every step proportional to the number of
//! annotators. Here the rows of a step are gathered into a small variable whose gradient covers only these,
//! so a label costs the same among ten annotators and among ten thousand.

use candle_core::{Device, Result, Tensor, Var};
use dissensus_encoder::AdamWSettings;
use std::collections::HashMap;

/// One row of weights per annotator, with its Adam state.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) width: usize,
    pub(crate) values: Vec<f32>,
    pub(crate) mean: Vec<f32>,
    pub(crate) square: Vec<f32>,
    /// Number of steps that updated each row.
    pub(crate) steps: Vec<u32>,
}

/// The rows used in one step.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    /// Row indices, ascending.
    pub(crate) rows: Vec<u32>,
    pub(crate) var: Var,
}

impl Table {
    /// Creates a table from `values`, row by row, with a new optimizer.
    pub(crate) fn new(name: &'static str, width: usize, values: Vec<f32>) -> Self {
        let (n, rows) = (values.len(), values.len().checked_div(width).unwrap_or(0));
        Self { name, width, values, mean: vec![0.0; n], square: vec![0.0; n], steps: vec![0; rows] }
    }

    pub(crate) fn rows(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// Gathers the rows (ascending, each once) into a variable.
    pub(crate) fn gather(&self, rows: &[u32], device: &Device) -> Result<Gathered> {
        let values: Vec<f32> = rows.iter().flat_map(|&r| self.row(r as usize).iter().copied()).collect();
        let var = Var::from_vec(values, (rows.len(), self.width), device)?;
        Ok(Gathered { rows: rows.to_vec(), var })
    }

    /// The Adam state, as tensors.
    pub(crate) fn state_dict(&self) -> Result<Vec<(String, Tensor)>> {
        let cpu = &Device::Cpu;
        Ok(vec![
            (format!("{}.mean", self.name), Tensor::from_slice(&self.mean, self.mean.len(), cpu)?),
            (format!("{}.square", self.name), Tensor::from_slice(&self.square, self.square.len(), cpu)?),
            (format!("{}.steps", self.name), Tensor::from_slice(&self.steps, self.steps.len(), cpu)?),
        ])
    }

    /// Restores the state returned by [`Table::state_dict`].
    pub(crate) fn load_state_dict(&mut self, state: &HashMap<String, Tensor>) -> Result<()> {
        let of = |what: &str| {
            let name = format!("{}.{what}", self.name);
            state.get(&name).ok_or_else(|| candle_core::Error::Msg(format!("the tensor {name} is missing")))
        };
        let (mean, square, steps) = (of("mean")?, of("square")?, of("steps")?);
        if (mean.elem_count(), square.elem_count(), steps.elem_count())
            != (self.mean.len(), self.square.len(), self.steps.len())
        {
            candle_core::bail!("what the optimizer remembers of {} has another shape", self.name);
        }
        (self.mean, self.square, self.steps) = (mean.to_vec1()?, square.to_vec1()?, steps.to_vec1()?);
        Ok(())
    }

    /// Applies AdamW to the rows of one step; bias correction counts each row's own steps (just as the
    /// "lazy" Adam of TensorFlow and PyTorch's `SparseAdam` do not touch rows without a gradient).
    pub(crate) fn step(
        &mut self,
        rows: &[u32],
        gradient: &Tensor,
        rate: f64,
        settings: AdamWSettings,
    ) -> Result<()> {
        let gradient = gradient.flatten_all()?.to_vec1::<f32>()?;
        let (b1, b2) = (settings.beta1, settings.beta2);
        for (&row, g) in rows.iter().zip(gradient.chunks_exact(self.width)) {
            let row = row as usize;
            self.steps[row] += 1;
            let n = self.steps[row] as i32;
            let rate_now = (rate / (1.0 - b1.powi(n))) as f32;
            let scale = (1.0 / (1.0 - b2.powi(n))) as f32;
            let keep = (1.0 - rate * settings.weight_decay) as f32;
            let (b1, b2, epsilon) = (b1 as f32, b2 as f32, settings.epsilon as f32);
            let span = row * self.width..(row + 1) * self.width;
            let moments = self.mean[span.clone()].iter_mut().zip(&mut self.square[span.clone()]);
            for ((w, g), (m, v)) in self.values[span].iter_mut().zip(g).zip(moments) {
                *m = b1 * *m + (1.0 - b1) * g;
                *v = b2 * *v + (1.0 - b2) * g * g;
                *w = keep * *w - rate_now * *m / ((scale * *v).sqrt() + epsilon);
            }
        }
        Ok(())
    }
}

impl Gathered {
    /// Position of an annotator's row among the gathered rows, which must include it.
    pub(crate) fn place(&self, row: u32) -> u32 {
        self.rows.binary_search(&row).unwrap_or_default() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_step_matches_adamw_on_its_rows() {
        let mut table = Table::new("t", 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let settings = AdamWSettings { weight_decay: 0.1, ..AdamWSettings::default() };
        let rows = [0, 2];
        let gathered = table.gather(&rows, &Device::Cpu).unwrap();
        assert_eq!(gathered.var.to_vec2::<f32>().unwrap(), [[1.0, 2.0], [5.0, 6.0]]);
        assert_eq!(gathered.place(2), 1);
        let gradient = Tensor::new(&[[0.5f32, -0.5], [1.0, 0.0]], &Device::Cpu).unwrap();
        table.step(&rows, &gradient, 0.01, settings).unwrap();
        // The first step of Adam is the rate times the sign of the gradient, regardless of its size.
        let expected = [0.999 - 0.01, 1.998 + 0.01, 3.0, 4.0, 4.995 - 0.01, 5.994];
        for (ours, theirs) in table.values.iter().zip(expected) {
            assert!((ours - theirs).abs() < 1e-5, "{ours} {theirs}");
        }
        assert_eq!(table.steps, [1, 0, 1]);
    }
}
