//! Backups of a project in the application's own folder: made automatically, thinned by a fixed rule, and
//! restored as new files.

mod automatic;
mod compare;
mod erase;
mod folder;
mod list;
mod make;
mod restore;
mod retention;

pub use automatic::{at_closing, notice, start};
pub use compare::changes_since;
pub(crate) use erase::{erase_withdrawn, with_withdrawn};
pub use list::{delete, list, list_all, list_of_file};
pub use make::make;
pub use restore::{is_of, restore};
