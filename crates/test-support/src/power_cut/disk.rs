//! The disk as it could be after a power cut.

use super::Step;
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All changes to the files of a folder, in order.
#[derive(Clone, Debug)]
pub struct Recording {
    pub(super) folder: PathBuf,
    pub(super) before: BTreeMap<PathBuf, Vec<u8>>,
    pub(super) steps: Vec<Step>,
}

/// What happens to unsynced writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsynced {
    /// All pending writes are lost.
    Lost,
    /// Each write randomly reached the disk or not: disks and systems write in any order.
    Some,
    /// As `Some`, and the last write that reached the disk did so only in part, to the end of a sector.
    Torn,
}

/// The disk after a cut.
#[derive(Debug)]
pub struct Cut {
    /// Number of steps before it.
    pub step: usize,
    /// What happened to unsynced writes.
    pub unsynced: Unsynced,
    /// The last note before it; 0 if there was none.
    pub noted: u64,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Cut {
    /// Writes the disk to a folder, which must be empty.
    pub fn write_to(&self, folder: &Path) {
        for (path, bytes) in &self.files {
            std::fs::write(folder.join(path), bytes).unwrap();
        }
    }

    /// True if there is a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains_key(Path::new(name))
    }
}

#[derive(Clone, Debug, Default)]
struct File {
    /// The contents if everything unsynced were lost; `None` if there would be no file.
    synced: Option<Vec<u8>>,
    /// Later steps on this file.
    pending: Vec<Step>,
}

impl Recording {
    /// The recorded steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Cuts the power after `points` randomly chosen steps (all, where there are no more than that) and
    /// shows the disk to `visit` each time, first with everything unsynced lost, then with some of it
    /// retained. Returns how many disks were shown.
    pub fn cuts(&self, points: usize, seed: u64, mut visit: impl FnMut(&Cut)) -> usize {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        let count = self.steps.len();
        let mut at = sample(&mut dice, count, points.min(count)).into_vec();
        at.sort_unstable();
        let mut files: BTreeMap<PathBuf, File> = BTreeMap::new();
        for (path, bytes) in &self.before {
            files.insert(path.clone(), File { synced: Some(bytes.clone()), pending: Vec::new() });
        }
        let (mut noted, mut shown, mut next) = (0, 0, at.into_iter().peekable());
        for (index, step) in self.steps.iter().enumerate() {
            if let Step::Note(note) = step {
                noted = *note;
            } else {
                follow(&mut files, step);
            }
            if next.next_if_eq(&index).is_none() {
                continue;
            }
            let other = if shown % 4 == 0 { Unsynced::Some } else { Unsynced::Torn };
            for unsynced in [Unsynced::Lost, other] {
                let files = files
                    .iter()
                    .filter_map(|(path, file)| Some((self.relative(path), file.found(unsynced, &mut dice)?)));
                visit(&Cut { step: index + 1, unsynced, noted, files: files.collect() });
                shown += 1;
            }
        }
        shown
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.folder).unwrap().to_owned()
    }
}

fn follow(files: &mut BTreeMap<PathBuf, File>, step: &Step) {
    match step {
        Step::Create(path) | Step::Write(path, ..) | Step::Truncate(path, _) => {
            files.entry(path.clone()).or_default().pending.push(step.clone());
        }
        Step::Sync(path) => {
            let file = files.entry(path.clone()).or_default();
            for step in std::mem::take(&mut file.pending) {
                apply(&mut file.synced, &step);
            }
        }
        Step::Delete(path, true) => {
            files.remove(path);
        }
        Step::Delete(path, false) => {
            if let Some(file) = files.get_mut(path) {
                file.pending.push(step.clone());
            }
        }
        Step::Rename(from, to) => {
            if let Some(file) = files.remove(from) {
                files.insert(to.clone(), file);
            }
        }
        Step::Note(_) => {}
    }
}

impl File {
    fn found(&self, unsynced: Unsynced, dice: &mut ChaCha8Rng) -> Option<Vec<u8>> {
        let mut found = self.synced.clone();
        if unsynced == Unsynced::Lost {
            return found;
        }
        let kept: Vec<&Step> = self.pending.iter().filter(|_| dice.random_bool(0.5)).collect();
        for (index, step) in kept.iter().enumerate() {
            match step {
                Step::Write(path, place, bytes) if unsynced == Unsynced::Torn && index + 1 == kept.len() => {
                    let sectors = bytes.len().div_ceil(512);
                    let length = (dice.random_range(0..=sectors) * 512).min(bytes.len());
                    apply(&mut found, &Step::Write(path.clone(), *place, bytes[..length].to_vec()));
                }
                step => apply(&mut found, step),
            }
        }
        found
    }
}

fn apply(file: &mut Option<Vec<u8>>, step: &Step) {
    match step {
        Step::Create(_) => {
            file.get_or_insert_default();
        }
        Step::Write(_, place, new) => {
            let bytes = file.get_or_insert_default();
            let place = usize::try_from(*place).unwrap();
            if bytes.len() < place + new.len() {
                bytes.resize(place + new.len(), 0);
            }
            bytes[place..place + new.len()].copy_from_slice(new);
        }
        Step::Truncate(_, size) => {
            file.get_or_insert_default().resize(usize::try_from(*size).unwrap(), 0);
        }
        Step::Delete(..) => *file = None,
        Step::Sync(_) | Step::Rename(..) | Step::Note(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_synced_writes_survive() {
        let path = || PathBuf::from("/d/a");
        let steps = vec![
            Step::Create(path()),
            Step::Write(path(), 0, vec![1; 1024]),
            Step::Sync(path()),
            Step::Note(1),
            Step::Write(path(), 512, vec![2; 1024]),
            Step::Truncate(path(), 10),
            Step::Delete(path(), true),
        ];
        let recording = Recording { folder: "/d".into(), before: BTreeMap::new(), steps };
        let mut lost = Vec::new();
        let shown = recording.cuts(100, 7, |cut| {
            if cut.unsynced == Unsynced::Lost {
                lost.push((cut.noted, cut.files.get(Path::new("a")).map(Vec::len)));
            }
        });
        let full = Some(1024);
        assert_eq!(lost, [(0, None), (0, None), (0, full), (1, full), (1, full), (1, full), (1, None)]);
        assert_eq!(shown, 14);
        // Unsynced writes may be retained, lost, or retained in part.
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..200 {
            recording.cuts(100, seed, |cut| {
                if cut.step == 5 {
                    lengths.insert(cut.files[Path::new("a")].len());
                }
            });
        }
        assert!(lengths.contains(&1024) && lengths.contains(&1536), "{lengths:?}");
    }
}
