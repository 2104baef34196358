//! How much labels of one text differ, and the texts on which they differ most.

use super::document::Block;
use super::work::{ReportQuestion, Work};
use dissensus_analysis::labels_differ::labels_differ;
use dissensus_analysis::overview;
use dissensus_domain::{Answer, AnswerForm, CurrentLabel, TargetKind};
use dissensus_project::error::ProjectError;
use dissensus_render::plots;
use dissensus_render::plots::Bar;
use dissensus_render::table::{Cell, Column};
use dissensus_stats::math::median::median;

/// Minimum number of texts with labels of two or more people for a figure of disagreement.
const ENOUGH: usize = 5;
/// Number of texts that are listed.
const TOP: usize = 20;
const BARS: usize = 10;

pub(super) fn blocks(work: &Work<'_>, asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let scale = &asked.question.scale;
    let of_text = |on_text: &[CurrentLabel]| {
        let answers: Vec<&Answer> = on_text.iter().map(|label| &label.answer).collect();
        labels_differ(scale, &answers).map(f64::from)
    };
    let values: Vec<f64> = asked.labels.chunk_by(|a, b| a.text == b.text).filter_map(of_text).collect();
    if values.len() < ENOUGH {
        return Ok(vec![Block::Needs(format!(
            "Too little to tell: {ENOUGH} texts with labels of two people or more are needed, and the question has {}.",
            values.len()
        ))]);
    }
    let measure = match (scale.form(), scale.target()) {
        (AnswerForm::Level, TargetKind::Ordinal) => {
            "the mean squared distance of two labels of the text over the largest that as many people can reach"
        }
        (AnswerForm::Level, TargetKind::Binary | TargetKind::Nominal) => {
            "the chance that two labels of the text differ, over its maximum for as many people"
        }
        (AnswerForm::Options, _) => "the chance that two people chose different sets",
        (AnswerForm::Spans, _) => "the chance that two people marked different passages",
    };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let none = values.iter().filter(|value| **value <= 0.0).count();
    let text = format!(
        "Disagreement on a text is {measure}: 0 where all agree, 1 where they could not differ more. By the labels alone, over {} texts with labels of two people or more: mean {mean:.3}, median {:.3}; on {none} all agree ({:.1} %).",
        values.len(),
        median(values.clone()).unwrap_or_default(),
        100.0 * none as f64 / values.len() as f64
    );
    let mut blocks = vec![Block::Text(text)];
    let caption =
        format!("Disagreement by labels, over {} texts with labels of two people or more", values.len());
    let svg = plots::histogram(&bars(&values), "disagreement", "texts")?;
    blocks.extend(asked.stems.figure("disagreement", caption, svg));
    let found = overview::contested(&work.of.analysis, asked.question.id, None, TOP)?;
    if found.observed.is_empty() {
        blocks.push(Block::Text("Nobody differs on any text.".to_owned()));
        return Ok(blocks);
    }
    let mut columns = vec![Column::number("rank"), Column::text("text id"), Column::number("disagreement")];
    columns.extend(scale.levels().iter().map(Column::number));
    if work.request.quote_texts {
        columns.push(Column::text("text (beginning)"));
    }
    let row = |(rank, one): (u64, &dissensus_api::ContestedText)| {
        let mut row =
            vec![Cell::Count(rank), Cell::text(&one.external_id), Cell::three(Some(one.value.into()))];
        row.extend(one.counts.iter().map(|n| Cell::Count((*n).into())));
        if work.request.quote_texts {
            row.push(Cell::text(&one.snippet));
        }
        row
    };
    let caption = format!(
        "The {} texts on which labels differ most, of {} with labels of two people or more, and how many labels hold each {}{}",
        found.observed.len(),
        values.len(),
        if scale.has_options() { "option or type" } else { "level" },
        if work.request.quote_texts { "" } else { "; the texts themselves are not quoted" }
    );
    blocks.push(asked.stems.table(
        "contested",
        caption,
        columns,
        (1..).zip(&found.observed).map(row).collect(),
    ));
    Ok(blocks)
}

/// Ten bars from 0 to 1; each includes its upper end, and the first one 0.
fn bars(values: &[f64]) -> Vec<Bar> {
    let mut bars: Vec<Bar> =
        (0..BARS).map(|at| (at as f64 / BARS as f64, (at + 1) as f64 / BARS as f64, 0)).collect();
    for value in values {
        // A hundredth of a bar: tenths are approximated by 32-bit values.
        let at = ((value * BARS as f64 - 1e-6).ceil() as usize).clamp(1, BARS) - 1;
        bars[at].2 += 1;
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::bars;

    #[test]
    fn histogram_counts_every_text_once() {
        let found = bars(&[0.0, 0.1, f64::from(0.1_f32), 0.1001, 1.0]);
        let counts: Vec<u64> = found.iter().map(|bar| bar.2).collect();
        assert_eq!(counts, [3, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    }
}
