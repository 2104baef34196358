//! Engines as processes: each has its memory for itself, sits idle while another runs, and answers lines of JSON.

mod client;
mod message;
mod serve;

pub(super) use client::{Launch, REST, Worker};
pub(super) use message::{Done, Encoded, Latency, Load, Request, Trained};
pub use serve::serve;
