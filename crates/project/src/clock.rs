//! Time as the project stores it: milliseconds since 1970-01-01 UTC.

pub use jiff::civil::Date;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

pub fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The start of today in local time; UTC midnight where the time zone is unknown.
pub fn today_ms() -> i64 {
    let now = Zoned::now();
    now.start_of_day()
        .map_or_else(|_| now_ms() - now_ms().rem_euclid(86_400_000), |day| day.timestamp().as_millisecond())
}

/// The local date, such as `2026-03-01`.
pub fn today() -> String {
    Zoned::now().date().to_string()
}

/// The local time in a form that is valid in file names: `2026-03-01 14.05.31`.
pub fn file_time() -> String {
    Zoned::now().strftime("%Y-%m-%d %H.%M.%S").to_string()
}

/// The local date of a moment.
pub fn date_of(ms: i64) -> Date {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system()).date()
}

/// How moments in names of files are written.
const NAME: &str = "%Y-%m-%dT%H-%M-%SZ";

/// A moment in UTC, to the second, in a form that is valid in file names: `2026-03-01T13-05-31Z`.
pub fn utc_name(ms: i64) -> String {
    let moment = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(TimeZone::UTC).strftime(NAME).to_string()
}

/// Parses what [`utc_name`] writes, and nothing else.
pub fn utc_from_name(name: &str) -> Option<i64> {
    let moment = DateTime::strptime(NAME, name).ok()?.to_zoned(TimeZone::UTC).ok()?;
    let ms = moment.timestamp().as_millisecond();
    (utc_name(ms) == name).then_some(ms)
}

/// A moment in local time, to the minute: `2026-03-01 14:05`.
pub fn local_time(ms: f64) -> String {
    let moment = Timestamp::from_millisecond(ms as i64).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// A moment in local time, to the second, with its offset from UTC: `2026-03-01 14:05:31 +01:00`.
pub fn local_moment(ms: f64) -> String {
    let moment = Timestamp::from_millisecond(ms as i64).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

/// Parses a moment: a day, a day and a local time, or a time with its zone. A day without a time is its
/// beginning, or with `end` its last millisecond. `None` if it cannot be parsed.
pub fn moment_from(written: &str, end: bool) -> Option<f64> {
    let written = written.trim();
    let local = |at: DateTime| at.to_zoned(TimeZone::system()).ok().map(|zoned| zoned.timestamp());
    let moment = if let Ok(moment) = written.parse::<Timestamp>() {
        moment
    } else if let Ok(day) = written.parse::<Date>()
        && !written.contains([':', 'T', ' '])
    {
        let day = if end { day.tomorrow().ok()? } else { day };
        let start = local(day.to_datetime(jiff::civil::Time::midnight()))?;
        return Some((start.as_millisecond() - i64::from(end)) as f64);
    } else {
        local(written.parse::<DateTime>().ok()?)?
    };
    Some(moment.as_millisecond() as f64)
}

#[cfg(test)]
mod tests {
    use super::{local_moment, moment_from, utc_from_name, utc_name};

    #[test]
    fn moments_are_parsed() {
        let zoned = moment_from("2026-03-01T14:05:31+01:00", false).unwrap();
        assert_eq!(zoned, 1_772_370_331_000.0);
        let day = moment_from("2026-03-01", false).unwrap();
        assert_eq!(moment_from("2026-03-01T00:00", false), Some(day));
        assert_eq!(moment_from("2026-03-01 00:00", true), Some(day));
        let end = moment_from("2026-03-01", true).unwrap();
        assert_eq!(Some(end + 1.0), moment_from("2026-03-02", false));
        assert_eq!(moment_from(&local_moment(zoned).replace(" +", "+"), false), Some(zoned));
        for none in ["", "yesterday", "2026-02-30", "12"] {
            assert_eq!(moment_from(none, false), None, "{none}");
        }
    }

    #[test]
    fn moments_in_names_are_parsed() {
        assert_eq!(utc_name(1_772_370_331_999), "2026-03-01T13-05-31Z");
        assert_eq!(utc_from_name("2026-03-01T13-05-31Z"), Some(1_772_370_331_000));
        for other in
            ["", "2026-03-01", "2026-03-01T13-05-31", "2026-3-1T13-05-31Z", "../2026-03-01T13-05-31Z"]
        {
            assert_eq!(utc_from_name(other), None, "{other}");
        }
    }

    #[test]
    fn start_of_today_is_recent() {
        let since = super::now_ms() - super::today_ms();
        assert!((0..=25 * 3_600_000).contains(&since), "{since}");
    }
}
