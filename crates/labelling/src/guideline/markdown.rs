//! Contents of a guideline's Markdown other than words: pictures, links, HTML.

use pulldown_cmark::{Event, Parser, Tag};
use std::ops::Range;

/// Prefix of the name of a project picture.
pub(super) const PICTURE: &str = "picture:";

/// A picture in a guideline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PictureReference {
    pub(super) target: String,
    /// Position of the whole picture, in bytes.
    place: Range<usize>,
}

/// Contents of a guideline other than words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) pictures: Vec<PictureReference>,
    links: u32,
    html: u32,
}

impl Contents {
    /// Parses a guideline, as CommonMark.
    pub(super) fn new(body: &str) -> Self {
        let mut found = Self::default();
        for (event, place) in Parser::new(body).into_offset_iter() {
            match event {
                Event::Start(Tag::Image { dest_url, .. }) => {
                    found.pictures.push(PictureReference { target: dest_url.into_string(), place });
                }
                Event::Start(Tag::Link { .. }) => found.links += 1,
                Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => found.html += 1,
                _ => {}
            }
        }
        found
    }

    /// Notes for the author on how it is shown.
    pub(super) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.links > 0 {
            let links = dissensus_project::words::counted(self.links.into(), "link");
            notices.push(format!("{links}: their words are shown with the address, and nothing is opened"));
        }
        if self.html > 0 {
            let places = dissensus_project::words::counted(self.html.into(), "place");
            notices.push(format!("HTML in {places}: it is shown as it is written, and nothing of it is run"));
        }
        notices
    }
}

/// Replaces the targets of the body's pictures: `renamed` has one for each of [`Contents::pictures`]. `Err`
/// is a target that is not written inline, for example a reference.
pub(super) fn with_pictures(body: &str, contents: &Contents, renamed: &[String]) -> Result<String, String> {
    // A picture in the alternative text of another: neither could be renamed separately.
    if let Some(inner) = contents.pictures.windows(2).find(|two| two[1].place.start < two[0].place.end) {
        return Err(inner[1].target.clone());
    }
    let mut changed = body.to_owned();
    // From the end, so that earlier positions stay valid.
    for (shown, new) in contents.pictures.iter().zip(renamed).rev() {
        if shown.target == *new {
            continue;
        }
        let whole = &body[shown.place.clone()];
        let opens = |at: &usize| whole[..*at].ends_with("](") || whole[..*at].ends_with("](<");
        let at = whole.match_indices(shown.target.as_str()).map(|(at, _)| at).find(opens);
        let Some(at) = at else { return Err(shown.target.clone()) };
        let (start, end) = (shown.place.start + at, shown.place.start + at + shown.target.len());
        changed.replace_range(start..end, new);
    }
    // Parse the result again: a picture whose new target does not come back must not be saved.
    let targets: Vec<String> =
        Contents::new(&changed).pictures.into_iter().map(|shown| shown.target).collect();
    match targets == *renamed {
        true => Ok(changed),
        false => Err(contents.pictures.first().map_or_else(String::new, |shown| shown.target.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_links_and_html_are_found() {
        let body = "# A\n\n![one](a.png) and ![two](https://x.org/b.png \"title\")\n\n[a link](https://x.org) <b>bold</b>\n\n<script>alert(1)</script>\n\n```\n![not](c.png)\n```\n";
        let found = Contents::new(body);
        let targets: Vec<&str> = found.pictures.iter().map(|shown| shown.target.as_str()).collect();
        assert_eq!(targets, ["a.png", "https://x.org/b.png"]);
        let notices = found.notices();
        assert!(notices[0].starts_with("1 link"), "{notices:?}");
        assert!(notices[1].starts_with("HTML in 3 places"), "{notices:?}");
        assert!(Contents::new("plain *words*").notices().is_empty());
    }

    #[test]
    fn picture_targets_are_renamed_in_place() {
        let body = "a.png ![a.png](a.png) ![b](b.png \"a.png\")";
        let contents = Contents::new(body);
        let renamed = ["picture:1".to_owned(), "picture:2".to_owned()];
        assert_eq!(
            with_pictures(body, &contents, &renamed).unwrap(),
            "a.png ![a.png](picture:1) ![b](picture:2 \"a.png\")"
        );
        for (body, count) in
            [("![outer ![inner](b.png) tail](a.png)", 2), ("![inner ![a](much-longer-name.png)](a.png)", 2)]
        {
            let contents = Contents::new(body);
            assert_eq!(contents.pictures.len(), count, "{body}");
            assert!(with_pictures(body, &contents, &renamed).is_err(), "{body}");
        }
        let body = "![b](b.png \"](b.png\") ![c](<c d.png>)";
        assert_eq!(
            with_pictures(body, &Contents::new(body), &renamed).unwrap(),
            "![b](picture:1 \"](b.png\") ![c](<picture:2>)"
        );
        let body = "![a][ref]\n\n[ref]: a.png\n";
        assert_eq!(with_pictures(body, &Contents::new(body), &renamed[..1]), Err("a.png".to_owned()));
    }
}
