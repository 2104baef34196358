//! Packets over a network: links, what pages send, and a server that is killed.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Context, Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::draws::setting;
use dissensus_tests::files;
use dissensus_tests::served::{Page, Serving, links};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PROJECT: &str = "S.dissensus";
const ANY_PORT: &str = "127.0.0.1:0";

/// A study with one question, handed out to so many people.
fn study(texts: usize, people: usize, per_text: usize) -> Bench {
    let bench = unassigned(texts);
    let (people, per_text) = (people.to_string(), per_text.to_string());
    let assigned = ["--to-come", &people, "--per-text", &per_text, "--out", "packets"];
    bench.ok(["study", "assign", PROJECT].into_iter().chain(assigned));
    bench
}

/// The answers of each person in the project.
fn answers(bench: &Bench) -> BTreeMap<String, usize> {
    let status = bench.json(["study", "status", PROJECT]);
    let people = status["people"].as_array().unwrap().iter();
    people
        .map(|one| (one["annotator"].as_str().unwrap().to_owned(), one["given"].as_u64().unwrap() as usize))
        .collect()
}

fn status_of(error: &ureq::Error) -> u16 {
    match error {
        ureq::Error::StatusCode(status) => *status,
        other => panic!("{other}"),
    }
}

#[test]
fn pages_answer_and_the_project_has_it() -> Result<()> {
    let bench = study(8, 3, 2);
    let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
    let links = links(&bench, PROJECT, &serving.address);
    assert_eq!(
        links.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["person-1", "person-2", "person-3"]
    );
    let mut pages: Vec<Page> = links.iter().map(|(_, link)| Page::load(link)).collect::<Result<_>>()?;
    for (at, page) in pages.iter_mut().enumerate() {
        for _ in 0..=at {
            page.answer(at);
            page.send()?;
        }
        // Sent twice is counted once.
        page.send()?;
    }
    // Without the others' work: a page has one person's packet only.
    assert!(pages[0].content["annotator"]["external_id"] == "person-1" && pages[0].content["online"] == true);
    serving.end()?;
    let expected = [("person-1", 1), ("person-2", 2), ("person-3", 3)];
    assert_eq!(answers(&bench), expected.map(|(name, given)| (name.to_owned(), given)).into());
    assert!(!bench.path("S.dissensus.received").exists(), "everything was merged");
    assert_eq!(bench.json(["project", "info", PROJECT])["labels"], 6);
    // Nobody is noted as having handed in while texts are left: that would be once for each answer.
    let status = bench.json(["study", "status", PROJECT]);
    assert!(status["people"].as_array().unwrap().iter().all(|one| one["handed_in"].is_null()), "{status}");
    Ok(())
}

#[test]
fn two_browsers_with_one_link_lose_nothing() -> Result<()> {
    let bench = study(6, 2, 1);
    let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
    let link = &links(&bench, PROJECT, &serving.address)[0].1;
    let (mut one, mut other) = (Page::load(link)?, Page::load(link)?);
    for level in [0, 1, 2] {
        one.answer(level);
        one.send()?;
    }
    other.answer(2);
    other.send()?;
    serving.end()?;
    assert_eq!(answers(&bench)["person-1"], 3);
    // Both answers to the first text are in the log.
    assert_eq!(bench.json(["project", "info", PROJECT])["labels"], 3);
    let history = bench.ok(["project", "history", PROJECT]);
    assert_eq!(
        history.lines().filter(|line| line.contains("person-1") && line.contains("rude")).count(),
        4,
        "{history}"
    );
    Ok(())
}

