//! Shared by the end-to-end tests: the built programs, a home folder for each test, a screen and a driver.
//!
//! The programs are the real ones: those named in `DISSENSUS_BIN` and `DISSENSUS_WINDOW_BIN`, which `cargo
//! xtask test` sets; without these variables they are built first. Firefox's driver is on the search path, or
//! in `bin` of the folder that `DISSENSUS_TOOLS` names.

#[cfg(target_os = "linux")]
pub mod axe;
#[cfg(target_os = "linux")]
pub mod bus;
pub mod command;
pub mod disk;
pub mod draws;
pub mod every_command;
pub mod files;
#[cfg(target_os = "linux")]
pub mod mock;
#[cfg(target_os = "linux")]
pub mod page;
pub mod processes;
pub mod programs;
pub mod project_file;
#[cfg(target_os = "linux")]
pub mod reader;
pub mod redact;
pub mod schemas;
#[cfg(target_os = "linux")]
pub mod screen;
pub mod served;
pub mod transcript;
#[cfg(target_os = "linux")]
pub mod window;
