//! Compares soft prompts with transformers, and tests training, cutting, saving, reopening and refusing
//! them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor, Var};

use crate::blocks::{ForwardCtx, SOFT_PROMPT, embed};
use crate::families::is_decoder;
use crate::families::reference::{NAMES, Reference, dir, tensors};
use crate::folder::SOFT_PROMPT_FILE;
use crate::hash::sha256;
use crate::open::{Source, open_folder};
use crate::token_batch::TokenBatch;
use crate::{
    AdamW, AdamWSettings, DeviceChoice, Encoder, EncoderError, EncoderOptions, FreezePolicy, Gradients,
    LongTexts, LoraConfig, Pooling, Trainable,
};

const VECTORS: usize = 3;

fn on_cpu() -> EncoderOptions {
    EncoderOptions {
        device: DeviceChoice::Cpu,
        long_texts: LongTexts::Truncate,
        threads: Some(2),
        ..EncoderOptions::default()
    }
}

/// Reference values from tools/fixtures/soft_prompts.py.
struct ReferenceValues {
    name: &'static str,
    ids: Vec<Vec<u32>>,
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl ReferenceValues {
    fn open(name: &'static str) -> Self {
        let reference = Reference::open(name);
        let cut = |ids: &Vec<u32>| ids.iter().copied().take(reference.max_tokens - VECTORS).collect();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/soft_prompts");
        let tensors = tensors(&path.join(format!("{name}.safetensors")));
        Self { name, ids: reference.ids.iter().map(cut).collect(), tensors }
    }

    fn tensor(&self, name: &str) -> Tensor {
        let (shape, values) = &self.tensors[name];
        Tensor::from_slice(values, shape.as_slice(), &Device::Cpu).unwrap()
    }

    fn is_decoder(&self) -> bool {
        is_decoder(self.name.trim_end_matches('3')) || self.name.starts_with("qwen")
    }

    /// Opens the encoder for training, with the reference's vectors.
    fn trainable(&self, options: &EncoderOptions) -> Trainable {
        let trainable = Trainable::open(&dir(self.name), options, &FreezePolicy::Prompt(VECTORS), 7).unwrap();
        trainable.parameters()[0].var.set(&self.tensor("prompt")).unwrap();
        trainable
    }

    fn gradients(&self, trainable: &Trainable, head: &Var, texts: &[Vec<u32>]) -> Gradients {
        let weights = self.tensor("weights");
        trainable
            .gradients(texts, None, &[("head", head)], |embeddings, share| {
                let weights = weights.narrow(0, share.start, share.len())?;
                (embeddings.matmul(head)? * weights)?.sum_all()
            })
            .unwrap()
    }
}

fn worst(found: &Tensor, expected: &Tensor) -> f32 {
    assert_eq!(found.dims(), expected.dims());
    let off = (found - expected).unwrap().abs().unwrap().flatten_all().unwrap();
    off.max(0).unwrap().to_scalar().unwrap()
}

fn largest(of: &Tensor) -> f32 {
    of.abs().unwrap().flatten_all().unwrap().max(0).unwrap().to_scalar().unwrap()
}

#[test]
fn embeddings_and_gradients_match_the_reference() {
    for expected in NAMES.map(ReferenceValues::open) {
        let trainable = expected.trainable(&on_cpu());
        assert_eq!(trainable.parameters().len(), 1, "{}: the vectors alone learn", expected.name);
        let found = trainable.embed(&expected.ids, None).unwrap();
        let off = worst(&found, &expected.tensor("embedding"));
        assert!(off < 1e-4, "embeddings of {} are off by {off}", expected.name);
        let head = Var::from_tensor(&expected.tensor("head")).unwrap();
        let gradients = expected.gradients(&trainable, &head, &expected.ids);
        for (name, of) in [(SOFT_PROMPT, "grad.prompt"), ("head", "grad.head")] {
            let (found, wanted) = (gradients.get(name).unwrap(), expected.tensor(of));
            let (off, largest) = (worst(found, &wanted), largest(&wanted));
            assert!(off <= 1e-3 * largest, "{of} of {}: {off} where the largest is {largest}", expected.name);
        }
    }
}

#[test]
fn frozen_encoders_compute_the_same_with_a_prompt() {
    for expected in NAMES.map(ReferenceValues::open) {
        for (pooling, tensor) in [(Pooling::Mean, "embedding"), (Pooling::Cls, "cls")] {
            if expected.is_decoder() && pooling == Pooling::Cls {
                continue;
            }
            let learned = HashMap::from([(SOFT_PROMPT.to_owned(), expected.tensor("prompt"))]);
            let source = Source { learned, ..Source::default() };
            let options = EncoderOptions { pooling: Some(pooling), ..on_cpu() };
            let opened = open_folder(&dir(expected.name), &options, &source).unwrap();
            let lengths: Vec<usize> = expected.ids.iter().map(Vec::len).collect();
            let batch = TokenBatch { ids: expected.ids.concat(), lengths };
            let ctx = ForwardCtx::inference(&batch.lengths, &Device::Cpu);
            let version = &opened.version;
            assert_eq!(version.pooling == Pooling::Last, expected.is_decoder(), "{}", expected.name);
            let found = embed(opened.transformer.as_ref(), &batch, &ctx, version.pooling, false).unwrap();
            let wanted = expected.tensor(tensor);
            let found = Tensor::from_vec(found.concat(), wanted.shape(), &Device::Cpu).unwrap();
            let off = worst(&found, &wanted);
            assert!(off < 1e-4, "{pooling} of {} is off by {off}", expected.name);
        }
    }
}

#[test]
fn text_cache_does_not_change_results() {
    for name in ["gpt2", "llama", "qwen2"] {
        let expected = ReferenceValues::open(name);
        let head = Var::from_tensor(&expected.tensor("head")).unwrap();
        let twice = |cached_bytes| {
            let trainable = expected.trainable(&EncoderOptions { cached_bytes, ..on_cpu() });
            let of = |texts: &[Vec<u32>]| {
                let gradients = expected.gradients(&trainable, &head, texts);
                let values = |name| gradients.get(name).unwrap().to_vec2::<f32>().unwrap();
                (gradients.loss, values(SOFT_PROMPT), values("head"))
            };
            // Cached while other texts were in the batch.
            of(&expected.ids[2..]);
            [of(&expected.ids), of(&expected.ids)]
        };
        let recomputed = twice(Some(0));
        assert_eq!(recomputed[0], recomputed[1], "{name}");
        // Some texts fit and some do not; all fit.
        assert_eq!(twice(Some(6_000)), recomputed, "{name}");
        assert_eq!(twice(None), recomputed, "{name}");
    }
}

/// Trains for this many steps towards embeddings of zeros.
fn train_towards_zero(trainable: &Trainable, steps: u32) -> Vec<f64> {
    let texts = trainable.tokenize(&["not fair", "is it bad, you?"]).unwrap();
    let mut optimizer = AdamW::new(AdamWSettings::default());
    let step = |at| {
        let gradients = trainable.gradients(&texts, Some(at), &[], |x, _| x.sqr()?.sum_all()).unwrap();
        optimizer.step(&gradients, |_| 0.05).unwrap();
        gradients.loss
    };
    (0..steps).map(step).collect()
}

fn prompt_of(trainable: &Trainable) -> Vec<Vec<f32>> {
    trainable.parameters()[0].var.to_vec2().unwrap()
}

#[test]
fn prompt_vectors_start_from_seeded_words() {
    for name in ["gpt2", "llama", "bert"] {
        let open = |seed| Trainable::open(&dir(name), &on_cpu(), &FreezePolicy::Prompt(5), seed).unwrap();
        let [one, same, other] = [open(7), open(7), open(8)];
        assert_eq!(prompt_of(&one), prompt_of(&same));
        assert_ne!(prompt_of(&one), prompt_of(&other));
        let opened = open_folder(&dir(name), &on_cpu(), &Source::default()).unwrap();
        let words: Vec<Vec<f32>> = opened.transformer.words().to_vec2().unwrap();
        assert!(prompt_of(&one).iter().all(|vector| words.contains(vector)), "{name}");
        let ids = one.tokenize(&["not fair", "is it bad, you?"]).unwrap();
        let loss =
            || one.embed(&ids, None).unwrap().sqr().unwrap().sum_all().unwrap().to_scalar::<f32>().unwrap();
        let before = loss();
        assert_eq!(train_towards_zero(&one, 12), train_towards_zero(&same, 12), "{name}");
        assert_eq!(prompt_of(&one), prompt_of(&same), "{name}");
        assert!(loss() < before, "{name}: {} after {before}", loss());
    }
}

fn files(of: &Path) -> BTreeMap<PathBuf, String> {
    let entries = fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), sha256(&fs::read(path).unwrap())))
        .collect()
}

