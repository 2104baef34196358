//! How much the annotators of a question agree, one use case for every question: on each of its targets in
//! the
//! same way ([`target`]), and on whole answers by their form ([`options`], [`spans`]).

mod options;
mod spans;
mod target;

pub use options::{OptionAgreement, OptionAgreements};
pub use spans::{SpanAgreements, TypeAgreement};
pub use target::{Agreement, measure_target};
pub(crate) use target::{alpha, metric};

use crate::Analysis;
use crate::aggregation;
use dissensus_domain::{AnswerForm, Question, Scale, TargetKind};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::agreement::{Estimate, Reliability};

/// How much the annotators of a question agree.
#[derive(Clone, Debug)]
pub enum QuestionAgreement {
    Levels(Box<LevelAgreement>),
    Options(Box<OptionAgreements>),
    Spans(Box<SpanAgreements>),
}

/// Agreement on levels.
#[derive(Clone, Debug)]
pub struct LevelAgreement {
    pub agreement: Agreement,
    /// Every coefficient with its intervals.
    pub reliability: Reliability,
    kind: TargetKind,
}

impl LevelAgreement {
    /// Krippendorff's alpha under the difference that fits the scale.
    pub fn alpha(&self) -> &Estimate {
        match self.kind {
            TargetKind::Ordinal => &self.reliability.alpha_ordinal,
            TargetKind::Binary | TargetKind::Nominal => &self.reliability.alpha_nominal,
        }
    }
}

impl QuestionAgreement {
    /// Krippendorff's alpha of whole answers: of levels, of sets under the MASI distance, or of whether words
    /// are marked with any type.
    pub fn alpha(&self) -> &Estimate {
        match self {
            Self::Levels(found) => found.alpha(),
            Self::Options(found) => &found.alpha_masi,
            Self::Spans(found) => &found.any.alpha,
        }
    }
}

/// How much the annotators of a question agree.
///
/// # Errors
/// No labels, the file cannot be read, or cancellation.
pub fn measure(
    cx: &Analysis,
    question: &Question,
    progress: &dyn Progress,
) -> Result<QuestionAgreement, ProjectError> {
    Ok(match question.scale.form() {
        AnswerForm::Level => QuestionAgreement::Levels(Box::new(measure_levels(cx, question, progress)?)),
        AnswerForm::Options => {
            QuestionAgreement::Options(Box::new(options::measure(cx, question, progress)?))
        }
        AnswerForm::Spans => QuestionAgreement::Spans(Box::new(spans::measure(cx, question, progress)?)),
    })
}

fn measure_levels(
    cx: &Analysis,
    question: &Question,
    progress: &dyn Progress,
) -> Result<LevelAgreement, ProjectError> {
    let agreement = measure_target(cx, question.id)?;
    if agreement.labels == 0 {
        return Err(ProjectError::NoLabels(question.name.clone()));
    }
    let reliability = aggregation::estimate_reliability(cx, question.id, progress)?;
    Ok(LevelAgreement { agreement, reliability, kind: question.scale.target() })
}

/// What [`QuestionAgreement::alpha`] compares.
pub(crate) fn compared(scale: &Scale) -> &'static str {
    match scale.form() {
        AnswerForm::Level => metric(scale.target()),
        AnswerForm::Options => "MASI",
        AnswerForm::Spans => "words",
    }
}
