//! Krippendorff's alpha.

use serde::{Deserialize, Serialize};

/// Krippendorff's alpha under the three differences (Krippendorff 2004, Content analysis, ch. 11): 1 is
/// perfect agreement, 0 the agreement expected by chance. `None` where it is not defined: no text with two
/// labels, or one level only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alphas {
    /// All pairs of different levels differ equally.
    pub nominal: Option<f64>,
    /// Levels differ by the number of labels between them; ordinal scales only.
    pub ordinal: Option<f64>,
    /// Levels differ by the square of their distance; ordinal scales only.
    pub interval: Option<f64>,
}
