//! Reads config.json: invalid values are refused before any tensor is read.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::EncoderError;
use crate::folder::{CONFIG, Folder};
use crate::ops::Activation;

/// A folder's config.json during validation.
pub(super) struct ConfigReader<'a> {
    folder: &'a Folder,
}

impl<'a> ConfigReader<'a> {
    /// Parses the fields that a family uses.
    pub(super) fn read<C: DeserializeOwned>(
        config: Value,
        folder: &'a Folder,
    ) -> Result<(C, Self), EncoderError> {
        let config = serde_json::from_value(config).map_err(|e| folder.bad_json(CONFIG, &e.to_string()))?;
        Ok((config, Self { folder }))
    }

    /// The error for a field with an unsupported value.
    pub(super) fn bad(&self, field: &str, found: impl ToString, expected: &str) -> EncoderError {
        EncoderError::BadConfig {
            path: self.folder.path(CONFIG),
            field: field.to_owned(),
            found: found.to_string(),
            expected: expected.to_owned(),
        }
    }

    /// Checks sizes that must be at least 1.
    pub(super) fn positive(&self, fields: &[(&str, usize)]) -> Result<(), EncoderError> {
        match fields.iter().find(|(_, value)| *value == 0) {
            None => Ok(()),
            Some((field, _)) => Err(self.bad(field, 0, "it must be 1 or more")),
        }
    }

    /// Checks that the hidden size is divisible by the number of heads.
    pub(super) fn heads(
        &self,
        (field, heads): (&str, usize),
        (of, hidden): (&str, usize),
    ) -> Result<(), EncoderError> {
        if heads > 0 && hidden > 0 && hidden % heads == 0 {
            return Ok(());
        }
        Err(self.bad(field, heads, &format!("it must be 1 or more and divide {of}, which is {hidden}")))
    }

    /// Checks the small number that norms add to the variance.
    pub(super) fn epsilon(&self, field: &str, epsilon: f64) -> Result<(), EncoderError> {
        let usable = (0.0..1.0).contains(&epsilon);
        if usable { Ok(()) } else { Err(self.bad(field, epsilon, "it must be between 0 and 1")) }
    }

    /// Checks dropout probabilities.
    pub(super) fn dropouts(&self, fields: &[(&str, f32)]) -> Result<(), EncoderError> {
        match fields.iter().find(|(_, p)| !(0.0..1.0).contains(p)) {
            None => Ok(()),
            Some((field, p)) => Err(self.bad(field, p, "it must be at least 0 and below 1")),
        }
    }

    /// Finds a nonlinearity by its name.
    pub(super) fn activation(&self, field: &str, name: &str) -> Result<Activation, EncoderError> {
        Activation::named(name).ok_or_else(|| self.bad(field, name, Activation::NAMES))
    }
}
