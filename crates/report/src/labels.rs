//! Number of labels, by people and texts, and the use of levels.

use super::document::Block;
use super::work::{ReportQuestion, Work};
use dissensus_analysis::labels_differ::level_counts;
use dissensus_domain::{Answer, AnswerForm};
use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use dissensus_render::plots;
use dissensus_render::plots::Bar;
use dissensus_render::table::{Cell, Column};
use dissensus_stats::math::median::median;

/// Maximum number of bars in a histogram.
const BARS: u64 = 24;

pub(super) fn blocks(work: &Work<'_>, asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let (stems, question) = (&asked.stems, &asked.question);
    let (per_text, per_person) = (asked.per_text(), asked.per_person());
    let texts = work.of.context.index().texts().len();
    let cannot_say = work.of.context.store.cannot_say(question.id)?.len() as u64;
    let marks = work.of.context.store.all_marks(question.id)?;
    let skipped = marks.iter().filter(|one| one.marks.skipped && one.current.is_none()).count() as u64;
    let mut blocks = vec![Block::Text(format!("Asked: “{}”", question.prompt))];
    blocks.push(Block::Text(format!(
        "{} by {} on {} of the project's {}; {} have labels of two people or more. Besides, {} of “cannot say” and {} without an answer, which are no labels.",
        counted(asked.labels.len() as u64, "label"),
        counted(per_person.len() as u64, "person").replace("persons", "people"),
        per_text.len(),
        counted(texts as u64, "text"),
        asked.shared(),
        counted(cannot_say, "answer"),
        counted(skipped, "skip"),
    )));
    if asked.labels.is_empty() {
        blocks.push(Block::Needs(
            "There are no labels yet: nothing can be estimated for this question.".to_owned(),
        ));
        return Ok(blocks);
    }
    let people: Vec<u64> = per_person.values().copied().collect();
    let columns = ["median", "mean", "fewest", "most"].map(Column::number);
    let columns = [Column::text("labels"), Column::number("over")].into_iter().chain(columns).collect();
    let row = |name: &str, counts: &[u64]| {
        let (few, many) = (counts.iter().min(), counts.iter().max());
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let middle = median(counts.iter().map(|n| *n as f64).collect());
        let count = |n: Option<&u64>| n.map_or(Cell::Nothing, |n| Cell::Count(*n));
        vec![
            Cell::text(name),
            Cell::Count(counts.len() as u64),
            middle.map_or(Cell::Nothing, |middle| Cell::Number(middle, 1)),
            Cell::Number(mean, 2),
            count(few),
            count(many),
        ]
    };
    let rows = vec![row("a text with labels", &per_text), row("a person with labels", &people)];
    blocks.push(stems.table("labels", "Labels a text and a person", columns, rows));
    let of_texts = plots::histogram(&whole_bars(&per_text), "labels a text", "texts")?;
    let over = counted(per_text.len() as u64, "text");
    blocks.extend(stems.figure("labels-a-text", format!("Labels a text, over {over} with labels"), of_texts));
    let of_people = plots::histogram(&whole_bars(&people), "labels a person", "people")?;
    let over = counted(people.len() as u64, "person").replace("persons", "people");
    blocks.extend(stems.figure(
        "labels-a-person",
        format!("Labels a person, over {over} with labels"),
        of_people,
    ));
    blocks.extend(levels(asked)?);
    Ok(blocks)
}

/// How often each level, option or type was given.
fn levels(asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let scale = &asked.question.scale;
    let answers: Vec<&Answer> = asked.labels.iter().map(|label| &label.answer).collect();
    let counts = level_counts(scale, &answers);
    let all = asked.labels.len() as f64;
    let what = scale.form().part();
    let together = match scale.form() {
        AnswerForm::Options => "; a label may hold several or none",
        AnswerForm::Spans => "; a label holds a type where it marks one passage of it or more",
        AnswerForm::Level => "",
    };
    let row = |(name, n): (&String, &u32)| {
        vec![Cell::text(name), Cell::Count((*n).into()), Cell::percent(Some(f64::from(*n) / all))]
    };
    let mut rows: Vec<Vec<Cell>> = scale.levels().iter().zip(&counts).map(row).collect();
    if scale.has_options() {
        let none =
            asked.labels.iter().filter(|label| level_counts(scale, &[&label.answer]).iter().all(|n| *n == 0));
        let none = none.count();
        rows.push(vec![
            Cell::text("(none)"),
            Cell::Count(none as u64),
            Cell::percent(Some(none as f64 / all)),
        ]);
    }
    let caption =
        format!("Use of each {what}, over {}{together}", counted(asked.labels.len() as u64, "label"));
    let columns = vec![Column::text(what), Column::number("labels"), Column::number("% of labels")];
    let bar = |(name, n): (&String, &u32)| {
        let share = 100.0 * f64::from(*n) / all;
        (name.clone(), share, format!("{share:.1} %"))
    };
    let bars: Vec<_> = scale.levels().iter().zip(&counts).map(bar).collect();
    let svg = plots::bars(&bars, "% of labels")?;
    let table = asked.stems.table("levels", caption.clone(), columns, rows);
    Ok(std::iter::once(table).chain(asked.stems.figure("levels", caption, svg)).collect())
}

/// Bars of whole numbers: one for each if they are few, else of equal width.
fn whole_bars(counts: &[u64]) -> Vec<Bar> {
    let (Some(low), Some(high)) = (counts.iter().min(), counts.iter().max()) else { return Vec::new() };
    let width = (high - low + 1).div_ceil(BARS);
    let bars = (high - low) / width + 1;
    let bar = |at: u64| {
        let from = low + at * width;
        let n = counts.iter().filter(|n| (from..from + width).contains(n)).count() as u64;
        (from as f64 - 0.5, (from + width) as f64 - 0.5, n)
    };
    (0..bars).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::whole_bars;

    #[test]
    fn histogram_contains_every_count_once() {
        assert_eq!(whole_bars(&[3, 3, 5]), [(2.5, 3.5, 2), (3.5, 4.5, 0), (4.5, 5.5, 1)]);
        let many: Vec<u64> = (1..=1000).collect();
        let bars = whole_bars(&many);
        assert!(bars.len() <= 24 && bars.iter().map(|bar| bar.2).sum::<u64>() == 1000);
        assert!(whole_bars(&[]).is_empty());
    }
}
