//! Texts in other encodings than UTF-8: detected by their byte order mark, guessed, or specified by the user.

use super::Step;
use super::limited::{Limited, failed};
use crate::ExchangeError;
use crate::annotations::Findings;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// The encoding of a file, and how it was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoded {
    encoding: &'static Encoding,
    guessed: bool,
}

/// Detects the encoding of a file from its first bytes, which may be the `whole` of it; `None` for UTF-8, for
/// files of which only some bytes are damaged, and for binary data.
///
/// # Errors
/// The encoding that was `asked` for does not exist.
pub(super) fn of(
    path: &Path,
    head: &[u8],
    whole: bool,
    asked: Option<&str>,
) -> Result<Option<Encoded>, ExchangeError> {
    let known =
        |encoding: &'static Encoding| (encoding != UTF_8).then_some(Encoded { encoding, guessed: false });
    if let Some(name) = asked {
        return match Encoding::for_label(name.trim().as_bytes()) {
            // The byte order mark determines the order of bytes in UTF-16.
            Some(encoding) if [UTF_16LE, UTF_16BE].contains(&encoding) => {
                let marked = Encoding::for_bom(head).map(|(marked, _)| marked);
                Ok(known(marked.filter(|marked| *marked != UTF_8).unwrap_or(encoding)))
            }
            Some(encoding) => Ok(known(encoding)),
            None => Err(ExchangeError::NoSuchEncoding { path: path.to_owned(), name: name.to_owned() }),
        };
    }
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return Ok(known(encoding));
    }
    if let Some(encoding) = utf16(head) {
        return Ok(known(encoding));
    }
    if is_utf8(head, whole) || !is_text(head) || is_damaged_utf8(head) {
        return Ok(None);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(head, whole);
    Ok(Some(Encoded { encoding: detector.guess(None, Utf8Detection::Deny), guessed: true }))
}

/// UTF-16 without its mark: a zero in every second byte of plain Latin text.
fn utf16(head: &[u8]) -> Option<&'static Encoding> {
    let pairs = head.len().min(64) / 2;
    let zeros = |from: usize| (0..pairs).filter(|i| head[2 * i + from] == 0).count();
    match (zeros(0), zeros(1)) {
        (0, odd) if pairs >= 2 && odd * 4 >= pairs * 3 => Some(UTF_16LE),
        (even, 0) if pairs >= 2 && even * 4 >= pairs * 3 => Some(UTF_16BE),
        _ => None,
    }
}

fn is_utf8(head: &[u8], whole: bool) -> bool {
    match std::str::from_utf8(head) {
        Ok(_) => true,
        // A character may be cut at the end of the head.
        Err(error) => !whole && error.error_len().is_none(),
    }
}

fn is_text(head: &[u8]) -> bool {
    !head.iter().any(|byte| matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F))
}

/// Whether more characters beyond ASCII are UTF-8 than are not.
fn is_damaged_utf8(head: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in head.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > bad
}

/// Rewrites a file as UTF-8.
pub(super) fn rewrite(
    path: &Path,
    Encoded { encoding, guessed }: Encoded,
    packed: u64,
) -> Result<Step, ExchangeError> {
    let name = path.file_name().unwrap_or_default();
    let broken =
        || ExchangeError::NotInEncoding { path: path.to_owned(), encoding: encoding.name(), guessed };
    let reading = |error: io::Error| ExchangeError::reading(path, error);
    let mut file = File::open(path).map_err(reading)?;
    let mut out = Limited::create(name, packed).map_err(|e| failed(path, &e, "it cannot be rewritten"))?;
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let (mut bytes, mut text) = (vec![0; 64 << 10], vec![0; 256 << 10]);
    loop {
        let read = file.read(&mut bytes).map_err(reading)?;
        let (mut from, last) = (0, read == 0);
        loop {
            let (result, taken, given, errors) = decoder.decode_to_utf8(&bytes[from..read], &mut text, last);
            if errors {
                return Err(broken());
            }
            out.write_all(&text[..given]).map_err(|e| failed(path, &e, "it cannot be rewritten"))?;
            from += taken;
            if result == CoderResult::InputEmpty {
                break;
            }
        }
        if last {
            break;
        }
    }
    let message = match guessed {
        true => format!(
            "Encoding: {}, guessed from the letters of the file. Name another one where they look wrong",
            encoding.name()
        ),
        false => format!("Encoding: {}", encoding.name()),
    };
    let reported = vec![Findings { code: "encoding", count: 1, message }];
    let step = out.finish(name.to_string_lossy().into_owned(), reported);
    let mut step = step.map_err(|e| failed(path, &e, "it cannot be rewritten"))?;
    step.encoding = Some(encoding.name());
    Ok(step)
}
