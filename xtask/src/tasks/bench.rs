//! `cargo xtask bench`: measurements with a release build, which are printed and not stored.

use crate::fetch;
use crate::project::Project;
use crate::shell::{Program, say, step, which};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One random split is not enough: differences between splits are larger than those between models.
const SEEDS: [&str; 5] = ["0", "1", "2", "3", "4"];
/// The bundled encoder, and the one that is fetched on request.
const SMALL: &str = "all-MiniLM-L6-v2";
const LARGE: &str = "all-mpnet-base-v2";
/// The columns printed for an evaluation, in order.
const FIGURES: [&str; 10] = [
    "accuracy",
    "macro_f1",
    "annotator_accuracy",
    "annotator_macro_f1",
    "worst_tenth_accuracy",
    "log_loss",
    "brier",
    "ece",
    "soft_cross_entropy",
    "disagreement_auroc",
];

/// Runs one benchmark with its arguments.
///
/// # Errors
/// The build or the benchmark failed.
pub(crate) fn one(project: &Project, arguments: &[&str]) -> Result<()> {
    build(project, "dissensus-bench")?;
    Program::new(project.binary("release", "dissensus-bench"))
        .args(arguments)
        .env("DISSENSUS_MODELS", project.models())
        .run()
}

/// Runs every benchmark that this machine has the data for, and evaluates models with the command.
///
/// # Errors
/// A build or a measurement failed.
pub(crate) fn all(project: &Project) -> Result<()> {
    fetch::default_encoders(project)?;
    step("command and benchmarks: release build", || {
        build(project, "dissensus-cli")?;
        build(project, "dissensus-bench")
    })?;
    let bench = Bench {
        command: project.binary("release", "dissensus"),
        benchmarks: project.binary("release", "dissensus-bench"),
        models: project.models(),
        scratch: Scratch::new()?,
    };
    step("live loop", || bench.benchmark(&["live"]).run())?;
    step("predicting all", || bench.benchmark(&["predict", "--large"]).run())?;
    step("a large project", || bench.benchmark(&["large"]).run())?;
    let Some(data) = project.data() else {
        step("encoding, on the sample's comments", || bench.benchmark(&["encode", "--peers"]).run())?;
        say("No data sets here (DISSENSUS_DATA or ../shared/data): import and quality were not measured.");
        return Ok(());
    };
    let popquorn = data.join("popquorn_offensiveness.csv");
    let md_agreement = data.join("md_agreement.csv");
    step("encoding, POPQUORN; memory, MD-Agreement", || {
        bench
            .benchmark(&["encode", "--peers", "--rounds", "3", "--memory"])
            .arg(&md_agreement)
            .arg(&popquorn)
            .run()
    })?;
    step("training steps", || bench.benchmark(&["train", "--peers"]).run())?;
    step("importing, MD-Agreement", || bench.import(&md_agreement))?;
    for encoding in bench.encodings() {
        let [name, precision] = encoding;
        let what = format!("quality on {name}, {precision}");
        step(&format!("{what}: POPQUORN, 70 % of the texts, level 3 or more, mean of five seeds"), || {
            let path = bench.encoded(&format!("popquorn-{name}-{precision}"), &popquorn, encoding)?;
            let runs = SEEDS.map(|seed| ["--split", "by-text:0.7", "--at-least", "3", "--seed", seed]);
            bench.evaluate(&path, &runs)
        })?;
        step(&format!("{what}: MD-Agreement, official split"), || {
            let path = bench.encoded(&format!("md_agreement-{name}-{precision}"), &md_agreement, encoding)?;
            bench.evaluate(&path, &[["--split", "column"]])
        })?;
    }
    Ok(())
}

/// Builds one of our packages for speed.
fn build(project: &Project, package: &str) -> Result<()> {
    Program::cargo().args(["build", "--release", "--package", package]).in_folder(&project.root).run()
}

struct Bench {
    command: PathBuf,
    benchmarks: PathBuf,
    models: PathBuf,
    scratch: Scratch,
}

impl Bench {
    fn command(&self, arguments: &[&str]) -> Program {
        Program::new(&self.command).args(arguments).env("DISSENSUS_MODELS", &self.models)
    }

    fn benchmark(&self, arguments: &[&str]) -> Program {
        Program::new(&self.benchmarks).args(arguments).env("DISSENSUS_MODELS", &self.models)
    }

