//! Hash of the training data: a checkpoint of other data is not resumed.

use super::hex::hexadecimal;
use super::inputs::Trainer;
use dissensus_models::spans::SpanAnswer;
use dissensus_stats::data::{ModelError, Observation, TrainingData};
use sha2::{Digest, Sha256};

/// Computes the SHA-256 of the training data, in hexadecimal: the labels, the annotators' attributes, and
/// the embeddings (or, for a tuned encoder, the texts) of the labelled texts. Other texts of the project
/// have no effect on a training run.
pub(super) fn data_hash(trainer: &Trainer<'_>) -> Result<String, ModelError> {
    let mut data = Sha256::new();
    for (nth, own) in trainer.own.iter().enumerate() {
        for labels in [&own.observations, &own.validation] {
            labels_into(&mut data, labels);
        }
        annotators_into(&mut data, &own.data)?;
        if nth > 0 {
            data.update((own.data.target.levels as u64).to_le_bytes());
        }
        if trainer.own.len() > 1 {
            data.update(own.weight.to_le_bytes());
        }
        if let Some(held) = &own.held {
            data.update(held.sha256()?);
        }
    }
    let labels = trainer.own.iter().flat_map(|own| own.observations.iter().chain(&own.validation));
    let mut texts: Vec<u32> = labels.map(|o| o.text).collect();
    for words in &trainer.words {
        for answers in [words.answers, words.validation] {
            marks_into(&mut data, answers);
            texts.extend(answers.iter().map(|answer| answer.text));
        }
        data.update((words.annotators as u64).to_le_bytes());
        data.update((words.types as u64).to_le_bytes());
        data.update(words.weight.to_le_bytes());
    }
    texts.sort_unstable();
    texts.dedup();
    for text in texts {
        match &trainer.encoder {
            Some(encoder) => body_into(&mut data, encoder.texts[text as usize]),
            None => {
                let row = trainer.own[0].data.embeddings.row(text as usize);
                row.iter().for_each(|x| data.update(x.to_le_bytes()));
            }
        }
    }
    for other in &trainer.auxiliary {
        labels_into(&mut data, &other.observations);
        annotators_into(&mut data, &other.data())?;
        other.task.texts.iter().for_each(|body| body_into(&mut data, body));
    }
    Ok(hexadecimal(&data.finalize()))
}

/// The hash in checkpoints of format 1: over every text of the project.
pub(super) fn data_hash_of_format_1(trainer: &Trainer<'_>) -> String {
    let mut data = Sha256::new();
    let own = &trainer.own[0];
    for labels in [&own.observations, &own.validation] {
        labels_into(&mut data, labels);
    }
    for x in &own.data.embeddings.rows {
        data.update(x.to_le_bytes());
    }
    trainer.encoder.iter().flat_map(|encoder| encoder.texts).for_each(|body| body_into(&mut data, body));
    hexadecimal(&data.finalize())
}

fn labels_into(data: &mut Sha256, labels: &[Observation]) {
    data.update((labels.len() as u64).to_le_bytes());
    for o in labels {
        data.update(o.text.to_le_bytes());
        data.update(o.annotator.to_le_bytes());
        data.update(o.level.to_le_bytes());
    }
}

fn marks_into(data: &mut Sha256, answers: &[SpanAnswer]) {
    data.update((answers.len() as u64).to_le_bytes());
    for answer in answers {
        data.update(answer.text.to_le_bytes());
        data.update(answer.annotator.to_le_bytes());
        data.update((answer.marks.len() as u64).to_le_bytes());
        for (word, bits) in &answer.marks {
            data.update(word.to_le_bytes());
            data.update(bits.to_le_bytes());
        }
    }
}

fn annotators_into(data: &mut Sha256, of: &TrainingData<'_>) -> Result<(), ModelError> {
    data.update((of.annotators as u64).to_le_bytes());
    let attributes = serde_json::to_vec(of.attributes).map_err(|e| ModelError::Damaged(e.to_string()))?;
    data.update(&attributes);
    Ok(())
}

fn body_into(data: &mut Sha256, body: &str) {
    data.update((body.len() as u64).to_le_bytes());
    data.update(body.as_bytes());
}
