//! Codes of errors are a contract with scripts and the window: they are added to, never renamed.

use dissensus_analysis::{error::AnalysisError, panels::error::PanelError};
use dissensus_app::{settings::SettingsError, updates::error::UpdateError};
use dissensus_domain::MaskError;
use dissensus_editing::error::EditingError;
use dissensus_encoder::EncoderError;
use dissensus_exchange::ExchangeError;
use dissensus_labelling::{error::LabellingError, guideline::error::GuidelineError};
use dissensus_project::encryption::EncryptionError;
use dissensus_project::error::ProjectError;
use dissensus_report::error::ReportError;
use dissensus_server::ServerError;
use dissensus_store::{Displaced, StoreError};
use dissensus_training::error::TrainingError;
use dissensus_transfer::{error::TransferError, study::error::StudyError};
use std::collections::BTreeSet;

#[test]
fn error_codes_match_the_list() {
    let displaced = [
        Displaced::Moved { to: None, replaced: false },
        Displaced::Replaced,
        Displaced::Removed,
        Displaced::Overwritten,
        Displaced::JournalGone,
        Displaced::LinkChanged { file: "a".into() },
        Displaced::Unknown("why".into()),
    ]
    .map(|how| StoreError::Displaced { path: "p".into(), how }.code());
    let enums = [
        AnalysisError::CODES,
        EditingError::CODES,
        EncoderError::CODES,
        EncryptionError::CODES,
        ExchangeError::CODES,
        GuidelineError::CODES,
        LabellingError::CODES,
        MaskError::CODES,
        PanelError::CODES,
        ProjectError::CODES,
        ReportError::CODES,
        ServerError::CODES,
        SettingsError::CODES,
        StoreError::CODES,
        StudyError::CODES,
        TrainingError::CODES,
        TransferError::CODES,
        UpdateError::CODES,
        &displaced,
    ];
    let found: BTreeSet<&str> = enums.concat().into_iter().collect();
    let listed: BTreeSet<&str> = include_str!("codes.txt").lines().collect();
    let missing: Vec<_> = listed.difference(&found).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(missing.is_empty() && new.is_empty(), "gone: {missing:?}; new, for codes.txt: {new:?}");
}
