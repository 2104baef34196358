//! Several answers of one annotator to one text: which rows add something, which count, and what a second reading does.

use crate::sample::sample;
use dissensus_domain::{Scale, ScaleKind};
use dissensus_exchange::{Checker, LabelVerdict, Verdict, read_rows};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NOW: i64 = 1_800_000_000_000;
const DAY: i64 = 86_400_000;

/// An answer that a project has: level, time, and whether it was named as later than the one before by the rows' order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    level: u16,
    at_ms: i64,
    replaces_before: bool,
}

/// A project with one text, one annotator and one question on a scale from 1 to 5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Project(Vec<Kept>);

impl Project {
    fn checker(&self, now_ms: i64) -> Checker {
        let scale = Scale::new(ScaleKind::Ordinal, ["1", "2", "3", "4", "5"]).unwrap();
        let mut checker = Checker::new(Some(scale)).at(now_ms);
        let (text, annotator) =
            (checker.seed_text("t", "x"), checker.seed_annotator("ada", &Default::default()));
        for kept in &self.0 {
            checker.seed_label(0, text, annotator, kept.level, kept.at_ms);
        }
        checker
    }

    /// Reads rows `label` or `label@day` and gives how many of them added something.
    fn read(&mut self, rows: &[&str], now_ms: i64) -> usize {
        let mut content = String::from("text_id,text,annotator_id,label,created_at\n");
        for row in rows {
            let (label, day) = row.split_once('@').unwrap_or((row, ""));
            let at = day.parse::<i64>().map_or_else(|_| String::new(), |day| (NOW + day * DAY).to_string());
            content.push_str(&format!("t,x,ada,{label},{at}\n"));
        }
        let file = sample("a.csv", content);
        let mut roles = file.roles();
        roles.time = Some("created_at".to_owned());
        let mut checker = self.checker(now_ms);
        let mut rows = read_rows(&file.source, &roles).unwrap();
        let before = self.0.len();
        while let Some(read) = rows.next_checked(&mut checker) {
            let Verdict { label, .. } = read.unwrap().1;
            if let LabelVerdict::Added { level, at_ms, follows_row, .. } = label {
                self.0.push(Kept { level: level.unwrap(), at_ms, replaces_before: follows_row });
            }
        }
        self.0.len() - before
    }

    /// The current answer as the store decides it: of those that no other replaces the latest, then the one appended last.
    fn current(&self) -> u16 {
        let mut replaced = vec![false; self.0.len()];
        for (nth, kept) in self.0.iter().enumerate() {
            if kept.replaces_before {
                let latest = (0..nth).filter(|n| !replaced[*n]).max_by_key(|n| (self.0[*n].at_ms, *n));
                replaced[latest.unwrap()] = true;
            }
        }
        let current = (0..self.0.len()).filter(|n| !replaced[*n]).max_by_key(|n| (self.0[*n].at_ms, *n));
        self.0[current.unwrap()].level + 1
    }
}

fn after(rows: &[&str]) -> (usize, u16) {
    let mut project = Project::default();
    let added = project.read(rows, NOW);
    assert_eq!(project.read(rows, NOW + DAY), 0, "reading {rows:?} again added something");
    (added, project.current())
}

#[test]
fn without_times_the_later_row_counts_and_the_history_is_kept() {
    assert_eq!(after(&["3", "4", "3"]), (3, 3));
    assert_eq!(after(&["3", "4"]), (2, 4));
    assert_eq!(after(&["3", "3", "3"]), (1, 3));
    assert_eq!(after(&["3", "4", "4", "3", "5"]), (4, 5));
}

#[test]
fn with_times_the_later_time_counts_whatever_the_order_of_the_rows() {
    assert_eq!(after(&["3@-2", "4@-1", "3@0"]), (3, 3));
    assert_eq!(after(&["4@-1", "3@-2"]), (2, 4));
    assert_eq!(after(&["3@-1", "4@-3", "5@-2"]), (3, 3));
    // The same answer at another time is another answer.
    assert_eq!(after(&["3@-2", "3@-1"]), (2, 3));
    // Of two at one time the later row counts.
    assert_eq!(after(&["3@-1", "4@-1"]), (2, 4));
    assert_eq!(after(&["3@-1", "4@-2", "5@-1"]), (3, 5));
}

#[test]
fn where_some_rows_have_times_the_last_row_without_one_counts_until_a_row_with_one_follows() {
    assert_eq!(after(&["3@-1", "4"]), (2, 4));
    assert_eq!(after(&["3@7", "4"]), (2, 4)); // also where the first clock was wrong
    assert_eq!(after(&["4", "3@-1"]), (2, 3));
    assert_eq!(after(&["4", "5", "3@-1"]), (3, 3));
    assert_eq!(after(&["3@-1", "4", "5@-2"]), (3, 3));
}

#[test]
fn an_older_answer_does_not_overrule_a_newer_one_that_is_there() {
    let mut project = Project(vec![Kept { level: 4, at_ms: NOW, replaces_before: false }]);
    assert_eq!(project.read(&["2@-30"], NOW + DAY), 1, "it belongs to the history");
    assert_eq!(project.current(), 5);
    assert_eq!(project.read(&["1@1"], NOW + 2 * DAY), 1);
    assert_eq!(project.current(), 1);
}

#[test]
fn a_file_that_was_read_does_not_bring_a_replaced_answer_back() {
    let mut project = Project::default();
    project.read(&["3"], NOW);
    project.0.push(Kept { level: 4, at_ms: NOW + 1, replaces_before: false }); // in the window
    assert_eq!(project.read(&["3"], NOW + DAY), 0);
    assert_eq!(project.current(), 5);
    // A file that goes on from what is known brings what it goes on with.
    assert_eq!(project.read(&["3", "2"], NOW + DAY), 1);
    assert_eq!(project.current(), 2);
}

#[test]
fn an_answer_between_two_known_ones_brings_the_rest_again_so_that_the_last_row_counts() {
    let mut project = Project::default();
    project.read(&["3", "4"], NOW);
    assert_eq!(project.read(&["3", "1", "4"], NOW + DAY), 2);
    assert_eq!(project.current(), 4);
    assert_eq!(project.read(&["3", "1", "4"], NOW + 2 * DAY), 0);
}

#[test]
fn any_file_read_twice_changes_nothing_and_ends_as_it_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    for case in 0..400 {
        let mut project = Project::default();
        for file in 0..rng.random_range(1..4) {
            let rows: Vec<String> = (0..rng.random_range(1..6))
                .map(|_| match rng.random_range(0..3) {
                    0 => format!("{}@{}", rng.random_range(1..4), rng.random_range(-3..3)),
                    _ => rng.random_range(1..4).to_string(),
                })
                .collect();
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            let now = NOW + 10 * DAY * (file + 1);
            project.read(&rows, now);
            let kept = project.clone();
            assert_eq!(project.read(&rows, now + DAY), 0, "case {case}: {rows:?} after {kept:?}");
            assert_eq!(project, kept);
        }
    }
}

#[test]
fn very_many_answers_of_one_person_to_one_text_are_read() {
    // Without a set beside the list every row would walk all rows before it.
    let mut project = Project::default();
    let rows: Vec<String> = (0..60_000).map(|n| format!("{}@{}", n % 5 + 1, n % 7 - n)).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert!(project.read(&rows, NOW) > 40_000);
    let rows = ["1", "2"].repeat(30_000);
    assert!(project.read(&rows, NOW) > 30_000);
}
