//! The engines people use today: their Python environment, their process, and the encoder in the form they read.

mod environment;

use super::worker::{Done, Launch, Request, Worker};
use crate::error::WorkbenchError;
use dissensus_encoder::EncoderVersion;
use std::path::{Path, PathBuf};

/// The process that all of them run in.
const SCRIPT: &str = include_str!("peers.py");

/// A finished environment.
pub(super) struct Peers {
    folder: PathBuf,
    launch: Launch,
}

/// The encoder as onnxruntime reads it.
pub(super) struct Onnx {
    pub(super) fp32: PathBuf,
    pub(super) int8: PathBuf,
}

impl Peers {
    /// Makes the environment in `cache`, or finds the one made before. Progress, a line at a time, goes to `say`.
    ///
    /// # Errors
    /// No Python, no network, or versions that do not exist for this system.
    pub(super) fn ready(cache: &Path, threads: usize, say: &dyn Fn(&str)) -> Result<Self, WorkbenchError> {
        let folder = environment::folder(cache);
        let program = environment::ready(&folder, say)?;
        // -I: neither the user's own packages nor the folder that the command runs in may stand in for a pinned one.
        let arguments = ["-I", "-c", SCRIPT].map(str::to_owned).to_vec();
        Ok(Self { folder, launch: Launch { program, arguments, threads } })
    }

    /// How one of the peers is started.
    pub(super) fn launch(&self) -> &Launch {
        &self.launch
    }

    /// The encoder in `dir` as ONNX, exported from its own weights where that was not done before.
    ///
    /// # Errors
    /// The export fails, or gives other numbers than PyTorch.
    pub(super) fn onnx(
        &self,
        dir: &Path,
        version: &EncoderVersion,
        say: &dyn Fn(&str),
    ) -> Result<Onnx, WorkbenchError> {
        let folder = self.folder.join("onnx").join(&version.weights_sha256);
        let onnx = Onnx { fp32: folder.join("fp32.onnx"), int8: folder.join("int8.onnx") };
        if onnx.fp32.is_file() && onnx.int8.is_file() {
            return Ok(onnx);
        }
        say("Exporting the encoder for onnxruntime");
        std::fs::create_dir_all(&folder).map_err(|source| WorkbenchError::Io {
            path: folder.clone(),
            doing: "making",
            source,
        })?;
        let export =
            Request::Export { encoder: dir.to_owned(), fp32: onnx.fp32.clone(), int8: onnx.int8.clone() };
        Worker::start("the ONNX export", &self.launch, &folder)?.ask::<Done>(&export)?;
        Ok(onnx)
    }
}
