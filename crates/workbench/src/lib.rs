//! The use cases of Dissensus: open a project, import, label, refit, evaluate, explain, export.

pub mod view;
