//! Data of a question for training or evaluation, from one snapshot.

use super::Context;
use crate::error::ProjectError;
use dissensus_domain::{Annotator, AnnotatorId, Answer, CurrentLabel, Question, SpanSet, Split, TextId};
use dissensus_selection::evaluation::{SplitColumns, SplitSpec};
use dissensus_stats::data::{Attribute, Embeddings, Observation, Target, TrainingData};
use dissensus_store::QuestionSnapshot;
use std::collections::{BTreeMap, BTreeSet};

/// The data of a question in the form that models use, from one snapshot.
pub struct QuestionData {
    pub question: Question,
    pub observations: Vec<Observation>,
    pub attributes: Vec<Attribute>,
    /// Annotators, by row.
    pub annotators: Vec<AnnotatorId>,
    pub texts: Vec<TextId>,
    pub parts: Vec<Option<Split>>,
    pub groups: Vec<Option<u32>>,
    /// For each text the row of the first one with the same body.
    pub copies: Vec<u32>,
}

/// The spans of one answer.
#[derive(Clone, Debug)]
pub struct SpanLabel {
    /// Row of the text.
    pub text: u32,
    pub annotator: u32,
    pub spans: SpanSet,
}

impl QuestionData {
    pub fn data<'a>(&'a self, embeddings: &'a Embeddings) -> TrainingData<'a> {
        TrainingData {
            embeddings,
            observations: &self.observations,
            annotators: self.annotators.len(),
            target: self.target(),
            attributes: &self.attributes,
        }
    }

    pub fn target(&self) -> Target {
        Target::from_scale(&self.question.scale)
    }

    pub fn columns(&self) -> SplitColumns<'_> {
        SplitColumns {
            parts: &self.parts,
            groups: &self.groups,
            copies: &self.copies,
            ..SplitColumns::default()
        }
    }

    /// The unit that a text is held out with: its group, or the texts with the same body.
    pub fn unit(&self, text: u32) -> u32 {
        match self.groups.get(text as usize).copied().flatten() {
            // Rows of texts come first.
            Some(group) => self.copies.len() as u32 + group,
            None => self.copies.get(text as usize).copied().unwrap_or(text),
        }
    }

    /// Number of texts with a label.
    pub fn labelled_texts(&self) -> usize {
        self.observations.iter().map(|o| o.text).collect::<BTreeSet<_>>().len()
    }

    /// Checks that the official split, or groups of texts, exist if they are requested.
    pub fn check_split(&self, split: SplitSpec) -> Result<(), ProjectError> {
        if matches!(split, SplitSpec::Grouped(_)) && self.groups.iter().all(Option::is_none) {
            return Err(ProjectError::NoGroups(split.name()));
        }
        if split != SplitSpec::Column {
            return Ok(());
        }
        let missing = [(Split::Train, "train"), (Split::Test, "test")]
            .into_iter()
            .find(|(part, _)| !self.parts.contains(&Some(*part)));
        missing.map_or(Ok(()), |(_, name)| Err(ProjectError::EmptySplit(name)))
    }

    /// The official split if the project has one, else by text.
    pub fn usual_split(&self) -> SplitSpec {
        let official = [Split::Train, Split::Test].iter().all(|part| self.parts.contains(&Some(*part)));
        if official { SplitSpec::Column } else { SplitSpec::ByText(0.7) }
    }
}

impl Context {
    /// Labels, texts and annotators of a question, read from one snapshot: a concurrent import is in all of
    /// them or in none.
    pub fn question_data(&self, question: &Question) -> Result<QuestionData, ProjectError> {
        self.question_data_of(question, false)
    }

    /// Like [`Context::question_data`], with or without labels that were decided to be slips.
    pub fn question_data_of(
        &self,
        question: &Question,
        without_slips: bool,
    ) -> Result<QuestionData, ProjectError> {
        self.index().with_levels(question.id)?;
        let snapshot = self.snapshot_of(question.id, without_slips)?;
        data_of_snapshot(snapshot, vec![question.clone()])?.pop().ok_or(ProjectError::NoQuestion)
    }

    /// The same for the units that models learn for a question: each of its options, in their order, with
    /// the same answers in the same order, or the question itself.
    pub fn learned_data(&self, question: &Question) -> Result<Vec<QuestionData>, ProjectError> {
        self.learned_data_of(question, false)
    }

