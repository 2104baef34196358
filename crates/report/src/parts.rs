//! The parts of a session that a report uses.

use dissensus_analysis::Analysis;
use dissensus_editing::Project;
use dissensus_labelling::guideline::Guidelines;
use dissensus_project::context::Context;
use dissensus_training::encoding::Encoding;
use dissensus_training::live::LiveModels;
use dissensus_training::runs::Runs;
use dissensus_transfer::exchange::Exchange;
use dissensus_transfer::study::Study;
use std::sync::Arc;

/// Reports of a project for a paper.
#[derive(Clone)]
pub struct PaperReports {
    pub(crate) context: Arc<Context>,
    pub(crate) project: Project,
    pub(crate) encoding: Encoding,
    pub(crate) live: LiveModels,
    pub(crate) runs: Runs,
    pub(crate) analysis: Analysis,
    pub(crate) exchange: Exchange,
    pub(crate) guideline: Guidelines,
    pub(crate) study: Study,
}

/// The parts of a session that a report uses.
pub struct Parts<'a> {
    pub project: &'a Project,
    pub encoding: &'a Encoding,
    pub live: &'a LiveModels,
    pub runs: &'a Runs,
    pub analysis: &'a Analysis,
    pub exchange: &'a Exchange,
    pub guideline: &'a Guidelines,
    pub study: &'a Study,
}

impl PaperReports {
    pub fn new(context: &Arc<Context>, parts: &Parts<'_>) -> Self {
        Self {
            context: Arc::clone(context),
            project: parts.project.clone(),
            encoding: parts.encoding.clone(),
            live: parts.live.clone(),
            runs: parts.runs.clone(),
            analysis: parts.analysis.clone(),
            exchange: parts.exchange.clone(),
            guideline: parts.guideline.clone(),
            study: parts.study.clone(),
        }
    }
}
