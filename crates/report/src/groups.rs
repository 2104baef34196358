//! Comparisons of groups of people, with a correction for the number of comparisons.

use super::document::Block;
use super::people::People;
use super::work::{ReportQuestion, Work};
use dissensus_analysis::group_comparison;
use dissensus_api::{Figure, GroupsChoice, PeopleChoice};
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_project::error::ProjectError;
use dissensus_project::pseudonyms::MIN_PEOPLE;
use dissensus_render::table::{Cell, Column};
use dissensus_stats::disagreement::holm;
use std::collections::HashSet;

/// Maximum number of comparisons of a question, those of the largest groups first.
const MAX_COMPARISONS: usize = 24;
/// Significance level for reporting a difference, after the correction.
const SHOWN: f64 = 0.05;

/// One value of an attribute against all others of that attribute.
#[derive(Debug, PartialEq)]
struct Pair {
    attribute: String,
    value: String,
    /// The others' values; the name is given if it is a single one.
    others: Vec<String>,
    people: [usize; 2],
}

/// The result of a comparison.
struct Comparison<'a> {
    pair: &'a Pair,
    question: String,
    gap: Option<Figure>,
    beyond: Option<Figure>,
    shared_texts: u32,
}

pub(super) fn blocks(work: &Work<'_>, asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let who = asked.labelled_people();
    let pairs = pairs(work.people, &who);
    if pairs.is_empty() {
        return Ok(vec![Block::Needs(format!(
            "No attribute of people divides those with labels into two groups of {MIN_PEOPLE} or more: there is nothing to compare."
        ))]);
    }
    let index = work.of.context.index();
    let learned = index.learned(asked.question.id);
    let all: Vec<(QuestionId, &Pair)> =
        pairs.iter().flat_map(|pair| learned.iter().map(move |id| (*id, pair))).collect();
    let mut found = Vec::new();
    for (id, pair) in all.iter().take(MAX_COMPARISONS) {
        let side = |values: &[String]| PeopleChoice {
            attributes: values.iter().map(|value| (pair.attribute.clone(), value.clone())).collect(),
            annotators: Vec::new(),
        };
        let choice = GroupsChoice { a: side(std::slice::from_ref(&pair.value)), b: side(&pair.others) };
        let compared = group_comparison::compare(&work.of.analysis, *id, &choice, 0, work.steps)?;
        found.push(Comparison {
            pair,
            question: index.question(*id).map_or_else(String::new, |one| one.name.clone()),
            gap: compared.gap,
            beyond: compared.equal_beyond,
            shared_texts: compared.shared_texts,
        });
    }
    let tests: Vec<Option<f64>> =
        found.iter().flat_map(|one| [&one.gap, &one.beyond].map(|of| of.and_then(|of| of.p))).collect();
    let corrected = holm(&tests);
    let count = tests.iter().flatten().count();
    let figure = |of: &Option<Figure>| Cell::estimate(of.map(|of| of.value), of.and_then(|of| of.interval));
    let row = |(at, one): (usize, &Comparison<'_>)| {
        let pair = one.pair;
        let against = match pair.others.as_slice() {
            [other] => other.clone(),
            _ => "all other values".to_owned(),
        };
        vec![
            Cell::text(&one.question),
            Cell::text(&pair.attribute),
            Cell::text(&pair.value),
            Cell::text(against),
            Cell::Count(pair.people[0] as u64),
            Cell::Count(pair.people[1] as u64),
            Cell::Count(one.shared_texts.into()),
            figure(&one.gap),
            Cell::three(corrected[2 * at]),
            figure(&one.beyond),
            Cell::three(corrected[2 * at + 1]),
        ]
    };
    let rows: Vec<Vec<Cell>> = found.iter().enumerate().map(row).collect();
    let columns = vec![
        Column::text("question"),
        Column::text("attribute"),
        Column::text("value"),
        Column::text("against"),
        Column::number("people"),
        Column::number("others"),
        Column::number("texts of both"),
        Column::estimate("levels higher (95 %)"),
        Column::number("p, corrected"),
        Column::estimate("equal pairs between less within (95 %)"),
        Column::number("p of that, corrected"),
    ];
    let shown = corrected.iter().flatten().filter(|p| **p <= SHOWN).count();
    let mut blocks = vec![Block::Text(format!(
        "Values of attributes that {MIN_PEOPLE} people or more with labels have, each against the people of whom the attribute has another value. By labels alone. \
         The p values are corrected by Holm's procedure for the {count} tests of this question that could be made, so that the chance to see any difference where there is none is {SHOWN} at most: {shown} of them are at or below it. \
         Intervals are of 95 % each and are not corrected, so that one may leave out 0 where the corrected p value is above 0.05. – where there is too little to tell."
    ))];
    if all.len() > MAX_COMPARISONS {
        blocks.push(Block::Needs(format!(
            "Only the first {MAX_COMPARISONS} of {} comparisons, those of the largest groups, were made: none of the others was looked at.",
            all.len()
        )));
    }
    let caption =
        "Groups of people compared over all texts that both labelled; p values corrected by Holm's procedure";
    blocks.push(asked.stems.table("groups", caption, columns, rows));
    Ok(blocks)
}

/// Comparable pairs of groups among people with labels: of two values only the first is reported. Values of
/// too few people are among the others.
fn pairs(people: &People, who: &HashSet<AnnotatorId>) -> Vec<Pair> {
    let (groups, _) = people.groups(who);
    let values = people.values();
    let with_labels = |ids: &[AnnotatorId]| ids.iter().filter(|id| who.contains(id)).count();
    let mut found: Vec<Pair> = Vec::new();
    for group in groups.iter().filter(|group| group.people.len() >= MIN_PEOPLE) {
        let Some(of) = values.get(group.attribute.as_str()) else { continue };
        let others: Vec<(&str, usize)> = of
            .iter()
            .filter(|(value, _)| **value != group.value)
            .map(|(value, ids)| (*value, with_labels(ids)))
            .collect();
        let rest = others.iter().map(|(_, n)| n).sum::<usize>();
        // Values of others without labels are not named.
        let named: Vec<String> =
            others.iter().filter(|(_, n)| *n > 0).map(|(value, _)| (*value).to_owned()).collect();
        let is_mirrored =
            |pair: &Pair| pair.attribute == group.attribute && pair.others == [group.value.clone()];
        if rest < MIN_PEOPLE || (named.len() == 1 && found.iter().any(is_mirrored)) {
            continue;
        }
        found.push(Pair {
            attribute: group.attribute.clone(),
            value: group.value.clone(),
            others: named,
            people: [group.people.len(), rest],
        });
    }
    found.sort_by_key(|pair| std::cmp::Reverse(pair.people[0].min(pair.people[1])));
    found
}
