//! Resolves an encoder that another project has tuned, named by that project's file: `FILE.dissensus` is the
//! encoder that it uses, `FILE.dissensus#3` the one of its run 3. It stays where it is, in the folder of
//! that run.

use super::Encoding;
use super::encoders::EncoderLocation;
use super::training_data::has_training_record;
use crate::error::TrainingError;
use crate::saved_runs::{SavedRuns, run_of_encoder};
use dissensus_api::Tuning;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_store::Store;
use std::path::Path;
use std::sync::Arc;

/// Extension of a project file.
const EXTENSION: &str = "dissensus";

/// The project file and the run that `name` refers to; `None` if it is not the name of a project file.
fn project_named(name: &str) -> Option<(&Path, Option<&str>)> {
    let is_project = |file: &str| Path::new(file).extension().is_some_and(|end| end == EXTENSION);
    let (file, run) = match name.rsplit_once('#') {
        Some((file, run)) if is_project(file) => (file, Some(run)),
        _ if is_project(name) => (name, None),
        _ => return None,
    };
    Some((Path::new(file), run))
}

/// The folder of the encoder that `name` refers to; `None` if it names no project file, or that of the
/// project `own`. From then on the encoder is identified by the folder, which has the run's UUID in its
/// path: the other project is not read again.
///
/// # Errors
/// The project does not exist or cannot be read, has no such run, has no tuned encoder, or its encoder has
/// no record of what trained it.
pub(super) fn find(home: &Home, own: &Path, name: &str) -> Result<Option<EncoderLocation>, ProjectError> {
    let Some((file, run)) = project_named(name) else { return Ok(None) };
    let refused = |reason: String| {
        ProjectError::from(TrainingError::EncoderOfProject { path: file.to_owned(), reason })
    };
    if !file.is_file() {
        return Err(refused("is not there".to_owned()));
    }
    if own.canonicalize().is_ok_and(|own| file.canonicalize().is_ok_and(|file| own == file)) {
        return Err(refused(
            "is this project: `models runs use` uses the encoder of a run of its own".to_owned(),
        ));
    }
    // The project may be open in a window, so reading takes no lock.
    let store = Store::open_reader_recorded(file, &home.check_records())?;
    let context = Arc::new(Context::open(store, home)?);
    let saved = SavedRuns::new(&context);
    let number = match run {
        Some(run) => run.parse().map_err(|_| refused(format!("has no run \"{run}\": runs are numbers")))?,
        None => {
            let active = Encoding::new(&context, &saved).active_encoder()?;
            let tuned = active.current.as_ref().and_then(|current| run_of_encoder(&current.encoder));
            let uid = tuned.ok_or_else(|| {
                let file = file.display();
                refused(format!(
                    "uses no encoder that it has tuned: name a run that has tuned one ({file}#RUN)"
                ))
            })?;
            context.store.run_by_uid(uid)?.ok_or(TrainingError::NoRunOfEncoder(uid))?.id.0
        }
    };
    let kept = saved.get(number)?;
    if kept.choices.tuning == Tuning::Frozen {
        return Err(refused(format!("has a run {number} that tuned no encoder: name one that did")));
    }
    let dir = saved.encoder_folder(kept.run.uid)?;
    if !has_training_record(&dir)? {
        return Err(refused(format!(
            "has a run {number} from before encoders recorded which texts trained them: `models runs use {number}` there first"
        )));
    }
    // A project that is opened from another folder must still find it.
    let dir = dir.canonicalize().unwrap_or(dir);
    Ok(Some(EncoderLocation { name: dir.to_string_lossy().into_owned(), dir }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_file_is_distinguished_from_folders() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("a#b.dissensus");
        let name = project.to_str().unwrap();
        assert_eq!(project_named(name), Some((project.as_path(), None)));
        assert_eq!(project_named(&format!("{name}#12")), Some((project.as_path(), Some("12"))));
        for other in ["all-MiniLM-L6-v2", "owner/name", "./folder", "a#b"] {
            assert_eq!(project_named(other), None, "{other}");
        }
    }
}
