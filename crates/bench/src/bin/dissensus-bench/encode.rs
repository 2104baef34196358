//! `encode`: our encoding compared with that of other tools.

use crate::args;
use crate::output::{self, decimals};
use anyhow::Result;
use dissensus_bench::{self as bench, EncodeBench, EncodeChoices, EncodeMemory, EngineSpeed};
use dissensus_project::home::Home;

pub(crate) fn run(args: args::Encode) -> Result<()> {
    let choices = EncodeChoices {
        encoder: args.encoder,
        file: args.file,
        limit: args.limit,
        rounds: args.rounds,
        threads: args.threads,
        peers: args.peers,
        memory: args.memory,
    };
    let found = bench::encode(&Home::of_user(None)?, &crate::program()?, &choices, &crate::say)?;
    if args.output.json { output::json(&found) } else { print(&found) }
}

/// Serves worker requests from standard input and writes the responses to standard output.
pub(crate) fn worker() -> Result<()> {
    Ok(bench::serve(std::io::stdin().lock(), std::io::stdout().lock())?)
}

fn print(found: &EncodeBench) -> Result<()> {
    output::line(&format!(
        "{} texts, {} tokens, cpu, {} threads for every engine, best of {} rounds in turns",
        found.texts, found.tokens, found.threads, found.rounds
    ))?;
    let header = [
        "engine",
        "tokens/s",
        "texts/s",
        "over sentence-transformers",
        "over onnxruntime fp32",
        "worst cosine",
        "mean cosine",
        "peak MiB",
        "one text ms",
        "of onnxruntime's",
    ];
    let rows = found.engines.iter().map(row).collect();
    output::line(&output::table(&header, rows, &[1, 2, 3, 4, 5, 6, 7, 8, 9]))?;
    output::line(&format!(
        "Cosines are to the embeddings of {}; one text has {} tokens, median of 50 runs in turns",
        found.reference, found.latency_tokens
    ))?;
    for missing in &found.missing {
        output::line(&format!("Not measured: {} ({})", missing.engine, missing.why))?;
    }
    found.memory.as_ref().map_or(Ok(()), memory)
}

fn row(engine: &EngineSpeed) -> Vec<String> {
    vec![
        engine.engine.to_owned(),
        format!("{:.0}", engine.tokens_per_second),
        format!("{:.1}", engine.texts_per_second),
        decimals(engine.over_sentence_transformers, 2),
        decimals(engine.over_onnxruntime, 2),
        decimals(engine.worst_cosine, 6),
        decimals(engine.mean_cosine, 6),
        decimals(engine.peak_mib, 0),
        decimals(engine.latency_ms, 2),
        decimals(engine.latency_over_onnxruntime, 2),
    ]
}

fn memory(found: &EncodeMemory) -> Result<()> {
    output::line(&format!(
        "\nPeak memory while encoding the {} texts of {}",
        found.texts,
        found.file.display()
    ))?;
    let onnx = found.engines.iter().find(|engine| engine.engine == "onnxruntime fp32");
    let onnx = onnx.and_then(|engine| engine.peak_mib);
    let row = |engine: &bench::EngineMemory| {
        let share = engine.peak_mib.zip(onnx).map(|(own, onnx)| own / onnx);
        let peak = decimals(engine.peak_mib, 0);
        vec![engine.engine.to_owned(), peak, decimals(share, 3), format!("{:.1}", engine.seconds)]
    };
    let header = ["engine", "peak MiB", "of onnxruntime fp32's", "seconds"];
    output::line(&output::table(&header, found.engines.iter().map(row).collect(), &[1, 2, 3]))
}
