//! Accumulates the gradients of a batch's parts as they arrive.
//!
//! Each worker adds its own part, in the order of the parts, so that sums do not depend on which worker
//! finishes first and no worker holds more than one part. Gradients of embedding tables come as the rows
//! that the part used: only the sum holds a whole table of them.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

use candle_core::{CpuStorage, DType, InplaceOp2, Layout, Result as CandleResult, Tensor, TensorId, bail};
use pulp::Arch;

use super::gradients::Gradients;
use crate::kernels::rows::Add;

/// The gradients of one part of a batch.
pub(super) struct Part {
    /// Gradients of every parameter; `None` for tables with gradients in `rows`.
    pub(super) gradients: Gradients,
    /// Gradients of rows of embedding tables.
    pub(super) rows: Vec<TableRows>,
}

/// The gradients of some rows of an embedding table.
pub(super) struct TableRows {
    pub(super) table: TensorId,
    /// Indices of the rows; may repeat.
    pub(super) ids: Vec<u32>,
    /// `[ids, dim]`
    pub(super) gradient: Tensor,
}

/// The sum so far, and whose turn it is.
pub(super) struct Accumulator {
    state: Mutex<State>,
    turn: Condvar,
}

struct State {
    next: usize,
    total: Gradients,
    /// Set when a part will never arrive, so that no worker waits for it.
    failed: bool,
}

impl Accumulator {
    /// `zero`: the parameters without gradients.
    pub(super) fn new(zero: Gradients) -> Self {
        let state = State { next: 0, total: zero, failed: false };
        Self { state: Mutex::new(state), turn: Condvar::new() }
    }

    /// Computes part number `place` and adds it after all parts before it. Where one of them failed it is
    /// dropped: the first failure is reported.
    pub(super) fn add<E>(
        &self,
        place: usize,
        part: impl FnOnce() -> Result<Part, E>,
        failed: impl Fn(candle_core::Error) -> E,
    ) -> Result<(), E> {
        let mut unless_done = FailAtEnd(Some(self));
        let part = part()?;
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |state: &mut State| state.next != place && !state.failed;
        let mut state = self.turn.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
        if !state.failed {
            state.total.add_part(part).map_err(failed)?;
            state.next += 1;
        }
        drop(state);
        unless_done.0 = None;
        self.turn.notify_all();
        Ok(())
    }

    pub(super) fn into_total(self) -> Gradients {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).total
    }
}

/// Wakes all waiting threads when a part fails or panics.
struct FailAtEnd<'a>(Option<&'a Accumulator>);

impl Drop for FailAtEnd<'_> {
    fn drop(&mut self) {
        if let Some(accumulator) = self.0 {
            accumulator.state.lock().unwrap_or_else(PoisonError::into_inner).failed = true;
            accumulator.turn.notify_all();
        }
    }
}

impl Gradients {
    /// Adds a part's gradients of the same parameters.
    fn add_part(&mut self, part: Part) -> CandleResult<()> {
        self.loss += part.gradients.loss;
        for ((_, mine), (_, theirs)) in self.of.iter_mut().zip(part.gradients.of) {
            *mine = match (mine.take(), theirs) {
                (Some(a), Some(b)) => Some(add(a, &b)?),
                (a, b) => a.or(b),
            };
        }
        let places: HashMap<TensorId, usize> = self
            .of
            .iter()
            .enumerate()
            .map(|(i, (parameter, _))| (parameter.var.as_tensor().id(), i))
            .collect();
        for rows in part.rows {
            let Some(place) = places.get(&rows.table) else { continue };
            let (parameter, gradient) = &mut self.of[*place];
            let table = match gradient.take() {
                Some(table) => table,
                None => parameter.var.as_detached_tensor().zeros_like()?,
            };
            *gradient = Some(add_rows(table, &rows)?);
        }
        Ok(())
    }
}

/// Computes `a + b`, in the memory of `a` on the CPU.
fn add(a: Tensor, b: &Tensor) -> CandleResult<Tensor> {
    if !a.device().is_cpu() || a.dtype() != DType::F32 {
        return a + b;
    }
    let a = a.contiguous()?;
    a.inplace_op2(&b.contiguous()?, &AddInPlace)?;
    Ok(a)
}

fn add_rows(table: Tensor, rows: &TableRows) -> CandleResult<Tensor> {
    if !table.device().is_cpu() || table.dtype() != DType::F32 {
        let ids = Tensor::from_slice(&rows.ids, rows.ids.len(), table.device())?;
        return table.index_add(&ids, &rows.gradient, 0);
    }
    table.inplace_op2(&rows.gradient.contiguous()?, &AddRowsInPlace { ids: &rows.ids })?;
    Ok(table)
}

struct AddInPlace;

impl InplaceOp2 for AddInPlace {
    fn name(&self) -> &'static str {
        "add-gradient"
    }

    fn cpu_fwd(&self, a: &mut CpuStorage, al: &Layout, b: &CpuStorage, bl: &Layout) -> CandleResult<()> {
        let (a, b) = slices(a, al, b, bl)?;
        Arch::new().dispatch(Add { x: a, y: b });
        Ok(())
    }
}

