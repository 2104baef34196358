//! One person's drafts in one project, on this computer: a note survives the window it was typed in. None
//! of it is in the project or in a submission.

use crate::care_file::hash;
use crate::error::ProjectError;
use crate::home::Home;
use dissensus_domain::{Note, ProjectId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The draft on one text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct StoredDraft {
    /// The typed note that was not submitted.
    typed: Note,
    /// The submitted note when that was typed.
    over: Note,
}

/// By key: a question, a text and an annotation round.
type Drafts = BTreeMap<String, StoredDraft>;

/// The file of one person in one project.
pub struct DraftsFile<'a> {
    home: &'a Home,
    name: String,
}

impl<'a> DraftsFile<'a> {
    /// The file of this person, regardless of where the project or a packet is located.
    pub fn new(home: &'a Home, project: ProjectId, person: &str) -> Self {
        Self { home, name: format!("drafts-{}.json", hash(&[&project.0.to_string(), person])) }
    }

    /// The draft for a key that was not submitted; `None` where it equals the submitted note. Where another
    /// note was submitted since it was typed, both are joined.
    pub fn at(&self, place: &str, given: &Note) -> Option<Note> {
        let kept = self.read().remove(place)?;
        let typed = match kept.over == *given {
            true => kept.typed,
            false => joined(given, &kept.typed),
        };
        (typed.trimmed() != given.trimmed()).then_some(typed)
    }

    /// Stores a draft for a key on top of the submitted note; `None` deletes it.
    ///
    /// # Errors
    /// It cannot be written; it is then unchanged.
    pub fn save(&self, place: &str, typed: Option<&Note>, given: &Note) -> Result<(), ProjectError> {
        let _locked = self.home.lock_config("drafts.lock")?;
        let before = self.read();
        let mut drafts = before.clone();
        match typed {
            None => drafts.remove(place),
            Some(typed) => {
                drafts.insert(place.to_owned(), StoredDraft { typed: typed.clone(), over: given.clone() })
            }
        };
        if drafts == before {
            return Ok(());
        }
        match drafts.is_empty() {
            true => self.home.remove_json(&self.name),
            false => self.home.write_json(&self.name, &drafts),
        }
    }

    /// Deletes the file.
    pub fn forget(&self) -> Result<(), ProjectError> {
        self.home.remove_json(&self.name)
    }

    fn read(&self) -> Drafts {
        self.home.read_json(&self.name).unwrap_or_default()
    }
}

/// Key of a question about a text in an annotation round.
pub fn place_key(question: &str, text: &str, occasion: u16) -> String {
    hash(&[question, text, &occasion.to_string()])
}

/// Joins the submitted note with a note that was typed on top of another one.
fn joined(given: &Note, typed: &Note) -> Note {
    let note = match (given.note.as_deref().map(str::trim), typed.note.as_deref().map(str::trim)) {
        (Some(given), Some(typed)) if !given.contains(typed) => Some(format!("{given}\n\n{typed}")),
        (Some(given), _) => Some(given.to_owned()),
        (None, typed) => typed.map(str::to_owned),
    };
    let reasons = if given.reasons.is_empty() { &typed.reasons } else { &given.reasons };
    Note { note, reasons: reasons.clone(), confidence: given.confidence.or(typed.confidence) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(words: &str) -> Note {
        Note { note: Some(words.to_owned()), ..Note::default() }
    }

    #[test]
    fn drafts_last_until_the_answer_is_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::inside(folder.path(), Vec::new());
        let file = DraftsFile::new(&home, ProjectId(uuid::Uuid::from_u128(7)), "ana");
        let (here, nothing) = (place_key("rude", "t1", 1), Note::default());
        file.save(&here, Some(&note("half a")), &nothing).unwrap();
        assert_eq!(file.at(&here, &nothing), Some(note("half a")));
        assert_eq!(file.at(&place_key("rude", "t1", 2), &nothing), None, "another occasion");
        assert_eq!(file.at(&here, &note("half a")), None, "it was given meanwhile");
        assert_eq!(
            file.at(&here, &note("from elsewhere")),
            Some(note("from elsewhere\n\nhalf a")),
            "nothing is lost where something else was given in another copy"
        );
        let other = DraftsFile::new(&home, ProjectId(uuid::Uuid::from_u128(8)), "ana");
        assert_eq!(other.at(&here, &nothing), None, "another project");
        file.save(&here, None, &nothing).unwrap();
        assert_eq!(file.at(&here, &nothing), None);
        let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().ends_with(".json")).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn damaged_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::inside(folder.path(), Vec::new());
        let file = DraftsFile::new(&home, ProjectId(uuid::Uuid::from_u128(7)), "ana");
        file.save("here", Some(&note("a")), &Note::default()).unwrap();
        std::fs::write(folder.path().join(&file.name), b"{\"here\":{\"ty").unwrap();
        file.save("here", Some(&note("b")), &Note::default()).unwrap();
        assert_eq!(file.at("here", &Note::default()), Some(note("b")));
    }
}
