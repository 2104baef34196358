//! Explains a prediction in a sentence or two, before any figure.

use dissensus_api::{ExplainedAnnotator, ExplainedOdds, ScorePartKind};
use dissensus_domain::{Answer, Scale};

/// Logits below which a part is not mentioned, and from which it counts as large.
const NOTABLE: f64 = 0.25;
const LARGE: f64 = 1.5;

/// The contribution of the text, or of the person.
struct Side {
    names: Vec<&'static str>,
    value: f64,
}

/// Explains the prediction for this person: what they answered, what the text suggests, how the person
/// differs, and which of the two prevails. Empty while the prediction is hidden.
pub(super) fn sentence(person: &ExplainedAnnotator, odds: ExplainedOdds, scale: &Scale) -> String {
    if person.hidden {
        return String::new();
    }
    let asked = asked(odds, scale);
    let chance = format!("{:.0} %", 100.0 * person.probability);
    let name = &person.name;
    let first = match &person.observed {
        Some(Answer::Level(level)) => format!(
            "{name} answered {}. With that answer known, the model gives {asked} a chance of {chance}.",
            scale.name_of(*level).unwrap_or_default()
        ),
        _ if person.labels == 0 => format!(
            "{name} has no labels yet and is predicted as the average annotator: {asked} has a chance of {chance}."
        ),
        _ => format!("The model gives {asked} a chance of {chance} for {name}."),
    };
    let why = reasons(person, odds, scale);
    if why.is_empty() { first } else { format!("{first} {why}") }
}

/// The explained odds in words: "4 or above", "yes", "angry rather than sad".
fn asked(odds: ExplainedOdds, scale: &Scale) -> String {
    let name = |level: u16| scale.name_at(level).unwrap_or_default();
    match odds.against {
        Some(against) => format!("{} rather than {}", name(odds.level), name(against)),
        None if usize::from(odds.level) + 1 == scale.len() => name(odds.level).to_owned(),
        None => format!("{} or above", name(odds.level)),
    }
}

fn reasons(person: &ExplainedAnnotator, odds: ExplainedOdds, scale: &Scale) -> String {
    let part = |kind: ScorePartKind| {
        person.parts.iter().find(|found| found.part == kind).map_or(0.0, |found| found.value)
    };
    let of_text = [
        ("words", part(ScorePartKind::Words)),
        ("others' labels", part(ScorePartKind::Others)),
        ("the own answer", part(ScorePartKind::OwnLabel)),
    ];
    let ordered = odds.against.is_none() && scale.len() > 2;
    let name = |level: u16| scale.name_at(level).unwrap_or_default().to_owned();
    let towards = |up: bool| match (ordered, up) {
        (true, true) => "a high level".to_owned(),
        (true, false) => "a low level".to_owned(),
        (_, true) => name(odds.level),
        (_, false) => odds.against.map_or_else(|| name(0), name),
    };
    let pointing = |up: bool| Side {
        names: of_text
            .iter()
            .filter(|(_, v)| v.abs() >= NOTABLE && (*v > 0.0) == up)
            .map(|(n, _)| *n)
            .collect(),
        value: of_text.iter().map(|(_, v)| *v).filter(|v| (*v > 0.0) == up).sum(),
    };
    let (up, down) = (pointing(true), pointing(false));
    let (most, less, upwards) = if up.value >= -down.value { (up, down, true) } else { (down, up, false) };
    let mut message = match (most.names.is_empty(), less.names.is_empty()) {
        (true, _) => "This text is much like the average one".to_owned(),
        (false, true) => capitalised(&points(&most, &towards(upwards))),
        (false, false) => {
            let (most, less) = (points(&most, &towards(upwards)), points(&less, &towards(!upwards)));
            capitalised(&format!("{most}, but {less}"))
        }
    };
    let text: f64 = of_text.iter().map(|(_, v)| v).sum();
    let own = part(ScorePartKind::Severity)
        + part(ScorePartKind::Thresholds)
        + part(ScorePartKind::Slope)
        + part(ScorePartKind::Discrimination);
    if person.labels == 0 {
        return format!("{message}.");
    }
    let (who, level) = (&person.name, name(odds.level));
    let habit = match (ordered, own > 0.0, own.abs() >= LARGE) {
        _ if own.abs() < NOTABLE => format!("{who} answers such texts much as most people do"),
        (true, true, false) => format!("{who} gives higher levels than most"),
        (true, true, true) => format!("{who} gives far higher levels than most"),
        (true, false, false) => format!("{who} gives lower levels than most"),
        (true, false, true) => format!("{who} gives far lower levels than most"),
        (false, true, false) => format!("{who} answers {level} more readily than most"),
        (false, true, true) => format!("{who} answers {level} far more readily than most"),
        (false, false, false) => format!("{who} answers {level} less readily than most"),
        (false, false, true) => format!("{who} answers {level} far less readily than most"),
    };
    let is_one = most.names == ["the own answer"];
    let habit = match (own.abs() < NOTABLE || most.names.is_empty(), text * own > 0.0) {
        (true, _) => habit,
        (_, true) => format!("{habit}, which adds to that"),
        (_, false) => match (own.abs() > text.abs(), is_one) {
            (true, true) => format!("{habit}, and that outweighs it"),
            (true, false) => format!("{habit}, and that outweighs them"),
            (false, true) => format!("{habit}, but not enough to outweigh it"),
            (false, false) => format!("{habit}, but not enough to outweigh them"),
        },
    };
    message.push_str(&format!("; {habit}."));
    message
}

