//! Computes a plan, before anything is handed out.

use super::Study;
use super::drawing::{DrawParameters, ExistingWork, Item, Person, draw, draw_next};
use super::joined::Joined;
use super::open_parts::page_parts;
use crate::study::error::StudyError;
use crate::study::practice;
use dissensus_api::{StudyDraft, StudyRequest, StudyShare};
use dissensus_domain::{Annotator, AnnotatorId, Packet, Question, QuestionId, TextId, look_alike};
use dissensus_project::answer_time::median_seconds;
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_project::names::checked_name;
use dissensus_store::{PacketKey, Store};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is to be planned.
#[derive(Clone, Copy, Debug)]
pub struct StudyPlan<'a> {
    pub request: &'a StudyRequest,
    /// As if nobody else came by pages for everybody. Otherwise their parts that nobody has yet are planned
    /// for people to come.
    pub without_pages: bool,
}

impl<'a> From<&'a StudyRequest> for StudyPlan<'a> {
    fn from(request: &'a StudyRequest) -> Self {
        Self { request, without_pages: false }
    }
}

/// A plan that can be handed out.
pub(super) struct DrawnPlan {
    /// The questions about each text.
    pub(super) questions: Vec<Question>,
    /// The annotators, in the order of the request.
    pub(super) people: Vec<DrawnPerson>,
    /// The anchors of the study, including earlier ones.
    pub(super) anchors: BTreeSet<usize>,
    /// Every text of the project.
    pub(super) texts: Vec<TextId>,
    /// How many of them annotators can be asked about, without practice texts.
    pub(super) asked: usize,
    /// Number of texts that two or more annotators of the study will have.
    pub(super) shared: usize,
    /// Annotators who have to practise again because of attention checks, and from which round.
    pub(super) again: Vec<(AnnotatorId, u32)>,
}

/// An annotator in the plan.
struct PlannedAnnotator {
    /// External id.
    name: String,
    /// `None` for an annotator who is to be added.
    known: Option<Annotator>,
    near: NearNames,
}

/// Annotators whose names look like that of a new one.
#[derive(Default)]
pub(super) struct NearNames {
    /// The external id of an annotator in the project or the plan.
    pub(super) person: Option<String>,
    /// Whether it is an annotator who has withdrawn.
    pub(super) withdrawn: bool,
}

/// The assignments of one annotator.
pub(super) struct DrawnPerson {
    /// External id, including that of a new annotator.
    pub(super) name: String,
    /// The row of an annotator who is in the project.
    pub(super) id: Option<AnnotatorId>,
    pub(super) near: NearNames,
    /// Number of packets that this annotator has.
    pub(super) packets: u32,
    /// Number of texts that the annotator was assigned or had answered before.
    pub(super) before: usize,
    /// The new assignments.
    pub(super) items: Vec<Item>,
}

/// Computes a plan; nothing is changed.
///
/// # Errors
/// The plan is impossible ([`StudyError`] names the number that prevents it), a question or an attribute
/// is unknown, or the file cannot be read.
pub fn draft<'a>(cx: &Study, plan: impl Into<StudyPlan<'a>>) -> Result<StudyDraft, ProjectError> {
    let drawn = drawn(cx, plan, Draw::Plan)?;
    summarise(cx, &drawn)
}

/// For whom texts are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Draw<'a> {
    /// For all people of a plan: every text gets as many as it lacks.
    Plan,
    /// For one more person, who gets the texts that fewest have. What people who `joined` got before
    /// `since_ms` counts only as far as it is answered.
    Next { since_ms: i64, joined: &'a Joined },
}

