//! Words as items of a network: each with an embedding and the annotators who marked it.

use dissensus_models::spans::{Scaling, SpanAnswer, SpanTexts};
use dissensus_stats::data::{Embeddings, ModelError, Observation};
use dissensus_stats::math::random::generator;
use rand::RngExt as _;
use std::collections::BTreeMap;

/// Stream of random numbers for this use.
const STREAM: u64 = 0x5_7043;

/// Words of some texts, one of each form in a text: a form counts once per text in training, because a few
/// texts repeat one word a thousand times.
pub(super) struct Items {
    /// Scaled states of each word.
    pub(super) states: Embeddings,
    /// For each text its first item, and the indices of its items among its words, ascending.
    of_text: BTreeMap<u32, (u32, Vec<usize>)>,
}

impl Items {
    /// Collects the items of these texts, ascending. Of a form that occurs in a text more than once, the
    /// word is drawn at random, so that an item is marked as often as the form is.
    ///
    /// # Errors
    /// States that are not finite.
    pub(super) fn of(
        texts: &SpanTexts,
        rows: &[u32],
        scaling: &Scaling,
        seed: u64,
    ) -> Result<Self, ModelError> {
        let dim = texts.dim();
        let (mut states, mut of_text, mut items) = (Vec::new(), BTreeMap::new(), 0_u32);
        let mut rng = generator(seed, STREAM);
        for &text in rows {
            let words = texts.words(text);
            let mut by_form: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (place, word) in words.clone().enumerate() {
                by_form.entry(texts.form(word)).or_default().push(place);
            }
            let mut places: Vec<usize> =
                by_form.into_values().map(|places| places[rng.random_range(0..places.len())]).collect();
            places.sort_unstable();
            for place in &places {
                let at = states.len();
                states.resize(at + dim, 0.0);
                scaling.scaled(texts.state(words.start + place), &mut states[at..]);
            }
            let first = items;
            items += places.len() as u32;
            of_text.insert(text, (first, places));
        }
        Ok(Self { states: Embeddings::new(dim, states)?, of_text })
    }

    /// Whether the annotator of each of these answers marked each item with the type, as answers to a
    /// yes/no question.
    pub(super) fn observations(
        &self,
        answers: &[SpanAnswer],
        of: &[usize],
        of_type: usize,
    ) -> Vec<Observation> {
        let mut all = Vec::new();
        for answer in of.iter().map(|answer| &answers[*answer]) {
            let Some((first, places)) = self.of_text.get(&answer.text) else { continue };
            for (text, place) in (*first..).zip(places) {
                let mark = answer.marks.binary_search_by_key(&(*place as u32), |(word, _)| *word);
                let marked = mark.is_ok_and(|at| answer.marks[at].1 >> of_type & 1 == 1);
                all.push(Observation { text, annotator: answer.annotator, level: u16::from(marked) });
            }
        }
        all
    }
}