fn points(side: &Side, towards: &str) -> String {
    let names = match side.names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.join(""),
    };
    // Words and labels are plural; one answer is not.
    match (side.names == ["the own answer"], side.value.abs() >= LARGE) {
        (true, false) => format!("{names} points to {towards}"),
        (true, true) => format!("{names} points clearly to {towards}"),
        (false, false) => format!("{names} point to {towards}"),
        (false, true) => format!("{names} point clearly to {towards}"),
    }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_api::ScorePart;
    use dissensus_domain::{AnnotatorId, ScaleKind};

    fn person(parts: &[(ScorePartKind, f64)], probability: f64, observed: Option<u16>) -> ExplainedAnnotator {
        ExplainedAnnotator {
            annotator: AnnotatorId(1),
            name: "91".to_owned(),
            hidden: false,
            labels: 50,
            observed: observed.map(Answer::from_level),
            sentence: String::new(),
            distribution: Vec::new(),
            parts: parts.iter().map(|(part, value)| ScorePart { part: *part, value: *value }).collect(),
            score: 0.0,
            log_odds: 0.0,
            probability,
            others: 9,
            influences: Vec::new(),
            nearest: Vec::new(),
        }
    }

    fn ordinal() -> Scale {
        Scale::new(ScaleKind::Ordinal, ["1", "2", "3", "4", "5"].map(str::to_owned).to_vec()).unwrap()
    }

    const TWO_OR_ABOVE: ExplainedOdds = ExplainedOdds { level: 1, against: None };

    #[test]
    fn sentence_names_the_dominant_part() {
        use ScorePartKind::{Average, Others, OwnLabel, Severity, Thresholds, Words};
        let parts = [
            (Average, -0.71),
            (Words, 1.77),
            (Others, 0.7),
            (OwnLabel, -0.21),
            (Severity, -2.15),
            (Thresholds, -0.03),
        ];
        let message = sentence(&person(&parts, 0.37, None), TWO_OR_ABOVE, &ordinal());
        let expected = "The model gives 2 or above a chance of 37 % for 91. Words and others' labels point clearly to a high level; 91 gives far lower levels than most, but not enough to outweigh them.";
        assert_eq!(message, expected);
        let strict = [(Words, 0.9), (Others, 0.4), (Severity, -2.15)];
        let message = sentence(&person(&strict, 0.2, None), TWO_OR_ABOVE, &ordinal());
        assert!(
            message.ends_with(
                "point to a high level; 91 gives far lower levels than most, and that outweighs them."
            ),
            "{message}"
        );
        let alike = [(Words, -0.9), (Others, 0.4), (Severity, -0.4)];
        let message = sentence(&person(&alike, 0.2, None), TWO_OR_ABOVE, &ordinal());
        let expected = "Words point to a low level, but others' labels point to a high level; 91 gives lower levels than most, which adds to that.";
        assert!(message.ends_with(expected), "{message}");
    }

    #[test]
    fn sentence_starts_with_the_answer_if_there_is_one() {
        let parts = [(ScorePartKind::Words, 0.1), (ScorePartKind::Severity, 0.1)];
        let message = sentence(&person(&parts, 0.37, Some(0)), TWO_OR_ABOVE, &ordinal());
        let expected = "91 answered 1. With that answer known, the model gives 2 or above a chance of 37 %. This text is much like the average one; 91 answers such texts much as most people do.";
        assert_eq!(message, expected);
        let hidden = ExplainedAnnotator { hidden: true, ..person(&parts, 0.0, None) };
        assert_eq!(sentence(&hidden, TWO_OR_ABOVE, &ordinal()), "");
    }

    #[test]
    fn levels_without_an_order_are_named() {
        let scale =
            Scale::new(ScaleKind::Choice, ["calm", "angry", "sad"].map(str::to_owned).to_vec()).unwrap();
        let odds = ExplainedOdds { level: 1, against: Some(2) };
        let parts = [(ScorePartKind::Words, 2.0), (ScorePartKind::Severity, -0.5)];
        let message = sentence(&person(&parts, 0.8, None), odds, &scale);
        let expected = "The model gives angry rather than sad a chance of 80 % for 91. Words point clearly to angry; 91 answers angry less readily than most, but not enough to outweigh them.";
        assert_eq!(message, expected);
    }
}
