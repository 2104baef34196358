//! Why a row does not fit the rows before it or the project.

use crate::row_error::RowErrorKind;

/// Why a row does not fit, and which part of it is to blame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) about: About,
    pub(crate) kind: RowErrorKind,
}

/// The part of a row that is to blame; the reader of the file knows its column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum About {
    TextId,
    Text,
    Label,
    Question,
    Attribute(String),
}
