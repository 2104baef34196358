//! Models of annotators, on arrays.
//!
//! Modules import only from those below them:
//!
//! | module | contents |
//! | --- | --- |
//! | [`live`] | a model that is refitted with each label |
//! | [`batch`] | models fitted to convergence: linear heads and the mixed model |
//! | [`spans`] | models of marked words, their selection and their scores |
//! | [`linear`], [`mixed`] | ridge regressions; random effects and their variances |
//! | [`link`] | how scores become probabilities of levels |

pub mod batch;
pub mod linear;
pub mod link;
pub mod live;
pub mod mixed;
pub mod spans;
