//! Parses one CSV record from its lines: RFC 4180, strict about quotes, so that a stray quote is reported at
//! its position.

use crate::RowErrorKind;
use crate::cells::Cells;
use memchr::memchr;

/// How a line left its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineState {
    Complete,
    /// A quoted value continues on the next line.
    Open,
    /// Something follows a closing quote.
    Broken,
}

/// Splits the lines of one record into values. `"` opens a quoted value only as the first character of a
/// value; inside, `""` is one quote and line ends are unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Splitter {
    delimiter: u8,
    quoted: bool,
    quote_line: u64,
}

impl Splitter {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { delimiter, quoted: false, quote_line: 0 }
    }

    /// Parses the next physical line of the record, with its line end; `number` is its line in the file.
    pub(crate) fn feed(&mut self, line: &str, number: u64, cells: &mut Cells) -> LineState {
        let mut rest = line;
        loop {
            if !self.quoted && rest.starts_with('"') {
                self.quoted = true;
                self.quote_line = number;
                rest = &rest[1..];
            }
            let step =
                if self.quoted { self.quoted_value(rest, cells) } else { self.plain_value(rest, cells) };
            match step {
                Ok(after) => rest = after,
                Err(state) => return state,
            }
        }
    }

    fn plain_value<'a>(&self, rest: &'a str, cells: &mut Cells) -> Result<&'a str, LineState> {
        match memchr(self.delimiter, rest.as_bytes()) {
            Some(at) => {
                cells.text.push_str(&rest[..at]);
                cells.end_value();
                Ok(&rest[at + 1..])
            }
            None => {
                cells.text.push_str(without_line_end(rest));
                cells.end_value();
                Err(LineState::Complete)
            }
        }
    }

    fn quoted_value<'a>(&mut self, mut rest: &'a str, cells: &mut Cells) -> Result<&'a str, LineState> {
        loop {
            let Some(at) = memchr(b'"', rest.as_bytes()) else {
                cells.text.push_str(rest);
                return Err(LineState::Open);
            };
            cells.text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('"') {
                cells.text.push('"');
                rest = after;
                continue;
            }
            if rest.as_bytes().first() == Some(&self.delimiter) {
                cells.end_value();
                self.quoted = false;
                return Ok(&rest[1..]);
            }
            if without_line_end(rest).is_empty() {
                cells.end_value();
                self.quoted = false;
                return Err(LineState::Complete);
            }
            return Err(LineState::Broken);
        }
    }

    /// Why the record could not be finished; `state` is how its last line, number `line`, left it.
    pub(crate) fn trouble(&self, state: LineState, line: u64) -> RowErrorKind {
        match state {
            LineState::Broken => RowErrorKind::TextAfterQuote { opened: self.quote_line, closed: line },
            _ => RowErrorKind::UnclosedQuote { line: self.quote_line },
        }
    }
}

/// The line without `\n`, `\r\n` or a last `\r`.
pub(crate) fn without_line_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(lines: &[&str]) -> (LineState, Vec<String>) {
        let mut cells = Cells::default();
        let mut splitter = Splitter::new(b',');
        let mut state = LineState::Open;
        for (number, line) in lines.iter().enumerate() {
            state = splitter.feed(line, number as u64 + 1, &mut cells);
        }
        (state, cells.iter().map(str::to_owned).collect())
    }

    #[test]
    fn values_quotes_and_line_ends_are_parsed() {
        let cases: [(&[&str], &[&str]); 9] = [
            (&["a,b\n"], &["a", "b"]),
            (&["a,b\r\n"], &["a", "b"]),
            (&["a,b"], &["a", "b"]),
            (&["a,\n"], &["a", ""]),
            (&["\"a,b\",c\n"], &["a,b", "c"]),
            (&["\"a \"\"b\"\"\",c\r\n"], &["a \"b\"", "c"]),
            (&["\"a\r\n", "b\",c\n"], &["a\r\nb", "c"]),
            (&[" \"a\", b \n"], &[" \"a\"", " b "]),
            (&["5\" pipe,\"\"\n"], &["5\" pipe", ""]),
        ];
        for (lines, values) in cases {
            let (state, got) = split(lines);
            assert_eq!(
                (state, got.iter().map(String::as_str).collect::<Vec<_>>()),
                (LineState::Complete, values.to_vec())
            );
        }
    }

    #[test]
    fn stray_quotes_are_detected() {
        assert_eq!(split(&["\"a\" b,c\n"]).0, LineState::Broken);
        assert_eq!(split(&["a,\"b\n", "c,\"d\"\n"]).0, LineState::Broken);
        assert_eq!(split(&["a,\"b\n", "c\n"]).0, LineState::Open);
    }
}
