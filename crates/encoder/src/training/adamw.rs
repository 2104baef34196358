//! Adam with decoupled weight decay (Loshchilov and Hutter 2019, arXiv 1711.05101, algorithm 2).

use std::collections::HashMap;
use std::sync::Mutex;

use candle_core::{
    CpuStorage, Device, InplaceOp2, Layout, Result as CandleResult, Tensor, TensorId, Var, bail,
};
use pulp::{Arch, Simd, WithSimd};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::gradients::Gradients;
use crate::blocks::{Group, Parameter};

/// Hyperparameters of [`AdamW`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamWSettings {
    /// Decay rate of the running mean of gradients.
    pub beta1: f64,
    /// Decay rate of the running mean of squared gradients.
    pub beta2: f64,
    /// Added to the root of the running mean of squares.
    pub epsilon: f64,
    /// Fraction of a matrix's weights, times the learning rate, that each step removes. Biases and norms do
    /// not decay.
    pub weight_decay: f64,
}

impl Default for AdamWSettings {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01 }
    }
}

/// The state of the optimizer: two numbers for each weight that has ever had a gradient, and the number of
/// steps.
#[derive(Debug, Default)]
pub struct AdamW {
    settings: AdamWSettings,
    tracked: HashMap<TensorId, Tracked>,
    steps: u32,
}

/// State of one tensor.
#[derive(Debug)]
struct Tracked {
    moments: Moments,
    /// Number of gradients it has had: the bias correction uses this, as in PyTorch, so that a tensor that
    /// gets its first gradient late is not moved too far.
    steps: u32,
}

#[derive(Debug)]
enum Moments {
    /// Adjacent in memory, for one pass over all four arrays.
    Cpu {
        mean: Vec<f32>,
        square: Vec<f32>,
    },
    Other {
        mean: Tensor,
        square: Tensor,
    },
}

impl AdamW {
    /// A new optimizer.
    #[must_use]
    pub fn new(settings: AdamWSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Number of steps so far.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Updates every parameter that has a gradient, each with the learning rate of its group.
    pub fn step(&mut self, gradients: &Gradients, rate: impl Fn(Group) -> f64) -> CandleResult<()> {
        self.steps += 1;
        let mut work = Vec::new();
        for (parameter, gradient) in &gradients.of {
            let Some(gradient) = gradient else { continue };
            let mut tracked = match self.tracked.remove(&parameter.var.as_tensor().id()) {
                Some(tracked) => tracked,
                None => Tracked { moments: Moments::zeros(gradient)?, steps: 0 },
            };
            tracked.steps += 1;
            let constants = self.constants(parameter, rate(parameter.group), tracked.steps);
            work.push((parameter, gradient, tracked, constants));
        }
        let moved: CandleResult<Vec<_>> = work
            .into_par_iter()
            .map(|(parameter, gradient, Tracked { moments, steps }, constants)| {
                let moments = moments.step(&parameter.var, gradient, constants)?;
                Ok((parameter.var.as_tensor().id(), Tracked { moments, steps }))
            })
            .collect();
        self.tracked.extend(moved?);
        Ok(())
    }

    /// Removes the state of these variables: for weights that were reset, for which the old moments are
    /// meaningless.
    pub fn forget<'a>(&mut self, variables: impl IntoIterator<Item = &'a Var>) {
        for var in variables {
            self.tracked.remove(&var.as_tensor().id());
        }
    }

