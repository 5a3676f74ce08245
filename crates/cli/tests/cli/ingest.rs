//! The Parquet tables only.

use crate::dump;
use crate::program::Place;

#[test]
fn only_the_tables_are_written() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let run = place.run(&["ingest", "logs", "--out", "r"]).ended_with(0);
    assert!(
        run.stdout.contains("80 records in 2 files"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("r/parquet/collectives/ (80 rows)"),
        "{}",
        run.stdout
    );
    let files = place.files("r");
    assert!(files.iter().all(|f| f.starts_with("parquet/")), "{files:?}");
    let tables = files.iter().filter(|f| f.ends_with(".parquet"));
    assert_eq!(tables.count(), 2, "{files:?}");
}

#[test]
fn the_output_folder_must_be_named() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let run = place.run(&["ingest", "logs"]).ended_with(2);
    assert!(run.stderr.contains("--out"), "{}", run.stderr);
}

#[test]
fn a_folder_without_records_leaves_nothing_behind() {
    let place = Place::new();
    place.write("logs/train.log", "step 1 loss 2.5\n");
    place.run(&["ingest", "logs", "--out", "r"]).ended_with(2);
    assert!(!place.path("r").exists());
}

#[test]
fn an_existing_folder_is_kept_whatever_happens() {
    let place = Place::new();
    place.write("logs/train.log", "step 1 loss 2.5\n");
    place.write("r/notes.txt", "mine");
    place.run(&["ingest", "logs", "--out", "r"]).ended_with(2);
    assert!(place.path("r/notes.txt").exists());
}
