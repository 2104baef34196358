//! Configuration of training: every setting, its default, and its range.

use super::schedule::Schedule;
use crate::networks::{AnnotatorEmbeddingSpec, HeadSpec, NetworkSpec};
use dissensus_encoder::FreezePolicy;
use dissensus_stats::data::{ModelError, ModelKind, value_named};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Metric on the validation labels by which the best checkpoint is chosen.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ValidationMetric {
    /// The lowest log loss: accuracy hides over-confidence.
    #[default]
    LogLoss,
    /// The highest accuracy.
    Accuracy,
    /// The highest macro-averaged F1.
    MacroF1,
}

impl ValidationMetric {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl std::str::FromStr for ValidationMetric {
    type Err = ModelError;

    fn from_str(name: &str) -> Result<Self, ModelError> {
        value_named("metric", name)
    }
}

/// Random seeds, separate so that each can be varied independently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// Seed of the order of the texts.
    pub data: u64,
    /// Seed of the initial weights.
    pub weights: u64,
    /// Seed of dropout.
    pub dropout: u64,
}

impl Seeds {
    /// The same seed for all three.
    pub fn all(seed: u64) -> Self {
        Self { data: seed, weights: seed, dropout: seed }
    }
}

fn alike() -> f64 {
    1.0
}

#[allow(clippy::trivially_copy_pass_by_ref, clippy::float_cmp)] // serde asks so; the default alone is left out
fn is_alike(pos_weight: &f64) -> bool {
    *pos_weight == alike()
}

/// The resolved configuration of a training run. JSON names are those of the first checkpoints, because
/// they are part of the configuration hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainConfig {
    /// The network on top of the embeddings.
    pub network: NetworkSpec,
    /// Which weights of the encoder are trained.
    pub policy: FreezePolicy,
    /// Maximum number of passes over the training texts.
    pub epochs: u32,
    /// Maximum number of steps, if that should end it earlier.
    pub max_steps: Option<u32>,
    /// Number of texts per batch, each with all of its labels.
    #[serde(rename = "batch")]
    pub batch_size: usize,
    /// Number of batches whose gradients are added up before a step.
    #[serde(rename = "accumulation")]
    pub gradient_accumulation_steps: usize,
    /// Learning rate of what follows the encoder's last layer.
    #[serde(rename = "encoder_rate")]
    pub encoder_lr: f64,
    /// Factor of the learning rate from one layer to the one below; 1 for the same everywhere.
    pub layer_decay: f64,
    /// Learning rate of the network on top.
    #[serde(rename = "head_rate")]
    pub head_lr: f64,
    pub weight_decay: f64,
    /// Schedule of the learning rates.
    pub schedule: Schedule,
    /// Share of the steps in the warm-up.
    #[serde(rename = "warmup")]
    pub warmup_ratio: f64,
    /// Maximum norm of the whole gradient; 0 for no limit.
    #[serde(rename = "clip")]
    pub max_grad_norm: f64,
    /// Number of steps between evaluations; `None` for one after each epoch.
    #[serde(rename = "evaluate_every")]
    pub eval_steps: Option<u32>,
    /// Metric by which the best checkpoint is chosen.
    #[serde(rename = "best_by")]
    pub metric_for_best_model: ValidationMetric,
    /// Number of consecutive evaluations without improvement after which training stops; 0 for never.
    pub patience: u32,
    /// Number of checkpoints to retain for resuming, newest first; at least 1.
    #[serde(rename = "keep")]
    pub save_total_limit: usize,
    /// Whether levels are weighted equally, regardless of their frequency; for `sep-heads` per annotator.
    /// In a yes/no question a yes then has the weight of a no times the ratio of negatives to positives.
    pub class_weights: bool,
    /// Weight of a yes relative to a no in a yes/no question (`pos_weight` of PyTorch's binary
    /// cross-entropy); 1 for equal weights. Not available for other questions. An alternative to
    /// [`TrainConfig::class_weights`].
    #[serde(default = "alike", skip_serializing_if = "is_alike")]
    pub pos_weight: f64,
    /// Share of each label that is spread evenly over all levels.
    pub label_smoothing: f64,
    /// Whether the target is the distribution of a text's labels (`shared`) instead of every label.
    pub soft_labels: bool,
    pub seeds: Seeds,
}

