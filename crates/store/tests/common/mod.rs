//! A small project for tests.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use dissensus_domain::{AnnotatorId, Answer, LabelSource, Progress, QuestionId, Silent, TextId};
use dissensus_store::{MergedCounts, NewLabel, Store};
use dissensus_test_support::TestProject;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The one question of [`small`], ordinal with five levels.
pub(crate) const QUESTION: QuestionId = QuestionId(1);

/// Creates a project with a question, `texts` texts and `annotators` annotators, and leaves it open.
pub(crate) fn small(path: &Path, texts: u32, annotators: u32) -> Store {
    TestProject::new().ordinal("rude", ["1", "2", "3", "4", "5"]).texts(texts).people(annotators).create(path)
}

/// A label of the question of [`small`].
pub(crate) fn label(text: u32, annotator: u32, level: u16) -> NewLabel {
    NewLabel {
        question: QUESTION,
        text: TextId(text),
        annotator: AnnotatorId(annotator),
        answer: Answer::from_level(level),
        at_ms: 1_000,
        duration_ms: Some(250),
        source: LabelSource::Window,
    }
}

/// The progress of an opening that nobody follows.
pub(crate) fn unwatched() -> Arc<dyn Progress> {
    Arc::new(Silent)
}

/// Copies the file of a project that no program has open.
pub(crate) fn copied(path: &Path, name: &str) -> PathBuf {
    let copy = path.with_file_name(name);
    std::fs::copy(path, &copy).unwrap();
    copy
}

/// Merges one file into another, and closes both.
pub(crate) fn merge_from(into: &Path, from: &Path) -> MergedCounts {
    let (into, from) = (Store::open(into).unwrap(), Store::open_reader(from).unwrap());
    let report = into.merge_from(&from).unwrap();
    from.close().unwrap();
    into.close().unwrap();
    report
}

/// Everything about a folder that a failed opening must leave unchanged: names, sizes, times and
/// hashes of its files.
pub(crate) fn state_of(folder: &Path) -> Vec<(PathBuf, u64, SystemTime, u64)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let about = std::fs::metadata(&path).unwrap();
            let bytes = if about.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            (path, about.len(), about.modified().unwrap(), hasher.finish())
        })
        .collect();
    files.sort();
    files
}
