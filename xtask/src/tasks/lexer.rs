//! Divides source text into code and strings, as far as the checks of names and of messages need it.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Rust,
    Svelte,
    TypeScript,
}

impl Language {
    /// The language of a file with this name.
    pub(super) fn of(name: &str) -> Self {
        match name.rsplit('.').next() {
            Some("rs") => Self::Rust,
            Some("py") => Self::Python,
            Some("svelte") => Self::Svelte,
            _ => Self::TypeScript,
        }
    }
}

/// A source text in parts.
pub(super) struct Source {
    /// The text without comments and strings, with the same lines. Code within template strings stays.
    pub(super) code: String,
    /// The contents of strings, each with the line on which it begins.
    pub(super) strings: Vec<(usize, String)>,
}

/// Divides a whole file. Markup of Svelte counts as code: see [`on_screen`].
pub(super) fn split(text: &str, language: Language) -> Source {
    split_until_close(text, language, false).0
}

/// The contents of the strings of Rust code, each with the place at which the string begins.
pub(super) fn literals(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = skipped(rest, Language::Rust, text[..at].trim_end_matches(' '));
        if length > 0 && matches!(first, '"' | 'r') {
            let open = rest.find('"').unwrap_or_default();
            let hashes = rest[..open].matches('#').count();
            found.push((at, &rest[open + 1..(length - 1 - hashes).max(open + 1)]));
        }
        at += length.max(first.len_utf8());
    }
    found
}

/// Divides the text, if `stops` only up to the closing brace without an opening one. Also returns the length
/// of what was read, without that brace.
fn split_until_close(text: &str, language: Language, stops: bool) -> (Source, usize) {
    let mut source = Source { code: String::with_capacity(text.len()), strings: Vec::new() };
    let mut rest = text;
    let (mut line, mut depth) = (1, 0_usize);
    // The open braces of each template string whose inserted code is being read.
    let mut templates: Vec<usize> = Vec::new();
    while let Some(first) = rest.chars().next() {
        let skipped = skipped(rest, language, source.code.trim_end_matches(' '));
        let resumes = first == '}' && templates.last() == Some(&0);
        let (length, string) = if skipped > 0 {
            let is_string = first != '/' && (first != '#' || language != Language::Python);
            (skipped, is_string.then_some(&rest[..skipped]))
        } else if language == Language::TypeScript && (first == '`' || resumes) {
            if resumes {
                templates.pop();
            }
            let (end, opens) = template_end(&rest[1..]);
            if opens {
                templates.push(0);
            }
            (1 + end, Some(&rest[1..1 + end]))
        } else {
            (0, None)
        };
        if length > 0 {
            if let Some(string) = string {
                source.strings.push((line, contents(string).to_owned()));
            }
            let lines = rest[..length].matches('\n').count();
            line += lines;
            source.code.extend(std::iter::repeat_n('\n', lines));
            source.code.push(' ');
            rest = &rest[length..];
            continue;
        }
        match (first, templates.last_mut()) {
            ('}', None) if stops && depth == 0 => break,
            ('{', Some(open)) => *open += 1,
            ('}', Some(open)) => *open -= 1,
            ('{', None) => depth += 1,
            ('}', None) => depth = depth.saturating_sub(1),
            ('\n', _) => line += 1,
            _ => {}
        }
        source.code.push(first);
        rest = &rest[first.len_utf8()..];
    }
    (source, text.len() - rest.len())
}

/// A string without its quotes, or a part of a template string without what bounds it.
fn contents(string: &str) -> &str {
    let string = string.strip_prefix('r').unwrap_or(string);
    string.strip_suffix("${").unwrap_or(string).trim_matches(['"', '\'', '`', '#'])
}

/// Where the reader of markup is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Markup {
    Text,
    Tag,
    Value,
}

/// What a Svelte file shows: the texts of its markup, the values of attributes, and the strings of its
/// script and of code in the markup, each with the line on which it begins.
pub(super) fn on_screen(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut at, mut place) = (0, Markup::Text);
    let strings_from = |at: usize, strings: Vec<(usize, String)>| {
        let before = line_of(text, at) - 1;
        strings.into_iter().map(move |(line, string)| (before + line, string))
    };
    while at < text.len() {
        let rest = &text[at..];
        let block = ["script", "style"].into_iter().find(|name| {
            let tag = rest.strip_prefix('<').and_then(|tag| tag.strip_prefix(*name));
            place == Markup::Text && tag.is_some_and(|tag| tag.starts_with([' ', '>']))
        });
        if let Some(name) = block {
            let begin = at + rest.find('>').map_or(rest.len(), |end| end + 1);
            let end = text[begin..].find(&format!("</{name}>")).map_or(text.len(), |end| begin + end);
            if name == "script" {
                found.extend(strings_from(begin, split(&text[begin..end], Language::TypeScript).strings));
            }
            at = (end + name.len() + 3).min(text.len());
            continue;
        }
        if place == Markup::Text && rest.starts_with("<!--") {
            at += rest.find("-->").map_or(rest.len(), |end| end + 3);
            continue;
        }
        if place == Markup::Text && rest.starts_with('<') {
            place = Markup::Tag;
            at += 1;
            continue;
        }
        if let Some(inside) = rest.strip_prefix('{') {
            let (source, length) = split_until_close(inside, Language::TypeScript, true);
            found.extend(strings_from(at, source.strings));
            at += (length + 2).min(rest.len());
            continue;
        }
        let ends: &[char] = match place {
            Markup::Text => &['<', '{'],
            Markup::Tag => &['>', '"', '{'],
            Markup::Value => &['"', '{'],
        };
        let end = rest.find(ends).unwrap_or(rest.len());
        let shown = rest[..end].trim();
        if place != Markup::Tag && !shown.is_empty() {
            let blank = rest.len() - rest.trim_start().len();
            found.push((line_of(text, at + blank), shown.to_owned()));
        }
        at += end;
        // A brace and the beginning of a tag stay, and are read next.
        let delimiter = text[at..].chars().next();
        let next = match (place, delimiter) {
            (Markup::Tag, Some('"')) => Markup::Value,
            (Markup::Tag, Some('>')) => Markup::Text,
            (Markup::Value, Some('"')) => Markup::Tag,
            _ => continue,
        };
        place = next;
        at += 1;
    }
    found
}

