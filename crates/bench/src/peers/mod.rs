//! The engines people use today: their Python environment, their process, and the encoder in the form they read.

mod environment;

use crate::error::BenchError;
use crate::worker::{Done, Launch, Request, Worker};
use dissensus_encoder::EncoderVersion;
use std::path::{Path, PathBuf};

/// The process that all of them run in.
const SCRIPT: &str = include_str!("peers.py");

/// A finished environment.
pub(crate) struct Peers {
    folder: PathBuf,
    launch: Launch,
}

/// The encoder as onnxruntime reads it.
pub(crate) struct Onnx {
    pub(crate) fp32: PathBuf,
    pub(crate) int8: PathBuf,
}

impl Peers {
    /// Makes the environment in `cache`, or finds the one made before. Progress, a line at a time, goes to `say`.
    ///
    /// # Errors
    /// No Python, no network, or versions that do not exist for this system.
    pub(crate) fn ready(cache: &Path, threads: usize, say: &dyn Fn(&str)) -> Result<Self, BenchError> {
        let folder = environment::folder(cache);
        let program = environment::ready(&folder, say)?;
        // -I: neither the user's own packages nor the folder that the command runs in may stand in for a pinned one.
        let arguments = ["-I", "-c", SCRIPT].map(str::to_owned).to_vec();
        Ok(Self { folder, launch: Launch { program, arguments, threads } })
    }

    /// How one of the peers is started.
    pub(crate) fn launch(&self) -> &Launch {
        &self.launch
    }

    /// The encoder in `dir` as ONNX, exported from its own weights where that was not done before.
    ///
    /// # Errors
    /// The export fails, or gives other numbers than PyTorch.
    pub(crate) fn onnx(
        &self,
        dir: &Path,
        version: &EncoderVersion,
        say: &dyn Fn(&str),
    ) -> Result<Onnx, BenchError> {
        let folder = self.folder.join("onnx").join(&version.weights_sha256);
        let onnx = Onnx { fp32: folder.join("fp32.onnx"), int8: folder.join("int8.onnx") };
        if onnx.fp32.is_file() && onnx.int8.is_file() {
            return Ok(onnx);
        }
        say("Exporting the encoder for onnxruntime");
        std::fs::create_dir_all(&folder).map_err(BenchError::io("making", &folder))?;
        let export =
            Request::Export { encoder: dir.to_owned(), fp32: onnx.fp32.clone(), int8: onnx.int8.clone() };
        Worker::start("the ONNX export", &self.launch, &folder)?.ask::<Done>(&export)?;
        Ok(onnx)
    }
}
