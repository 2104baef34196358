//! Errors of panels.

/// Why a panel has no decision.
#[derive(Debug, thiserror::Error)]
pub enum PanelError {
    /// The rule cannot be parsed.
    #[error(transparent)]
    Written(#[from] dissensus_domain::PanelRuleError),
    /// The rule does not fit the question or the panel.
    #[error("the rule {rule} cannot be used here: {why}")]
    Rule {
        rule: String,
        /// Why it does not fit.
        why: String,
    },
    /// A level that the question does not have.
    #[error("\"{question}\" has no level \"{level}\" for the rule {rule}: it has {known}")]
    Level {
        /// The rule with the level.
        rule: String,
        question: String,
        /// The named level.
        level: String,
        /// Existing levels.
        known: String,
    },
    /// Members cannot be drawn.
    #[error(transparent)]
    Drawing(#[from] dissensus_stats::panels::QuotaError),
    /// An attribute, or a value, that no candidate has.
    #[error("nobody to draw from has {attribute}={value}; {}", if .known.is_empty() { format!("nobody has an attribute \"{attribute}\"") } else { format!("there is {known}") })]
    Unknown {
        attribute: String,
        value: String,
        /// Existing values.
        known: String,
    },
    /// No member was named.
    #[error("name the members, or say how many to draw")]
    Nobody,
    /// A member named twice.
    #[error("\"{0}\" is named twice: a member sits on a panel once")]
    Twice(String),
    /// A number outside its range.
    #[error("{what} cannot be {value}: it takes {allowed}")]
    Range {
        /// The name of the number.
        what: &'static str,
        /// The given value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// There is no panel of that name.
    #[error("no panel is saved as \"{name}\"{}", if .known.is_empty() { ": none is saved".to_owned() } else { format!("; saved are {known}") })]
    NoSuchPanel {
        /// The requested name.
        name: String,
        /// Existing panels.
        known: String,
    },
    /// A question whose answers are not levels.
    #[error("too little to tell: {0}")]
    Needs(String),
}

impl PanelError {
    /// A stable code in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Written(_) | Self::Rule { .. } | Self::Level { .. } => "panel-rule",
            Self::Drawing(_) | Self::Unknown { .. } => "panel-shares",
            Self::Nobody | Self::Twice(_) => "panel-members",
            Self::Range { .. } => "panel-range",
            Self::NoSuchPanel { .. } => "no-such-panel",
            Self::Needs(_) => "panel-needs",
        }
    }
}
