use super::*;
use proptest::prelude::*;

const DAY: i64 = 86_400_000;
/// 2024-12-31.
const NEW_YEARS_EVE: i64 = 1_735_603_200_000;

fn at(hour: i64, minute: i64, second: i64) -> i64 {
    NEW_YEARS_EVE + ((hour * 60 + minute) * 60 + second) * 1000
}

fn format(name: &str) -> TimeFormat {
    name.parse().unwrap()
}

#[test]
fn reads_dates_with_the_month_first() {
    let cases = [
        ("12/31/2024", at(0, 0, 0)),
        ("12-31-2024", at(0, 0, 0)),
        ("12.31.2024", at(0, 0, 0)),
        ("12/31/24", at(0, 0, 0)),
        (" 12/31/2024 ", at(0, 0, 0)),
        ("12/31/2024 10:00", at(10, 0, 0)),
        ("12/31/2024 9:05", at(9, 5, 0)),
        ("12/31/2024, 10:00:05", at(10, 0, 5)),
        ("12/31/2024T10:00:05", at(10, 0, 5)),
        ("12/31/2024 3:05 PM", at(15, 5, 0)),
        ("12/31/2024, 3:05:07\u{202f}PM", at(15, 5, 7)),
        ("12/31/2024 3:05pm", at(15, 5, 0)),
        ("12/31/2024 3:05 p. m.", at(15, 5, 0)),
        ("12/31/2024 3 Pm", at(15, 0, 0)),
        ("12/31/2024 12:00 AM", at(0, 0, 0)),
        ("12/31/2024 12:00 a.m.", at(0, 0, 0)),
        ("12/31/2024 12:30 PM", at(12, 30, 0)),
        ("12/31/2024 10:00:05.25", at(10, 0, 5) + 250),
        ("12/31/2024 10:00:05.9999", at(10, 0, 5) + 999),
        ("12/31/2024 10:00:05,5", at(10, 0, 5) + 500),
        ("12/31/2024 10:00Z", at(10, 0, 0)),
        ("12/31/2024 10:00 UTC", at(10, 0, 0)),
        ("12/31/2024 10:00+02:00", at(8, 0, 0)),
        ("12/31/2024 10:00:00 -0530", at(15, 30, 0)),
        ("12/31/2024 10:00 GMT+2", at(8, 0, 0)),
        ("12/31/2024 11:30 PM -01", NEW_YEARS_EVE + DAY + 30 * 60_000),
        ("1/1/70", 0),
        ("2/29/2024", 1_709_164_800_000),
    ];
    for (value, ms) in cases {
        assert_eq!(TimeFormat::MonthFirst.parse(value), Some(ms), "{value}");
    }
}

#[test]
fn reads_dates_with_the_day_first() {
    let cases = [
        ("31.12.2024", at(0, 0, 0)),
        ("31.12.2024 10:00:05", at(10, 0, 5)),
        ("31.12.2024, 10:00:05", at(10, 0, 5)),
        ("31. 12. 2024 10:00", at(10, 0, 0)),
        ("31-12-2024", at(0, 0, 0)),
        ("31-12-2024 23:59:59", at(23, 59, 59)),
        ("31/12/2024 3:05 pm", at(15, 5, 0)),
        ("31/12/24", at(0, 0, 0)),
        ("1.1.00", 946_684_800_000),
        ("1.1.68", 3_092_601_600_000),
        ("1.1.69", -365 * DAY),
        ("1.1.99", 915_148_800_000),
        ("01/02/1970", 31 * DAY),
    ];
    for (value, ms) in cases {
        assert_eq!(TimeFormat::DayFirst.parse(value), Some(ms), "{value}");
    }
}

#[test]
fn reads_dates_with_the_year_first() {
    for value in ["2024/12/31 15:05", "2024.12.31 15:05", "2024-12-31 3:05 PM", "2024/12/31T15:05Z"] {
        assert_eq!(TimeFormat::YearFirst.parse(value), Some(at(15, 5, 0)), "{value}");
    }
    assert_eq!(TimeFormat::YearFirst.parse("24/12/31"), None);
    assert_eq!(TimeFormat::Plain.parse(" 2024-12-31T15:05:00 "), Some(at(15, 5, 0)));
}

