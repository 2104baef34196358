//! ZIP archives: workbooks, archives of tools, which are read as they are, and archives with one file in them.

use super::Step;
use super::form::Form;
use super::limited::{Limited, failed};
use crate::ExchangeError;
use crate::annotations::Package;
use crate::formats;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// How an OpenDocument spreadsheet names itself.
const SPREADSHEET: &str = "application/vnd.oasis.opendocument.spreadsheet";
/// The longest part of a workbook, unpacked, in bytes: one that is longer would fill the memory.
const MAX_PART: u64 = 512 << 20;

/// What an archive is; `None` for those that tools write, and for those that hold several files.
pub(super) fn form(path: &Path) -> Result<Option<Form>, ExchangeError> {
    let names = Package::open(path)?.names()?;
    let has = |name: &str| names.iter().any(|there| there == name);
    if has("xl/workbook.xml") {
        return Ok(Some(Form::Excel));
    }
    if has("content.xml") && has("mimetype") {
        let kind = Package::open(path)?.read("mimetype")?;
        return Ok((kind.trim_ascii() == SPREADSHEET.as_bytes()).then_some(Form::OpenDocument));
    }
    Ok((only_file(&names).is_some() && !formats::are_claimed(path)).then_some(Form::Archive))
}

/// The one file of an archive, leaving aside what systems put into it.
fn only_file(names: &[String]) -> Option<&String> {
    let hidden = |name: &&String| {
        name.starts_with("__MACOSX/") || name.rsplit('/').next().is_some_and(|n| n.starts_with('.'))
    };
    let mut files = names.iter().filter(|name| !hidden(name));
    files.next().filter(|_| files.next().is_none())
}

pub(super) fn unpack(path: &Path) -> Result<Step, ExchangeError> {
    let names = Package::open(path)?.names()?;
    let name = only_file(&names).cloned().unwrap_or_default();
    let file_name = PathBuf::from(name.rsplit(['/', '\\']).next().unwrap_or_default());
    let unpacked = File::open(path).and_then(|file| {
        let mut archive = ZipArchive::new(file).map_err(io::Error::other)?;
        let mut out = Limited::create(&file_name)?;
        let entry = archive.by_name(&name).map_err(io::Error::other)?;
        io::copy(&mut io::BufReader::with_capacity(1 << 20, entry), &mut out)?;
        out.finish(name.clone(), Vec::new())
    });
    unpacked.map_err(|error| failed(path, &error, "its file cannot be unpacked"))
}

/// Unpacks every part of a workbook to nowhere and refuses what would fill the memory; says whether a part holds `needle`.
pub(super) fn check_parts(path: &Path, needle: &[u8]) -> Result<bool, ExchangeError> {
    let mut package = File::open(path).map_err(|e| ExchangeError::reading(path, e)).and_then(|file| {
        ZipArchive::new(file).map_err(|e| failed(path, &io::Error::other(e), "it is damaged"))
    })?;
    let mut found = false;
    for index in 0..package.len() {
        let damaged = |error: io::Error| failed(path, &error, "a part of the workbook is damaged");
        let mut part = package.by_index(index).map_err(|e| damaged(io::Error::other(e)))?;
        let (mut buffer, mut length, mut kept) = (vec![0; 64 << 10], 0, 0);
        loop {
            let read = part.read(&mut buffer[kept..]).map_err(damaged)?;
            if read == 0 {
                break;
            }
            length += read as u64;
            if length > MAX_PART {
                let why = format!(
                    "a part of the workbook is longer than {} MiB unpacked: divide it, or save it as CSV",
                    MAX_PART >> 20
                );
                return Err(ExchangeError::Package { path: path.to_owned(), why });
            }
            let filled = kept + read;
            found |= !needle.is_empty() && memchr::memmem::find(&buffer[..filled], needle).is_some();
            // What may be the beginning of the needle is looked at again with what follows it.
            kept = filled.min(needle.len().saturating_sub(1));
            buffer.copy_within(filled - kept..filled, 0);
        }
    }
    Ok(found)
}
