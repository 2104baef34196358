//! Combines the figures of all engines that ran.

use super::field::Field;
use super::report::{EncodeBench, EncodeMemory, EngineSpeed};
use super::turns::{Lap, Laps, cosines};
use crate::error::BenchError;
use crate::figures::median;

/// The engine that all embeddings are compared with, if it runs.
const REFERENCE: &str = "sentence-transformers";

/// Combines the figures of all engines that ran.
pub(super) fn made(
    field: &Field<'_>,
    laps: &Laps,
    texts: usize,
    rounds: usize,
    memory: Option<EncodeMemory>,
) -> Result<EncodeBench, BenchError> {
    let ran = |name: &str| field.entrants.iter().find(|entrant| entrant.engine == name);
    let reference = ran(REFERENCE).or(field.entrants.first()).map_or(REFERENCE, |entrant| entrant.engine);
    let near = cosines(laps, reference, texts)?;
    let lap = |name: &str| ran(name).and_then(|entrant| laps.get(entrant.engine));
    let (sentences, onnx) = (lap(REFERENCE), lap("onnxruntime fp32"));
    let engines = field.entrants.iter().filter_map(|entrant| {
        let own = laps.get(entrant.engine)?;
        let faster_than = |other: Option<&Lap>| other.map(|other| other.seconds / own.seconds);
        let latency_ms = median(&own.latencies_ms);
        Some(EngineSpeed {
            engine: entrant.engine,
            tokens_per_second: field.subject.tokens as f64 / own.seconds,
            texts_per_second: texts as f64 / own.seconds,
            over_sentence_transformers: faster_than(sentences),
            over_onnxruntime: faster_than(onnx),
            worst_cosine: near.get(entrant.engine).map(|near| near.worst),
            mean_cosine: near.get(entrant.engine).map(|near| near.mean),
            peak_mib: own.peak_mib,
            latency_ms,
            latency_over_onnxruntime: onnx
                .and_then(|onnx| median(&onnx.latencies_ms))
                .zip(latency_ms)
                .map(|(theirs, ours)| ours / theirs),
        })
    });
    Ok(EncodeBench {
        texts,
        tokens: field.subject.tokens,
        threads: field.subject.threads,
        rounds,
        reference,
        latency_tokens: field.subject.latency_tokens,
        engines: engines.collect(),
        missing: field.missing.clone(),
        memory,
    })
}
