use super::*;
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use rstest::rstest;

fn order(names: &[&str]) -> Option<OrderedLevels> {
    ordered_levels(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
}

fn assert_order(expected: &[&str], family: &str, language: Option<&str>) {
    let reversed: Vec<&str> = expected.iter().rev().copied().collect();
    let found = order(&reversed).unwrap_or_else(|| panic!("{expected:?} have no order"));
    assert_eq!(found.levels, expected);
    assert_eq!((found.family.as_str(), found.language.as_deref()), (family, language), "{expected:?}");
}

#[test]
fn level_names_are_folded() {
    assert_eq!(fold_key("  Strongly\u{a0} DISAGREE! "), "strongly disagree");
    assert_eq!(fold_key("VERY_TOXIC"), "very toxic");
    assert_eq!(fold_key("D’accord"), fold_key("d'accord"));
    assert_eq!(fold_key("Très"), "très");
    assert_eq!(fold_key("?!"), "");
}

#[test]
fn orders_the_levels_of_scales() {
    let en = Some("en");
    assert_order(&["Disagree", "Neutral", "Agree"], "agreement", en);
    assert_order(
        &[
            "strongly disagree",
            "somewhat disagree",
            "neither agree nor disagree",
            "somewhat agree",
            "strongly agree",
        ],
        "agreement",
        en,
    );
    assert_order(&["never", "rarely", "sometimes", "often", "always"], "frequency", en);
    assert_order(
        &["Never", "Sometimes", "About half the time", "Most of the time", "Always"],
        "frequency",
        en,
    );
    assert_order(&["none", "mild", "moderate", "severe"], "severity", en);
    assert_order(&["not at all", "slightly", "somewhat", "moderately", "very", "extremely"], "extent", en);
    assert_order(&["poor", "fair", "good", "very good", "excellent"], "quality", en);
    assert_order(&["low", "medium", "high"], "level", en);
    assert_order(&["negative", "neutral", "positive"], "polarity", en);
    assert_order(&["HEALTHY", "NEITHER", "TOXIC", "VERY_TOXIC"], "toxicity", en);
    assert_order(&["not offensive", "offensive", "very offensive"], "offensive", en);
    assert_order(&["stimme ueberhaupt nicht zu", "teils/teils", "stimme voll zu"], "agreement", Some("de"));
    assert_order(&["GAR NICHT", "mässig", "äusserst"], "extent", Some("de"));
    assert_order(&["pas d’accord", "neutre", "d'accord"], "agreement", Some("fr"));
    assert_order(&["jamais", "parfois", "tres souvent"], "frequency", Some("fr"));
    assert_order(&["nunca", "a veces", "siempre"], "frequency", Some("es"));
    assert_order(&["per niente", "poco", "abbastanza", "molto"], "extent", Some("it"));
    assert_order(&["helemaal mee oneens", "neutraal", "helemaal mee eens"], "agreement", Some("nl"));
    assert_order(&["Discordo", "Não concordo nem discordo", "Concordo"], "agreement", Some("pt"));
}

#[test]
fn ambiguous_words_have_no_language() {
    assert_order(&["negativo", "neutro", "positivo"], "polarity", None);
}

#[test]
fn orders_numbered_levels() {
    for levels in [
        ["1 - not at all", "2 - a bit", "10 - very"],
        ["1: low", "2: medium", "3: high"],
        ["(1) low", "(2) medium", "(3) high"],
        ["1. low", "2. medium", "3. high"],
        ["1 = none", "3 = some", "5 = very"],
        ["1 - not at all", "2", "4 - very"],
        ["not at all (1)", "2", "very (3)"],
        ["low [1]", "medium [2]", "high [3]"],
        ["-1 (worse)", "0 (same)", "+1 (better)"],
        ["−2 – bad", "−1 – fair", "0 – good"],
        ["1 star", "2 stars", "3 stars"],
    ] {
        assert_order(&levels, NUMBERED, None);
    }
    assert_order(&["0 = not hateful", "1 = hateful"], NUMBERED, None);
}

#[test]
fn known_pairs_are_ordered() {
    assert_order(&["strongly disagree", "completely agree"], "agreement", Some("en"));
    assert_order(&["very negative", "very positive"], "polarity", Some("en"));
    for pair in [
        ["disagree", "agree"],
        ["no", "yes"],
        ["never", "always"],
        ["not toxic", "toxic"],
        ["0 - no", "1 - yes"],
    ] {
        assert_eq!(order(&pair), None, "{pair:?}");
    }
}

#[rstest]
#[case::numbers(&["1", "2", "3"])]
#[case::classes(&["normal", "offensive", "hatespeech"])]
#[case::one_outside_the_order(&["negative", "neutral", "positive", "mixed"])]
#[case::twice(&["agree", "agree", "disagree"])]
#[case::two_of_one_rank(&["strongly agree", "completely agree", "disagree"])]
#[case::one_number_twice(&["1 - low", "1 - high", "2"])]
#[case::decimals(&["1.5 low", "2.5 high"])]
#[case::ordinal_numbers(&["1st", "2nd", "3rd"])]
#[case::ranges(&["18-24", "25-34", "35-44"])]
#[case::one_number_of_two(&["A (1)", "B (x)"])]
#[case::inference(&["entailment", "neutral", "contradiction"])]
#[case::one(&["low"])]
#[case::signs(&["?", "!", "-"])]
#[case::none(&[])]
fn refuses_names_without_an_order(#[case] names: &[&str]) {
    assert_eq!(order(names), None);
}

/// The ranks of a name in two families, and the name.
type SharedName = (usize, usize, &'static str);

#[test]
fn families_agree_about_the_order_of_shared_names() {
    let mut shared: HashMap<(usize, usize), Vec<SharedName>> = HashMap::new();
    for (key, places) in PLACES.iter() {
        for (at, (first, rank)) in places.iter().enumerate() {
            for (second, other) in &places[at + 1..] {
                shared.entry((*first, *second)).or_default().push((*rank, *other, key));
            }
        }
    }
    for ((first, second), mut names) in shared {
        names.sort_unstable();
        let rising = names.windows(2).all(|pair| pair[0].0 == pair[1].0 || pair[0].1 <= pair[1].1);
        let families = likert_families();
        assert!(rising, "{} and {}: {names:?}", families[first].name, families[second].name);
    }
}

#[test]
fn names_of_a_family_have_one_rank() {
    for family in likert_families() {
        let mut seen = HashSet::new();
        for name in family.levels.iter().flatten() {
            assert!(!fold_key(name).is_empty() && seen.insert(fold_key(name)), "{}: {name}", family.name);
        }
        assert!(family.pairs.iter().flatten().all(|name| seen.contains(&fold_key(name))), "{}", family.name);
    }
}

/// A family, some of its ranks with a synonym and a case for each, in order.
fn scale() -> impl Strategy<Value = Vec<String>> {
    (0..likert_families().len()).prop_flat_map(|family| {
        let levels = likert_families()[family].levels.clone();
        let count = levels.len();
        let written = (any::<Index>(), 0..3_u8);
        (subsequence(levels, 3..=count), proptest::collection::vec(written, count)).prop_map(
            |(ranks, written)| {
                ranks
                    .iter()
                    .zip(written)
                    .map(|(names, (index, case))| in_case(&names[index.index(names.len())], case))
                    .collect()
            },
        )
    })
}

fn in_case(name: &str, case: u8) -> String {
    match case {
        0 => name.to_owned(),
        1 => name.to_uppercase(),
        _ => name.split(' ').map(capitalised).collect::<Vec<_>>().join("  "),
    }
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

proptest! {
    #[test]
    fn any_permutation_of_a_family_is_put_in_order((levels, shuffled) in scale().prop_flat_map(|levels| {
        (Just(levels.clone()), Just(levels).prop_shuffle())
    })) {
        prop_assert_eq!(ordered_levels(&shuffled).map(|found| found.levels), Some(levels));
    }

    #[test]
    fn any_permutation_of_numbered_levels_is_put_in_order(
        numbers in proptest::collection::btree_set(-50..50_i64, 2..9),
        order in any::<u64>(),
    ) {
        let levels: Vec<String> = numbers.iter().map(|number| format!("{number} - level")).collect();
        let mut shuffled = levels.clone();
        shuffled.rotate_left(order as usize % levels.len());
        prop_assert_eq!(ordered_levels(&shuffled).map(|found| found.levels), Some(levels));
    }

    #[test]
    fn other_words_have_no_order(names in proptest::collection::vec("[b-dx-z]{4,12}", 0..8)) {
        prop_assert_eq!(ordered_levels(&names), None);
    }

    #[test]
    fn any_names_are_handled(names in proptest::collection::vec(".{0,12}", 0..5)) {
        if let Some(found) = ordered_levels(&names) {
            prop_assert_eq!(found.levels.len(), names.len());
        }
    }
}
