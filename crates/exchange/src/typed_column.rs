//! Columns of a table whose values have types, and one value.

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A string.
    Text,
    /// A number in single precision; one that is not finite is not known.
    Number,
    /// Yes or no.
    Flag,
    /// As many numbers in every row; not in CSV and TSV.
    Vector(usize),
}

impl ColumnKind {
    /// Values in a row.
    pub(crate) fn length(self) -> usize {
        if let Self::Vector(length) = self { length } else { 1 }
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedColumn {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: ColumnKind,
}

impl TypedColumn {
    /// A column.
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Self {
        Self { name: name.into(), kind }
    }
}

/// One value of a row, of the kind of its column.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Of a column of texts.
    Text(&'a str),
    /// Of a column of numbers.
    Number(f32),
    /// Of a column of flags.
    Flag(bool),
    /// Of a column of vectors.
    Vector(&'a [f32]),
}
