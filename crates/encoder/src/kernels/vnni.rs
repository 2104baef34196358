//! Sums of products of bytes with the instruction VPDPBUSD of AVX-512 VNNI (512 bits) and AVX-VNNI (256
//! bits, processors without AVX-512).
#![allow(unsafe_code)] // The instruction may be called only where it was found, which the compiler cannot know.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_dpbusd_avx_epi32, _mm256_set1_epi32, _mm256_setzero_si256, _mm512_dpbusd_epi32,
    _mm512_set1_epi32, _mm512_setzero_si512,
};

use pulp::bytemuck::cast;

/// Number of outputs whose weights are stored together.
pub(super) const WIDTH: usize = 48;

/// Number of rows that are computed together: their sums and a group's weights fill the registers.
pub(super) const ROWS: usize = 8;

/// Sums of all outputs of a panel.
pub(super) type Sums = [i32; WIDTH];

/// The weights of four inputs to all outputs of a panel.
pub(super) type Group = [[u8; 64]; WIDTH / 16];

/// Proof that the machine has the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vnni(Bits);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bits {
    Bits512,
    Bits256,
}

impl Vnni {
    /// The widest instruction of the machine.
    pub(super) fn detect() -> Option<Self> {
        Self::detect_all().next()
    }

    /// All supported instructions of the machine, the widest first.
    pub(super) fn detect_all() -> impl Iterator<Item = Self> {
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
        let narrow = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("avxvnni");
        [(wide, Bits::Bits512), (narrow, Bits::Bits256)]
            .into_iter()
            .filter_map(|(found, bits)| found.then_some(Self(bits)))
    }

    /// Computes the sums of up to [`ROWS`] rows, `stride` bytes apart, with one panel; one row's sums for
    /// each of `sums`.
    ///
    /// # Panics
    /// Where `rows` does not have as many rows.
    pub(super) fn sums(self, rows: &[u8], stride: usize, panel: &[Group], sums: &mut [Sums]) {
        match self.0 {
            // SAFETY: `self` exists only where `detect_all` found the features.
            Bits::Bits512 => unsafe {
                match sums.len() {
                    0 => {}
                    1 => tile::<1>(rows, stride, panel, sums),
                    2 => tile::<2>(rows, stride, panel, sums),
                    3 => tile::<3>(rows, stride, panel, sums),
                    4 => tile::<4>(rows, stride, panel, sums),
                    5 => tile::<5>(rows, stride, panel, sums),
                    6 => tile::<6>(rows, stride, panel, sums),
                    7 => tile::<7>(rows, stride, panel, sums),
                    _ => tile::<ROWS>(rows, stride, panel, sums),
                }
            },
            Bits::Bits256 => {
                for (t, sums) in sums.chunks_mut(ROWS_256).enumerate() {
                    let rows = &rows[t * ROWS_256 * stride..];
                    // SAFETY: as above.
                    unsafe {
                        match sums.len() {
                            0 => {}
                            1 => tile_256::<1>(rows, stride, panel, sums),
                            2 => tile_256::<2>(rows, stride, panel, sums),
                            3 => tile_256::<3>(rows, stride, panel, sums),
                            _ => tile_256::<ROWS_256>(rows, stride, panel, sums),
                        }
                    }
                }
            }
        }
    }
}

/// Number of rows that fill the 16 registers of 256 bits, with half a panel's weights at a time.
const ROWS_256: usize = 4;

/// Number of registers of 256 bits in half a panel.
const HALF: usize = WIDTH / 16;

#[target_feature(enable = "avx2,avxvnni")]
fn tile_256<const R: usize>(rows: &[u8], stride: usize, panel: &[Group], out: &mut [Sums]) {
    let groups = stride / 4;
    let panel = &panel[..groups];
    let mut row = [&[] as &[[u8; 4]]; R];
    for (r, row) in row.iter_mut().enumerate() {
        *row = &rows[r * stride..][..stride].as_chunks::<4>().0[..groups];
    }
    for half in 0..2 {
        let mut sums = [[_mm256_setzero_si256(); HALF]; R];
        for (g, weights) in panel.iter().enumerate() {
            let bytes = &weights.as_flattened().as_chunks::<32>().0[half * HALF..][..HALF];
            let mut w = [_mm256_setzero_si256(); HALF];
            for (w, bytes) in w.iter_mut().zip(bytes) {
                *w = cast::<[u8; 32], __m256i>(*bytes);
            }
            for r in 0..R {
                let x = _mm256_set1_epi32(i32::from_le_bytes(row[r][g]));
                for v in 0..HALF {
                    sums[r][v] = _mm256_dpbusd_avx_epi32(sums[r][v], x, w[v]);
                }
            }
        }
        for (out, sums) in out.iter_mut().zip(sums) {
            let sums = cast::<[__m256i; HALF], [i32; WIDTH / 2]>(sums);
            out[half * (WIDTH / 2)..][..WIDTH / 2].copy_from_slice(&sums);
        }
    }
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn tile<const R: usize>(rows: &[u8], stride: usize, panel: &[Group], out: &mut [Sums]) {
    // All of one known length, so that the loop has no bounds checks.
    let groups = stride / 4;
    let panel = &panel[..groups];
    let mut row = [&[] as &[[u8; 4]]; R];
    for (r, row) in row.iter_mut().enumerate() {
        *row = &rows[r * stride..][..stride].as_chunks::<4>().0[..groups];
    }
    let mut sums = [[_mm512_setzero_si512(); WIDTH / 16]; R];
    for (g, weights) in panel.iter().enumerate() {
        let mut w = [_mm512_setzero_si512(); WIDTH / 16];
        for (w, bytes) in w.iter_mut().zip(weights) {
            *w = cast::<[u8; 64], __m512i>(*bytes);
        }
        for r in 0..R {
            let x = _mm512_set1_epi32(i32::from_le_bytes(row[r][g]));
            for v in 0..WIDTH / 16 {
                sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], x, w[v]);
            }
        }
    }
    for (out, sums) in out.iter_mut().zip(sums) {
        *out = cast::<[__m512i; WIDTH / 16], Sums>(sums);
    }
}
