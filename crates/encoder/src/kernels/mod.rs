//! Products of rows of activations with a layer's weights, on the CPU.
//!
//! Weights are packed once, when an encoder is opened, in the order in which they are read ([`Packed`]).
//! Operations after a product (bias, GELU, the sum with the residual and its layer norm) are done while its
//! rows are still in the cache. In a pool of one thread all work stays on that thread; in a larger pool one
//! product is shared by all its threads. A result does not depend on how the work is shared: each of its
//! numbers is one sum in one order.

mod attention;
mod epilogue;
mod fp32;
mod gelu;
#[cfg(target_arch = "x86_64")]
mod int8;
pub(crate) mod math;
mod packed;
mod prefetch;
mod quantize;
mod quantize_weights;
#[cfg(test)]
pub(crate) mod reference;
pub(crate) mod rows;
#[cfg(target_arch = "x86_64")]
mod vnni;

pub(crate) use attention::{Heads, attend};
pub(crate) use epilogue::Epilogue;
pub(crate) use packed::{Packed, has_byte_products};
