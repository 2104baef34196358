//! Encoders of the model hub: a repository's files fetched into the cache that other tools of the hub share.
//!
//! Nothing here is called unless a person names a repository. What is cached is opened without any request.

mod config;
mod fetch;
mod name;
mod snapshot;
mod transfer;

pub use config::HubConfig;
pub use fetch::{Fetched, fetch};
pub use name::HubName;
pub use snapshot::cached;
