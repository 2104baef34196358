//! Describes the results of a comparison of two groups in sentences.

use dissensus_api::{Figure, GroupAgreement};
use dissensus_project::words::{counted, decimal, interval, p_value, signed};
use dissensus_stats::disagreement::{SideAgreement, SidesCompared};

/// What is missing for the figures; the sides are B and A.
pub(super) fn needs(found: &SidesCompared) -> Option<String> {
    if found.is_enough() {
        return None;
    }
    let mut missing = Vec::new();
    for (group, people) in ["A", "B"].into_iter().zip(found.people_on_shared.into_iter().rev()) {
        if people < SidesCompared::MIN_PEOPLE {
            let have = match people {
                0 => "nobody".to_owned(),
                1 => "one person".to_owned(),
                _ => format!("{people} people"),
            };
            missing.push(format!("group {group} has {have}, and {} are needed", SidesCompared::MIN_PEOPLE));
        }
    }
    if found.shared_texts < SidesCompared::MIN_TEXTS {
        missing.push(match found.shared_texts {
            1 => format!("1 text has labels of both groups, and {} are needed", SidesCompared::MIN_TEXTS),
            n => format!("{n} texts have labels of both groups, and {} are needed", SidesCompared::MIN_TEXTS),
        });
    }
    Some(format!(
        "Too little to compare, counting only people with labels on texts that both groups labelled: {}.",
        missing.join("; ")
    ))
}

/// Describes the gap over all texts, A minus B, and the same corrected for so many pairs of groups.
pub(super) fn overall(gap: &Figure, shared: u32, corrected: Option<(Figure, usize)>) -> String {
    let (higher, other, sign) = if gap.value < 0.0 { ("B", "A", -1.0) } else { ("A", "B", 1.0) };
    let size = gap.value.abs();
    let Some((low, high)) = gap.interval else {
        return format!(
            "These labels do not vary, so that the uncertainty of a mean gap of {size:.2} levels cannot be estimated."
        );
    };
    let ends = if gap.value < 0.0 { (sign * high, sign * low) } else { (low, high) };
    let ends = interval(ends, 2, decimal);
    let on = format!("on {} that both labelled", counted(shared.into(), "text"));
    let p = p_value(gap.p);
    let alone = if gap.is_shown() {
        format!("{higher} answers {size:.2} levels higher than {other} on average (95 %: {ends}; {p}), {on}.")
    } else {
        format!(
            "It is not shown that one group answers higher: {higher} is {size:.2} levels above {other} on average (95 %: {ends}; {p}), {on}."
        )
    };
    let Some((corrected, pairs)) = corrected else { return alone };
    let conclusion = match (gap.is_shown(), corrected.is_shown()) {
        (_, true) => "so that it is significant",
        (true, false) => "so that it is no more than chance brings where the widest of them is picked",
        (false, false) => "so that it is not significant",
    };
    let corrected = format!(
        "Corrected for all {pairs} pairs of values of attributes, of which any may be picked: {}, {conclusion}.",
        p_value(corrected.p)
    );
    format!("{alone} {corrected}")
}

/// Describes how far the groups agree.
pub(super) fn agreement(equal: &GroupAgreement, beyond: Option<Figure>, with_alpha: bool) -> Option<String> {
    let percent = |figure: Option<Figure>| figure.map(|figure| format!("{:.0} %", 100.0 * figure.value));
    let across = percent(equal.between)?;
    let within = [("A", equal.within_a), ("B", equal.within_b)].into_iter();
    let within = within.filter_map(|(who, figure)| Some(format!("{} within {who}", percent(figure)?)));
    let verdict = match beyond.and_then(|beyond| Some((beyond, beyond.interval?))) {
        Some((beyond, (low, high))) => {
            let verdict = match (beyond.is_shown(), beyond.value < 0.0) {
                (true, true) => "The groups agree less with one another than within themselves",
                (true, false) => "The groups agree more with one another than within themselves",
                (false, _) => {
                    "It is not shown that the groups agree less or more with one another than within themselves"
                }
            };
            format!(
                " {verdict} ({} points, 95 %: {}; {}).",
                signed(100.0 * beyond.value, 1),
                interval((100.0 * low, 100.0 * high), 1, signed),
                p_value(beyond.p)
            )
        }
        None => String::new(),
    };
    let alpha = if with_alpha {
        String::new()
    } else {
        format!(" Alpha is left out above {} levels.", SideAgreement::MAX_LEVELS)
    };
    let parts: Vec<String> = within.chain([format!("{across} across the groups")]).collect();
    Some(format!(
        "Two people give the same answer to a text this often: {}.{verdict}{alpha}",
        parts.join(", ")
    ))
}

