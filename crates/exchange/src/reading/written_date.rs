//! Numeric dates, such as `12/31/2024 3:05 PM` and `31.12.2024, 15:05:00`.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

/// The order of the three numbers of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateOrder {
    MonthDayYear,
    DayMonthYear,
    YearMonthDay,
}

/// A date and a time as they are written, before they are read in one order.
///
/// The numbers are separated by `/`, `.` or `-`. The time is optional, and separated by spaces, `T`, or a
/// comma. It has hours and minutes, and optionally seconds, a fraction, `am` or `pm`, and `Z`, `UTC`, `GMT`
/// or an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenDate {
    /// The three numbers from left to right.
    pub(super) numbers: [u16; 3],
    /// How many digits each number has.
    digits: [usize; 3],
    pub(super) separator: char,
    time: Time,
    pub(super) has_meridiem: bool,
    offset_s: i32,
}

impl WrittenDate {
    /// Parses the parts of `value`; `None` if it has another form, or an invalid time of day.
    pub(super) fn read(value: &str) -> Option<Self> {
        let value = value.trim();
        let (first, rest) = split_number(value)?;
        let separator = rest.chars().next().filter(|c| matches!(c, '/' | '.' | '-'))?;
        let (second, rest) = split_number(skip_separator(rest, separator)?)?;
        let (third, rest) = split_number(skip_separator(rest, separator)?)?;
        let parts = [first, second, third];
        let (time, has_meridiem, offset_s) = read_time_part(rest)?;
        Some(Self {
            numbers: [number(parts[0], 4)?, number(parts[1], 4)?, number(parts[2], 4)?],
            digits: parts.map(str::len),
            separator,
            time,
            has_meridiem,
            offset_s,
        })
    }

    /// Returns milliseconds since 1970-01-01 UTC with the numbers in this order; `None` if there is no such
    /// day.
    ///
    /// Years have four digits, or two, of which 00 to 68 are in this century and 69 to 99 in the one before.
    /// A year in first position has four.
    pub(super) fn at_ms(&self, order: DateOrder) -> Option<i64> {
        let [year, month, day] = match order {
            DateOrder::MonthDayYear => [2, 0, 1],
            DateOrder::DayMonthYear => [2, 1, 0],
            DateOrder::YearMonthDay => [0, 1, 2],
        };
        if self.digits[month] > 2 || self.digits[day] > 2 {
            return None;
        }
        let year = match (self.digits[year], self.numbers[year]) {
            (4, number) => number,
            (2, number) if order != DateOrder::YearMonthDay => {
                if number < 69 {
                    2000 + number
                } else {
                    1900 + number
                }
            }
            _ => return None,
        };
        let (year, month, day) = (
            i16::try_from(year).ok()?,
            i8::try_from(self.numbers[month]).ok()?,
            i8::try_from(self.numbers[day]).ok()?,
        );
        let moment = DateTime::from_parts(Date::new(year, month, day).ok()?, self.time);
        Some(Offset::from_seconds(self.offset_s).ok()?.to_timestamp(moment).ok()?.as_millisecond())
    }
}

/// Reads separator and time, or nothing: the time, whether it has `am` or `pm`, and its offset in seconds.
fn read_time_part(rest: &str) -> Option<(Time, bool, i32)> {
    if rest.is_empty() {
        return Some((Time::midnight(), false, 0));
    }
    let after_comma = rest.trim_start().strip_prefix(',');
    let separated = match after_comma {
        Some(after) => after.trim_start(),
        None => rest
            .strip_prefix(['T', 't'])
            .or_else(|| rest.starts_with(char::is_whitespace).then(|| rest.trim_start()))?,
    };
    let (hour, rest) = split_number(separated)?;
    let (minute, rest) = optional_number(rest, ':')?;
    let (second, rest) = if minute.is_some() { optional_number(rest, ':')? } else { (None, rest) };
    let (nanosecond, rest) = if second.is_some() { fraction(rest)? } else { (0, rest) };
    let (afternoon, rest) = meridiem(rest);
    let offset_s = offset_seconds(rest.trim_start())?;
    let hour = match (afternoon, number(hour, 2)?) {
        (None, _) if minute.is_none() => return None,
        (None, hour) => hour,
        (Some(afternoon), hour @ 1..=12) => hour % 12 + if afternoon { 12 } else { 0 },
        (Some(_), _) => return None,
    };
    let part = |digits: Option<&str>| match digits {
        Some(digits) if digits.len() == 2 => digits.parse::<i8>().ok(),
        Some(_) => None,
        None => Some(0),
    };
    let time = Time::new(i8::try_from(hour).ok()?, part(minute)?, part(second)?, nanosecond).ok()?;
    Some((time, afternoon.is_some(), offset_s))
}

/// The leading digits, at least one, and what follows.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| text.split_at(digits))
}

/// Returns the digits after a separator, if it is there.
fn optional_number(text: &str, separator: char) -> Option<(Option<&str>, &str)> {
    match text.strip_prefix(separator) {
        Some(rest) => split_number(rest).map(|(digits, rest)| (Some(digits), rest)),
        None => Some((None, text)),
    }
}

/// Spaces may follow a full stop, as in `31. 12. 2024`.
fn skip_separator(text: &str, separator: char) -> Option<&str> {
    let rest = text.strip_prefix(separator)?;
    Some(if separator == '.' { rest.trim_start() } else { rest })
}

fn number(digits: &str, most: usize) -> Option<u16> {
    if digits.len() > most { None } else { digits.parse().ok() }
}

/// Reads a fraction of a second to the nanosecond; further digits are cut off.
fn fraction(text: &str) -> Option<(i32, &str)> {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let (digits, rest) = split_number(rest)?;
    let kept = &digits[..digits.len().min(9)];
    Some((format!("{kept:0<9}").parse().ok()?, rest))
}

/// Reads `am`, `PM`, `a.m.` and `p. m.`: whether it is afternoon.
fn meridiem(text: &str) -> (Option<bool>, &str) {
    let trimmed = text.trim_start();
    let mut characters = trimmed.char_indices().filter(|(_, c)| !c.is_whitespace() && *c != '.');
    let afternoon = match characters.next() {
        Some((0, 'a' | 'A')) => false,
        Some((0, 'p' | 'P')) => true,
        _ => return (None, text),
    };
    match characters.next() {
        Some((at, 'm' | 'M')) => {
            let rest = &trimmed[at + 1..];
            (Some(afternoon), rest.strip_prefix('.').unwrap_or(rest))
        }
        _ => (None, text),
    }
}

/// Reads nothing, `Z`, `UTC`, `GMT`, `+02:00`, `-0500`, `+02` or `UTC+2` as seconds east of UTC.
fn offset_seconds(text: &str) -> Option<i32> {
    let upper = text.to_ascii_uppercase();
    let text = upper.strip_prefix("UTC").or_else(|| upper.strip_prefix("GMT")).unwrap_or(&upper);
    if text.is_empty() || upper == "Z" {
        return Some(0);
    }
    let (sign, digits) = match text.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, text.strip_prefix(['-', '\u{2212}'])?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if digits.len() == 4 && digits.is_ascii() => digits.split_at(2),
        None => (digits, "0"),
    };
    let all_digits =
        |text: &str| !text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(hours) || !all_digits(minutes) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}
