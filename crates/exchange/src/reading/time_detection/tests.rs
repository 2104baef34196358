use super::*;
use TimeFormat::{DayFirst, ExcelSerial, MonthFirst, Plain, UnixMilliseconds, UnixSeconds, YearFirst};
use proptest::prelude::*;
use rstest::rstest;

fn detected(values: &[&str]) -> Detected {
    detect(values.iter().copied())
}

#[test]
fn finds_the_format_that_reads_all_values() {
    let cases: &[(&[&str], TimeFormat)] = &[
        (&["2024-12-31", "2024-05-01T12:30:00Z"], Plain),
        (&["2024-05-01 12:30:00", "", " "], Plain),
        (&["1714566600", "1714566600123"], Plain),
        (&["2024-05-01", "1714566600"], Plain),
        (&["12/31/2024", "1/2/2025"], MonthFirst),
        (&["12/31/2024 3:05 PM"], MonthFirst),
        (&["12.31.2024"], MonthFirst),
        (&["31/12/2024", "01/02/2025"], DayFirst),
        (&["31-12-2024 10:00"], DayFirst),
        (&["01.02.2024", "02.02.2024"], DayFirst),
        (&["1.2.24, 10:00"], DayFirst),
        (&["2024/05/01 12:30"], YearFirst),
        (&["2024-05-01 3:05 PM"], YearFirst),
        (&["1714566600", "1714566601"], UnixSeconds),
        (&["1714566600.5", "1714566601"], UnixSeconds),
        (&["1714566600123", "1714566600124.0"], UnixMilliseconds),
        (&["45657", "45657.5"], ExcelSerial),
        (&["45657,5", "30000", "60000"], ExcelSerial),
        (&["20240501", "20241231"], TimeFormat::Pattern("%Y%m%d".into())),
        (&["20240501123000"], TimeFormat::Pattern("%Y%m%d%H%M%S".into())),
        (&["31 Dec 2024", "1 Jan 2025"], TimeFormat::Pattern("%d %b %Y".into())),
        (&["Tue Dec 31 10:00:00 +0000 2024"], TimeFormat::Pattern("%a %b %d %H:%M:%S %z %Y".into())),
        (&["Tue, 31 Dec 2024 10:00:00 GMT"], TimeFormat::Pattern("%a, %d %b %Y %H:%M:%S GMT".into())),
    ];
    for (values, format) in cases {
        assert_eq!(detected(values), Detected::One(format.clone()), "{values:?}");
        assert!(
            values.iter().filter(|v| !v.trim().is_empty()).all(|v| format.parse(v).is_some()),
            "{values:?}"
        );
    }
}

#[test]
fn day_month_order_can_be_ambiguous() {
    let month_first = Detected::Ambiguous(MonthFirst, DayFirst);
    let day_first = Detected::Ambiguous(DayFirst, MonthFirst);
    assert_eq!(detected(&["01/02/2024"]), month_first);
    assert_eq!(detected(&["1-2-2024", "1-3-2024", "1-4-2024"]), month_first);
    assert_eq!(detected(&["5/5/2024"]), month_first);
    assert_eq!(detected(&["1/2/2024", "3/2/2024", "4/2/2024"]), day_first);
    assert_eq!(detected(&["1/2/2024 3:00 PM", "3/2/2024 3:05 PM"]), month_first);
    assert_eq!(detected(&["1/2/2024", "1.3.2024"]), month_first);
}

#[rstest]
#[case::no_value(&[])]
#[case::blank(&["", " "])]
#[case::small_numbers(&["1", "2", "3"])]
#[case::year(&["2024"])]
#[case::day_and_month_in_both_places(&["12/31/2024", "31/12/2024"])]
#[case::no_such_day(&["31/02/2024"])]
#[case::no_such_month(&["13/13/2024"])]
#[case::word(&["2024-05-01", "yesterday"])]
#[case::serial_and_number(&["45657", "12"])]
#[case::serial_and_date(&["45657", "2024-05-01"])]
#[case::no_numbers(&["NaN", "inf"])]
#[case::truth_value(&["true"])]
#[case::time_of_day(&["12:30"])]
fn finds_no_format(#[case] values: &[&str]) {
    assert_eq!(detected(values), Detected::None);
}

proptest! {
    #[test]
    fn written_format_is_detected(
        moments in proptest::collection::vec(1_000_000_000_000..2_900_000_000_000_i64, 1..20),
    ) {
        let written = |pattern: &str| -> Vec<String> {
            let moments = moments.iter().map(|ms| jiff::Timestamp::from_millisecond(*ms).unwrap());
            moments.map(|moment| moment.strftime(pattern).to_string()).collect()
        };
        for (pattern, format) in [
            ("%Y-%m-%dT%H:%M:%SZ", Plain),
            ("%m/%d/%Y %H:%M", MonthFirst),
            ("%-d/%-m/%y", DayFirst),
            ("%Y/%m/%d", YearFirst),
            ("%s", UnixSeconds),
            ("%s%3f", UnixMilliseconds),
        ] {
            let values = written(pattern);
            let found = match detect(values.iter().map(String::as_str)) {
                Detected::None => vec![],
                Detected::One(format) => vec![format],
                Detected::Ambiguous(first, second) => vec![first, second],
            };
            prop_assert!(found.contains(&format), "{:?}: {:?}", values, found);
        }
    }
}
