//! Ranks labels that look like slips, and contested labels.

use super::Analysis;
use super::snippet::snippet;
use crate::needs;
use dissensus_api::{SlipKind, SlipReport, SlipRow};
use dissensus_domain::{AnnotatorId, JobKind, Question, QuestionId};
use dissensus_models::live::{MIN_OWN_LABELS, UNLIKE_OTHERS, UnlikelyKind, UnlikelyLabel, UnlikelyLabels};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Follow, Progress};
use dissensus_project::words::counted;

/// False discovery rate of labels that are reported as beyond chance.
const BY_CHANCE: f64 = 0.1;

/// The parameters of a search for slips.
#[derive(Clone, Copy, Debug)]
pub struct SlipChoices {
    /// Only labels of this person.
    pub annotator: Option<AnnotatorId>,
    /// A label is unlike a person if its probability is at most this, above 0 and up to 1.
    pub below: f64,
    /// Maximum number of rows of slips, of own views, and of divided texts.
    pub top: usize,
}

impl Default for SlipChoices {
    fn default() -> Self {
        Self { annotator: None, below: 0.05, top: 20 }
    }
}

/// Possible slips and contested labels by the live model of a question; without one, or with too few
/// labels, the report states what is needed. The model is copied first, so that recording a label does
/// not wait.
///
/// # Errors
/// No such question or annotator, the file cannot be read, or cancellation.
pub fn find<'a>(
    cx: &Analysis,
    question: QuestionId,
    choices: SlipChoices,
    follow: impl Into<Follow<'a>>,
) -> Result<SlipReport, ProjectError> {
    cx.context
        .run(follow, JobKind::Evaluate, "unusual labels", |progress| look(cx, question, choices, progress))
}

fn look(
    cx: &Analysis,
    question: QuestionId,
    choices: SlipChoices,
    progress: &dyn Progress,
) -> Result<SlipReport, ProjectError> {
    let context = &cx.context;
    let index = context.index();
    let asked = index.with_levels(question)?;
    let one = match choices.annotator {
        Some(id) => Some(index.annotator_row(id).ok_or_else(|| ProjectError::NoSuchAnnotator {
            name: id.0.to_string(),
            known: counted(index.annotators().len() as u64, "annotator"),
        })?),
        None => None,
    };
    let mut report = SlipReport {
        question,
        below: choices.below,
        below_others: UNLIKE_OTHERS,
        judged: 0,
        slips_in_all: 0,
        slips_expected: 0.0,
        slips_beyond_chance: 0,
        slips_words: String::new(),
        contested_in_all: 0,
        contested_expected: 0.0,
        contested_words: String::new(),
        slips: Vec::new(),
        contested: Vec::new(),
        needs: None,
        remark: None,
    };
    let live = cx.live.with(asked, |fitted| (fitted.model.clone(), fitted.basis.version.clone()))?;
    let Some((model, version)) = live else {
        report.needs = needs::note_on_labels(cx, false)?;
        return Ok(report);
    };
    let seen = cx.encoding.seen_by(version.as_deref(), &index)?;
    let seen = seen.rows().texts;
    let tuned_on = |text: u32| seen.get(text as usize) == Some(&true);
    let wanted = |annotator: u32| one.is_none_or(|one| one == annotator);
    let found = model.unlikely_labels(
        |text, annotator| wanted(annotator) && !tuned_on(text),
        choices.below,
        progress,
    )?;
    let [slips, own_views, divided] = [UnlikelyKind::Slip, UnlikelyKind::OwnView, UnlikelyKind::Divided]
        .map(|kind| found.labels.iter().filter(|label| label.kind == kind).copied().collect::<Vec<_>>());
    let tuned = model.observations().iter().filter(|o| wanted(o.annotator) && tuned_on(o.text)).count();
    report.judged = found.judged as u32;
    (report.slips_in_all, report.slips_expected) = (slips.len() as u32, found.expected[0]);
    (report.contested_in_all, report.contested_expected) =
        ((own_views.len() + divided.len()) as u32, found.expected[1] + found.expected[2]);
    report.slips_beyond_chance = beyond_chance(&slips);
    report.slips_words = slips_words(&report);
    report.contested_words = contested_words(&report);
    report.needs = needs(&found, model.observations().len());
    report.remark = left_out(&found, tuned);
    report.slips = slip_rows(cx, asked, &slips, choices.top)?;
    // Each kind separately: the many of one must not hide those of the other.
    report.contested = slip_rows(cx, asked, &own_views, choices.top)?;
    report.contested.extend(slip_rows(cx, asked, &divided, choices.top)?);
    Ok(report)
}

