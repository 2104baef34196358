//! Which texts are longer than the encoder reads at once.

use super::Encoding;
use super::encoders::EncoderChoice;
use dissensus_api::LongTextsInfo;
use dissensus_encoder::{Encoder, LongTexts};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::sync::lock;
use std::sync::Arc;

/// Texts read at a time; a text may be long.
const PAGE: usize = 64;
/// Tokens that a tokenizer adds to those of the text: special ones, and a sign for the space before it.
const ADDED: usize = 8;

/// The result of measuring the texts.
pub(super) struct LongTextFlags {
    key: String,
    long: Arc<Vec<bool>>,
}

impl Encoding {
    /// Whether each text of the index is longer than the encoder reads at once; none before they were
    /// measured, or if the encoder or the texts have changed since.
    pub fn long_texts(&self) -> Result<Option<Arc<Vec<bool>>>, ProjectError> {
        let known = lock(&self.memory.long_texts).as_ref().map(|m| (m.key.clone(), Arc::clone(&m.long)));
        let Some((key, long)) = known else { return Ok(None) };
        let same = self.chosen()?.is_none_or(|chosen| chosen.key == key);
        Ok((same && long.len() == self.context.index().texts().len()).then_some(long))
    }

    /// Measures every text with the tokenizer of the encoder in use, or of the one that would be used first.
    pub fn measure_long_texts(&self, progress: &dyn Progress) -> Result<LongTextsInfo, ProjectError> {
        let chosen = self.chosen()?;
        let (encoder, selected, _) =
            self.open_encoder(&EncoderChoice::default(), chosen.as_ref(), progress)?;
        let index = self.context.index();
        let texts = index.texts();
        let mut long = Vec::with_capacity(texts.len());
        for page in texts.chunks(PAGE) {
            if progress.cancelled() {
                return Err(ProjectError::Cancelled);
            }
            progress.report(long.len() as u64, Some(texts.len() as u64), "");
            long.extend(are_long(&encoder, &self.context.store.bodies(page)?)?);
        }
        let version = encoder.version();
        let info = LongTextsInfo {
            encoder: version.name.clone(),
            tokens: version.max_tokens as u32,
            long: long.iter().filter(|long| **long).count() as u32,
            in_parts: version.long_texts == LongTexts::Average,
        };
        *lock(&self.memory.long_texts) = Some(LongTextFlags { key: selected.key, long: Arc::new(long) });
        Ok(info)
    }
}

/// Whether each text is long. Texts with so few ASCII characters that they cannot be long are not tokenized:
/// a token covers at least one of them.
fn are_long(encoder: &Encoder, bodies: &[String]) -> Result<Vec<bool>, ProjectError> {
    let version = encoder.version();
    let prompt = version.prompt.as_deref().map_or(0, str::len);
    let may_be = |body: &String| !body.is_ascii() || body.len() + prompt + ADDED > version.max_tokens;
    let asked: Vec<&str> = bodies.iter().filter(|body| may_be(body)).map(String::as_str).collect();
    let mut reported = encoder.are_long(&asked)?.into_iter();
    Ok(bodies.iter().map(|body| may_be(body) && reported.next().unwrap_or(false)).collect())
}
