//! Describes who differs, and why, in sentences.

use crate::groups::MIN_PEOPLE;
use dissensus_api::{AttributeDifference, DifferenceShares, Figure, PersonDifference};
use dissensus_project::words::{decimal, interval, p_value};

/// Note for unordered levels.
pub(super) const NO_ORDER: &str =
    "The levels of this question have no order, so that nobody answers higher or lower than others.";

/// Describes what makes labels differ, or what is missing to estimate it.
pub(super) fn shares(found: &Result<DifferenceShares, String>) -> String {
    match found {
        Ok(shares) => {
            let percent = |figure: Figure| format!("{:.0} %", 100.0 * figure.value);
            format!(
                "Why labels differ: {} the text, {} the person, {} neither (what one person thinks of one text, and chance).",
                percent(shares.text),
                percent(shares.person),
                percent(shares.neither)
            )
        }
        Err(missing) => format!("Too little to tell. {missing}"),
    }
}

/// Describes what attributes explain; `known` is the number of all attributes of the people.
pub(super) fn attributes(found: &[AttributeDifference], known: usize) -> String {
    if known == 0 {
        return "Nothing is known of the people but their labels: import attributes to see which groups differ."
            .to_owned();
    }
    let tested: Vec<&AttributeDifference> = found.iter().filter(|one| one.p.is_some()).collect();
    let Some(most) = tested.iter().filter_map(|one| one.most).reduce(f64::max) else {
        return format!(
            "Too little to tell: no attribute has two values of {MIN_PEOPLE} people with labels who differ."
        );
    };
    let bound = match is_bound(most) {
        true => {
            format!("No attribute explains more than {} of the differences between people (95 %).", share(most))
        }
        false => "No upper limit can be given: with so few people one attribute may explain all differences between them."
            .to_owned(),
    };
    let shown: Vec<&AttributeDifference> = tested.iter().filter(|one| one.shown).copied().collect();
    let all = match tested.len() {
        1 => "the only attribute that can be compared".to_owned(),
        n => format!("{n} attributes, corrected for their number"),
    };
    match shown.as_slice() {
        [] => format!("No attribute is shown to explain how high people answer ({all}). {bound}"),
        [one] => {
            let name = &one.attribute;
            format!("{name} is shown to explain some of how high people answer ({all}). {bound}")
        }
        shown => {
            let names: Vec<&str> = shown.iter().map(|one| one.attribute.as_str()).collect();
            format!("{} are shown to explain some of how high people answer ({all}). {bound}", listed(&names))
        }
    }
}

/// Describes what one attribute explains, and how far apart its groups (higher, lower) are, for so many
/// `pairs` of values.
pub(super) fn attribute(found: &AttributeDifference, groups: Option<(&str, &str)>, pairs: usize) -> String {
    let (Some(explained), Some(most), Some((higher, lower))) = (found.share, found.most, groups) else {
        return match found.values {
            0 | 1 => format!(
                "Too little to tell: fewer than two of its values have {MIN_PEOPLE} people with labels."
            ),
            _ => "Too little to tell: the labels do not show that people differ.".to_owned(),
        };
    };
    let levels = |gap: Figure| format!("{} levels", decimal(gap.value, 2));
    let p = p_value(found.p);
    if !found.shown {
        let gap = found.gap.map_or_else(String::new, |gap| {
            let (size, p) = (levels(gap), p_value(gap.p));
            let p = if pairs > 1 { format!("{p}, corrected for all {pairs} pairs of values") } else { p };
            match gap.is_shown() {
                true => format!(" Its largest gap is {higher} above {lower} by {size} ({p})."),
                false => {
                    format!(" Its largest gap, {higher} above {lower} by {size}, is no more than chance brings ({p}).")
                }
            }
        });
        return format!("Not shown to explain anything ({p}); {}.{gap}", at_most(most));
    }
    let gap = match found.gap {
        Some(gap @ Figure { interval: Some(ends), .. }) => format!(
            " {higher} answers {} higher than {lower} (95 %, for all pairs together: {}).",
            levels(gap),
            interval(ends, 2, decimal)
        ),
        Some(gap) => format!(" {higher} answers {} higher than {lower}.", levels(gap)),
        None => format!(" {higher} answers highest, {lower} lowest; too few texts have labels of both."),
    };
    format!("Explains {} of the differences between people, {} ({p}).{gap}", share(explained), at_most(most))
}

/// Describes who answers higher or lower than the average person.
pub(super) fn severities(people: &[PersonDifference]) -> String {
    let shown = people.iter().filter(|one| one.shown);
    let (higher, lower): (Vec<_>, Vec<_>) = shown.partition(|one| one.severity > 0.0);
    let all = match people.len() {
        1 => "1 person".to_owned(),
        n => format!("{n} people"),
    };
    match (higher.len(), lower.len()) {
        _ if people.is_empty() => "Nobody has labels that could be compared.".to_owned(),
        (0, 0) => format!(
            "Nobody of {all} is shown to answer higher or lower than the average person, after correction for their number."
        ),
        (high, low) if high + low == people.len() => format!(
            "{high} of {all} answer higher than the average person beyond chance and {low} lower, after correction for their number."
        ),
        (high, low) => format!(
            "{high} of {all} answer higher than the average person beyond chance and {low} lower, after correction for their number; for the others there is too little to tell."
        ),
    }
}

