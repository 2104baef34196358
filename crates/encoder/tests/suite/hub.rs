//! Encoders fetched from a model hub, on a small local hub.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dissensus_encoder::hub::{Fetched, HubConfig, cached, fetch};
use dissensus_encoder::{DeviceChoice, Encoder, EncoderError, EncoderOptions};
use dissensus_test_support::local_hub::{COMMIT, LocalHub, NAME, Trouble};
use tempfile::TempDir;

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny")
}

/// A cache for a test, and the hub it is filled from.
struct Setting {
    hub: LocalHub,
    config: HubConfig,
    _keep: TempDir,
}

impl Setting {
    fn new() -> Self {
        Self::with(LocalHub::new(&tiny()))
    }

    fn with(hub: LocalHub) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let config = HubConfig {
            endpoint: hub.endpoint(),
            cache: keep.path().join("hub"),
            token: None,
            offline: false,
            patience: Duration::from_secs(20),
        };
        Self { hub, config, _keep: keep }
    }

    fn fetch(&self) -> Result<PathBuf, EncoderError> {
        fetch(&NAME.parse().unwrap(), &self.config, &mut |_| ControlFlow::Continue(()))
    }

    fn cached(&self) -> Option<PathBuf> {
        cached(&NAME.parse().unwrap(), &self.config)
    }

    /// Expects the fetch to fail and checks the message.
    #[track_caller]
    fn fails(&self, code: &str, words: &[&str]) {
        let error = self.fetch().unwrap_err();
        let text = error.to_string();
        assert_eq!(error.code(), code, "{text}");
        words.iter().for_each(|word| assert!(text.contains(word), "\"{word}\" is not in: {text}"));
    }
}

fn open(dir: &Path) -> Encoder {
    Encoder::open(dir, &EncoderOptions { device: DeviceChoice::Cpu, ..EncoderOptions::default() }).unwrap()
}

fn is_transfer_of_weights(asked: &str) -> bool {
    asked.contains("/cdn/model") && !asked.ends_with("from 0")
}

#[test]
fn fetched_encoder_gives_the_embeddings_of_its_folder() {
    let setting = Setting::new();
    let mut seen = Vec::new();
    let dir = fetch(&NAME.parse().unwrap(), &setting.config, &mut |at: Fetched| {
        seen.push(at);
        ControlFlow::Continue(())
    });
    let fetched = open(&dir.unwrap());
    let folder = open(&tiny());
    assert_eq!(fetched.encode(&["not fair", ""]).unwrap(), folder.encode(&["not fair", ""]).unwrap());
    assert_eq!(fetched.version().name, NAME);
    assert_eq!(fetched.version().max_tokens, 20, "sentence_bert_config.json was fetched");
    assert!(fetched.version().normalised, "modules.json was fetched");
    let last = seen.last().unwrap();
    let whole: u64 = setting_bytes();
    assert_eq!((last.bytes, last.total), (whole, whole));
}

