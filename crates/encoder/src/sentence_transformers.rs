//! The optional sentence-transformers files of a model: pooling of tokens, maximum input length, prompt
//! before a text.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::EncoderError;
use crate::folder::{CONFIG, Folder, MODULES, PROMPTS, SENTENCE_BERT_CONFIG};
use crate::options::{Pooling, Prompt};

/// Folder of the pooling configuration when modules.json does not name one.
const POOLING_DIR: &str = "1_Pooling";

/// sentence-transformers' name of the pooling that takes a text's last token.
const LAST: &str = "lasttoken";

/// The settings found in the files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SentenceTransformersConfig {
    /// `None`: the folder has no pooling, or one that is not supported ([`Self::unknown_pooling`]).
    pub(crate) pooling: Option<Pooling>,
    /// An unsupported pooling, and the file that requires it.
    pub(crate) unknown_pooling: Option<(PathBuf, String)>,
    /// Whether a prompt's tokens are pooled with the text's: `include_prompt`.
    pub(crate) pools_prompt: bool,
    /// Whether embeddings are scaled to length 1.
    pub(crate) normalised: bool,
    /// Longest input according to sentence_bert_config.json.
    pub(crate) max_tokens: Option<usize>,
    /// Whether texts are lower-cased before they are tokenized: `do_lower_case`.
    pub(crate) lower_case: bool,
    prompts: Prompts,
}

/// The supported fields of config_sentence_transformers.json.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct Prompts {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    #[serde(default)]
    default_prompt_name: Option<String>,
}

/// The supported fields of sentence_bert_config.json.
#[derive(Default, Deserialize)]
struct Lengths {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

impl SentenceTransformersConfig {
    pub(crate) fn read(folder: &Folder) -> Result<Self, EncoderError> {
        let modules = modules(folder)?;
        let normalised = modules.iter().any(|m| m.kind() == "Normalize");
        let (found, pools_prompt) = pooling(folder, &pooling_file(folder)?)?;
        let (pooling, unknown_pooling) = found;
        let lengths: Lengths = optional(folder, SENTENCE_BERT_CONFIG, Value::is_object)?;
        let prompts: Prompts = optional(folder, PROMPTS, Value::is_object)?;
        if let Some(name) = prompts.default_prompt_name.as_ref().filter(|n| !prompts.prompts.contains_key(*n))
        {
            let reason = format!("default_prompt_name is \"{name}\", and there is no prompt of that name");
            return Err(folder.bad_json(PROMPTS, &reason));
        }
        Ok(Self {
            pooling,
            unknown_pooling,
            pools_prompt,
            normalised,
            max_tokens: lengths.max_seq_length,
            lower_case: lengths.do_lower_case,
            prompts,
        })
    }

    /// The prompt before every text; `None` if it is empty.
    pub(crate) fn prompt(&self, asked: &Prompt) -> Result<Option<String>, EncoderError> {
        let Prompts { prompts, default_prompt_name } = &self.prompts;
        let prompt = match asked {
            Prompt::FromFolder => default_prompt_name.as_ref().and_then(|name| prompts.get(name)).cloned(),
            Prompt::Text(text) => Some(text.clone()),
            Prompt::Named(name) => match prompts.get(name) {
                Some(prompt) => Some(prompt.clone()),
                None => {
                    let known = prompts.keys().cloned().collect();
                    return Err(EncoderError::PromptName { asked: name.clone(), known });
                }
            },
        };
        let prompt = prompt.filter(|prompt| !prompt.is_empty());
        if let Some(prompt) = prompt.as_ref().filter(|_| !self.pools_prompt) {
            return Err(EncoderError::PromptPooling { prompt: prompt.clone() });
        }
        Ok(prompt)
    }
}

/// Reads the folder's file, or returns the default when it is missing. `is_kind` checks the JSON type: a
/// list could otherwise pass for an object without fields.
fn optional<T: Default + for<'de> Deserialize<'de>>(
    folder: &Folder,
    file: &str,
    is_kind: fn(&Value) -> bool,
) -> Result<T, EncoderError> {
    if !folder.has(file) {
        return Ok(T::default());
    }
    let value = folder.json(file)?;
    if !is_kind(&value) {
        return Err(folder.bad_json(file, "it is a list where an object belongs, or the other way round"));
    }
    serde_json::from_value(value).map_err(|e| folder.bad_json(file, &e.to_string()))
}

/// Path of the pooling configuration, relative to the folder.
pub(crate) fn pooling_file(folder: &Folder) -> Result<String, EncoderError> {
    let modules = modules(folder)?;
    let dir = modules.iter().find(|m| m.kind() == "Pooling").map_or(POOLING_DIR, |m| m.path.as_str());
    Ok(format!("{dir}/{CONFIG}"))
}

fn modules(folder: &Folder) -> Result<Vec<Module>, EncoderError> {
    let modules: Vec<Module> = optional(folder, MODULES, Value::is_array)?;
    for module in &modules {
        if !["Transformer", "Pooling", "Normalize", "Dropout"].contains(&module.kind()) {
            return Err(EncoderError::Module { path: folder.path(MODULES), module: module.kind.clone() });
        }
        let inside = Path::new(&module.path).components().all(|c| matches!(c, Component::Normal(_)));
        if !inside {
            return Err(
                folder.bad_json(MODULES, &format!("the path \"{}\" leads out of the folder", module.path))
            );
        }
    }
    Ok(modules)
}

type PoolingFound = (Option<Pooling>, Option<(PathBuf, String)>);

/// The pooling, and whether it includes a prompt's tokens.
fn pooling(folder: &Folder, file: &str) -> Result<(PoolingFound, bool), EncoderError> {
    if !folder.has(file) {
        return Ok(((None, None), true));
    }
    let config = folder.json(file)?;
    let pools_prompt = config.get("include_prompt").and_then(Value::as_bool).unwrap_or(true);
    let modes = pooling_modes(&config);
    let found = match modes.as_slice() {
        [] => (None, None),
        [one] => match one.parse() {
            Ok(pooling) => (Some(pooling), None),
            Err(_) => (None, Some((folder.path(file), one.clone()))),
        },
        several => (None, Some((folder.path(file), several.join(" + ")))),
    };
    Ok((found, pools_prompt))
}

/// Short names of the poolings that a pooling configuration enables. Older files have one boolean per mode,
/// newer ones a field `pooling_mode` with one name or several.
fn pooling_modes(config: &Value) -> Vec<String> {
    let Some(fields) = config.as_object() else { return Vec::new() };
    match fields.get("pooling_mode") {
        Some(Value::String(mode)) => return vec![short(mode)],
        Some(Value::Array(modes)) => {
            return modes.iter().filter_map(Value::as_str).map(short).collect();
        }
        _ => {}
    }
    let on = fields.iter().filter(|(_, on)| on.as_bool() == Some(true));
    on.filter_map(|(field, _)| field.strip_prefix("pooling_mode_")).map(short).collect()
}

/// Our name of the pooling that sentence-transformers calls `mode`.
fn short(mode: &str) -> String {
    let short = match mode {
        "cls_token" => "cls",
        "mean_tokens" => "mean",
        "max_tokens" => "max",
        LAST => "last",
        other => other,
    };
    short.to_owned()
}

/// Name of a pooling in sentence-transformers; poolings that it lacks use our name.
pub(crate) fn long_name(pooling: Pooling) -> &'static str {
    if pooling == Pooling::Last { LAST } else { pooling.as_str() }
}

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    path: String,
}

