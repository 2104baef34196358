//! Helpers of commands that use the live model.

use super::{encoder_choice, print_switch};
use crate::args::EncoderArgs;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_app::session::Session;
use dissensus_domain::QuestionId;

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

/// A probability as a bar.
pub(super) fn bar_of(p: f32) -> String {
    "█".repeat((p * 30.0).round() as usize)
}
