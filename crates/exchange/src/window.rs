//! A bounded window on the next bytes of a file, line by line.

use memchr::memchr;
use std::io::{self, Read};

/// The longest record, in bytes. Four times the longest text, so that escapes and other columns fit.
pub const MAX_RECORD_BYTES: usize = 4 << 20;

const CHUNK: usize = 64 << 10;

/// The result of searching for the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// The line and its `\n` end this many bytes after the start of the window.
    At(usize),
    /// Nothing is left after the bytes in the window.
    EndOfFile,
    /// No end within [`MAX_RECORD_BYTES`].
    TooLong,
}

/// Bytes of a file that were read and not yet consumed. Nothing is ever copied back: a reader that finds a
/// record broken consumes only its first line and parses the rest again.
#[derive(Debug)]
pub(crate) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    ended: bool,
    offset: u64,
    line: u64,
}

impl<R: Read> Window<R> {
    /// Creates a window at the start of `input`, which begins at byte `offset` and physical line `line` of
    /// its file.
    pub(crate) fn new(input: R, offset: u64, line: u64) -> Self {
        Self { input, buffer: Vec::new(), start: 0, ended: false, offset, line }
    }

    /// The bytes in the window.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Where [`Window::bytes`] begins in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The physical line, from 1, on which [`Window::bytes`] begins.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Finds the end of the line that begins `from` bytes into the window, reading as far as needed.
    pub(crate) fn line_end(&mut self, from: usize) -> io::Result<LineEnd> {
        let mut looked_at = from;
        loop {
            let seen = self.bytes();
            if let Some(at) = memchr(b'\n', &seen[looked_at..]) {
                let end = looked_at + at + 1;
                return Ok(if end > MAX_RECORD_BYTES { LineEnd::TooLong } else { LineEnd::At(end) });
            }
            looked_at = seen.len();
            if looked_at > MAX_RECORD_BYTES {
                return Ok(LineEnd::TooLong);
            }
            if self.ended {
                return Ok(if looked_at > from { LineEnd::At(looked_at) } else { LineEnd::EndOfFile });
            }
            self.read_more()?;
        }
    }

    /// Moves past `bytes` bytes that contain `lines` line ends.
    pub(crate) fn consume(&mut self, bytes: usize, lines: u64) {
        self.start += bytes;
        self.offset += bytes as u64;
        self.line += lines;
    }

    /// Moves past the end of the current line without buffering it, however long it is.
    pub(crate) fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let seen = self.bytes();
            if let Some(at) = memchr(b'\n', seen) {
                self.consume(at + 1, 1);
                return Ok(());
            }
            let all = seen.len();
            self.consume(all, 0);
            if self.ended {
                return Ok(());
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let held = self.buffer.len();
        self.buffer.resize(held + CHUNK, 0);
        let read = loop {
            match self.input.read(&mut self.buffer[held..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(held + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_lines_and_the_end() {
        let mut window = Window::new(&b"ab\nc"[..], 10, 2);
        assert_eq!(window.line_end(0).unwrap(), LineEnd::At(3));
        assert_eq!(window.line_end(3).unwrap(), LineEnd::At(4));
        assert_eq!(window.line_end(4).unwrap(), LineEnd::EndOfFile);
        window.consume(3, 1);
        assert_eq!((window.bytes(), window.offset(), window.line()), (&b"c"[..], 13, 3));
    }

    #[test]
    fn oversized_line_is_skipped_without_buffering() {
        let long = io::repeat(b'x').take(20 << 20).chain(&b"\nnext\n"[..]);
        let mut window = Window::new(long, 0, 1);
        assert_eq!(window.line_end(0).unwrap(), LineEnd::TooLong);
        window.skip_line().unwrap();
        assert!(window.buffer.capacity() <= 2 * (MAX_RECORD_BYTES + 2 * CHUNK));
        assert_eq!((window.line(), window.offset()), (2, (20 << 20) + 1));
        assert_eq!(window.line_end(0).unwrap(), LineEnd::At(5));
    }
}
