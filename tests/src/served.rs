//! A server of packets in a process of its own, and pages that answer without a browser.

use crate::command::Bench;
use crate::processes;
use anyhow::{Context, Result, bail, ensure};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use ureq::Agent;
use uuid::Uuid;

/// `dissensus study serve`.
pub struct Serving {
    child: Child,
    /// Such as `http://127.0.0.1:8400`.
    pub address: String,
}

impl Serving {
    /// Starts a server at this address and port; `127.0.0.1:0` is any port that is free.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(bench: &Bench, project: &str, listen: &str) -> Result<Self> {
        Self::start_with(bench, project, listen, &[])
    }

    /// Starts a server with further arguments.
    ///
    /// # Errors
    /// It does not start.
    pub fn start_with(bench: &Bench, project: &str, listen: &str, more: &[&str]) -> Result<Self> {
        let start = Instant::now();
        loop {
            match Self::try_start(bench, project, listen, more) {
                // The system may have given the port of a killed server to a connection of another test.
                Err(error)
                    if error.to_string().contains("cannot listen")
                        && start.elapsed() < Duration::from_secs(60) =>
                {
                    std::thread::sleep(Duration::from_millis(200));
                }
                started => return started,
            }
        }
    }

    fn try_start(bench: &Bench, project: &str, listen: &str, more: &[&str]) -> Result<Self> {
        let arguments = ["study", "serve", project, "--listen", listen, "--wait", "30"];
        let arguments = arguments.iter().chain(more);
        let mut child = bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("no standard output")?).lines();
        let (sender, receiver) = std::sync::mpsc::channel();
        // Read to its end: a full pipe would stop the server.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        while let Ok(line) = receiver.recv_timeout(Duration::from_mins(1)) {
            if line.starts_with("Serving ")
                && let Some((_, address)) = line.split_once(" on ")
            {
                let address = address.split(". ").next().unwrap_or_default();
                return Ok(Self { child, address: format!("http://{address}") });
            }
        }
        processes::end_group(&mut child);
        let mut error = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().context("no standard error")?, &mut error)?;
        bail!("the server did not start: {error}")
    }

    /// The address and port.
    pub fn listen(&self) -> String {
        self.address.trim_start_matches("http://").to_owned()
    }

    /// Ends it with `kill -9`.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn kill(mut self) -> Result<()> {
        processes::kill(self.child.id());
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end, as Ctrl-C does.
    ///
    /// # Errors
    /// It fails, or is still there after five minutes: it merges first what it has received.
    pub fn end(mut self) -> Result<()> {
        processes::terminate(self.child.id());
        ensure!(processes::ended_within(&mut self.child, Duration::from_mins(5)), "the server does not end");
        ensure!(self.child.wait()?.success(), "the server failed");
        Ok(())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The personal links on this server: names of people, and where their pages are.
///
/// # Panics
/// The command fails.
pub fn links(bench: &Bench, project: &str, address: &str) -> Vec<(String, String)> {
    let file = bench.path("links-of-test.csv");
    let named = file.to_string_lossy();
    bench.ok(["study", "serve", project, "--only-links", "--address", address, "--links", &named]);
    let mut rows = csv::Reader::from_path(&file).expect("a table of links");
    let rows = rows.records().map(|row| row.expect("a row"));
    rows.map(|row| (row[0].to_owned(), row[2].to_owned())).collect()
}

/// What a page has in its HTML.
///
/// # Errors
/// It is no page.
pub fn content_of(page: &str) -> Result<Value> {
    let begin = "<script type=\"application/json\" id=\"packet\">";
    let packet = page.split_once(begin).and_then(|(_, rest)| rest.split_once("</script>"));
    Ok(serde_json::from_str(packet.context("a page without a packet")?.0)?)
}

fn signed(key: &[u8], content: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key");
    mac.update(content);
    mac.finalize().into_bytes().to_vec()
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    digits.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn digits_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A page that answers: what a browser would store and send.
pub struct Page {
    link: String,
    /// The packet in the page.
    pub content: Value,
    copy: Uuid,
    browser: Uuid,
    /// The events of answers so far, as lines of a submission.
    events: Vec<Value>,
    agent: Agent,
}

impl Page {
    /// Loads the page of a link.
    ///
    /// # Errors
    /// There is no such page.
    pub fn load(link: &str) -> Result<Self> {
        let agent: Agent =
            Agent::config_builder().timeout_global(Some(Duration::from_secs(20))).build().into();
        let page = agent.get(link).call()?.body_mut().with_config().limit(64 << 20).read_to_string()?;
        Ok(Self { link: link.to_owned(), agent, ..Self::of(content_of(&page)?) })
    }

    /// The page for everybody in this file, for a person with this id.
    ///
    /// # Errors
    /// It is no such page.
    pub fn joined(file: &Path, id: &str) -> Result<Self> {
        let page = content_of(&std::fs::read_to_string(file)?)?;
        let key = bytes_of(page["key"].as_str().context("a page for everybody")?);
        let derived = |what: &str| signed(&key, format!("{what}\n{id}").as_bytes());
        let mut content = page["content"].clone();
        let parts = page["parts"].as_array().context("no parts")?;
        let part = derived("part")[..4].iter().fold(0_usize, |all, byte| all << 8 | usize::from(*byte));
        content["assignments"] = parts[part % parts.len()].clone();
        content["part"] = json!(part % parts.len());
        let mut packet = [0; 16];
        packet.copy_from_slice(&derived("packet")[..16]);
        content["packet"] = json!(uuid::Builder::from_custom_bytes(packet).into_uuid());
        content["key"] = json!(digits_of(&derived("key")));
        content["joined"] = json!({ "page": page["join"], "id": id, "attributes": {"PROLIFIC_PID": id} });
        Ok(Self::of(content))
    }

    fn of(content: Value) -> Self {
        let (copy, browser) = (Uuid::now_v7(), Uuid::now_v7());
        let agent = Agent::config_builder().build().into();
        Self { link: String::new(), content, copy, browser, events: Vec::new(), agent }
    }

    /// Number of texts of the packet.
    pub fn texts(&self) -> usize {
        self.content["assignments"].as_array().map_or(0, Vec::len)
    }

    /// Number of answers so far.
    pub fn answers(&self) -> usize {
        self.events.len()
    }

    /// Answers the next text, with a level of the first question.
    pub fn answer(&mut self, level: usize) {
        let at = self.events.len();
        self.events.push(json!({"event": {
            "key": [0, at + 1], "question": 0, "text": at, "at_ms": 1_800_000_000_000_u64 + at as u64,
            "answer": {"kind": "level", "value": level},
        }}));
    }

    /// Everything so far as a submission.
    pub fn submission(&self) -> Vec<u8> {
        let content = &self.content;
        let texts = content["texts"].as_array().expect("texts");
        let text = |item: &Value| {
            let text = texts.iter().find(|text| text["text"] == item["text"]).expect("the text");
            let hash = Sha256::digest(text["body"].as_str().unwrap_or_default());
            let hash: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
            json!([text["external_id"], hash])
        };
        let assigned = content["assignments"].as_array().expect("assignments");
        let questions = content["questions"].as_array().expect("questions").iter().enumerate();
        let names = json!({
            "questions": questions
                .map(|(at, question)| json!({"name": question["name"], "levels": content["levels"][at]}))
                .collect::<Vec<_>>(),
            "texts": assigned.iter().take(self.events.len()).map(text).collect::<Vec<_>>(),
            "copies": [{"id": self.copy, "made_at_ms": 1_800_000_000_000_u64}],
        });
        let records: String =
            std::iter::once(&names).chain(&self.events).map(|line| format!("{line}\n")).collect();
        // The kind of the file comes first, which a map would sort.
        let partial = if self.events.len() < self.texts() { ",\"partial\":true" } else { "" };
        let joined = content.get("joined").map(|joined| format!(",\"joined\":{joined}")).unwrap_or_default();
        let lines = format!(
            "{{\"dissensus-submission\":2,\"project\":{},\"packet\":{},\"at_ms\":1800000000000,\"answers\":{},\
             \"bytes\":{}{partial}{joined}}}\n{records}",
            content["project"],
            content["packet"],
            self.events.len(),
            records.len(),
        );
        let key = bytes_of(content["key"].as_str().unwrap_or_default());
        let code = digits_of(&signed(&key, lines.as_bytes()));
        format!("{lines}{{\"hmac-sha256\":\"{code}\"}}\n").into_bytes()
    }

    /// Sends everything so far, and returns how long that took.
    ///
    /// # Errors
    /// The server did not acknowledge it.
    pub fn send(&self) -> Result<Duration, ureq::Error> {
        let began = Instant::now();
        self.put(&self.submission()).map(|()| began.elapsed())
    }

    /// Sends these bytes as a submission.
    ///
    /// # Errors
    /// The server did not acknowledge it.
    pub fn put(&self, content: &[u8]) -> Result<(), ureq::Error> {
        let address = format!("{}/work/{}", self.link, self.browser);
        self.agent.put(address).send(content)?.body_mut().read_to_string().map(drop)
    }
}
