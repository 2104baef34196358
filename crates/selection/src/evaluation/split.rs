//! Training, validation and test sets.

use super::seen::SeenByEncoder;
use super::test_set::TestSet;
use super::units::{group_keys, share_of_groups, share_of_units, stratified, train_mask};
use dissensus_domain::Split;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::copies::{Copies, together};
use dissensus_stats::data::{Observation, TrainingData};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const KNOWN: &str = "by-text:SHARE (for example by-text:0.7), stratified:SHARE, grouped:SHARE, random:SHARE, by-annotator:SHARE, \
     by-text-and-annotator:SHARE, k-fold:FOLDS (every fold in turn), k-fold:FOLDS/FOLD (for example k-fold:5/1) or column";

/// How labels are divided. Shares are training shares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum SplitSpec {
    /// A seeded share of the texts is for training, the rest for testing.
    ByText(f64),
    /// The same within the texts of each majority label, so that both sides have levels in similar shares.
    Stratified(f64),
    /// By whole groups of texts (documents, threads); a text without a group is a group of its own.
    Grouped(f64),
    /// Labels at random: a text may be on both sides, under other annotators' labels.
    Random(f64),
    /// By annotators: test annotators have no training label (cold start). A text may be on both sides.
    ByAnnotator(f64),
    /// By both: new annotators on new texts. Labels of new annotators on old texts, and of old annotators
    /// on new texts, are excluded.
    ByTextAndAnnotator(f64),
    /// One fold of the texts is for testing, the others are for training.
    KFold {
        /// Number of folds.
        folds: u8,
        /// The tested fold, from 1; `None` for every one in turn, see [`SplitSpec::each`].
        fold: Option<u8>,
    },
    /// The official assignment of texts: train, validation and test; everything else is excluded.
    Column,
}

/// What some splits need to know about the texts in addition to their labels.
#[derive(Clone, Copy, Debug, Default)]
pub struct SplitColumns<'a> {
    /// The official assignment, one entry per text; may be empty if no split needs it.
    pub parts: &'a [Option<Split>],
    /// The group of each text; may be empty if no split needs it.
    pub groups: &'a [Option<u32>],
    /// Data that trained the encoder of the embeddings: those labels are on no test side.
    pub seen: SeenByEncoder<'a>,
    /// For each text the row of the first one with the same body; if empty, texts with the same embedding
    /// count as copies.
    pub copies: &'a [u32],
}

impl SplitColumns<'_> {
    /// Finds the texts of `data` that are the same.
    fn copies_of(&self, data: &TrainingData<'_>) -> Result<Copies, ModelError> {
        match self.copies {
            [] => Ok(Copies::by_embedding(data.embeddings)),
            first => Copies::given(first, data.embeddings.texts),
        }
    }
}

/// Divided labels.
#[derive(Clone, Debug)]
pub struct DataSplit {
    /// Training labels.
    pub train: Vec<Observation>,
    /// Labels for choices: pooling, checkpoint, anything that is tuned.
    pub validation: Vec<Observation>,
    /// Labels for scoring.
    pub test: TestSet,
    /// Texts whose body is on both sides.
    pub copies: CopiesAcross,
}

/// Test texts whose body also occurs in training or validation, under another id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopiesAcross {
    /// Scored nevertheless: texts of an official assignment, which is not changed. Ascending.
    pub scored: Vec<u32>,
    /// Number of texts excluded from scoring, because they could not be on one side: their groups are
    /// divided as a whole.
    pub left_out: usize,
}

impl SplitSpec {
    /// Name in results and on the command line.
    pub fn name(self) -> String {
        match self {
            Self::KFold { folds, fold: Some(fold) } => format!("k-fold:{folds}/{fold}"),
            Self::KFold { folds, fold: None } => format!("k-fold:{folds}"),
            _ => match self.parts() {
                (kind, Some(share)) => format!("{kind}:{share}"),
                (kind, None) => kind.to_owned(),
            },
        }
    }

    /// The kind without its numbers, and the training share, if any.
    pub fn parts(self) -> (&'static str, Option<f64>) {
        match self {
            Self::ByText(share) => ("by-text", Some(share)),
            Self::Stratified(share) => ("stratified", Some(share)),
            Self::Grouped(share) => ("grouped", Some(share)),
            Self::Random(share) => ("random", Some(share)),
            Self::ByAnnotator(share) => ("by-annotator", Some(share)),
            Self::ByTextAndAnnotator(share) => ("by-text-and-annotator", Some(share)),
            Self::KFold { .. } => ("k-fold", None),
            Self::Column => ("column", None),
        }
    }

    /// The divisions of this split: one, or each fold of a cross-validation in turn, where every text is
    /// scored once.
    pub fn each(self) -> Vec<Self> {
        match self {
            Self::KFold { folds, fold: None } => {
                (1..=folds).map(|fold| Self::KFold { folds, fold: Some(fold) }).collect()
            }
            one => vec![one],
        }
    }

