//! Records evaluations: their choices and results.

use super::Analysis;
use dissensus_domain::WorkState;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_store::{EvaluationKind, NewEvaluation};
use serde::Serialize;

/// Runs `work` and records it in the project with its result; a project opened read-only gets no record.
pub(super) fn recorded<T: Serialize>(
    cx: &Analysis,
    kind: EvaluationKind,
    configuration: serde_json::Value,
    seed: u64,
    work: impl FnOnce() -> Result<T, ProjectError>,
) -> Result<T, ProjectError> {
    if cx.context.store.is_reader() {
        return work();
    }
    let entry = cx.context.store.add_evaluation(&NewEvaluation {
        kind,
        configuration,
        seed,
        device: "cpu".to_owned(),
        started_ms: now_ms(),
    })?;
    let result = work();
    let (state, metrics) = match &result {
        Ok(found) => (WorkState::Finished, serde_json::to_value(found).ok()),
        Err(ProjectError::Cancelled) => (WorkState::Cancelled, None),
        Err(_) => (WorkState::Failed, None),
    };
    // The result, or the reason of the failure, is more important than a failed record; the record then
    // stays "running" and counts as interrupted when the project is opened again.
    let _ = cx.context.store.finish_evaluation(entry, state, metrics, now_ms());
    result
}
