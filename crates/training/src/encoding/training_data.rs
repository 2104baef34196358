//! Records what a tuned encoder was itself trained on, so that nothing is scored with it as if it were
//! unseen.
//!
//! Stored in the project under the SHA-256 of the encoder's weights: it applies to every pooling and
//! precision of them, wherever their files are moved, and it is retained when the run that tuned them is
//! deleted. It is also stored next to the weights, for copies of the project that do not have the run.

use super::Encoding;
use super::encoders::SelectedEncoder;
use crate::error::TrainingError;
use dissensus_domain::{AnnotatorId, TextId};
use dissensus_encoder::{Encoder, EncoderOptions};
use dissensus_files::write_atomically;
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_selection::evaluation::SeenByEncoder;
use dissensus_store::{RunId, RunPart, body_hash};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use uuid::Uuid;

/// Texts and annotators whose labels trained or validated an encoder, or the encoder from which its tuning
/// started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct TrainingData {
    texts: BTreeSet<TextId>,
    annotators: BTreeSet<AnnotatorId>,
    /// Texts whose labels were only used to choose a checkpoint, not to train weights. Records of encoders
    /// from before this was stored list none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    validated: BTreeSet<TextId>,
    /// Those that this copy of the project does not have: they may be imported or merged later.
    #[serde(default, skip_serializing_if = "Fingerprints::is_empty")]
    missing: Fingerprints,
}

impl TrainingData {
    fn extend(&mut self, other: Self) {
        let taught: BTreeSet<TextId> = self.taught().chain(other.taught()).collect();
        self.validated.extend(&other.validated);
        self.validated.retain(|text| !taught.contains(text));
        self.texts.extend(other.texts);
        self.annotators.extend(other.annotators);
        self.missing.extend(other.missing);
    }

    /// Texts whose labels trained weights.
    fn taught(&self) -> impl Iterator<Item = TextId> {
        self.texts.difference(&self.validated).copied()
    }
}

/// The training data as rows of the arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenRows {
    texts: Vec<bool>,
    annotators: Vec<bool>,
    taught: Vec<bool>,
}

impl SeenRows {
    /// In the form that splits use.
    pub fn rows(&self) -> SeenByEncoder<'_> {
        SeenByEncoder { texts: &self.texts, annotators: &self.annotators }
    }

    /// Texts whose labels trained weights of the encoder, one entry per text; empty if it learned from none.
    pub fn taught(&self) -> &[bool] {
        &self.taught
    }

    /// A note for a figure; `None` if nothing was left out.
    pub fn note(left_out: usize) -> Option<String> {
        let texts = if left_out == 1 { "1 text is".to_owned() } else { format!("{left_out} texts are") };
        (left_out > 0)
            .then(|| format!("{texts} left out of the test: the encoder was tuned on their labels."))
    }
}

fn key(weights_sha256: &str) -> String {
    format!("encoder_training_data:{weights_sha256}")
}

/// The record next to a tuned encoder's weights, so that a copy of the project from before the run knows it
/// too, wherever the folder is moved. It has the same data as fingerprints that are valid in every copy, by
/// project, because an encoder is shared and the information who labelled what must not be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Record {
    projects: BTreeMap<Uuid, Fingerprints>,
    /// SHA-256 of the bodies of all of these texts, by which another project recognizes texts that it has
    /// too (see [`body_hash`]): they are not unseen there. A person who has a text can find out whether it
    /// is among them. Records from before this was stored list none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    bodies: BTreeSet<String>,
}

/// What trained an encoder in addition to the labels of its run: texts and annotators of a project, as that
/// project finds them when it uses the encoder, and texts of the run's own project with the same body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherTrainingData {
    project: Uuid,
    prints: Fingerprints,
    bodies: BTreeSet<String>,
    same_bodies: BTreeSet<TextId>,
}

