//! Serialisation of a live model for the project file.

use super::model::LiveModel;
use crate::batch::{Multilevel, TextScorer};
use crate::mixed::{CrossedEffects, Estimation};
use dissensus_stats::data::ModelError;
use dissensus_stats::data::{Attribute, Target};
use serde::{Deserialize, Serialize};

/// Version of the format; increases when the meaning of the bytes changes.
const FORMAT: u16 = 9;
/// First bytes of every stored model.
const MAGIC: [u8; 4] = *b"DSML";

#[derive(Serialize)]
struct Out<'a> {
    target: Target,
    attributes: &'a [Attribute],
    fitted_attributes: &'a [Attribute],
    revision: u64,
    head: &'a TextScorer,
    crossed: &'a CrossedEffects,
}

#[derive(Deserialize)]
struct In {
    target: Target,
    attributes: Vec<Attribute>,
    fitted_attributes: Vec<Attribute>,
    revision: u64,
    head: TextScorer,
    crossed: CrossedEffects,
}

impl LiveModel {
    /// Serialises a model for predicting new texts, for [`LiveModel::from_bytes`]: the head and the
    /// annotators' effects, without texts, labels and attributes. Predictions for new texts
    /// ([`LiveModel::add_text`]) are identical to this model's; the restored model must not be given labels
    /// to learn from. If scores also depend on similar texts, the head contains the embeddings of these texts
    /// ([`LiveModel::embeddings_held`]).
    ///
    /// # Errors
    /// The same as [`LiveModel::to_bytes`].
    pub fn to_bytes_for_new_texts(&self) -> Result<Vec<u8>, ModelError> {
        let model = Multilevel::from_parts(self.model.head.clone(), self.model.crossed.for_new_texts());
        Self::from_model(model, self.target, Vec::new(), 0).to_bytes()
    }

    /// Number of labelled texts whose embeddings are part of the head, because scores depend on similar
    /// texts; 0 for most models of few or very many texts.
    pub fn embeddings_held(&self) -> usize {
        self.model.head.embeddings_held()
    }

    /// Whether the head uses character n-grams, with a weight for each of the columns that they are hashed
    /// into.
    pub fn reads_ngrams(&self) -> bool {
        self.model.head.reads_ngrams()
    }

    /// Serialises parameters and labels, without the sums, which are quick to recompute.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] if a number cannot be serialised, which is not known to happen.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let out = Out {
            target: self.target,
            attributes: &self.attributes,
            fitted_attributes: &self.fitted_attributes,
            revision: self.revision(),
            head: &self.model.head,
            crossed: &self.model.crossed,
        };
        let body = postcard::to_allocvec(&out).map_err(|e| ModelError::Damaged(e.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(body);
        Ok(bytes)
    }

    /// Restores a model from [`LiveModel::to_bytes`].
    ///
    /// # Errors
    /// [`ModelError::Damaged`] or [`ModelError::Format`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let parts = parts(bytes)?;
        let model = Multilevel::from_parts(parts.head, parts.crossed);
        let model = Self::from_model(model, parts.target, parts.attributes, parts.revision);
        Ok(Self { fitted_attributes: parts.fitted_attributes, ..model })
    }

    /// Returns how the variances of a model from [`LiveModel::to_bytes`] were estimated, without restoring
    /// the model.
    ///
    /// # Errors
    /// The same as [`LiveModel::from_bytes`].
    pub fn estimation_in(bytes: &[u8]) -> Result<Estimation, ModelError> {
        Ok(parts(bytes)?.crossed.estimation())
    }
}

/// Deserialises and checks the parts of a model.
fn parts(bytes: &[u8]) -> Result<In, ModelError> {
    let damaged = |why: &str| ModelError::Damaged(why.to_owned());
    let rest = bytes.strip_prefix(&MAGIC).ok_or_else(|| damaged("it does not start like one"))?;
    let (format, body) = rest.split_first_chunk::<2>().ok_or_else(|| damaged("it ends too early"))?;
    let found = u16::from_le_bytes(*format);
    if found != FORMAT {
        return Err(ModelError::Format { found, known: FORMAT });
    }
    let parts: In = postcard::from_bytes(body).map_err(|e| damaged(&e.to_string()))?;
    parts.target.check()?;
    parts.crossed.check(parts.target).map_err(damaged)?;
    parts.head.check(parts.crossed.link, parts.crossed.slope_dim).map_err(damaged)?;
    for attribute in parts.attributes.iter().chain(&parts.fitted_attributes) {
        // Annotators may have joined later.
        if attribute.of.len() > parts.crossed.annotators.len() {
            return Err(damaged("an attribute has more entries than there are annotators"));
        }
        attribute.check(attribute.of.len())?;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of earlier versions, which had one enum for kinds of questions and of targets.
    #[test]
    fn targets_serialise_like_earlier_versions() {
        use dissensus_domain::TargetKind::{Binary, Nominal, Ordinal};
        for (kind, index) in [(Binary, 0), (Nominal, 1), (Ordinal, 3)] {
            let target = Target { kind, levels: 2 };
            assert_eq!(postcard::to_allocvec(&target).unwrap(), [index, 2]);
            assert_eq!(postcard::from_bytes::<Target>(&[index, 2]).unwrap(), target);
        }
        assert!(postcard::from_bytes::<Target>(&[2, 2]).is_err(), "a set of options");
    }
}