    /// Divides the labels of `data` under `seed`; the share `validation` (0 for none) of the training
    /// labels is held out to choose the checkpoint, in the same way as the test labels, unless the official
    /// assignment has validation texts.
    ///
    /// By text: a ChaCha8 shuffle of the texts under `seed`, of which the first `round(share x texts)` are
    /// for training, at least one and at most all but one. Texts with the same body count as one wherever
    /// texts are divided, and an annotator's labels of them where labels are. By group, groups that share a
    /// body are one, up to a tenth of the texts; for bodies that are still on both sides the texts to be
    /// scored are excluded. The official assignment is not changed ([`DataSplit::copies`] lists the copies
    /// on both sides).
    ///
    /// # Errors
    /// What is wrong with the labels; [`ModelError::Share`]; [`ModelError::Folds`] with fewer texts than
    /// folds; [`ModelError::EachFold`] where every fold is meant; [`ModelError::Length`];
    /// [`ModelError::EmptySplit`] where a side gets no label.
    pub fn divide(
        self,
        data: &TrainingData<'_>,
        columns: SplitColumns<'_>,
        seed: u64,
        validation: f64,
    ) -> Result<DataSplit, ModelError> {
        let sorted = data.sorted()?;
        if !(0.0..1.0).contains(&validation) {
            return Err(ModelError::Share(validation));
        }
        let copies = columns.copies_of(data)?;
        let sides = self.sides(data, &sorted, columns, &copies, seed)?;
        let of = |wanted: Side| -> Vec<Observation> {
            sorted.iter().zip(&sides).filter(|(_, side)| **side == wanted).map(|(o, _)| *o).collect()
        };
        let (mut train, mut chosen, mut test) = (of(Side::Train), of(Side::Validation), of(Side::Test));
        let mut across = self.across(&copies, &[&train, &chosen], &test);
        if matches!(self, Self::Grouped(_)) {
            test.retain(|o| across.scored.binary_search(&o.text).is_err());
            across = CopiesAcross { left_out: across.scored.len(), scored: Vec::new() };
        }
        if chosen.is_empty() && validation > 0.0 {
            (train, chosen, _) = self.split_validation(train, data, columns, &copies, seed, validation);
        }
        for (side, labels) in [("train", &train), ("score", &test)] {
            if labels.is_empty() {
                return Err(ModelError::EmptySplit { split: self.name(), side });
            }
        }
        let texts = copies.spread(columns.seen.texts);
        let seen = SeenByEncoder { texts: &texts, ..columns.seen };
        let test = TestSet::new(test).without(|o| seen.excludes(o, self.holds_out_annotators()));
        let tested: BTreeSet<u32> = test.observations().iter().map(|o| o.text).collect();
        across.scored.retain(|text| tested.contains(text));
        Ok(DataSplit { train, validation: chosen, test, copies: across })
    }

    /// Whether the test annotators must be new.
    pub(super) fn holds_out_annotators(self) -> bool {
        matches!(self, Self::ByAnnotator(_) | Self::ByTextAndAnnotator(_))
    }

    /// Filters `labels` to those that did not train the encoder, on copies either, and (where annotators
    /// are held out) whose annotators did not.
    pub(super) fn unseen(
        self,
        labels: &[Observation],
        data: &TrainingData<'_>,
        columns: SplitColumns<'_>,
    ) -> Result<Vec<Observation>, ModelError> {
        let texts = columns.copies_of(data)?.spread(columns.seen.texts);
        let seen = SeenByEncoder { texts: &texts, ..columns.seen };
        Ok(labels.iter().filter(|o| !seen.excludes(o, self.holds_out_annotators())).copied().collect())
    }

    /// Number of different texts, groups or annotators among `labels` that were held out in the same way as
    /// this split: the units that it holds out as a whole. Labels at random are counted by texts.
    pub(super) fn held_units(
        self,
        labels: &[Observation],
        data: &TrainingData<'_>,
        columns: SplitColumns<'_>,
    ) -> Result<Vec<(&'static str, usize)>, ModelError> {
        let copies = columns.copies_of(data)?;
        let texts = labels.iter().map(|o| o.text).collect::<BTreeSet<u32>>();
        let people = || labels.iter().map(|o| o.annotator).collect::<BTreeSet<u32>>().len();
        let different = || texts.iter().map(|text| copies.first(*text)).collect::<BTreeSet<u32>>().len();
        Ok(match self {
            Self::Grouped(_) => {
                let texts: Vec<u32> = texts.iter().copied().collect();
                let keys = group_keys(&texts, columns.groups, &copies);
                vec![("groups", keys.into_iter().collect::<BTreeSet<_>>().len())]
            }
            Self::ByAnnotator(_) => vec![("annotators", people())],
            Self::ByTextAndAnnotator(_) => vec![("texts", different()), ("annotators", people())],
            Self::ByText(_) | Self::Stratified(_) | Self::Random(_) | Self::KFold { .. } | Self::Column => {
                vec![("texts", different())]
            }
        })
    }