/// Draws the new assignments of each annotator, in addition to the existing ones.
pub(super) fn drawn<'a>(
    cx: &Study,
    plan: impl Into<StudyPlan<'a>>,
    how: Draw<'_>,
) -> Result<DrawnPlan, ProjectError> {
    let StudyPlan { request, without_pages } = plan.into();
    cx.whole_project()?;
    let wanted = wanted(request)?;
    let index = cx.context.index();
    let questions = questions(&index, request)?;
    let texts = index.texts().to_vec();
    let book = cx.practice.book()?;
    let practice: BTreeSet<usize> = (0..texts.len()).filter(|row| book.is_practice(texts[*row])).collect();
    if texts.len() == practice.len() {
        return Err(StudyError::NoTexts.into());
    }
    let people = people(&index, &cx.context.store, request)?;
    let known: Vec<AnnotatorId> = people.iter().filter_map(|asked| Some(asked.known.as_ref()?.id)).collect();
    let again = practice::practise_again(cx, &known)?;
    let packets = cx.context.store.packets()?;
    let counts = |packet: &Packet| match how {
        Draw::Plan => true,
        Draw::Next { since_ms, joined } => {
            packet.made_at_ms >= since_ms
                || !joined.contains_key(&packet.id.0)
                || known.contains(&packet.annotator)
        }
    };
    let mut owned = owned(cx, &index, &packets, &questions, counts)?;
    owned.values_mut().for_each(|has| has.retain(|text| !practice.contains(text)));
    let groups = groups(&index, request, &people)?;
    let member =
        |id: &AnnotatorId| people.iter().any(|asked| asked.known.as_ref().is_some_and(|p| p.id == *id));
    let handed: HashSet<AnnotatorId> = packets.iter().map(|(packet, _)| packet.annotator).collect();
    let mut count = vec![0; texts.len()];
    for (_, has) in owned.iter().filter(|(id, _)| handed.contains(id) || member(id)) {
        has.iter().for_each(|text| count[*text] += 1);
    }
    let mut open = page_parts(cx)?;
    open.retain(|part| part.open && !without_pages);
    for part in open.iter().filter(|part| questions.iter().all(|one| part.questions.contains(&one.id))) {
        for item in part.assignments.iter().filter(|item| item.occasion == 1) {
            index.text_row(item.text).into_iter().for_each(|row| count[row as usize] += 1);
        }
    }
    let assigned = packets.iter().flat_map(|(packet, _)| &packet.assignments);
    let assigned = assigned.chain(open.iter().flat_map(|part| &part.assignments));
    let anchors = assigned.filter(|item| item.anchor);
    let anchors = anchors.filter_map(|item| Some(index.text_row(item.text)? as usize));
    let anchors = anchors.filter(|text| !practice.contains(text)).collect();
    let person = |asked: &PlannedAnnotator| Person {
        name: asked.name.clone(),
        has: asked.known.as_ref().and_then(|person| owned.get(&person.id).cloned()).unwrap_or_default(),
        group: groups.get(&asked.name).copied(),
    };
    let asked: HashSet<QuestionId> = questions.iter().map(|question| question.id).collect();
    let checks = cx.context.store.attention_checks()?;
    let checks = checks.iter().filter(|check| asked.contains(&check.question));
    let checks = checks.filter_map(|check| Some(index.text_row(check.text)? as usize));
    let checks = checks.filter(|text| !practice.contains(text)).collect();
    let people_asked = people.iter().map(person).collect();
    let asked = texts.len() - practice.len();
    let known = ExistingWork { texts: texts.len(), count, anchors, checks, practice, people: people_asked };
    let items = match how {
        Draw::Plan => draw(&wanted, &known),
        Draw::Next { .. } => draw_next(&wanted, &known),
    };
    let items = items.map_err(StudyError::from)?;
    let mut people_of = known.count.clone();
    items.iter().flatten().filter(|item| item.occasion == 1).for_each(|item| people_of[item.text] += 1);
    let shared = people_of.iter().filter(|people| **people > 1).count();
    let mut anchors = known.anchors;
    anchors.extend(items.iter().flatten().filter(|item| item.anchor).map(|item| item.text));
    let drawn = |((asked, items), person): ((PlannedAnnotator, Vec<Item>), &Person)| {
        let id = asked.known.map(|known| known.id);
        let packets = packets.iter().filter(|(packet, _)| Some(packet.annotator) == id).count() as u32;
        let PlannedAnnotator { name, near, .. } = asked;
        DrawnPerson { name, id, near, packets, before: person.has.len(), items }
    };
    let people = people.into_iter().zip(items).zip(&known.people).map(drawn).collect();
    Ok(DrawnPlan { questions, people, anchors, texts, asked, shared, again })
}

