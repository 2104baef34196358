//! `schema`: JSON schemas of command outputs.

use super::explain_document::ExplainedPrediction;
use super::project::ProjectMade;
use super::project_document::ProjectDocument;
use super::{
    backups, care, files, group_comparison, labels, language, overview, panel, practice, prediction_tables,
};
use super::{disagreement_document, encryption, predictions, set_predictions, span_predictions, tool_export};
use super::{mask, question_correlation, reliability, repeats, runs, study, words};
use crate::args;
use crate::by_name::ByName;
use crate::output;
use anyhow::{Result, bail};
use clap::CommandFactory as _;
use dissensus_domain::AttributeForm;

use dissensus_api as view;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// A document that a command prints.
struct Output {
    /// Its schema as a separate document.
    whole: fn(&mut SchemaGenerator) -> Schema,
    /// Its schema as part of another one.
    part: fn(&mut SchemaGenerator) -> Schema,
}

const fn of<T: JsonSchema>() -> Output {
    Output {
        whole: |generator| generator.root_schema_for::<T>(),
        part: |generator| generator.subschema_for::<T>(),
    }
}

/// Every command that takes `--json`, by name without group, with the documents that its options can print.
const OUTPUTS: &[(&str, &[Output])] = &[
    ("new", &[of::<ProjectMade>()]),
    ("sample", &[of::<ProjectMade>()]),
    ("info", &[of::<ProjectDocument>()]),
    ("backup list", &[of::<view::BackupList>()]),
    ("backup make", &[of::<view::BackupInfo>()]),
    ("backup changes", &[of::<view::BackupChanges>()]),
    ("backup restore", &[of::<view::RestoredBackup>()]),
    ("backup delete", &[of::<backups::BackupDeleted>()]),
    ("overview", &[of::<overview::Document>()]),
    ("texts", &[of::<view::FoundTexts>()]),
    ("question", &[of::<view::QuestionInfo>()]),
    ("import", &[of::<view::ImportReport>(), of::<view::ImportPreview>()]),
    (
        "encode",
        &[
            of::<dissensus_training::encoding::Encoded>(),
            of::<dissensus_analysis::EncoderComparison>(),
            of::<dissensus_analysis::PoolingChoice>(),
        ],
    ),
    ("embed", &[of::<dissensus_training::encoding::EmbeddedFile>()]),
    ("record", &[of::<dissensus_labelling::NamedLabel>(), of::<dissensus_labelling::NamedPractice>()]),
    ("undo", &[of::<Option<labels::LabelTakenBack>>()]),
    ("train", &[of::<dissensus_analysis::Trained>(), of::<view::RunDetail>(), of::<runs::TrainedTogether>()]),
    (
        "evaluate",
        &[
            of::<dissensus_analysis::Evaluation>(),
            of::<dissensus_analysis::OptionEvaluation>(),
            of::<dissensus_analysis::SpanEvaluationReport>(),
            of::<dissensus_selection::evaluation::LearningCurve>(),
        ],
    ),
    ("runs list", &[of::<Vec<view::RunInfo>>()]),
    ("runs show", &[of::<view::RunDetail>()]),
    ("runs compare", &[of::<view::RunComparison>()]),
    ("runs resume", &[of::<view::RunDetail>(), of::<runs::TrainedTogether>()]),
    ("runs use", &[of::<view::ActiveModel>()]),
    ("runs delete", &[of::<runs::RunDeleted>()]),
    (
        "predict",
        &[
            of::<predictions::Prediction>(),
            of::<predictions::PredictionsOfRuns>(),
            of::<set_predictions::SetPrediction>(),
            of::<span_predictions::SpanPrediction>(),
            of::<dissensus_training::prediction_tables::LevelPredictions>(),
            of::<dissensus_training::prediction_tables::OptionPredictions>(),
            of::<dissensus_training::prediction_tables::SpanPredictions>(),
            of::<dissensus_training::runs::RunPredictionFile>(),
            of::<prediction_tables::TablesOfRuns>(),
        ],
    ),
    ("explain", &[of::<ExplainedPrediction>()]),
    (
        "predictions",
        &[
            of::<dissensus_training::prediction_tables::LevelPredictions>(),
            of::<dissensus_training::prediction_tables::OptionPredictions>(),
            of::<dissensus_training::runs::RunPredictionFile>(),
            of::<prediction_tables::TablesOfRuns>(),
            of::<dissensus_analysis::Submission>(),
        ],
    ),
    (
        "disagreement",
        &[
            of::<disagreement_document::DisagreementRanking>(),
            of::<disagreement_document::DisagreementByOptions>(),
        ],
    ),
    ("annotators", &[of::<view::AnnotatorReport>()]),
    ("show", &[of::<view::AnnotatorInfo>()]),
    ("form", &[of::<AttributeForm>()]),
    ("consent", &[of::<view::ConsentState>()]),
    ("withdraw", &[of::<view::Traces>(), of::<view::Withdrawn>()]),
    ("remove", &[of::<view::RemovalPreview>(), of::<view::Removed>()]),
    ("who-differs", &[of::<view::WhoDiffers>()]),
    ("compare-groups", &[of::<group_comparison::GroupsCompared>()]),
    (
        "panel",
        &[
            of::<view::PanelVerdicts>(),
            of::<dissensus_analysis::panels::PanelFile>(),
            of::<panel::SavedPanels>(),
        ],
    ),
    ("words", &[of::<words::WordsShown>(), of::<words::WordsWritten>()]),
    ("correlate-questions", &[of::<question_correlation::Correlations>()]),
    (
        "agreement",
        &[
            of::<reliability::Document>(),
            of::<dissensus_analysis::OptionAgreements>(),
            of::<dissensus_analysis::SpanAgreements>(),
        ],
    ),
    ("plan", &[of::<view::PlanReport>()]),
    ("mask", &[of::<mask::Masks>(), of::<view::NameCandidates>()]),
    ("assign", &[of::<view::StudyDraft>(), of::<study::PacketsWritten>()]),
    ("hand-in", &[of::<view::SubmissionInfo>()]),
    ("merge", &[of::<view::MergeReport>()]),
    ("status", &[of::<view::StudyReport>(), of::<view::OpenPacket>(), of::<Vec<view::PacketText>>()]),
    ("reveal", &[of::<care::RevealState>()]),
    ("language", &[of::<language::LanguageState>()]),
    ("care", &[of::<care::CareState>()]),
    (
        "guideline",
        &[
            of::<view::GuidelineInfo>(),
            of::<Vec<view::GuidelineInfo>>(),
            of::<view::GuidelineWritten>(),
            of::<Vec<view::GuidelineAgreement>>(),
            of::<Vec<view::WordingInfo>>(),
        ],
    ),
    ("notes", &[of::<Vec<view::NoteInfo>>()]),
    ("history", &[of::<view::HistoryPage>()]),
    ("check-update", &[of::<view::UpdateState>(), of::<view::CheckedDownload>()]),
    ("practice", &[of::<view::PracticeSetup>(), of::<practice::PacketPractice>()]),
    ("checks", &[of::<Vec<view::AttentionCheckInfo>>()]),
    ("decide", &[of::<view::TextTalk>()]),
    ("decisions", &[of::<Vec<view::DecisionInfo>>()]),
    ("repeats", &[of::<repeats::ReannotationDocument>(), of::<repeats::ReannotationsRemoved>()]),
    ("slips", &[of::<view::SlipReport>()]),
    ("aggregate", &[of::<dissensus_analysis::Aggregated>(), of::<reliability::AggregatedOptions>()]),
    ("bundle", &[of::<dissensus_analysis::bundles::BundleWritten>()]),
    ("report", &[of::<view::PaperWritten>(), of::<view::InstitutionPapers>()]),
    (
        "export",
        &[
            of::<files::ExportWritten>(),
            of::<tool_export::ToolFile>(),
            of::<Vec<tool_export::ListedFormat>>(),
            of::<view::SummaryWritten>(),
        ],
    ),
    ("copy", &[of::<view::CopyReport>()]),
    ("decrypt", &[of::<encryption::Decrypted>()]),
];