    /// Returns the state of these variables, as tensors named `NAME.mean`, `NAME.square` and `NAME.step`:
    /// together with [`AdamW::steps`] all that [`AdamW::load_state_dict`] needs to resume exactly.
    pub fn state_dict<'a>(
        &self,
        variables: impl IntoIterator<Item = (&'a str, &'a Var)>,
    ) -> CandleResult<Vec<(String, Tensor)>> {
        let mut memory = Vec::new();
        for (name, var) in variables {
            let Some(Tracked { moments, steps }) = self.tracked.get(&var.as_tensor().id()) else { continue };
            let (mean, square) = match moments {
                Moments::Cpu { mean, square } => {
                    let tensor = |values: &[f32]| Tensor::from_slice(values, var.shape(), &Device::Cpu);
                    (tensor(mean)?, tensor(square)?)
                }
                Moments::Other { mean, square } => (mean.clone(), square.clone()),
            };
            memory.push((format!("{name}.mean"), mean));
            memory.push((format!("{name}.square"), square));
            memory.push((format!("{name}.step"), Tensor::new(&[*steps], &Device::Cpu)?));
        }
        Ok(memory)
    }

    /// Restores an optimizer after `steps` steps from the result of [`AdamW::state_dict`].
    ///
    /// # Errors
    /// A stored tensor has another shape than its variable.
    pub fn load_state_dict<'a>(
        settings: AdamWSettings,
        steps: u32,
        memory: &HashMap<String, Tensor>,
        variables: impl IntoIterator<Item = (&'a str, &'a Var)>,
    ) -> CandleResult<Self> {
        let mut tracked = HashMap::new();
        for (name, var) in variables {
            let (Some(mean), Some(square)) =
                (memory.get(&format!("{name}.mean")), memory.get(&format!("{name}.square")))
            else {
                continue;
            };
            if mean.dims() != var.dims() || square.dims() != var.dims() {
                bail!("what the optimizer remembers of {name} has another shape");
            }
            let recalled = if var.device().is_cpu() {
                let values = |tensor: &Tensor| tensor.flatten_all()?.to_vec1::<f32>();
                Moments::Cpu { mean: values(mean)?, square: values(square)? }
            } else {
                Moments::Other {
                    mean: mean.to_device(var.device())?,
                    square: square.to_device(var.device())?,
                }
            };
            // Old checkpoints, from before steps were counted per tensor, have only the common count.
            let own = memory.get(&format!("{name}.step")).map(|step| step.to_vec1::<u32>()).transpose()?;
            let steps = own.and_then(|step| step.first().copied()).unwrap_or(steps);
            tracked.insert(var.as_tensor().id(), Tracked { moments: recalled, steps });
        }
        Ok(Self { settings, tracked, steps })
    }

    fn constants(&self, parameter: &Parameter, rate: f64, steps: u32) -> Constants {
        let AdamWSettings { beta1, beta2, epsilon, weight_decay } = self.settings;
        let steps = steps as i32;
        let decay = if parameter.decays { rate * weight_decay } else { 0.0 };
        Constants {
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            epsilon: epsilon as f32,
            keep: (1.0 - decay) as f32,
            rate: (rate / (1.0 - beta1.powi(steps))) as f32,
            square_scale: (1.0 / (1.0 - beta2.powi(steps))) as f32,
        }
    }
}

/// Constants of one tensor's step: `w = keep w - rate m / (sqrt(square_scale v) + epsilon)`.
#[derive(Clone, Copy, Debug)]
struct Constants {
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    keep: f32,
    rate: f32,
    square_scale: f32,
}

impl Moments {
    fn zeros(like: &Tensor) -> CandleResult<Self> {
        if like.device().is_cpu() {
            let zeros = vec![0.0; like.elem_count()];
            return Ok(Self::Cpu { mean: zeros.clone(), square: zeros });
        }
        Ok(Self::Other { mean: like.zeros_like()?, square: like.zeros_like()? })
    }

    fn step(self, weight: &Var, gradient: &Tensor, c: Constants) -> CandleResult<Self> {
        match self {
            Self::Cpu { mean, square } => {
                let op = Step { moments: Mutex::new((mean, square)), constants: c };
                weight.inplace_op2(&gradient.contiguous()?, &op)?;
                match op.moments.into_inner() {
                    Ok((mean, square)) => Ok(Self::Cpu { mean, square }),
                    Err(_) => bail!("an optimizer step broke off"),
                }
            }
            Self::Other { mean, square } => {
                let mean = ((mean * f64::from(c.beta1))? + (gradient * f64::from(1.0 - c.beta1))?)?;
                let square =
                    ((square * f64::from(c.beta2))? + (gradient.sqr()? * f64::from(1.0 - c.beta2))?)?;
                let root = ((&square * f64::from(c.square_scale))?.sqrt()? + f64::from(c.epsilon))?;
                let step = ((&mean * f64::from(c.rate))? / root)?;
                weight.set(&((weight.as_detached_tensor() * f64::from(c.keep))? - step)?)?;
                Ok(Self::Other { mean, square })
            }
        }
    }
}

struct Step {
    moments: Mutex<(Vec<f32>, Vec<f32>)>,
    constants: Constants,
}

