//! The two files of a submission to the shared task on learning with disagreements (LeWiDi 2025):
//! `SET_test_soft.tsv` with the expected distribution of levels over each text's annotators,
//! `SET_test_pe.tsv` with the expected answer of each annotator ("perspectivist").

use crate::ExchangeError;
use dissensus_files::AtomicFile;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes both files, a line a text: its id, a tab, a list. Neither appears before
/// [`LewidiSubmission::finish`].
#[derive(Debug)]
pub struct LewidiSubmission {
    soft: AtomicFile,
    answers: AtomicFile,
}

impl LewidiSubmission {
    /// The paths of the files of the data set `set` (`CSC`, `MP`, ...), soft labels first.
    pub fn paths(folder: &Path, set: &str) -> [PathBuf; 2] {
        ["soft", "pe"].map(|task| folder.join(format!("{set}_test_{task}.tsv")))
    }

    /// Begins both files.
    ///
    /// # Errors
    /// The folder is missing or cannot be written.
    pub fn create(folder: &Path, set: &str) -> Result<Self, ExchangeError> {
        let [soft, answers] = Self::paths(folder, set);
        let create = |path: &Path| AtomicFile::create(path).map_err(|e| ExchangeError::writing(path, e));
        Ok(Self { soft: create(&soft)?, answers: create(&answers)? })
    }

    /// Adds a text: `shares` of the levels, lowest first, and the expected level of each of its annotators as
    /// a number, in the order in which the task lists them.
    pub fn write(&mut self, text_id: &str, shares: &[f64], answers: &[i64]) -> Result<(), ExchangeError> {
        line(&mut self.soft, text_id, shares)?;
        line(&mut self.answers, text_id, answers)
    }

    /// Flushes both files to disk and moves them to their paths.
    ///
    /// # Errors
    /// The disk is full or refuses. The first file may then exist without the second.
    pub fn finish(self) -> Result<(), ExchangeError> {
        for file in [self.soft, self.answers] {
            let target = file.target().to_owned();
            file.finish().map_err(|e| ExchangeError::writing(&target, e))?;
        }
        Ok(())
    }
}

fn line(file: &mut AtomicFile, text_id: &str, values: &[impl ToString]) -> Result<(), ExchangeError> {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let written = writeln!(file, "{text_id}\t[{}]", values.join(", "));
    written.map_err(|e| ExchangeError::writing(file.target(), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_submission_files_appear_atomically() {
        let folder = tempfile::tempdir().unwrap();
        let [soft, answers] = LewidiSubmission::paths(folder.path(), "CSC");
        let mut out = LewidiSubmission::create(folder.path(), "CSC").unwrap();
        out.write("1776", &[0.5, 0.5, 0.0], &[2, 1]).unwrap();
        out.write("a b", &[1.0 / 3.0, 0.0, 2.0 / 3.0], &[-5, 0, 3]).unwrap();
        assert!(!soft.exists() && !answers.exists());
        out.finish().unwrap();
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(read(&soft), "1776\t[0.5, 0.5, 0]\na b\t[0.3333333333333333, 0, 0.6666666666666666]\n");
        assert_eq!(read(&answers), "1776\t[2, 1]\na b\t[-5, 0, 3]\n");
        assert_eq!(soft.file_name().unwrap(), "CSC_test_soft.tsv");
        assert_eq!(answers.file_name().unwrap(), "CSC_test_pe.tsv");
        assert!(LewidiSubmission::create(&folder.path().join("not there"), "CSC").is_err());
    }
}
