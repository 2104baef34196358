//! Detects the form of a file by its first bytes.

use super::encoding::{self, Encoded};
use super::json_layout::Layout;
use super::{
    OpenOptions, Step, archive, columnar, dataset, excel, gzip, json_records, open_document, qualtrics,
};
use crate::ExchangeError;
use crate::annotations::Package;
use crate::format_info::FormatInfo;
use crate::formats;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How many bytes of the beginning determine the form and the encoding.
const HEAD_BYTES: u64 = 1 << 20;
/// The first bytes of each kind of file.
const GZIP: &[u8] = &[0x1F, 0x8B];
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
const PARQUET: &[u8] = b"PAR1";
const ARROW: &[u8] = b"ARROW1";
/// A message of an Arrow stream.
const ARROW_STREAM: &[u8] = &[0xFF; 4];

/// The MIME type in an OpenDocument spreadsheet.
const SPREADSHEET: &str = "application/vnd.oasis.opendocument.spreadsheet";
/// The form of a file that has to be rewritten to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Gzip,
    Archive,
    Excel,
    OpenDocument,
    Parquet,
    Arrow,
    Dataset,
    Json(Layout),
    Qualtrics(qualtrics::Names),
    Encoded(Encoded),
}

/// The forms that are formats of tables.
pub(crate) const FORMATS: [FormatInfo; 6] = [
    FormatInfo { name: "xlsx", title: "Excel workbook", endings: &["xlsx", "xlsm"] },
    FormatInfo { name: "ods", title: "OpenDocument spreadsheet", endings: &["ods"] },
    FormatInfo { name: "parquet", title: "Parquet", endings: &["parquet"] },
    FormatInfo { name: "arrow", title: "Arrow", endings: &["arrow", "feather", "ipc", "arrows"] },
    FormatInfo { name: "huggingface", title: "Hugging Face dataset (a folder of Parquet)", endings: &[] },
    FormatInfo { name: "json", title: "JSON", endings: &["json"] },
];

impl Form {
    /// Detects the form of the file at `path`; `None` if there is no file, or one that is read unchanged.
    ///
    /// # Errors
    /// The file cannot be read, is a damaged archive, or the encoding that was asked for does not exist.
    pub(super) fn of(path: &Path, options: &OpenOptions<'_>) -> Result<Option<Self>, ExchangeError> {
        if path.is_dir() {
            let is_dataset = !dataset::files(path).is_empty() && !formats::are_claimed(path);
            return Ok(is_dataset.then_some(Self::Dataset));
        }
        // A file that cannot be read is reported by its reader.
        let Some(about) = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file) else {
            return Ok(None);
        };
        let mut head = Vec::new();
        File::open(path)
            .and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head))
            .map_err(|e| ExchangeError::reading(path, e))?;
        let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
        let streamed = head.starts_with(ARROW_STREAM) && FORMATS[3].endings.contains(&ending.as_str());
        Ok(if head.starts_with(GZIP) {
            Some(Self::Gzip)
        } else if ZIP.iter().any(|magic| head.starts_with(magic)) {
            of_archive(path)?
        } else if head.starts_with(PARQUET) {
            Some(Self::Parquet)
        } else if head.starts_with(ARROW) || streamed {
            Some(Self::Arrow)
        } else {
            let whole = about.len() <= HEAD_BYTES;
            match encoding::of(path, &head, whole, options.encoding)? {
                Some(encoded) => Some(Self::Encoded(encoded)),
                None => match json_table(path, &head, options) {
                    Some(layout) => Some(Self::Json(layout)),
                    None => qualtrics::Names::of(path, &head).map(Self::Qualtrics),
                },
            }
        })
    }

    /// Rewrites the file. `packed` is the size of the file that was opened, in bytes, which bounds the size
    /// of the result however often it was compressed.
    pub(super) fn rewrite(
        &self,
        path: &Path,
        options: &OpenOptions<'_>,
        packed: u64,
    ) -> Result<Step, ExchangeError> {
        match self {
            Self::Gzip => gzip::unpack(path, packed),
            Self::Archive => archive::unpack(path, packed),
            Self::Excel => excel::rewrite(path, options.sheet, packed),
            Self::OpenDocument => open_document::rewrite(path, options.sheet, packed),
            Self::Parquet => columnar::rewrite_parquet(path, packed),
            Self::Arrow => columnar::rewrite_arrow(path, packed),
            Self::Dataset => columnar::rewrite_dataset(path, packed),
            Self::Json(layout) => json_records::rewrite(path, layout, packed),
            Self::Qualtrics(names) => qualtrics::rewrite(path, names, packed),
            Self::Encoded(encoded) => encoding::rewrite(path, *encoded, packed),
        }
    }

    /// Whether the result may have to be rewritten again.
    pub(super) fn holds_files(&self) -> bool {
        matches!(self, Self::Gzip | Self::Archive)
    }

    pub(super) fn format(&self) -> Option<FormatInfo> {
        match self {
            Self::Excel => Some(FORMATS[0]),
            Self::OpenDocument => Some(FORMATS[1]),
            Self::Parquet => Some(FORMATS[2]),
            Self::Arrow => Some(FORMATS[3]),
            Self::Dataset => Some(FORMATS[4]),
            Self::Json(_) => Some(FORMATS[5]),
            Self::Gzip | Self::Archive | Self::Encoded(_) | Self::Qualtrics(_) => None,
        }
    }
}

