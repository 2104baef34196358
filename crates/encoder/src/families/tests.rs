//! Compares every family with transformers: hidden states, poolings, gradients, and the two ways of
//! computing them.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};

use super::reference::{NAMES, Reference, SHARDED, dir};
use super::*;
use crate::blocks::ForwardCtx;
use crate::encoder::Encoder;
use crate::freeze_policy::{FreezePolicy, LoraConfig};
use crate::options::{DeviceChoice, EncoderOptions, LongTexts, Pooling, Precision};
use crate::token_batch::TokenBatch;
use crate::training::Trainable;

/// On the CPU, regardless of the devices of this build and machine, and with long texts cut as in training.
fn on_cpu() -> EncoderOptions {
    EncoderOptions { device: DeviceChoice::Cpu, long_texts: LongTexts::Truncate, ..EncoderOptions::default() }
}

fn transformer(name: &str) -> Box<dyn Transformer> {
    transformer_in(name, Precision::Fp32)
}

fn transformer_in(name: &str, precision: Precision) -> Box<dyn Transformer> {
    let folder = Folder::open(&dir(name)).unwrap();
    let (family, config) = check(&folder).unwrap();
    let weights = crate::weights::Weights::open(&folder, &Device::Cpu).unwrap();
    let parameters = Parameters::new(weights, None, precision);
    open(&family, config, &folder, parameters, &Device::Cpu).unwrap()
}

fn forward(transformer: &dyn Transformer, ids: &[Vec<u32>]) -> Vec<Tensor> {
    let batch = TokenBatch { ids: ids.concat(), lengths: ids.iter().map(Vec::len).collect() };
    let ctx = ForwardCtx::inference(&batch.lengths, &Device::Cpu).keeping_all();
    transformer.forward(&batch, &ctx).unwrap().into_all()
}

fn assert_close(what: &str, found: &Tensor, expected: &[Vec<f32>]) {
    let found: Vec<Vec<f32>> = found.to_dtype(DType::F32).unwrap().to_vec2().unwrap();
    assert_eq!(found.len(), expected.len(), "{what}");
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-4, "{what} is off by {worst}");
}

#[test]
fn every_hidden_state_of_a_mixed_batch_matches_the_reference() {
    for reference in NAMES.map(Reference::open) {
        let states = forward(transformer(reference.name).as_ref(), &reference.ids);
        assert_eq!(states.len(), reference.states(), "{}", reference.name);
        for (i, state) in states.iter().enumerate() {
            assert_close(&format!("state {i} of {}", reference.name), state, &reference.hidden(i));
        }
        // Padding on the left, where the reference supports it, has no effect: there is none here.
        let last = &states[states.len() - 1];
        assert_close(&format!("{}, padded left", reference.name), last, &reference.left_padded());
    }
}

#[test]
fn every_single_text_matches_the_reference() {
    for reference in NAMES.map(Reference::open) {
        let transformer = transformer(reference.name);
        let last = reference.hidden(reference.states() - 1);
        let mut first = 0;
        for ids in &reference.ids {
            let states = forward(transformer.as_ref(), std::slice::from_ref(ids));
            let what = format!("{} tokens of {}", ids.len(), reference.name);
            assert_close(&what, &states[states.len() - 1], &last[first..first + ids.len()]);
            first += ids.len();
        }
    }
}

#[test]
fn lengths_and_sizes_match_the_configuration() {
    for reference in NAMES.map(Reference::open) {
        let sizes = transformer(reference.name).sizes();
        assert_eq!(sizes.positions, reference.max_tokens, "{}", reference.name);
        assert_eq!(sizes.dim, reference.hidden(0)[0].len(), "{}", reference.name);
    }
}

/// Opens for training without dropout, as for the reference's gradients.
fn trainable(name: &str, policy: &FreezePolicy, pooling: Pooling) -> Trainable {
    let options = EncoderOptions { pooling: Some(pooling), threads: Some(2), ..on_cpu() };
    Trainable::open(&dir(name), &options, policy, 7).unwrap()
}