/// Returns the texts that each annotator was assigned with all of these questions, in packets that count, or
/// has answered as far as the questions have no condition.
fn owned(
    cx: &Study,
    index: &Index,
    packets: &[(Packet, PacketKey)],
    questions: &[Question],
    counts: impl Fn(&Packet) -> bool,
) -> Result<HashMap<AnnotatorId, HashSet<usize>>, ProjectError> {
    let mut owned: HashMap<AnnotatorId, HashSet<usize>> = HashMap::new();
    let row = |text: TextId| index.text_row(text).map(|row| row as usize);
    for (packet, _) in packets {
        if counts(packet) && questions.iter().all(|question| packet.questions.contains(&question.id)) {
            let texts = packet.assignments.iter().filter_map(|item| row(item.text));
            owned.entry(packet.annotator).or_default().extend(texts);
        }
    }
    let always = questions.iter().filter(|question| question.only_if.is_none());
    let mut answered: HashMap<(AnnotatorId, usize), usize> = HashMap::new();
    for question in always.clone() {
        let labels = cx.context.store.current_labels(question.id)?.into_iter();
        let labelled = labels.map(|label| (label.text, label.annotator));
        for (text, annotator) in labelled.chain(cx.context.store.cannot_say(question.id)?) {
            if let Some(row) = row(text) {
                *answered.entry((annotator, row)).or_default() += 1;
            }
        }
    }
    let wanted = always.count();
    for ((who, text), _) in answered.into_iter().filter(|(_, given)| *given == wanted) {
        owned.entry(who).or_default().insert(text);
    }
    Ok(owned)
}

/// Summarises a drawn plan in numbers.
pub(super) fn summarise(cx: &Study, drawn: &DrawnPlan) -> Result<StudyDraft, ProjectError> {
    let share = |person: &DrawnPerson| {
        let first = person.items.iter().filter(|item| item.occasion == 1);
        StudyShare {
            annotator: person.name.clone(),
            known: person.id.is_some(),
            looks_like: person.near.person.clone(),
            looks_withdrawn: person.near.withdrawn,
            texts: first.clone().count() as u32,
            anchors: first.filter(|item| item.anchor).count() as u32,
            repeats: person.items.iter().filter(|item| item.occasion > 1).count() as u32,
            before: person.before as u32,
            file: None,
        }
    };
    let people: Vec<StudyShare> = drawn.people.iter().map(share).collect();
    let asked: u32 = drawn.people.iter().map(|person| person.items.len() as u32).sum();
    let mut each = Some(0.0);
    for question in &drawn.questions {
        let (time, _) = median_seconds(&cx.context.store, question.id)?;
        each = each.zip(time).map(|(sum, time)| sum + time);
    }
    let repeats = people.iter().map(|person| person.repeats).filter(|repeats| *repeats > 0).min();
    Ok(StudyDraft {
        answers: asked * drawn.questions.len() as u32,
        texts: drawn.asked as u32,
        anchors: drawn.anchors.len() as u32,
        seconds: each.map(|each| each * f64::from(asked)),
        margin: (drawn.shared > 0).then(|| margin(drawn.shared as f64)),
        self_margin: repeats.map(|repeats| margin(repeats.into())),
        people,
    })
}

/// Half the width of a 95 % interval of a share over `n` independent texts at its widest, in percentage
/// points: `1.96 sqrt(.25 / n)`. A value between 0 and 1 on each text varies most if it is always 0 or 1, so
/// a share of pairs within texts is known at least so well.
fn margin(n: f64) -> f64 {
    98.0 / n.sqrt()
}

