//! Soft labels, one row per text: numbers of labels of each kind, their distribution, their mean and their
//! disagreement.

use super::work::ReportQuestion;
use dissensus_analysis::text_figures::TextFigures;
use dissensus_domain::TextId;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_render::escape::cell;
use std::collections::HashMap;

/// Writes the file. For a question with options or types a label may contain several, so that shares need
/// not sum to 1.
pub(super) fn csv(context: &Context, asked: &ReportQuestion) -> Result<Vec<u8>, ProjectError> {
    let failed = |e: csv::Error| ProjectError::internal(&e);
    let scale = &asked.question.scale;
    let names: HashMap<TextId, String> = context.store.all_text_ids_and_externals()?.into_iter().collect();
    let mut out = csv::Writer::from_writer(Vec::new());
    let levels = |before: &str| -> Vec<String> {
        scale.levels().iter().map(|level| cell(&format!("{before}_{level}"))).collect()
    };
    let mut header = vec!["text_id".to_owned(), "labels".to_owned()];
    header.extend(levels("count"));
    header.extend(levels("share"));
    header.extend(["mean".to_owned(), "disagreement".to_owned()]);
    out.write_record(&header).map_err(failed)?;
    for on_text in asked.labels.chunk_by(|a, b| a.text == b.text) {
        let Some(name) = names.get(&on_text[0].text) else { continue };
        let figures = TextFigures::new(scale, on_text);
        let mut row = vec![name.clone(), figures.labels.to_string()];
        row.extend(figures.counts.iter().map(ToString::to_string));
        let shown = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        row.extend(figures.shares().map(shown));
        row.push(shown(figures.mean));
        row.push(figures.disagreement.map_or_else(String::new, |value| value.to_string()));
        out.write_record(&row).map_err(failed)?;
    }
    out.into_inner().map_err(|e| ProjectError::internal(&e))
}
