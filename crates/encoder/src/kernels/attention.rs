//! Attention over packed texts on the CPU: two small products for each head of each text, without padding
//! or copies of whole matrices.

use pulp::Arch;
use rayon::prelude::*;

use super::epilogue::TileEpilogue;
use super::fp32::PackedWeights;
use super::rows::Softmax;
use crate::attention_mask::AttentionMask;

/// Replaces minus infinity: its exponential is 0.
const NEVER: f32 = -1e30;

/// Rows of scores are padded to whole vectors of this many, the widest of any processor, so that loops over
/// them have no remainder.
const LANES: usize = 16;

/// Attention parameters of one layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads<'a> {
    pub(crate) heads: usize,
    /// Number of heads of keys and values, each for `heads / kv_heads` consecutive query heads.
    pub(crate) kv_heads: usize,
    /// Factor of the scores.
    pub(crate) scale: f32,
    /// The keys that a query attends to.
    pub(crate) reach: AttentionMask,
    /// Added to scores: `[heads, longest, longest]`, of which a shorter text uses the first rows and
    /// columns.
    pub(crate) bias: Option<(&'a [f32], usize)>,
}

/// Computes the attended values `[rows, heads * size]` from stacked queries, keys and values
/// `[rows, (heads + 2 * kv_heads) * size]` of texts of these `lengths`. In a pool of several threads heads
/// are distributed over them.
pub(crate) fn attend(arch: Arch, stacked: &[f32], lengths: &[usize], heads: Heads<'_>, out: &mut [f32]) {
    let rows: usize = lengths.iter().sum();
    if rows == 0 || heads.heads == 0 || heads.kv_heads == 0 {
        return;
    }
    let (hidden, wide) = (out.len() / rows, stacked.len() / rows);
    let mut jobs = Vec::with_capacity(lengths.len() * heads.heads);
    let (mut stacked, mut out) = (stacked, out);
    for length in lengths {
        let (text, stacked_rest) = stacked.split_at(length * wide);
        let (to, out_rest) = out.split_at_mut(length * hidden);
        (stacked, out) = (stacked_rest, out_rest);
        jobs.extend(head_jobs(text, to, *length, hidden, heads.heads));
    }
    if rayon::current_num_threads() == 1 {
        let mut scratch = Scratch::new(arch);
        jobs.into_iter().for_each(|job| job.compute(&heads, &mut scratch));
    } else {
        jobs.into_par_iter()
            .for_each_init(|| Scratch::new(arch), |scratch, job| job.compute(&heads, scratch));
    }
}

/// One head of one text.
struct HeadJob<'a> {
    /// The text's rows of stacked queries, keys and values.
    text: &'a [f32],
    length: usize,
    hidden: usize,
    head: usize,
    /// The head's columns of each of the text's rows.
    out: Vec<&'a mut [f32]>,
}

/// Memory that is reused from one head to the next.
struct Scratch {
    arch: Arch,
    keys: PackedWeights,
    values: PackedWeights,
    queries: Vec<f32>,
    scores: Vec<f32>,
}

impl Scratch {
    fn new(arch: Arch) -> Self {
        let (keys, values) = (PackedWeights::empty(arch), PackedWeights::empty(arch));
        Self { arch, keys, values, queries: Vec::new(), scores: Vec::new() }
    }
}

fn head_jobs<'a>(
    text: &'a [f32],
    out: &'a mut [f32],
    length: usize,
    hidden: usize,
    heads: usize,
) -> impl Iterator<Item = HeadJob<'a>> {
    let mut parts: Vec<Vec<&mut [f32]>> = (0..heads).map(|_| Vec::with_capacity(length)).collect();
    for row in out.chunks_exact_mut(hidden) {
        for (part, columns) in parts.iter_mut().zip(row.chunks_exact_mut(hidden / heads)) {
            part.push(columns);
        }
    }
    parts.into_iter().enumerate().map(move |(head, out)| HeadJob { text, length, hidden, head, out })
}

