//! What can be wrong with a file as a whole, or with how its columns were named.

use std::io;
use std::path::{Path, PathBuf};

dissensus_domain::errors! {
    /// Why a file cannot be read or written at all. An error in a single row is a
    /// [`RowError`](crate::RowError).
    #[derive(Debug)]
    pub enum ExchangeError {
        NotFound { path: PathBuf } => "file-missing", "there is no file {path}: check the name and the folder";
        Directory { path: PathBuf } => "file-kind", "{path} is a folder, not a file: name one file in it";
        NotAFile { path: PathBuf } => "file-kind",
            "{path} is not an ordinary file: save it as a file first, because it is read twice";
        Empty { path: PathBuf } => "file-empty",
            "{path} is empty: there is not even a line with the names of the columns";
        Unreadable { path: PathBuf, source: io::Error } => "file-unreadable", "{path} cannot be read: {source}";
        UnknownFormat { path: PathBuf, what: String, advice: String } => "file-format", "{path} is {what}: {advice}";
        NoSuchEncoding { path: PathBuf, name: String } => "file-format",
            "{path}: no encoding is called \"{name}\"; common ones are utf-8, windows-1252, iso-8859-2, utf-16le, shift_jis, gb18030";
        NotInEncoding { path: PathBuf, encoding: &'static str, guessed: bool } => "file-format",
            "{path} has bytes that are invalid in {encoding}{}: name its encoding" (if *guessed { ", which was guessed because it is not UTF-8" } else { "" });
        LineEnds { path: PathBuf } => "file-format",
            "the lines of {path} end in a carriage return alone, as on very old systems: save it with ordinary line ends";
        Header { path: PathBuf, line: u64, message: String } => "columns",
            "{path}, line {line}: the names of the columns cannot be read: {message}";
        DuplicateColumn { path: PathBuf, name: String, first: usize, second: usize } => "columns",
            "{path}: columns {first} and {second} are both named \"{name}\": rename one of them";
        NoComment { path: PathBuf, name: String } => "columns",
            "{path}: a comment cannot name the attribute \"{name}\": write .csv or .jsonl";
        MissingColumn { path: PathBuf, role: &'static str, name: String, nearest: Option<String>, columns: Vec<String> } => "columns",
            "{path} has no column \"{name}\" for the {role}{}; its columns are {}" (did_you_mean(nearest), listed(columns));
        ColumnTwice { name: String, first: &'static str, second: &'static str } => "columns",
            "the column \"{name}\" is named both for the {first} and for the {second}: name it once";
        ConstantNotAllowed { role: &'static str, value: String } => "columns",
            "\"{value}\" gives every row the same {role}: only annotator, split, group and question can be fixed this way";
        EmptyConstant { role: &'static str } => "columns",
            "\"=\" for the {role} needs a name after it, such as \"=Ada\"";
        NameCharacter { role: &'static str, name: String, code: u32 } => "columns",
            "the {role} \"{name}\" has the character U+{code:04X}, which is not allowed in a name: remove it, or rename the column";
        LabelWithoutAnnotator { path: PathBuf, label: String, columns: Vec<String> } => "columns",
            "{path} has labels (column \"{label}\") but no annotator: name the column with the annotator of each label, or give all of them to one person with the annotator \"=NAME\"; its columns are {}" (listed(columns));
        RolesDoNotFit { path: PathBuf, message: String, columns: Vec<String> } => "columns",
            "{path}: {message}; its columns are {}" (listed(columns));
        BadReading { why: String } => "columns", "the table cannot be read this way: {why}";
        Package { path: PathBuf, why: String } => "file-format", "{path}: {why}";
        NothingReadable { path: PathBuf, format: String, why: String } => "file-format",
            "nothing of {path} ({format}) can be read; the first error is {why}";
        NoAnswers { path: PathBuf, format: String, why: String } => "file-format",
            "{path} ({format}) has no answers about texts that can be read{why}";
        SeveralFormats { path: PathBuf, formats: Vec<String> } => "file-format",
            "{path} may be of several formats: say which with --format ({})" (formats.join(", "));
        NoSuchFormat { name: String, formats: Vec<String> } => "file-format",
            "there is no format \"{name}\": the formats are {}" (formats.join(", "));
        OtherFormat { path: PathBuf, format: String, why: String } => "file-format",
            "{path} cannot be read as {format}: {why}";
        ToolWithoutAnnotator { path: PathBuf, format: String, why: String } => "columns",
            "{path} ({format}): {why}; give all of its answers to one person with the annotator \"=NAME\"";
        OtherEnding { path: PathBuf, format: &'static str, ending: &'static str } => "file-format",
            "a file of {format} ends in .{ending}, and {path} does not: rename it";
        NothingToWrite { path: PathBuf, format: &'static str } => "nothing-to-export",
            "{path} was not written: there are no answers that {format} could hold";
        Cancelled { path: PathBuf } => "cancelled", "reading {path} was stopped";
        DiskFull { path: PathBuf } => "disk-full",
            "the disk is full: {path} was not written, and the previous file is unchanged; free some space";
        Taken { path: PathBuf } => "export-exists", "{path} exists by now and was not replaced: choose another name";
        Unwritable { path: PathBuf, source: io::Error } => "file-unwritable", "{path} cannot be written: {source}";
    }
}

impl ExchangeError {
    /// The error of opening or reading `path`.
    pub(crate) fn reading(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::IsADirectory => Self::Directory { path },
            _ => Self::Unreadable { path, source },
        }
    }

    /// The error of creating or writing `path`.
    pub(crate) fn writing(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            io::ErrorKind::IsADirectory => Self::Directory { path },
            io::ErrorKind::AlreadyExists => Self::Taken { path },
            _ => Self::Unwritable { path, source },
        }
    }
}

/// A file may have thousands of columns; a message may not.
const LISTED_NAMES: usize = 40;

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!(" (did you mean \"{n}\"?)")).unwrap_or_default()
}

/// Joins names as `a, b, c`, cut to [`LISTED_NAMES`].
fn listed(names: &[String]) -> String {
    match names.split_at_checked(LISTED_NAMES) {
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => names.join(", "),
    }
}

/// Extracts the cause of an error of the CSV writer, so that a full disk is still recognised as one.
pub(crate) fn io_reason(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(reason) => reason,
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a row has {len} cells, and the first has {expected_len}"),
        ),
        // All other errors are of reading.
        _ => io::Error::other("a row cannot be written"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_lists_only_some_columns() {
        let names: Vec<String> = (0..45).map(|n| format!("c{n}")).collect();
        assert!(listed(&names).ends_with("c39 and 5 more"));
        assert_eq!(listed(&names[..2]), "c0, c1");
    }

    #[test]
    fn csv_writer_reports_a_full_disk() {
        let full = csv::Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(io_reason(full).kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn full_disk_is_distinguished_from_other_errors() {
        let path = Path::new("out.csv");
        let full = ExchangeError::writing(path, io::ErrorKind::StorageFull.into());
        assert!(matches!(full, ExchangeError::DiskFull { .. }));
        assert!(full.to_string().contains("disk is full"));
        let denied = ExchangeError::writing(path, io::ErrorKind::PermissionDenied.into());
        assert!(matches!(denied, ExchangeError::Unwritable { .. }));
    }
}
