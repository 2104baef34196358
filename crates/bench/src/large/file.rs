//! The synthetic file of labels, identical on every machine.

use super::LargeSize;
use crate::error::BenchError;
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const WORDS: &str = "this that the a of in you they we not so very never always quite well said bad good idea point read again";
const WORDS_A_TEXT: usize = 8;
const SEED: u64 = 10;

/// Writes labels from 1 to 5, determined by how rude a text is and how severe an annotator is. Every text is
/// labelled by the same number of different annotators, drawn independently for each text.
///
/// # Errors
/// Fails if there are more labels per text than annotators, or the file cannot be written.
pub(super) fn write(path: &Path, size: LargeSize) -> Result<(), BenchError> {
    if size.texts == 0 || size.annotators == 0 || size.labels / size.texts > size.annotators {
        let value = format!("{} labels, {} texts, {} annotators", size.labels, size.texts, size.annotators);
        let allowed = "at least one text, and at most one label of each annotator on each text";
        return Err(BenchError::Option { name: "the size", value, allowed });
    }
    let write = || rows(BufWriter::new(File::create(path)?), size)?.flush();
    write().map_err(BenchError::io("writing", path))
}

fn rows<W: Write>(mut out: W, size: LargeSize) -> io::Result<W> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let severities: Vec<f64> = (0..size.annotators).map(|_| normal(&mut rng)).collect();
    let words: Vec<&str> = WORDS.split(' ').collect();
    writeln!(out, "text_id,text,annotator_id,label")?;
    for text in 0..size.texts {
        let body: Vec<&str> = (0..WORDS_A_TEXT).map(|_| words[rng.random_range(0..words.len())]).collect();
        let body = body.join(" ");
        let rude = normal(&mut rng);
        for annotator in index::sample(&mut rng, size.annotators, size.labels / size.texts) {
            let score = 3.0 + rude + severities[annotator] + 0.7 * normal(&mut rng);
            let level = score.round().clamp(1.0, 5.0) as u8;
            writeln!(out, "t{text},{body},a{annotator},{level}")?;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn file_is_reproducible_without_duplicate_pairs() {
        let size = LargeSize { labels: 600, texts: 100, annotators: 20 };
        let csv = rows(Vec::new(), size).unwrap();
        assert_eq!(csv, rows(Vec::new(), size).unwrap());
        let csv = String::from_utf8(csv).unwrap();
        let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let pairs: HashSet<(&str, &str)> = rows.iter().map(|row| (row[0], row[2])).collect();
        assert_eq!((rows.len(), pairs.len()), (600, 600));
        let levels: HashSet<&str> = rows.iter().map(|row| row[3]).collect();
        assert_eq!(levels.len(), 5);
    }

    #[test]
    fn impossible_size_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (labels, texts, annotators) in [(10, 0, 1), (10, 1, 9), (0, 1, 0)] {
            let size = LargeSize { labels, texts, annotators };
            assert!(write(&folder.path().join("f.csv"), size).is_err(), "{size:?}");
        }
    }
}
