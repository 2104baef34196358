//! Prediction sets with a chance of holding the label that is promised, whatever the model: split conformal prediction.

mod mass;
mod thresholds;

pub(crate) use mass::mass_before;
pub(crate) use thresholds::{FEWEST_LABELS, Thresholds};
