//! One link for everybody: a page that invites, and a packet for each person who accepts.

use crate::messages::Spoken;
use crate::pages;
use crate::state::{Refusal, State, blocking, sender_of};
use axum::Form;
use axum::extract::{ConnectInfo, Query, State as From};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use dissensus_domain::Attributes;
use dissensus_render::escape::html;
use dissensus_transfer::study::{self, ATTRIBUTE_PARAMETERS, ID_PARAMETERS, Joining, MAX_PARAMETER};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// Leads back somebody who has joined in this browser, as the page has noted; another person can still join.
const SCRIPT: &str = "\"use strict\";
const form = document.getElementById(\"new\");
if (form) form.onsubmit = () => (form.querySelector(\"button\").disabled = true);
const back = document.getElementById(\"back\");
const known = localStorage.getItem(\"dissensus-joined:\" + new URL(\".\", location.href).pathname);
if (back && known && /\\/p\\/[0-9a-f]{32}$/.test(known)) {
  back.querySelector(\"a\").href = known;
  back.hidden = false;
  document.getElementById(\"new\").hidden = true;
  document.getElementById(\"other\").onclick = (event) => {
    event.preventDefault();
    document.getElementById(\"new\").hidden = false;
    back.hidden = true;
  };
}
";

pub(crate) async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript")], SCRIPT).into_response()
}

type Parameters = BTreeMap<String, String>;

/// The parameters that count, as far as they are no longer than such ids are.
fn known(given: &Parameters) -> impl Iterator<Item = (&str, &str)> {
    let wanted = ID_PARAMETERS.into_iter().chain(ATTRIBUTE_PARAMETERS);
    wanted.filter_map(|name| {
        let value = given.get(name)?.trim();
        (!value.is_empty() && value.chars().count() <= MAX_PARAMETER).then_some((name, value))
    })
}

/// Whether this cannot be the id of a person: too long, or the place for one that a platform has not filled
/// in.
fn is_no_id(id: &str) -> bool {
    id.chars().count() > MAX_PARAMETER || id.contains("{{") || id.contains("%PROLIFIC_PID%")
}

/// Asks whether to take part; only an answer makes a packet, so that programs that follow links make none.
pub(crate) async fn invitation(
    spoken: Spoken,
    From(state): From<Arc<State>>,
    Query(given): Query<Parameters>,
) -> Response {
    if state.offer.join.is_none() {
        return pages::message(spoken, StatusCode::NOT_FOUND, pages::UNKNOWN);
    }
    if ID_PARAMETERS.iter().filter_map(|name| given.get(*name)).any(|id| is_no_id(id.trim())) {
        return pages::message(spoken, StatusCode::CONFLICT, pages::NO_ENTRY);
    }
    let fields = known(&given)
        .map(|(name, value)| format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", html(value)));
    let fields: String = fields.collect();
    let texts = spoken.texts;
    // Somebody with an id comes back by it, also where others have used the browser.
    let back = match ID_PARAMETERS.iter().any(|name| given.contains_key(*name)) {
        true => String::new(),
        false => format!(
            "<div id=\"back\" hidden><p>{} <a href=\"join\"><strong>{}</strong></a></p>\
             <p><a id=\"other\" href=\"join\">{}</a></p></div>",
            html(&texts.begun),
            html(&texts.go_on),
            html(&texts.other_person)
        ),
    };
    let content = format!(
        "<p>{}</p><form id=\"new\" method=\"post\" action=\"join\">{fields}<button>{}</button></form>{back}\
         <script src=\"join.js\"></script>",
        html(&texts.invitation),
        html(&texts.take_part)
    );
    Html(pages::page(spoken, &state.offer.title, &content)).into_response()
}

/// Draws a packet for a new person, or finds that of a person who has one, and leads there.
pub(crate) async fn join(
    spoken: Spoken,
    From(state): From<Arc<State>>,
    ConnectInfo(sender): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Form(given): Form<Parameters>,
) -> Response {
    let Some(rules) = state.offer.join.clone() else {
        return pages::message(spoken, StatusCode::NOT_FOUND, pages::UNKNOWN);
    };
    if ID_PARAMETERS.iter().filter_map(|name| given.get(*name)).any(|id| is_no_id(id.trim())) {
        return pages::message(spoken, StatusCode::CONFLICT, pages::NO_ENTRY);
    }
    if !state.limits.allows_join(sender_of(&state, sender, &headers)) {
        return pages::message(spoken, StatusCode::TOO_MANY_REQUESTS, pages::TOO_MANY);
    }
    let mut person = Joining { id: None, attributes: Attributes::new() };
    for (name, value) in known(&given) {
        match ID_PARAMETERS.contains(&name) {
            true => person.id = person.id.or(Some(value.to_owned())),
            false => drop(person.attributes.insert(name.to_owned(), value.to_owned())),
        }
    }
    let joined = {
        let turn = Arc::clone(&state.pages).acquire_owned().await;
        let state = Arc::clone(&state);
        blocking(turn, move || {
            let link = study::join(&state.study, &rules, &person)?;
            state.packets.add(&link);
            Ok(link)
        })
        .await
    };
    match joined {
        Ok(link) => Redirect::to(&format!("p/{}", link.secret)).into_response(),
        Err(Refusal::Problem(error)) if error.code() == "join-full" => {
            pages::message(spoken, StatusCode::OK, pages::FULL)
        }
        Err(Refusal::Problem(error)) => {
            tracing::warn!(code = error.code(), "somebody could not join");
            match error.code() {
                "name" | "withdrawn" | "join-taken" => {
                    pages::message(spoken, StatusCode::CONFLICT, pages::NO_ENTRY)
                }
                _ => pages::message(spoken, StatusCode::SERVICE_UNAVAILABLE, pages::FAILED),
            }
        }
        Err(_) => pages::message(spoken, StatusCode::SERVICE_UNAVAILABLE, pages::FAILED),
    }
}
