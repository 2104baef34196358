//! One safetensors file: its header read and checked at once, its tensors read from disk one by one.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use safetensors::tensor::{Metadata, TensorInfo};

use crate::error::EncoderError;

/// Bytes of the header's length, which stands before the header.
const LENGTH_BYTES: u64 = 8;
/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;

/// An open file whose header agrees with its length.
pub(crate) struct TensorFile {
    path: PathBuf,
    /// Seeking and reading go together.
    file: Mutex<File>,
    header: Metadata,
    /// Where the tensors' bytes begin.
    data_at: u64,
}

impl TensorFile {
    /// Reads the header. No tensor is read, and nothing is allocated that the file's length does not bear out.
    pub(crate) fn open(path: &Path) -> Result<Self, EncoderError> {
        let unreadable = |source| EncoderError::Read { path: path.to_owned(), source };
        let damaged = |reason: String| EncoderError::DamagedWeights { path: path.to_owned(), reason };
        let mut file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        if length < LENGTH_BYTES {
            return Err(damaged(format!("it has {length} bytes, too few for a header")));
        }
        let mut header_length = [0; LENGTH_BYTES as usize];
        file.read_exact(&mut header_length).map_err(unreadable)?;
        let header_length = u64::from_le_bytes(header_length);
        if header_length > LONGEST_HEADER.min(length - LENGTH_BYTES) {
            return Err(damaged(format!(
                "its header would have {header_length} bytes, the file has {length}"
            )));
        }
        let mut header = vec![0; header_length as usize];
        file.read_exact(&mut header).map_err(unreadable)?;
        let header: Metadata =
            serde_json::from_slice(&header).map_err(|e| damaged(format!("its header is not one: {e}")))?;
        let data_at = LENGTH_BYTES + header_length;
        let whole = data_at.checked_add(header.data_len() as u64);
        if whole != Some(length) {
            let tensors = header.data_len();
            return Err(damaged(format!(
                "its header tells of {tensors} bytes of tensors, and {} follow",
                length - data_at
            )));
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), header, data_at })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the tensors in the order of their bytes.
    pub(crate) fn names(&self) -> Vec<String> {
        self.header.offset_keys()
    }

    pub(crate) fn info(&self, name: &str) -> Option<&TensorInfo> {
        self.header.info(name)
    }

    /// The bytes of one tensor of this file.
    pub(crate) fn bytes(&self, info: &TensorInfo) -> Result<Vec<u8>, EncoderError> {
        let (from, to) = info.data_offsets;
        let mut bytes = vec![0; to - from];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.data_at + from as u64))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|source| EncoderError::Read { path: self.path.clone(), source })?;
        Ok(bytes)
    }
}
