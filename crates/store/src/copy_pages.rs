//! Copies the pages of a project to another file.

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::ops::ControlFlow;
use std::path::Path;

/// Pages copied between two checks for cancellation: 1 MiB.
const STEP: i32 = 256;

/// Copies the contents visible to `conn` to the empty file `path`, which `prepare` then modifies.
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
    // Needs no journal, since the file has a temporary name until it is complete. Its pages are
    // synced all the same.
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
    // The copy of a WAL database is marked as WAL, but must be a single file.
    copy.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    copy.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
    prepare(&copy)?;
    copy.close().map_err(|(_, e)| e)?;
    Ok(ControlFlow::Continue(()))
}
