//! Progress of the embeddings.

use super::Encoding;
use dissensus_api::{EncodingState, Problem};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;

impl Encoding {
    /// How many texts have an embedding, and what is missing.
    pub fn state(&self) -> Result<EncodingState, ProjectError> {
        let chosen = self.chosen()?;
        let total = self.context.index().texts().len() as u32;
        let encoded = match &chosen {
            Some(chosen) => self.context.store.embedding_count(&chosen.key)?,
            None => 0,
        };
        let missing = || self.find_encoder(None, chosen.as_ref()).err().map(|error| error.problem());
        let problem = if encoded < total { missing().or_else(|| self.problem()) } else { None };
        Ok(EncodingState { version: chosen.as_ref().map(|c| c.key.clone()), encoded, total, problem })
    }

    pub(crate) fn note_problem(&self, problem: Option<Problem>) {
        let problem = problem.filter(|problem| problem.code != "cancelled");
        *lock(&self.memory.problem) = problem;
    }

    fn problem(&self) -> Option<Problem> {
        lock(&self.memory.problem).clone()
    }
}
