//! Finds what is to be masked in a text, and masks it.
//!
//! A mask has as many characters as what it covers, so offsets of spans are the same with and without masks.
//! The same rules mask a text always in the same way: submissions name texts by hashes of what was shown.

use crate::word_list::WordList;
use crate::{MAX_TEXT_BYTES, MaskError, MaskException, MaskRule, MaskRules};
use regex::{Regex, RegexBuilder};
use std::collections::HashSet;
use std::ops::Range;

/// The character that covers one character.
const MASK: char = '█';
/// Covers characters of a text that would become too long with [`MASK`], which has three bytes.
const SHORT_MASK: char = '*';
/// Memory of a compiled regular expression, in bytes.
const LARGEST_PATTERN: usize = 4 << 20;
/// An ordinary sentence, of which a regular expression may not match every word.
const SENTENCE: &str = "The quick brown fox jumps over 2 lazy dogs";
/// Bytes that a regular expression without a maximum length finds in a text of more than twice as many:
/// `a.*b|a` would read the rest of the text for each `a`.
const LONGEST_MATCH: usize = 4 << 10;

/// Characters before the `@`, then labels with dots between them.
const EMAIL: &str = r"[\w.%+\-]+[@＠][\w\-]+(?:\.[\w\-]+)+";
/// With a scheme, with `www.`, or a domain of a common ending.
const WEB: &str = r#"(?i)(?:(?:https?|ftp)://|www\.)[^\s<>"“”„«»、。，；：！？（）【】《》]+|\b[\w\-]+(?:\.[\w\-]+)*\.(?:com|org|net|info|edu|gov|eu)\b(?:/[^\s<>"“”„«»、。，；：！？（）【】《》]*)?"#;
/// `@name` and `u/name`.
const USER: &str = r"[@＠]\w[\w.\-]{0,62}|/?(?-u:\b)u/[A-Za-z0-9_\-]{3,20}(?-u:\b)";
/// Any number of digits with spaces, brackets, dots, dashes and slashes between them.
const PHONES: &str = r"(?:\+\s?)?[\d(][\d()\-./ \u{a0}\u{2010}\u{2011}\u{2013}]*\d";
/// 13 digits or more in groups.
const CARDS: &str = r"[0-9](?:[ \-]?[0-9]){12,}";
/// The beginning of an IBAN: the country and two check digits.
const IBAN: &str = r"(?-u:\b)[A-Za-z]{2}[0-9]{2}";

/// Maximum number of digits of a phone number (ITU-T E.164).
const MOST_PHONE_DIGITS: usize = 15;
/// Maximum number of characters between two groups of digits of a phone number.
const LONGEST_GAP: usize = 6;
/// Number of digits of a card number.
const CARD_DIGITS: Range<usize> = 13..20;

/// What a rule found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: MaskRule,
    /// In bytes.
    pub at: Range<usize>,
    /// Whether an exception leaves it unmasked.
    pub excepted: bool,
}

/// Rules that are ready to be applied.
#[derive(Debug)]
pub struct Masker {
    /// The rules that are on, in their order.
    finders: Vec<(MaskRule, Finder)>,
    /// Exceptions for every text.
    everywhere: HashSet<String>,
    /// Exceptions as text and found words.
    in_text: HashSet<(String, String)>,
}

#[derive(Debug)]
enum Finder {
    Email(Regex),
    Web(Regex),
    User(Regex),
    Phone(Regex),
    Account { card: Regex, iban: Regex },
    Words(WordList),
    Pattern { regex: Regex, longest: Option<usize> },
}

