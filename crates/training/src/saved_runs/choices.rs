//! Converts the user's choices for a training to the configuration of the trainer.

use dissensus_api::{RunInfo, TrainChoices, Tuning};
use dissensus_domain::QuestionId;
use dissensus_encoder::{FreezePolicy, LoraConfig};
use dissensus_neural::networks::{Activation, AnnotatorEmbeddingSpec, HeadSpec, NetworkSpec};
use dissensus_neural::trainer::{Schedule, Seeds, TrainConfig, ValidationMetric};
use dissensus_project::error::ProjectError;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::{ModelError, ModelKind};
use std::str::FromStr;

/// Number of layers for `last_k`, rank for `lora` and number of vectors for `prompt`, unless chosen
/// otherwise.
const LAYERS: u32 = 2;
const RANK: u32 = 8;
const VECTORS: u32 = 5;
/// Share of the training texts by which the checkpoint is chosen.
const VALIDATION: f64 = 0.15;

/// Default choices for a model and a tuning with so many labelled texts.
pub(crate) fn defaults(
    question: QuestionId,
    model: ModelKind,
    tuning: &Tuning,
    texts: usize,
    split: SplitSpec,
) -> TrainChoices {
    let config = TrainConfig::new(model, policy(tuning, LAYERS, RANK, VECTORS)).for_texts(texts);
    let head = &config.network.head;
    TrainChoices {
        question,
        model,
        tuning: tuning.clone(),
        layers: LAYERS,
        rank: RANK,
        vectors: VECTORS,
        split,
        auxiliary: Vec::new(),
        joint: Vec::new(),
        held: Vec::new(),
        validation: VALIDATION,
        seed: 0,
        epochs: config.epochs,
        max_steps: config.max_steps.unwrap_or(0),
        evaluate_every: config.eval_steps.unwrap_or(0),
        batch: config.batch_size as u32,
        gradient_accumulation_steps: config.gradient_accumulation_steps as u32,
        encoder_lr: config.encoder_lr,
        head_lr: config.head_lr,
        weight_decay: config.weight_decay,
        schedule: config.schedule,
        warmup: config.warmup_ratio,
        max_grad_norm: config.max_grad_norm,
        patience: config.patience,
        metric_for_best_model: config.metric_for_best_model,
        hidden: 0,
        activation: Activation::Tanh,
        embedding_dropout: head.embedding_dropout,
        head_dropout: head.head_dropout,
        class_weights: false,
        pos_weight: config.pos_weight,
        label_smoothing: 0.0,
        soft_labels: false,
        use_identity: true,
        use_attributes: true,
        without_slips: false,
    }
}

/// Old and new names of renamed choices.
const RENAMED: [(&str, &str); 5] = [
    ("accumulation", "gradient_accumulation_steps"),
    ("encoder_rate", "encoder_lr"),
    ("head_rate", "head_lr"),
    ("clip", "max_grad_norm"),
    ("metric", "metric_for_best_model"),
];

/// Reads choices as stored in a project, including those of older versions; `None` for JSON that no version
/// of the program has written.
///
/// # Errors
/// A name that this version does not know, for example one of a newer version.
pub(crate) fn read(mut kept: serde_json::Value) -> Result<Option<TrainChoices>, ProjectError> {
    let Some(object) = kept.as_object_mut() else { return Ok(None) };
    for (before, now) in RENAMED {
        if let Some(value) = object.remove(before) {
            object.insert(now.to_owned(), value);
        }
    }
    // From before steps could be limited.
    for name in ["max_steps", "evaluate_every"] {
        object.entry(name).or_insert(0.into());
    }
    // From before soft prompts.
    object.entry("vectors").or_insert(VECTORS.into());
    // From before a yes could be weighted.
    object.entry("pos_weight").or_insert(1.0.into());
    // From before slips could be left out.
    object.entry("without_slips").or_insert(false.into());
    known::<ModelKind>(object, "model")?;
    known::<SplitSpec>(object, "split")?;
    known::<Schedule>(object, "schedule")?;
    known::<Activation>(object, "activation")?;
    known::<ValidationMetric>(object, "metric_for_best_model")?;
    Ok(serde_json::from_value(kept).ok())
}

