//! The main job.

use std::fs;

use serde_json::{Value, json};

use crate::dump::{self, COLLECTIVES, SIZE};
use crate::program::Place;

/// The files that the contract promises.
fn assert_whole(place: &Place, out: &str) {
    let files = place.files(out);
    for name in ["index.html", "report.json", "summary.csv"] {
        assert!(files.contains(&name.to_owned()), "{name} in {files:?}");
    }
    for folder in ["parquet/collectives/", "plots/"] {
        assert!(
            files.iter().any(|f| f.starts_with(folder)),
            "{folder} in {files:?}"
        );
    }
}

#[test]
fn a_report_is_written_and_its_summary_printed() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let run = place.run(&["logs"]).ended_with(0);
    assert_eq!(run.stderr, "");
    assert!(run.stdout.starts_with("logs\n"), "{}", run.stdout);
    assert!(run.stdout.contains("gpu-001"), "{}", run.stdout);
    assert!(
        run.stdout.contains("80 records in 2 files"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("logs-report/index.html"),
        "{}",
        run.stdout
    );
    let too_wide = run.stdout.lines().find(|l| l.chars().count() > 80);
    assert_eq!(too_wide, None);
    assert_whole(&place, "logs-report");
}

#[test]
fn the_json_is_that_of_the_contract() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let report = place
        .run(&["logs", "--format", "json"])
        .ended_with(0)
        .json();
    assert_eq!(report["schema"], "nccl-report/1");
    assert_eq!(report["generator"]["name"], "nccl-report");
    assert_eq!(
        report["inputs"]["records"]["collective"],
        json!(2 * COLLECTIVES)
    );
    assert_eq!(report["inputs"]["rejected"]["lines"], 0);
    let group = &report["groups"][0];
    assert_eq!(group["comm_type"], "nvlink-only");
    assert_eq!(group["coll"], "AllReduce");
    assert_eq!(group["coll_msg_size_bytes"], json!(SIZE));
    assert_eq!(group["collectives"], json!(COLLECTIVES));
    // Of 80 times 27 are 100 µs, 27 are 101 and 26 are 102: the middle two are both 101.
    assert_eq!(group["exec_time_us"]["p50"], 101.0);
    assert_eq!(report["communicators"][0]["ranks_seen"], 2);
    assert_eq!(report["processes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_json_on_stdout_is_that_of_the_file() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let printed = place.run(&["logs", "--format", "json", "-q"]).ended_with(0);
    let file = fs::read_to_string(place.path("logs-report/report.json")).expect("report.json");
    assert_eq!(printed.stdout.trim_end(), file.trim_end());
    assert_eq!(printed.stderr, "");
}

#[test]
fn quiet_prints_nothing() {
    let place = Place::new();
    dump::with_broken_line(&place);
    let run = place.run(&["logs", "--quiet"]).ended_with(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert_whole(&place, "logs-report");
}

#[test]
fn verbose_says_more_on_stderr_only() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let json = place
        .run(&["logs", "-vv", "--format", "json"])
        .ended_with(0);
    assert_eq!(json.json()["schema"], "nccl-report/1");
    assert!(json.stderr.contains("reading took"), "{}", json.stderr);
    assert!(
        json.stderr
            .contains("node-pid4711.log: collectives 40 rows"),
        "{}",
        json.stderr
    );
    let once = place.run(&["logs", "-v"]).ended_with(0);
    assert!(!once.stderr.contains("node-pid4711.log"), "{}", once.stderr);
}

#[test]
fn refused_lines_are_accounted_for() {
    let place = Place::new();
    dump::with_broken_line(&place);
    place.write("logs/train.log", "step 1 loss 2.5\n");
    let run = place.run(&["logs"]).ended_with(0);
    assert!(
        run.stdout.contains("1 line rejected: 1 invalid_json"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("node-pid4713.log:1 invalid_json"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("train.log: "), "{}", run.stdout);
}

#[test]
fn the_output_folder_is_named_after_the_input() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place.run(&["logs/node-pid4711.log", "-q"]).ended_with(0);
    assert_whole(&place, "node-pid4711-report");
    place
        .run(&["logs/node-pid4711.log", "logs/node-pid4712.log", "-q"])
        .ended_with(0);
    assert_whole(&place, "logs-report");
    let inside = place
        .command(&[".", "-q"])
        .current_dir(place.path("logs"))
        .output();
    assert_eq!(inside.expect("the program runs").status.code(), Some(0));
    assert_whole(&place, "logs/logs-report");
}

#[test]
fn a_report_inside_the_logs_is_not_read_again() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let args = ["logs", "--out", "logs/report", "--format", "json"];
    let first = place.run(&args).ended_with(0).stdout;
    let second = place.run(&args).ended_with(0).stdout;
    assert_eq!(first, second);
}

#[test]
fn a_report_can_be_made_of_an_earlier_dataset() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place
        .run(&["ingest", "logs", "--out", "job42-report", "-q"])
        .ended_with(0);
    let run = place.run(&["job42-report"]).ended_with(0);
    assert!(run.stdout.starts_with("job42\n"), "{}", run.stdout);
    assert_whole(&place, "job42-report");
}

#[test]
fn the_title_heads_the_report() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let run = place
        .run(&["logs", "--title", "Llama, 3rd try"])
        .ended_with(0);
    assert!(run.stdout.starts_with("Llama, 3rd try\n"), "{}", run.stdout);
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let place = Place::new();
    dump::with_broken_line(&place);
    let with = |n: &str| {
        place
            .run(&[
                "logs",
                "--out",
                n,
                "--threads",
                n,
                "--title",
                "x",
                "--format",
                "json",
            ])
            .ended_with(0)
            .stdout
    };
    assert_eq!(with("1"), with("3"));
    let bytes = |name: &str| {
        let files = place.files(name);
        let read = |f: &String| fs::read(place.path(name).join(f)).expect("a file");
        let contents: Vec<Vec<u8>> = files.iter().map(read).collect();
        (files, contents)
    };
    assert!(bytes("1") == bytes("3"), "the files differ");
}

#[test]
fn a_folder_called_like_a_subcommand_can_be_read() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    fs::rename(place.path("logs"), place.path("ingest")).expect("renamed");
    place.run(&["./ingest", "-q"]).ended_with(0);
    assert_whole(&place, "ingest-report");
}

#[test]
fn records_without_anything_to_analyse_are_too_little() {
    let place = Place::new();
    dump::only_markers(&place);
    let run = place.run(&["logs", "--format", "json"]).ended_with(3);
    let kinds: Vec<Value> = run.json()["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|f| f["kind"].clone())
        .collect();
    assert!(kinds.contains(&json!("too_little_data")), "{kinds:?}");
    // A gate never passes what can't be judged, and says why.
    let gated = place
        .run(&["logs", "-q", "--fail-on", "critical"])
        .ended_with(3);
    assert!(
        gated.stderr.starts_with("error: too little data"),
        "{}",
        gated.stderr
    );
}

#[test]
fn the_gate_passes_a_healthy_job() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place
        .run(&["logs", "-q", "--fail-on", "critical"])
        .ended_with(0);
}
