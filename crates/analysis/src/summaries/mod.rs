//! Summaries of labels as a table: one row per text, or one row per person.

mod cells;
mod people;
mod texts;

use crate::Analysis;
use crate::error::AnalysisError;
use dissensus_api::{SummaryOf, SummaryRequest, SummaryWritten};
use dissensus_domain::{JobKind, Question, QuestionId};
use dissensus_exchange::TypedTable;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Follow};
use dissensus_project::outputs::check_outputs;
use dissensus_training::live::LiveModels;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often labels are read again if some were recorded meanwhile.
const TRIES: usize = 4;

/// Reads several parts of the labels as they are at one moment.
///
/// # Errors
/// Those of `read`; labels were recorded during each of the tries.
fn at_one_moment<T>(
    context: &Context,
    read: impl Fn() -> Result<T, ProjectError>,
) -> Result<T, ProjectError> {
    for _ in 0..TRIES {
        let before = context.store.last_event()?;
        let found = read()?;
        if context.store.last_event()? == before {
            return Ok(found);
        }
    }
    Err(AnalysisError::LabelsChange.into())
}

/// Summaries of the open project.
#[derive(Clone)]
pub struct Summaries {
    context: Arc<Context>,
    live: LiveModels,
    analysis: Analysis,
}

/// The parameters of a summary, whose question, choices and file were checked.
pub struct CheckedSummary {
    request: SummaryRequest,
    question: Question,
    out: PathBuf,
    replace: bool,
}

impl CheckedSummary {
    /// The question whose model must be live ([`LiveModels::fit`]) before the table is written; none without
    /// predictions.
    pub fn predicted(&self) -> Option<QuestionId> {
        self.request.predicted.then_some(self.question.id)
    }
}

impl Summaries {
    pub fn new(context: &Arc<Context>, live: &LiveModels, analysis: &Analysis) -> Self {
        Self { context: Arc::clone(context), live: live.clone(), analysis: analysis.clone() }
    }

    /// Checks that a summary can be written, before anything is encoded or fitted for it.
    ///
    /// # Errors
    /// The open project is a packet; no such question; predictions of a question whose answers are not
    /// levels, aggregation of spans, or aggregation for people; an output file that exists already (without
    /// `replace`), is the project, or has an unsupported format.
    pub fn check(
        &self,
        request: &SummaryRequest,
        out: &Path,
        replace: bool,
    ) -> Result<CheckedSummary, ProjectError> {
        self.context.whole_project()?;
        let index = self.context.index();
        let asked = index.find_question(request.question.as_deref())?.id;
        let question = index.whole(asked)?.clone();
        let scale = &question.scale;
        let refused = |name, value: Option<&str>, allowed: &str| {
            let value = value.unwrap_or("on").to_owned();
            let allowed = format!("{allowed} (\"{}\" is answered with {})", question.name, scale.kind());
            Err(ProjectError::Setting { name, value, allowed })
        };
        let aggregate = request.aggregate.as_deref();
        if request.predicted && scale.has_options() {
            return refused("predicted", None, "questions that are answered with one level");
        }
        if request.aggregate.is_some() && request.of == SummaryOf::People {
            return refused(
                "aggregate",
                aggregate,
                "one row a text: labels are brought together to one of each text",
            );
        }
        if request.aggregate.is_some() && scale.form().marks_words() {
            return refused("aggregate", aggregate, "questions that are answered with levels or options");
        }
        TypedTable::check(out, false)?;
        check_outputs(&[out], &[self.context.store.path()], replace)?;
        Ok(CheckedSummary { request: request.clone(), question, out: out.to_owned(), replace })
    }

    /// Writes the table, of labels as they are at one moment. All predictions are by one state of the live
    /// model, which may know a label more or less; a job makes that model live first.
    ///
    /// # Errors
    /// A model that is not live if there are predictions; labels that continue to change
    /// ([`AnalysisError::LabelsChange`]); nothing to aggregate; an output file that exists by now (without
    /// `replace`); a full disk; cancellation; for a job also texts without an embedding, and an export that
    /// runs. Nothing is written then.
    pub fn write<'a>(
        &self,
        asked: &CheckedSummary,
        follow: impl Into<Follow<'a>>,
    ) -> Result<SummaryWritten, ProjectError> {
        let follow = follow.into();
        let fits = matches!(follow, Follow::Job).then(|| asked.predicted()).flatten();
        let out = &asked.out;
        let title = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let written = self.context.run_alone(Activity::Export, follow, JobKind::Export, &title, |progress| {
            if let Some(question) = fits {
                self.live.fit(question, progress)?;
            }
            match asked.request.of {
                SummaryOf::Texts => texts::write(self, asked, progress),
                SummaryOf::People => people::write(self, asked, progress),
            }
        });
        written.map_err(ProjectError::all_or_nothing)
    }
}
