//! Texts of the project.

use super::Project;
use dissensus_domain::{Text, TextId};
use dissensus_project::error::ProjectError;

/// All texts, in file order.
pub fn all(cx: &Project) -> Result<Vec<Text>, ProjectError> {
    let mut texts = Vec::new();
    cx.context.store.for_each_text(|text| {
        texts.push(text);
        Ok::<(), ProjectError>(())
    })?;
    Ok(texts)
}

/// The body of a text of the project.
///
/// # Errors
/// There is none of that name.
pub fn body(cx: &Project, text: &str) -> Result<String, ProjectError> {
    Ok(find(cx, text)?.1)
}

/// Id and body of a text of the project.
///
/// # Errors
/// There is none of that name.
pub fn find(cx: &Project, text: &str) -> Result<(TextId, String), ProjectError> {
    let found = cx.context.store.text_by_external(text)?;
    let found = found.ok_or_else(|| ProjectError::NoSuchText(text.to_owned()))?;
    Ok((found.id, found.body))
}
