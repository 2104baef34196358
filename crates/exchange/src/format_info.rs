//! Names of formats.

/// The names of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// The name by which it is chosen: `label-studio`.
    pub name: &'static str,
    /// Its display name: `Label Studio JSON`.
    pub title: &'static str,
    /// The extensions of its files, without the dot.
    pub endings: &'static [&'static str],
}
