//! Annotator models over words.

use super::data::{SpanAnswer, SpanTexts};
use super::head::{Head, HeadData};
use super::head_objective::{Design, Scaling};
use super::own_effects::{OwnEffects, Population};
use super::own_text::{own_effects, scores_without_own};
use super::selection::{Halves, Selected, divide, select, unchosen};
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{ModelError, ModelKind};
use dissensus_stats::math::random::generator;
use dissensus_stats::math::{attenuation, sigmoid};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stream of random numbers for this use.
const STREAM: u64 = 0x5_7042;

/// Options of a fit.
#[derive(Clone, Copy, Debug)]
pub struct SpanFitOptions {
    /// Seed for drawing the texts used for model selection, and the training texts where there are too many
    /// words.
    pub seed: u64,
    /// Largest number of words to learn from; further texts are left out, drawn by the seed. A word's states
    /// take `dim` single-precision numbers, twice while penalties are selected.
    pub most_words: usize,
}

impl Default for SpanFitOptions {
    fn default() -> Self {
        Self { seed: 0, most_words: 200_000 }
    }
}

/// Fitted parameters of one type.
#[derive(Clone, Debug)]
pub struct TypeReport {
    /// Share of words that answers mark, with a form counted once per text.
    pub rate: f64,
    /// Standard deviation between annotators of the readiness to mark, in logits; absent for a model without
    /// it.
    pub readiness_deviation: Option<f64>,
    /// Standard deviation of single words beyond their scores, in logits.
    pub word_deviation: f64,
    /// Whether the contextual layer improves predictions on held-out texts.
    pub uses_context: bool,
    /// Smallest probability at which a word counts as marked: the threshold with the largest F1 on held-out
    /// texts.
    pub threshold: f64,
}

/// The model of one type.
#[derive(Clone, Debug)]
pub(super) enum TypeModel {
    /// One head for all.
    Shared(Head),
    /// A head for each annotator with answers, and one for all others.
    Own(Vec<Option<Head>>, Head),
}

/// Training data of a span model.
#[derive(Clone, Copy, Debug)]
pub struct SpanTraining<'a> {
    pub texts: &'a SpanTexts,
    /// All answers, of which `train` selects the training answers.
    pub answers: &'a [SpanAnswer],
    /// Indices of the training answers.
    pub train: &'a [usize],
    pub annotators: usize,
    pub types: usize,
    /// For each text the first one with the same body.
    pub copies: &'a [u32],
    /// Whether the encoder has learned from labels of each text: such texts are not used for selection,
    /// because their states contain information about the labels. Empty where the encoder learned from none.
    pub tuned_on: &'a [bool],
}

impl SpanTraining<'_> {
    pub fn check(&self) -> Result<(), ModelError> {
        self.texts.check(self.answers, self.annotators, self.types)?;
        let texts = self.texts.len();
        let lists = [
            ("the copies of texts", self.copies.len()),
            ("the texts an encoder learned", self.tuned_on.len()),
        ];
        for (nth, (what, found)) in lists.into_iter().enumerate() {
            if found != texts && (nth == 0 || found != 0) {
                return Err(ModelError::Length { what, expected: texts, found });
            }
        }
        if let Some(beyond) = self.train.iter().find(|answer| **answer >= self.answers.len()) {
            let (what, expected) = ("the answers to learn from", self.answers.len());
            return Err(ModelError::Length { what, expected, found: *beyond });
        }
        Ok(())
    }
}

/// A model of which words each annotator marks.
#[derive(Clone, Debug)]
pub struct SpanModel {
    kind: ModelKind,
    scaling: Scaling,
    types: Vec<(TypeModel, Selected, f64)>,
    learned_texts: usize,
}

/// Predictions of a model for the words of one text.
#[derive(Clone, Debug)]
pub struct WordView {
    pub(super) types: usize,
    /// Score of each word and type, before the effects of an annotator.
    pub(super) scores: Vec<f64>,
}

