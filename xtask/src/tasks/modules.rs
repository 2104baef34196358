//! Checks that the modules of a crate use each other in one direction.
//!
//! In a circle no file can be understood, tested or moved without all others. A module is a file or folder
//! directly below `src`. Re-exports of a crate's root lead to the module with the item, so the root is a
//! module of its own only where it defines something that other modules use.

use crate::project::Project;
use anyhow::{Context, Result, anyhow, ensure};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with crates, and those that are crates themselves.
const FOLDERS: [&str; 5] = ["crates", "python", "src-tauri", "tests", "xtask"];
/// Names of the file at the root of a crate.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// Uses that close a circle: crate, the using module, the used one, and why.
const REASONED: [(&str, &str, &str, &str); 5] = [
    ("domain", "answer", "kind", "an answer asks the kind of its scale whether it is valid"),
    ("domain", "answer", "scale", "an answer asks the kind of its scale whether it is valid"),
    ("domain", "scale", "kind", "a scale asks its kind what its levels mean; a kind is given the scale"),
    ("exchange", "records", "reading", "records are those of any source, and a reading samples records"),
    ("exchange", "source", "reading", "a source with a reading is a source, and a reading samples sources"),
];

/// The uses of a crate: from one module to another, with an example: the file and the path that it names.
type Uses = BTreeMap<(String, String), (String, String)>;

/// Looks for circles in every crate of the workspace.
///
/// # Errors
/// All findings, each circle file by file.
pub(crate) fn check(project: &Project) -> Result<()> {
    let mut uses = BTreeMap::new();
    for root in crate_roots(&project.root)? {
        let inside = root.strip_prefix(&project.root).unwrap_or(&root);
        // `crates/NAME/src/lib.rs` or `NAME/src/lib.rs`.
        let name = inside.iter().rev().nth(2).unwrap_or_default().to_string_lossy().into_owned();
        let read = |path: &Path| fs::read_to_string(project.root.join(path)).ok();
        let found = uses_of(inside, &read)?;
        // A program and a library with one name have separate roots.
        uses.entry(name).or_insert_with(Uses::new).extend(found);
    }
    let findings = findings(&uses, &REASONED);
    ensure!(
        findings.is_empty(),
        "{}\nMove what both need into a file below them. Exceptions are in xtask/src/tasks/modules.rs.",
        findings.join("\n")
    );
    Ok(())
}

fn crate_roots(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for folder in FOLDERS.map(|folder| root.join(folder)) {
        if folder.join("Cargo.toml").is_file() {
            folders.push(folder);
            continue;
        }
        for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            folders.push(entry?.path());
        }
    }
    folders.sort();
    let roots = folders.iter().flat_map(|folder| ROOTS.map(|root| folder.join("src").join(root)));
    Ok(roots.filter(|path| path.is_file()).collect())
}

fn findings(crates: &BTreeMap<String, Uses>, reasoned: &[(&str, &str, &str, &str)]) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, uses) in crates {
        let arrows: BTreeSet<(&str, &str)> =
            uses.keys().map(|(from, to)| (from.as_str(), to.as_str())).collect();
        let mut left = arrows.clone();
        for (_, from, to, _) in reasoned.iter().filter(|one| one.0 == name) {
            left.remove(&(*from, *to));
        }
        while let Some(circle) = shortest_circle(&left) {
            findings.push(format!("{name}: {}", circle.join(" -> ")));
            for pair in circle.windows(2) {
                let (file, path) = &uses[&(pair[0].to_owned(), pair[1].to_owned())];
                findings.push(format!("    {file} uses {path}"));
            }
            // The next circle has none of these modules' uses of each other.
            for pair in circle.windows(2) {
                left.remove(&(pair[0], pair[1]));
            }
        }
        for (_, from, to, _) in reasoned.iter().filter(|one| one.0 == name) {
            if !arrows.contains(&(*from, *to)) || path_between(&arrows, to, from).is_none() {
                findings.push(format!("{name}: {from} -> {to} needs no reason in the table any more"));
            }
        }
    }
    for (name, ..) in reasoned.iter().filter(|one| !crates.contains_key(one.0)) {
        findings.push(format!("{name} is in the table and not in the workspace"));
    }
    findings
}

/// One of the shortest circles, from its first module by name, which is also its last.
fn shortest_circle<'a>(arrows: &BTreeSet<(&'a str, &'a str)>) -> Option<Vec<&'a str>> {
    let back = arrows.iter().filter_map(|(from, to)| path_between(arrows, to, from));
    let mut circle = back.min_by_key(Vec::len)?;
    let first = (0..circle.len()).min_by_key(|at| circle[*at])?;
    circle.rotate_left(first);
    circle.push(circle[0]);
    Some(circle)
}