impl Masker {
    /// Prepares rules.
    ///
    /// # Errors
    /// The regular expression is invalid, too large, or matches everything or nothing; or there are too many
    /// words.
    pub fn new(rules: &MaskRules) -> Result<Self, MaskError> {
        rules.check()?;
        let mut on = rules.on.clone();
        on.sort_unstable();
        on.dedup();
        let finder = |rule: MaskRule| Ok((rule, Finder::new(rule, rules)?));
        let (mut everywhere, mut in_text) = (HashSet::new(), HashSet::new());
        for MaskException { found, text } in rules.except.iter().cloned() {
            match text {
                None => everywhere.insert(found),
                Some(text) => in_text.insert((text, found)),
            };
        }
        let finders = on.into_iter().map(finder).collect::<Result<_, MaskError>>()?;
        Ok(Self { finders, everywhere, in_text })
    }

    /// Whether no rule is on.
    pub fn is_off(&self) -> bool {
        self.finders.is_empty()
    }

    /// Everything that the rules find in the text with this id, by its place; findings may overlap.
    pub fn find(&self, id: &str, body: &str) -> Vec<Finding> {
        let mut all = Vec::new();
        for (rule, finder) in &self.finders {
            for at in finder.find(body) {
                let excepted = self.is_excepted(id, &body[at.clone()]);
                all.push(Finding { rule: *rule, at, excepted });
            }
        }
        all.sort_by_key(|one| (one.at.start, one.at.end, one.rule));
        all
    }

    fn is_excepted(&self, id: &str, found: &str) -> bool {
        self.everywhere.contains(found)
            || (!self.in_text.is_empty() && self.in_text.contains(&(id.to_owned(), found.to_owned())))
    }

    /// The text with this id as it is handed out; `None` if nothing in it is masked.
    pub fn mask(&self, id: &str, body: &str) -> Option<String> {
        let found = self.find(id, body);
        let covered = covered(found.into_iter().filter(|one| !one.excepted).map(|one| one.at));
        if covered.is_empty() {
            return None;
        }
        let masked = covering(body, &covered, MASK);
        Some(match masked.len() > MAX_TEXT_BYTES {
            true => covering(body, &covered, SHORT_MASK),
            false => masked,
        })
    }
}

/// Ranges that may overlap, by their start, as ranges that do not.
fn covered(found: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for at in found {
        match all.last_mut() {
            Some(last) if at.start < last.end => last.end = last.end.max(at.end),
            _ => all.push(at),
        }
    }
    all
}

/// The text with each character in these ranges covered, except white space: lines break where they did.
fn covering(body: &str, covered: &[Range<usize>], mask: char) -> String {
    let mut masked = String::with_capacity(body.len());
    let mut from = 0;
    for Range { start, end } in covered {
        masked.push_str(&body[from..*start]);
        masked.extend(body[*start..*end].chars().map(|c| if c.is_whitespace() { c } else { mask }));
        from = *end;
    }
    masked.push_str(&body[from..]);
    masked
}

impl Finder {
    fn new(rule: MaskRule, rules: &MaskRules) -> Result<Self, MaskError> {
        Ok(match rule {
            MaskRule::Email => Self::Email(compiled(EMAIL)?),
            MaskRule::Web => Self::Web(compiled(WEB)?),
            MaskRule::User => Self::User(compiled(USER)?),
            MaskRule::Phone => Self::Phone(compiled(PHONES)?),
            MaskRule::Account => Self::Account { card: compiled(CARDS)?, iban: compiled(IBAN)? },
            MaskRule::Words => Self::Words(WordList::new(&rules.words, rules.exact)),
            MaskRule::Pattern => pattern(&rules.pattern)?,
        })
    }

