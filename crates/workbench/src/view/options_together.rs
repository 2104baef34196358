//! Options that go together, in words.

use dissensus_perspectives::{FEWEST_TEXTS_TO_CORRELATE, OptionPair, SetsTogether};

/// Pairs that are named either way at most.
const NAMED: usize = 3;
/// A pair with a correlation nearer to 0 is not named.
const WORTH_NAMING: f64 = 0.1;

/// Whether it is used that options go together, what whole sets gain by it, and which options do: one or a few sentences without a line's end.
pub(crate) fn options_together(found: &SetsTogether, options: &[String]) -> String {
    let (Some(gain), Some(error)) = (found.gain, found.standard_error) else {
        return format!(
            "Options are taken as independent of each other: too little was held out to tell (it takes {FEWEST_TEXTS_TO_CORRELATE} texts, and two options that at least \
             five answers have and five have not)."
        );
    };
    let gains =
        format!("{gain:.3} nats (standard error {error:.3}) on {} held-out answers", found.learned_from);
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
    let named = |sign: f64| named(&found.pairs, options, sign);
    let together = named(1.0).map_or_else(String::new, |pairs| format!(" They go together: {pairs}."));
    let apart = named(-1.0).map_or_else(String::new, |pairs| format!(" They exclude each other: {pairs}."));
    format!("That options go together is used{of} ({factors}): whole sets gain {gains}.{together}{apart}")
}

/// The pairs with the largest correlations of a sign.
fn named(pairs: &[OptionPair], options: &[String], sign: f64) -> Option<String> {
    let worth = pairs.iter().filter(|pair| pair.correlation * sign >= WORTH_NAMING);
    let name = |at: usize| options.get(at).map_or("?", String::as_str);
    let said: Vec<String> = worth
        .take(NAMED)
        .map(|pair| {
            format!("{} and {} ({:+.2})", name(pair.options.0), name(pair.options.1), pair.correlation)
        })
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_found_and_whether_it_is_used() {
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
            "That options go together is used (1 shared factor): whole sets gain 0.250 nats (standard error 0.020) on 300 held-out answers. \
             They go together: anger and disgust (+0.61). They exclude each other: anger and joy (-0.40)."
        );
        found.used = 0;
        assert!(options_together(&found, &options).contains("not more than chance"));
        found.gain = None;
        assert!(options_together(&found, &options).contains("it takes 50 texts"));
    }
}
