//! Scores of training words without the influence of the answers to their own text.
//!
//! A live model estimates the deviation of a text's words from the answers to the text. If these answers had
//! also contributed to the effects of the words' forms, they would count twice: a form that occurs in only
//! one text has its whole effect from them.

use super::head::{Head, HeadData};
use super::own_effects::{OwnEffects, Population, WordDecision, decided, fit};
use dissensus_stats::math::sigmoid;
use std::collections::{BTreeMap, HashMap};

/// Gradient and curvature of the log-likelihood with respect to the effect of a form.
#[derive(Clone, Copy, Debug, Default)]
struct Taught {
    gradient: f64,
    curvature: f64,
}

/// For each text of the answers `train`, to which a head was fitted, the scores of its words without the
/// answers to texts with the same number in `copies`: the effect of each form after one Newton step from its
/// mode, at the objective without them (approximate leave-one-out: Rad and Maleki 2020, arXiv 1801.10243, for
/// one parameter; `precision` is that of the effects' prior). The influence of such answers on the weights of
/// states, which all words share, remains.
pub(super) fn scores_without_own(
    head: &Head,
    precision: f64,
    data: &HeadData<'_>,
    train: &[usize],
    copies: &[u32],
    of_type: usize,
) -> BTreeMap<u32, Vec<f64>> {
    let texts = data.texts;
    let mut room = vec![0.0; texts.dim()];
    let mut all: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut by_body: HashMap<(u32, u32), Taught> = HashMap::new();
    let mut curvatures: HashMap<u32, f64> = HashMap::new();
    for answer in train.iter().map(|at| &data.answers[*at]) {
        let words = texts.words(answer.text);
        let scores = all.entry(answer.text).or_insert_with(|| {
            words.clone().map(|word| head.score(texts, word, data.scaling, &mut room)).collect()
        });
        let readiness = head.readiness.get(answer.annotator as usize).map_or(0.0, |own| own.0);
        for ((word, score), marked) in words.clone().zip(scores).zip(answer.marked(words.len(), of_type)) {
            let p = sigmoid(*score + readiness);
            let (weight, form) = (f64::from(texts.weight(word)), texts.form(word));
            let taught = by_body.entry((copies[answer.text as usize], form)).or_default();
            taught.gradient += weight * (f64::from(u8::from(marked)) - p);
            taught.curvature += weight * p * (1.0 - p);
            *curvatures.entry(form).or_insert(precision) += weight * p * (1.0 - p);
        }
    }
    for (text, scores) in &mut all {
        for (word, score) in texts.words(*text).zip(scores) {
            let form = texts.form(word);
            let Some(taught) = by_body.get(&(copies[*text as usize], form)) else { continue };
            *score -= taught.gradient / (curvatures[&form] - taught.curvature).max(precision);
        }
    }
    all
}

/// Effects of annotators given a head that was fitted to the answers `train`, on scores without the influence
/// of these answers on their own words.
pub(super) fn own_effects(
    head: &Head,
    precision: f64,
    data: &HeadData<'_>,
    train: &[usize],
    copies: &[u32],
    of_type: usize,
) -> (Population, Vec<OwnEffects>) {
    let all = scores_without_own(head, precision, data, train, copies, of_type);
    let (mut sum, mut information) = (0.0, 0.0);
    let mut by_annotator: Vec<Vec<WordDecision>> = vec![Vec::new(); data.annotators];
    for answer in train.iter().map(|at| &data.answers[*at]) {
        let (scores, words) = (&all[&answer.text], data.texts.words(answer.text));
        for (word, score) in words.clone().zip(scores) {
            let p = sigmoid(*score);
            let own = f64::from(data.texts.weight(word)) * p * (1.0 - p);
            sum += own * score;
            information += own;
        }
        let weights = words.clone().map(|word| data.texts.weight(word));
        let marked = answer.marked(words.len(), of_type);
        by_annotator[answer.annotator as usize].extend(decided(scores, weights, marked));
    }
    // Centre at the most informative decisions, so that readiness and slopes are nearly uncorrelated.
    let centre = if information > 0.0 { sum / information } else { 0.0 };
    fit(&by_annotator, centre)
}

#[cfg(test)]
mod tests {
    use super::super::simulated::simulated;
    use super::super::{LiveSpans, SpanAnswer, SpanTexts, WordFeatures};
    use dissensus_stats::data::ModelKind;

