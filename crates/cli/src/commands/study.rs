//! `study assign`, `study hand-in`, `study merge` and `study status`.

use super::{count, encryption, open, open_in, open_or_read, open_to_read};
use crate::args::{Assign, HandIn, Merge, PacketFormatArg, Status};
use crate::language::translate_word;
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_api::{
    EarlierPacket, MergeAnswer, MergeChangeKind, MergeConsent, MergeEffectInfo, MergeReport, MergedFile,
    MergedKind, PacketText, PageTarget, PracticeResult, StudyDraft, StudyFigure, StudyPerson, StudyReport,
    StudyRequest, StudyShare,
};
use dissensus_app::session::Session;
use dissensus_domain::QuestionId;
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_project::clock::local_time;
use dissensus_project::encryption::Passphrase;
use dissensus_transfer::study::{
    self, PacketFolder, PageSettings, StudyPlan, SubmissionChoices, WrittenPage,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The file with the page for everybody.
const JOIN_PAGE: &str = "join.html";

/// What `study assign --write-again --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct PacketsWritten {
    /// Files of the task packets.
    files: Vec<String>,
}

pub(crate) fn assign(args: &Assign) -> Result<()> {
    if args.write_again {
        return write_again(args);
    }
    let session = if args.dry_run { open_to_read(&args.project.path)? } else { open(&args.project.path)? };
    let request = request(args, &session)?;
    let plan = StudyPlan { request: &request, without_pages: args.without_pages };
    let draft = match (args.dry_run, &args.out) {
        (false, Some(folder)) => {
            let (format, passphrase) = format(args)?;
            let bar = Bar::new("packets");
            let settings = settings(args)?;
            let Some(format) = format.of_packets() else {
                drop(bar);
                return join_page(args, &session, plan, &folder.join(JOIN_PAGE), &settings);
            };
            let to = PacketFolder { folder, format, settings: &settings, passphrase: passphrase.as_ref() };
            let draft = study::hand_out(&session.study, plan, to, &bar);
            drop(bar);
            draft?
        }
        _ => study::draft(&session.study, plan)?,
    };
    if args.output.json {
        return output::json(&draft);
    }
    print_draft(&draft)?;
    match &args.out {
        Some(folder) if !args.dry_run => {
            let packets = draft.people.iter().filter(|person| person.file.is_some()).count();
            output::line(&format!("Wrote {} to {}", count(packets as u64, "packet"), folder.display()))?;
            match args.format {
                PacketFormatArg::LockedPage => output::line(
                    "passphrases.csv there has the passphrase of each page: send it apart from the page",
                ),
                PacketFormatArg::LockedFile if !args.encryption.encrypt && args.encryption.file.is_none() => {
                    output::line(
                        "passphrases.csv there has the passphrase of each packet: send it apart from the packet",
                    )
                }
                _ => Ok(()),
            }
        }
        _ => output::line("Nothing was changed (--dry-run)"),
    }
}

/// The format of packets, and the passphrase of all of them. A passphrase encrypts files.
fn format(args: &Assign) -> Result<(PacketFormatArg, Option<Passphrase>)> {
    let passphrase = encryption::to_encrypt(&args.encryption)?;
    match (args.format, &passphrase) {
        (PacketFormatArg::File, Some(_)) => Ok((PacketFormatArg::LockedFile, passphrase)),
        (PacketFormatArg::Page | PacketFormatArg::LockedPage | PacketFormatArg::JoinPage, Some(_)) => bail!(
            "a browser opens no encrypted file: with --as locked-page, each page encrypts itself with a passphrase of its own"
        ),
        (format, _) => Ok((format, passphrase)),
    }
}

/// What pages do with answers.
fn settings(args: &Assign) -> Result<PageSettings> {
    let target =
        args.send_to.clone().map(|url| PageTarget { url, fields: args.send_with.iter().cloned().collect() });
    let files = [PacketFormatArg::File, PacketFormatArg::LockedFile];
    if files.contains(&args.format) && (target.is_some() || args.completion.is_some()) {
        bail!("--send-to and --completion are for web pages: add --as page, locked-page or join-page");
    }
    Ok(PageSettings { target, completion: args.completion.clone() })
}

