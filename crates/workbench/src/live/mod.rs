//! The models that learn label by label while a project is open.

mod models;

pub(crate) use models::{Fitted, LiveModels, Steps, cancelled, measure};
