//! Building blocks of the families: products, norms, attention over packed texts, and the forward pass of a
//! batch.
//!
//! Every block serves inference and training. The difference is decided when it is opened: a trainable
//! weight is stored unchanged and uses the operations that record a graph; all others are packed for speed,
//! and once more, transposed, where they are above something trainable.

mod attention;
mod embedding;
mod forward_ctx;
mod frozen;
mod key_values;
mod linear;
mod lora;
mod norm;
mod packed;
mod param_registry;
mod parameters;
mod pooler;
mod pooling;
mod post_norm;
mod rms_norm;
mod rotary;
mod soft_prompt;
mod transformer;
mod varlen;

pub(crate) use attention::Attention;
pub(crate) use embedding::{Embedding, EmbeddingSizes};
pub(crate) use forward_ctx::{ForwardCtx, States};
pub(crate) use linear::{Linear, LinearNames, Role};
pub(crate) use lora::PlacedAdapter;
pub(crate) use norm::LayerNorm;
pub use param_registry::{Group, Parameter};
pub(crate) use param_registry::{ParamRegistry, SOFT_PROMPT};
pub(crate) use parameters::Parameters;
pub(crate) use pooler::Pooler;
pub(crate) use pooling::{embed, pool_tensor, pool_tensor_and_states};
pub(crate) use post_norm::{PostNormLayer, PostNormNames, PostNormSizes};
pub(crate) use rms_norm::RmsNorm;
pub(crate) use rotary::{Rotary, RotaryRates};
pub(crate) use soft_prompt::{Prompted, Side};
pub(crate) use transformer::{Sizes, Transformer};
pub(crate) use varlen::VarlenLayout;
