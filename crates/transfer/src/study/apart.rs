//! Reports the differences between two merged copies of a project: contradicting answers of one annotator,
//! splits that differed, clocks that are ahead.

use super::Study;
use crate::study::error::StudyError;
use dissensus_api::{MergeAnswer, MergeContradiction, MergeProblem, MergeSplit, MergedFile};
use dissensus_domain::Event;
use dissensus_project::clock::local_moment;
use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use dissensus_store::{Contradiction, MergedCounts, Store};

/// Clocks of two computers differ by seconds; a larger difference means a wrong clock.
const AHEAD_MS: i64 = 10 * 60 * 1000;

/// Maximum number of differences that are listed in the report; all are counted.
const NAMED: usize = 200;

/// Maximum number of differences that are listed in a sentence.
const FEW: usize = 5;

/// Adds the differences between both copies to the report.
pub(super) fn distinguish(
    cx: &Study,
    taken: &MergedCounts,
    file: &mut MergedFile,
) -> Result<(), ProjectError> {
    file.contradicted = taken.contradicted;
    for one in taken.contradictions.iter().take(NAMED) {
        file.contradictions.push(contradiction(cx, one)?);
    }
    (file.texts_changed, file.splits_changed) = (taken.texts_changed, taken.splits_changed);
    file.splits = taken
        .splits
        .iter()
        .take(NAMED)
        .map(|one| MergeSplit { text: one.text.clone(), was: one.was.clone(), now: one.now.clone() })
        .collect();
    if taken.left_out > 0 {
        file.problems.push(left_out(cx, taken)?);
    }
    Ok(())
}

/// Reports data of a copy with an identity that exists here for something else, which has priority.
fn left_out(cx: &Study, taken: &MergedCounts) -> Result<MergeProblem, ProjectError> {
    let store = &cx.context.store;
    let questions = store.questions()?;
    let mut named = Vec::new();
    for (question, text, annotator) in &taken.left_out_about {
        let question = questions.iter().find(|one| one.id == *question).map(|one| one.name.clone());
        let one = format!(
            "{}, {}, {}",
            store.annotator(*annotator)?.map_or_else(String::new, |known| known.external_id),
            store.text(*text)?.map_or_else(String::new, |text| text.external_id),
            question.unwrap_or_default()
        );
        if !named.contains(&one) && named.len() < FEW {
            named.push(one);
        }
    }
    let remark = format!(
        "{} in this copy under the identity of something else here and left out ({}): a packet was changed between two times that \
             it was handed in, or one of the two copies was changed by another program. Each copy keeps its own; ask this person which is right, and let them answer again",
        if taken.left_out == 1 {
            "1 answer or mark is".to_owned()
        } else {
            format!("{} answers and marks are", taken.left_out)
        },
        named.join("; ")
    );
    let problem = ProjectError::from(StudyError::Remark(remark)).problem();
    Ok(MergeProblem { refused: false, problem })
}

fn contradiction(cx: &Study, one: &Contradiction) -> Result<MergeContradiction, ProjectError> {
    let store = &cx.context.store;
    let questions = store.questions()?;
    let question = questions.iter().find(|question| question.id == one.question);
    let scale = question.map(|question| &question.scale);
    let name = |event: &Event| {
        let name = scale.zip(event.answer()).and_then(|(scale, answer)| scale.name_of_answer(answer));
        name.map_or_else(String::new, std::borrow::Cow::into_owned)
    };
    let last = one.answers.len().saturating_sub(1);
    let answers = one.answers.iter().enumerate().map(|(nth, event)| MergeAnswer {
        answer: name(event),
        at_ms: event.at_ms as f64,
        time: local_moment(event.at_ms as f64),
        current: nth == last,
    });
    Ok(MergeContradiction {
        annotator: store.annotator(one.annotator)?.map_or_else(String::new, |known| known.external_id),
        text: store.text(one.text)?.map_or_else(String::new, |text| text.external_id),
        question: question.map_or_else(String::new, |question| question.name.clone()),
        answers: answers.collect(),
    })
}

/// Reports answers of a copy that are in the future by this computer's clock, if there are any.
pub(super) fn fast_clock_notice(other: &Store, now_ms: i64) -> Result<Option<MergeProblem>, ProjectError> {
    let (answers, latest) = other.answers_after(now_ms.saturating_add(AHEAD_MS))?;
    if answers == 0 {
        return Ok(None);
    }
    let ahead = latest.saturating_sub(now_ms);
    let (minutes, hours, days) = (ahead / 60_000, ahead / 3_600_000, ahead / 86_400_000);
    let how_far = match (days, hours) {
        (0, 0) => counted(minutes as u64, "minute"),
        (0, hours) => counted(hours as u64, "hour"),
        (days, _) => counted(days as u64, "day"),
    };
    let remark = format!(
        "{} in the future of this computer's clock, by up to {how_far}: where somebody answered the same text apart in two copies, \
         these count as the later ones. Check the clocks of both computers",
        if answers == 1 {
            "1 answer in this copy is".to_owned()
        } else {
            format!("{answers} answers in this copy are")
        }
    );
    let problem = ProjectError::from(StudyError::Remark(remark)).problem();
    Ok(Some(MergeProblem { refused: false, problem }))
}
