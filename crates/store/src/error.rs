//! Errors of project files: what failed, where, and what to do about it.

use dissensus_domain::{AnswerError, EventId, ProjectId, QuestionId};
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
                "the journal of {path} (its name and \"-wal\") was moved, replaced or removed while the project was open; leave the files beside an open project alone, close it and open it again"
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

/// Why a project could not be opened, read or written. Nothing was changed unless a variant states
/// otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such file.
    #[error("there is no project at {}", .0.display())]
    Missing(PathBuf),
    /// A new project must not replace a file.
    #[error("{} exists already; a new project needs a name of its own", .0.display())]
    Exists(PathBuf),
    /// The target of a copy is the project itself.
    #[error("{} is the project itself: choose another name for the copy", .0.display())]
    CopyOntoItself(PathBuf),
    /// The name is reserved for a side file of an open project.
    #[error("{} may be no project: a file of this name is kept beside {} while that is open, and is written over and removed with it; choose another name", .path.display(), .of.display())]
    SideFile {
        path: PathBuf,
        /// The project that the side file belongs to.
        of: PathBuf,
    },
    /// The path is a folder.
    #[error("{} is a folder, not a project file", .0.display())]
    Directory(PathBuf),
    /// The file is empty.
    #[error("{} is empty; a copy or download that was cut short looks like this", .0.display())]
    Empty(PathBuf),
    /// The file is not an SQLite database.
    #[error("{} is not a Dissensus project. To label its texts, make a project and import the file", .0.display())]
    NotSqlite(PathBuf),
    /// The file is a database of another program.
    #[error("{} is a database of another program, not a Dissensus project", .0.display())]
    NotOurs(PathBuf),
    /// The file was written by a later version of Dissensus.
    #[error("{} has project format {found}; this program knows formats up to {known}: update Dissensus to open it", .path.display())]
    Newer {
        path: PathBuf,
        found: u32,
        /// The newest format that this program supports.
        known: u32,
    },
    /// The file was written by an earlier version of Dissensus and cannot be upgraded when opened
    /// read-only.
    #[error("{} has the earlier project format {found}; open it to write once, which copies it and brings it up to format {known}", .path.display())]
    Older {
        path: PathBuf,
        found: u32,
        /// The format that this program supports.
        known: u32,
    },
    /// The tables, triggers or views differ from ours.
    #[error("{}: {what} differs from what Dissensus makes, so the file is not opened; was it edited with another program?", .path.display())]
    Altered {
        path: PathBuf,
        /// The first part that differs.
        what: String,
    },
    /// Pages or values of the file are invalid.
    #[error("{} is damaged: {detail}; go back to a copy of it, if there is one", .path.display())]
    Damaged {
        path: PathBuf,
        /// Description of the damage.
        detail: String,
    },
    /// The file is not writable.
    #[error("{} is read-only; make it writable, or copy it to where it may be written", .0.display())]
    ReadOnly(PathBuf),
    /// The file is not readable.
    #[error("{} may not be read; ask whoever owns it for permission", .0.display())]
    Unreadable(PathBuf),
    /// The folder for a new project does not exist.
    #[error("there is no folder {} to make a project in", .0.display())]
    NoFolder(PathBuf),
    /// The folder is not writable, and an open project needs a journal in it.
    #[error("the folder of {} is read-only, and an open project keeps files beside it; copy it to where it may be written", .0.display())]
    FolderReadOnly(PathBuf),
    /// The program that last had the file open did not close it, which cannot be recovered when
    /// reading only.
    #[error("{} was not closed by the program that had it open last, and reading cannot finish what that one began; open it in the window or give a command that writes to it (such as \"label record\" or \"data import\"), or copy it with the files beside it (its name and \"-wal\" or \"-journal\") to where it may be written", .0.display())]
    Unfinished(PathBuf),
    /// Another program or window has the project open.
    #[error("{} is open already ({by}); close it there first", .path.display())]
    Locked {
        path: PathBuf,
        /// Program and process, if known.
        by: String,
    },
    /// The open file is no longer the one that its path refers to. Nothing more is written; a
    /// change in progress may be in the open file and is not confirmed.
    #[error("{}. Nothing more is written, and the last change is not confirmed", .how.explain(.path))]
    Displaced {
        path: PathBuf,
        /// What happened to the file.
        how: Displaced,
    },
    /// The journal next to the project belongs to another file and cannot be moved away when
    /// reading only.
    #[error("beside {} lies the journal of another file (its name and \"-wal\" or \"-journal\"), as when a backup is restored while the project is open or after a crash; close the project where it is open, then open it in the window, or give a command that writes to it (such as \"label record\" or \"data import\"), which puts that journal aside", .0.display())]
    ForeignJournal(PathBuf),
    /// The latest changes are in a journal under another name of the file.
    #[error("{} was opened as another name of the same file, and what was written last is in {}; close it where it is open, or open it in the window or with a command that writes to it (such as \"label record\" or \"data import\"), which brings the two together", .path.display(), .journal.display())]
    JournalElsewhere {
        path: PathBuf,
        /// The journal with the latest changes.
        journal: PathBuf,
    },
    /// Something that is not a lock file of ours has the name of the lock file.
    #[error("the project is not opened: {0}")]
    UnsafeLock(String),
    /// Another program held the file locked for longer than the time limit.
    #[error("{} is being used by another program; try again", .0.display())]
    Busy(PathBuf),
    /// The disk is full. The change was rolled back.
    #[error("the disk of {} is full; make room and try again: nothing of this change was kept", .0.display())]
    DiskFull(PathBuf),
    /// An I/O error. The change was rolled back.
    #[error("the disk failed while {doing} in {}: {detail}; nothing of this change was kept", .path.display())]
    Disk {
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        /// The system's error message.
        detail: String,
    },
    /// The project is open read-only.
    #[error("{} is open read-only, so nothing was written; open it to write, where no other program has it open and it can be written", .0.display())]
    OpenedToRead(PathBuf),
    /// The journal of another project is where the copy would have its own.
    #[error("beside {} lies the journal of another project (its name and \"-wal\" or \"-journal\"), which would be taken for a part of the copy; open that project once to finish it, or choose another name", .0.display())]
    JournalInTheWay(PathBuf),
    /// A copy was cancelled and removed.
    #[error("stopped before the copy of {} was whole; nothing of it is left", .0.display())]
    CopyCancelled(PathBuf),
    #[error("{} has been closed", .0.display())]
    Closed(PathBuf),
    /// A closure given to `Store::write` called `write` on the same store, which would deadlock.
    #[error("a write asked for another write of the same project; use the transaction that it was given")]
    WriteInsideWrite,
    /// A name that must be unique is taken.
    #[error("there is a {what} \"{name}\" already")]
    Duplicate {
        /// `text`, `annotator`, `question`, ...
        what: &'static str,
        name: String,
    },
    /// Something that was requested is not in the project.
    #[error("there is no {what} {name} in this project")]
    Unknown {
        what: &'static str,
        /// Row id or name.
        name: String,
    },
    /// The annotator has withdrawn.
    #[error(
        "\"{0}\" has withdrawn from this project: everything of theirs was erased, and nothing of theirs can come in again; take their rows out of the file, or label under another id"
    )]
    Withdrawn(String),
    #[error("question {}: {source}", question.0)]
    OffScale {
        question: QuestionId,
        /// Why the answer is not on the scale.
        source: AnswerError,
    },
    /// Events can only be merged between copies of the same project.
    #[error(
        "this is another project (its id is {theirs}, and this one's is {ours}); only copies of one project can be brought together"
    )]
    OtherProject {
        /// The project to merge into.
        ours: ProjectId,
        /// The project to merge from.
        theirs: ProjectId,
    },
    /// Two copies contain contradicting data that cannot be merged.
    #[error("the two copies cannot be brought together: {what} \"{name}\" {why}; nothing was taken in")]
    Conflict {
        what: &'static str,
        name: String,
        /// How they differ.
        why: &'static str,
    },
    /// The label was retracted before.
    #[error("label {} was taken back already", .0.0)]
    AlreadyRetracted(EventId),
    /// The event is itself a retraction.
    #[error("event {} takes a label back and cannot be taken back itself; label the text again", .0.0)]
    NotALabel(EventId),
    /// A value is not allowed in a project.
    #[error("{what}: {why}")]
    Invalid {
        /// What the value belongs to.
        what: String,
        why: String,
    },
    /// Any other database error.
    #[error("{doing} in {} failed: {source}", .path.display())]
    Database {
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        /// The database's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// A stable kebab-case error code, for scripts and the window.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "project-missing",
            Self::Exists(_) | Self::CopyOntoItself(_) => "project-exists",
            Self::SideFile { .. } => "project-side-file",
            Self::Directory(_) => "project-directory",
            Self::Empty(_) => "project-empty",
            Self::NotSqlite(_) => "project-not-a-database",
            Self::NotOurs(_) => "project-not-ours",
            Self::Newer { .. } => "project-newer",
            Self::Older { .. } => "project-older",
            Self::Altered { .. } => "project-altered",
            Self::Damaged { .. } => "project-damaged",
            Self::ReadOnly(_) => "project-read-only",
            Self::Unreadable(_) => "project-unreadable",
            Self::NoFolder(_) => "project-no-folder",
            Self::FolderReadOnly(_) => "project-folder-read-only",
            Self::Unfinished(_) => "project-unfinished",
            Self::Locked { .. } => "project-locked",
            Self::Displaced { how, .. } => how.code(),
            Self::ForeignJournal(_) => "project-foreign-journal",
            Self::JournalElsewhere { .. } => "project-journal-elsewhere",
            Self::UnsafeLock(_) => "project-lock-file",
            Self::Busy(_) => "project-busy",
            Self::DiskFull(_) => "disk-full",
            Self::Disk { .. } => "disk-failed",
            Self::OpenedToRead(_) => "project-opened-to-read",
            Self::JournalInTheWay(_) => "project-journal",
            Self::CopyCancelled(_) => "cancelled",
            Self::Closed(_) => "project-closed",
            Self::WriteInsideWrite => "write-inside-write",
            Self::Duplicate { .. } => "duplicate",
            Self::Unknown { .. } => "unknown",
            Self::Withdrawn(_) => "withdrawn",
            Self::OffScale { .. } => "level-outside-scale",
            Self::OtherProject { .. } => "other-project",
            Self::Conflict { .. } => "copies-conflict",
            Self::AlreadyRetracted(_) => "already-retracted",
            Self::NotALabel(_) => "not-a-label",
            Self::Invalid { .. } => "invalid",
            Self::Database { .. } => "database",
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
            Some(C::NotADatabase) => return Self::NotSqlite(path),
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
