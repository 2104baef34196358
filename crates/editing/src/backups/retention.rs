//! Which backups of one file are kept.

use dissensus_project::clock::Date;
use std::collections::BTreeMap;

/// For so many days, the last automatic backup of each day is kept, every other one with events that later
/// ones of the day do not contain, and every backup that was asked for.
const DAYS: i32 = 7;
/// Up to this age in days, the last backup of each week is kept: eight weeks after the days.
const WEEKS_UNTIL: i32 = DAYS + 8 * 7;
/// Up to this age in days, the last backup of each month is kept.
const MONTHS_UNTIL: i32 = 366;

/// A backup as the rule knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dated {
    /// The local day on which it was made.
    pub(super) day: Date,
    pub(super) at_ms: i64,
    pub(super) automatic: bool,
}

/// A group of backups of which the newest is kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Single(usize),
    Day(Date),
    Week(i16, i8),
    Month(i16, i8),
}

/// Positions of the backups that are not kept. The newest one is always kept. `contains` returns whether a
/// newer backup, the first one, contains all events of an older one.
pub(super) fn superseded(
    backups: &[Dated],
    today: Date,
    contains: impl Fn(usize, usize) -> bool,
) -> Vec<usize> {
    let mut newest_first: Vec<usize> = (0..backups.len()).collect();
    newest_first.sort_by_key(|at| std::cmp::Reverse((backups[*at].at_ms, *at)));
    let mut taken: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    let mut gone = Vec::new();
    for (place, at) in newest_first.into_iter().enumerate() {
        let Dated { day, automatic, .. } = backups[at];
        let age = days_between(day, today);
        let group = match age {
            ..DAYS if !automatic => Some(Group::Single(at)),
            // A clock that was ahead is no reason to delete anything that day would keep.
            ..DAYS => Some(Group::Day(day)),
            DAYS..WEEKS_UNTIL => {
                let week = day.iso_week_date();
                Some(Group::Week(week.year(), week.week()))
            }
            WEEKS_UNTIL..=MONTHS_UNTIL => Some(Group::Month(day.year(), day.month())),
            _ => None,
        };
        let newer = group.map(|group| taken.entry(group).or_default());
        let is_kept = match (&newer, group) {
            (Some(newer), Some(Group::Day(_))) => !newer.iter().any(|newer| contains(*newer, at)),
            (Some(newer), _) => newer.is_empty(),
            (None, _) => place == 0,
        };
        match newer {
            Some(newer) if is_kept => newer.push(at),
            None if is_kept => {}
            _ => gone.push(at),
        }
    }
    gone
}

fn days_between(day: Date, today: Date) -> i32 {
    today.since(day).map_or(i32::MAX, |span| span.get_days())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(written: &str) -> Date {
        written.parse().unwrap()
    }

    fn made(day: Date, at_ms: i64, automatic: bool) -> Dated {
        Dated { day, at_ms, automatic }
    }

    #[test]
    fn days_weeks_and_months_keep_their_last_backup() {
        let today = date("2026-11-30");
        let day = |written: &str, hour: i64, automatic| {
            let day = date(written);
            made(day, i64::from(days_between(date("2020-01-01"), day)) * 24 + hour, automatic)
        };
        let backups = [
            day("2026-11-30", 9, true),
            day("2026-11-30", 18, true),
            day("2026-11-30", 12, false),
            day("2026-11-24", 9, true),
            // Older than seven days: one a week, automatic or not.
            day("2026-11-20", 9, false),
            day("2026-11-22", 9, true),
            day("2026-11-22", 8, false),
            // Older than nine weeks: one a month.
            day("2026-08-03", 9, true),
            day("2026-08-30", 9, true),
            // Older than a year.
            day("2025-11-01", 9, false),
        ];
        let mut gone = superseded(&backups, today, |_, _| true);
        gone.sort_unstable();
        assert_eq!(gone, [0, 4, 6, 7, 9]);
        // The rule removes nothing more when it is applied again.
        let kept: Vec<Dated> =
            backups.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, one)| *one).collect();
        assert!(superseded(&kept, today, |_, _| true).is_empty());
    }

    #[test]
    fn the_newest_backup_is_kept_at_any_age() {
        let old = made(date("2019-02-01"), 5, true);
        let older = made(date("2019-01-01"), 4, true);
        assert_eq!(superseded(&[older, old], date("2026-11-30"), |_, _| false), [0]);
        assert!(superseded(&[], date("2026-11-30"), |_, _| true).is_empty());
    }

    /// Random numbers from a seed (SplitMix64).
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % end
        }
    }

    #[test]
    fn any_history_keeps_its_newest_and_a_bounded_number() {
        let first = date("2023-01-01");
        for seed in 0..200 {
            let mut numbers = Numbers(seed);
            let mut kept: BTreeMap<i64, Dated> = BTreeMap::new();
            // Times of the backups in the file's history, newest last; a file that is replaced loses some.
            let mut history: Vec<i64> = Vec::new();
            let mut contents: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
            let mut replaced: Vec<Date> = Vec::new();
            let (mut day, mut at_ms) = (first, 0);
            for _ in 0..600 {
                for _ in 0..numbers.below(5) {
                    day = day.tomorrow().unwrap();
                }
                if numbers.below(20) == 0 && !history.is_empty() {
                    history.truncate(history.len() - 1);
                    replaced.push(day);
                }
                at_ms += 1;
                history.push(at_ms);
                contents.insert(at_ms, history.clone());
                kept.insert(at_ms, made(day, at_ms, numbers.below(10) > 0));
                let before: Vec<Dated> = kept.values().copied().collect();
                let contains = |newer: usize, older: usize| {
                    contents[&before[newer].at_ms].binary_search(&before[older].at_ms).is_ok()
                };
                for gone in superseded(&before, day, contains) {
                    let one = before[gone];
                    kept.remove(&one.at_ms);
                    let is_lost = |newer: &Dated| contents[&newer.at_ms].binary_search(&one.at_ms).is_err();
                    assert!(
                        days_between(one.day, day) >= DAYS
                            || !kept.values().filter(|newer| newer.at_ms > one.at_ms).all(is_lost),
                        "seed {seed}: the only copy of something is gone"
                    );
                }
                let newest = kept.values().next_back().copied();
                assert_eq!(newest, before.last().copied(), "seed {seed}");
                let automatic = kept.values().filter(|one| one.automatic).count();
                let lost = replaced.iter().filter(|at| days_between(**at, day) < DAYS).count();
                // 7 days, parts of 9 weeks, parts of 12 months and the newest, and one for each time that an
                // older file replaced the project.
                assert!(automatic <= 30 + lost, "seed {seed}: {automatic} automatic backups on {day}");
                let by_hand = |one: &&Dated| !one.automatic && days_between(one.day, day) < DAYS;
                assert_eq!(
                    kept.values().filter(by_hand).count(),
                    before.iter().filter(by_hand).count(),
                    "seed {seed}: one that was asked for is gone after less than a week"
                );
            }
            // Somebody who labels for months has something to go back to from before last month.
            let oldest = kept.values().next().unwrap().day;
            assert!(days_between(oldest, day) > 200, "seed {seed}: {oldest} is the oldest on {day}");
        }
    }
}
