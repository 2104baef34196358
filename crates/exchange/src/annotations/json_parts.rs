//! Reads the elements of a JSON list, or the members of a JSON object, one at a time: the whole file is never
//! held in memory.

use std::io::{self, BufRead, BufReader, Read};

/// The longest element, in bytes: a task with the answers of hundreds of annotators.
pub(crate) const MAX_PART_BYTES: usize = 64 << 20;

/// One element or member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPart {
    /// The physical line on which it begins, from 1.
    pub(crate) line: u64,
    /// The key of a member.
    pub(crate) key: Option<String>,
    /// Its JSON.
    pub(crate) bytes: Vec<u8>,
}

/// An error in the list or the object around the parts: nothing after it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) line: u64,
    pub(crate) why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Inside { first: bool },
    Done,
}

/// Splits a file into its parts.
#[derive(Debug)]
pub(crate) struct JsonParts<R> {
    input: BufReader<R>,
    line: u64,
    position: u64,
    state: State,
    object: bool,
}

impl<R: Read> JsonParts<R> {
    pub(crate) fn new(input: R) -> Self {
        let input = BufReader::with_capacity(64 << 10, input);
        Self { input, line: 1, position: 0, state: State::Start, object: false }
    }

    /// Bytes that have been read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the next part; `None` after the last one.
    ///
    /// # Errors
    /// The disk; inside, a file that is not a list or object, or that is truncated.
    pub(crate) fn next_part(&mut self) -> io::Result<Option<Result<JsonPart, Broken>>> {
        if self.state == State::Done {
            return Ok(None);
        }
        let read = self.read()?;
        if !matches!(read, Some(Ok(_))) {
            self.state = State::Done;
        }
        Ok(read)
    }

    fn read(&mut self) -> io::Result<Option<Result<JsonPart, Broken>>> {
        if self.state == State::Start {
            match self.next_visible()? {
                Some(b'[') => self.object = false,
                Some(b'{') => self.object = true,
                _ => return Ok(Some(Err(self.broken("no JSON list or object begins here")))),
            }
            self.take()?;
            self.state = State::Inside { first: true };
        }
        let end = if self.object { b'}' } else { b']' };
        let first = self.state == State::Inside { first: true };
        match self.next_visible()? {
            None => return Ok(Some(Err(self.broken("the file ends before its list does: is it cut off?")))),
            Some(byte) if byte == end => {
                self.take()?;
                return match self.next_visible()? {
                    None => Ok(None),
                    Some(_) => Ok(Some(Err(self.broken("something follows behind the end of the list")))),
                };
            }
            Some(b',') if !first => drop(self.take()?),
            Some(_) if first => {}
            Some(_) => return Ok(Some(Err(self.broken("no comma between two parts of the list")))),
        }
        self.state = State::Inside { first: false };
        self.next_visible()?;
        let line = self.line;
        let mut key = None;
        if self.object {
            let Some(Ok(name)) = self.key()? else {
                return Ok(Some(Err(self.broken("no key in quotes where one belongs"))));
            };
            key = Some(name);
            self.next_visible()?;
        }
        match self.value()? {
            Ok(bytes) => Ok(Some(Ok(JsonPart { line, key, bytes }))),
            Err(why) => Ok(Some(Err(self.broken(why)))),
        }
    }

    fn key(&mut self) -> io::Result<Option<Result<String, String>>> {
        if self.next_visible()? != Some(b'"') {
            return Ok(None);
        }
        let bytes = match self.value()? {
            Ok(bytes) => bytes,
            Err(why) => return Ok(Some(Err(why.to_owned()))),
        };
        let name = serde_json::from_slice::<String>(&bytes).map_err(|e| e.to_string());
        if self.next_visible()? != Some(b':') {
            return Ok(None);
        }
        self.take()?;
        Ok(Some(name))
    }

