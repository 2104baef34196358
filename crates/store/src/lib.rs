//! The project file. All SQL statements of the program are in this crate.
//!
//! A project is a single SQLite file, which a [`Store`] opens. One thread writes while any number
//! of threads read, and a label is on disk before [`Store::append_label`] returns.
//!
//! ```
//! use dissensus_domain::{Answer, LabelSource, Scale, ScaleKind};
//! use dissensus_store::{NewAnnotator, NewLabel, NewQuestion, NewText, Store, StoreError};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let store = Store::create(folder.path().join("comments.dissensus"))?;
//! let scale = Scale::new(ScaleKind::Ordinal, ["fine", "rude", "vile"])?;
//!
//! // A write is atomic: everything in it is stored, or nothing.
//! let (question, text, ada) = store.write(move |tx| -> Result<_, StoreError> {
//!     Ok((
//!         tx.add_question(&NewQuestion { name: "rude".into(), prompt: "How rude is this?".into(), scale })?,
//!         tx.add_text(&NewText {
//!             external_id: "t1".into(),
//!             body: "Read it again.".into(),
//!             ..NewText::default()
//!         })?,
//!         tx.add_annotator(&NewAnnotator {
//!             external_id: "ada".into(),
//!             name: "Ada".into(),
//!             ..NewAnnotator::default()
//!         })?,
//!     ))
//! })?;
//!
//! let label = NewLabel {
//!     question,
//!     text,
//!     annotator: ada,
//!     answer: Answer::from_level(1),
//!     at_ms: 0,
//!     duration_ms: None,
//!     source: LabelSource::Window,
//! };
//! let appended = store.append_label(&label)?; // on disk
//! assert_eq!(store.current_labels(question)?[0].answer, Answer::from_level(1));
//!
//! store.retract(appended.id, 1, LabelSource::Window)?;
//! assert!(store.current_labels(question)?.is_empty());
//! store.close()?;
//! # Ok(())
//! # }
//! ```
//!
//! ## Overview
//! Read methods are on [`Store`] and write methods on [`WriteTx`], in modules by subject. Errors
//! are [`StoreError`], each with a stable [`StoreError::code`].
//!
//! ## Latency of labels
//! One thread writes, so a label waits for the write before it. An import is a single transaction
//! by design (all or nothing), and a label given meanwhile waits until it ends: 6 ms of processor
//! time per thousand imported rows, so 0.3 s for 53,765 rows (0.9 s was measured on two cores with
//! eight other busy programs; see `examples/load.rs`). Callers therefore read and check a file
//! *before* they request the write, and split work that need not be atomic, such as embeddings: one
//! batch per [`Store::put_embeddings`].

mod annotators;
mod appending;
mod changes;
mod check;
mod connect;
mod content_hash;
mod copy;
mod copy_pages;
mod counts;
mod current;
mod deleting;
mod dependents;
mod durations;
mod embeddings;
mod encoders;
mod erase;
mod error;
mod evaluations;
mod events;
mod export;
mod file_id;
mod guidelines;
mod heads;
mod history;
mod history_entry;
mod identity;
mod imports;
mod jobs;
mod journal;
mod journal_mark;
#[cfg(test)]
mod kept_formats;
mod known_copies;
mod labels;
mod language;
mod level_order;
mod level_use;
mod level_uses;
mod levels;
mod levels_back;
mod lock;
mod log;
mod marks;
mod merge;
mod merge_known;
mod merge_report;
mod migrate;
mod migration_meter;
mod migration_steps;
mod noted;
mod open;
mod order;
mod own_file;
mod packet_file;
mod packet_work;
mod packets;
mod question_edits;
mod question_snapshot;
mod questions;
mod readers;
mod reannotations;
mod reannotations_of_18;
mod recorded_events;
mod records;
mod removal;
mod rollback;
mod row;
mod runs;
mod schema;
mod settings;
mod shown;
mod side_files;
mod snapshot;
mod store;
mod sync;
mod texts;
mod trust;
mod tx;
mod undo;
mod wordings;
mod writer;

pub use annotators::NewAnnotator;
pub use changes::{AnswerChanges, Changes};
pub use copy::CopyTarget;
pub use counts::{AnnotatorCount, Counts};
pub use dependents::Dependents;
pub use durations::TimedAnswer;
pub use embeddings::Embeddings;
pub use encoders::EncoderVersion;
pub use erase::Erased;
pub use error::{Displaced, Result, StoreError};
pub use evaluations::{Evaluation, EvaluationId, EvaluationKind, NewEvaluation};
pub use events::Appended;
pub use export::{ExportRow, ExportScope};
pub use file_id::is_same_file;
pub use guidelines::LARGEST_PICTURE;
pub use heads::{Head, NewHead};
pub use history_entry::{CopyOrigin, Done, HistoryEntry, HistoryFilter, HistoryPlace};
pub use imports::{ImportRows, ImportTaken, LastImport};
pub use jobs::{Job, JobId, NewJob};
pub use labels::{AnswerDetails, LabelAppender, NewLabel};
pub use level_use::LevelUse;
pub use log::{ConsentVersion, Consents, LARGEST_FACT, MaskVersion, PracticeFacts, Submission, Withdrawal};
pub use marks::{Marked, NewMark};
pub use merge_report::{Contradiction, MergedCounts, SplitChange};
pub use order::Order;
pub use packet_work::{
    PacketWork, WorkCopy, WorkEvent, WorkFact, WorkKey, WorkNames, WorkQuestion, WorkRecord, WorkText,
};
pub use packets::PacketKey;
pub use question_edits::{QuestionEdit, QuestionEdited, QuestionVersion};
pub use question_snapshot::{QuestionSnapshot, TextPlace, body_hash};
pub use questions::NewQuestion;
pub use reannotations::{Repeat, RepeatAdded};
pub use recorded_events::RecordedEvents;
pub use records::CheckRecords;
pub use removal::Removable;
pub use runs::{NewRun, Run, RunId, RunLabel, RunLabels, RunPart};
pub use shown::{ShownFact, ShownFacts};
pub use snapshot::{Snapshot, UnretractedAnswer};
pub use store::{Store, Watch, checkpoint_all, side_file_of};
pub use texts::NewText;
pub use trust::{AnswersOf, ChangedAnswer, MergeEffect, MergeOutcome};
pub use tx::WriteTx;
pub use undo::Undo;
pub use wordings::WordingVersion;
