//! How much annotators' predicted distributions differ on a text (docs/DESIGN.md, decision 4).

mod block;
mod map;
mod measures;
mod pairs;
mod running;
mod stream;
mod sums;

pub(crate) use block::BLOCK;
pub use map::{AnnotatorMap, annotator_map};
pub use measures::{Disagreement, Measure, ranking};
pub(crate) use running::RunningSums;
pub use stream::{disagreement, disagreement_of_texts};
pub(crate) use sums::Sums;
