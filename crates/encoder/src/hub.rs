//! Encoders of the model hub: fetches a repository's files into the cache shared with other tools of the
//! hub.
//!
//! Used only if a user names a repository. Cached files are opened without any request.

mod config;
mod fetch;
mod name;
mod snapshot;
mod transfer;

pub use config::HubConfig;
pub use fetch::{Fetched, fetch};
pub use name::HubName;
pub use snapshot::cached;
