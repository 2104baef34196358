//! Other tools in common use: their Python environment, their process, and the encoder in their format.

mod environment;

use crate::error::BenchError;
use crate::worker::{Done, Launch, Request, Worker};
use dissensus_encoder::EncoderVersion;
use std::path::{Path, PathBuf};

/// The script that all of them run in.
const SCRIPT: &str = include_str!("peers.py");

/// A complete environment.
pub(crate) struct Peers {
    folder: PathBuf,
    launch: Launch,
}

/// The encoder in the format of onnxruntime.
pub(crate) struct Onnx {
    pub(crate) fp32: PathBuf,
    pub(crate) int8: PathBuf,
}

impl Peers {
    /// Creates the environment in `cache`, or finds an existing one. Progress goes to `say`, one line at a
    /// time.
    ///
    /// # Errors
    /// Fails without Python or a network, or if the pinned versions do not exist for this system.
    pub(crate) fn ready(cache: &Path, threads: usize, say: &dyn Fn(&str)) -> Result<Self, BenchError> {
        let folder = environment::folder(cache);
        let program = environment::ready(&folder, say)?;
        // -I: neither the user's own packages nor those of the working directory may replace a pinned one.
        let arguments = ["-I", "-c", SCRIPT].map(str::to_owned).to_vec();
        Ok(Self { folder, launch: Launch { program, arguments, threads } })
    }

    /// How the peers' process is started.
    pub(crate) fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Returns the encoder in `dir` as ONNX, exported from its own weights unless that was done before.
    ///
    /// # Errors
    /// Fails if the export does, or if its numbers differ from PyTorch's.
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
