//! What an annotator had seen of others about a text before answering.

use serde::{Deserialize, Serialize};

/// What an annotator was shown about a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// Answers of other annotators.
    pub answers: bool,
    /// Model predictions for annotators, including this one.
    pub predictions: bool,
}

const ANSWERS: &str = "answers";
const PREDICTIONS: &str = "predictions";

impl Shown {
    /// Whether anything was shown.
    pub fn any(self) -> bool {
        self.answers || self.predictions
    }

    /// The union of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { answers: self.answers || other.answers, predictions: self.predictions || other.predictions }
    }

    /// The names used in files, separated by semicolons; empty if nothing was shown.
    pub fn names(self) -> &'static str {
        match (self.answers, self.predictions) {
            (false, false) => "",
            (true, false) => ANSWERS,
            (false, true) => PREDICTIONS,
            (true, true) => "answers; predictions",
        }
    }

    /// Parses the output of [`Shown::names`].
    ///
    /// # Errors
    /// Returns the first unknown name.
    pub fn named(names: &str) -> Result<Self, &str> {
        let mut shown = Self::default();
        for name in names.split(';').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                ANSWERS => shown.answers = true,
                PREDICTIONS => shown.predictions = true,
                other => return Err(other),
            }
        }
        Ok(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::Shown;

    #[test]
    fn names_round_trip_and_others_are_refused() {
        for (answers, predictions) in [(false, false), (true, false), (false, true), (true, true)] {
            let shown = Shown { answers, predictions };
            assert_eq!(Shown::named(shown.names()), Ok(shown));
        }
        assert_eq!(Shown::named(" predictions;answers ;"), Ok(Shown { answers: true, predictions: true }));
        assert_eq!(Shown::named("answers; labels"), Err("labels"));
    }
}