impl OtherTrainingData {
    /// Texts (also by their bodies) and annotators of `project` by their external ids.
    pub(crate) fn new<'a>(
        project: Uuid,
        texts: impl IntoIterator<Item = &'a str>,
        bodies: impl IntoIterator<Item = &'a str>,
        annotators: impl IntoIterator<Item = &'a str>,
        same_bodies: BTreeSet<TextId>,
    ) -> Self {
        let prints = Fingerprints {
            texts: texts.into_iter().map(|name| fingerprint(project, name)).collect(),
            annotators: annotators.into_iter().map(|name| fingerprint(project, name)).collect(),
            ..Fingerprints::default()
        };
        let bodies = bodies.into_iter().filter_map(body_print).collect();
        Self { project, prints, bodies, same_bodies }
    }
}

/// SHA-256 of external ids, see [`fingerprint`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Fingerprints {
    texts: BTreeSet<String>,
    annotators: BTreeSet<String>,
    /// Those of the texts whose labels trained no weight, as in [`TrainingData`].
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    validated: BTreeSet<String>,
}

impl Fingerprints {
    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.annotators.is_empty()
    }

    fn extend(&mut self, other: Self) {
        let taught = |prints: &Self| -> BTreeSet<String> {
            prints.texts.difference(&prints.validated).cloned().collect()
        };
        let taught: BTreeSet<String> = taught(self).union(&taught(&other)).cloned().collect();
        self.validated.extend(other.validated);
        self.validated.retain(|text| !taught.contains(text));
        self.texts.extend(other.texts);
        self.annotators.extend(other.annotators);
    }
}

/// A fingerprint of an external id for files that are shared: others cannot read it, and it differs between
/// projects.
fn fingerprint(project: Uuid, external_id: &str) -> String {
    hex(&Sha256::new().chain_update(project.as_bytes()).chain_update(external_id).finalize())
}

/// Fingerprint of a body, the same in every project; `None` for a body without words.
fn body_print(body: &str) -> Option<String> {
    body_hash(body).map(|hash| hex(&hash))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the encoder in `dir` has a record, by their bodies, of the texts that trained it.
pub(super) fn has_training_record(dir: &Path) -> Result<bool, ProjectError> {
    Ok(!Record::read(dir)?.bodies.is_empty())
}

impl Record {
    const FILE: &str = "training_data.json";

    /// Reads the record of the encoder in `dir`; empty if there is none.
    fn read(dir: &Path) -> Result<Self, ProjectError> {
        let path = dir.join(Self::FILE);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                ProjectError::from(TrainingError::DamagedTrainingData { path, reason: error.to_string() })
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ProjectError::Io { path, doing: "reading", source }),
        }
    }

    fn write(&self, dir: &Path) -> Result<(), ProjectError> {
        let path = dir.join(Self::FILE);
        let text = serde_json::to_string_pretty(self).map_err(|e| ProjectError::internal(&e))?;
        write_atomically(&path, format!("{text}\n").as_bytes()).map_err(|source| ProjectError::Io {
            path,
            doing: "writing",
            source,
        })
    }
}

