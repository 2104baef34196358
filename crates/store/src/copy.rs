//! A whole copy of a project, at any moment.

use crate::connect::has_journal;
use crate::journal::Mark;
use crate::{Result, StoreError};
use dissensus_files::{AtomicFile, folder_of};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::ops::ControlFlow;
use std::path::Path;

/// Pages copied between two looks at whether to stop: 1 MiB.
const STEP: i32 = 256;

/// What may be at the target of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyTarget {
    /// Nothing.
    New,
    /// A file, which is replaced once the copy is whole.
    Replace,
}

/// Copies what `conn` sees, the project called `shown` in messages.
pub(crate) fn copy_to(
    conn: &Connection,
    shown: &Path,
    target: &Path,
    what: CopyTarget,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<()> {
    let explain_io = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Exists(target.to_owned()),
        std::io::ErrorKind::NotFound => StoreError::NoFolder(folder_of(target).to_owned()),
        std::io::ErrorKind::IsADirectory => StoreError::Directory(target.to_owned()),
        _ => StoreError::from_io(target, "copying the project", &e),
    };
    if what == CopyTarget::New && std::fs::symlink_metadata(target).is_ok() {
        return Err(StoreError::Exists(target.to_owned()));
    }
    // SQLite would take what another project left there for a part of the copy.
    if has_journal(target) {
        return Err(StoreError::JournalInTheWay(target.to_owned()));
    }
    // Whoever made the project readable for others may do so with a copy too.
    let file = AtomicFile::create_private(target).map_err(explain_io)?;
    // A copy is another file: put in the place of this one, it has no part in the journal that is left beside it.
    let mark = |copy: &Connection| Mark::first(None).write(copy);
    match copy_pages(conn, file.temporary_path(), mark, progress) {
        Ok(ControlFlow::Continue(())) => {}
        Ok(ControlFlow::Break(())) => return Err(StoreError::CopyCancelled(shown.to_owned())),
        Err(e) => return Err(StoreError::explain(target, "copying the project", e)),
    }
    match what {
        CopyTarget::New => file.finish_new(),
        CopyTarget::Replace => file.finish(),
    }
    .map_err(explain_io)
}

/// Copies what `conn` sees to the empty file `path`, which `prepare` then writes to.
pub(crate) fn copy_pages(
    conn: &Connection,
    path: &Path,
    prepare: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> rusqlite::Result<ControlFlow<()>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut copy = Connection::open_with_flags(path, flags)?;
    // It has a temporary name until it is whole: there is nothing to go back to. Its pages are synced all the same.
    copy.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
    copy.pragma_update(None, "synchronous", "FULL")?;
    copy.pragma_update(None, "fullfsync", true)?;
    let page: i64 = conn.pragma_query_value(None, "page_size", |r| r.get(0))?;
    let bytes = |pages: i32| u64::try_from(i64::from(pages).saturating_mul(page)).unwrap_or(0);
    {
        let backup = Backup::new(conn, &mut copy)?;
        loop {
            let step = backup.step(STEP)?;
            let p = backup.progress();
            if progress(bytes(p.pagecount - p.remaining), bytes(p.pagecount)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            match step {
                StepResult::Done => break,
                StepResult::Busy | StepResult::Locked => {
                    std::thread::sleep(std::time::Duration::from_millis(20))
                }
                _ => {}
            }
        }
    }
    // The copy of a WAL file says WAL: alone it must be one file.
    copy.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    copy.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
    prepare(&copy)?;
    copy.close().map_err(|(_, e)| e)?;
    Ok(ControlFlow::Continue(()))
}
