//! Frozen products on the CPU: weights packed once, and operations after a product done while its rows are
//! in the cache.

use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, DType, Layout, Result as CandleResult, Shape, Tensor, bail,
};

use crate::kernels::{Epilogue, Packed};
use crate::options::Precision;

/// A packed weight with its bias. Records no graph.
pub(crate) struct PackedLinear {
    packed: Packed,
    bias: Option<Vec<f32>>,
}

/// Scale and shift of a frozen norm, in the form needed after a product.
pub(crate) struct LayerNormParams {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    pub(crate) epsilon: f32,
}

impl PackedLinear {
    pub(crate) fn pack(weight: &Tensor, bias: Option<&Tensor>, precision: Precision) -> CandleResult<Self> {
        let (outputs, inputs) = weight.dims2()?;
        let weight = weight.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
        let bias = bias.map(|bias| bias.to_dtype(DType::F32)?.to_vec1::<f32>()).transpose()?;
        Ok(Self { packed: Packed::new(&weight, outputs, inputs, precision), bias })
    }

    pub(crate) fn apply(&self, x: &Tensor) -> CandleResult<Tensor> {
        x.contiguous()?.apply_op1_no_bwd(&Apply { linear: self, gelu: false })
    }

    /// `gelu(x W^T + b)`, with the error function.
    pub(crate) fn apply_gelu(&self, x: &Tensor) -> CandleResult<Tensor> {
        x.contiguous()?.apply_op1_no_bwd(&Apply { linear: self, gelu: true })
    }

    /// The norm of `x W^T + b + residual`, for a product with a bias.
    pub(crate) fn apply_residual_norm(
        &self,
        x: &Tensor,
        residual: &Tensor,
        norm: &LayerNormParams,
    ) -> CandleResult<Tensor> {
        let residual = residual.contiguous()?;
        x.contiguous()?.apply_op2_no_bwd(&residual, &ApplyNorm { linear: self, norm })
    }

    /// Whether a following operation can be fused with the product.
    pub(crate) fn has_bias(&self) -> bool {
        self.bias.is_some()
    }

    /// Computes the product and its bias only.
    pub(super) fn run_alone(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let after = self.bias.as_deref().map_or(Epilogue::Nothing, Epilogue::Bias);
        self.run(x, layout, after)
    }

    fn run(&self, x: &CpuStorage, layout: &Layout, after: Epilogue<'_>) -> CandleResult<(CpuStorage, Shape)> {
        let (rows, inputs) = layout.shape().dims2()?;
        let outputs = self.packed.outputs();
        if inputs != self.packed.inputs() {
            bail!("a product of {} inputs was given {inputs}", self.packed.inputs());
        }
        let mut out = vec![0.0; rows * outputs];
        self.packed.apply(floats(x, layout)?, &mut out, after);
        Ok((CpuStorage::F32(out), (rows, outputs).into()))
    }
}

pub(super) fn floats<'a>(storage: &'a CpuStorage, layout: &Layout) -> CandleResult<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&values[from..to]),
        _ => bail!("a fast step takes contiguous 32-bit floats, not {:?}", layout.shape()),
    }
}

struct Apply<'a> {
    linear: &'a PackedLinear,
    gelu: bool,
}

impl CustomOp1 for Apply<'_> {
    fn name(&self) -> &'static str {
        "packed-linear"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        match &self.linear.bias {
            _ if !self.gelu => self.linear.run_alone(x, layout),
            None => bail!("a product without bias has no GELU of its own"),
            Some(bias) => self.linear.run(x, layout, Epilogue::BiasGelu(bias)),
        }
    }
}

struct ApplyNorm<'a> {
    linear: &'a PackedLinear,
    norm: &'a LayerNormParams,
}

impl CustomOp2 for ApplyNorm<'_> {
    fn name(&self) -> &'static str {
        "packed-linear-residual-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        layout: &Layout,
        residual: &CpuStorage,
        residual_layout: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        let LayerNormParams { scale, shift, epsilon } = self.norm;
        let residual = floats(residual, residual_layout)?;
        let Some(bias) = &self.linear.bias else { bail!("a product without bias has no norm of its own") };
        let epsilon = *epsilon;
        self.linear.run(x, layout, Epilogue::BiasResidualNorm { bias, residual, scale, shift, epsilon })
    }
}