impl Encoding {
    /// Stores what the encoder in `dir` was trained on: the training and validation labels of `run`, the
    /// training data of the encoder version `parent` from which its tuning started (in the folder
    /// `parent_dir`, if available), and `others`. It is stored in the project and next to the encoder.
    pub(crate) fn store_encoder_training_data(
        &self,
        run: RunId,
        dir: &Path,
        parent: Option<&str>,
        parent_dir: Option<&Path>,
        others: &[&OtherTrainingData],
    ) -> Result<(), ProjectError> {
        let encoder = Encoder::open(dir, &EncoderOptions::default())?;
        let mut data = self.training_data(parent)?.unwrap_or_default();
        for part in [RunPart::Train, RunPart::Validation] {
            let mut of_run = TrainingData::default();
            for label in self.context.store.run_labels(run, part)?.labels {
                of_run.texts.insert(label.text);
                of_run.annotators.insert(label.annotator);
            }
            if part == RunPart::Validation {
                of_run.validated.clone_from(&of_run.texts);
            }
            data.extend(of_run);
        }
        let project = self.context.store.project_id()?.0;
        for other in others {
            let missing =
                if other.project == project { other.prints.clone() } else { Fingerprints::default() };
            let texts = other.same_bodies.clone();
            data.extend(TrainingData { texts, missing, ..TrainingData::default() });
        }
        let data = self.store_training_data(&encoder.version().weights_sha256, data)?;
        // For other projects, the parent's folder or an earlier version of this record may contain more.
        let before = Record::read(dir)?;
        let mut record = before.clone();
        if let Some(parent_dir) = parent_dir {
            let parent = Record::read(parent_dir)?;
            for (project, names) in parent.projects {
                record.projects.entry(project).or_default().extend(names);
            }
            record.bodies.extend(parent.bodies);
        }
        for other in others {
            if other.project != project {
                record.projects.entry(other.project).or_default().extend(other.prints.clone());
            }
            record.bodies.extend(other.bodies.iter().cloned());
        }
        let texts: Vec<TextId> = data.texts.iter().copied().collect();
        let bodies = self.context.store.bodies(&texts)?;
        record.bodies.extend(bodies.iter().filter_map(|body| body_print(body)));
        record.projects.entry(project).or_default().extend(self.fingerprints(project, &data)?);
        if record == before { Ok(()) } else { record.write(dir) }
    }

    /// Imports from the record next to the encoder in `dir` this project's texts and annotators, and texts
    /// of other projects that this one has too. It is read whenever texts are encoded or the encoder is
    /// tuned, so that texts that are added later are recognized in time.
    pub(super) fn import_training_data(&self, weights_sha256: &str, dir: &Path) -> Result<(), ProjectError> {
        let project = self.context.store.project_id()?.0;
        let mut record = Record::read(dir)?;
        let own = record.projects.remove(&project);
        let mut texts = BTreeSet::new();
        if !record.bodies.is_empty() {
            // For this project's own texts the record distinguishes training from validation only.
            let known = own.as_ref().map(|own| &own.texts);
            self.context.store.for_each_text(|text| {
                let name = || fingerprint(project, &text.external_id);
                let is_own = known.is_some_and(|known| known.contains(&name()));
                if !is_own && body_print(&text.body).is_some_and(|print| record.bodies.contains(&print)) {
                    texts.insert(text.id);
                }
                Ok::<(), ProjectError>(())
            })?;
        }
        if own.is_none() && texts.is_empty() {
            return Ok(());
        }
        let data = TrainingData { texts, missing: own.unwrap_or_default(), ..TrainingData::default() };
        self.store_training_data(weights_sha256, data).map(drop)
    }

    /// Imports the record of the encoder from which a tuning is about to start: texts may have been imported
    /// since texts were last encoded.
    pub(crate) fn import_before_tuning(&self, chosen: &SelectedEncoder) -> Result<(), ProjectError> {
        let versions = self.context.store.encoder_versions()?;
        let Some(version) = versions.iter().find(|known| known.key == chosen.key) else { return Ok(()) };
        let found = self.find_encoder(None, Some(chosen))?;
        self.import_training_data(&version.weights_sha256, &found.dir)
    }

    /// Moves missing texts and annotators that are in the project by now to the found ones.
    fn found(&self, mut data: TrainingData) -> Result<TrainingData, ProjectError> {
        if data.missing.is_empty() {
            return Ok(data);
        }
        let project = self.context.store.project_id()?.0;
        if !data.missing.texts.is_empty() {
            for (id, name) in self.context.store.all_text_ids_and_externals()? {
                let print = fingerprint(project, &name);
                if data.missing.texts.remove(&print) {
                    let taught_nothing = data.missing.validated.remove(&print);
                    match (data.texts.insert(id), taught_nothing) {
                        (true, true) => drop(data.validated.insert(id)),
                        (false, false) => drop(data.validated.remove(&id)),
                        _ => {}
                    }
                }
            }
        }
        for annotator in self.context.index().annotators() {
            if data.missing.annotators.remove(&fingerprint(project, &annotator.external_id)) {
                data.annotators.insert(annotator.id);
            }
        }
        Ok(data)
    }