#[test]
fn poolings_match_the_reference_on_both_paths() {
    for reference in NAMES.map(Reference::open) {
        for pooling in Pooling::ALL.iter().copied() {
            let expected = match pooling {
                Pooling::Pooler => match reference.pooler() {
                    Some(expected) => expected,
                    None => continue,
                },
                _ => reference.pooled(pooling.as_str()),
            };
            let what = format!("{pooling} of {}", reference.name);
            let learning = trainable(reference.name, &FreezePolicy::Full, pooling);
            assert_close(&what, &learning.embed(&reference.ids, None).unwrap(), &expected);

            let batch = TokenBatch {
                ids: reference.ids.concat(),
                lengths: reference.ids.iter().map(Vec::len).collect(),
            };
            let ctx = ForwardCtx::inference(&batch.lengths, &Device::Cpu);
            let transformer = transformer(reference.name);
            let fast = crate::blocks::embed(transformer.as_ref(), &batch, &ctx, pooling, false).unwrap();
            let worst = fast.iter().flatten().zip(expected.iter().flatten());
            let worst = worst.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-4, "{what}, fast: {worst}");
        }
    }
}

#[test]
fn other_precisions_are_close_to_the_reference() {
    for reference in NAMES.map(Reference::open) {
        // Such small random weights round worse than trained ones do; half floats run here through the
        // operations used on graphics processors.
        for (precision, least) in [(Precision::Half, 0.999_9), (Precision::Int8, 0.99)] {
            let transformer = transformer_in(reference.name, precision);
            let batch = TokenBatch {
                ids: reference.ids.concat(),
                lengths: reference.ids.iter().map(Vec::len).collect(),
            };
            let ctx = ForwardCtx::inference(&batch.lengths, &Device::Cpu);
            let found =
                crate::blocks::embed(transformer.as_ref(), &batch, &ctx, Pooling::Mean, false).unwrap();
            for (found, expected) in found.iter().zip(reference.pooled("mean")) {
                let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
                let cosine = dot(found, &expected) / (dot(found, found) * dot(&expected, &expected)).sqrt();
                assert!(cosine > least, "{} in {precision}: {cosine}", reference.name);
            }
        }
    }
}

#[test]
fn model_without_a_pooler_refuses_pooler() {
    let options = EncoderOptions { pooling: Some(Pooling::Pooler), ..on_cpu() };
    let error = Encoder::open(&dir("distilbert"), &options).unwrap_err();
    assert_eq!(error.code(), "encoder-pooling");
    assert!(error.to_string().contains("no pooler of its own"), "{error}");
}

/// The reference's loss: mean-pooled embeddings, each component weighted.
fn gradients(trainable: &Trainable, reference: &Reference) -> crate::Gradients {
    let (shape, weights) = reference.loss_weights();
    let weights = Tensor::from_vec(weights, shape, &Device::Cpu).unwrap();
    trainable
        .gradients(&reference.ids, None, &[], |embeddings, share| {
            (embeddings * weights.narrow(0, share.start, share.len())?)?.sum_all()
        })
        .unwrap()
}

#[test]
fn trainable_gradients_match_the_reference() {
    for reference in NAMES.map(Reference::open) {
        let trainable = trainable(reference.name, &FreezePolicy::Full, Pooling::Mean);
        let found = gradients(&trainable, &reference);
        let mut expected: Vec<&str> = reference.gradient_names();
        expected.sort_unstable();
        let mut learning: Vec<&str> = trainable
            .parameters()
            .iter()
            .map(|p| p.name.strip_prefix(&reference.prefix).unwrap_or(&p.name))
            .collect();
        learning.sort_unstable();
        assert_eq!(learning, expected, "{}: what learns", reference.name);
        for name in expected {
            let (_, values) = reference.gradient(name);
            let full = format!("{}{name}", reference.prefix);
            let gradient =
                found.get(&full).unwrap_or_else(|| panic!("{name} of {} got none", reference.name));
            let ours = gradient.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            let largest = values.iter().fold(0.0, |most: f32, v| most.max(v.abs()));
            let off = ours.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            // The gradient of some biases is zero in theory and consists of rounding errors in practice.
            let zero = reference.zero_gradient.iter().any(|other| other == name);
            let bound = if zero { 1e-4 } else { 1e-3 * largest };
            assert!(off <= bound, "{name} of {}: {off} where the largest is {largest}", reference.name);
        }
        let norms = found.norms().unwrap();
        assert!(norms.iter().all(|group| group.without_gradient == 0 && group.norm > 0.0), "{norms:?}");
    }
}

