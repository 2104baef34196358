//! Attributes that may be special categories of personal data by the GDPR, Article 9(1), by their names.

/// A category, words that are names of it, and beginnings of such words.
const CATEGORIES: [(&str, &[&str], &[&str]); 6] = [
    ("racial or ethnic origin", &["race", "skin"], &["racial", "ethnic"]),
    ("political opinions", &["party", "vote", "leaning"], &["politic", "ideolog"]),
    (
        "religious or philosophical beliefs",
        &["faith", "belief", "beliefs", "church"],
        &["religio", "worldview"],
    ),
    ("trade union membership", &["union"], &["unioni"]),
    (
        "genetic, biometric or health data",
        &["medical", "mental"],
        &["genetic", "biometric", "health", "disab", "illness", "diagnos"],
    ),
    ("sex life or sexual orientation", &["orientation", "lgbt", "lgbtq", "queer"], &["sexual"]),
];

/// The category that an attribute of this name may belong to. Names in other languages than English are not
/// recognised.
pub(super) fn category(attribute: &str) -> Option<&'static str> {
    let lower = attribute.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let is_of = |(_, whole, begun): &&(&str, &[&str], &[&str])| {
        words.iter().any(|word| whole.contains(word) || begun.iter().any(|begin| word.starts_with(begin)))
    };
    CATEGORIES.iter().find(is_of).map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::category;

    #[test]
    fn special_categories_are_recognised_by_name() {
        for (attribute, expected) in [
            ("Race", Some("racial or ethnic origin")),
            ("ethnicity", Some("racial or ethnic origin")),
            ("political_leaning", Some("political opinions")),
            ("Religion (self-reported)", Some("religious or philosophical beliefs")),
            ("trade union", Some("trade union membership")),
            ("has-disability", Some("genetic, biometric or health data")),
            ("sexual orientation", Some("sex life or sexual orientation")),
            ("gender", None),
            ("age", None),
            ("embrace", None),
            ("European Union's region", Some("trade union membership")),
            ("", None),
        ] {
            assert_eq!(category(attribute), expected, "{attribute}");
        }
    }
}
