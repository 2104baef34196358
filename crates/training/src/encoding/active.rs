//! The active encoder of a project, and the only place that changes it.
//!
//! The active encoder is one value in the project file, and each step from one to the next is one
//! transaction that checks the value it replaces. So a kill between two steps leaves one encoder or the
//! other, never a mixture; and an encoding that ends after another encoder was chosen changes nothing.
//!
//! | step | current | run | previous |
//! | --- | --- | --- | --- |
//! | the first encoding begins | its encoder | none | none |
//! | an encoding with another encoder ends (a pooling is chosen) | its encoder | none | none |
//! | the same with another pooling of a run's encoder | its encoder | the run that tuned it | unchanged |
//! | the tuned encoder of a run is used | that one | the run | the last one that is not of a run |
//! | a run on a frozen encoder is used | the one it was trained on | the run | none |
//! | it is used no more (or deleted) | previous, if any | none | none |
//!
//! A change of precision is handled like a change of pooling.

use super::Encoding;
use super::encoders::SelectedEncoder;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_store::{StoreError, WriteTx};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Settings in which projects of format 2 stored the three parts.
const OLD_ENCODER_KEY: &str = "encoder";
const OLD_PREVIOUS_KEY: &str = "encoder_before_run";
const OLD_RUN_KEY: &str = "predicting_run";
/// Prefix of the name of an encoder that a run of this project has tuned.
const OF_A_RUN: &str = "run:";

/// The encoder in use, its origin, and the encoder to return to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActiveEncoder {
    /// The encoder whose embeddings the project uses; none before the first encoding.
    pub current: Option<SelectedEncoder>,
    /// The run that is in use: the one that tuned the encoder, or one that was trained on it unchanged.
    pub run: Option<u32>,
    /// The run that tuned the encoder; absent in values that were written before this was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tuned_by: Option<u32>,
    /// The encoder that was in use before that of a run.
    pub(crate) previous: Option<SelectedEncoder>,
}

impl ActiveEncoder {
    /// The setting that holds it.
    pub(crate) const KEY: &str = "active_encoder";

    /// Key of the encoder version in use.
    pub fn key(&self) -> Option<&str> {
        self.current.as_ref().map(|current| current.key.as_str())
    }

    /// Whether the run in use has tuned it.
    pub(crate) fn is_tuned(&self) -> bool {
        self.is_of_a_run() && (self.tuned_by.is_none() || self.tuned_by == self.run)
    }

    /// Whether a run of this project has tuned it.
    fn is_of_a_run(&self) -> bool {
        let old_path = |encoder: &SelectedEncoder| self.run.is_some_and(|run| is_path_of(encoder, run));
        let named = |encoder: &SelectedEncoder| encoder.encoder.starts_with(OF_A_RUN);
        self.current.as_ref().is_some_and(|encoder| named(encoder) || old_path(encoder))
    }

    /// The state in which an encoder was chosen and every text is encoded with it.
    fn chosen(self, encoder: SelectedEncoder) -> Self {
        let same = self.is_of_a_run() && self.current.as_ref().is_some_and(|c| c.encoder == encoder.encoder);
        if same {
            // A run that was trained on the encoder unchanged needs this exact version; the run that tuned
            // it works with any.
            let same_version = self.key() == Some(encoder.key.as_str());
            let run = if same_version { self.run } else { self.tuned_by.or(self.run) };
            return Self { current: Some(encoder), run, ..self };
        }
        Self { current: Some(encoder), ..Self::default() }
    }

    /// The state in which the tuned encoder of a run is used.
    fn with_tuned(self, run: u32, encoder: SelectedEncoder) -> Self {
        let previous =
            if self.run.is_some() && self.previous.is_some() { self.previous } else { self.current };
        // Never return to the encoder of the same run.
        let previous = previous.filter(|previous| previous.encoder != encoder.encoder);
        Self { current: Some(encoder), run: Some(run), tuned_by: Some(run), previous }
    }

    /// The state in which a run is used that was trained on embeddings of the encoder version `key`; `None`
    /// if that version is not available.
    fn with_frozen(self, run: u32, key: Option<&str>) -> Option<Self> {
        let is_it = |encoder: &SelectedEncoder| Some(encoder.key.as_str()) == key;
        if self.current.as_ref().is_some_and(is_it) || (key.is_none() && self.current.is_none()) {
            let tuned_by = self.tuned_by.or(self.run.filter(|_| self.is_of_a_run()));
            // The encoder to return to stays the same for a run on the encoder of another run.
            let previous = self
                .previous
                .filter(|_| self.current.as_ref().is_some_and(|c| c.encoder.starts_with(OF_A_RUN)));
            return Some(Self { current: self.current, run: Some(run), tuned_by, previous });
        }
        let previous = self.previous.filter(is_it)?;
        Some(Self { current: Some(previous), run: Some(run), ..Self::default() })
    }

