//! Descriptions of correlations between options.

use dissensus_selection::evaluation::SetsTogether;
use dissensus_stats::disagreement::{FactorsOf, MIN_TEXTS_OF_TWO, OptionCooccurrence};
use dissensus_stats::options::{MIN_TEXTS_TO_CORRELATE, OptionCorrelations, OptionPair};

/// Maximum number of pairs that are named per sign.
const NAMED: usize = 3;
/// Pairs with a smaller absolute correlation are not named.
const WORTH_NAMING: f64 = 0.1;

/// The correlations that were found between options.
struct LearnedTogether<'a> {
    divisions: usize,
    used: usize,
    factors: usize,
    gain: Option<(f64, f64)>,
    learned_from: usize,
    pairs: &'a [OptionPair],
}

/// Describes whether correlations between options are used, what whole sets gain by it, and which options
/// are correlated: one or a few sentences without a line break.
pub fn options_together(found: &SetsTogether, options: &[String]) -> String {
    let SetsTogether { divisions, used, factors, learned_from, pairs, .. } = found;
    let gain = found.gain.zip(found.standard_error);
    let (divisions, used, factors) = (*divisions, *used, *factors);
    describe_found(
        &LearnedTogether { divisions, used, factors, gain, learned_from: *learned_from, pairs },
        options,
    )
}

/// Describes the correlations that a run has learned.
pub fn options_of_run_together(found: &OptionCorrelations, options: &[String]) -> String {
    let (factors, pairs) = (found.factors.factors(), found.factors.pairs());
    let (gain, learned_from) = (found.gain.zip(found.standard_error), found.answers);
    describe_found(
        &LearnedTogether { divisions: 1, used: factors.min(1), factors, gain, learned_from, pairs: &pairs },
        options,
    )
}

fn describe_found(found: &LearnedTogether<'_>, options: &[String]) -> String {
    let Some((gain, error)) = found.gain else {
        return format!(
            "Options are taken as independent of each other: too little was held out to tell (it takes {MIN_TEXTS_TO_CORRELATE} texts, and two options that at least \
             five answers have and five have not)."
        );
    };
    let in_each = if found.divisions > 1 { " in a division" } else { "" };
    let gains = format!(
        "{gain:.3} nats (standard error {error:.3}) on {} held-out answers{in_each}",
        found.learned_from
    );
    if found.used == 0 {
        return format!(
            "Options are taken as independent of each other: with factors that they share whole sets would gain {gains}, which is not more than chance."
        );
    }
    let of = if found.used < found.divisions {
        format!(" in {} of {} divisions", found.used, found.divisions)
    } else {
        String::new()
    };
    let factors = if found.factors == 1 { "1 shared factor" } else { "2 shared factors" };
    let named = |sign: f64| named(found.pairs, options, sign);
    let together = named(1.0).map_or_else(String::new, |pairs| format!(" They go together: {pairs}."));
    let apart = named(-1.0).map_or_else(String::new, |pairs| format!(" They exclude each other: {pairs}."));
    format!(
        "Whole sets are scored with options that go together{of} ({factors}), and gain {gains}; what is predicted of each option is unchanged.{together}{apart}"
    )
}

/// Describes whether most likely sets take correlations between options into account, which options are
/// correlated, and whether MASI distances do: sentences without a line break.
pub fn whole_sets_together(found: &OptionCooccurrence, options: &[String]) -> String {
    format!("{} {}", likely_sets(&found.correlations, options), distances(found, ""))
}

/// Describes the correlations that a run has learned, which do not include distances.
pub fn sets_of_run_together(found: Option<&OptionCorrelations>, options: &[String]) -> String {
    let sets = found.map_or_else(
        || {
            "Most likely sets take options as independent of each other: the run has not looked for more."
                .to_owned()
        },
        |found| likely_sets(found, options),
    );
    format!("{sets} MASI distances take options as independent of each other.")
}

