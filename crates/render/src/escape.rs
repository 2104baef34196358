//! Escaping of people's text for HTML, SVG, LaTeX, Markdown and spreadsheet cells.

use std::borrow::Cow;

/// Escapes invisible characters that affect the display: controls (a line end and a tab become a space),
/// line separators, direction marks, joiners and zero-width spaces. All except white space are written as
/// `\u{..}`.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| acts(c) || is_space(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if is_space(c) => out.push(' '),
            c if acts(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_space(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t')
}

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061C}'
                | '\u{200B}'
                | '\u{200E}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFFE}'..='\u{FFFF}'
        )
}

/// Escapes text for HTML and SVG, between tags and in attributes.
pub fn html(text: &str) -> String {
    plain(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Escapes text for LaTeX, also in a cell of a table: a row beginning with `[` or `*` would be read as an
/// argument of the preceding line end.
pub fn latex(text: &str) -> String {
    plain(text).chars().fold(String::new(), |mut out, c| {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '[' | ']' | '*' => out.extend(['{', c, '}']),
            other => out.push(other),
        }
        out
    })
}

/// Escapes text for Markdown, also in a cell of a table: nothing in it is interpreted as markup, a link or
/// HTML.
pub fn markdown(text: &str) -> String {
    plain(text).chars().fold(String::new(), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '-' | '!' | '|'
            | '~' => {
                out.extend(['\\', c]);
            }
            other => out.push(other),
        }
        out
    })
}

/// Escapes a paragraph of our own for Markdown, with names of people's in it: only signs that could begin
/// markup, so that the source remains readable.
pub fn prose(text: &str) -> String {
    plain(text).chars().fold(String::new(), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => out.extend(['\\', c]),
            other => out.push(other),
        }
        out
    })
}

/// Escapes text for a cell that a spreadsheet may open: text that looks like a formula would be run, so it
/// is prefixed with an apostrophe.
pub fn cell(text: &str) -> String {
    let text = plain(text);
    match text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
        true => format!("'{text}"),
        false => text.into_owned(),
    }
}

/// Converts text for the name of a file: lower-case letters, digits and hyphens, at most 40.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() == 40 {
            break;
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_for_every_output() {
        let name = "<script>\u{1b}[2J\u{202e}</script> & \"x\"\n'y'";
        assert_eq!(
            html(name),
            "&lt;script&gt;\\u{1b}[2J\\u{202e}&lt;/script&gt; &amp; &quot;x&quot; &#39;y&#39;"
        );
        assert_eq!(
            latex("[2em] 5 % \\input{x}_^~*"),
            "{[}2em{]} 5 \\% \\textbackslash{}input\\{x\\}\\_\\textasciicircum{}\\textasciitilde{}{*}"
        );
        assert_eq!(
            markdown("[a](javascript:x) <b> | `c`"),
            "\\[a\\]\\(javascript:x\\) &lt;b&gt; \\| \\`c\\`"
        );
        assert_eq!(
            prose("For *all* [a](b) <i>: `x` (e.g. 3-4)!"),
            "For \\*all\\* \\[a\\](b) &lt;i&gt;: \\`x\\` (e.g. 3-4)!"
        );
        for formula in ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "＝1"] {
            assert!(cell(formula).starts_with('\''), "{formula}");
        }
        assert_eq!((cell("a=1"), cell("größer, 笑")), ("a=1".to_owned(), "größer, 笑".to_owned()));
    }

    #[test]
    fn file_name_slugs_are_safe() {
        assert_eq!(slug("../../Wie grob?  (0-6)"), "wie-grob-0-6");
        assert_eq!((slug("笑"), slug("CON\u{0}")), (String::new(), "con".to_owned()));
        assert_eq!(slug(&"x y".repeat(40)).len(), 40);
    }
}
