//! The folder of a run: where it is, and whether its contents belong to this run.
//!
//! A run's files (a trained network, a tuned encoder, checkpoints) are in `PROJECT.runs/UUID`, where
//! `PROJECT` is the real path of the project file including its extension, and the UUID is that of the run.
//! `run.json` in the folder repeats the UUID. So project and folder can be moved, renamed and restored from
//! a backup without one run ever being mistaken for another; numbers are not sufficient, because they are
//! reused by the next project. Before anything in a folder is used, the UUID is compared; a folder that does
//! not match is named in an error, and neither used nor deleted.
//!
//! Format 2 had `NAME.runs/NUMBER`, without an identity. Such a folder is used for a run of that time if its
//! files match the project's record of the run; the UUID is then added to them.

use super::{SavedRun, SavedRuns};
use crate::error::TrainingError;
use dissensus_api::Tuning;
use dissensus_files::{with_suffix, write_atomically};
use dissensus_project::error::ProjectError;
use dissensus_stats::data::ModelKind;
use dissensus_store::Run;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Prefix of the name of a run's tuned encoder: `run:UUID`.
const ENCODER_PREFIX: &str = "run:";
const CARD: &str = "run.json";
/// File with texts and labels of other projects that a run learns from, deleted when it has finished.
pub const AUXILIARY: &str = "auxiliary.json";
/// File with marked words that a run learns, deleted when it has finished.
pub const WORDS_TO_LEARN: &str = "words_to_learn.json";

/// `run.json`: the run that the files belong to, and the meaning of a saved network's numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Card {
    /// The run; absent in folders of format 2.
    pub(crate) id: Option<Uuid>,
    pub(crate) question: Option<String>,
    /// Its levels, in order.
    pub(crate) levels: Vec<String>,
    /// External ids of the annotators, in the order of the network's rows.
    pub(crate) annotators: Vec<String>,
    /// The choices of the training.
    pub(crate) choices: Option<serde_json::Value>,
}

/// The state of a run's folder.
#[derive(Clone, Debug, PartialEq)]
pub enum RunFolder {
    /// The run's own folder.
    Own(PathBuf),
    /// There is none; new files are written here.
    Missing(PathBuf),
    /// The existing folder belongs to another run.
    Foreign(PathBuf, String),
}

impl RunFolder {
    /// The folder, if it is the run's own.
    pub(crate) fn own(&self) -> Option<&Path> {
        match self {
            Self::Own(path) => Some(path),
            Self::Missing(_) | Self::Foreign(..) => None,
        }
    }
}

impl SavedRuns {
    /// The folder that contains the folders of this project's runs.
    pub(crate) fn runs_folder(&self) -> PathBuf {
        with_suffix(self.context.store.file(), ".runs")
    }

    /// The folder of a run, checked to be its own.
    ///
    /// # Errors
    /// There is none, or it belongs to another run.
    pub(crate) fn folder(&self, kept: &SavedRun) -> Result<PathBuf, ProjectError> {
        match self.find_folder(kept) {
            RunFolder::Own(path) => Ok(path),
            RunFolder::Missing(path) => Err(TrainingError::NoRunFiles { run: kept.run.id.0, path }.into()),
            RunFolder::Foreign(path, reason) => {
                Err(TrainingError::ForeignRunFiles { run: kept.run.id.0, path, reason }.into())
            }
        }
    }

    /// The folder with the tuned encoder of the run `uid`, at the project's current location.
    ///
    /// # Errors
    /// There is no such run in this project, or its folder is missing or not its own.
    pub(crate) fn encoder_folder(&self, uid: Uuid) -> Result<PathBuf, ProjectError> {
        let run = self.context.store.run_by_uid(uid)?.ok_or(TrainingError::NoRunOfEncoder(uid))?;
        let kept = self.get(run.id.0)?;
        // Its training data is stored when the run has ended.
        if kept.outcome.report.is_none() {
            return Err(TrainingError::UnfinishedEncoder(run.id.0).into());
        }
        Ok(self.folder(&kept)?.join("encoder"))
    }

