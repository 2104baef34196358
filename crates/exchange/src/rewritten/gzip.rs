//! A file packed with gzip.

use super::Step;
use super::limited::{Limited, failed};
use crate::ExchangeError;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn unpack(path: &Path, packed: u64) -> Result<Step, ExchangeError> {
    let name = inner_name(path);
    let inside = name.display().to_string();
    let unpacked = File::open(path).and_then(|file| {
        let mut out = Limited::create(&name, packed)?;
        let buffered = io::BufReader::with_capacity(1 << 20, file);
        io::copy(&mut io::BufReader::with_capacity(1 << 20, MultiGzDecoder::new(buffered)), &mut out)?;
        out.finish(inside, Vec::new())
    });
    unpacked.map_err(|error| failed(path, &error, "it is packed with gzip, and damaged or not whole"))
}

/// Returns `labels.csv` for `labels.csv.gz`; a name without that extension is not changed.
fn inner_name(path: &Path) -> PathBuf {
    let packed = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let name = if packed { path.file_stem() } else { path.file_name() };
    PathBuf::from(name.unwrap_or_default())
}
