//! Prediction sets that are calibrated to hold the label with a chance that is aimed at, whatever the model: split conformal prediction.

mod mass;
mod thresholds;

pub(crate) use mass::mass_before;
pub(crate) use thresholds::{FEWEST_LABELS, Thresholds};