    /// Where it is found, without overlaps.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let before = |at: usize| text[..at].chars().next_back();
        let has_at = || text.contains(['@', '＠']);
        let all = |regex: &Regex| regex.find_iter(text).map(|found| found.range()).collect::<Vec<_>>();
        match self {
            Self::Email(regex) if has_at() => all(regex),
            Self::Web(regex) if text.contains('.') || text.contains("://") => {
                let mut found = all(regex);
                for at in &mut found {
                    at.end = at.start + text[at.clone()].trim_end_matches(ends_no_address).len();
                }
                found.retain(|at| !at.is_empty());
                found
            }
            Self::User(regex) if has_at() || text.contains("u/") => {
                let mut found = all(regex);
                found.retain(|at| !before(at.start).is_some_and(joins_at_sign));
                for at in &mut found {
                    at.end = at.start + text[at.clone()].trim_end_matches(['.', '-']).len();
                }
                found
            }
            Self::Phone(regex) => covered(regex.find_iter(text).flat_map(|run| phones_in(text, run.range()))),
            Self::Account { card, iban } => {
                let cards = card.find_iter(text).flat_map(|run| cards_in(text, run.range()));
                let ibans = iban.find_iter(text).filter_map(|start| iban_at(text, start.start()));
                let mut found: Vec<_> = cards.chain(ibans).collect();
                found.sort_by_key(|at| (at.start, at.end));
                covered(found.into_iter())
            }
            Self::Words(words) => words.find(text),
            Self::Pattern { regex, longest: Some(_) } => all(regex),
            Self::Pattern { regex, longest: None } => matches_in_steps(regex, text),
            Self::Email(_) | Self::Web(_) | Self::User(_) => Vec::new(),
        }
    }
}

fn compiled(pattern: &str) -> Result<Regex, MaskError> {
    let built =
        RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).dfa_size_limit(LARGEST_PATTERN).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => MaskError::Large,
        other => MaskError::Pattern { line: 1, column: 1, why: other.to_string() },
    })
}

/// A study's own regular expression.
fn pattern(written: &str) -> Result<Finder, MaskError> {
    if written.trim().is_empty() {
        return Err(MaskError::NoPattern);
    }
    let invalid = |span: &regex_syntax::ast::Span, why: String| MaskError::Pattern {
        line: span.start.line,
        column: span.start.column,
        why,
    };
    let read = regex_syntax::Parser::new().parse(written).map_err(|error| match &error {
        regex_syntax::Error::Parse(error) => invalid(error.span(), error.kind().to_string()),
        regex_syntax::Error::Translate(error) => invalid(error.span(), error.kind().to_string()),
        other => MaskError::Pattern { line: 1, column: 1, why: other.to_string() },
    })?;
    if read.properties().minimum_len().is_none_or(|shortest| shortest == 0) {
        return Err(MaskError::Empty);
    }
    let regex = compiled(written)?;
    let found = covered(regex.find_iter(SENTENCE).map(|found| found.range()));
    let left = covering(SENTENCE, &found, MASK).chars().any(|c| c != MASK && !c.is_whitespace());
    let longest = read.properties().maximum_len().filter(|longest| *longest <= LONGEST_MATCH);
    if left { Ok(Finder::Pattern { regex, longest }) } else { Err(MaskError::Everything) }
}

/// Matches of up to [`LONGEST_MATCH`] bytes, in a time that grows with the length of the text.
fn matches_in_steps(regex: &Regex, text: &str) -> Vec<Range<usize>> {
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let end = text.floor_char_boundary(from + 2 * LONGEST_MATCH);
        let next = text.floor_char_boundary(from + LONGEST_MATCH);
        match regex.find_at(&text[..end], from) {
            Some(one) if one.start() < next || end == text.len() => {
                found.push(one.range());
                from = one.end();
            }
            // It may go on after the step.
            Some(one) => from = one.start(),
            None if end == text.len() => return found,
            None => from = next,
        }
    }
}

/// Whether a character at the end of a web address belongs to the sentence around it.
fn ends_no_address(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '}' | '\'' | '’' | '*' | '_' | '…')
}

/// Whether a character before or after a number makes it a part of something else. Letters of scripts that
/// put no spaces between words, or write short words together with the next, do not.
fn blocks(c: char) -> bool {
    c.is_numeric() || c.is_ascii_alphanumeric()
}

/// Whether a character before an `@` makes it a part of an address: letters of scripts with capitals do.
fn joins_at_sign(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || c.is_numeric() || c == '_'
}

