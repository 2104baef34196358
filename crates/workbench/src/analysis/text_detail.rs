//! Everyone's distribution on one text.

use super::Analysis;
use super::chosen::among;
use crate::error::WorkbenchError;
use crate::view::{AnnotatorPrediction, DisagreementQuery, DisagreementScores, GroupPrediction, TextDetail};
use dissensus_domain::{Annotator, AnnotatorId, Answer, QuestionId, Text, TextId};
use dissensus_perspectives::AnnotatorModel as _;
use std::collections::{BTreeMap, HashMap};

/// Stands for a missing attribute.
const NOT_KNOWN: &str = "not known";

impl Analysis {
    /// Everything about one text, among the annotators whom the query chooses. `reading_as` is the person who labels in this
    /// window: what that person would say is hidden until the text is answered, unless `show_hidden`.
    ///
    /// # Errors
    /// As [`Analysis::disagreement_ranking`], or no such text.
    pub fn text_detail(
        &self,
        query: &DisagreementQuery,
        text: TextId,
        group_by: Option<&str>,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> Result<TextDetail, WorkbenchError> {
        let context = &self.context;
        let question = query.question;
        let found =
            context.store.text(text)?.ok_or_else(|| WorkbenchError::NoSuchText(text.0.to_string()))?;
        let row = context
            .index()
            .text_row(text)
            .ok_or_else(|| WorkbenchError::NoSuchText(found.external_id.clone()))?;
        let levels = self.levels(question)?;
        let mask = self.mask(&query.attributes)?;
        let predicted = self.live.models.with(question, |fitted| {
            (fitted.model.texts() > row as usize)
                .then(|| (among(fitted, row, &mask, query.attributes.is_empty()).0, fitted.model.row(row)))
        });
        let Some(Some((scores, all))) = predicted else {
            return Ok(detail(found, DisagreementScores::none(), Vec::new(), Vec::new()));
        };
        let mut answers: HashMap<AnnotatorId, Answer> = context
            .store
            .current_labels_on(text, question)?
            .into_iter()
            .map(|label| (label.annotator, label.answer))
            .collect();
        let given = self.labels_given(question)?;
        let ordered = self.ordered(question)?;
        let index = context.index();
        let mut people: Vec<AnnotatorPrediction> = index
            .annotators()
            .iter()
            .zip(all.chunks_exact(levels))
            .zip(&mask)
            .filter(|(_, chosen)| **chosen)
            .map(|((annotator, p), _)| {
                let observed = answers.remove(&annotator.id);
                let hidden = reading_as == Some(annotator.id) && observed.is_none() && !show_hidden;
                prediction(
                    annotator,
                    p,
                    observed,
                    hidden,
                    ordered,
                    given.get(&annotator.id).copied().unwrap_or(0),
                )
            })
            .collect();
        let by = |p: &AnnotatorPrediction| p.expected.unwrap_or(f32::INFINITY);
        people.sort_by(|a, b| by(a).total_cmp(&by(b)).then_with(|| a.name.cmp(&b.name)));
        let groups = group_by.map_or_else(Vec::new, |attribute| groups(&people, attribute, levels));
        Ok(detail(found, scores, people, groups))
    }

    /// True where levels have an order, so that a mean level has a meaning.
    fn ordered(&self, question: QuestionId) -> Result<bool, WorkbenchError> {
        let index = self.context.index();
        let question = index.question(question).ok_or(WorkbenchError::NoQuestion)?;
        Ok(question.scale.kind().is_ordered())
    }

    /// Labels that each annotator's model stands on; nobody without a label is in it.
    pub(super) fn labels_given(
        &self,
        question: QuestionId,
    ) -> Result<HashMap<AnnotatorId, u32>, WorkbenchError> {
        let counts =
            self.context.store.annotator_counts()?.into_iter().filter(|count| count.question == question);
        Ok(counts.map(|count| (count.annotator, count.labels)).collect())
    }
}

impl DisagreementScores {
    /// What is shown while nothing is predicted.
    fn none() -> Self {
        Self {
            pairwise: 0.0,
            pairwise_interval: (0.0, 1.0),
            divergence: 0.0,
            uncertainty: 0.0,
            level_variance: None,
        }
    }
}

fn detail(
    text: Text,
    scores: DisagreementScores,
    annotators: Vec<AnnotatorPrediction>,
    groups: Vec<GroupPrediction>,
) -> TextDetail {
    TextDetail {
        text: text.id,
        external_id: text.external_id,
        body: text.body,
        group: text.group,
        split: text.split,
        metadata: text.metadata.into_iter().collect(),
        scores,
        annotators,
        groups,
    }
}

fn prediction(
    annotator: &Annotator,
    p: &[f32],
    observed: Option<Answer>,
    hidden: bool,
    ordered: bool,
    labels: u32,
) -> AnnotatorPrediction {
    let expected: f32 = p.iter().enumerate().map(|(level, p)| level as f32 * p).sum();
    AnnotatorPrediction {
        annotator: annotator.id,
        name: annotator.name.clone(),
        attributes: annotator.attributes.clone(),
        simulated: annotator.simulated,
        distribution: (!hidden).then(|| p.to_vec()),
        expected: (!hidden && ordered).then_some(expected),
        observed,
        labels,
    }
}

/// Mean distributions by the value of an attribute, largest group first. Hidden predictions are left out.
fn groups(people: &[AnnotatorPrediction], attribute: &str, levels: usize) -> Vec<GroupPrediction> {
    let mut sums: BTreeMap<&str, (u32, Vec<f32>)> = BTreeMap::new();
    for person in people {
        let Some(p) = &person.distribution else { continue };
        let value = person.attributes.get(attribute).map_or(NOT_KNOWN, String::as_str);
        let (count, sum) = sums.entry(value).or_insert_with(|| (0, vec![0.0; levels]));
        *count += 1;
        sum.iter_mut().zip(p).for_each(|(sum, p)| *sum += p);
    }
    let group = |(value, (count, sum)): (&str, (u32, Vec<f32>))| GroupPrediction {
        value: value.to_owned(),
        annotators: count,
        distribution: sum.into_iter().map(|sum| sum / count as f32).collect(),
    };
    let mut groups: Vec<GroupPrediction> = sums.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.annotators));
    groups
}
