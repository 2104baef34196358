//! Notes on the figures of a run.

use super::member::Member;
use crate::saved_runs::TrainedWordScores;
use dissensus_api::{RunAuxiliary, RunSizes, Tuning};
use dissensus_domain::Question;
use dissensus_models::batch::calibration_texts;
use dissensus_models::mixed::{MIN_CALIBRATION_LABELS, MIN_CALIBRATION_TEXTS};
use dissensus_project::words::counted;
use dissensus_selection::evaluation::DataSplit;
use dissensus_stats::data::{Embeddings, ModelKind, Observation};
use std::collections::BTreeSet;

/// Texts and labels of the three parts.
pub(super) fn sizes(division: &DataSplit) -> RunSizes {
    let texts = |labels: &[Observation]| labels.iter().map(|o| o.text).collect::<BTreeSet<_>>().len() as u32;
    RunSizes {
        train_texts: texts(&division.train),
        train_labels: division.train.len() as u32,
        validation_texts: texts(&division.validation),
        validation_labels: division.validation.len() as u32,
        test_texts: division.test.texts() as u32,
        test_labels: division.test.labels() as u32,
    }
}

/// Notes on the calibration of a tuned `multilevel`: that it learned validation labels, and whether its
/// encoder (of the embeddings `x`) has learned too many of their texts to be calibrated on them.
pub(super) fn calibration(x: &Embeddings, validation: &[Observation]) -> Vec<String> {
    let mut notes = Vec::new();
    if !validation.is_empty() {
        let labels = counted(validation.len() as u64, "validation label");
        notes.push(format!(
            "The encoder learned from training labels alone; its model also learned the {labels}."
        ));
    }
    let (texts, labels) = calibration_texts(x, validation);
    if texts < MIN_CALIBRATION_TEXTS || labels < MIN_CALIBRATION_LABELS {
        notes.push(format!(
            "The encoder has not learned from {} with {}, and {MIN_CALIBRATION_TEXTS} different texts with \
             {MIN_CALIBRATION_LABELS} validation labels are needed to calibrate the model: its probabilities of new texts are \
             surer than they should be. Give more of the training labels to validation, or split by text.",
            counted(texts as u64, "text"),
            counted(labels as u64, "validation label"),
        ));
    }
    notes
}

/// A note on words whose head could not be calibrated.
pub(super) fn words_at_face_value(words: &TrainedWordScores) -> Option<String> {
    (words.answers[1] == 0).then(|| {
        format!(
            "Fewer than {MIN_CALIBRATION_TEXTS} texts with validation answers are new to the encoder, so that its head for words is not calibrated: \
             its probabilities of new texts are surer than they should be. Give more of the training labels to validation, or split by text."
        )
    })
}

/// Describes what trained the encoder in addition to the question.
pub(super) fn auxiliary_note(of: &RunAuxiliary) -> String {
    let RunAuxiliary { project, file, question, texts, labels, annotators, left_out_texts } = of;
    let left_out = match left_out_texts {
        0 => String::new(),
        texts => format!(
            " {} left out: validation or test texts have the same body.",
            if *texts == 1 { "1 of its texts is".to_owned() } else { format!("{texts} of its texts are") }
        ),
    };
    format!(
        "The encoder also learned {} of {} by {} to \"{question}\" of {file} (project {project}).{left_out}",
        counted(u64::from(*labels), "label"),
        counted(u64::from(*texts), "text"),
        counted(u64::from(*annotators), "annotator"),
    )
}

/// A note for a question without validation labels whose encoder was chosen by those of others.
pub(super) fn validated_by_others(members: &[Member], at: usize) -> Option<String> {
    let has = |member: &Member| !member.data.division.validation.is_empty();
    let others = members.iter().enumerate().any(|(nth, member)| nth != at && has(member));
    (!has(&members[at]) && others).then(|| {
        "It has no validation label: when training stopped was chosen by the other questions alone, and no answer was tuned for macro F1. Trained alone it would draw some of its training labels."
            .to_owned()
    })
}

/// A note for a run whose encoder, at position `at`, was trained for several questions; none for a single
/// one.
pub(super) fn joint_note(members: &[Member], at: usize) -> Option<String> {
    if members.len() < 2 {
        return None;
    }
    let texts =
        |member: &Member| -> BTreeSet<u32> { member.data.division.train.iter().map(|o| o.text).collect() };
    let own = texts(&members[at]);
    let others: BTreeSet<u32> =
        members.iter().enumerate().filter(|(nth, _)| *nth != at).flat_map(|(_, m)| texts(m)).collect();
    let shared = own.intersection(&others).count();
    let names: Vec<String> = members.iter().map(|member| format!("\"{}\"", member.question.name)).collect();
    let shared = match shared {
        0 => "no training text of this one has a label of another".to_owned(),
        texts => format!(
            "{texts} of its {} also have a label of another",
            counted(own.len() as u64, "training text")
        ),
    };
    let steps = match members[at].kept.choices.tuning {
        Tuning::Frozen => "each head was trained by itself on the encoder as it is",
        _ => {
            "one encoder was trained for all of them, its training loss and its best checkpoint are those of all"
        }
    };
    Some(format!("Learned together with others, {}: {steps}; {shared}.", names.join(", ")))
}

/// The notes on the figures of a run.
pub(super) fn notes(kind: ModelKind, question: &Question, division: &DataSplit) -> Vec<String> {
    let mut notes = Vec::new();
    let people = |labels: &[Observation]| labels.iter().map(|o| o.annotator).collect::<BTreeSet<_>>();
    let mut all = people(division.test.observations());
    all.extend(people(&division.validation));
    let unseen = all.difference(&people(&division.train)).count();
    if unseen > 0 && !matches!(kind, ModelKind::Majority | ModelKind::Shared) {
        notes.push(match (kind, unseen) {
            (ModelKind::SepHeads, 1) => {
                "1 annotator has no training label: the shared head predicts for that annotator.".to_owned()
            }
            (ModelKind::SepHeads, _) => {
                format!("{unseen} annotators have no training label: the shared head predicts for them.")
            }
            (ModelKind::Multilevel, 1) => {
                "1 annotator has no training label: the average annotator represents that annotator.".to_owned()
            }
            (ModelKind::Multilevel, _) => {
                format!("{unseen} annotators have no training label: the average annotator represents them.")
            }
            (_, 1) => {
                "1 annotator has no training label: the vector for unseen annotators represents that annotator."
                    .to_owned()
            }
            _ => format!(
                "{unseen} annotators have no training label: the vector for unseen annotators represents them."
            ),
        });
    }
    if kind == ModelKind::Majority {
        let mut texts = 0;
        let mut ties = 0;
        for group in division.train.chunk_by(|a, b| a.text == b.text) {
            let mut counts = vec![0; question.scale.len()];
            group.iter().for_each(|o| counts[usize::from(o.level)] += 1);
            let top = counts.iter().max().copied().unwrap_or(0);
            texts += 1;
            ties += u32::from(counts.iter().filter(|n| **n == top).count() > 1);
        }
        notes.push(format!(
            "No majority on {ties} of {}: the lowest of the most frequent levels counts as theirs.",
            counted(texts, "text")
        ));
    }
    let mut given = vec![0_usize; question.scale.len()];
    division.train.iter().for_each(|o| given[usize::from(o.level)] += 1);
    for (level, _) in given.iter().enumerate().filter(|(_, n)| **n == 0) {
        let name = question.scale.name_at(level as u16).unwrap_or_default();
        notes.push(format!("Nobody gave the level \"{name}\" in the training labels."));
    }
    notes
}