impl SpanModel {
    /// Fits `kind` to the training answers: `majority`, `shared`, `sep-heads` or `multilevel`.
    ///
    /// # Errors
    /// [`ModelError::NotOverWords`] for another kind (`share-rec` is implemented by `WordNetworks`); no
    /// answers; arrays of inconsistent sizes; [`ModelError::Cancelled`].
    pub fn fit(
        of: &SpanTraining<'_>,
        kind: ModelKind,
        options: &SpanFitOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        of.check()?;
        let SpanTraining { texts, answers, train, annotators, types, .. } = *of;
        let limited = limited(texts, answers, train, options);
        let voted: Vec<SpanAnswer>;
        let (answers, train) = match kind {
            ModelKind::Majority => {
                voted = majority(answers, &limited, types);
                (&voted[..], (0..voted.len()).collect())
            }
            _ => (answers, limited),
        };
        if train.iter().all(|answer| texts.words(answers[*answer].text).is_empty()) {
            return Err(ModelError::NoWords);
        }
        let mut rows: Vec<u32> = train.iter().map(|answer| answers[*answer].text).collect();
        rows.sort_unstable();
        rows.dedup();
        let scaling = Scaling::new(texts, &rows);
        let data = HeadData { texts, answers, annotators, scaling: &scaling };
        let work = Work { data: &data, train: &train, types, kind, done: AtomicUsize::new(0), progress };
        let types = match kind {
            ModelKind::Majority | ModelKind::Shared | ModelKind::Multilevel => {
                let selected = work.selected(of, options.seed)?;
                work.with_effects(work.shared(&selected)?, of.copies)
            }
            ModelKind::SepHeads => work.own(&work.selected(of, options.seed)?)?,
            ModelKind::ShareRecFfn | ModelKind::ShareRecDcn => {
                return Err(ModelError::NotOverWords(kind.name()));
            }
        };
        Ok(Self { kind, types, learned_texts: rows.len(), scaling })
    }

    pub(super) fn from_types(
        kind: ModelKind,
        types: Vec<(TypeModel, Selected, f64)>,
        scaling: Scaling,
        learned_texts: usize,
    ) -> Result<Self, ModelError> {
        let finite = types.iter().all(|(model, selected, rate)| {
            let (TypeModel::Shared(head) | TypeModel::Own(_, head)) = model;
            let (constant, states, forms) = head.parameters();
            let numbers = [constant, head.variance, selected.word_variance, selected.threshold, *rate];
            numbers.iter().all(|number| number.is_finite())
                && head.population().is_sound()
                && states.iter().chain(forms).all(|number| number.is_finite())
        });
        if !finite {
            return Err(ModelError::Damaged("a head of words has a number that is not finite".to_owned()));
        }
        Ok(Self { kind, types, scaling, learned_texts })
    }

    pub(super) fn types(&self) -> impl Iterator<Item = (&TypeModel, &Selected, f64)> {
        self.types.iter().map(|(model, selected, rate)| (model, selected, *rate))
    }

    pub(super) fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Number of training texts.
    pub fn learned_texts(&self) -> usize {
        self.learned_texts
    }

    pub fn kind(&self) -> ModelKind {
        self.kind
    }

    /// Fitted parameters of each type.
    pub fn report(&self) -> Vec<TypeReport> {
        let of = |(model, selected, rate): &(TypeModel, Selected, f64)| TypeReport {
            rate: *rate,
            readiness_deviation: match model {
                TypeModel::Shared(head) if self.kind == ModelKind::Multilevel => {
                    Some(head.population().variances[0].sqrt())
                }
                _ => None,
            },
            word_deviation: selected.word_variance.sqrt(),
            uses_context: selected.priors.context.is_some(),
            threshold: selected.threshold,
        };
        self.types.iter().map(of).collect()
    }

    /// Thresholds of the types.
    pub fn thresholds(&self) -> Vec<f64> {
        self.types.iter().map(|(_, selected, _)| selected.threshold).collect()
    }

    /// Effects of an annotator in the marks of each type; for an annotator unknown to the model, the
    /// population's.
    pub fn effects(&self, annotator: Option<u32>) -> Vec<OwnEffects> {
        let of = |(model, ..): &(TypeModel, Selected, f64)| match model {
            TypeModel::Shared(head) if self.kind == ModelKind::Multilevel => head.effects(annotator),
            _ => OwnEffects::of_readiness(0.0, 0.0),
        };
        self.types.iter().map(of).collect()
    }

    /// For each type, the population of annotators and the variance of single words beyond their scores.
    pub fn variances(&self) -> Vec<(Population, f64)> {
        let of = |(model, selected, _): &(TypeModel, Selected, f64)| match model {
            TypeModel::Shared(head) => (head.population(), selected.word_variance),
            _ => (Population::of_readiness(0.0), selected.word_variance),
        };
        self.types.iter().map(of).collect()
    }

    /// Scores of a text's words, before the effects of an annotator.
    pub fn view(&self, texts: &SpanTexts, text: u32) -> WordView {
        let mut room = vec![0.0; texts.dim()];
        let mut scores = Vec::new();
        for word in texts.words(text) {
            for (model, ..) in &self.types {
                let (TypeModel::Shared(head) | TypeModel::Own(_, head)) = model;
                scores.push(head.score(texts, word, &self.scaling, &mut room));
            }
        }
        WordView { types: self.types.len(), scores }
    }

