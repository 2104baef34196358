//! What pages and tables for readers outside the project are made of: a page that needs nothing beside itself, plots as SVG, tables as HTML, LaTeX
//! and CSV. Names come from people and files: each format has its own escape, and what would act in one is made harmless.

pub(crate) mod escape;
pub(crate) mod latex;
pub(crate) mod page;
pub(crate) mod plots;
pub(crate) mod table;
