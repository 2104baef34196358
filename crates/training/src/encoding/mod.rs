//! Encoders and embeddings: selecting and locating a project's encoder, and encoding every text.

mod active;
mod adopt;
mod cached_embeddings;
mod copy_fitting;
pub mod download;
mod embed;
mod embed_file;
mod embeddings;
mod encode;
pub mod encoders;
mod find;
mod long_texts;
mod occlusion;
mod of_project;
mod state;
mod text_encoder;
mod text_features;
mod text_file;
mod training_data;
mod version;

pub use active::ActiveEncoder;
pub use adopt::adopt_embeddings;
pub use cached_embeddings::KEPT_EMBEDDINGS;
pub use embed_file::{EmbeddedFile, embed_file};
pub use embeddings::{Basis, first_texts};
pub use encode::EncoderSwitch;
pub use encoders::{EncoderChoice, encoder_folder};
pub use text_encoder::TextEncoder;
pub use text_features::EncodedText;
#[cfg(any(test, feature = "test-hooks"))]
pub use text_features::NgramLimits;
pub use text_file::TextFileChoices;
pub use text_file::{CheckedTexts, in_order};
pub use training_data::{OtherTrainingData, SeenRows};
pub use version::Encoded;

use crate::saved_runs::SavedRuns;
use dissensus_api::Problem;
use dissensus_project::context::Context;
use dissensus_project::sync::lock;
use dissensus_stats::data::Embeddings;
use std::sync::{Arc, Mutex};

/// The encoder of a project and its embeddings.
#[derive(Clone)]
pub struct Encoding {
    context: Arc<Context>,
    saved_runs: SavedRuns,
    memory: Arc<Memory>,
}

/// State of the encoding that is not in the project file.
#[derive(Default)]
struct Memory {
    /// The embeddings in use, until they change.
    embeddings: Mutex<Option<(Arc<Embeddings>, Basis)>>,
    /// Why the last encoding ended without one for every text.
    problem: Mutex<Option<Problem>>,
    /// Texts without each of their words, encoded.
    occlusions: Mutex<occlusion::OcclusionCache>,
    /// Which texts are longer than the encoder reads at once, once they were measured.
    long_texts: Mutex<Option<long_texts::LongTextFlags>>,
    /// Maximum sizes up to which models use n-grams.
    ngram_limits: Mutex<text_features::NgramLimits>,
}

impl Encoding {
    pub fn new(context: &Arc<Context>, saved_runs: &SavedRuns) -> Self {
        Self { context: Arc::clone(context), saved_runs: saved_runs.clone(), memory: Arc::default() }
    }

    /// Replaces the limits on n-grams.
    #[cfg(any(test, feature = "test-hooks"))]
    pub fn limit_ngrams(&self, limits: text_features::NgramLimits) {
        *lock(&self.memory.ngram_limits) = limits;
        self.forget_embeddings();
    }

    /// Drops cached embeddings, which have changed.
    pub(crate) fn forget_embeddings(&self) {
        *lock(&self.memory.embeddings) = None;
    }
}
