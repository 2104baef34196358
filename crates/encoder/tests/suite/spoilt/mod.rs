//! Copies of the tiny checkpoint that tests may damage.

#![allow(clippy::unwrap_used)] // for tests alone

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use dissensus_encoder::{DeviceChoice, Encoder, EncoderError, EncoderOptions};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use tempfile::TempDir;

/// A copy of the tiny checkpoint that a test may damage.
pub(crate) struct Copy {
    _keep: TempDir,
    pub(crate) dir: PathBuf,
}

impl Copy {
    pub(crate) fn new() -> Self {
        Self::named("mine")
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::copied(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny"), name)
    }

    /// Copies another fixture.
    pub(crate) fn of(fixture: &Path) -> Self {
        Self::copied(fixture, "mine")
    }

    fn copied(fixture: &Path, name: &str) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let dir = keep.path().join(name);
        copy(fixture, &dir);
        Self { _keep: keep, dir }
    }

    pub(crate) fn open(&self) -> Result<Encoder, EncoderError> {
        Encoder::open(&self.dir, &on_cpu())
    }

    pub(crate) fn error(&self) -> EncoderError {
        self.open().expect_err("the folder is spoilt")
    }

    pub(crate) fn set(&self, file: &str, field: &str, value: Value) {
        let path = self.dir.join(file);
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        config[field] = value;
        fs::write(path, config.to_string()).unwrap();
    }

    /// Rewrites the weights tensor by tensor: name, type, shape, data.
    pub(crate) fn rewrite(&self, change: impl Fn(&str, Stored) -> Option<(String, Stored)>) {
        let path = self.dir.join("model.safetensors");
        let bytes = fs::read(&path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let changed: HashMap<String, Stored> = file
            .tensors()
            .into_iter()
            .filter_map(|(name, view)| {
                change(&name, Stored(view.dtype(), view.shape().to_vec(), view.data().to_vec()))
            })
            .collect();
        let views: HashMap<&String, TensorView<'_>> = changed
            .iter()
            .map(|(name, Stored(dtype, shape, data))| {
                (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
            })
            .collect();
        fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
    }
}

/// The folder's settings, on the CPU, regardless of the devices of this build and machine.
pub(crate) fn on_cpu() -> EncoderOptions {
    EncoderOptions { device: DeviceChoice::Cpu, ..EncoderOptions::default() }
}

/// Type, shape and bytes of a tensor.
pub(crate) struct Stored(pub(crate) Dtype, pub(crate) Vec<usize>, pub(crate) Vec<u8>);

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Checks an error's code and that its message contains all of these words.
#[track_caller]
pub(crate) fn check_message(error: &EncoderError, code: &str, words: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    for word in words {
        assert!(text.contains(word), "\"{word}\" is not in: {text}");
    }
}
