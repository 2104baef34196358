//! Round trips, files of other implementations, and files that were cut off, changed or made to harm.

use super::*;

/// With little work, so that many cases are quick.
fn passphrase(words: &str) -> Passphrase {
    Passphrase::from_random(words.to_owned())
}

fn encrypted(content: &[u8], words: &str) -> Vec<u8> {
    let mut target = Vec::new();
    encrypt(&mut &content[..], &mut target, &passphrase(words), &mut |_| true).unwrap();
    target
}

fn opened(mut file: &[u8], words: &str) -> Result<Vec<u8>, AgeError> {
    let mut target = Vec::new();
    decrypt(&mut file, &mut target, &passphrase(words), &mut |_| true)?;
    Ok(target)
}

/// Bytes that differ from place to place.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 % 251) as u8).collect()
}

#[test]
fn content_of_any_length_comes_back() {
    // Around the borders of pieces.
    for length in [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000] {
        let file = encrypted(&content(length), "four words");
        assert!(begins_encrypted(&file));
        assert_eq!(opened(&file, "four words").unwrap(), content(length), "{length}");
    }
}

#[test]
fn no_two_files_are_alike() {
    assert_ne!(encrypted(b"the same", "words"), encrypted(b"the same", "words"));
}

/// Written by typage and pyrage: see `tools/fixtures/age.mjs` and `age.py`.
#[test]
fn files_of_other_implementations_open() {
    let fixtures: [&[u8]; 3] = [
        include_bytes!("../../tests/fixtures/typage.age"),
        include_bytes!("../../tests/fixtures/typage-armored.age"),
        include_bytes!("../../tests/fixtures/pyrage.age"),
    ];
    for (at, file) in fixtures.into_iter().enumerate() {
        assert!(begins_encrypted(file), "{at}");
        assert_eq!(opened(file, "quiet harbour seven").unwrap(), "one text, äöü\n".as_bytes(), "{at}");
    }
    assert!(matches!(opened(fixtures[0], "quiet harbour"), Err(AgeError::WrongPassphrase)));
}

#[test]
fn text_form_survives_the_line_ends_of_mail() {
    let file = include_str!("../../tests/fixtures/typage-armored.age");
    let mailed = format!("\r\n {}\r\n\r\n", file.trim().replace('\n', "\r\n"));
    assert_eq!(opened(mailed.as_bytes(), "quiet harbour seven").unwrap(), "one text, äöü\n".as_bytes());
    for damaged in [
        file.replace("-----END", ""),
        file.replacen('\n', "\n\n", 2),
        format!("{file}more"),
        file.replacen('/', "_", 1).replacen('+', "-", 1).replacen('a', "!", 3),
    ] {
        assert!(opened(damaged.as_bytes(), "quiet harbour seven").is_err(), "{damaged}");
    }
}

#[test]
fn other_passphrase_opens_nothing() {
    let file = encrypted(b"secret", "four words");
    for words in ["four word", "Four words", " four words", "x"] {
        assert!(matches!(opened(&file, words), Err(AgeError::WrongPassphrase)), "{words}");
    }
}

#[test]
fn file_that_was_cut_off_does_not_open() {
    // The second one ends with a whole piece.
    for length in [100_000, 131_072] {
        let file = encrypted(&content(length), "words");
        let sixteenths = (0..16).map(|part| file.len() * part / 16);
        let header = file.windows(4).position(|four| four == b"\n---").unwrap() + 50;
        let ends = [1, 21, 22, header, header + 16, header + 16 + 65_552, file.len() - 1];
        for end in sixteenths.chain(ends) {
            assert!(opened(&file[..end], "words").is_err(), "{end} of {}", file.len());
        }
        assert!(opened(&file, "words").is_ok());
        let longer = [file.as_slice(), &[0]].concat();
        assert!(matches!(opened(&longer, "words"), Err(AgeError::Damaged)));
    }
}

#[test]
fn changed_byte_is_found_wherever_it_is() {
    let file = encrypted(&content(10), "words");
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1;
        assert!(opened(&changed, "words").is_err(), "byte {at}");
    }
}

#[test]
fn pieces_cannot_change_places() {
    let file = encrypted(&content(3 * 65_536), "words");
    let begin = file.len() - 3 * 65_552;
    let piece = |number: usize| &file[begin + number * 65_552..begin + (number + 1) * 65_552];
    let swapped = [&file[..begin], piece(1), piece(0), piece(2)].concat();
    assert!(matches!(opened(&swapped, "words"), Err(AgeError::Damaged)));
    let left_out = [&file[..begin], piece(0), piece(2)].concat();
    assert!(matches!(opened(&left_out, "words"), Err(AgeError::Damaged)));
}

fn with_recipient(line: &str) -> Vec<u8> {
    let body = "A".repeat(43);
    format!("age-encryption.org/v1\n{line}\n{body}\n--- {body}\nsixteen bytes...").into_bytes()
}

#[test]
fn file_that_asks_for_too_much_work_is_refused_before_it_is_done() {
    let salt = "A".repeat(22);
    for work in ["21", "30", "63", "64", "255", "256", "99999999999999999999"] {
        let file = with_recipient(&format!("-> scrypt {salt} {work}"));
        assert!(matches!(opened(&file, "words"), Err(AgeError::TooMuchWork(_))), "{work}");
    }
    for work in ["", "0", "012", "+12", "-1", "12 3", "twelve"] {
        let file = with_recipient(&format!("-> scrypt {salt} {work}"));
        assert!(matches!(opened(&file, "words"), Err(AgeError::Damaged)), "{work}");
    }
    assert!(matches!(opened(&with_recipient("-> scrypt AAAA 12"), "words"), Err(AgeError::Damaged)));
}

#[test]
fn file_for_a_key_and_other_files_are_recognised() {
    let file = with_recipient("-> X25519 TEiF0ypqr+bpvcqXNyCVJpL7OuwPdVwPL7KQEbFDOCc");
    assert!(matches!(opened(&file, "words"), Err(AgeError::ForKey)));
    for other in [&b"SQLite format 3\0"[..], b"", b"age-encryption.org/v2\n", b"age-encryption.org"] {
        assert!(!begins_encrypted(other));
        assert!(matches!(opened(other, "words"), Err(AgeError::NotEncrypted | AgeError::Damaged)));
    }
    // A line without an end does not fill the memory.
    let endless = [MAGIC, &[b'a'; 1 << 20]].concat();
    assert!(matches!(opened(&endless, "words"), Err(AgeError::Damaged)));
}

#[test]
fn empty_passphrase_is_none_and_no_passphrase_is_printed() {
    assert_eq!(Passphrase::new(""), None);
    assert_eq!(Passphrase::new(" \t"), None);
    let words = Passphrase::new("four words").unwrap();
    assert!(!format!("{words:?}").contains("four"));
    assert_eq!(words.work, WORK);
}

#[test]
fn it_stops_where_the_caller_says_so() {
    let mut pieces = 0;
    let mut go_on = |_: u64| {
        pieces += 1;
        pieces < 2
    };
    let stopped = encrypt(&mut &content(300_000)[..], &mut Vec::new(), &passphrase("words"), &mut go_on);
    assert!(matches!(stopped, Err(AgeError::Stopped)));
    assert_eq!(pieces, 2);
}
