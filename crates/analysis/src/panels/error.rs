//! Errors of panels.

use dissensus_project::error::ProjectError;

dissensus_domain::errors! {
    /// Why a panel has no decision.
    #[derive(Debug)]
    pub enum PanelError {
        Written(#[from] dissensus_domain::PanelRuleError) => "panel-rule", transparent;
        Rule { rule: String, why: String } => "panel-rule", "the rule {rule} cannot be used here: {why}";
        Level { rule: String, question: String, level: String, known: String } => "panel-rule",
            "\"{question}\" has no level \"{level}\" for the rule {rule}: it has {known}";
        Drawing(#[from] dissensus_stats::panels::QuotaError) => "panel-shares", transparent;
        Unknown { attribute: String, value: String, known: String } => "panel-shares",
            "nobody to draw from has {attribute}={value}; {}" (if known.is_empty() { format!("nobody has an attribute \"{attribute}\"") } else { format!("there is {known}") });
        Nobody => "panel-members", "name the members, or say how many to draw";
        Twice(String) => "panel-members", "\"{0}\" is named twice: a member sits on a panel once";
        Range { what: &'static str, value: String, allowed: &'static str } => "panel-range",
            "{what} cannot be {value}: it takes {allowed}";
        NoSuchPanel { name: String, known: String } => "no-such-panel",
            "no panel is saved as \"{name}\"{}" (if known.is_empty() { ": none is saved".to_owned() } else { format!("; saved are {known}") });
    }
}

impl From<PanelError> for ProjectError {
    fn from(error: PanelError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}
