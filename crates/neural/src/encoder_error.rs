//! Converts errors of the encoder into errors of a model.

use dissensus_encoder::EncoderError;
use dissensus_stats::data::ModelError;

/// Joins the messages of an error and its sources, the first line of each.
pub(crate) fn encoder_error(error: EncoderError) -> ModelError {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(inner.to_string().lines().next().unwrap_or_default());
        source = inner.source();
    }
    ModelError::Encoder(text)
}
