//! Options of one answer that co-occur, or exclude each other, beyond their separate predictions: factors
//! that an answer's options share.

mod factors;
mod fit;
mod given;
mod held_out;
mod selection;
#[cfg(test)]
mod tests;

pub use factors::{OptionFactors, OptionPair};
pub use given::{GivenFactors, LikeliestSet};
pub use held_out::HeldOutSets;
pub(crate) use selection::LeftOutFactors;
pub use selection::{MIN_TEXTS_TO_CORRELATE, OptionCorrelations};
