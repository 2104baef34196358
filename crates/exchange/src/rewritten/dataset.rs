//! A folder of Parquet files as one table: what the Hugging Face hub keeps a dataset in. Where the table does not say it, the part of the official
//! split is the one that the name of the file begins with (`train-00000-of-00002.parquet`).

use std::path::{Path, PathBuf};

/// The Parquet files of a folder and of its folder `data`, in order; none where anything else of the kind of data lies there too.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in [folder.to_owned(), folder.join("data")] {
        let Ok(entries) = std::fs::read_dir(place) else { continue };
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        let parquet =
            |path: &PathBuf| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"));
        found.extend(paths.filter(|path| path.is_file() && parquet(path)));
    }
    found.sort();
    found
}

/// The part of the split that a file holds, by its name.
pub(super) fn split_of(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_string_lossy().into_owned();
    let name = match stem.split_once("-0") {
        Some((name, _)) => name.to_owned(),
        None => stem,
    };
    let known = ["train", "validation", "dev", "test"];
    known.contains(&name.to_lowercase().as_str()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_tells_its_part() {
        let parts = ["train-00000-of-00002.parquet", "test.parquet", "part-0.parquet", "labels.parquet"];
        let told = parts.map(|name| split_of(Path::new(name)));
        assert_eq!(told, [Some("train".to_owned()), Some("test".to_owned()), None, None]);
    }
}
