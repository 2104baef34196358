//! Prediction sets that are calibrated to hold the label with a chance that is aimed at, whatever the model: split conformal prediction.

mod mass;
mod thresholds;

pub use mass::mass_before;
pub use thresholds::{FEWEST_LABELS, Thresholds};
