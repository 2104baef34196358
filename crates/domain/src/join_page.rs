//! Pages that enrol people without a server.

use serde::{Deserialize, Serialize};

/// A page for everybody, by names that hold in every copy of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinPage {
    /// The key from which those of packets follow, in hexadecimal digits.
    pub key: String,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub made_at_ms: i64,
    pub seed: u32,
    /// Names of the questions about each text.
    pub questions: Vec<String>,
    /// Ids of the texts of all parts.
    pub texts: Vec<String>,
    /// For each part its texts by their positions, with the annotation round, and whether everybody gets the
    /// text.
    pub parts: Vec<Vec<(u32, u16, bool)>>,
}