#[test]
fn pages_heal_a_project_that_was_restored_from_a_backup() -> Result<()> {
    let bench = study(6, 2, 1);
    let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
    let listen = serving.listen();
    let mut page = Page::load(&links(&bench, PROJECT, &serving.address)[0].1)?;
    page.answer(0);
    page.send()?;
    serving.end()?;
    let backup = std::fs::read(bench.path(PROJECT))?;
    let serving = Serving::start(&bench, PROJECT, &listen)?;
    page.answer(1);
    page.send()?;
    serving.end()?;
    assert_eq!(answers(&bench)["person-1"], 2);
    std::fs::write(bench.path(PROJECT), backup)?;
    assert_eq!(answers(&bench)["person-1"], 1);
    let serving = Serving::start(&bench, PROJECT, &listen)?;
    // As a page does whenever it is opened.
    page.send()?;
    serving.end()?;
    assert_eq!(answers(&bench)["person-1"], 2);
    Ok(())
}

#[test]
fn wrong_requests_are_refused_and_change_nothing() -> Result<()> {
    let bench = study(6, 2, 1);
    let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
    let links = links(&bench, PROJECT, &serving.address);
    let (mut page, mut foreign) = (Page::load(&links[0].1)?, Page::load(&links[1].1)?);
    page.answer(1);
    foreign.answer(1);
    let refused = |content: &[u8]| status_of(&page.put(content).unwrap_err());
    let whole = page.submission();
    assert_eq!(refused(b""), 409);
    assert_eq!(refused(&whole[..whole.len() / 2]), 409, "cut off");
    assert_eq!(refused(&whole[..whole.len() - 1]), 409, "cut off in its last line");
    let mut changed = whole.clone();
    let level = changed.windows(9).position(|window| window == b"\"value\":1").context("the level")?;
    changed[level + 8] = b'2';
    assert_eq!(refused(&changed), 409, "changed");
    assert_eq!(refused(&foreign.submission()), 409, "of another link");
    assert_eq!(refused(&vec![b'{'; 10 << 20]), 413, "too large");
    let get = |path: &str| status_of(&ureq::get(format!("{}{path}", serving.address)).call().unwrap_err());
    for path in
        ["/nothing", "/p/", "/p/..%2f..%2fetc%2fpasswd", "/p/../S.dissensus", "/S.dissensus", "/p/%00"]
    {
        assert_eq!(get(path), 404, "{path}");
    }
    let front = ureq::get(&serving.address).call()?;
    for (header, value) in
        [("cache-control", "no-store"), ("referrer-policy", "no-referrer"), ("x-frame-options", "DENY")]
    {
        assert_eq!(front.headers().get(header).and_then(|found| found.to_str().ok()), Some(value));
    }
    assert!(front.headers().get("set-cookie").is_none());
    // Guessing: after some wrong links nothing is looked up for this sender for a while, right links
    // included.
    let guess = |n: u32| get(&format!("/p/{n:032x}"));
    let statuses: Vec<u16> = (0..40).map(guess).collect();
    assert!(statuses.starts_with(&[404]) && statuses.ends_with(&[429]), "{statuses:?}");
    Page::load(&links[1].1)?;
    serving.end()?;
    assert_eq!(answers(&bench).values().sum::<usize>(), 0);
    Ok(())
}

#[test]
fn what_cannot_be_merged_is_set_aside_and_named() -> Result<()> {
    let bench = study(6, 2, 1);
    let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
    let listen = serving.listen();
    let mut page = Page::load(&links(&bench, PROJECT, &serving.address)[0].1)?;
    // Signed rightly, about a text that does not exist.
    page.content["texts"][0]["external_id"] = "invented".into();
    page.content["assignments"] = serde_json::json!([page.content["texts"][0].clone()]);
    page.answer(1);
    page.send()?;
    serving.end()?;
    let received = bench.path("S.dissensus.received");
    let aside: Vec<_> = std::fs::read_dir(&received)?.map(|file| file.unwrap().path()).collect();
    assert!(aside.len() == 1 && aside[0].extension().unwrap() == "refused", "{aside:?}");
    // It does not keep the server from starting, and is not tried again; the page learns of it.
    let serving = Serving::start(&bench, PROJECT, &listen)?;
    assert_eq!(status_of(&page.send().unwrap_err()), 409);
    serving.end()?;
    assert_eq!(answers(&bench)["person-1"], 0);
    // Nothing of somebody who withdraws stays.
    bench.ok(["people", "withdraw", PROJECT, "--annotator", "person-1", "--yes"]);
    assert_eq!(std::fs::read_dir(&received)?.count(), 0);
    // The name of somebody who withdrew is not given again.
    let serving =
        Serving::start_with(&bench, PROJECT, ANY_PORT, &["--join", "--per-text", "2", "--per-person", "2"])?;
    Page::load(&join(&serving.address, &[])?)?;
    // Nor is the link of somebody who joined without an id.
    assert_eq!(status_of(&join(&serving.address, &[("id", "person-2")]).unwrap_err()), 409);
    serving.end()
}

