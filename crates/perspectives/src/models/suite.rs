//! Rules that every annotator model keeps.
