//! Texts that are longer than the encoder reads at once: averaged or cut, the setting retained by default,
//! and changed without encoding unaffected texts again.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::sample_in;
use dissensus_api::ImportChoices;
use dissensus_encoder::{LongTexts, Prompt};
use dissensus_project::jobs::{Progress, Silent};
use dissensus_training::encoding::EncoderChoice;
use dissensus_transfer::exchange;
use std::path::Path;
use std::sync::Arc;

fn choice(long_texts: Option<LongTexts>) -> EncoderChoice {
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    EncoderChoice {
        encoder: Some(tiny.to_string_lossy().into_owned()),
        long_texts,
        ..EncoderChoice::default()
    }
}

#[test]
fn switching_to_averaging_encodes_only_long_texts() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample_in(&folder);
    // The tiny tokenizer splits every text of the sample into more than 20 tokens.
    let short = folder.path().join("short.csv");
    std::fs::write(&short, "text_id,text\ns1,no\ns2,yes\n").unwrap();
    let progress: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &short, &ImportChoices::default(), Some(&progress)).unwrap();
    let cut = session.encoding.encode(&choice(Some(LongTexts::Truncate)), &Silent).unwrap();
    assert!(cut.cut > 0 && cut.cut < cut.texts, "texts longer and shorter than 20 tokens: {cut:?}");
    assert_eq!((cut.averaged, cut.windows), (0, 0));

    let average = session.encoding.encode(&choice(Some(LongTexts::Average)), &Silent).unwrap();
    assert_eq!((average.kept, average.texts), (cut.texts - cut.cut, cut.cut));
    assert_eq!((average.averaged, average.cut), (cut.cut, 0));
    assert!(average.windows >= 2 * average.averaged);
    assert_eq!(average.encoder, format!("{}/windows", cut.encoder));

    let back = session.encoding.encode(&choice(Some(LongTexts::Truncate)), &Silent).unwrap();
    assert_eq!((back.texts, back.kept, back.encoder), (0, cut.texts, cut.encoder));
}

#[test]
fn unspecified_encoder_options_keep_the_projects_values() {
    let folder = tempfile::tempdir().unwrap();
    let session = sample_in(&folder);
    let average = session.encoding.encode(&choice(None), &Silent).unwrap();
    assert!(average.averaged > 0 && average.encoder.ends_with("/windows"), "{}", average.encoder);
    let prompted =
        EncoderChoice { prompt: Some(Prompt::Text("good ".to_owned())), ..choice(Some(LongTexts::Truncate)) };
    let chosen = session.encoding.encode(&prompted, &Silent).unwrap();
    assert!(chosen.texts > 0 && chosen.encoder.contains("/prompt-"), "{}", chosen.encoder);
    for again in [choice(None), EncoderChoice::default()] {
        let again = session.encoding.encode(&again, &Silent).unwrap();
        assert_eq!((again.encoder, again.texts), (chosen.encoder.clone(), 0));
    }
}
