//! What depends on a question, a text or an annotator, and prevents its removal.

use std::fmt;

/// What prevents a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Answers,
    Repeats,
    Packets,
    Decisions,
    Checks,
    Practice,
    Shown,
    Conditions,
}

/// What depends on a question, a text or an annotator, and prevents its removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependents {
    /// Answers, skips, flags and notes, including those that were changed or retracted since and
    /// are in the history.
    pub answers: u32,
    /// Re-annotations.
    pub repeats: u32,
    /// Task packets.
    pub packets: u32,
    /// Decisions.
    pub decisions: u32,
    /// Attention checks, including removed ones.
    pub checks: u32,
    /// Practice texts and practice answers.
    pub practice: u32,
    /// Records of annotators being shown the answers of others.
    pub shown: u32,
    /// Conditions of other questions that refer to it, including removed ones.
    pub conditions: u32,
    /// Names of saved panels that refer to it.
    pub panels: Vec<String>,
}

impl Dependents {
    /// Whether nothing depends on the item, so that it can be removed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The count of what prevents the removal.
    pub(crate) fn count(&mut self, of: Use) -> &mut u32 {
        match of {
            Use::Answers => &mut self.answers,
            Use::Repeats => &mut self.repeats,
            Use::Packets => &mut self.packets,
            Use::Decisions => &mut self.decisions,
            Use::Checks => &mut self.checks,
            Use::Practice => &mut self.practice,
            Use::Shown => &mut self.shown,
            Use::Conditions => &mut self.conditions,
        }
    }
}

impl fmt::Display for Dependents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (n, one, many) in [
            (self.answers, "entry in its history", "entries in its history"),
            (self.repeats, "answer of a later round", "answers of later rounds"),
            (self.packets, "packet", "packets"),
            (self.decisions, "decision", "decisions"),
            (self.checks, "attention check", "attention checks"),
            (self.practice, "text or answer of practice", "texts or answers of practice"),
            (self.shown, "time that others' answers were shown", "times that others' answers were shown"),
            (
                self.conditions,
                "time that another question was asked only after it",
                "times that others were asked only after it",
            ),
        ] {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        }
        parts.extend(self.panels.iter().map(|name| format!("the saved panel \"{name}\"")));
        f.write_str(&parts.join(", "))
    }
}
