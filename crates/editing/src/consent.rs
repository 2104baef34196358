//! The text that people agree to before they answer, in versions.
//!
//! The text and each agreement are facts: the text goes into task packets and pages, agreements come back
//! with submissions. Everybody agrees once, and again where another version is in effect.

use super::Project;
use crate::error::EditingError;
use dissensus_api::{ConsentState, ConsentText};
use dissensus_domain::AnnotatorId;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_store::ConsentVersion;

/// Maximum length of the text, in characters.
const LONGEST: usize = 50_000;

/// All versions of the text, and who agreed to which.
pub fn read(cx: &Project) -> Result<ConsentState, ProjectError> {
    let (consents, index) = (cx.context.store.consents()?, cx.context.index());
    let name = |id: AnnotatorId| {
        let row = index.annotator_row(id)?;
        index.annotators().get(row as usize).map(|person| person.external_id.clone())
    };
    let version = |one: &ConsentVersion| {
        let people = consents.agreed_to(&one.version).into_iter().filter_map(name).collect();
        ConsentText { people, ..consent_text(one) }
    };
    Ok(ConsentState {
        in_effect: consents.in_effect().map(|one| one.number),
        versions: consents.versions().iter().map(version).collect(),
    })
}

/// Writes another version, which is asked for from now on; `None` asks for none.
///
/// # Errors
/// The text is blank, too long or unchanged, or the open project is a task packet. Nothing is written then.
pub fn set(cx: &Project, body: Option<&str>) -> Result<ConsentState, ProjectError> {
    cx.context.whole_project()?;
    let body = body.map(|body| body.replace("\r\n", "\n").trim_end().to_owned());
    if let Some(body) = &body {
        let length = body.chars().count();
        if body.trim().is_empty() {
            return Err(EditingError::ConsentBlank.into());
        }
        if length > LONGEST {
            return Err(EditingError::ConsentLong(length).into());
        }
    }
    cx.context.store.write(move |tx| -> Result<(), ProjectError> {
        let changed = tx.set_consent(body.as_deref(), now_ms())?;
        match tx.consents()?.in_effect() {
            Some(same) if !changed => Err(EditingError::ConsentUnchanged(same.number).into()),
            _ => Ok(()),
        }
    })?;
    cx.context.listeners.send(&Event::Project);
    read(cx)
}

/// The version that a person still has to agree to; none for simulated annotators.
pub fn left(cx: &Project, annotator: AnnotatorId) -> Result<Option<ConsentText>, ProjectError> {
    let index = cx.context.index();
    let person = index.annotator_row(annotator).and_then(|row| index.annotators().get(row as usize));
    if person.is_none_or(|person| person.simulated) {
        return Ok(None);
    }
    Ok(cx.context.store.consents()?.left(annotator).map(consent_text))
}

/// Records that a person agrees to a version.
///
/// # Errors
/// There is no such person, another person's packet is open, or another version is in effect.
pub fn agree(cx: &Project, annotator: AnnotatorId, version: &str) -> Result<(), ProjectError> {
    cx.context.may_answer(annotator)?;
    let version = version.to_owned();
    cx.context.store.write(move |tx| -> Result<(), ProjectError> {
        if tx.consents()?.in_effect().is_none_or(|one| one.version != version) {
            return Err(EditingError::ConsentOutdated.into());
        }
        Ok(tx.agree_to(annotator, &version, now_ms()).map(drop)?)
    })?;
    cx.context.listeners.send(&Event::Project);
    Ok(())
}

/// A version, without the people who agreed to it.
pub fn consent_text(one: &ConsentVersion) -> ConsentText {
    let ConsentVersion { version, number, at_ms, body } = one.clone();
    ConsentText { version, number, at: at_ms as f64, body, people: Vec::new() }
}