pub(crate) fn schema(args: &args::Schema) -> Result<()> {
    if args.command.is_empty() {
        return output::json(&all());
    }
    let name = name_of(&args.command);
    let Some((_, outputs)) = OUTPUTS.iter().find(|(command, _)| *command == name) else {
        let below = format!("{name} ");
        let all = OUTPUTS.iter().map(|(command, _)| *command);
        let mut known: Vec<&str> = all.clone().filter(|command| command.starts_with(&below)).collect();
        if known.is_empty() {
            known = all.collect();
        }
        bail!("no command \"{name}\" takes --json; commands that do: {}", known.join(", "));
    };
    output::json(&schema_of(outputs))
}

/// Resolves a command name, given with or without its group or as an old name, to the name without group.
fn name_of(written: &[String]) -> String {
    let cli = args::Cli::command();
    let group = cli.find_subcommand(&written[0]).filter(|group| group.has_subcommands());
    let words = match (group, &written[1..]) {
        (Some(group), [name, ..]) if group.find_subcommand(name).is_some() => written[1..].to_vec(),
        _ => match args::new_path(&written[0]) {
            Some([_, name]) => [&[name.to_owned()], &written[1..]].concat(),
            None => written.to_vec(),
        },
    };
    words.join(" ")
}

/// The schemas of all commands, by name.
pub(crate) fn all() -> ByName<Schema> {
    OUTPUTS.iter().map(|(command, outputs)| ((*command).to_owned(), schema_of(outputs))).collect()
}

