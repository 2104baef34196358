//! Schedules of learning rates.

use dissensus_stats::data::{ModelError, value_named};
use serde::{Deserialize, Serialize};

/// The factor of the learning rate after the warm-up.
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
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Schedule {
    /// 1 throughout.
    Constant,
    /// Falls linearly to 0 at the last step.
    #[default]
    Linear,
    /// Falls to 0 along half a cosine (Loshchilov and Hutter 2017, SGDR, eq. 5, without restarts).
    Cosine,
}

impl Schedule {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the learning rate factor of step `step` (from 0) of `steps`, the first `warmup` (share) of
    /// which are a warm-up.
    ///
    /// The warm-up rises linearly from `1 / (w + 1)` over its `w` steps, as
    /// `torch.optim.lr_scheduler.LinearLR` does with that start factor: from 0 the first step, the only one
    /// of a very short training run, would learn nothing. After the warm-up the factors are those of
    /// `get_linear_schedule_with_warmup` and `get_cosine_schedule_with_warmup` of transformers.
    pub fn factor(self, step: u32, steps: u32, warmup: f64) -> f64 {
        let (step, steps) = (f64::from(step), f64::from(steps.max(1)));
        let rising = warmup * steps;
        if step < rising {
            return (step + 1.0) / (rising + 1.0);
        }
        let gone = ((step - rising) / (steps - rising).max(1.0)).clamp(0.0, 1.0);
        match self {
            Self::Constant => 1.0,
            Self::Linear => 1.0 - gone,
            Self::Cosine => f64::midpoint(1.0, (std::f64::consts::PI * gone).cos()),
        }
    }
}

impl std::str::FromStr for Schedule {
    type Err = ModelError;

    fn from_str(name: &str) -> Result<Self, ModelError> {
        value_named("schedule", name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 steps, 2 of warm-up. The warm-up is that of PyTorch's
    /// `LinearLR(start_factor=1/3, total_iters=2)`; from the third step on the numbers are those of
    /// transformers 4.x: `get_linear_schedule_with_warmup`, `get_cosine_schedule_with_warmup`.
    #[test]
    fn schedules_match_pytorch_and_transformers() {
        let linear = [1.0 / 3.0, 2.0 / 3.0, 1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125];
        let cosine = [
            1.0 / 3.0,
            2.0 / 3.0,
            1.0,
            0.961_939_8,
            0.853_553_4,
            0.691_341_7,
            0.5,
            0.308_658_3,
            0.146_446_6,
            0.038_060_2,
        ];
        for step in 0..10 {
            let i = step as usize;
            assert!((Schedule::Linear.factor(step, 10, 0.2) - linear[i]).abs() < 1e-7);
            assert!((Schedule::Cosine.factor(step, 10, 0.2) - cosine[i]).abs() < 1e-7);
            assert_eq!(Schedule::Constant.factor(step, 10, 0.0), 1.0);
        }
        for schedule in [Schedule::Constant, Schedule::Linear, Schedule::Cosine] {
            for steps in 1..40 {
                for warmup in [0.0, 0.06, 0.5, 1.0] {
                    let factor = schedule.factor(0, steps, warmup);
                    assert!(factor > 0.0 && factor <= 1.0, "the first of {steps} steps at {factor}");
                }
            }
        }
        for name in ["constant", "linear", "cosine"] {
            assert_eq!(name.parse::<Schedule>().map(Schedule::name), Ok(name));
        }
        assert!("steps".parse::<Schedule>().is_err());
    }
}
