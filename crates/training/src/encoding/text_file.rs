//! Texts of a file, which need not be in a project: counted, encoded and passed on in their order.

use super::cached_embeddings::{CachedEmbeddings, FRAME};
use crate::error::TrainingError;
use dissensus_encoder::{BatchPlan, Encoder, StreamDone};
use dissensus_exchange::{TextFile, TextOfFile, TextsFound};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::sync::lock;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;

/// How many bad rows are reported.
const LISTED: usize = 10;

/// Which texts of a file are read.
#[derive(Clone, Debug, Default)]
pub struct TextFileChoices {
    pub path: PathBuf,
    /// The column of the texts; guessed if `None`.
    pub text: Option<String>,
    /// The column of their ids; guessed if `None`.
    pub text_id: Option<String>,
    /// Leaves out rows that cannot be read instead of refusing the file.
    pub skip_bad: bool,
    /// Where embeddings are stored during the work, so that an interrupted run continues with them. The
    /// caller removes the file.
    pub keep: Option<PathBuf>,
}

/// A file of texts that was read once and found valid.
pub struct CheckedTexts {
    file: TextFile,
    found: TextsFound,
    keep: Option<PathBuf>,
}

impl CheckedTexts {
    /// Reads the file once.
    pub fn open(choices: &TextFileChoices, progress: &dyn Progress) -> Result<Self, ProjectError> {
        let path = &choices.path;
        let file = TextFile::open(path, choices.text.as_deref(), choices.text_id.as_deref())?;
        let bytes = file.bytes();
        let found = file.count(|done| {
            progress.report(done, Some(bytes), "reading");
            progress.flow()
        })?;
        let rows = found.texts + found.bad;
        if found.bad > 0 && !choices.skip_bad {
            let listed: Vec<String> = found.problems.iter().take(LISTED).map(ToString::to_string).collect();
            let (path, count, listed) = (path.clone(), found.bad, listed.join("\n"));
            return Err(TrainingError::BadTexts { path, count, rows, listed }.into());
        }
        match found.texts {
            0 => Err(TrainingError::NoTexts(path.clone()).into()),
            _ => Ok(Self { file, found, keep: choices.keep.clone() }),
        }
    }

    /// Texts that are read.
    pub(crate) fn texts(&self) -> u64 {
        self.found.texts
    }

    /// Bad rows that are left out.
    pub fn bad(&self) -> u64 {
        self.found.bad
    }

    /// Passes all texts to `each` in the file's order, in chunks of `at_once` texts, or of fewer with
    /// `most_bytes`.
    ///
    /// # Errors
    /// The file has changed since it was first read, or cannot be read; an error of `each`; cancellation.
    pub(crate) fn in_chunks(
        &self,
        (at_once, most_bytes): (usize, usize),
        progress: &dyn Progress,
        mut each: impl FnMut(&[TextOfFile]) -> Result<(), ProjectError>,
    ) -> Result<(), ProjectError> {
        let (mut waiting, mut bytes, mut done, mut bad) = (Vec::with_capacity(at_once), 0, 0, 0);
        let mut texts = self.file.texts()?;
        loop {
            let next = texts.next();
            let ended = next.is_none();
            match next {
                Some(Ok(text)) => {
                    bytes += text.body.len();
                    waiting.push(text);
                }
                Some(Err(_)) => bad += 1,
                None => {}
            }
            if waiting.len() == at_once || bytes >= most_bytes || ended && !waiting.is_empty() {
                if progress.cancelled() {
                    return Err(ProjectError::Cancelled);
                }
                each(&waiting)?;
                done += waiting.len() as u64;
                waiting.clear();
                bytes = 0;
                progress.report(done, Some(self.found.texts), "reading words");
            }
            if ended {
                break;
            }
        }
        match done == self.found.texts && bad == self.found.bad {
            true => Ok(()),
            false => Err(TrainingError::TextsChanged(self.file.path().to_owned()).into()),
        }
    }

