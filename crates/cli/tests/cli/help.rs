//! `--help` and `--version`.

use crate::program::Place;

#[test]
fn the_version_is_the_crate_s() {
    let run = Place::new().run(&["--version"]).ended_with(0);
    assert_eq!(
        run.stdout,
        concat!("nccl-report ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn the_short_help_fits_a_screen() {
    let run = Place::new().run(&["-h"]).ended_with(0);
    insta::assert_snapshot!(run.stdout, @"");
}

#[test]
fn the_short_help_of_each_subcommand() {
    let place = Place::new();
    let ingest = place.run(&["ingest", "-h"]).ended_with(0).stdout;
    insta::assert_snapshot!(ingest, @"");
    let analyze = place.run(&["analyze", "-h"]).ended_with(0).stdout;
    insta::assert_snapshot!(analyze, @"");
}

#[test]
fn the_long_help_teaches() {
    let help = Place::new().run(&["--help"]).ended_with(0).stdout;
    for topic in [
        "Examples:",
        "Exit status:",
        "The files of the report",
        "NCCL_PROFILER_PLUGIN=",
        "NCCL_INSPECTOR_ENABLE=1",
        "NCCL_INSPECTOR_DUMP_DIR=",
        "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=",
        "parquet/",
        "130",
    ] {
        assert!(help.contains(topic), "{topic} is missing");
    }
    let too_wide = help.lines().find(|l| l.chars().count() > 100);
    assert_eq!(too_wide, None);
}