#[test]
fn a_server_needs_packets_and_a_free_port() -> Result<()> {
    let bench = Bench::without_encoder();
    bench.ok(["project", "new", PROJECT]);
    assert!(bench.refused(["study", "serve", PROJECT]).contains("study assign"));
    assert!(bench.refused(["study", "serve", PROJECT, "--only-links"]).contains("study assign"));
    assert!(bench.refused(["study", "serve", PROJECT, "--join"]).contains("question"));
    let bench = study(4, 2, 1);
    let taken = std::net::TcpListener::bind(ANY_PORT)?;
    let port = taken.local_addr()?.to_string();
    assert!(bench.refused(["study", "serve", PROJECT, "--listen", &port]).contains("--listen"));
    bench.file("mine.csv", "id,text\n");
    let refused = bench.refused(["study", "serve", PROJECT, "--only-links", "--links", "mine.csv"]);
    assert!(refused.contains("is no list of links"), "{refused}");
    let misused = bench.run(["study", "serve", PROJECT, "--address", "study.example.org"]);
    assert!(misused.code == Some(2) && misused.err.contains("https://"), "{misused:?}");
    Ok(())
}

/// Joins by the link for everybody, with these parameters, and returns the personal link.
fn join(address: &str, parameters: &[(&str, &str)]) -> Result<String, ureq::Error> {
    let agent: ureq::Agent = ureq::Agent::config_builder().max_redirects(0).build().into();
    let answer = agent.post(format!("{address}/join")).send_form(parameters.iter().copied())?;
    let led = answer.headers().get("location").and_then(|location| location.to_str().ok());
    Ok(led.map_or_else(String::new, |location| format!("{address}/{location}")))
}

