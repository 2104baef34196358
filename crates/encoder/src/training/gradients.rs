//! The gradients of one step: accumulation, norms and clipping.

use candle_core::backprop::GradStore;
use candle_core::{Result as CandleResult, Tensor, Var};

use crate::blocks::{Group, Parameter};
use crate::ops::square_sum;

/// The norm of one group's gradient.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GroupNorm {
    /// `embeddings`, `layer 0`, ..., `top` or `head`.
    pub group: String,
    /// Euclidean norm over all of the group's tensors.
    pub norm: f64,
    /// Number of trainable tensors.
    pub tensors: usize,
    /// Number of those without a gradient: 0 in a healthy run.
    pub without_gradient: usize,
}

/// Takes the gradient of a tensor from the result of `backward`, detached: the tensor library's gradients
/// may reference the graph that they come from, and anything that stores them, an optimizer's moments above
/// all, would retain the graphs of all steps.
pub(super) fn detached_gradient(store: &mut GradStore, of: &Tensor) -> Option<Tensor> {
    store.remove(of).map(|gradient| gradient.detach())
}

/// A loss and its gradient with respect to all trainable parameters.
#[derive(Clone, Debug)]
pub struct Gradients {
    pub loss: f64,
    pub(super) of: Vec<(Parameter, Option<Tensor>)>,
}

impl Gradients {
    /// Computes the gradient of a loss (a number without axes) with respect to a caller's head on top of
    /// frozen embeddings.
    pub fn of_head(loss: &Tensor, head: &[(&str, &Var)]) -> CandleResult<Self> {
        let mut store = loss.backward()?;
        let of = head.iter().map(|(name, var)| {
            (Parameter::of_head(name, var), detached_gradient(&mut store, var.as_tensor()))
        });
        Ok(Self { loss: f64::from(loss.to_scalar::<f32>()?), of: of.collect() })
    }

    /// Removes and returns a parameter's gradient, for a caller that updates that parameter itself.
    pub fn take(&mut self, name: &str) -> Option<Tensor> {
        let at = self.of.iter().position(|(parameter, _)| parameter.name == name)?;
        self.of.remove(at).1
    }

