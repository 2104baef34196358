//! Languages in which annotators can use the desk.

use serde::{Deserialize, Serialize};

/// A language of the desk, by its tag (BCP 47).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// French.
    Fr,
    /// Spanish.
    Es,
    /// Italian.
    It,
    /// Portuguese.
    Pt,
    /// Dutch.
    Nl,
    /// Polish.
    Pl,
    /// Turkish.
    Tr,
    /// Arabic.
    Ar,
    /// Chinese, in simplified characters.
    Zh,
    /// Japanese.
    Ja,
}

impl Language {
    /// Its tag.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
