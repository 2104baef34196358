//! Arguments of `assign`, `checks`, `hand-in`, `merge` and `study`.

use clap::{Args, ValueHint};
use dissensus_domain::{AfterFailing, Outcome};
use std::path::PathBuf;
use strum::VariantArray as _;

/// `assign`: a plan, and a packet for each person.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus assign P.dissensus --annotators ada,ben,cleo --per-text 2 --dry-run
  dissensus assign P.dissensus --annotators ada,ben,cleo --per-text 2 --anchors 12 --repeat 0.05 --out packets
  dissensus assign P.dissensus --to-come 12 --per-text 3 --out packets
  dissensus assign P.dissensus --annotators dora --per-text 3 --out packets
  dissensus assign P.dissensus --write-again --annotators ben --out again

A packet is a small project for one person: that person's texts and questions, and nothing of others. It is opened in the
window, or labelled with `dissensus label`. `dissensus hand-in` makes one file of what was done with it, and
`dissensus merge` takes that in, as often as one likes.

A plan that runs is added to: a text counts as having the people of the study who were given it or answered it, and only
what is missing is handed out, in a packet more for each person who gets something. Nothing that was handed out is taken back.")]
pub(crate) struct Assign {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// What is asked of each text; give it several times for several questions [default: all]
    #[arg(long)]
    pub(crate) question: Vec<String>,
    /// Whom to ask, by name; who is not in the project yet is added
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) annotators: Vec<String>,
    /// A name that nobody has is a new annotator's, also where it differs from somebody's by case, accents, spaces or letters that look alike
    /// alone; without this such a name is refused
    #[arg(long, conflicts_with = "write_again")]
    pub(crate) new_annotator: bool,
    /// Ask so many people more whose names are not known yet: person-1, person-2, ...
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) to_come: u32,
    /// People who are asked about each text
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_text: u32,
    /// Texts that a person is asked about at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_person: Option<u32>,
    /// Texts that everybody is asked about
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) anchors: u32,
    /// Share of each person's texts that is asked again, between 0 and 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) repeat: f64,
    /// Others that come at least before a text is asked again
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) again_after: u32,
    /// An attribute in which the people of a text should differ, where it is known
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) balance: Option<String>,
    /// What draws texts and orders
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
    /// The folder for the packets, one NAME.dissensus a person
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,
    /// Say what the plan comes to, and change nothing
    #[arg(long, conflicts_with = "write_again")]
    pub(crate) dry_run: bool,
    /// Write packets that were lost anew, without answers: those of --annotators, or all
    #[arg(long, conflicts_with_all = ["to_come", "question", "per_person", "balance"])]
    pub(crate) write_again: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `hand-in`: one file of what was done with a packet.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  dissensus hand-in ada.dissensus ada.handin

As often as one likes: what is in several is taken in once. The file has the packet's texts and the answers of its person, and a
code that tells whether it was changed on its way.")]
pub(crate) struct HandIn {
    /// The packet
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) packet: PathBuf,
    /// The file to make
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Replace a file of that name
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `decide`: what was agreed on about a text.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus decide P.dissensus --text-id 42
  dissensus decide P.dissensus --text-id 42 --outcome real-difference --comment \"both readings are right\" --by ana
  dissensus decide P.dissensus --text-id 42 --outcome slip --value 4 --comment \"ben meant 4\" --by ana

