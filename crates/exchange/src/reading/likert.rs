//! Order of the levels of a scale, from what they are called.

use crate::truth::truth_value;
use crate::vocabulary::likert_families;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The levels of a scale, and why they are in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OrderedLevels {
    /// The names as given, lowest first.
    pub(crate) levels: Vec<String>,
    /// What the levels measure, such as `agreement`, an adjective such as `offensive`, or [`NUMBERED`].
    pub(crate) family: String,
    /// Two letters of ISO 639-1. `None` where the levels are words of several languages, or numbered.
    pub(crate) language: Option<String>,
}

/// The family of levels that are in the order of numbers in their names.
pub(crate) const NUMBERED: &str = "numbered";

/// Puts the levels of a scale in order, lowest first.
///
/// The levels must all be numbered (`1 - low`, `(2) medium`, `3`, or `high (3)`; at least one has words), or
/// must all be of one family of `likert.toml`, each with its own rank. Three levels are enough; two only
/// where the family lists them as a pair, such as "strongly disagree" and "strongly agree". "agree" and
/// "disagree", words for no and yes, and plain numbers are `None`.
///
/// Of several families the one with the fewest ranks is chosen, then the one that is first in `likert.toml`.
pub(crate) fn ordered_levels(names: &[String]) -> Option<OrderedLevels> {
    by_number(names).or_else(|| by_family(names))
}