fn join_page(
    args: &Assign,
    session: &Session,
    plan: StudyPlan<'_>,
    file: &Path,
    settings: &PageSettings,
) -> Result<()> {
    if !args.annotators.is_empty() {
        bail!("nobody is named on a page for everybody: say how many people it is for with --to-come");
    }
    let draft = study::write_join_page(&session.study, plan, file, settings)?;
    if args.output.json {
        return output::json(&draft);
    }
    print_draft(&draft)?;
    output::line(&format!(
        "Wrote {} for {}: people are added to the project when what they hand in is merged",
        file.display(),
        count(draft.people.len() as u64, "person").replace("persons", "people")
    ))
}

fn request(args: &Assign, session: &Session) -> Result<StudyRequest> {
    let questions = args.question.iter().map(|name| Ok(questions::find(&session.project, Some(name))?.id));
    let questions: Vec<QuestionId> = questions.collect::<Result<_>>()?;
    let mut people = args.annotators.clone();
    // Numbers continue after existing annotators, so that the same arguments add new people the next time.
    let known = annotators::list(&session.project)?;
    let taken =
        |name: &String| known.iter().any(|person| person.external_id == *name || person.name == *name);
    let names = (1..)
        .map(|n: u32| format!("person-{n}"))
        .filter(|name| !taken(name) && !args.annotators.contains(name));
    people.extend(names.take(args.to_come as usize));
    if people.is_empty() {
        bail!("name the people to ask with --annotators, or say with --to-come how many there will be");
    }
    Ok(StudyRequest {
        questions,
        people,
        per_text: args.per_text,
        per_person: args.per_person,
        anchors: args.anchors,
        repeat: args.repeat,
        again_after: args.again_after,
        new_people: args.new_annotator,
        balance: args.balance.clone(),
        seed: args.seed,
    })
}

fn print_draft(draft: &StudyDraft) -> Result<()> {
    let hours = match draft.seconds {
        Some(seconds) => format!(", {:.1} hours at the speed so far", seconds / 3600.0),
        None => "; how long that takes cannot be estimated yet".to_owned(),
    };
    output::line(&format!(
        "{} about {}{} by {}{}",
        count(draft.answers.into(), "answer"),
        count(draft.texts.into(), "text"),
        if draft.anchors > 0 { format!(" ({} of them for everybody)", draft.anchors) } else { String::new() },
        count(draft.people.len() as u64, "person").replace("persons", "people"),
        hours,
    ))?;
    match draft.margin {
        Some(margin) => output::line(&format!(
            "The share of pairs of people who differ will be known to within {margin:.1} percentage points at worst (95 %)"
        ))?,
        None => {
            output::line("No text goes to two people of this study, so it will not tell how far they differ")?
        }
    }
    if let Some(margin) = draft.self_margin {
        output::line(&format!(
            "How often one person repeats an answer will be known to within {margin:.0} percentage points at worst (95 %)"
        ))?;
    }
    let row = |person: &StudyShare| {
        vec![
            person.annotator.clone(),
            person.texts.to_string(),
            person.anchors.to_string(),
            person.repeats.to_string(),
            person.before.to_string(),
            match (&person.looks_like, person.looks_withdrawn) {
                _ if person.known => String::new(),
                (Some(known), _) => format!("new, and looks like \"{known}\""),
                (None, true) => "new, and looks like somebody who has withdrawn".to_owned(),
                (None, false) => translate_word("new").into_owned(),
            },
        ]
    };
    let header = ["person", "texts", "for everybody", "asked again", "before", ""];
    output::line(&output::table(&header, draft.people.iter().map(row).collect(), &[1, 2, 3, 4]))
}

