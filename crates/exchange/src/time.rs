//! Moments and durations as files write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Whole numbers from here on are milliseconds since 1970, smaller ones seconds: the limit is the year 5138
/// in seconds and 1973 in milliseconds.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

/// Parses a time to milliseconds since 1970-01-01 UTC. Reads RFC 3339 (`2024-05-01T12:30:00.123Z`, any
/// offset), the same without an offset (taken as UTC; a space for the `T` is fine), a date (its midnight,
/// UTC), whole seconds, seconds with a fraction, and whole milliseconds. Parts of a millisecond are cut off.
pub(crate) fn parse_ms(value: &str) -> Option<i64> {
    if let Ok(number) = value.parse::<i64>() {
        let seconds = number.unsigned_abs() < MILLISECONDS_FROM.unsigned_abs();
        return if seconds { number.checked_mul(1000) } else { Some(number) };
    }
    if let Ok(seconds) = value.parse::<f64>() {
        let usable = seconds.is_finite() && seconds.abs() < MILLISECONDS_FROM as f64;
        return usable.then_some((seconds * 1000.0).round() as i64);
    }
    if let Ok(moment) = value.parse::<Timestamp>() {
        return Some(moment.as_millisecond());
    }
    let civil: DateTime = value.parse().ok()?;
    Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

/// Formats a time as RFC 3339 in UTC, to the millisecond. A time outside the years of that format is written
/// as milliseconds, which [`parse_ms`] reads back as such.
pub(crate) fn format_ms(at_ms: i64) -> String {
    Timestamp::from_millisecond(at_ms).map_or_else(|_| at_ms.to_string(), |moment| moment.to_string())
}

/// Parses a duration in whole milliseconds; a fraction is rounded.
pub(crate) fn parse_duration_ms(value: &str) -> Option<u32> {
    let number: f64 = value.parse().ok()?;
    let number = number.round();
    (0.0..=f64::from(u32::MAX)).contains(&number).then_some(number as u32)
}

/// Parses an annotation round: a whole number from 1, also as spreadsheets and data frames write it (`2.0`).
pub(crate) fn parse_round(value: &str) -> Option<u16> {
    let number: f64 = value.parse().ok()?;
    let whole = number.fract() == 0.0 && (1.0..=f64::from(u16::MAX)).contains(&number);
    whole.then_some(number as u16)
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Returns the latest moment that a time in milliseconds since 1970-01-01 UTC may mean: a midnight is a date,
/// as written by files without a time of day, and means all of that day. So dates do not distinguish two
/// answers of one day.
pub fn latest_meant(at_ms: i64) -> i64 {
    if at_ms.rem_euclid(DAY_MS) == 0 { at_ms.saturating_add(DAY_MS - 1) } else { at_ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_common_time_formats() {
        let cases = [
            ("2024-05-01T12:30:00Z", 1_714_566_600_000),
            ("2024-05-01T12:30:00.123Z", 1_714_566_600_123),
            ("2024-05-01T14:30:00+02:00", 1_714_566_600_000),
            ("2024-05-01 12:30:00", 1_714_566_600_000),
            ("2024-05-01", 1_714_521_600_000),
            ("1714566600", 1_714_566_600_000),
            ("1714566600.5", 1_714_566_600_500),
            ("1714566600123", 1_714_566_600_123),
            ("0", 0),
            ("-1", -1000),
        ];
        for (value, ms) in cases {
            assert_eq!(parse_ms(value), Some(ms), "{value}");
        }
    }

    #[test]
    fn refuses_invalid_times() {
        for value in ["", "yesterday", "NaN", "inf", "2024-13-01", "05/01/2024", "9e99"] {
            assert_eq!(parse_ms(value), None, "{value}");
        }
    }

    #[test]
    fn times_round_trip_exactly() {
        for ms in [0, -1, 1, 999, 5000, 1_714_566_600_123, -62_135_596_800_001, i64::MAX, i64::MIN] {
            assert_eq!(parse_ms(&format_ms(ms)), Some(ms), "{ms}");
        }
    }

    #[test]
    fn round_numbers_are_parsed() {
        let read = ["1", "2", "2.0", "1e0", "65535"].map(parse_round);
        assert_eq!(read, [Some(1), Some(2), Some(2), Some(1), Some(65535)]);
        for value in ["0", "0.0", "-1", "1.5", "first", "", "NaN", "inf", "65536"] {
            assert_eq!(parse_round(value), None, "{value}");
        }
    }

    #[test]
    fn date_covers_its_whole_day() {
        let day = 1_714_521_600_000;
        assert_eq!((latest_meant(day), latest_meant(day + 1)), (day + DAY_MS - 1, day + 1));
        assert_eq!(latest_meant(-DAY_MS), -1);
    }

    #[test]
    fn durations_are_parsed() {
        assert_eq!(parse_duration_ms("1200"), Some(1200));
        assert_eq!(parse_duration_ms("12.6"), Some(13));
        for value in ["-1", "x", "", "NaN", "4294967296"] {
            assert_eq!(parse_duration_ms(value), None, "{value}");
        }
    }
}
