//! What a model of words has learned, as stored with a run's encoder and in bundles.

use dissensus_models::spans::{SpanModel, TypeHead};
use dissensus_project::error::ProjectError;
use dissensus_project::text_words::Forms;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What a model has learned of the words of a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LearnedWords {
    /// Number of the question in the project.
    pub(crate) question: u32,
    /// Answers on which it was trained and calibrated.
    pub answers: u32,
    /// Fingerprints ([`form_print`]) of the forms that have an effect, ascending, because a run's folder is
    /// shared. The forms cannot be read from them, and their order reveals nothing about the texts; by
    /// trying a word, anyone can find out whether it is among them.
    pub forms: Vec<u64>,
    /// One head per type.
    pub heads: Vec<TypeHead>,
}

/// Fingerprint of a word's form, for files in which words must not be readable.
pub(crate) fn form_print(form: &str) -> u64 {
    use sha2::{Digest, Sha256};
    let sum: [u8; 32] = Sha256::digest(form.as_bytes()).into();
    u64::from_le_bytes([sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]])
}

impl LearnedWords {
    /// From a fitted model and the forms that it was fitted on.
    pub fn of_model(question: u32, answers: u32, model: &SpanModel, forms: &Forms) -> Self {
        let heads = model.type_heads();
        let has_effect =
            |id: &usize| heads.iter().any(|head| head.forms.get(*id).is_some_and(|e| e.abs() > 1e-6));
        let mut prints: Vec<(u64, usize)> = forms
            .in_order()
            .into_iter()
            .enumerate()
            .filter(|(id, _)| has_effect(id))
            .map(|(id, form)| (form_print(form), id))
            .collect();
        prints.sort_unstable();
        let kept = |head: TypeHead| TypeHead {
            forms: prints.iter().map(|(_, id)| head.forms.get(*id).copied().unwrap_or_default()).collect(),
            ..head
        };
        let heads = heads.into_iter().map(kept).collect();
        Self { question, answers, forms: prints.iter().map(|(print, _)| *print).collect(), heads }
    }

    /// The model, for words whose forms have these ids.
    ///
    /// # Errors
    /// Numbers that are inconsistent.
    pub fn model(&self, forms: &Forms) -> Result<SpanModel, ProjectError> {
        let ids: HashMap<u64, usize> =
            self.forms.iter().enumerate().map(|(id, print)| (*print, id)).collect();
        let prints: Vec<Option<usize>> =
            forms.in_order().into_iter().map(|form| ids.get(&form_print(form)).copied()).collect();
        let of_forms = |head: &TypeHead| -> Vec<f32> {
            let effect =
                |id: &Option<usize>| id.and_then(|id| head.forms.get(id).copied()).unwrap_or_default();
            prints.iter().map(effect).collect()
        };
        let heads =
            self.heads.iter().map(|head| TypeHead { forms: of_forms(head), ..head.clone() }).collect();
        Ok(SpanModel::of_type_heads(heads)?)
    }
}
