//! One safetensors file: its header is read and checked at once, its tensors are read from disk one by one.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::error::EncoderError;
use crate::tensor_store::TensorStore;

/// Size in bytes of the header's length, which precedes the header.
const LENGTH_BYTES: u64 = 8;
/// Maximum length of a header in the format.
const LONGEST_HEADER: u64 = 100_000_000;

/// An open file whose header matches its length.
pub(crate) struct TensorFile {
    path: PathBuf,
    /// Locked for seeking and reading together.
    file: Mutex<File>,
    header: Metadata,
    /// Start of the tensors' bytes.
    data_at: u64,
}

impl TensorFile {
    /// Reads the header. No tensor is read, and no allocation exceeds what the file's length justifies.
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

    /// A metadata entry of the header.
    pub(crate) fn note(&self, key: &str) -> Option<&str> {
        self.header.metadata().as_ref()?.get(key).map(String::as_str)
    }

    /// The bytes of one tensor of this file.
    fn bytes(&self, info: &TensorInfo) -> Result<Vec<u8>, EncoderError> {
        let (from, to) = info.data_offsets;
        let mut bytes = vec![0; to - from];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.data_at + from as u64))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|source| EncoderError::Read { path: self.path.clone(), source })?;
        Ok(bytes)
    }
}

impl TensorStore for TensorFile {
    fn path(&self) -> &Path {
        &self.path
    }

    /// Tensor names in the order of their bytes.
    fn names(&self) -> Vec<String> {
        self.header.offset_keys()
    }

    fn shape(&self, name: &str) -> Option<&[usize]> {
        Some(&self.header.info(name)?.shape)
    }

    fn is_floats(&self, name: &str) -> bool {
        let dtype = self.header.info(name).map(|info| info.dtype);
        matches!(dtype, Some(Dtype::F32 | Dtype::F16 | Dtype::BF16))
    }

    fn floats(&self, name: &str) -> Result<Vec<f32>, EncoderError> {
        let Some(info) = self.header.info(name) else {
            let (path, name) = (self.path.clone(), name.to_owned());
            return Err(EncoderError::MissingTensor { path, name, expected: Vec::new() });
        };
        let bytes = self.bytes(info)?;
        let halves = bytes.chunks_exact(2).map(|b| [b[0], b[1]]);
        match info.dtype {
            Dtype::F32 => {
                Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
            }
            Dtype::F16 => Ok(halves.map(|b| f16::from_le_bytes(b).to_f32()).collect()),
            Dtype::BF16 => Ok(halves.map(|b| bf16::from_le_bytes(b).to_f32()).collect()),
            other => Err(EncoderError::TensorType {
                path: self.path.clone(),
                name: name.to_owned(),
                found: format!("{other:?}"),
            }),
        }
    }
}
