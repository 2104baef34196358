//! Rewrites files in forms that the readers do not support to a temporary file that they do: compressed files
//! are unpacked, a sheet of a workbook becomes CSV, Parquet and Arrow become JSON Lines, and other encodings
//! become UTF-8. So every format is recognised in each of these forms, and read in bounded memory by its only
//! reader.

mod archive;
mod arrow_parts;
mod columnar;
mod dataset;
mod encoding;
mod excel;
mod form;
mod gzip;
mod held_folder;
mod hugging_face;
mod json_layout;
mod json_records;
mod limited;
mod open_document;
mod parts;
mod qualtrics;
mod sheet;

pub(crate) use form::FORMATS;
pub(crate) use sheet::SheetRows;

use crate::ExchangeError;
use crate::annotations::Findings;
use crate::format_info::FormatInfo;
use form::Form;
use held_folder::HeldFolder;
use std::path::{Path, PathBuf};

/// How many forms may be nested: a workbook in an archive that is compressed with gzip.
const MAX_STEPS: usize = 4;

/// Options for opening a file, which replace guesses.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions<'a> {
    /// The name of its format, whatever it looks like ([`formats`](crate::formats)).
    pub format: Option<&'a str>,
    /// The name of its encoding as browsers know it: `windows-1252`, `shift_jis`, `utf-16le`.
    pub encoding: Option<&'a str>,
    /// The name of the sheet of a workbook.
    pub sheet: Option<&'a str>,
}

/// A rewritten file in a folder of its own, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Rewritten {
    original: PathBuf,
    last: Step,
    format: Option<FormatInfo>,
    findings: Vec<Findings>,
}

/// The result of one step of rewriting.
#[derive(Debug)]
struct Step {
    path: PathBuf,
    /// The name of what is read, for errors.
    inside: String,
    findings: Vec<Findings>,
    /// The row numbers in the sheet, for a workbook.
    rows: Option<SheetRows>,
    /// The encoding that was read.
    encoding: Option<&'static str>,
    _folder: HeldFolder,
}

impl Rewritten {
    /// Rewrites the file at `path`; `None` if it is read unchanged.
    ///
    /// # Errors
    /// The file is damaged or too long, its form does not support an option (a sheet, an encoding), or the
    /// disk is too full for its contents.
    pub(crate) fn new(path: &Path, options: &OpenOptions<'_>) -> Result<Option<Self>, ExchangeError> {
        let mut found: Option<Self> = None;
        let mut forms = Vec::new();
        let packed = bytes_at(path);
        loop {
            let blamed = |error: ExchangeError| match &found {
                Some(found) => found.blame(&error),
                None => error,
            };
            let current = found.as_ref().map_or(path, Self::path);
            let Some(form) = Form::of(current, options).map_err(blamed)? else { break };
            if forms.len() == MAX_STEPS {
                let why = "it is packed in itself again and again: unpack it".to_owned();
                return Err(ExchangeError::Package { path: path.to_owned(), why });
            }
            let last = form.rewrite(current, options, packed).map_err(blamed)?;
            let mut findings = found.take().map(|before| before.findings).unwrap_or_default();
            findings.extend(last.findings.iter().cloned());
            found = Some(Self { original: path.to_owned(), last, format: form.format(), findings });
            let holds_files = form.holds_files();
            forms.push(form);
            if !holds_files {
                break;
            }
        }
        form::refuse_what_does_not_fit(path, &forms, options)?;
        Ok(found)
    }

    /// The file that was given.
    pub(crate) fn original(&self) -> &Path {
        &self.original
    }

    /// The file that is read.
    pub(crate) fn path(&self) -> &Path {
        &self.last.path
    }

    /// The format of tables that was rewritten, if it is one.
    pub(crate) fn format(&self) -> Option<FormatInfo> {
        self.format
    }

    /// Notices about what was done, for users.
    pub(crate) fn irregularities(&self) -> &[Findings] {
        &self.findings
    }

    /// The row numbers in the sheet, for a workbook.
    pub(crate) fn rows(&self) -> Option<&SheetRows> {
        self.last.rows.as_ref()
    }

    /// The encoding of a text file that is not UTF-8.
    pub(crate) fn encoding(&self) -> Option<&'static str> {
        self.last.encoding
    }

    /// Turns an error about the rewritten file into one about the file that was given.
    pub(crate) fn blame(&self, error: &ExchangeError) -> ExchangeError {
        let why = error.to_string().replace(&self.path().display().to_string(), &self.last.inside);
        ExchangeError::Package { path: self.original.clone(), why }
    }
}

/// The size of a file, or of the files of a folder that make a table, in bytes; 0 where there is nothing.
fn bytes_at(path: &Path) -> u64 {
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |about| about.len());
    match path.is_dir() {
        true => dataset::files(path).iter().map(|file| bytes(file)).sum(),
        false => bytes(path),
    }
}