    /// Texts of `test` with a copy among those of `others`, if texts must be on one side.
    fn across(self, copies: &Copies, others: &[&Vec<Observation>], test: &[Observation]) -> CopiesAcross {
        if matches!(self, Self::Random(_) | Self::ByAnnotator(_)) {
            return CopiesAcross::default();
        }
        let taught: BTreeSet<u32> =
            others.iter().flat_map(|labels| labels.iter()).map(|o| copies.first(o.text)).collect();
        let mut scored: Vec<u32> = test.iter().map(|o| o.text).collect();
        scored.dedup();
        scored.retain(|text| taught.contains(&copies.first(*text)));
        CopiesAcross { scored, left_out: 0 }
    }

    /// Divides the training labels of a division (those of `data`) into the rest and a share `held` that is
    /// held out in the same way as this split, including copies, groups and annotators. The last return
    /// value is whether that was possible: with too few groups or annotators it is by text.
    pub(super) fn carve(
        self,
        data: &TrainingData<'_>,
        columns: SplitColumns<'_>,
        seed: u64,
        held: f64,
    ) -> Result<(Vec<Observation>, Vec<Observation>, bool), ModelError> {
        if !(0.0..1.0).contains(&held) {
            return Err(ModelError::Share(held));
        }
        let copies = columns.copies_of(data)?;
        Ok(self.split_validation(data.sorted()?, data, columns, &copies, seed, held))
    }

    /// Divides training labels into those for training and those for choosing the checkpoint, in the same
    /// way as this split divides training from test labels: whole groups for a grouped split, annotators
    /// for a split by annotators. The choice on validation labels then fits the test. With too little data
    /// for that, by text; the last return value is whether there was enough.
    fn split_validation(
        self,
        train: Vec<Observation>,
        data: &TrainingData<'_>,
        columns: SplitColumns<'_>,
        copies: &Copies,
        seed: u64,
        validation: f64,
    ) -> (Vec<Observation>, Vec<Observation>, bool) {
        let keep = 1.0 - validation;
        let texts = data.embeddings.texts;
        let mut labelled: Vec<u32> = train.iter().map(|o| o.text).collect();
        labelled.dedup();
        let by_text = || -> Vec<bool> {
            let units = together(labelled.iter().map(|t| copies.first(*t)));
            let mut trains = vec![false; texts];
            let kept = share_of_units(units, labelled.len(), keep, seed, 6);
            labelled.iter().zip(kept).for_each(|(t, kept)| trains[*t as usize] = kept);
            trains
        };
        let annotators = || {
            let mut ids: Vec<u32> = train.iter().map(|o| o.annotator).collect();
            ids.sort_unstable();
            ids.dedup();
            let mut trains = vec![false; data.annotators];
            let kept = train_mask(ids.len(), keep, seed, 8);
            ids.iter().zip(kept).for_each(|(id, kept)| trains[*id as usize] = kept);
            trains
        };
        let both_filled =
            |(train, chosen): &(Vec<Observation>, Vec<Observation>)| !train.is_empty() && !chosen.is_empty();
        let own: Option<(Vec<Observation>, Vec<Observation>)> = match self {
            Self::Grouped(_) => {
                // Only groups of labelled training texts, in an order of their own.
                let groups = group_keys(&labelled, columns.groups, copies);
                let kept = share_of_groups(together(groups.into_iter()), labelled.len(), keep, seed, 6);
                let mut trains = vec![false; texts];
                labelled.iter().zip(kept).for_each(|(t, kept)| trains[*t as usize] = kept);
                let (kept, mut held): (Vec<Observation>, Vec<Observation>) =
                    train.iter().copied().partition(|o| trains[o.text as usize]);
                let across = self.across(copies, &[&kept], &held).scored;
                held.retain(|o| across.binary_search(&o.text).is_err());
                Some((kept, held))
            }
            Self::Random(_) => {
                let units = together(train.iter().map(|o| (copies.first(o.text), o.annotator)));
                let trains = share_of_units(units, train.len(), keep, seed, 6);
                let (kept, held): (Vec<_>, Vec<_>) =
                    train.iter().zip(trains).partition(|(_, trains)| *trains);
                let of = |labels: Vec<(&Observation, bool)>| labels.into_iter().map(|(o, _)| *o).collect();
                Some((of(kept), of(held)))
            }
            Self::ByAnnotator(_) => {
                let trains = annotators();
                Some(train.iter().copied().partition(|o| trains[o.annotator as usize]))
            }
            Self::ByTextAndAnnotator(_) => {
                let (text, annotator) = (by_text(), annotators());
                // Labels of new annotators on old texts, and the reverse, are excluded, as for the test.
                let of = |wanted: bool| -> Vec<Observation> {
                    let is = |o: &&Observation| {
                        text[o.text as usize] == wanted && annotator[o.annotator as usize] == wanted
                    };
                    train.iter().filter(is).copied().collect()
                };
                Some((of(true), of(false)))
            }
            Self::ByText(_) | Self::Stratified(_) | Self::KFold { .. } | Self::Column => None,
        };
        let texts_alone = own.is_none();
        if let Some((kept, held)) = own.filter(both_filled) {
            return (kept, held, true);
        }
        let trains = by_text();
        let (kept, held) = train.iter().copied().partition(|o| trains[o.text as usize]);
        (kept, held, texts_alone)
    }

