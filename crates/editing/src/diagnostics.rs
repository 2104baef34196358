//! Sizes of the project for a bug report. They contain no text, label or name.

use super::Project;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use std::fmt::Write as _;

/// Sizes of the project and running work, one line each.
pub fn describe(cx: &Project) -> Result<String, ProjectError> {
    let context = &cx.context;
    let (index, active) = (context.index(), cx.encoding.active_encoder()?);
    let labels: u32 = context.store.annotator_counts()?.iter().map(|count| count.labels).sum();
    let encoding = cx.encoding.state()?;
    let bytes = std::fs::metadata(context.store.path()).map_or(0, |file| file.len());
    let mut lines = format!(
        "project: {} texts, {} annotators, {} questions, {labels} labels, {:.1} MB\n",
        index.texts().len(),
        index.annotators().len(),
        index.questions().len(),
        bytes as f64 / 1e6
    );
    let _ = writeln!(
        lines,
        "embeddings: {} of {}, dimension and version {}, of a run: {}",
        encoding.encoded,
        encoding.total,
        active.key().map_or("none", version_without_name),
        active.run.is_some()
    );
    for question in index.questions() {
        let state = cx.live.models.with(question.id, |fitted| (fitted.labels, fitted.model.texts()));
        let fitted = state
            .map_or("not fitted".to_owned(), |(n, texts)| format!("fitted on {n} labels, {texts} texts"));
        let _ = writeln!(lines, "question {}: {} levels, {fitted}", question.id.0, question.scale.len());
    }
    for job in context.jobs.running() {
        let _ = writeln!(lines, "at work: {} {} of {:?}", job.kind, job.done, job.total);
    }
    Ok(lines)
}

/// A version's key without the encoder's name, which can contain a private folder.
fn version_without_name(key: &str) -> &str {
    key.split_once('/').map_or("unnamed", |(_, rest)| rest)
}