    /// Passes every text and its embedding to `each`, in the file's order. Memory is bounded by the
    /// read-ahead of the encoder.
    pub fn encode(
        &self,
        encoder: &Encoder,
        progress: &dyn Progress,
        mut each: impl FnMut(&TextOfFile, Vec<f32>) -> Result<(), ProjectError>,
    ) -> Result<StreamDone, ProjectError> {
        let changed = || ProjectError::from(TrainingError::TextsChanged(self.file.path().to_owned()));
        let mut texts = self.file.texts()?;
        let (mut done, bad) = (0, Cell::new(0));
        let mut kept = self.keep.as_deref().map(|path| CachedEmbeddings::open(path, encoder)).transpose()?;
        // Texts that were read but have no stored embedding.
        let mut ahead = Vec::new();
        while let Some(kept) = &mut kept {
            while ahead.len() < FRAME
                && let Some(text) = texts.next()
            {
                match text {
                    Ok(text) => ahead.push(text),
                    Err(_) => bad.set(bad.get() + 1),
                }
            }
            let bodies: Vec<&str> = ahead.iter().map(|text| text.body.as_str()).collect();
            let Some(embeddings) = kept.next(&bodies)? else { break };
            for (text, embedding) in ahead.drain(..).zip(embeddings) {
                each(&text, embedding)?;
                done += 1;
            }
            progress.report(done as u64, Some(self.found.texts), "kept");
            if progress.cancelled() {
                return Err(ProjectError::Cancelled);
            }
        }
        let first = done;
        // Texts that were read but not passed on yet, and embeddings that wait for an earlier one.
        let waiting: RefCell<VecDeque<TextOfFile>> = RefCell::default();
        let mut early: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
        let bodies = ahead.into_iter().map(Ok).chain(texts).filter_map(|text| match text {
            Ok(text) => {
                let body = text.body.clone();
                waiting.borrow_mut().push_back(text);
                Some(body)
            }
            Err(_) => {
                bad.set(bad.get() + 1);
                None
            }
        });
        let mut failed = None;
        let started = std::time::Instant::now();
        let stream = encoder.encode_stream(bodies, &BatchPlan::default(), |batch| {
            early.extend(batch.indices.into_iter().zip(batch.embeddings));
            while let Some(embedding) = early.remove(&(done - first)) {
                let text = waiting.borrow_mut().pop_front();
                let handed = text.ok_or_else(changed).and_then(|text| {
                    kept.as_mut().map_or(Ok(()), |kept| kept.push(&text.body, &embedding))?;
                    each(&text, embedding)
                });
                if let Err(error) = handed {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
                done += 1;
            }
            let rate = (done - first) as f64 / started.elapsed().as_secs_f64().max(0.001);
            progress.report(done as u64, Some(self.found.texts), &format!("{rate:.0} texts/s"));
            progress.flow()
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let ended = stream?;
        if ended.cancelled {
            return Err(ProjectError::Cancelled);
        }
        let same = done as u64 == self.found.texts && bad.get() == self.found.bad;
        if same { Ok(ended) } else { Err(changed()) }
    }
}

/// Encodes bodies and passes each index and its embedding to `each`, in their order. Memory is bounded by
/// the read-ahead of the encoder.
pub fn in_order(
    encoder: &Encoder,
    bodies: impl Iterator<Item = Result<String, ProjectError>> + Send,
    progress: &dyn Progress,
    mut each: impl FnMut(usize, Vec<f32>) -> Result<(), ProjectError>,
) -> Result<(), ProjectError> {
    let unread: Mutex<Option<ProjectError>> = Mutex::new(None);
    let read = bodies.map_while(|body| match body {
        Ok(body) => Some(body),
        Err(error) => {
            *lock(&unread) = Some(error);
            None
        }
    });
    let mut early: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
    let (mut next, mut failed) = (0, None);
    let stream = encoder.encode_stream(read, &BatchPlan::default(), |batch| {
        early.extend(batch.indices.into_iter().zip(batch.embeddings));
        while let Some(embedding) = early.remove(&next) {
            if let Err(error) = each(next, embedding) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            next += 1;
        }
        progress.flow()
    });
    if let Some(error) = failed.or(lock(&unread).take()) {
        return Err(error);
    }
    if stream?.cancelled { Err(ProjectError::Cancelled) } else { Ok(()) }
}