/// Checks a name before serde does, whose error would not mention the field of the name.
fn known<T: FromStr<Err = ModelError>>(
    choices: &serde_json::Map<String, serde_json::Value>,
    field: &str,
) -> Result<(), ModelError> {
    choices.get(field).and_then(serde_json::Value::as_str).map(str::parse::<T>).transpose().map(drop)
}

fn policy(tuning: &Tuning, layers: u32, rank: u32, vectors: u32) -> FreezePolicy {
    match tuning {
        Tuning::Frozen => FreezePolicy::Frozen,
        Tuning::LastK => FreezePolicy::LastK(layers as usize),
        // Twice the rank, as in the examples of the LoRA paper's library.
        Tuning::Lora => FreezePolicy::Lora(LoraConfig {
            rank: rank as usize,
            alpha: 2.0 * f64::from(rank),
            ..LoraConfig::default()
        }),
        Tuning::Prompt => FreezePolicy::Prompt(vectors as usize),
        Tuning::Full => FreezePolicy::Full,
    }
}

/// Reads `frozen`, `last-K`, `lora`, `lora-RANK`, `prompt-N` or `full` into the choices.
///
/// # Errors
/// It is none of these.
pub(crate) fn set_tuning(choices: &mut TrainChoices, name: &str) -> Result<(), ProjectError> {
    match name.parse::<FreezePolicy>()? {
        FreezePolicy::Frozen => choices.tuning = Tuning::Frozen,
        FreezePolicy::LastK(layers) => {
            choices.tuning = Tuning::LastK;
            choices.layers = u32::try_from(layers).unwrap_or(u32::MAX);
        }
        FreezePolicy::Lora(low) => {
            choices.tuning = Tuning::Lora;
            choices.rank = u32::try_from(low.rank).unwrap_or(u32::MAX);
        }
        FreezePolicy::Prompt(vectors) => {
            choices.tuning = Tuning::Prompt;
            choices.vectors = u32::try_from(vectors).unwrap_or(u32::MAX);
        }
        FreezePolicy::Full => choices.tuning = Tuning::Full,
    }
    Ok(())
}

/// How the encoder of a run was tuned, as tables show it.
pub fn run_tuning(run: &RunInfo) -> String {
    let tuning = policy(&run.tuning, run.layers, run.rank, run.vectors).to_string();
    match (run.auxiliary, run.joint) {
        (0, 0) => tuning,
        (0, questions) => format!("{tuning}, {questions} questions"),
        (questions, _) => format!("{tuning} + {questions} auxiliary"),
    }
}

/// The name of the tuning on the command line.
pub(crate) fn tuning_name(choices: &TrainChoices) -> String {
    policy_of(choices).to_string()
}

fn policy_of(choices: &TrainChoices) -> FreezePolicy {
    policy(&choices.tuning, choices.layers, choices.rank, choices.vectors)
}

/// The configuration of the trainer for stored choices, and how labels are divided. The numbers may be
/// outside today's ranges: a run that was trained with them is resumed and predicts as before.
///
/// # Errors
/// An unknown name, or what the trainer cannot carry out, by its field.
pub(crate) fn config(choices: &TrainChoices) -> Result<(TrainConfig, SplitSpec), ProjectError> {
    let (config, split) = named(choices)?;
    config.check()?;
    Ok((config, split))
}

/// The choices of a new run, as they are stored, and the configuration of the trainer. Numbers that do not
/// count are brought into their ranges: the form does not show them, so the user could not correct them
/// there.
///
/// # Errors
/// Those of [`config`], or a number that counts is out of its range.
pub(crate) fn of_new_run(asked: &TrainChoices) -> Result<(TrainChoices, TrainConfig), ProjectError> {
    let (config, _) = named(asked)?;
    let choices = asked.clone().into_ranges(|name| !counts(name, &config));
    let (config, _) = self::config(&choices)?;
    match choices.out_of_range() {
        Some((name, value, allowed)) => Err(setting(name, value, allowed)),
        None => Ok((choices, config)),
    }
}

/// Whether such a training uses a number. The form shows the same ones (`when` in
/// ui/src/words/train-fields.ts).
fn counts(name: &str, config: &TrainConfig) -> bool {
    let NetworkSpec { model, head, .. } = &config.network;
    let recommender = matches!(model, ModelKind::ShareRecFfn | ModelKind::ShareRecDcn);
    match name {
        "seed" | "hidden" | "label_smoothing" | "pos_weight" => true,
        "layers" => matches!(config.policy, FreezePolicy::LastK(_)),
        "rank" => matches!(config.policy, FreezePolicy::Lora(_)),
        "vectors" => matches!(config.policy, FreezePolicy::Prompt(_)),
        "encoder_lr" => config.policy != FreezePolicy::Frozen,
        "head_dropout" => head.hidden > 0 || recommender,
        _ => !config.is_convex(),
    }
}