    /// Removes an encoder that is about to be deleted as the previous encoder. `None` if it is in use.
    fn without_encoder(self, name: &str) -> Option<Self> {
        let is_it = |encoder: &SelectedEncoder| encoder.encoder == name;
        if self.current.as_ref().is_some_and(is_it) {
            return None;
        }
        Some(Self { previous: self.previous.filter(|previous| !is_it(previous)), ..self })
    }

    /// Drops references to deleted runs: `runs` are the numbers of the remaining runs, with the names of
    /// their encoders.
    fn without_deleted_runs(self, runs: &[(u32, String)]) -> Self {
        let there = |encoder: &SelectedEncoder| {
            !encoder.encoder.starts_with(OF_A_RUN) || runs.iter().any(|(_, name)| *name == encoder.encoder)
        };
        let is_number = |number: &u32| runs.iter().any(|(known, _)| known == number);
        let previous = self.previous.filter(there);
        match self.current.filter(there) {
            None => Self { current: previous, ..Self::default() },
            Some(current) => {
                let (run, tuned_by) = (self.run.filter(is_number), self.tuned_by.filter(is_number));
                Self { current: Some(current), run, tuned_by, previous }
            }
        }
    }

    /// The state in which no run's encoder is used any more.
    fn without_run(self) -> Self {
        Self { current: self.previous.or(self.current), ..Self::default() }
    }
}

impl Encoding {
    /// The encoder in use and its origin.
    pub fn active_encoder(&self) -> Result<ActiveEncoder, ProjectError> {
        if let Some(active) = self.context.store.setting(ActiveEncoder::KEY)? {
            return Ok(active);
        }
        let run: Option<Option<u32>> = self.context.store.setting(OLD_RUN_KEY)?;
        let previous: Option<Option<SelectedEncoder>> = self.context.store.setting(OLD_PREVIOUS_KEY)?;
        let current: Option<SelectedEncoder> = self.context.store.setting(OLD_ENCODER_KEY)?;
        Ok(of_format_2(current, run.flatten(), previous.flatten()))
    }

    /// The encoder whose embeddings the project uses; `None` before the first encoding.
    pub fn chosen(&self) -> Result<Option<SelectedEncoder>, ProjectError> {
        Ok(self.active_encoder()?.current)
    }

    /// The run whose encoder is in use.
    pub(crate) fn run_in_use(&self) -> Result<Option<u32>, ProjectError> {
        Ok(self.active_encoder()?.run)
    }

    /// Makes the first encoder the project's from its first embedding, so that an interrupted encoding
    /// continues with it.
    pub(crate) fn begin_with_encoder(&self, encoder: &SelectedEncoder) -> Result<bool, ProjectError> {
        let encoder = encoder.clone();
        self.change_encoder(|now| now.current.is_none().then(|| now.chosen(encoder)))
    }

    /// Makes an encoder with an embedding of every text the project's. Returns false and changes nothing if
    /// another step came after `seen`.
    pub fn choose_encoder(
        &self,
        encoder: &SelectedEncoder,
        seen: &ActiveEncoder,
    ) -> Result<bool, ProjectError> {
        let (encoder, seen) = (encoder.clone(), seen.clone());
        self.change_encoder(move |now| (now == seen).then(|| now.chosen(encoder)))
    }

    /// Uses the tuned encoder of a run.
    pub(crate) fn use_tuned_encoder(&self, run: u32, encoder: SelectedEncoder) -> Result<(), ProjectError> {
        self.change_encoder(move |now| Some(now.with_tuned(run, encoder))).map(drop)
    }

    /// Uses a run on a frozen encoder. Returns false and changes nothing if the project neither uses that
    /// encoder nor used it before.
    pub(crate) fn use_frozen_run(&self, run: u32, key: Option<String>) -> Result<bool, ProjectError> {
        self.change_encoder(move |now| now.with_frozen(run, key.as_deref()))
    }

    /// Returns to the encoder that was in use before that of a run.
    pub(crate) fn stop_using_run(&self) -> Result<(), ProjectError> {
        self.change_encoder(|now| Some(now.without_run())).map(drop)
    }

    /// Removes all references to an encoder that is about to be deleted. Returns false and changes nothing
    /// if it is in use.
    pub(crate) fn forget_encoder(&self, name: &str) -> Result<bool, ProjectError> {
        let name = name.to_owned();
        self.change_encoder(move |now| now.without_encoder(&name))
    }

