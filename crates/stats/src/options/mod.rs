//! Options of one answer that go together, or exclude each other, beyond what is said of each: factors that an answer's options share.

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
pub use selection::{FEWEST_TEXTS_TO_CORRELATE, OptionCorrelations};
