//! Short pages without a packet.

use crate::messages::{Messages, Spoken};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use dissensus_render::escape::html;

/// A title and a sentence.
pub(crate) type Message = fn(&Messages) -> (&str, &str);

pub(crate) const FRONT: Message = |texts| (&texts.front_title, &texts.front_text);
pub(crate) const UNKNOWN: Message = |texts| (&texts.unknown_title, &texts.unknown_text);
pub(crate) const TOO_MANY: Message = |texts| (&texts.too_many_title, &texts.too_many_text);
pub(crate) const FULL: Message = |texts| (&texts.full_title, &texts.full_text);
pub(crate) const NO_ENTRY: Message = |texts| (&texts.no_entry_title, &texts.no_entry_text);
pub(crate) const FAILED: Message = |texts| (&texts.failed_title, &texts.failed_text);

pub(crate) fn message(spoken: Spoken, status: StatusCode, message: Message) -> Response {
    let (title, text) = message(spoken.texts);
    (status, Html(page(spoken, title, &format!("<p>{}</p>", html(text))))).into_response()
}

/// A page with this title as text, and content as HTML; its only scripts are the server's.
pub(crate) fn page(spoken: Spoken, title: &str, content: &str) -> String {
    let title = html(title);
    let language = spoken.language;
    let direction = if language == dissensus_domain::Language::Ar { "rtl" } else { "ltr" };
    format!(
        "<!doctype html><html lang=\"{language}\" dir=\"{direction}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'self'\">\
         <title>{title}</title>\
         <style>:root{{color-scheme:light dark;font:17px/1.5 system-ui,sans-serif}}\
         main{{max-width:34rem;margin:18vh auto;padding:0 1rem}}h1{{font-size:1.4rem}}\
         button{{font:inherit;padding:.6rem 1.4rem;border-radius:.5rem;border:1px solid;cursor:pointer}}\
         button:focus-visible,a:focus-visible{{outline:3px solid #2e6bd6;outline-offset:2px}}</style></head>\
         <body><main><h1 dir=\"auto\">{title}</h1>{content}</main></body></html>"
    )
}