#[test]
fn last_layers_get_the_gradients_of_full_training() {
    for reference in NAMES.map(Reference::open) {
        let trainable = trainable(reference.name, &FreezePolicy::LastK(1), Pooling::Mean);
        let found = gradients(&trainable, &reference);
        let last = crate::Group::Layer(trainable.layers() - 1);
        assert!(trainable.parameters().iter().all(|p| p.group >= last), "{}", reference.name);
        assert!(trainable.parameters().iter().any(|p| p.group == last), "{}", reference.name);
        for parameter in trainable.parameters() {
            let name = parameter.name.strip_prefix(&reference.prefix).unwrap_or(&parameter.name);
            let (_, values) = reference.gradient(name);
            let ours = found.get(&parameter.name).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
            let largest = values.iter().fold(0.0, |most: f32, v| most.max(v.abs()));
            let off = ours.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off <= (1e-3 * largest).max(1e-4), "{name} of {}: {off}", reference.name);
        }
    }
}

#[test]
fn lora_starts_at_zero_trains_and_merges() {
    for reference in NAMES.map(Reference::open) {
        let policy = FreezePolicy::Lora(LoraConfig { rank: 2, alpha: 4.0, ..LoraConfig::default() });
        let trainable = trainable(reference.name, &policy, Pooling::Mean);
        assert_close(
            reference.name,
            &trainable.embed(&reference.ids, None).unwrap(),
            &reference.pooled("mean"),
        );
        // Two products of each layer, two tensors each.
        assert_eq!(trainable.parameters().len(), 4 * trainable.layers(), "{}", reference.name);
        let first = gradients(&trainable, &reference);
        let mut optimizer = crate::AdamW::new(crate::AdamWSettings::default());
        optimizer.step(&first, |_| 0.05).unwrap();
        let second = gradients(&trainable, &reference);
        assert!(second.loss < first.loss, "{}: {} then {}", reference.name, first.loss, second.loss);
        let norms = second.norms().unwrap();
        assert!(norms.iter().all(|group| group.without_gradient == 0 && group.norm > 0.0), "{norms:?}");

        let moved = trainable.embed(&reference.ids, None).unwrap();
        let merged = trainable.encoder().unwrap();
        assert_same_embeddings(&merged, &reference, &moved);
    }
}

/// Checks that the fast path, for the texts of the reference, gives the same as the differentiable one.
fn assert_same_embeddings(encoder: &Encoder, reference: &Reference, expected: &Tensor) {
    let expected: Vec<Vec<f32>> = expected.to_vec2().unwrap();
    for (text, expected) in reference.texts.iter().zip(expected) {
        let Some(text) = text else { continue };
        let found = &encoder.encode(&[text]).unwrap()[0];
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{}: {text:?} is off by {worst}", reference.name);
    }
}

