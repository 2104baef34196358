//! The plan by which a table is read: what each column is, and how a row unfolds into answers.

use crate::ColumnRoles;
use dissensus_domain::Attributes;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How a table is read. It contains everything that reading needs, so that a saved reading reproduces the
/// same rows.
///
/// For a table in long form, the roles are enough. Otherwise each row is unfolded: into one answer for each
/// entry of its `lists`, and for each of its `answers`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableReading {
    /// The columns that have a role. `text_id` may join several with `+`. Where `lists` holds objects, their
    /// fields are named `column.field`; for an object of plain values `column.key` and `column.value`.
    pub roles: ColumnRoles,
    /// The columns of answers, where a row has several. No column then has the role of the label.
    pub answers: Vec<AnswerColumn>,
    /// Columns whose cells are lists, read entry by entry; in a row all have the same length.
    pub lists: Vec<String>,
    /// The separator between the entries of lists that are neither JSON nor Python: `;`.
    pub separator: Option<String>,
    pub ignored: Vec<String>,
    /// What values mean.
    pub values: ValueRules,
    /// Another table with the texts, or the answers, of this one.
    pub join: Option<Join>,
}

/// A column of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AnswerColumn {
    pub column: String,
    /// The question; `None` if all columns answer one question without a name.
    pub question: Option<String>,
    /// The option of a set that the column marks: with 1, yes or true where it was chosen.
    pub option: Option<String>,
    /// The annotator: `=NAME`, or another column; `None` for the annotator of the row.
    pub annotator: Option<String>,
    /// The text that was answered, where each has a column; `None` for the text of the row.
    pub text: Option<String>,
    /// The annotation round, from 1; `None` if a column of the row has it, or for the first.
    pub occasion: Option<u16>,
    /// Attributes of that annotator, in addition to those in columns.
    pub attributes: Attributes,
}

/// What values mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ValueRules {
    /// Values that mean a missing answer or attribute.
    pub missing: Vec<String>,
    /// Answers that differ only in case are one, and so are several spellings of yes and no.
    pub fold_case: bool,
    /// The separator between the options of one answer to a multi-label question: `,` in `anger,fear`.
    pub option_separator: Option<String>,
    /// `3,5` is the number 3.5, of answers, attributes, times and durations.
    pub decimal_comma: bool,
    /// The format of times; `None` for those that [`ColumnRoles::time`] parses anyway.
    pub time_format: Option<String>,
    /// How an attribute with several values for one annotator is settled.
    pub attribute_conflicts: AttributeConflicts,
}

/// How an attribute with several values for one annotator in a table is settled. A value that the project has
/// is never changed.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum AttributeConflicts {
    /// A row with a second value is bad.
    #[default]
    Refuse,
    /// The value of the first row is used.
    First,
    /// The value of the last row is used.
    Last,
    /// The most frequent value is used, the first of several.
    MostFrequent,
    /// The attribute of that annotator is dropped.
    Unknown,
}

/// Another table that has the same texts by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Join {
    pub path: PathBuf,
    /// The column with the id in the table itself.
    pub on: String,
    /// The column with the id in the other table; `None` if it has the same name.
    pub other: Option<String>,
}

impl TableReading {
    /// The reading of a table in long form.
    pub fn from_roles(roles: ColumnRoles) -> Self {
        Self { roles, ..Self::default() }
    }

    /// Whether rows are read unchanged.
    pub fn is_plain(&self) -> bool {
        let composed = self.roles.text_id.as_ref().is_some_and(|column| column.contains('+'));
        let as_they_stand = Self { roles: self.roles.clone(), ..Self::default() };
        *self == as_they_stand && !composed
    }

    /// The questions that columns of answers name, in order.
    pub fn questions(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.answers.iter().filter_map(|answer| answer.question.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