/// The shortest way along arrows, with both ends.
fn path_between<'a>(arrows: &BTreeSet<(&'a str, &'a str)>, from: &str, to: &str) -> Option<Vec<&'a str>> {
    let start = arrows.iter().find(|arrow| arrow.0 == from)?.0;
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(at) = next.pop_front() {
        if at == to {
            let mut path = vec![at];
            while let Some(one) = path.last().and_then(|last| before.get(last)) {
                path.push(one);
            }
            path.reverse();
            return Some(path);
        }
        for (_, after) in arrows.iter().filter(|arrow| arrow.0 == at) {
            if *after != start && !before.contains_key(after) {
                before.insert(after, at);
                next.push_back(after);
            }
        }
    }
    None
}

/// All uses between the modules of the crate with this root, without those of tests.
fn uses_of(root: &Path, read: &impl Fn(&Path) -> Option<String>) -> Result<Uses> {
    let mut reader = Reader { read, references: Vec::new(), exported: BTreeMap::new(), top: BTreeSet::new() };
    let folder = root.parent().unwrap_or(Path::new("")).to_owned();
    reader.file(root, &folder, &[])?;
    let Reader { references, exported, top, .. } = reader;
    let root_name = root.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut uses = Uses::new();
    for Reference { module, file, path } in references {
        let from = module.first().unwrap_or(&root_name).clone();
        let Some(to) = defining(&path, &top, &exported) else { continue };
        let to = to.unwrap_or(&root_name).to_owned();
        if from != to {
            let example = (file, format!("crate::{}", path.join("::")));
            uses.entry((from, to)).or_insert(example);
        }
    }
    Ok(uses)
}

/// The module that defines what a path names, `Some(None)` if it is the root itself, and `None` if another
/// crate does.
fn defining<'a>(
    path: &'a [String],
    top: &'a BTreeSet<String>,
    exported: &'a BTreeMap<String, Vec<String>>,
) -> Option<Option<&'a str>> {
    let mut first = path.first()?;
    // A re-export may lead to another re-export.
    for _ in 0..=exported.len() {
        if top.contains(first) {
            return Some(Some(first));
        }
        match exported.get(first) {
            None => return Some(None),
            Some(path) if path[0] == EXTERNAL => return None,
            Some(path) => first = &path[0],
        }
    }
    None
}

/// Instead of a module: a re-export from another crate.
const EXTERNAL: &str = "";

/// A path inside the crate that a module names.
struct Reference {
    /// Empty for the root.
    module: Vec<String>,
    file: String,
    /// From the root of the crate.
    path: Vec<String>,
}

struct Reader<'a, R> {
    read: &'a R,
    references: Vec<Reference>,
    /// What the root re-exports under which name: the path from the root of the crate.
    exported: BTreeMap<String, Vec<String>>,
    /// Modules that the root declares.
    top: BTreeSet<String>,
}

/// Where tokens are: the file, the folder of its child modules, and the module's path.
#[derive(Clone)]
struct Location {
    file: String,
    children: PathBuf,
    module: Vec<String>,
}

