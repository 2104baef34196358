//! Time as the project keeps it: milliseconds since 1970-01-01 UTC.

use jiff::{Timestamp, Zoned};

/// Now.
pub(crate) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The start of today where the user is; UTC midnight where the time zone cannot be told.
pub(crate) fn today_ms() -> i64 {
    let now = Zoned::now();
    now.start_of_day()
        .map_or_else(|_| now_ms() - now_ms().rem_euclid(86_400_000), |day| day.timestamp().as_millisecond())
}

/// A moment where the user is, to the minute: `2026-03-01 14:05`.
pub fn local_time(ms: f64) -> String {
    let moment = Timestamp::from_millisecond(ms as i64).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn today_began_within_the_last_day_or_so() {
        let since = super::now_ms() - super::today_ms();
        assert!((0..=25 * 3_600_000).contains(&since), "{since}");
    }
}
