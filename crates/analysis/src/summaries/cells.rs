//! Columns and cells of a summary.

use dissensus_domain::Scale;
use dissensus_exchange::{ColumnKind, ExchangeError, OutputFormat, TypedColumn, TypedTable, Value};
use dissensus_render::escape::cell;
use std::path::Path;

/// A value, of the kind of its column.
#[derive(Debug)]
pub(super) enum Cell {
    Text(String),
    Count(u64),
    Number(Option<f64>),
    Flag(bool),
    Missing,
}

impl Cell {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(text),
            Self::Count(n) => Value::Integer(i64::try_from(*n).unwrap_or(i64::MAX)),
            Self::Number(x) => Value::Number(x.map_or(f32::NAN, |x| x as f32)),
            Self::Flag(flag) => Value::Flag(*flag),
            Self::Missing => Value::Missing,
        }
    }
}

/// The columns of a table, with unique names.
#[derive(Debug, Default)]
pub(super) struct Columns(Vec<TypedColumn>);

impl Columns {
    /// Adds a column of this name.
    pub(super) fn add(&mut self, name: &str, kind: ColumnKind) {
        self.0.push(TypedColumn::new(name, kind));
    }

    /// Adds a column for each level: `count_rude`.
    pub(super) fn add_levels(&mut self, before: &str, scale: &Scale, kind: ColumnKind) {
        scale.levels().iter().for_each(|level| self.add_free(&format!("{before}_{level}"), before, kind));
    }

    /// Adds a column; if the name is taken, `before` is put in front of it.
    pub(super) fn add_free(&mut self, name: &str, before: &str, kind: ColumnKind) {
        let free = free_name(name, before, |name| self.has(name));
        self.add(&free, kind);
    }

    /// Adds columns that are renamed in the same manner if their name is taken, also by those of `rest`,
    /// which follow them.
    pub(super) fn add_ahead_of<'a>(
        &mut self,
        names: impl Iterator<Item = &'a str>,
        before: &str,
        kind: ColumnKind,
        rest: Self,
    ) {
        for name in names {
            let free = free_name(name, before, |name| self.has(name) || rest.has(name));
            self.add(&free, kind);
        }
        self.0.extend(rest.0);
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|column| column.name == name)
    }
}

fn free_name(name: &str, before: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut free = name.to_owned();
    while taken(&free) {
        free = format!("{before}_{free}");
    }
    free
}

/// A table being written.
pub(super) struct Table {
    table: TypedTable,
    for_spreadsheets: bool,
}

impl Table {
    /// Creates the table in a temporary file.
    pub(super) fn create(out: &Path, mut columns: Columns) -> Result<Self, ExchangeError> {
        let format = OutputFormat::of_path(out)?;
        let for_spreadsheets = matches!(format, OutputFormat::Csv | OutputFormat::Tsv);
        if for_spreadsheets {
            columns.0.iter_mut().for_each(|column| column.name = cell(&column.name));
        }
        Ok(Self { table: TypedTable::create(out, columns.0)?, for_spreadsheets })
    }

    /// A cell with text that people wrote, after an apostrophe if a spreadsheet would take it for a formula,
    /// because CSV and TSV files have no types of cells. A number is not a formula.
    pub(super) fn written(&self, text: &str) -> Cell {
        let acts = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.trim().parse::<f64>().is_err();
        Cell::Text(if self.for_spreadsheets && acts { format!("'{text}") } else { text.to_owned() })
    }

    /// Writes a row.
    pub(super) fn write(&mut self, row: &[Cell]) -> Result<(), ExchangeError> {
        self.table.write(&row.iter().map(Cell::value).collect::<Vec<_>>())
    }

    /// Moves the file to its destination.
    pub(super) fn finish(self, replace: bool) -> Result<(), ExchangeError> {
        self.table.finish(replace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_the_same_name_get_a_prefix() {
        let mut columns = Columns::default();
        let mut rest = Columns::default();
        rest.add("labels", ColumnKind::Integer);
        let names = ["labels", "town", "attribute_labels"];
        columns.add_ahead_of(names.into_iter(), "attribute", ColumnKind::Text, rest);
        let names: Vec<&str> = columns.0.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["attribute_labels", "town", "attribute_attribute_labels", "labels"]);
    }
}
