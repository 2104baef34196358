//! Ends processes that a test started, without a chance for them to clean up.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// `kill -9` of one process.
///
/// # Panics
/// There is no such process.
pub fn kill(pid: u32) {
    assert!(signal(&format!("-s KILL {pid}")), "there is no process {pid} to kill");
}

/// Asks a process to end, as a system does when it shuts down.
///
/// # Panics
/// There is no such process.
pub fn terminate(pid: u32) {
    assert!(signal(&format!("-s TERM {pid}")), "there is no process {pid} to end");
}

/// Suspends a process, until [`go_on`].
///
/// # Panics
/// There is no such process.
pub fn hold(pid: u32) {
    assert!(signal(&format!("-s STOP {pid}")), "there is no process {pid} to stop");
}

/// Resumes a suspended process.
///
/// # Panics
/// There is no such process.
pub fn go_on(pid: u32) {
    assert!(signal(&format!("-s CONT {pid}")), "there is no process {pid} to go on");
}

/// Waits until no thread of a killed process runs any more.
///
/// `kill` only sends a signal: a thread that is writing to the disk finishes that first, and only then are
/// the process's locks free. A process that has not been waited for stays listed,
/// with threads that are all dead.
///
/// # Panics
/// It is still running after a minute.
#[cfg(target_os = "linux")]
pub fn wait_for_the_end(pid: u32) {
    let start = Instant::now();
    while at_work(pid) {
        assert!(start.elapsed() < Duration::from_mins(1), "process {pid} does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that a process has started, and those that they have started.
#[cfg(target_os = "linux")]
pub fn below(pid: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbered = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pairs: Vec<(u32, u32)> = numbered.filter_map(|child| Some((parent(child)?, child))).collect();
    let mut found = vec![pid];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(pairs.iter().filter(|(of, _)| *of == parent).map(|(_, child)| child));
        at += 1;
    }
    found.split_off(1)
}

/// The process that started a process.
#[cfg(target_os = "linux")]
pub fn parent(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Whether a thread of the process is alive.
#[cfg(target_os = "linux")]
fn at_work(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().any(|thread| {
        // "id (name) state ...", and a name may hold brackets of its own.
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
    })
}

/// Ends every process of the group that `leader` leads, and waits for the leader.
pub fn end_group(leader: &mut Child) {
    if !signal(&format!("-s KILL -- -{}", leader.id())) {
        // Without such a group: the leader only, which may have ended too. Waiting for a live one never ends.
        let _ = leader.kill();
    }
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

/// Waits for the process to end and returns its peak memory in bytes, if the system reports it.
///
/// # Panics
/// The process cannot be waited for.
pub fn peak_memory(child: &mut Child) -> Option<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(_)) => return peak,
            Err(error) => panic!("waiting for a process: {error}"),
        }
        // The high-water mark, so that nothing is missed between two reads; an ended process has none.
        let line = std::fs::read_to_string(&status).unwrap_or_default();
        let kib = line
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kib.map(|kib| kib * 1024));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The shell's own `kill`, available on every system that has a shell.
fn signal(arguments: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("kill {arguments}")])
        .output()
        .is_ok_and(|out| out.status.success())
}