struct AddRowsInPlace<'a> {
    ids: &'a [u32],
}

impl InplaceOp2 for AddRowsInPlace<'_> {
    fn name(&self) -> &'static str {
        "add-gradient-rows"
    }

    fn cpu_fwd(&self, a: &mut CpuStorage, al: &Layout, b: &CpuStorage, bl: &Layout) -> CandleResult<()> {
        let dim = al.dims().last().copied().unwrap_or(1);
        let (table, rows) = slices(a, al, b, bl)?;
        for (id, row) in self.ids.iter().zip(rows.chunks_exact(dim.max(1))) {
            let Some(to) = table.get_mut(*id as usize * dim..(*id as usize + 1) * dim) else {
                bail!("row {id} is beyond the table");
            };
            Arch::new().dispatch(Add { x: to, y: row });
        }
        Ok(())
    }
}

fn slices<'a>(
    a: &'a mut CpuStorage,
    al: &Layout,
    b: &'a CpuStorage,
    bl: &Layout,
) -> CandleResult<(&'a mut [f32], &'a [f32])> {
    match (a, b, al.contiguous_offsets(), bl.contiguous_offsets()) {
        (CpuStorage::F32(a), CpuStorage::F32(b), Some((from, to)), Some((start, end))) => {
            Ok((&mut a[from..to], &b[start..end]))
        }
        _ => bail!("gradients are contiguous 32-bit floats"),
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;
    use crate::blocks::{Group, Parameter};

    fn zero(vars: &[&Var]) -> Gradients {
        let of = vars.iter().map(|var| {
            let parameter =
                Parameter { name: "x".to_owned(), group: Group::Head, decays: false, var: (*var).clone() };
            (parameter, None)
        });
        Gradients { loss: 0.0, of: of.collect() }
    }

    fn part(vars: &[&Var], values: &[f32], rows: Vec<TableRows>) -> Part {
        let mut gradients = zero(vars);
        gradients.loss = 1.0;
        gradients.of[0].1 = Some(Tensor::from_slice(values, values.len(), &Device::Cpu).unwrap());
        Part { gradients, rows }
    }

    #[test]
    fn parts_are_summed_in_order() {
        let var = Var::zeros(1, DType::F32, &Device::Cpu).unwrap();
        // The sum of these depends on their order.
        let values = [1e8f32, 1.0, -1e8, 3.0];
        let expected = values.iter().fold(0.0, |sum, v| sum + v);
        let accumulator = Accumulator::new(zero(&[&var]));
        std::thread::scope(|scope| {
            for (place, value) in values.iter().enumerate().rev() {
                let (accumulator, var) = (&accumulator, &var);
                scope.spawn(move || {
                    accumulator.add(place, || Ok(part(&[var], &[*value], Vec::new())), |e| e).unwrap();
                });
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        let total = accumulator.into_total();
        assert_eq!(total.loss, 4.0);
        assert_eq!(total.of[0].1.as_ref().unwrap().to_vec1::<f32>().unwrap(), [expected]);
    }

    #[test]
    fn failing_part_does_not_block_others() {
        let var = Var::zeros(1, DType::F32, &Device::Cpu).unwrap();
        for panics in [false, true] {
            let accumulator = Accumulator::new(zero(&[&var]));
            std::thread::scope(|scope| {
                let (waiting, var) = (&accumulator, &var);
                let second = scope
                    .spawn(move || waiting.add(1, || Ok(part(&[var], &[1.0], Vec::new())), |_| "no sum"));
                let first = scope.spawn(move || {
                    waiting.add(0, || if panics { panic!("as a test") } else { Err("no part") }, |_| "no sum")
                });
                assert_eq!(second.join().unwrap(), Ok(()));
                assert_eq!(first.join().ok(), (!panics).then_some(Err("no part")));
            });
        }
    }

    #[test]
    fn repeated_rows_are_accumulated() {
        let (first, table) = (
            Var::zeros(1, DType::F32, &Device::Cpu).unwrap(),
            Var::zeros((4, 2), DType::F32, &Device::Cpu).unwrap(),
        );
        let rows = || TableRows {
            table: table.as_tensor().id(),
            ids: vec![2, 0, 2],
            gradient: Tensor::new(&[[1.0f32, 2.0], [3.0, 4.0], [10.0, 20.0]], &Device::Cpu).unwrap(),
        };
        let accumulator = Accumulator::new(zero(&[&first, &table]));
        for place in 0..2 {
            let part = || Ok(part(&[&first, &table], &[1.0], vec![rows()]));
            accumulator.add(place, part, |e: candle_core::Error| e).unwrap();
        }
        let total = accumulator.into_total();
        let found = total.of[1].1.as_ref().unwrap().to_vec2::<f32>().unwrap();
        assert_eq!(found, [[6.0, 8.0], [0.0, 0.0], [22.0, 44.0], [0.0, 0.0]]);
        assert_eq!(table.to_vec2::<f32>().unwrap(), [[0.0; 2]; 4], "the table itself has not moved");
    }
}