/// Folds a name for comparisons: lower case, and one space for each run of white space and punctuation.
/// Accents are retained.
pub(crate) fn fold_key(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && !is_combining(c));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_combining(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Where a folded name is: families and ranks in them.
static PLACES: LazyLock<HashMap<String, Vec<(usize, usize)>>> = LazyLock::new(|| {
    let mut places: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    for (family, levels) in likert_families().iter().map(|family| &family.levels).enumerate() {
        for (rank, name) in
            levels.iter().enumerate().flat_map(|(rank, names)| names.iter().map(move |n| (rank, n)))
        {
            let key = fold_key(name);
            for key in
                HashSet::from([key.replace('ß', "ss"), transliterated(&key), without_accents(&key), key])
            {
                let known = places.entry(key).or_default();
                if known.last().is_none_or(|(last, _)| *last != family) {
                    known.push((family, rank));
                }
            }
        }
    }
    places
});

fn by_family(names: &[String]) -> Option<OrderedLevels> {
    if names.len() < 2 {
        return None;
    }
    let places: Vec<&[(usize, usize)]> =
        names.iter().map(|name| PLACES.get(&fold_key(name)).map(Vec::as_slice)).collect::<Option<_>>()?;
    let fits = |family: usize| {
        let rank =
            |places: &&[(usize, usize)]| places.iter().find(|(f, _)| *f == family).map(|(_, rank)| *rank);
        let ranks: Vec<usize> = places.iter().map(rank).collect::<Option<_>>()?;
        let different = ranks.iter().collect::<HashSet<_>>().len() == ranks.len();
        (different && (ranks.len() > 2 || is_pair(family, &ranks))).then_some((family, ranks))
    };
    let fitting: Vec<(usize, Vec<usize>)> =
        places[0].iter().filter_map(|(family, _)| fits(*family)).collect();
    let families = likert_families();
    let size = |family: usize| families[family].levels.len();
    let (chosen, ranks) = fitting.iter().min_by_key(|(family, _)| (size(*family), *family))?;
    let family = &families[*chosen];
    let one_language = fitting.iter().all(|(other, _)| families[*other].language == family.language);
    Some(OrderedLevels {
        levels: sorted(names, ranks),
        family: family.name.clone(),
        language: one_language.then(|| family.language.clone()),
    })
}

fn is_pair(family: usize, ranks: &[usize]) -> bool {
    let rank = |name: &String| {
        let places = PLACES.get(&fold_key(name))?;
        places.iter().find(|(other, _)| *other == family).map(|(_, rank)| *rank)
    };
    likert_families()[family].pairs.iter().any(|[low, high]| {
        let pair = [rank(low), rank(high)];
        ranks.iter().all(|rank| pair.contains(&Some(*rank)))
    })
}

fn by_number(names: &[String]) -> Option<OrderedLevels> {
    if names.len() < 2 {
        return None;
    }
    let numbers = read_numbers(names, leading_number).or_else(|| read_numbers(names, trailing_number))?;
    Some(OrderedLevels { levels: sorted(names, &numbers), family: NUMBERED.to_owned(), language: None })
}

/// The numbers of all names, where they differ and at least one name has words. `0 - no` and `1 - yes` are no
/// scale.
fn read_numbers(names: &[String], read: fn(&str) -> Option<(i64, &str)>) -> Option<Vec<i64>> {
    let parts: Vec<(i64, &str)> = names.iter().map(|name| read(name.trim())).collect::<Option<_>>()?;
    let numbers: Vec<i64> = parts.iter().map(|(number, _)| *number).collect();
    let different = numbers.iter().collect::<HashSet<_>>().len() == numbers.len();
    let words = parts.iter().any(|(_, words)| !words.is_empty());
    let truth = parts.len() == 2 && parts.iter().all(|(_, words)| truth_value(&fold_key(words)).is_some());
    (different && words && !truth).then_some(numbers)
}

/// Splits `1 - low`, `1: low`, `(1) low`, `1 low` and a plain `1` into the number and the words.
fn leading_number(name: &str) -> Option<(i64, &str)> {
    let (inner, closing) = match name.strip_prefix('(') {
        Some(inner) => (inner, Some(')')),
        None => name.strip_prefix('[').map_or((name, None), |inner| (inner, Some(']'))),
    };
    let signed = inner.strip_prefix(['-', '+', '\u{2212}']).unwrap_or(inner);
    let digits = signed.bytes().take_while(u8::is_ascii_digit).count();
    let number = whole_number(&inner[..inner.len() - signed.len() + digits])?;
    let rest = &signed[digits..];
    let rest = match closing {
        Some(closing) => rest.strip_prefix(closing)?,
        None => rest,
    };
    if rest.is_empty() {
        return Some((number, ""));
    }
    // `1.5 low` and `1st` have no separator.
    let words = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    let decimal = rest.starts_with(['.', ',']) && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    let separated = closing.is_some() || words.len() < rest.len();
    (separated && !decimal && words.contains(char::is_alphabetic)).then_some((number, words))
}

/// Splits `low (1)` and a plain `1` into the number and the words.
fn trailing_number(name: &str) -> Option<(i64, &str)> {
    if let Some(number) = whole_number(name) {
        return Some((number, ""));
    }
    let (open, inner) = match name.strip_suffix(')') {
        Some(inner) => ('(', inner),
        None => ('[', name.strip_suffix(']')?),
    };
    let (words, number) = inner.rsplit_once(open)?;
    let words = words.trim();
    words.contains(char::is_alphabetic).then_some((whole_number(number.trim())?, words))
}

fn whole_number(text: &str) -> Option<i64> {
    match text.strip_prefix('\u{2212}') {
        Some(digits) => digits.parse::<u32>().ok().map(|number| -i64::from(number)),
        None => text.parse().ok(),
    }
}

fn sorted<K: Ord + Copy>(names: &[String], keys: &[K]) -> Vec<String> {
    let mut keyed: Vec<(K, &String)> = keys.iter().copied().zip(names).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, name)| name.clone()).collect()
}

/// `ueberhaupt` for `überhaupt`.
fn transliterated(key: &str) -> String {
    key.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue").replace('ß', "ss")
}

/// `tres` for `très`.
fn without_accents(key: &str) -> String {
    let plain = |c| match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' => 'a',
        'ç' => 'c',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        other => other,
    };
    key.replace('ß', "ss").chars().map(plain).collect()
}

#[cfg(test)]
mod tests;
