//! Questions that are learned together on one encoder: which they are, and how their texts are divided.
//!
//! Each is a run of its own, with its head, its test labels and its figures; the runs of one training share
//! a group, a division and an encoder. A text that is scored by one question, or a copy of its body, is not
//! used to train any.

use super::Runs;
use crate::error::TrainingError;
use dissensus_api::{JointQuestion, TrainChoices};
use dissensus_domain::{Question, QuestionId, Split};
use dissensus_neural::trainer::TrainConfig;
use dissensus_project::context::QuestionData;
use dissensus_project::error::ProjectError;
use dissensus_selection::evaluation::{
    CopiesAcross, DataSplit, SeenByEncoder, SplitColumns, SplitSpec, TestSet,
};
use dissensus_stats::data::{Embeddings, Observation, Target, TrainingData};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What a training is to learn, with the weight of each: the requested questions, with each option in
/// place of a multi-label question. All options together weigh as much as another question, whatever
/// their number.
pub(super) fn jointly_learned(
    cx: &Runs,
    choices: &TrainChoices,
) -> Result<Vec<(Question, f64)>, ProjectError> {
    let alone = [JointQuestion { question: choices.question, weight: 1.0 }];
    let asked = if choices.joint.is_empty() { &alone[..] } else { &choices.joint };
    let index = cx.context.index();
    let mut found: Vec<(Question, f64)> = Vec::new();
    for JointQuestion { question, weight } in asked {
        let whole = index.question(*question).ok_or(ProjectError::NoQuestion)?;
        if !weight.is_finite() || *weight <= 0.0 {
            return Err(TrainingError::Joint(format!(
                "the weight of \"{}\" is {weight}, and every weight is more than 0",
                whole.name
            ))
            .into());
        }
        let options = whole.options();
        let learned = if options.is_empty() { vec![whole.clone()] } else { options };
        let each = weight / learned.len() as f64;
        for question in learned {
            if found.iter().any(|(known, _)| known.id == question.id) {
                return Err(TrainingError::Joint(format!(
                    "\"{}\" is named twice, by itself or with its whole question: name it once",
                    question.name
                ))
                .into());
            }
            found.push((question, each));
        }
    }
    Ok(found)
}

/// Checks that a weight of yes is only given for a question that is answered with yes or no.
pub(super) fn check_pos_weight(
    learned: &[(Question, f64)],
    config: &TrainConfig,
) -> Result<(), ProjectError> {
    let has_yes = learned.iter().any(|(question, _)| question.scale.is_binary());
    if has_yes || (config.pos_weight - 1.0).abs() < f64::EPSILON {
        return Ok(());
    }
    Err(ProjectError::Setting {
        name: "pos_weight",
        value: config.pos_weight.to_string(),
        allowed: "1 where nothing that is learned is answered with yes or no: use class weights".to_owned(),
    })
}

/// Checks that questions can be learned together as requested.
pub(super) fn check_joint(learned: &[(Question, f64)], choices: &TrainChoices) -> Result<(), ProjectError> {
    let refused = |why: String| Err(TrainingError::Joint(why).into());
    if !choices.auxiliary.is_empty() {
        return refused("auxiliary questions can be added to one question only. Leave --auxiliary out, or name one question".to_owned());
    }
    let whole: BTreeSet<QuestionId> = learned.iter().map(|(question, _)| question.id.row()).collect();
    let split = choices.split;
    let refused_for = |why: &str| {
        refused(format!("the split {} {why}. Use by-text, grouped, k-fold or column", split.name()))
    };
    match split {
        SplitSpec::Stratified(_) => refused_for("depends on the answers to one question"),
        SplitSpec::Random(_) | SplitSpec::ByAnnotator(_) if whole.len() > 1 => refused_for(
            "leaves a text on both sides, so that one question would teach what another one is scored on",
        ),
        _ => Ok(()),
    }
}

