//! Weights split into several files: model.safetensors.index.json, which maps tensors to files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde::Deserialize;
use serde_json::Value;

/// Maps tensors to files.
#[derive(Debug, Deserialize)]
pub(crate) struct ShardIndex {
    /// File name by tensor name.
    weight_map: BTreeMap<String, String>,
}

impl ShardIndex {
    /// Parses an index, or explains why it is invalid. Every file in it must be a plain name inside the
    /// folder; its existence is not checked.
    pub(crate) fn parse(json: Value) -> Result<Self, String> {
        let index: Self = serde_json::from_value(json).map_err(|e| e.to_string())?;
        if index.weight_map.is_empty() {
            return Err("its weight_map names no tensor".to_owned());
        }
        match index.weight_map.values().find(|file| !is_plain_shard(file)) {
            None => Ok(index),
            Some(file) => {
                Err(format!("\"{file}\" is not the plain name of a .safetensors file in this folder"))
            }
        }
    }

    /// The files, each once, by name: JSON objects are unordered, and shards are numbered.
    pub(crate) fn files(&self) -> Vec<&str> {
        self.weight_map.values().map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Pairs of tensor and file names.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&str, &str)> {
        self.weight_map.iter().map(|(tensor, file)| (tensor.as_str(), file.as_str()))
    }
}

fn is_plain_shard(file: &str) -> bool {
    let mut parts = Path::new(file).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    // A backslash separates folders only on Windows: a name with one is never plain.
    one && !file.contains(['/', '\\', ':']) && file.ends_with(".safetensors")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_names_must_be_plain() {
        assert!(is_plain_shard("model-00001-of-00002.safetensors"));
        for name in [
            "",
            ".",
            "..",
            "../a.safetensors",
            "/a.safetensors",
            "b/a.safetensors",
            "c:a.safetensors",
            "a.bin",
        ] {
            assert!(!is_plain_shard(name), "{name}");
        }
    }
}
