//! Reads labels and embeddings for the examples.

use anyhow::{Context, Result, ensure};
use dissensus_domain::Split;
use dissensus_stats::data::{Attribute, Embeddings, Observation};
use std::collections::BTreeMap;

/// Labels of a CSV with one row each; texts and annotators are numbered by their first rows.
pub(crate) struct Labels {
    pub(crate) observations: Vec<Observation>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) splits: Vec<Option<Split>>,
    pub(crate) annotators: usize,
    pub(crate) levels: usize,
}

impl Labels {
    /// Reads `text_id`, `annotator_id`, `label`, `split` (if present) and attributes.
    pub(crate) fn read(path: &str) -> Result<Self> {
        let mut reader = csv::Reader::from_path(path).with_context(|| path.to_owned())?;
        let headers = reader.headers()?.clone();
        let column = |name: &str| headers.iter().position(|h| h == name);
        let need = |name: &str| column(name).with_context(|| format!("no column {name}"));
        let (text, annotator, label) = (need("text_id")?, need("annotator_id")?, need("label")?);
        let split = column("split");
        let known = ["text_id", "text", "annotator_id", "label", "split"];
        let mut attributes: Vec<(usize, Attribute)> = headers
            .iter()
            .enumerate()
            .filter(|(_, name)| !known.contains(name))
            .map(|(at, name)| (at, Attribute { name: name.to_owned(), ..Attribute::default() }))
            .collect();
        let (mut texts, mut people) = (BTreeMap::new(), BTreeMap::new());
        let mut values = Vec::new();
        let mut splits = Vec::new();
        let mut observations = Vec::new();
        let mut current = BTreeMap::new();
        for row in reader.records() {
            let row = row?;
            let next = texts.len() as u32;
            let t = *texts.entry(row[text].to_owned()).or_insert(next);
            if t == next {
                splits.push(split.and_then(|s| Split::from_name(&row[s])));
            }
            let next = people.len() as u32;
            let a = *people.entry(row[annotator].to_owned()).or_insert(next);
            if a == next {
                for (at, attribute) in &mut attributes {
                    attribute.of.push(place(&mut attribute.values, &row[*at]));
                }
            }
            let value: i64 = row[label].parse()?;
            // An annotator who labelled a text twice: the later label counts.
            let at = *current.entry((t, a)).or_insert(observations.len());
            if at == observations.len() {
                values.push(value);
                observations.push(Observation { text: t, annotator: a, level: 0 });
            }
            values[at] = value;
        }
        let low = values.iter().min().context("no labels")?;
        for (o, v) in observations.iter_mut().zip(&values) {
            o.level = u16::try_from(v - low)?;
        }
        let levels = observations.iter().map(|o| usize::from(o.level)).max().unwrap_or(0) + 1;
        let attributes = attributes.into_iter().map(|(_, attribute)| attribute).collect();
        Ok(Self { observations, attributes, splits, annotators: people.len(), levels })
    }
}

/// The index of `value`, which is added to `values` if it is new; `None` for an empty one.
fn place(values: &mut Vec<String>, value: &str) -> Option<u16> {
    if value.is_empty() {
        return None;
    }
    let at = values.iter().position(|v| v == value).unwrap_or(values.len());
    if at == values.len() {
        values.push(value.to_owned());
    }
    u16::try_from(at).ok()
}

/// Reads a little-endian single-precision C-ordered matrix.
pub(crate) fn read_npy(path: &str) -> Result<Embeddings> {
    let bytes = std::fs::read(path).with_context(|| path.to_owned())?;
    ensure!(bytes.starts_with(b"\x93NUMPY\x01"), "{path} is no NumPy file of version 1");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length])?;
    ensure!(header.contains("'<f4'") && header.contains("False"), "{path}: {header}");
    let shape = header.split('(').nth(1).and_then(|s| s.split(')').next()).context("no shape")?;
    let dim: usize = shape.split(',').nth(1).context("not a matrix")?.trim().parse()?;
    let rows =
        bytes[10 + length..].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    Ok(Embeddings::new(dim, rows)?)
}
