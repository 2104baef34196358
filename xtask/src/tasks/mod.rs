//! The tasks of `cargo xtask`.

pub(crate) mod bench;
pub(crate) mod benchmarks;
pub(crate) mod book;
pub(crate) mod check_cuda;
pub(crate) mod check_exchange;
pub(crate) mod comments;
pub(crate) mod crates;
pub(crate) mod dist;
pub(crate) mod documents;
pub(crate) mod headless;
pub(crate) mod identifiers;
pub(crate) mod kinds;
mod lexer;
pub(crate) mod messages;
pub(crate) mod methods;
pub(crate) mod modules;
pub(crate) mod passed;
pub(crate) mod python;
pub(crate) mod release;
pub(crate) mod run;
pub(crate) mod sbom;
pub(crate) mod sentences;
mod side_by_side;
pub(crate) mod systems;
pub(crate) mod test;
pub(crate) mod vpat;
mod words;
