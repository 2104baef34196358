//! Embeddings of a long file of texts, stored on disk during the work, so that an interrupted run continues
//! with them.
//!
//! The file is a header and frames. A frame covers consecutive texts and contains a hash of their bodies,
//! their embeddings (little endian f32) and a hash of itself. It is written whole. A frame that is cut off,
//! damaged, or of other texts than those that are read now is dropped with everything after it.

use crate::error::TrainingError;
use dissensus_encoder::Encoder;
use dissensus_project::error::ProjectError;
use sha2::{Digest as _, Sha256};
use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Texts per frame; the last one may have fewer.
pub(super) const FRAME: usize = 512;
/// Magic bytes at the start of such a file.
pub const KEPT_EMBEDDINGS: [u8; 8] = *b"DISSEMB1";
const MAGIC: &[u8; 8] = &KEPT_EMBEDDINGS;
const HASH: usize = 32;

/// The hash of the bodies of a frame, and their embeddings.
type Frame = ([u8; HASH], Vec<Vec<f32>>);

/// Stored embeddings, and the current frame.
#[derive(Debug)]
pub(super) struct CachedEmbeddings {
    path: PathBuf,
    file: BufReader<File>,
    dim: usize,
    /// The end of the frames that have been read or written so far.
    end: u64,
    bodies: Sha256,
    waiting: Vec<f32>,
}

impl CachedEmbeddings {
    /// Opens the stored embeddings at `path`, or creates the file; those of another encoder are dropped.
    ///
    /// # Errors
    /// Another program uses the file, it has another format, or an I/O error.
    pub(super) fn open(path: &Path, encoder: &Encoder) -> Result<Self, ProjectError> {
        Self::new(path, &encoder.version().key(), encoder.version().dim)
    }

    fn new(path: &Path, encoder: &str, dim: usize) -> Result<Self, ProjectError> {
        let failed = |error: io::Error| {
            ProjectError::from(TrainingError::KeptEmbeddings {
                path: path.to_owned(),
                reason: error.to_string(),
            })
        };
        let mut file = dissensus_files::open_or_create_regular(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let reason = "another program works with it: wait until it has ended".to_owned();
                return Err(TrainingError::KeptEmbeddings { path: path.to_owned(), reason }.into());
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let header = header(encoder, dim);
        let mut there = Vec::new();
        (&mut file).take(header.len() as u64).read_to_end(&mut there).map_err(failed)?;
        let ours = there.is_empty() || there.starts_with(MAGIC) || MAGIC.starts_with(&there);
        if !ours {
            let reason = "it is no file of stored embeddings: move it away".to_owned();
            return Err(TrainingError::KeptEmbeddings { path: path.to_owned(), reason }.into());
        }
        if there != header {
            file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(failed)?;
            file.write_all(&header).map_err(failed)?;
        }
        let end = header.len() as u64;
        let (path, file) = (path.to_owned(), BufReader::with_capacity(1 << 20, file));
        Ok(Self { path, file, dim, end, bodies: Sha256::new(), waiting: Vec::new() })
    }

    /// The embeddings of the next texts, which have these bodies; none if they are not stored, in which case
    /// nothing after them is used.
    pub(super) fn next(&mut self, bodies: &[&str]) -> Result<Option<Vec<Vec<f32>>>, ProjectError> {
        let mut hash = Sha256::new();
        bodies.iter().for_each(|body| hash_body(&mut hash, body));
        let wanted: [u8; HASH] = hash.finalize().into();
        match self.read_frame() {
            Ok(Some((hash, embeddings))) if hash == wanted && embeddings.len() == bodies.len() => {
                self.end += frame_bytes(embeddings.len(), self.dim);
                Ok(Some(embeddings))
            }
            Ok(_) => self.cut().map(|()| None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Truncates the file after the frames that were read.
    fn cut(&mut self) -> Result<(), ProjectError> {
        let end = self.end;
        let file = self.file.get_mut();
        let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)).map(drop));
        cut.map_err(|error| self.failed(&error))
    }

    /// Adds the embedding of the next text. It is written to the disk together with the others of its frame.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub(super) fn push(&mut self, body: &str, embedding: &[f32]) -> Result<(), ProjectError> {
        hash_body(&mut self.bodies, body);
        self.waiting.extend(embedding);
        if self.waiting.len() >= FRAME * self.dim { self.end_frame() } else { Ok(()) }
    }

    fn end_frame(&mut self) -> Result<(), ProjectError> {
        let count = self.waiting.len() / self.dim;
        let mut frame = Vec::with_capacity(frame_bytes(count, self.dim) as usize);
        frame.extend((count as u32).to_le_bytes());
        frame.extend::<[u8; HASH]>(std::mem::take(&mut self.bodies).finalize().into());
        frame.extend(self.waiting.drain(..).flat_map(f32::to_le_bytes));
        let check: [u8; HASH] = Sha256::digest(&frame).into();
        frame.extend(check);
        let file = self.file.get_mut();
        let written = file.write_all(&frame).and_then(|()| file.sync_data());
        written.map_err(|error| self.failed(&error))?;
        self.end += frame.len() as u64;
        Ok(())
    }

