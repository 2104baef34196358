//! Lists of the project's texts: filtered, searched, sorted, a part at a time.

mod contested;
mod find;
mod ordered;
mod row;
mod states;

use contested::ContestedCache;
use dissensus_api::LongTextsInfo;
use dissensus_domain::JobKind;
use dissensus_labelling::Labelling;
use dissensus_labelling::practice::Practice;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Follow;
use dissensus_training::encoding::Encoding;
use ordered::Lists;
use std::sync::Arc;

/// Lists of texts of the open project.
#[derive(Clone)]
pub struct Texts {
    context: Arc<Context>,
    encoding: Encoding,
    labelling: Labelling,
    practice: Practice,
    lists: Arc<Lists>,
    contested: Arc<ContestedCache>,
}

impl Texts {
    pub fn new(
        context: &Arc<Context>,
        encoding: &Encoding,
        labelling: &Labelling,
        practice: &Practice,
    ) -> Self {
        Self {
            context: Arc::clone(context),
            encoding: encoding.clone(),
            labelling: labelling.clone(),
            practice: practice.clone(),
            lists: Arc::default(),
            contested: Arc::default(),
        }
    }

    /// Finds which texts are longer than the encoder reads at once; the result is cached until the encoder
    /// changes or texts are added.
    ///
    /// # Errors
    /// There is no encoder, the file cannot be read, a text cannot be tokenized, or cancellation.
    pub fn measure_long<'a>(&self, follow: impl Into<Follow<'a>>) -> Result<LongTextsInfo, ProjectError> {
        self.context.whole_project()?;
        self.context
            .run(follow, JobKind::LongTexts, "", |progress| self.encoding.measure_long_texts(progress))
    }
}