/// Digits, with a plus sign or bracket before them.
struct Group {
    /// In bytes.
    at: Range<usize>,
    digits: usize,
    /// Whether a phone number begins here if one does at all.
    is_prefix: bool,
}

/// Digits in groups, by their place.
fn groups_in(text: &str, run: Range<usize>) -> Vec<Group> {
    let (mut groups, mut from) = (Vec::new(), run.start);
    while let Some(first) = text[from..run.end].find(char::is_numeric) {
        let first = from + first;
        let rest = &text[first..run.end];
        let length = rest.find(|c: char| !c.is_numeric()).unwrap_or(rest.len());
        let start = match &text[from..first] {
            gap if gap.starts_with('+') => from,
            gap if gap.ends_with('(') => first - 1,
            _ => first,
        };
        let digits = text[first..first + length].chars().count();
        let is_prefix = start < first || text[first..].chars().next().and_then(|c| c.to_digit(10)) == Some(0);
        from = first + length;
        groups.push(Group { at: start..from, digits, is_prefix });
    }
    groups
}

/// Everything in a run of digits that can be a phone number; findings may overlap. A phone number is found
/// whatever other numbers are before and after it, so two numbers in one run are both covered.
fn phones_in(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let mut groups = groups_in(text, run.clone());
    let first = text[run.clone()].chars().next();
    if first.is_some_and(char::is_numeric) && text[..run.start].chars().next_back().is_some_and(blocks) {
        groups.remove(0);
    }
    if text[run.end..].chars().next().is_some_and(blocks) {
        groups.pop();
    }
    let mut found = Vec::new();
    for part in parts(text, &groups) {
        for first in 0..part.len() {
            let longest = ends(&part[first..]).rfind(|end| is_phone(&part[first..first + end]));
            found.extend(longest.map(|end| part[first].at.start..part[first + end - 1].at.end));
        }
    }
    found
}

/// The numbers of groups after the first that a phone number can have.
fn ends(groups: &[Group]) -> impl DoubleEndedIterator<Item = usize> + use<> {
    let mut digits = 0;
    let fit = groups.iter().take_while(|group| {
        digits += group.digits;
        digits <= MOST_PHONE_DIGITS
    });
    1..=fit.count()
}

/// Groups without dates and network addresses, split where the gap is long.
fn parts<'a>(text: &str, groups: &'a [Group]) -> Vec<&'a [Group]> {
    let gap = |nth: usize| match nth {
        0 => "",
        _ => groups.get(nth).map_or("", |next| &text[groups[nth - 1].at.end..next.at.start]),
    };
    let (mut parts, mut from, mut nth) = (Vec::new(), 0, 0);
    while nth < groups.len() {
        if gap(nth).chars().nth(LONGEST_GAP).is_some() {
            parts.push(&groups[from..nth]);
            from = nth;
        }
        let other = match text[groups[nth].at.start..].starts_with('+') {
            true => 0,
            false => no_phone(&groups[nth..], |after| gap(nth + after)),
        };
        // Inside of a phone number, it is a part of it.
        let is_apart = from == nth
            || (from.max(nth.saturating_sub(MOST_PHONE_DIGITS))..nth).any(|k| is_phone(&groups[k..nth]));
        if other > 0 && is_apart {
            parts.push(&groups[from..nth]);
            from = nth + other;
            nth = from;
        } else {
            nth += 1;
        }
    }
    parts.push(&groups[from..]);
    parts
}

/// The number of groups of the date or network address that begins here: 0 if none does.
fn no_phone<'a>(groups: &[Group], gap: impl Fn(usize) -> &'a str) -> usize {
    let digits: Vec<usize> = groups.iter().take(4).map(|group| group.digits).collect();
    let between = gap(1);
    let is_one = |length: usize| {
        (1..length).all(|nth| gap(nth) == between) && gap(0) != between && gap(length) != between
    };
    match digits.as_slice() {
        [4, month, day, ..] | [day, month, 4, ..]
            if *month <= 2 && *day <= 2 && matches!(between, "-" | "." | "/") && is_one(3) =>
        {
            3
        }
        [a, b, c, d] if [a, b, c, d].iter().all(|group| **group <= 3) && between == "." && is_one(4) => 4,
        _ => 0,
    }
}

