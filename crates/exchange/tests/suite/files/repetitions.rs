//! Several answers of one annotator to one text: which rows add something, which count, which changes are
//! reported, and what a second reading does.

use super::sample::sample;
use dissensus_domain::{Answer, Scale, ScaleKind};
use dissensus_exchange::{
    Change, ChangeKind, Changes, Checker, KnownLabel, LabelVerdict, Verdict, read_rows, scan,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

const NOW: i64 = 1_800_000_000_000;
const DAY: i64 = 86_400_000;

/// An answer that a project has: level, time, which one it replaces, and whether it was given in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    level: u16,
    at_ms: i64,
    replaces: Option<usize>,
    given: bool,
}

/// An answer given in the window: later than all before.
fn in_the_window(level: u16, at_ms: i64, replaces: Option<usize>) -> Kept {
    Kept { level, at_ms, replaces, given: true }
}

const KINDS: [ChangeKind; 6] = [
    ChangeKind::ReplacedInFile,
    ChangeKind::ReplacedGiven,
    ChangeKind::ReplacedImported,
    ChangeKind::Older,
    ChangeKind::GivenAgain,
    ChangeKind::Outdated,
];

/// The kinds of changes that occur, with their counts.
fn counted(changes: &Changes) -> BTreeMap<ChangeKind, u64> {
    KINDS.map(|kind| (kind, changes.count(kind))).into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Rows `label` or `label@day` of one annotator on one text.
fn csv(rows: &[&str]) -> String {
    let mut content = String::from("text_id,text,annotator_id,label,created_at\n");
    for row in rows {
        let (label, day) = row.split_once('@').unwrap_or((row, ""));
        let at = day.parse::<i64>().map_or_else(|_| String::new(), |day| (NOW + day * DAY).to_string());
        content.push_str(&format!("t,x,ada,{label},{at}\n"));
    }
    content
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
        let current = self.current_entry();
        for (n, kept) in self.0.iter().enumerate() {
            let Kept { level, at_ms, given, .. } = *kept;
            let current = current == Some(n);
            let answer = Answer::from_level(level);
            checker.seed_label(0, &KnownLabel { text, annotator, answer, at_ms, given, current });
        }
        checker
    }

    /// Reads rows `label` or `label@day` and returns how many of them added something.
    fn read(&mut self, rows: &[&str], now_ms: i64) -> usize {
        let before = self.0.len();
        self.read_changes(rows, now_ms);
        self.0.len() - before
    }

    /// Runs [`Project::read`] on an empty project, without checking what it changed, which takes time that
    /// grows with the square of the rows.
    fn count_added(rows: &[&str]) -> u64 {
        let file = sample("a.csv", csv(rows));
        let mut roles = file.roles();
        roles.time = Some("created_at".to_owned());
        scan(&file.source, &roles, Self::default().checker(NOW)).unwrap().labels
    }

    /// Runs [`Project::read`], and returns the changes. They must agree with the project's own rule: row by
    /// row for adjacent rows, and for the project's labels by the current answer before the file and after
    /// it.
    fn read_changes(&mut self, rows: &[&str], now_ms: i64) -> Changes {
        let content = csv(rows);
        let file = sample("a.csv", &content);
        let mut roles = file.roles();
        roles.time = Some("created_at".to_owned());
        let mut checker = self.checker(now_ms);
        let mut rows = read_rows(&file.source, &roles).unwrap();
        let (start, kept) = (self.0.len(), self.current_entry());
        let mut expected: BTreeMap<ChangeKind, u64> = BTreeMap::new();
        let (mut repeated, mut levels, mut uncovered) = (0, Vec::new(), false);
        while let Some(read) = rows.next_checked(&mut checker) {
            let Verdict { label, .. } = read.unwrap().1;
            let LabelVerdict::Added { answer, at_ms, follows_row, .. } = label else {
                let LabelVerdict::Repeated { name } = label else { panic!("{label:?}") };
                levels.push(name.parse::<u16>().unwrap() - 1);
                repeated += 1;
                continue;
            };
            let old = self.current_entry();
            let level = answer.unwrap().level().unwrap().0;
            levels.push(level);
            let replaces = old.filter(|old| at_ms >= self.0[*old].at_ms || (follows_row && *old >= start));
            self.0.push(Kept { level, at_ms, replaces, given: false });
            // If rows with and without times are mixed, an answer from the history can become current: not
            // reported.
            uncovered |= replaces.is_some() && self.current_entry() != Some(self.0.len() - 1);
            let Some(old) = old else { continue };
            let counts = self.current_entry() == Some(self.0.len() - 1);
            let kind = match self.0[old] {
                kept if kept.level == level => ChangeKind::GivenAgain,
                _ if old >= start => ChangeKind::ReplacedInFile,
                _ if !counts => ChangeKind::Older,
                _ => continue,
            };
            *expected.entry(kind).or_default() += 1;
        }
        if let Some((before, after)) = kept.zip(self.current_entry()) {
            let [old, new] = [before, after].map(|n| self.0[n]);
            if after >= start && new.level != old.level {
                let kind = if old.given { ChangeKind::ReplacedGiven } else { ChangeKind::ReplacedImported };
                expected.insert(kind, 1);
            }
            if after == before && repeated > 0 && !levels.contains(&old.level) {
                expected.insert(ChangeKind::Outdated, repeated);
            }
        }
        let changes = checker.changes(0);
        if !uncovered {
            assert_eq!(counted(&changes), expected, "{content} into {self:?}");
        }
        changes
    }

    /// The current answer by the rule of the store: of those that no other replaces the latest, then the one
    /// appended last.
    fn current_entry(&self) -> Option<usize> {
        let replaced: Vec<usize> = self.0.iter().filter_map(|kept| kept.replaces).collect();
        (0..self.0.len()).filter(|n| !replaced.contains(n)).max_by_key(|n| (self.0[*n].at_ms, *n))
    }

    /// Its label.
    fn current(&self) -> u16 {
        self.0[self.current_entry().unwrap()].level + 1
    }
}