/// Describes how many texts differ, among those that both labelled.
pub(super) fn texts((a_higher, b_higher): (u32, u32), shared: u32) -> String {
    let of = counted(shared.into(), "text");
    match a_higher + b_higher {
        0 => format!(
            "No single text separates the groups beyond how strict their members are anyway, of {of} that both labelled."
        ),
        1 => format!(
            "1 text separates the groups beyond how strict their members are anyway, of {of} that both labelled: A is higher on {a_higher}, B on {b_higher}."
        ),
        n => format!(
            "{n} texts separate the groups beyond how strict their members are anyway, of {of} that both labelled: A is higher on {a_higher}, B on {b_higher}."
        ),
    }
}

/// Describes what p values are corrected for.
pub(super) fn correction(whole_attribute: Option<&str>) -> String {
    let texts = "A difference over all texts is shown where its 95 % interval leaves out 0; that interval is of this comparison alone. Of single texts those are shown that hold after correction for their number (at most 5 % of them are false discoveries); the list by group gap also counts differences that severity alone explains.";
    match whole_attribute {
        Some(name) => format!(
            "{texts} These groups are all values of {name}: within {name} there was nothing to pick. If you compare several attributes, count them too."
        ),
        None => format!(
            "{texts} If you try several groups and report the most striking one, report how many you tried."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, low: f64, high: f64, p: f64) -> Figure {
        Figure { value, interval: Some((low, high)), p: Some(p) }
    }

    #[test]
    fn higher_group_is_named() {
        let message = overall(&figure(-0.3, -0.5, -0.1, 0.0204), 40, None);
        let expected = "B answers 0.30 levels higher than A on average (95 %: 0.10 to 0.50; p 0.020), on 40 texts that both labelled.";
        assert_eq!(message, expected);
        let message = overall(&figure(0.2, -0.01, 0.41, 0.06), 40, None);
        let expected = "It is not shown that one group answers higher: A is 0.20 levels above B on average (95 %: −0.01 to 0.41; p 0.060), on 40 texts that both labelled.";
        assert_eq!(message, expected);
        // The overview of who differs reports the same gap as no more than expected by chance: by the same
        // corrected p value.
        let message = overall(&figure(0.3, 0.02, 0.58, 0.037), 40, Some((figure(0.3, -0.1, 0.7, 0.555), 15)));
        let expected = "A answers 0.30 levels higher than B on average (95 %: 0.02 to 0.58; p 0.037), on 40 texts that both labelled. Corrected for all 15 pairs of values of attributes, of which any may be picked: p 0.555, so that it is no more than chance brings where the widest of them is picked.";
        assert_eq!(message, expected);
        let message =
            overall(&figure(0.3, 0.2, 0.4, 0.0001), 40, Some((figure(0.3, 0.15, 0.45, 0.0015), 15)));
        assert!(message.ends_with("p 0.002, so that it is significant."), "{message}");
        let message = overall(&figure(0.1, -0.1, 0.3, 0.4), 1, None);
        assert!(message.contains("−0.10 to 0.30") && message.contains("1 text that"), "{message}");
    }

    #[test]
    fn agreement_verdict_follows_the_interval() {
        let share = |value| Some(Figure { p: None, ..figure(value, value - 0.1, value + 0.1, 0.0) });
        let equal = GroupAgreement { within_a: share(0.5), within_b: share(0.4), between: share(0.3) };
        let message = agreement(&equal, Some(figure(-0.15, -0.2, -0.1, 0.0001)), true).unwrap();
        let expected = "Two people give the same answer to a text this often: 50 % within A, 40 % within B, 30 % across the groups. The groups agree less with one another than within themselves (−15.0 points, 95 %: −20.0 to −10.0; p < 0.001).";
        assert_eq!(message, expected);
        let message = agreement(&equal, Some(figure(-0.05, -0.1, 0.001, 0.055)), true).unwrap();
        assert!(
            message.contains("It is not shown") && message.contains("−10.0 to +0.1; p 0.055"),
            "{message}"
        );
        let message = agreement(&equal, Some(figure(0.05, 0.01, 0.09, 0.04)), false).unwrap();
        assert!(
            message.contains("agree more") && message.ends_with("Alpha is left out above 12 levels."),
            "{message}"
        );
        assert_eq!(agreement(&GroupAgreement { between: None, ..equal }, None, true), None);
    }

    #[test]
    fn missing_people_and_texts_are_named() {
        let few = SidesCompared { people_on_shared: [7, 1], shared_texts: 3, ..SidesCompared::default() };
        let message = needs(&few).unwrap();
        assert!(message.contains("group A has one person") && !message.contains("group B"), "{message}");
        assert!(message.contains("3 texts have labels of both groups, and 10 are needed"), "{message}");
        let enough = SidesCompared { people_on_shared: [5, 5], shared_texts: 10, ..few };
        assert_eq!(needs(&enough), None);
    }

    #[test]
    fn texts_that_differ_are_counted() {
        assert!(texts((0, 0), 12).starts_with("No single text separates the groups"));
        assert!(texts((1, 0), 12).starts_with("1 text separates"));
        assert!(texts((2, 1), 12).ends_with("A is higher on 2, B on 1."));
    }
}
