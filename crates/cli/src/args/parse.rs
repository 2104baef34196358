//! Parsers of option values.

use dissensus_api::AuxiliaryQuestion;
use dissensus_domain::{AfterFailing, HistoryKind, Outcome, PanelShare, ScaleKind, ScaleTemplate};
use dissensus_project::clock::moment_from;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use std::path::Path;
use strum::VariantArray as _;

/// Methods that aggregate the labels of a text.
pub(super) const METHODS: [&str; 4] = ["majority", "dawid-skene", "mace", "glad"];

pub(super) fn split(name: &str) -> Result<SplitSpec, String> {
    name.parse::<SplitSpec>().map_err(|error| error.to_string())
}

pub(super) fn model(name: &str) -> Result<ModelKind, String> {
    name.parse::<ModelKind>().map_err(|error| error.to_string())
}

pub(super) fn template(name: &str) -> Result<ScaleTemplate, String> {
    ScaleTemplate::named(name)
}

pub(super) fn scale(name: &str) -> Result<ScaleKind, String> {
    name.parse().map_err(|error: dissensus_domain::ScaleError| error.to_string())
}

/// The kinds of scales and what they mean, for the help.
pub(super) fn scale_kinds() -> String {
    ScaleKind::listed(|kind| format!("{} ({})", kind.name(), kind.rules().title()))
}

/// `PROJECT` or `PROJECT#QUESTION`. File names may contain a #: the path ends before the first # that leaves
/// an existing file.
pub(super) fn auxiliary(named: &str) -> Result<AuxiliaryQuestion, String> {
    let is_file = |path: &str| Path::new(path).is_file();
    let at = named.match_indices('#').map(|(at, _)| at).find(|at| !is_file(named) && is_file(&named[..*at]));
    let (path, question) = at.map_or((named, None), |at| (&named[..at], Some(named[at + 1..].to_owned())));
    // A run that is resumed may be in another folder.
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    Ok(AuxiliaryQuestion { project: path.to_string_lossy().into_owned(), question })
}

/// The address of a server, without a slash at its end.
pub(super) fn web_address(address: &str) -> Result<String, String> {
    dissensus_server::web_address(address).map_err(|error| error.to_string())
}

pub(super) fn on_off(word: &str) -> Result<bool, String> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("use on or off".to_owned()),
    }
}

pub(super) fn frozen_part(argument: &str) -> Result<String, String> {
    // A question's name may contain the sign, a run's number cannot.
    let run = argument.rsplit_once('=').map(|(_, run)| run.trim().parse::<u32>());
    match run {
        _ if argument == "encoder" => Ok(argument.to_owned()),
        Some(Ok(_)) => Ok(argument.to_owned()),
        Some(Err(_)) => Err(format!("\"{argument}\" does not end in the number of a run, such as rude=3")),
        None => Err(format!("\"{argument}\" is neither encoder nor QUESTION=RUN, such as rude=3")),
    }
}

pub(super) fn not_blank(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("the text is empty".to_owned()) } else { Ok(text.to_owned()) }
}

pub(super) fn pair(argument: &str) -> Result<(String, String), String> {
    match argument.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("\"{argument}\" is not NAME=VALUE, such as gender=Woman")),
    }
}

/// An attribute with a value, both as they were written.
pub(super) fn attribute(argument: &str) -> Result<(String, String), String> {
    let (name, value) = argument.split_once('=').ok_or("write ATTRIBUTE=VALUE, such as gender=woman")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// An attribute with the values that people choose from.
pub(super) fn attribute_values(argument: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = argument
        .split_once('=')
        .ok_or("write ATTRIBUTE=VALUE|VALUE, such as \"gender=woman|man|non-binary\"")?;
    Ok((name.to_owned(), values.split('|').map(str::to_owned).collect()))
}

pub(super) fn groups(argument: &str) -> Result<(String, String, String), String> {
    let named = pair(argument).ok();
    let values = named.as_ref().and_then(|(_, values)| values.split_once(':'));
    match (&named, values) {
        (Some((name, _)), Some((first, second))) if first.trim() != second.trim() => {
            Ok((name.clone(), first.trim().to_owned(), second.trim().to_owned()))
        }
        _ => Err(format!("\"{argument}\" is not NAME=VALUE:VALUE with two values, such as gender=Man:Woman")),
    }
}

pub(super) fn panel_share(argument: &str) -> Result<PanelShare, String> {
    let wrong = || format!("\"{argument}\" is not NAME=VALUE:SHARE, such as gender=Woman:0.5");
    // A value may contain colons, a share cannot.
    let (named, share) = argument.rsplit_once(':').ok_or_else(wrong)?;
    let (attribute, value) = pair(named).map_err(|_| wrong())?;
    let share = match share.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => share.trim().parse(),
    };
    let share = share.map_err(|_| wrong())?;
    if (0.0..=1.0).contains(&share) && !value.is_empty() {
        Ok(PanelShare { attribute, value, share })
    } else {
        Err(wrong())
    }
}

pub(super) fn reliability(argument: &str) -> Result<f64, String> {
    number(argument, |share| share > 0.0 && share < 1.0, "a reliability is a number above 0 and below 1")
}

