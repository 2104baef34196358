//! Errors of changes to a project.

use dissensus_project::error::ProjectError;
use std::path::PathBuf;

dissensus_domain::errors! {
    /// Why a change to a project is refused.
    #[derive(Debug)]
    pub enum EditingError {
        Spans(dissensus_domain::SpansError) => "not-on-scale", transparent;
        Words { what: &'static str, given: String, why: String } => "words",
            "cannot read \"{given}\" as {what}: {why}";
        AttributeValue { name: String, why: &'static str } => "name", "the value of the attribute \"{name}\" {why}";
        Stays { what: String, why: String } => "stays", "the {what} cannot be removed: {why}";
        ConsentBlank => "consent-blank", "a consent text cannot be empty: write what people agree to";
        ConsentLong(usize) => "consent-long",
            "this consent text has {0} characters, and may have 50,000: leave some out";
        ConsentUnchanged(u32) => "consent-unchanged",
            "this is the same as version {0} of the consent text: nothing was changed";
        ConsentOutdated => "consent-outdated",
            "people are asked to agree to another consent text by now: read that one";
        NoImport => "no-import",
            "there is no import that can be removed: a project remembers its last five imports, and none is left";
        CopyExists(PathBuf) => "project-exists",
            "{0} exists already: choose another name for the copy, or give --force to replace that file";
        NoBackup(String) => "no-backup", "there is no backup \"{0}\" of this project: list its backups first";
        BackupUnsound(String) => "backup-unsound",
            "the backup that was just written cannot be read back ({0}), so it was deleted, and earlier backups are unchanged: check the disk, and save a copy to another one";
        NoRestoreFolder(PathBuf) => "restore-folder",
            "{0}, the folder of this project, does not exist: choose where to restore the backup";
        RestoredExists(PathBuf) => "project-exists",
            "{0} exists already, and restoring a backup never replaces a file: choose another name";
        RunsNotEncrypted => "runs-not-encrypted",
            "the files of runs are a folder, and only the project file is encrypted: copy without --runs, or without a passphrase";
        RunsExist(PathBuf) => "export-exists",
            "{0} exists already, and the files of runs never replace others: choose another name for the copy, or remove that folder";
    }
}

impl From<EditingError> for ProjectError {
    fn from(error: EditingError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}
