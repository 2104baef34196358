//! One person's data on this computer for one project: care choices, and which harmful texts were read on
//! which day. None of it is in the project or in a submission.

use crate::error::ProjectError;
use crate::home::Home;
use dissensus_domain::ProjectId;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Number of days stored in addition to today: a clock that is changed and corrected again does not lose
/// what was read.
const DAYS: usize = 3;
/// The count of harmful texts is updated for the person only when this many texts were read, so that it
/// does not reveal single texts.
const COUNTED_AFTER: u64 = 5;

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredCare {
    /// The person's choices.
    pub own: OwnChoice,
    /// Texts read, by local date.
    days: BTreeMap<String, Day>,
    /// Number of harmful texts on all days.
    harmful: u64,
    read: u64,
    /// Number of harmful texts not yet included in the displayed count.
    newest: u32,
}

/// A person's choices; questions by name, since rows differ between copies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnChoice {
    pub limit: Option<u32>,
    pub harmful: Option<OwnHarmful>,
    pub words: Vec<String>,
    pub groups: Vec<String>,
}

/// The level from which on a person considers an answer harmful. The level is identified by its key,
/// because levels may be moved; its former position is for a level that was removed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnHarmful {
    pub question: String,
    pub key: String,
    pub place: u16,
}

/// Texts read on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Day {
    /// Hashes of all texts that were read.
    read: BTreeSet<String>,
    /// Hashes of the harmful ones.
    harmful: BTreeSet<String>,
    /// Whether the person chose to continue beyond the limit.
    went_on: bool,
}

impl StoredCare {
    /// Records that a text is read on a day, and whether it is currently considered harmful. A text counts
    /// once a day.
    pub fn note(&mut self, today: &str, text: &str, harmful: bool) {
        let day = self.days.entry(today.to_owned()).or_default();
        if harmful && day.harmful.insert(text.to_owned()) {
            self.harmful += 1;
            self.newest += 1;
        }
        if day.read.insert(text.to_owned()) {
            self.read += 1;
            if self.read.is_multiple_of(COUNTED_AFTER) {
                self.newest = 0;
            }
        }
        while self.days.len() > DAYS + 1
            && let Some(oldest) = self.days.keys().find(|day| *day != today).cloned()
        {
            self.days.remove(&oldest);
        }
    }

    /// Lets the person continue beyond the limit until the day ends.
    pub fn go_on(&mut self, today: &str) {
        self.days.entry(today.to_owned()).or_default().went_on = true;
    }

    /// Whether a limit is reached on a day, and the person did not choose to continue.
    pub fn is_reached(&self, today: &str, limit: Option<u32>, may_go_on: bool) -> bool {
        let Some((day, limit)) = self.days.get(today).zip(limit) else { return limit == Some(0) };
        day.harmful.len() >= limit as usize && !(day.went_on && may_go_on)
    }

    /// The counts shown to the person: harmful texts of a day, and of all days.
    pub fn counted(&self, today: &str) -> (u32, u32) {
        let day = self.days.get(today).map_or(0, |day| day.harmful.len() as u32);
        let all = u32::try_from(self.harmful).unwrap_or(u32::MAX);
        (day.saturating_sub(self.newest), all.saturating_sub(self.newest))
    }
}

/// The file of one person in one project.
pub struct CareFile<'a> {
    home: &'a Home,
    name: String,
}

impl<'a> CareFile<'a> {
    /// The file of this person, regardless of where the project or a packet is located.
    pub fn new(home: &'a Home, project: ProjectId, person: &str) -> Self {
        Self { home, name: format!("care-{}.json", hash(&[&project.0.to_string(), person])) }
    }

    /// Reads the file; empty where there is none yet.
    pub fn read(&self) -> StoredCare {
        self.home.read_json(&self.name).unwrap_or_default()
    }

    /// Changes the contents. Concurrent changes by two windows are both applied.
    ///
    /// # Errors
    /// It cannot be written; it is then unchanged.
    pub fn change(&self, change: impl FnOnce(&mut StoredCare)) -> Result<StoredCare, ProjectError> {
        let _locked = self.home.lock_config("care.lock")?;
        let before = self.read();
        let mut kept = before.clone();
        change(&mut kept);
        if kept != before {
            self.home.write_json(&self.name, &kept)?;
        }
        Ok(kept)
    }

    /// Deletes the file.
    pub fn forget(&self) -> Result<(), ProjectError> {
        self.home.remove_json(&self.name)
    }
}

/// Key of a text in the file.
pub fn text_key(external_id: &str) -> String {
    hash(&[external_id])
}

