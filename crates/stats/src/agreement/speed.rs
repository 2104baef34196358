//! Detects people who answer faster than the others on texts of the same length.

use crate::data::ModelError;
use crate::math::distributions::student_tail;

/// Minimum number of timed labels of a person for a result about that person's speed.
pub const MIN_TIMED_LABELS: usize = 20;
/// Minimum number of other people with that many labels for a comparison.
const MIN_OTHERS: usize = 5;
/// Probability that anyone is flagged where all people work alike (Bonferroni): among six people or more each
/// is flagged with less than 1 %.
const FALSE_ALARMS: f64 = 0.05;
/// Upper limit of a flagged person's share of the others' time, however similar the others are.
const MAX_PACE: f64 = 0.5;
/// People whose times differ by less than a thousandth were not timed: their spread is not a valid
/// comparison.
const MIN_VARIANCE: f64 = 1e-6;
/// The standard error of a median of normal values, in units of the standard error of their mean.
const MEDIAN_ERROR: f64 = 1.2533;

/// Time that an annotator looked at a text before answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedLabel {
    /// Index of the annotator.
    pub annotator: u32,
    /// Characters of the text.
    pub characters: u32,
    /// Time in milliseconds.
    pub milliseconds: u32,
}

/// One annotator's speed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Number of labels with a known time.
    pub labels: usize,
    /// Median time of these labels, in seconds; `None` without one.
    pub seconds: Option<f64>,
    /// Set if the speed is far above that of the others.
    pub too_fast: Option<TooFast>,
}

/// An annotator who answers faster than the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooFast {
    /// The others' median time on texts of the same length, in seconds.
    pub others_seconds: f64,
    /// One-sided p value of being so far below the others, not corrected for the number of people compared.
    pub p: f64,
    /// Number of compared people.
    pub people: usize,
}

/// Every annotator's speed. Times are compared on a logarithmic scale, adjusted for the length of the texts
/// (least squares within people); a person's speed is the median of the residuals. A person is too fast if
/// their speed is so far below the others' that a new person drawn from a normal distribution of the others
/// would be there with a probability of 5 % over the number of people compared (a prediction interval by
/// Student's t, including the error of the person's own median), and they need half of the others' time or
/// less. Costs a sort of the labels.
///
/// # Errors
/// An annotator out of range.
pub fn speeds(labels: &[TimedLabel], annotators: usize) -> Result<Vec<Speed>, ModelError> {
    let mut own: Vec<Vec<(f64, f64)>> = vec![Vec::new(); annotators];
    for (observation, label) in labels.iter().enumerate() {
        let annotator = label.annotator;
        let unknown = ModelError::UnknownAnnotator { observation, annotator, annotators };
        let of = own.get_mut(annotator as usize).ok_or(unknown)?;
        of.push((f64::from(label.characters.max(1)).ln(), f64::from(label.milliseconds.max(1)).ln()));
    }
    let slope = slope_within(&own);
    let people: Vec<Option<Person>> = own.iter().map(|labels| Person::of(labels, slope)).collect();
    let compared: Vec<&Person> = people.iter().flatten().collect();
    let speed = |(labels, person): (&Vec<(f64, f64)>, &Option<Person>)| Speed {
        labels: labels.len(),
        seconds: median(labels.iter().map(|(_, time)| *time).collect()).map(|log| log.exp() / 1000.0),
        too_fast: person.as_ref().and_then(|person| person.too_fast(&compared)),
    };
    Ok(own.iter().zip(&people).map(speed).collect())
}

/// A person with enough timed labels.
#[derive(Clone, Copy, Debug)]
struct Person {
    /// Median of the logarithms of the times, adjusted for the texts' length.
    pace: f64,
    /// Its squared standard error.
    variance: f64,
    /// Median of the logarithms of the times.
    time: f64,
}