pub(super) fn positive(argument: &str) -> Result<f64, String> {
    number(argument, |number| number > 0.0 && number.is_finite(), "this is a number above 0")
}

pub(super) fn chance(argument: &str) -> Result<f64, String> {
    number(argument, |chance| chance > 0.0 && chance <= 1.0, "a probability is a number above 0 and up to 1")
}

pub(super) fn share(argument: &str) -> Result<f64, String> {
    number(argument, |share| (0.0..=1.0).contains(&share), "a share is a number from 0 to 1")
}

fn number(argument: &str, allowed: impl Fn(f64) -> bool, wrong: &str) -> Result<f64, String> {
    argument.parse().ok().filter(|number| allowed(*number)).ok_or_else(|| wrong.to_owned())
}

/// Which annotation rounds to remove.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RemovedOccasion {
    All,
    One(u16),
}

pub(super) fn occasion(argument: &str) -> Result<RemovedOccasion, String> {
    match (argument, argument.parse::<u16>()) {
        ("all", _) => Ok(RemovedOccasion::All),
        (_, Ok(one)) if one >= 2 => Ok(RemovedOccasion::One(one)),
        (_, Ok(_)) => {
            Err("answers of round 1 are the labels themselves: `label undo` takes those back".to_owned())
        }
        _ => Err("this is a whole number from 2 on, or `all`".to_owned()),
    }
}

pub(super) fn after_failing(argument: &str) -> Result<AfterFailing, String> {
    let names: Vec<&str> = AfterFailing::VARIANTS.iter().map(|then| then.into()).collect();
    argument.parse().map_err(|_| format!("this is one of {}", names.join(", ")))
}

pub(super) fn outcome(argument: &str) -> Result<Outcome, String> {
    let names: Vec<&str> = Outcome::VARIANTS.iter().map(|outcome| outcome.name()).collect();
    argument.parse().map_err(|_| format!("this is one of {}", names.join(", ")))
}

pub(super) fn history_kind(written: &str) -> Result<HistoryKind, String> {
    written.parse().map_err(|_| {
        let names: Vec<&str> = HistoryKind::VARIANTS.iter().map(|kind| kind.name()).collect();
        format!("there is no such kind; there are {}", names.join(", "))
    })
}

pub(super) fn since(written: &str) -> Result<f64, String> {
    moment(written, false)
}

pub(super) fn until(written: &str) -> Result<f64, String> {
    moment(written, true)
}

fn moment(written: &str, end: bool) -> Result<f64, String> {
    moment_from(written, end).ok_or_else(|| {
        "write a day (2026-03-01) or a time (2026-03-01T14:00, 2026-03-01T14:00+01:00)".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_parsed_as_pairs() {
        assert_eq!(pair("gender = Woman"), Ok(("gender".into(), "Woman".into())));
        assert!(pair("gender").is_err());
        assert!(pair("=x").is_err());
    }

    #[test]
    fn question_is_separated_from_a_path_with_a_hash() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["p.dissensus", "no 1#2.dissensus", "no 1#2.dissensus#x"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let read = |named: &str| {
            let AuxiliaryQuestion { project, question } =
                auxiliary(&folder.path().join(named).to_string_lossy()).unwrap();
            let file = Path::new(&project).file_name().unwrap().to_string_lossy().into_owned();
            (file, question)
        };
        let expected = |file: &str, question: Option<&str>| (file.to_owned(), question.map(str::to_owned));
        assert_eq!(read("p.dissensus"), expected("p.dissensus", None));
        assert_eq!(read("p.dissensus#rude"), expected("p.dissensus", Some("rude")));
        assert_eq!(read("p.dissensus#a#b"), expected("p.dissensus", Some("a#b")));
        assert_eq!(read("no 1#2.dissensus"), expected("no 1#2.dissensus", None));
        assert_eq!(read("no 1#2.dissensus#rude"), expected("no 1#2.dissensus", Some("rude")));
        assert_eq!(read("no 1#2.dissensus#x"), expected("no 1#2.dissensus#x", None));
        // A missing file is named as it was given.
        assert_eq!(read("gone.dissensus#x"), expected("gone.dissensus#x", None));
        let here = auxiliary("p.dissensus").unwrap().project;
        assert!(Path::new(&here).is_absolute(), "{here}");
    }

    #[test]
    fn panel_shares_are_parsed() {
        let expected = |attribute: &str, value: &str, share| PanelShare {
            attribute: attribute.into(),
            value: value.into(),
            share,
        };
        assert_eq!(panel_share("gender=Woman:0.5"), Ok(expected("gender", "Woman", 0.5)));
        assert_eq!(panel_share("shift = 9:00-17:00 : 25%"), Ok(expected("shift", "9:00-17:00", 0.25)));
        for wrong in [
            "gender",
            "gender=Woman",
            "gender=Woman:2",
            "gender=Woman:-1",
            "gender=:0.5",
            "=x:0.5",
            "gender=Woman:NaN",
        ] {
            assert!(panel_share(wrong).is_err(), "{wrong}");
        }
    }
}
