//! Training data of models: embeddings, observations and the scale, with checks.

use super::sparse_rows::{SparseRow, SparseRows};
use crate::data::ModelError;
use dissensus_domain::{Scale, TargetKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One embedding per text, row-major: text `t` is `rows[t * dim .. (t + 1) * dim]`.
///
/// `dim` may be 0 (no encoder yet); [`Embeddings::none`] then sets the number of texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embeddings {
    /// Numbers in one embedding; 0 without an encoder.
    pub dim: usize,
    /// texts x dim numbers.
    pub rows: Vec<f32>,
    /// Number of texts; redundant unless `dim` is 0.
    pub texts: usize,
    /// Character n-grams of every text, one row of length 1 per text; `None` for models without them.
    pub ngrams: Option<Arc<SparseRows>>,
    /// One entry per text: whether its labels tuned the encoder, so that its embedding contains information
    /// about them; `None` where no label here did.
    pub tuned_on: Option<Arc<[bool]>>,
}

/// Features of a text as input of a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextFeatures<'a> {
    /// Empty without an encoder.
    pub embedding: &'a [f32],
    /// Empty for models without character n-grams.
    pub ngrams: SparseRow<'a>,
}

impl<'a> From<&'a [f32]> for TextFeatures<'a> {
    /// Features of a text with only an embedding.
    fn from(embedding: &'a [f32]) -> Self {
        Self { embedding, ngrams: SparseRow::default() }
    }
}

impl Embeddings {
    /// Embeddings of `dim > 0` numbers each.
    ///
    /// # Errors
    /// [`ModelError::RaggedEmbeddings`] if `rows` is no whole number of rows (or `dim` is 0 and `rows` is not
    /// empty), [`ModelError::NotFinite`] for NaN and infinities.
    pub fn new(dim: usize, rows: Vec<f32>) -> Result<Self, ModelError> {
        if (dim == 0 && !rows.is_empty()) || (dim > 0 && !rows.len().is_multiple_of(dim)) {
            return Err(ModelError::RaggedEmbeddings { values: rows.len(), dim });
        }
        if let Some(at) = rows.iter().position(|v| !v.is_finite()) {
            return Err(ModelError::NotFinite { text: at / dim, column: at % dim });
        }
        let texts = rows.len().checked_div(dim).unwrap_or(0);
        Ok(Self { dim, rows, texts, ngrams: None, tuned_on: None })
    }

    /// Adds the n-grams of the same texts.
    ///
    /// # Errors
    /// [`ModelError::Length`] if the number of rows differs from the number of texts.
    pub fn with_ngrams(self, ngrams: Arc<SparseRows>) -> Result<Self, ModelError> {
        if ngrams.len() != self.texts {
            let (what, expected, found) = ("the n-grams of the texts", self.texts, ngrams.len());
            return Err(ModelError::Length { what, expected, found });
        }
        Ok(Self { ngrams: Some(ngrams), ..self })
    }

    /// Marks the texts whose labels tuned the encoder: `multilevel` estimates variances and calibration from
    /// the others.
    ///
    /// # Errors
    /// [`ModelError::Length`] if there is not one entry per text.
    pub fn with_tuned_on(self, tuned_on: Arc<[bool]>) -> Result<Self, ModelError> {
        if tuned_on.len() != self.texts {
            let (what, expected, found) = ("the list of texts that tuned", self.texts, tuned_on.len());
            return Err(ModelError::Length { what, expected, found });
        }
        let any = tuned_on.iter().any(|tuned| *tuned);
        Ok(Self { tuned_on: any.then_some(tuned_on), ..self })
    }

    /// `texts` texts without any features.
    pub fn none(texts: usize) -> Self {
        Self { dim: 0, rows: Vec::new(), texts, ngrams: None, tuned_on: None }
    }

    /// The embedding of text `text`; empty without an encoder.
    pub fn row(&self, text: usize) -> &[f32] {
        &self.rows[text * self.dim..(text + 1) * self.dim]
    }

    /// All features of text `text`.
    pub fn features(&self, text: usize) -> TextFeatures<'_> {
        let ngrams = self.ngrams.as_ref().map(|rows| rows.row(text)).unwrap_or_default();
        TextFeatures { embedding: self.row(text), ngrams }
    }
}

/// One annotator's current label of one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Observation {
    /// Row of the embeddings.
    pub text: u32,
    /// Index of the annotator.
    pub annotator: u32,
    /// Index of the level on the scale, from 0.
    pub level: u16,
}

/// The scale of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// A multi-label question becomes a binary target for each of its options, a span question one for
    /// each of its types.
    pub kind: TargetKind,
    /// Number of levels, at least two.
    pub levels: usize,
}

impl Target {
    /// The target of a question whose answers are levels of `scale`. [`Target::check`] refuses that of a
    /// scale of options or types of spans: each of these is a target of its own.
    pub fn from_scale(scale: &Scale) -> Self {
        let levels = if scale.has_options() { 0 } else { scale.len() };
        Self { kind: scale.target(), levels }
    }

    pub fn check(self) -> Result<(), ModelError> {
        let fits = self.levels >= 2
            && self.levels <= usize::from(u16::MAX)
            && (!self.kind.is_yes_no() || self.levels == 2);
        if fits { Ok(()) } else { Err(ModelError::Levels { kind: self.kind, levels: self.levels }) }
    }
}

/// One categorical attribute of annotators, for example gender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    pub name: String,
    pub values: Vec<String>,
    /// One entry per annotator: an index in `values`, or `None` where it is unknown.
    pub of: Vec<Option<u16>>,
}