#[test]
fn tuned_weights_round_trip() {
    for name in ["bert-prefixed-f16", "gpt2", "deberta-v3", "qwen3"] {
        let reference = Reference::open(name);
        let trainable = trainable(name, &FreezePolicy::Full, Pooling::Mean);
        let mut optimizer = crate::AdamW::new(crate::AdamWSettings::default());
        optimizer.step(&gradients(&trainable, &reference), |_| 0.01).unwrap();
        let moved = trainable.embed(&reference.ids, None).unwrap();
        let place = tempfile::tempdir().unwrap();
        let saved = place.path().join("tuned");
        trainable.save(&saved).unwrap();
        let encoder = Encoder::open(&saved, &EncoderOptions { pooling: Some(Pooling::Mean), ..on_cpu() });
        assert_same_embeddings(&encoder.unwrap(), &reference, &moved);
        let error = trainable.save(&saved).unwrap_err();
        assert_eq!(error.code(), "encoder-unwritable");
        // No partial files remain.
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
}

#[test]
fn weights_in_several_files_are_the_same_model() {
    let reference = Reference::open("bert");
    let states = forward(transformer(SHARDED).as_ref(), &reference.ids);
    assert_close(SHARDED, &states[states.len() - 1], &reference.hidden(reference.states() - 1));
}

#[test]
fn threads_and_accumulation_do_not_change_the_gradient() {
    let reference = Reference::open("roberta");
    let whole = gradients(&trainable("roberta", &FreezePolicy::Full, Pooling::Mean), &reference);
    let options = EncoderOptions { pooling: Some(Pooling::Mean), threads: Some(1), ..on_cpu() };
    let alone = Trainable::open(&dir("roberta"), &options, &FreezePolicy::Full, 7).unwrap();
    let (shape, weights) = reference.loss_weights();
    let weights = Tensor::from_vec(weights, shape, &Device::Cpu).unwrap();
    let of = |from: usize, count: usize| {
        alone
            .gradients(&reference.ids[from..from + count], None, &[], |embeddings, share| {
                (embeddings * weights.narrow(0, from + share.start, share.len())?)?.sum_all()
            })
            .unwrap()
    };
    let half = reference.ids.len() / 2;
    let mut added = of(0, half);
    added.add(of(half, reference.ids.len() - half)).unwrap();
    assert!((added.loss - whole.loss).abs() < 1e-3);
    for parameter in alone.parameters() {
        let [a, b] = [&whole, &added].map(|g| g.get(&parameter.name).unwrap().flatten_all().unwrap());
        let worst = (a - b).unwrap().abs().unwrap().max(0).unwrap().to_scalar::<f32>().unwrap();
        assert!(worst < 1e-3, "{}: {worst}", parameter.name);
    }
}

#[test]
fn dropout_is_seeded_and_off_without_a_seed() {
    for reference in NAMES.map(Reference::open) {
        let trainable = trainable(reference.name, &FreezePolicy::Full, Pooling::Mean);
        let embed = |seed| trainable.embed(&reference.ids, seed).unwrap().to_vec2::<f32>().unwrap();
        assert_eq!(embed(Some(1)), embed(Some(1)), "{}", reference.name);
        // ModernBERT and the Llama family are published without dropout.
        if !["modernbert", "llama", "llama3", "qwen2", "qwen3"].contains(&reference.name) {
            assert_ne!(embed(Some(1)), embed(Some(2)), "{}", reference.name);
        }
        assert_close(
            reference.name,
            &trainable.embed(&reference.ids, None).unwrap(),
            &reference.pooled("mean"),
        );
    }
}

#[test]
fn policies_select_trainable_parameters() {
    let learning = |policy: &FreezePolicy| {
        let mut groups: HashMap<String, usize> = HashMap::new();
        for parameter in trainable("bert", policy, Pooling::Mean).parameters() {
            *groups.entry(parameter.group.to_string()).or_default() += 1;
        }
        groups
    };
    assert!(learning(&FreezePolicy::Frozen).is_empty());
    assert_eq!(learning(&FreezePolicy::Full).len(), 3);
    assert_eq!(learning(&FreezePolicy::LastK(1)).into_keys().collect::<Vec<_>>(), ["layer 1"]);
    let error = Trainable::open(&dir("bert"), &on_cpu(), &FreezePolicy::LastK(3), 1).unwrap_err();
    assert!(error.to_string().contains("2 layers"), "{error}");
}

#[test]
fn nan_loss_is_refused() {
    let trainable = trainable("bert", &FreezePolicy::Full, Pooling::Mean);
    let texts = vec![vec![5, 6, 7]];
    let error = trainable.gradients(&texts, None, &[], |x, _| x.sum_all()? * f64::NAN).unwrap_err();
    assert_eq!(error.code(), "encoder-loss");
}

#[test]
fn nan_gradient_is_refused() {
    let trainable = trainable("bert", &FreezePolicy::Full, Pooling::Mean);
    let texts = vec![vec![5, 6, 7]];
    let root_at_0 = |x: &Tensor, _| (x - x.detach())?.sqr()?.sum_all()?.sqrt();
    let error = trainable.gradients(&texts, None, &[], root_at_0).unwrap_err();
    assert_eq!(error.code(), "encoder-loss");
    assert!(error.to_string().contains("is not a number"), "{error}");
}

#[test]
fn invalid_ids_are_refused() {
    for policy in ["frozen", "full", "lora"] {
        let trainable = trainable("bert", &policy.parse().unwrap(), Pooling::Mean);
        for texts in [vec![], vec![vec![]], vec![vec![5], vec![]], vec![vec![5; 21]], vec![vec![47]]] {
            let error = trainable.embed(&texts, None).unwrap_err();
            assert_eq!(error.code(), "encoder-text", "{texts:?}");
            assert!(trainable.gradients(&texts, None, &[], |x, _| x.sum_all()).is_err());
        }
    }
}

#[test]
fn version_contains_everything_that_affects_embeddings() {
    let key = |dir: &std::path::Path| Encoder::open(dir, &on_cpu()).unwrap().version().key();
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("bert");
    std::fs::create_dir(&copy).unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(dir("bert").join(file), copy.join(file)).unwrap();
    }
    assert_eq!(key(&copy), key(&dir("bert")));
    let config = std::fs::read_to_string(copy.join("config.json")).unwrap();
    std::fs::write(copy.join("config.json"), config.replace("\"gelu\"", "\"relu\"")).unwrap();
    assert_ne!(key(&copy), key(&dir("bert")), "the same weights with another nonlinearity");

    let reference = Reference::open("bert");
    let learning = trainable("bert", &FreezePolicy::Full, Pooling::Mean);
    let before = learning.encoder().unwrap().version().key();
    let mut optimizer = crate::AdamW::new(crate::AdamWSettings::default());
    optimizer.step(&gradients(&learning, &reference), |_| 0.01).unwrap();
    let after = learning.encoder().unwrap().version().key();
    assert!(before != after && after.starts_with("bert+tuned/"), "{before}, {after}");
}