    /// Probability that the annotator marks each word of a text with each type, `[words][types]`, row-major.
    pub fn probabilities(&self, texts: &SpanTexts, text: u32, annotator: u32, view: &WordView) -> Vec<f32> {
        let types = view.types.max(1);
        let mut room = vec![0.0; texts.dim()];
        let mut all = vec![0.0; view.scores.len()];
        for (of_type, (model, ..)) in self.types.iter().enumerate() {
            let own = match model {
                TypeModel::Own(heads, _) => heads.get(annotator as usize).and_then(Option::as_ref),
                TypeModel::Shared(_) => None,
            };
            let scores: Vec<f64> = match own {
                Some(head) => {
                    texts.words(text).map(|word| head.score(texts, word, &self.scaling, &mut room)).collect()
                }
                None => view.scores.iter().skip(of_type).step_by(types).copied().collect(),
            };
            let shifts = match model {
                TypeModel::Shared(head) if self.kind == ModelKind::Multilevel => {
                    head.shifts(annotator, &scores)
                }
                _ => vec![(0.0, 0.0); scores.len()],
            };
            let places = all.iter_mut().skip(of_type).step_by(types);
            for (place, (score, (mean, variance))) in places.zip(scores.iter().zip(shifts)) {
                *place = sigmoid((score + mean) * attenuation(variance)) as f32;
            }
        }
        all
    }
}

/// One answer per text: the marks that more than half of its answers make.
fn majority(answers: &[SpanAnswer], of: &[usize], types: usize) -> Vec<SpanAnswer> {
    let mut by_text: BTreeMap<u32, Vec<&SpanAnswer>> = BTreeMap::new();
    of.iter().for_each(|answer| by_text.entry(answers[*answer].text).or_default().push(&answers[*answer]));
    let vote = |(text, answers): (u32, Vec<&SpanAnswer>)| {
        let mut counts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (word, bits) in answers.iter().flat_map(|answer| &answer.marks) {
            let counts = counts.entry(*word).or_insert_with(|| vec![0; types]);
            counts.iter_mut().enumerate().for_each(|(at, count)| *count += (bits >> at & 1) as usize);
        }
        let most = |counts: Vec<usize>| {
            let bits = counts.iter().enumerate().filter(|(_, count)| **count * 2 > answers.len());
            bits.fold(0_u64, |bits, (at, _)| bits | 1 << at)
        };
        let marks = counts.into_iter().map(|(word, counts)| (word, most(counts)));
        SpanAnswer { text, annotator: 0, marks: marks.filter(|(_, bits)| *bits > 0).collect() }
    };
    by_text.into_iter().map(vote).collect()
}

/// Restricts the answers `train` to a random subset of texts where these have more than `most_words` words.
pub fn limited(
    texts: &SpanTexts,
    answers: &[SpanAnswer],
    train: &[usize],
    options: &SpanFitOptions,
) -> Vec<usize> {
    let mut rows: Vec<u32> = train.iter().map(|answer| answers[*answer].text).collect();
    rows.sort_unstable();
    rows.dedup();
    let words: usize = rows.iter().map(|row| texts.words(*row).len()).sum();
    if words <= options.most_words {
        return train.to_vec();
    }
    rows.shuffle(&mut generator(options.seed, STREAM));
    let mut taken = 0;
    let mut kept: Vec<u32> = Vec::new();
    for row in rows {
        taken += texts.words(row).len();
        if taken > options.most_words && !kept.is_empty() {
            break;
        }
        kept.push(row);
    }
    kept.sort_unstable();
    train.iter().copied().filter(|answer| kept.binary_search(&answers[*answer].text).is_ok()).collect()
}

/// One fit in progress.
struct Work<'a> {
    data: &'a HeadData<'a>,
    train: &'a [usize],
    types: usize,
    kind: ModelKind,
    done: AtomicUsize,
    progress: &'a dyn Progress,
}

type Types = Vec<(TypeModel, Selected, f64)>;

