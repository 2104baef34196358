//! The use cases of Dissensus: open a project, import, label, refit, evaluate, explain, export.
//!
//! A [`Session`] is one open project; a [`Workbench`] is the application around it. Both are driven by the window and the
//! command alike, and by tests without either.

mod analysis;
mod app;
#[cfg(feature = "bench")]
pub mod bench;
mod clock;
mod encoders;
mod error;
mod exchange;
mod home;
pub mod sample;
mod session;
mod sync;
pub mod view;
mod work;

pub use analysis::aggregation::{Aggregated, AggregatedAnnotator, AggregatedText, AnnotatorPairAgreement};
pub use app::Workbench;
pub use dissensus_encoder::{
    DeviceChoice, Pooling, Precision, PrecisionChoice, keep_tensors_on_their_thread,
};
pub use dissensus_perspectives::{
    CurvePoint, Estimate, Evaluation as ModelScores, ModelKind, Reliability, SplitSpec,
};
pub use encoders::EncoderChoice;
pub use error::WorkbenchError;
pub use home::Home;
pub use session::{
    Agreement, Encoded, EncoderSwitch, EvaluateChoices, Evaluation, Event, NamedLabel, PoolingChoice,
    PoolingLoss, Recorded, RunPrediction, Session, SplitReport, Trained, tuning_name,
};
pub use work::{Observer, Unwatched};
