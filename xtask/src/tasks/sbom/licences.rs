//! Licences of the components: which are allowed, and their texts in one file.

use super::component::Component;
use anyhow::{Context, Result};
use spdx::{Expression, ParseMode};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Licences under which a component may be shipped with the program. A new one is added after reading what
/// it asks of those who pass the program on.
const ALLOWED: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "OFL-1.1",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "blessing",
];

/// Beginnings of names of files with licences or notices, in lower case.
const NAMES: [&str; 6] = ["licen", "copying", "copyright", "notice", "unlicense", "ofl"];
/// No text of a licence is longer.
const MAX_BYTES: u64 = 1 << 18;

/// The licence as an SPDX expression; older forms such as `MIT/Apache-2.0` are converted.
pub(super) fn expression(one: &Component) -> Result<Expression> {
    let named = || format!("{} {} has the licence “{}”", one.name, one.version, one.licence);
    let canonical = Expression::canonicalize(&one.licence).with_context(named)?;
    let text = canonical.unwrap_or_else(|| one.licence.clone());
    Expression::parse_mode(&text, ParseMode::STRICT).with_context(named)
}

/// Whether the component may be shipped.
///
/// # Errors
/// A sentence that says why not.
pub(super) fn refusal(one: &Component) -> Result<(), String> {
    let expression = expression(one).map_err(|error| format!("{error:#}"))?;
    let is_allowed =
        |required: &spdx::LicenseReq| required.license.id().is_some_and(|id| ALLOWED.contains(&id.name));
    match expression.evaluate(is_allowed) {
        true => Ok(()),
        false => {
            Err(format!("{} {} has the licence {expression}, which is not allowed", one.name, one.version))
        }
    }
}

/// A distinct text, and where it applies.
struct Notice {
    number: usize,
    text: String,
}

/// The file with all licences: a list of the components, with the lines of copyright and the numbers of the
/// texts that their packages contain, and each text once.
pub(super) fn text(all: &[Component]) -> Result<String> {
    let mut notices: BTreeMap<String, Notice> = BTreeMap::new();
    let mut list = String::new();
    for one in all {
        list += &format!("{} {}: {}\n", one.name, one.version, expression(one)?);
        let (mut numbers, mut copyright) = (Vec::new(), Vec::new());
        for text in texts(one.folder.as_deref())? {
            let (lines, body) = split(&text);
            copyright.extend(lines);
            let words = body.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            if words.is_empty() {
                continue;
            }
            let number = notices.len() + 1;
            numbers.push(notices.entry(words).or_insert(Notice { number, text: body }).number);
        }
        copyright.dedup();
        list.extend(copyright.iter().map(|line| format!("    {line}\n")));
        if !numbers.is_empty() {
            let numbers: Vec<String> = numbers.iter().map(|number| format!("[{number}]")).collect();
            list += &format!("    {}\n", numbers.join(" "));
        }
    }
    let mut notices: Vec<Notice> = notices.into_values().collect();
    notices.sort_by_key(|notice| notice.number);
    let rule = "=".repeat(72);
    let mut out = format!(
        "Licences of dissensus {} and its components\n\n\
         Dissensus: MIT OR Apache-2.0.\n\n\
         Each component is listed with its licence as an SPDX expression, the lines of copyright in its\n\
         package, and the numbers of the texts in its package. The texts follow the list; a text that\n\
         several packages contain is printed once. Packages without a text of their own have the standard\n\
         text of their licence.\n\n{rule}\n\n{list}",
        env!("CARGO_PKG_VERSION")
    );
    for notice in notices {
        out += &format!("\n{rule}\n[{}]\n\n{}\n", notice.number, notice.text.trim_matches('\n'));
    }
    Ok(out)
}

/// Texts of licences in the folder of a package, by the names of their files.
fn texts(folder: Option<&Path>) -> Result<Vec<String>> {
    let Some(folder) = folder else { return Ok(Vec::new()) };
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_small = || path.metadata().is_ok_and(|file| file.is_file() && file.len() <= MAX_BYTES);
        if NAMES.iter().any(|begin| name.starts_with(begin)) && !name.ends_with(".rs") && is_small() {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: PathBuf| fs::read(&path).with_context(|| format!("reading {}", path.display()));
    let all: Vec<Vec<u8>> = paths.into_iter().map(read).collect::<Result<_>>()?;
    Ok(all.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect())
}

/// Divides a text into its lines of copyright and the rest.
fn split(text: &str) -> (Vec<String>, String) {
    let (mut copyright, mut body) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let line = line.trim_end();
        let lower = line.trim_start().to_lowercase();
        let is_notice =
            ["copyright (c)", "copyright ©", "copyright 1", "copyright 2", "(c) 1", "(c) 2", "© 1", "© 2"]
                .iter()
                .any(|begin| lower.starts_with(begin));
        match is_notice {
            true => copyright.push(line.trim().to_owned()),
            false => body.push(line),
        }
    }
    (copyright, body.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(licence: &str) -> Component {
        Component { name: "a".to_owned(), licence: licence.to_owned(), ..Component::default() }
    }

    #[test]
    fn licence_that_is_not_allowed_is_refused() {
        for allowed in
            ["MIT", "MIT/Apache-2.0", "Apache-2.0 / MIT", "LGPL-2.1-or-later OR MIT", "(MIT) AND Unicode-3.0"]
        {
            refusal(&with(allowed)).unwrap();
        }
        for refused in ["", "GPL-3.0-only", "MIT AND LGPL-2.1-or-later", "SEE LICENSE IN x", "BUSL-1.1"] {
            let error = refusal(&with(refused)).unwrap_err();
            assert!(error.starts_with("a ") && error.contains(refused), "{error}");
        }
    }

    #[test]
    fn equal_texts_are_printed_once_and_every_copyright_is_listed() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        for (folder, person) in folders.iter().zip(["Ada", "Bo"]) {
            let text =
                format!("MIT License\r\n\r\nCopyright (c) 2020 {person}\r\n\r\nPermission is granted.\n");
            fs::write(folder.path().join("LICENSE-MIT"), text).unwrap();
            fs::write(folder.path().join("main.rs"), "no licence").unwrap();
        }
        let all: Vec<Component> = folders
            .iter()
            .map(|folder| Component { folder: Some(folder.path().to_owned()), ..with("MIT") })
            .collect();
        let text = text(&all).unwrap();
        assert_eq!(text.matches("Permission is granted.").count(), 1, "{text}");
        assert!(text.contains("    Copyright (c) 2020 Ada\n    [1]\n"), "{text}");
        assert!(text.contains("    Copyright (c) 2020 Bo\n    [1]\n"), "{text}");
        assert!(!text.contains("no licence"));
    }
}