    /// Stops using deleted runs and their encoders. `runs` are the remaining ones.
    pub fn stop_using_deleted_runs(&self, runs: &[(u32, String)]) -> Result<(), ProjectError> {
        let runs = runs.to_vec();
        let step = move |now: ActiveEncoder| {
            let next = now.clone().without_deleted_runs(&runs);
            (next != now).then_some(next)
        };
        self.change_encoder(step).map(drop)
    }

    /// Applies `step` to the active encoder and stores the result, in one transaction. `None` changes
    /// nothing.
    fn change_encoder(
        &self,
        step: impl FnOnce(ActiveEncoder) -> Option<ActiveEncoder> + Send + 'static,
    ) -> Result<bool, ProjectError> {
        let changed = self.context.store.write(move |tx| -> Result<bool, StoreError> {
            let now = in_transaction(tx)?;
            let Some(next) = step(now.clone()) else { return Ok(false) };
            if next != now {
                tx.set_setting(ActiveEncoder::KEY, &next)?;
            }
            Ok(true)
        })?;
        if changed {
            self.forget_embeddings();
            self.context.listeners.send(&Event::Project);
        }
        Ok(changed)
    }
}

fn in_transaction(tx: &WriteTx<'_>) -> Result<ActiveEncoder, StoreError> {
    if let Some(active) = tx.setting(ActiveEncoder::KEY)? {
        return Ok(active);
    }
    let run: Option<Option<u32>> = tx.setting(OLD_RUN_KEY)?;
    let previous: Option<Option<SelectedEncoder>> = tx.setting(OLD_PREVIOUS_KEY)?;
    Ok(of_format_2(tx.setting(OLD_ENCODER_KEY)?, run.flatten(), previous.flatten()))
}

/// Whether this is the tuned encoder of a run as named in format 2: by its path, which ends in
/// `NUMBER/encoder`.
fn is_path_of(encoder: &SelectedEncoder, run: u32) -> bool {
    Path::new(&encoder.encoder).ends_with(Path::new(&run.to_string()).join("encoder"))
}

