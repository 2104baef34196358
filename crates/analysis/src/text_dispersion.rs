//! Tests whether people are further apart on some texts than the model expects of texts with the same mean.

use super::Analysis;
use crate::needs;
use dissensus_domain::QuestionId;
use dissensus_models::mixed::{ScaleSpread, TextDispersion};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use serde::Serialize;

/// Number of data sets drawn from the fitted model: the smallest possible p is .025.
const REPLICATES: usize = 39;
/// Significance level of a shown difference.
const SHOWN: f64 = 0.05;

/// The figures, with a sentence for the user.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextDispersionReport {
    /// The figures; `None` if the labels are not sufficient.
    pub found: Option<TextDispersion>,
    /// Whether texts are shown to differ (p at most .05).
    pub shown: bool,
    /// How much texts' own scales differ in the predictions; `None` if held-out labels are not predicted
    /// better by them.
    pub scales: Option<ScaleSpread>,
    /// The figures in words.
    pub words: String,
}

/// Estimates the dispersion by the live model of a question, which is copied first, so that recording a
/// label does not wait. Takes as long as some dozens of estimations of the variances.
///
/// # Errors
/// No such question, or cancellation.
pub fn measure(
    cx: &Analysis,
    question: QuestionId,
    seed: u64,
    progress: &dyn Progress,
) -> Result<TextDispersionReport, ProjectError> {
    let index = cx.context.index();
    let asked = index.with_levels(question)?;
    let Some(model) = cx.live.with(asked, |fitted| fitted.model.clone())? else {
        let words = needs::note_on_labels(cx, false)?.unwrap_or_else(|| words(None, false, None, false));
        return Ok(TextDispersionReport { found: None, shown: false, scales: None, words });
    };
    let found = model.text_dispersion(REPLICATES, seed, progress)?;
    let shown = found.is_some_and(|found| found.p <= SHOWN);
    let scales = model.scale_spread();
    Ok(TextDispersionReport {
        found,
        shown,
        scales,
        words: words(found, shown, scales, model.has_text_scales()),
    })
}

fn words(found: Option<TextDispersion>, shown: bool, scales: Option<ScaleSpread>, reported: bool) -> String {
    let Some(found) = found else {
        return "Whether people are further apart on some texts than on others of the same mean cannot be estimated: that takes three ordered \
                levels or more, and 50 texts with labels of two people."
            .to_owned();
    };
    let used = scales.map(|ScaleSpread { sd, interval: (low, high) }| {
        let exceeds = |value: f64| value >= ScaleSpread::MAX_PUBLISHED;
        let value = if exceeds(sd) { format!("{sd:.2} or more") } else { format!("{sd:.2}") };
        let interval = match (exceeds(low), exceeds(high)) {
            (true, _) => "too large to tell more precisely".to_owned(),
            (false, true) => format!("95 %: {low:.2} or more"),
            (false, false) => format!("95 %: {low:.2} to {high:.2}"),
        };
        format!(
            "Predictions use that for texts with labels: each has a scale of its own, learned from its labels and shrunk. The logarithms of the \
             scales have a standard deviation of {value} ({interval})."
        )
    });
    let used = match (used, reported) {
        (Some(own), true) => {
            Some(format!("Predictions use what a text's embedding tells of that, and its labels. {own}"))
        }
        (None, true) => Some(
            "Predictions use what a text's embedding tells of that; labels that were left out are not predicted better by a scale of the text's own."
                .to_owned(),
        ),
        (own, false) => own,
    };
    if shown {
        let used = used.unwrap_or_else(|| {
            "Predictions do not use that, because labels that were left out are not predicted better by it: where it counts, look at the labels alone.".to_owned()
        });
        format!(
            "People are further apart on some texts than a model expects in which that follows from a text's mean (p {:.3}): some divide people \
             more than others do, or in camps, or some people's labels fit no model. {used}",
            found.p
        )
    } else {
        let used = used.unwrap_or_else(|| {
            "Predictions of how far they are apart follow from the mean of a text.".to_owned()
        });
        format!(
            "That people are further apart on some texts than on others of the same mean is not shown by this test (p {:.2} over {} texts). {used}",
            found.p, found.texts
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_evidence_is_not_reported_as_absence() {
        let of = |p| Some(TextDispersion { statistic: 0.3, p, replicates: 39, texts: 300 });
        let scales = Some(ScaleSpread { sd: 0.35, interval: (0.29, 0.4) });
        let not_shown = words(of(0.6), false, None, false);
        assert!(not_shown.contains("is not shown by this test (p 0.60 over 300 texts)"));
        assert!(not_shown.contains("follow from the mean of a text"));
        let unused = words(of(0.025), true, None, false);
        assert!(unused.contains("(p 0.025)") && unused.contains("Predictions do not use that"));
        let used = words(of(0.025), true, scales, false);
        assert!(used.contains("Predictions use that") && used.contains("0.35 (95 %: 0.29 to 0.40)"));
        let most = ScaleSpread::MAX_PUBLISHED;
        let wide = words(of(0.025), true, Some(ScaleSpread { sd: 0.55, interval: (0.45, most) }), true);
        assert!(wide.contains("0.55 (95 %: 0.45 or more)") && wide.contains("embedding tells"), "{wide}");
        let widest = words(of(0.025), true, Some(ScaleSpread { sd: most, interval: (most, most) }), true);
        assert!(widest.contains("0.60 or more (too large to tell more precisely)"), "{widest}");
        assert!(words(of(0.025), true, None, true).contains("Predictions use what a text's embedding tells"));
        assert!(words(None, false, None, false).contains("cannot be estimated"));
    }
}