    /// Reads one whole value. Whether it is valid JSON inside is left to its parser.
    fn value(&mut self) -> io::Result<Result<Vec<u8>, &'static str>> {
        let mut bytes = Vec::new();
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        loop {
            let seen = self.input.fill_buf()?;
            if seen.is_empty() {
                return Ok(Err("the file ends in the middle of a value: is it cut off?"));
            }
            let mut used = 0;
            let mut ended = false;
            for &byte in seen {
                if quoted {
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' => escaped = true,
                        b'"' => {
                            quoted = false;
                            ended = depth == 0;
                        }
                        _ => {}
                    }
                } else {
                    match byte {
                        b'"' => quoted = true,
                        b'[' | b'{' => depth += 1,
                        b']' | b'}' if depth == 0 => {
                            // The end of the list around a number or a word.
                            return Ok(self.finish(bytes, used));
                        }
                        b']' | b'}' => {
                            depth -= 1;
                            ended = depth == 0;
                        }
                        b',' | b':' if depth == 0 => return Ok(self.finish(bytes, used)),
                        byte if byte.is_ascii_whitespace() && depth == 0 => {
                            return Ok(self.finish(bytes, used));
                        }
                        _ => {}
                    }
                }
                self.line += u64::from(byte == b'\n');
                bytes.push(byte);
                used += 1;
                if ended {
                    return Ok(self.finish(bytes, used));
                }
            }
            self.input.consume(used);
            self.position += used as u64;
            if bytes.len() > MAX_PART_BYTES {
                return Ok(Err("a part of the list is longer than 64 MiB: is a bracket or a quote missing?"));
            }
        }
    }

    fn finish(&mut self, bytes: Vec<u8>, used: usize) -> Result<Vec<u8>, &'static str> {
        self.input.consume(used);
        self.position += used as u64;
        if bytes.is_empty() { Err("a value is missing") } else { Ok(bytes) }
    }

    /// Returns the next byte that is not white space, without consuming it.
    fn next_visible(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf()?.first().copied() {
                Some(byte) if byte.is_ascii_whitespace() || (self.position < 3 && byte >= 0x80) => {
                    self.take()?;
                }
                other => return Ok(other),
            }
        }
    }

    fn take(&mut self) -> io::Result<Option<u8>> {
        let byte = self.input.fill_buf()?.first().copied();
        if let Some(byte) = byte {
            self.input.consume(1);
            self.position += 1;
            self.line += u64::from(byte == b'\n');
        }
        Ok(byte)
    }

    fn broken(&self, why: &str) -> Broken {
        Broken { line: self.line, why: why.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// Line, key and JSON.
    type PartOfJson = (u64, Option<String>, String);

    fn divided(json: &str) -> (Vec<PartOfJson>, Option<Broken>) {
        let mut parts = JsonParts::new(json.as_bytes());
        let mut found = Vec::new();
        loop {
            match parts.next_part().unwrap() {
                None => return (found, None),
                Some(Err(broken)) => {
                    assert_eq!(parts.next_part().unwrap(), None, "nothing follows");
                    return (found, Some(broken));
                }
                Some(Ok(part)) => {
                    found.push((part.line, part.key, String::from_utf8(part.bytes).unwrap()));
                }
            }
        }
    }

    #[test]
    fn elements_have_line_numbers() {
        let (found, broken) = divided("\u{FEFF}[ {\"a\": \"]}\\\"\"},\n\n [1,\n2] , 3,\"x,y\", null]\n");
        assert_eq!(broken, None);
        let found: Vec<(u64, &str)> = found.iter().map(|(line, _, json)| (*line, json.as_str())).collect();
        let wanted = [(1, "{\"a\": \"]}\\\"\"}"), (3, "[1,\n2]"), (4, "3"), (4, "\"x,y\""), (4, "null")];
        assert_eq!(found, wanted);
        assert_eq!(divided("[]"), (vec![], None));
    }

    #[test]
    fn members_have_keys() {
        let (found, broken) = divided("{\"1\": {\"x\":[]},\n \"a\\\"b\" : 2.5 }");
        assert_eq!(broken, None);
        assert_eq!(
            found,
            [
                (1, Some("1".to_owned()), "{\"x\":[]}".to_owned()),
                (2, Some("a\"b".to_owned()), "2.5".to_owned())
            ]
        );
    }

    #[rstest]
    #[case::cut_in_a_part("[{\"a\":1},\n{\"b\":", "cut off")]
    #[case::cut_behind_a_part("[1,2", "cut off")]
    #[case::no_comma("[1 2]", "no comma")]
    #[case::more_behind("[1] 2", "follows behind")]
    #[case::number_as_key("{1:2}", "no key")]
    #[case::no_colon("{\"a\" 2}", "no key")]
    #[case::number("7", "no JSON list")]
    #[case::nothing("", "no JSON list")]
    #[case::two_commas("[1,,2]", "missing")]
    fn broken_json_is_described(#[case] json: &str, #[case] says: &str) {
        let broken = divided(json).1.unwrap();
        assert!(broken.why.contains(says), "{}", broken.why);
    }

    #[test]
    fn broken_json_is_reported_once_with_its_line() {
        assert_eq!(divided("[{},\n{}\n{}]").1.map(|broken| broken.line), Some(3));
    }
}
