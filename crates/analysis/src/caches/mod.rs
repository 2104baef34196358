//! What an open project keeps in memory between calls.

mod last_job;
mod measurements;
mod word_models;

pub(crate) use last_job::LastJob;
pub(crate) use measurements::{HeldOutResults, Measurements};
pub(crate) use word_models::{FittedWords, WordModels};

use dissensus_api::WhoDiffers;
use dissensus_domain::QuestionId;
use dissensus_training::encoding::Basis;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What a result is based on: the generation of the live models, their labels and people, and the embeddings.
pub(crate) type WhoDiffersState = (u32, u32, Basis);
/// The last results by question, with what they are based on.
pub(crate) type LastWhoDiffers = Mutex<BTreeMap<QuestionId, (WhoDiffersState, WhoDiffers)>>;
