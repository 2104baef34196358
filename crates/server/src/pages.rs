//! Short pages without a packet.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use dissensus_render::escape::html;

/// A title and a sentence.
pub(crate) type Message = (&'static str, &'static str);

pub(crate) const FRONT: Message =
    ("Open your own link", "This is the server of a study. Each person has a link of their own: open yours.");
pub(crate) const UNKNOWN: Message = (
    "This link leads nowhere",
    "Check that the whole link was copied, or ask the person who sent it to you for a new one.",
);
pub(crate) const TOO_MANY: Message =
    ("Too many requests", "Wait a minute, then load the page again. Nothing is lost.");
pub(crate) const FULL: Message = (
    "Nobody else is needed at the moment",
    "Others are answering all texts, or have answered them. If you were asked to take part, try again later.",
);
pub(crate) const NO_ENTRY: Message = (
    "You cannot take part with this link",
    "Its id is not valid here. Ask the person who sent you the link.",
);
pub(crate) const FAILED: Message = (
    "The page is not ready",
    "Something went wrong on the server. Load the page again in a minute; if it stays like this, ask the person who \
     sent you the link.",
);

pub(crate) fn message(status: StatusCode, (title, text): Message) -> Response {
    (status, Html(page(title, &format!("<p>{text}</p>")))).into_response()
}

/// A page with this title as text, and content as HTML; its only scripts are the server's.
pub(crate) fn page(title: &str, content: &str) -> String {
    let title = html(title);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'self'\">\
         <title>{title}</title>\
         <style>:root{{color-scheme:light dark;font:17px/1.5 system-ui,sans-serif}}\
         main{{max-width:34rem;margin:18vh auto;padding:0 1rem}}h1{{font-size:1.4rem}}\
         button{{font:inherit;padding:.6rem 1.4rem;border-radius:.5rem;border:1px solid;cursor:pointer}}\
         button:focus-visible,a:focus-visible{{outline:3px solid #2e6bd6;outline-offset:2px}}</style></head>\
         <body><main><h1>{title}</h1>{content}</main></body></html>"
    )
}