impl HeadJob<'_> {
    fn compute(mut self, heads: &Heads<'_>, scratch: &mut Scratch) {
        let (n, size) = (self.length, self.hidden / heads.heads);
        let stride = n.next_multiple_of(LANES);
        let kv_head = self.head / (heads.heads / heads.kv_heads);
        let part = |head: usize| {
            let wide = (heads.heads + 2 * heads.kv_heads) * size;
            self.text.chunks_exact(wide).map(move |row| &row[head * size..(head + 1) * size])
        };
        scratch.queries.clear();
        for query in part(self.head) {
            scratch.queries.extend(query.iter().map(|q| q * heads.scale));
        }
        scratch.keys.repack(part(heads.heads + kv_head), stride, size);
        scratch.values.repack_transposed(part(heads.heads + heads.kv_heads + kv_head), size, stride);
        // Every number is written before it is read.
        scratch.scores.resize(n * stride, 0.0);
        let mut rows: Vec<&mut [f32]> = scratch.scores.chunks_exact_mut(stride).collect();
        let panels = |outputs: usize, panels: &PackedWeights| 0..outputs.div_ceil(panels.width());
        scratch.keys.multiply(
            panels(stride, &scratch.keys),
            &scratch.queries,
            &mut rows,
            &TileEpilogue::Nothing,
        );
        self.adjust(heads, &mut scratch.scores, stride);
        scratch.arch.dispatch(Softmax { x: &mut scratch.scores, size: stride });
        let values = &scratch.values;
        values.multiply(panels(size, values), &scratch.scores, &mut self.out, &TileEpilogue::Nothing);
    }

    /// Adds the bias, and masks keys that are not attended to, including padding.
    fn adjust(&self, heads: &Heads<'_>, scores: &mut [f32], stride: usize) {
        let n = self.length;
        if let Some((bias, longest)) = heads.bias {
            let of_head = &bias[self.head * longest * longest..][..longest * longest];
            for (row, bias) in scores.chunks_exact_mut(stride).zip(of_head.chunks_exact(longest)) {
                row[..n].iter_mut().zip(bias).for_each(|(score, b)| *score += b);
            }
        }
        for (query, row) in scores.chunks_exact_mut(stride).enumerate() {
            let seen = heads.reach.keys(query, n);
            row[..seen.start].fill(NEVER);
            row[seen.end..].fill(NEVER);
        }
    }
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::super::reference::every_arch;
    use super::*;

    /// Pseudo-random numbers between -2 and 2.
    fn scattered(n: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f32 / (1u64 << 22) as f32 - 2.0
            })
            .collect()
    }

    /// The definition, number by number in 64 bits.
    fn plain(stacked: &[f32], lengths: &[usize], heads: Heads<'_>, hidden: usize) -> Vec<f64> {
        let size = hidden / heads.heads;
        let mut out = Vec::new();
        let mut first = 0;
        let wide = (heads.heads + 2 * heads.kv_heads) * size;
        // 0: queries, 1: keys, 2: values; `column` among the columns of all query heads.
        let at = |row: usize, which: usize, column: usize| {
            let (head, kv_head) = (column / size, column / size / (heads.heads / heads.kv_heads));
            let head = [head, heads.heads + kv_head, heads.heads + heads.kv_heads + kv_head][which];
            f64::from(stacked[row * wide + head * size + column % size])
        };
        for length in lengths {
            for query in 0..*length {
                for column in 0..hidden {
                    let head = column / size;
                    let keys = heads.reach.keys(query, *length);
                    let score = |key: usize| {
                        let dot: f64 = (head * size..(head + 1) * size)
                            .map(|c| at(first + query, 0, c) * at(first + key, 1, c))
                            .sum();
                        let bias = heads.bias.map_or(0.0, |(bias, longest)| {
                            f64::from(bias[(head * longest + query) * longest + key])
                        });
                        (dot * f64::from(heads.scale) + bias).exp()
                    };
                    let total: f64 = keys.clone().map(score).sum();
                    let sum: f64 = keys.map(|key| score(key) * at(first + key, 2, column)).sum();
                    out.push(sum / total);
                }
            }
            first += length;
        }
        out
    }

    #[test]
    fn attention_matches_the_definition() {
        let lengths = [3, 1, 49, 7];
        let (hidden, longest) = (24, 49);
        let rows: usize = lengths.iter().sum();
        let stacked = scattered(rows * 3 * hidden, 1);
        let bias = scattered(3 * longest * longest, 2);
        let reaches = [
            AttentionMask::FULL,
            AttentionMask { causal: true, window: None },
            AttentionMask { causal: false, window: Some(2) },
            AttentionMask { causal: true, window: Some(5) },
        ];
        for (reach, kv_heads) in reaches.into_iter().flat_map(|reach| [(reach, 3), (reach, 1)]) {
            let stacked = &stacked[..rows * (3 + 2 * kv_heads) * hidden / 3];
            for bias in [None, Some((bias.as_slice(), longest))] {
                let heads = Heads { heads: 3, kv_heads, scale: 0.35, reach, bias };
                let expected = plain(stacked, &lengths, heads, hidden);
                for arch in every_arch() {
                    let run = |threads| {
                        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                        let mut out = vec![f32::NAN; rows * hidden];
                        pool.install(|| attend(arch, stacked, &lengths, heads, &mut out));
                        out
                    };
                    let alone = run(1);
                    let worst = alone
                        .iter()
                        .zip(&expected)
                        .map(|(a, b)| (f64::from(*a) - b).abs())
                        .fold(0.0, f64::max);
                    assert!(worst < 1e-5, "{arch:?} {reach:?} {kv_heads}: {worst}");
                    assert_eq!(alone, run(2), "{arch:?}");
                }
            }
        }
    }
}
