//! Text scores from all features of a text: its embedding, similar texts, and its character n-grams.
//!
//! Scores have prior covariance `linear X X' + rbf K + ngrams N N' + text I`: the shared head, what similar
//! texts share (K is the squared-exponential kernel, Rasmussen and Williams 2006, eq. 2.31), what texts with
//! the same words and parts of words share (N are the centred n-grams), and each text's own effect. A
//! sentence embedding blurs single words; where one word decides (an insult, for example), n-grams capture
//! it. The four variances and the width of K are chosen by the evidence (eq. 2.30) of the labels' site
//! approximations, on a subset of the texts. Labelled texts get scores that do not depend on their own
//! labels, so that no label counts twice.

mod evidence;
mod exact;
mod fit;
mod large;
mod learned;
mod parts;
mod pseudo_data;
mod texts;

pub(crate) use fit::fit;
pub(crate) use parts::{NgramWeights, SimilarTexts, TextScores};
pub(crate) use texts::Texts;