impl<R: Fn(&Path) -> Option<String>> Reader<'_, R> {
    fn file(&mut self, path: &Path, children: &Path, module: &[String]) -> Result<()> {
        let text = (self.read)(path).with_context(|| format!("reading {}", path.display()))?;
        let tokens: TokenStream =
            text.parse().map_err(|error| anyhow!("{}: not Rust: {error}", path.display()))?;
        let file = path.display().to_string();
        self.tokens(tokens, &Location { file, children: children.to_owned(), module: module.to_owned() })
    }

    fn tokens(&mut self, tokens: TokenStream, place: &Location) -> Result<()> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        // The declarations come first, because paths in the root begin with their names.
        if place.module.is_empty() {
            for pair in tokens.windows(2) {
                if let [TokenTree::Ident(word), TokenTree::Ident(name)] = pair
                    && word == "mod"
                {
                    self.top.insert(name.to_string());
                }
            }
        }
        let mut at = 0;
        while at < tokens.len() {
            at = self.token(&tokens, at, place)?;
        }
        Ok(())
    }

    /// Reads what begins at a token, and returns where the next begins.
    fn token(&mut self, tokens: &[TokenTree], at: usize, place: &Location) -> Result<usize> {
        match &tokens[at] {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(TokenTree::Group(attribute)) = tokens.get(at + 1)
                    && is_for_tests(&attribute.stream().to_string())
                {
                    return Ok(after_item(tokens, at + 2));
                }
                Ok(at + 1)
            }
            TokenTree::Group(group) => {
                self.tokens_inside(group.stream(), place)?;
                Ok(at + 1)
            }
            TokenTree::Ident(word) if word == "pub" => {
                let restricted = matches!(tokens.get(at + 1), Some(TokenTree::Group(group))
                    if group.delimiter() == Delimiter::Parenthesis);
                let next = at + 1 + usize::from(restricted);
                if is_word(tokens.get(next), "use") && place.module.is_empty() {
                    return Ok(self.re_export(tokens, next + 1));
                }
                Ok(next)
            }
            TokenTree::Ident(word) if word == "mod" => self.module(tokens, at, place),
            TokenTree::Ident(word) if word == "use" => {
                let end = end_of_statement(tokens, at);
                for (path, _) in imports(&tokens[at + 1..end], &[]) {
                    self.refer(path, place);
                }
                Ok(end + 1)
            }
            TokenTree::Ident(_) => {
                let (path, end) = path_at(tokens, at);
                if path.len() > 1 {
                    self.refer(path, place);
                }
                Ok(end)
            }
            _ => Ok(at + 1),
        }
    }

    /// As [`Self::tokens`], for a block: declarations in it are not those of the root.
    fn tokens_inside(&mut self, tokens: TokenStream, place: &Location) -> Result<()> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.token(&tokens, at, place)?;
        }
        Ok(())
    }

    /// A module with its file or its block.
    fn module(&mut self, tokens: &[TokenTree], at: usize, place: &Location) -> Result<usize> {
        let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else { return Ok(at + 1) };
        let name = name.to_string();
        let module: Vec<String> = place.module.iter().cloned().chain([name.clone()]).collect();
        let children = place.children.join(&name);
        match tokens.get(at + 2) {
            Some(TokenTree::Group(block)) => {
                self.tokens_inside(block.stream(), &Location { file: place.file.clone(), children, module })?;
            }
            _ => {
                let sibling = place.children.join(format!("{name}.rs"));
                let path = if (self.read)(&sibling).is_some() { sibling } else { children.join("mod.rs") };
                self.file(&path, &children, &module)?;
            }
        }
        Ok(at + 3)
    }

    /// Keeps under which names the root re-exports what.
    fn re_export(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let end = end_of_statement(tokens, at);
        for (path, name) in imports(&tokens[at..end], &[]) {
            let path = self.absolute(path, &[]).unwrap_or_else(|| vec![EXTERNAL.to_owned()]);
            self.exported.insert(name, path);
        }
        end + 1
    }

    fn refer(&mut self, path: Vec<String>, place: &Location) {
        if let Some(path) = self.absolute(path, &place.module) {
            self.references.push(Reference { module: place.module.clone(), file: place.file.clone(), path });
        }
    }

    /// A path from the root of the crate; `None` if it is another crate's or names a local.
    fn absolute(&self, path: Vec<String>, module: &[String]) -> Option<Vec<String>> {
        let (above, start) = match path[0].as_str() {
            "crate" => (module.len(), 1),
            "self" => (0, 1),
            "super" => {
                let above = path.iter().take_while(|part| *part == "super").count();
                (above, above)
            }
            first if module.is_empty() && self.top.contains(first) => (0, 0),
            _ => return None,
        };
        let kept = module.len().checked_sub(above)?;
        Some(module[..kept].iter().chain(&path[start..]).cloned().collect())
    }
}

/// Whether an attribute leaves its item out of the product.
fn is_for_tests(attribute: &str) -> bool {
    let attribute: String = attribute.split_whitespace().collect();
    attribute == "cfg(test)"
        || attribute.starts_with("cfg(all(test,")
        || attribute.starts_with("cfg(any(test,")
}

fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// The end of the item at a token: its block, its semicolon or, for a field or variant, its comma.
fn after_item(tokens: &[TokenTree], mut at: usize) -> usize {
    let declares = |token: &TokenTree| {
        ["fn", "mod", "use", "impl", "struct", "enum", "trait", "const", "static", "type", "let"]
            .iter()
            .any(|word| is_word(Some(token), word))
    };
    let mut item = false;
    while at < tokens.len() {
        item |= declares(&tokens[at]);
        let block = matches!(&tokens[at], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let used = is_mark(tokens.get(at + 1), ';');
        at += 1;
        if block && !used || is_mark(tokens.get(at - 1), ';') || !item && is_mark(tokens.get(at - 1), ',') {
            break;
        }
    }
    at
}

fn end_of_statement(tokens: &[TokenTree], at: usize) -> usize {
    (at..tokens.len()).find(|at| is_mark(tokens.get(*at), ';')).unwrap_or(tokens.len())
}

/// The path that begins at a word, without generic arguments, and where it ends.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(TokenTree::Ident(word)) = tokens.get(at) {
        path.push(word.to_string());
        at += 1;
        if !(is_mark(tokens.get(at), ':') && is_mark(tokens.get(at + 1), ':')) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// The paths of a `use`, each with the name that it has afterwards.
fn imports(tokens: &[TokenTree], before: &[String]) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    for part in tokens.split(|token| is_mark(Some(token), ',')) {
        let (path, end) = path_at(part, 0);
        let mut whole: Vec<String> = before.iter().cloned().chain(path).collect();
        match part.get(end) {
            Some(TokenTree::Group(group)) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                found.extend(imports(&inner, &whole));
            }
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => found.push((whole, "*".to_owned())),
            next => {
                if whole.len() > 1 && whole.last().is_some_and(|last| last == "self") {
                    whole.pop();
                }
                let renamed = next.filter(|next| is_word(Some(next), "as")).and(part.get(end + 1));
                if let Some(name) = renamed.map(ToString::to_string).or_else(|| whole.last().cloned()) {
                    found.push((whole, name));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings in a crate with these files, named below `src`.
    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let read = |path: &Path| {
            let (_, text) = files.iter().find(|(name, _)| path == Path::new("src").join(name))?;
            Some((*text).to_owned())
        };
        let uses = uses_of(Path::new("src/lib.rs"), &read).unwrap();
        findings(&BTreeMap::from([("planted".to_owned(), uses)]), &[])
    }

    #[test]
    fn circle_is_shown_file_by_file() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b; mod c; pub use c::Third;"),
            ("a.rs", "use crate::b::{self, Second as Other};"),
            ("b/mod.rs", "mod inner;"),
            ("b/inner.rs", "use super::super::{Third, a_macro};"),
            ("c.rs", "fn third() { vec![crate::a::first()] }"),
        ]);
        let expected = [
            "planted: a -> b -> c -> a",
            "    src/a.rs uses crate::b",
            "    src/b/inner.rs uses crate::Third",
            "    src/c.rs uses crate::a::first",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn every_module_path_form_counts() {
        for back in [
            "use super::a::First;",
            "use super::{b, a::{First, Other}};",
            "pub(crate) use crate::a::First as Renamed;",
            "fn f(x: crate::a::First) {}",
            "fn f() { matches!(x, super::a::First::One) }",
            "mod inner { use super::super::a; }",
            "#[derive(Debug)] struct S { x: Vec<super::a::First> }",
            "#[cfg(test)] use std::fmt; use crate::a::First;",
            "#[cfg(test)] fn f() -> u8 { 1 } use crate::a::First;",
        ] {
            let found = circles(&[("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b;"), ("b.rs", back)]);
            assert_eq!(found.first().map(String::as_str), Some("planted: a -> b -> a"), "{back}");
        }
    }

    #[test]
    fn tests_and_comments_are_no_circle() {
        for back in [
            "/// See [`crate::a::First`]. use crate::a;",
            "//! use crate::a;",
            "const S: &str = \"crate::a::First\";",
            "#[cfg(test)] mod tests { use crate::a::First; }",
            "#[cfg(test)] mod tests;",
            "#[cfg(any(test, feature = \"bench\"))] use crate::a::First;",
            "use std::fmt; use a::First;",
            "pub(in crate::a) fn f() {}",
            "use self::inner::a; mod inner {}",
        ] {
            let found = circles(&[("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b;"), ("b.rs", back)]);
            assert_eq!(found, Vec::<String>::new(), "{back}");
        }
    }

    #[test]
    fn root_module_is_in_a_circle_if_it_defines_types() {
        let a = ("a.rs", "use crate::Context; pub struct State;");
        let re_exported =
            circles(&[("lib.rs", "mod a; mod b; pub use b::Context; fn f() { a::g() }"), a, ("b.rs", "")]);
        assert_eq!(re_exported, Vec::<String>::new());
        let defined = circles(&[("lib.rs", "mod a; use a::State; pub struct Context(State);"), a]);
        assert_eq!(defined[0], "planted: a -> lib -> a");
    }

    #[test]
    fn reason_allows_one_use() {
        let example = || ("src/x.rs".to_owned(), "crate::y".to_owned());
        let uses = |arrows: &[(&str, &str)]| -> BTreeMap<String, Uses> {
            let arrows = arrows.iter().map(|(from, to)| ((from.to_string(), to.to_string()), example()));
            BTreeMap::from([("domain".to_owned(), arrows.collect())])
        };
        let reasoned = [("domain", "b", "a", "why")];
        let none = Vec::<String>::new();
        assert_eq!(findings(&uses(&[("a", "b"), ("b", "a")]), &reasoned), none);
        let other = findings(&uses(&[("a", "b"), ("b", "a"), ("b", "c"), ("c", "a")]), &reasoned);
        assert_eq!(other[0], "domain: a -> b -> c -> a");
        let gone = ["domain: b -> a needs no reason in the table any more"];
        assert_eq!(findings(&uses(&[("a", "b")]), &reasoned), gone);
        assert_eq!(findings(&uses(&[("b", "a")]), &reasoned), gone);
    }
}