    /// The gradient of the parameter `name`; `None` if it has none or there is no such parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.of
            .iter()
            .find(|(parameter, _)| parameter.name == name)
            .and_then(|(_, gradient)| gradient.as_ref())
    }

    /// Adds another batch's gradients of the same parameters, for gradient accumulation. Losses are added
    /// up too.
    pub fn add(&mut self, other: Self) -> CandleResult<()> {
        self.loss += other.loss;
        for ((_, mine), (_, theirs)) in self.of.iter_mut().zip(other.of) {
            *mine = match (mine.take(), theirs) {
                (Some(a), Some(b)) => Some((a + b)?),
                (a, b) => a.or(b),
            };
        }
        Ok(())
    }

    /// Multiplies loss and gradients, for example by one over the number of batches added up.
    pub fn scale(&mut self, by: f64) -> CandleResult<()> {
        self.loss *= by;
        for (_, gradient) in &mut self.of {
            if let Some(tensor) = gradient.take() {
                *gradient = Some((tensor * by)?);
            }
        }
        Ok(())
    }

    /// Returns the norm of each group, from the embeddings up; logged by training runs, so that a group
    /// without a gradient is noticed.
    pub fn norms(&self) -> CandleResult<Vec<GroupNorm>> {
        let mut groups: Vec<Group> = self.of.iter().map(|(parameter, _)| parameter.group).collect();
        groups.sort_unstable();
        groups.dedup();
        groups.into_iter().map(|group| self.norm_of(group)).collect()
    }

    /// Scales all gradients down so that their global norm is at most `most` (Pascanu et al. 2013, arXiv
    /// 1211.5063); returns the norm before.
    pub fn clip(&mut self, most: f64) -> CandleResult<f64> {
        let norm = self.norms()?.iter().map(|group| group.norm * group.norm).sum::<f64>().sqrt();
        if norm > most {
            let loss = self.loss;
            // The same guard against division by zero as in PyTorch, so that results are comparable.
            self.scale(most / (norm + 1e-6))?;
            self.loss = loss;
        }
        Ok(norm)
    }

    /// Returns the name of a parameter whose gradient is not finite.
    pub fn not_finite(&self) -> CandleResult<Option<String>> {
        for (parameter, gradient) in &self.of {
            if let Some(gradient) = gradient
                && !square_sum(gradient)?.is_finite()
            {
                return Ok(Some(parameter.name.clone()));
            }
        }
        Ok(None)
    }

    fn norm_of(&self, group: Group) -> CandleResult<GroupNorm> {
        let mut found = GroupNorm { group: group.to_string(), norm: 0.0, tensors: 0, without_gradient: 0 };
        for (_, gradient) in self.of.iter().filter(|(parameter, _)| parameter.group == group) {
            found.tensors += 1;
            match gradient {
                None => found.without_gradient += 1,
                Some(gradient) => found.norm += square_sum(gradient)?,
            }
        }
        found.norm = found.norm.sqrt();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    fn gradients(loss: f64, values: [Option<&[f32]>; 2]) -> Gradients {
        let device = Device::Cpu;
        let of = values.iter().zip([Group::Layer(0), Group::Head]).map(|(values, group)| {
            let var = Var::zeros(2, candle_core::DType::F32, &device).unwrap();
            let parameter = Parameter { name: group.to_string(), group, decays: false, var };
            (parameter, values.map(|v| Tensor::from_slice(v, v.len(), &device).unwrap()))
        });
        Gradients { loss, of: of.collect() }
    }

    #[test]
    fn gradients_add_up_and_are_clipped_together() {
        let mut sum = gradients(1.0, [Some(&[1.0, 0.0]), None]);
        sum.add(gradients(2.0, [Some(&[2.0, 0.0]), Some(&[0.0, 4.0])])).unwrap();
        assert_eq!(sum.loss, 3.0);
        assert_eq!(sum.get("layer 0").unwrap().to_vec1::<f32>().unwrap(), [3.0, 0.0]);
        assert_eq!(sum.clip(10.0).unwrap(), 5.0);
        assert_eq!(sum.get("head").unwrap().to_vec1::<f32>().unwrap(), [0.0, 4.0]);
        assert_eq!(sum.clip(1.0).unwrap(), 5.0);
        assert_eq!(sum.loss, 3.0);
        let clipped = sum.get("head").unwrap().to_vec1::<f32>().unwrap();
        assert!((clipped[1] - 0.8).abs() < 1e-6);
    }

    #[test]
    fn group_without_a_gradient_is_counted() {
        let norms = gradients(0.0, [Some(&[3.0, 4.0]), None]).norms().unwrap();
        assert_eq!((norms[0].group.as_str(), norms[0].norm, norms[0].without_gradient), ("layer 0", 5.0, 0));
        assert_eq!((norms[1].group.as_str(), norms[1].norm, norms[1].without_gradient), ("head", 0.0, 1));
    }

    #[test]
    fn gradient_does_not_retain_the_graph() {
        let var = |values: &[f32]| Var::from_tensor(&Tensor::new(values, &Device::Cpu).unwrap()).unwrap();
        let (first, second) = (var(&[1.0, 2.0]), var(&[3.0, 4.0]));
        let loss = || ((first.as_tensor() * second.as_tensor()).unwrap().sqr().unwrap()).sum_all().unwrap();
        let kept = loss().backward().unwrap();
        // The tensor library's own gradients: this test is meaningless once they no longer reference the
        // graph.
        assert!(kept.get(&second).unwrap().track_op());
        let gradients = Gradients::of_head(&loss(), &[("first", &first), ("second", &second)]).unwrap();
        for name in ["first", "second"] {
            assert!(!gradients.get(name).unwrap().track_op(), "{name}");
        }
        assert_eq!(gradients.get("second").unwrap().to_vec1::<f32>().unwrap(), [6.0, 32.0]);
    }
}
