//! A safetensors file as checked tensors: there, of the right shape, finite, as 32-bit floats.

use std::path::PathBuf;

use candle_core::{DType, Device, Tensor};
use safetensors::{Dtype, SafeTensors};

use crate::EncoderError;

/// The weights of one file, read into memory and handed out tensor by tensor.
pub(crate) struct Weights<'a> {
    path: PathBuf,
    tensors: SafeTensors<'a>,
    prefix: String,
    device: &'a Device,
}

impl<'a> Weights<'a> {
    /// `bytes` is the whole file.
    pub(crate) fn parse(path: PathBuf, bytes: &'a [u8], device: &'a Device) -> Result<Self, EncoderError> {
        match SafeTensors::deserialize(bytes) {
            Ok(tensors) => Ok(Self { path, tensors, prefix: String::new(), device }),
            Err(e) => Err(EncoderError::DamagedWeights { path, reason: e.to_string() }),
        }
    }

    /// Looks names up under `prefix` from now on where the file has `probe` there: a model saved with a task's head on
    /// top has its encoder's tensors under the family's name.
    pub(crate) fn with_prefix_of(mut self, prefix: &str, probe: &str) -> Self {
        if self.tensors.tensor(&format!("{prefix}{probe}")).is_ok() {
            prefix.clone_into(&mut self.prefix);
        }
        self
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(&self.full(name)).is_ok()
    }

    /// The tensor `name`, which must have this shape.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor, EncoderError> {
        let name = self.full(name);
        let view = self.tensors.tensor(&name).map_err(|_| EncoderError::MissingTensor {
            path: self.path.clone(),
            name: name.clone(),
            expected: shape.to_vec(),
        })?;
        if view.shape() != shape {
            return Err(EncoderError::TensorShape {
                path: self.path.clone(),
                name,
                expected: shape.to_vec(),
                found: view.shape().to_vec(),
            });
        }
        let dtype = self.dtype(&name, view.dtype())?;
        let values = self.floats(view.data(), dtype, shape)?;
        self.check_finite(&name, &values)?;
        Tensor::from_vec(values, shape, self.device).map_err(|e| self.compute(e))
    }

    pub(crate) fn compute(&self, source: candle_core::Error) -> EncoderError {
        EncoderError::Compute { device: crate::device::name(self.device), source }
    }

    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn dtype(&self, name: &str, dtype: Dtype) -> Result<DType, EncoderError> {
        match dtype {
            Dtype::F32 => Ok(DType::F32),
            Dtype::F16 => Ok(DType::F16),
            Dtype::BF16 => Ok(DType::BF16),
            other => Err(EncoderError::TensorType {
                path: self.path.clone(),
                name: name.to_owned(),
                found: format!("{other:?}"),
            }),
        }
    }

    fn floats(&self, data: &[u8], dtype: DType, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
        Tensor::from_raw_buffer(data, dtype, shape, &Device::Cpu)
            .and_then(|t| t.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>())
            .map_err(|e| self.compute(e))
    }

    fn check_finite(&self, name: &str, values: &[f32]) -> Result<(), EncoderError> {
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(position) => Err(EncoderError::NotFinite {
                path: self.path.clone(),
                name: name.to_owned(),
                found: values[position],
                position,
            }),
        }
    }
}