#[test]
fn people_join_until_every_text_has_its_answers() -> Result<()> {
    let bench = unassigned(10);
    let more = ["--join", "--per-text", "2", "--per-person", "4", "--completion", "C0FFEE"];
    let serving = Serving::start_with(&bench, PROJECT, ANY_PORT, &more)?;
    let invitation =
        ureq::get(format!("{}/join?PROLIFIC_PID=ab%22%3E12&STUDY_ID=s1&other=x", serving.address));
    let invitation = invitation.call()?.body_mut().read_to_string()?;
    assert!(
        invitation.contains("name=\"PROLIFIC_PID\" value=\"ab&quot;&gt;12\"")
            && !invitation.contains("other"),
        "{invitation}"
    );
    let unfilled = ureq::get(format!("{}/join?PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D", serving.address));
    assert_eq!(status_of(&unfilled.call().unwrap_err()), 409, "the place for an id is no id");
    assert_eq!(status_of(&join(&serving.address, &[("id", &"x".repeat(101))]).unwrap_err()), 409);
    // Only who accepts gets a packet.
    assert_eq!(bench.json(["project", "info", PROJECT])["annotators"], 0);
    let first = join(&serving.address, &[("PROLIFIC_PID", "ab12"), ("STUDY_ID", "s1"), ("SESSION_ID", "x")])?;
    // The same person comes back to the same packet.
    assert_eq!(join(&serving.address, &[("PROLIFIC_PID", "ab12"), ("SESSION_ID", "y")])?, first);
    let mut page = Page::load(&first)?;
    assert!(page.texts() == 4 && page.content["completion"] == "C0FFEE");
    page.answer(1);
    page.send()?;
    // Twenty answers are needed, by people with four texts each at most: five people, all at the same time.
    let links: Vec<String> = std::thread::scope(|scope| {
        let joining: Vec<_> =
            (0..8).map(|_| scope.spawn(|| join(&serving.address, &[]).unwrap_or_default())).collect();
        joining.into_iter().map(|one| one.join().unwrap()).filter(|link| !link.is_empty()).collect()
    });
    while page.answers() < page.texts() {
        page.answer(1);
    }
    page.send()?;
    let reloaded = Page::load(&first)?;
    assert_eq!(reloaded.content["completion"], "C0FFEE", "what somebody gets who opens the link once more");
    let texts = |link: &String| Page::load(link).map(|page| page.texts());
    let all: usize = links.iter().map(texts).sum::<Result<usize>>()? + 4;
    assert_eq!(all, 20, "{links:?}");
    let mut distinct = links.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), links.len());
    serving.end()?;
    let people = bench.json(["people", "show", PROJECT, "--annotator", "ab12"]);
    assert_eq!(people["attributes"]["STUDY_ID"], "s1", "{people}");
    assert_eq!(answers(&bench)["ab12"], 4);
    // Texts of people who did not answer are given to others, once they were reserved long enough.
    let late = ["--join", "--per-text", "2", "--per-person", "4", "--give-back", "0"];
    let serving = Serving::start_with(&bench, PROJECT, ANY_PORT, &late)?;
    let another = join(&serving.address, &[("id", "another")])?;
    assert_eq!(Page::load(&another)?.texts(), 4);
    serving.end()?;
    // Nobody gets the link of somebody who was given a packet otherwise.
    let assigned = ["--annotators", "ada,ben", "--per-text", "4", "--out", "packets"];
    bench.ok(["study", "assign", PROJECT].into_iter().chain(assigned));
    let serving = Serving::start_with(&bench, PROJECT, ANY_PORT, &late)?;
    assert_eq!(status_of(&join(&serving.address, &[("id", "ada")]).unwrap_err()), 409);
    assert_eq!(join(&serving.address, &[("id", "ab12")])?.rsplit('/').next(), first.rsplit('/').next());
    serving.end()?;
    // Without the option nobody joins.
    let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
    assert_eq!(status_of(&join(&serving.address, &[]).unwrap_err()), 404);
    serving.end()
}