impl TrainConfig {
    /// Returns sensible defaults for a model on cached embeddings or on an encoder that is tuned. Learning
    /// rates and epochs of tuned encoders are the usual ones (5e-5 with 16 texts per step); a rising
    /// validation loss ends training early.
    pub fn new(model: ModelKind, policy: FreezePolicy) -> Self {
        let frozen = policy == FreezePolicy::Frozen;
        let encoder_lr = match policy {
            FreezePolicy::Lora(_) => 5e-4,
            // A few vectors have to move far.
            FreezePolicy::Prompt(_) => 5e-3,
            _ => 5e-5,
        };
        let recommender = matches!(model, ModelKind::ShareRecFfn | ModelKind::ShareRecDcn);
        let head = HeadSpec {
            embedding_dropout: if recommender && frozen { 0.3 } else { 0.1 },
            ..HeadSpec::default()
        };
        Self {
            network: NetworkSpec { model, head, annotator_embedding: AnnotatorEmbeddingSpec::default() },
            epochs: if frozen { 30 } else { 4 },
            max_steps: None,
            batch_size: if frozen { 64 } else { 16 },
            gradient_accumulation_steps: 1,
            encoder_lr,
            layer_decay: 1.0,
            head_lr: if frozen { 1e-3 } else { 5e-4 },
            weight_decay: 0.01,
            schedule: if frozen { Schedule::Cosine } else { Schedule::Linear },
            warmup_ratio: 0.06,
            max_grad_norm: 1.0,
            eval_steps: None,
            metric_for_best_model: ValidationMetric::default(),
            patience: if frozen { 3 } else { 2 },
            save_total_limit: 1,
            class_weights: false,
            pos_weight: alike(),
            label_smoothing: 0.0,
            soft_labels: false,
            seeds: Seeds::default(),
            policy,
        }
    }

    /// Uses smaller batches where there are few texts, so that an epoch on cached embeddings has about
    /// thirty steps: a few texts in one batch would give only one step per epoch.
    #[must_use]
    pub fn for_texts(self, texts: usize) -> Self {
        let most = self.batch_size;
        let batch_size =
            if self.policy == FreezePolicy::Frozen { (texts / 32).clamp(4, most.max(4)) } else { most };
        Self { batch_size, ..self }
    }

    /// Checks every setting for values that are not possible.
    ///
    /// # Errors
    /// [`ModelError::Choice`].
    pub fn check(&self) -> Result<(), ModelError> {
        let share = |v: f64| (0.0..1.0).contains(&v);
        let rate = |v: f64| v.is_finite() && v > 0.0 && v <= 10.0;
        let some = |v: usize| (1..=1 << 20).contains(&v);
        let head = &self.network.head;
        let embedding = &self.network.annotator_embedding;
        let below_one = "it is 0 or more and less than 1";
        let a_rate = "it is more than 0 and at most 10";
        let many = "it is 1 or more, and at most 1048576";
        let rules: [(&'static str, String, bool, &'static str); 19] = [
            ("epochs", self.epochs.to_string(), self.epochs > 0, "it is 1 or more"),
            ("max_steps", format!("{:?}", self.max_steps), self.max_steps != Some(0), "it is 1 or more"),
            ("batch", self.batch_size.to_string(), some(self.batch_size), many),
            (
                "gradient_accumulation_steps",
                self.gradient_accumulation_steps.to_string(),
                some(self.gradient_accumulation_steps),
                many,
            ),
            ("encoder_lr", self.encoder_lr.to_string(), rate(self.encoder_lr), a_rate),
            ("head_lr", self.head_lr.to_string(), rate(self.head_lr), a_rate),
            (
                "layer_decay",
                self.layer_decay.to_string(),
                self.layer_decay > 0.0 && self.layer_decay <= 1.0,
                "it is more than 0 and at most 1",
            ),
            (
                "weight_decay",
                self.weight_decay.to_string(),
                self.weight_decay.is_finite() && self.weight_decay >= 0.0,
                "it is 0 or more",
            ),
            (
                "warmup",
                self.warmup_ratio.to_string(),
                (0.0..=1.0).contains(&self.warmup_ratio),
                "it is a share from 0 to 1",
            ),
            (
                "max_grad_norm",
                self.max_grad_norm.to_string(),
                self.max_grad_norm.is_finite() && self.max_grad_norm >= 0.0,
                "it is 0 or more",
            ),
            (
                "evaluate_every",
                format!("{:?}", self.eval_steps),
                self.eval_steps != Some(0),
                "it is 1 or more",
            ),
            ("keep", self.save_total_limit.to_string(), some(self.save_total_limit), many),
            (
                "pos_weight",
                self.pos_weight.to_string(),
                self.pos_weight.is_finite() && self.pos_weight > 0.0,
                "it is more than 0",
            ),
            (
                "pos_weight",
                self.pos_weight.to_string(),
                is_alike(&self.pos_weight)
                    || !(self.class_weights || self.network.model == ModelKind::Multilevel),
                "class weights already weigh yes and no alike, and multilevel is fitted without weights: give pos_weight without either",
            ),
            ("label_smoothing", self.label_smoothing.to_string(), share(self.label_smoothing), below_one),
            (
                "embedding_dropout",
                head.embedding_dropout.to_string(),
                share(head.embedding_dropout),
                below_one,
            ),
            ("head_dropout", head.head_dropout.to_string(), share(head.head_dropout), below_one),
            ("hidden", head.hidden.to_string(), head.hidden <= 16_384, "it is at most 16384"),
            (
                "size",
                embedding.size.to_string(),
                (1..=4096).contains(&embedding.size) && (1..=16).contains(&embedding.layers),
                "vectors have 1 to 4096 numbers and 1 to 16 layers",
            ),
        ];
        match rules.into_iter().find(|(_, _, fits, _)| !fits) {
            None => Ok(()),
            Some((field, value, _, allowed)) => Err(ModelError::Choice { field, value, allowed }),
        }
    }