    /// Reads the next frame; none if it is cut off or damaged.
    fn read_frame(&mut self) -> io::Result<Option<Frame>> {
        let mut frame = Vec::new();
        (&mut self.file).take(4).read_to_end(&mut frame)?;
        let Ok(count) = <[u8; 4]>::try_from(frame.as_slice()) else { return Ok(None) };
        let count = u32::from_le_bytes(count) as usize;
        if count == 0 || count > FRAME {
            return Ok(None);
        }
        let length = frame_bytes(count, self.dim);
        (&mut self.file).take(length - 4).read_to_end(&mut frame)?;
        let Some((content, check)) = frame.split_last_chunk::<HASH>() else { return Ok(None) };
        if frame.len() as u64 != length || Sha256::digest(content)[..] != *check {
            return Ok(None);
        }
        let (hash, numbers) = content[4..].split_at(HASH);
        let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let rows = numbers.chunks_exact(4 * self.dim).map(|row| row.chunks_exact(4).map(number).collect());
        let Ok(hash) = <[u8; HASH]>::try_from(hash) else { return Ok(None) };
        Ok(Some((hash, rows.collect())))
    }

    fn failed(&self, error: &io::Error) -> ProjectError {
        ProjectError::from(TrainingError::KeptEmbeddings {
            path: self.path.clone(),
            reason: error.to_string(),
        })
    }
}

fn header(encoder: &str, dim: usize) -> Vec<u8> {
    let version: [u8; HASH] = Sha256::digest(format!("{encoder}\n{dim}")).into();
    [MAGIC.as_slice(), &version].concat()
}

/// Bytes of a frame: count, hash of bodies, numbers, hash.
fn frame_bytes(count: usize, dim: usize) -> u64 {
    (4 + HASH + 4 * count * dim + HASH) as u64
}

fn hash_body(hash: &mut Sha256, body: &str) {
    hash.update((body.len() as u64).to_le_bytes());
    hash.update(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(nth: usize) -> String {
        format!("text {nth}")
    }

    fn write_frames(path: &Path, encoder: &str, count: usize) {
        let mut kept = CachedEmbeddings::new(path, encoder, 2).unwrap();
        assert!(kept.next(&["nothing is stored"]).unwrap().is_none());
        (0..count).for_each(|nth| kept.push(&body(nth), &[nth as f32, 0.5]).unwrap());
    }

    /// How many texts are read again.
    fn read(path: &Path, encoder: &str, change: Option<usize>) -> usize {
        let mut kept = CachedEmbeddings::new(path, encoder, 2).unwrap();
        let mut done = 0;
        loop {
            let bodies: Vec<String> = (done..done + FRAME)
                .map(|nth| if change == Some(nth) { "another".to_owned() } else { body(nth) })
                .collect();
            let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
            let Some(rows) = kept.next(&bodies).unwrap() else { return done };
            for row in rows {
                assert_eq!(row, [done as f32, 0.5]);
                done += 1;
            }
        }
    }

    #[test]
    fn only_complete_frames_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        write_frames(&path, "e", 3 * FRAME + 7);
        assert_eq!(read(&path, "e", None), 3 * FRAME);
        let length = std::fs::metadata(&path).unwrap().len();
        File::options().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
        assert_eq!(read(&path, "e", None), 2 * FRAME);
        // The truncated part is gone, and the next frame takes its position.
        let mut kept = CachedEmbeddings::new(&path, "e", 2).unwrap();
        for from in [0, FRAME, 2 * FRAME] {
            let bodies: Vec<String> = (from..from + FRAME).map(body).collect();
            let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
            assert_eq!(kept.next(&bodies).unwrap().is_some(), from < 2 * FRAME);
        }
        (2 * FRAME..3 * FRAME).for_each(|nth| kept.push(&body(nth), &[nth as f32, 0.5]).unwrap());
        drop(kept);
        assert_eq!(read(&path, "e", None), 3 * FRAME);
    }

    #[test]
    fn cache_stops_at_other_texts_encoders_or_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        write_frames(&path, "e", 3 * FRAME);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(read(&path, "e", Some(FRAME + 3)), FRAME);
        let mut damaged = whole.clone();
        damaged[whole.len() - 100] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(read(&path, "e", None), 2 * FRAME);
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(read(&path, "of another version", None), 0);
        assert_eq!(read(&path, "e", None), 0);
    }

    #[test]
    fn concurrent_and_foreign_cache_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let first = CachedEmbeddings::new(&path, "e", 2).unwrap();
        let second = CachedEmbeddings::new(&path, "e", 2).unwrap_err().to_string();
        assert!(second.contains("another program"), "{second}");
        drop(first);
        std::fs::write(&path, "my thesis, in full").unwrap();
        let error = CachedEmbeddings::new(&path, "e", 2).unwrap_err().to_string();
        assert!(error.contains("move it away"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "my thesis, in full");
    }
}
