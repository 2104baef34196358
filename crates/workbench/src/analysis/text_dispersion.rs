//! Whether people are further apart on some texts than the model expects of texts of the same mean.

use super::Analysis;
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use dissensus_domain::QuestionId;
use dissensus_perspectives::TextDispersion;
use serde::Serialize;

/// Data sets drawn from the fitted model: p can be .025 at least.
const REPLICATES: usize = 39;
/// The rule under which a difference is said to be shown.
const SHOWN: f64 = 0.05;

/// What was found, with a sentence for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextDispersionReport {
    /// The figures; `None` where the labels cannot tell.
    pub found: Option<TextDispersion>,
    /// Whether texts are shown to differ (p at most .05).
    pub shown: bool,
    /// The same in words.
    pub words: String,
}

impl Analysis {
    /// By the live model of a question, which is copied first, so that nobody's label waits. Takes as long as some dozens of estimations of
    /// the variances.
    ///
    /// # Errors
    /// No such question, or a cancel.
    pub fn text_dispersion(
        &self,
        question: QuestionId,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<TextDispersionReport, WorkbenchError> {
        self.context.question_parts(question)?;
        let Some(model) = self.live.models.with(question, |fitted| fitted.model.clone()) else {
            let words = self.note(false)?.unwrap_or_else(|| words(None, false));
            return Ok(TextDispersionReport { found: None, shown: false, words });
        };
        let found = model.text_dispersion(REPLICATES, seed, progress)?;
        let shown = found.is_some_and(|found| found.p <= SHOWN);
        Ok(TextDispersionReport { found, shown, words: words(found, shown) })
    }
}

fn words(found: Option<TextDispersion>, shown: bool) -> String {
    let Some(found) = found else {
        return "Whether people are further apart on some texts than on others of the same mean cannot be told: that takes three ordered \
                levels or more, and 50 texts with labels of two people."
            .to_owned();
    };
    if shown {
        format!(
            "People are further apart on some texts than the model expects of texts of that mean (p {:.3}): some divide people more than others do, or \
             in camps, or some people's labels fit no model. Predictions do not use that: where it counts, look at the labels alone.",
            found.p
        )
    } else {
        format!(
            "That people are further apart on some texts than on others of the same mean is not shown (p {:.2} over {} texts): predictions of \
             how far they are apart follow from where a text stands.",
            found.p, found.texts
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_is_not_called_absent() {
        let of = |p| TextDispersion { statistic: 0.3, p, replicates: 39, texts: 300 };
        assert!(words(Some(of(0.6)), false).contains("is not shown (p 0.60 over 300 texts)"));
        assert!(
            words(Some(of(0.025)), true).contains("than the model expects of texts of that mean (p 0.025)")
        );
        assert!(words(None, false).contains("cannot be told"));
    }
}