/// Training data of a model. Texts and annotators may be without observations.
#[derive(Clone, Copy, Debug)]
pub struct TrainingData<'a> {
    /// One row per text.
    pub embeddings: &'a Embeddings,
    /// Current labels in any order, at most one per (text, annotator).
    pub observations: &'a [Observation],
    /// Number of annotators, whose indices are `0..annotators`.
    pub annotators: usize,
    pub target: Target,
    /// Known attributes of the annotators; empty where there are none.
    pub attributes: &'a [Attribute],
}

impl TrainingData<'_> {
    /// Checks the observations and orders them by text, then annotator, so that results do not depend on
    /// their order.
    ///
    /// # Errors
    /// Invalid observations, embeddings or scale.
    pub fn sorted(&self) -> Result<Vec<Observation>, ModelError> {
        self.target.check()?;
        let embeddings = self.embeddings;
        if embeddings.rows.len() != embeddings.texts * embeddings.dim {
            return Err(ModelError::RaggedEmbeddings { values: embeddings.rows.len(), dim: embeddings.dim });
        }
        for attribute in self.attributes {
            attribute.check(self.annotators)?;
        }
        for (at, o) in self.observations.iter().enumerate() {
            check_observation(at, o, embeddings.texts, self.annotators, self.target.levels)?;
        }
        let mut sorted = self.observations.to_vec();
        sorted.sort_unstable();
        if let Some(pair) =
            sorted.windows(2).find(|w| (w[0].text, w[0].annotator) == (w[1].text, w[1].annotator))
        {
            return Err(ModelError::Repeated { text: pair[0].text, annotator: pair[0].annotator });
        }
        Ok(sorted)
    }
}

impl Attribute {
    pub fn check(&self, annotators: usize) -> Result<(), ModelError> {
        if self.of.len() != annotators {
            let found = self.of.len();
            return Err(ModelError::Length { what: "an attribute", expected: annotators, found });
        }
        match self.of.iter().flatten().find(|value| usize::from(**value) >= self.values.len()) {
            None => Ok(()),
            Some(&value) => Err(ModelError::UnknownValue {
                attribute: self.name.clone(),
                value,
                values: self.values.len(),
            }),
        }
    }
}

pub fn check_observation(
    at: usize,
    o: &Observation,
    texts: usize,
    annotators: usize,
    levels: usize,
) -> Result<(), ModelError> {
    if o.text as usize >= texts {
        return Err(ModelError::UnknownText { observation: at, text: o.text, texts });
    }
    if o.annotator as usize >= annotators {
        return Err(ModelError::UnknownAnnotator { observation: at, annotator: o.annotator, annotators });
    }
    if usize::from(o.level) >= levels {
        return Err(ModelError::UnknownLevel { observation: at, level: o.level, levels });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data<'a>(embeddings: &'a Embeddings, observations: &'a [Observation]) -> TrainingData<'a> {
        let target = Target { kind: TargetKind::Ordinal, levels: 3 };
        TrainingData { embeddings, observations, annotators: 2, target, attributes: &[] }
    }

    fn o(text: u32, annotator: u32, level: u16) -> Observation {
        Observation { text, annotator, level }
    }

    #[test]
    fn sorts_by_text_then_annotator() {
        let e = Embeddings::none(2);
        let sorted = data(&e, &[o(1, 0, 2), o(0, 1, 0), o(0, 0, 1)]).sorted().unwrap();
        assert_eq!(sorted, [o(0, 0, 1), o(0, 1, 0), o(1, 0, 2)]);
    }

    #[test]
    fn error_names_the_observation() {
        let e = Embeddings::none(2);
        let error = |observations: &[Observation]| data(&e, observations).sorted().unwrap_err();
        assert!(matches!(error(&[o(0, 0, 0), o(2, 0, 0)]), ModelError::UnknownText { observation: 1, .. }));
        assert!(matches!(error(&[o(0, 2, 0)]), ModelError::UnknownAnnotator { annotator: 2, .. }));
        assert!(matches!(error(&[o(0, 0, 3)]), ModelError::UnknownLevel { level: 3, .. }));
        assert!(matches!(error(&[o(0, 0, 1), o(0, 0, 2)]), ModelError::Repeated { text: 0, annotator: 0 }));
    }

    #[test]
    fn error_names_the_attribute() {
        let e = Embeddings::none(1);
        let error = |of: Vec<Option<u16>>| {
            let attribute = Attribute { name: "age".into(), values: vec!["young".into()], of };
            TrainingData { attributes: &[attribute], ..data(&e, &[]) }.sorted().err()
        };
        assert_eq!(error(vec![Some(0), None]), None);
        assert!(matches!(error(vec![None]), Some(ModelError::Length { expected: 2, found: 1, .. })));
        assert!(matches!(error(vec![None, Some(1)]), Some(ModelError::UnknownValue { value: 1, .. })));
    }

    #[test]
    fn refuses_ragged_and_infinite_embeddings() {
        assert!(matches!(Embeddings::new(2, vec![0.0; 3]), Err(ModelError::RaggedEmbeddings { .. })));
        assert!(matches!(Embeddings::new(0, vec![0.0; 3]), Err(ModelError::RaggedEmbeddings { .. })));
        let error = Embeddings::new(2, vec![0.0, 0.0, 0.0, f32::NAN]).unwrap_err();
        assert_eq!(error, ModelError::NotFinite { text: 1, column: 1 });
    }
}
