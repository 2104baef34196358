//! What the open project's file says, in memory.

mod copy;
mod index;

pub use copy::CopyChoices;
pub(crate) use index::Index;
