//! A small project for tests.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use dissensus_domain::{AnnotatorId, Answer, LabelSource, QuestionId, Scale, ScaleKind, TextId};
use dissensus_store::{NewAnnotator, NewLabel, NewQuestion, NewText, Store, StoreError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The one question of [`small`], ordinal with five levels.
pub(crate) const QUESTION: QuestionId = QuestionId(1);

/// Creates a project with a question, `texts` texts and `annotators` annotators, and leaves it
/// open.
pub(crate) fn small(path: &Path, texts: u32, annotators: u32) -> Store {
    let store = Store::create(path).unwrap();
    store
        .write(move |tx| -> Result<(), StoreError> {
            let scale = Scale::new(ScaleKind::Ordinal, ["1", "2", "3", "4", "5"]).unwrap();
            tx.add_question(&NewQuestion { name: "rude".into(), prompt: "How rude?".into(), scale })?;
            for n in 1..=texts {
                let (external_id, body) = (format!("t{n}"), format!("Comment number {n}"));
                tx.add_text(&NewText { external_id, body, ..NewText::default() })?;
            }
            for n in 1..=annotators {
                let (external_id, name) = (format!("a{n}"), format!("Person {n}"));
                tx.add_annotator(&NewAnnotator { external_id, name, ..NewAnnotator::default() })?;
            }
            Ok(())
        })
        .unwrap();
    store
}

/// A label of the question of [`small`].
pub(crate) fn label(text: u32, annotator: u32, level: u16) -> NewLabel {
    NewLabel {
        question: QUESTION,
        text: TextId(text),
        annotator: AnnotatorId(annotator),
        answer: Answer::Level(level),
        at_ms: 1_000,
        duration_ms: Some(250),
        source: LabelSource::Window,
    }
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
