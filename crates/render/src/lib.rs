//! Building blocks of reports for readers outside the project: a self-contained page, plots as SVG, tables
//! as HTML, LaTeX and CSV.
//!
//! Names come from people and files, so each format has its own escaping.

pub mod escape;
pub mod latex;
pub mod page;
pub mod plots;
pub mod table;

/// A plot or table could not be written, because of an internal error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RenderError(String);

impl RenderError {
    fn from_display(error: &dyn std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}
