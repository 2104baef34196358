//! Embeddings that were computed outside the program.

use super::active::ActiveEncoder;
use super::encoders::SelectedEncoder;
use dissensus_domain::TextId;
use dissensus_encoder::{LongTexts, Pooling, Precision};
use dissensus_project::error::ProjectError;
use dissensus_store::{EncoderVersion, Store};

/// Embeddings stored in one write.
const AT_ONCE: usize = 1_000;

/// Stores embeddings of `dim` components that were computed elsewhere, for example by a benchmark, in a
/// project that no session has open, and makes them the ones in use. `name` is the name of the encoder,
/// which is not available: texts that are added later are not encoded with it.
///
/// # Errors
/// A text that is not in the project, a row of another length, or an I/O error.
pub fn adopt_embeddings(
    store: &Store,
    name: &str,
    dim: usize,
    rows: impl IntoIterator<Item = (TextId, Vec<f32>)>,
) -> Result<(), ProjectError> {
    let (pooling, precision) = (Pooling::Mean, Precision::Fp32);
    let key = format!("{name}/adopted/{pooling}/{dim}");
    store.add_encoder_version(&EncoderVersion {
        key: key.clone(),
        name: name.to_owned(),
        weights_sha256: "0".repeat(64),
        pooling: pooling.to_string(),
        max_tokens: 1,
        dim: dim as u32,
        precision: precision.to_string(),
    })?;
    let mut rows = rows.into_iter();
    loop {
        let some: Vec<(TextId, Vec<f32>)> = rows.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            break;
        }
        store.put_embeddings(&key, &some)?;
    }
    let current = SelectedEncoder {
        key,
        encoder: name.to_owned(),
        pooling,
        precision,
        long_texts: LongTexts::Truncate,
        prompt: None,
    };
    Ok(store.set_setting(
        ActiveEncoder::KEY,
        &ActiveEncoder { current: Some(current), ..ActiveEncoder::default() },
    )?)
}