fn named(choices: &TrainChoices) -> Result<(TrainConfig, SplitSpec), ProjectError> {
    let split = choices.split;
    if let SplitSpec::KFold { folds, fold: None } = split {
        return Err(ModelError::EachFold(folds).into());
    }
    let seed = u64::from(choices.seed);
    let policy = policy_of(choices);
    let config = TrainConfig {
        network: NetworkSpec {
            model: choices.model,
            head: HeadSpec {
                hidden: choices.hidden as usize,
                activation: choices.activation,
                embedding_dropout: choices.embedding_dropout,
                head_dropout: choices.head_dropout,
            },
            annotator_embedding: AnnotatorEmbeddingSpec {
                identity: choices.use_identity,
                attributes: choices.use_attributes,
                ..AnnotatorEmbeddingSpec::default()
            },
        },
        epochs: choices.epochs,
        max_steps: (choices.max_steps > 0).then_some(choices.max_steps),
        eval_steps: (choices.evaluate_every > 0).then_some(choices.evaluate_every),
        batch_size: choices.batch as usize,
        gradient_accumulation_steps: choices.gradient_accumulation_steps as usize,
        encoder_lr: choices.encoder_lr,
        head_lr: choices.head_lr,
        weight_decay: choices.weight_decay,
        schedule: choices.schedule,
        warmup_ratio: choices.warmup,
        max_grad_norm: choices.max_grad_norm,
        patience: choices.patience,
        metric_for_best_model: choices.metric_for_best_model,
        class_weights: choices.class_weights,
        pos_weight: choices.pos_weight,
        label_smoothing: choices.label_smoothing,
        soft_labels: choices.soft_labels,
        seeds: Seeds::all(seed),
        ..TrainConfig::new(choices.model, policy)
    };
    Ok((config, split))
}

