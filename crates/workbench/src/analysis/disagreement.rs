//! Texts in order of predicted disagreement, and everyone's distribution on one of them.

use crate::core::Core;
use crate::error::WorkbenchError;
use crate::levels::level_of;
use crate::live::{Fitted, measure};
use crate::session::Session;
use crate::view::{
    AnnotatorPrediction, DisagreementQuery, DisagreementRow, DisagreementScores, GroupPrediction, Ranking,
    TextDetail,
};
use dissensus_domain::{Annotator, AnnotatorId, Attributes, QuestionId, ScaleKind, Text, TextId};
use dissensus_perspectives::{AnnotatorModel, Disagreement, Measure, disagreement_of_texts};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Characters of a body that a row shows.
const SNIPPET: usize = 280;
/// Stands for a missing attribute.
const NOT_KNOWN: &str = "not known";

impl Session {
    /// Texts by predicted disagreement among the chosen annotators, most first. Without a live model it is empty and says why.
    ///
    /// # Errors
    /// No such question, nobody with these attributes, or the file cannot be read.
    pub fn disagreement_ranking(&self, query: &DisagreementQuery) -> Result<Ranking, WorkbenchError> {
        let core = &self.core;
        let mask = core.mask(&query.attributes)?;
        let chosen = mask.iter().filter(|chosen| **chosen).count();
        // How unsure a model is of a person needs that person alone.
        let needed = if measure(&query.by) == Measure::Uncertainty { 1 } else { 2 };
        if chosen < needed {
            let remark = too_few(chosen, needed);
            let revision = core.live.revision();
            return Ok(Ranking {
                revision,
                texts: Vec::new(),
                annotators: chosen as u32,
                remark: Some(remark),
            });
        }
        let shown = core.shown(query, &mask)?;
        let measure = measure(&query.by);
        let scores: Option<Vec<f32>> = core.live.with(query.question, |fitted| {
            if query.attributes.is_empty() {
                fitted.model.disagreements().iter().map(|d| measure.of(d)).collect()
            } else {
                let mask = fit_mask(&mask, fitted.model.annotators());
                fitted.filtered(&query.attributes, &mask).iter().map(|d| measure.of(d)).collect()
            }
        });
        let revision = core.live.revision();
        let remark = core.remark(scores.is_some())?;
        let Some(scores) = scores else {
            return Ok(Ranking { revision, texts: Vec::new(), annotators: chosen as u32, remark });
        };
        let index = core.index();
        let mut rows: Vec<u32> = (0..index.texts().len().min(scores.len()) as u32).collect();
        if let Some(shown) = shown {
            rows.retain(|row| shown.contains(&index.texts()[*row as usize]));
        }
        // Unstable is enough and the row breaks ties, so that equal scores keep their place.
        rows.sort_unstable_by(|a, b| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b)));
        let texts = rows.into_iter().map(|row| index.texts()[row as usize]).collect();
        Ok(Ranking { revision, texts, annotators: chosen as u32, remark })
    }

    /// These texts as the ranking shows them. Texts unknown to the model are left out.
    ///
    /// # Errors
    /// As [`Session::disagreement_ranking`].
    pub fn disagreement_rows(
        &self,
        query: &DisagreementQuery,
        texts: &[TextId],
    ) -> Result<Vec<DisagreementRow>, WorkbenchError> {
        let core = &self.core;
        let mask = core.mask(&query.attributes)?;
        let levels = core.levels(query.question)?;
        let mut rows = Vec::with_capacity(texts.len());
        for id in texts {
            let Some(text) = core.store.text(*id)? else { continue };
            let Some(row) = core.index().text_row(*id) else { continue };
            let predicted = core.live.with(query.question, |fitted| {
                (fitted.model.texts() > row as usize)
                    .then(|| among(fitted, row, &mask, query.attributes.is_empty()))
            });
            let Some(Some((scores, distribution))) = predicted else { continue };
            let observed = core.observed(query.question, *id, &mask, levels)?;
            rows.push(DisagreementRow {
                text: *id,
                external_id: text.external_id,
                snippet: snippet(&text.body),
                distribution,
                scores,
                observed_pairwise: observed_pairwise(&observed),
                observed,
            });
        }
        Ok(rows)
    }

    /// Everything about one text, among the annotators whom the query chooses. `reading_as` is the person who labels in this
    /// window: what that person would say is hidden until the text is answered, unless `show_hidden`.
    ///
    /// # Errors
    /// As [`Session::disagreement_ranking`], or no such text.
    pub fn text_detail(
        &self,
        query: &DisagreementQuery,
        text: TextId,
        group_by: Option<&str>,
        reading_as: Option<AnnotatorId>,
        show_hidden: bool,
    ) -> Result<TextDetail, WorkbenchError> {
        let core = &self.core;
        let question = query.question;
        let found = core.store.text(text)?.ok_or_else(|| WorkbenchError::NoSuchText(text.0.to_string()))?;
        let row = core
            .index()
            .text_row(text)
            .ok_or_else(|| WorkbenchError::NoSuchText(found.external_id.clone()))?;
        let levels = core.levels(question)?;
        let mask = core.mask(&query.attributes)?;
        let predicted = core.live.with(question, |fitted| {
            (fitted.model.texts() > row as usize)
                .then(|| (among(fitted, row, &mask, query.attributes.is_empty()).0, fitted.model.row(row)))
        });
        let Some(Some((scores, all))) = predicted else {
            return Ok(detail(found, DisagreementScores::none(), Vec::new(), Vec::new()));
        };
        let answers: HashMap<AnnotatorId, u16> = core
            .store
            .current_labels_on(text, question)?
            .into_iter()
            .filter_map(|l| Some((l.annotator, level_of(&l.answer)?)))
            .collect();
        let given = core.labels_given(question)?;
        let ordered = core.ordered(question)?;
        let index = core.index();
        let mut people: Vec<AnnotatorPrediction> = index
            .annotators()
            .iter()
            .zip(all.chunks_exact(levels))
            .zip(&mask)
            .filter(|(_, chosen)| **chosen)
            .map(|((annotator, p), _)| {
                let observed = answers.get(&annotator.id).copied();
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

    /// How one annotator would label a text of the project, a probability a level.
    ///
    /// # Errors
    /// No such text, or the model of the question is not live ([`Session::fit`] makes it so).
    pub fn predict_text(
        &self,
        question: QuestionId,
        annotator: AnnotatorId,
        text: &str,
    ) -> Result<Vec<f32>, WorkbenchError> {
        let core = &self.core;
        let id =
            core.store.text_by_external(text)?.ok_or_else(|| WorkbenchError::NoSuchText(text.to_owned()))?.id;
        let rows = {
            let index = core.index();
            index.text_row(id).zip(index.annotator_row(annotator))
        };
        let (row, who) = rows.ok_or_else(|| WorkbenchError::NoSuchText(text.to_owned()))?;
        let predicted = core.live.with(question, |fitted| {
            let mut p = vec![0.0; fitted.model.levels()];
            // A text that was imported after the model was fitted has no row in it yet.
            ((row as usize) < fitted.model.texts())
                .then(|| fitted.model.predict(row, who, &mut p))
                .map(|()| p)
        });
        predicted.flatten().ok_or_else(|| WorkbenchError::NotEncoded(self.path().to_owned()))
    }

    /// How one annotator would label any text, from its embedding.
    ///
    /// # Errors
    /// The embedding is of another length, or the model of the question is not live.
    pub fn predict_embedding(
        &self,
        question: QuestionId,
        annotator: AnnotatorId,
        embedding: &[f32],
    ) -> Result<Vec<f32>, WorkbenchError> {
        let core = &self.core;
        let who = core.index().annotator_row(annotator).unwrap_or(u32::MAX);
        let predicted = core.live.with(question, |fitted| {
            let mut p = vec![0.0; fitted.model.levels()];
            fitted.model.predict_embedding(embedding, who, &mut p).map(|()| p)
        });
        Ok(predicted.ok_or_else(|| WorkbenchError::NotEncoded(self.path().to_owned()))??)
    }
}

impl Core {
    /// Which annotators have all of these attributes.
    fn mask(&self, attributes: &Attributes) -> Result<Vec<bool>, WorkbenchError> {
        let index = self.index();
        let has =
            |a: &Annotator| attributes.iter().all(|(name, value)| a.attributes.get(name) == Some(value));
        let mask: Vec<bool> = index.annotators().iter().map(has).collect();
        if !attributes.is_empty() && !mask.contains(&true) {
            return Err(no_such_attribute(index.annotators(), attributes));
        }
        Ok(mask)
    }

    /// The texts that the query lets through; `None` for all.
    fn shown(
        &self,
        query: &DisagreementQuery,
        mask: &[bool],
    ) -> Result<Option<HashSet<TextId>>, WorkbenchError> {
        let search = query.search.as_deref().map(str::trim).filter(|search| !search.is_empty());
        let found = search.map(|search| self.store.search_texts(search)).transpose()?;
        let found: Option<HashSet<TextId>> = found.map(|texts| texts.into_iter().collect());
        if !query.labelled_only {
            return Ok(found);
        }
        let labels = self.store.current_labels(query.question)?;
        let index = self.index();
        let chosen = |annotator| {
            index.annotator_row(annotator).is_some_and(|row| mask.get(row as usize) == Some(&true))
        };
        let labelled = labels.iter().filter(|label| chosen(label.annotator)).map(|label| label.text);
        Ok(Some(labelled.filter(|text| found.as_ref().is_none_or(|found| found.contains(text))).collect()))
    }

    /// How often the chosen annotators gave each level to a text.
    fn observed(
        &self,
        question: QuestionId,
        text: TextId,
        mask: &[bool],
        levels: usize,
    ) -> Result<Vec<u32>, WorkbenchError> {
        let mut counts = vec![0; levels];
        let labels = self.store.current_labels_on(text, question)?;
        let index = self.index();
        for label in labels {
            let chosen =
                index.annotator_row(label.annotator).is_some_and(|row| mask.get(row as usize) == Some(&true));
            let level = level_of(&label.answer).filter(|_| chosen);
            if let Some(count) = level.and_then(|level| counts.get_mut(usize::from(level))) {
                *count += 1;
            }
        }
        Ok(counts)
    }

    pub(crate) fn levels(&self, question: QuestionId) -> Result<usize, WorkbenchError> {
        self.index().question(question).map(|q| q.scale.len()).ok_or(WorkbenchError::NoQuestion)
    }

    /// True where levels have an order, so that a mean level has a meaning.
    fn ordered(&self, question: QuestionId) -> Result<bool, WorkbenchError> {
        let index = self.index();
        let question = index.question(question).ok_or(WorkbenchError::NoQuestion)?;
        Ok(question.scale.kind().is_ordered())
    }

    /// Labels that each annotator's model stands on.
    fn labels_given(&self, question: QuestionId) -> Result<HashMap<AnnotatorId, u32>, WorkbenchError> {
        let counts = self.store.annotator_counts()?.into_iter().filter(|count| count.question == question);
        Ok(counts.map(|count| (count.annotator, count.labels)).collect())
    }

    /// What to know of the predictions at hand.
    fn remark(&self, live: bool) -> Result<Option<String>, WorkbenchError> {
        let encoding = self.encoding_state()?;
        Ok(match (live, &encoding.version) {
            _ if encoding.total == 0 => Some("There are no texts yet: import a file.".to_owned()),
            (false, _) => Some("The annotator models are being fitted.".to_owned()),
            (true, None) => Some(
                "Texts have no embeddings yet: predictions stand on annotators' severity and on labels alone.".to_owned(),
            ),
            (true, Some(_)) if encoding.encoded < encoding.total => Some(format!(
                "{} of {} texts have no embedding yet and stand at the mean.",
                encoding.total - encoding.encoded,
                encoding.total
            )),
            (true, Some(_)) => None,
        })
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

/// The measures and the mean distribution of a text over the annotators of `mask` (all of them, if `everyone`).
fn among(fitted: &Fitted, text: u32, mask: &[bool], everyone: bool) -> (DisagreementScores, Vec<f32>) {
    let model = &fitted.model;
    if everyone {
        let interval = model.interval(text);
        return (scores(&model.disagreement(text), interval), model.mean_distribution(text));
    }
    let mask = fit_mask(mask, model.annotators());
    let ordinal = model.target().kind == ScaleKind::Ordinal;
    let at = text as usize;
    let found = disagreement_of_texts(model, at..at + 1, Some(&mask), ordinal).swap_remove(0);
    let interval = model.interval_of_annotators(text, &mask, found.pairwise);
    let levels = model.levels();
    let mut mean = vec![0.0; levels];
    let row = model.row(text);
    let chosen = row.chunks_exact(levels).zip(&mask).filter(|(_, chosen)| **chosen);
    let count = chosen.clone().count().max(1) as f32;
    chosen.for_each(|(p, _)| mean.iter_mut().zip(p).for_each(|(sum, p)| *sum += p / count));
    (scores(&found, interval), mean)
}

/// The mask for a model that knows `annotators` people; people it does not know yet are not in it.
fn fit_mask(mask: &[bool], annotators: usize) -> Vec<bool> {
    (0..annotators).map(|row| mask.get(row) == Some(&true)).collect()
}

fn scores(found: &Disagreement, interval: (f32, f32)) -> DisagreementScores {
    DisagreementScores {
        pairwise: found.pairwise,
        pairwise_interval: interval,
        divergence: found.divergence,
        uncertainty: found.uncertainty,
        level_variance: found.level_variance,
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
    observed: Option<u16>,
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

/// The chance that two of these labels differ; needs two.
fn observed_pairwise(counts: &[u32]) -> Option<f32> {
    let all: u32 = counts.iter().sum();
    if all < 2 {
        return None;
    }
    let pairs = |n: u32| f64::from(n) * (f64::from(n) - 1.0);
    let same: f64 = counts.iter().map(|count| pairs(*count)).sum();
    Some((1.0 - same / pairs(all)) as f32)
}

fn too_few(chosen: usize, needed: usize) -> String {
    match (chosen, needed) {
        (0, 1) => "There is nobody whose labels could be predicted yet.".to_owned(),
        (0, _) => "People can differ once there are two of them, and there is nobody yet.".to_owned(),
        _ => "People can differ once there are two of them, and this is one person.".to_owned(),
    }
}

fn snippet(body: &str) -> String {
    match body.char_indices().nth(SNIPPET) {
        Some((end, _)) => format!("{}…", body[..end].trim_end()),
        None => body.to_owned(),
    }
}

fn no_such_attribute(annotators: &[Annotator], asked: &Attributes) -> WorkbenchError {
    let has = |name: &str, value: &str| {
        annotators.iter().any(|a| a.attributes.get(name).is_some_and(|v| v == value))
    };
    let pair = asked.iter().find(|(name, value)| !has(name, value)).or_else(|| asked.iter().next());
    let (name, value) = pair.map(|(name, value)| (name.clone(), value.clone())).unwrap_or_default();
    let list = |values: Vec<&str>| {
        let mut values = values;
        values.sort_unstable();
        values.dedup();
        values.join(", ")
    };
    let values =
        list(annotators.iter().filter_map(|a| a.attributes.get(&name)).map(String::as_str).collect());
    let names = list(annotators.iter().flat_map(|a| a.attributes.keys()).map(String::as_str).collect());
    let hint = match (values.is_empty(), names.is_empty()) {
        (false, _) => format!(" together with the rest; {name} is one of {values}"),
        (true, false) => format!("; the attributes are {names}"),
        (true, true) => "; no attributes are known".to_owned(),
    };
    WorkbenchError::NoSuchAttribute { name, value, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observed_disagreement_is_the_share_of_differing_pairs() {
        assert_eq!(observed_pairwise(&[1, 0]), None);
        assert_eq!(observed_pairwise(&[2, 0]), Some(0.0));
        assert_eq!(observed_pairwise(&[1, 1]), Some(1.0));
        assert!((observed_pairwise(&[2, 2]).unwrap() - 4.0 / 6.0).abs() < 1e-6);
    }

    #[test]
    fn snippets_are_cut_at_characters() {
        assert_eq!(snippet("é"), "é");
        assert_eq!(snippet(&"é".repeat(400)).chars().count(), SNIPPET + 1);
    }
}
