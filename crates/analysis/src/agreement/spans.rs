//! Agreement on which words are marked, and on where spans begin and end.

use super::target;
use crate::Analysis;
use dissensus_domain::{Answer, Question, SpanSet, TextId};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::text_words::{marked_words, words};
use dissensus_stats::agreement::{
    MarkedUnits, MarkedWords, Unitizing, WordAgreement, unitizing_alpha, word_agreement,
};
use dissensus_stats::metrics::BootstrapOptions;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Number of bodies read at a time; a text may be long.
const PAGE: usize = 64;

/// Agreement on the spans of a question. A word (Unicode text segmentation, UAX 29) is marked if a span
/// covers one of its characters.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanAgreements {
    pub question: String,
    /// Number of answers, including answers without a span.
    pub labels: u32,
    /// Annotators with answers.
    pub annotators: u32,
    /// Texts with answers.
    pub texts: u32,
    /// Agreement on words marked with any type.
    pub any: WordAgreement,
    /// Krippendorff's unitizing alpha of the positions of spans, computed by type and then combined.
    pub unitizing: Unitizing,
    /// The same if all spans were of one type, with overlapping spans merged.
    pub any_unitizing: Unitizing,
    /// Agreement on each type.
    pub types: Vec<TypeAgreement>,
}

/// Agreement on one type of spans.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypeAgreement {
    /// The type.
    #[serde(rename = "type")]
    pub name: String,
    /// Share of the answers with a span of this type; none without answers.
    pub chosen: Option<f64>,
    /// Krippendorff's alpha of whether a text has any span of this type, as `agreement` computes it for the
    /// type as a question.
    pub alpha_of_texts: Option<f64>,
    /// Krippendorff's unitizing alpha of the positions of its spans, in characters.
    pub unitizing: Unitizing,
    #[serde(flatten)]
    pub words: WordAgreement,
}

/// How much annotators agree on the words that they mark and on the positions of spans, for each type
/// and for all together.
pub(super) fn measure(
    cx: &Analysis,
    question: &Question,
    progress: &dyn Progress,
) -> Result<SpanAgreements, ProjectError> {
    let labels = cx.context.store.current_labels(question.id)?;
    if labels.is_empty() {
        return Err(ProjectError::NoLabels(question.name.clone()));
    }
    let mut by_text: BTreeMap<TextId, Vec<(u32, &SpanSet)>> = BTreeMap::new();
    for label in &labels {
        if let Answer::Spans(spans) = &label.answer {
            by_text.entry(label.text).or_default().push((label.annotator.0, spans));
        }
    }
    let types = question.scale.len();
    // For each type, and last for any.
    let mut marks: Vec<Vec<MarkedWords>> = vec![Vec::new(); types + 1];
    let mut units: Vec<Vec<MarkedUnits>> = vec![Vec::new(); types + 1];
    let texts: Vec<TextId> = by_text.keys().copied().collect();
    for page in texts.chunks(PAGE) {
        for (text, body) in page.iter().zip(cx.context.store.bodies(page)?) {
            let words = words(&body);
            let length = body.chars().count() as u32;
            for (annotator, spans) in &by_text[text] {
                for (kind, (marks, units)) in marks.iter_mut().zip(&mut units).enumerate() {
                    let kind = question.scale.id_at(kind);
                    let marked = marked_words(&words, spans, kind);
                    marks.push(MarkedWords {
                        text: text.0,
                        annotator: *annotator,
                        words: words.len() as u32,
                        marked,
                    });
                    let of_kind = spans.as_slice().iter().filter(|span| kind.is_none_or(|k| span.kind == k));
                    let passages = of_kind.map(|span| (span.start, span.end)).collect();
                    units.push(MarkedUnits { text: text.0, length, units: passages });
                }
            }
        }
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
    }
    let options = BootstrapOptions::default();
    let of = |marks: &[MarkedWords]| word_agreement(marks, Some(&options), progress);
    let mut found = Vec::with_capacity(types);
    let marked = marks.iter().zip(&units);
    for (target, (marks, units)) in target::measure_targets(cx, question)?.into_iter().zip(marked) {
        found.push(TypeAgreement {
            name: target.name,
            chosen: target.chosen,
            alpha_of_texts: target.agreement.alpha,
            unitizing: unitizing_alpha(units)?,
            words: of(marks)?,
        });
    }
    let annotators: BTreeSet<_> = labels.iter().map(|label| label.annotator).collect();
    Ok(SpanAgreements {
        question: question.name.clone(),
        labels: labels.len() as u32,
        annotators: annotators.len() as u32,
        texts: texts.len() as u32,
        any: of(&marks[types])?,
        unitizing: Unitizing::together(found.iter().map(|one| &one.unitizing)),
        any_unitizing: unitizing_alpha(&units[types])?,
        types: found,
    })
}
