//! The annotators of the project.

use super::Project;
use crate::error::EditingError;
use dissensus_api::AnnotatorInfo;
use dissensus_domain::{Annotator, AnnotatorId, Attributes, composed};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::names::{checked_name, look_alikes};
use dissensus_store::{NewAnnotator, WriteTx};
use std::collections::{HashMap, HashSet};

/// All annotators, in the order of addition.
pub fn list(cx: &Project) -> Result<Vec<AnnotatorInfo>, ProjectError> {
    let mut labels: HashMap<AnnotatorId, u32> = HashMap::new();
    for count in cx.context.store.annotator_counts()? {
        *labels.entry(count.annotator).or_default() += count.labels;
    }
    let imported = cx.context.imported_people()?;
    let index = cx.context.index();
    let info = |a: &Annotator| AnnotatorInfo {
        id: a.id,
        external_id: a.external_id.clone(),
        name: a.name.clone(),
        attributes: a.attributes.clone(),
        simulated: a.simulated,
        labels: labels.get(&a.id).copied().unwrap_or(0),
        imported: imported.contains(&a.id),
    };
    Ok(index.annotators().iter().map(info).collect())
}

/// Adds a person. The name is also the external id.
///
/// # Errors
/// The name is blank, too long or taken, or looks like that of another person
/// ([`ProjectError::NearName`]).
pub fn add(cx: &Project, name: &str, attributes: &Attributes) -> Result<AnnotatorInfo, ProjectError> {
    let index = cx.context.index();
    if index.annotator_named(name).is_none()
        && let Some(near) = look_alikes(index.annotators().iter(), name.trim()).first()
    {
        let (name, known) = (composed(name.trim()), near.external_id.clone());
        return Err(ProjectError::NearName { name, known });
    }
    // An invalid name is refused below.
    let store = &cx.context.store;
    if store.looks_withdrawn(name.trim())? && !store.has_withdrawn(name.trim())? {
        return Err(ProjectError::NearWithdrawn(composed(name.trim())));
    }
    add_new(cx, name, attributes)
}

/// Like [`add`], for a person confirmed to be different from everyone whose name
/// looks alike.
///
/// # Errors
/// The name is blank, too long or taken.
pub fn add_new(cx: &Project, name: &str, attributes: &Attributes) -> Result<AnnotatorInfo, ProjectError> {
    cx.context.whole_project()?;
    let name = checked_name("annotator", name)?;
    for (attribute, value) in attributes {
        checked_name("attribute", attribute)?;
        checked_name("attribute", value)?;
    }
    let taken = |a: &Annotator| composed(&a.external_id) == name || composed(&a.name) == name;
    if cx.context.index().annotators().iter().any(taken) {
        return Err(ProjectError::Name { what: "annotator", name, why: "is taken: choose another" });
    }
    let new = NewAnnotator {
        external_id: name.clone(),
        name: name.clone(),
        attributes: attributes.clone(),
        simulated: false,
    };
    // A refused write may have reached the file, if the file was moved meanwhile.
    let id = cx.context.store.write(move |tx| tx.add_annotator(&new)).inspect_err(|_| cx.context.reload())?;
    // The annotator is on disk: from here on nothing may report it as failed.
    announce(cx);
    cx.context.listeners.send(&Event::Project);
    Ok(AnnotatorInfo {
        id,
        external_id: name.clone(),
        name,
        attributes: attributes.clone(),
        simulated: false,
        labels: 0,
        imported: false,
    })
}

/// Corrects a person's data: a new name, attributes to set, attributes to remove. All changes are made
/// or none; labels are unaffected.
///
/// # Errors
/// There is no such annotator; the open project is a task packet; a name is blank, too long or another
/// person's; an attribute is named twice, or is to be removed but not set.
pub fn change(
    cx: &Project,
    annotator: AnnotatorId,
    name: Option<&str>,
    set: &[(String, String)],
    unset: &[String],
) -> Result<(), ProjectError> {
    cx.context.whole_project()?;
    let name = name.map(|name| free_name(cx, annotator, name)).transpose()?;
    let attribute = |(name, value): &(String, String)| {
        let name = checked_name("attribute", name)?;
        if value.trim().is_empty() {
            let why = "is blank: type one, or remove the attribute (--unset)";
            return Err(EditingError::AttributeValue { name, why }.into());
        }
        match checked_name("attribute", value) {
            Err(ProjectError::Name { why, .. }) => Err(EditingError::AttributeValue { name, why }.into()),
            value => Ok((name, value?)),
        }
    };
    let set: Vec<(String, String)> = set.iter().map(attribute).collect::<Result<_, ProjectError>>()?;
    let unset: Vec<String> = unset.iter().map(|name| name.trim().to_owned()).collect();
    let refused = |name: &str, why| ProjectError::Name { what: "attribute", name: name.to_owned(), why };
    let mut seen = HashSet::new();
    for named in set.iter().map(|(name, _)| name).chain(&unset) {
        if !seen.insert(named.clone()) {
            return Err(refused(named, "is given twice: name it once"));
        }
    }
    let change = move |tx: &mut WriteTx<'_>| -> Result<(), ProjectError> {
        // Attributes are read inside the transaction: another one may have been changed meanwhile.
        let mut known = tx.attributes(annotator)?;
        for named in &unset {
            known.remove(named).ok_or_else(|| refused(named, "is not known of this person"))?;
        }
        known.extend(set);
        tx.set_attributes(annotator, &known, now_ms())?;
        Ok(name.map_or(Ok(()), |name| tx.rename_annotator(annotator, &name, now_ms()))?)
    };
    cx.context.store.write(change)?;
    announce(cx);
    cx.live.models.note_changed_people();
    cx.context.listeners.send(&Event::Project);
    Ok(())
}

/// Validates a name that no other annotator has.
fn free_name(cx: &Project, annotator: AnnotatorId, name: &str) -> Result<String, ProjectError> {
    let name = checked_name("annotator", name)?;
    let same = |known: &str| composed(known) == name;
    let taken = |a: &Annotator| a.id != annotator && (same(&a.external_id) || same(&a.name));
    match cx.context.index().annotators().iter().any(taken) {
        true => Err(ProjectError::Name { what: "annotator", name, why: "is taken: choose another" }),
        false => Ok(name),
    }
}

/// Updates the index and live models after people were added or changed.
pub fn announce(cx: &Project) {
    cx.context.reload();
    cx.live.models.add_annotators(cx.context.index().annotators());
}

/// Finds the annotator with this external id or, if there is none, with this name.
///
/// # Errors
/// There is no annotator of that name.
pub fn find(cx: &Project, name: &str) -> Result<Annotator, ProjectError> {
    cx.context.index().find_annotator(name).cloned()
}
