//! UIMA CAS XMI as written by INCEpTION: one document of one annotator.

use super::cas::{self, Annotation, Cas};
use super::one_document::OneDocument;
use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, Item, Items};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;
use std::sync::Arc;

/// The namespace of the file itself.
const XMI: &str = "http://www.omg.org/XMI";
/// Attributes that are no features.
const PLAIN_ATTRIBUTES: [&str; 4] = ["id", "sofa", "begin", "end"];

#[derive(Debug)]
pub(super) struct Xmi;

impl Format for Xmi {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "uima-xmi", title: "UIMA CAS XMI", endings: &["xmi", "xml"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let marked = memchr::memmem::find(&look.head, XMI.as_bytes()).is_some();
        let is_xml = look.head.trim_ascii_start().starts_with(b"<");
        (is_xml && marked)
            .then(|| Reading::Annotations(Division::Whole, Arc::new(OneDocument { read: read_document })))
    }
}

/// Adds the contents of a document to `item`, and the item to `items`.
pub(super) fn read_document(file: &str, item: Item, items: &mut Items) {
    match parsed(file) {
        Ok(found) => cas::add(found, item, items),
        Err(why) => items.fault(item.place, None, why),
    }
}

/// Parses the annotations of a file, and its text with the id by which they refer to it. Entities are not
/// expanded: a file that declares any is refused.
fn parsed(file: &str) -> Result<Cas, String> {
    let mut reader = NsReader::from_str(file);
    let mut found = Cas::default();
    loop {
        let broken = |error: String| format!("this is no sound XML: {error}");
        match reader.read_event().map_err(|e| broken(e.to_string()))? {
            Event::Eof => return Ok(found),
            Event::DocType(_) => {
                return Err(
                    "it declares a document type, which no annotation file needs: it is not read".to_owned()
                );
            }
            Event::Start(element) | Event::Empty(element) => {
                let (space, name) = reader.resolver().resolve_element(element.name());
                let space = match space {
                    ResolveResult::Bound(space) => space.0.to_owned(),
                    _ => String::new(),
                };
                let name = name.into_inner().to_owned();
                let attributes = attributes(&element).map_err(broken)?;
                if space.ends_with("uima/cas.ecore") {
                    if name == "Sofa" && found.text.is_none() {
                        found.text = sofa(&attributes);
                    }
                } else if space != XMI && Annotation::is_of_annotators(&name) {
                    found.annotations.extend(annotation(name, attributes)?);
                }
            }
            _ => {}
        }
    }
}

fn attributes(element: &BytesStart<'_>) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|e| e.to_string())?;
        let name = attribute.key.local_name().into_inner().to_owned();
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|e| e.to_string())?;
        found.push((name, value.into_owned()));
    }
    Ok(found)
}

fn value<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The id and the text of a Sofa.
fn sofa(attributes: &[(String, String)]) -> Option<(String, String)> {
    let text = value(attributes, "sofaString")?;
    Some((value(attributes, "id")?.to_owned(), text.to_owned()))
}

fn annotation(kind: String, attributes: Vec<(String, String)>) -> Result<Option<Annotation>, String> {
    // A structure that belongs to no text is a list, or a part of another annotation.
    let Some(sofa) = value(&attributes, "sofa").map(str::to_owned) else { return Ok(None) };
    let offset = |name: &str| {
        value(&attributes, name)
            .map(|at| at.parse::<u32>().map_err(|_| format!("\"{at}\" is no offset of a {kind}")))
            .transpose()
    };
    let place = offset("begin")?.zip(offset("end")?);
    let features = attributes
        .iter()
        .filter(|(name, value)| {
            !PLAIN_ATTRIBUTES.contains(&name.as_str()) && Annotation::is_feature(name, value)
        })
        .cloned()
        .collect();
    // A reference is a number here like any other; only the type system distinguishes them.
    Ok(Some(Annotation { kind, sofa, place, features, references: Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "<?xml version=\"1.0\"?><xmi:XMI xmlns:xmi=\"http://www.omg.org/XMI\" \
        xmlns:cas=\"http:///uima/cas.ecore\" xmlns:q=\"http:///webanno/custom.ecore\">";

    #[test]
    fn entities_are_not_expanded() {
        let file = format!(
            "<!DOCTYPE x [<!ENTITY a \"aaaa\">]>{HEAD}<cas:Sofa xmi:id=\"1\" sofaString=\"&a;\"/></xmi:XMI>"
        );
        assert!(parsed(&file).err().unwrap().contains("declares a document type"));
        let file = format!("{HEAD}<cas:Sofa xmi:id=\"1\" sofaString=\"&a;\"/></xmi:XMI>");
        assert!(parsed(&file).err().unwrap().contains("no sound XML"));
    }

    #[test]
    fn character_references_in_attributes_are_decoded() {
        let file = format!("{HEAD}<cas:Sofa xmi:id=\"1\" sofaString=\"a&#10;b&amp;&#128522;\"/></xmi:XMI>");
        assert_eq!(parsed(&file).unwrap().text, Some(("1".to_owned(), "a\nb&😊".to_owned())));
    }
}
