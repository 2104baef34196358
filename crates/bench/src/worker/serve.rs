//! The server side for the engines of this program: `dissensus-bench worker`.

use super::message::{Done, Encoded, Failure, Latency, Load, Request, Trained};
use crate::engine::{Engine, EngineKind, step_times};
use dissensus_encoder::EncoderError;
use serde::Serialize;
use std::io::{BufRead, BufWriter, Write};
use std::path::Path;

/// Answers requests, one JSON object per line, until `input` ends. The response to a failed request is its
/// error.
pub fn serve(input: impl BufRead, mut output: impl Write) -> std::io::Result<()> {
    let mut engine = None;
    for line in input.lines() {
        let answer = answer(&mut engine, &line?)
            .or_else(|error| json(&Failure { error }))
            .map_err(std::io::Error::other)?;
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(engine: &mut Option<Engine>, line: &str) -> Result<String, String> {
    match serde_json::from_str(line).map_err(message)? {
        Request::Load(load) => {
            *engine = Some(open(&load)?);
            json(&Done {})
        }
        Request::Encode { texts, embeddings } => json(&encode(loaded(engine)?, &texts, &embeddings)?),
        Request::Latency { text, runs } => {
            json(&Latency { milliseconds: loaded(engine)?.latency(&text, runs).map_err(message)? })
        }
        Request::Train { encoder, policy, ids, steps, threads } => {
            let policy = policy.parse().map_err(|error: EncoderError| error.to_string())?;
            json(&Trained { seconds: step_times(&encoder, &policy, &ids, steps, threads).map_err(message)? })
        }
        Request::Export { .. } => Err("this program exports no ONNX: ask a Python peer".to_owned()),
    }
}

fn open(load: &Load) -> Result<Engine, String> {
    let kind = EngineKind::named(&load.engine).ok_or_else(|| format!("no engine {} here", load.engine))?;
    Engine::open(kind, &load.encoder, load.threads).map_err(message)
}

fn loaded(engine: &Option<Engine>) -> Result<&Engine, String> {
    engine.as_ref().ok_or_else(|| "no engine is loaded: ask for one first".to_owned())
}

fn encode(engine: &Engine, texts: &Path, embeddings: &Path) -> Result<Encoded, String> {
    let texts: Vec<String> =
        serde_json::from_slice(&std::fs::read(texts).map_err(message)?).map_err(message)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let run = engine.encode(&texts).map_err(message)?;
    let mut file = BufWriter::new(std::fs::File::create(embeddings).map_err(message)?);
    for value in run.embeddings.iter().flatten() {
        file.write_all(&value.to_le_bytes()).map_err(message)?;
    }
    file.flush().map_err(message)?;
    let tokens = engine.count_tokens(&texts).map_err(message)?;
    Ok(Encoded { seconds: run.seconds, tokens, peak_mib: run.peak_mib })
}

fn json(answer: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(answer).map_err(message)
}

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(requests: &[String]) -> Vec<serde_json::Value> {
        let mut output = Vec::new();
        serve(requests.join("\n").as_bytes(), &mut output).unwrap();
        output
            .split(|byte| *byte == b'\n')
            .filter(|l| !l.is_empty())
            .map(|l| serde_json::from_slice(l).unwrap())
            .collect()
    }

    #[test]
    fn own_engine_answers_like_a_peer() {
        let folder = tempfile::tempdir().unwrap();
        let (texts, rows) = (folder.path().join("texts.json"), folder.path().join("rows.f32"));
        std::fs::write(&texts, r#"["this is not fair", "good"]"#).unwrap();
        let tiny = crate::engine::tiny();
        let load = Load {
            engine: "dissensus fp32".into(),
            encoder: tiny,
            onnx: None,
            threads: 1,
            max_tokens: 20,
            normalised: true,
        };
        let requests = [
            Request::Load(load),
            Request::Encode { texts, embeddings: rows.clone() },
            Request::Latency { text: "good".into(), runs: 4 },
        ];
        let answers = answers(&requests.map(|request| serde_json::to_string(&request).unwrap()));
        assert_eq!(answers[0], serde_json::json!({}));
        assert!(answers[1]["tokens"].as_u64().unwrap() > 4 && answers[1]["seconds"].as_f64().unwrap() > 0.0);
        assert_eq!(answers[2]["milliseconds"].as_array().unwrap().len(), 4);
        assert_eq!(std::fs::metadata(rows).unwrap().len(), 2 * 24 * 4);
    }

    #[test]
    fn worker_reports_errors_and_continues() {
        let latency = serde_json::to_string(&Request::Latency { text: "good".into(), runs: 1 }).unwrap();
        let answers = answers(&[latency, "nonsense".to_owned(), "{\"do\":\"dance\"}".to_owned()]);
        assert_eq!(answers.len(), 3);
        assert!(answers[0]["error"].as_str().unwrap().contains("no engine is loaded"));
        assert!(answers.iter().all(|answer| answer["error"].is_string()));
    }
}