/// Hash that replaces names in files and in names of files.
pub fn hash(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize()[..8].iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const TODAY: &str = "2026-03-28";
    const TOMORROW: &str = "2026-03-29";

    fn read(kept: &mut StoredCare, day: &str, harmful: usize, fine: usize) {
        for n in 0..harmful {
            kept.note(day, &format!("h{n}"), true);
        }
        for n in 0..fine {
            kept.note(day, &format!("f{n}"), false);
        }
    }

    #[test]
    fn daily_limit_counts_each_text_once() {
        let mut kept = StoredCare::default();
        read(&mut kept, TODAY, 2, 3);
        read(&mut kept, TODAY, 2, 3);
        assert!(!kept.is_reached(TODAY, Some(3), true) && kept.is_reached(TODAY, Some(2), true));
        assert!(!kept.is_reached(TODAY, None, true) && kept.is_reached(TODAY, Some(0), true));
        // Midnight: a new day begins, and re-read texts count again.
        assert!(!kept.is_reached(TOMORROW, Some(2), true));
        read(&mut kept, TOMORROW, 2, 3);
        assert_eq!(kept.counted(TOMORROW), (2, 4));
        // A clock that is set back finds the day unchanged.
        assert!(kept.is_reached(TODAY, Some(2), true));
    }

    #[test]
    fn continuing_past_the_limit_lasts_one_day() {
        let mut kept = StoredCare::default();
        read(&mut kept, TODAY, 1, 0);
        kept.go_on(TODAY);
        assert!(!kept.is_reached(TODAY, Some(1), true));
        assert!(kept.is_reached(TODAY, Some(1), false), "the study forbade it meanwhile");
        read(&mut kept, TOMORROW, 1, 0);
        assert!(kept.is_reached(TOMORROW, Some(1), true));
    }

    #[test]
    fn count_never_reveals_a_single_text() {
        let mut kept = StoredCare::default();
        for n in 0..4 {
            kept.note(TODAY, &format!("t{n}"), true);
            assert_eq!(kept.counted(TODAY), (0, 0));
        }
        kept.note(TODAY, "t4", false);
        assert_eq!(kept.counted(TODAY), (4, 4));
        kept.note(TODAY, "t5", true);
        assert_eq!(kept.counted(TODAY), (4, 4));
    }

    #[test]
    fn text_later_found_harmful_is_counted() {
        let mut kept = StoredCare::default();
        kept.note(TODAY, "t", false);
        assert!(!kept.is_reached(TODAY, Some(1), true));
        kept.note(TODAY, "t", true);
        assert!(kept.is_reached(TODAY, Some(1), true));
    }

    #[test]
    fn old_days_are_dropped_despite_a_fast_clock() {
        let mut kept = StoredCare::default();
        for day in ["2027-03-01", "2027-03-02", "2027-03-03", "2027-03-04", "2026-03-01", "2026-03-02"] {
            read(&mut kept, day, 1, 0);
            assert!(kept.is_reached(day, Some(1), true), "{day}");
        }
        assert_eq!(kept.days.len(), DAYS + 1);
    }

    #[test]
    fn concurrent_writes_count_and_the_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::inside(folder.path(), Vec::new()));
        let project = ProjectId(uuid::Uuid::from_u128(7));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let home = Arc::clone(&home);
                scope.spawn(move || {
                    for n in 0..5 {
                        let text = format!("{thread}-{n}");
                        CareFile::new(&home, project, "ana")
                            .change(|kept| kept.note(TODAY, &text, true))
                            .unwrap();
                    }
                });
            }
        });
        let file = CareFile::new(&home, project, "ana");
        assert_eq!(file.read().counted(TODAY), (20, 20));
        assert_eq!(CareFile::new(&home, project, "ben").read(), StoredCare::default());
        let names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        assert!(names.iter().all(|name| !name.contains("ana")), "{names:?}");
        file.forget().unwrap();
        file.forget().unwrap();
        assert_eq!(file.read(), StoredCare::default());
    }

    #[test]
    fn damaged_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::inside(folder.path(), Vec::new());
        let file = CareFile::new(&home, ProjectId(uuid::Uuid::from_u128(7)), "ana");
        file.change(|kept| kept.note(TODAY, "t", true)).unwrap();
        std::fs::write(folder.path().join(&file.name), b"{\"own\":{\"lim").unwrap();
        assert!(file.change(|kept| kept.note(TODAY, "u", true)).unwrap().is_reached(TODAY, Some(1), true));
    }
}