fn write_again(args: &Assign) -> Result<()> {
    let Some(folder) = &args.out else { bail!("name the folder with --out") };
    // Written to if possible: packets of an interrupted assignment have their files from now on.
    let session = open_or_read(&args.project.path)?;
    let (format, passphrase) = format(args)?;
    let bar = Bar::new("packets");
    let settings = settings(args)?;
    let Some(format) = format.of_packets() else {
        bail!("a page for everybody is not written again: make another one, without --write-again")
    };
    let to = PacketFolder { folder, format, settings: &settings, passphrase: passphrase.as_ref() };
    let files = study::write_again(&session.study, &args.annotators, to, &bar);
    drop(bar);
    let files = files?;
    if args.output.json {
        return output::json(&PacketsWritten { files });
    }
    output::line(&format!("Wrote {} anew to {}", count(files.len() as u64, "packet"), folder.display()))?;
    output::line(
        "They are empty. What was handed in before stays here; a text that is answered once more counts with its later answer",
    )
}

pub(crate) fn hand_in(args: &HandIn) -> Result<()> {
    study::refuse_page(&args.packet)?;
    let session = open(&args.packet)?;
    let passphrase = encryption::to_encrypt(&args.encryption)?;
    let choices = SubmissionChoices { replace: args.force, passphrase: passphrase.as_ref() };
    let handed = study::hand_in(&session.study, &args.file, choices)?;
    if args.output.json {
        return output::json(&handed);
    }
    output::line(&format!(
        "Handed in {} of {} as {} ({:.0} kB)",
        handed.given,
        count(handed.wanted.into(), "text"),
        args.file.display(),
        (handed.bytes / 1000.0).max(1.0)
    ))?;
    output::line("Send this file to the person who gave you the packet. You can go on, and hand in again")
}

pub(crate) fn merge(args: &Merge) -> Result<()> {
    let readable = encryption::readable(&args.passphrase, &args.files)?;
    let session = open_in(&args.project.path, Duration::from_secs(args.wait.seconds))?;
    let consent = MergeConsent { whole_copies: args.whole_copy, changes: args.yes, seen: Vec::new() };
    let bar = Bar::new("files");
    let report = match args.dry_run {
        true => study::preview_merge(&session.study, readable.paths()),
        false => study::merge(&session.study, readable.paths(), &consent, &bar),
    };
    drop(bar);
    let mut report = report?;
    for (merged, given) in report.files.iter_mut().zip(&args.files) {
        merged.file = given.to_string_lossy().into_owned();
    }
    let refused = report.files.iter().filter(|file| file.refused).count();
    match args.output.json {
        true => output::json(&report)?,
        false => print_merge(&report, args.dry_run)?,
    }
    match refused {
        0 if args.dry_run && !args.output.json => output::line("Nothing was changed (--dry-run)"),
        0 => Ok(()),
        n => bail!("{} of {} not merged", n, count(report.files.len() as u64, "file")),
    }
}

pub(super) fn print_merge(report: &MergeReport, dry_run: bool) -> Result<()> {
    for file in &report.files {
        output::line(&format!("{}: {}", name(&file.file), describe_practice(file)))?;
        match file.withdrawn {
            0 => {}
            1 => output::line("  1 person had withdrawn there: everything of theirs was erased here too")?,
            n => output::line(&format!(
                "  {n} people had withdrawn there: everything of theirs was erased here too"
            ))?,
        }
        for problem in &file.problems {
            output::line(&format!("  {}", problem.problem.message))?;
        }
        if let Some(words) = file.backup_words() {
            output::line(&format!("  {words}"))?;
        }
        if let Some(effect) = file.effect.as_ref().filter(|_| dry_run || file.asks.is_some()) {
            print_effect(effect, file)?;
        }
        distinguish(file)?;
    }
    Ok(())
}

