//! Expected disagreement of people on single words.

/// Expected decisions of a panel on one word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WordDisagreement {
    /// Expected share of people who mark it.
    pub marks: f64,
    /// Probability that two of them, drawn at random, differ.
    pub pairs: f64,
    /// Probability that they are not unanimous.
    pub differ: f64,
}

/// Computes the disagreement of people who decide independently, each with a probability to mark the word;
/// fewer than two never differ.
pub fn word_disagreement(probabilities: impl Iterator<Item = f64> + Clone) -> WordDisagreement {
    let (mut people, mut sum, mut squares, mut all, mut none) = (0.0, 0.0, 0.0, 1.0, 1.0);
    for p in probabilities {
        people += 1.0;
        sum += p;
        squares += p * p;
        all *= p;
        none *= 1.0 - p;
    }
    if people < 1.0 {
        return WordDisagreement::default();
    }
    let marks = sum / people;
    if people < 2.0 {
        return WordDisagreement { marks, ..WordDisagreement::default() };
    }
    // Sum of p_i (1 - p_j) over ordered pairs of different people.
    let ordered = sum * (people - sum) - (sum - squares);
    let pairs = (2.0 * ordered / (people * (people - 1.0))).clamp(0.0, 1.0);
    WordDisagreement { marks, pairs, differ: (1.0 - all - none).clamp(0.0, 1.0) }
}
