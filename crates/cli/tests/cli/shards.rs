//! One job read in shards, and merged.

use crate::dump;
use crate::program::Place;

fn place() -> Place {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    dump::healthy(&place, "gpu-002");
    place.write("logs/train.log", "step 1 loss 2.5\n");
    place
}

#[test]
fn merged_shards_give_the_report_of_one_machine() {
    let place = place();
    place.run(&["logs", "--out", "alone"]).ended_with(0);
    for shard in ["2/5", "0/5", "1/5", "4/5", "3/5"] {
        place
            .run(&["logs", "--out", "r", "--shard", shard])
            .ended_with(0);
    }
    place.run(&["merge", "r"]).ended_with(0);
    for file in place.files("alone") {
        let read =
            |folder: &str| std::fs::read(place.path(&format!("{folder}/{file}"))).expect("a file");
        assert!(read("alone") == read("r"), "{file} differs");
    }
    // The folder is a report as any other from then on.
    place.run(&["r"]).ended_with(0);
    place
        .run(&["merge", "r/shards/0-of-5", "r", "--out", "twice"])
        .ended_with(0);
}

#[test]
fn the_numbers_may_be_those_of_slurm() {
    let place = place();
    for task in ["0", "1"] {
        let out = place
            .command(&["logs", "--out", "r", "--shard"])
            .env("SLURM_PROCID", task)
            .env("SLURM_NTASKS", "2")
            .output()
            .expect("the program runs");
        assert!(out.status.success(), "{out:?}");
    }
    place.run(&["merge", "r"]).ended_with(0);
    assert!(place.path("r/report.json").exists());
}

#[test]
fn a_missing_shard_is_named_and_nothing_is_written() {
    let place = place();
    place
        .run(&["logs", "--out", "r", "--shard", "0/2"])
        .ended_with(0);
    let run = place.run(&["merge", "r"]).ended_with(2);
    assert!(
        run.stderr.contains("a shard is missing: 1/2"),
        "{}",
        run.stderr
    );
    assert!(!place.path("r/parquet").exists());
    let run = place.run(&["r/shards/0-of-2"]).ended_with(2);
    assert!(run.stderr.contains("shard 0/2"), "{}", run.stderr);
}

#[test]
fn wrong_numbers_are_wrong_usage() {
    let place = place();
    // What is asked of the report would be forgotten.
    place
        .run(&["logs", "--slow-ms", "5", "--shard", "0/2"])
        .ended_with(2);
    for shard in ["2/2", "x", "1"] {
        place.run(&["logs", "--shard", shard]).ended_with(2);
    }
    place.run(&["merge", "nowhere"]).ended_with(2);
    place
        .run(&["slurm-script", "--shards", "0", "logs"])
        .ended_with(2);
}

#[test]
fn a_batch_file_is_printed() {
    let place = place();
    let run = place
        .run(&["slurm-script", "--shards", "4", "logs"])
        .ended_with(0);
    assert!(run.stdout.starts_with("#!/bin/bash\n"), "{}", run.stdout);
    assert!(run.stdout.contains("#SBATCH --array=0-3"), "{}", run.stdout);
}
