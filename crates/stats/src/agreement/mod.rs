//! Agreement of annotators: Krippendorff's alpha with and without each of them, and the other usual
//! coefficients.

mod alphas;
mod annotators;
mod coefficients;
mod coincidence;
mod components;
mod counts;
mod crossed;
mod masi;
mod pairs;
mod reliability;
mod repeats;
mod speed;
mod text_variances;
mod unitizing;
mod with_others;
mod words;

pub use alphas::Alphas;
pub use annotators::{Agreement, AnnotatorAgreement, agreement};
pub(crate) use coincidence::{Coincidences, add_coincidences, between_alpha};
pub use components::{LabelDesign, VarianceComponents};
pub use masi::{SetAnswer, SetReliability, masi_distance, set_reliability};
pub use pairs::{CohenPair, cohen_pairs};
pub use reliability::{Estimate, IntervalScope, Reliability, reliability};
pub use repeats::{MIN_PEOPLE_WHO_REPEAT, MIN_REPEATS, SelfAgreement, share_interval};
pub use speed::{MIN_TIMED_LABELS, Speed, TimedLabel, TooFast, speeds};
pub use text_variances::TextVariances;
pub use unitizing::{MarkedUnits, Unitizing, unitizing_alpha};
pub use with_others::{AgreementWithOthers, AnnotatorFlag, compare_with_others};
pub use words::{MarkedWords, WordAgreement, word_agreement};