/// Copies a family's folder, so that a test may damage its files.
fn copied(name: &str, to: &Path) -> PathBuf {
    let copy = to.join(name);
    fs::create_dir(&copy).unwrap();
    for path in files(&dir(name)).into_keys() {
        fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
    }
    copy
}

#[test]
fn prompt_is_saved_with_unchanged_weights() {
    let texts = ["not fair", "is it bad, you?"];
    for name in ["gpt2", "llama", "bert", "bert-sharded", "roberta"] {
        let place = tempfile::tempdir().unwrap();
        let base = copied(name, place.path());
        let before = files(&base);
        let trainable = Trainable::open(&base, &on_cpu(), &FreezePolicy::Prompt(2), 3).unwrap();
        train_towards_zero(&trainable, 3);
        let saved = place.path().join("tuned");
        trainable.save(&saved).unwrap();
        assert_eq!(files(&base), before, "{name}: nothing of the encoder has changed");
        let weights = |of: &BTreeMap<PathBuf, String>| -> Vec<String> {
            let of = of
                .iter()
                .filter(|(path, _)| path.file_name().unwrap().to_str().unwrap().starts_with("model"));
            of.map(|(_, sum)| sum.clone()).collect()
        };
        assert_eq!(weights(&files(&saved)), weights(&before), "{name}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let file =
                if name == "bert-sharded" { "model-00001-of-00002.safetensors" } else { "model.safetensors" };
            let inode = |folder: &Path| fs::metadata(folder.join(file)).unwrap().ino();
            assert_eq!(inode(&saved), inode(&base), "{name}: weights take their room once");
        }

        let (learned, encoder) = (trainable.encoder().unwrap(), Encoder::open(&saved, &on_cpu()).unwrap());
        let ids = trainable.tokenize(&texts).unwrap();
        let rows = trainable.embed(&ids, None).unwrap();
        for found in [&learned, &encoder] {
            let found = Tensor::new(found.encode(&texts).unwrap(), &Device::Cpu).unwrap();
            assert!(worst(&found, &rows) < 1e-4, "{name}");
        }
        assert_eq!(learned.encode(&texts).unwrap(), encoder.encode(&texts).unwrap(), "{name}");
        let plain = Encoder::open(&base, &on_cpu()).unwrap();
        assert_ne!(plain.version().fingerprint, encoder.version().fingerprint);
        assert_ne!(plain.version().weights_sha256, encoder.version().weights_sha256);
        assert_eq!(trainable.save(&saved).unwrap_err().code(), "encoder-unwritable");
        let copied = tempfile::tempdir().unwrap();
        crate::copy_encoder(&saved, encoder.version(), copied.path()).unwrap();
        let again = Encoder::open(copied.path(), &on_cpu()).unwrap();
        assert_eq!(again.encode(&texts).unwrap(), encoder.encode(&texts).unwrap(), "{name}");
        // No partial files remain, and the folder can be moved without the encoder's.
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
        fs::remove_dir_all(&base).unwrap();
        let moved = place.path().join("elsewhere");
        fs::rename(&saved, &moved).unwrap();
        let again = Encoder::open(&moved, &on_cpu()).unwrap();
        assert_eq!(again.encode(&texts).unwrap(), encoder.encode(&texts).unwrap(), "{name}");
    }
}

