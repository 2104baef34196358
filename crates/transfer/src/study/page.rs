//! Writes a task packet as a web page: one file with the texts, the desk and no request to any network.

use super::link_parameters::{ATTRIBUTE_PARAMETERS, ID_PARAMETERS};
use super::passphrase;
use crate::study::error::StudyError;
use dissensus_api::{
    self as view, AnnotatorInfo, PageAssignment, PageContent, PagePractice, PagePracticeAnswer,
    PagePracticeText, PageTarget, PageText,
};
use dissensus_domain::{Answer, AttributeForm, FactKind, JoinPage, Question, QuestionId};
use dissensus_editing::{care, consent::consent_text, question_info::question_info};
use dissensus_labelling::guideline::{guideline_info, picture_data};
use dissensus_project::error::ProjectError;
use dissensus_store::{Store, StoreError};
use serde::Serialize;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use uuid::Uuid;

/// The version of [`PageContent`].
const VERSION: u32 = 1;
/// The page without a packet, as `ui` builds it; empty where it was not built.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
/// How a page begins.
const PAGE_BEGIN: &[u8] = b"<!doctype html";
/// The most texts of a page. A submission contains everything that was done: with four questions about each
/// of so many texts it has 40,000 answers, or 8 MB, which is the most that a server takes and that services
/// such as e-mail carry.
const MOST_TEXTS: usize = 10_000;
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

/// Checks that a page of this many texts is not too large for a browser and for what it sends.
pub(super) fn check_texts(person: &str, texts: usize) -> Result<(), StudyError> {
    match texts > MOST_TEXTS {
        true => Err(StudyError::PageTooLarge { person: person.to_owned(), texts, most: MOST_TEXTS }),
        false => Ok(()),
    }
}

/// Checks the same for a page for everybody, with the texts of all parts.
pub(super) fn check_all_texts(texts: usize) -> Result<(), StudyError> {
    match texts > MOST_TEXTS {
        true => Err(StudyError::JoinPageTooLarge { texts, most: MOST_TEXTS }),
        false => Ok(()),
    }
}

/// Refuses a page where a packet or a project is wanted.
///
/// # Errors
/// The file begins like a page.
pub fn refuse_page(file: &Path) -> Result<(), ProjectError> {
    let mut first = Vec::new();
    let read = File::open(file).and_then(|file| file.take(PAGE_BEGIN.len() as u64).read_to_end(&mut first));
    match read.is_ok() && first.eq_ignore_ascii_case(PAGE_BEGIN) {
        true => Err(StudyError::IsPage(file.to_owned()).into()),
        false => Ok(()),
    }
}

/// What pages that are files do with answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageSettings {
    /// Where *Hand in* sends answers; `None` downloads a file.
    pub target: Option<PageTarget>,
    /// A code or an address that is shown once everything is answered and handed in.
    pub completion: Option<String>,
}

/// Checks that this program can write pages with these settings, before anything is assigned.
///
/// # Errors
/// It was built without pages, or a page cannot send to the address.
pub(super) fn check(settings: &PageSettings) -> Result<(), ProjectError> {
    check_built()?;
    origin_of(settings).map(drop)
}

/// How a page reaches its person.
#[derive(Clone, Copy, Debug)]
pub(super) enum Delivery<'a> {
    /// As a file. With a passphrase, it is encrypted.
    File { passphrase: Option<&'a str>, settings: &'a PageSettings },
    /// From a server, to which it sends what is done in it. A code or an address is shown at the end.
    Server { completion: Option<&'a str> },
}

/// The page of the packet in this file; `name` is the study's.
///
/// # Errors
/// This program was built without pages, or the packet cannot be read.
pub(super) fn page(packet: &Path, name: &str, delivery: Delivery<'_>) -> Result<String, ProjectError> {
    let mut content = content(&Store::open_reader(packet)?, name)?;
    let reached = match delivery {
        Delivery::Server { completion } => {
            content.online = true;
            content.completion = completion.map(str::to_owned);
            Some("'self'".to_owned())
        }
        Delivery::File { settings, .. } => {
            set(&mut content, settings);
            origin_of(settings)?
        }
    };
    let language = content.language;
    let mut content = json(&content)?;
    if let Delivery::File { passphrase: Some(passphrase), .. } = delivery {
        content = passphrase::lock(&content, passphrase, language)?;
    }
    in_template(&content, reached.as_deref())
}

