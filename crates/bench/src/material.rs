//! A file of labels as arrays, imported and encoded in a temporary folder.

use crate::error::BenchError;
use dissensus_api::ImportChoices;
use dissensus_app::session::Session;
use dissensus_editing::questions;
use dissensus_encoder::char_ngrams;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_stats::data::{Embeddings, Observation, SparseRows, Target};
use dissensus_store::{Store, body_hash};
use dissensus_training::encoding::EncoderChoice;
use dissensus_transfer::exchange;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

pub(crate) struct Material {
    pub(crate) embeddings: Embeddings,
    pub(crate) observations: Vec<Observation>,
    pub(crate) annotators: usize,
    pub(crate) target: Target,
    /// For each text, a number that it shares with texts of the same body.
    pub(crate) bodies: Vec<usize>,
}

impl Material {
    /// Imports and encodes `file`.
    pub(crate) fn new(home: &Home, file: &Path, encoder: Option<String>) -> Result<Self, BenchError> {
        let folder =
            tempfile::tempdir().map_err(BenchError::io("making a folder in", std::env::temp_dir()))?;
        let path = folder.path().join("bench.dissensus");
        let session = Session::create(&path, home)?;
        let unwatched: Arc<dyn Progress> = Arc::new(Silent);
        exchange::import(&session.exchange, file, &ImportChoices::default(), Some(&unwatched))?;
        let choice = EncoderChoice { encoder, ..EncoderChoice::default() };
        session.encoding.encode(&choice, &Silent)?;
        let question = questions::find(&session.project, None)?;
        session.close();
        let store = Store::open_reader(&path)?;
        let version = store.encoder_versions()?.pop().map(|version| version.key).unwrap_or_default();
        let found = store.embeddings(&version)?;
        let mut ngrams = SparseRows::default();
        let (mut first, mut bodies) = (HashMap::new(), Vec::with_capacity(found.texts.len()));
        for (row, body) in store.bodies(&found.texts)?.into_iter().enumerate() {
            ngrams.push(&char_ngrams(&body))?;
            bodies.push(body_hash(&body).map_or(row, |hash| *first.entry(hash).or_insert(row)));
        }
        let rows: HashMap<_, _> = found.texts.iter().enumerate().map(|(row, text)| (*text, row)).collect();
        let people: HashMap<_, _> =
            store.annotators()?.iter().enumerate().map(|(row, a)| (a.id, row)).collect();
        let observations = store.current_labels(question.id)?.into_iter().filter_map(|label| {
            let level = question.scale.index_of_answer(&label.answer)?;
            let (text, annotator) = (*rows.get(&label.text)?, *people.get(&label.annotator)?);
            Some(Observation { text: text as u32, annotator: annotator as u32, level })
        });
        Ok(Self {
            bodies,
            observations: observations.collect(),
            annotators: people.len(),
            target: Target::from_scale(&question.scale),
            embeddings: Embeddings::new(found.dim, found.values)?.with_ngrams(Arc::new(ngrams))?,
        })
    }
}