#[test]
fn prompt_of_a_gguf_file_is_saved() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gguf/llama.gguf");
    let trainable = Trainable::open(&file, &on_cpu(), &FreezePolicy::Prompt(2), 3).unwrap();
    train_towards_zero(&trainable, 3);
    let place = tempfile::tempdir().unwrap();
    let saved = place.path().join("tuned");
    trainable.save(&saved).unwrap();
    let texts = ["this is fair", "a"];
    let (learned, encoder) = (trainable.encoder().unwrap(), Encoder::open(&saved, &on_cpu()).unwrap());
    assert_eq!(learned.encode(&texts).unwrap(), encoder.encode(&texts).unwrap());
    assert_eq!(encoder.version().pooling, Pooling::Last);
    // Rewritten as safetensors.
    let copied = place.path().join("copied");
    fs::create_dir(&copied).unwrap();
    crate::copy_encoder(&saved, encoder.version(), &copied).unwrap();
    assert!(copied.join("model.safetensors").is_file());
    let again = Encoder::open(&copied, &on_cpu()).unwrap();
    assert_eq!(again.encode(&texts).unwrap(), encoder.encode(&texts).unwrap());
    assert_ne!(
        learned.encode(&texts).unwrap(),
        Encoder::open(&file, &on_cpu()).unwrap().encode(&texts).unwrap()
    );
}

/// Hard-linked weights change under both names when they are overwritten in place.
#[test]
fn prompt_with_changed_weights_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let base = copied("llama", place.path());
    let saved = place.path().join("tuned");
    Trainable::open(&base, &on_cpu(), &FreezePolicy::Prompt(2), 3).unwrap().save(&saved).unwrap();
    assert!(Encoder::open(&saved, &on_cpu()).is_ok());
    let weights = base.join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&0.5f32.to_le_bytes());
    fs::OpenOptions::new()
        .write(true)
        .open(saved.join("model.safetensors"))
        .unwrap()
        .write_all(&bytes)
        .unwrap();
    let error = Encoder::open(&saved, &on_cpu()).map(drop).unwrap_err();
    assert_eq!(error.code(), "encoder-damaged", "{error}");
    let message = error.to_string();
    assert!(message.contains(SOFT_PROMPT_FILE) && message.contains(&sha256(&bytes)), "{message}");
}

