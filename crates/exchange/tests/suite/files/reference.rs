//! Our splitting of CSV against the `csv` crate's, on seeded random tables.

use super::sample::sample;
use dissensus_exchange::{ColumnRoles, read_rows};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Characters that matter to CSV, and a few that do not.
const ALPHABET: [&str; 12] = ["a", "b", ",", ";", "\t", "\"", "\n", "\r\n", " ", "é", "😀", "ש"];

fn value(rng: &mut impl Rng) -> String {
    let length = rng.random_range(0..8);
    (0..length).map(|_| ALPHABET[rng.random_range(0..ALPHABET.len())]).collect()
}

/// A table of random values; the writer quotes where it must or everywhere.
fn table(rng: &mut impl Rng, columns: usize, delimiter: u8) -> Vec<u8> {
    let style = if rng.random_bool(0.5) { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
    let end = if rng.random_bool(0.5) { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
    let mut writer = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .quote_style(style)
        .terminator(end)
        .from_writer(Vec::new());
    writer.write_record((0..columns).map(|c| format!("text{c}"))).unwrap();
    for _ in 0..20 {
        // The first value is never blank, so that every row is a good one.
        writer
            .write_record((0..columns).map(|c| format!("{}{}", ["", "x"][usize::from(c == 0)], value(rng))))
            .unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn values_match_the_csv_crate() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..200 {
        let columns = rng.random_range(2..5);
        let delimiter = *[b',', b';', b'\t'].get(rng.random_range(0..3)).unwrap();
        let content = table(&mut rng, columns, delimiter);
        let file = sample("a.csv", &content);
        let roles = ColumnRoles { text: Some("text0".into()), ..ColumnRoles::default() };
        let mut rows = read_rows(&file.source, &roles).unwrap();
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(&content[..]);
        for expected in reader.records() {
            rows.next().unwrap().unwrap();
            let got: Vec<&str> = rows.cells().collect();
            assert_eq!(
                got,
                expected.unwrap().iter().collect::<Vec<_>>(),
                "{}",
                String::from_utf8_lossy(&content)
            );
        }
        assert!(rows.next().is_none());
    }
}
