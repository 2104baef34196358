//! The command line: what can be asked, in the words of the project. No behaviour.

mod care;
mod guideline;
mod history;
mod panel;
mod people;
mod practice;
mod removal;
mod report;
mod schema;
mod study;
mod texts;

pub(crate) use care::{Care, Reveal};
pub(crate) use guideline::{Guideline, Remarks};
pub(crate) use history::History;
pub(crate) use panel::{Panel, PanelBy};
pub(crate) use people::{Annotator, AttributeFormArgs, Withdraw};
pub(crate) use practice::Practice;
pub(crate) use removal::Remove;
pub(crate) use report::Report;
pub(crate) use schema::Schema;
pub(crate) use study::{Assign, Checks, Decide, Decisions, HandIn, Merge, Study};
pub(crate) use texts::{Overview, TextFilterArg, Texts, WhoDiffers};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use dissensus_bench::LargeStep;
use dissensus_domain::{ScaleKind, ScaleTemplate};
use dissensus_workbench::view::{AuxiliaryQuestion, TrainOptions};
use dissensus_workbench::{ModelKind, SplitSpec, ToolFormat};
use std::path::{Path, PathBuf};

/// Label subjective texts, keep every annotator's own labels, and see where annotators would disagree.
#[derive(Parser, Debug)]
#[command(
    name = "dissensus",
    version,
    max_term_width = 100,
    after_help = "Examples:
  dissensus sample demo.dissensus
  dissensus disagreement demo.dissensus --top 5

  dissensus new study.dissensus
  dissensus import study.dissensus labels.csv --attributes gender,age
  dissensus encode study.dissensus
  dissensus evaluate study.dissensus --split by-text:0.7 --at-least 3
  dissensus label study.dissensus --annotator ana --text-id 42 --value 4

