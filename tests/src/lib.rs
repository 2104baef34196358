//! Shared by the end-to-end tests: the built programs, a home folder for each test, a screen and a driver.
//!
//! The programs are the real ones: those named in `DISSENSUS_BIN` and `DISSENSUS_WINDOW_BIN`, which `cargo
//! xtask test` sets; without these variables they are built first.

#[cfg(target_os = "linux")]
pub mod bus;
pub mod command;
pub mod disk;
pub mod files;
pub mod processes;
pub mod programs;
pub mod project_file;
pub mod redact;
pub mod schemas;
#[cfg(target_os = "linux")]
pub mod screen;
pub mod served;
pub mod transcript;
#[cfg(target_os = "linux")]
pub mod window;
