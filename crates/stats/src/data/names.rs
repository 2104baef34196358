//! Names of enum values on the command line and in files: derived by strum, parsed here.

use super::ModelError;
use strum::VariantArray;

/// The names of all values, in the order of their definition.
pub fn value_names<T>() -> Vec<&'static str>
where
    T: VariantArray + Copy + Into<&'static str>,
{
    T::VARIANTS.iter().map(|value| (*value).into()).collect()
}

/// The value with this name.
///
/// # Errors
/// [`ModelError::UnknownName`], which lists all names.
pub fn value_named<T>(what: &'static str, name: &str) -> Result<T, ModelError>
where
    T: VariantArray + Copy + Into<&'static str>,
{
    let found = T::VARIANTS.iter().copied().find(|value| Into::<&'static str>::into(*value) == name);
    found.ok_or_else(|| {
        let names = value_names::<T>();
        let known = match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        ModelError::UnknownName { what, name: name.to_owned(), known }
    })
}
