//! What can be wrong with a file as a whole, or with how its columns were named.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file cannot be read or written at all. Errors in a single row are [`RowError`](crate::RowError)s.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// There is nothing at the path.
    #[error("there is no file {path}: check the name and the folder")]
    NotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// The path is a folder.
    #[error("{path} is a folder, not a file: name one file in it")]
    Directory {
        /// The path as given.
        path: PathBuf,
    },
    /// A pipe, a socket or a device, which cannot be read twice.
    #[error("{path} is not an ordinary file: save it as a file first, because it is read twice")]
    NotAFile {
        /// The path as given.
        path: PathBuf,
    },
    /// No bytes, or nothing but white space.
    #[error("{path} is empty: there is not even a line with the names of the columns")]
    Empty {
        /// The path as given.
        path: PathBuf,
    },
    /// The system refused to read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An unsupported format.
    #[error("{path} is {what}: {advice}")]
    UnknownFormat {
        path: PathBuf,
        /// The format, with its article.
        what: String,
        /// What to do instead.
        advice: String,
    },
    /// No encoding has the name.
    #[error(
        "{path}: no encoding is called \"{name}\"; common ones are utf-8, windows-1252, iso-8859-2, utf-16le, shift_jis, gb18030"
    )]
    NoSuchEncoding {
        /// The path as given.
        path: PathBuf,
        name: String,
    },
    /// Bytes that are invalid in the encoding.
    #[error(
        "{path} has bytes that stand for nothing in {encoding}{}: name its encoding",
        if *guessed { ", which was guessed because it is not UTF-8" } else { "" }
    )]
    NotInEncoding {
        path: PathBuf,
        /// The name of the encoding.
        encoding: &'static str,
        /// Whether the encoding was guessed, not named by the user.
        guessed: bool,
    },
    /// Lines that end in a lone carriage return.
    #[error(
        "the lines of {path} end in a carriage return alone, as on very old systems: save it with ordinary line ends"
    )]
    LineEnds {
        /// The path as given.
        path: PathBuf,
    },
    /// The line with the names of the columns cannot be used.
    #[error("{path}, line {line}: the names of the columns cannot be read: {message}")]
    Header {
        path: PathBuf,
        /// The physical line, from 1.
        line: u64,
        /// The reason.
        message: String,
    },
    /// Two columns of one name.
    #[error("{path}: columns {first} and {second} are both named \"{name}\": rename one of them")]
    DuplicateColumn {
        path: PathBuf,
        name: String,
        /// Position of the first, from 1.
        first: usize,
        /// Position of the second, from 1.
        second: usize,
    },
    /// An attribute that a comment of a CoNLL file cannot name.
    #[error("{path}: a comment cannot name the attribute \"{name}\": write .csv or .jsonl")]
    NoComment {
        path: PathBuf,
        /// The attribute.
        name: String,
    },
    /// A role names a column that is not there.
    #[error(
        "{path} has no column \"{name}\" for the {role}{}; its columns are {}",
        did_you_mean(nearest),
        listed(columns)
    )]
    MissingColumn {
        path: PathBuf,
        /// The role, such as `annotator`.
        role: &'static str,
        /// The requested name.
        name: String,
        /// The column with the most similar name, where one is similar.
        nearest: Option<String>,
        /// Every column of the file.
        columns: Vec<String>,
    },
    /// One column was named for two roles.
    #[error("the column \"{name}\" is named both for the {first} and for the {second}: name it once")]
    ColumnTwice {
        name: String,
        first: &'static str,
        /// The other role with the same column.
        second: &'static str,
    },
    /// `=NAME` for a role where every row needs its own value.
    #[error(
        "\"{value}\" gives every row the same {role}: only annotator, split, group and question can be fixed so"
    )]
    ConstantNotAllowed {
        /// The role, such as `annotator`.
        role: &'static str,
        value: String,
    },
    /// `=` without a name after it.
    #[error("\"=\" for the {role} wants a name after it, such as \"=Ada\"")]
    EmptyConstant {
        /// The role, such as `annotator`.
        role: &'static str,
    },
    /// A name with a character that acts on a terminal or hides how the name is spelt.
    #[error(
        "the {role} \"{name}\" has the character U+{code:04X}, which does not belong into a name: remove it, or rename the column"
    )]
    NameCharacter {
        /// The role, such as `annotator`.
        role: &'static str,
        /// The name as given.
        name: String,
        /// The character's code point.
        code: u32,
    },
    /// A column of labels without an annotator.
    #[error(
        "{path} has labels (column \"{label}\") but no annotator: name the column that says who gave each label, \
         or give all of them to one person with the annotator \"=NAME\"; its columns are {}",
        listed(columns)
    )]
    LabelWithoutAnnotator {
        path: PathBuf,
        /// The label column.
        label: String,
        /// Every column of the file.
        columns: Vec<String>,
    },
    /// The roles make no valid sort of file.
    #[error("{path}: {message}; its columns are {}", listed(columns))]
    RolesDoNotFit {
        path: PathBuf,
        /// What is missing or superfluous, and what to do.
        message: String,
        /// Every column of the file.
        columns: Vec<String>,
    },
    /// A reading that contradicts itself or its table.
    #[error("the table cannot be read so: {why}")]
    BadReading {
        /// The reason, and what to do.
        why: String,
    },
    /// An archive, or a folder, that cannot be read.
    #[error("{path}: {why}")]
    Package {
        path: PathBuf,
        /// The reason, and what to do.
        why: String,
    },
    /// A file of an annotation tool of which no part can be read.
    #[error("nothing of {path} ({format}) can be read; the first that is wrong is {why}")]
    NothingReadable {
        path: PathBuf,
        format: String,
        /// The first error, with its position.
        why: String,
    },
    /// A file of an annotation tool without anything that can be imported.
    #[error("{path} ({format}) has no answers about texts that can be read{why}")]
    NoAnswers {
        path: PathBuf,
        format: String,
        /// What the file contains instead, in brackets; may be empty.
        why: String,
    },
    /// A file that may be of several formats.
    #[error("{path} may be of several formats: say which with --format ({})", formats.join(", "))]
    SeveralFormats {
        path: PathBuf,
        /// Their names.
        formats: Vec<String>,
    },
    /// A name that is no format.
    #[error("there is no format \"{name}\": the formats are {}", formats.join(", "))]
    NoSuchFormat {
        name: String,
        /// Every name.
        formats: Vec<String>,
    },
    /// A file that does not have the specified format.
    #[error("{path} cannot be read as {format}: {why}")]
    OtherFormat {
        path: PathBuf,
        /// The format that was named.
        format: String,
        /// What the file is instead, and what to do.
        why: String,
    },
    /// Answers of a tool's file without annotators.
    #[error("{path} ({format}): {why}; give all of its answers to one person with the annotator \"=NAME\"")]
    ToolWithoutAnnotator {
        path: PathBuf,
        format: String,
        /// Why the annotators are unknown.
        why: String,
    },
    /// The extension of a file to write is not the one by which its format is recognised.
    #[error("a file of {format} ends in .{ending}, and {path} does not: name it so")]
    OtherEnding {
        path: PathBuf,
        format: &'static str,
        /// How its files end.
        ending: &'static str,
    },
    /// None of the labels can be represented in the format.
    #[error("{path} was not written: there are no answers that {format} could hold")]
    NothingToWrite {
        /// The file that was to be written.
        path: PathBuf,
        format: &'static str,
    },
    /// The caller asked to stop.
    #[error("reading {path} was stopped")]
    Cancelled {
        /// The path as given.
        path: PathBuf,
    },
    /// No room left while writing.
    #[error(
        "the disk is full: {path} was not written, and what stood there before is unchanged; free some space"
    )]
    DiskFull {
        /// The file that was to be written.
        path: PathBuf,
    },
    /// A file of that name exists, and must not be replaced.
    #[error("{path} exists by now and was not replaced: choose another name")]
    Taken {
        /// The file that was to be written.
        path: PathBuf,
    },
    /// The system refused to write.
    #[error("{path} cannot be written: {source}")]
    Unwritable {
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
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
    fn very_many_columns_are_not_all_listed() {
        let names: Vec<String> = (0..45).map(|n| format!("c{n}")).collect();
        assert!(listed(&names).ends_with("c39 and 5 more"));
        assert_eq!(listed(&names[..2]), "c0, c1");
    }

    #[test]
    fn the_csv_writer_does_not_hide_a_full_disk() {
        let full = csv::Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(io_reason(full).kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_full_disk_is_told_apart_from_other_refusals() {
        let path = Path::new("out.csv");
        let full = ExchangeError::writing(path, io::ErrorKind::StorageFull.into());
        assert!(matches!(full, ExchangeError::DiskFull { .. }));
        assert!(full.to_string().contains("disk is full"));
        let denied = ExchangeError::writing(path, io::ErrorKind::PermissionDenied.into());
        assert!(matches!(denied, ExchangeError::Unwritable { .. }));
    }
}
