//! Writes a task packet as a web page: one file with the texts, the desk and no request to any network.

use crate::study::error::StudyError;
use dissensus_api::{
    AnnotatorInfo, PageAssignment, PageContent, PagePractice, PagePracticeAnswer, PagePracticeText, PageText,
};
use dissensus_domain::{Answer, AttributeForm, FactKind, Question, QuestionId};
use dissensus_editing::{care, question_info::question_info};
use dissensus_labelling::guideline::{guideline_info, picture_data};
use dissensus_project::error::ProjectError;
use dissensus_store::{Store, StoreError};
use std::path::Path;

/// The version of [`PageContent`].
const VERSION: u32 = 1;
/// The page without a packet, as `ui` builds it; empty where it was not built.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
/// The beginning of the page's policy.
const NO_REQUESTS: &str = "default-src 'none'";
/// The element of the template that takes the packet.
const PLACE: &str = "<script type=\"application/json\" id=\"packet\"></script>";

/// Checks that this program can write pages.
///
/// # Errors
/// It was built without them.
pub(super) fn check_built() -> Result<(), ProjectError> {
    if TEMPLATE.contains(PLACE) { Ok(()) } else { Err(StudyError::NoPages.into()) }
}

/// Where a page sends what is done in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sends<'a> {
    /// Nowhere: its policy forbids every request.
    Nothing,
    /// To the server from which it came; with a code or an address that it shows at the end.
    ToServer { completion: Option<&'a str> },
}

/// The page of the packet in this file; `name` is the study's.
///
/// # Errors
/// This program was built without pages, or the packet cannot be read.
pub(super) fn page(packet: &Path, name: &str, sends: Sends<'_>) -> Result<String, ProjectError> {
    let (before, after) = TEMPLATE.split_once(PLACE).ok_or(StudyError::NoPages)?;
    let (online, completion, before) = match sends {
        Sends::Nothing => (false, None, before.to_owned()),
        Sends::ToServer { completion } => {
            let before = before.replacen(NO_REQUESTS, &format!("{NO_REQUESTS}; connect-src 'self'"), 1);
            (true, completion.map(str::to_owned), before)
        }
    };
    let content = PageContent { online, completion, ..content(&Store::open_reader(packet)?, name)? };
    let content = serde_json::to_string(&content).map_err(|e| ProjectError::internal(&e))?;
    // In HTML, only these characters could end the element.
    let content = content.replace('<', "\\u003c");
    let (open, close) = PLACE.split_at(PLACE.len() - "</script>".len());
    Ok([&before, open, &content, close, after].concat())
}

fn content(store: &Store, name: &str) -> Result<PageContent, ProjectError> {
    let packet = store.own_packet()?.ok_or(StudyError::NotPacket)?;
    let key = store.own_packet_key()?.ok_or(StudyError::NotPacket)?;
    let annotator = store.annotator(packet.annotator)?.ok_or(StudyError::NotPacket)?;
    let all = store.questions()?;
    let asked = |id: &QuestionId| all.iter().find(|question| question.id == *id);
    let questions: Vec<&Question> = packet.questions.iter().filter_map(asked).collect();
    let levels = questions.iter().map(|question| store.keys_by_id(question.id));
    let mut texts = Vec::new();
    store.for_each_text(|text| {
        texts.push(PageText { text: text.id, external_id: text.external_id, body: text.body });
        Ok::<(), StoreError>(())
    })?;
    let item =
        |item: &dissensus_domain::Assignment| PageAssignment { text: item.text, occasion: item.occasion };
    let form = store.fact(FactKind::AttributeForm, None, None, None)?;
    let form: AttributeForm =
        form.and_then(|fact| serde_json::from_value(fact.value).ok()).unwrap_or_default();
    let guideline = store.newest_guideline()?;
    let pictures = store.picture_names()?.into_iter().map(|name| store.picture(&name));
    let pictures: Vec<_> = pictures.collect::<Result<Vec<_>, _>>()?;
    Ok(PageContent {
        version: VERSION,
        project: store.project_id()?.to_string(),
        packet: packet.id.to_string(),
        key: key.0.iter().map(|byte| format!("{byte:02x}")).collect(),
        name: name.to_owned(),
        annotator: AnnotatorInfo {
            id: annotator.id,
            external_id: annotator.external_id,
            name: annotator.name,
            attributes: annotator.attributes,
            simulated: annotator.simulated,
            labels: 0,
            imported: false,
        },
        levels: levels.collect::<Result<_, _>>()?,
        texts,
        assignments: packet.assignments.iter().map(item).collect(),
        practice: practice(store, &questions)?,
        form: form.left(&store.form_answers(packet.annotator)?),
        care: care::settings_in(store, &all)?,
        guideline: guideline.map(|(version, number)| guideline_info(version, number)),
        pictures: pictures.iter().flatten().map(picture_data).collect(),
        questions: questions.into_iter().map(|question| question_info(question, (0, 0))).collect(),
        online: false,
        completion: None,
    })
}

fn practice(store: &Store, questions: &[&Question]) -> Result<PagePractice, ProjectError> {
    let facts = store.practice()?;
    let again = store.facts(FactKind::PracticeAgain)?;
    let after_ms = facts.answers.iter().map(|one| one.at_ms).chain(again.iter().map(|fact| fact.at_ms)).max();
    // Levels may have changed since.
    let on_scale = |id: QuestionId, answer: &Answer| {
        let asked = questions.iter().find(|question| question.id == id);
        asked.is_some_and(|question| answer.check(&question.scale).is_ok())
    };
    let texts = facts.texts.into_iter().filter(|one| on_scale(one.question, &one.answer));
    let answers = facts.answers.into_iter().filter(|one| on_scale(one.question, &one.answer));
    Ok(PagePractice {
        rule: facts.rule.unwrap_or_default(),
        texts: texts
            .map(|one| PagePracticeText {
                question: one.question,
                text: one.text,
                answer: one.answer,
                reason: one.reason,
            })
            .collect(),
        answers: answers
            .map(|one| PagePracticeAnswer {
                question: one.question,
                text: one.text,
                round: one.round,
                answer: one.answer,
            })
            .collect(),
        finished: facts.finished.into_iter().map(|(_, round)| round).collect(),
        again: facts.again.into_values().next(),
        after_ms: after_ms.unwrap_or(0) as f64,
    })
}
