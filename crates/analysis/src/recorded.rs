//! Evaluations on record: what was asked, and what came of it.

use super::Analysis;
use dissensus_domain::WorkState;
use dissensus_project::clock::now_ms;
use dissensus_project::error::WorkbenchError;
use dissensus_store::{EvaluationKind, NewEvaluation};
use serde::Serialize;

impl Analysis {
    /// Does `work` and records it in the project with what it found; a project open to read keeps no record.
    pub(super) fn recorded<T: Serialize>(
        &self,
        kind: EvaluationKind,
        configuration: serde_json::Value,
        seed: u64,
        work: impl FnOnce() -> Result<T, WorkbenchError>,
    ) -> Result<T, WorkbenchError> {
        if self.context.store.is_reader() {
            return work();
        }
        let entry = self.context.store.add_evaluation(&NewEvaluation {
            kind,
            configuration,
            seed,
            device: "cpu".to_owned(),
            started_ms: now_ms(),
        })?;
        let result = work();
        let (state, metrics) = match &result {
            Ok(found) => (WorkState::Finished, serde_json::to_value(found).ok()),
            Err(WorkbenchError::Cancelled) => (WorkState::Cancelled, None),
            Err(_) => (WorkState::Failed, None),
        };
        // What was computed, or why it failed, says more than that it could not be recorded; the record then stays "running"
        // and is interrupted when the project is opened again.
        let _ = self.context.store.finish_evaluation(entry, state, metrics, now_ms());
        result
    }
}