impl Module {
    /// The class name without its Python package.
    fn kind(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(prompts: &Value) -> SentenceTransformersConfig {
        SentenceTransformersConfig {
            pooling: None,
            unknown_pooling: None,
            pools_prompt: true,
            normalised: false,
            max_tokens: None,
            lower_case: false,
            prompts: serde_json::from_value(prompts.clone()).unwrap(),
        }
    }

    #[test]
    fn prompt_is_default_named_or_given() {
        // As written in multilingual-e5, and by sentence-transformers for a model without any.
        let e5 = config(&json!({
            "prompts": {"query": "query: ", "passage": "passage: "}, "default_prompt_name": "query"
        }));
        assert_eq!(e5.prompt(&Prompt::FromFolder).unwrap().as_deref(), Some("query: "));
        assert_eq!(e5.prompt(&Prompt::Named("passage".to_owned())).unwrap().as_deref(), Some("passage: "));
        assert_eq!(e5.prompt(&Prompt::Text("x ".to_owned())).unwrap().as_deref(), Some("x "));
        assert_eq!(e5.prompt(&Prompt::Text(String::new())).unwrap(), None);
        let error = e5.prompt(&Prompt::Named("queries".to_owned())).unwrap_err();
        assert!(error.to_string().contains("passage, query"), "{error}");
        let plain = config(&json!({"prompts": {"query": "", "document": ""}, "default_prompt_name": null}));
        assert_eq!(plain.prompt(&Prompt::FromFolder).unwrap(), None);
        assert_eq!(plain.prompt(&Prompt::Named("query".to_owned())).unwrap(), None);
    }

    #[test]
    fn unpooled_prompt_is_refused() {
        let mut instructor = config(&json!({"prompts": {"q": "Represent: "}, "default_prompt_name": "q"}));
        instructor.pools_prompt = false;
        let error = instructor.prompt(&Prompt::FromFolder).unwrap_err();
        assert_eq!(error.code(), "encoder-prompt");
        assert_eq!(instructor.prompt(&Prompt::Text(String::new())).unwrap(), None);
    }

    #[test]
    fn both_pooling_formats_are_read() {
        let flags = json!({"word_embedding_dimension": 8, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true});
        assert_eq!(pooling_modes(&flags), ["mean"]);
        assert_eq!(pooling_modes(&json!({"pooling_mode": "cls", "include_prompt": true})), ["cls"]);
        assert_eq!(pooling_modes(&json!({"pooling_mode": ["mean", "max"]})), ["mean", "max"]);
        assert_eq!(pooling_modes(&json!({"pooling_mode_lasttoken": true})), ["last"]);
        assert_eq!(pooling_modes(&json!({"pooling_mode": long_name(Pooling::Last)})), ["last"]);
        assert_eq!(
            pooling_modes(&json!({"pooling_mode_weightedmean_tokens": true})),
            ["weightedmean_tokens"]
        );
    }
}
