//! An open project: its file, its in-memory state, jobs, events and errors. It is independent of use cases.

pub mod answer_time;
pub mod care_file;
pub mod clock;
pub mod context;
pub mod drafts_file;
pub mod encryption;
pub mod error;
pub mod event;
pub mod home;
pub mod jobs;
pub mod log;
pub mod mix;
pub mod names;
pub mod outputs;
pub mod pseudonyms;
pub mod sample;
pub mod sync;
pub mod text_words;
pub mod words;
