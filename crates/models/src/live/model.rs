//! The model that is refitted with each label.

use super::label_change::LabelChange;
use crate::batch::{Multilevel, Prepared, PreparedTexts, fit_effects};
use crate::mixed::group_columns::groups_of;
use crate::mixed::predictor::{AnnotatorPredictor, Scratch};
use crate::mixed::{Discrimination, Estimation, ScaleSpread, TextDispersion};
use dissensus_stats::data::AttributeEvidence;
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::Severity;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{AnnotatorModel, ModelKind, TextFeatures};
use dissensus_stats::data::{Attribute, Observation, Target, TrainingData, check_observation};
use dissensus_stats::disagreement::{
    BLOCK, Disagreement, Measure, Sums, measure, measure_of_texts, panel_distributions, ranking,
};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Number of changed annotators up to which their columns of the sums are replaced one by one, regardless of
/// the total.
const SUM_ANEW_FROM: usize = 8;

/// A `multilevel` model that learns label by label.
///
/// Its many methods are one protocol: labels, effects, predictions and the sums of the measures change
/// together, and no function outside could keep them so.
#[derive(Clone, Debug)]
pub struct LiveModel {
    pub(super) model: Multilevel,
    pub(super) target: Target,
    /// Known attributes of annotators, with the attribute and value names of the fit.
    pub(super) attributes: Vec<Attribute>,
    /// The attributes as they were at the fit.
    pub(super) fitted_attributes: Vec<Attribute>,
    /// Inverse of the prior covariance of an annotator's parameters.
    pub(super) precision: Vec<f64>,
    pub(super) sums: Sums,
    pub(super) changes: Vec<LabelChange>,
    /// Number of changes before `changes[0]`.
    pub(super) forgotten: u64,
    pub(super) buffers: Buffers,
}

/// Buffers of probabilities, reused between labels.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    block: Vec<f32>,
    scratch: Scratch,
}

impl Buffers {
    /// Adds an annotator's labels and one predictor's predictions of a block of texts to all sums, or
    /// subtracts them with `sign` -1.
    fn add(
        &mut self,
        model: &Multilevel,
        sums: &mut Sums,
        (annotator, predictor): (usize, &AnnotatorPredictor),
        range: Range<usize>,
        sign: f64,
    ) {
        self.block.resize(BLOCK * model.levels(), 0.0);
        let block = &mut self.block[..range.len() * model.levels()];
        for part in 0..sums.parts() {
            let columns = model.columns_of_part(sums.predictions_of(part));
            predictor.fill(columns, range.clone(), block, &mut self.scratch);
            sums.add(part, range.clone(), block, model.labels_of(annotator as u32), sign);
        }
    }
}

/// Computes the sums over all annotators from scratch, blocks of texts in parallel.
fn all_sums(model: &Multilevel, target: Target) -> Sums {
    let ordinal = target.kind.has_distances();
    let everyone = || 0..model.annotators() as u32;
    let parts: Vec<Sums> = blocks(model.texts())
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|block| Sums::of(model, block, everyone(), ordinal, |a| model.labels_of(a)))
        .collect();
    let mut whole = Sums::new(model, ordinal, 0);
    parts.into_iter().for_each(|part| whole.append(part));
    whole.count(model.annotators());
    whole
}

/// Divides texts, or annotators, into blocks.
fn blocks(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(BLOCK).map(move |from| from..(from + BLOCK).min(count))
}

impl LiveModel {
    /// Fits all parts to `data`; equal to `dissensus_selection::fit` of [`ModelKind::Multilevel`].
    ///
    /// # Errors
    /// The same as `dissensus_selection::fit`.
    pub fn fit(
        data: &TrainingData<'_>,
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        Self::fit_prepared(data, &Prepared::new(data, options)?, options, progress)
    }

    /// [`LiveModel::fit`] on texts that were already prepared from the same embeddings and for the same
    /// options.
    ///
    /// # Errors
    /// The same as [`LiveModel::fit`], and where the prepared texts do not match.
    pub fn fit_on(
        texts: &PreparedTexts,
        data: &TrainingData<'_>,
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        Self::fit_prepared(data, &Prepared::on(data, texts)?, options, progress)
    }

    fn fit_prepared(
        data: &TrainingData<'_>,
        prepared: &Prepared<'_>,
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        let (head, mut crossed) = fit_effects(prepared, options, progress)?;
        crossed.estimate_parameter_uncertainty(progress)?;
        Ok(Self::from_model(Multilevel::from_parts(head, crossed), data.target, data.attributes.to_vec(), 0))
    }