impl Person {
    fn of(labels: &[(f64, f64)], slope: f64) -> Option<Self> {
        if labels.len() < MIN_TIMED_LABELS {
            return None;
        }
        let left: Vec<f64> = labels.iter().map(|(length, time)| time - slope * length).collect();
        let pace = median(left.clone())?;
        // 1.4826 times the median deviation is the standard deviation of normal values, robust against a few
        // long breaks.
        let spread = 1.4826 * median(left.iter().map(|value| (value - pace).abs()).collect())?;
        let variance = (MEDIAN_ERROR * spread).powi(2) / labels.len() as f64;
        let time = median(labels.iter().map(|(_, time)| *time).collect())?;
        Some(Self { pace, variance, time })
    }

    fn too_fast(&self, compared: &[&Self]) -> Option<TooFast> {
        let at = compared.iter().position(|other| std::ptr::eq(*other, self))?;
        let others: Vec<&Self> =
            compared.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, o)| *o).collect();
        if others.len() < MIN_OTHERS {
            return None;
        }
        let n = others.len() as f64;
        let mean = others.iter().map(|other| other.pace).sum::<f64>() / n;
        let between = others.iter().map(|other| (other.pace - mean).powi(2)).sum::<f64>() / (n - 1.0);
        // The others' spread already includes the errors of their own medians.
        let usual_error = others.iter().map(|other| other.variance).sum::<f64>() / n;
        let variance = between * (1.0 + 1.0 / n) + (self.variance - usual_error).max(0.0);
        let behind = mean - self.pace;
        if behind < -MAX_PACE.ln() || variance < MIN_VARIANCE {
            return None;
        }
        // Twice the upper tail is the two-sided one.
        let p = student_tail(behind / variance.sqrt(), others.len() - 1) / 2.0;
        let people = compared.len();
        (p * people as f64 <= FALSE_ALARMS).then(|| TooFast {
            others_seconds: (self.time + behind).exp() / 1000.0,
            p,
            people,
        })
    }
}