    /// The run's folder, created if missing.
    ///
    /// # Errors
    /// The existing folder belongs to another run, or an I/O error.
    pub(crate) fn make_folder(&self, kept: &SavedRun) -> Result<PathBuf, ProjectError> {
        match self.find_folder(kept) {
            RunFolder::Missing(path) => {
                std::fs::create_dir_all(&path).map_err(|e| io(&path, "making", e))?;
                write_card(&path, &Card { id: Some(kept.run.uid), ..Card::default() })?;
                Ok(path)
            }
            RunFolder::Own(path) => {
                // A folder of format 2: its owner is recorded from now on.
                let card = read_card(&path).ok().flatten().unwrap_or_default();
                if card.id.is_none() {
                    write_card(&path, &Card { id: Some(kept.run.uid), ..card })?;
                }
                Ok(path)
            }
            RunFolder::Foreign(..) => self.folder(kept),
        }
    }

    /// Locates the folder of a run.
    pub(crate) fn find_folder(&self, kept: &SavedRun) -> RunFolder {
        let path = self.runs_folder().join(kept.run.uid.to_string());
        if std::fs::symlink_metadata(&path).is_ok() {
            return match check_owner(&path, &kept.run) {
                Ok(()) => RunFolder::Own(path),
                Err(reason) => RunFolder::Foreign(path, reason),
            };
        }
        // Only runs that were migrated from format 2 have a UUID of version 8.
        if kept.run.uid.get_version_num() != 8 {
            return RunFolder::Missing(path);
        }
        let mut foreign = None;
        for old in self.old_folders(&kept.run) {
            match self.is_of_format_2(&old, kept) {
                Ok(()) => return RunFolder::Own(old),
                Err(reason) => foreign = foreign.or(Some(RunFolder::Foreign(old, reason))),
            }
        }
        foreign.unwrap_or(RunFolder::Missing(path))
    }

    /// Folders of this run's number as format 2 placed them: next to the name that the project was opened
    /// by, with its extension replaced.
    fn old_folders(&self, run: &Run) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = [self.context.store.file(), self.context.store.path()]
            .into_iter()
            .map(|project| project.with_extension("runs").join(run.id.0.to_string()))
            .filter(|folder| folder.is_dir())
            .collect();
        found.dedup();
        found
    }

    /// Whether a folder of format 2 is this run's, as far as its files show.
    fn is_of_format_2(&self, folder: &Path, kept: &SavedRun) -> Result<(), String> {
        let card = read_card(folder)?;
        let Some(card) = card else { return has_checkpoint_of(folder, kept) };
        if let Some(id) = card.id {
            return same_id(id, &kept.run);
        }
        let index = self.context.index();
        let question = index.question(kept.choices.question);
        let same_question = question.is_some_and(|question| {
            // Levels are renamed and never removed.
            card.question.as_ref() == Some(&question.name) && card.levels.len() == question.scale.len()
        });
        if !same_question {
            return Err("its run.json is of another question".to_owned());
        }
        if card.choices.and_then(|choices| super::choices::read(choices).ok().flatten()).as_ref()
            != Some(&kept.choices)
        {
            return Err("its run.json is of a run with other choices".to_owned());
        }
        let annotators = index.annotators();
        let same_annotators = card.annotators.len() <= annotators.len()
            && card.annotators.iter().zip(annotators).all(|(id, known)| *id == known.external_id);
        if !same_annotators {
            return Err("its run.json names other annotators".to_owned());
        }
        Ok(())
    }

    /// Whether the run can be used for live predictions: only `multilevel` can, on the frozen encoder or on
    /// one that a run has tuned, because the other models are not updated label by label.
    pub(crate) fn can_be_used(&self, kept: &SavedRun) -> bool {
        let has_encoder = |folder: &Path| folder.join("encoder").join("config.json").is_file();
        kept.choices.model == ModelKind::Multilevel
            && (kept.choices.tuning == Tuning::Frozen
                || self.find_folder(kept).own().is_some_and(has_encoder))
    }

    /// Removes a run's own files; other files stay. They are renamed first, so that an interrupted removal
    /// leaves nothing that looks like the run's.
    pub(crate) fn remove_folder(&self, kept: &SavedRun) -> Result<(), ProjectError> {
        let RunFolder::Own(folder) = self.find_folder(kept) else { return Ok(()) };
        let removed = with_suffix(&folder, ".removed");
        std::fs::rename(&folder, &removed).map_err(|e| io(&folder, "removing", e))?;
        std::fs::remove_dir_all(&removed).map_err(|e| io(&removed, "removing", e))?;
        // Fails if the folder contains other runs, which is intended.
        let _ = std::fs::remove_dir(self.runs_folder());
        Ok(())
    }
}

