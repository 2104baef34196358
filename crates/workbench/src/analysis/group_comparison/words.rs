//! What a comparison of two groups says, in sentences.

use crate::view::{Figure, GroupAgreement};
use crate::words::counted;
use dissensus_perspectives::SidesCompared;

/// What is missing before there are figures; the sides are B and A.
pub(super) fn needs(found: &SidesCompared) -> Option<String> {
    if found.is_enough() {
        return None;
    }
    let mut missing = Vec::new();
    for (group, people) in ["A", "B"].into_iter().zip(found.people_on_shared.into_iter().rev()) {
        if people < SidesCompared::FEWEST_PEOPLE {
            let have = match people {
                0 => "nobody".to_owned(),
                1 => "one person".to_owned(),
                _ => format!("{people} people"),
            };
            missing
                .push(format!("group {group} has {have}, and {} are needed", SidesCompared::FEWEST_PEOPLE));
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

/// The gap over all texts, A less B.
pub(super) fn overall(gap: &Figure, shared: u32) -> String {
    let (higher, other, sign) = if gap.value < 0.0 { ("B", "A", -1.0) } else { ("A", "B", 1.0) };
    let size = gap.value.abs();
    let Some((low, high)) = gap.interval else {
        return format!(
            "These labels do not vary, so that nothing can be said of how sure a mean gap of {size:.2} levels is."
        );
    };
    let (low, high) = if gap.value < 0.0 { (sign * high, sign * low) } else { (low, high) };
    let found = format!(
        "{higher} is {size:.2} levels higher than {other} on average (90 %: {low:.2} to {high:.2}), on {} that both labelled.",
        counted(shared.into(), "text")
    );
    if low > 0.0 { found } else { format!("No difference in level is shown: {found}") }
}

/// How far the groups agree.
pub(super) fn agreement(equal: &GroupAgreement, beyond: Option<Figure>) -> Option<String> {
    let percent = |figure: Option<Figure>| figure.map(|figure| format!("{:.0} %", 100.0 * figure.value));
    let between = percent(equal.between)?;
    let within = [("A", equal.within_a), ("B", equal.within_b)].into_iter();
    let within: Vec<String> = within
        .filter_map(|(who, figure)| Some(format!("{} of those of two of {who}", percent(figure)?)))
        .collect();
    let verdict = match beyond.and_then(|beyond| beyond.interval) {
        Some((_, high)) if high < 0.0 => " The groups agree less with one another than within themselves.",
        Some((low, _)) if low > 0.0 => " The groups agree more with one another than within themselves.",
        Some(_) => " It is not shown that the groups agree less with one another than within themselves.",
        None => "",
    };
    let parts = std::iter::once(format!("{between} of those of one of each group")).chain(within);
    Some(format!(
        "Pairs of labels on one text are equal in {}.{verdict}",
        parts.collect::<Vec<_>>().join(", ")
    ))
}

/// Which texts differ, of so many that both labelled.
pub(super) fn texts((a_higher, b_higher): (u32, u32), shared: u32) -> String {
    let of = counted(shared.into(), "text");
    match a_higher + b_higher {
        0 => format!(
            "No text is shown to differ by more than what everybody's own severity explains, of {of} that both labelled."
        ),
        n => format!(
            "{} {} shown to differ by more than what everybody's own severity explains, of {of} that both labelled: A is higher on {a_higher}, B on {b_higher}.",
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
        let said = overall(&figure(-0.3, -0.5, -0.1), 40);
        let expected =
            "B is 0.30 levels higher than A on average (90 %: 0.10 to 0.50), on 40 texts that both labelled.";
        assert_eq!(said, expected);
        let said = overall(&figure(0.1, -0.1, 0.3), 1);
        assert!(said.starts_with("No difference in level is shown: A is 0.10 levels higher"), "{said}");
        assert!(said.contains("-0.10 to 0.30") && said.contains("1 text that"), "{said}");
    }

    #[test]
    fn agreement_is_judged_by_the_interval_of_the_difference() {
        let share = |value| Some(figure(value, value - 0.1, value + 0.1));
        let equal = GroupAgreement { within_a: share(0.5), within_b: share(0.4), between: share(0.3) };
        let said = agreement(&equal, Some(figure(-0.15, -0.2, -0.1))).unwrap();
        let expected = "Pairs of labels on one text are equal in 30 % of those of one of each group, 50 % of those of two of A, 40 % of those of two of B. The groups agree less with one another than within themselves.";
        assert_eq!(said, expected);
        let said = agreement(&equal, Some(figure(-0.05, -0.2, 0.1))).unwrap();
        assert!(said.contains("It is not shown"), "{said}");
        assert_eq!(agreement(&GroupAgreement { between: None, ..equal }, None), None);
    }

    #[test]
    fn what_is_missing_is_named() {
        let few = SidesCompared { people_on_shared: [7, 1], shared_texts: 3, ..SidesCompared::default() };
        let said = needs(&few).unwrap();
        assert!(said.contains("group A has one person") && !said.contains("group B"), "{said}");
        assert!(said.contains("3 texts have labels of both groups, and 10 are needed"), "{said}");
        let enough = SidesCompared { people_on_shared: [5, 5], shared_texts: 10, ..few };
        assert_eq!(needs(&enough), None);
    }

    #[test]
    fn texts_that_differ_are_counted() {
        assert!(texts((0, 0), 12).starts_with("No text is shown"));
        assert!(texts((1, 0), 12).starts_with("1 text is shown"));
        assert!(texts((2, 1), 12).ends_with("A is higher on 2, B on 1."));
    }
}