Without --outcome: what everybody answered and what was decided. A decision stands beside the labels and changes none of them; the
last one holds, and `reopened` takes it back. `dissensus decisions` lists those that hold.")]
pub(crate) struct Decide {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The text's identity
    #[arg(long)]
    pub(crate) text_id: String,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// What came of it: slip, guideline-gap, ambiguous, real-difference (keep all labels as they are) or reopened
    #[arg(long, value_parser = outcome)]
    pub(crate) outcome: Option<Outcome>,
    /// The answer that was decided on, by its name: a layer of its own, nobody's label
    #[arg(long, requires = "outcome", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// Why
    #[arg(long, requires = "outcome", default_value = "", hide_default_value = true)]
    pub(crate) comment: String,
    /// Who decides
    #[arg(long, requires = "outcome", default_value = "", hide_default_value = true)]
    pub(crate) by: String,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `decisions`: what was agreed on about texts.
#[derive(Args, Debug)]
pub(crate) struct Decisions {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Those that hold no more too
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn outcome(argument: &str) -> Result<Outcome, String> {
    let names: Vec<&str> = Outcome::VARIANTS.iter().map(|outcome| outcome.name()).collect();
    argument.parse().map_err(|_| format!("this is one of {}", names.join(", ")))
}

/// `study`: how far a study is, or a packet.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study P.dissensus
  dissensus study ada.dissensus --texts

Of a project: people who were handed something, how many of their texts they answered (a text counts for each person, once all
questions that are always asked about it are answered), seconds an answer took in the window (median), \"as others\": how often those
who answered the same texts for everybody gave the same answer, and \"as before\": how often an answer was the same when it was asked
again, both over all questions, with 95 % intervals; too little to tell under five texts or answers. `agreement` and `repeats` tell
of one question. Of a packet: what is answered, and with --texts what it asks in which order.")]
pub(crate) struct Study {
    /// The project file, or a packet
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// List what a packet asks, in its order: text, occasion (2 where it is asked again), and whether it is answered
    #[arg(long)]
    pub(crate) texts: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `merge`: what others did, into the project.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus merge P.dissensus ada.handin ben.handin
  dissensus merge P.dissensus 'copy of P.dissensus' --dry-run
  dissensus merge P.dissensus 'copy of P.dissensus' --whole-copy

Takes in what was handed in, packets themselves, and whole copies of the project, in any order and as often as one likes. A file
is taken in as a whole or not at all; what is wrong with one is said, and the others are taken in all the same. The exit code is
0 only where no file was refused.

Of a packet only what its person may say is taken, whatever its file says that it is. In a whole copy anybody may have done anything: one
that was never taken in here needs --whole-copy, and one that erases or changes something that is here (somebody withdrew there, answers,
people, questions, the guideline, decisions or settings of the study are others) needs --yes. Before such a change the project is copied to
P.dissensus.before-merge-DATE.")]
pub(crate) struct Merge {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// What to take in
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Take in whole copies of the project that were never taken in here
    #[arg(long)]
    pub(crate) whole_copy: bool,
    /// Take in what erases or changes something that is here
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only say what taking each file in would add and change
    #[arg(long, conflicts_with_all = ["whole_copy", "yes"])]
    pub(crate) dry_run: bool,
    /// Wait for so many seconds while the project is open elsewhere
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub(crate) wait: u64,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `checks`: texts whose right answer is known.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus checks P.dissensus --text-id 42 --value 5 --reason \"a plain insult\"
  dissensus checks P.dissensus --from checks.csv --question offensive
  dissensus checks P.dissensus --text-id 42 --remove
  dissensus checks P.dissensus --pass 0.75 --within 1 --then practise
  dissensus checks P.dissensus

An attention check is a text of the project whose right answer its author knows. Everybody who is handed a packet gets all of them, at
random places among the other texts; the right answers stay in the project. `study` tells how often each person was right, and `checks`
how often each check was answered right: one that many miss is itself in doubt. Labels are kept whatever comes of it. A CSV file has
the columns text_id and label, and may have reason.

With --pass somebody who answers fewer of the checks right falls short: as soon as the mark cannot be reached any more, --then says whether
that person goes on (go-on), is led back to the practice round where there is one (practise), or is asked no more (stop). Packets hold no
right answers of checks: there it holds from the next plan on. --no-pass takes the mark back.")]
pub(crate) struct Checks {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The text whose right answer is set
    #[arg(long, conflicts_with = "from")]
    pub(crate) text_id: Option<String>,
    /// The right answer, by its name
    #[arg(long, requires = "text_id", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// Why it is the right one
    #[arg(long, requires = "value", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
    /// The text is no check any more
    #[arg(long, requires = "text_id", conflicts_with = "value")]
    pub(crate) remove: bool,
    /// The share of a person's checks that must be right, between 0 and 1
    #[arg(long, value_name = "SHARE", value_parser = super::practice::share)]
    pub(crate) pass: Option<f64>,
    /// On ordered levels an answer so many levels away counts as right
    #[arg(long, value_name = "N")]
    pub(crate) within: Option<u16>,
    /// What happens to somebody below it: go-on [default], practise or stop
    #[arg(long, value_parser = super::practice::after_failing)]
    pub(crate) then: Option<AfterFailing>,
    /// There is no mark any more
    #[arg(long, conflicts_with_all = ["pass", "within", "then"])]
    pub(crate) no_pass: bool,
    /// Set those of a CSV file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