/// Removes the folder of a deleted run, unless its files belong to another run, and the remains of an
/// interrupted removal.
pub fn remove_folder_of(runs: &Path, uid: Uuid) -> Result<(), ProjectError> {
    let folder = runs.join(uid.to_string());
    let removed = with_suffix(&folder, ".removed");
    // A card that cannot be read does not contradict the folder's own name: data learned from a person who
    // withdrew must not stay.
    let own =
        read_card(&folder).map_or(true, |card| card.is_none_or(|card| card.id.is_none_or(|id| id == uid)));
    if folder.is_dir() && own {
        std::fs::rename(&folder, &removed).map_err(|e| io(&folder, "removing", e))?;
    }
    if removed.is_dir() {
        std::fs::remove_dir_all(&removed).map_err(|e| io(&removed, "removing", e))?;
    }
    // Fails if the folder contains other runs, which is intended.
    let _ = std::fs::remove_dir(runs);
    Ok(())
}

/// The run to whose tuned encoder a name like `run:UUID` refers.
pub fn run_of_encoder(name: &str) -> Option<Uuid> {
    name.strip_prefix(ENCODER_PREFIX)?.parse().ok()
}

/// The name of the encoder that a run tuned.
pub fn encoder_name(uid: Uuid) -> String {
    format!("{ENCODER_PREFIX}{uid}")
}

pub fn write_card(folder: &Path, card: &Card) -> Result<(), ProjectError> {
    let path = folder.join(CARD);
    let text = serde_json::to_string_pretty(card).map_err(|e| ProjectError::internal(&e))?;
    write_atomically(&path, format!("{text}\n").as_bytes()).map_err(|e| io(&path, "writing", e))
}

fn read_card(folder: &Path) -> Result<Option<Card>, String> {
    match std::fs::read(folder.join(CARD)) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(card) => Ok(Some(card)),
            Err(error) => Err(format!("its run.json cannot be read: {error}")),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("its run.json cannot be read: {error}")),
    }
}

fn check_owner(folder: &Path, run: &Run) -> Result<(), String> {
    match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err("it is no folder".to_owned()),
        Err(error) => return Err(format!("it cannot be entered: {error}")),
    }
    let card = read_card(folder)?.ok_or("it has no run.json: only a part of the run's files is there")?;
    same_id(card.id.ok_or("its run.json names no run")?, run)
}

fn same_id(id: Uuid, run: &Run) -> Result<(), String> {
    if id == run.uid { Ok(()) } else { Err(format!("its run.json states that it is of the run {id}")) }
}

/// Whether the checkpoint of an unfinished run of format 2 was made under this run's choices. Whether it is
/// of the same labels is checked when it is loaded.
fn has_checkpoint_of(folder: &Path, kept: &SavedRun) -> Result<(), String> {
    let (config, _) = super::choices::config(&kept.choices).map_err(|error| error.to_string())?;
    match dissensus_neural::trainer::checkpoint_config_hash(&folder.join("checkpoints")) {
        None => Err("it has neither a run.json nor a checkpoint".to_owned()),
        Some(sum) if config.config_hash().is_ok_and(|ours| ours == sum) => Ok(()),
        Some(_) => Err("its checkpoint is of other choices".to_owned()),
    }
}

pub fn io(path: &Path, doing: &'static str, source: std::io::Error) -> ProjectError {
    ProjectError::Io { path: path.to_owned(), doing, source }
}
