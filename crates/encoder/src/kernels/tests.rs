//! Products against plain sums in 64 bits.

use rayon::ThreadPoolBuilder;

use super::super::reference::{every_arch, gelu, scattered};
use super::*;

fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn plain(x: &[f32], weight: &[f32], outputs: usize, inputs: usize, rows: usize) -> Vec<f64> {
    let mut out = vec![0.0; rows * outputs];
    for row in 0..rows {
        for output in 0..outputs {
            out[row * outputs + output] = (0..inputs)
                .map(|i| f64::from(x[row * inputs + i]) * f64::from(weight[output * inputs + i]))
                .sum();
        }
    }
    out
}

fn worst(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

/// Sizes around the boundaries of tiles, panels, blocks and shares.
const SIZES: [(usize, usize, usize); 12] = [
    (1, 1, 1),
    (2, 3, 5),
    (7, 47, 13),
    (8, 48, 16),
    (9, 49, 31),
    (13, 100, 7),
    (1, 384, 64),
    (40, 97, 33),
    (64, 16, 20),
    (65, 50, 12),
    (130, 145, 9),
    (300, 35, 11),
];

/// Every size with every instruction set of this machine.
fn every_case() -> impl Iterator<Item = (Arch, (usize, usize, usize))> {
    every_arch().into_iter().flat_map(|arch| SIZES.into_iter().map(move |size| (arch, size)))
}

#[test]
fn products_match_plain_sums_on_any_threads() {
    for (arch, (rows, outputs, inputs)) in every_case() {
        let (x, weight) = (scattered(rows * inputs, 1), scattered(outputs * inputs, 2));
        let packed = Packed::for_arch(arch, &weight, outputs, inputs, Precision::Fp32);
        assert_eq!((packed.outputs(), packed.inputs()), (outputs, inputs));
        let expected = plain(&x, &weight, outputs, inputs, rows);
        let run = |threads| {
            let mut out = vec![f32::NAN; rows * outputs];
            in_pool(threads, || packed.apply(&x, &mut out, Epilogue::Nothing));
            out
        };
        let alone = run(1);
        assert!(worst(&alone, &expected) < 1e-5, "{arch:?}: {rows} x {inputs} -> {outputs}");
        assert_eq!(alone, run(2), "{arch:?}: {rows} x {inputs} -> {outputs}");
        assert_eq!(alone, run(3), "{arch:?}: {rows} x {inputs} -> {outputs}");
    }
}

#[test]
fn epilogue_is_applied_to_every_row() {
    for (arch, (rows, outputs, inputs)) in every_case() {
        let (x, weight) = (scattered(rows * inputs, 3), scattered(outputs * inputs, 4));
        let (bias, residual) = (scattered(outputs, 5), scattered(rows * outputs, 6));
        let (scale, shift) = (scattered(outputs, 7), scattered(outputs, 8));
        let packed = Packed::for_arch(arch, &weight, outputs, inputs, Precision::Fp32);
        let sums: Vec<f64> = plain(&x, &weight, outputs, inputs, rows)
            .iter()
            .zip(bias.iter().cycle())
            .map(|(sum, b)| sum + f64::from(*b))
            .collect();
        let run = |threads, after| {
            let mut out = vec![f32::NAN; rows * outputs];
            in_pool(threads, || packed.apply(&x, &mut out, after));
            out
        };
        let norm = Epilogue::BiasResidualNorm {
            bias: &bias,
            residual: &residual,
            scale: &scale,
            shift: &shift,
            epsilon: 1e-3,
        };
        let expected = [
            (Epilogue::Bias(&bias), sums.clone()),
            (Epilogue::BiasGelu(&bias), sums.iter().map(|x| gelu(*x)).collect()),
            (norm, normalised(&sums, &residual, &scale, &shift)),
        ];
        for (after, expected) in expected {
            let alone = run(1, after);
            assert!(worst(&alone, &expected) < 3e-5, "{arch:?}: {rows} x {inputs} -> {outputs}");
            assert_eq!(alone, run(2, after), "{arch:?}: {rows} x {inputs} -> {outputs}");
        }
    }
}

fn normalised(sums: &[f64], residual: &[f32], scale: &[f32], shift: &[f32]) -> Vec<f64> {
    let size = scale.len();
    let rows = sums.chunks_exact(size).zip(residual.chunks_exact(size));
    rows.flat_map(|(sums, residual)| {
        let row: Vec<f64> = sums.iter().zip(residual).map(|(a, b)| a + f64::from(*b)).collect();
        let mean = row.iter().sum::<f64>() / size as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / size as f64;
        let by = (variance + 1e-3).sqrt().recip();
        let parameters = scale.iter().zip(shift);
        let row: Vec<f64> = row
            .iter()
            .zip(parameters)
            .map(|(x, (scale, shift))| (x - mean) * by * f64::from(*scale) + f64::from(*shift))
            .collect();
        row
    })
    .collect()
}

#[test]
fn empty_products_work() {
    let packed = Packed::new(&[1.0, 2.0], 2, 1, Precision::Fp32);
    packed.apply(&[], &mut [], Epilogue::Nothing);
    let nothing = Packed::new(&[], 3, 0, Precision::Fp32);
    let mut out = [f32::NAN; 6];
    nothing.apply(&[], &mut out, Epilogue::Bias(&[1.0, 2.0, 3.0]));
    assert_eq!(out, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
}

/// Rows of which some have outliers and some only zeros.
fn uneven(rows: usize, inputs: usize) -> Vec<f32> {
    let mut x = scattered(rows * inputs, 11);
    for (row, x) in x.chunks_exact_mut(inputs).enumerate() {
        let by = [1.0, 0.02, 30.0, 0.0][row % 4];
        x.iter_mut().for_each(|x| *x *= by);
        if row % 3 == 0 {
            x[row * 7 % inputs] = 25.0 * by;
            x[row * 13 % inputs] = -17.0 * by;
        }
    }
    x
}

/// The rounding error allowed: half a step of the row for each weight and half a step of the output for
/// each input.
fn rounding(x: &[f32], weight: &[f32], outputs: usize, inputs: usize) -> Vec<f64> {
    let (_, steps) = quantize_weights::levels(weight, inputs);
    let total = |row: &[f32]| row.iter().map(|x| f64::from(x.abs())).sum::<f64>();
    let mut bounds = Vec::new();
    for row in x.chunks_exact(inputs) {
        let step = f64::from(quantize::QParams::new(row).scale);
        for (weight, by) in weight.chunks_exact(inputs).zip(&steps) {
            let (by, inputs) = (f64::from(*by), inputs as f64);
            bounds.push((total(weight) * step + total(row) * by + inputs * step * by) / 2.0 + 1e-5);
        }
    }
    assert_eq!(bounds.len(), x.len() / inputs * outputs);
    bounds
}

#[test]
fn fast_products_are_within_rounding() {
    for (arch, (rows, outputs, inputs)) in every_case() {
        let (x, weight) = (uneven(rows, inputs), scattered(outputs * inputs, 2));
        let expected = plain(&x, &weight, outputs, inputs, rows);
        let bounds = rounding(&x, &weight, outputs, inputs);
        for packed in int8_stores(arch, &weight, outputs, inputs) {
            let run = |threads| {
                let mut out = vec![f32::NAN; rows * outputs];
                in_pool(threads, || packed.apply(&x, &mut out, Epilogue::Nothing));
                out
            };
            let alone = run(1);
            for ((found, expected), bound) in alone.iter().zip(&expected).zip(&bounds) {
                assert!(
                    (f64::from(*found) - expected).abs() <= *bound,
                    "{arch:?}: {rows} x {inputs} -> {outputs}"
                );
            }
            assert_eq!(alone, run(2), "{arch:?}: {rows} x {inputs} -> {outputs}");
            assert_eq!(alone, run(3), "{arch:?}: {rows} x {inputs} -> {outputs}");
        }
    }
}

/// The weights packed for every instruction for products of bytes, and, last, for machines without one.
fn int8_stores(arch: Arch, weight: &[f32], outputs: usize, inputs: usize) -> Vec<Packed> {
    let mut stores = Vec::new();
    #[cfg(target_arch = "x86_64")]
    stores.extend(vnni::Vnni::detect_all().map(|vnni| Store::bytes((vnni, arch), weight, outputs, inputs)));
    stores.push(Store::rounded(arch, weight, outputs, inputs));
    stores.into_iter().map(|store| Packed { store, outputs, inputs, arch }).collect()
}

#[test]
fn fast_products_match_on_all_instruction_sets() {
    for (arch, (rows, outputs, inputs)) in every_case() {
        let (x, weight) = (uneven(rows, inputs), scattered(outputs * inputs, 2));
        let bias = scattered(outputs, 5);
        let stores = int8_stores(arch, &weight, outputs, inputs);
        let run = |packed: &Packed, after| {
            let mut out = vec![f32::NAN; rows * outputs];
            in_pool(1, || packed.apply(&x, &mut out, after));
            out
        };
        for after in [Epilogue::Nothing, Epilogue::Bias(&bias), Epilogue::BiasGelu(&bias)] {
            let results: Vec<_> = stores.iter().map(|packed| run(packed, after)).collect();
            for (a, b) in results.windows(2).flat_map(|pair| pair[0].iter().zip(&pair[1])) {
                assert!(
                    (a - b).abs() <= 1e-4 + 1e-5 * b.abs(),
                    "{arch:?}: {a} and {b}: {rows} x {inputs} -> {outputs}"
                );
            }
        }
    }
}

#[test]
fn nan_affects_only_its_row() {
    let weight = scattered(50 * 20, 2);
    for arch in every_arch() {
        let fp32 = Packed::for_arch(arch, &weight, 50, 20, Precision::Fp32);
        for packed in int8_stores(arch, &weight, 50, 20).into_iter().chain([fp32]) {
            for odd in [f32::NAN, f32::INFINITY] {
                let mut x = scattered(3 * 20, 1);
                x[25] = odd;
                let mut out = vec![0.0; 3 * 50];
                in_pool(1, || packed.apply(&x, &mut out, Epilogue::Nothing));
                let finite: Vec<bool> =
                    out.chunks_exact(50).map(|row| row.iter().any(|x| x.is_finite())).collect();
                assert_eq!(finite, [true, false, true], "{arch:?} {odd}");
            }
        }
    }
}
