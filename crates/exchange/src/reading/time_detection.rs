//! Which format the moments of a column have.

use super::time_format::TimeFormat;
use super::written_date::{DateOrder, WrittenDate};
use crate::time::parse_ms;
use std::collections::BTreeSet;
use std::ops::Range;

/// The format of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Detected {
    /// No format reads all values, or there are no values.
    None,
    /// The format that reads all values.
    One(TimeFormat),
    /// Both read all values; the likelier one is first.
    Ambiguous(TimeFormat, TimeFormat),
}

/// 2001 to 2096.
const UNIX_SECONDS: Range<f64> = 1e9..4e9;
const UNIX_MILLISECONDS: Range<f64> = 1e12..4e12;
/// 1982 to 2064.
const EXCEL_SERIALS: Range<f64> = 30_000.0..60_000.1;

/// Patterns that are tried where no other format reads the values.
const PATTERNS: [&str; 20] = [
    "%Y%m%d",
    "%Y%m%d%H%M%S",
    "%a %b %d %H:%M:%S %z %Y",
    "%a %b %d %H:%M:%S UTC %Y",
    "%a %b %d %H:%M:%S GMT %Y",
    "%a %b %d %H:%M:%S %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%a %b %d %Y %H:%M:%S GMT%z",
    "%d %b %Y",
    "%d %b %Y %H:%M",
    "%d %b %Y %H:%M:%S",
    "%d %B %Y",
    "%d-%b-%Y",
    "%d-%b-%Y %H:%M:%S",
    "%b %d, %Y",
    "%b %d, %Y %H:%M:%S",
    "%b %d, %Y %I:%M %p",
    "%b %d, %Y, %I:%M:%S %p",
    "%B %d, %Y",
];

/// Finds the format that parses all `values`; blank ones are skipped.
///
/// Numbers are seconds or milliseconds since 1970 if they are in this century, and days of spreadsheets if
/// all are between 30,000 and 60,000; other numbers are not times. Dates whose first two numbers can both be
/// the month are ambiguous, unless they are separated by a full stop, which is used in day-first dates. Of
/// the two orders the one with fewer different months is likelier, because files are collected in weeks
/// rather than years.
pub(crate) fn detect<'a>(values: impl Iterator<Item = &'a str>) -> Detected {
    let mut candidates = Candidates::new();
    for value in values.map(str::trim).filter(|value| !value.is_empty()) {
        candidates.observe(value);
        if candidates.are_none() {
            return Detected::None;
        }
    }
    candidates.into_detected()
}

/// The formats that read all values so far.
struct Candidates {
    any: bool,
    seconds: bool,
    milliseconds: bool,
    serials: bool,
    plain: bool,
    written: bool,
    orders: Vec<DateOrder>,
    full_stops: bool,
    meridiem: bool,
    /// The first and the second numbers of dates.
    numbers: [BTreeSet<u16>; 2],
    patterns: Vec<TimeFormat>,
}

impl Candidates {
    fn new() -> Self {
        Self {
            any: false,
            seconds: true,
            milliseconds: true,
            serials: true,
            plain: true,
            written: true,
            orders: vec![DateOrder::MonthDayYear, DateOrder::DayMonthYear, DateOrder::YearMonthDay],
            full_stops: true,
            meridiem: false,
            numbers: [BTreeSet::new(), BTreeSet::new()],
            patterns: PATTERNS.iter().map(|pattern| TimeFormat::Pattern((*pattern).to_owned())).collect(),
        }
    }

    fn observe(&mut self, value: &str) {
        self.any = true;
        let number = value.parse::<f64>().ok();
        let within = |range: &Range<f64>| number.is_some_and(|number| range.contains(&number));
        self.seconds &= within(&UNIX_SECONDS);
        self.milliseconds &= within(&UNIX_MILLISECONDS);
        self.serials &= EXCEL_SERIALS.contains(&serial(value).unwrap_or(f64::NAN));
        // Small numbers would be moments of 1970.
        let plausible = number.is_none() || within(&UNIX_SECONDS) || within(&UNIX_MILLISECONDS);
        self.plain = self.plain && plausible && parse_ms(value).is_some();
        self.observe_written(value);
        self.patterns.retain(|pattern| pattern.parse(value).is_some());
    }

    fn observe_written(&mut self, value: &str) {
        if !self.written {
            return;
        }
        let Some(date) = WrittenDate::read(value) else {
            self.written = false;
            return;
        };
        self.orders.retain(|order| date.at_ms(*order).is_some());
        self.written = !self.orders.is_empty();
        self.full_stops &= date.separator == '.';
        self.meridiem |= date.has_meridiem;
        self.numbers[0].insert(date.numbers[0]);
        self.numbers[1].insert(date.numbers[1]);
    }

    fn are_none(&self) -> bool {
        let numbers = self.seconds || self.milliseconds || self.serials;
        !numbers && !self.plain && !self.written && self.patterns.is_empty()
    }

    fn into_detected(self) -> Detected {
        if !self.any {
            return Detected::None;
        }
        let simple = [
            (self.seconds, TimeFormat::UnixSeconds),
            (self.milliseconds, TimeFormat::UnixMilliseconds),
            (self.serials, TimeFormat::ExcelSerial),
            (self.plain, TimeFormat::Plain),
        ];
        if let Some((_, format)) = simple.into_iter().find(|(fits, _)| *fits) {
            return Detected::One(format);
        }
        if self.written {
            return self.into_order();
        }
        self.patterns.into_iter().next().map_or(Detected::None, Detected::One)
    }

    fn into_order(self) -> Detected {
        use TimeFormat::{DayFirst, MonthFirst, YearFirst};
        let has = |order| self.orders.contains(&order);
        match (has(DateOrder::MonthDayYear), has(DateOrder::DayMonthYear)) {
            (true, true) if self.full_stops => Detected::One(DayFirst),
            (true, true) => {
                let [first, second] = self.numbers.map(|numbers| numbers.len());
                let day_first = second < first && !self.meridiem;
                if day_first {
                    Detected::Ambiguous(DayFirst, MonthFirst)
                } else {
                    Detected::Ambiguous(MonthFirst, DayFirst)
                }
            }
            (true, false) => Detected::One(MonthFirst),
            (false, true) => Detected::One(DayFirst),
            (false, false) => Detected::One(YearFirst),
        }
    }
}

/// A number with a decimal point or comma.
fn serial(value: &str) -> Option<f64> {
    value.replacen(',', ".", 1).parse().ok()
}

#[cfg(test)]
mod tests;