    /// Determines the side of every label.
    fn sides(
        self,
        data: &TrainingData<'_>,
        sorted: &[Observation],
        columns: SplitColumns<'_>,
        copies: &Copies,
        seed: u64,
    ) -> Result<Vec<Side>, ModelError> {
        let texts = data.embeddings.texts;
        let all: Vec<u32> = (0..texts as u32).collect();
        let share_of_texts = |share: f64| -> Vec<bool> {
            let units = together(all.iter().map(|t| copies.first(*t)));
            share_of_units(units, texts, share, seed, 0)
        };
        let by_text = |trains: &[bool]| -> Vec<Side> {
            sorted.iter().map(|o| Side::train_if(trains[o.text as usize])).collect()
        };
        let length = |what: &'static str, found: usize| {
            if found == texts { Ok(()) } else { Err(ModelError::Length { what, expected: texts, found }) }
        };
        let share = self.parts().1;
        if let Some(share) = share.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(ModelError::Share(share));
        }
        Ok(match self {
            Self::ByText(share) => by_text(&share_of_texts(share)),
            Self::Stratified(share) => {
                by_text(&stratified(sorted, copies, texts, data.target.levels, share, seed))
            }
            Self::Grouped(share) => {
                length("the groups of texts", columns.groups.len())?;
                let groups = group_keys(&all, columns.groups, copies);
                by_text(&share_of_groups(together(groups.into_iter()), texts, share, seed, 0))
            }
            Self::Random(share) => {
                let units = together(sorted.iter().map(|o| (copies.first(o.text), o.annotator)));
                let trains = share_of_units(units, sorted.len(), share, seed, 0);
                trains.into_iter().map(Side::train_if).collect()
            }
            Self::ByAnnotator(share) => {
                let trains = train_mask(data.annotators, share, seed, 7);
                sorted.iter().map(|o| Side::train_if(trains[o.annotator as usize])).collect()
            }
            Self::ByTextAndAnnotator(share) => {
                let (text, annotator) = (share_of_texts(share), train_mask(data.annotators, share, seed, 7));
                let side = |o: &Observation| match (text[o.text as usize], annotator[o.annotator as usize]) {
                    (true, true) => Side::Train,
                    (false, false) => Side::Test,
                    _ => Side::Out,
                };
                sorted.iter().map(side).collect()
            }
            Self::KFold { folds, fold } => {
                let Some(fold) = fold else { return Err(ModelError::EachFold(folds)) };
                let mut labelled: Vec<u32> = sorted.iter().map(|o| o.text).collect();
                labelled.dedup();
                let different = together(labelled.iter().map(|t| copies.first(*t))).len();
                if folds < 2 || fold == 0 || fold > folds || different < usize::from(folds) {
                    return Err(ModelError::Folds { folds, fold, texts: different });
                }
                // Only the labelled texts: folds then differ by one text at most, copies counted once.
                let of_text =
                    dissensus_stats::data::folds::of_listed(&labelled, copies, usize::from(folds), seed);
                let groups = sorted.chunk_by(|a, b| a.text == b.text).zip(of_text);
                groups
                    .flat_map(|(group, f)| group.iter().map(move |_| Side::train_if(f + 1 != fold)))
                    .collect()
            }
            Self::Column => {
                length("the split column", columns.parts.len())?;
                let side = |o: &Observation| match columns.parts[o.text as usize] {
                    Some(Split::Train) => Side::Train,
                    Some(Split::Validation) => Side::Validation,
                    Some(Split::Test) => Side::Test,
                    None => Side::Out,
                };
                sorted.iter().map(side).collect()
            }
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Train,
    Validation,
    Test,
    Out,
}

impl Side {
    fn train_if(trains: bool) -> Self {
        if trains { Self::Train } else { Self::Test }
    }
}

impl std::str::FromStr for SplitSpec {
    type Err = ModelError;

    fn from_str(name: &str) -> Result<Self, ModelError> {
        let unknown =
            || ModelError::UnknownName { what: "split", name: name.to_owned(), known: KNOWN.to_owned() };
        if name == "column" {
            return Ok(Self::Column);
        }
        let (kind, value) = name.split_once(':').ok_or_else(unknown)?;
        if kind == "k-fold" {
            let number = |text: &str| text.parse::<u8>().map_err(|_| ModelError::FoldNumber(name.to_owned()));
            let (folds, fold) = match value.split_once('/') {
                Some((folds, fold)) => (number(folds)?, Some(number(fold)?)),
                None => (number(value)?, None),
            };
            if folds < 2 || fold.is_some_and(|fold| fold == 0 || fold > folds) {
                return Err(ModelError::FoldNumber(name.to_owned()));
            }
            return Ok(Self::KFold { folds, fold });
        }
        let share = value.parse::<f64>().map_err(|_| unknown())?;
        let spec = match kind {
            "by-text" => Self::ByText(share),
            "stratified" => Self::Stratified(share),
            "grouped" => Self::Grouped(share),
            "random" => Self::Random(share),
            "by-annotator" => Self::ByAnnotator(share),
            "by-text-and-annotator" => Self::ByTextAndAnnotator(share),
            _ => return Err(unknown()),
        };
        if share > 0.0 && share < 1.0 { Ok(spec) } else { Err(ModelError::Share(share)) }
    }
}

impl From<SplitSpec> for String {
    fn from(split: SplitSpec) -> Self {
        split.name()
    }
}

impl TryFrom<String> for SplitSpec {
    type Error = ModelError;

    fn try_from(name: String) -> Result<Self, ModelError> {
        name.parse()
    }
}

/// Represented by its name, as in JSON.
#[cfg(feature = "specta")]
impl specta::Type for SplitSpec {
    fn definition(types: &mut specta::Types) -> specta::datatype::DataType {
        String::definition(types)
    }
}

/// Represented by its name, as in JSON.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for SplitSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    pub(crate) use super::*;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::{Embeddings, Target};

    /// 20 texts and 6 annotators, three of whom label each text.
    fn labels() -> Vec<Observation> {
        let label = |i: u32| Observation {
            text: i / 3,
            annotator: (i / 3 + 2 * (i % 3)) % 6,
            level: u16::from(i / 3 < 5),
        };
        (0..60).map(label).collect()
    }

    fn divide(
        split: SplitSpec,
        columns: SplitColumns<'_>,
        seed: u64,
        validation: f64,
    ) -> Result<DataSplit, ModelError> {
        let (embeddings, observations) = (Embeddings::none(20), labels());
        let data = TrainingData {
            embeddings: &embeddings,
            observations: &observations,
            annotators: 6,
            target: Target { kind: TargetKind::Binary, levels: 2 },
            attributes: &[],
        };
        split.divide(&data, columns, seed, validation)
    }

    fn texts(labels: &[Observation]) -> BTreeSet<u32> {
        labels.iter().map(|o| o.text).collect()
    }

    fn annotators(labels: &[Observation]) -> BTreeSet<u32> {
        labels.iter().map(|o| o.annotator).collect()
    }

    #[test]
    fn validation_is_split_like_the_test() {
        let groups: Vec<Option<u32>> = (0..20).map(|t| (t < 18).then_some(t / 3)).collect();
        let columns = SplitColumns { groups: &groups, ..SplitColumns::default() };
        for seed in 0..10 {
            let grouped = divide(SplitSpec::Grouped(0.7), columns, seed, 0.3).unwrap();
            let groups_of = |labels: &[Observation]| -> BTreeSet<Option<u32>> {
                labels.iter().filter_map(|o| groups[o.text as usize].map(Some)).collect()
            };
            assert!(groups_of(&grouped.train).is_disjoint(&groups_of(&grouped.validation)), "seed {seed}");
            assert!(!grouped.validation.is_empty());

            let new = divide(SplitSpec::ByAnnotator(0.7), columns, seed, 0.3).unwrap();
            assert!(annotators(&new.train).is_disjoint(&annotators(&new.validation)), "seed {seed}");
            assert!(annotators(new.test.observations()).is_disjoint(&annotators(&new.validation)));
            assert!(!new.validation.is_empty());

            let both = divide(SplitSpec::ByTextAndAnnotator(0.5), columns, seed, 0.3).unwrap();
            assert!(texts(&both.train).is_disjoint(&texts(&both.validation)), "seed {seed}");

            // Test texts of a random split are known under other annotators' labels, and so are those of
            // validation.
            let random = divide(SplitSpec::Random(0.7), columns, seed, 0.3).unwrap();
            let known = texts(&random.train);
            assert!(random.validation.iter().any(|o| known.contains(&o.text)), "seed {seed}");
        }
    }

    #[test]
    fn text_split_does_not_leak() {
        let parts: Vec<Option<Split>> = (0..20)
            .map(|t| {
                [Some(Split::Train), Some(Split::Train), Some(Split::Validation), Some(Split::Test), None]
                    [t % 5]
            })
            .collect();
        let groups: Vec<Option<u32>> = (0..20).map(|t| (t < 15).then_some(t / 4)).collect();
        let columns = SplitColumns { parts: &parts, groups: &groups, ..SplitColumns::default() };
        let names = [
            "by-text:0.7",
            "stratified:0.7",
            "grouped:0.6",
            "k-fold:5/2",
            "column",
            "by-text-and-annotator:0.5",
        ];
        for (seed, name) in (0..10).flat_map(|seed| names.map(|name| (seed, name))) {
            let split: SplitSpec = name.parse().unwrap();
            assert_eq!(split.name(), name);
            let division = divide(split, columns, seed, 0.2).unwrap();
            let (train, validation) = (texts(&division.train), texts(&division.validation));
            let test = texts(division.test.observations());
            assert!(train.is_disjoint(&test) && train.is_disjoint(&validation), "{name}");
            assert!(validation.is_disjoint(&test) && !validation.is_empty(), "{name}");
            if let SplitSpec::Grouped(_) = split {
                let of = |t: &u32| groups[*t as usize];
                let crossing =
                    train.iter().filter_map(of).any(|g| test.iter().filter_map(of).any(|h| g == h));
                assert!(!crossing, "a group is on both sides");
            }
            let again = divide(split, columns, seed, 0.2).unwrap();
            assert_eq!((again.train, again.validation), (division.train, division.validation));
        }
    }

    /// Texts 3, 9 and 15 have the body of text 2, text 10 that of text 5.
    fn copies() -> Vec<u32> {
        let mut first: Vec<u32> = (0..20).collect();
        [3, 9, 15].into_iter().for_each(|t| first[t] = 2);
        first[10] = 5;
        first
    }

    #[test]
    fn copies_never_cross_a_split() {
        let first = copies();
        let groups: Vec<Option<u32>> = (0..20).map(|t| (t < 15).then_some(t / 4)).collect();
        let columns = SplitColumns { groups: &groups, copies: &first, ..SplitColumns::default() };
        let names = [
            "by-text:0.7",
            "stratified:0.6",
            "grouped:0.6",
            "k-fold:5/2",
            "by-text-and-annotator:0.5",
            "random:0.6",
        ];
        for (seed, name) in (0..20).flat_map(|seed| names.map(|name| (seed, name))) {
            let split: SplitSpec = name.parse().unwrap();
            let division = divide(split, columns, seed, 0.3).unwrap();
            // A random split separates labels: there one annotator's labels of one body stay together.
            let random = matches!(split, SplitSpec::Random(_));
            let of = |labels: &[Observation]| -> BTreeSet<(u32, u32)> {
                labels
                    .iter()
                    .map(|o| (first[o.text as usize], if random { o.annotator } else { 0 }))
                    .collect()
            };
            let (train, validation) = (of(&division.train), of(&division.validation));
            let test = of(division.test.observations());
            assert!(train.is_disjoint(&test) && train.is_disjoint(&validation), "{name}, seed {seed}");
            assert!(validation.is_disjoint(&test), "{name}, seed {seed}");
            assert!(division.copies.scored.is_empty(), "{name}");
        }
    }

    #[test]
    fn split_without_copies_is_unchanged() {
        let own: Vec<u32> = (0..20).collect();
        let groups: Vec<Option<u32>> = (0..20).map(|t| (t < 15).then_some(t / 4)).collect();
        let columns = SplitColumns { groups: &groups, copies: &own, ..SplitColumns::default() };
        // Test texts of earlier versions under seed 3; users' runs and figures were made with them.
        for (name, expected) in [
            ("by-text:0.7", ([3, 6, 7, 8, 15, 17].as_slice(), [4, 10, 18].as_slice())),
            ("stratified:0.7", (&[4, 7, 13, 16, 17], &[2, 3, 15])),
            ("grouped:0.6", (&[0, 1, 2, 3, 16, 17, 18], &[8, 9, 10, 11])),
            ("k-fold:5/2", (&[2, 5, 8, 9], &[3, 12, 16])),
        ] {
            let division = divide(name.parse().unwrap(), columns, 3, 0.2).unwrap();
            let test: Vec<u32> = texts(division.test.observations()).into_iter().collect();
            let validation: Vec<u32> = texts(&division.validation).into_iter().collect();
            assert_eq!((test.as_slice(), validation.as_slice()), expected, "{name}");
        }
        let random = divide(SplitSpec::Random(0.7), columns, 3, 0.2).unwrap();
        let places: u32 = random.test.observations().iter().map(|o| o.text * 6 + o.annotator).sum();
        let held: u32 = random.validation.iter().map(|o| o.text * 6 + o.annotator).sum();
        assert_eq!((places, held), (1152, 279));
    }

    #[test]
    fn official_split_is_kept_and_copies_reported() {
        let first = copies();
        let parts: Vec<Option<Split>> =
            (0..20).map(|t| Some(if t < 10 { Split::Train } else { Split::Test })).collect();
        let columns = SplitColumns { parts: &parts, copies: &first, ..SplitColumns::default() };
        let division = divide(SplitSpec::Column, columns, 0, 0.3).unwrap();
        assert_eq!(division.test.texts(), 10);
        assert_eq!(division.copies, CopiesAcross { scored: vec![10, 15], left_out: 0 });
        // Validation is drawn by us.
        let body = |labels: &[Observation]| -> BTreeSet<u32> {
            labels.iter().map(|o| first[o.text as usize]).collect()
        };
        assert!(body(&division.train).is_disjoint(&body(&division.validation)));
    }

    #[test]
    fn body_in_every_group_is_excluded_from_the_test() {
        // Groups of four texts, the first of each of which has been deleted.
        let groups: Vec<Option<u32>> = (0..20).map(|t| Some(t / 4)).collect();
        let first: Vec<u32> = (0..20).map(|t| if t % 4 == 0 { 0 } else { t }).collect();
        let columns = SplitColumns { groups: &groups, copies: &first, ..SplitColumns::default() };
        for seed in 0..10 {
            let division = divide(SplitSpec::Grouped(0.6), columns, seed, 0.3).unwrap();
            assert_eq!(division.copies, CopiesAcross { scored: Vec::new(), left_out: 2 });
            assert_eq!(division.test.texts(), 6);
            assert!(texts(&division.validation).iter().all(|t| t % 4 != 0));
        }
        // Two of many groups that share a text are one.
        let groups: Vec<Option<u32>> = (0..200).map(|t| Some(t / 4)).collect();
        let mut first: Vec<u32> = (0..200).collect();
        first[150] = 7;
        let all: Vec<u32> = (0..200).collect();
        let keys = group_keys(&all, &groups, &Copies::given(&first, 200).unwrap());
        assert!(keys[4..8].iter().chain(&keys[148..152]).all(|key| *key == keys[7]));
        assert_ne!(keys[0], keys[7]);
    }

    #[test]
    fn copy_of_an_encoder_training_text_is_not_scored() {
        let first = copies();
        let mut seen_texts = vec![false; 20];
        seen_texts[9] = true;
        let seen = SeenByEncoder { texts: &seen_texts, annotators: &[] };
        let columns = SplitColumns { seen, copies: &first, ..SplitColumns::default() };
        for seed in 0..10 {
            let division = divide(SplitSpec::ByText(0.5), columns, seed, 0.0).unwrap();
            assert!(division.test.observations().iter().all(|o| first[o.text as usize] != 2));
        }
        // Copies across an official split are counted among what is scored.
        let parts: Vec<Option<Split>> =
            (0..20).map(|t| Some(if t < 10 { Split::Train } else { Split::Test })).collect();
        let division = divide(SplitSpec::Column, SplitColumns { parts: &parts, ..columns }, 0, 0.0).unwrap();
        assert_eq!(division.test.texts(), 9);
        assert_eq!(division.copies, CopiesAcross { scored: vec![10], left_out: 0 });
    }

    #[test]
    fn splits_by_annotator_and_at_random() {
        for seed in 0..10 {
            let division = divide(SplitSpec::ByAnnotator(0.5), SplitColumns::default(), seed, 0.0).unwrap();
            assert!(annotators(&division.train).is_disjoint(&annotators(division.test.observations())));
            let both =
                divide(SplitSpec::ByTextAndAnnotator(0.5), SplitColumns::default(), seed, 0.0).unwrap();
            assert!(annotators(&both.train).is_disjoint(&annotators(both.test.observations())));
        }
        let random = divide(SplitSpec::Random(0.7), SplitColumns::default(), 0, 0.0).unwrap();
        assert_eq!((random.train.len(), random.test.labels()), (42, 18));
    }

    #[test]
    fn stratified_split_keeps_the_shares() {
        for seed in 0..10 {
            let division = divide(SplitSpec::Stratified(0.8), SplitColumns::default(), seed, 0.0).unwrap();
            let rare = texts(&division.train).into_iter().filter(|t| *t < 5).count();
            assert_eq!((rare, division.test.texts()), (4, 4));
        }
    }

    #[test]
    fn data_seen_by_the_encoder_are_not_tested() {
        let seen_texts: Vec<bool> = (0..20).map(|t| t % 3 == 0).collect();
        let seen_people = [true, true, false, false, false, false];
        let seen = SeenByEncoder { texts: &seen_texts, annotators: &seen_people };
        let columns = SplitColumns { seen, ..SplitColumns::default() };
        let mut known = 0;
        for (seed, name) in
            (0..10).flat_map(|seed| ["by-text:0.5", "random:0.5", "k-fold:4/1"].map(|n| (seed, n)))
        {
            let split: SplitSpec = name.parse().unwrap();
            let all = divide(split, SplitColumns::default(), seed, 0.0).unwrap();
            let division = divide(split, columns, seed, 0.0).unwrap();
            let test = texts(division.test.observations());
            assert!(test.iter().all(|t| !seen_texts[*t as usize]), "{name}");
            assert_eq!(division.train, all.train, "what trains stays the same");
            assert_eq!(division.test.left_out(), all.test.texts() - division.test.texts());
            known += usize::from(annotators(division.test.observations()).contains(&0));
        }
        assert!(known > 15, "people whom the encoder knows are tested: {known} of 30");
        for seed in 0..10 {
            let division = divide(SplitSpec::ByAnnotator(0.5), columns, seed, 0.0).unwrap();
            assert!(
                annotators(division.test.observations()).iter().all(|a| *a > 1),
                "they trained the encoder"
            );
        }
        assert!(seen.check("by-text:0.5", 10).is_ok());
        assert!(matches!(seen.check("by-text:0.5", 9), Err(ModelError::SeenByEncoder { unseen: 9, .. })));
        assert!(
            SeenByEncoder::default().check("by-text:0.5", 1).is_ok(),
            "an encoder from elsewhere has seen nothing"
        );
    }

    #[test]
    fn folds_cover_every_text_once() {
        let mut seen = BTreeSet::new();
        let all = SplitSpec::KFold { folds: 4, fold: None };
        assert_eq!(all.each().len(), 4);
        for split in all.each() {
            let division = divide(split, SplitColumns::default(), 3, 0.0).unwrap();
            for text in texts(division.test.observations()) {
                assert!(seen.insert(text), "text {text} is scored twice");
            }
        }
        assert_eq!(seen.len(), 20);
        let error = divide(all, SplitColumns::default(), 3, 0.0).unwrap_err();
        assert!(error.to_string().contains("write k-fold:4/1"), "{error}");
        let error = divide(SplitSpec::KFold { folds: 21, fold: Some(1) }, SplitColumns::default(), 0, 0.0)
            .unwrap_err();
        assert!(matches!(error, ModelError::Folds { texts: 20, .. }), "{error}");
    }

    #[test]
    fn invalid_splits_are_refused() {
        for bad in ["by-text:1", "by-text:0", "stratified:-1", "grouped:NaN"] {
            assert!(matches!(bad.parse::<SplitSpec>(), Err(ModelError::Share(_))), "{bad}");
        }
        for bad in ["k-fold:1", "k-fold:5/6", "k-fold:5/0", "k-fold:many", "k-fold:500"] {
            let error = bad.parse::<SplitSpec>().unwrap_err();
            assert_eq!(error, ModelError::FoldNumber(bad.into()));
        }
        for bad in ["random", "fold:5", "by-text:many"] {
            assert!(matches!(bad.parse::<SplitSpec>(), Err(ModelError::UnknownName { .. })), "{bad}");
        }
        let short = SplitColumns { parts: &[None], groups: &[None], ..SplitColumns::default() };
        for split in [SplitSpec::Column, SplitSpec::Grouped(0.5)] {
            assert!(matches!(divide(split, short, 0, 0.0), Err(ModelError::Length { .. })));
        }
        let only_train = vec![Some(Split::Train); 20];
        let columns = SplitColumns { parts: &only_train, ..SplitColumns::default() };
        let error = divide(SplitSpec::Column, columns, 0, 0.0).unwrap_err();
        assert!(matches!(error, ModelError::EmptySplit { side: "score", .. }), "{error}");
    }

    #[test]
    fn test_labels_are_counted_once_for_each_figure() {
        let mut division = divide(SplitSpec::ByText(0.5), SplitColumns::default(), 0, 0.0).unwrap();
        let embeddings = Embeddings::none(20);
        let data = TrainingData {
            embeddings: &embeddings,
            observations: &division.train,
            annotators: 6,
            target: Target { kind: TargetKind::Binary, levels: 2 },
            attributes: &[],
        };
        let kind = dissensus_stats::data::ModelKind::Shared;
        let model = crate::fit::fit(
            kind,
            &data,
            &dissensus_stats::data::FitOptions::default(),
            &dissensus_stats::data::progress::Silent,
        )
        .unwrap();
        assert_eq!(division.test.score("shared", model.as_ref()).unwrap().observations.len(), 30);
        let error = division.test.score("shared", model.as_ref()).err();
        assert_eq!(error, Some(ModelError::TestRead("shared".into())));
    }
}
