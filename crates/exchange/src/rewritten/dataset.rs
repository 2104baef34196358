//! A folder of Parquet files as one table, the layout of a dataset on the Hugging Face hub. If the table has
//! no column for it, the part of the official split is the prefix of the file's name
//! (`train-00000-of-00002.parquet`).

use std::path::{Path, PathBuf};

/// Extensions of other tables: a folder that has them in addition to Parquet is not one table.
const OTHERS: [&str; 7] = ["csv", "tsv", "jsonl", "ndjson", "arrow", "xlsx", "ods"];
/// Parts of a split that are names of files by themselves.
const PARTS: [&str; 8] = ["train", "validation", "valid", "val", "dev", "eval", "test", "training"];

/// Returns the Parquet files of a folder, or else of its folder `data`, in order; none if there are other
/// tables too.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    for place in [folder.to_owned(), folder.join("data")] {
        let Ok(entries) = std::fs::read_dir(place) else { continue };
        let mut found: Vec<PathBuf> =
            entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        if found.iter().any(|path| OTHERS.iter().any(|other| ends_with(path, other))) {
            return Vec::new();
        }
        found.retain(|path| ends_with(path, "parquet"));
        if !found.is_empty() {
            found.sort();
            return found;
        }
    }
    Vec::new()
}

fn ends_with(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|there| there.eq_ignore_ascii_case(ending))
}

/// Returns the part of the split that a file holds: the prefix before `-00000-of-00002` in its name, or a
/// usual name of a part.
pub(super) fn split_of(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_string_lossy().into_owned();
    let numbered = stem.rsplit_once("-of-").and_then(|(before, count)| {
        let (name, number) = before.rsplit_once('-')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (digits(number) && digits(count) && !name.is_empty()).then(|| name.to_owned())
    });
    numbered.or_else(|| PARTS.contains(&stem.to_lowercase().as_str()).then_some(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_gives_the_split() {
        let names =
            ["train-00000-of-00002", "augmented-00001-of-00002", "test", "part-0", "labels", "a-of-b"];
        let reported = names.map(|name| split_of(&Path::new(name).with_extension("parquet")));
        assert_eq!(reported.map(|part| part.unwrap_or_default()), ["train", "augmented", "test", "", "", ""]);
    }
}
