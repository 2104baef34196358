//! Formats in which files write moments.

use super::written_date::{DateOrder, WrittenDate};
use crate::time::parse_ms;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// A format of moments. Its name, by `Display`, `FromStr` and serde, is the word given here, or the pattern
/// itself.
///
/// Moments without an offset are UTC, and dates are their midnight. In the formats with three numbers a year
/// may have two digits (00 to 68 are in this century, 69 to 99 in the one before), the separators are `/`,
/// `.` and `-`, and a time may have seconds, a fraction, `am` or `pm`, and an offset.
///
/// ```
/// use dissensus_exchange::TimeFormat;
///
/// let format: TimeFormat = "day-first".parse()?;
/// assert_eq!(format.parse("31.12.2024 10:00"), Some(1_735_639_200_000));
/// assert_eq!("%d %b %Y".parse::<TimeFormat>()?.parse("31 Dec 2024"), Some(1_735_603_200_000));
/// # Ok::<(), dissensus_exchange::TimeFormatError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TimeFormat {
    /// `iso`: RFC 3339, also without an offset or a time. Numbers are seconds, from 100,000,000,000 on
    /// milliseconds.
    #[default]
    Plain,
    /// `month-first`: `12/31/2024 3:05 PM`.
    MonthFirst,
    /// `day-first`: `31.12.2024, 15:05:00`.
    DayFirst,
    /// `year-first`: `2024/12/31 3:05 PM`. The year has four digits.
    YearFirst,
    /// `excel`: days since 1899-12-30 with the time as a fraction, as spreadsheets store dates from
    /// 1900-03-01 on.
    ExcelSerial,
    /// `unix`: seconds since 1970-01-01 UTC, also with a fraction.
    UnixSeconds,
    /// `unix-ms`: milliseconds since 1970-01-01 UTC.
    UnixMilliseconds,
    /// A pattern of strftime, such as `%d.%m.%Y %H:%M`. Names of months and days are English.
    Pattern(String),
}

dissensus_domain::errors! {
    /// Why a text is not the name of a format.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum TimeFormatError {
        Unknown(String) =>
            "`{0}` is no format of times: use iso, month-first, day-first, year-first, excel, unix, unix-ms or a pattern such as %d.%m.%Y %H:%M";
        Pattern { pattern: String, reason: String } => "the pattern `{pattern}` cannot read times: {reason}";
    }
}

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;
/// Days from 1899-12-30 to 1970-01-01.
const EXCEL_EPOCH: f64 = 25_569.0;
/// 1900-03-01, before which serials are off by one, because Excel has a 29th of February 1900; and
/// 10000-01-01.
const EXCEL_DAYS: std::ops::Range<f64> = 61.0..2_958_466.0;

const NAMES: [(&str, TimeFormat); 7] = [
    ("iso", TimeFormat::Plain),
    ("month-first", TimeFormat::MonthFirst),
    ("day-first", TimeFormat::DayFirst),
    ("year-first", TimeFormat::YearFirst),
    ("excel", TimeFormat::ExcelSerial),
    ("unix", TimeFormat::UnixSeconds),
    ("unix-ms", TimeFormat::UnixMilliseconds),
];

impl TimeFormat {
    /// Parses a time to milliseconds since 1970-01-01 UTC. Spaces around `value` are ignored. `None` if the
    /// value has another format, or is a date that does not exist.
    pub fn parse(&self, value: &str) -> Option<i64> {
        let value = value.trim();
        match self {
            Self::Plain => parse_ms(value),
            Self::MonthFirst => WrittenDate::read(value)?.at_ms(DateOrder::MonthDayYear),
            Self::DayFirst => WrittenDate::read(value)?.at_ms(DateOrder::DayMonthYear),
            Self::YearFirst => WrittenDate::read(value)?.at_ms(DateOrder::YearMonthDay),
            Self::ExcelSerial => parse_serial(value),
            Self::UnixSeconds => match value.parse::<i64>() {
                Ok(seconds) => seconds.checked_mul(1000),
                Err(_) => rounded(finite(value)? * 1000.0),
            },
            Self::UnixMilliseconds => match value.parse::<i64>() {
                Ok(milliseconds) => Some(milliseconds),
                Err(_) => rounded(finite(value)?),
            },
            Self::Pattern(pattern) => parse_pattern(pattern, value).ok(),
        }
    }
}

impl Display for TimeFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain => "iso",
            Self::MonthFirst => "month-first",
            Self::DayFirst => "day-first",
            Self::YearFirst => "year-first",
            Self::ExcelSerial => "excel",
            Self::UnixSeconds => "unix",
            Self::UnixMilliseconds => "unix-ms",
            Self::Pattern(pattern) => pattern,
        })
    }
}

impl FromStr for TimeFormat {
    type Err = TimeFormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.trim().to_ascii_lowercase();
        if let Some((_, format)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(format.clone());
        }
        if !text.contains('%') {
            return Err(TimeFormatError::Unknown(text.to_owned()));
        }
        check_pattern(text).map(|()| Self::Pattern(text.to_owned())).map_err(|reason| {
            TimeFormatError::Pattern { pattern: text.to_owned(), reason: reason.to_string() }
        })
    }
}

impl TryFrom<String> for TimeFormat {
    type Error = TimeFormatError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TimeFormat> for String {
    fn from(format: TimeFormat) -> Self {
        format.to_string()
    }
}

/// Days since 1899-12-30. A decimal comma is read too.
fn parse_serial(value: &str) -> Option<i64> {
    let days = finite(&value.replacen(',', ".", 1))?;
    if EXCEL_DAYS.contains(&days) { rounded((days - EXCEL_EPOCH) * DAY_MS) } else { None }
}

fn finite(value: &str) -> Option<f64> {
    value.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Whole milliseconds, where that many are exact.
fn rounded(ms: f64) -> Option<i64> {
    (ms.abs() < 9e15).then_some(ms.round() as i64)
}

fn parse_pattern(pattern: &str, value: &str) -> Result<i64, jiff::Error> {
    let parts = BrokenDownTime::parse(pattern, value)?;
    let moment = match parts.timestamp() {
        Some(moment) => moment,
        None => parts.offset().unwrap_or(Offset::UTC).to_timestamp(parts.to_datetime()?)?,
    };
    Ok(moment.as_millisecond())
}

/// Formats a moment with the pattern and parses it again.
fn check_pattern(pattern: &str) -> Result<(), jiff::Error> {
    let moment = Timestamp::from_second(1_735_639_509)?.to_zoned(jiff::tz::TimeZone::UTC);
    let written = jiff::fmt::strtime::format(pattern, &moment)?;
    let read = DateTime::from(
        Timestamp::from_millisecond(parse_pattern(pattern, &written)?)?.to_zoned(jiff::tz::TimeZone::UTC),
    );
    if read.date() == moment.date() {
        Ok(())
    } else {
        Err(jiff::Error::from_args(format_args!("it is read as {read}")))
    }
}

#[cfg(test)]
mod tests;