/// Reads the state of format 2, which had a flag for the run and an encoder that could be changed
/// separately: the flag counts only if they match.
fn of_format_2(
    current: Option<SelectedEncoder>,
    run: Option<u32>,
    previous: Option<SelectedEncoder>,
) -> ActiveEncoder {
    match (run, &current) {
        (Some(run), Some(encoder)) if is_path_of(encoder, run) => {
            ActiveEncoder { current, run: Some(run), tuned_by: Some(run), previous }
        }
        // A run on the frozen encoder stored no previous encoder.
        (Some(run), _) if previous.is_none() => {
            ActiveEncoder { current, run: Some(run), ..ActiveEncoder::default() }
        }
        _ => ActiveEncoder { current, ..ActiveEncoder::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_encoder::{LongTexts, Pooling, Precision};

    fn encoder(name: &str, pooling: Pooling) -> SelectedEncoder {
        SelectedEncoder {
            key: format!("{name}/{pooling}"),
            encoder: name.to_owned(),
            pooling,
            precision: Precision::Fp32,
            long_texts: LongTexts::Average,
            prompt: None,
        }
    }

    fn mean(name: &str) -> SelectedEncoder {
        encoder(name, Pooling::Mean)
    }

    #[test]
    fn missing_run_falls_back_to_the_previous_encoder() {
        let there = [(1, "run:x".to_owned())];
        let frozen = ActiveEncoder { run: Some(7), ..ActiveEncoder::default().chosen(mean("a")) };
        assert_eq!(frozen.without_deleted_runs(&there), ActiveEncoder::default().chosen(mean("a")));
        let tuned = ActiveEncoder::default().chosen(mean("a")).with_tuned(1, mean("run:x"));
        assert_eq!(tuned.clone().without_deleted_runs(&there), tuned);
        assert_eq!(tuned.without_deleted_runs(&[]), ActiveEncoder::default().chosen(mean("a")));
        let only = ActiveEncoder::default().with_tuned(1, mean("run:y"));
        assert_eq!(only.without_deleted_runs(&there), ActiveEncoder::default());
    }

    #[test]
    fn deleting_a_run_forgets_its_unused_encoder() {
        let active = ActiveEncoder::default().chosen(mean("run:x"));
        assert_eq!(active.clone().without_encoder("run:x"), None);
        assert_eq!(active.clone().without_encoder("run:y"), Some(active.clone()));
        let next =
            ActiveEncoder { previous: Some(mean("run:x")), ..ActiveEncoder::default().chosen(mean("a")) };
        assert_eq!(next.without_encoder("run:x").map(|active| active.previous), Some(None));
    }

    #[test]
    fn choosing_another_encoder_ends_the_use_of_a_run() {
        let active = ActiveEncoder::default().chosen(mean("a")).with_tuned(4, mean("run:x"));
        assert_eq!((active.run, active.previous.clone()), (Some(4), Some(mean("a"))));
        let chosen = active.clone().chosen(encoder("a", Pooling::Cls));
        assert_eq!(
            chosen,
            ActiveEncoder { current: Some(encoder("a", Pooling::Cls)), ..ActiveEncoder::default() }
        );
        assert_eq!(chosen.clone().without_run(), chosen, "nothing to go back to: the choice stays");
        let pooled = active.chosen(encoder("run:x", Pooling::Max));
        assert_eq!(
            (pooled.run, pooled.previous),
            (Some(4), Some(mean("a"))),
            "it is still the run's encoder"
        );
    }

    #[test]
    fn run_on_another_encoder_is_used_until_pooling_changes() {
        let tuned = ActiveEncoder::default().chosen(mean("a")).with_tuned(4, mean("run:x"));
        let frozen = tuned.clone().with_frozen(7, Some("run:x/mean")).unwrap();
        assert_eq!((frozen.run, frozen.is_tuned(), tuned.is_tuned()), (Some(7), false, true));
        assert_eq!(frozen.clone().chosen(mean("run:x")), frozen, "encoded again with the same version");
        let pooled = frozen.chosen(encoder("run:x", Pooling::Max));
        assert_eq!((pooled.run, pooled.is_tuned()), (Some(4), true), "run 7 was trained on the mean");
        assert_eq!(pooled.without_run(), ActiveEncoder::default().chosen(mean("a")));
    }

    #[test]
    fn value_without_tuning_run_is_read() {
        let kept = r#"{"current":null,"run":3,"previous":null}"#;
        let read: ActiveEncoder = serde_json::from_str(kept).unwrap();
        assert_eq!((read.run, read.tuned_by), (Some(3), None));
        assert_eq!(serde_json::to_string(&read).unwrap(), kept);
    }

    /// A run that was used before `tuned_by` was stored: it is unknown whether it tuned the encoder or was
    /// trained on it unchanged.
    #[test]
    fn old_run_in_use_counts_as_the_tuning_run() {
        let kept = serde_json::json!({ "current": mean("run:x"), "run": 7, "previous": mean("a") });
        let old: ActiveEncoder = serde_json::from_value(kept).unwrap();
        assert_eq!((old.tuned_by, old.is_tuned()), (None, true));
        let pooled = old.clone().chosen(encoder("run:x", Pooling::Max));
        assert_eq!((pooled.run, pooled.tuned_by, pooled.is_tuned()), (Some(7), None, true));
        assert_eq!(pooled.previous, Some(mean("a")), "the way back stays");
        assert_eq!(pooled.without_run(), ActiveEncoder::default().chosen(mean("a")));
        // The next step determines which it is.
        let tuned = old.clone().with_tuned(7, mean("run:x"));
        assert_eq!((tuned.tuned_by, tuned.is_tuned()), (Some(7), true));
        let frozen = old.with_frozen(9, Some("run:x/mean")).unwrap();
        assert_eq!((frozen.tuned_by, frozen.is_tuned()), (Some(7), false));
    }

    #[test]
    fn previous_encoder_is_the_last_untuned_one() {
        let first = ActiveEncoder::default().chosen(mean("a"));
        let twice = first.clone().with_tuned(1, mean("run:x")).with_tuned(2, mean("run:y"));
        assert_eq!(twice.without_run(), first);
        let again = first.clone().with_tuned(1, mean("run:x")).with_tuned(1, mean("run:x"));
        assert_eq!(again.without_run(), first);
        let frozen = first.clone().with_tuned(1, mean("run:x")).with_frozen(3, Some("a/mean")).unwrap();
        assert_eq!(frozen, ActiveEncoder { run: Some(3), ..first.clone() });
        assert_eq!(frozen.without_run(), first);
        assert_eq!(first.with_frozen(3, Some("b/mean")), None, "an encoder that is not at hand");
    }

    #[test]
    fn separate_settings_of_format_2_are_combined() {
        let of_run = |path: &str| SelectedEncoder { key: "t".to_owned(), ..mean(path) };
        let fits = of_format_2(Some(of_run("/x/p.runs/4/encoder")), Some(4), Some(mean("a")));
        assert_eq!((fits.run, fits.previous), (Some(4), Some(mean("a"))));
        let apart = of_format_2(Some(encoder("a", Pooling::Cls)), Some(4), Some(mean("a")));
        assert_eq!(
            apart,
            ActiveEncoder { current: Some(encoder("a", Pooling::Cls)), ..ActiveEncoder::default() }
        );
        let frozen = of_format_2(Some(mean("a")), Some(2), None);
        assert_eq!((frozen.run, frozen.current), (Some(2), Some(mean("a"))));
    }
}