fn setting(name: &'static str, value: String, allowed: String) -> ProjectError {
    ProjectError::Setting { name, value, allowed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_api::training_settings;
    use std::collections::BTreeSet;

    #[test]
    fn defaults_match_the_trainers_defaults() {
        for model in ModelKind::ALL {
            for tuning in [Tuning::Frozen, Tuning::LastK, Tuning::Lora, Tuning::Prompt, Tuning::Full] {
                let choices = defaults(QuestionId(1), model, &tuning, 9999, SplitSpec::ByText(0.7));
                let (config, split) = config(&choices).unwrap();
                assert_eq!(split, SplitSpec::ByText(0.7));
                let own = TrainConfig::new(model, policy(&tuning, LAYERS, RANK, VECTORS));
                assert_eq!(config, own);
            }
        }
    }

    #[test]
    fn choices_of_older_versions_are_read() {
        let now = defaults(QuestionId(1), ModelKind::Shared, &Tuning::Full, 9999, SplitSpec::Column);
        let mut kept = serde_json::to_value(&now).unwrap();
        assert_eq!(read(kept.clone()).unwrap(), Some(now.clone()));
        for (before, name) in RENAMED {
            let value = kept.as_object_mut().unwrap().remove(name).unwrap();
            kept.as_object_mut().unwrap().insert(before.to_owned(), value);
        }
        assert_eq!(read(kept.clone()).unwrap(), Some(now.clone()));
        let added =
            ["max_steps", "evaluate_every", "vectors", "pos_weight", "joint", "held", "without_slips"];
        kept.as_object_mut().unwrap().retain(|name, _| !added.contains(&name.as_str()));
        assert_eq!(read(kept).unwrap(), Some(now));
        assert_eq!(read(serde_json::Value::Null).unwrap(), None);
    }

    /// What version 0.1 wrote when choices were strings.
    #[test]
    fn names_of_choices_are_stable() {
        let json = r#"{"question":1,"model":"share-rec-dcn","tuning":"last_k","split":"k-fold:5/2","seed":3,"layers":2,"rank":8,
            "validation":0.15,"epochs":4,"max_steps":0,"evaluate_every":0,"batch":16,"gradient_accumulation_steps":1,
            "encoder_lr":5e-5,"head_lr":0.0005,"weight_decay":0.01,"schedule":"cosine","warmup":0.06,"max_grad_norm":1.0,
            "patience":2,"metric_for_best_model":"macro_f1","hidden":8,"activation":"relu","embedding_dropout":0.1,
            "head_dropout":0.1,"label_smoothing":0.0,"class_weights":false,"soft_labels":false,"use_identity":true,
            "use_attributes":true}"#;
        let kept: serde_json::Value = serde_json::from_str(json).unwrap();
        let choices = read(kept.clone()).unwrap().unwrap();
        assert_eq!((choices.model, choices.schedule), (ModelKind::ShareRecDcn, Schedule::Cosine));
        assert_eq!(choices.split, SplitSpec::KFold { folds: 5, fold: Some(2) });
        assert_eq!(
            (choices.metric_for_best_model, choices.activation),
            (ValidationMetric::MacroF1, Activation::Relu)
        );
        let mut now = kept.clone();
        now["auxiliary"] = serde_json::json!([]);
        now["joint"] = serde_json::json!([]);
        now["held"] = serde_json::json!([]);
        now["pos_weight"] = 1.0.into();
        now["vectors"] = VECTORS.into();
        now["without_slips"] = false.into();
        assert_eq!(serde_json::to_value(&choices).unwrap(), now);

        for (field, name, expected) in [
            ("model", "deep", "unknown model \"deep\""),
            ("split", "half", "unknown split \"half\""),
            ("schedule", "steps", "unknown schedule \"steps\""),
            ("activation", "gelu", "relu or tanh"),
            ("metric_for_best_model", "f2", "unknown metric \"f2\""),
        ] {
            let mut newer = kept.clone();
            newer[field] = name.into();
            let error = read(newer).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// The window makes its form of these, and the command its options: neither can offer what the other
    /// refuses.
    #[test]
    fn every_setting_has_help_and_an_inclusive_range() {
        let with = |tuning: Tuning| {
            let good = defaults(QuestionId(1), ModelKind::Shared, &tuning, 9999, SplitSpec::Column);
            serde_json::to_value(TrainChoices { hidden: 8, ..good }).unwrap()
        };
        let (lora, last_k, prompt) = (with(Tuning::Lora), with(Tuning::LastK), with(Tuning::Prompt));
        let settings = training_settings();
        let named: BTreeSet<&str> = settings.iter().map(|setting| setting.key.as_str()).collect();
        let chosen_otherwise = ["question", "model", "tuning", "split", "auxiliary", "joint", "held"];
        let all = lora
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .filter(|key| !chosen_otherwise.contains(key));
        assert_eq!(named, all.collect());
        for setting in &settings {
            assert!(!setting.label.is_empty() && setting.help.len() > 10, "{setting:?}");
            let fields = match setting.key.as_str() {
                "layers" => &last_k,
                "vectors" => &prompt,
                _ => &lora,
            };
            let takes = |value: serde_json::Value| {
                let mut fields = fields.clone();
                fields[&setting.key] = value;
                of_new_run(&serde_json::from_value(fields).unwrap())
            };
            let number = |value: f64| if setting.whole { (value as u64).into() } else { value.into() };
            match (&fields[&setting.key], setting.range) {
                (serde_json::Value::Number(_), Some((from, to))) => {
                    takes(number(from)).unwrap();
                    takes(number(to)).unwrap();
                    assert!(from == 0.0 || takes(number(0.0)).is_err(), "{setting:?} takes 0");
                    assert!(setting.whole || takes(number(to * 1.1)).is_err(), "{setting:?} takes more");
                }
                (serde_json::Value::String(_), None) => {
                    assert!(setting.values.len() > 1, "{setting:?}");
                    setting.values.iter().for_each(|value| drop(takes(value.as_str().into()).unwrap()));
                }
                (serde_json::Value::Bool(_), None) => assert!(setting.values.is_empty(), "{setting:?}"),
                (value, _) => panic!("{setting:?} has no form for {value}"),
            }
        }
    }

    #[test]
    fn invalid_choices_are_named() {
        let good = defaults(QuestionId(1), ModelKind::Shared, &Tuning::Full, 9999, SplitSpec::Column);
        let refusal = |choices: TrainChoices| of_new_run(&choices).unwrap_err().to_string();
        let split = SplitSpec::KFold { folds: 5, fold: None };
        assert!(refusal(TrainChoices { split, ..good.clone() }).contains("write k-fold:5/1"));
        for validation in [0.0, 1.0, f64::NAN] {
            let message = refusal(TrainChoices { validation, ..good.clone() });
            assert!(message.contains("validation") && message.contains("from 0.01 to 0.9"), "{message}");
        }
        assert!(refusal(TrainChoices { batch: 0, ..good }).contains("batch cannot be 0"));
    }

    #[test]
    fn unused_numbers_are_not_checked() {
        let of = |model, tuning: Tuning| defaults(QuestionId(1), model, &tuning, 9999, SplitSpec::Column);
        let odd = |choices: TrainChoices| TrainChoices {
            layers: 0,
            rank: 0,
            vectors: 65,
            validation: 0.005,
            epochs: 2_000_000,
            batch: 0,
            encoder_lr: 0.0,
            head_lr: -1.0,
            weight_decay: 200.0,
            max_grad_norm: 1e10,
            embedding_dropout: 2.0,
            head_dropout: 2.0,
            ..choices
        };
        // Solved exactly: nothing of the steps counts.
        let solved = of(ModelKind::Shared, Tuning::Frozen);
        let (kept, config) = of_new_run(&odd(solved.clone())).unwrap();
        assert!(config.is_convex());
        assert_eq!((kept.layers, kept.rank, kept.batch, kept.head_dropout), (1, 1, 1, 0.99));
        assert_eq!(kept.vectors, 64);
        assert_eq!(kept.out_of_range(), None);
        let named = |choices: TrainChoices| of_new_run(&choices).unwrap_err().to_string();
        assert!(named(TrainChoices { label_smoothing: 0.995, ..solved.clone() }).contains("label_smoothing"));
        assert!(named(TrainChoices { hidden: 4, ..odd(solved.clone()) }).contains("cannot be"));
        assert!(named(TrainChoices { hidden: 4, head_dropout: 0.995, ..solved }).contains("head_dropout"));
        // Of what is tuned, or of a recommender, more counts.
        let tuned = of(ModelKind::Shared, Tuning::LastK);
        assert!(named(TrainChoices { layers: 0, ..tuned.clone() }).contains("layers"));
        assert_eq!(of_new_run(&TrainChoices { rank: 0, ..tuned.clone() }).unwrap().0.rank, 1);
        assert_eq!(of_new_run(&TrainChoices { head_dropout: 2.0, ..tuned }).unwrap().0.head_dropout, 0.99);
        let lora = of(ModelKind::Shared, Tuning::Lora);
        assert!(named(TrainChoices { rank: 0, ..lora }).contains("rank"));
        let prompt = of(ModelKind::Shared, Tuning::Prompt);
        for vectors in [0, 65] {
            let message = named(TrainChoices { vectors, ..prompt.clone() });
            assert!(message.contains("vectors") && message.contains("from 1 to 64"), "{message}");
        }
        let recommender = of(ModelKind::ShareRecDcn, Tuning::Frozen);
        assert!(named(TrainChoices { head_dropout: 0.995, ..recommender.clone() }).contains("head_dropout"));
        assert!(of_new_run(&TrainChoices { encoder_lr: 0.0, ..recommender }).is_ok());
    }

    /// They were in range when the run was made.
    #[test]
    fn choices_of_a_stored_run_may_be_out_of_range() {
        let good = defaults(QuestionId(1), ModelKind::Shared, &Tuning::Full, 9999, SplitSpec::Column);
        for kept in [
            TrainChoices { validation: 0.005, ..good.clone() },
            TrainChoices { weight_decay: 200.0, ..good.clone() },
            TrainChoices { max_grad_norm: 1e10, ..good.clone() },
            TrainChoices { label_smoothing: 0.995, embedding_dropout: 0.995, ..good.clone() },
            TrainChoices { head_lr: 1e-10, encoder_lr: 1e-10, ..good.clone() },
            TrainChoices { epochs: 2_000_000, layers: 0, rank: 0, ..good },
        ] {
            assert!(config(&kept).is_ok(), "{kept:?}");
            assert!(kept.out_of_range().is_some());
            assert_eq!(kept.into_ranges(|_| true).out_of_range(), None);
        }
    }
}
