//! Crossed random effects: every text's own effect and every annotator's own link, given text scores.
//!
//! The model of docs/DESIGN.md, decision 3: `f(a, t) = score_t + c_t + offsets_a (+ d_a.z_t)` with `c_t ~ N(0, text_var)`,
//! an annotator's deviations `~ N(0, prior)` and slopes `~ N(0, slope_vars)`. Variances and average offsets are found by
//! expectation maximisation (empirical Bayes). An annotator is fitted against what *others* say about each text (the
//! text's posterior without this annotator's label). The reverse does not hold: a text is fitted against annotators whose
//! posteriors include their labels of that text.

mod attributes;
pub(crate) mod crowd;
mod em;
pub(crate) mod link;
pub(crate) mod neighbours;
mod person;
pub(crate) mod points;
pub(crate) mod predictor;
pub(crate) mod quadrature;
mod severity;
mod slope;
mod text;

pub(crate) use attributes::AttributeEffects;
pub(crate) use person::Person;
pub use severity::Severity;

use crate::data::{AttributeEvidence, Observation, Target};
use crate::math::cholesky::Factor;
use crate::mixed::link::Link;
use crate::mixed::quadrature::Hermite;
use serde::{Deserialize, Serialize};
use text::TextPosterior;

/// What [`Crossed::mean_doubt`] is taken to be before anything is known.
pub(crate) fn first_doubt(link: Link) -> f64 {
    em::FIRST_TEXT_VAR + em::first_prior(link)[0]
}

/// One label as its text keeps it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TextLabel {
    pub(crate) annotator: u32,
    pub(crate) level: u16,
}

/// The whole state of the random effects; cheap to update for one text or one annotator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Crossed {
    pub(crate) link: Link,
    /// Average link parameters.
    pub(crate) base: Vec<f64>,
    /// Where every annotator's deviations start, annotators x deviations; empty where all start at 0.
    pub(crate) prior_means: Vec<f64>,
    /// What made them of attributes.
    pub(crate) attribute_effects: Option<AttributeEffects>,
    /// How attributes did, if they were tried.
    pub(crate) attribute_evidence: Option<AttributeEvidence>,
    /// Covariance of annotators' deviations, row-major.
    pub(crate) prior: Vec<f64>,
    pub(crate) text_var: f64,
    /// Variance of each slope; empty where slopes have no evidence.
    pub(crate) slope_vars: Vec<f64>,
    /// Slope features of every text, texts x slope_dim; empty without slopes.
    pub(crate) z: Vec<f64>,
    pub(crate) slope_dim: usize,
    /// Prior mean of every text's scores, texts x q.
    pub(crate) scores: Vec<f64>,
    /// Posterior mean of every text's scores, texts x q.
    pub(crate) u: Vec<f64>,
    /// Posterior variance of every text's scores (mean over scores).
    pub(crate) v: Vec<f64>,
    /// Labels of every text, ordered by annotator.
    pub(crate) labels: Vec<Vec<TextLabel>>,
    /// For every label of every text: q posterior means and one variance without that label.
    cavity: Vec<Vec<f64>>,
    pub(crate) people: Vec<Person>,
    #[serde(skip, default = "Hermite::new")]
    rule: Hermite,
}

impl Crossed {
    /// Effects of `observations` (sorted) on `scores` (texts x q), all at their prior means.
    pub(crate) fn new(link: Link, scores: Vec<f64>, annotators: usize, observations: &[Observation]) -> Self {
        let q = link.scores();
        let texts = scores.len() / q;
        let mut labels = vec![Vec::new(); texts];
        let mut people = vec![Person::average(link, 0); annotators];
        let mut counts = vec![0.0; link.levels];
        for o in observations {
            labels[o.text as usize].push(TextLabel { annotator: o.annotator, level: o.level });
            people[o.annotator as usize].labels.push((o.text, o.level));
            counts[usize::from(o.level)] += 1.0;
        }
        let cavity = labels.iter().map(|l: &Vec<TextLabel>| vec![0.0; l.len() * (q + 1)]).collect();
        let mut crossed = Self {
            link,
            base: link.base_from(&counts),
            prior_means: Vec::new(),
            attribute_effects: None,
            attribute_evidence: None,
            prior: em::first_prior(link),
            text_var: em::FIRST_TEXT_VAR,
            slope_vars: Vec::new(),
            z: Vec::new(),
            slope_dim: 0,
            u: scores.clone(),
            v: vec![em::FIRST_TEXT_VAR; texts],
            scores,
            labels,
            cavity,
            people,
            rule: Hermite::new(),
        };
        crossed.reset_people();
        crossed
    }