#[test]
fn refuses_impossible_dates_and_times() {
    for value in [
        "",
        "31/02/2024",
        "13/13/2024",
        "29/02/2023",
        "0/1/2024",
        "1/0/2024",
        "32.1.2024",
        "1/2",
        "1/2/",
        "1/2/3",
        "1/2/203",
        "1/2/20245",
        "001/2/2024",
        "1/2-2024",
        "1,2,2024",
        "a/b/c",
        "1/2/2024x",
        "1/2/2024 10",
        "1/2/2024 24:00",
        "1/2/2024 10:60",
        "1/2/2024 10:5",
        "1/2/2024 10:00:60",
        "1/2/2024 13:00 PM",
        "1/2/2024 0:00 AM",
        "1/2/2024 10:00 XM",
        "1/2/2024 10:00 p",
        "1/2/2024 10:00:00.",
        "1/2/2024 10:00+25:00",
        "1/2/2024 10:00+1:2",
        "1/2/2024 10:00 +",
        "1/2/2024 10:00 é",
        "1/2/2024 10:00+é1",
        "2024-01-02",
        "١/٢/٢٠٢٤",
    ] {
        assert_eq!(TimeFormat::DayFirst.parse(value), None, "{value:?}");
    }
    for value in ["31/02/2024", "13/13/2024", "31/12/2024", "2/30/2024", "2/29/1900"] {
        assert_eq!(TimeFormat::MonthFirst.parse(value), None, "{value}");
    }
}

#[test]
fn reads_serials_of_spreadsheets() {
    let cases = [
        ("25569", 0),
        ("61", -25_508 * DAY),
        ("45657", at(0, 0, 0)),
        ("45657.0", at(0, 0, 0)),
        ("45657.5", at(12, 0, 0)),
        ("45657,75", at(18, 0, 0)),
        ("45657.4201967593", at(10, 5, 5)),
        ("45657.628472222219", at(15, 5, 0)),
        ("2958465", 253_402_214_400_000),
    ];
    for (value, ms) in cases {
        assert_eq!(TimeFormat::ExcelSerial.parse(value), Some(ms), "{value}");
    }
    for value in ["60", "60.99", "0", "-1", "2958466", "NaN", "inf", "", "45,657,000", "12/31/2024"] {
        assert_eq!(TimeFormat::ExcelSerial.parse(value), None, "{value}");
    }
}

#[test]
fn reads_numbers_since_1970() {
    let seconds =
        [("0", 0), ("-1", -1000), ("1714566600", 1_714_566_600_000), ("1714566600.123", 1_714_566_600_123)];
    for (value, ms) in seconds {
        assert_eq!(TimeFormat::UnixSeconds.parse(value), Some(ms), "{value}");
    }
    for (value, ms) in
        [("1714566600123", 1_714_566_600_123), ("1714566600123.6", 1_714_566_600_124), ("5", 5)]
    {
        assert_eq!(TimeFormat::UnixMilliseconds.parse(value), Some(ms), "{value}");
    }
    for value in ["", "x", "inf", "NaN", "1e300", "9223372036854775807"] {
        assert_eq!(TimeFormat::UnixSeconds.parse(value), None, "{value}");
    }
}

#[test]
fn reads_patterns() {
    let cases = [
        ("%d.%m.%Y %H:%M", "31.12.2024 10:05", at(10, 5, 0)),
        ("%d %b %Y", "31 Dec 2024", at(0, 0, 0)),
        ("%Y%m%d", "20241231", at(0, 0, 0)),
        ("%d/%m/%y %I:%M %p", "31/12/24 03:05 PM", at(15, 5, 0)),
        ("%a %b %d %H:%M:%S %z %Y", "Tue Dec 31 10:00:00 +0200 2024", at(8, 0, 0)),
        ("%s", "1735603200", at(0, 0, 0)),
    ];
    for (pattern, value, ms) in cases {
        assert_eq!(format(pattern).parse(value), Some(ms), "{pattern}");
    }
    assert_eq!(format("%d.%m.%Y").parse("31.02.2024"), None);
}

