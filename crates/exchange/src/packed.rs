//! A file packed with gzip: unpacked for as long as somebody reads it.

use crate::ExchangeError;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How files packed with gzip begin.
const MAGIC: [u8; 2] = [0x1F, 0x8B];
/// The longest file that is unpacked, in bytes: one that is longer would fill the disk.
const MAX_UNPACKED: u64 = 16 << 30;

/// An unpacked file in a folder of its own, which goes when this does.
#[derive(Debug)]
pub(crate) struct Unpacked {
    original: PathBuf,
    path: PathBuf,
    _folder: TempDir,
}

impl Unpacked {
    /// Unpacks the file at `path`; `None` where it is not packed.
    ///
    /// # Errors
    /// It cannot be read, is damaged or cut off, or there is no room for what is in it.
    pub(crate) fn of(path: &Path) -> Result<Option<Self>, ExchangeError> {
        // What cannot be read is told by who reads it.
        let ordinary = std::fs::metadata(path).is_ok_and(|about| about.is_file());
        let Ok(mut file) = File::open(path) else { return Ok(None) };
        let mut head = Vec::new();
        if !ordinary || Read::by_ref(&mut file).take(2).read_to_end(&mut head).is_err() || head != MAGIC {
            return Ok(None);
        }
        let damaged = |error: io::Error| ExchangeError::Package { path: path.to_owned(), why: why(&error) };
        let folder = tempfile::tempdir().map_err(damaged)?;
        let unpacked = folder.path().join(inner_name(path));
        let packed = MultiGzDecoder::new(io::Cursor::new(head).chain(file)).take(MAX_UNPACKED + 1);
        let written = File::create(&unpacked).and_then(|mut out| {
            let length = io::copy(&mut io::BufReader::with_capacity(1 << 20, packed), &mut out)?;
            out.flush().map(|()| length)
        });
        if written.map_err(damaged)? > MAX_UNPACKED {
            let why = format!("it is longer than {} GiB unpacked: divide it", MAX_UNPACKED >> 30);
            return Err(ExchangeError::Package { path: path.to_owned(), why });
        }
        Ok(Some(Self { original: path.to_owned(), path: unpacked, _folder: folder }))
    }

    /// The file that is packed.
    pub(crate) fn original(&self) -> &Path {
        &self.original
    }

    /// The file that was in it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with the file inside, said of the packed one.
    pub(crate) fn blame(&self, error: &ExchangeError) -> ExchangeError {
        let inside = inner_name(&self.original);
        let why = error.to_string().replace(&self.path.display().to_string(), &inside.display().to_string());
        ExchangeError::Package { path: self.original.clone(), why }
    }
}

/// `labels.csv` of `labels.csv.gz`; a name without that ending stays.
fn inner_name(path: &Path) -> PathBuf {
    let packed = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let name = if packed { path.file_stem() } else { path.file_name() };
    PathBuf::from(name.unwrap_or_default())
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => {
            "there is no room on the disk of temporary files for what is in it: free some space".to_owned()
        }
        _ => format!("it is packed with gzip, and damaged or not whole ({error}): fetch or export it again"),
    }
}
