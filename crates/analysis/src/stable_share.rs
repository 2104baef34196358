//! How much of the differences between people is stable and how much is momentary: the evidence of repeated
//! answers, in addition to the model.

use super::Analysis;
use crate::needs;
use dissensus_domain::QuestionId;
use dissensus_models::live::{MIN_STABLE_REPEATS, ReannotatedAnswer, StableShare};
use dissensus_project::context::AnswerAgain;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use serde::Serialize;

/// Wider intervals are not informative.
const WIDEST: f64 = 0.8;

/// The figures, with a sentence for the user.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StableShareReport {
    /// The figures; `None` with too few repeats, or before the models are fitted.
    pub found: Option<StableShare>,
    /// The same in words.
    pub words: String,
}

/// Estimates the share by the live model of a question, which is copied first, so that recording a label
/// does not wait. Repeats of texts or people that were added after the fit are left out.
///
/// # Errors
/// No such question, or the file cannot be read.
pub fn measure(cx: &Analysis, question: QuestionId) -> Result<StableShareReport, ProjectError> {
    let counts = cx.context.repeat_counts(question)?;
    let index = cx.context.index();
    let asked = index.with_levels(question)?;
    let Some(model) = cx.live.with(asked, |fitted| fitted.model.clone())? else {
        let words = needs::note_on_labels(cx, false)?.unwrap_or_else(|| words(None, counts.again.len()));
        return Ok(StableShareReport { found: None, words });
    };
    let scale = &asked.scale;
    let row = |again: &AnswerAgain| {
        let (text, annotator) = (index.text_row(again.text)?, index.annotator_row(again.annotator)?);
        let (first, second) = (scale.index_of_answer(&again.first)?, scale.index_of_answer(&again.second)?);
        let known = (text as usize) < model.texts();
        known.then_some(ReannotatedAnswer { text, annotator, first, second })
    };
    let repeats: Vec<ReannotatedAnswer> = counts.again.iter().filter_map(row).collect();
    let known = |r: &&ReannotatedAnswer| model.label(r.text, r.annotator).is_some();
    let compared = repeats.iter().filter(known).count();
    let found = model.stable_share(&repeats);
    Ok(StableShareReport { found, words: words(found, compared) })
}

fn words(found: Option<StableShare>, repeats: usize) -> String {
    let Some(found) = found else {
        return format!(
            "Whether people differ in kind on a text (contested) or would answer otherwise another day (ambiguous) cannot be distinguished without \
             asking the same people again: it takes {MIN_STABLE_REPEATS} repeats of three people and three texts, of which some ten would differ by \
             chance, and the project has {repeats}."
        );
    };
    let (low, high) = found.interval;
    if high - low > WIDEST {
        return format!(
            "Whether texts are contested or ambiguous: {} repeats are too few to tell, with {:.0} % that would be the same anyway.",
            found.repeats,
            100.0 * found.expected
        );
    }
    let percent = |share: f64| (100.0 * share).round();
    let what = format!(
        "Of what the model takes for chance, {:.0} % (95 %: {:.0} to {:.0} %) comes back when the same people are asked again",
        percent(found.share),
        percent(low),
        percent(high)
    );
    let so = if high < 0.25 {
        "most of it is the moment's (ambiguous texts)"
    } else if low > 0.5 {
        "most of it is what these people see in these texts (contested)"
    } else if low > 0.0 {
        "part of it is what these people see in these texts (contested), part the moment's (ambiguous)"
    } else {
        "too few repeats to tell contested texts from ambiguous ones"
    };
    format!(
        "{what}: {so}. Remembered answers raise this share, a change of mind or of the guideline lowers it."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_reannotations_are_reported() {
        let of = |share: f64, interval| {
            words(Some(StableShare { repeats: 200, same: 0.7, expected: 0.6, share, interval }), 200)
        };
        assert!(of(0.4, (0.2, 0.6)).contains("40 % (95 %: 20 to 60 %)"));
        assert!(of(0.4, (0.2, 0.6)).contains("part of it is what these people see"));
        assert!(of(0.8, (0.6, 1.0)).contains("most of it is what these people see"));
        assert!(of(0.04, (0.01, 0.07)).contains("the moment's"));
        assert!(of(0.02, (-0.1, 0.14)).contains("the moment's"));
        assert!(of(0.2, (-0.1, 0.5)).contains("too few repeats"));
        assert!(of(0.2, (-3.0, 1.0)).contains("too few to tell"));
        assert!(words(None, 4).contains("the project has 4"));
    }
}
