//! Text scores from everything that is known of a text: its embedding, similar texts, and its character n-grams.
//!
//! Scores have prior covariance `linear X X' + rbf K + ngrams N N' + text I`: the shared head, what similar texts share (K the
//! squared-exponential kernel, Rasmussen and Williams 2006, eq. 2.31), what texts with the same words and parts of words share (N the
//! centred n-grams), and each text's own effect. A sentence embedding blurs single words; where one word decides (an insult, say),
//! n-grams carry it. The four variances and the width of K are chosen by the evidence (eq. 2.30) of the labels' site
//! approximations, on a part of the texts. Labelled texts get scores that their own labels have not taught, so that these do not speak twice.

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
