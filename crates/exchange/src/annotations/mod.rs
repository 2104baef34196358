//! Files of annotation tools: parts of a file (tasks, lines, documents) that each hold an annotator's
//! answers, unfolded into rows.
//!
//! The whole file is inspected once when it is opened: only then is it known which questions it answers,
//! which of their answers are sets, and in which annotation round each answer was given. Reading it again
//! returns the same rows in the same order.

mod facts;
mod file;
mod item;
mod json_parts;
mod package;
mod parts;
mod reader;

pub(crate) use facts::{
    ANNOTATOR, DURATION, Facts, LABEL, MARKS, NOTE, OCCASION, QUESTION, SPLIT, STANDARD, TEXT_ID, TIME,
};
pub use facts::{Findings, Hint};
pub(crate) use file::{AnnotationFile, Unfold};
pub(crate) use item::{GivenAnswer, Item, Items, SpanOf, checked_spans, plain, strings, text_of};
pub(crate) use json_parts::JsonParts;
pub(crate) use package::Package;
pub(crate) use parts::{Content, Division, Part, Parts};
pub(crate) use reader::AnnotationRecords;
