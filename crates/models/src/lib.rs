//! Models of annotators, on arrays.
//!
//! Modules import only from those below them:
//!
//! | module | what it has |
//! | --- | --- |
//! | [`live`] | a model that is refitted label by label |
//! | [`batch`] | models fitted to convergence: linear heads and the mixed model |
//! | [`spans`] | models of which words are marked, their selection and their scores |
//! | [`linear`], [`mixed`] | ridge regressions; links, random effects and their variances |

pub mod batch;
pub mod linear;
pub mod live;
pub mod mixed;
pub mod spans;
