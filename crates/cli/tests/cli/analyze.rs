//! The JSON only.

use std::fs;

use crate::dump;
use crate::program::Place;

#[test]
fn the_json_is_printed_and_no_file_written() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let run = place.run(&["analyze", "logs"]).ended_with(0);
    assert_eq!(run.json()["schema"], "nccl-report/1");
    assert_eq!(run.stderr, "");
    let files = place.files("");
    assert!(files.iter().all(|f| f.starts_with("logs/")), "{files:?}");
}

#[test]
fn with_out_the_json_is_the_only_file() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let printed = place.run(&["analyze", "logs"]).ended_with(0).stdout;
    let run = place.run(&["analyze", "logs", "--out", "r"]).ended_with(0);
    assert_eq!(run.stdout, "");
    assert_eq!(place.files("r"), ["report.json"]);
    let file = fs::read_to_string(place.path("r/report.json")).expect("report.json");
    assert_eq!(file, printed);
}

#[cfg(unix)]
#[test]
fn the_json_file_is_as_readable_as_the_umask_wants() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place
        .shell("umask 022; \"$P\" analyze logs --out r")
        .ended_with(0);
    let mode = fs::metadata(place.path("r/report.json"))
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn an_earlier_run_and_its_tables_give_the_same_as_the_logs() {
    let place = Place::new();
    dump::with_broken_line(&place);
    let args = ["--title", "x"];
    let from = |input: &str| {
        let args = [&["analyze", input][..], &args].concat();
        place.run(&args).ended_with(0).stdout
    };
    place.run(&["logs", "-q", "--out", "r"]).ended_with(0);
    let logs = from("logs");
    assert_eq!(from("r"), logs);
    assert_eq!(from("r/parquet"), logs);
    fs::remove_dir_all(place.path("logs")).expect("removed");
    assert_eq!(from("r"), logs);
}

#[test]
fn a_damaged_dataset_is_refused() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place
        .run(&["ingest", "logs", "--out", "r", "-q"])
        .ended_with(0);
    place.write("r/parquet/manifest.json", "{\"half\":");
    let run = place.run(&["analyze", "r"]).ended_with(2);
    assert!(
        run.stderr.contains("hint: start again from the logs"),
        "{}",
        run.stderr
    );
}

#[test]
fn too_little_data_has_its_status() {
    let place = Place::new();
    dump::only_markers(&place);
    place.run(&["analyze", "logs"]).ended_with(3);
}

#[test]
fn the_temporary_folder_is_gone_afterwards() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    fs::create_dir(place.path("tmp")).expect("a folder");
    let mut command = place.command(&["analyze", "logs"]);
    let output = command.env("TMPDIR", place.path("tmp")).output();
    assert_eq!(output.expect("the program runs").status.code(), Some(0));
    assert_eq!(
        fs::read_dir(place.path("tmp")).expect("a folder").count(),
        0
    );
}