/// A project with texts and one question, of which nothing was handed out.
fn unassigned(texts: usize) -> Bench {
    let bench = Bench::without_encoder();
    bench.file("texts.csv", files::texts(texts));
    bench.ok(["project", "new", PROJECT]);
    bench.ok(["data", "import", PROJECT, "texts.csv"]);
    bench.ok(["data", "question", PROJECT, "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
    bench
}

/// Sends bytes to a server, and returns what it answers until it closes the connection.
fn raw(serving: &Serving, request: &[u8]) -> Result<String> {
    let mut connection = TcpStream::connect(serving.listen())?;
    connection.write_all(request)?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The beginning of a request with a submission to this path.
fn sending(path: &str, header: &str) -> String {
    format!("PUT {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{header}\r\n\r\n")
}

#[test]
fn every_refusal_has_a_code_by_which_pages_translate_it() -> Result<()> {
    let bench = study(6, 2, 1);
    let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
    let links = links(&bench, PROJECT, &serving.address);
    let (mut page, mut foreign) = (Page::load(&links[0].1)?, Page::load(&links[1].1)?);
    page.answer(1);
    foreign.answer(1);
    let own = links[0].1.trim_start_matches(&serving.address).to_owned();
    let work = format!("{own}/work/0198f3a5-9c1e-7d42-8f3a-3f1f6f1f0a01");
    let whole = page.submission();
    let put = |path: &str, body: &[u8]| -> Result<(String, serde_json::Value)> {
        let header = format!("Content-Length: {}", body.len());
        answered(&raw(&serving, &[sending(path, &header).as_bytes(), body].concat())?)
    };
    let wrong = format!("/p/{}/work/0198f3a5-9c1e-7d42-8f3a-3f1f6f1f0a01", "0".repeat(32));
    for (path, body, status, code) in [
        (wrong.as_str(), &whole[..], "404", "link-unknown"),
        (&format!("{own}/work/not-an-id"), &whole, "400", "request-invalid"),
        (&work, &vec![b'{'; 10 << 20], "413", "too-large"),
        (&work, &whole[..whole.len() / 2], "409", "merge-cut-off"),
        (&work, &foreign.submission(), "409", "received-other-packet"),
    ] {
        let (answered, problem) = put(path, body)?;
        assert_eq!((answered.as_str(), problem["code"].as_str()), (status, Some(code)), "{problem}");
        assert!(problem["message"].as_str().is_some_and(|message| message.len() > 10), "{problem}");
    }
    // A body that breaks off is not one that is too large.
    let chunked = sending(&work, "Transfer-Encoding: chunked") + "5\r\n{\"dis\r\nnonsense\r\n";
    let (status, problem) = answered(&raw(&serving, chunked.as_bytes())?)?;
    assert_eq!((status.as_str(), problem["code"].as_str()), ("400", Some("request-broken-off")));
    let mut half = TcpStream::connect(serving.listen())?;
    half.write_all(sending(&work, "Content-Length: 1000").as_bytes())?;
    half.write_all(&whole[..100])?;
    drop(half);
    page.send()?;
    // A link in too many hands.
    let sent: Vec<_> = (0..60).map(|_| put(&work, b"")).collect::<Result<_>>()?;
    let last = sent.last().context("an answer")?;
    assert_eq!((last.0.as_str(), last.1["code"].as_str()), ("429", Some("too-many-requests")));
    serving.end()?;
    assert_eq!(answers(&bench)["person-1"], 1);
    Ok(())
}

#[test]
fn one_link_does_not_take_the_memory_of_all() -> Result<()> {
    let bench = study(6, 2, 1);
    let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
    let links = links(&bench, PROJECT, &serving.address);
    let own = links[0].1.trim_start_matches(&serving.address);
    let work = format!("{own}/work/0198f3a5-9c1e-7d42-8f3a-3f1f6f1f0a01");
    let mut page = Page::load(&links[0].1)?;
    page.answer(1);
    // The server asks for a body once it reads it; these never come.
    let begun = sending(&work, "Content-Length: 16000000\r\nExpect: 100-continue");
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut connection = TcpStream::connect(serving.listen())?;
        connection.write_all(begun.as_bytes())?;
        let mut line = [0; 21];
        connection.read_exact(&mut line)?;
        ensure!(&line == b"HTTP/1.1 100 Continue");
        open.push(connection);
    }
    assert_eq!(status_of(&page.send().unwrap_err()), 429);
    // Another link is not concerned, and neither is this one once they are gone.
    let mut other = Page::load(&links[1].1)?;
    other.answer(0);
    other.send()?;
    drop(open);
    while let Err(error) = page.send() {
        assert_eq!(status_of(&error), 429);
        std::thread::sleep(Duration::from_millis(200));
    }
    serving.end()?;
    assert_eq!(answers(&bench).into_values().collect::<Vec<_>>(), [1, 1]);
    Ok(())
}

/// The status of an answer, and its JSON.
fn answered(answer: &str) -> Result<(String, serde_json::Value)> {
    let (head, body) = answer.split_once("\r\n\r\n").with_context(|| format!("no answer: {answer}"))?;
    let status = head.split(' ').nth(1).context("a status")?.to_owned();
    Ok((status, serde_json::from_str(body).with_context(|| answer.to_owned())?))
}

#[test]
fn one_address_enrols_a_class_and_not_thousands() -> Result<()> {
    let bench = unassigned(100);
    let more = ["--join", "--per-text", "50", "--per-person", "2"];
    let serving = Serving::start_with(&bench, PROJECT, ANY_PORT, &more)?;
    let began = Instant::now();
    let joined: Vec<bool> = (0..100)
        .map(|_| match join(&serving.address, &[]) {
            Ok(link) => !link.is_empty(),
            Err(error) => {
                assert_eq!(status_of(&error), 429);
                false
            }
        })
        .collect();
    // One more every ten seconds.
    let most = 61 + began.elapsed().as_secs() / 10;
    assert!(joined.starts_with(&[true; 60]) && joined.ends_with(&[false]), "{joined:?}");
    serving.end()?;
    let people = bench.json(["project", "info", PROJECT])["annotators"].as_u64().context("a number")?;
    assert!((60..=most).contains(&people), "{people} people");
    assert_eq!(people as usize, joined.iter().filter(|joined| **joined).count());
    Ok(())
}

#[test]
fn people_who_join_get_attention_checks_and_anchors() -> Result<()> {
    let bench = unassigned(30);
    bench.ok(["label", "checks", PROJECT, "--text-id", "t7", "--value", "2", "--question", "rude"]);
    let more = ["--join", "--per-text", "1", "--per-person", "8", "--anchors", "2"];
    let serving = Serving::start_with(&bench, PROJECT, ANY_PORT, &more)?;
    let texts = |link: &String| -> Result<BTreeSet<String>> {
        let page = Page::load(link)?.content;
        assert!(!page.to_string().contains("attention"), "a page does not say which text is a check");
        let named = page["texts"].as_array().context("texts")?.iter();
        Ok(named.filter_map(|text| text["external_id"].as_str()).map(str::to_owned).collect())
    };
    let links: Vec<String> = (0..3).map(|_| join(&serving.address, &[])).collect::<Result<_, _>>()?;
    let all: Vec<BTreeSet<String>> = links.iter().map(texts).collect::<Result<_>>()?;
    assert!(all.iter().all(|texts| texts.len() == 8 && texts.contains("t7")), "{all:?}");
    let shared = all.iter().skip(1).fold(all[0].clone(), |shared, texts| &shared & texts);
    assert_eq!(shared.len(), 3, "the check, and two texts for everybody: {shared:?}");
    serving.end()?;
    assert_eq!(bench.json(["study", "status", PROJECT])["anchors"], 2);
    Ok(())
}

#[test]
fn addresses_of_people_are_stored_nowhere() -> Result<()> {
    const ADDRESS: &str = "203.0.113.77";
    let bench = study(6, 2, 1);
    let more = ["--behind-proxy", "--join", "--per-text", "3", "--per-person", "2"];
    let serving = Serving::start_with(&bench, PROJECT, ANY_PORT, &more)?;
    let agent: ureq::Agent =
        ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build().into();
    let from_there = |path: &str, form: &[(&str, &str)]| {
        let post = agent.post(format!("{}{path}", serving.address)).header("x-forwarded-for", ADDRESS);
        post.send_form(form.iter().copied()).map(|answer| answer.status().as_u16())
    };
    assert_eq!(from_there("/join", &[])?, 303);
    // Refusals are in the log.
    assert_eq!(from_there("/join", &[("id", "person-1")])?, 409);
    for n in 0..30 {
        let wrong = agent.get(format!("{}/p/{n:032x}", serving.address)).header("x-forwarded-for", ADDRESS);
        assert!([404, 429].contains(&wrong.call()?.status().as_u16()));
    }
    serving.end()?;
    assert_eq!(bench.json(["project", "info", PROJECT])["annotators"], 3);
    let (mut folders, mut logged, mut files) = (vec![bench.folder().to_owned()], false, 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let content = std::fs::read(&path)?;
            let holds = |what: &str| content.windows(what.len()).any(|bytes| bytes == what.as_bytes());
            assert!(!holds(ADDRESS), "{} has the address", path.display());
            logged |= holds("somebody could not join");
            files += 1;
        }
    }
    assert!(logged && files > 3, "the log was not among {files} files");
    Ok(())
}

#[test]
fn link_for_everybody_is_in_the_list_of_links() -> Result<()> {
    let bench = study(6, 2, 1);
    let list = |file: &str, more: &[&str]| {
        let fixed = ["study", "serve", PROJECT, "--only-links", "--address", "https://x.example/a"];
        bench.ok(fixed.iter().copied().chain(["--links", file]).chain(more.iter().copied()));
        std::fs::read_to_string(bench.path(file)).unwrap()
    };
    let table = list("links.csv", &["--join"]);
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows.len() == 4 && rows[1] == "(everybody),,https://x.example/a/join", "{table}");
    assert!(!list("links.csv", &[]).contains("everybody"));
    let page = list("links.html", &["--join"]);
    assert_eq!(page.matches("<svg").count(), 3);
    assert!(page.contains(">S</h1>") && page.contains("https://x.example/a/join"), "{page}");
    // Also where nothing else was handed out.
    let bench = unassigned(6);
    let only = ["study", "serve", PROJECT, "--join", "--only-links", "--links", "all.csv"];
    assert!(bench.ok(only).contains("Wrote 1 link to all.csv"));
    // An empty code would be shown as nothing.
    let blank = bench.run(["study", "serve", PROJECT, "--join", "--completion", " "]);
    assert!(blank.code == Some(2) && blank.err.contains("--completion"), "{blank:?}");
    Ok(())
}