/// Whether digits in groups can be a phone number, and are no date, no years and no other number.
fn is_phone(groups: &[Group]) -> bool {
    let lengths: Vec<usize> = groups.iter().map(|group| group.digits).collect();
    let digits: usize = lengths.iter().sum();
    let is_date = match lengths.as_slice() {
        [4, month, day] | [day, month, 4] => *month <= 2 && *day <= 2,
        [4, 4] => true,
        _ => false,
    };
    if !(7..=MOST_PHONE_DIGITS).contains(&digits) || is_date || lengths.iter().all(|length| *length == 1) {
        return false;
    }
    // Without a prefix, only long numbers and those in two to five groups.
    let begins = groups.first().is_some_and(|group| group.is_prefix);
    begins || digits >= 9 || (2..=5).contains(&lengths.len())
}

/// Everything in a run of digits that can be a card number; findings may overlap.
fn cards_in(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let ends_at_run = !text[run.end..].chars().next().is_some_and(blocks);
    let begins_at_run = !text[..run.start].chars().next_back().is_some_and(blocks);
    let can_begin =
        |at: &usize| is_digit(*at) && if *at == run.start { begins_at_run } else { !is_digit(at - 1) };
    let mut found = Vec::new();
    for start in run.clone().filter(can_begin) {
        let ends = (start..run.end).filter(|at| is_digit(*at)).map(|at| at + 1).zip(1..CARD_DIGITS.end);
        let can_end = |end: usize| if end == run.end { ends_at_run } else { !is_digit(end) };
        let longest = ends
            .filter(|(end, digits)| CARD_DIGITS.contains(digits) && can_end(*end))
            .filter(|(end, _)| has_check_digit(&text[start..*end]))
            .last();
        found.extend(longest.map(|(end, _)| start..end));
    }
    found
}

/// Whether the last digit of a card number fits the others (Luhn, ISO/IEC 7812-1 annex B).
fn has_check_digit(found: &str) -> bool {
    let digits: Vec<u32> = found.chars().filter_map(|c| c.to_digit(10)).collect();
    let doubled = |(nth, digit): (usize, &u32)| match nth % 2 {
        0 => *digit,
        _ if *digit > 4 => digit * 2 - 9,
        _ => digit * 2,
    };
    digits.iter().any(|digit| *digit != 0)
        && digits.iter().rev().enumerate().map(doubled).sum::<u32>().is_multiple_of(10)
}

/// The longest IBAN that begins here: 15 to 34 letters and digits, with single spaces or hyphens, whose
/// number is 1 modulo 97 (ISO 13616-1, ISO/IEC 7064).
fn iban_at(text: &str, start: usize) -> Option<Range<usize>> {
    let (mut signs, mut longest, mut gap) = (Vec::new(), None, false);
    for (at, c) in text[start..].char_indices() {
        match c {
            ' ' | '-' if !gap => gap = true,
            c if c.is_ascii_alphanumeric() && signs.len() < 34 => {
                signs.push(c.to_digit(36).unwrap_or(0));
                gap = false;
                let end = start + at + 1;
                let ends = !text[end..].chars().next().is_some_and(blocks);
                if signs.len() >= 15 && ends && is_iban(&signs) {
                    longest = Some(start..end);
                }
            }
            _ => break,
        }
    }
    longest
}

fn is_iban(signs: &[u32]) -> bool {
    let (first, rest) = signs.split_at(4);
    let shifted = |rest: u32, sign: &u32| (rest * if *sign > 9 { 100 } else { 10 } + sign) % 97;
    rest.iter().chain(first).fold(0, shifted) == 1
}

#[cfg(test)]
mod tests;
