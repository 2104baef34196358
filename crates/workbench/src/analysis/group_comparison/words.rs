//! What a comparison of two groups says, in sentences.

use crate::view::{Figure, GroupAgreement};
use crate::words::counted;
use dissensus_perspectives::SidesCompared;

/// What is missing before there are figures; `sides` are B and A.
pub(super) fn needs(found: &SidesCompared, [b, a]: [&str; 2]) -> Option<String> {
    if found.is_enough() {
        return None;
    }
    let mut missing = Vec::new();
    for (words, people) in [a, b].into_iter().zip(found.people_on_shared.into_iter().rev()) {
        if people < SidesCompared::FEWEST_PEOPLE {
            let have = match people {
                0 => "nobody".to_owned(),
                1 => "one person".to_owned(),
                _ => format!("{people} people"),
            };
            missing
                .push(format!("of {words} there is {have}, and {} are needed", SidesCompared::FEWEST_PEOPLE));
        }
    }
    if found.shared_texts < SidesCompared::FEWEST_TEXTS {
        let verb = if found.shared_texts == 1 { "has" } else { "have" };
        missing.push(format!(
            "{} {verb} labels of both groups, and {} are needed",
            counted(found.shared_texts as u64, "text"),
            SidesCompared::FEWEST_TEXTS
        ));
    }
    Some(format!(
        "Too little to compare, counting only people with labels on texts that both groups labelled: {}.",
        missing.join("; ")
    ))
}

/// The gap over all texts.
pub(super) fn overall(gap: &Figure, shared: u32, [a, b]: [&str; 2]) -> String {
    let (higher, size) = if gap.value < 0.0 { (b, -gap.value) } else { (a, gap.value) };
    let Some((low, high)) = gap.interval else {
        return format!(
            "The labels of {a} and {b} do not vary, so that nothing can be said of how sure their mean gap of {size:.2} levels is."
        );
    };
    let (low, high) = if gap.value < 0.0 { (-high, -low) } else { (low, high) };
    let interval = format!("{size:.2} levels higher on average (90 %: {low:.2} to {high:.2})");
    let on = format!("on {} that both labelled", counted(shared.into(), "text"));
    if low > 0.0 {
        format!("{higher} answer {interval}, {on}.")
    } else {
        format!("No difference in level is shown between {a} and {b}: {higher} answer {interval}, {on}.")
    }
}

/// How far the groups agree.
pub(super) fn agreement(equal: &GroupAgreement, beyond: Option<Figure>, [a, b]: [&str; 2]) -> Option<String> {
    let percent = |figure: Option<Figure>| figure.map(|figure| format!("{:.0} %", 100.0 * figure.value));
    let between = percent(equal.between)?;
    let within = [(a, equal.within_a), (b, equal.within_b)].into_iter();
    let within: Vec<String> =
        within.filter_map(|(who, figure)| Some(format!("two of {who} on {}", percent(figure)?))).collect();
    let known = beyond.and_then(|beyond| Some((beyond, beyond.interval?)));
    let verdict = match known {
        Some((_, (_, high))) if high < 0.0 => {
            " The groups agree less with one another than within themselves."
        }
        Some((_, (low, _))) if low > 0.0 => " The groups agree more with one another than within themselves.",
        Some(_) => " That the groups agree less with one another than within themselves is not shown.",
        None => "",
    };
    let parts = std::iter::once(format!("one of each group on {between}")).chain(within);
    Some(format!(
        "Of the pairs of labels on one text, {} are equal.{verdict}",
        parts.collect::<Vec<_>>().join(", ")
    ))
}

/// Which texts differ, of so many that both labelled.
pub(super) fn texts((a_higher, b_higher): (u32, u32), shared: u32, [a, b]: [&str; 2]) -> String {
    let of = counted(shared.into(), "text");
    match a_higher + b_higher {
        0 => format!(
            "No text is shown to differ by more than what everybody's own severity explains, of {of} that both labelled."
        ),
        n => format!(
            "{} {} shown to differ by more than what everybody's own severity explains, of {of} that both labelled: {a} higher on {a_higher}, {b} higher on {b_higher}.",
            counted(n.into(), "text"),
            if n == 1 { "is" } else { "are" },
        ),
    }
}

/// What p values are corrected for.
pub(super) fn correction(whole_attribute: Option<&str>) -> String {
    let texts = "Texts are corrected for their number (at most 5 % of those shown are false discoveries).";
    match whole_attribute {
        Some(name) => format!(
            "{texts} These groups are all values of {name}: within {name} there was nothing to pick. Whoever compares several attributes counts them too."
        ),
        None => format!(
            "{texts} They and the overall interval are of this comparison alone: whoever tries several groups and reports the most striking must say how many were tried."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, low: f64, high: f64) -> Figure {
        Figure { value, interval: Some((low, high)), p: None }
    }

    #[test]
    fn the_higher_group_is_named() {
        let said = overall(&figure(-0.3, -0.5, -0.1), 40, ["women", "men"]);
        assert_eq!(
            said,
            "men answer 0.30 levels higher on average (90 %: 0.10 to 0.50), on 40 texts that both labelled."
        );
        let said = overall(&figure(0.1, -0.1, 0.3), 1, ["women", "men"]);
        assert!(
            said.starts_with("No difference in level is shown between women and men: women answer 0.10"),
            "{said}"
        );
        assert!(said.contains("-0.10 to 0.30"), "{said}");
    }

    #[test]
    fn what_is_missing_is_named() {
        let few = SidesCompared { people_on_shared: [7, 1], shared_texts: 3, ..SidesCompared::default() };
        let said = needs(&few, ["men", "women"]).unwrap();
        assert!(said.contains("of women there is one person") && !said.contains("of men"), "{said}");
        assert!(said.contains("3 texts have labels of both groups, and 10 are needed"), "{said}");
        let enough = SidesCompared { people_on_shared: [5, 5], shared_texts: 10, ..few };
        assert_eq!(needs(&enough, ["men", "women"]), None);
    }

    #[test]
    fn texts_that_differ_are_counted() {
        assert!(texts((0, 0), 12, ["x", "y"]).starts_with("No text is shown"));
        assert!(texts((1, 0), 12, ["x", "y"]).starts_with("1 text is shown"));
        assert!(texts((2, 1), 12, ["x", "y"]).ends_with("x higher on 2, y higher on 1."));
    }
}
