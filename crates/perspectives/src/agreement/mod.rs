//! How far annotators agree: Krippendorff's alpha with and without each of them, and the other
//! coefficients in use.

mod alphas;
mod annotators;
mod coefficients;
mod coincidence;
mod components;
mod counts;
mod pairs;
mod reliability;
mod repeats;
mod with_others;

pub use alphas::Alphas;
pub use annotators::{Agreement, AnnotatorAgreement, agreement};
pub(crate) use coincidence::{Coincidences, add_coincidences, between_alpha};
pub use components::{LabelDesign, VarianceComponents};
pub use pairs::{CohenPair, cohen_pairs};
pub use reliability::{Estimate, Reliability, reliability};
pub use repeats::{FEWEST_REPEATS, SelfAgreement};
pub use with_others::{AnnotatorFlag, BesideOthers, beside_others};
