//! Frozen transformer encoders: a text in, an embedding out.

mod attention;
mod batches;
#[cfg(feature = "bench")]
pub mod bench;
mod catalogue;
mod device;
mod encoder;
mod error;
mod family;
mod folder;
mod hash;
mod locate;
mod options;
mod pool;
mod tokens;
mod weights;
mod workers;

pub use batches::BatchPlan;
pub use catalogue::{Catalogue, CutZip, HubSource, KnownEncoder, KnownFile, PythonSource, Source};
pub use encoder::{BatchDone, Encoder, EncoderVersion, StreamDone};
pub use error::EncoderError;
pub use locate::locate;
pub use options::{DeviceChoice, EncoderOptions, Pooling};
