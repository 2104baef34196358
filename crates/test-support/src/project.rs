//! Builds small projects for tests.

use dissensus_domain::{AnnotatorId, Answer, LabelSource, QuestionId, Scale, ScaleKind, TextId};
use dissensus_store::{NewAnnotator, NewLabel, NewQuestion, NewText, Store, StoreError};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A project to write: its questions, texts and annotators get the rows 1, 2, … in the order of the calls.
///
/// ```
/// use dissensus_test_support::TestProject;
///
/// let project = TestProject::new()
///     .ordinal("rude", ["no", "a bit", "very"])
///     .texts(20)
///     .annotators(["ada", "ben"])
///     .labels([(1, 1, 2), (1, 2, 0)])
///     .open();
/// assert_eq!(project.store.counts().unwrap().texts, 20);
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct TestProject {
    questions: Vec<NewQuestion>,
    texts: Vec<NewText>,
    annotators: Vec<NewAnnotator>,
    labels: Vec<NewLabel>,
}

/// A project in a folder of its own, which is removed with it.
#[derive(Debug)]
pub struct OpenProject {
    pub store: Store,
    pub folder: TempDir,
}

impl OpenProject {
    /// Path of the project's file.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("p.dissensus")
    }
}

impl TestProject {
    /// A project with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a question, whose text is `How NAME?`.
    pub fn question<L: AsRef<str>>(
        mut self,
        name: &str,
        kind: ScaleKind,
        levels: impl IntoIterator<Item = L>,
    ) -> Self {
        let scale = Scale::new(kind, levels).unwrap();
        self.questions.push(NewQuestion { name: name.to_owned(), prompt: format!("How {name}?"), scale });
        self
    }

    /// Adds a question with ordered levels, lowest first.
    pub fn ordinal<L: AsRef<str>>(self, name: &str, levels: impl IntoIterator<Item = L>) -> Self {
        self.question(name, ScaleKind::Ordinal, levels)
    }

    /// Adds a question with two levels.
    pub fn binary(self, name: &str, levels: [&str; 2]) -> Self {
        self.question(name, ScaleKind::Binary, levels)
    }

    /// Adds a text.
    pub fn text(mut self, external_id: &str, body: &str) -> Self {
        let (external_id, body) = (external_id.to_owned(), body.to_owned());
        self.texts.push(NewText { external_id, body, ..NewText::default() });
        self
    }

    /// Adds the texts `t1`, `t2`, …
    pub fn texts(self, count: u32) -> Self {
        self.texts_with(count, |n| format!("Comment number {n}"))
    }

    /// Adds the texts `t1`, `t2`, … with these bodies.
    pub fn texts_with(self, count: u32, body: impl Fn(u32) -> String) -> Self {
        (1..=count).fold(self, |project, n| project.text(&format!("t{n}"), &body(n)))
    }

    /// Adds annotators, whose names are their ids too.
    pub fn annotators<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.annotators.extend(names.into_iter().map(|name| {
            let name = name.into();
            NewAnnotator { external_id: name.clone(), name, ..NewAnnotator::default() }
        }));
        self
    }

    /// Adds the annotators `a1`, `a2`, … with the names `Person 1`, `Person 2`, …
    pub fn people(mut self, count: u32) -> Self {
        self.annotators.extend((1..=count).map(|n| {
            let (external_id, name) = (format!("a{n}"), format!("Person {n}"));
            NewAnnotator { external_id, name, ..NewAnnotator::default() }
        }));
        self
    }

    /// Adds labels of the last question: text, annotator, level, the first two counted from 1.
    pub fn labels(self, labels: impl IntoIterator<Item = (u32, u32, u16)>) -> Self {
        self.answers(
            labels.into_iter().map(|(text, annotator, level)| (text, annotator, Answer::from_level(level))),
        )
    }

    /// Adds answers to the last question: text, annotator, answer, the first two counted from 1.
    pub fn answers(mut self, answers: impl IntoIterator<Item = (u32, u32, Answer)>) -> Self {
        let question = QuestionId(self.questions.len() as u32);
        self.labels.extend(answers.into_iter().map(|(text, annotator, answer)| NewLabel {
            question,
            text: TextId(text),
            annotator: AnnotatorId(annotator),
            answer,
            at_ms: 1_000,
            duration_ms: None,
            source: LabelSource::Window,
        }));
        self
    }

    /// Creates the file and leaves it open.
    ///
    /// # Panics
    /// The file exists, or something is in the project twice.
    pub fn create(self, path: &Path) -> Store {
        let store = Store::create(path).unwrap();
        store
            .write(move |tx| -> Result<(), StoreError> {
                for question in &self.questions {
                    tx.add_question(question)?;
                }
                for text in &self.texts {
                    tx.add_text(text)?;
                }
                for annotator in &self.annotators {
                    tx.add_annotator(annotator)?;
                }
                for label in &self.labels {
                    tx.add_label(label)?;
                }
                Ok(())
            })
            .unwrap();
        store
    }

    /// Creates the project in a temporary folder.
    ///
    /// # Panics
    /// See [`TestProject::create`].
    pub fn open(self) -> OpenProject {
        let folder = tempfile::tempdir().unwrap();
        let store = self.create(&folder.path().join("p.dissensus"));
        OpenProject { store, folder }
    }
}
