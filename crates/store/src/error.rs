//! What can go wrong with a project file: what it was, where, and what to do.

use dissensus_domain::{AnswerError, EventId, ProjectId, QuestionId};
use std::path::{Path, PathBuf};

/// The result of everything in this crate.
pub type Result<T> = std::result::Result<T, StoreError>;

/// How an open file came to be another one than the file that its path names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Displaced {
    /// It was moved or renamed.
    Moved {
        /// Where it is now, as far as that is known.
        to: Option<PathBuf>,
        /// Another file has its name.
        replaced: bool,
    },
    /// Another file took its place, and it is gone.
    Replaced,
    /// It was removed.
    Removed,
    /// Its bytes were replaced by those of another file.
    Overwritten,
    /// Its journal was moved, replaced or removed.
    JournalGone,
    /// A link in the path that it was opened by leads elsewhere, or nowhere.
    LinkChanged {
        /// The file that is open.
        file: PathBuf,
    },
    /// The system does not say which file the path names.
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

    /// What happened, and what to do about it.
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

/// Why a project could not be opened, read or written. Nothing was changed unless a variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no file of that name.
    #[error("there is no project at {}", .0.display())]
    Missing(PathBuf),
    /// A new project must not replace a file.
    #[error("{} exists already; a new project needs a name of its own", .0.display())]
    Exists(PathBuf),
    /// A copy must not replace what it is a copy of.
    #[error("{} is the project itself: choose another name for the copy", .0.display())]
    CopyOntoItself(PathBuf),
    /// The name is that of a file that is kept beside a project while it is open.
    #[error("{} may be no project: a file of this name is kept beside {} while that is open, and is written over and removed with it; choose another name", .path.display(), .of.display())]
    SideFile {
        /// The name.
        path: PathBuf,
        /// The project that it would be beside.
        of: PathBuf,
    },
    /// The name is that of a folder.
    #[error("{} is a folder, not a project file", .0.display())]
    Directory(PathBuf),
    /// The file has no byte in it.
    #[error("{} is empty; a copy or download that was cut short looks like this", .0.display())]
    Empty(PathBuf),
    /// The file is of another kind altogether.
    #[error("{} is not a Dissensus project. To label its texts, make a project and import the file", .0.display())]
    NotSqlite(PathBuf),
    /// The file is a database of another program.
    #[error("{} is a database of another program, not a Dissensus project", .0.display())]
    NotOurs(PathBuf),
    /// A later version of Dissensus wrote the file.
    #[error("{} has project format {found}; this program knows formats up to {known}: update Dissensus to open it", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format this program knows.
        known: u32,
    },
    /// An earlier version of Dissensus wrote the file, and reading alone cannot bring it up to date.
    #[error("{} has the earlier project format {found}; open it to write once, which copies it and brings it up to format {known}", .path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The format that can be read.
        known: u32,
    },
    /// The tables, triggers or views are not the ones that we make.
    #[error("{}: {what} differs from what Dissensus makes, so the file is not opened; was it edited with another program?", .path.display())]
    Altered {
        /// The file.
        path: PathBuf,
        /// The first part that differs.
        what: String,
    },
    /// Pages or values of the file cannot be right.
    #[error("{} is damaged: {detail}; go back to a copy of it, if there is one", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file may not be written.
    #[error("{} is read-only; make it writable, or copy it to where it may be written", .0.display())]
    ReadOnly(PathBuf),
    /// The file may not be read.
    #[error("{} may not be read; ask whoever owns it for permission", .0.display())]
    Unreadable(PathBuf),
    /// There is no folder to make the project in.
    #[error("there is no folder {} to make a project in", .0.display())]
    NoFolder(PathBuf),
    /// The folder may not be written, and a project keeps a journal beside it while open.
    #[error("the folder of {} is read-only, and an open project keeps files beside it; copy it to where it may be written", .0.display())]
    FolderReadOnly(PathBuf),
    /// The program that had the file open last did not close it, and reading alone cannot put that right.
    #[error("{} was not closed by the program that had it open last, and reading cannot finish what that one began; open it in the window or give a command that writes to it (such as \"label record\" or \"data import\"), or copy it with the files beside it (its name and \"-wal\" or \"-journal\") to where it may be written", .0.display())]
    Unfinished(PathBuf),
    /// Another program, or another window, has the project open.
    #[error("{} is open already ({by}); close it there first", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// Program and process, as far as they are known.
        by: String,
    },
    /// The open file is not the one that its path names. Nothing more is written; a change that was under way may be in the
    /// open file and is not confirmed.
    #[error("{}. Nothing more is written, and the last change is not confirmed", .how.explain(.path))]
    Displaced {
        /// The file.
        path: PathBuf,
        /// What happened.
        how: Displaced,
    },
    /// The journal beside the project is another file's, and reading alone cannot put it aside.
    #[error("beside {} lies the journal of another file (its name and \"-wal\" or \"-journal\"), as when a backup is restored while the project is open or after a crash; close the project where it is open, then open it in the window, or give a command that writes to it (such as \"label record\" or \"data import\"), which puts that journal aside", .0.display())]
    ForeignJournal(PathBuf),
    /// What was written last is in a journal under another name of the file.
    #[error("{} was opened as another name of the same file, and what was written last is in {}; close it where it is open, or open it in the window or with a command that writes to it (such as \"label record\" or \"data import\"), which brings the two together", .path.display(), .journal.display())]
    JournalElsewhere {
        /// The file.
        path: PathBuf,
        /// Its journal.
        journal: PathBuf,
    },
    /// Something other than a file of ours has the name of the lock file.
    #[error("the project is not opened: {0}")]
    UnsafeLock(String),
    /// Another program holds the file for longer than we wait.
    #[error("{} is being used by another program; try again", .0.display())]
    Busy(PathBuf),
    /// No room is left. The change was rolled back.
    #[error("the disk of {} is full; make room and try again: nothing of this change was kept", .0.display())]
    DiskFull(PathBuf),
    /// The disk failed. The change was rolled back.
    #[error("the disk failed while {doing} in {}: {detail}; nothing of this change was kept", .path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        detail: String,
    },
    /// The project was opened to read only.
    #[error("{} is open read-only, so nothing was written; open it to write, where no other program has it open and it can be written", .0.display())]
    OpenedToRead(PathBuf),
    /// The journal of another project lies where a copy is to go.
    #[error("beside {} lies the journal of another project (its name and \"-wal\" or \"-journal\"), which would be taken for a part of the copy; open that project once to finish it, or choose another name", .0.display())]
    JournalInTheWay(PathBuf),
    /// A copy was stopped before its end; nothing of it is left.
    #[error("stopped before the copy of {} was whole; nothing of it is left", .0.display())]
    CopyCancelled(PathBuf),
    /// The project has been closed.
    #[error("{} has been closed", .0.display())]
    Closed(PathBuf),
    /// A closure given to `Store::write` asked the same store for another write, and would wait for itself.
    #[error("a write asked for another write of the same project; use the transaction that it was given")]
    WriteInsideWrite,
    /// A name that must be unique is taken.
    #[error("there is a {what} \"{name}\" already")]
    Duplicate {
        /// `text`, `annotator`, `question`, ...
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Something asked for is not in the project.
    #[error("there is no {what} {name} in this project")]
    Unknown {
        /// `text`, `annotator`, `question`, ...
        what: &'static str,
        /// Its row or name.
        name: String,
    },
    /// Somebody who withdrew.
    #[error(
        "\"{0}\" has withdrawn from this project: everything of theirs was erased, and nothing of theirs can come in again; take their rows out of the file, or label under another id"
    )]
    Withdrawn(String),
    /// The answer is not on the question's scale.
    #[error("question {}: {source}", question.0)]
    OffScale {
        /// The question.
        question: QuestionId,
        /// Why not.
        source: AnswerError,
    },
    /// Events of one project cannot go into another one.
    #[error(
        "this is another project (its id is {theirs}, and this one's is {ours}); only copies of one project can be brought together"
    )]
    OtherProject {
        /// The project that was to take in.
        ours: ProjectId,
        /// The project whose events were to come in.
        theirs: ProjectId,
    },
    /// Two copies say different things of what must be the same.
    #[error("the two copies cannot be brought together: {what} \"{name}\" {why}; nothing was taken in")]
    Conflict {
        /// `text`, `question`, `event`.
        what: &'static str,
        /// Its name.
        name: String,
        /// How they differ.
        why: &'static str,
    },
    /// The label was taken back before.
    #[error("label {} was taken back already", .0.0)]
    AlreadyRetracted(EventId),
    /// The event is itself a retraction.
    #[error("event {} takes a label back and cannot be taken back itself; label the text again", .0.0)]
    NotALabel(EventId),
    /// A value that no project may hold.
    #[error("{what}: {why}")]
    Invalid {
        /// What the value is of.
        what: String,
        /// Why it cannot be.
        why: String,
    },
    /// Anything else the database said.
    #[error("{doing} in {} failed: {source}", .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the database said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// A stable kebab-case name of the kind of error, for scripts and for the window.
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

    /// Says what a failed statement means for the project at `path`.
    pub(crate) fn explain(path: &Path, doing: &'static str, error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as C;
        use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
        let path = path.to_owned();
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(C::DatabaseCorrupt) => return Self::Damaged { path, detail },
            Some(C::NotADatabase) => return Self::NotSqlite(path),
            Some(C::DiskFull) => return Self::DiskFull(path),
            // The shared memory beside the project cannot grow: there is no room for it.
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
            // The schema is strict, so a value of another kind did not come from us.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Self::Damaged { path, detail: format!("{doing}: {detail}") },
            other => Self::Database { path, doing, source: Box::new(other) },
        }
    }

    /// Says what a failed file operation means for the project at `path`.
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

/// True where a statement failed because a rule of the schema forbids its values.
pub(crate) fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

/// True where a statement failed because a unique name is taken.
pub(crate) fn is_duplicate(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_extended_error_code(),
        Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
    )
}
