//! What a tuned encoder was itself trained on, so that nothing is scored with it as if it were unseen.
//!
//! Kept in the project under the SHA-256 of the encoder's weights: it holds for every pooling and precision of them, wherever
//! their files are moved, and it stays when the run that tuned them is deleted.

use super::Encoding;
use crate::context::Index;
use crate::error::WorkbenchError;
use dissensus_domain::{AnnotatorId, TextId};
use dissensus_encoder::{Encoder, EncoderOptions};
use dissensus_perspectives::SeenByEncoder;
use dissensus_store::{RunId, RunPart};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// Texts and annotators whose labels trained or validated an encoder, or the encoder that its tuning began with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct TrainingData {
    texts: BTreeSet<TextId>,
    annotators: BTreeSet<AnnotatorId>,
}

/// The same as rows of the arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    texts: Vec<bool>,
    annotators: Vec<bool>,
}

impl Seen {
    /// As splits take it.
    pub(crate) fn rows(&self) -> SeenByEncoder<'_> {
        SeenByEncoder { texts: &self.texts, annotators: &self.annotators }
    }

    /// What to say beside a figure; `None` where nothing was left out.
    pub(crate) fn note(left_out: usize) -> Option<String> {
        let texts = if left_out == 1 { "1 text is".to_owned() } else { format!("{left_out} texts are") };
        (left_out > 0)
            .then(|| format!("{texts} left out of the test: the encoder was tuned on their labels."))
    }
}

fn key(weights_sha256: &str) -> String {
    format!("encoder_training_data:{weights_sha256}")
}

impl Encoding {
    /// Keeps what the encoder in `dir` was trained on: the training and validation labels of `run`, and what the encoder version
    /// `parent`, with which its tuning began, was trained on.
    pub(crate) fn keep_encoder_training_data(
        &self,
        run: RunId,
        dir: &Path,
        parent: Option<&str>,
    ) -> Result<(), WorkbenchError> {
        let encoder = Encoder::open(dir, &EncoderOptions::default())?;
        let key = key(&encoder.version().weights_sha256);
        let mut data: TrainingData = self.training_data(parent)?.unwrap_or_default();
        for part in [RunPart::Train, RunPart::Validation] {
            for label in self.context.store.run_labels(run, part)?.labels {
                data.texts.insert(label.text);
                data.annotators.insert(label.annotator);
            }
        }
        let known: Option<TrainingData> = self.context.store.setting(&key)?;
        if known.as_ref() != Some(&data) {
            // Two runs can come to the same weights (with a learning rate of 0, say): what either saw counts.
            if let Some(known) = known {
                data.texts.extend(known.texts);
                data.annotators.extend(known.annotators);
            }
            self.context.store.set_setting(&key, &data)?;
        }
        Ok(())
    }

    /// What the encoder in use was trained on in this project, for the texts and annotators of `index`.
    pub(crate) fn seen_by_encoder(&self, index: &Index) -> Result<Seen, WorkbenchError> {
        self.seen_by(self.active_encoder()?.key(), index)
    }

    /// As [`Encoding::seen_by_encoder`], of the encoder version `version`.
    pub(crate) fn seen_by(&self, version: Option<&str>, index: &Index) -> Result<Seen, WorkbenchError> {
        let Some(data) = self.training_data(version)? else { return Ok(Seen::default()) };
        Ok(Seen {
            texts: index.texts().iter().map(|text| data.texts.contains(text)).collect(),
            annotators: index.annotators().iter().map(|a| data.annotators.contains(&a.id)).collect(),
        })
    }

    fn training_data(&self, version: Option<&str>) -> Result<Option<TrainingData>, WorkbenchError> {
        let Some(version) = version else { return Ok(None) };
        let found = self.context.store.encoder_versions()?.into_iter().find(|known| known.key == version);
        let Some(found) = found else { return Ok(None) };
        Ok(self.context.store.setting(&key(&found.weights_sha256))?)
    }
}