#[test]
fn format_names_round_trip() {
    for (name, known) in NAMES {
        assert_eq!((known.to_string().as_str(), name.parse()), (name, Ok(known)));
    }
    for pattern in ["%d.%m.%Y %H:%M", "%Y%m%d"] {
        assert_eq!(format(pattern).to_string(), pattern);
    }
    assert_eq!(format(" Day-First "), TimeFormat::DayFirst);
    let json = serde_json::to_string(&[TimeFormat::DayFirst, format("%Y%m%d")]).unwrap();
    assert_eq!(json, r#"["day-first","%Y%m%d"]"#);
    assert_eq!(
        serde_json::from_str::<Vec<TimeFormat>>(&json).unwrap(),
        [TimeFormat::DayFirst, TimeFormat::Pattern("%Y%m%d".into())]
    );
    assert!(serde_json::from_str::<TimeFormat>(r#""us""#).is_err());
}

#[test]
fn refuses_invalid_formats() {
    for text in ["", "us", "dd.mm.yyyy"] {
        assert_eq!(text.parse::<TimeFormat>(), Err(TimeFormatError::Unknown(text.into())));
    }
    for pattern in ["%", "%!", "%H:%M", "%d.%m.", "%Y", "100%"] {
        assert!(matches!(pattern.parse::<TimeFormat>(), Err(TimeFormatError::Pattern { .. })), "{pattern}");
    }
}

/// Moments from 1970 to 2068, to the millisecond.
fn moments() -> impl Strategy<Value = i64> {
    0..3_124_137_600_000_i64
}

fn written(ms: i64, pattern: &str) -> String {
    Timestamp::from_millisecond(ms).unwrap().strftime(pattern).to_string()
}

proptest! {
    #[test]
    fn written_times_round_trip(ms in moments()) {
        let whole = ms - ms % 1000;
        let minute = ms - ms % 60_000;
        for (format, pattern, ms) in [
            (TimeFormat::Plain, "%Y-%m-%dT%H:%M:%S.%3fZ", ms),
            (TimeFormat::Plain, "%Y-%m-%d %H:%M:%S", whole),
            (TimeFormat::MonthFirst, "%m/%d/%Y %H:%M:%S.%3f", ms),
            (TimeFormat::MonthFirst, "%-m/%-d/%y, %-I:%M:%S %p", whole),
            (TimeFormat::DayFirst, "%d.%m.%Y, %H:%M:%S", whole),
            (TimeFormat::DayFirst, "%-d-%-m-%Y %I:%M%P", minute),
            (TimeFormat::YearFirst, "%Y/%m/%dT%H:%M:%S.%3fZ", ms),
            (TimeFormat::UnixSeconds, "%s", whole),
            (TimeFormat::UnixSeconds, "%s.%3f", ms),
        ] {
            prop_assert_eq!(format.parse(&written(ms, pattern)), Some(ms), "{}", pattern);
        }
        prop_assert_eq!(TimeFormat::UnixMilliseconds.parse(&ms.to_string()), Some(ms));
        let serial = ms as f64 / 86_400_000.0 + 25_569.0;
        prop_assert_eq!(TimeFormat::ExcelSerial.parse(&serial.to_string()), Some(ms));
        let pattern = "%d %b %Y %H:%M:%S";
        prop_assert_eq!(format(pattern).parse(&written(whole, pattern)), Some(whole));
    }

    #[test]
    fn any_value_is_handled(value in ".{0,24}", numbers in "[0-9/.:, apmTZ+-]{0,24}") {
        for (_, format) in NAMES {
            let _ = (format.parse(&value), format.parse(&numbers));
        }
        if let Ok(format) = value.parse::<TimeFormat>() {
            prop_assert_eq!(format.to_string().parse::<TimeFormat>(), Ok(format));
        }
    }

    #[test]
    fn any_pattern_is_handled(pattern in "%[a-zA-Z0-9.:]{0,3}( %[a-zA-Z]){0,3}") {
        if let Ok(format) = pattern.parse::<TimeFormat>() {
            prop_assert_eq!(format.to_string(), pattern);
        }
    }
}
