//! Measurements of `dissensus-bench`: speed on this machine, also of other tools, which run in turns with
//! ours.
//!
//! The product does not depend on this crate, because candle-transformers, which is only used for comparison,
//! takes minutes to compile.

mod disagreement;
mod encode;
mod engine;
mod error;
mod figures;
mod group_slopes;
mod import;
mod import_shapes;
mod large;
mod live;
mod live_spans;
mod material;
mod panel;
mod peers;
mod predict;
mod study;
mod train;
mod worker;

pub use disagreement::{DisagreementBench, MeasureQuality, Quality, disagreement};
pub use encode::{
    EncodeBench, EncodeChoices, EncodeMemory, EngineMemory, EngineSpeed, MissingEngine, encode,
};
pub use error::BenchError;
pub use group_slopes::{GroupSlopesBench, group_slopes};
pub use import::{ImportBench, import};
pub use import_shapes::{ImportShapesBench, ShapeTime, import_shapes};
pub use large::{LabellingTimes, LargeBench, LargeSize, LargeStep, StepTimes, large, large_step};
pub use live::{LiveBench, LiveSize, live};
pub use live_spans::{LiveSpansTime, live_spans};
pub use panel::{PanelBench, PanelChoices, PanelScores, PanelSeed, panel};
pub use predict::{PredictBench, PredictTime, predict};
pub use study::{StudyBench, StudySize, study};
pub use train::{StepTime, TrainBench, TrainChoices, train};
pub use worker::serve;