/// Labels by the names of their levels. `question` is the one whose model judged them: its levels may have
/// been moved since.
fn slip_rows(
    cx: &Analysis,
    question: &Question,
    labels: &[UnlikelyLabel],
    top: usize,
) -> Result<Vec<SlipRow>, ProjectError> {
    let index = cx.context.index();
    let name_of = |level: u16| question.scale.name_at(level).unwrap_or_default().to_owned();
    let mut rows = Vec::with_capacity(top.min(labels.len()));
    for label in labels.iter().take(top) {
        let Some(text) = cx.context.store.text(index.texts()[label.text as usize])? else { continue };
        let annotator = &index.annotators()[label.annotator as usize];
        rows.push(SlipRow {
            text: text.id,
            text_id: text.external_id,
            body: snippet(&text.body),
            annotator: annotator.id,
            annotator_id: annotator.external_id.clone(),
            name: annotator.name.clone(),
            kind: kind(label.kind),
            level: label.level,
            level_name: name_of(label.level),
            usual: label.usual,
            usual_name: name_of(label.usual),
            own: label.own,
            others: label.others,
            others_labels: label.others_labels,
            same_labels: label.same_labels,
            expected: label.expected,
        });
    }
    Ok(rows)
}

fn kind(kind: UnlikelyKind) -> SlipKind {
    match kind {
        UnlikelyKind::Slip => SlipKind::Slip,
        UnlikelyKind::OwnView => SlipKind::OwnView,
        UnlikelyKind::Divided => SlipKind::Divided,
    }
}

/// How many of these labels, from the first on, are beyond chance: as many as possible of which no more than
/// [`BY_CHANCE`] are expected by chance (the procedure of Benjamini and Hochberg, with expected numbers).
fn beyond_chance(labels: &[UnlikelyLabel]) -> u32 {
    let within = |(at, label): &(usize, &UnlikelyLabel)| label.expected <= BY_CHANCE * (at + 1) as f64;
    labels.iter().enumerate().rfind(within).map_or(0, |(at, _)| at as u32 + 1)
}

/// Describes the result of the search for slips; no person is named for labels that are expected by chance.
fn slips_words(report: &SlipReport) -> String {
    let (all, expected) = (report.slips_in_all, report.slips_expected.round());
    let unusual = counted(all.into(), "unusual label");
    match report.slips_beyond_chance {
        0 if all == 0 => "No sign of slips: no label is unlike its person and everybody else.".to_owned(),
        0 if f64::from(all) <= report.slips_expected => {
            format!("No sign of slips: {unusual}, and chance alone would give about {expected}.")
        }
        0 => format!(
            "No single label is shown to be a slip: {unusual}, where chance alone would give about {expected}, but none is so unusual that it is beyond chance."
        ),
        n => {
            let rest = match all - n {
                0 => String::new(),
                more => format!(" Of the other {more} chance explains most."),
            };
            format!(
                "{} beyond chance (at most one in ten of them by chance), of {unusual}; chance alone would give about {expected} in all.{rest}",
                match n {
                    1 => "1 label is".to_owned(),
                    n => format!("{n} labels are"),
                }
            )
        }
    }
}

/// Describes the contested labels.
fn contested_words(report: &SlipReport) -> String {
    let (all, expected) = (report.contested_in_all, report.contested_expected.round());
    let found = counted(all.into(), "contested label");
    match f64::from(all) <= report.contested_expected {
        true => format!("No more than chance: {found}, and chance alone would give about {expected}."),
        false => format!("{found}, where chance alone would give about {expected}."),
    }
}

