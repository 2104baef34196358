//! What the open project's file says, in memory.

mod index;

pub(crate) use index::Index;
