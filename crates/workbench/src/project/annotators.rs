//! Who labels.

use super::Project;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::names::checked_name;
use crate::view::AnnotatorInfo;
use dissensus_domain::{Annotator, AnnotatorId, Attributes};
use dissensus_store::NewAnnotator;
use std::collections::HashMap;

impl Project {
    /// Everyone, in the order they came.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn annotators(&self) -> Result<Vec<AnnotatorInfo>, WorkbenchError> {
        let mut labels: HashMap<AnnotatorId, u32> = HashMap::new();
        for count in self.context.store.annotator_counts()? {
            *labels.entry(count.annotator).or_default() += count.labels;
        }
        let index = self.context.index();
        let info = |a: &Annotator| AnnotatorInfo {
            id: a.id,
            external_id: a.external_id.clone(),
            name: a.name.clone(),
            attributes: a.attributes.clone(),
            simulated: a.simulated,
            labels: labels.get(&a.id).copied().unwrap_or(0),
        };
        Ok(index.annotators().iter().map(info).collect())
    }

    /// Adds a person. The name is also the external id.
    ///
    /// # Errors
    /// The name is blank, too long or taken.
    pub fn add_annotator(
        &self,
        name: &str,
        attributes: &Attributes,
    ) -> Result<AnnotatorInfo, WorkbenchError> {
        self.context.whole_project()?;
        let name = checked_name("annotator", name)?;
        for (attribute, value) in attributes {
            checked_name("attribute", attribute)?;
            checked_name("attribute", value)?;
        }
        let taken = |a: &Annotator| a.external_id == name || a.name == name;
        if self.context.index().annotators().iter().any(taken) {
            return Err(WorkbenchError::Name { what: "annotator", name, why: "is taken: choose another" });
        }
        let new = NewAnnotator {
            external_id: name.clone(),
            name: name.clone(),
            attributes: attributes.clone(),
            simulated: false,
        };
        let id = self.context.store.write(move |tx| tx.add_annotator(&new))?;
        // The annotator is on disk: from here on nothing may say that it failed.
        self.people_added();
        self.context.listeners.send(&Event::Project);
        Ok(AnnotatorInfo {
            id,
            external_id: name.clone(),
            name,
            attributes: attributes.clone(),
            simulated: false,
            labels: 0,
        })
    }

    /// People were added: whoever knows people by row learns of them.
    pub(crate) fn people_added(&self) {
        self.context.reload();
        self.live.models.add_annotators(self.context.index().annotators());
    }

    /// The annotator with this external id or, where nobody has it, with this name.
    ///
    /// # Errors
    /// There is nobody of that name.
    pub fn annotator(&self, name: &str) -> Result<Annotator, WorkbenchError> {
        self.context.index().annotator_asked_for(name).cloned()
    }
}