    /// Like [`Context::learned_data`], with or without labels that were decided to be slips.
    pub fn learned_data_of(
        &self,
        question: &Question,
        without_slips: bool,
    ) -> Result<Vec<QuestionData>, ProjectError> {
        let options = question.options();
        let asked = if options.is_empty() { vec![question.clone()] } else { options };
        data_of_snapshot(self.snapshot_of(question.id, without_slips)?, asked)
    }

    /// The types of a question with spans as questions, and the spans of its answers, from one snapshot.
    pub fn span_data(
        &self,
        question: &Question,
    ) -> Result<(Vec<QuestionData>, Vec<SpanLabel>), ProjectError> {
        self.span_data_of(question, false)
    }

    /// Like [`Context::span_data`], with or without labels that were decided to be slips.
    pub fn span_data_of(
        &self,
        question: &Question,
        without_slips: bool,
    ) -> Result<(Vec<QuestionData>, Vec<SpanLabel>), ProjectError> {
        let snapshot = self.snapshot_of(question.id, without_slips)?;
        let row_of = |label: &CurrentLabel| {
            let text = snapshot.texts.binary_search_by_key(&label.text, |text| text.id).ok()?;
            let annotator = snapshot.annotators.binary_search_by_key(&label.annotator, |a| a.id).ok()?;
            let Answer::Spans(spans) = &label.answer else { return None };
            Some(SpanLabel { text: text as u32, annotator: annotator as u32, spans: spans.clone() })
        };
        let labels = snapshot.labels.iter().filter_map(row_of).collect();
        Ok((data_of_snapshot(snapshot, question.options())?, labels))
    }

    /// All bodies, in the order of the rows.
    pub fn bodies(&self) -> Result<Vec<String>, ProjectError> {
        let mut bodies = Vec::with_capacity(self.index().texts().len());
        self.store.for_each_text(|text| {
            bodies.push(text.body);
            Ok::<(), ProjectError>(())
        })?;
        Ok(bodies)
    }
}

/// Data of the questions `asked`, which the labels of a snapshot answer.
fn data_of_snapshot(
    snapshot: QuestionSnapshot,
    asked: Vec<Question>,
) -> Result<Vec<QuestionData>, ProjectError> {
    let texts: Vec<TextId> = snapshot.texts.iter().map(|text| text.id).collect();
    let annotators: Vec<AnnotatorId> = snapshot.annotators.iter().map(|a| a.id).collect();
    let attributes = attributes(&snapshot.annotators);
    let observation = |asked: &Question, label: &CurrentLabel| {
        Some(Observation {
            text: texts.binary_search(&label.text).ok()? as u32,
            annotator: annotators.binary_search(&label.annotator).ok()? as u32,
            level: asked.scale.index_of_answer(&label.answer.clone().to(asked.id))?,
        })
    };
    let (mut parts, mut groups, mut copies) = (Vec::new(), Vec::new(), Vec::new());
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for text in snapshot.texts {
        copies.push(text.first_with_body);
        parts.push(text.split.as_deref().and_then(Split::from_name));
        groups.push(text.group.map(|name| {
            let next = names.len() as u32;
            *names.entry(name).or_insert(next)
        }));
    }
    let of = |question: Question| {
        let labels = snapshot.labels.iter();
        let observations: Vec<Observation> =
            labels.filter_map(|label| observation(&question, label)).collect();
        if observations.is_empty() {
            return Err(ProjectError::NoLabels(question.name));
        }
        Ok(QuestionData {
            question,
            observations,
            attributes: attributes.clone(),
            annotators: annotators.clone(),
            texts: texts.clone(),
            parts: parts.clone(),
            groups: groups.clone(),
            copies: copies.clone(),
        })
    };
    asked.into_iter().map(of).collect()
}

/// Annotators' attributes in the form that models use; values in the order of their names.
pub fn attributes(annotators: &[Annotator]) -> Vec<Attribute> {
    let names: BTreeSet<&str> =
        annotators.iter().flat_map(|a| a.attributes.keys().map(String::as_str)).collect();
    let of = |name: &str| {
        let value = |a: &Annotator| a.attributes.get(name).filter(|v| !v.is_empty()).cloned();
        let values: Vec<String> =
            annotators.iter().filter_map(value).collect::<BTreeSet<_>>().into_iter().collect();
        let place = |v: String| values.binary_search(&v).ok().and_then(|at| u16::try_from(at).ok());
        let of = annotators.iter().map(|a| value(a).and_then(place)).collect();
        Attribute { name: name.to_owned(), values, of }
    };
    names.into_iter().map(of).collect()
}
