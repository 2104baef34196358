//! ZIP archives with one file in them.

use super::Step;
use super::limited::{Limited, failed};
use crate::ExchangeError;
use crate::annotations::Package;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// The one file of an archive, leaving aside what systems put into it.
pub(super) fn only_file(names: &[String]) -> Option<&String> {
    let hidden = |name: &&String| {
        name.starts_with("__MACOSX/") || name.rsplit('/').next().is_some_and(|n| n.starts_with('.'))
    };
    let mut files = names.iter().filter(|name| !hidden(name));
    files.next().filter(|_| files.next().is_none())
}

pub(super) fn unpack(path: &Path, packed: u64) -> Result<Step, ExchangeError> {
    let names = Package::open(path)?.names()?;
    let name = only_file(&names).cloned().unwrap_or_default();
    let file_name = PathBuf::from(name.rsplit(['/', '\\']).next().unwrap_or_default());
    let unpacked = File::open(path).and_then(|file| {
        let mut archive = ZipArchive::new(file).map_err(io::Error::other)?;
        let mut out = Limited::create(&file_name, packed)?;
        let entry = archive.by_name(&name).map_err(io::Error::other)?;
        io::copy(&mut io::BufReader::with_capacity(1 << 20, entry), &mut out)?;
        out.finish(name.clone(), Vec::new())
    });
    unpacked.map_err(|error| failed(path, &error, "its file cannot be unpacked"))
}
