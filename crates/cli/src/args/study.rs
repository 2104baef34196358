//! `dissensus study`: studies with several annotators on separate computers.

use super::mask::Mask;
use super::parse::{not_blank, pair, positive, reliability, web_address};
use super::shared::{EncryptArgs, OutputArgs, PassphraseArg, ProjectArg, QuestionArg, WaitArg};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use dissensus_api::PacketFormat;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum StudyCommand {
    /// Estimate how many annotators per text and labels per annotator a study needs
    Plan(Plan),
    /// Assign texts to annotators, and write a task packet for each
    Assign(Assign),
    /// Mask names, addresses and numbers in texts before they are handed out
    Mask(Mask),
    /// Write a submission: one file with the answers in a task packet
    HandIn(HandIn),
    /// Merge submissions, task packets and copies into the project
    Merge(Merge),
    /// Merge the submissions that people put into a folder, each once
    Collect(Collect),
    /// Let annotators answer in their browsers over a network, each with a personal link
    Serve(Serve),
    /// Show the progress and agreement of a study, or the contents of a task packet
    Status(Status),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study plan P.dissensus --reliability 0.8
  dissensus study plan P.dissensus --interval-width 1.5 --cost-per-label 0.12

The estimate uses the labels in the project as a pilot study.")]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    #[command(flatten)]
    pub(crate) question: QuestionArg,
    /// Target reliability of a text's mean and of an annotator's severity, between 0 and 1
    #[arg(long, default_value_t = 0.8, value_parser = reliability)]
    pub(crate) reliability: f64,
    /// Target width of the 95 % interval of a text's mean, in levels (for yes/no questions a share, such as
    /// 0.4)
    #[arg(long, value_name = "LEVELS", value_parser = positive)]
    pub(crate) interval_width: Option<f64>,
    /// Cost of one label, in any currency
    #[arg(long, value_name = "AMOUNT", value_parser = positive)]
    pub(crate) cost_per_label: Option<f64>,
    /// Time needed for one label [default: the median of labels given in the window]
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) seconds_per_label: Option<f64>,
    /// Number of texts to show that need more labels
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What a task packet is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PacketFormatArg {
    /// A project file for the desktop application
    #[default]
    File,
    /// A web page that is opened in a browser, without a network
    Page,
    /// A web page that opens with a passphrase: DIR/passphrases.csv has one for each person
    LockedPage,
    /// A project file that is encrypted: DIR/passphrases.csv has a passphrase for each person
    LockedFile,
    /// One web page, DIR/join.html, for everybody: each person who opens it gets a share of its texts
    JoinPage,
}

impl PacketFormatArg {
    /// The format of a packet for each person; `None` for one page for everybody.
    pub(crate) fn of_packets(self) -> Option<PacketFormat> {
        match self {
            Self::File => Some(PacketFormat::File),
            Self::Page => Some(PacketFormat::Page),
            Self::LockedPage => Some(PacketFormat::LockedPage),
            Self::LockedFile => Some(PacketFormat::LockedFile),
            Self::JoinPage => None,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study assign P.dissensus --annotators ada,ben,cleo --per-text 2 --dry-run
  dissensus study assign P.dissensus --annotators ada,ben,cleo --per-text 2 --out packets
  dissensus study assign P.dissensus --annotators ada,ben --anchors 12 --repeat 0.05 --out packets
  dissensus study assign P.dissensus --to-come 12 --per-text 3 --out packets
  dissensus study assign P.dissensus --annotators ada,ben --as locked-file --out packets
  dissensus study assign P.dissensus --annotators ada,ben --as page --out pages
  dissensus study assign P.dissensus --to-come 40 --as join-page --out site
  dissensus study assign P.dissensus --write-again --annotators ben --out again

A task packet is a small project for one person, without other people's answers. Assigning again only \
fills what is missing. Pages that send answers to DataPipe and OSF, for example:
  --as page --send-to https://pipe.jspsych.org/api/data/ --send-with experimentID=ID")]
pub(crate) struct Assign {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// A question to ask; may be repeated [default: all questions]
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Vec<String>,
    /// Names of the annotators; new names are added to the project
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) annotators: Vec<String>,
    /// Add annotators even if a name resembles an existing one (case, accents, spaces, similar letters)
    #[arg(long, conflicts_with = "write_again")]
    pub(crate) new_annotator: bool,
    /// Number of further annotators whose names are not known yet: person-1, person-2, ...
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) to_come: u32,
    /// Annotators per text
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_text: u32,
    /// Maximum number of texts per annotator
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_person: Option<u32>,
    /// Number of texts that every annotator gets
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) anchors: u32,
    /// Share of each annotator's texts to ask again (re-annotation), from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) repeat: f64,
    /// Minimum number of other texts before a text is asked again
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) again_after: u32,
    /// An attribute in which the annotators of each text should differ, where it is known
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) balance: Option<String>,
    /// Seed for drawing texts and their order
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
    /// What to write for each person
    #[arg(long = "as", value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: PacketFormatArg,
    #[command(flatten)]
    pub(crate) encryption: EncryptArgs,
    /// The address to which pages send answers when they are handed in, instead of downloading a file
    #[arg(long, value_name = "URL")]
    pub(crate) send_to: Option<String>,
    /// A member of that request, such as experimentID=abc; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair, requires = "send_to")]
    pub(crate) send_with: Vec<(String, String)>,
    /// A code or an address that pages show once everything is answered and handed in
    #[arg(long, value_name = "CODE|URL", value_parser = not_blank)]
    pub(crate) completion: Option<String>,
    /// The folder for the task packets, one NAME.dissensus or NAME.html per person
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,
    /// Plan as if nobody else came by pages for everybody: their shares that nobody has yet do not count
    #[arg(long, conflicts_with = "write_again")]
    pub(crate) without_pages: bool,
    /// Show the plan and change nothing
    #[arg(long, conflicts_with = "write_again")]
    pub(crate) dry_run: bool,
    /// Write lost task packets again, without answers: those of --annotators, or all
    #[arg(long, conflicts_with_all = ["to_come", "question", "per_person", "balance"])]
    pub(crate) write_again: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study hand-in ada.dissensus ada.handin
  dissensus study hand-in ada.dissensus ada.handin.age --encrypt

