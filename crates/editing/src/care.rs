//! The study's care settings.

use super::Project;
use dissensus_api::{HarmfulFrom, StudyCare, TextGroup};
use dissensus_domain::{LevelId, Question, QuestionId, StudyLimits};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_store::Store;

/// The study's care settings.
pub fn read(cx: &Project) -> Result<StudyCare, ProjectError> {
    settings_in(&cx.context.store, cx.context.index().questions())
}

/// The care settings in a file with these questions.
pub fn settings_in(store: &Store, questions: &[Question]) -> Result<StudyCare, ProjectError> {
    let StudyLimits { limit, strict, greyscale } = store.study_limits()?;
    let mut harmful = store.harmful_levels()?;
    // A level of another copy's question may be missing here.
    harmful.retain(|(question, level)| {
        let asked = questions.iter().find(|asked| asked.id == *question);
        asked.is_some_and(|asked| asked.scale.index_of_id(*level).is_some())
    });
    let harmful = harmful.into_iter().map(|(question, level)| HarmfulFrom { question, level }).collect();
    Ok(StudyCare { limit, strict, greyscale, harmful })
}

/// Sets the study's care settings, for this copy and every one that is merged; packets assigned from
/// here on have them too.
///
/// # Errors
/// The open project is a task packet, a limit of 0, a level that is not on its question's scale, one
/// question twice, or an I/O error. Nothing is set then.
pub fn set(cx: &Project, care: &StudyCare) -> Result<(), ProjectError> {
    cx.context.whole_project()?;
    check_limit(care.limit)?;
    let mut levels = Vec::with_capacity(care.harmful.len());
    for HarmfulFrom { question, level } in &care.harmful {
        let asked = with_level(cx, *question, *level)?;
        if levels.iter().any(|(known, _)| *known == asked.id) {
            return Err(ProjectError::Setting {
                name: "harmful",
                value: asked.name,
                allowed: "one level of each question".to_owned(),
            });
        }
        levels.push((asked.id, *level));
    }
    if *care == read(cx)? {
        return Ok(());
    }
    let limits = StudyLimits { limit: care.limit, strict: care.strict, greyscale: care.greyscale };
    cx.context.store.write(move |tx| tx.set_study_care(limits, &levels, now_ms()))?;
    cx.context.listeners.send(&Event::Project);
    Ok(())
}

/// The groups of texts, largest first, at most 500; a task packet has none.
pub fn text_groups(cx: &Project) -> Result<Vec<TextGroup>, ProjectError> {
    let groups = cx.context.store.text_groups(MAX_GROUPS)?;
    Ok(groups.into_iter().map(|(name, texts)| TextGroup { name, texts }).collect())
}

/// Finds a question, if its scale has this level.
pub fn with_level(cx: &Project, question: QuestionId, level: LevelId) -> Result<Question, ProjectError> {
    let index = cx.context.index();
    let asked = index.whole(question)?;
    match asked.scale.index_of_id(level) {
        Some(_) => Ok(asked.clone()),
        None => Err(ProjectError::LevelRemoved {
            question: asked.name.clone(),
            levels: asked.scale.levels().join(", "),
        }),
    }
}

/// Maximum number of groups: more are hard to choose from.
const MAX_GROUPS: u32 = 500;
/// Maximum daily limit.
const MAX_PER_DAY: u32 = 100_000;

/// Refuses an invalid limit.
pub fn check_limit(limit: Option<u32>) -> Result<(), ProjectError> {
    match limit {
        Some(limit) if !(1..=MAX_PER_DAY).contains(&limit) => Err(ProjectError::Setting {
            name: "limit",
            value: limit.to_string(),
            allowed: "1 to 100,000 texts a day, or none".to_owned(),
        }),
        _ => Ok(()),
    }
}