    pub(super) fn from_model(
        model: Multilevel,
        target: Target,
        attributes: Vec<Attribute>,
        revision: u64,
    ) -> Self {
        Self {
            precision: model.crossed.prior_precision(),
            sums: all_sums(&model, target),
            model,
            target,
            fitted_attributes: attributes.clone(),
            attributes,
            changes: Vec::new(),
            forgotten: revision,
            buffers: Buffers::default(),
        }
    }

    /// Records a label, or replaces the one this annotator gave this text before. Returns the previous level.
    ///
    /// # Errors
    /// An unknown text, annotator or level; nothing is changed then.
    pub fn record(&mut self, observation: Observation) -> Result<Option<u16>, ModelError> {
        let Observation { text, annotator, level } = observation;
        check_observation(0, &observation, self.texts(), self.annotators(), self.target.levels)?;
        Ok(self.change(text, annotator, Some(level)))
    }

    /// Removes a label. Returns its level.
    ///
    /// # Errors
    /// [`ModelError::NoSuchLabel`], or an unknown text or annotator; nothing is changed then.
    pub fn retract(&mut self, text: u32, annotator: u32) -> Result<u16, ModelError> {
        let probe = Observation { text, annotator, level: 0 };
        check_observation(0, &probe, self.texts(), self.annotators(), self.target.levels)?;
        if self.label(text, annotator).is_none() {
            return Err(ModelError::NoSuchLabel { text, annotator });
        }
        self.change(text, annotator, None).ok_or(ModelError::NoSuchLabel { text, annotator })
    }

    fn change(&mut self, text: u32, annotator: u32, level: Option<u16>) -> Option<u16> {
        let before = self.refit(text, annotator, level);
        self.show(&BTreeSet::from([text]), &BTreeSet::from([annotator]));
        before
    }

    /// Sets a label and refits its annotator and its text; predictions do not change until
    /// [`LiveModel::show`].
    pub(super) fn refit(&mut self, text: u32, annotator: u32, level: Option<u16>) -> Option<u16> {
        let (t, a) = (text as usize, annotator as usize);
        let crossed = &mut self.model.crossed;
        let before = crossed.set_label(text, annotator, level);
        crossed.update_text(t); // the posterior given the others' labels, which the annotator is fitted against
        crossed.update_annotator(a, &self.precision);
        crossed.update_text(t);
        self.changes.push(LabelChange { text, annotator, level });
        before
    }

    /// Updates predictions and sums for texts and annotators that were refitted.
    pub(super) fn show(&mut self, texts: &BTreeSet<u32>, annotators: &BTreeSet<u32>) {
        texts.iter().for_each(|text| self.model.refresh_text(*text as usize));
        let old: Vec<(usize, AnnotatorPredictor)> =
            annotators.iter().map(|a| (*a as usize, self.model.refresh_annotator(*a as usize))).collect();
        // Subtracting and adding a column costs twice as much as summing it with all others, and runs on one
        // core, as the rows do.
        let one_by_one = 2 * old.len() * self.texts() + texts.len() * self.annotators();
        if old.len() > SUM_ANEW_FROM && 2 * one_by_one > self.annotators() * self.texts() {
            self.sums = all_sums(&self.model, self.target);
            return;
        }
        for (annotator, old) in &old {
            self.replace_column(old, *annotator);
        }
        // After the columns, whose replacement used these texts' old predictions for the new ones.
        texts.iter().for_each(|text| self.set_row(*text as usize));
    }

    /// Recomputes the sums over all annotators for one text.
    fn set_row(&mut self, text: usize) {
        let Self { model, sums, buffers, .. } = self;
        let levels = model.levels();
        let known: Vec<(u32, u16)> =
            model.crossed.labels[text].iter().map(|label| (label.annotator, label.level)).collect();
        buffers.block.resize(BLOCK * levels, 0.0);
        sums.clear(text);
        for annotators in blocks(model.annotator_columns().annotators()) {
            let n = annotators.len();
            let block = &mut buffers.block[..n * levels];
            for part in 0..sums.parts() {
                model.annotator_columns().fill(
                    model.columns_of_part(sums.predictions_of(part)),
                    text,
                    annotators.clone(),
                    block,
                    &mut buffers.scratch,
                );
                sums.add_annotators(part, text, annotators.start, block, n, &known);
            }
        }
    }

