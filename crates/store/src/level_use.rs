//! What depends on a level of a question.

use std::fmt;

/// What depends on a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelUse {
    /// Number of answers, including those that were changed or retracted since and are in the
    /// history.
    pub answers: u32,
    /// Number of re-annotations.
    pub repeats: u32,
    /// Number of decisions about texts.
    pub decisions: u32,
    /// Number of right answers of attention checks.
    pub checks: u32,
    /// Number of right answers of practice texts and of practice answers.
    pub practice: u32,
    /// Names of questions whose condition refers to it.
    pub conditions: Vec<String>,
}

impl LevelUse {
    /// Whether it is used by any answer, decision or right answer. Conditions of other questions do
    /// not count.
    pub fn is_answered(&self) -> bool {
        self.answers + self.repeats + self.decisions + self.checks + self.practice > 0
    }
}

impl fmt::Display for LevelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (n, one, many) in [
            (self.answers, "answer", "answers"),
            (self.repeats, "answer of a later round", "answers of later rounds"),
            (self.decisions, "decision", "decisions"),
            (self.checks, "attention check", "attention checks"),
            (self.practice, "answer of practice", "answers of practice"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        }
        parts.extend(self.conditions.iter().map(|name| format!("the condition of {name}")));
        let one = parts.len() == 1 && (parts[0].starts_with("1 ") || parts[0].starts_with("the "));
        write!(f, "{} {}", parts.join(", "), if one { "uses" } else { "use" })
    }
}

#[cfg(test)]
mod tests {
    use super::LevelUse;

    #[test]
    fn level_use_is_described() {
        let one = LevelUse { answers: 1, ..LevelUse::default() };
        assert_eq!(one.to_string(), "1 answer uses");
        let many = LevelUse { checks: 2, conditions: vec!["why".into()], ..one };
        assert_eq!(many.to_string(), "1 answer, 2 attention checks, the condition of why use");
    }
}
