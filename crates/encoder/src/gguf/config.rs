//! Builds config.json as transformers would write it, from a GGUF file's hyperparameters.

use serde_json::{Value, json};

use super::metadata::{Metadata, needed};
use crate::options::Pooling;

/// Supported architectures, by their name in both formats.
pub(super) const ARCHITECTURES: [&str; 3] = ["llama", "qwen2", "qwen3"];

/// Pooling in the file's metadata (llama.cpp's numbers); `None` where it is unspecified.
pub(super) fn pooling(metadata: &Metadata, architecture: &str) -> Result<Option<Pooling>, String> {
    let key = format!("{architecture}.pooling_type");
    Ok(match metadata.count(&key)? {
        None | Some(0) => None,
        Some(1) => Some(Pooling::Mean),
        Some(2) => Some(Pooling::Cls),
        Some(3) => Some(Pooling::Last),
        Some(other) => {
            return Err(format!(
                "its {key} is {other}: 0 (none), 1 (mean), 2 (first) and 3 (last) can be read"
            ));
        }
    })
}

/// Sizes that the tensors' layout depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shapes {
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) layers: usize,
}

/// Builds config.json from the metadata. `vocabulary`: rows of the word embedding. `has` checks for a
/// tensor of that name.
pub(super) fn config(
    metadata: &Metadata,
    architecture: &str,
    vocabulary: usize,
    has: impl Fn(&str) -> bool,
) -> Result<(Value, Shapes), String> {
    let key = |name: &str| format!("{architecture}.{name}");
    let count = |name: &str| -> Result<Option<usize>, String> {
        let key = key(name);
        let found = metadata.count(&key)?;
        found.map(|n| usize::try_from(n).map_err(|_| format!("its {key} is {n}"))).transpose()
    };
    let size = |name: &str| -> Result<usize, String> { needed(&key(name), count(name)?) };
    let (hidden, heads) = (size("embedding_length")?, size("attention.head_count")?);
    let kv_heads = count("attention.head_count_kv")?.unwrap_or(heads);
    let (positions, layers) = (size("context_length")?, size("block_count")?);
    let head = count("attention.key_length")?.unwrap_or(hidden / heads.max(1));
    let mut config = json!({
        "architectures": [match architecture { "qwen2" => "Qwen2Model", "qwen3" => "Qwen3Model", _ => "LlamaModel" }],
        "model_type": architecture,
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head,
        "intermediate_size": size("feed_forward_length")?,
        "max_position_embeddings": positions,
        "rms_norm_eps": needed(&key("attention.layer_norm_rms_epsilon"), metadata.number(&key("attention.layer_norm_rms_epsilon"))?)?,
        "rope_theta": metadata.number(&key("rope.freq_base"))?.unwrap_or(10_000.0),
        "hidden_act": "silu",
        "torch_dtype": "float32",
    });
    if architecture != "qwen2" {
        config["attention_bias"] = has("blk.0.attn_q.bias").into();
    }
    if architecture == "llama" {
        config["mlp_bias"] = has("blk.0.ffn_gate.bias").into();
    }
    if metadata.switch(&key("attention.causal"))? == Some(false) {
        return Err(
            "its tokens see all others, and only those that see the ones before them can be read".to_owned()
        );
    }
    // Values with which the computation would differ from training.
    for (name, same) in [("attention.value_length", head), ("rope.dimension_count", head)] {
        if let Some(found) = count(name)?.filter(|found| *found != same) {
            return Err(format!("its {} is {found}, and only {same}, a whole head, can be read", key(name)));
        }
    }
    if let Some(experts) = count("expert_count")?.filter(|experts| *experts > 0) {
        return Err(format!("it is a mixture of {experts} experts, which cannot be read"));
    }
    if let Some(window) =
        count("attention.sliding_window")?.filter(|window| *window > 0 && *window < positions)
    {
        return Err(format!(
            "its layers see windows of {window} tokens, and the file does not say which of them do"
        ));
    }
    match metadata.text(&key("rope.scaling.type"))?.unwrap_or("none") {
        "none" => {}
        "linear" => {
            let name = key("rope.scaling.factor");
            let factor = needed(&name, metadata.number(&name)?)?;
            config["rope_scaling"] = json!({ "rope_type": "linear", "factor": factor });
        }
        other => {
            return Err(format!(
                "its {} is \"{other}\": none and linear can be read",
                key("rope.scaling.type")
            ));
        }
    }
    Ok((config, Shapes { heads, kv_heads, layers }))
}