    /// Replaces one annotator's old predictions by the new ones.
    fn replace_column(&mut self, old: &AnnotatorPredictor, annotator: usize) {
        let Self { model, sums, buffers, .. } = self;
        for range in blocks(sums.texts()) {
            // Texts whose label changed are summed anew afterwards, so that the new label may be used for
            // both the subtraction and the addition here.
            buffers.add(model, sums, (annotator, old), range.clone(), -1.0);
            buffers.add(model, sums, (annotator, &model.predictors()[annotator]), range, 1.0);
        }
    }

    /// Adds an annotator without labels (the average annotator so far) and returns its index.
    pub fn add_annotator(&mut self) -> u32 {
        self.model.crossed.push_annotator();
        self.model.push_annotator();
        let annotator = self.model.annotators() - 1;
        let Self { model, sums, buffers, .. } = self;
        for range in blocks(sums.texts()) {
            buffers.add(model, sums, (annotator, &model.predictors()[annotator]), range, 1.0);
        }
        sums.count(1);
        annotator as u32
    }

    /// Whether the fit used the attributes that are known now, as far as it uses attributes: the same values
    /// form groups with enough labelled people, and annotators whose group has changed gave at most `labels`
    /// labels.
    pub fn knows_attributes(&self, known: &[Attribute], labels: usize) -> bool {
        let crossed = &self.model.crossed;
        if crossed.link.softmax || self.model.head.dim == 0 {
            // Such a fit does not use attributes.
            return true;
        }
        let labels_of = crossed.label_counts();
        let groups = |attributes: &[Attribute]| -> BTreeSet<(String, String)> {
            let of = |attribute: &Attribute| {
                let values = groups_of(attribute, &labels_of).into_iter();
                let named = values.map(|value| (attribute.name.clone(), attribute.values[value].clone()));
                named.collect::<Vec<_>>()
            };
            attributes.iter().flat_map(of).collect()
        };
        let then = groups(&self.fitted_attributes);
        if then != groups(known) {
            return false;
        }
        let mut moved = BTreeSet::new();
        for now in known {
            let group = |of: &Attribute, annotator: usize| {
                let value = of.of.get(annotator).copied().flatten()?;
                let name = of.values.get(usize::from(value))?;
                then.contains(&(of.name.clone(), name.clone())).then(|| name.clone())
            };
            let fitted = self.fitted_attributes.iter().find(|then| then.name == now.name);
            let Some(fitted) = fitted.filter(|_| then.iter().any(|(name, _)| *name == now.name)) else {
                continue;
            };
            moved.extend((0..crossed.annotators.len()).filter(|a| group(fitted, *a) != group(now, *a)));
        }
        moved.into_iter().map(|annotator| crossed.annotators[annotator].labels.len()).sum::<usize>() <= labels
    }

    /// Updates the known attributes of annotators, with the attribute and value names of the fit: annotators
    /// with changed groups get the prior of their new groups. Attributes and values that the fit did not have
    /// are ignored until the next fit, and annotators beyond those of `known` do not change.
    pub fn set_attributes(&mut self, known: &[Attribute]) {
        let people = self.annotators();
        let mut changed = BTreeSet::new();
        for attribute in &mut self.attributes {
            attribute.of.resize(people, None);
            let now = known.iter().find(|now| now.name == attribute.name);
            let places: HashMap<&String, u16> = attribute.values.iter().zip(0..=u16::MAX).collect();
            let reported = now.map_or(people, |now| now.of.len());
            for (annotator, value) in attribute.of.iter_mut().enumerate().take(reported) {
                let place = now.and_then(|now| {
                    let value = now.of.get(annotator).copied().flatten()?;
                    places.get(now.values.get(usize::from(value))?).copied()
                });
                if place != *value {
                    *value = place;
                    changed.insert(annotator as u32);
                }
            }
        }
        for &annotator in &changed {
            let at = annotator as usize;
            let values: Vec<Option<u16>> = self.attributes.iter().map(|attribute| attribute.of[at]).collect();
            self.model.crossed.set_attributes(at, &values);
            self.model.crossed.update_annotator(at, &self.precision);
        }
        // The evidence of an annotator's labels about texts depends on the annotator's posterior.
        let given = |annotator: &u32| self.model.crossed.annotators[*annotator as usize].labels.iter();
        let texts: BTreeSet<u32> = changed.iter().flat_map(given).map(|label| label.0).collect();
        texts.iter().for_each(|text| self.model.crossed.update_text(*text as usize));
        self.show(&texts, &changed);
    }