/// Detects the layout of a JSON file that is a table, and that no annotation tool has written.
fn json_table(path: &Path, head: &[u8], options: &OpenOptions<'_>) -> Option<Layout> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    let named = options.format.map(|name| name.trim().to_lowercase());
    let wanted = named.as_deref().is_none_or(|name| name == FORMATS[5].name);
    // One object a line is JSON Lines already.
    let (first, rest) = head.split_at(memchr::memchr(b'\n', head).unwrap_or(head.len()));
    let lines = first.starts_with(b"{")
        && !rest.trim_ascii().is_empty()
        && serde_json::from_slice::<serde::de::IgnoredAny>(first).is_ok();
    let opens = head.starts_with(b"[") || head.starts_with(b"{") && !lines;
    let layout = if wanted && opens { Layout::new(path)? } else { return None };
    (!formats::are_claimed(path)).then_some(layout)
}

/// Detects the form of an archive; `None` for those that tools write, and for those that hold several files.
fn of_archive(path: &Path) -> Result<Option<Form>, ExchangeError> {
    let names = Package::open(path)?.names()?;
    let has = |name: &str| names.iter().any(|there| there == name);
    if has("xl/workbook.xml") {
        return Ok(Some(Form::Excel));
    }
    if has("content.xml") && has("mimetype") {
        let kind = Package::open(path)?.read("mimetype")?;
        return Ok((kind.trim_ascii() == SPREADSHEET.as_bytes()).then_some(Form::OpenDocument));
    }
    Ok((archive::only_file(&names).is_some() && !formats::are_claimed(path)).then_some(Form::Archive))
}

/// Refuses an option that does not apply: a sheet of a file without sheets, an encoding of binary data, and
/// another format.
pub(super) fn refuse_what_does_not_fit(
    path: &Path,
    forms: &[Form],
    options: &OpenOptions<'_>,
) -> Result<(), ExchangeError> {
    let format = forms.last().and_then(|form| form.format());
    let refuse = |why: String| Err(ExchangeError::Package { path: path.to_owned(), why });
    if let (Some(sheet), false) =
        (options.sheet, matches!(forms.last(), Some(Form::Excel | Form::OpenDocument)))
    {
        return refuse(format!("it is no workbook, and has no sheet \"{sheet}\""));
    }
    if let (Some(encoding), Some(format)) = (options.encoding, format) {
        return refuse(format!("{} files have no encoding \"{encoding}\": leave it out", format.title));
    }
    let named = options.format.map(|name| name.trim().to_lowercase());
    let asked = FORMATS.into_iter().find(|format| Some(format.name) == named.as_deref());
    match asked {
        Some(asked) if Some(asked) != format => Err(ExchangeError::OtherFormat {
            path: path.to_owned(),
            format: asked.title.to_owned(),
            why: format.map_or_else(
                || "it does not begin like one".to_owned(),
                |is| format!("it looks like {}", is.title),
            ),
        }),
        _ => Ok(()),
    }
}
