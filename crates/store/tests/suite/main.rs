//! The project file. One program, because each costs a link and a hundred megabytes; what measures a process or
//! runs for minutes stands beside it.

mod apart;
mod cannot_say;
#[path = "../common/mod.rs"]
mod common;
mod decisions;
mod facts;
mod formats;
mod guidelines;
mod history;
mod labels;
mod merge;
mod packets;
mod panels;
mod power_cut;
mod question_changes;
mod question_edits;
mod removal;
mod repeats;
mod whole_file;
mod withdrawals;
mod writing;