/// Prints where the two copies of a project differ, item by item.
fn distinguish(file: &MergedFile) -> Result<()> {
    let more = |all: u32, named: usize| match all as usize - named.min(all as usize) {
        0 => Ok(()),
        rest => output::line(&format!("    and {rest} more")),
    };
    if file.contradicted > 0 {
        output::line(&format!(
            "  {} given apart in two copies: both are stored, and the later one counts",
            match file.contradicted {
                1 => "1 pair of different answers of one person was".to_owned(),
                n => format!("{n} pairs of different answers of one person were"),
            }
        ))?;
        for one in &file.contradictions {
            let answer = |answer: &MergeAnswer| {
                let counts = if answer.current { ", counts" } else { "" };
                format!("\"{}\" ({}{counts})", answer.answer, answer.time)
            };
            let answers: Vec<String> = one.answers.iter().map(answer).collect();
            output::line(&format!(
                "    {}, {}, {}: {}",
                one.annotator,
                one.text,
                one.question,
                answers.join("; ")
            ))?;
        }
        more(file.contradicted, file.contradictions.len())?;
    }
    if file.texts_changed > 0 {
        output::line(&format!(
            "  the copy noted group, split or metadata of {} later, which hold now",
            count(file.texts_changed.into(), "text")
        ))?;
    }
    if file.splits_changed > 0 {
        output::line(&format!(
            "  {} in another part of the split now:",
            match file.splits_changed {
                1 => "1 text is".to_owned(),
                n => format!("{n} texts are"),
            }
        ))?;
        for one in &file.splits {
            let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "none".to_owned());
            output::line(&format!("    {}: {}, before {}", one.text, part(&one.now), part(&one.was)))?;
        }
        more(file.splits_changed, file.splits.len())?;
    }
    Ok(())
}

/// Prints what merging a whole copy would add and change.
fn print_effect(effect: &MergeEffectInfo, file: &MergedFile) -> Result<()> {
    let named = |names: &[String], count: usize| match (names.len(), count) {
        (0, _) => String::new(),
        (named, count) if named < count => format!(": {}, ...", names.join("; ")),
        _ => format!(": {}", names.join("; ")),
    };
    let answers = effect.answers.iter().map(|one| format!("{} ({})", one.annotator, one.answers));
    let adds = [
        (
            "answer",
            effect.answers.iter().map(|one| one.answers as usize).sum::<usize>(),
            answers.collect::<Vec<_>>(),
        ),
        ("person", effect.new_people.len(), effect.new_people.clone()),
        ("text", effect.texts as usize, Vec::new()),
        ("question", effect.new_questions.len(), effect.new_questions.clone()),
    ];
    for (what, added, names) in adds.iter().filter(|(_, added, _)| *added > 0) {
        let what = match (*what, *added) {
            ("person", people) if people != 1 => format!("{people} people"),
            (what, more) => count(more as u64, what),
        };
        output::line(&format!("  would add {what}{}", named(names, names.len())))?;
    }
    for change in &effect.changes {
        let what = change_words(change.kind);
        output::line(&format!(
            "  would change: {what} ({}){}",
            change.count,
            named(&change.names, change.count as usize)
        ))?;
    }
    match &file.asks {
        Some(asks) if asks.whole_copy && asks.changes => output::line("  needs --whole-copy and --yes"),
        Some(asks) if asks.whole_copy => output::line("  needs --whole-copy"),
        Some(_) => output::line("  needs --yes"),
        None => Ok(()),
    }
}

fn change_words(kind: MergeChangeKind) -> &'static str {
    use MergeChangeKind as Kind;
    match kind {
        Kind::Erased => "people who withdrew there, with everything of theirs erased here",
        Kind::Withdrawn => "people who withdrew there and are not here",
        Kind::WithdrawnTraces => "names and packets here that would count as those of people who withdrew",
        Kind::Answers => "answers that would no longer count, or would have other notes or flags",
        Kind::RepeatedAnswers => {
            "answers of later annotation rounds that are removed, replaced, counted again or commented on"
        }
        Kind::People => "names and attributes of people",
        Kind::Questions => "questions",
        Kind::Texts => "texts with another group, split or metadata",
        Kind::Guideline => "versions of the guideline",
        Kind::Decisions => "decisions about texts",
        Kind::AttentionChecks => "right answers of attention checks",
        Kind::StudySettings => "settings of the study",
        Kind::Panels => "saved panels",
    }
}

