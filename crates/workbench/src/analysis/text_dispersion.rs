//! Whether texts differ in how far people are apart on them, beyond what their place on the scale explains.

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
        let shown = found.is_some_and(|found| found.p <= SHOWN && found.variance > 0.0);
        Ok(TextDispersionReport { found, shown, words: words(found, shown) })
    }
}

fn words(found: Option<TextDispersion>, shown: bool) -> String {
    let Some(found) = found else {
        return "Whether people are further apart on some texts than on others of the same mean cannot be told: that takes three ordered \
                levels or more, and 50 texts with labels of two people."
            .to_owned();
    };
    let sd = |variance: f64| variance.max(0.0).sqrt();
    let (low, high) = (sd(found.interval.0), sd(found.interval.1));
    if shown {
        format!(
            "People are further apart on some texts than on others of the same mean: the texts' scales differ by a factor of {:.2} (90 %: {:.2} to \
             {:.2}; p {:.3}). Predictions do not use that: where it counts, look at the labels alone.",
            sd(found.variance).exp(),
            low.exp(),
            high.exp(),
            found.p
        )
    } else {
        format!(
            "That people are further apart on some texts than on others of the same mean is not shown (p {:.2}; the texts' scales differ by a \
             factor of {:.2} at most, 90 %): how far they are apart follows from where a text stands.",
            found.p,
            high.exp()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_is_said_with_its_bound() {
        let of =
            |variance: f64, interval, p| TextDispersion { variance, interval, p, replicates: 39, texts: 300 };
        let none = words(Some(of(-0.01, (-0.05, 0.04), 0.6)), false);
        assert!(none.contains("is not shown (p 0.60") && none.contains("factor of 1.22"), "{none}");
        let some = words(Some(of(0.16, (0.09, 0.25), 0.025)), true);
        assert!(some.contains("factor of 1.49 (90 %: 1.35 to 1.65; p 0.025)"), "{some}");
        assert!(words(None, false).contains("cannot be told"));
    }
}