#[test]
fn unknown_family_error_lists_supported_ones() {
    let place = tempfile::tempdir().unwrap();
    for file in ["tokenizer.json", "model.safetensors"] {
        std::fs::copy(dir("bert").join(file), place.path().join(file)).unwrap();
    }
    std::fs::write(place.path().join("config.json"), r#"{"model_type": "t5"}"#).unwrap();
    let error = Encoder::open(place.path(), &on_cpu()).unwrap_err().to_string();
    assert!(error.contains("\"t5\"") && FAMILIES.iter().all(|family| error.contains(family)), "{error}");
}

#[test]
fn extreme_configurations_are_refused_or_harmless() {
    let place = tempfile::tempdir().unwrap();
    let absurd = [
        "0",
        "1",
        "3",
        "-1",
        "1.5",
        "1000000000000",
        "18446744073709551615",
        "null",
        "\"many\"",
        "[]",
        "true",
    ];
    for reference in NAMES.map(Reference::open) {
        for file in ["tokenizer.json", "model.safetensors"] {
            std::fs::copy(reference.dir.join(file), place.path().join(file)).unwrap();
        }
        let text = std::fs::read_to_string(reference.dir.join("config.json")).unwrap();
        let config: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        let mut refused = 0;
        for field in config.keys().filter(|field| *field != "model_type") {
            for value in absurd {
                let mut changed = config.clone();
                changed.insert(field.clone(), serde_json::from_str(value).unwrap());
                std::fs::write(place.path().join("config.json"), serde_json::to_vec(&changed).unwrap())
                    .unwrap();
                match Encoder::open(place.path(), &EncoderOptions { threads: Some(1), ..on_cpu() }) {
                    Err(error) => {
                        refused += 1;
                        assert!(!error.to_string().is_empty(), "{field} = {value} of {}", reference.name);
                    }
                    Ok(encoder) => {
                        if let Ok(found) = encoder.encode(&["a b", "c"]) {
                            let finite = found.iter().flatten().all(|v| v.is_finite());
                            assert!(finite, "{field} = {value} of {}", reference.name);
                        }
                    }
                }
            }
        }
        assert!(refused > 50, "{}: only {refused} were refused", reference.name);
    }
}