/// Slope of the logarithm of the time on that of the length, limited to 0 to 1: least squares on the
/// variation within people.
fn slope_within(own: &[Vec<(f64, f64)>]) -> f64 {
    let (mut xx, mut xy) = (0.0, 0.0);
    for labels in own {
        let n = labels.len() as f64;
        let x = labels.iter().map(|(x, _)| x).sum::<f64>() / n;
        let y = labels.iter().map(|(_, y)| y).sum::<f64>() / n;
        xx += labels.iter().map(|l| (l.0 - x).powi(2)).sum::<f64>();
        xy += labels.iter().map(|l| (l.0 - x) * (l.1 - y)).sum::<f64>();
    }
    if xx > 0.0 { (xy / xx).clamp(0.0, 1.0) } else { 0.0 }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (n > 0).then(|| (values[(n - 1) / 2] + values[n / 2]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    type Pace = fn(&mut ChaCha8Rng) -> f64;

    fn normal(rng: &mut ChaCha8Rng) -> f64 {
        StandardNormal.sample(rng)
    }

    /// Double exponential of variance 1: people vary more widely than under a normal distribution.
    fn laplace(rng: &mut ChaCha8Rng) -> f64 {
        let u: f64 = rng.random_range(-0.499_999..0.499_999);
        -u.signum() * (1.0 - 2.0 * u.abs()).ln() / 2.0_f64.sqrt()
    }

    /// Times that increase with the length of the texts, occasionally with a break of minutes. `pace` is each
    /// person's own, of standard deviation 1.
    fn simulated(
        people: usize,
        labels: std::ops::Range<usize>,
        spread: f64,
        pace: Pace,
        rng: &mut ChaCha8Rng,
    ) -> Vec<TimedLabel> {
        let mut all = Vec::new();
        for annotator in 0..people as u32 {
            let own = spread * pace(rng);
            for _ in 0..rng.random_range(labels.clone()) {
                let characters = (60.0 * (0.8 * normal(rng)).exp()).max(5.0);
                let away = if rng.random_bool(0.03) { 30.0 } else { 1.0 };
                let seconds = away * (own + 0.5 * normal(rng)).exp() * (1.5 + characters / 25.0);
                let milliseconds = (1000.0 * seconds) as u32;
                all.push(TimedLabel { annotator, characters: characters as u32, milliseconds });
            }
        }
        all
    }

    #[test]
    fn at_most_one_percent_of_honest_people_are_flagged() {
        let designs: [(usize, std::ops::Range<usize>, f64, Pace); 5] = [
            (8, 20..60, 0.4, normal),
            (30, 20..200, 0.4, normal),
            (12, 30..31, 0.8, normal),
            (30, 20..200, 0.6, laplace),
            (100, 20..50, 0.5, laplace),
        ];
        for (people, labels, spread, pace) in designs {
            let (mut flagged, mut all) = (0, 0);
            for seed in 0..100 {
                let mut rng = ChaCha8Rng::seed_from_u64(40 + seed);
                let times = simulated(people, labels.clone(), spread, pace, &mut rng);
                let found = speeds(&times, people).unwrap();
                all += found.len();
                flagged += found.iter().filter(|speed| speed.too_fast.is_some()).count();
            }
            eprintln!("{flagged} of {all}: {people} people, {labels:?} labels");
            assert!(100 * flagged <= all, "{flagged} of {all}: {people} people, {labels:?} labels");
        }
    }

    /// A person who answers within a second, regardless of the text, among people who read.
    #[test]
    fn too_fast_annotator_is_found() {
        let mut found = 0;
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(900 + seed);
            let mut times = simulated(12, 30..60, 0.3, normal, &mut rng);
            for time in times.iter_mut().filter(|time| time.annotator == 3) {
                time.milliseconds = rng.random_range(300..900);
            }
            let speeds = speeds(&times, 12).unwrap();
            let fast: Vec<usize> = (0..12).filter(|a| speeds[*a].too_fast.is_some()).collect();
            assert!(fast.iter().all(|who| *who == 3), "{fast:?}");
            if let Some(flag) = speeds[3].too_fast {
                found += 1;
                let seconds = speeds[3].seconds.unwrap();
                assert!(seconds < 1.0 && flag.others_seconds > 2.0 * seconds, "{flag:?}");
                assert!(flag.p * 12.0 <= 0.05 && flag.people == 12);
            }
        }
        assert!(found >= 18, "{found} of 20");
    }

    /// Short texts take less time: annotators who got them are not faster because of it.
    #[test]
    fn short_texts_do_not_cause_flags() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut times = Vec::new();
        for annotator in 0..10 {
            for i in 0..40 {
                let characters = if annotator == 0 { 10 + i } else { 300 + 10 * i };
                let milliseconds = (f64::from(characters) * 40.0 * (0.3 * normal(&mut rng)).exp()) as u32;
                times.push(TimedLabel { annotator, characters, milliseconds });
            }
        }
        assert!(speeds(&times, 10).unwrap().iter().all(|speed| speed.too_fast.is_none()));
    }

    /// Too few labels, too few others, times of zero and people who are all alike.
    #[test]
    fn too_little_data_gives_no_flag() {
        let one = |annotator, milliseconds| TimedLabel { annotator, characters: 50, milliseconds };
        let many = |people: u32, labels: usize, fast: u32| -> Vec<TimedLabel> {
            let of = |a: u32| (0..labels).map(move |_| one(a, if a == 0 { fast } else { 9000 }));
            (0..people).flat_map(of).collect()
        };
        let flags = |times: &[TimedLabel], people: usize| {
            speeds(times, people).unwrap().iter().filter(|s| s.too_fast.is_some()).count()
        };
        assert_eq!(flags(&[], 0), 0);
        assert_eq!(speeds(&[], 2).unwrap(), [Speed::default(); 2]);
        assert_eq!(flags(&many(20, MIN_TIMED_LABELS - 1, 0), 20), 0);
        assert_eq!(flags(&many(MIN_OTHERS as u32, 40, 0), MIN_OTHERS), 0);
        // People without any spread give no measure of the variation between people.
        assert_eq!(flags(&many(20, 40, 0), 20), 0);
        assert!(speeds(&[one(3, 5)], 3).is_err());
    }
}
