//! Builds tokenizer.json from a GGUF file's vocabulary: byte-level byte pair encoding, split into words as
//! the model's own tokenizer does.

use serde_json::{Map, Value, json};

use super::metadata::{Metadata, needed};

/// llama.cpp's types of tokens that represent no text, and of those added by a user.
const CONTROL: u64 = 3;
const USER_DEFINED: u64 = 4;

/// How Qwen's tokenizers split texts into words; digits one by one.
const QWEN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// How Llama 3's tokenizers do; up to three digits together.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// How texts are split into words before pairs are merged, by llama.cpp's name for it
/// (`tokenizer.ggml.pre`).
struct Words {
    pre_tokenizer: Value,
    normalizer: Value,
    /// Whole words of the vocabulary are not split.
    ignore_merges: bool,
    /// Whether a first token is put before every text by default.
    begins: bool,
}

fn words(name: &str) -> Option<Words> {
    let byte_level = |use_regex: bool| json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex });
    let sequence = |first: Value, second: Value| {
        let both = [first, second];
        json!({ "type": "Sequence", "pretokenizers": both })
    };
    let split = |pattern: &str| json!({ "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated", "invert": false });
    let plain =
        |pre_tokenizer| Words { pre_tokenizer, normalizer: Value::Null, ignore_merges: false, begins: false };
    Some(match name {
        "gpt-2" => plain(byte_level(true)),
        "smollm" => plain(sequence(json!({ "type": "Digits", "individual_digits": true }), byte_level(true))),
        "qwen2" => {
            Words { normalizer: json!({ "type": "NFC" }), ..plain(sequence(split(QWEN), byte_level(false))) }
        }
        "llama-bpe" => {
            Words { ignore_merges: true, begins: true, ..plain(sequence(split(LLAMA3), byte_level(false))) }
        }
        _ => return None,
    })
}

/// The tokenizer, or why it cannot be generated.
pub(super) fn tokenizer(metadata: &Metadata) -> Result<Value, String> {
    const REMEDY: &str = "put the model's own tokenizer.json next to it, and name the folder";
    let model = needed("tokenizer.ggml.model", metadata.text("tokenizer.ggml.model")?)?;
    if model != "gpt2" {
        return Err(format!(
            "its tokenizer is of the kind \"{model}\", and only gpt2 (byte-level pairs) can be read: {REMEDY}"
        ));
    }
    let pre = needed("tokenizer.ggml.pre", metadata.text("tokenizer.ggml.pre")?)?;
    let Some(words) = words(pre) else {
        return Err(format!(
            "its tokenizer cuts texts into words in the way \"{pre}\", and only gpt-2, smollm, qwen2 and llama-bpe are known: {REMEDY}"
        ));
    };
    let tokens = needed("tokenizer.ggml.tokens", metadata.texts("tokenizer.ggml.tokens")?)?;
    let merges = needed("tokenizer.ggml.merges", metadata.texts("tokenizer.ggml.merges")?)?;
    let kinds = metadata.counts("tokenizer.ggml.token_type")?.unwrap_or_else(|| vec![1; tokens.len()]);
    if kinds.len() != tokens.len() {
        return Err(format!("it has {} tokens and {} kinds of tokens", tokens.len(), kinds.len()));
    }
    let vocabulary: Map<String, Value> =
        tokens.iter().enumerate().map(|(id, token)| ((*token).to_owned(), id.into())).collect();
    if vocabulary.len() != tokens.len() {
        return Err("two of its tokens are the same".to_owned());
    }
    let added: Vec<Value> = tokens
        .iter()
        .zip(&kinds)
        .enumerate()
        .filter(|(_, (_, kind))| [CONTROL, USER_DEFINED].contains(*kind))
        .map(|(id, (token, kind))| {
            json!({
                "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
                "special": *kind == CONTROL,
            })
        })
        .collect();
    Ok(json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": words.normalizer,
        "pre_tokenizer": words.pre_tokenizer,
        "post_processor": post_processor(metadata, &tokens, words.begins)?,
        "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true },
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
            "fuse_unk": false, "byte_fallback": false, "ignore_merges": words.ignore_merges, "vocab": vocabulary,
            "merges": merges,
        },
    }))
}

/// Builds tokenizer_config.json, so that transformers uses the tokenizer unchanged and pads with the token
/// that the file names.
pub(super) fn tokenizer_config(metadata: &Metadata) -> Result<Value, String> {
    let tokens = metadata.texts("tokenizer.ggml.tokens")?.unwrap_or_default();
    let token = |name: &str| -> Result<Option<Value>, String> {
        let id = metadata.count(&format!("tokenizer.ggml.{name}_token_id"))?;
        let at = id.and_then(|id| usize::try_from(id).ok());
        Ok(at.and_then(|at| tokens.get(at)).map(|token| (*token).into()))
    };
    let [first, last] = [token("bos")?, token("eos")?];
    let padding = token("padding")?.or_else(|| last.clone());
    let mut config =
        json!({ "tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": false });
    for (name, token) in [("bos_token", first), ("eos_token", last), ("pad_token", padding)] {
        if let Some(token) = token {
            config[name] = token;
        }
    }
    Ok(config)
}

/// Builds the post-processor, which adds the special tokens before and after every text.
fn post_processor(metadata: &Metadata, tokens: &[&str], begins: bool) -> Result<Value, String> {
    let special = |on: bool, key: &str| -> Result<Option<(u64, &str)>, String> {
        if !on {
            return Ok(None);
        }
        let id = needed(key, metadata.count(key)?)?;
        let token = usize::try_from(id).ok().and_then(|at| tokens.get(at));
        token.map(|token| Some((id, *token))).ok_or_else(|| format!("its {key} is {id}, which is no token"))
    };
    let first = metadata.switch("tokenizer.ggml.add_bos_token")?.unwrap_or(begins);
    let last = metadata.switch("tokenizer.ggml.add_eos_token")?.unwrap_or(false);
    let first = special(first, "tokenizer.ggml.bos_token_id")?;
    let last = special(last, "tokenizer.ggml.eos_token_id")?;
    if first.is_none() && last.is_none() {
        return Ok(Value::Null);
    }
    let piece =
        |special: (u64, &str)| json!({ "SpecialToken": { "id": special.1.to_owned(), "type_id": 0 } });
    let text = |id: &str| json!({ "Sequence": { "id": id, "type_id": 0 } });
    let around = |middle: Vec<Value>| -> Vec<Value> {
        first.map(piece).into_iter().chain(middle).chain(last.map(piece)).collect()
    };
    let specials: Map<String, Value> = [first, last]
        .into_iter()
        .flatten()
        .map(|(id, token)| (token.to_owned(), json!({ "id": token, "ids": [id], "tokens": [token] })))
        .collect();
    Ok(json!({
        "type": "TemplateProcessing",
        "single": around(vec![text("A")]),
        "pair": around(vec![text("A"), text("B")]),
        "special_tokens": specials,
    }))
}