/// The page for everybody whose texts are in this packet; `name` is the study's.
///
/// # Errors
/// This program was built without pages, or the packet cannot be read.
pub(super) fn join_page(
    packet: &Path,
    name: &str,
    id: Uuid,
    known: &JoinPage,
    settings: &PageSettings,
) -> Result<String, ProjectError> {
    let mut content = content(&Store::open_reader(packet)?, name)?;
    set(&mut content, settings);
    // The packet has each text once, in the order of the page.
    let part = |part: &Vec<(u32, u16, bool)>| {
        let item = |(at, occasion, _): &(u32, u16, bool)| {
            Some(PageAssignment { text: content.assignments.get(*at as usize)?.text, occasion: *occasion })
        };
        part.iter().filter_map(item).collect()
    };
    let page = view::JoinPage {
        version: VERSION,
        join: id.to_string(),
        key: known.key.clone(),
        ids: ID_PARAMETERS.map(str::to_owned).to_vec(),
        attributes: ATTRIBUTE_PARAMETERS.map(str::to_owned).to_vec(),
        parts: known.parts.iter().map(part).collect(),
        language: content.language,
        content: PageContent { assignments: Vec::new(), key: String::new(), ..content },
    };
    in_template(&json(&page)?, origin_of(settings)?.as_deref())
}

fn set(content: &mut PageContent, settings: &PageSettings) {
    content.target.clone_from(&settings.target);
    content.completion.clone_from(&settings.completion);
}

fn json(content: &impl Serialize) -> Result<String, ProjectError> {
    serde_json::to_string(content).map_err(|error| ProjectError::internal(&error))
}

pub(super) fn digits_of(key: &[u8; 32]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The origin of the address that takes submissions, for the policy of the page.
///
/// # Errors
/// It is no address that a page can send to.
fn origin_of(settings: &PageSettings) -> Result<Option<String>, ProjectError> {
    let Some(target) = &settings.target else { return Ok(None) };
    let refused = || StudyError::Target(target.url.clone());
    let (scheme, rest) = target.url.split_once("://").ok_or_else(refused)?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    // Browsers send to other computers only with TLS, as far as the page came with it; nobody else can read
    // answers then.
    let safe = scheme == "https" || (scheme == "http" && ["localhost", "127.0.0.1"].contains(&name));
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
    let reserved = ["filename", "data"].into_iter().find(|name| target.fields.contains_key(*name));
    if let Some(name) = reserved {
        return Err(StudyError::TargetField(name).into());
    }
    let clean = target.url.chars().all(|c| c.is_ascii_graphic() && !"\"'<>\\`".contains(c));
    match safe && clean && !name.is_empty() && host.chars().all(plain) {
        true => Ok(Some(format!("{scheme}://{host}"))),
        false => Err(refused().into()),
    }
}

/// The page with this content; `reached` is the only origin to which it can send something.
fn in_template(content: &str, reached: Option<&str>) -> Result<String, ProjectError> {
    let (before, after) = TEMPLATE.split_once(PLACE).ok_or(StudyError::NoPages)?;
    let before = match reached {
        Some(origin) => before.replacen(NO_REQUESTS, &format!("{NO_REQUESTS}; connect-src {origin}"), 1),
        None => before.to_owned(),
    };
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
        key: digits_of(&key.0),
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
        consent: store.consents()?.left(packet.annotator).map(consent_text),
        language: store.language()?,
        guideline: guideline.map(|(version, number)| guideline_info(version, number)),
        pictures: pictures.iter().flatten().map(picture_data).collect(),
        questions: questions.into_iter().map(|question| question_info(question, (0, 0))).collect(),
        online: false,
        completion: None,
        target: None,
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
