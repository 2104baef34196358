//! Ids of annotators in files that cannot have every id.

use std::collections::HashSet;

/// Returns a unique name for each id: unchanged where `possible` does not change it, else the result of that,
/// with a number if it is not unique. Two names are the same if `folded` makes them equal.
pub(crate) fn unique(
    ids: &[&str],
    possible: impl Fn(&str) -> String,
    folded: impl Fn(&str) -> String,
) -> Vec<String> {
    let wanted: Vec<String> = ids.iter().map(|id| possible(id)).collect();
    let mut taken = HashSet::new();
    let own: Vec<bool> =
        (0..ids.len()).map(|nth| wanted[nth] == ids[nth] && taken.insert(folded(ids[nth]))).collect();
    let name = |nth: usize| {
        if own[nth] {
            return wanted[nth].clone();
        }
        let numbered = (2..).map(|number: u64| format!("{}-{number}", wanted[nth]));
        let mut names = std::iter::once(wanted[nth].clone()).chain(numbered);
        names.find(|name| taken.insert(folded(name))).unwrap_or_default()
    };
    (0..ids.len()).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_names::{file_stem, without_case};

    #[test]
    fn file_names_of_people_are_unique() {
        let ids = ["a/b", "a_b", "a\\b", "ana"];
        assert_eq!(unique(&ids, file_stem, without_case), ["a_b-2", "a_b", "a_b-3", "ana"]);
        let ids = ["Ana", "ana", "ANA", "ana-2", "nul"];
        let names = unique(&ids, file_stem, without_case);
        assert_eq!(names, ["Ana", "ana-3", "ANA-4", "ana-2", "_nul"]);
        assert_eq!(unique(&ids[..3], str::to_owned, str::to_owned), &ids[..3]);
    }
}