/// Describes the embeddings that severities are based on: with others they differ.
pub(super) fn basis(encoder: Option<&str>) -> String {
    match encoder {
        Some(encoder) => format!("Severities are of a model with text embeddings by {encoder}."),
        None => "Severities are of a model without text embeddings; with them (`models encode`) they differ."
            .to_owned(),
    }
}

/// Whether an upper limit of a share says anything: it is below 100 % as printed.
fn is_bound(most: f64) -> bool {
    most < 0.995
}

/// An upper limit, or that there is none.
fn at_most(most: f64) -> String {
    match is_bound(most) {
        true => format!("{} at most", share(most)),
        false => "with too few people for an upper limit".to_owned(),
    }
}

/// A share as percent, with a decimal if it is small.
fn share(of: f64) -> String {
    if of < 0.0995 { format!("{:.1} %", 100.0 * of) } else { format!("{:.0} %", 100.0 * of) }
}

/// "age", "age and gender", "age, gender and race".
fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::AnnotatorId;

    fn found(name: &str, p: Option<f64>, shown: bool) -> AttributeDifference {
        AttributeDifference {
            attribute: name.to_owned(),
            values: 3,
            people: 60,
            share: p.map(|_| 0.04),
            most: p.map(|_| 0.12),
            p,
            shown,
            groups: None,
            gap: p.map(|p| Figure { value: 0.31, interval: Some((p - 0.05, 0.6)), p: Some(p) }),
            words: String::new(),
        }
    }

    #[test]
    fn report_says_that_no_attribute_explains_answers() {
        let message = attributes(&[found("age", Some(0.4), false), found("town", None, false)], 9);
        let expected = "No attribute is shown to explain how high people answer (the only attribute that can be compared). No attribute explains more than 12 % of the differences between people (95 %).";
        assert_eq!(message, expected);
        let unsure = Figure { value: 0.31, interval: Some((-0.2, 0.8)), p: Some(0.555) };
        let age = AttributeDifference { gap: Some(unsure), ..found("age", Some(0.4), false) };
        let message = attribute(&age, Some(("old", "young")), 15);
        let expected = "Not shown to explain anything (p 0.400); 12 % at most. Its largest gap, old above young by 0.31 levels, is no more than chance brings (p 0.555, corrected for all 15 pairs of values).";
        assert_eq!(message, expected, "the p value is the one that the verdict is of");
        assert!(attribute(&found("town", None, false), None, 15).starts_with("Too little to tell"));
        assert!(attributes(&[], 0).contains("import attributes"));
        let unbound = |p, shown| AttributeDifference { most: Some(1.0), ..found("age", Some(p), shown) };
        for shown in [true, false] {
            let one = unbound(0.01, shown);
            let message = attributes(std::slice::from_ref(&one), 9);
            assert!(message.contains("No upper limit") && !message.contains("100 %"), "{message}");
            let message = attribute(&one, Some(("old", "young")), 1);
            assert!(message.contains("too few people for an upper limit"), "{message}");
        }
        assert!(attributes(&[found("town", None, false)], 4).starts_with("Too little to tell"));
    }

    #[test]
    fn explaining_attributes_are_named_with_bounds() {
        let shown = [
            found("age", Some(0.001), true),
            found("race", Some(0.04), true),
            found("sex", Some(1.0), false),
        ];
        let message = attributes(&shown, 9);
        assert!(
            message.starts_with("age and race are shown") && message.contains("3 attributes, corrected"),
            "{message}"
        );
        assert!(message.contains("explains more than 12 %"), "{message}");
        let message = attribute(&shown[0], Some(("60+", "18-24")), 15);
        let expected = "Explains 4.0 % of the differences between people, 12 % at most (p 0.001). 60+ answers 0.31 levels higher than 18-24 (95 %, for all pairs together: −0.05 to 0.60).";
        assert_eq!(message, expected);
    }

    #[test]
    fn others_are_mentioned_where_there_are_others() {
        let person = |severity, shown| PersonDifference {
            annotator: AnnotatorId(1),
            name: String::new(),
            simulated: false,
            labels: 9,
            severity,
            shown,
        };
        let message = severities(&[person(-1.0, true), person(1.0, true)]);
        assert!(message.ends_with("after correction for their number."), "{message}");
        let message = severities(&[person(-1.0, true), person(0.1, false), person(1.0, true)]);
        assert!(message.ends_with("; for the others there is too little to tell."), "{message}");
    }
}
