//! Tables: CSV, TSV, JSON Lines, CoNLL, with columns of any names.

use super::{Format, FormatInfo, Look, Reading};
use crate::table_format::TableFormat;

/// A table format.
#[derive(Debug)]
pub(super) struct Table {
    format: TableFormat,
    info: FormatInfo,
}

pub(super) const CSV: Table =
    Table { format: TableFormat::Csv, info: FormatInfo { name: "csv", title: "CSV", endings: &["csv"] } };
pub(super) const TSV: Table = Table {
    format: TableFormat::Tsv,
    info: FormatInfo { name: "tsv", title: "TSV", endings: &["tsv", "tab"] },
};
pub(super) const JSONL: Table = Table {
    format: TableFormat::Jsonl,
    info: FormatInfo { name: "jsonl", title: "JSON Lines", endings: &["jsonl", "ndjson"] },
};
pub(super) const CONLL: Table = Table {
    format: TableFormat::Conll,
    info: FormatInfo {
        name: "conll",
        title: "CoNLL",
        endings: &["conll", "conllu", "conllup", "iob", "iob2", "bio"],
    },
};

/// The table of a format.
pub(super) fn of(format: TableFormat) -> &'static Table {
    match format {
        TableFormat::Csv => &CSV,
        TableFormat::Tsv => &TSV,
        TableFormat::Jsonl => &JSONL,
        TableFormat::Conll => &CONLL,
    }
}

impl Format for Table {
    fn info(&self) -> FormatInfo {
        self.info
    }

    /// Only a format that the user specified; other files that no tool's format recognises are opened as
    /// tables elsewhere.
    fn recognise(&self, look: &Look) -> Option<Reading> {
        (look.named && !look.is_folder).then_some(Reading::Table(self.format))
    }
}