fn after(rows: &[&str]) -> (usize, u16) {
    let mut project = Project::default();
    let added = project.read(rows, NOW);
    assert_eq!(project.read(rows, NOW + DAY), 0, "reading {rows:?} again added something");
    (added, project.current())
}

#[test]
fn without_times_the_last_row_is_current() {
    assert_eq!(after(&["3", "4", "3"]), (3, 3));
    assert_eq!(after(&["3", "4"]), (2, 4));
    assert_eq!(after(&["3", "3", "3"]), (1, 3));
    assert_eq!(after(&["3", "4", "4", "3", "5"]), (4, 5));
}

#[test]
fn with_times_the_latest_time_is_current() {
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
fn mixed_times_prefer_the_last_timed_row() {
    assert_eq!(after(&["3@-1", "4"]), (2, 4));
    assert_eq!(after(&["3@7", "4"]), (2, 4)); // also where the first clock was wrong
    assert_eq!(after(&["4", "3@-1"]), (2, 3));
    assert_eq!(after(&["4", "5", "3@-1"]), (3, 3));
    assert_eq!(after(&["3@-1", "4", "5@-2"]), (3, 5));
}

#[test]
fn older_answer_does_not_replace_a_newer_one() {
    let mut project = Project(vec![in_the_window(4, NOW, None)]);
    assert_eq!(project.read(&["2@-30"], NOW + DAY), 1, "it belongs to the history");
    assert_eq!(project.current(), 5);
    assert_eq!(project.read(&["1@1"], NOW + 2 * DAY), 1);
    assert_eq!(project.current(), 1);
}

#[test]
fn repeated_import_does_not_restore_a_replaced_answer() {
    let mut project = Project::default();
    project.read(&["3"], NOW);
    project.0.push(in_the_window(4, NOW + 1, Some(0)));
    assert_eq!(project.read(&["3"], NOW + DAY), 0);
    assert_eq!(project.current(), 5);
    // A file that continues the existing answers adds the continuation.
    assert_eq!(project.read(&["3", "2"], NOW + DAY), 1);
    assert_eq!(project.current(), 2);
}

#[test]
fn inserted_answer_repeats_the_following_ones() {
    let mut project = Project::default();
    project.read(&["3", "4"], NOW);
    assert_eq!(project.read(&["3", "1", "4"], NOW + DAY), 2);
    assert_eq!(project.current(), 4);
    assert_eq!(project.read(&["3", "1", "4"], NOW + 2 * DAY), 0);
}

/// Row, the label that counts, and the one that does not.
fn places(changes: &Changes, kind: ChangeKind) -> Vec<(u64, String, String)> {
    let place = |place: Change| {
        assert_eq!((place.annotator.as_str(), place.text_id.as_str()), ("ada", "t"));
        (place.row, place.counts, place.instead_of)
    };
    changes.first(kind).into_iter().map(place).collect()
}

#[test]
fn repeated_labels_in_a_file_are_reported() {
    let reported = |rows: &[&str]| {
        let changes = Project::default().read_changes(rows, NOW);
        assert!(counted(&changes).keys().all(|kind| *kind == ChangeKind::ReplacedInFile), "{rows:?}");
        places(&changes, ChangeKind::ReplacedInFile)
    };
    let place = |row, counts: &str, instead_of: &str| (row, counts.to_owned(), instead_of.to_owned());
    assert_eq!(reported(&["3", "3"]), []);
    assert_eq!(reported(&["3", "4"]), [place(2, "4", "3")]);
    assert_eq!(reported(&["4@-1", "3@-2"]), [place(2, "4", "3")]);
    assert_eq!(reported(&["3", "4", "3"]), [place(2, "4", "3"), place(3, "3", "4")]);
    let again = Project::default().read_changes(&["3@-2", "3@-1"], NOW);
    assert_eq!(counted(&again), [(ChangeKind::GivenAgain, 1)].into());
}

#[test]
fn replaced_labels_are_reported_by_source() {
    let mut project = Project(vec![in_the_window(4, NOW, None)]);
    let older = project.read_changes(&["2@-30"], NOW + DAY);
    assert_eq!(places(&older, ChangeKind::Older), [(1, "5".to_owned(), "2".to_owned())]);
    let given = project.read_changes(&["1"], NOW + DAY);
    assert_eq!(places(&given, ChangeKind::ReplacedGiven), [(1, "1".to_owned(), "5".to_owned())]);
    let imported = project.read_changes(&["3"], NOW + 2 * DAY);
    assert_eq!(places(&imported, ChangeKind::ReplacedImported), [(1, "3".to_owned(), "1".to_owned())]);
    let both = project.read_changes(&["3", "4", "2"], NOW + 3 * DAY);
    assert_eq!(
        counted(&both),
        [(ChangeKind::ReplacedImported, 1), (ChangeKind::ReplacedInFile, 1)].into(),
        "the file replaces one label of the project and one of its own"
    );
    // The row that counts after the file, which is not the first that replaced it.
    assert_eq!(places(&both, ChangeKind::ReplacedImported), [(3, "2".to_owned(), "3".to_owned())]);
}

#[test]
fn replacement_is_reported_by_current_labels() {
    let reported = |rows: &[&str]| {
        let mut project = Project(vec![in_the_window(0, NOW, None)]);
        let changes = project.read_changes(rows, NOW + 9 * DAY);
        (changes.count(ChangeKind::ReplacedGiven), places(&changes, ChangeKind::ReplacedGiven))
    };
    let place = |row, counts: &str| (1, vec![(row, counts.to_owned(), "1".to_owned())]);
    // The label given by hand once more, and then another one.
    assert_eq!(reported(&["1@1", "2@2"]), place(2, "2"));
    assert_eq!(reported(&["2@2", "1@1"]), place(1, "2"));
    // Another one, and then the label given by hand once more.
    assert_eq!(reported(&["2@1", "1@2"]), (0, vec![]));
    assert_eq!(reported(&["1@2", "2@1"]), (0, vec![]));
    // Back and away again.
    assert_eq!(reported(&["2@1", "1@2", "3@3"]), place(3, "3"));
    assert_eq!(reported(&["2@1", "3@2", "2@3"]), place(3, "2"));
}

#[test]
fn outdated_answers_are_distinguished_from_repetitions() {
    let mut project = Project::default();
    project.read(&["3"], NOW);
    project.read(&["4"], NOW + DAY);
    let third = project.read_changes(&["3"], NOW + 2 * DAY);
    assert_eq!((project.0.len(), project.current()), (2, 4));
    assert_eq!(places(&third, ChangeKind::Outdated), [(1, "4".to_owned(), "3".to_owned())]);
    for rows in [["4", "4"], ["3", "4"]] {
        assert_eq!(counted(&project.read_changes(&rows, NOW + 2 * DAY)), [].into(), "{rows:?}");
    }
    // Several rows are as many as are counted, and the first of them is the place.
    let mut longer = Project::default();
    longer.read(&["3", "2", "4"], NOW);
    let rows = longer.read_changes(&["3", "2"], NOW + DAY);
    assert_eq!(counted(&rows), [(ChangeKind::Outdated, 2)].into());
    assert_eq!(places(&rows, ChangeKind::Outdated), [(1, "4".to_owned(), "3".to_owned())]);
    // The rows continue with something new: the file does not end with the old answer.
    let moved_on = project.read_changes(&["3", "5"], NOW + 3 * DAY);
    assert_eq!(counted(&moved_on), [(ChangeKind::ReplacedImported, 1)].into());
}

#[test]
fn importing_any_file_twice_changes_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    for case in 0..400 {
        let mut project = Project::default();
        for file in 0..rng.random_range(1..4) {
            let rows: Vec<String> = (0..rng.random_range(1..6))
                .map(|_| match rng.random_range(0..3) {
                    0 => format!("{}@{}", rng.random_range(1..4), rng.random_range(-3..12)),
                    _ => rng.random_range(1..4).to_string(),
                })
                .collect();
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            let now = NOW + 10 * DAY * (file + 1);
            if rng.random_range(0..2) == 0 {
                let latest = project.0.iter().map(|kept| kept.at_ms + 1).max().unwrap_or(0);
                let replaces = project.current_entry();
                let at_ms = latest.max(now - 5 * DAY);
                project.0.push(in_the_window(rng.random_range(0..3), at_ms, replaces));
            }
            project.read(&rows, now);
            let kept = project.clone();
            assert_eq!(project.read(&rows, now + DAY), 0, "case {case}: {rows:?} after {kept:?}");
            assert_eq!(project, kept);
        }
    }
}

#[test]
fn very_many_answers_of_one_person_to_one_text_are_read() {
    // Without a set in addition to the list, every row would walk all rows before it.
    let rows: Vec<String> = (0..60_000).map(|n| format!("{}@{}", n % 5 + 1, n % 7 - n)).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert!(Project::count_added(&rows) > 40_000);
    let rows = ["1", "2"].repeat(30_000);
    assert!(Project::count_added(&rows) > 29_000);
}