    /// 120 texts of known forms; the first contains a word that occurs nowhere else and that everyone marks.
    #[test]
    fn own_answers_are_not_counted_twice() {
        let mut data = simulated(120, 20, 0.7, 5);
        let mut texts = SpanTexts::new(8);
        for text in 0..120_u32 {
            let states: Vec<f32> =
                data.texts.words(text).flat_map(|word| data.texts.state(word).to_vec()).collect();
            let mut forms: Vec<u32> = data.texts.words(text).map(|word| data.texts.form(word)).collect();
            if text == 0 {
                forms[4] = 12;
            }
            texts.push(WordFeatures { states: &states, forms: &forms }).unwrap();
        }
        data.texts = texts;
        for answer in data.answers.iter_mut().filter(|answer| answer.text == 0) {
            answer.marks.retain(|(word, _)| *word != 4);
            answer.marks.push((4, 1));
            answer.marks.sort_unstable();
        }
        let all: Vec<usize> = (0..data.answers.len()).collect();
        let others: Vec<usize> = all.iter().copied().filter(|at| data.answers[*at].text != 0).collect();
        let rows: Vec<u32> = (0..120).collect();
        let learned = data.fit(ModelKind::Multilevel, &all).unwrap();
        let not_learned = data.fit(ModelKind::Multilevel, &others).unwrap();
        let people: Vec<u32> =
            (0..20).filter(|who| !data.answers.iter().any(|a| a.text == 0 && a.annotator == *who)).collect();
        let marks = |mut live: LiveSpans| {
            live.record_all(data.answers.iter().cloned());
            let expected = live.expected(0, &people).unwrap();
            expected[4].types[0].marks
        };
        let twice = marks(LiveSpans::new(&learned, &data.texts, &rows).unwrap());
        let once = marks(LiveSpans::of_learned(&learned, &data.training(&all), &rows).unwrap());
        let apart = marks(LiveSpans::new(&not_learned, &data.texts, &rows).unwrap());
        assert!((once - apart).abs() < 0.05, "{once} and {apart}, {twice} where they count twice");
        assert!(twice - apart > 2.0 * (once - apart).abs() + 0.02, "{twice} and {apart}");
    }

    /// Texts 0 and 1 have the same body with a word that occurs nowhere else; ten people marked it in text 1,
    /// one left it unmarked in text 0.
    #[test]
    fn answers_to_a_copy_inform_its_twin() {
        let mut data = simulated(60, 20, 0.7, 9);
        let mut texts = SpanTexts::new(8);
        for text in 0..60_u32 {
            let of = if text == 1 { 0 } else { text };
            let states: Vec<f32> =
                data.texts.words(of).flat_map(|word| data.texts.state(word).to_vec()).collect();
            let mut forms: Vec<u32> = data.texts.words(of).map(|word| data.texts.form(word)).collect();
            if of == 0 {
                forms[4] = 12;
            }
            texts.push(WordFeatures { states: &states, forms: &forms }).unwrap();
        }
        data.texts = texts;
        data.copies[1] = 0;
        data.answers.retain(|answer| answer.text > 1);
        for who in 0..11 {
            let (text, marks) = if who == 0 { (0, Vec::new()) } else { (1, vec![(4, 1)]) };
            data.answers.push(SpanAnswer { text, annotator: who, marks });
        }
        let all: Vec<usize> = (0..data.answers.len()).collect();
        let model = data.fit(ModelKind::Multilevel, &all).unwrap();
        let views = model.views_without_own(&data.training(&all));
        let plain = model.view(&data.texts, 0).scores[4];
        // Text 0 excludes its one answer without the mark, and retains the influence of the ten answers to
        // its copy; text 1 does not.
        let [own, copy] = [0, 1].map(|text| views[text].scores[4]);
        assert!(own >= plain && copy < plain - 0.05, "{own} and {copy}, {plain} with all answers");
    }

    #[test]
    fn untrained_texts_keep_their_scores() {
        let data = simulated(40, 8, 0.7, 6);
        let (train, _) = data.halves();
        let model = data.fit(ModelKind::Multilevel, &train).unwrap();
        let views = model.views_without_own(&data.training(&train));
        for text in 28..40 {
            assert_eq!(views[text as usize].scores, model.view(&data.texts, text).scores);
        }
        assert_ne!(views[0].scores, model.view(&data.texts, 0).scores);
    }
}
