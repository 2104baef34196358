//! Errors of project files: what failed, where, and what to do about it.

use dissensus_domain::{AnswerError, ProjectId};
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, StoreError>;

/// Why an open file is no longer the one that its path refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Displaced {
    Moved {
        /// Its new location, if known.
        to: Option<PathBuf>,
        /// Whether another file has its name.
        replaced: bool,
    },
    /// Another file replaced it, and the open file was deleted.
    Replaced,
    /// The file was deleted.
    Removed,
    /// The contents were overwritten with those of another file.
    Overwritten,
    /// The journal was moved, replaced or deleted.
    JournalGone,
    /// A link in the path used to open it now points elsewhere, or nowhere.
    LinkChanged {
        /// The open file.
        file: PathBuf,
    },
    /// The system cannot resolve the path.
    Unknown(String),
}

impl Displaced {
    fn code(&self) -> &'static str {
        match self {
            Self::Moved { .. } => "project-moved",
            Self::Replaced | Self::Overwritten => "project-replaced",
            Self::Removed => "project-removed",
            Self::JournalGone => "project-journal-gone",
            Self::LinkChanged { .. } => "project-link-changed",
            Self::Unknown(_) => "project-out-of-reach",
        }
    }

    /// Describes what happened and what to do about it.
    fn explain(&self, path: &Path) -> String {
        let path = path.display();
        let save = "save a copy of what is open under another name before you close it";
        match self {
            Self::Moved { to, replaced } => {
                let to = to.as_ref().map_or_else(String::new, |to| format!(" (it is now {})", to.display()));
                let (also, back) = match replaced {
                    true => {
                        (", and another file has its name now", "close it and open it under its new name")
                    }
                    false => ("", "move it back, or close it and open it under its new name"),
                };
                format!("{path} was moved, renamed or removed while it was open{to}{also}; {back}, or {save}")
            }
            Self::Replaced => format!(
                "another file took the place of {path} while it was open, as when a backup is restored or a folder is synchronised; {save}"
            ),
            Self::Removed => format!("{path} was removed while it was open; {save}"),
            Self::Overwritten => {
                format!(
                    "{path} was overwritten by another program while it was open; {save}, and check both files"
                )
            }
            Self::JournalGone => format!(
                "the journal of {path} (its name and \"-wal\") was moved, replaced or removed while the project was open; leave the files next to an open project alone, close it and open it again"
            ),
            Self::LinkChanged { file } => format!(
                "{path} leads to another file than the one that is open, because a link in it was changed; what was written is in {}: close it and open the file that you mean by its own name",
                file.display()
            ),
            Self::Unknown(detail) => format!(
                "it cannot be found out whether {path} is still the file that is open ({detail}); make sure that its folder can be reached and try again"
            ),
        }
    }
}