    /// Adds to the stored training data of these weights, and returns all of it.
    fn store_training_data(
        &self,
        weights_sha256: &str,
        mut data: TrainingData,
    ) -> Result<TrainingData, ProjectError> {
        let key = key(weights_sha256);
        let known: Option<TrainingData> = self.context.store.setting(&key)?;
        // Two runs can produce the same weights (for example with a learning rate of 0): the data of both
        // counts.
        if let Some(known) = known.clone() {
            data.extend(known);
        }
        let data = self.found(data)?;
        if known.as_ref() != Some(&data) {
            self.context.store.set_setting(&key, &data)?;
        }
        Ok(data)
    }

    /// Fingerprints of all of the data, including what this copy of the project does not have.
    fn fingerprints(&self, project: Uuid, data: &TrainingData) -> Result<Fingerprints, ProjectError> {
        let texts = self.context.store.all_text_ids_and_externals()?;
        let prints = |of: &BTreeSet<TextId>| -> BTreeSet<String> {
            let those = texts.iter().filter(|(id, _)| of.contains(id));
            those.map(|(_, name)| fingerprint(project, name)).collect()
        };
        let index = self.context.index();
        let annotators = index.annotators().iter().filter(|a| data.annotators.contains(&a.id));
        let mut all = data.missing.clone();
        all.extend(Fingerprints {
            texts: prints(&data.texts),
            validated: prints(&data.validated),
            annotators: annotators.map(|a| fingerprint(project, &a.external_id)).collect(),
        });
        Ok(all)
    }

    /// What the encoder in use was trained on in this project, for the texts and annotators of `index`.
    pub fn seen_by_encoder(&self, index: &Index) -> Result<SeenRows, ProjectError> {
        self.seen_by(self.active_encoder()?.key(), index)
    }

    /// What the encoder version `version` was trained on, see [`Encoding::seen_by_encoder`].
    pub fn seen_by(&self, version: Option<&str>, index: &Index) -> Result<SeenRows, ProjectError> {
        let Some(data) = self.training_data(version)? else { return Ok(SeenRows::default()) };
        Ok(SeenRows {
            texts: index.texts().iter().map(|text| data.texts.contains(text)).collect(),
            annotators: index.annotators().iter().map(|a| data.annotators.contains(&a.id)).collect(),
            taught: {
                let taught: BTreeSet<TextId> = data.taught().collect();
                index.texts().iter().map(|text| taught.contains(text)).collect()
            },
        })
    }

    fn training_data(&self, version: Option<&str>) -> Result<Option<TrainingData>, ProjectError> {
        let Some(version) = version else { return Ok(None) };
        let found = self.context.store.encoder_versions()?.into_iter().find(|known| known.key == version);
        let Some(found) = found else { return Ok(None) };
        let data: Option<TrainingData> = self.context.store.setting(&key(&found.weights_sha256))?;
        data.map(|data| self.found(data)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prints(texts: &[&str], validated: &[&str]) -> Fingerprints {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Fingerprints { texts: set(texts), validated: set(validated), ..Fingerprints::default() }
    }

    #[test]
    fn training_text_of_one_record_counts_in_all() {
        let mut all = prints(&["a", "b", "c"], &["b", "c"]);
        all.extend(prints(&["b", "d"], &["d"]));
        assert_eq!(all, prints(&["a", "b", "c", "d"], &["c", "d"]));
        // In records from before this was stored, every text counts as training data.
        let before: Fingerprints = serde_json::from_str(r#"{"texts": ["c"], "annotators": []}"#).unwrap();
        all.extend(before);
        assert_eq!(all, prints(&["a", "b", "c", "d"], &["d"]));
    }
}
