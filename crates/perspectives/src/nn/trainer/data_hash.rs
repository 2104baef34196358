//! The hash of the data that a training learns from: a checkpoint of other data is not resumed.

use super::hex::hexadecimal;
use super::inputs::Trainer;
use crate::data::PerspectivesError;
use sha2::{Digest, Sha256};

/// SHA-256 of what is learned from, in hexadecimal: the labels, the annotators' attributes, and the embeddings (or, of an encoder
/// that learns, the texts) of the labelled texts. Other texts of the project make no difference to a training.
pub(super) fn data_hash(trainer: &Trainer<'_>) -> Result<String, PerspectivesError> {
    let mut data = Sha256::new();
    labels_into(&mut data, trainer);
    data.update((trainer.data.annotators as u64).to_le_bytes());
    let attributes =
        serde_json::to_vec(trainer.data.attributes).map_err(|e| PerspectivesError::Damaged(e.to_string()))?;
    data.update(&attributes);
    let mut texts: Vec<u32> =
        trainer.observations.iter().chain(&trainer.validation).map(|o| o.text).collect();
    texts.sort_unstable();
    texts.dedup();
    for text in texts {
        match &trainer.encoder {
            Some(encoder) => {
                let body = encoder.texts[text as usize];
                data.update((body.len() as u64).to_le_bytes());
                data.update(body.as_bytes());
            }
            None => {
                trainer.data.embeddings.row(text as usize).iter().for_each(|x| data.update(x.to_le_bytes()))
            }
        }
    }
    Ok(hexadecimal(&data.finalize()))
}

/// As checkpoints of format 1 have it: over every text of the project.
pub(super) fn data_hash_of_format_1(trainer: &Trainer<'_>) -> String {
    let mut data = Sha256::new();
    labels_into(&mut data, trainer);
    for x in &trainer.data.embeddings.rows {
        data.update(x.to_le_bytes());
    }
    for text in trainer.encoder.iter().flat_map(|encoder| encoder.texts) {
        data.update((text.len() as u64).to_le_bytes());
        data.update(text.as_bytes());
    }
    hexadecimal(&data.finalize())
}

fn labels_into(data: &mut Sha256, trainer: &Trainer<'_>) {
    for labels in [&trainer.observations, &trainer.validation] {
        data.update((labels.len() as u64).to_le_bytes());
        for o in labels {
            data.update(o.text.to_le_bytes());
            data.update(o.annotator.to_le_bytes());
            data.update(o.level.to_le_bytes());
        }
    }
}