/// People answer at the same time while the server is killed again and again. Longer runs:
/// `DISSENSUS_PEOPLE=300 DISSENSUS_SECONDS=300 DISSENSUS_PAUSE_MS=3000 DISSENSUS_KILLS=20`.
#[test]
fn killed_server_loses_and_doubles_nothing() -> Result<()> {
    let people = setting("DISSENSUS_PEOPLE", 12) as usize;
    let (seconds, kills) = (setting("DISSENSUS_SECONDS", 6), setting("DISSENSUS_KILLS", 3));
    let pause = Duration::from_millis(setting("DISSENSUS_PAUSE_MS", 150));
    let each = (seconds as f64 / pause.as_secs_f64()) as usize + 20;
    let bench = study(people * each / 2, people, 2);
    // Without a proxy, few connections of one address are open at a time.
    let behind_proxy = ["--behind-proxy"];
    let first = Serving::start_with(&bench, PROJECT, ANY_PORT, &behind_proxy)?;
    let listen = first.listen();
    let links = links(&bench, PROJECT, &first.address);
    let mut serving = Some(first);
    let loaded: Vec<(String, Page)> =
        links.iter().map(|(name, link)| Ok((name.clone(), Page::load(link)?))).collect::<Result<_>>()?;
    let (ended, times) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let given: BTreeMap<String, usize> = std::thread::scope(|scope| -> Result<_> {
        let work = |(at, (name, mut page)): (usize, (String, Page))| {
            let (ended, times) = (&ended, &times);
            scope.spawn(move || {
                // Not all in the same moment.
                std::thread::sleep(pause.mul_f64(at as f64 / people as f64));
                let began = Instant::now();
                let mut turn = 1;
                while !ended.load(Ordering::SeqCst) && page.answers() < page.texts() {
                    page.answer((at + page.answers()) % 3);
                    match page.send() {
                        Ok(time) => times.lock().unwrap().push(time),
                        // A real page tries it again; here the next answer brings it.
                        Err(ureq::Error::StatusCode(status)) => panic!("refused with {status}"),
                        Err(_) => {}
                    }
                    std::thread::sleep((began + pause * turn).saturating_duration_since(Instant::now()));
                    turn += 1;
                }
                // After the last restart everything is confirmed.
                while page.send().is_err() {
                    std::thread::sleep(Duration::from_millis(200));
                }
                (name, page.answers())
            })
        };
        let working: Vec<_> = loaded.into_iter().enumerate().map(work).collect();
        let began = Instant::now();
        for kill in 1..=kills {
            let at = Duration::from_secs(seconds).mul_f64(kill as f64 / (kills + 1) as f64);
            std::thread::sleep(at.saturating_sub(began.elapsed()));
            serving.take().context("a server")?.kill()?;
            serving = Some(Serving::start_with(&bench, PROJECT, &listen, &behind_proxy)?);
        }
        std::thread::sleep(Duration::from_secs(seconds).saturating_sub(began.elapsed()));
        ended.store(true, Ordering::SeqCst);
        Ok(working.into_iter().map(|one| one.join().unwrap()).collect())
    })?;
    serving.context("a server")?.end()?;
    let all: usize = given.values().sum();
    ensure!(all > people * 5, "only {all} answers: nothing was tested");
    assert_eq!(answers(&bench), given);
    assert_eq!(bench.json(["project", "info", PROJECT])["labels"], all);
    let mut times = times.into_inner()?;
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    println!(
        "{people} people, {all} answers, {kills} kills: acknowledged after {:.1} ms (median), {:.1} ms (99 %), {:.1} ms (longest)",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    Ok(())
}

/// Browsers answer; the server is killed, and comes back.
#[cfg(target_os = "linux")] // nowhere else are there drivers for all browsers
mod in_browsers {
    use super::*;
    use dissensus_tests::window::{Browser, Start, Window};

    async fn wait_for_left(window: &Window, left: impl Fn(u64) -> bool) -> Result<()> {
        const LEFT: &str =
            "return document.querySelector('[data-testid=\"send-status\"]')?.dataset.left ?? null";
        let is_it =
            |found: &serde_json::Value| found.as_str().and_then(|text| text.parse().ok()).is_some_and(&left);
        window.script_when(LEFT, is_it).await.map(drop)
    }

    async fn answer(window: &Window, level: char, done: u32) -> Result<()> {
        window.find("label-text").await?;
        window.press(level).await?;
        window.text_when("label-progress-done", |now| now == done.to_string()).await.map(drop)
    }

    #[tokio::test]
    async fn answers_wait_in_the_browser_while_the_server_is_away() -> Result<()> {
        let bench = study(15, 5, 1);
        let serving = Serving::start(&bench, PROJECT, ANY_PORT)?;
        let listen = serving.listen();
        let links = links(&bench, PROJECT, &serving.address);
        let five = [Browser::WebKit, Browser::Chromium, Browser::Firefox, Browser::WebKit, Browser::Chromium];
        let browsers: Vec<_> = five.into_iter().filter(|browser| browser.is_to_be_tested()).collect();
        // Each with a home of its own, as two people have.
        let homes: Vec<Bench> = browsers.iter().map(|_| Bench::without_encoder()).collect();
        let mut windows = Vec::new();
        for ((browser, home), (_, link)) in browsers.iter().zip(&homes).zip(&links) {
            let window = Window::start(home, Start::browser(home, *browser)?).await?;
            window.go_to(link).await?;
            answer(&window, '1', 1).await?;
            wait_for_left(&window, |left| left == 0).await?;
            windows.push(window);
        }
        serving.kill()?;
        for window in &windows {
            answer(window, '2', 2).await?;
            wait_for_left(window, |left| left > 0).await?;
        }
        let serving = Serving::start(&bench, PROJECT, &listen)?;
        for window in &windows {
            wait_for_left(window, |left| left == 0).await?;
            answer(window, '3', 3).await?;
            wait_for_left(window, |left| left == 0).await?;
            window.find("packet-done").await?;
            ensure!(window.all("hand-in").await?.is_empty(), "nothing is to be handed in");
            // Its policy allows its own server, and nothing else.
            let policy = "return new Promise((done) => { \
                          document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective)); \
                          fetch('https://example.org').catch(() => setTimeout(() => done('no policy'), 2000)); })";
            ensure!(window.script(policy).await? == "connect-src");
        }
        for window in windows {
            window.close().await?;
        }
        serving.end()?;
        let expected: Vec<usize> = browsers.iter().map(|_| 3).collect();
        assert_eq!(answers(&bench).into_values().take(browsers.len()).collect::<Vec<_>>(), expected);
        Ok(())
    }
}