It can be repeated: merging several submissions counts each answer once.")]
pub(crate) struct HandIn {
    /// The task packet
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) packet: PathBuf,
    /// The submission file to write
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) encryption: EncryptArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study merge P.dissensus ada.handin ben.handin
  dissensus study merge P.dissensus 'copy of P.dissensus' --dry-run
  dissensus study merge P.dissensus 'copy of P.dissensus' --whole-copy

Files can be merged in any order and more than once. A refused file does not stop the others; the exit \
code is then 1.")]
pub(crate) struct Merge {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Submissions, task packets or copies of the project
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArg,
    /// Accept copies of the whole project that were never merged before
    #[arg(long)]
    pub(crate) whole_copy: bool,
    /// Accept changes that erase or replace something here; the project is backed up first
    #[arg(long)]
    pub(crate) yes: bool,
    /// Show what each file would add and change, and change nothing
    #[arg(long, conflicts_with_all = ["whole_copy", "yes"])]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) wait: WaitArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study collect P.dissensus ~/Nextcloud/study
  dissensus study collect P.dissensus ~/Nextcloud/study --watch

The folder may be one that Nextcloud, OneDrive, Dropbox or another service synchronises. Nothing in it is \
changed; incomplete files are waited for. The project itself belongs in another folder.")]
pub(crate) struct Collect {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// The folder with submissions, also in folders in it
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Look again every two seconds, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArg,
    #[command(flatten)]
    pub(crate) wait: WaitArg,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study serve P.dissensus
  dissensus study serve P.dissensus --address https://study.example.org --behind-proxy
  dissensus study serve P.dissensus --only-links --links links.html
  dissensus study serve P.dissensus --join --per-text 5 --per-person 30 --completion C0FFEE

The packets are those of `study assign`. Answers are merged within seconds; Ctrl-C ends the server, and \
starting it again continues. It listens on this computer only: others reach it through a reverse proxy or \
a tunnel that encrypts.")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) project: ProjectArg,
    /// Address and port on this computer; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8400")]
    pub(crate) listen: SocketAddr,
    /// How annotators reach the server, for the links [default: the address on this computer]
    #[arg(long, value_name = "URL", value_parser = web_address)]
    pub(crate) address: Option<String>,
    /// A reverse proxy passes requests on, and names their sender in X-Forwarded-For
    #[arg(long)]
    pub(crate) behind_proxy: bool,
    /// Let anybody join by one link, ADDRESS/join, who then gets a packet
    #[arg(long)]
    pub(crate) join: bool,
    /// Of people who join: people per text
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..), requires = "join")]
    pub(crate) per_text: u32,
    /// Of people who join: texts per person
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..), requires = "join")]
    pub(crate) per_person: u32,
    /// Of people who join: how many of these texts everybody gets
    #[arg(long, value_name = "N", default_value_t = 0, requires = "join")]
    pub(crate) anchors: u32,
    /// Of people who join: after how many minutes others get the texts that are not answered
    #[arg(long, value_name = "MINUTES", default_value_t = 120, requires = "join")]
    pub(crate) give_back: u64,
    /// A code, or the address of a page, for those who have answered everything
    #[arg(long, value_name = "TEXT", value_parser = not_blank)]
    pub(crate) completion: Option<String>,
    /// Write the links to a file: .csv, or .html with QR codes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) links: Option<PathBuf>,
    /// Print or write the links, and do not start the server
    #[arg(long)]
    pub(crate) only_links: bool,
    #[command(flatten)]
    pub(crate) wait: WaitArg,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus study status P.dissensus
  dissensus study status ada.dissensus --texts

`analyse agreement` and `analyse repeats` give details for one question.")]
pub(crate) struct Status {
    /// The project file, or a task packet
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Of a task packet: list its texts in order, with annotation round and whether they are answered
    #[arg(long)]
    pub(crate) texts: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
