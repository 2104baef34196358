//! Ending processes that a test started, without a chance for them to tidy up.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// `kill -9` of one process.
///
/// # Panics
/// There is no such process.
pub fn kill(pid: u32) {
    assert!(signal(&format!("-KILL {pid}")), "there is no process {pid} to kill");
}

/// Ends every process of the group that `leader` leads, and waits for the leader.
pub fn end_group(leader: &mut Child) {
    // The group may have ended by itself.
    let _ = signal(&format!("-KILL -- -{}", leader.id()));
    let _ = leader.wait();
}

/// Whether the process ended within `limit`.
pub fn ended_within(child: &mut Child, limit: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// The shell's own `kill`, which is on every system that has a shell.
fn signal(arguments: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("kill {arguments}")])
        .output()
        .is_ok_and(|out| out.status.success())
}