/// What is missing if no label could be judged.
fn needs(found: &UnlikelyLabels, labels: usize) -> Option<String> {
    (found.judged == 0).then(|| {
        let have = match labels {
            0 => "There are no labels yet.".to_owned(),
            n => format!("None of {} can be judged yet.", counted(n as u64, "label")),
        };
        format!(
            "{have} A slip can be detected for a person with {} labels or more, on a text that somebody else has labelled too.",
            MIN_OWN_LABELS + 1
        )
    })
}

/// Describes the labels that were not judged, and why.
fn left_out(found: &UnlikelyLabels, tuned: usize) -> Option<String> {
    let mut parts = Vec::new();
    let mut add = |n: usize, why: &str| {
        if n > 0 {
            parts.push(format!("{} {why}", counted(n as u64, "label")));
        }
    };
    add(found.alone, "of texts that nobody else has labelled");
    add(found.few_own, &format!("of people with fewer than {} labels", MIN_OWN_LABELS + 1));
    add(tuned, "that the encoder was tuned on");
    (!parts.is_empty()).then(|| format!("Left out: {}.", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unusual(expected: f64) -> UnlikelyLabel {
        UnlikelyLabel {
            text: 0,
            annotator: 0,
            level: 4,
            kind: UnlikelyKind::Slip,
            own: expected / 1000.0,
            others: 0.01,
            usual: 0,
            others_labels: 5,
            same_labels: 0,
            expected,
        }
    }

    fn report(slips: u32, expected: f64, beyond: u32) -> SlipReport {
        SlipReport {
            question: QuestionId(1),
            below: 0.05,
            below_others: UNLIKE_OTHERS,
            judged: 13_036,
            slips_in_all: slips,
            slips_expected: expected,
            slips_beyond_chance: beyond,
            slips_words: String::new(),
            contested_in_all: 10,
            contested_expected: 9.0,
            contested_words: String::new(),
            slips: Vec::new(),
            contested: Vec::new(),
            needs: None,
            remark: None,
        }
    }

    #[test]
    fn slips_expected_by_chance_are_not_reported() {
        let message = slips_words(&report(180, 233.2, 0));
        assert_eq!(message, "No sign of slips: 180 unusual labels, and chance alone would give about 233.");
        assert!(slips_words(&report(260, 233.2, 0)).starts_with("No single label is shown to be a slip"));
        let message = slips_words(&report(180, 233.2, 3));
        assert!(
            message.starts_with("3 labels are beyond chance") && message.contains("other 177"),
            "{message}"
        );
        assert!(contested_words(&report(0, 0.0, 0)).starts_with("10 contested labels, where"));
        // As many as chance brings at each place: none. Three far below it: these, though the fourth is not.
        let chance: Vec<UnlikelyLabel> = (1..50).map(|n| unusual(f64::from(n))).collect();
        assert_eq!(beyond_chance(&chance), 0);
        let few: Vec<UnlikelyLabel> = [0.01, 0.05, 0.29, 1.2, 4.9].map(unusual).to_vec();
        assert_eq!(beyond_chance(&few), 3);
        assert_eq!(beyond_chance(&[]), 0);
    }

    #[test]
    fn missing_labels_are_described() {
        let nothing = UnlikelyLabels { alone: 3, few_own: 1, ..UnlikelyLabels::default() };
        assert!(needs(&nothing, 0).unwrap().starts_with("There are no labels yet."));
        assert!(needs(&nothing, 4).unwrap().starts_with("None of 4 labels can be judged yet."));
        let left_out = left_out(&nothing, 0).unwrap();
        assert_eq!(
            left_out,
            "Left out: 3 labels of texts that nobody else has labelled, 1 label of people with fewer than 11 labels."
        );
        assert_eq!(needs(&UnlikelyLabels { judged: 1, ..UnlikelyLabels::default() }, 4), None);
    }
}