/// The schema of a command that prints one of these documents.
fn schema_of(outputs: &[Output]) -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = match outputs {
        [only] => (only.whole)(&mut generator),
        several => {
            let any: Vec<Schema> = several.iter().map(|output| (output.part)(&mut generator)).collect();
            json_schema!({
                "$schema": generator.settings().meta_schema,
                "anyOf": any,
                "$defs": generator.take_definitions(true),
            })
        }
    };
    finish(&mut schema);
    schema
}

/// Forbids additional properties in every object, and removes Rust links from descriptions.
fn finish(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if let Some(Value::String(words)) = schema.get_mut("description") {
        *words = without_links(words);
    }
    transform_subschemas(&mut finish, schema);
}

/// Replaces links such as ``[`path::Name`]`` in a documentation comment with the last name of the path.
fn without_links(words: &str) -> String {
    let mut parts = words.split("[`");
    let mut message = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (path, rest) = part.split_once("`]").unwrap_or((part, ""));
        let name = path.rsplit("::").next().unwrap_or(path);
        let rest = if rest.starts_with("(crate::") {
            rest.split_once(')').map_or("", |(_, rest)| rest)
        } else {
            rest
        };
        message.push_str(&format!("`{name}`{rest}"));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of all commands that take `--json`, without their groups.
    fn json_commands(command: &clap::Command, path: &[&str], found: &mut Vec<String>) {
        if command.get_arguments().any(|argument| argument.get_long() == Some("json")) {
            // The report has no group.
            found.push(path[path.len().min(2) - 1..].join(" "));
        }
        for below in command.get_subcommands() {
            let path: Vec<&str> = path.iter().copied().chain([below.get_name()]).collect();
            json_commands(below, &path, found);
        }
    }

    #[test]
    fn every_json_command_has_one_schema() {
        let mut commands = Vec::new();
        json_commands(&args::Cli::command(), &[], &mut commands);
        let mut known: Vec<&str> = OUTPUTS.iter().map(|(command, _)| *command).collect();
        commands.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, commands);
    }

    #[test]
    fn command_is_found_by_every_name() {
        for (written, name) in [
            ("import", "import"),
            ("data import", "import"),
            ("models runs show", "runs show"),
            ("runs show", "runs show"),
            ("label", "record"),
            ("label record", "record"),
            ("study", "status"),
            ("annotator", "show"),
            ("attribute-form", "form"),
            ("remarks", "notes"),
            ("report", "report"),
            ("nothing", "nothing"),
        ] {
            let words: Vec<String> = written.split(' ').map(str::to_owned).collect();
            assert_eq!(name_of(&words), name, "{written}");
        }
    }

    /// Asserts that no object combines properties with `allOf` and the like: a closed object would reject
    /// what these add.
    fn is_plain(schema: &mut Schema) {
        let composed = ["allOf", "anyOf", "oneOf", "$ref"].iter().any(|key| schema.get(*key).is_some());
        assert!(schema.get("properties").is_none() || !composed, "{schema:?}");
        transform_subschemas(&mut is_plain, schema);
    }

    #[test]
    fn closed_objects_list_all_properties() {
        OUTPUTS.iter().for_each(|(_, outputs)| is_plain(&mut schema_of(outputs)));
    }

    #[test]
    fn links_to_code_become_names() {
        assert_eq!(without_links("see [`a::B`](crate::a::B); or [`c`], `d`."), "see `B`; or `c`, `d`.");
    }

    #[test]
    fn schema_is_self_contained() {
        let (_, outputs) = OUTPUTS.iter().find(|(command, _)| *command == "care").unwrap();
        insta::assert_snapshot!(serde_json::to_string_pretty(&schema_of(outputs)).unwrap());
    }
}