Reading commands take --json and then print one JSON document on standard output; `dissensus schema` describes it.
Progress goes to standard error. Exit code: 0 done, 1 failed, 2 wrong usage."
)]
pub(crate) struct Cli {
    /// Log to standard error what is done: error, warn, info, debug, trace, or a filter such as dissensus_store=debug [default: RUST_LOG]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
    /// Show no progress
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Make an empty project file
    New(New),
    /// Make a copy of the sample project (its annotators are simulated)
    Sample(New),
    /// Say what a project holds
    Info(Reading),
    /// Show how far a project is: people, answers, agreement, contested texts, what comes next
    Overview(Overview),
    /// List and search texts, with what was done with each
    Texts(Texts),
    /// Add a question that annotators answer
    Question(Question),
    /// Import texts, annotators or labels from a table or from what an annotation tool exports
    Import(Box<Import>),
    /// Turn every text into an embedding, continuing where it stopped
    Encode(Encode),
    /// Write embeddings of any texts to a file, without a project
    Embed(Embed),
    /// Record one label; exits with 0 only when it is on disk
    Label(Label),
    /// Take back an annotator's newest label
    Undo(Undo),
    /// Fit the project's model, or train any model as a run that is scored
    Train(Train),
    /// Compare annotator models on texts held out
    Evaluate(Evaluate),
    /// List, show, compare, use and report training runs
    Runs(Runs),
    /// Predict how one annotator would label a text
    Predict(Predict),
    /// Show why an annotator is predicted to answer a text so: the sum behind it, the labels and the words that move it
    Explain(Explain),
    /// Write predictions of all texts as a table, or of the official test texts as files of a shared task
    Predictions(Predictions),
    /// Rank texts by how much annotators would disagree
    Disagreement(Disagreement),
    /// Set every annotator beside the others: labels, severity, agreement, accuracy beside baselines, what stands out
    Annotators(Annotators),
    /// Show or change what is known of one person: name and attributes
    Annotator(Annotator),
    /// Say what people are asked about themselves, or show it
    AttributeForm(AttributeFormArgs),
    /// Erase somebody who withdraws, here and in every copy of the project
    Withdraw(Withdraw),
    /// Take out what was added by mistake: a question, a text or a person that nothing stands on, or the last import
    Remove(Remove),
    /// Say who differs, and why: the text, the person or neither, attributes of people, and single people
    WhoDiffers(WhoDiffers),
    /// Compare two groups of people over all texts, and text by text
    CompareGroups(CompareGroups),
    /// Tell what a panel of people would decide, how sure, and how it depends on who sits on it
    Panel(Panel),
    /// Show which words of a text people mark and would mark, or write those of all texts
    Words(Words),
    /// Correlate the predicted scores of questions with one another, over all texts
    CorrelateQuestions(CorrelateQuestions),
    /// Measure how much annotators do agree (Krippendorff's alpha, Fleiss, Gwet, Cohen)
    Agreement(Agreement),
    /// Say how many annotators a text and labels a person a study needs, and what can stop
    Plan(Plan),
    /// Plan who is asked about which texts, and write a packet for each person
    Assign(Assign),
    /// Make one file of what was done with a packet
    HandIn(HandIn),
    /// Take in what was handed in, packets and whole copies of the project
    Merge(Merge),
    /// Show how far a study of several people is, and how they agree
    Study(Study),
    /// Show people how others see a text once they have answered it, or not
    Reveal(Reveal),
    /// Set a daily limit of harmful texts for the people who label, and what else spares them
    Care(Care),
    /// Show the guideline and its versions, write a new one, or compare agreement under each
    Guideline(Guideline),
    /// List and search what people said beside their answers, and what they flagged
    Remarks(Remarks),
    /// Read the log: who did what, when, and in which copy
    History(History),
    /// Choose texts to practise on before the others, set the pass mark, and show what came of it
    Practice(Practice),
    /// Set and list texts whose right answer is known, hidden among the others to see whether people read on
    Checks(Checks),
    /// Decide about a text that people see differently, or show what they said
    Decide(Decide),
    /// List what was decided about texts
    Decisions(Decisions),
    /// Measure how often people give the same answer to the same text again
    Repeats(Repeats),
    /// List labels that look like slips, beside those that are contested
    Slips(Slips),
    /// Bring all labels of each text together (majority, Dawid-Skene, MACE, GLAD)
    Aggregate(Aggregate),
    /// Write models into a folder that predicts without the project
    Bundle(Bundle),
    /// Write what a paper's appendix needs: figures, tables, a data statement, labels for others
    Report(Report),
    /// Write all labels to a file that imports again, or that another tool reads
    Export(Export),
    /// Save a whole copy of a project in one file, also while a window has it open
    Copy(Copy),
    /// Measure speed on this machine
    Bench(Bench),
    /// Print the JSON schema of what commands print with --json
    Schema(Schema),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one for each command, into a folder
    #[command(hide = true)]
    Man {
        /// An existing folder
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Write the generated pages of the documentation (commands, JSON schemas) into a folder
    #[command(hide = true)]
    Reference {
        /// The folder
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

#[derive(Args, Debug)]
pub(crate) struct New {
    /// The project file to make
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Reading {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus question P.dissensus rude --scale binary --levels no,yes --prompt \"Is this rude?\"
  dissensus question P.dissensus offensiveness --levels 1,2,3,4,5
  dissensus question P.dissensus target --scale multi-label --levels person,group --only-if \"offensiveness=4,5\"
  dissensus question P.dissensus target --always
  dissensus question P.dissensus offensiveness --rename \"5=very offensive\" --rename \"1=not at all\"
  dissensus question P.dissensus offensiveness --reason slang --reason irony --confidence on
  dissensus question P.dissensus fair --template likert-5 --prompt \"The comment is fair.\"
  dissensus question P.dissensus rude --prompt \"How rude is this?\" --low \"not at all\" --high extremely --define \"3=a slap\"
  dissensus question P.dissensus rude --set-levels 1,2,3,4,5,6

Importing labels makes their question by itself; this is for texts that nobody has labelled yet. Without --levels or --template the
question is there already and is changed; labels stay as they are. A level on which something stands (an answer, one that was taken back
since too, a decision, an attention check, the condition of another question) is renamed and not removed, and levels in order that were
answered keep their order. Each edit is kept with its time, goes into packets that are written afterwards, and merges: the latest holds. A
level that another copy answered while it was removed here comes back when the copies meet, and merge says so. A run that learned other
levels predicts no more.")]
pub(crate) struct Question {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// A short name, used in files and commands
    pub(crate) name: String,
    /// The sentence that annotators read [default: the name]
    #[arg(long)]
    pub(crate) prompt: Option<String>,
    /// Kind of scale: binary, choice, multi-label (any of up to 64 options), ordinal or spans (passages of up to 64 types) [default: guessed from the levels]
    #[arg(long, value_parser = scale)]
    pub(crate) scale: Option<ScaleKind>,
    /// The levels of a new question, lowest (or no) first
    #[arg(long, value_delimiter = ',')]
    pub(crate) levels: Vec<String>,
    /// A new question with the levels of a scale that many studies use: likert-5, likert-7 (agreement), yes-no-unsure or severity (0 to 4)
    #[arg(long, value_name = "NAME", value_parser = template, conflicts_with_all = ["levels", "scale"])]
    pub(crate) template: Option<ScaleTemplate>,
    /// What helps to answer it, shown beside the question; "" for nothing
    #[arg(long, value_name = "TEXT")]
    pub(crate) help_text: Option<String>,
    /// What stands at the low end of the scale, such as "not at all"
    #[arg(long, value_name = "TEXT")]
    pub(crate) low: Option<String>,
    /// What stands at the high end of the scale, such as "extremely"
    #[arg(long, value_name = "TEXT")]
    pub(crate) high: Option<String>,
    /// What a level, an option or a type means; give it once for each
    #[arg(long, value_name = "LEVEL=TEXT")]
    pub(crate) define: Vec<String>,
    /// Ask only where another question was answered so: QUESTION=LEVEL or QUESTION=LEVEL,LEVEL (of options and types of spans: where the
    /// answer holds one)
    #[arg(long, value_name = "QUESTION=LEVELS")]
    pub(crate) only_if: Option<String>,
    /// Ask of every text again
    #[arg(long, conflicts_with_all = ["only_if", "levels", "template"])]
    pub(crate) always: bool,
    /// Another name for a level, an option or a type; may be given several times
    #[arg(long, value_name = "OLD=NEW", conflicts_with_all = ["levels", "template", "set_levels"])]
    pub(crate) rename: Vec<String>,
    /// All levels of a question from now on, in their order: those that it has stay what they are, others are new, and those that are not
    /// named are removed, which is refused where anything stands on them
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', conflicts_with_all = ["levels", "template"])]
    pub(crate) set_levels: Vec<String>,
    /// A reason that people can choose beside an answer; give it once for each. They replace those there were
    #[arg(long)]
    pub(crate) reason: Vec<String>,
    /// Offer no reasons any more
    #[arg(long, conflicts_with_all = ["reason", "levels", "template"])]
    pub(crate) no_reasons: bool,
    /// Whether people are asked how sure they are, from 1 to 5
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    pub(crate) confidence: Option<bool>,
    /// Whether people can say that they cannot say, apart from the scale (key X, and [cannot say] in files and for label --value)
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    pub(crate) cannot_say: Option<bool>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus import P.dissensus labels.csv
  dissensus import P.dissensus ratings.jsonl --text comment --annotator worker --label score
  dissensus import P.dissensus labels.csv --attributes gender,age --question offensiveness
  dissensus import P.dissensus spans.csv --start begin --end stop --type category --offsets utf-16
  dissensus import P.dissensus texts.csv --dry-run
  dissensus import P.dissensus ratings.csv --labels harm,bias,overall
  dissensus import P.dissensus emotions.csv --options joy,anger,fear=emotions
  dissensus import P.dissensus wide.csv --annotator-columns 'rater_*'
  dissensus import P.dissensus annotations.tsv --join comments.tsv --on rev_id

A table is read as what its columns look like: one label in a row, several questions, options with 0 and 1, a column for each person, lists of
people and answers, rounds, pairs of columns. Where two ways to read it are as likely, they are listed with their options, and nothing is
imported before one is chosen.

A file with one row a span (columns start, end and type) has several rows an answer: those of one person for one text (and occasion).
They need not stand together. A row with none of the three says that the person found no span. Where one row of an answer is bad, all
of them are: an answer is taken whole or not at all. Of their times the latest counts.

A CoNLL file has one word a line with a tag (IOB1, IOB2, BIOES or BILOU) in its last column, and a blank line between texts. Comments such
as # text_id = 1, # annotator_id = ana, # text = ... are its columns; without # text words are joined by spaces. --label names another
column of tags: by its name in # global.columns, or by its number.

Without names, columns are guessed from the header and the content; --dry-run shows the guess and changes
nothing. A bad row stops the import before anything is written, unless --skip-bad is given.
A name that begins with = is a constant: --annotator =ana gives every row to ana.")]
pub(crate) struct Import {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The file to read: a table (.csv, .tsv, .jsonl, .conll, .xlsx, .ods, .parquet, .arrow), or what an annotation tool exports (Label Studio,
    /// Prodigy, doccano, Argilla, Potato, INCEpTION, GATE Teamware, Le-Wi-Di, crowd-kit), packed with gzip or ZIP or not; its format is recognised
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) file: PathBuf,
    /// Read the file as this format, whatever it looks like: see --dry-run for what it is taken for
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Encoding of a text file, such as windows-1252 or utf-16le [default: UTF-8 where it is, else guessed and told]
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// Sheet of a workbook [default: the first visible one that holds something]
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet: Option<String>,
    /// Name of the question that the labels answer [default: the label column's name, or the project's only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// The sentence that annotators read, for a new question
    #[arg(long)]
    pub(crate) prompt: Option<String>,
    /// Kind of scale, for a new question: binary, choice, multi-label, ordinal or spans [default: guessed]
    #[arg(long, value_parser = scale)]
    pub(crate) scale: Option<ScaleKind>,
    /// The levels, lowest first, for a new question [default: those in the file]
    #[arg(long, value_delimiter = ',')]
    pub(crate) levels: Option<Vec<String>>,
    /// The types of spans, for a new question; also those that no span of the file has [default: those in the file]
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["levels", "scale"])]
    pub(crate) types: Option<Vec<String>>,
    /// Column with the text
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text: Option<String>,
    /// Column with the text's identity
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text_id: Option<String>,
    /// Column with the annotator's identity
    #[arg(long, value_name = "COLUMN")]
    pub(crate) annotator: Option<String>,
    /// Column with the label
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Column with the start of a span, in a file with one row a span
    #[arg(long, value_name = "COLUMN")]
    pub(crate) start: Option<String>,
    /// Column with its end, behind its last character
    #[arg(long, value_name = "COLUMN")]
    pub(crate) end: Option<String>,
    /// Column with its type, or =NAME for one type of all [default: the label column]
    #[arg(long = "type", value_name = "COLUMN")]
    pub(crate) span_type: Option<String>,
    /// What offsets of spans count, from 0: characters (Unicode code points, as in Python), utf-16 (code units, as in JavaScript and
    /// Java) or bytes (of UTF-8) [default: characters]
    #[arg(long, value_enum)]
    pub(crate) offsets: Option<OffsetsArg>,
    /// Column with the official split
    #[arg(long, value_name = "COLUMN")]
    pub(crate) split: Option<String>,
    /// Column with the document or thread
    #[arg(long, value_name = "COLUMN")]
    pub(crate) group: Option<String>,
    /// Column with the time of the label
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
    /// Column with the occasion on which the same person answered the same text: 1, 2 and so on. Answers of later occasions
    /// are kept apart from labels and tell how often people agree with themselves (see `repeats`)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) occasion: Option<String>,
    /// Column with what the annotator noted beside the answer
    #[arg(long, value_name = "COLUMN")]
    pub(crate) note: Option<String>,
    /// Columns that describe the annotator
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    pub(crate) attributes: Option<Vec<String>>,
    /// Columns that each answer a question of their own, called like the column
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = SHAPES, conflicts_with = "label")]
    pub(crate) labels: Option<Vec<String>>,
    /// Columns with 0 and 1 that are the options of one set: A,B,C or, with the name of the question, A,B,C=NAME. May be given for each set
    #[arg(long, value_name = "COLUMNS[=NAME]", help_heading = SHAPES, conflicts_with = "label")]
    pub(crate) options: Vec<String>,
    /// Columns that each hold one person's answers, called like the column; * stands for anything: 'rater_*'
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = SHAPES, conflicts_with_all = ["label", "annotator"])]
    pub(crate) annotator_columns: Option<Vec<String>>,
    /// Columns with the same person's answers on the first, second and later occasions
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = SHAPES, conflicts_with = "label")]
    pub(crate) rounds: Option<Vec<String>>,
    /// Pairs of columns with who answered and what: worker_1=score_1,worker_2=score_2
    #[arg(long, value_delimiter = ',', value_name = "PAIRS", help_heading = SHAPES, conflicts_with_all = ["label", "annotator"])]
    pub(crate) pairs: Option<Vec<String>>,
    /// Another file with the texts, or with the answers to the texts of FILE
    #[arg(long, value_name = "OTHER", help_heading = SHAPES, value_hint = ValueHint::FilePath)]
    pub(crate) join: Option<PathBuf>,
    /// Column with the id of a text in FILE and OTHER, or COLUMN=OTHER where they are called differently [default: found by the values]
    #[arg(long, value_name = "COLUMN[=COLUMN]", help_heading = SHAPES, requires = "join")]
    pub(crate) on: Option<String>,
    /// Columns to leave out
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", help_heading = SHAPES)]
    pub(crate) ignore: Option<Vec<String>>,
    /// How to read a table that may be read in several ways: its number, as the command lists them, or a file with a reading that
    /// --dry-run --json printed
    #[arg(long, value_name = "N|FILE", help_heading = SHAPES, conflicts_with_all = ["labels", "options", "annotator_columns", "rounds", "pairs"])]
    pub(crate) reading: Option<String>,
    /// Values of labels and attributes that say that there is none: --missing=NA,-1,99
    #[arg(long, value_delimiter = ',', value_name = "VALUES", help_heading = SHAPES, allow_hyphen_values = true)]
    pub(crate) missing: Option<Vec<String>>,
    /// Take labels that differ in case alone for one, and yes, true and 1 too, as no, false and 0
    #[arg(long, help_heading = SHAPES)]
    pub(crate) fold_case: bool,
    /// What separates the options of one label: with , the label anger,fear is the set of anger and fear
    #[arg(long, value_name = "SEPARATOR", help_heading = SHAPES)]
    pub(crate) option_separator: Option<String>,
    /// Read 3,5 as the number 3.5 [default: where all labels are such numbers]
    #[arg(long, help_heading = SHAPES)]
    pub(crate) decimal_comma: bool,
    /// How times are written: iso, month-first, day-first, year-first, excel, unix, unix-ms, or a pattern such as '%d.%m.%Y %H:%M'
    #[arg(long, value_name = "FORMAT", help_heading = SHAPES)]
    pub(crate) time_format: Option<String>,
    /// Which value holds where an attribute has several for one person [default: refuse: such rows are bad]
    #[arg(long, value_enum, value_name = "RULE", help_heading = SHAPES)]
    pub(crate) attribute_conflicts: Option<AttributeConflictsArg>,
    /// Import the good rows; write the bad ones, with reasons, beside FILE
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Show what would be imported, and change nothing; ends with 1 where FILE cannot be imported so
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which value of an attribute holds.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum AttributeConflictsArg {
    /// None: rows with a second value are bad
    Refuse,
    /// That of the first row
    First,
    /// That of the last row
    Last,
    /// That of most rows
    MostFrequent,
    /// None: the attribute of that person is not known
    Unknown,
}

