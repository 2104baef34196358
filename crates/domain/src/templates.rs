//! Common scales to start a question with.

use crate::{Scale, ScaleKind};
use serde::Serialize;

/// A predefined scale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleTemplate {
    /// Name on the command line.
    pub name: String,
    /// Name in the window.
    pub title: String,
    pub scale: Scale,
}

const TEMPLATES: [(&str, &str, ScaleKind, &[&str]); 4] = [
    (
        "likert-5",
        "Agreement, 5 levels (Likert)",
        ScaleKind::Ordinal,
        &["strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"],
    ),
    (
        "likert-7",
        "Agreement, 7 levels (Likert)",
        ScaleKind::Ordinal,
        &[
            "strongly disagree",
            "disagree",
            "somewhat disagree",
            "neither agree nor disagree",
            "somewhat agree",
            "agree",
            "strongly agree",
        ],
    ),
    ("yes-no-unsure", "Yes, no, unsure", ScaleKind::Choice, &["yes", "no", "unsure"]),
    (
        "severity",
        "Severity, 0 to 4",
        ScaleKind::Ordinal,
        &["0 none", "1 mild", "2 moderate", "3 severe", "4 very severe"],
    ),
];

impl ScaleTemplate {
    /// All templates.
    pub fn all() -> Vec<Self> {
        let template = |(name, title, kind, levels): &(&str, &str, ScaleKind, &[&str])| {
            let scale = Scale::new(*kind, *levels).ok()?;
            Some(Self { name: (*name).to_owned(), title: (*title).to_owned(), scale })
        };
        TEMPLATES.iter().filter_map(template).collect()
    }

    /// Finds a template by name.
    ///
    /// # Errors
    /// No template has this name; the message lists the valid names.
    pub fn named(name: &str) -> Result<Self, String> {
        Self::all().into_iter().find(|template| template.name == name).ok_or_else(|| {
            let names: Vec<&str> = TEMPLATES.iter().map(|template| template.0).collect();
            format!("there is no template \"{name}\": use {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_a_scale() {
        let all = ScaleTemplate::all();
        assert_eq!(all.iter().map(|template| template.scale.len()).collect::<Vec<_>>(), [5, 7, 3, 5]);
        assert_eq!(ScaleTemplate::named("severity").unwrap().scale.levels()[0], "0 none");
        assert!(ScaleTemplate::named("likert").unwrap_err().contains("likert-5, likert-7"));
    }
}
