//! What an open project keeps in memory between calls.

mod last_job;
mod measurements;
mod word_models;

pub(crate) use last_job::LastJob;
pub(crate) use measurements::{Measured, Measurements};
pub(crate) use word_models::{FittedWords, WordModels};

use dissensus_api::WhoDiffers;
use dissensus_domain::QuestionId;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The last results by question, with the generation and the revision of their labels.
pub(crate) type LastWhoDiffers = Mutex<BTreeMap<QuestionId, (u32, u32, WhoDiffers)>>;