/// The heading of options about the shape of a table.
const SHAPES: &str = "Shape and values of a table";

/// What offsets count.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum OffsetsArg {
    Characters,
    #[value(name = "utf-16")]
    Utf16,
    Bytes,
}

fn split(name: &str) -> Result<SplitSpec, String> {
    name.parse::<SplitSpec>().map_err(|error| error.to_string())
}

fn model(name: &str) -> Result<ModelKind, String> {
    name.parse::<ModelKind>().map_err(|error| error.to_string())
}

/// `PROJECT` or `PROJECT#QUESTION`. The file's name can have a # too: it ends before the first one that leaves a file that is there.
fn template(name: &str) -> Result<ScaleTemplate, String> {
    ScaleTemplate::named(name)
}

fn auxiliary(named: &str) -> Result<AuxiliaryQuestion, String> {
    let is_file = |path: &str| Path::new(path).is_file();
    let at = named.match_indices('#').map(|(at, _)| at).find(|at| !is_file(named) && is_file(&named[..*at]));
    let (path, question) = at.map_or((named, None), |at| (&named[..at], Some(named[at + 1..].to_owned())));
    // A run that is resumed may be in another folder.
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    Ok(AuxiliaryQuestion { project: path.to_string_lossy().into_owned(), question })
}

fn on_off(word: &str) -> Result<bool, String> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("say on or off".to_owned()),
    }
}

fn scale(name: &str) -> Result<ScaleKind, String> {
    name.parse().map_err(|error: dissensus_domain::ScaleError| error.to_string())
}