fn name(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn describe_practice(file: &MergedFile) -> String {
    if file.refused && file.asks.is_some() {
        return "not merged yet".to_owned();
    }
    if file.refused {
        return "not merged".to_owned();
    }
    let what = match file.kind {
        Some(MergedKind::Packet) => "the packet of",
        Some(MergedKind::HandIn) if file.annotator.is_none() => "a submission",
        Some(MergedKind::HandIn) => "handed in by",
        Some(MergedKind::Copy) | None => "a copy of the project",
    };
    let who = file.annotator.as_ref().map_or_else(String::new, |who| format!(" {who}"));
    match file.new {
        0 => format!("{what}{who}, nothing new"),
        1 => format!("{what}{who}, 1 answer, change or mark new"),
        new => format!("{what}{who}, {new} answers, changes and marks new"),
    }
}

pub(crate) fn status(args: &Status) -> Result<()> {
    study::refuse_page(&args.project)?;
    let session = open_to_read(&args.project)?;
    if args.texts {
        let texts = study::packet_texts(&session.study)?;
        if args.output.json {
            return output::json(&texts);
        }
        let row = |text: &PacketText| {
            let done = if text.done { "yes" } else { "" };
            vec![text.text_id.clone(), text.occasion.to_string(), done.to_owned()]
        };
        return output::line(&output::table(
            &["text_id", "round", "answered"],
            texts.iter().map(row).collect(),
            &[1],
        ));
    }
    if let Some(packet) = study::open_packet(&session.study)? {
        if args.output.json {
            return output::json(&packet);
        }
        let since = match (packet.handed_in.is_some(), packet.since) {
            (false, _) => "not handed in yet".to_owned(),
            (true, 0) => "handed in".to_owned(),
            (true, n) => format!("handed in, and {} since", count(n.into(), "answer")),
        };
        output::line(&format!(
            "The packet of {}: {} of {} answered; {since}",
            packet.annotator,
            packet.given,
            count(packet.wanted.into(), "text")
        ))?;
        return packet
            .practice
            .as_ref()
            .map_or(Ok(()), |state| output::line(&super::practice::describe_practice(state)));
    }
    let report = study::report(&session.study)?;
    if args.output.json {
        return output::json(&report);
    }
    let pages = study::written_pages(&session.study)?;
    print_pages(&pages)?;
    match (report.people.is_empty(), pages.is_empty()) {
        (true, true) => {
            return output::line("Nothing was handed out yet: plan a study with `dissensus study assign`");
        }
        (true, false) => return print_short(&report, &pages),
        (false, _) => {}
    }
    output::line(&format!(
        "{} of {} texts answered, counted for each person, by {}; everybody who was asked has answered {} of {}",
        report.given,
        report.wanted,
        count(report.people.len() as u64, "person").replace("persons", "people"),
        report.texts_done,
        count(report.texts.into(), "text")
    ))?;
    if let Some(figure) = &report.anchor_agreement {
        output::line(&format!(
            "On texts for everybody two people gave the same answer in {}",
            shown(figure)
        ))?;
    }
    if let Some(figure) = &report.self_agreement {
        output::line(&format!("Asked again, people gave the same answer in {}", shown(figure)))?;
    }
    if report.labels_after_shown > 0 {
        output::line(&super::care::after_shown(report.labels_after_shown))?;
    }
    print_short(&report, &pages)?;
    print_earlier(&report.earlier)?;
    for person in report.people.iter().filter(|person| person.left_out > 0) {
        output::line(&format!(
            "{} leaves out {} for topics of their own",
            person.annotator,
            count(person.left_out.into(), "text")
        ))?;
    }
    let row = |person: &StudyPerson| {
        let figure = |figure: &Option<StudyFigure>| figure.as_ref().map_or_else(String::new, brief);
        vec![
            person.annotator.clone(),
            person.given.to_string(),
            person.wanted.to_string(),
            if person.handed_in.is_some() { "yes".to_owned() } else { String::new() },
            person.seconds.map_or_else(String::new, |seconds| format!("{seconds:.1}")),
            figure(&person.anchor_agreement),
            figure(&person.self_agreement),
        ]
    };
    let mut header = vec!["person", "answered", "of", "handed in", "seconds", "as others", "as before"];
    let mut rows: Vec<Vec<String>> = report.people.iter().map(row).collect();
    // Adds only columns that the study has values for.
    let mut add = |name, cell: &dyn Fn(&StudyPerson) -> Option<String>| {
        if report.people.iter().any(|person| cell(person).is_some()) {
            header.push(name);
            rows.iter_mut()
                .zip(&report.people)
                .for_each(|(row, one)| row.push(cell(one).unwrap_or_default()));
        }
    };
    add("practice", &|person| person.practice.as_ref().map(practised));
    add("checks", &|person| person.attention_status.map(|status| status.to_string()));
    output::line(&output::table(&header, rows, &[1, 2, 4, 5, 6]))
}

/// Prints which pages for everybody there are.
fn print_pages(pages: &[WrittenPage]) -> Result<()> {
    for page in pages {
        let people = match page.people {
            0 if page.open == page.parts => "nobody has joined yet: merge what people hand in".to_owned(),
            0 => "all who joined have withdrawn".to_owned(),
            1 => "1 person has joined".to_owned(),
            people => format!("{people} people have joined"),
        };
        let open = match page.open {
            open if open == 0 || open == page.parts => String::new(),
            1 => "; 1 share has nobody yet".to_owned(),
            open => format!("; {open} shares have nobody yet"),
        };
        output::line(&format!(
            "The page for everybody of {} has {}; {people}{open}",
            local_time(page.made_at_ms as f64),
            count(page.parts.into(), "share")
        ))?;
    }
    Ok(())
}

/// Prints how many texts fewer people have than planned, once somebody had any.
fn print_short(report: &StudyReport, pages: &[WrittenPage]) -> Result<()> {
    let begun = !report.people.is_empty() || pages.iter().any(|page| page.open < page.parts);
    if report.short_texts == 0 || !begun {
        return Ok(());
    }
    let open = match pages.iter().any(|page| page.open > 0) {
        true => ", and with --without-pages those of shares that nobody has yet",
        false => "",
    };
    output::line(&format!(
        "{} handed out to fewer than {}, as where somebody withdrew: `dissensus study assign` with --per-text {} hands them out to others{open}",
        count(report.short_texts.into(), "text"),
        count(report.per_text.into(), "person").replace("persons", "people"),
        report.per_text
    ))
}

/// Prints which assigned packets contain outdated settings.
pub(super) fn print_earlier(earlier: &[EarlierPacket]) -> Result<()> {
    for packet in earlier {
        output::line(&format!(
            "The packet of {} was handed out before a change of: {}. `dissensus study assign --write-again --annotators \"{}\" --out DIR` writes it as it is now, \
             and the next `study assign` adds checks; answers in both come together",
            packet.annotator,
            packet.changed.join(", "),
            packet.annotator
        ))?;
    }
    Ok(())
}

fn practised(result: &PracticeResult) -> String {
    match result.rounds_begun {
        0 => "not begun".to_owned(),
        1 => format!("{} ({}/{})", result.status, result.right, result.of),
        n => format!("{} ({}/{}, round {n})", result.status, result.right, result.of),
    }
}

fn shown(figure: &StudyFigure) -> String {
    format!("{:.0} % (95 %: {:.0} to {:.0})", 100.0 * figure.share, 100.0 * figure.low, 100.0 * figure.high)
}

fn brief(figure: &StudyFigure) -> String {
    format!("{:.0} % ({:.0}–{:.0})", 100.0 * figure.share, 100.0 * figure.low, 100.0 * figure.high)
}
