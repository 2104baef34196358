//! Linear heads: ridge-penalised regressions on embeddings, fitted to convergence.

pub(crate) mod head;
pub(crate) mod own_head;
pub(crate) mod rotate;