    pub(crate) fn texts(&self) -> usize {
        self.v.len()
    }

    /// Deviations and slopes of one person.
    pub(crate) fn width(&self) -> usize {
        self.link.deviations() + self.slope_dim
    }

    /// Slope features of one text.
    pub(crate) fn features(&self, text: usize) -> &[f64] {
        &self.z[text * self.slope_dim..(text + 1) * self.slope_dim]
    }

    /// Prior covariance of deviations and slopes together, row-major.
    pub(crate) fn full_prior(&self) -> Vec<f64> {
        let (d, w) = (self.link.deviations(), self.width());
        let mut full = vec![0.0; w * w];
        for i in 0..d {
            full[i * w..i * w + d].copy_from_slice(&self.prior[i * d..(i + 1) * d]);
        }
        for (i, variance) in (d..w).zip(&self.slope_vars) {
            full[i * w + i] = *variance;
        }
        full
    }

    /// Its inverse.
    pub(crate) fn full_precision(&self) -> Vec<f64> {
        Factor::new(&self.full_prior(), self.width()).inverse()
    }

    /// Puts everybody back to the average with the prior's doubt.
    pub(crate) fn reset_people(&mut self) {
        let prior = self.full_prior();
        for annotator in 0..self.people.len() {
            self.people[annotator].theta = self.start(annotator);
            self.people[annotator].covariance.clone_from(&prior);
        }
    }

    /// Prior mean of one person's deviations and slopes.
    pub(crate) fn start(&self, annotator: usize) -> Vec<f64> {
        let mut start = vec![0.0; self.width()];
        let d = self.link.deviations();
        if let Some(mean) = self.prior_means.get(annotator * d..(annotator + 1) * d) {
            start[..d].copy_from_slice(mean);
        }
        start
    }

    /// Prior mean of somebody new with these attribute values.
    pub(crate) fn start_of(&self, values: &[Option<u16>]) -> Vec<f64> {
        let mut start = vec![0.0; self.width()];
        if let Some(effects) = &self.attribute_effects {
            let d = self.link.deviations();
            start[..d].copy_from_slice(&effects.mean(values, d));
        }
        start
    }

    /// Adds somebody about whom nothing is known.
    pub(crate) fn push_person(&mut self) {
        let mut person = Person::average(self.link, self.slope_dim);
        person.covariance = self.full_prior();
        self.people.push(person);
        if !self.prior_means.is_empty() {
            self.prior_means.resize(self.people.len() * self.link.deviations(), 0.0);
        }
    }

    /// Fits one annotator to the current texts.
    pub(crate) fn update_person(&mut self, annotator: usize, precision: &[f64]) {
        let fitted = self.fitted_person(annotator, precision);
        self.people[annotator].theta = fitted.0;
        self.people[annotator].covariance = fitted.1;
    }

    fn fitted_person(&self, annotator: usize, precision: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let person = &self.people[annotator];
        let labels: Vec<person::PersonLabel<'_>> = person
            .labels
            .iter()
            .filter_map(|&(text, level)| self.person_label(annotator, text, level))
            .collect();
        person::fit(self.link, &self.base, precision, &labels, &self.start(annotator), &person.theta)
    }

