//! Prediction sets that are calibrated to contain the label with a given probability under any model: split
//! conformal prediction.

mod mass;
mod thresholds;

pub use mass::mass_before;
pub use thresholds::{MIN_LABELS, Thresholds};
