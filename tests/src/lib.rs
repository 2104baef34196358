//! What the end-to-end tests share: the built programs, a home of their own for each test, a screen and a driver.
//!
//! The programs are the real ones. `cargo xtask test` names them in `DISSENSUS_BIN` and `DISSENSUS_WINDOW_BIN`; where
//! it has not, they are built first.

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
pub mod transcript;
#[cfg(target_os = "linux")]
pub mod window;
