//! Wrong usage, and input that can't be read at all: status 2, and a message that helps.

use std::fs;

use crate::dump;
use crate::program::Place;

#[test]
fn no_argument_is_wrong_usage() {
    let run = Place::new().run(&[]).ended_with(2);
    assert!(run.stderr.contains("LOGS"), "{}", run.stderr);
}

#[test]
fn an_unknown_option_is_wrong_usage() {
    let run = Place::new().run(&["logs", "--frobnicate"]).ended_with(2);
    assert!(run.stderr.contains("--frobnicate"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn numbers_out_of_range_are_wrong_usage() {
    let place = Place::new();
    place.run(&["logs", "--threads", "0"]).ended_with(2);
    place
        .run(&["logs", "--compression-level", "23"])
        .ended_with(2);
    place.run(&["logs", "--fail-on", "info"]).ended_with(2);
    place.run(&["logs", "-q", "-v"]).ended_with(2);
}

#[cfg(unix)]
#[test]
fn a_device_is_not_waited_for() {
    let run = Place::new().run(&["/dev/zero", "--out", "r"]).ended_with(2);
    let why = "/dev/zero: neither a file nor a folder";
    assert!(run.stderr.contains(why), "{}", run.stderr);
    let place = Place::new();
    place.write("logs/train.txt", "");
    std::os::unix::fs::symlink("/dev/zero", place.path("logs/a.log")).expect("a link");
    let run = place.run(&["logs"]).ended_with(2);
    let why = "a.log: neither a file nor a folder";
    assert!(run.stderr.contains(why), "{}", run.stderr);
}

#[test]
fn a_missing_input_is_named() {
    let place = Place::new();
    let run = place.run(&["no-such-folder"]).ended_with(2);
    assert!(
        run.stderr.starts_with("error: failed to "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("no-such-folder"), "{}", run.stderr);
    assert!(run.stderr.contains("\nhint: "), "{}", run.stderr);
    assert!(!place.path("no-such-folder-report").exists());
}

#[test]
fn a_subcommand_that_comes_late_is_explained() {
    let run = Place::new().run(&["-v", "ingest"]).ended_with(2);
    assert!(
        run.stderr.contains("`ingest` is a subcommand"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_empty_folder_holds_no_record() {
    let place = Place::new();
    fs::create_dir(place.path("logs")).expect("a folder");
    let run = place.run(&["logs"]).ended_with(2);
    assert!(run.stderr.contains("no file there"), "{}", run.stderr);
    assert!(
        run.stderr.contains("NCCL_INSPECTOR_ENABLE=1"),
        "{}",
        run.stderr
    );
    assert!(
        !place.path("logs-report").exists(),
        "nothing is left behind"
    );
}

#[test]
fn a_folder_of_other_files_holds_no_record() {
    let place = Place::new();
    place.write("logs/train.log", "step 1 loss 2.5\nstep 2 loss 2.4\n");
    place.write("logs/empty.log", "");
    let run = place.run(&["logs"]).ended_with(2);
    assert!(run.stderr.contains("2 files there"), "{}", run.stderr);
    assert!(run.stderr.contains("train.log"), "{}", run.stderr);
    assert!(
        !place.path("logs-report").exists(),
        "nothing is left behind"
    );
}

#[test]
fn an_input_is_no_output() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let run = place.run(&["logs", "--out", "logs"]).ended_with(2);
    assert!(run.stderr.contains("it is an input"), "{}", run.stderr);
}

#[test]
fn files_of_others_are_never_replaced() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place.write("site/index.html", "my home page");
    let run = place.run(&["logs", "--out", "site"]).ended_with(2);
    assert!(run.stderr.contains("index.html"), "{}", run.stderr);
    assert_eq!(place.files("site"), ["index.html"]);
}

#[test]
fn an_output_that_is_a_file_is_refused() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place.write("out", "a file");
    let run = place.run(&["logs", "--out", "out"]).ended_with(2);
    assert!(
        run.stderr.contains("hint: --out names a folder"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_output_below_a_file_is_refused() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place.write("file", "a file");
    let run = place.run(&["logs", "--out", "file/out"]).ended_with(2);
    assert!(run.stderr.contains("failed to write to"), "{}", run.stderr);
}

#[test]
fn a_dataset_is_not_read_as_logs() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place.run(&["ingest", "logs", "--out", "r"]).ended_with(0);
    let again = place.run(&["ingest", "r", "--out", "s"]).ended_with(2);
    assert!(again.stderr.contains("earlier run"), "{}", again.stderr);
    let mixed = place.run(&["r", "logs"]).ended_with(2);
    assert!(mixed.stderr.contains("earlier run"), "{}", mixed.stderr);
}

#[test]
fn errors_are_said_even_when_quiet() {
    let run = Place::new()
        .run(&["no-such-folder", "--quiet"])
        .ended_with(2);
    assert!(run.stderr.contains("no-such-folder"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}