    /// Adds a text (with an empty embedding without an encoder) and returns its index.
    ///
    /// # Errors
    /// [`ModelError::EmbeddingLength`] or [`ModelError::NotFinite`]; nothing is changed then.
    pub fn add_text(&mut self, features: TextFeatures<'_>) -> Result<u32, ModelError> {
        let text = self.texts();
        if let Some(column) = features.embedding.iter().position(|v| !v.is_finite()) {
            return Err(ModelError::NotFinite { text, column });
        }
        self.model.push_text(features)?;
        self.sums.push_text();
        self.set_row(text);
        Ok(text as u32)
    }

    pub fn label(&self, text: u32, annotator: u32) -> Option<u16> {
        let labels = &self.model.crossed.annotators.get(annotator as usize)?.labels;
        labels.binary_search_by_key(&text, |l| l.0).ok().map(|at| labels[at].1)
    }

    /// Number of current labels.
    pub fn labels(&self) -> usize {
        self.model.crossed.labels.iter().map(Vec::len).sum()
    }

    /// Number of current labels of this annotator; 0 for an unknown one.
    pub fn labels_of(&self, annotator: u32) -> usize {
        self.model.crossed.annotators.get(annotator as usize).map_or(0, |a| a.labels.len())
    }

    /// All current labels, ordered by text, then annotator.
    pub fn observations(&self) -> Vec<Observation> {
        let labels = self.model.crossed.labels.iter().enumerate();
        labels
            .flat_map(|(text, labels)| {
                labels.iter().map(move |l| Observation {
                    text: text as u32,
                    annotator: l.annotator,
                    level: l.level,
                })
            })
            .collect()
    }

    pub fn target(&self) -> Target {
        self.target
    }

