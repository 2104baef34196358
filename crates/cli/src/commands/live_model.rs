//! Helpers of commands that use the live model.

use super::{encoder_choice, print_switch};
use crate::args::{EncoderArgs, Predict};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::predict::RequestedText;
use dissensus_app::session::Session;
use dissensus_domain::QuestionId;
use dissensus_training::encoding::EncodedText;

/// Computes missing embeddings.
pub(super) fn make_encoded(session: &Session, encoder: &EncoderArgs) -> Result<()> {
    let bar = Bar::new("texts");
    let switch = session.encoding.ensure_encoded(&encoder_choice(encoder), &bar);
    drop(bar);
    print_switch(switch?);
    Ok(())
}

/// Ensures that every text has an embedding and that the question's model is live.
pub(super) fn make_live(session: &Session, question: QuestionId, encoder: &EncoderArgs) -> Result<()> {
    let bar = Bar::new("texts");
    let ready = session
        .encoding
        .ensure_encoded(&encoder_choice(encoder), &bar)
        .and_then(|switch| session.live.fit(question, &bar).map(|_| switch));
    drop(bar);
    print_switch(ready?);
    Ok(())
}

/// Embeds a text that was given on the command line; `None` for a text of the project.
pub(super) fn embed_new_text(session: &Session, args: &Predict) -> Result<Option<EncodedText>> {
    let new = args.text.as_deref().filter(|_| args.text_id.is_none());
    Ok(new.map(|text| session.encoding.embed(text, &encoder_choice(&args.encoder))).transpose()?)
}

/// The text to predict, of which [`embed_new_text`] is the embedding.
pub(super) fn requested_text<'a>(args: &'a Predict, embedded: Option<&'a EncodedText>) -> RequestedText<'a> {
    match embedded {
        Some(text) => RequestedText::New(text),
        None => RequestedText::OfProject(args.text_id.as_deref().unwrap_or_default()),
    }
}

/// A probability as a bar.
pub(super) fn bar_of(p: f32) -> String {
    "█".repeat((p * 30.0).round() as usize)
}
