//! `--trace HOST=FILE`: what is named by hand is used, or said not to be usable.

use std::fs;
use std::path::Path;

use crate::dump;
use crate::program::{Place, Run};

/// A healthy job, and a genuine trace beside it and another in a folder.
fn place() -> Place {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/traces");
    for (from, to) in [
        ("gpu-001-nccl.db", "traces/a.db"),
        ("gpu-002.db", "traces/n/b.db"),
    ] {
        place.write(to, fs::read(fixtures.join(from)).expect("a fixture"));
    }
    place
}

fn run(place: &Place, traces: &[&str]) -> Run {
    let mut args = vec!["logs", "--out", "report"];
    for trace in traces {
        args.extend(["--trace", trace]);
    }
    place.run(&args)
}

#[track_caller]
fn refused(place: &Place, traces: &[&str], why: &str) {
    let run = run(place, traces).ended_with(2);
    assert!(
        run.stderr.starts_with("error: failed to use ") && run.stderr.contains(why),
        "{}",
        run.stderr
    );
    assert!(!place.path("report/index.html").exists());
}

#[test]
fn a_trace_that_is_named_is_used() {
    let place = place();
    run(&place, &["gpu-001=traces/a.db", "GPU-001=./traces/n/b.db"]).ended_with(0);
    // Twice the same is once.
    run(&place, &["gpu-001=traces/a.db", "GPU-001=traces/a.db"]).ended_with(0);
}

#[test]
fn a_trace_that_is_no_file_or_a_folder_is_refused() {
    let place = place();
    refused(&place, &["gpu-001=traces/c.db"], "there is no such file");
    refused(&place, &["gpu-001=traces"], "it is a folder");
}

#[test]
fn a_trace_that_cannot_be_read_is_refused_with_the_reason() {
    let place = place();
    place.write("text.db", "no database at all");
    refused(&place, &["gpu-001=text.db"], "not SQLite's");
    let whole = fs::read(place.path("traces/a.db")).expect("read");
    place.write("cut.db", &whole[..60]);
    refused(&place, &["gpu-001=cut.db"], "damaged or cut off");
    let dump = place.files("logs").remove(0);
    refused(
        &place,
        &[&format!("gpu-001=logs/{dump}")],
        "it isn't a database",
    );
}

#[test]
fn a_trace_of_two_hosts_is_refused_however_it_is_written() {
    let place = place();
    let why = "given for host gpu-001 as well";
    refused(&place, &["gpu-001=traces/a.db", "gpu-002=traces/a.db"], why);
    refused(
        &place,
        &["gpu-001=traces/a.db", "gpu-002=traces/n/../a.db"],
        why,
    );
}

#[test]
fn a_name_that_several_files_end_with_is_refused() {
    let place = place();
    fs::copy(place.path("traces/a.db"), place.path("traces/n/c.db")).expect("copied");
    fs::remove_file(place.path("traces/a.db")).expect("removed");
    place.write(
        "traces/m/c.db",
        fs::read(place.path("traces/n/b.db")).expect("read"),
    );
    fs::remove_file(place.path("traces/n/b.db")).expect("removed");
    let args = ["logs", "traces", "--out", "report", "--trace"];
    let one = [&args[..], &["gpu-001=c.db"]].concat();
    let run = place.run(&one).ended_with(2);
    assert!(
        run.stderr.contains("give more of its path"),
        "{}",
        run.stderr
    );
    let one = [&args[..], &["gpu-001=n/c.db"]].concat();
    place.run(&one).ended_with(0);
}
