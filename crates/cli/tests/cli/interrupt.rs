//! Ctrl-C in the middle of the reading.
#![cfg(unix)]

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::dump;
use crate::program::{PROGRAM, Place};

/// Enough that the reading takes far longer than a signal.
const LINES: u64 = 200_000;
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn ctrl_c_leaves_no_half_written_file() {
    let place = Place::new();
    let mut text = String::new();
    for number in 0..LINES {
        writeln!(text, "{}", dump::line("gpu-001", 4711, 0, number, 100)).expect("a string");
    }
    place.write("logs/node-pid4711.log", text);
    let child = Command::new(PROGRAM)
        .args(["ingest", "logs", "--out", "r"])
        .current_dir(place.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let start = Instant::now();
    while !place.path("r/parquet").exists() && start.elapsed() < PATIENCE {
        sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.is_ok_and(|s| s.success()), "the program still runs");

    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));
    let left = place.files("r");
    let half_written = left
        .iter()
        .find(|f| f.ends_with(".parquet") || f.contains("tmp"));
    assert_eq!(half_written, None);

    let again = place.run(&["ingest", "logs", "--out", "r"]).ended_with(0);
    assert!(
        again.stdout.contains("200,000 records in 1 file"),
        "{}",
        again.stdout
    );
}