    /// The measures of one text over all annotators.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn disagreement(&self, text: u32) -> Disagreement {
        self.sums.get(text as usize)
    }

    /// The measures of all texts over all annotators.
    pub fn disagreements(&self) -> Vec<Disagreement> {
        (0..self.texts()).into_par_iter().with_min_len(1024).map(|t| self.sums.get(t)).collect()
    }

    /// The measures of all texts over the annotators of `mask`, recomputed from their columns in parallel.
    pub fn disagreements_of(&self, mask: &[bool]) -> Vec<Disagreement> {
        dissensus_stats::disagreement::disagreement(self, Some(mask), self.is_ordinal())
    }

    /// One measure of all texts over the annotators of `mask` (all of them with `None`), as
    /// [`dissensus_stats::disagreement::measure`]. Those of [`Disagreement`] are precomputed for all
    /// annotators; the others take a pass over all predictions.
    pub fn measure(&self, by: Measure, mask: Option<&[bool]>) -> Vec<f32> {
        if mask.is_some() || matches!(by, Measure::OppositeSides { .. } | Measure::Between) {
            return measure(self, mask, self.is_ordinal(), by);
        }
        let all = self.disagreements();
        match by {
            Measure::Surprising => dissensus_stats::disagreement::surprise(&all, self.levels()),
            _ => all.iter().map(|d| by.of(d).unwrap_or(f32::NAN)).collect(),
        }
    }

    /// Texts from the most to the least disagreement over all annotators.
    pub fn ranking(&self, by: Measure) -> Vec<u32> {
        ranking(&self.measure(by, None))
    }

    /// Shares of a text's levels among the annotators of `mask` (all of them with `None`): those who labelled
    /// it with their labels, all others as predicted.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn panel_distribution(&self, text: u32, mask: Option<&[bool]>) -> Vec<f64> {
        let at = text as usize;
        match mask {
            None => self.sums.panel(at),
            Some(_) => panel_distributions(self, at..at + 1, mask).swap_remove(0),
        }
    }

    /// [`Measure::Between`] of one text over the annotators of `mask` (all of them with `None`).
    ///
    /// # Panics
    /// If there is no such text.
    pub fn between(&self, text: u32, mask: Option<&[bool]>) -> f32 {
        let at = text as usize;
        measure_of_texts(self, at..at + 1, mask, self.is_ordinal(), Measure::Between).swap_remove(0)
    }

    /// Number of current labels of a text by the annotators of `mask` (all of them with `None`).
    ///
    /// # Panics
    /// If there is no such text.
    pub fn labels_on(&self, text: u32, mask: Option<&[bool]>) -> usize {
        let labels = &self.model.crossed.labels[text as usize];
        let chosen = |annotator: u32| mask.is_none_or(|mask| mask.get(annotator as usize) == Some(&true));
        labels.iter().filter(|label| chosen(label.annotator)).count()
    }

    /// Whether levels have an order with distances.
    pub fn is_ordinal(&self) -> bool {
        self.target.kind.has_distances()
    }

    /// Mean predicted probabilities of a text's levels over all annotators.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn mean_distribution(&self, text: u32) -> Vec<f32> {
        self.sums.mean(text as usize)
    }

    /// One annotator's probabilities of all texts, texts x levels, row-major.
    pub fn column(&self, annotator: u32) -> Vec<f32> {
        let (texts, levels) = (self.texts(), self.target.levels);
        let mut out = vec![0.0; texts * levels];
        let mut block = vec![0.0; BLOCK * levels];
        for from in (0..texts).step_by(BLOCK) {
            let range = from..(from + BLOCK).min(texts);
            let n = range.len();
            self.model.predict_column(annotator, range, &mut block[..n * levels]);
            for i in 0..n {
                for c in 0..levels {
                    out[(from + i) * levels + c] = block[c * n + i];
                }
            }
        }
        out
    }

    /// All annotators' probabilities of one text, annotators x levels, row-major.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn row(&self, text: u32) -> Vec<f32> {
        let levels = self.target.levels;
        let mut out = vec![0.0; self.annotators() * levels];
        for (a, p) in out.chunks_exact_mut(levels).enumerate() {
            self.model.predict(text, a as u32, p);
        }
        out
    }

    /// Severity of an annotator relative to the average annotator; `None` for choice scales, whose levels
    /// have no order. An unknown annotator has mean 0 and the population's spread.
    pub fn severity(&self, annotator: u32) -> Option<Severity> {
        self.model.crossed.severity(annotator as usize)
    }

    /// Tests whether the spread of labels differs between texts beyond what their scores explain, with
    /// `replicates` simulated and refitted data sets. `None` where this cannot be tested: fewer than three
    /// ordered levels, or fewer than 50 texts with labels of two people.
    ///
    /// # Errors
    /// [`ModelError::Cancelled`].
    pub fn text_dispersion(
        &self,
        replicates: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Option<TextDispersion>, ModelError> {
        self.model.crossed.text_dispersion(replicates, seed, progress)
    }

    /// Whether the spread of labels on a text, beyond its score, is predicted from its embedding.
    pub fn has_text_scales(&self) -> bool {
        self.model.head.has_scale_information()
    }

    /// Estimated variation between texts in the spread of their labels, beyond what their scores explain,
    /// used in predictions; `None` where held-out labels do not support such a variation.
    pub fn scale_spread(&self) -> Option<ScaleSpread> {
        self.model.crossed.scale_spread()
    }

    /// How closely an annotator's labels follow the scores of texts, compared with the average annotator;
    /// `None` where held-out labels do not show that annotators differ in it. An unknown annotator has mean 0
    /// and the population's spread.
    pub fn discrimination(&self, annotator: u32) -> Option<Discrimination> {
        self.model.crossed.discrimination(annotator as usize)
    }

    /// The standard deviations of texts and annotators, how their estimation ended at the last fit, and what
    /// the current labels cannot identify.
    pub fn estimation(&self) -> Estimation {
        self.model.crossed.estimation()
    }
}

impl AnnotatorModel for LiveModel {
    fn kind(&self) -> ModelKind {
        ModelKind::Multilevel
    }

    fn levels(&self) -> usize {
        self.target.levels
    }

    fn texts(&self) -> usize {
        self.model.texts()
    }

    fn annotators(&self) -> usize {
        self.model.annotators()
    }

    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]) {
        self.model.predict(text, annotator, out);
    }

    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError> {
        self.model.predict_new_text(text, annotator, out)
    }

    fn predict_column(&self, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.model.predict_column(annotator, texts, out);
    }

    fn knows(&self, annotator: u32) -> bool {
        self.model.knows(annotator)
    }

    fn predict_new_annotator(&self, text: u32, attributes: &[Option<u16>], out: &mut [f32]) {
        self.model.predict_new_annotator(text, attributes, out);
    }

    fn predict_without_groups(&self, text: u32, annotator: u32, out: &mut [f32]) -> bool {
        self.model.predict_without_groups(text, annotator, out)
    }

    fn attribute_evidence(&self) -> Option<AttributeEvidence> {
        self.model.attribute_evidence()
    }

    fn known_labels(&self, annotator: u32) -> &[(u32, u16)] {
        self.model.labels_of(annotator)
    }

    fn node_weights(&self) -> Vec<f64> {
        self.model.node_weights()
    }

    fn predict_column_at_node(&self, point: usize, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.model.predict_column_at_node(point, annotator, texts, out);
    }
}
