//! The formats that can be read, one module each, and how the format of a file is detected.

mod argilla;
mod cas;
mod cas_json;
pub(crate) mod crowd_kit;
pub(crate) mod doccano;
mod inception;
pub(crate) mod label_studio;
mod label_studio_flat;
pub(crate) mod lewidi_2023_2025;
mod lewidi_people;
mod look;
mod one_document;
mod potato;
pub(crate) mod prodigy;
mod tables;
mod teamware;
mod text_lines;
mod webanno_tsv;
pub(crate) mod wide;
mod xmi;

pub(crate) use look::Look;

use crate::ExchangeError;
use crate::annotations::{Division, Unfold};
pub(crate) use crate::format_info::FormatInfo;
use crate::table_file::TableFile;
use crate::table_format::TableFormat;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

/// A format that can be read.
pub(crate) trait Format: Debug + Sync {
    /// The names of the format.
    fn info(&self) -> FormatInfo;

    /// Returns how a file of this format is read; `None` if the file does not look like one. If the user
    /// specified this format ([`Look::named`]), the check is less strict.
    fn recognise(&self, look: &Look) -> Option<Reading>;
}

/// How a file is read.
#[derive(Debug)]
pub(crate) enum Reading {
    /// As a table.
    Table(TableFormat),
    /// Part by part.
    Annotations(Division, Arc<dyn Unfold>),
}

/// A file that was recognised.
#[derive(Debug)]
pub(crate) enum Recognised {
    Table(Box<TableFile>),
    Annotations(Division, Arc<dyn Unfold>),
}

/// Every format. Those of tools come first: their files are tables or JSON too.
const FORMATS: [&dyn Format; 21] = [
    &label_studio::LabelStudio,
    &label_studio_flat::LabelStudioFlat,
    &prodigy::Prodigy,
    &doccano::Doccano,
    &lewidi_2023_2025::Lewidi,
    &lewidi_people::LewidiPeople,
    &argilla::Argilla,
    &teamware::Teamware,
    &potato::PotatoState,
    &potato::Potato,
    &webanno_tsv::WebannoTsv,
    &xmi::Xmi,
    &cas_json::CasJson,
    &inception::Inception,
    &crowd_kit::CrowdKit,
    &wide::Wide,
    &text_lines::TextLines,
    &tables::CSV,
    &tables::TSV,
    &tables::JSONL,
    &tables::CONLL,
];

/// Every format, by name and title.
pub(crate) fn infos() -> impl Iterator<Item = FormatInfo> {
    FORMATS.iter().map(|format| format.info())
}

/// The format of this name.
pub(crate) fn named(name: &str) -> Option<&'static dyn Format> {
    FORMATS.into_iter().find(|format| format.info().name == name)
}

/// Whether a format recognises the file at the path.
pub(crate) fn are_claimed(path: &Path) -> bool {
    let look = Look::new(path, false).ok().flatten();
    look.is_some_and(|look| FORMATS.iter().any(|format| format.recognise(&look).is_some()))
}

/// Detects the format of a file, or uses `chosen`.
///
/// # Errors
/// Nothing that can be read at the path, a file that cannot be of the chosen format, or one that may be of
/// several formats.
pub(crate) fn recognise(
    path: &Path,
    chosen: Option<&dyn Format>,
) -> Result<(FormatInfo, Recognised), ExchangeError> {
    let look = Look::new(path, chosen.is_some())?;
    if let Some(format) = chosen {
        let info = format.info();
        let Some(reading) = look.as_ref().and_then(|look| format.recognise(look)) else {
            let other = recognise(path, None).map(|(found, _)| found.title);
            let why = other.map_or_else(|error| error.to_string(), |title| format!("it looks like {title}"));
            let (path, format) = (path.to_owned(), info.title.to_owned());
            return Err(ExchangeError::OtherFormat { path, format, why });
        };
        return open(path, info, reading, true);
    }
    let mut found: Vec<(FormatInfo, Reading)> = Vec::new();
    if let Some(look) = &look {
        found.extend(FORMATS.iter().filter_map(|format| Some((format.info(), format.recognise(look)?))));
    }
    match found.len() {
        0 => table(path).map(|(info, table)| (info, Recognised::Table(table))),
        1 => {
            let (info, reading) = found.remove(0);
            open(path, info, reading, false)
        }
        _ => {
            let names = found.iter().map(|(info, _)| info.name.to_owned()).collect();
            Err(ExchangeError::SeveralFormats { path: path.to_owned(), formats: names })
        }
    }
}

fn open(
    path: &Path,
    info: FormatInfo,
    reading: Reading,
    named: bool,
) -> Result<(FormatInfo, Recognised), ExchangeError> {
    let recognised = match reading {
        Reading::Table(format) => {
            Recognised::Table(Box::new(TableFile::open(path, named.then_some(format))?))
        }
        Reading::Annotations(division, unfold) => Recognised::Annotations(division, unfold),
    };
    Ok((info, recognised))
}

/// Reads a file as a table, whatever tool wrote it.
///
/// # Errors
/// The file is not a table.
pub(crate) fn table(path: &Path) -> Result<(FormatInfo, Box<TableFile>), ExchangeError> {
    let table = TableFile::open(path, None)?;
    Ok((tables::of(table.format()).info(), Box::new(table)))
}