/// Size in bytes of all files of the fixture that an encoder needs, which are all its files.
fn setting_bytes() -> u64 {
    let files = [
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "modules.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ];
    files.iter().map(|file| fs::metadata(tiny().join(file)).unwrap().len()).sum()
}

#[test]
fn second_fetch_only_checks_the_revision() {
    let setting = Setting::new();
    let first = setting.fetch().unwrap();
    assert_eq!(setting.hub.asked().iter().filter(|asked| is_transfer_of_weights(asked)).count(), 1);
    assert_eq!(setting.fetch().unwrap(), first);
    assert_eq!(setting.hub.asked(), [format!("/api/models/{NAME}/revision/main")]);
}

#[test]
fn unneeded_files_are_not_fetched() {
    let mut files: BTreeMap<String, Vec<u8>> = fixture_files();
    for extra in ["pytorch_model.bin", "README.md", "onnx/model.onnx", "tf_model.h5", "vocab.txt"] {
        files.insert(extra.to_owned(), vec![7; 1000]);
    }
    let setting = Setting::with(LocalHub::serving(files));
    open(&setting.fetch().unwrap());
    let asked = setting.hub.asked();
    assert!(
        !asked.iter().any(|a| a.contains("pytorch") || a.contains("onnx") || a.contains("README")),
        "{asked:?}"
    );
}

#[test]
fn cached_files_are_used_offline() {
    let mut setting = Setting::new();
    assert_eq!(setting.cached(), None);
    let dir = setting.fetch().unwrap();
    setting.hub.asked();
    setting.config.offline = true;
    assert_eq!((setting.fetch().unwrap(), setting.cached()), (dir.clone(), Some(dir)));
    assert!(setting.hub.asked().is_empty());
    let commit = format!("{NAME}@{COMMIT}").parse().unwrap();
    assert!(cached(&commit, &setting.config).is_some(), "a commit names itself");
}

#[test]
fn offline_without_a_cache_is_an_error() {
    let mut setting = Setting::new();
    setting.config.offline = true;
    setting.fails("encoder-hub-offline", &[NAME, "HF_HUB_OFFLINE"]);
    assert!(setting.hub.asked().is_empty());
}

#[test]
fn unfinished_snapshot_of_another_tool_is_completed() {
    let setting = Setting::new();
    let dir = setting.fetch().unwrap();
    // Without it the encoder would open, but pool in another way.
    fs::remove_file(dir.join("modules.json")).unwrap();
    assert_eq!(setting.cached(), None);
    assert_eq!(setting.fetch().unwrap(), dir);
    assert!(dir.join("modules.json").is_file());
}

#[test]
fn missing_optional_files_are_remembered() {
    let mut files = fixture_files();
    for optional in ["modules.json", "sentence_bert_config.json", "1_Pooling/config.json"] {
        files.remove(optional);
    }
    let setting = Setting::with(LocalHub::serving(files));
    let dir = setting.fetch().unwrap();
    assert_eq!(setting.cached().unwrap(), dir);
    assert!(!open(&dir).version().normalised);
}

#[test]
fn without_a_connection_the_cache_is_used() {
    let mut setting = Setting::new();
    // An unused port.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = std::mem::replace(&mut setting.config.endpoint, format!("http://{free}"));
    setting.fails("encoder-hub-offline", &[NAME, &free.to_string(), "choose a folder"]);
    assert!(!setting.fetch().unwrap_err().to_string().contains('\n'));
    setting.config.endpoint = endpoint;
    let dir = setting.fetch().unwrap();
    setting.config.endpoint = format!("http://{free}");
    assert_eq!(setting.fetch().unwrap(), dir);
}

#[test]
fn interrupted_transfer_is_reported_and_resumed() {
    let setting = Setting::new();
    setting.hub.make(Trouble::Cut);
    setting.fails("encoder-hub-broken", &["model.safetensors", "try again"]);
    assert_eq!(setting.cached(), None, "half a model is no encoder");
    setting.hub.make(Trouble::None);
    setting.hub.asked();
    let dir = setting.fetch().unwrap();
    let half = fs::metadata(tiny().join("model.safetensors")).unwrap().len() / 2;
    assert!(setting.hub.asked().contains(&format!("/cdn/model.safetensors from {half}")));
    assert_eq!(open(&dir).encode(&["bad"]).unwrap(), open(&tiny()).encode(&["bad"]).unwrap());
}

#[test]
fn file_with_another_checksum_is_refused() {
    let setting = Setting::new();
    setting.hub.make(Trouble::Garbled);
    setting.fails("encoder-hub-broken", &["model.safetensors", "sha256"]);
    assert_eq!(setting.cached(), None);
    setting.hub.make(Trouble::None);
    open(&setting.fetch().unwrap());
}

#[test]
fn small_file_with_another_git_hash_is_refused() {
    let setting = Setting::new();
    setting.hub.make(Trouble::GarbledSmall);
    setting.fails("encoder-hub-broken", &["config.json", "git sha1"]);
    assert_eq!(setting.cached(), None);
    setting.hub.make(Trouble::None);
    open(&setting.fetch().unwrap());
}

#[test]
fn unverifiable_files_are_not_fetched() {
    let setting = Setting::new();
    setting.hub.make(Trouble::NoChecksums);
    setting.fails("encoder-hub-unverified", &["config.json", "checksum", &setting.config.endpoint]);
    let sent: Vec<_> = setting.hub.asked().into_iter().filter(|it| it.ends_with("config.json")).collect();
    assert_eq!(sent, Vec::<String>::new(), "only its size is asked for");
    assert_eq!(setting.cached(), None);
    setting.hub.make(Trouble::None);
    open(&setting.fetch().unwrap());
}

#[test]
fn address_without_tls_is_refused() {
    let mut setting = Setting::new();
    setting.config.endpoint = "http://hub.invalid".to_owned();
    setting.fails("encoder-hub-endpoint", &["HF_ENDPOINT", "http://hub.invalid", "https"]);
}

#[test]
fn missing_repository_is_reported() {
    let setting = Setting::new();
    let other = fetch(&"some/other".parse().unwrap(), &setting.config, &mut |_| ControlFlow::Continue(()));
    let error = other.unwrap_err();
    assert_eq!(error.code(), "encoder-hub-not-found");
    assert!(error.to_string().contains("some/other"), "{error}");
}

#[test]
fn private_repository_needs_a_token() {
    for status in [401, 403] {
        let mut setting = Setting::new();
        setting.hub.make(Trouble::Closed { token: "letmein", status });
        setting.fails("encoder-hub-closed", &[&status.to_string(), "set HF_TOKEN"]);
        setting.config.token = Some("wrong-one".to_owned());
        setting.fails("encoder-hub-closed", &["does not open it"]);
        assert!(!setting.fetch().unwrap_err().to_string().contains("wrong-one"), "tokens are never shown");
        setting.config.token = Some("letmein".to_owned());
        open(&setting.fetch().unwrap());
    }
}

#[test]
fn failing_or_foreign_server_is_reported() {
    let setting = Setting::new();
    setting.hub.make(Trouble::Status(503));
    setting.fails("encoder-hub-offline", &["503"]);
    setting.hub.make(Trouble::Status(429));
    setting.fails("encoder-hub-answer", &["429"]);
    setting.hub.make(Trouble::Html);
    setting.fails("encoder-hub-answer", &["HF_ENDPOINT"]);
}

#[test]
fn repository_with_only_pickled_weights_is_refused_early() {
    let mut files = fixture_files();
    let weights = files.remove("model.safetensors").unwrap();
    files.insert("pytorch_model.bin".to_owned(), weights);
    let setting = Setting::with(LocalHub::serving(files));
    setting.fails("encoder-pickle", &["pytorch_model.bin", "save_pretrained", NAME]);
    assert_eq!(setting.hub.asked().len(), 1);
}

#[test]
fn repository_without_a_tokenizer_is_refused_early() {
    let mut files = fixture_files();
    files.remove("tokenizer.json");
    let setting = Setting::with(LocalHub::serving(files));
    setting.fails("encoder-files-missing", &["lacks tokenizer.json", "AutoTokenizer"]);
    assert_eq!(setting.hub.asked().len(), 1);
}

#[test]
fn unknown_family_is_refused_before_fetching_weights() {
    let mut files = fixture_files();
    files.insert("config.json".to_owned(), br#"{"model_type": "mamba"}"#.to_vec());
    let setting = Setting::with(LocalHub::serving(files));
    setting.fails("encoder-family", &["mamba"]);
    assert!(!setting.hub.asked().iter().any(|a| a.contains("safetensors")));
}

#[test]
fn fetch_from_a_silent_server_can_be_cancelled() {
    let setting = Setting::new();
    setting.hub.make(Trouble::Silent);
    let started = Instant::now();
    let stopped = fetch(&NAME.parse().unwrap(), &setting.config, &mut |at: Fetched| {
        if at.file == "model.safetensors" && at.bytes > 20_000 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(matches!(stopped, Err(EncoderError::Cancelled)));
    assert!(started.elapsed() < Duration::from_secs(10), "it ended by the server's doing");
    assert_eq!(setting.cached(), None);
}

#[test]
fn silent_server_times_out() {
    let mut setting = Setting::new();
    setting.config.patience = Duration::from_millis(600);
    setting.hub.make(Trouble::Silent);
    let error = setting.fetch().unwrap_err();
    assert!(["encoder-hub-offline", "encoder-hub-broken"].contains(&error.code()), "{error}");
}

#[test]
fn shards_are_fetched_by_their_index() {
    let mut files = fixture_files();
    let weights = files.remove("model.safetensors").unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&weights).unwrap();
    let map: BTreeMap<String, &str> = tensors
        .names()
        .into_iter()
        .map(|name| (name.to_owned(), "model-00001-of-00001.safetensors"))
        .collect();
    let index = serde_json::json!({"metadata": {}, "weight_map": map}).to_string();
    files.insert("model.safetensors.index.json".to_owned(), index.into_bytes());
    files.insert("model-00001-of-00001.safetensors".to_owned(), weights);
    let setting = Setting::with(LocalHub::serving(files));
    let dir = setting.fetch().unwrap();
    assert_eq!(setting.cached().as_ref(), Some(&dir));
    assert_eq!(open(&dir).encode(&["bad"]).unwrap(), open(&tiny()).encode(&["bad"]).unwrap());
}

fn fixture_files() -> BTreeMap<String, Vec<u8>> {
    let names = [
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "modules.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ];
    names.iter().map(|name| ((*name).to_owned(), fs::read(tiny().join(name)).unwrap())).collect()
}