    /// What others say about `text`, seen by `annotator`.
    fn person_label(&self, annotator: usize, text: u32, level: u16) -> Option<person::PersonLabel<'_>> {
        let (t, q) = (text as usize, self.link.scores());
        let at = self.labels[t].binary_search_by_key(&(annotator as u32), |l| l.annotator).ok()?;
        let cavity = &self.cavity[t][at * (q + 1)..(at + 1) * (q + 1)];
        let flatten = crate::math::flatten(cavity[q]);
        Some(person::PersonLabel { u: &cavity[..q], flatten, z: self.features(t), level })
    }

    /// Re-estimates one text's effect from its labels and the current annotators.
    pub(crate) fn update_text(&mut self, text: usize) {
        let posterior = self.fitted_text(text);
        self.set_text(text, posterior);
    }

    fn fitted_text(&self, text: usize) -> TextPosterior {
        let q = self.link.scores();
        let prior_mean = &self.scores[text * q..(text + 1) * q];
        let views: Vec<text::LabelView> = self.labels[text]
            .iter()
            .map(|l| text::LabelView::new(self, &self.people[l.annotator as usize], text, l.level))
            .collect();
        text::fit(self.link, prior_mean, self.text_var, &views, &self.rule)
    }

    fn set_text(&mut self, text: usize, posterior: TextPosterior) {
        let q = self.link.scores();
        self.u[text * q..(text + 1) * q].copy_from_slice(&posterior.mean);
        self.v[text] = posterior.variance;
        self.cavity[text] = posterior.cavity;
    }

    /// Adds a text that nobody has labelled.
    pub(crate) fn push_text(&mut self, u: &[f64], z: &[f64]) {
        self.scores.extend_from_slice(u);
        self.u.extend_from_slice(u);
        self.z.extend_from_slice(z);
        self.v.push(self.text_var);
        self.labels.push(Vec::new());
        self.cavity.push(Vec::new());
    }

    /// Says what does not fit together in a state that was read from bytes.
    pub(crate) fn check(&self, target: Target) -> Result<(), &'static str> {
        let (q, texts, width) = (self.link.scores(), self.texts(), self.width());
        let sizes = self.link == Link::new(target)
            && self.base.len() == self.link.offsets()
            && self.prior.len() == self.link.deviations().pow(2)
            && (self.prior_means.is_empty()
                || self.prior_means.len() == self.people.len() * self.link.deviations())
            && self.attribute_effects.as_ref().is_none_or(|e| e.fits(self.link.deviations()))
            && self.scores.len() == texts * q
            && self.u.len() == texts * q
            && self.z.len() == texts * self.slope_dim
            && self.slope_vars.len() == self.slope_dim
            && self.labels.len() == texts
            && self.cavity.len() == texts;
        let people = self.people.iter().all(|p| {
            p.theta.len() == width
                && p.covariance.len() == width * width
                && p.labels.iter().all(|&(t, l)| (t as usize) < texts && usize::from(l) < target.levels)
        });
        let labels = self.labels.iter().zip(&self.cavity).all(|(l, c)| {
            c.len() == l.len() * (q + 1)
                && l.iter().all(|l| {
                    (l.annotator as usize) < self.people.len() && usize::from(l.level) < target.levels
                })
        });
        if sizes && people && labels { Ok(()) } else { Err("its parts do not fit together") }
    }

    /// Deviations of everybody, annotators x deviations.
    pub(crate) fn deviations(&self) -> Vec<f64> {
        let d = self.link.deviations();
        self.people.iter().flat_map(|p| p.theta[..d].iter().copied()).collect()
    }

    /// Variance that the average label's score has given the head: the text's effect and the doubt about the person.
    pub(crate) fn mean_doubt(&self) -> f64 {
        let (mut sum, mut n) = (0.0, 0.0);
        for person in &self.people {
            sum += person.covariance[0] * person.labels.len() as f64;
            n += person.labels.len() as f64;
        }
        self.text_var + if n > 0.0 { sum / n } else { 0.0 }
    }

    /// Adds, replaces or (with `None`) removes a label; returns the level that stood there before.
    pub(crate) fn set_label(&mut self, text: u32, annotator: u32, level: Option<u16>) -> Option<u16> {
        let t = text as usize;
        let own = &mut self.people[annotator as usize].labels;
        match own.binary_search_by_key(&text, |l| l.0) {
            Ok(at) => match level {
                Some(level) => own[at].1 = level,
                None => drop(own.remove(at)),
            },
            Err(at) => {
                if let Some(level) = level {
                    own.insert(at, (text, level));
                }
            }
        }
        let labels = &mut self.labels[t];
        match labels.binary_search_by_key(&annotator, |l| l.annotator) {
            Ok(at) => {
                let before = labels[at].level;
                match level {
                    Some(level) => labels[at].level = level,
                    None => drop(labels.remove(at)),
                }
                Some(before)
            }
            Err(at) => {
                if let Some(level) = level {
                    labels.insert(at, TextLabel { annotator, level });
                }
                None
            }
        }
    }
}
