//! Names of enum values on the command line and in files: derived by strum, read back here.

use super::PerspectivesError;
use strum::VariantArray;

/// The value of this name.
///
/// # Errors
/// [`PerspectivesError::UnknownName`], which lists all names.
pub(crate) fn value_named<T>(what: &'static str, name: &str) -> Result<T, PerspectivesError>
where
    T: VariantArray + Copy + Into<&'static str>,
{
    let found = T::VARIANTS.iter().copied().find(|value| Into::<&'static str>::into(*value) == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = T::VARIANTS.iter().map(|value| (*value).into()).collect();
        let known = match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        PerspectivesError::UnknownName { what, name: name.to_owned(), known }
    })
}