    fn import(&self, file: &Path) -> Result<()> {
        let python = which("python3").is_some();
        if !python {
            say("there is no python3: the script that import is held against was not run");
        }
        self.benchmark(&["import"]).arg(file).args(python.then_some("--peers")).run()
    }

    /// Encoders and precisions whose quality is measured; the one fetched on request only if it is installed.
    fn encodings(&self) -> Vec<[&'static str; 2]> {
        let mut encodings = vec![[SMALL, "fp32"], [SMALL, "fast"]];
        if self.models.join(LARGE).is_dir() {
            encodings.push([LARGE, "fp32"]);
        } else {
            say(format!("{LARGE} is not here (`cargo xtask models {LARGE}`): its quality was not measured"));
        }
        encodings
    }

    /// A project with the labels of `file` and the embeddings of its texts.
    fn encoded(&self, name: &str, file: &Path, [encoder, precision]: [&str; 2]) -> Result<PathBuf> {
        let path = self.scratch.path.join(format!("{name}.dissensus"));
        self.command(&["project", "new"]).arg(&path).run()?;
        self.command(&["data", "import"]).arg(&path).arg(file).run()?;
        self.command(&["models", "encode", "--encoder", encoder, "--precision", precision])
            .arg(&path)
            .run()?;
        Ok(path)
    }

    /// Evaluates once for each of `runs` and prints the means.
    fn evaluate<const N: usize>(&self, project: &Path, runs: &[[&str; N]]) -> Result<()> {
        let mut means = Means::default();
        for arguments in runs {
            let command = self.command(&["models", "evaluate", "--json"]).args(arguments).arg(project);
            let line = command.line();
            let document: Value = serde_json::from_str(&command.output()?)
                .with_context(|| format!("reading what `{line}` printed"))?;
            means.add(&document).with_context(|| format!("reading what `{line}` printed"))?;
        }
        println!("\n{}", means.table());
        Ok(())
    }
}

/// Means of figures over evaluations, by model in the order of the first one.
#[derive(Default)]
struct Means {
    models: Vec<String>,
    sums: BTreeMap<(String, &'static str), (f64, u32)>,
}

impl Means {
    fn add(&mut self, document: &Value) -> Result<()> {
        for entry in document["models"].as_array().context("there is no list `models`")? {
            let model = entry["model"].as_str().context("a model has no name")?.to_owned();
            for figure in FIGURES {
                if let Some(value) = entry[figure].as_f64() {
                    let (sum, count) = self.sums.entry((model.clone(), figure)).or_default();
                    *sum += value;
                    *count += 1;
                }
            }
            if !self.models.contains(&model) {
                self.models.push(model);
            }
        }
        Ok(())
    }

    /// A Markdown table, one row a model.
    fn table(&self) -> String {
        let mut lines = vec![
            format!("| model | {} |", FIGURES.join(" | ")),
            format!("| --- |{}", " ---: |".repeat(FIGURES.len())),
        ];
        for model in &self.models {
            let cells = FIGURES.map(|figure| match self.sums.get(&(model.clone(), figure)) {
                Some((sum, count)) => format!("{:.3}", sum / f64::from(*count)),
                None => "–".to_owned(),
            });
            lines.push(format!("| {model} | {} |", cells.join(" | ")));
        }
        lines.join("\n")
    }
}

/// A folder for projects, deleted afterwards.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("dissensus-bench-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system clears its temporary folder if this fails.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_skip_missing_figures() {
        let mut means = Means::default();
        for (accuracy, loss) in [(0.5, 0.75), (0.75, 0.25)] {
            let document = serde_json::json!({ "models": [
                { "model": "shared", "accuracy": accuracy },
                { "model": "multilevel", "accuracy": accuracy, "log_loss": loss },
            ]});
            means.add(&document).unwrap();
        }
        let table = means.table();
        assert!(table.contains("| shared | 0.625 | – |"), "{table}");
        assert!(table.lines().nth(3).unwrap().starts_with("| multilevel | 0.625 |"), "{table}");
        assert!(table.contains("| 0.500 |"), "{table}");
    }

    #[test]
    fn document_without_models_is_refused() {
        assert!(Means::default().add(&serde_json::json!({})).is_err());
    }
}
