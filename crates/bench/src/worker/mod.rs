//! Engines as processes: each has its own memory, is idle while another runs, and answers lines of JSON.

mod client;
mod message;
mod serve;

pub(crate) use client::{Launch, REST, Worker};
pub(crate) use message::{Done, Encoded, Latency, Load, Request, Trained};
pub use serve::serve;
