//! `schema`: the JSON schemas of what commands print.

use super::explain_document::ExplainedPrediction;
use super::project::ProjectMade;
use super::project_document::ProjectDocument;
use super::{care, files, group_comparison, labels, overview, panel, practice, prediction_tables};
use super::{disagreement_document, predictions, set_predictions, span_predictions, tool_export};
use super::{question_correlation, reliability, repeats, runs, study, words};
use crate::args;
use crate::by_name::ByName;
use crate::output;
use anyhow::{Result, bail};
use dissensus_bench as bench;
use dissensus_domain::AttributeForm;
use dissensus_workbench as workbench;
use dissensus_workbench::view;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// A document that a command prints.
struct Output {
    /// Its schema by itself.
    whole: fn(&mut SchemaGenerator) -> Schema,
    /// Its schema as a part of another one.
    part: fn(&mut SchemaGenerator) -> Schema,
}

const fn of<T: JsonSchema>() -> Output {
    Output {
        whole: |generator| generator.root_schema_for::<T>(),
        part: |generator| generator.subschema_for::<T>(),
    }
}

/// Every command that takes `--json`, by its path, with the documents that it prints by its options.
const OUTPUTS: &[(&str, &[Output])] = &[
    ("new", &[of::<ProjectMade>()]),
    ("sample", &[of::<ProjectMade>()]),
    ("info", &[of::<ProjectDocument>()]),
    ("overview", &[of::<overview::Document>()]),
    ("texts", &[of::<view::FoundTexts>()]),
    ("question", &[of::<view::QuestionInfo>()]),
    ("import", &[of::<view::ImportReport>(), of::<view::ImportPreview>()]),
    (
        "encode",
        &[of::<workbench::Encoded>(), of::<workbench::EncoderComparison>(), of::<workbench::PoolingChoice>()],
    ),
    ("embed", &[of::<workbench::EmbeddedFile>()]),
    ("label", &[of::<workbench::NamedLabel>(), of::<workbench::NamedPractice>()]),
    ("undo", &[of::<Option<labels::LabelTakenBack>>()]),
    ("train", &[of::<workbench::Trained>(), of::<view::RunDetail>(), of::<runs::TrainedTogether>()]),
    (
        "evaluate",
        &[
            of::<workbench::Evaluation>(),
            of::<workbench::OptionEvaluation>(),
            of::<workbench::SpanEvaluationReport>(),
            of::<workbench::LearningCurve>(),
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
            of::<workbench::PredictionFile>(),
            of::<workbench::SetPredictionFile>(),
            of::<workbench::WordPredictionFile>(),
            of::<workbench::RunPredictionFile>(),
            of::<prediction_tables::TablesOfRuns>(),
        ],
    ),
    ("explain", &[of::<ExplainedPrediction>()]),
    (
        "predictions",
        &[
            of::<workbench::PredictionFile>(),
            of::<workbench::SetPredictionFile>(),
            of::<workbench::RunPredictionFile>(),
            of::<prediction_tables::TablesOfRuns>(),
            of::<workbench::Submission>(),
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
    ("annotator", &[of::<view::AnnotatorInfo>()]),
    ("attribute-form", &[of::<AttributeForm>()]),
    ("withdraw", &[of::<view::Traces>(), of::<view::Withdrawn>()]),
    ("remove", &[of::<view::RemovalPreview>(), of::<view::Removed>()]),
    ("who-differs", &[of::<view::WhoDiffers>()]),
    ("compare-groups", &[of::<group_comparison::GroupsCompared>()]),
    ("panel", &[of::<view::PanelVerdicts>(), of::<workbench::PanelFile>(), of::<panel::KeptPanels>()]),
    ("words", &[of::<words::WordsShown>(), of::<words::WordsWritten>()]),
    ("correlate-questions", &[of::<question_correlation::Correlations>()]),
    (
        "agreement",
        &[
            of::<reliability::Document>(),
            of::<workbench::OptionAgreements>(),
            of::<workbench::SpanAgreements>(),
        ],
    ),
    ("plan", &[of::<view::PlanReport>()]),
    ("assign", &[of::<view::StudyDraft>(), of::<study::PacketsWritten>()]),
    ("hand-in", &[of::<view::HandedIn>()]),
    ("merge", &[of::<view::MergeReport>()]),
    ("study", &[of::<view::StudyReport>(), of::<view::OpenPacket>(), of::<Vec<view::PacketText>>()]),
    ("reveal", &[of::<care::RevealState>()]),
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
    ("remarks", &[of::<Vec<view::RemarkInfo>>()]),
    ("history", &[of::<view::HistoryPage>()]),
    ("practice", &[of::<view::PracticeSetup>(), of::<practice::PacketPractice>()]),
    ("checks", &[of::<Vec<view::AttentionCheckInfo>>()]),
    ("decide", &[of::<view::TextTalk>()]),
    ("decisions", &[of::<Vec<view::DecisionInfo>>()]),
    ("repeats", &[of::<repeats::Repeated>(), of::<repeats::RepeatsRemoved>()]),
    ("slips", &[of::<view::SlipReport>()]),
    ("aggregate", &[of::<workbench::Aggregated>(), of::<reliability::AggregatedOptions>()]),
    ("bundle", &[of::<workbench::BundleWritten>()]),
    ("report", &[of::<view::PaperWritten>()]),
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
    ("bench encode", &[of::<bench::EncodeBench>()]),
    ("bench train", &[of::<bench::TrainBench>()]),
    ("bench disagreement", &[of::<bench::DisagreementBench>()]),
    ("bench panel", &[of::<bench::PanelBench>()]),
    ("bench large", &[of::<bench::LargeBench>()]),
    ("bench live", &[of::<bench::LiveBench>()]),
    ("bench study", &[of::<bench::StudyBench>()]),
    ("bench predict", &[of::<bench::PredictBench>()]),
    ("bench import", &[of::<bench::ImportBench>()]),
    ("bench import-shapes", &[of::<bench::ImportShapesBench>()]),
];

pub(crate) fn schema(args: &args::Schema) -> Result<()> {
    if args.command.is_empty() {
        return output::json(&all());
    }
    let asked = args.command.join(" ");
    let Some((_, outputs)) = OUTPUTS.iter().find(|(command, _)| *command == asked) else {
        let below = format!("{asked} ");
        let all = OUTPUTS.iter().map(|(command, _)| *command);
        let mut known: Vec<&str> = all.clone().filter(|command| command.starts_with(&below)).collect();
        if known.is_empty() {
            known = all.collect();
        }
        bail!("\"{asked}\" is no command that takes --json: {}", known.join(", "));
    };
    output::json(&schema_of(outputs))
}

/// The schemas of all commands, by their names.
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

/// Says of every object that it has no other properties, and takes marks of links to code out of descriptions.
fn finish(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if let Some(Value::String(words)) = schema.get_mut("description") {
        *words = without_links(words);
    }
    transform_subschemas(&mut finish, schema);
}

/// What documentation of code says, with the last name of a path in place of links such as ``[`path::Name`]``.
fn without_links(words: &str) -> String {
    let mut parts = words.split("[`");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (path, rest) = part.split_once("`]").unwrap_or((part, ""));
        let name = path.rsplit("::").next().unwrap_or(path);
        let rest = if rest.starts_with("(crate::") {
            rest.split_once(')').map_or("", |(_, rest)| rest)
        } else {
            rest
        };
        said.push_str(&format!("`{name}`{rest}"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    /// Paths of all commands that take `--json`.
    fn taking_json(command: &clap::Command, path: &[&str], found: &mut BTreeSet<String>) {
        if command.get_arguments().any(|argument| argument.get_long() == Some("json")) {
            found.insert(path.join(" "));
        }
        for below in command.get_subcommands() {
            let path: Vec<&str> = path.iter().copied().chain([below.get_name()]).collect();
            taking_json(below, &path, found);
        }
    }

    #[test]
    fn every_command_that_takes_json_is_here() {
        let mut commands = BTreeSet::new();
        taking_json(&args::Cli::command(), &[], &mut commands);
        let known: BTreeSet<String> = OUTPUTS.iter().map(|(command, _)| (*command).to_owned()).collect();
        assert_eq!(known, commands);
    }

    /// An object that is closed beside `allOf` and the like refuses what stands there.
    fn is_plain(schema: &mut Schema) {
        let composed = ["allOf", "anyOf", "oneOf", "$ref"].iter().any(|key| schema.get(*key).is_some());
        assert!(schema.get("properties").is_none() || !composed, "{schema:?}");
        transform_subschemas(&mut is_plain, schema);
    }

    #[test]
    fn closed_objects_have_all_of_their_properties() {
        OUTPUTS.iter().for_each(|(_, outputs)| is_plain(&mut schema_of(outputs)));
    }

    #[test]
    fn links_to_code_are_names() {
        assert_eq!(without_links("see [`a::B`](crate::a::B); or [`c`], `d`."), "see `B`; or `c`, `d`.");
    }

    #[test]
    fn a_schema_stands_by_itself() {
        let (_, outputs) = OUTPUTS.iter().find(|(command, _)| *command == "care").unwrap();
        insta::assert_snapshot!(serde_json::to_string_pretty(&schema_of(outputs)).unwrap());
    }
}