dissensus_domain::errors! {
    /// Why a project could not be opened, read or written. Nothing was changed unless a variant states
    /// otherwise.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum StoreError {
        Missing(PathBuf) => "project-missing", "there is no project at {0}";
        Exists(PathBuf) => "project-exists", "{0} exists already; a new project needs a name of its own";
        CopyOntoItself(PathBuf) => "project-exists", "{0} is the project itself: choose another name for the copy";
        SideFile { path: PathBuf, of: PathBuf } => "project-side-file",
            "{path} cannot be a project: a file of this name is used next to {of} while that is open, and is overwritten and removed with it; choose another name";
        Directory(PathBuf) => "project-directory", "{0} is a folder, not a project file";
        Empty(PathBuf) => "project-empty", "{0} is empty; a copy or download that was cut short looks like this";
        NotSqlite(PathBuf) => "project-not-a-database",
            "{0} is not a Dissensus project. To label its texts, make a project and import the file";
        Encrypted(PathBuf) => "encrypted",
            "{0} is encrypted: decrypt it first, with its passphrase (`dissensus project decrypt`; in the window: open it and type the passphrase). Where files are merged or imported, give the passphrase with --passphrase-file";
        NotOurs(PathBuf) => "project-not-ours", "{0} is a database of another program, not a Dissensus project";
        Newer { path: PathBuf, found: u32, known: u32 } => "project-newer",
            "{path} has project format {found}; this program knows formats up to {known}: update Dissensus to open it";
        NewerFrom { path: PathBuf, found: u32, known: u32, program: String } => "project-newer",
            "{path} was last written by Dissensus {program} and has project format {found}; this program knows formats up to {known}: install version {program} or a later one to open it. The file was not changed";
        Older { path: PathBuf, found: u32, known: u32 } => "project-older",
            "{path} has the earlier project format {found}; open it to write once, which copies it and brings it up to format {known}";
        Altered { path: PathBuf, what: String } => "project-altered",
            "{path}: {what} differs from what Dissensus makes, so the file is not opened; was it edited with another program?";
        Damaged { path: PathBuf, detail: String } => "project-damaged",
            "{path} is damaged: {detail}; go back to a copy of it, if there is one";
        ReadOnly(PathBuf) => "project-read-only",
            "{0} is read-only; make it writable, or copy it to where it may be written";
        Unreadable(PathBuf) => "project-unreadable", "{0} cannot be read; ask its owner for permission";
        NoFolder(PathBuf) => "project-no-folder", "there is no folder {0} to make a project in";
        FolderReadOnly(PathBuf) => "project-folder-read-only",
            "the folder of {0} is read-only, and an open project keeps files next to it; copy it to where it may be written";
        Unfinished(PathBuf) => "project-unfinished",
            "{0} was not closed by the program that had it open last, and reading cannot finish what that one began; open it in the window or give a command that writes to it (such as \"label record\" or \"data import\"), or copy it with the files next to it (its name and \"-wal\" or \"-journal\") to where it may be written";
        Locked { path: PathBuf, by: String } => "project-locked",
            "{path} is open already ({by}); close it there first";
        Displaced { path: PathBuf, how: Displaced } => [how],
            "{}. Nothing more is written, and the last change is not confirmed" (how.explain(path));
        ForeignJournal(PathBuf) => "project-foreign-journal",
            "next to {0} is the journal of another file (its name and \"-wal\" or \"-journal\"), as when a backup is restored while the project is open or after a crash; close the project where it is open, then open it in the window, or give a command that writes to it (such as \"label record\" or \"data import\"), which moves that journal away";
        JournalElsewhere { path: PathBuf, journal: PathBuf } => "project-journal-elsewhere",
            "{path} was opened as another name of the same file, and what was written last is in {journal}; close it where it is open, or open it in the window or with a command that writes to it (such as \"label record\" or \"data import\"), which joins the two";
        UnsafeLock(String) => "project-lock-file", "the project is not opened: {0}";
        Busy(PathBuf) => "project-busy", "{0} is being used by another program; try again";
        DiskFull(PathBuf) => "disk-full",
            "the disk of {0} is full; make room and try again: nothing of this change was stored";
        Disk { path: PathBuf, doing: &'static str, detail: String } => "disk-failed",
            "the disk failed while {doing} in {path}: {detail}; nothing of this change was stored";
        OpenedToRead(PathBuf) => "project-opened-to-read",
            "{0} is open read-only, so nothing was written; open it to write, where no other program has it open and it can be written";
        JournalInTheWay(PathBuf) => "project-journal",
            "next to {0} is the journal of another project (its name and \"-wal\" or \"-journal\"), which would be read as a part of the copy; open that project once to finish it, or choose another name";
        CopyCancelled(PathBuf) => "cancelled", "stopped before the copy of {0} was whole; nothing of it is left";
        UpgradeCancelled(PathBuf) => "cancelled", "stopped before {0} was brought up to date; the file is as it was";
        UpgradeCancelledAside { path: PathBuf, journal: PathBuf } => "cancelled",
            "stopped before {path} was brought up to date; the file is as it was, and the journal of another file next to it was renamed to {journal}";
        Closed(PathBuf) => "project-closed", "{0} has been closed";
        WriteInsideWrite => "write-inside-write",
            "a write asked for another write of the same project; use the transaction that it was given";
        Duplicate { what: &'static str, name: String } => "duplicate", "there is a {what} \"{name}\" already";
        Unknown { what: &'static str, name: String } => "unknown", "there is no {what} {name} in this project";
        Withdrawn(String) => "withdrawn",
            "\"{0}\" has withdrawn from this project: their data were erased and cannot be added again. Label under another id; in a file that is imported, take their rows out";
        OffScale { question: String, source: AnswerError } => "level-outside-scale",
            "question \"{question}\": {source}";
        OtherProject { ours: ProjectId, theirs: ProjectId } => "other-project",
            "this is another project (its id is {theirs}, and this one's is {ours}); only copies of one project can be merged";
        Conflict { what: &'static str, name: String, why: &'static str } => "copies-conflict",
            "the two copies cannot be merged: {what} \"{name}\" {why}; nothing was merged";
        AlreadyRetracted(u32) => "already-retracted", "label {0} was taken back already";
        NotALabel(u32) => "not-a-label",
            "event {0} takes a label back and cannot be taken back itself; label the text again";
        Invalid { what: String, why: String } => "invalid", "{what}: {why}";
        Database { path: PathBuf, doing: &'static str, source: Box<dyn std::error::Error + Send + Sync> } => "database",
            "{doing} in {path} failed: {source}";
    }
}

impl StoreError {
    /// The error for a file that is no database: it may be an encrypted project.
    pub(crate) fn not_sqlite(path: PathBuf) -> Self {
        match dissensus_files::age::is_encrypted(&path) {
            true => Self::Encrypted(path),
            false => Self::NotSqlite(path),
        }
    }

    /// Interprets the error of a failed statement for the project at `path`.
    pub(crate) fn explain(path: &Path, doing: &'static str, error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as C;
        use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
        let path = path.to_owned();
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(C::DatabaseCorrupt) => return Self::Damaged { path, detail },
            Some(C::NotADatabase) => return Self::not_sqlite(path),
            Some(C::DiskFull) => return Self::DiskFull(path),
            // The shared memory next to the project cannot grow: the disk is full.
            Some(C::SystemIoFailure)
                if error.sqlite_error().is_some_and(|e| e.extended_code == SQLITE_IOERR_SHMSIZE) =>
            {
                return Self::DiskFull(path);
            }
            Some(C::SystemIoFailure) => return Self::Disk { path, doing, detail },
            Some(C::CannotOpen | C::PermissionDenied) => return Self::Unreadable(path),
            Some(C::ReadOnly) => return Self::ReadOnly(path),
            Some(C::DatabaseBusy | C::DatabaseLocked | C::FileLockingProtocolFailed) => {
                return Self::Busy(path);
            }
            _ => {}
        }
        match error {
            // The schema is strict, so a value of another type was not written by this program.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Self::Damaged { path, detail: format!("{doing}: {detail}") },
            other => Self::Database { path, doing, source: Box::new(other) },
        }
    }

    /// Interprets the error of a failed file operation for the project at `path`.
    pub(crate) fn from_io(path: &Path, doing: &'static str, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        let path = path.to_owned();
        match error.kind() {
            K::NotFound => Self::Missing(path),
            K::PermissionDenied | K::ReadOnlyFilesystem => Self::FolderReadOnly(path),
            K::StorageFull | K::QuotaExceeded => Self::DiskFull(path),
            _ => Self::Disk { path, doing, detail: error.to_string() },
        }
    }
}

/// Whether a statement failed because of a constraint of the schema.
pub(crate) fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

/// Whether a statement failed because a unique name is taken.
pub(crate) fn is_duplicate(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_extended_error_code(),
        Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
    )
}
