//! Typed columns of a table, and their values.

/// The type of the values of a column. Those of texts, levels, whole numbers, moments and flags may be
/// missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A string.
    Text,
    /// A string, written to spreadsheets as a number if it is one.
    Level,
    /// A number in single precision; one that is not finite is missing.
    Number,
    /// A whole number.
    Integer,
    /// Milliseconds since 1970-01-01 UTC.
    Moment,
    /// Yes or no.
    Flag,
    /// The same count of numbers in every row; only in Parquet and JSON Lines.
    Vector(usize),
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedColumn {
    pub name: String,
    pub kind: ColumnKind,
}

impl TypedColumn {
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Self {
        Self { name: name.into(), kind }
    }
}

/// One value of a row, of the kind of its column.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Of a column of texts or levels.
    Text(&'a str),
    /// Of a column of numbers.
    Number(f32),
    /// Of a column of whole numbers, or of moments.
    Integer(i64),
    /// Of a column of flags.
    Flag(bool),
    /// Of a column of vectors.
    Vector(&'a [f32]),
    Missing,
}
