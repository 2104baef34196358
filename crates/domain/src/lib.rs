//! The words of Dissensus as plain types and rules. No I/O, no SQL, no tensors.
//!
//! ```
//! use dissensus_domain::{Scale, ScaleKind};
//!
//! let scale = Scale::guess(["3", "1", "5", "4", "2"]).unwrap();
//! assert_eq!(scale.kind(), ScaleKind::Ordinal);
//! assert_eq!(scale.index_of("4"), Some(3));
//! ```

mod ids;
mod label;
mod scale;
mod things;

pub use ids::{AnnotatorId, LabelId, QuestionId, TextId};
pub use label::{CurrentLabel, LabelEvent, LabelSource, current_label};
pub use scale::{Scale, ScaleError, ScaleKind};
pub use things::{Annotator, Attributes, MAX_TEXT_BYTES, Question, Split, Text};
