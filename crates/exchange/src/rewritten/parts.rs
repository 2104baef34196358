//! Checks the parts of a workbook before a library reads them into memory.

use super::limited::{failed, too_much};
use crate::ExchangeError;
use crate::unpacking::unpacking_limit;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use zip::ZipArchive;

/// The longest part of a workbook, unpacked, in bytes: one that is longer would fill the memory.
const MAX_PART: u64 = 512 << 20;

/// Unpacks every part of a workbook without storing it, and refuses one that would fill the memory; returns
/// whether a part contains `needle`. `packed` is the size of the file that was opened, in bytes.
pub(super) fn check_parts(path: &Path, needle: &[u8], packed: u64) -> Result<bool, ExchangeError> {
    let (limit, mut unpacked) = (unpacking_limit(packed), 0_u64);
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
            unpacked += read as u64;
            if unpacked > limit {
                return Err(damaged(too_much(limit)));
            }
            if length > MAX_PART {
                let why = format!(
                    "a part of the workbook is longer than {} MiB unpacked: divide it, or save it as CSV",
                    MAX_PART >> 20
                );
                return Err(ExchangeError::Package { path: path.to_owned(), why });
            }
            let filled = kept + read;
            found |= !needle.is_empty() && memchr::memmem::find(&buffer[..filled], needle).is_some();
            // The last bytes may be the beginning of the needle, and are searched again with what follows
            // them.
            kept = filled.min(needle.len().saturating_sub(1));
            buffer.copy_within(filled - kept..filled, 0);
        }
    }
    Ok(found)
}