/// Which encoder to use, and how.
#[derive(Args, Debug, Default)]
pub(crate) struct EncoderArgs {
    /// Name of an encoder, a folder with config.json, tokenizer.json and model.safetensors, a .gguf file, a model hub repository, or
    /// another project's file for the encoder that it has tuned and uses (FILE.dissensus#RUN: that its run has tuned)
    /// [default: the project's, else all-MiniLM-L6-v2]
    #[arg(long, value_name = "NAME|DIR|PROJECT")]
    pub(crate) encoder: Option<String>,
    /// How token vectors become one vector [default: the project's for the same encoder, else the encoder's own]
    #[arg(long, value_enum)]
    pub(crate) pooling: Option<PoolingArg>,
    /// Where to compute; auto picks cuda, metal, cpu in that order
    #[arg(long, value_enum, default_value_t)]
    pub(crate) device: DeviceArg,
    /// How exactly to compute; fast is 8-bit on CPUs with an instruction for it (AVX-512 VNNI, AVX-VNNI), fp32 on others and
    /// 16-bit on a graphics processor [default: the project's for the same encoder, else fp32]
    #[arg(long, value_enum)]
    pub(crate) precision: Option<PrecisionArg>,
    /// Texts longer than the encoder reads at once: averaged over overlapping windows, or cut
    /// [default: the project's for the same encoder, else average]
    #[arg(long, value_enum)]
    pub(crate) long_texts: Option<LongTextsArg>,
    /// Put this in front of every text, such as "query: "; an empty one puts nothing
    /// [default: the project's for the same encoder, else the encoder's own default prompt]
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Put the prompt of this name in front of every text (config_sentence_transformers.json)
    #[arg(long, value_name = "NAME", conflicts_with = "prompt")]
    pub(crate) prompt_name: Option<String>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum LongTextsArg {
    Average,
    Truncate,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum PoolingArg {
    Mean,
    Cls,
    Last,
    Max,
    Mean2,
    Max2,
    Pooler,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum PrecisionArg {
    Fp32,
    Fast,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum DeviceArg {
    #[default]
    Auto,
    Cpu,
    Cuda,
    Metal,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus encode P.dissensus
  dissensus encode P.dissensus --encoder ./my-bert --pooling cls
  dissensus encode P.dissensus --precision fast
  dissensus encode P.dissensus --choose-encoder all-MiniLM-L6-v2,multilingual-e5-small-q4
  dissensus encode P.dissensus --encoder OTHER.dissensus#3

Ctrl-C stops after the batch at hand; the same command goes on from there.")]
pub(crate) struct Encode {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Encode with every pooling and keep the one whose embeddings predict labels kept back from training best
    #[arg(long, conflicts_with = "pooling", group = "choose")]
    pub(crate) choose_pooling: bool,
    /// Encode with each of these encoders (names, folders, owner/name or projects) and keep the one on which `multilevel` predicts
    /// labels kept back from training best; the project's stays unless another is better by more than a standard error
    #[arg(
        long,
        value_name = "ENCODERS",
        value_delimiter = ',',
        conflicts_with = "encoder",
        group = "choose"
    )]
    pub(crate) choose_encoder: Vec<String>,
    /// With --choose-pooling or --choose-encoder: the question [default: the only one]
    #[arg(long, requires = "choose")]
    pub(crate) question: Option<String>,
    /// With --choose-pooling or --choose-encoder: how labels are divided; those that are scored are not looked at [default: column where the
    /// project has an official split, else by-text:0.7]
    #[arg(long, value_parser = split, requires = "choose")]
    pub(crate) split: Option<SplitSpec>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus embed comments.csv comments.npy --text-column comment --text-id-column id
  dissensus embed lines.txt lines.parquet --encoder intfloat/multilingual-e5-small --prompt \"query: \"
  dissensus embed comments.jsonl embeddings.jsonl --encoder P.dissensus#3

A .txt file is one text a line, and the number of the line is its id; blank lines are none. Without a column of ids a text of a table is known by
its body. A .npy is float32, texts x components, with the ids one a line in a file beside it (NAME.ids.txt); .parquet and .jsonl
have the columns text_id and embedding. Embeddings are in the file's order; an id
that stands twice is a bad row. Nothing is written before the end, and nothing after Ctrl-C.")]
pub(crate) struct Embed {
    /// The texts: a table (CSV, TSV, JSON Lines, Parquet, XLSX, ODS), or one text a line (.txt)
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    /// The file to write; its ending says how: .npy, .parquet or .jsonl
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) columns: TextFileArgs,
    /// Replace files that are there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which columns of a file are its texts.
#[derive(Args, Debug, Default)]
pub(crate) struct TextFileArgs {
    /// The column of the texts [default: the one that looks like it]
    #[arg(long, visible_alias = "text", value_name = "COLUMN")]
    pub(crate) text_column: Option<String>,
    /// The column of the texts' ids [default: the one that looks like it]
    #[arg(long, visible_alias = "text-id", value_name = "COLUMN")]
    pub(crate) text_id_column: Option<String>,
    /// Leave out rows that cannot be read; without it they are told and nothing is written
    #[arg(long)]
    pub(crate) skip_bad: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
  dissensus label P.dissensus --annotator ana --text-id 42 --value 4
  dissensus label P.dissensus --annotator ana --text-id 43 --value 2 --note \"quotes somebody\" --confidence 3")]
pub(crate) struct Label {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Who labels; a new name becomes a new annotator
    #[arg(long)]
    pub(crate) annotator: String,
    /// A name that nobody has is a new annotator's, also where it differs from somebody's by case, accents, spaces or letters that look alike
    /// alone; without this such a name is refused
    #[arg(long)]
    pub(crate) new_annotator: bool,
    /// The text's identity
    #[arg(long)]
    pub(crate) text_id: String,
    /// The level, by its name
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) value: String,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// The occasion: from 2 on an answer to a text that is asked again, kept apart from the label
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) occasion: u16,
    /// An answer in practice, to a text that is practised on: no label. What is right, and why, is told
    #[arg(long, conflicts_with_all = ["occasion", "note", "reason", "confidence"])]
    pub(crate) practice: bool,
    /// A note to go with the answer
    #[arg(long)]
    pub(crate) note: Option<String>,
    /// A reason; give it once for each
    #[arg(long)]
    pub(crate) reason: Vec<String>,
    /// How sure the person is, from 1 (a guess) to 5 (certain)
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) confidence: Option<u8>,
    /// Wait for so many seconds while the project is open elsewhere
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub(crate) wait: u64,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Undo {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Whose label
    #[arg(long)]
    pub(crate) annotator: String,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Wait for so many seconds while the project is open elsewhere
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub(crate) wait: u64,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The models of the ladder.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelArg {
    /// One head on the label that most annotators gave
    Majority,
    /// One head on all labels
    Shared,
    /// One head for each annotator
    SepHeads,
    /// Text and annotator vectors through a feed-forward network
    ShareRecFfn,
    /// Text and annotator vectors through a Deep & Cross Network
    ShareRecDcn,
    /// Shared head, annotator and text effects with learned shrinkage
    Multilevel,
    /// Every model that fits the question's scale
    All,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus train P.dissensus
  dissensus train P.dissensus --split by-text:0.7 --seed 1
  dissensus train P.dissensus --tuning full --auxiliary other.dissensus --auxiliary third.dissensus#rude
  dissensus train P.dissensus --tuning full --questions emotions,offensive --weights 1,0.5

Without a model, tuning, split, seed or anything else of a training, multilevel is fitted on all labels and predicts for the project from then on.
With any of them a run is made: fitted on the training labels, scored on the test labels, kept under its number (see `runs`).
A linear head on a frozen encoder is a convex problem and fitted to convergence: epochs, batch, learning rates and the like do not count for it.
With --auxiliary an epoch also has steps on texts of the other projects (of a larger one as many as the geometric mean of both numbers of texts, of a smaller one every text once).
Texts whose body stands among the validation or test texts are left out of them. Other projects are only read.
With --questions, or a multi-label question, one encoder is trained with a head for each question or option; each is a run of its own with its own figures.
The texts of all of them are divided as one, and of each the mean loss over its labels counts. A frozen encoder shares nothing: each head is then trained by itself.
--class-weights weighs a yes by negatives over positives of each option, --pos-weight by a number that you give.")]
pub(crate) struct Train {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// majority, shared, sep-heads, share-rec-ffn, share-rec-dcn or multilevel [default of a run: multilevel]
    #[arg(long, value_parser = model)]
    pub(crate) model: Option<ModelKind>,
    /// Which layers of the encoder are trained: frozen, last-K, lora, lora-RANK, full, or prompt-N for a soft prompt of N vectors [default of a run: frozen]
    #[arg(long)]
    pub(crate) tuning: Option<String>,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Questions to learn together on one encoder, by commas; one with options stands for all of them (multi-label) or for all of its types
    /// (spans). Can be given several times, which a name with a comma in it needs
    #[arg(long, value_name = "QUESTION,QUESTION", conflicts_with_all = ["question", "auxiliary"])]
    pub(crate) questions: Vec<String>,
    /// What stays as it is, and may be given several times: "encoder" under heads that learn (the same as --tuning frozen), or
    /// QUESTION=RUN, the head of a question as that run left it, while the encoder of that run learns on
    #[arg(long, value_name = "encoder|QUESTION=RUN", value_parser = frozen_part)]
    pub(crate) freeze: Vec<String>,
    /// How much the mean loss of each of --questions counts, in their order [default: 1 each]
    #[arg(
        long,
        value_name = "WEIGHT,WEIGHT",
        value_delimiter = ',',
        requires = "questions",
        allow_negative_numbers = true
    )]
    pub(crate) weights: Vec<f64>,
    /// How labels are divided, for a run that is scored (one fold of k-fold): see `evaluate --help` [default: column where the project has an
    /// official split, else by-text:0.7]
    #[arg(long, value_parser = split)]
    pub(crate) split: Option<SplitSpec>,
    /// Seed of split, weights, order and dropout, up to 4294967295 [default of a run: 0]
    #[arg(long)]
    pub(crate) seed: Option<u32>,
    /// A question of another project whose labels teach the encoder too: its file, and behind # the question where it has several
    /// (other.dissensus#rude). Can be given several times. Needs --tuning; what is scored stays the project's own question
    #[arg(long, value_name = "PROJECT[#QUESTION]", value_parser = auxiliary, value_hint = ValueHint::FilePath)]
    pub(crate) auxiliary: Vec<AuxiliaryQuestion>,
    #[command(flatten)]
    pub(crate) options: TrainOptions,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `runs`: what was trained.
#[derive(Args, Debug)]
pub(crate) struct Runs {
    /// What to do with them [default: list]
    #[command(subcommand)]
    pub(crate) what: RunsWhat,
}

/// What can be done with runs.
#[derive(Subcommand, Debug)]
pub(crate) enum RunsWhat {
    /// List them, newest first
    List(Reading),
    /// Show one: how it went, its figures with 95 % intervals, levels (calibration and annotators with --json)
    Show(OneRun),
    /// Compare two that were scored on the same labels
    Compare {
        /// The project file
        #[arg(value_hint = ValueHint::FilePath)]
        project: PathBuf,
        /// The first run
        a: u32,
        /// The second run
        b: u32,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Resume one that was interrupted or failed, from its last checkpoint and on the labels it started with
    Resume(OneRun),
    /// Use a run of multilevel for this project: its encoder, tuned or not, with a model of all labels
    Use(OneRun),
    /// Use the previous encoder again
    StopUsing {
        /// The project file
        #[arg(value_hint = ValueHint::FilePath)]
        project: PathBuf,
    },
    /// Delete it and its files; one that is in use is put out of use first
    Delete(OneRun),
    /// Write a report: .html (with plots), .csv, .json or .tex. Attributes that fewer than five people share are left out of it
    Report {
        /// The project file
        #[arg(value_hint = ValueHint::FilePath)]
        project: PathBuf,
        /// The run, or several as 1,2 [default: all that are finished], and the file to write
        #[arg(value_name = "[RUN] FILE", num_args = 1..=2, required = true, value_hint = ValueHint::FilePath)]
        target: Vec<PathBuf>,
        /// Name annotators by their ids; without it they have pseudonyms (A1, A2, ...), those of `export --pseudonyms` and of bundles
        #[arg(long)]
        ids: bool,
        /// Replace the file where it exists
        #[arg(long)]
        force: bool,
    },
}

/// One run of a project.
#[derive(Args, Debug)]
pub(crate) struct OneRun {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The run's number
    pub(crate) run: u32,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus evaluate P.dissensus
  dissensus evaluate P.dissensus --models shared,multilevel --split by-text:0.7 --seed 3 --json
  dissensus evaluate P.dissensus --split column
  dissensus evaluate P.dissensus --at-least 3

--split column trains on the texts whose split is train and scores those whose split is test.
Gradient-trained models (share-rec) hold out a fifth of the training texts to choose their best epoch; `train` holds out its own share, so its figures differ a little. Over the words of a question about passages they take by far the longest: leave them out with --models majority,shared,sep-heads,multilevel.
--at-least LEVEL scores an ordinal question as yes/no: is the label LEVEL or higher?
A multi-label question is scored by whole sets. Options that go together, or exclude each other, beyond what is predicted of each are learned on held-out labels,
used where whole sets of left-out answers gain by more than chance, and named.")]
pub(crate) struct Evaluate {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Models to compare
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub(crate) models: Vec<ModelArg>,
    /// How labels are divided: by-text:SHARE, stratified:SHARE, grouped:SHARE (by the texts' groups), random:SHARE,
    /// by-annotator:SHARE (unseen annotators), by-text-and-annotator:SHARE, k-fold:FOLDS (every fold in turn, scored together),
    /// k-fold:FOLDS/FOLD, all seeded, or column (the official split). SHARE is the training share
    /// [default: column where the project has an official split, else by-text:0.7]
    #[arg(long, value_parser = split)]
    pub(crate) split: Option<SplitSpec>,
    /// Which layers of the encoder are trained: frozen, last-K, lora, lora-RANK, full, or prompt-N for a soft prompt of N vectors. All but frozen train each model as a run of its own
    #[arg(long, default_value = "frozen")]
    pub(crate) tuning: String,
    /// Seed of the split and of the fits, up to 4294967295
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
    /// Score an ordinal question as yes/no from this level up
    #[arg(long, value_name = "LEVEL")]
    pub(crate) at_least: Option<String>,
    /// Cold start: hold out a share of the annotators and train on so many labels of each, for example 0,1,2,5,10,20
    #[arg(long, value_delimiter = ',', value_name = "LABELS", conflicts_with = "split")]
    pub(crate) new_annotators: Vec<usize>,
    /// With --new-annotators: the share of the texts that is never trained on [default: texts are shared]
    #[arg(long, value_name = "SHARE", requires = "new_annotators")]
    pub(crate) new_texts: Option<f64>,
    /// Also make prediction sets of every annotator's labels by multilevel, aimed at 90 % and calibrated on a fifth of the training labels, and
    /// say how often they hold and how large they are
    #[arg(long, conflicts_with_all = ["new_annotators", "tuning"])]
    pub(crate) prediction_sets: bool,
    /// Leave out labels that were decided to be slips (`decide --outcome slip --value ...`): on those texts, what is not the decided answer
    #[arg(long, conflicts_with = "new_annotators")]
    pub(crate) without_slips: bool,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus predict P.dissensus --annotator ana --text-id 42
  dissensus predict P.dissensus --annotator ana --text \"You call that a recipe?\"
  dissensus predict P.dissensus --annotator ana --text-id 42 --run 3,4
  dissensus predict P.dissensus --question emotions --text \"What a day\"
  dissensus predict P.dissensus --texts new.csv --out predicted.parquet
  dissensus predict P.dissensus --texts new.txt --out predicted.csv --annotators ana,ben
  dissensus predict P.dissensus --texts new.csv --out predicted.csv --run 3,4
  dissensus predict --bundle rude-model --texts new.csv --out predicted.csv

With --texts the live model predicts every text of a file for everybody, or for --annotators, a row for each text and annotator: text_id,
annotator_id, prediction, a column p_LEVEL for the probability of each level, observed, and how much those people would disagree on the text
(disagreement_split and disagreement_pairwise, 0 to 1, as in `disagreement`; unknown with one person). observed says that this annotator has labelled a text of the
same body in the project, which has taught the model. Labels that trained a tuned encoder are not looked at for it. A .txt file is
one text a line. Of a question with spans it is the words that are predicted, a row for each word and type: text_id, start, end, word, type, expected (the share of
those people who would mark it), differ (the probability that two of them differ on it), observed
(a text of the same body has an answer, or taught the encoder), and with --annotators a column p_ANNOTATOR for the probability of each.
Of a whole multi-label question there is a row for each text: text_id, most_likely_set (what one of those people, drawn at random, is most likely to answer), its probability, masi (the MASI
distance that two of them are expected to have), observed (as with spans), of each option expected_OPTION and differ_OPTION (masi and differ take answers that were given to the text as they are,
the others are predictions whatever was answered), and with --annotators each one's set_ANNOTATOR,
probability_ANNOTATOR and p_ANNOTATOR_OPTION. Sets take into account that options go together where held-out answers show it; a note says so. Name one option (--question \"emotions: joy\") for its own table.
A text of the project (--text-id) is printed with what was answered to it.
With --bundle a folder that `bundle` wrote predicts, without its project: observed is unknown then.")]
#[command(group(clap::ArgGroup::new("predicted").required(true).multiple(false)))]
pub(crate) struct Predict {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "bundle")]
    pub(crate) project: Option<PathBuf>,
    /// A folder that `bundle` wrote, in place of a project; of the encoder's options --device alone goes with it
    #[arg(long, value_name = "DIR", requires = "texts", value_hint = ValueHint::DirPath,
        conflicts_with_all = ["project", "run", "encoder", "pooling", "precision", "long_texts", "prompt", "prompt_name"])]
    pub(crate) bundle: Option<PathBuf>,
    /// Whose judgement; without it everybody's of a whole multi-label question, and of the words of a --text
    #[arg(long, conflicts_with = "texts")]
    pub(crate) annotator: Option<String>,
    /// A text of the project
    #[arg(long, group = "predicted")]
    pub(crate) text_id: Option<String>,
    /// Any other text
    #[arg(long, value_parser = not_blank, group = "predicted")]
    pub(crate) text: Option<String>,
    /// Every text of this file: a table (CSV, TSV, JSON Lines, Parquet, XLSX, ODS), or one text a line (.txt)
    #[arg(long, value_name = "FILE", group = "predicted", requires = "out", value_hint = ValueHint::FilePath)]
    pub(crate) texts: Option<PathBuf>,
    /// With --texts: the file to write; its ending says how: .csv, .tsv, .jsonl, .parquet or .xlsx
    #[arg(long, value_name = "FILE", requires = "texts", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// With --texts: whose judgement [default: everybody's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "texts")]
    pub(crate) annotators: Vec<String>,
    /// With --texts: the column of the texts [default: the one that looks like it]
    #[arg(long, value_name = "COLUMN", requires = "texts")]
    pub(crate) text_column: Option<String>,
    /// With --texts: the column of the texts' ids [default: the one that looks like it]
    #[arg(long, value_name = "COLUMN", requires = "texts")]
    pub(crate) text_id_column: Option<String>,
    /// With --texts: leave out rows that cannot be read; without it they are told and nothing is written
    #[arg(long, requires = "texts")]
    pub(crate) skip_bad: bool,
    /// With --texts: replace a file that is there
    #[arg(long, requires = "texts")]
    pub(crate) force: bool,
    /// With --texts: keep embeddings in OUT.embeddings until OUT is written, so that the same command goes on after it was broken off; not for
    /// the words of questions with spans
    #[arg(long, requires = "texts")]
    pub(crate) resume: bool,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Ask the model of this run in place of the live one, or those of several (1,2,3): runs on one encoder read the text once. With --texts each of
    /// several has a table of its own, named after it (OUT-1, OUT-2)
    #[arg(long, value_name = "RUN,RUN", value_delimiter = ',')]
    pub(crate) run: Vec<u32>,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus bundle P.dissensus rude-model
  dissensus bundle P.dissensus rude-model --question rude --ids
  dissensus bundle P.dissensus tuned-model --run 3

The folder holds encoder and tokenizer (which sentence-transformers opens), heads, each annotator's effects, names of questions and levels, a model card
(README.md) with held-out figures, and the sum of every file; no text, no label, no attribute. Where a model compares new texts with labelled ones
the embeddings of these are in it, and the card says of how many. Without --run and --question the live models of all questions go into it, of a
multi-label question those of its options, of one with spans those of its types and the model of the words that are marked. With --run the words go along that
a training learned, where the runs of all types of its question are named. `predict --bundle` asks it; a bundle with a file missing or altered is refused.
Its sums guard against accident only: whoever alters a bundle can write new ones.")]
pub(crate) struct Bundle {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The folder to make
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Take the models of these runs (of multilevel)
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub(crate) run: Vec<u32>,
    /// Take the live model of this question; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) question: Vec<String>,
    /// Name annotators by their ids; without it they have pseudonyms (A1, A2, ...), those of `export --pseudonyms` and of reports
    #[arg(long)]
    pub(crate) ids: bool,
    /// What a bundle is without --ids; kept for scripts
    #[arg(long, hide = true, conflicts_with = "ids")]
    pub(crate) anonymous: bool,
    /// Replace a bundle that is there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus explain P.dissensus --annotator ana --text-id 42
  dissensus explain P.dissensus --annotator ana --with ben --text-id 42 --words
  dissensus explain P.dissensus --annotator ana --text \"You call that a recipe?\" --json

The parts are logits of the live model and add up to its score. The odds are those of a threshold of the scale (an answer at that level or
above), or of one level against another where levels have no order. A label's influence is the change of the prediction when that annotator is
fitted again without it; shared head, averages and variances stay.")]
pub(crate) struct Explain {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Whose judgement
    #[arg(long)]
    pub(crate) annotator: String,
    #[command(flatten)]
    pub(crate) what: PredictWhat,
    /// A second annotator, to see why the two differ
    #[arg(long, value_name = "ANNOTATOR")]
    pub(crate) with: Option<String>,
    /// As if they had not labelled the text themselves
    #[arg(long, conflicts_with = "text")]
    pub(crate) without_own: bool,
    /// Also leave out the words of the text in turn
    #[arg(long)]
    pub(crate) words: bool,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus predictions P.dissensus predicted.parquet
  dissensus predictions P.dissensus predicted.csv --annotators ana,ben
  dissensus predictions P.dissensus submission --format lewidi-submission --set CSC
  dissensus predictions P.dissensus submission --format lewidi-submission --set CSC --run 3

Without --format: what the live model predicts of every text for everybody, or for --annotators, a row for each text and annotator: text_id,
annotator_id, prediction, a column p_LEVEL for the probability of each level, observed, and how much those people would disagree on the text
(disagreement_split and disagreement_pairwise, 0 to 1, as in `disagreement`: labels where there are some; unknown with one person). observed says that this annotator has
labelled the text, or one of the same body, so that the prediction has seen the answer: leave those rows out to measure anything. Labels that trained
a tuned encoder are not looked at for it.

With lewidi-submission the texts are those whose split is test, and whose labels say who is asked; the model has learned from none of them.
The soft labels are the shares with the smallest expected Wasserstein distance (ordinal questions) or Manhattan distance.")]
pub(crate) struct Predictions {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The file to write, whose ending says how (.csv, .tsv, .jsonl, .parquet or .xlsx); with --format lewidi-submission a folder, which is made where it is missing
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) out: PathBuf,
    /// What to write in place of a table
    #[arg(long, value_enum)]
    pub(crate) format: Option<PredictionsFormat>,
    /// Whose judgement [default: everybody's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "format")]
    pub(crate) annotators: Vec<String>,
    /// With --format: the data set that files are named after: CSC, MP, Par [default: the question's name]
    #[arg(long, requires = "format")]
    pub(crate) set: Option<String>,
    /// Predictions of this run in place of the live model, or of several (1,2,3), each with a table of its own, named after it (OUT-1, OUT-2). With --format one
    /// run, on the official test texts [default there: multilevel fitted to the official training texts]
    #[arg(long, value_name = "RUN,RUN", value_delimiter = ',')]
    pub(crate) run: Vec<u32>,
    /// With --format: seed of the fit, up to 4294967295
    #[arg(long, default_value_t = 0, conflicts_with = "run")]
    pub(crate) seed: u32,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Replace files that are there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum PredictionsFormat {
    /// SET_test_soft.tsv and SET_test_pe.tsv of LeWiDi 2025
    LewidiSubmission,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct PredictWhat {
    /// A text of the project
    #[arg(long)]
    pub(crate) text_id: Option<String>,
    /// Any other text
    #[arg(long, value_parser = not_blank)]
    pub(crate) text: Option<String>,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum MeasureArg {
    /// Split, and what a text's own labels add to it by a weight learned from held-out labels; of texts that it cannot tell apart those first whose
    /// labels form two camps
    #[default]
    Combined,
    /// Expected squared distance of two people's answers, 0 (all alike) to 1 (half at each end); without an order of the levels the chance that
    /// they differ, over its maximum
    Split,
    /// The chance that two people are two levels apart or more
    FarApart,
    /// The chance that one person is at --cut or above and another is below
    OppositeSides,
    /// Share of the predicted variance that lies between people, 0 to 1
    Between,
    /// Split beyond what is usual among texts of the same mean level, -1 to 1
    Surprising,
    /// The widest gap between the mean levels of two groups of people, in levels
    GroupGap,
    /// The chance that two people give different answers
    Pairwise,
    /// Jensen-Shannon divergence between annotators, in bits
    Divergence,
    /// Mean entropy within annotators, in bits
    Uncertainty,
    /// How split the labels that were given are, without any prediction, 0 to 1; texts with two labels or more
    Labels,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus disagreement P.dissensus --top 20
  dissensus disagreement P.dissensus --by split
  dissensus disagreement P.dissensus --by opposite-sides --cut 4
  dissensus disagreement P.dissensus --by group-gap --groups gender=Man:Woman
  dissensus disagreement P.dissensus --by divergence --attributes gender=Woman,age=18-24 --json

Who has labelled a text stands with that label, all others with what is predicted of them; between, surprising, divergence and
uncertainty are the model's view alone where a text has no labels. A text's band is the ranks that its 95 % interval reaches.
Border: the two levels between which answers divide most equally, and the share that is above. A line in the table marks texts that cannot be told apart.
Of a multi-label question MASI distances take into account which options go together where held-out distances are predicted better with it, and say so.")]
pub(crate) struct Disagreement {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// How many texts to show
    #[arg(long, default_value_t = 20)]
    pub(crate) top: usize,
    /// The measure to rank by
    #[arg(long, value_enum, default_value_t)]
    pub(crate) by: MeasureArg,
    /// The lowest level above the cut of opposite-sides [default: the middle of the scale]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) cut: Option<String>,
    /// The groups of group-gap [default: each value of an attribute against its other values; the widest gap counts]
    #[arg(long, value_name = "NAME=VALUE:VALUE", value_parser = groups)]
    pub(crate) groups: Option<(String, String, String)>,
    /// Only annotators with these values
    #[arg(long, value_delimiter = ',', value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) attributes: Vec<(String, String)>,
    /// Only texts that contain this
    #[arg(long)]
    pub(crate) search: Option<String>,
    /// Only texts with labels
    #[arg(long)]
    pub(crate) labelled: bool,
    /// Also test whether people are further apart on some texts than on others of the same mean (some dozens of estimations)
    #[arg(long)]
    pub(crate) text_dispersion: bool,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `annotators`: every annotator beside the others.
#[derive(Args, Debug)]
pub(crate) struct Annotators {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `compare-groups`: two groups of people.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus compare-groups P.dissensus --a gender=Woman --b gender=Man
  dissensus compare-groups P.dissensus --a age=18-24 --a age=25-29 --b age=60-64 --json
  dissensus compare-groups P.dissensus --a annotator=ana --a annotator=ben --b gender=Man

Several values of one attribute are alternatives; of several attributes each must fit. annotator=ID adds one person.
Nobody can be in both groups. Five people of each and ten texts that both labelled are needed.")]
pub(crate) struct CompareGroups {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// Who is in the first group; may be repeated
    #[arg(long, required = true, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) a: Vec<(String, String)>,
    /// Who is in the second group; may be repeated
    #[arg(long, required = true, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) b: Vec<(String, String)>,
    /// How many texts to show on which A answers higher, and on which B does
    #[arg(long, default_value_t = 10)]
    pub(crate) top: usize,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `correlate-questions`: predicted scores of questions, correlated.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus correlate-questions P.dissensus
  dissensus correlate-questions P.dissensus --questions offensive,emotions --json
  dissensus correlate-questions P.dissensus --run 3,4

A score is the mean over all annotators of what they are predicted to answer: the mean level, or the probability of yes.
Options of a question, and levels of a choice question, have a score each. Labelled texts are scored in folds by models that learned
none of their labels. Intervals are over texts: they say what other texts would give under the same models. Where the same texts were
labelled for both questions, what these labels share by chance teaches both models alike: weak models can correlate by that alone.")]
pub(crate) struct CorrelateQuestions {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The questions, by commas [default: all with labels]. Can be given several times, which a name with a comma in it needs
    #[arg(long, value_name = "QUESTION,QUESTION")]
    pub(crate) questions: Vec<String>,
    /// Take the scores of these finished runs, one of each question, in place of the live models
    #[arg(long, value_name = "RUN,RUN", value_delimiter = ',', conflicts_with = "questions")]
    pub(crate) run: Vec<u32>,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn frozen_part(argument: &str) -> Result<String, String> {
    // A question may have the sign in its name, a run has not.
    let run = argument.rsplit_once('=').map(|(_, run)| run.trim().parse::<u32>());
    match run {
        _ if argument == "encoder" => Ok(argument.to_owned()),
        Some(Ok(_)) => Ok(argument.to_owned()),
        Some(Err(_)) => Err(format!("\"{argument}\" does not end in the number of a run, such as rude=3")),
        None => Err(format!("\"{argument}\" is neither encoder nor QUESTION=RUN, such as rude=3")),
    }
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus words P.dissensus --text-id t17
  dissensus words P.dissensus --question where --type insult --text-id t17
  dissensus words P.dissensus --question where --out words.csv

A model of words is fitted to all answers first, which takes minutes where the encoder was not tuned on words (train --tuning full); what it says of texts that were
answered stands on these answers too. A word is one of Unicode text segmentation (UAX 29). Of one text the words are printed that somebody marked, or that one in twenty people would.
Words of a text that is not the project's: predict P.dissensus --question where --text \"...\"")]
pub(crate) struct Words {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The question with spans, or one of its types: "where: insult" [default: the only question]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// This type of spans alone
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) of_type: Option<String>,
    /// The text
    #[arg(long, required_unless_present = "out")]
    pub(crate) text_id: Option<String>,
    /// Write all texts to a table (.csv, .tsv, .jsonl, .parquet, .xlsx), a row for each word and type
    #[arg(long, value_hint = ValueHint::FilePath, conflicts_with = "text_id")]
    pub(crate) out: Option<PathBuf>,
    /// Replace a table of that name
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn not_blank(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("there is no text to judge".to_owned()) } else { Ok(text.to_owned()) }
}

fn pair(argument: &str) -> Result<(String, String), String> {
    match argument.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("\"{argument}\" is not NAME=VALUE, such as gender=Woman")),
    }
}

fn groups(argument: &str) -> Result<(String, String, String), String> {
    let named = pair(argument).ok();
    let values = named.as_ref().and_then(|(_, values)| values.split_once(':'));
    match (&named, values) {
        (Some((name, _)), Some((first, second))) if first.trim() != second.trim() => {
            Ok((name.clone(), first.trim().to_owned(), second.trim().to_owned()))
        }
        _ => Err(format!("\"{argument}\" is not NAME=VALUE:VALUE with two values, such as gender=Man:Woman")),
    }
}

/// `aggregate`: one label a text.
#[derive(Args, Debug)]
pub(crate) struct Aggregate {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// How
    #[arg(long, value_parser = METHODS, default_value = "dawid-skene")]
    pub(crate) method: String,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Show so many texts and annotators; all of them with --json
    #[arg(long, default_value_t = 10)]
    pub(crate) top: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Ways to bring the labels of a text together.
const METHODS: [&str; 4] = ["majority", "dawid-skene", "mace", "glad"];

/// `agreement`: how much annotators agree.
#[derive(Args, Debug)]
#[command(
    after_help = "Of a question that is answered with spans, agreement is told of words, and by Krippendorff's unitizing alpha of where spans begin and
end, counted in characters. It was made for one text that everybody has marked. Here each text is compared among those who
answered it and counts with the number of its answers; what is expected by chance is of the spans and gaps of all texts with two
answers or more. Overlapping spans of one type and answer count as one."
)]
pub(crate) struct Agreement {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Also Cohen's kappa of every two annotators with so many texts in common
    #[arg(long, value_name = "TEXTS")]
    pub(crate) pairs: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plan`: the size of a study.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus plan P.dissensus --reliability 0.8
  dissensus plan P.dissensus --interval-width 1.5 --cost-per-label 0.12

From the labels that a project has, as a pilot: how much of a label's variance lies between texts, between people and in neither,
and so how many annotators tell a text, how many labels a person, with 95 % intervals, and which texts can stop.")]
pub(crate) struct Plan {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Reliability wanted of a text's mean and of a person's severity, between 0 and 1
    #[arg(long, default_value_t = 0.8, value_parser = reliability)]
    pub(crate) reliability: f64,
    /// Width wanted of the 95 % interval of a text's mean, in levels (of a yes-or-no question as a share, such as 0.4)
    #[arg(long, value_name = "LEVELS", value_parser = positive)]
    pub(crate) interval_width: Option<f64>,
    /// What a label costs, in any currency
    #[arg(long, value_name = "AMOUNT", value_parser = positive)]
    pub(crate) cost_per_label: Option<f64>,
    /// How long a label takes [default: the median of the labels given in the window]
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) seconds_per_label: Option<f64>,
    /// How many texts that need more labels to show
    #[arg(long, default_value_t = 10)]
    pub(crate) top: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn reliability(argument: &str) -> Result<f64, String> {
    match argument.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("a reliability is a number above 0 and below 1".to_owned()),
    }
}

fn positive(argument: &str) -> Result<f64, String> {
    match argument.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("this is a number above 0".to_owned()),
    }
}

/// `repeats`: self-agreement.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  dissensus import P.dissensus again.csv --occasion round
  dissensus repeats P.dissensus

A column that was named as the occasion by mistake: take its answers back, and import the file again without it.
  dissensus repeats P.dissensus --remove all
  dissensus repeats P.dissensus --remove 2

If r is the share of repeats with the same answer, the best reachable accuracy lies between r and its square root, if people
did not remember their answer; told is the range from the lower end of the interval of r to the square root of its upper end.")]
pub(crate) struct Repeats {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Take back the answers of an occasion (2, 3, ...), or of all later ones: they stay in the file and count no more, until they are
    /// imported again
    #[arg(long, value_name = "OCCASION|all", value_parser = occasion)]
    pub(crate) remove: Option<RemovedOccasion>,
    /// How many people to show
    #[arg(long, default_value_t = 20)]
    pub(crate) top: usize,
    /// Also say how much of what the model takes for chance comes back when people are asked again (fits the models)
    #[arg(long)]
    pub(crate) stable_share: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which occasions are taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RemovedOccasion {
    All,
    One(u16),
}

fn occasion(argument: &str) -> Result<RemovedOccasion, String> {
    match (argument, argument.parse::<u16>()) {
        ("all", _) => Ok(RemovedOccasion::All),
        (_, Ok(one)) if one >= 2 => Ok(RemovedOccasion::One(one)),
        (_, Ok(_)) => Err("answers of the first occasion are labels: `undo` takes those back".to_owned()),
        _ => Err("an occasion is a whole number from 2 on, or `all`".to_owned()),
    }
}

/// `slips`: labels that are unlike the person and unlike everybody else.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus slips P.dissensus
  dissensus slips P.dissensus --annotator ana --below 0.01

A label is a possible slip where the person's own model gives a chance of --below or less to a label as improbable as this, and
where that chance is a fifth or less for everybody else. Neither has learned from the label. Labels that fit the person and nobody
else, and labels unlike the person on which others are divided, are contested and listed apart. Chance brings such labels as well: only those
beyond it are listed, at most a tenth of them by chance, unless --all is given.")]
pub(crate) struct Slips {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The question [default: the only one]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// Only this person's labels
    #[arg(long)]
    pub(crate) annotator: Option<String>,
    /// The chance at or below which a label is unlike a person
    #[arg(long, value_name = "CHANCE", default_value_t = 0.05, value_parser = chance)]
    pub(crate) below: f64,
    /// How many slips to show, and how many contested labels
    #[arg(long, default_value_t = 20)]
    pub(crate) top: usize,
    /// List unusual labels that chance explains as well
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn chance(argument: &str) -> Result<f64, String> {
    match argument.parse::<f64>() {
        Ok(chance) if chance > 0.0 && chance <= 1.0 => Ok(chance),
        _ => Err("a chance is a number above 0 and up to 1".to_owned()),
    }
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dissensus export P.dissensus labels.csv
  dissensus export P.dissensus labels.jsonl --question offensiveness
  dissensus export P.dissensus spans.csv --question insults --spans rows
  dissensus export P.dissensus decided.csv --decisions only
  dissensus export P.dissensus spans.conll --question insults --leave-out-overlaps
  dissensus export P.dissensus tasks.json --format label-studio --dry-run
  dissensus export P.dissensus texts.parquet --rows texts --aggregate dawid-skene --predicted
  dissensus export P.dissensus people.xlsx --rows people --pseudonyms
  dissensus export --list-formats

With --spans rows the columns start, end and type take the place of the label: one row a span, and one row with none of the three for an
answer without a span. Beside questions of other kinds the column label stays; [] in it is an answer without a span.

A .conll file holds answers with spans, one word a line with a tag in IOB2, and all else in comments. It cannot hold spans that overlap, or
that begin or end with white space.

With --rows texts there is one row a text: how many labels, those who cannot say, the count and share of each level (soft labels), the mean
(of the levels' numbers, or of their places from 0 where their names are none) and the disagreement: the variance over the largest that as many
labels can have; without an order the chance that two labels differ, over its maximum; of options and spans the share of pairs that differ.
With --aggregate there is the one label that a method makes of them. With --predicted there is the mean
prediction over all annotators (predicted_...; given labels have no part in it but that the model learned from them), and the disagreement
that is expected among all annotators, with its 95 % interval: there, who has labelled a text stands with that label. Texts are encoded first
where they are not, which the project keeps. With --rows people there is one row a person:
attributes, use of levels, agreement with others, time a label, and with --predicted severity, consistency and held-out accuracy. In .csv and
.tsv, what people wrote begins with an apostrophe where a spreadsheet would take it for a formula; ids and aggregated labels stay as they are. Neither imports again.

With --format the file is one that another tool reads. What its format cannot hold (notes, times, sets, ...) is counted and said before the
file is written; with --dry-run nothing is written. Such a file imports again, too, without what it cannot hold.")]
pub(crate) struct Export {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "list_formats")]
    pub(crate) project: Option<PathBuf>,
    /// The file to write (.csv, .tsv, .jsonl, .parquet, .xlsx, .conll, or as --format says); it must not exist unless --force is given
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "list_formats")]
    pub(crate) file: Option<PathBuf>,
    /// For another tool: what its format cannot hold is counted and said before the file is written
    #[arg(long, value_name = "NAME", value_parser = tool_formats(),
        conflicts_with_all = ["spans", "leave_out_overlaps", "decisions"])]
    pub(crate) format: Option<ToolFormat>,
    /// With --format: say what the file cannot hold, and write nothing
    #[arg(long, requires = "format")]
    pub(crate) dry_run: bool,
    /// List the names for --format, how files of each end, and what they hold
    #[arg(long, conflicts_with_all = ["project", "format"])]
    pub(crate) list_formats: bool,
    /// What a row is of: a label, or labels summed up by text or by person
    #[arg(long, value_enum, default_value_t,
        conflicts_with_all = ["format", "hugging_face", "leave_out", "leave_out_overlaps", "decisions", "spans", "notes",
            "dry_run"])]
    pub(crate) rows: RowsArg,
    /// With --rows texts: also one label a text, by this method
    #[arg(long, value_name = "METHOD", requires = "rows", value_parser = METHODS)]
    pub(crate) aggregate: Option<String>,
    /// With --rows texts or people: also what the models say
    #[arg(long, requires = "rows")]
    pub(crate) predicted: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// A dataset for the Hugging Face hub: FILE is a folder with a Parquet file for each part of the official split, and a card with what only
    /// its authors can say left open
    #[arg(long, conflicts_with_all = ["format", "leave_out_overlaps", "dry_run"])]
    pub(crate) hugging_face: bool,
    /// Only this question [default: all]
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// How spans stand in .csv and .tsv: as a JSON list in the label, or one row a span
    #[arg(long, value_enum, default_value_t)]
    pub(crate) spans: SpansArg,
    /// With a .conll file: leave out answers whose spans overlap, or begin or end with white space; without it they are told and nothing is
    /// written
    #[arg(long)]
    pub(crate) leave_out_overlaps: bool,
    /// Leave out labels of people who missed the pass mark of the practice or of attention checks (failed)
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) leave_out: Vec<LeaveOutArg>,
    /// What was decided about texts: in columns beside the labels of each text, or in place of labels, one row a text with the decided answer
    /// and no annotator. Labels are never changed by it
    #[arg(long, value_enum)]
    pub(crate) decisions: Option<DecisionsArg>,
    /// A column `wording`: the number of the wording of the question (prompt, help, levels) that was on screen with each label; `guideline
    /// --wordings` lists them
    #[arg(long, conflicts_with_all = ["format", "leave_out_overlaps", "dry_run"])]
    pub(crate) wordings: bool,
    /// For others: A1, A2, ... in place of ids, no names, times and columns that came with texts, and values of
    /// attributes only where five people of the file share them: the others are left blank. The file does not import again to the same people
    #[arg(long)]
    pub(crate) pseudonyms: bool,
    /// With --pseudonyms: notes too, which are free text and may name anybody
    #[arg(long, requires = "pseudonyms")]
    pub(crate) notes: bool,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The names of formats of other tools.
fn tool_formats() -> impl TypedValueParser<Value = ToolFormat> {
    let names = ToolFormat::all().iter().map(|format| PossibleValue::new(format.name()).help(format.title()));
    PossibleValuesParser::new(names)
        .try_map(|name| ToolFormat::named(&name).ok_or_else(|| format!("there is no format \"{name}\"")))
}

/// What a row of an exported file is of.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowsArg {
    #[default]
    Labels,
    Texts,
    People,
}

/// How decisions stand in a file.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecisionsArg {
    Beside,
    Only,
}

/// Whose labels are not in a file.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaveOutArg {
    Failed,
}

/// How the spans of an answer stand in a file.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SpansArg {
    #[default]
    Lists,
    Rows,
}

#[derive(Args, Debug)]
pub(crate) struct Copy {
    /// The project file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) project: PathBuf,
    /// The file to make; it must not exist unless --force is given
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) copy: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// Copy the folder with the files of the runs too (tuned encoders and checkpoints)
    #[arg(long)]
    pub(crate) runs: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) what: BenchWhat,
}

#[derive(Args, Debug)]
#[command(
    after_help = "With --peers a Python environment with pinned versions is made in your cache folder (once; about 3 GB).
Where that fails, the reason is told and the other engines are measured."
)]
pub(crate) struct BenchEncode {
    /// A file with texts [default: the sample's comments]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Encode at most so many texts
    #[arg(long)]
    pub(crate) limit: Option<usize>,
    /// Name of an encoder, or a folder
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) encoder: Option<String>,
    /// Runs of each; the best counts
    #[arg(long, default_value_t = 2)]
    pub(crate) rounds: usize,
    /// Threads of every engine [default: the machine's cores]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Also sentence-transformers, onnxruntime and candle-transformers, in turns with ours
    #[arg(long)]
    pub(crate) peers: bool,
    /// Also the peak memory on this file's texts, of ours and of onnxruntime
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) memory: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BenchDisagreement {
    /// A file with labels
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Name of an encoder, or a folder
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) encoder: Option<String>,
    /// How often labels are divided, each time into halves of each text's people and into texts
    #[arg(long, default_value_t = 5)]
    pub(crate) divisions: u64,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BenchPanel {
    /// A file with labels, whose texts have several annotators
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The encoder by name or folder [default: the default one]
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) encoder: Option<String>,
    /// Members of a panel, drawn from those who labelled the text
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) members: u32,
    /// Panels of each text
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) panels: u32,
    /// Seeds 0, 1, ...: each holds out another 30 % of the texts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) seeds: u64,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BenchLarge {
    /// A file with labels [default: made-up labels, the same on every machine]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Labels of the made-up file
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) labels: usize,
    /// Texts in it
    #[arg(long, default_value_t = 200_000)]
    pub(crate) texts: usize,
    /// Annotators in it
    #[arg(long, default_value_t = 2_000)]
    pub(crate) annotators: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BenchTrain {
    /// Name of an encoder, or a folder
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) encoder: Option<String>,
    /// Texts in the batch
    #[arg(long, default_value_t = 16)]
    pub(crate) batch: usize,
    /// Tokens of every text
    #[arg(long, default_value_t = 64)]
    pub(crate) tokens: usize,
    /// Steps a round; their median counts
    #[arg(long, default_value_t = 5)]
    pub(crate) steps: usize,
    /// Rounds in turns; the best counts
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,
    /// Threads of every engine [default: the machine's cores]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Also PyTorch, in turns with ours
    #[arg(long)]
    pub(crate) peers: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum BenchWhat {
    /// Embeddings per second on the CPU
    Encode(BenchEncode),
    /// Milliseconds of a training step on the CPU
    Train(BenchTrain),
    /// Measures of disagreement against the labels of people who were left out
    Disagreement(BenchDisagreement),
    /// Verdicts of real panels on texts whose labels no model has seen
    Panel(BenchPanel),
    /// A large project: import, agreement, opening in the window, labels while models are fitted
    Large(BenchLarge),
    /// Take one step of `bench large` with the project in a folder, and print a line of JSON
    #[command(hide = true)]
    LargeStep {
        /// Its name
        step: LargeStep,
        /// Where the project is
        folder: PathBuf,
        /// The file of labels
        file: PathBuf,
    },
    /// Answer a benchmark's requests, a line of JSON each, with one of our engines
    #[command(hide = true)]
    Worker,
    /// The way of one label: on disk, refitted, ranking up to date
    Live {
        /// Texts in the synthetic project
        #[arg(long, default_value_t = 10_000)]
        texts: usize,
        /// Annotators in it
        #[arg(long, default_value_t = 262)]
        annotators: usize,
        /// Levels of its scale
        #[arg(long, default_value_t = 5)]
        levels: usize,
        /// A multi-label question of so many options, 2 to 64, in its place
        #[arg(long, value_parser = clap::value_parser!(u8).range(2..=64))]
        options: Option<u8>,
        /// Labels to give
        #[arg(long, default_value_t = 500)]
        clicks: usize,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// A study of many people: packets written, opened, handed in and taken in
    Study {
        /// People, each with a packet
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        people: u32,
        /// Texts of each
        #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        texts: u32,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Predictions and disagreement of everybody on everything
    Predict {
        /// Also 100,000 texts x 17,000 annotators, binary, as a rate
        #[arg(long)]
        large: bool,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// The same labels imported in every shape of a table, beside the long form
    ImportShapes {
        /// Labels in each file
        #[arg(long, default_value_t = 1_000_000)]
        labels: usize,
        /// Runs of each
        #[arg(long, default_value_t = 3)]
        runs: usize,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Labels imported per second
    Import {
        /// A file with labels [default: 50,000 made labels]
        #[arg(value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
        /// Also a Python script with csv and sqlite3, in turns with ours
        #[arg(long)]
        peers: bool,
        /// Runs of each
        #[arg(long, default_value_t = 5)]
        runs: usize,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_reads_well() {
        insta::assert_snapshot!(Cli::command().render_help().to_string());
    }

    #[test]
    fn what_says_that_nothing_is_written_goes_with_nothing_that_writes() {
        let parsed = |more: &[&str]| {
            let fixed = ["dissensus", "export", "p", "a.csv", "--dry-run"];
            Cli::try_parse_from(fixed.iter().chain(more)).is_ok()
        };
        assert!(parsed(&["--format", "crowd-kit"]));
        for more in [&["--rows", "people"][..], &["--rows", "texts"], &["--hugging-face"], &[]] {
            assert!(!parsed(more), "{more:?}");
        }
    }

    #[test]
    fn attributes_are_pairs() {
        assert_eq!(pair("gender = Woman"), Ok(("gender".into(), "Woman".into())));
        assert!(pair("gender").is_err());
        assert!(pair("=x").is_err());
    }

    #[test]
    fn a_question_is_told_from_a_path_with_a_hash() {
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
        let of = |file: &str, question: Option<&str>| (file.to_owned(), question.map(str::to_owned));
        assert_eq!(read("p.dissensus"), of("p.dissensus", None));
        assert_eq!(read("p.dissensus#rude"), of("p.dissensus", Some("rude")));
        assert_eq!(read("p.dissensus#a#b"), of("p.dissensus", Some("a#b")));
        assert_eq!(read("no 1#2.dissensus"), of("no 1#2.dissensus", None));
        assert_eq!(read("no 1#2.dissensus#rude"), of("no 1#2.dissensus", Some("rude")));
        assert_eq!(read("no 1#2.dissensus#x"), of("no 1#2.dissensus#x", None));
        // What is not there is named as it was given.
        assert_eq!(read("gone.dissensus#x"), of("gone.dissensus#x", None));
        let here = auxiliary("p.dissensus").unwrap().project;
        assert!(Path::new(&here).is_absolute(), "{here}");
    }
}
