//! Import and export: the only place where a row of a file becomes a row of the project, and back.

mod export;
mod import;
mod plan;
mod preview;
mod seed;
mod write;
