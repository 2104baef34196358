//! Power cuts: writes of SQLite are recorded, and the disk is reconstructed as it could be after a power
//! failure at any moment.
//!
//! `kill -9` proves nothing about syncs: the writes of a process survive it in the system's memory. Here
//! every write, truncation, sync and deletion passes through a layer below SQLite ([`Recorder`]). A disk is
//! then built from what was synced ([`Recording::cuts`]), with none, some, or some and half a write of what
//! was not.

mod disk;
mod vfs;

pub use disk::{Cut, Recording, Unsynced};
pub use vfs::Recorder;

use std::path::PathBuf;

/// One change to the files of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A file was created.
    Create(PathBuf),
    /// Bytes were written at an offset.
    Write(PathBuf, u64, Vec<u8>),
    /// A file was truncated or extended to this size.
    Truncate(PathBuf, u64),
    /// All earlier writes to a file are on disk, and so is its name.
    Sync(PathBuf),
    /// A file was deleted; true if its folder was synced afterwards.
    Delete(PathBuf, bool),
    /// A file was renamed, and its folder was synced.
    Rename(PathBuf, PathBuf),
    /// The test recorded how much is confirmed.
    Note(u64),
}
