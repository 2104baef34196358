//! How much annotators differ on a text (docs/DESIGN.md, decision 4).

mod bimodality;
mod block;
mod crossed_jackknife;
mod gaps;
mod given;
mod map;
mod masi;
mod masi_together;
pub mod maximum;
mod mean_gap;
mod measures;
mod nodes;
mod pairs;
mod permutation;
mod running;
mod severity_gap;
mod side_agreement;
mod sides;
mod significance;
mod stream;
mod sums;
mod usual;
mod whole_sets;

pub use bimodality::van_der_eijk;
pub(crate) use block::BLOCK;
pub use gaps::{GroupGap, GroupGaps, GroupPair, LevelStep};
pub use given::disagreement_of_probabilities;
pub use map::{AnnotatorMap, annotator_map};
pub use masi::ExpectedMasi;
pub use masi_together::{FEWEST_TEXTS_OF_TWO, MasiTogether};
pub use mean_gap::MeanGap;
pub use measures::{Disagreement, Measure, rank_band, ranking};
pub(crate) use nodes::NodeSums;
pub(crate) use permutation::permutation_p_value;
#[cfg(test)]
pub(crate) use running::RunningSums;
pub use severity_gap::{SeverityGap, severity_gap};
pub use side_agreement::{AgreementFigure, SideAgreement};
pub use sides::SidesCompared;
pub use significance::false_discovery_rate;
pub(crate) use significance::{Side as LabelledSide, difference_p_value, independent_discoveries};
pub(crate) use stream::measure_of_texts;
pub use stream::{disagreement, disagreement_of_texts, measure, panel_distributions, surprise, usual_split};
pub(crate) use sums::Sums;
pub use usual::UsualSplit;
pub use whole_sets::{FactorsOf, WholeSets, pairs_of};
