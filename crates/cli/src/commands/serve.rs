//! `study serve`: annotators answer in their browsers over a network.

use super::{count, note, open_in, open_to_read};
use crate::args::Serve;
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress as _;
use dissensus_project::names::project_name;
use dissensus_server::{LinkList, Merged, Offer, Server, ServerError, Settings};
use dissensus_transfer::study::{self, JoinRules, Link};
use std::time::Duration;

/// Links that are printed; with more people, a file is better.
const PRINTED: usize = 30;

pub(crate) fn serve(args: &Serve) -> Result<()> {
    if args.only_links {
        let session = open_to_read(&args.project.path)?;
        let links = study::links(&session.study)?;
        let address = args.address.clone().unwrap_or_else(|| format!("http://{}", args.listen));
        if links.is_empty() && !args.join {
            return Err(ProjectError::from(ServerError::NothingHandedOut).into());
        }
        return print_links(args, &links, &project_name(&args.project.path), &address);
    }
    let session = open_in(&args.project.path, Duration::from_secs(args.wait.seconds))?;
    let links = study::links(&session.study)?;
    let settings = Settings { listen: args.listen, behind_proxy: args.behind_proxy };
    let join = JoinRules {
        questions: Vec::new(),
        per_text: args.per_text,
        per_person: args.per_person,
        anchors: args.anchors,
        give_back: Duration::from_secs(args.give_back.saturating_mul(60)),
    };
    let title = project_name(session.project.path());
    let offer =
        Offer { title: title.clone(), join: args.join.then_some(join), completion: args.completion.clone() };
    offer.check(&session.study, &links)?;
    let server = Server::open(&session.study, settings, offer)?;
    let here = server.address()?;
    let address = args.address.clone().unwrap_or_else(|| format!("http://{here}"));
    print_links(args, &links, &title, &address)?;
    if args.address.is_none() && here.ip().is_unspecified() {
        note("others need another address than this one in their links: name it with --address");
    }
    output::line(&format!("Serving {} on {here}. Ctrl-C ends it", count(links.len() as u64, "packet")))?;
    // While it exists, Ctrl-C asks for an end, and is not one.
    let bar = Bar::new("answers merged");
    let merged = std::sync::atomic::AtomicU64::new(0);
    let waiting = server.serve(
        || bar.cancelled(),
        |report| {
            let new: u64 = report.people.iter().map(|person| u64::from(person.new)).sum();
            let all = merged.fetch_add(new, std::sync::atomic::Ordering::Relaxed) + new;
            bar.report(all, None, "");
            bar.above(|| print_merged(report));
        },
    )?;
    drop(bar);
    match waiting {
        0 => output::line("Ended. All answers that were acknowledged are in the project"),
        n => {
            let project = args.project.path.clone();
            Err(ProjectError::from(ServerError::Waiting { submissions: n as u64, project }).into())
        }
    }
}

/// Prints or writes the links, and prints that for everybody.
fn print_links(args: &Serve, links: &[Link], title: &str, address: &str) -> Result<()> {
    match &args.links {
        Some(file) => {
            let written = LinkList { title, address, links, joins: args.join }.write(file)?;
            output::line(&format!("Wrote {} to {}", count(written as u64, "link"), file.display()))?;
        }
        None if links.is_empty() => {}
        None => print_table(args, links, address)?,
    }
    match args.join {
        true => output::line(&format!("Anybody can join at {address}/join")),
        false => Ok(()),
    }
}

fn print_table(args: &Serve, links: &[Link], address: &str) -> Result<()> {
    let row = |link: &Link| vec![link.annotator.clone(), link.texts.to_string(), link.at(address)];
    let rows = links.iter().take(if args.only_links { usize::MAX } else { PRINTED });
    output::line(&output::table(&["person", "texts", "link"], rows.map(row).collect(), &[1]))?;
    match links.len() > PRINTED && !args.only_links {
        true => output::line(&format!(
            "... and {} more: --links FILE writes them all",
            count((links.len() - PRINTED) as u64, "link")
        )),
        false => Ok(()),
    }
}

/// A closed standard output is no reason to end a server.
fn print_merged(report: &Merged) {
    let people = report.people.iter().map(|person| format!("{} ({})", person.annotator, person.new));
    let people: Vec<String> = people.collect();
    if !people.is_empty() {
        let _ = output::line(&format!("New answers, changes and marks: {}", people.join(", ")));
    }
    for problem in &report.problems {
        let _ = output::line(&format!("Not merged: {}", problem.message));
    }
    for notice in &report.notices {
        let _ = output::line(&format!("Note: {}", notice.message));
    }
}