    /// Computes the SHA-256 of the configuration, in hexadecimal: a checkpoint is resumed only with the
    /// configuration that it was made with.
    ///
    /// # Errors
    /// A number that JSON cannot represent.
    pub fn config_hash(&self) -> Result<String, ModelError> {
        let bytes = serde_json::to_vec(self).map_err(|e| ModelError::Damaged(e.to_string()))?;
        Ok(super::hex::hexadecimal(&Sha256::digest(&bytes)))
    }

    /// Whether this is a convex problem, fitted to convergence rather than by gradient steps: a linear
    /// head, equally weighted labels, on a frozen encoder.
    pub fn is_convex(&self) -> bool {
        let recommender = matches!(self.network.model, ModelKind::ShareRecFfn | ModelKind::ShareRecDcn);
        let plain = !self.class_weights
            && is_alike(&self.pos_weight)
            && self.label_smoothing == 0.0
            && !self.soft_labels;
        self.policy == FreezePolicy::Frozen && !recommender && plain && self.network.head.hidden == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_invalid_settings_refused() {
        for kind in ModelKind::ALL {
            for policy in
                [FreezePolicy::Frozen, FreezePolicy::Full, FreezePolicy::LastK(2), FreezePolicy::Prompt(5)]
            {
                assert_eq!(TrainConfig::new(kind, policy).check(), Ok(()));
            }
        }
        let good = TrainConfig::new(ModelKind::Shared, FreezePolicy::Frozen);
        assert!(good.is_convex());
        let error = TrainConfig { head_lr: f64::NAN, ..good.clone() }.check().unwrap_err();
        assert_eq!(error.to_string(), "head_lr cannot be NaN: it is more than 0 and at most 10");
        assert!(TrainConfig { batch_size: 0, ..good.clone() }.check().is_err());
        let weighted = TrainConfig { pos_weight: 3.0, ..good.clone() };
        assert!(!weighted.is_convex() && weighted.check().is_ok());
        for bad in [
            TrainConfig { pos_weight: 0.0, ..good.clone() },
            TrainConfig { pos_weight: f64::INFINITY, ..good.clone() },
            TrainConfig { class_weights: true, ..weighted.clone() },
            TrainConfig { pos_weight: 3.0, ..TrainConfig::new(ModelKind::Multilevel, FreezePolicy::Full) },
        ] {
            let error = bad.check().unwrap_err();
            assert!(matches!(error, ModelError::Choice { field: "pos_weight", .. }), "{error}");
        }
        assert_ne!(weighted.config_hash(), good.config_hash());
        let smoothed = TrainConfig { label_smoothing: 0.1, ..good };
        assert!(!smoothed.is_convex());
        assert!(TrainConfig { label_smoothing: 1.0, ..smoothed }.check().is_err());
    }

    #[test]
    fn few_texts_make_small_batches() {
        let batch =
            |policy, texts| TrainConfig::new(ModelKind::ShareRecFfn, policy).for_texts(texts).batch_size;
        let frozen = |texts| batch(FreezePolicy::Frozen, texts);
        assert_eq!((frozen(10), frozen(320), frozen(100_000)), (4, 10, 64));
        assert_eq!(batch(FreezePolicy::Full, 10), 16);
    }

    /// Checkpoints contain the hash of these bytes: after a change of a name or the order older trainings
    /// could not be resumed.
    #[test]
    fn hashed_json_of_checkpoints_is_stable() {
        let json = serde_json::to_string(&TrainConfig::new(ModelKind::ShareRecFfn, FreezePolicy::Frozen));
        let expected = concat!(
            r#"{"network":{"model":"share-rec-ffn","head":{"hidden":0,"activation":"tanh","embedding_dropout":0.3,"#,
            r#""head_dropout":0.1},"people":{"size":25,"layers":1,"identity":true,"attributes":true}},"policy":"frozen","#,
            r#""epochs":30,"max_steps":null,"batch":64,"accumulation":1,"encoder_rate":0.00005,"layer_decay":1.0,"#,
            r#""head_rate":0.001,"weight_decay":0.01,"schedule":"cosine","warmup":0.06,"clip":1.0,"evaluate_every":null,"#,
            r#""best_by":"log_loss","patience":3,"keep":1,"class_weights":false,"label_smoothing":0.0,"soft_labels":false,"#,
            r#""seeds":{"data":0,"weights":0,"dropout":0}}"#,
        );
        assert_eq!(json.unwrap(), expected);
    }

    #[test]
    fn metrics_are_read_by_name() {
        for name in ["log_loss", "accuracy", "macro_f1"] {
            assert_eq!(name.parse::<ValidationMetric>().map(ValidationMetric::name), Ok(name));
        }
        assert!("f2".parse::<ValidationMetric>().is_err());
    }
}
