//! Size, start and memory of the installed application: `DISSENSUS_ARCHIVE` names the archive that
//! `cargo xtask dist` makes, `--nocapture` prints the figures.
#![cfg(target_os = "linux")] // the figures are those of /proc
#![allow(clippy::print_stdout)] // figures are printed

use anyhow::{Context, Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::processes;
use dissensus_tests::window::{Start, Window};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Starts of which the median is printed.
const STARTS: usize = 7;

/// The unpacked archive.
struct Installed {
    content: PathBuf,
}

impl Installed {
    fn unpack(bench: &Bench) -> Result<Self> {
        let archive = std::env::var_os("DISSENSUS_ARCHIVE")
            .context("DISSENSUS_ARCHIVE names no archive: `cargo xtask dist` makes one")?;
        let folder = bench.path("installed");
        fs::create_dir(&folder)?;
        let tar =
            Command::new("tar").args(["--extract", "--file"]).arg(archive).arg("-C").arg(&folder).status()?;
        ensure!(tar.success(), "tar: {tar}");
        Ok(Self { content: fs::read_dir(&folder)?.next().context("the archive is empty")??.path() })
    }

    fn program(&self) -> PathBuf {
        self.content.join("usr/bin/dissensus-window")
    }
}

/// Bytes of the files in a folder, at any depth.
fn bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        sum += if about.is_dir() { bytes(&entry.path())? } else { about.len() };
    }
    Ok(sum)
}

/// Seconds since a process started, as the kernel counts them: in hundredths.
fn age(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("the process has no name")?;
    // Field 22 of proc(5); the first one here is field 3.
    let started: f64 = fields.split_whitespace().nth(19).context("no starting time")?.parse()?;
    let up = fs::read_to_string("/proc/uptime")?;
    let up: f64 = up.split(' ').next().unwrap_or_default().parse()?;
    Ok(up - started / 100.0)
}

/// Memory of a process in MB: resident, its share where others have it too, and what is in no file.
fn memory(pid: u32) -> Result<[f64; 3]> {
    let sums = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let field = |name: &str| -> Result<f64> {
        let line = sums.lines().find_map(|line| line.strip_prefix(name)).context("no such field")?;
        let kib: f64 = line.split_whitespace().next().context("no number")?.parse()?;
        Ok(kib * 1024.0 / 1e6)
    };
    Ok([field("Rss:")?, field("Pss:")?, field("Anonymous:")?])
}

/// Prints the memory of the window's process, of those below it, and of all together.
fn print_memory(window: &Window) -> Result<()> {
    let first = window.process()?;
    let print = |name: &str, [resident, share, own]: [f64; 3]| {
        println!("  {name}: {resident:.0} MB resident, {share:.0} MB proportional, {own:.0} MB anonymous");
    };
    let mut sum = [0.0; 3];
    for pid in std::iter::once(first).chain(processes::below(first)) {
        let memory = memory(pid)?;
        print(fs::read_to_string(format!("/proc/{pid}/comm"))?.trim(), memory);
        sum.iter_mut().zip(memory).for_each(|(sum, one)| *sum += one);
    }
    print("together", sum);
    Ok(())
}

#[tokio::test]
#[ignore = "prints figures of an archive, which `cargo xtask dist` makes"]
async fn size_start_and_memory() -> Result<()> {
    let bench = Bench::new();
    let installed = Installed::unpack(&bench)?;
    let mb = |place: &str| -> Result<f64> { Ok(bytes(&installed.content.join(place))? as f64 / 1e6) };
    let program = |name: &str| -> Result<f64> {
        Ok(fs::metadata(installed.content.join("usr/bin").join(name))?.len() as f64 / 1e6)
    };
    let (all, encoder) = (mb("")?, mb("usr/lib/Dissensus/models")?);
    println!("installed without the encoder: {:.1} MB (encoder: {encoder:.1} MB)", all - encoder);
    println!("  window {:.1} MB, command {:.1} MB", program("dissensus-window")?, program("dissensus")?);
    println!(
        "  book {:.1} MB, other files of the system {:.1} MB",
        mb("usr/lib/Dissensus/book")?,
        mb("usr/share")?
    );

    let mut ages = Vec::new();
    for _ in 0..STARTS {
        let window = Window::start(&bench, Start::installed(&installed.program(), Vec::new())).await?;
        window.find("welcome-sample").await?;
        ages.push(age(window.process()?)?);
        if ages.len() == STARTS {
            println!("on the first page:");
            print_memory(&window)?;
        }
        window.close().await?;
    }
    println!("from the start of the process to the first page, first time: {:.2} s", ages[0]);
    ages.sort_by(f64::total_cmp);
    println!("  median of {STARTS}: {:.2} s, longest {:.2} s", ages[STARTS / 2], ages[STARTS - 1]);

    let project = bench.path("P.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    bench.ok(["models".as_ref(), "encode".as_ref(), project.as_os_str()]);
    let open = Start::installed(&installed.program(), vec![project.display().to_string()]);
    let window = Window::start(&bench, open).await?;
    window.text_when("status-encoding", |text| text.contains("All texts encoded")).await?;
    window.click("nav-findings").await?;
    window.click("tab-findings-texts").await?;
    window.find("ranking-row").await?;
    println!("with the sample open and its texts ranked:");
    print_memory(&window)?;
    window.close().await
}
