//! Everybody's prediction of one text at a time: what [`PersonView::fill`] gives, with people side by side instead of texts.

use super::predictor::{PersonView, Scratch, TextColumns, keep_least};
use crate::math::fast;
use crate::mixed::link::Link;
use std::ops::Range;

/// The views of all people, one array a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    link: Link,
    people: usize,
    offsets: Vec<Vec<f32>>,
    doubt: Vec<Vec<f32>>,
    slopes: Vec<Vec<f32>>,
    /// Row-major, slopes x slopes.
    slope_doubt: Vec<Vec<f32>>,
}

impl Crowd {
    pub(crate) fn new(link: Link, slopes: usize, views: &[PersonView]) -> Self {
        let arrays = |n: usize| vec![Vec::with_capacity(views.len()); n];
        let mut crowd = Self {
            link,
            people: 0,
            offsets: arrays(link.offsets()),
            doubt: arrays(link.offsets()),
            slopes: arrays(slopes),
            slope_doubt: arrays(slopes * slopes),
        };
        views.iter().for_each(|view| crowd.push(view));
        crowd
    }

    /// One more person, behind the others.
    pub(crate) fn push(&mut self, view: &PersonView) {
        self.each(view, |array, value| array.push(value));
        self.people += 1;
    }

    /// A person's new view.
    pub(crate) fn set(&mut self, person: usize, view: &PersonView) {
        self.each(view, |array, value| array[person] = value);
    }

    fn each(&mut self, view: &PersonView, mut put: impl FnMut(&mut Vec<f32>, f32)) {
        let pairs = [
            (&mut self.offsets, &view.offsets),
            (&mut self.doubt, &view.doubt),
            (&mut self.slopes, &view.slopes),
            (&mut self.slope_doubt, &view.slope_doubt),
        ];
        for (arrays, values) in pairs {
            arrays.iter_mut().zip(values).for_each(|(array, value)| put(array, *value));
        }
    }

    pub(crate) fn people(&self) -> usize {
        self.people
    }

    /// Probabilities of `text` for the people of `range`, level-major: `out[c * range.len() + i]`.
    pub(crate) fn fill(
        &self,
        texts: &TextColumns,
        text: usize,
        range: Range<usize>,
        out: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let n = range.len();
        let out = &mut out[..n * self.link.levels];
        self.add_slopes(texts, text, range.clone(), scratch);
        if self.link.softmax {
            self.fill_softmax(texts, text, range, out, scratch);
        } else {
            self.fill_cumulative(texts.u[0][text], range, out, scratch);
        }
        keep_least(out, self.link.levels);
    }

    /// What slopes add to the score and to its doubt; without slopes nothing, and the text's own doubt.
    fn add_slopes(&self, texts: &TextColumns, text: usize, range: Range<usize>, scratch: &mut Scratch) {
        let n = range.len();
        scratch.shifted.clear();
        scratch.shifted.resize(n, 0.0);
        scratch.spread.clear();
        scratch.spread.resize(n, texts.v[text]);
        let r = self.slopes.len();
        for (slopes, z) in self.slopes.iter().zip(&texts.z) {
            let z = z[text];
            scratch.shifted.iter_mut().zip(&slopes[range.clone()]).for_each(|(u, s)| *u += s * z);
        }
        for i in 0..r {
            for j in 0..=i {
                let w = texts.z[i][text] * texts.z[j][text] * if i == j { 1.0 } else { 2.0 };
                let doubt = &self.slope_doubt[i * r + j][range.clone()];
                scratch.spread.iter_mut().zip(doubt).for_each(|(v, d)| *v += w * d);
            }
        }
    }

    fn fill_cumulative(&self, score: f32, range: Range<usize>, out: &mut [f32], scratch: &Scratch) {
        let n = range.len();
        let (levels, last) = out.split_at_mut(n * (self.link.levels - 1));
        last.fill(1.0); // holds P(y >= j) of the level before
        for ((level, offsets), doubt) in levels.chunks_exact_mut(n).zip(&self.offsets).zip(&self.doubt) {
            let people = offsets[range.clone()].iter().zip(&doubt[range.clone()]);
            let text = scratch.shifted.iter().zip(&scratch.spread);
            for (((p, above), (o, d)), (u, v)) in level.iter_mut().zip(last.iter_mut()).zip(people).zip(text)
            {
                let g = fast::sigmoid((score + u + o) / (v + d).sqrt());
                let g = if g < *above { g } else { *above };
                *p = *above - g;
                *above = g;
            }
        }
    }

    fn fill_softmax(
        &self,
        texts: &TextColumns,
        text: usize,
        range: Range<usize>,
        out: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let n = range.len();
        // Choice scales have no slopes: `shifted` is free for the largest exponent, `spread` for the sum.
        scratch.shifted.fill(f32::MIN);
        for (((x, u), offsets), doubt) in
            out.chunks_exact_mut(n).zip(&texts.u).zip(&self.offsets).zip(&self.doubt)
        {
            let u = u[text];
            let people = offsets[range.clone()].iter().zip(&doubt[range.clone()]);
            for (((x, (o, d)), v), top) in
                x.iter_mut().zip(people).zip(&scratch.spread).zip(&mut scratch.shifted)
            {
                *x = (u + o) / (v + d).sqrt();
                *top = if *x > *top { *x } else { *top };
            }
        }
        scratch.softmax(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Target;
    use crate::mixed::Crossed;
    use dissensus_domain::ScaleKind;

    #[test]
    fn a_row_of_people_is_what_their_columns_have() {
        for (kind, levels, slopes) in [
            (ScaleKind::Binary, 2, 0),
            (ScaleKind::Ordinal, 5, 2),
            (ScaleKind::Ordinal, 12, 0),
            (ScaleKind::Choice, 4, 0),
        ] {
            let link = Link::new(Target { kind, levels });
            let scores = (0..3 * link.scores()).map(|i| 0.7 - 0.3 * i as f64).collect();
            let mut crossed = Crossed::new(link, scores, 5, &[]);
            crossed.slope_dim = slopes;
            crossed.slope_vars = vec![0.3; slopes];
            crossed.z = (0..3 * slopes).map(|i| 0.5 - 0.2 * i as f64).collect();
            crossed.reset_people();
            for (nth, person) in crossed.people.iter_mut().enumerate() {
                person.theta.iter_mut().enumerate().for_each(|(i, t)| *t = 0.3 * nth as f64 - 0.2 * i as f64);
                person.covariance.iter_mut().for_each(|c| *c *= 1.0 / (nth + 1) as f64);
            }
            let columns = TextColumns::new(&crossed);
            let views: Vec<PersonView> =
                crossed.people.iter().map(|p| PersonView::new(&crossed, p)).collect();
            let mut crowd = Crowd::new(link, slopes, &views[..3]);
            crowd.push(&views[0]);
            crowd.push(&views[4]);
            crowd.set(3, &views[3]);
            assert_eq!(crowd.people(), 5);
            let (mut row, mut one) = (vec![0.0; 3 * levels], vec![0.0; levels]);
            let mut scratch = Scratch::default();
            for text in 0..3 {
                crowd.fill(&columns, text, 2..5, &mut row, &mut scratch);
                for i in 0..3 {
                    views[2 + i].fill(&columns, text..text + 1, &mut one, &mut scratch);
                    for c in 0..levels {
                        assert!(
                            (row[c * 3 + i] - one[c]).abs() < 1e-6,
                            "{kind} {levels}: text {text}, {i}, {c}"
                        );
                    }
                }
            }
        }
    }
}
