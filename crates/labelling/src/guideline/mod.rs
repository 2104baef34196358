//! The guideline: instructions for annotators, in versions, and agreement under each.

mod agreement;
pub mod error;
mod markdown;
mod pictures;

use crate::guideline::error::GuidelineError;
pub use agreement::OnScreen;
use base64::Engine;
use dissensus_api::{GuidelineInfo, GuidelineWritten, NewGuideline, PictureData};
use dissensus_domain::{Guideline, GuidelineId, Picture};
use dissensus_project::clock::now_ms;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use markdown::{Contents, PICTURE, with_pictures};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use uuid::Uuid;

/// Maximum length of a guideline, in characters.
const LONGEST: usize = 200_000;

/// Maximum length of the description of a change and of the author, in characters.
const LONGEST_CHANGE: usize = 2_000;

/// The guideline of the open project.
#[derive(Clone)]
pub struct Guidelines {
    context: Arc<Context>,
}

impl Guidelines {
    pub fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context) }
    }

    /// The current version; `None` where nothing was written.
    pub fn newest(&self) -> Result<Option<GuidelineInfo>, ProjectError> {
        let newest = self.context.store.newest_guideline()?;
        Ok(newest.map(|(guideline, number)| guideline_info(guideline, number)))
    }

    /// All versions, oldest first.
    pub fn versions(&self) -> Result<Vec<GuidelineInfo>, ProjectError> {
        let store = &self.context.store;
        let (versions, numbers) = (store.guidelines()?, store.guideline_numbers()?);
        let number = |guideline: &Guideline| numbers.get(&guideline.id).copied();
        Ok(versions
            .into_iter()
            .filter_map(|one| number(&one).map(|number| guideline_info(one, number)))
            .collect())
    }

    /// A version by its number; without one the current version.
    ///
    /// # Errors
    /// There is no such version, or none at all.
    pub fn version(&self, number: Option<u32>) -> Result<GuidelineInfo, ProjectError> {
        let mut versions = self.versions()?;
        let (Some(oldest), Some(newest)) = (versions.first(), versions.last()) else {
            return Err(GuidelineError::None.into());
        };
        let (oldest, newest) = (oldest.number, newest.number);
        let wanted = number.unwrap_or(newest);
        match versions.iter().position(|version| version.number == wanted) {
            Some(at) => Ok(versions.swap_remove(at)),
            None => Err(GuidelineError::NoVersion { number: wanted, oldest, newest }.into()),
        }
    }

    /// Writes a new version, which becomes the current one. Its pictures are stored in the project: those
    /// with a file name, relative to `folder`, and those with `picture:NAME` that are among `new.pictures`,
    /// or in the project already.
    ///
    /// # Errors
    /// It is blank, too long or unchanged; another version was written since `new.after`; a picture is
    /// outside the folder, cannot be read, is too large or of an unsupported kind; the open project is a
    /// task packet. Nothing is written then.
    pub fn write(&self, new: &NewGuideline, folder: Option<&Path>) -> Result<GuidelineWritten, ProjectError> {
        self.context.whole_project()?;
        let body = new.body.replace("\r\n", "\n");
        if body.trim().is_empty() {
            return Err(GuidelineError::Blank.into());
        }
        let length = body.chars().count();
        if length > LONGEST {
            return Err(GuidelineError::Long(length).into());
        }
        let mut added: BTreeMap<String, Picture> = BTreeMap::new();
        for path in &new.pictures {
            let picture = pictures::read(Path::new(path), path)?;
            added.insert(picture.name.clone(), picture);
        }
        let contents = Contents::new(&body);
        let mut renamed = Vec::with_capacity(contents.pictures.len());
        for shown in &contents.pictures {
            renamed.push(self.picture_of(&shown.target, folder, &mut added)?);
        }
        let body = with_pictures(&body, &contents, &renamed).map_err(|name| GuidelineError::Picture {
            name,
            why: "write it where it is shown, as ![what it shows](FILE), and not within the words of another one".to_owned(),
        })?;
        let used = added.into_values().filter(|picture| body.contains(&format!("{PICTURE}{}", picture.name)));
        let used: Vec<Picture> = used.collect();
        let cut = |words: &str| words.trim().chars().take(LONGEST_CHANGE).collect::<String>();
        let guideline = Guideline {
            id: GuidelineId(Uuid::now_v7()),
            at_ms: now_ms(),
            body,
            change: cut(&new.change),
            by: cut(&new.by),
        };
        let after = new.after.clone();
        let notices = contents.notices();
        self.context.store.write(move |tx| -> Result<(), ProjectError> {
            if let Some((newest, number)) = tx.newest_guideline()? {
                if newest.body == guideline.body {
                    return Err(GuidelineError::Unchanged(number).into());
                }
                if after.is_some_and(|after| after != newest.id.to_string()) {
                    return Err(GuidelineError::Outdated { number, by: newest.by }.into());
                }
            }
            Ok(tx.write_guideline(&guideline, &used)?)
        })?;
        self.context.listeners.send(&Event::Project);
        Ok(GuidelineWritten { guideline: self.version(None)?, notices })
    }

    /// The name under which a picture is stored.
    fn picture_of(
        &self,
        target: &str,
        folder: Option<&Path>,
        added: &mut BTreeMap<String, Picture>,
    ) -> Result<String, ProjectError> {
        let refused = |why: &str| {
            ProjectError::from(GuidelineError::Picture { name: target.to_owned(), why: why.to_owned() })
        };
        if let Some(name) = target.strip_prefix(PICTURE) {
            return match added.contains_key(name) || self.context.store.picture(name)?.is_some() {
                true => Ok(target.to_owned()),
                false => Err(refused("the project has no such picture: add it")),
            };
        }
        let elsewhere = target.contains("://") || target.starts_with("data:") || target.starts_with("//");
        if elsewhere {
            return Err(refused(
                "it is elsewhere, and a guideline is shown without a network: save it as a file and add that",
            ));
        }
        let Some(folder) = folder else {
            return Err(refused("add the file with \"Add a picture\", which writes its name"));
        };
        // Not outside the folder of the guideline: a Markdown file from elsewhere could otherwise name any
        // file of this machine.
        let relative = PathBuf::from(target);
        let inside = relative.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !inside {
            return Err(refused(
                "put it next to the guideline, or in a folder there, and name it from there",
            ));
        }
        let file = folder.join(relative);
        // Nor through a link. A missing file is reported when it is read.
        if let (Ok(real), Ok(folder)) = (file.canonicalize(), folder.canonicalize())
            && !real.starts_with(folder)
        {
            return Err(refused("a link leads out of the guideline's folder: put the picture itself there"));
        }
        let picture = pictures::read(&file, target)?;
        let name = format!("{PICTURE}{}", picture.name);
        added.insert(picture.name.clone(), picture);
        Ok(name)
    }

    /// A picture of the project, for the window.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn picture(&self, name: &str) -> Result<PictureData, ProjectError> {
        let found = self.context.store.picture(name)?;
        let missing = || GuidelineError::Picture {
            name: name.to_owned(),
            why: "the project has no such picture".to_owned(),
        };
        Ok(picture_data(&found.ok_or_else(missing)?))
    }

    /// Reads a picture from a file as it would be stored in the project, without storing it.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn read_picture(&self, path: &Path) -> Result<PictureData, ProjectError> {
        Ok(picture_data(&pictures::read(path, &path.display().to_string())?))
    }
}

/// A picture for the window or a page.
pub fn picture_data(picture: &Picture) -> PictureData {
    PictureData {
        name: picture.name.clone(),
        media_type: picture.media_type.clone(),
        base64: base64::engine::general_purpose::STANDARD.encode(&picture.bytes),
    }
}

/// A version, with its number.
pub fn guideline_info(guideline: Guideline, number: u32) -> GuidelineInfo {
    GuidelineInfo {
        id: guideline.id.to_string(),
        number,
        at: guideline.at_ms as f64,
        body: guideline.body,
        change: guideline.change,
        by: guideline.by,
    }
}
