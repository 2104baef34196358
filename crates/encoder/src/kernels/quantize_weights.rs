//! Quantising weights to 8 bits.

/// Number of levels on either side of 0.
const LEVELS: f32 = 127.0;

/// Quantises `weight`, `[outputs, inputs]`, and returns the levels and the step of each output: its largest
/// weight is level 127. A step is NaN where a weight is not finite.
pub(super) fn levels(weight: &[f32], inputs: usize) -> (Vec<i8>, Vec<f32>) {
    let mut levels = Vec::with_capacity(weight.len());
    let mut steps = Vec::with_capacity(weight.len() / inputs.max(1));
    for row in weight.chunks_exact(inputs.max(1)) {
        let largest = row.iter().fold(0.0f32, |most, w| most.max(w.abs()));
        let finite = row.iter().all(|w| w.is_finite());
        let step = if finite { largest / LEVELS } else { f32::NAN };
        let per_step = if step > 0.0 { step.recip() } else { 0.0 };
        levels.extend(row.iter().map(|w| (w * per_step).round_ties_even().clamp(-LEVELS, LEVELS) as i8));
        steps.push(step);
    }
    (levels, steps)
}

/// The weights after quantisation.
pub(super) fn rounded(weight: &[f32], inputs: usize) -> Vec<f32> {
    let (levels, steps) = levels(weight, inputs);
    let rows = levels.chunks_exact(inputs.max(1)).zip(steps);
    rows.flat_map(|(row, step)| row.iter().map(move |level| f32::from(*level) * step)).collect()
}
