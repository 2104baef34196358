//! Everyone's distribution on one text.

use super::Analysis;
use super::chosen::among;
use super::groups::difference;
use crate::error::WorkbenchError;
use crate::levels::level_of;
use crate::view::{
    AnnotatorPrediction, DisagreementQuery, DisagreementScores, GroupDifference, GroupPrediction, TextDetail,
};
use dissensus_domain::{Annotator, AnnotatorId, Answer, QuestionId, ScaleKind, Text, TextId};
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
        let ordinal = self.is_ordinal(question)?;
        let predicted = self.live.models.with(question, |fitted| {
            if fitted.model.texts() <= row as usize {
                return Ok(None);
            }
            let over = self.over(&query.attributes, fitted.model.annotators())?;
            let comparison = if ordinal { Some(self.comparison(fitted, None, &over)?) } else { None };
            let differences = comparison.map_or_else(Vec::new, |comparison| {
                let gaps = comparison.gaps(&fitted.model, row);
                gaps.iter().enumerate().map(|(at, gap)| difference(&comparison, at, gap)).collect()
            });
            let scores = among(fitted, row, &over).0;
            Ok::<_, WorkbenchError>(Some((scores, fitted.model.row(row), differences)))
        });
        let Some((scores, all, differences)) = predicted.transpose()?.flatten() else {
            return Ok(detail(found, DisagreementScores::none(), Vec::new(), Vec::new(), Vec::new()));
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
        let groups = group_by.map_or_else(Vec::new, |attribute| {
            let mut groups = groups(&people, attribute, levels, ordinal);
            groups.iter_mut().for_each(|group| set_gap(group, attribute, &differences));
            groups
        });
        Ok(detail(found, scores, people, groups, differences))
    }

    /// True where levels have an order, so that a mean level has a meaning.
    fn ordered(&self, question: QuestionId) -> Result<bool, WorkbenchError> {
        let index = self.context.index();
        let question = index.question(question).ok_or(WorkbenchError::NoQuestion)?;
        Ok(question.scale.kind().is_ordered())
    }

    /// True where levels have an order and distances.
    fn is_ordinal(&self, question: QuestionId) -> Result<bool, WorkbenchError> {
        let index = self.context.index();
        let question = index.question(question).ok_or(WorkbenchError::NoQuestion)?;
        Ok(question.scale.kind() == ScaleKind::Ordinal)
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
            pairwise_maximum: 1.0,
            split: 0.0,
            split_interval: (0.0, 1.0),
            far_apart: None,
            far_apart_maximum: None,
            mean_level: None,
            agreement: None,
            between: 0.0,
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
    differences: Vec<GroupDifference>,
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
        differences,
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
fn groups(
    people: &[AnnotatorPrediction],
    attribute: &str,
    levels: usize,
    ordinal: bool,
) -> Vec<GroupPrediction> {
    let mut members: BTreeMap<&str, Vec<&AnnotatorPrediction>> = BTreeMap::new();
    for person in people.iter().filter(|person| person.distribution.is_some()) {
        let value = person.attributes.get(attribute).map_or(NOT_KNOWN, String::as_str);
        members.entry(value).or_default().push(person);
    }
    let group = |(value, members): (&str, Vec<&AnnotatorPrediction>)| {
        let mut distribution = vec![0.0; levels];
        for p in members.iter().filter_map(|person| person.distribution.as_ref()) {
            distribution.iter_mut().zip(p).for_each(|(sum, p)| *sum += p / members.len() as f32);
        }
        let level =
            |person: &&AnnotatorPrediction| person.observed.as_ref().and_then(level_of).map(f32::from);
        let given: Vec<f32> = members.iter().filter_map(level).collect();
        let mean = given.iter().sum::<f32>() / given.len().max(1) as f32;
        GroupPrediction {
            value: value.to_owned(),
            annotators: members.len() as u32,
            distribution,
            observed: (ordinal && !given.is_empty()).then_some(mean),
            labels: given.len() as u32,
            gap: None,
            gap_interval: None,
            stands: false,
        }
    };
    let mut groups: Vec<GroupPrediction> = members.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.annotators));
    groups
}

/// What is known of the gap between a group and all others. Of two values only one is compared: the other's gap is its opposite.
fn set_gap(group: &mut GroupPrediction, attribute: &str, differences: &[GroupDifference]) {
    let of_attribute = || differences.iter().filter(|difference| difference.attribute == attribute);
    let own = of_attribute().find(|difference| difference.value == group.value);
    let other = of_attribute().find(|difference| difference.against.as_ref() == Some(&group.value));
    let Some(found) = own.or(other) else { return };
    let sign = if own.is_some() { 1.0 } else { -1.0 };
    let (low, high) = found.interval;
    group.gap = Some(sign * found.gap);
    group.gap_interval = Some(if own.is_some() { (low, high) } else { (-high, -low) });
    group.stands = found.stands;
}
