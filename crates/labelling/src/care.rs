//! Care of annotators: a daily limit of harmful texts, and excluded topics.

use super::Labelling;
use super::care_file::care_file;
use crate::error::LabellingError;
use crate::left_out;
use crate::question_set;
use crate::topics;
use dissensus_api::{CareInfo, HarmfulFrom, OwnCare, StudyCare};
use dissensus_domain::{AnnotatorId, LevelId, StudyLimits, TextId, is_harmful, is_predicted_harmful};
use dissensus_editing::care;
use dissensus_editing::check_limit;
use dissensus_project::care_file::{OwnChoice, OwnHarmful, StoredCare, text_key};
use dissensus_project::clock::today;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::sync::lock;

/// The care state of a person today.
///
/// # Errors
/// There is no such annotator, or the file cannot be read.
pub fn state(cx: &Labelling, annotator: AnnotatorId) -> Result<CareInfo, ProjectError> {
    let kept = care_file(cx, annotator)?.read();
    care_info(cx, annotator, &kept)
}

/// Records that a person reads or handles a text, and returns the resulting care state. Whether the
/// text counts as harmful depends on what is predicted for this person, and on their own answers and
/// flags; it is never shown for a single text.
///
/// # Errors
/// There is no such annotator or text, it is another annotator's packet, the project cannot be read, or the
/// local file cannot be written.
pub fn note_read(cx: &Labelling, annotator: AnnotatorId, text: TextId) -> Result<CareInfo, ProjectError> {
    cx.context.may_answer(annotator)?;
    let found = cx.context.store.text(text)?;
    let external_id = found.ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?.external_id;
    let file = care_file(cx, annotator)?;
    let study = care::read(&cx.project)?;
    let own = own_care(cx, &file.read().own)?;
    let harmful = is_harmful_to(cx, annotator, text, &harmful_from(&study, &own))?;
    let kept = file.change(|kept| kept.note(&today(), &text_key(&external_id), harmful))?;
    care_info(cx, annotator, &kept)
}

/// Lets a person continue beyond the limit until the day ends.
///
/// # Errors
/// The study does not allow it, there is no such annotator, it is another annotator's packet, or the local
/// file cannot be written.
pub fn go_on_today(cx: &Labelling, annotator: AnnotatorId) -> Result<CareInfo, ProjectError> {
    cx.context.may_answer(annotator)?;
    if !may_go_on(&care::read(&cx.project)?) {
        return Err(LabellingError::FinishedToday.into());
    }
    let kept = care_file(cx, annotator)?.change(|kept| kept.go_on(&today()))?;
    care_info(cx, annotator, &kept)
}

/// Stores a person's choices on this computer, and in the project only how many texts they exclude.
///
/// # Errors
/// A limit of 0, a level that is not on its question's scale, invalid words, no such annotator, or an
/// I/O error.
pub fn set_own(cx: &Labelling, annotator: AnnotatorId, own: &OwnCare) -> Result<CareInfo, ProjectError> {
    cx.context.may_answer(annotator)?;
    check_limit(own.limit)?;
    let harmful = match own.harmful {
        Some(HarmfulFrom { question, level }) => {
            let asked = care::with_level(&cx.project, question, level)?;
            let keys = cx.context.store.keys_by_id(question)?;
            let key = keys.get(usize::from(level.0)).cloned().unwrap_or_default();
            let place = asked.scale.index_of_id(level).unwrap_or_default();
            Some(OwnHarmful { question: asked.name, key, place })
        }
        None => None,
    };
    let mut groups: Vec<String> = own.groups.clone();
    groups.sort();
    groups.dedup();
    let choice = OwnChoice { limit: own.limit, harmful, words: topics::checked(&own.words)?, groups };
    let kept = care_file(cx, annotator)?.change(|kept| kept.own = choice)?;
    let info = care_info(cx, annotator, &kept)?;
    // Excluded texts change what is left to do.
    cx.context.listeners.send(&Event::Project);
    Ok(info)
}

/// The person's choices, with the questions of this copy.
fn own_care(cx: &Labelling, own: &OwnChoice) -> Result<OwnCare, ProjectError> {
    let index = cx.context.index();
    let known = |one: &OwnHarmful| index.questions().iter().find(|asked| asked.name == one.question);
    let harmful = match own.harmful.as_ref().and_then(|one| Some((one, known(one)?))) {
        None => None,
        Some((one, asked)) => {
            let keys = cx.context.store.keys_by_id(asked.id)?;
            let id = keys.iter().position(|key| *key == one.key).map(|id| LevelId(id as u16));
            let id = id.filter(|id| asked.scale.index_of_id(*id).is_some());
            let highest = asked.scale.len().saturating_sub(1);
            let level = id.or_else(|| asked.scale.id_at(usize::from(one.place).min(highest)));
            level.map(|level| HarmfulFrom { question: asked.id, level })
        }
    };
    Ok(OwnCare { limit: own.limit, harmful, words: own.words.clone(), groups: own.groups.clone() })
}

fn care_info(cx: &Labelling, annotator: AnnotatorId, kept: &StoredCare) -> Result<CareInfo, ProjectError> {
    let study = care::read(&cx.project)?;
    let own = own_care(cx, &kept.own)?;
    let (today, may_go_on) = (today(), may_go_on(&study));
    let limit = limits(&study).limit_of(own.limit);
    let (counted, in_all) = kept.counted(&today);
    Ok(CareInfo {
        limit,
        reached: kept.is_reached(&today, limit, may_go_on),
        may_go_on,
        today: counted,
        in_all,
        left_out: left_out::count_open(cx, annotator)?,
        study,
        own,
    })
}

/// Whether a text is harmful according to current data.
fn is_harmful_to(
    cx: &Labelling,
    annotator: AnnotatorId,
    text: TextId,
    from: &[HarmfulFrom],
) -> Result<bool, ProjectError> {
    let index = cx.context.index();
    for question in index.questions() {
        let levels = from.iter().filter(|one| one.question == question.id);
        let own = {
            let annotations = question_set::annotations(cx, annotator, question.id)?;
            let annotations = lock(&annotations);
            if annotations.flagged.contains(&text) {
                return Ok(true);
            }
            annotations.answers.get(&text).cloned()
        };
        for HarmfulFrom { level, .. } in levels {
            if own.as_ref().is_some_and(|answer| is_harmful(answer, &question.scale, *level)) {
                return Ok(true);
            }
            let predicted = cx.live.own_prediction(question.id, text, annotator);
            if predicted.is_some_and(|p| is_predicted_harmful(&p, &question.scale, *level)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The definition of harmful texts: the study's, or else the person's.
fn harmful_from(study: &StudyCare, own: &OwnCare) -> Vec<HarmfulFrom> {
    match study.harmful.is_empty() {
        true => own.harmful.iter().cloned().collect(),
        false => study.harmful.clone(),
    }
}

fn limits(study: &StudyCare) -> StudyLimits {
    StudyLimits { limit: study.limit, strict: study.strict, greyscale: study.greyscale }
}

/// A study without a limit allows everything.
fn may_go_on(study: &StudyCare) -> bool {
    !study.strict || study.limit.is_none()
}
