//! Which packets belong to people who joined by the link for everybody.

use std::collections::BTreeMap;
use uuid::Uuid;

/// The setting with the packets of people who joined.
pub(super) const JOINED: &str = "packets-joined";

/// The packets of people who joined, with the ids with which they did.
pub(super) type Joined = BTreeMap<Uuid, Option<String>>;
