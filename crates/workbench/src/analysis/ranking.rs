//! Texts in order of predicted disagreement.

use super::Analysis;
use super::chosen::{among, fit_mask};
use crate::error::WorkbenchError;
use crate::levels::level_of;
use crate::live::measure;
use crate::view::{DisagreementQuery, DisagreementRow, Estimation, Ranking};
use crate::words::counted;
use dissensus_domain::{QuestionId, TextId};
use dissensus_perspectives::{AnnotatorModel as _, Measure};
use std::collections::HashSet;

/// Characters of a body that a row shows.
const SNIPPET: usize = 280;

impl Analysis {
    /// Texts by predicted disagreement among the chosen annotators, most first. Without a live model it is empty and says why.
    ///
    /// # Errors
    /// No such question, nobody with these attributes, or the file cannot be read.
    pub fn ranking(&self, query: &DisagreementQuery) -> Result<Ranking, WorkbenchError> {
        let context = &self.context;
        let mask = self.mask(&query.attributes)?;
        let chosen = mask.iter().filter(|chosen| **chosen).count();
        // How unsure a model is of a person needs that person alone.
        let needed = if measure(&query.by) == Measure::Uncertainty { 1 } else { 2 };
        if chosen < needed {
            return self.nothing_ranked(query.question, &mask, Some(too_few(chosen, needed)));
        }
        let shown = self.shown(query, &mask)?;
        let measure = measure(&query.by);
        let found: Option<(Vec<f32>, usize, Estimation)> = self.live.models.with(query.question, |fitted| {
            let without = |(row, chosen): (u32, &bool)| *chosen && fitted.model.labels_of(row) == 0;
            let without = (0..).zip(&mask).filter(|one| without(*one)).count();
            let scores = if query.attributes.is_empty() {
                fitted.model.disagreements().iter().map(|d| measure.of(d)).collect()
            } else {
                let mask = fit_mask(&mask, fitted.model.annotators());
                fitted.filtered(&query.attributes, &mask).iter().map(|d| measure.of(d)).collect()
            };
            (scores, without, fitted.estimation())
        });
        let revision = self.live.models.revision();
        let remark = self.note(found.is_some())?;
        let Some((scores, without, estimation)) = found else {
            return self.nothing_ranked(query.question, &mask, remark);
        };
        let index = context.index();
        let mut rows: Vec<u32> = (0..index.texts().len().min(scores.len()) as u32).collect();
        if let Some(shown) = shown {
            rows.retain(|row| shown.contains(&index.texts()[*row as usize]));
        }
        // Unstable is enough and the row breaks ties, so that equal scores keep their place.
        rows.sort_unstable_by(|a, b| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b)));
        let texts = rows.into_iter().map(|row| index.texts()[row as usize]).collect();
        let (annotators, annotators_without_labels) = (chosen as u32, without as u32);
        let remark = joined(remark, &estimation.limit_texts);
        let estimation = Some(estimation);
        Ok(Ranking { revision, texts, annotators, annotators_without_labels, remark, estimation })
    }

    /// What is said where nothing can be ranked.
    fn nothing_ranked(
        &self,
        question: QuestionId,
        mask: &[bool],
        remark: Option<String>,
    ) -> Result<Ranking, WorkbenchError> {
        let labels = self.labels_given(question)?;
        let index = self.context.index();
        let chosen = index.annotators().iter().zip(mask).filter(|(_, chosen)| **chosen);
        let without = chosen.clone().filter(|(annotator, _)| !labels.contains_key(&annotator.id)).count();
        Ok(Ranking {
            revision: self.live.models.revision(),
            texts: Vec::new(),
            annotators: chosen.count() as u32,
            annotators_without_labels: without as u32,
            remark,
            estimation: None,
        })
    }

    /// These texts as the ranking shows them. Texts unknown to the model are left out.
    ///
    /// # Errors
    /// As [`Analysis::ranking`].
    pub fn rows(
        &self,
        query: &DisagreementQuery,
        texts: &[TextId],
    ) -> Result<Vec<DisagreementRow>, WorkbenchError> {
        let context = &self.context;
        let mask = self.mask(&query.attributes)?;
        let levels = self.levels(query.question)?;
        let mut rows = Vec::with_capacity(texts.len());
        for id in texts {
            let Some(text) = context.store.text(*id)? else { continue };
            let Some(row) = context.index().text_row(*id) else { continue };
            let predicted = self.live.models.with(query.question, |fitted| {
                (fitted.model.texts() > row as usize)
                    .then(|| among(fitted, row, &mask, query.attributes.is_empty()))
            });
            let Some(Some((scores, distribution))) = predicted else { continue };
            let observed = self.observed(query.question, *id, &mask, levels)?;
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

    /// The texts that the query lets through; `None` for all.
    fn shown(
        &self,
        query: &DisagreementQuery,
        mask: &[bool],
    ) -> Result<Option<HashSet<TextId>>, WorkbenchError> {
        let search = query.search.as_deref().map(str::trim).filter(|search| !search.is_empty());
        let found = search.map(|search| self.context.store.search_texts(search)).transpose()?;
        let found: Option<HashSet<TextId>> = found.map(|texts| texts.into_iter().collect());
        if !query.labelled_only {
            return Ok(found);
        }
        let labels = self.context.store.current_labels(query.question)?;
        let index = self.context.index();
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
        let labels = self.context.store.current_labels_on(text, question)?;
        let index = self.context.index();
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

    /// What to know of the predictions at hand.
    fn note(&self, live: bool) -> Result<Option<String>, WorkbenchError> {
        let encoding = self.encoding.state()?;
        Ok(match (live, &encoding.version) {
            _ if encoding.total == 0 => Some("There are no texts yet: import a file.".to_owned()),
            (false, _) => Some("The annotator models are being fitted.".to_owned()),
            (true, None) => Some(
                "Texts have no embeddings yet: predictions stand on annotators' severity and on labels alone.".to_owned(),
            ),
            (true, Some(_)) if encoding.encoded < encoding.total => Some(format!(
                "{} of {} without an embedding yet: predicted as the mean text.",
                encoding.total - encoding.encoded,
                counted(encoding.total.into(), "text")
            )),
            (true, Some(_)) => None,
        })
    }
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

/// A remark and what the labels leave open, in one paragraph.
fn joined(remark: Option<String>, limits: &[String]) -> Option<String> {
    let all: Vec<String> = remark.into_iter().chain(limits.iter().cloned()).collect();
    (!all.is_empty()).then(|| all.join(" "))
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
