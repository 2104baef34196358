//! The shared state of an open project: its file, in-memory data, threads, jobs and listeners. It is
//! independent of use cases.

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