fn wanted(request: &StudyRequest) -> Result<DrawParameters, StudyError> {
    let refused = |what, value: String, allowed| Err(StudyError::Range { what, value, allowed });
    if request.per_text == 0 {
        return refused("labels a text", "0".to_owned(), "1 or more");
    }
    if !(0.0..=1.0).contains(&request.repeat) {
        return refused("the share asked again", request.repeat.to_string(), "a number from 0 to 1");
    }
    if request.repeat > 0.0 && request.again_after == 0 {
        return refused("the texts before one is asked again", "0".to_owned(), "1 or more");
    }
    if request.per_person == Some(0) {
        return refused("texts a person", "0".to_owned(), "1 or more");
    }
    Ok(DrawParameters {
        per_text: request.per_text as usize,
        per_person: request.per_person.map(|most| most as usize),
        anchors: request.anchors as usize,
        repeat: request.repeat,
        gap: request.again_after as usize,
        seed: request.seed,
    })
}

/// Returns the questions of the request, or all, in the project's order, with the questions that they
/// depend on.
fn questions(index: &Index, request: &StudyRequest) -> Result<Vec<Question>, ProjectError> {
    for id in &request.questions {
        index.whole(*id)?;
    }
    let asked = |q: &&Question| request.questions.is_empty() || request.questions.contains(&q.id);
    let questions: Vec<Question> = index.questions().iter().filter(asked).cloned().collect();
    for question in &questions {
        let Some(only_if) = &question.only_if else { continue };
        if questions.iter().all(|other| other.id != only_if.question) {
            let other = index.question(only_if.question).map_or("?", |other| other.name.as_str());
            return Err(
                StudyError::Condition { question: question.name.clone(), other: other.to_owned() }.into()
            );
        }
    }
    match questions.is_empty() {
        true => Err(ProjectError::NoQuestion),
        false => Ok(questions),
    }
}

/// Returns the annotators to ask, by external id, with the data of those who are in the project.
fn people(
    index: &Index,
    store: &Store,
    request: &StudyRequest,
) -> Result<Vec<PlannedAnnotator>, ProjectError> {
    let mut people: Vec<PlannedAnnotator> = Vec::new();
    let mut looks: HashMap<String, String> = HashMap::new();
    for person in index.annotators() {
        for name in [&person.external_id, &person.name] {
            looks.insert(look_alike(name), person.external_id.clone());
        }
    }
    for name in &request.people {
        let known = index.annotator_named(name).cloned();
        let name = match &known {
            Some(known) => known.external_id.clone(),
            None => checked_name("annotator", name)?,
        };
        if people.iter().any(|other| other.name == name) {
            return Err(StudyError::Twice(name).into());
        }
        let near = match known {
            Some(_) => NearNames::default(),
            None => NearNames {
                person: looks.insert(look_alike(&name), name.clone()),
                withdrawn: store.looks_withdrawn(&name)? && !store.has_withdrawn(&name)?,
            },
        };
        people.push(PlannedAnnotator { name, known, near });
    }
    match people.is_empty() {
        true => Err(StudyError::Nobody.into()),
        false => Ok(people),
    }
}

/// Returns the group of each annotator for whom it is known.
fn groups(
    index: &Index,
    request: &StudyRequest,
    people: &[PlannedAnnotator],
) -> Result<HashMap<String, usize>, ProjectError> {
    let Some(attribute) = &request.balance else { return Ok(HashMap::new()) };
    let known: BTreeSet<&String> = index.annotators().iter().flat_map(|a| a.attributes.keys()).collect();
    if !known.contains(attribute) {
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        return Err(StudyError::Balance { attribute: attribute.clone(), known: known.join(", ") }.into());
    }
    let value = |asked: &PlannedAnnotator| Some(asked.known.as_ref()?.attributes.get(attribute)?.clone());
    let values: BTreeSet<String> = people.iter().filter_map(value).collect();
    let group = |asked: &PlannedAnnotator| {
        let value = value(asked)?;
        Some((asked.name.clone(), values.iter().position(|other| *other == value)?))
    };
    Ok(people.iter().filter_map(group).collect())
}