impl Work<'_> {
    fn with_annotators(&self) -> bool {
        self.kind == ModelKind::Multilevel
    }

    fn design(&self, of: &[usize]) -> Design {
        let HeadData { texts, answers, annotators, scaling } = self.data;
        Design::new(texts, answers, of, *annotators, scaling)
    }

    /// Selection for every type, on held-out texts.
    fn selected(&self, of: &SpanTraining<'_>, seed: u64) -> Result<Vec<Selected>, ModelError> {
        let halves: Halves = divide(self.data.answers, self.train, of.copies, of.tuned_on, seed);
        if halves.choose.is_empty() {
            return Ok(vec![unchosen(self.with_annotators()); self.types]);
        }
        let design = self.design(&halves.learn);
        let selected = self.each_type(|of_type| {
            select(&design, self.data, &halves, of.copies, of_type, self.with_annotators(), self.progress)
        })?;
        if self.kind != ModelKind::SepHeads {
            return Ok(selected);
        }
        // Annotators' own heads predict differently from the one that all share.
        let (shared, own) =
            (self.shared_on(&halves.learn, &selected)?, self.own_on(&halves.learn, &selected)?);
        self.each_type(|of_type| {
            let head = |annotator: u32| own[of_type][annotator as usize].as_ref().unwrap_or(&shared[of_type]);
            Ok(selected[of_type].by(self.data, &halves.choose, of_type, &head))
        })
    }

    fn shared(&self, selected: &[Selected]) -> Result<Types, ModelError> {
        let heads = self.shared_on(self.train, selected)?;
        let design = self.design(self.train);
        let of = |(of_type, head): (usize, Head)| {
            (TypeModel::Shared(head), selected[of_type], design.rate(self.data.answers, of_type))
        };
        Ok(heads.into_iter().enumerate().map(of).collect())
    }

    /// Replaces the readiness of annotators by all of their effects, in models with annotators.
    fn with_effects(&self, mut types: Types, copies: &[u32]) -> Types {
        if self.with_annotators() {
            types.par_iter_mut().enumerate().for_each(|(of_type, (model, selected, _))| {
                if let TypeModel::Shared(head) = model {
                    let forms = selected.priors.forms;
                    head.own = Some(own_effects(head, forms, self.data, self.train, copies, of_type));
                }
            });
        }
        types
    }

    fn own(&self, selected: &[Selected]) -> Result<Types, ModelError> {
        let mut all = self.shared(selected)?;
        let own = self.own_on(self.train, selected)?;
        for ((model, ..), own) in all.iter_mut().zip(own) {
            if let TypeModel::Shared(head) = model {
                *model = TypeModel::Own(own, head.clone());
            }
        }
        Ok(all)
    }

    /// Fits one shared head per type to these answers.
    fn shared_on(&self, of: &[usize], selected: &[Selected]) -> Result<Vec<Head>, ModelError> {
        let design = self.design(of);
        self.each_type(|of_type| {
            Head::fit(&design, self.data, of_type, &selected[of_type].priors, self.progress)
        })
    }

    /// Fits, for each type, a head for each annotator of these answers.
    fn own_on(&self, of: &[usize], selected: &[Selected]) -> Result<Vec<Vec<Option<Head>>>, ModelError> {
        let mut by_annotator: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for answer in of {
            by_annotator.entry(self.data.answers[*answer].annotator).or_default().push(*answer);
        }
        let mut own: Vec<Vec<Option<Head>>> = vec![vec![None; self.data.annotators]; self.types];
        for (person, theirs) in by_annotator {
            let heads = self.shared_on(&theirs, selected)?;
            own.iter_mut().zip(heads).for_each(|(own, head)| own[person as usize] = Some(head));
        }
        Ok(own)
    }

    fn each_type<T: Send>(
        &self,
        fit: impl Fn(usize) -> Result<T, ModelError> + Sync,
    ) -> Result<Vec<T>, ModelError> {
        // Progress is reported only from this thread: types are fitted in parallel, and each checks for
        // cancellation.
        let all = (0..self.types).into_par_iter().map(|of_type| {
            let fitted = fit(of_type);
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            self.progress.report(done as u64, None, "fitting words");
            fitted
        });
        all.collect()
    }
}

impl SpanModel {
    /// Scores of the words of every text of `of`, whose answers `of.train` the model was fitted to, without
    /// the influence of these answers on the words of their own text.
    pub(super) fn views_without_own(&self, of: &SpanTraining<'_>) -> Vec<WordView> {
        let rows: Vec<u32> = (0..of.texts.len() as u32).collect();
        let mut views: Vec<WordView> = rows.iter().map(|text| self.view(of.texts, *text)).collect();
        let data = HeadData {
            texts: of.texts,
            answers: of.answers,
            annotators: of.annotators,
            scaling: self.scaling(),
        };
        for (of_type, (model, selected, _)) in self.types().enumerate() {
            let (TypeModel::Shared(head) | TypeModel::Own(_, head)) = model;
            // Only answers to the text itself are excluded: those to its copies have influenced its words
            // like any others.
            let left = scores_without_own(head, selected.priors.forms, &data, of.train, &rows, of_type);
            for (text, scores) in left {
                let places = views[text as usize].scores.iter_mut().skip(of_type).step_by(of.types);
                places.zip(scores).for_each(|(place, score)| *place = score);
            }
        }
        views
    }
}
