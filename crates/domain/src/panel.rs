//! Panels: a set of annotators, or a recipe for sampling one, with a rule that combines their
//! answers into a verdict.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How the answers of a panel are combined into a verdict, in the notation used by the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PanelRule {
    /// `majority`: the most frequent level; no majority if levels tie.
    Majority,
    /// `mean`: the level closest to the mean.
    Mean,
    /// `median`: the middle answer; the lower of two middle ones.
    Median,
    /// `veto:LEVEL`: one member at this level or above; the top level by default.
    Veto(Option<String>),
    /// `quorum:MEMBERS@LEVEL`: at least this many members at this level or above; the top level by
    /// default.
    Quorum(Needed, Option<String>),
}

/// How many members of a panel are required.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Needed {
    /// A number of members.
    Members(u32),
    /// A share of the members, above 0 and at most 1, rounded up.
    Share(f64),
}

impl Needed {
    /// The number of members required in a panel of this size.
    pub fn of(self, size: usize) -> usize {
        match self {
            Self::Members(n) => n as usize,
            // Tolerance: 0.7 of 10 must be 7 members in spite of floating-point error.
            Self::Share(share) => ((share * size as f64 - 1e-9).ceil() as usize).max(1),
        }
    }
}

/// A rule that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no rule of a panel: it is majority, mean, median, veto:LEVEL, quorum:MEMBERS@LEVEL or quorum:SHARE@LEVEL (quorum:0.5@4)"
)]
pub struct PanelRuleError(pub String);

impl FromStr for PanelRule {
    type Err = PanelRuleError;

    fn from_str(written: &str) -> Result<Self, PanelRuleError> {
        let wrong = || PanelRuleError(written.to_owned());
        let level = |name: &str| (!name.trim().is_empty()).then(|| name.trim().to_owned());
        let (rule, rest) = written.trim().split_once(':').unwrap_or((written.trim(), ""));
        match (rule, rest) {
            ("majority", "") => Ok(Self::Majority),
            ("mean", "") => Ok(Self::Mean),
            ("median", "") => Ok(Self::Median),
            ("veto", name) => Ok(Self::Veto(level(name))),
            ("quorum", rest) => {
                let (needed, name) = rest.split_once('@').unwrap_or((rest, ""));
                Ok(Self::Quorum(needed.trim().parse().map_err(|()| wrong())?, level(name)))
            }
            _ => Err(wrong()),
        }
    }
}

impl FromStr for Needed {
    type Err = ();

    fn from_str(written: &str) -> Result<Self, ()> {
        let share = match written.strip_suffix('%') {
            Some(percent) => Some(percent.trim().parse::<f64>().map_err(drop)? / 100.0),
            None if written.contains('.') => Some(written.parse::<f64>().map_err(drop)?),
            None => None,
        };
        match share {
            Some(share) if share > 0.0 && share <= 1.0 => Ok(Self::Share(share)),
            Some(_) => Err(()),
            None => written.parse::<u32>().ok().filter(|n| *n > 0).map(Self::Members).ok_or(()),
        }
    }
}

impl fmt::Display for PanelRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Majority => f.write_str("majority"),
            Self::Mean => f.write_str("mean"),
            Self::Median => f.write_str("median"),
            Self::Veto(None) => f.write_str("veto"),
            Self::Veto(Some(level)) => write!(f, "veto:{level}"),
            Self::Quorum(needed, level) => {
                match needed {
                    Needed::Members(n) => write!(f, "quorum:{n}")?,
                    // With a decimal point: 1.0 means all members, 1 would mean one member.
                    Needed::Share(share) => write!(f, "quorum:{share:?}")?,
                }
                level.as_ref().map_or(Ok(()), |level| write!(f, "@{level}"))
            }
        }
    }
}

impl TryFrom<String> for PanelRule {
    type Error = PanelRuleError;

    fn try_from(written: String) -> Result<Self, PanelRuleError> {
        written.parse()
    }
}

impl From<PanelRule> for String {
    fn from(rule: PanelRule) -> Self {
        rule.to_string()
    }
}

/// Requires a share of a panel to have a value of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PanelShare {
    pub attribute: String,
    pub value: String,
    /// Share of the members, from 0 to 1.
    pub share: f64,
}

/// The members of a panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelMembers {
    /// Named annotators, by external id.
    Named(Vec<String>),
    /// Annotators sampled without replacement.
    Drawn {
        /// Number of members.
        size: u32,
        /// Required shares of attribute values.
        shares: Vec<PanelShare>,
        /// Random seed.
        seed: u32,
    },
}

/// A panel with its rule. Annotators, levels and questions are referenced by name, so that copies
/// of a project agree on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// The question's name; the project's only question if `None`.
    pub question: Option<String>,
    pub members: PanelMembers,
    pub rule: PanelRule,
}

/// A panel saved in a project.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedPanel {
    pub name: String,
    /// When it was saved, in milliseconds since 1970-01-01 UTC.
    pub saved_at_ms: i64,
    /// The panel; `None` if it was deleted.
    pub panel: Option<Panel>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    fn rules_round_trip_as_text(
        #[values(
            "majority",
            "mean",
            "median",
            "veto",
            "veto:4",
            "veto:very rude",
            "quorum:3",
            "quorum:3@4",
            "quorum:0.5@4",
            "quorum:1.0@a@b"
        )]
        written: &str,
    ) {
        let rule: PanelRule = written.parse().unwrap();
        assert_eq!(rule.to_string(), written);
        let json = serde_json::to_string(&rule).unwrap();
        assert_eq!(serde_json::from_str::<PanelRule>(&json).unwrap(), rule);
    }

    #[test]
    fn share_may_be_written_in_percent() {
        assert_eq!("quorum:50%@2".parse(), Ok(PanelRule::Quorum(Needed::Share(0.5), Some("2".into()))));
    }

    #[rstest]
    #[case::nothing("")]
    #[case::unknown("most")]
    #[case::number_of_none("majority:3")]
    #[case::no_number("quorum")]
    #[case::nobody("quorum:0@2")]
    #[case::negative("quorum:-1")]
    #[case::more_than_all("quorum:1.5@2")]
    #[case::no_share("quorum:x@2")]
    #[case::share_of_nobody("quorum:0.0")]
    fn other_rules_are_refused(#[case] wrong: &str) {
        assert!(wrong.parse::<PanelRule>().is_err());
    }

    #[test]
    fn share_is_rounded_up_to_members() {
        let of = |share, size| Needed::Share(share).of(size);
        assert_eq!((of(0.5, 12), of(0.5, 7), of(0.7, 10), of(0.01, 5), of(1.0, 5)), (6, 4, 7, 1, 5));
        assert_eq!(Needed::Members(3).of(12), 3);
    }
}
