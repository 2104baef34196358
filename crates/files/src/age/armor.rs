//! The text form of the format, which survives mail: base64 in lines of 64 columns (RFC 7468, strict).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::io::{self, BufRead, Read};

const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const END: &str = "-----END AGE ENCRYPTED FILE-----";
const COLUMNS: usize = 64;

/// Whether these first bytes are those of the text form; white space may come before it.
pub(super) fn is_armored(first: &[u8]) -> bool {
    first.trim_ascii_start().starts_with(BEGIN.as_bytes())
}

/// Reads the bytes of the text form.
pub(super) struct Unarmored<R> {
    source: R,
    decoded: io::Cursor<Vec<u8>>,
    begun: bool,
    /// A line shorter than the others was read, after which only the end may follow.
    short: bool,
    ended: bool,
}

impl<R: BufRead> Unarmored<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, decoded: io::Cursor::default(), begun: false, short: false, ended: false }
    }

    /// The next line without its end; empty at the end of the source.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.source).take(1024).read_line(&mut line)?;
        Ok(line)
    }

    fn decode_line(&mut self) -> io::Result<()> {
        if !self.begun {
            while self.line()?.trim().is_empty() {}
            self.begun = true;
        }
        let line = self.line()?;
        let text = line.trim_end_matches(['\n', '\r']);
        if text.trim_end() == END {
            self.ended = true;
            // Only white space may follow.
            loop {
                let after = self.line()?;
                match (after.is_empty(), after.trim().is_empty()) {
                    (true, _) => return Ok(()),
                    (_, true) => {}
                    (_, false) => return Err(io::ErrorKind::InvalidData.into()),
                }
            }
        }
        if self.short || text.is_empty() || text.len() > COLUMNS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.short = text.len() < COLUMNS;
        let decoded = BASE64.decode(text).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.decoded = io::Cursor::new(decoded);
        Ok(())
    }
}

impl<R: BufRead> Read for Unarmored<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.decoded.read(buffer)?;
            if count > 0 || self.ended || buffer.is_empty() {
                return Ok(count);
            }
            self.decode_line()?;
        }
    }
}
