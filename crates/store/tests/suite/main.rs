//! Tests of the project file. They form one program, because each program costs a link and a
//! hundred megabytes; tests that measure a process or run for minutes are separate programs.

mod apart;
mod cannot_say;
#[path = "../common/mod.rs"]
mod common;
mod contents;
mod decisions;
mod facts;
mod formats;
mod guidelines;
mod history;
mod labels;
mod merge;
mod opening;
mod packets;
mod panels;
mod power_cut;
mod question_changes;
mod question_edits;
mod reannotations_of_18;
mod removal;
mod repeats;
mod upgrades;
mod whole_file;
mod withdrawals;
mod writing;