impl InplaceOp2 for Step {
    fn name(&self) -> &'static str {
        "adamw"
    }

    fn cpu_fwd(&self, w: &mut CpuStorage, wl: &Layout, g: &CpuStorage, gl: &Layout) -> CandleResult<()> {
        let (CpuStorage::F32(w), CpuStorage::F32(g)) = (w, g) else {
            bail!("the optimizer takes 32-bit floats")
        };
        let (Some((from, to)), Some((start, end))) = (wl.contiguous_offsets(), gl.contiguous_offsets())
        else {
            bail!("the optimizer takes contiguous tensors")
        };
        let Ok(mut moments) = self.moments.lock() else { bail!("an optimizer step broke off") };
        let (mean, square) = &mut *moments;
        let (weight, gradient) = (&mut w[from..to], &g[start..end]);
        Arch::new().dispatch(Rows { weight, gradient, mean, square, c: self.constants });
        Ok(())
    }
}

struct Rows<'a> {
    weight: &'a mut [f32],
    gradient: &'a [f32],
    mean: &'a mut [f32],
    square: &'a mut [f32],
    c: Constants,
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let c = self.c;
        let moments = self.mean.iter_mut().zip(self.square);
        for ((w, g), (m, v)) in self.weight.iter_mut().zip(self.gradient).zip(moments) {
            *m = c.beta1 * *m + (1.0 - c.beta1) * g;
            *v = c.beta2 * *v + (1.0 - c.beta2) * g * g;
            *w = c.keep * *w - c.rate * *m / ((c.square_scale * *v).sqrt() + c.epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::DType;

    use super::*;

    fn gradients(vars: [&Var; 2], values: [Option<f32>; 2]) -> Gradients {
        let of = vars.iter().zip(["early", "late"]).zip(values).map(|((var, name), value)| {
            let parameter =
                Parameter { name: name.to_owned(), group: Group::Head, decays: false, var: (*var).clone() };
            (parameter, value.map(|value| Tensor::new(&[value], &Device::Cpu).unwrap()))
        });
        Gradients { loss: 0.0, of: of.collect() }
    }

    fn value(var: &Var) -> f32 {
        var.to_vec1::<f32>().unwrap()[0]
    }

    #[test]
    fn first_gradient_moves_by_the_learning_rate() {
        let [early, late] = [0, 1].map(|_| Var::zeros(1, DType::F32, &Device::Cpu).unwrap());
        let mut optimizer = AdamW::new(AdamWSettings::default());
        for _ in 0..50 {
            optimizer.step(&gradients([&early, &late], [Some(1.0), None]), |_| 0.01).unwrap();
        }
        optimizer.step(&gradients([&early, &late], [Some(1.0), Some(3.0)]), |_| 0.01).unwrap();
        // torch.optim.AdamW: the first step of a parameter has the size of the rate, regardless of its
        // gradient.
        assert!((value(&late) + 0.01).abs() < 1e-6, "{}", value(&late));
        assert!((value(&early) + 0.51).abs() < 1e-4, "{}", value(&early));
    }

    #[test]
    fn restored_optimizer_continues_identically() {
        let run = |breaks: bool| {
            let [early, late] = [0, 1].map(|_| Var::zeros(1, DType::F32, &Device::Cpu).unwrap());
            let mut optimizer = AdamW::new(AdamWSettings::default());
            for step in 0..9 {
                if breaks && step == 5 {
                    let names = || [("early", &early), ("late", &late)];
                    let memory = optimizer.state_dict(names()).unwrap().into_iter().collect();
                    optimizer =
                        AdamW::load_state_dict(AdamWSettings::default(), optimizer.steps(), &memory, names())
                            .unwrap();
                }
                let second = (step > 3).then_some(step as f32 - 6.0);
                optimizer.step(&gradients([&early, &late], [Some(1.0), second]), |_| 0.01).unwrap();
            }
            [value(&early), value(&late)]
        };
        assert_eq!(run(true), run(false));
    }

    #[test]
    fn reset_parameter_restarts_its_moments() {
        let [early, late] = [0, 1].map(|_| Var::zeros(1, DType::F32, &Device::Cpu).unwrap());
        let mut optimizer = AdamW::new(AdamWSettings::default());
        for _ in 0..5 {
            optimizer.step(&gradients([&early, &late], [Some(1.0), Some(1.0)]), |_| 0.01).unwrap();
        }
        optimizer.forget([&early]);
        let state = optimizer.state_dict([("early", &early), ("late", &late)]).unwrap();
        assert!(state.iter().all(|(name, _)| name.starts_with("late.")));
        let before = value(&early);
        optimizer.step(&gradients([&early, &late], [Some(-1.0), None]), |_| 0.01).unwrap();
        // With its old moments it would have continued downwards.
        assert!((value(&early) - before - 0.01).abs() < 1e-6, "{}", value(&early) - before);
    }
}
