//! What is a dump at all.

use std::io::Write;

use crate::support::{PLAIN, read, reasons};

#[track_caller]
fn assert_skipped(text: impl AsRef<[u8]>, reason: &str) {
    let dump = read(text);
    assert_eq!(dump.tally.skipped.as_deref(), Some(reason));
    assert_eq!(dump.tally.rejected.lines, 0);
    assert!(dump.tally.records.is_empty());
}

#[test]
fn files_without_a_trace_of_the_format_are_passed_over() {
    assert_skipped("", "empty");
    assert_skipped("\n  \n", "empty");
    let none = "no Inspector record";
    assert_skipped(
        "step 1 loss 3.2\nNCCL INFO comm 0x7f rank 0 nranks 8\n{'a': 1}\n",
        none,
    );
    assert_skipped(
        "{\"tag\":\"v2\",\"procs\":[{\"host\":\"a\",\"comms\":[]}]}",
        none,
    );
    assert_skipped(
        "{\n \"tag\": \"v2\",\n \"metadata\": {\n  \"a\": 1\n }\n}\n",
        none,
    );
    assert_skipped(
        "{\"level\":\"info\",\"ctx\":{\"a\":1}}\n{\"level\":\"info\"}\n",
        none,
    );
    assert_skipped("[1, 2, 3]", none);
    assert_skipped("[\n1,\n2\n]\n", none);
    assert_skipped(b"\x7fELF\x02\x01\x01\0\0\0\0\n\0\0\xff\xfe{{{\n", none);
    assert_skipped("{", none);
    assert_skipped(b"SQLite format 3\0rest", "a SQLite database");
    assert_skipped(b"\xff\xfe{\0", "UTF-16 text: convert it to UTF-8 first");
}

#[test]
fn a_dump_of_nothing_but_bad_lines_is_a_dump() {
    let dump = read(&PLAIN[..40]);
    assert_eq!(dump.tally.skipped, None);
    assert_eq!(reasons(&dump.tally.rejected), [("truncated", 1)].into());
    let dump = read(PLAIN.replace("_time_us\":39", "_time_us\":0"));
    assert_eq!(dump.tally.skipped, None);
    assert_eq!(reasons(&dump.tally.rejected), [("implausible", 1)].into());
}

#[test]
fn records_behind_a_thousand_lines_of_a_job() {
    let mut text = String::new();
    for step in 0..1000 {
        text.push_str(&format!("step {step} loss 3.2\n"));
    }
    text.push_str(PLAIN);
    let dump = read(text);
    assert_eq!(dump.tally.lines, 1001);
    assert_eq!(dump.records.len(), 1);
    assert_eq!(dump.records[0].0, 1001);
    assert_eq!(
        reasons(&dump.tally.rejected),
        [("invalid_json", 1000)].into()
    );
}

#[test]
fn a_long_output_of_a_job_is_passed_over() {
    let mut text = Vec::new();
    while text.len() < 4 << 20 {
        writeln!(
            text,
            "[2026-01-01 12:00:00] step {} loss 3.2 {{'lr': 1e-4}}",
            text.len()
        )
        .expect("memory");
    }
    assert_skipped(&text, "no Inspector record");
}