fn policy_error(open: Result<Trainable, EncoderError>) -> String {
    let error = open.map(drop).unwrap_err();
    assert_eq!(error.code(), "encoder-policy", "{error}");
    error.to_string()
}

#[test]
fn invalid_prompts_are_refused_by_name() {
    let open = |vectors| Trainable::open(&dir("llama"), &on_cpu(), &FreezePolicy::Prompt(vectors), 1);
    for vectors in [0, 65] {
        let message = policy_error(open(vectors));
        assert!(message.contains(&format!("prompt-{vectors}")) && message.contains("1 to 64"), "{message}");
    }
    // The fixture's model reads 20 tokens at once.
    let message = policy_error(open(20));
    assert!(
        message.contains("prompt-20") && message.contains("20 tokens") && message.contains("no room"),
        "{message}"
    );
    assert!(open(19).is_ok());
}

#[test]
fn long_texts_are_cut_to_fit_the_prompt() {
    for name in ["gpt2", "bert"] {
        let options = EncoderOptions { max_tokens: Some(20), ..on_cpu() };
        let trainable = Trainable::open(&dir(name), &options, &FreezePolicy::Prompt(6), 1).unwrap();
        assert_eq!(trainable.version().max_tokens, 14);
        let note = trainable.cut_for_prompt().unwrap();
        assert!(note.contains("14 tokens") && note.contains("20") && note.contains("6 vectors"), "{note}");
        let ids = trainable.tokenize(&["you are good, and the comment is not bad! you are good."]).unwrap();
        assert_eq!(ids[0].len(), 14, "{name}");
        trainable.gradients(&ids, Some(1), &[], |x, _| x.sum_all()).unwrap();
        let beyond = trainable.embed(&[vec![1; 15]], None).unwrap_err();
        assert_eq!(beyond.code(), "encoder-text", "{beyond}");
        let shorter = EncoderOptions { max_tokens: Some(10), ..on_cpu() };
        let trainable = Trainable::open(&dir(name), &shorter, &FreezePolicy::Prompt(6), 1).unwrap();
        assert_eq!((trainable.version().max_tokens, trainable.cut_for_prompt()), (10, None));
    }
}

#[test]
fn folder_with_a_prompt_trains_only_prompts() {
    let place = tempfile::tempdir().unwrap();
    let saved = place.path().join("tuned");
    Trainable::open(&dir("llama"), &on_cpu(), &FreezePolicy::Prompt(2), 3).unwrap().save(&saved).unwrap();
    let low = FreezePolicy::Lora(LoraConfig::default());
    for policy in [FreezePolicy::Full, FreezePolicy::LastK(1), low, FreezePolicy::Prompt(2)] {
        let message = policy_error(Trainable::open(&saved, &on_cpu(), &policy, 1));
        assert!(message.contains("has a soft prompt"), "{message}");
    }
    let frozen = Trainable::open(&saved, &on_cpu(), &FreezePolicy::Frozen, 1).unwrap();
    let ids = frozen.tokenize(&["not fair"]).unwrap();
    let rows: Vec<Vec<f32>> = frozen.embed(&ids, None).unwrap().to_vec2().unwrap();
    let found = Encoder::open(&saved, &on_cpu()).unwrap().encode(&["not fair"]).unwrap();
    assert!(rows[0].iter().zip(&found[0]).all(|(a, b)| (a - b).abs() < 1e-4));

    let path = saved.join(SOFT_PROMPT_FILE);
    let write = |name: &str, prompt: &Tensor| {
        safetensors::serialize_to_file([(name, prompt)], None, &path).unwrap();
        let error = Encoder::open(&saved, &on_cpu()).map(drop).unwrap_err();
        assert_eq!(error.code(), "encoder-damaged", "{error}");
        assert!(error.to_string().contains(SOFT_PROMPT_FILE), "{error}");
        error.to_string()
    };
    let of = |shape: (usize, usize), value: f32| Tensor::full(value, shape, &Device::Cpu).unwrap();
    assert!(write(SOFT_PROMPT, &of((2, 15), 1.0)).contains("[2, 15]"));
    assert!(write(SOFT_PROMPT, &of((65, 16), 1.0)).contains("1 to 64"));
    assert!(write("prompt", &of((2, 16), 1.0)).contains("there is none"));
    assert!(write(SOFT_PROMPT, &of((2, 16), f32::NAN)).contains("not finite"));
    fs::write(&path, b"cut").unwrap();
    assert!(Encoder::open(&saved, &on_cpu()).is_err());
}
