//! Linear heads: ridge-penalised regressions on embeddings, fitted to convergence.

pub mod dual;
pub(crate) mod pca;
pub(crate) mod ridge;
