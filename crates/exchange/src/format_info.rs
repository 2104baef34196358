//! What a format is called.

/// What a format is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// The name by which it is chosen: `label-studio`.
    pub name: &'static str,
    /// Its name for people: `Label Studio JSON`.
    pub title: &'static str,
    /// How names of its files end, without the point.
    pub endings: &'static [&'static str],
}