/// Divides the labels of several questions as one, so that the labels of a text are in the same part for all
/// of them.
///
/// # Errors
/// Those of [`SplitSpec::divide`]; a part in which a question has no label; an official split that puts one
/// body into the training of one question and into the test of another.
pub(super) fn divide(
    split: SplitSpec,
    of: &[QuestionData],
    seen: SeenByEncoder<'_>,
    seed: u64,
    validation: f64,
) -> Result<Vec<DataSplit>, ProjectError> {
    let [first, ..] = of else { return Err(ProjectError::NoQuestion) };
    if of.iter().any(|data| data.texts != first.texts) {
        // An import took place between two of them.
        return Err(ProjectError::Busy("import"));
    }
    let none = Embeddings::none(first.texts.len());
    let mut all: Vec<Observation> =
        of.iter().flat_map(|data| &data.observations).map(|o| Observation { level: 0, ..*o }).collect();
    all.sort_unstable();
    all.dedup();
    let data = TrainingData {
        embeddings: &none,
        observations: &all,
        annotators: of.iter().map(|data| data.annotators.len()).max().unwrap_or(0),
        target: Target { kind: dissensus_domain::TargetKind::Binary, levels: 2 },
        attributes: &[],
    };
    let columns = first.columns();
    let whole = split.divide(&data, SplitColumns { seen, ..columns }, seed, validation)?;
    if split == SplitSpec::Column {
        check_official(of, &first.copies)?;
    }
    // Texts that the encoder has learned are in no test: count how many of each question are left out for
    // this.
    let without = split.divide(&data, columns, seed, validation)?;
    let pairs = |labels: &[Observation]| -> HashSet<(u32, u32)> {
        labels.iter().map(|o| (o.text, o.annotator)).collect()
    };
    let (train, chosen) = (pairs(&whole.train), pairs(&whole.validation));
    let (test, unseen) = (pairs(whole.test.observations()), pairs(without.test.observations()));
    // Labels that are in no part, for another reason than the encoder, are copies.
    let divided: HashSet<(u32, u32)> =
        [&train, &chosen, &unseen, &test].into_iter().flatten().copied().collect();
    of.iter()
        .map(|data| {
            let on = |side: &HashSet<(u32, u32)>| -> Vec<Observation> {
                let is = |o: &&Observation| side.contains(&(o.text, o.annotator));
                let mut labels: Vec<Observation> = data.observations.iter().filter(is).copied().collect();
                labels.sort_unstable();
                labels
            };
            let (train, test) = (on(&train), on(&test));
            for (side, labels) in [("training", &train), ("test", &test)] {
                if labels.is_empty() {
                    return Err(TrainingError::Joint(format!(
                        "\"{}\" has no label in the {side} of {}, which divides the texts of all questions as one. Use another split or seed, or label more",
                        data.question.name,
                        split.name()
                    )).into());
                }
            }
            let texts = |labels: &[Observation]| labels.iter().map(|o| o.text).collect::<BTreeSet<_>>();
            let tested = texts(&test);
            let seen_texts = texts(&on(&unseen)).difference(&tested).count();
            let on_no_side = |o: &&Observation| !divided.contains(&(o.text, o.annotator));
            let left_out = match whole.copies.left_out {
                0 => 0,
                _ => texts(&data.observations.iter().filter(on_no_side).copied().collect::<Vec<_>>()).len(),
            };
            let scored = whole.copies.scored.iter().copied().filter(|text| tested.contains(text)).collect();
            Ok(DataSplit {
                train,
                validation: on(&chosen),
                test: TestSet::without_seen(test, seen_texts),
                copies: CopiesAcross { scored, left_out },
            })
        })
        .collect()
}

/// Checks an official split for copies across questions. Copies within one question are only reported;
/// across questions they would train one question on what another is scored on.
fn check_official(of: &[QuestionData], copies: &[u32]) -> Result<(), ProjectError> {
    let mut taught: HashMap<u32, BTreeSet<QuestionId>> = HashMap::new();
    let labelled = |on_test: bool| {
        of.iter().flat_map(move |data| {
            let is = move |o: &&Observation| match data.parts[o.text as usize] {
                Some(Split::Test) => on_test,
                Some(_) => !on_test,
                None => false,
            };
            data.observations.iter().filter(is).map(move |o| (data, o.text))
        })
    };
    for (data, text) in labelled(false) {
        taught.entry(copies[text as usize]).or_default().insert(data.question.id.row());
    }
    let mut crossing: BTreeSet<u32> = BTreeSet::new();
    for (data, text) in labelled(true) {
        let by = taught.get(&copies[text as usize]);
        if by.is_some_and(|by| by.iter().any(|question| *question != data.question.id.row())) {
            crossing.insert(text);
        }
    }
    match crossing.len() {
        0 => Ok(()),
        texts => Err(TrainingError::Joint(format!(
            "the official split has {texts} of the texts that one question is scored on, by the same body, in the training of another. Mend the split column, or use --split by-text:0.7"
        )).into()),
    }
}
