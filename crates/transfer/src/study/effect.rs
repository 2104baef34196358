//! The effect of merging a full copy, shown before it is agreed to.

use dissensus_api::{MergeAnswersOf, MergeChange, MergeChangeKind, MergeEffectInfo};
use dissensus_store::MergeEffect;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Maximum number of names of one kind that are shown; further ones are counted.
const SHOWN: usize = 20;

/// Returns a digest of a file and the effect of merging it.
pub(super) fn effect_digest(path: &Path, effect: &MergeEffect) -> String {
    let digest =
        Sha256::new().chain_update(path.to_string_lossy().as_bytes()).chain_update(format!("{effect:?}"));
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Converts what a merge adds and changes for display.
pub(super) fn effect_info(effect: &MergeEffect) -> MergeEffectInfo {
    use MergeChangeKind as Kind;
    let taken = &effect.taken;
    let count = |names: &[String]| u32::try_from(names.len()).unwrap_or(u32::MAX);
    let strangers = taken.withdrawn.saturating_sub(count(&effect.erased));
    let answers: Vec<String> = effect
        .changed
        .iter()
        .map(|one| format!("{}, {}, {}", one.annotator, one.text, one.question))
        .collect();
    let texts = taken.splits.iter().map(|one| one.text.clone()).collect();
    let changes = [
        (Kind::Erased, count(&effect.erased), effect.erased.clone()),
        (Kind::Withdrawn, strangers, Vec::new()),
        (Kind::WithdrawnTraces, effect.withdrawn_traces, Vec::new()),
        (Kind::Answers, effect.changed_answers, answers),
        (Kind::RepeatedAnswers, taken.repeat_changes.max(effect.changed_repeats), Vec::new()),
        (Kind::People, count(&effect.changed_people), effect.changed_people.clone()),
        (Kind::Questions, count(&effect.changed_questions), effect.changed_questions.clone()),
        (Kind::Texts, taken.texts_changed, texts),
        (Kind::Guideline, taken.guidelines, Vec::new()),
        (Kind::Decisions, taken.decisions, Vec::new()),
        (Kind::AttentionChecks, taken.attention_checks, Vec::new()),
        (Kind::StudySettings, effect.study_settings, Vec::new()),
        (Kind::Panels, taken.panels, Vec::new()),
    ];
    let changes = changes.into_iter().filter(|(_, count, _)| *count > 0).map(|(kind, count, mut names)| {
        names.truncate(SHOWN);
        MergeChange { kind, count, names }
    });
    let answers = effect.answers.iter();
    MergeEffectInfo {
        answers: answers
            .map(|one| MergeAnswersOf { annotator: one.annotator.clone(), answers: one.answers })
            .collect(),
        new_people: effect.new_people.clone(),
        texts: taken.texts,
        new_questions: effect.new_questions.clone(),
        changes: changes.collect(),
    }
}
