//! Derives the scale that a reader of a file will infer from its contents.

use super::labels::{Named, ToolAnswer, ToolLabels};
use dissensus_domain::{Scale, ScaleKind};
use std::collections::BTreeSet;

/// The names that occur in answers to a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedNames {
    /// Names of levels, options or types of spans.
    pub(crate) names: BTreeSet<String>,
    /// Some answer is spans.
    pub(crate) spans: bool,
    /// Some answer is a set of no or several options.
    pub(crate) sets: bool,
}

impl UsedNames {
    pub(crate) fn new<'a>(labels: &ToolLabels, answers: impl Iterator<Item = &'a ToolAnswer>) -> Self {
        let mut used = Self::default();
        for named in answers.filter_map(|answer| labels.named(answer)) {
            match named {
                Named::Level(level) => {
                    if !used.names.contains(level) {
                        used.names.insert(level.to_owned());
                    }
                }
                Named::Options(options) => {
                    used.sets |= options.len() != 1;
                    used.names.extend(options.into_iter().map(str::to_owned));
                }
                Named::Spans(spans) => {
                    used.spans = true;
                    used.names.extend(spans.into_iter().map(|(_, _, kind)| kind.to_owned()));
                }
            }
        }
        used
    }

    /// Returns the scale that an import guesses from a file with nothing but answers.
    pub(crate) fn guess(&self) -> Option<(ScaleKind, Vec<String>)> {
        let names = || self.names.iter().cloned().collect();
        match () {
            () if self.spans => Some((ScaleKind::Spans, names())),
            () if self.sets => Some((ScaleKind::MultiLabel, names())),
            () => Scale::guess(&self.names).ok().map(|scale| (scale.kind(), scale.levels().to_vec())),
        }
    }

    /// Returns the scale that an import guesses if the file specifies its kind.
    pub(crate) fn guess_of(&self, kind: ScaleKind) -> Option<(ScaleKind, Vec<String>)> {
        Scale::of_kind(kind, &self.names).ok().map(|scale| (kind, scale.levels().to_vec()))
    }
}

/// Whether the inferred scale is of the kind of `scale`, with its levels in their order if they have one.
pub(crate) fn is_inferred(scale: &Scale, reported: Option<&(ScaleKind, Vec<String>)>) -> bool {
    let Some((kind, levels)) = reported else { return false };
    let ours = scale.levels().iter().filter(|level| levels.contains(level));
    let theirs = levels.iter().filter(|level| scale.levels().contains(level));
    *kind == scale.kind() && (!kind.rules().is_ordered() || ours.eq(theirs))
}
