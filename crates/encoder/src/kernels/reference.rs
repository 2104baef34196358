//! Reference implementations for tests of the kernels, plain definitions in 64 bits, and the instruction
//! sets to test.

use pulp::Arch;

/// Every instruction set that kernels are compiled for and this machine has, not only its best: on x86-64
/// always the scalar path, and AVX2 (V3) and AVX-512 (V4) where available.
pub(crate) fn every_arch() -> Vec<Arch> {
    #[cfg(target_arch = "x86_64")]
    {
        let v3 = pulp::x86::V3::try_new().map(Arch::V3);
        let v4 = pulp::x86::V4::try_new().map(Arch::V4);
        [Some(Arch::Scalar), v3, v4].into_iter().flatten().collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    vec![Arch::Scalar, Arch::new()]
}

/// Pseudo-random numbers between -1 and 1.
pub(crate) fn scattered(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

/// With the error function by the series of DLMF 7.6.2, whose terms are all positive: no cancellation.
pub(crate) fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let mut term = z * (-z * z).exp();
    let mut sum = term;
    for n in 1..300 {
        term *= 2.0 * z * z / f64::from(2 * n + 1);
        sum += term;
    }
    0.5 * x * (1.0 + sum * 2.0 / std::f64::consts::PI.sqrt())
}
