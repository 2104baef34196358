//! Damaged files end in errors, never in a panic or an endless loop.

use dissensus_exchange::{Checker, Source, guess_roles, read_rows, scan};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CSV: &str = "text_id,text,annotator_id,label,gender,created_at\n\
    t1,\"one, \"\"two\"\"\nthree\",ada,1,f,2024-01-01\nt2,caf\u{e9} \u{1f600},bo,2.0,m,\nt3,x,ada,,f,1714566600\n";
const JSONL: &str = "{\"text_id\":\"t1\",\"text\":\"a \\ud83d\\ude00\",\"annotator\":\"ada\",\"label\":3.0,\"tags\":[1,{}]}\n\
    {\"text_id\":\"t2\",\"text\":\"caf\u{e9}\",\"annotator\":\"bo\",\"label\":true,\"late\":null}\n";
/// Bytes that readers stumble over.
const STONES: &[u8] = b"\"\n\r,;\t{}[]:\\\0\xFF\xC3\xED\xA0u0 ";

/// The content with some bytes replaced, removed, doubled or cut off.
fn damaged(rng: &mut impl Rng, content: &[u8]) -> Vec<u8> {
    let mut bytes = content.to_vec();
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..5) {
            0 => bytes[at] = STONES[rng.random_range(0..STONES.len())],
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, STONES[rng.random_range(0..STONES.len())]),
            3 => bytes[at] = rng.random(),
            _ => bytes.truncate(at + 1),
        }
        if bytes.is_empty() {
            bytes.push(b'x');
        }
    }
    bytes
}

#[test]
fn damaged_files_give_errors() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let (mut opened, mut bad_rows) = (0, 0);
    for round in 0..6000 {
        let (content, name) = if round % 2 == 0 { (CSV, "a.csv") } else { (JSONL, "a.jsonl") };
        let bytes = damaged(&mut rng, content.as_bytes());
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let Ok(source) = Source::open(&path) else { continue };
        opened += 1;
        let roles = guess_roles(&source).unwrap();
        let Ok(rows) = read_rows(&source, &roles) else { continue };
        let lines = bytes.iter().filter(|b| **b == b'\n').count() + 1;
        assert!(rows.count() <= lines, "more rows than lines: {}", String::from_utf8_lossy(&bytes));
        bad_rows += scan(&source, &roles, Checker::new(None)).unwrap().problem_count;
    }
    assert!(
        opened > 1000 && bad_rows > 1000,
        "the damage must reach the rows: {opened} files, {bad_rows} bad rows"
    );
}
