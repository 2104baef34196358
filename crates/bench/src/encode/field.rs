//! Engines that take part: those that could be loaded, and why the others could not.

use super::report::MissingEngine;
use crate::engine::EngineKind;
use crate::error::BenchError;
use crate::peers::Peers;
use crate::worker::{Done, Launch, Load, Request, Worker};
use dissensus_encoder::EncoderVersion;
use std::path::{Path, PathBuf};

/// The Python peers, in the order of the table.
const PYTHON_PEERS: [&str; 3] = ["sentence-transformers", "onnxruntime fp32", "onnxruntime int8"];

/// Texts, encoder and settings that every engine is measured with.
pub(super) struct Subject {
    pub(super) dir: PathBuf,
    pub(super) version: EncoderVersion,
    pub(super) threads: usize,
    /// Number of tokens in all texts.
    pub(super) tokens: usize,
    pub(super) latency_tokens: usize,
    pub(super) latency_text: String,
}

/// A loaded engine.
pub(super) struct Entrant {
    pub(super) engine: &'static str,
    /// Whether this is one of our engines, which must not fail; a peer may.
    pub(super) ours: bool,
    pub(super) worker: Worker,
    launch: Launch,
    load: Load,
}

/// All engines that take part.
pub(super) struct Field<'a> {
    pub(super) subject: Subject,
    pub(super) entrants: Vec<Entrant>,
    pub(super) missing: Vec<MissingEngine>,
    /// Folder for the files exchanged with the workers.
    pub(super) folder: &'a Path,
    pub(super) say: &'a dyn Fn(&str),
    our_launch: Launch,
}

impl<'a> Field<'a> {
    pub(super) fn new(subject: Subject, our_launch: Launch, folder: &'a Path, say: &'a dyn Fn(&str)) -> Self {
        Self { subject, entrants: Vec::new(), missing: Vec::new(), folder, say, our_launch }
    }

    /// Loads the engines of the product.
    pub(super) fn enter_ours(&mut self) -> Result<(), BenchError> {
        let name = self.subject.version.name.clone();
        for kind in EngineKind::ALL.into_iter().filter(|kind| kind.is_ours() && kind.is_offered(&name)) {
            let entrant = self.load(kind.name(), true, &self.our_launch.clone(), None)?;
            self.entrants.push(entrant);
        }
        Ok(())
    }

    /// Loads the available peers; `cache` contains their Python environment.
    pub(super) fn enter_peers(&mut self, cache: &Path) {
        if let Err(error) = self.enter_python(cache) {
            (self.say)(&format!("The Python peers are left out: {error}"));
            let why = error.to_string();
            let missing = PYTHON_PEERS.map(|engine| MissingEngine { engine, why: why.clone() });
            self.missing.extend(missing);
        }
        for kind in EngineKind::ALL.into_iter().filter(|kind| !kind.is_ours()) {
            self.enter(kind.name(), &self.our_launch.clone(), None);
        }
    }

    fn enter_python(&mut self, cache: &Path) -> Result<(), BenchError> {
        let peers = Peers::ready(cache, self.subject.threads, self.say)?;
        let onnx = match peers.onnx(&self.subject.dir, &self.subject.version, self.say) {
            Ok(onnx) => Some(onnx),
            Err(error) => {
                self.leave_out("onnxruntime fp32", &error);
                self.leave_out("onnxruntime int8", &error);
                None
            }
        };
        self.enter("sentence-transformers", peers.launch(), None);
        if let Some(onnx) = onnx {
            self.enter("onnxruntime fp32", peers.launch(), Some(onnx.fp32));
            self.enter("onnxruntime int8", peers.launch(), Some(onnx.int8));
        }
        Ok(())
    }

    fn enter(&mut self, engine: &'static str, launch: &Launch, onnx: Option<PathBuf>) {
        match self.load(engine, false, launch, onnx) {
            Ok(entrant) => self.entrants.push(entrant),
            Err(error) => self.leave_out(engine, &error),
        }
    }

    fn load(
        &self,
        engine: &'static str,
        ours: bool,
        launch: &Launch,
        onnx: Option<PathBuf>,
    ) -> Result<Entrant, BenchError> {
        (self.say)(&format!("Loading {engine}"));
        let load = Load {
            engine: engine.to_owned(),
            encoder: self.subject.dir.clone(),
            onnx,
            threads: self.subject.threads,
            max_tokens: self.subject.version.max_tokens,
            normalised: self.subject.version.normalised,
        };
        let worker = started(engine, launch, &load, self.folder)?;
        Ok(Entrant { engine, ours, worker, launch: launch.clone(), load })
    }

    /// Leaves an engine out and reports why.
    pub(super) fn leave_out(&mut self, engine: &'static str, error: &BenchError) {
        (self.say)(&format!("{engine} is left out: {error}"));
        self.missing.push(MissingEngine { engine, why: error.to_string() });
    }

    /// Runs a request on each engine in turn. A peer that fails is left out from then on.
    ///
    /// # Errors
    /// Fails if one of our engines fails.
    pub(super) fn each(
        &mut self,
        mut ask: impl FnMut(&mut Entrant, &Subject, &Path) -> Result<(), BenchError>,
    ) -> Result<(), BenchError> {
        let mut at = 0;
        while let Some(entrant) = self.entrants.get_mut(at) {
            match ask(entrant, &self.subject, self.folder) {
                Ok(()) => at += 1,
                Err(error) if entrant.ours => return Err(error),
                Err(error) => {
                    let gone = self.entrants.remove(at);
                    self.leave_out(gone.engine, &error);
                }
            }
        }
        Ok(())
    }
}

impl Entrant {
    /// Starts the same engine in a fresh process.
    pub(super) fn restart(&self, folder: &Path) -> Result<Worker, BenchError> {
        started(self.engine, &self.launch, &self.load, folder)
    }
}

fn started(engine: &'static str, launch: &Launch, load: &Load, folder: &Path) -> Result<Worker, BenchError> {
    let mut worker = Worker::start(engine, launch, folder)?;
    worker.ask::<Done>(&Request::Load(load.clone()))?;
    Ok(worker)
}