fn likely_sets(found: &OptionCorrelations, options: &[String]) -> String {
    let factors = found.factors.factors();
    if factors == 0 {
        let why = match found.gain {
            None => "too little was held out to tell",
            Some(_) => "held-out answers do not show that they go together",
        };
        return format!("Most likely sets take options as independent of each other: {why}.");
    }
    let pairs = found.factors.pairs();
    let named: Vec<String> =
        [1.0, -1.0].into_iter().filter_map(|sign| named(&pairs, options, sign)).collect();
    let pairs = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    let factors = if factors == 1 { "1 shared factor" } else { "2 shared factors" };
    format!("Most likely sets take into account that options go together ({factors}){pairs}.")
}

/// Describes whether distances of whole answers take correlations between options into account, and which.
pub fn distances_together(found: &OptionCooccurrence, options: &[String]) -> String {
    let pairs = found.correlations.factors.pairs();
    let both = [named(&pairs, options, 1.0), named(&pairs, options, -1.0)];
    let phrases: Vec<String> = both.into_iter().flatten().collect();
    let pairs = if phrases.is_empty() { String::new() } else { format!(": {}", phrases.join(", ")) };
    distances(found, &pairs)
}

/// Describes MASI distances; `pairs` names the correlated pairs if they are not named elsewhere.
fn distances(found: &OptionCooccurrence, pairs: &str) -> String {
    match found.factors_of() {
        Some(FactorsOf::Person) => {
            format!("MASI distances take into account that options go together in what one person answers{pairs}.")
        }
        Some(FactorsOf::Text) => {
            format!("MASI distances of texts without answers take into account that options go together in a text, for every annotator{pairs}; those of other texts follow from the answers.")
        }
        None if found.correlations.gain.is_none() => {
            "MASI distances take options as independent of each other: too little was held out to tell.".to_owned()
        }
        None if found.correlations.factors.factors() == 0 => {
            "MASI distances take options as independent of each other: held-out answers do not show that they go together.".to_owned()
        }
        None if found.texts < MIN_TEXTS_OF_TWO => format!(
            "MASI distances take options as independent of each other. Within an answer they go together{pairs}; whether people's distances follow from it takes \
             {MIN_TEXTS_OF_TWO} held-out texts that two people have answered."
        ),
        None => format!(
            "MASI distances take options as independent of each other. Within an answer they go together{pairs}; distances on held-out texts are not predicted better with it."
        ),
    }
}

/// Names the pairs with the largest correlations of a sign.
fn named(pairs: &[OptionPair], options: &[String], sign: f64) -> Option<String> {
    let worth = pairs.iter().filter(|pair| pair.correlation * sign >= WORTH_NAMING);
    let name = |at: usize| options.get(at).map_or("?", String::as_str);
    let message: Vec<String> = worth
        .take(NAMED)
        .map(|pair| {
            format!("{} and {} ({:+.2})", name(pair.options.0), name(pair.options.1), pair.correlation)
        })
        .collect();
    (!message.is_empty()).then(|| message.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlated_options_are_reported_with_their_use() {
        let options: Vec<String> = ["anger", "disgust", "joy"].map(str::to_owned).to_vec();
        let pair = |options, correlation| OptionPair { options, correlation };
        let mut found = SetsTogether {
            divisions: 1,
            used: 1,
            factors: 1,
            gain: Some(0.25),
            standard_error: Some(0.02),
            learned_from: 300,
            set_log_loss: None,
            test_gain: None,
            test_standard_error: None,
            likely: Default::default(),
            pairs: vec![pair((0, 1), 0.61), pair((0, 2), -0.4), pair((1, 2), -0.05)],
        };
        assert_eq!(
            options_together(&found, &options),
            "Whole sets are scored with options that go together (1 shared factor), and gain 0.250 nats (standard error 0.020) on 300 held-out answers; what is predicted of each \
             option is unchanged. They go together: anger and disgust (+0.61). They exclude each other: anger and joy (-0.40)."
        );
        found.used = 0;
        assert!(options_together(&found, &options).contains("not more than chance"));
        found.gain = None;
        assert!(options_together(&found, &options).contains("it takes 50 texts"));
    }
}
