//! Ids of people in files that cannot have every id.

use std::collections::HashSet;

/// Names that Windows keeps for devices.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// The longest stem of a file's name, in bytes.
const MAX_STEM_BYTES: usize = 200;

/// `id` as the stem of a file's name: it leads nowhere, and every system can have it.
pub(crate) fn as_file_stem(id: &str) -> String {
    let safe = |c: char| !c.is_control() && !"/\\:*?\"<>|".contains(c);
    let mut stem: String = id.chars().map(|c| if safe(c) { c } else { '_' }).collect();
    while stem.len() > MAX_STEM_BYTES {
        stem.pop();
    }
    // No name of dots alone, and none that a system would cut.
    let trimmed = stem.trim_matches(|c: char| c == '.' || c.is_whitespace());
    if trimmed.len() != stem.len() {
        stem = format!("_{trimmed}_");
    }
    if stem.is_empty() {
        stem.push('_');
    }
    let first = stem.split('.').next().unwrap_or_default().to_lowercase();
    let port = |name: &str| {
        first
            .strip_prefix(name)
            .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    if DEVICES.contains(&first.as_str()) || port("com") || port("lpt") {
        stem.insert(0, '_');
    }
    stem
}

/// A name for each id: its own where `possible` leaves it as it is, else what that makes of it, with a number where somebody has it.
pub(crate) fn unique(ids: &[&str], possible: impl Fn(&str) -> String) -> Vec<String> {
    let wanted: Vec<String> = ids.iter().map(|id| possible(id)).collect();
    let own = |nth: usize| wanted[nth] == ids[nth];
    let mut taken: HashSet<String> =
        (0..ids.len()).filter(|nth| own(*nth)).map(|nth| wanted[nth].clone()).collect();
    let name = |nth: usize| {
        if own(nth) {
            return wanted[nth].clone();
        }
        let numbered = (2..).map(|number: u64| format!("{}-{number}", wanted[nth]));
        let free = std::iter::once(wanted[nth].clone()).chain(numbered).find(|name| !taken.contains(name));
        let free = free.unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    (0..ids.len()).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_called_like_a_path_leads_nowhere() {
        for (id, stem) in [
            ("ana", "ana"),
            ("a.b@example.org", "a.b@example.org"),
            ("../../etc/passwd", "__.._etc_passwd_"),
            ("..", "__"),
            ("/abs", "_abs"),
            ("C:\\x", "C__x"),
            ("nul", "_nul"),
            ("COM1.txt", "_COM1.txt"),
            ("dot.", "_dot_"),
            ("آنا", "آنا"),
        ] {
            assert_eq!(as_file_stem(id), stem, "{id}");
        }
        assert!(as_file_stem(&"ü".repeat(500)).len() <= MAX_STEM_BYTES);
    }

    #[test]
    fn nobody_gets_the_name_of_another() {
        let ids = ["a/b", "a_b", "a\\b", "ana"];
        assert_eq!(unique(&ids, as_file_stem), ["a_b-2", "a_b", "a_b-3", "ana"]);
    }
}