/// The number of the line at a position.
fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

/// The length of the comment, string or character at the beginning of the text; 0 if there is none.
fn skipped(text: &str, language: Language, before: &str) -> usize {
    let until = |start: usize, end: &str| text[start..].find(end).map_or(text.len(), |at| start + at);
    let past = |start: usize, end: &str| (until(start, end) + end.len()).min(text.len());
    match language {
        Language::Python if text.starts_with('#') => until(0, "\n"),
        Language::Python if text.starts_with("\"\"\"") => past(3, "\"\"\""),
        Language::Python if text.starts_with(['"', '\'']) => quoted(text),
        Language::Python => 0,
        _ if text.starts_with("/*") => past(2, "*/"),
        // A colon before it belongs to an address in markup.
        _ if text.starts_with("//") && !before.ends_with(':') => until(0, "\n"),
        Language::Svelte if text.starts_with("<!--") => past(4, "-->"),
        Language::Svelte => 0,
        Language::TypeScript if text.starts_with(['"', '\'']) => quoted(text),
        Language::TypeScript if text.starts_with('/') && is_before_expression(before) => expression(text),
        Language::TypeScript => 0,
        Language::Rust if text.starts_with('"') => quoted(text),
        Language::Rust if text.starts_with("r\"") || text.starts_with("r#") => {
            let hashes = text[1..].chars().take_while(|c| *c == '#').count();
            let is_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let is_string = text[1 + hashes..].starts_with('"') && !is_name;
            if is_string { past(2 + hashes, &format!("\"{}", "#".repeat(hashes))) } else { 0 }
        }
        // A character; else it is a lifetime.
        Language::Rust if text.starts_with("'\\") => past(3, "'"),
        Language::Rust if text.starts_with('\'') => match text.char_indices().nth(2) {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        Language::Rust => 0,
    }
}

/// The length of a string in the quotes that it begins with.
fn quoted(text: &str) -> usize {
    let mut letters = text.char_indices();
    let quote = letters.next().map(|(_, quote)| quote);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if Some(letter) == quote {
            return at + letter.len_utf8();
        }
    }
    text.len()
}

/// Whether a slash after this code begins a regular expression rather than a division.
fn is_before_expression(before: &str) -> bool {
    before.trim_end().ends_with(['(', ',', '=', ':', '[', '!', '&', '|', '?', '{', ';', '>'])
        || before.is_empty()
}

/// The length of a regular expression.
fn expression(text: &str) -> usize {
    let (mut escaped, mut in_class) = (false, false);
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\n' => return 0,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return at + 1,
            _ => {}
        }
    }
    0
}

/// Where the text of a template string ends, and whether inserted code follows.
fn template_end(text: &str) -> (usize, bool) {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '`' => return (at + 1, false),
            '$' if text[at + 1..].starts_with('{') => return (at + 2, true),
            _ => {}
        }
    }
    (text.len(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(text: &str, name: &str) -> Vec<(usize, String)> {
        split(text, Language::of(name)).strings
    }

    fn owned(strings: &[(usize, &str)]) -> Vec<(usize, String)> {
        strings.iter().map(|(line, string)| (*line, (*string).to_owned())).collect()
    }

    #[test]
    fn strings_have_their_lines() {
        let rust = "// \"no\"\nlet a = \"one\";\n/* \"no\" */ f(r#\"two \"x\" y\"#, 'c');\n";
        assert_eq!(strings(rust, "a.rs"), owned(&[(2, "one"), (3, "two \"x\" y"), (3, "c")]));
        let script = "const a = 'one';\nconst b = `two ${f(\"three\")} four`;\n";
        assert_eq!(strings(script, "a.ts"), owned(&[(1, "one"), (2, "two "), (2, "three"), (2, " four")]));
    }

    #[test]
    fn markup_is_on_screen() {
        let markup = "<script lang=\"ts\">\n  const a = \"one\";\n</script>\n<!-- no -->\n\
                      <p title=\"two {b ? \"three\" : c}\">\n  four {d({ e: `five` })} six</p>\n\
                      <style>\n.no { color: red; }\n</style>\n";
        assert_eq!(
            on_screen(markup),
            owned(&[(2, "one"), (5, "two"), (5, "three"), (6, "four"), (6, "five"), (6, "six")])
        );
    }
}
