//! What the parts of an open project stand on: its file, what of it is kept in memory, threads, jobs and listeners. It knows no
//! use case.

mod edited;
mod imported;
mod index;
mod observations;
mod question_data;
mod repeats;
mod shared;
mod shown;
mod slips;
mod work;

pub use index::Index;
pub use question_data::{QuestionData, SpanLabel, attributes};
pub use repeats::ceiling_note;
pub use repeats::{AnswerAgain, share};
pub use shared::Context;
