//! Files and folders that are written atomically, and opening files without following links.
//!
//! All files that the program writes next to a project go through this crate: exports, reports,
//! settings, copies of projects, checkpoints, lock files. It does not depend on `domain` and knows
//! nothing about projects.
//!
//! ```
//! use std::io::Write;
//!
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # let target = folder.path().join("labels.csv");
//! let mut file = dissensus_files::AtomicFile::create(&target)?;
//! file.write_all(b"text_id,label\n")?;
//! assert!(!target.exists());
//! file.finish()?; // on the disk, under its name
//! assert!(target.exists());
//! # Ok(())
//! # }
//! ```

pub mod age;
mod atomic_file;
mod atomic_folder;
mod atomic_pair;
mod linked_folder;
mod nofollow;
mod paths;
mod private_folder;
mod stale;

pub use atomic_file::{AtomicFile, replace_private, write_atomically};
pub use atomic_folder::AtomicFolder;
pub use atomic_pair::finish_pair;
pub use linked_folder::link_or_copy_folder;
pub use nofollow::open_or_create_regular;
pub use paths::{folder_of, real_path, sync_folder, with_suffix};
pub use private_folder::PrivateFolder;
pub use stale::remove_stale_parts;
