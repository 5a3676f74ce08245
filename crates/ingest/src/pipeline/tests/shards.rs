//! Several machines that read one job.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::job::{Job, dump, gzip, lines, sends, skipped};
use crate::{
    Dataset, Error, MergeOptions, NoProgress, Options, Progress, Shard, Share, ingest, merge,
};

/// A job of a few files: plain, gzip, damaged, copies, no dump, refused lines.
fn job() -> Job {
    let job = Job::new();
    for pid in 1..=9 {
        job.put(
            &format!("n{}/gpu-pid{pid}.log", pid % 3),
            dump(pid, 20 + pid) + &sends(pid, 3),
        );
    }
    job.put("gz/a.log.gz", gzip(dump(50, 40)));
    job.put("copies/whole.log", dump(50, 40));
    job.put("copies/begun.log", lines(1, 0..10));
    job.put("train.log", "step 1\nstep 2\n");
    job.put("train-copy.log", "step 1\nstep 2\n");
    job.put("bad.log", dump(60, 5) + "{\"header\":\n" + &lines(60, 5..9));
    job
}

fn read(job: &Job, index: u32, of: u32) -> PathBuf {
    let folder = job.beside(&format!("parts/{index}-of-{of}"));
    read_into(job, index, of, &folder, &NoProgress).expect("read");
    folder
}

fn read_into(
    job: &Job,
    index: u32,
    of: u32,
    to: &Path,
    progress: &dyn Progress,
) -> Result<Dataset, Error> {
    let options = Options {
        dataset: to.to_owned(),
        share: Some(Share {
            shard: Shard::new(index, of).expect("a shard"),
            job: "job42".into(),
        }),
        ..job.options.clone()
    };
    ingest(&options, progress)
}

fn merged(job: &Job, parts: &[PathBuf]) -> Result<(Dataset, String), Error> {
    merge(&MergeOptions {
        parts: parts.to_vec(),
        dataset: job.root().to_owned(),
        cancel: Default::default(),
    })
}

fn refused(job: &Job, parts: &[PathBuf]) -> String {
    merged(job, parts).expect_err("refused").to_string()
}

#[test]
fn merged_parts_are_byte_for_byte_what_one_machine_makes() {
    let alone = job();
    alone.run();
    for of in [1, 2, 3, 20] {
        let job = job();
        let parts: Vec<_> = (0..of).rev().map(|i| read(&job, i, of)).collect();
        let (dataset, name) = merged(&job, &parts).expect("merged");
        assert_eq!(name, "job42");
        assert!(job.files() == alone.files(), "of {of}");
        assert_eq!(
            skipped(&dataset)
                .iter()
                .filter(|(_, why)| why.contains("copy of"))
                .count(),
            2,
            "each copy is named once"
        );
        assert_eq!(dataset.inputs(), alone.run().inputs());
        // Again, over what is there.
        merged(&job, &parts).expect("merged again");
        assert!(job.files() == alone.files());
    }
}

#[test]
fn parts_that_are_missing_doubled_or_foreign_are_refused_by_name() {
    let job = job();
    let parts: Vec<_> = (0..3).map(|i| read(&job, i, 3)).collect();
    assert!(refused(&job, &[]).contains("none was given"));
    assert!(refused(&job, &parts[..1]).contains("shards are missing: 1/3, 2/3"));
    let twice = [&parts[..], &parts[1..2]].concat();
    assert!(refused(&job, &twice).contains("shard 1/3 is there twice"));
    let other = read(&job, 1, 4);
    let mixed = [parts[0].clone(), other];
    assert!(refused(&job, &mixed).contains("of different runs"));
    assert!(
        job.files().is_empty(),
        "nothing is written before all parts are known"
    );

    let whole = job.beside("whole");
    let options = Options {
        dataset: whole.clone(),
        ..job.options.clone()
    };
    ingest(&options, &NoProgress).expect("read");
    assert!(refused(&job, &[whole]).contains("made without a shard's number"));
    assert!(refused(&job, &[job.beside("parts")]).contains("has no manifest.json"));
}

#[test]
fn parts_of_inputs_that_changed_between_are_refused() {
    let job = job();
    let before = read(&job, 0, 2);
    job.put("late.log", dump(99, 4));
    let after = read(&job, 1, 2);
    assert!(refused(&job, &[before, after.clone()]).contains("made of different inputs"));
    let again = read(&job, 0, 2);
    merged(&job, &[again, after]).expect("merged");
}

#[test]
fn a_damaged_part_is_refused_and_the_whole_is_marked_unfinished_or_untouched() {
    let job = job();
    let parts: Vec<_> = (0..2).map(|i| read(&job, i, 2)).collect();
    let table = std::fs::read_dir(parts[1].join("collectives"))
        .expect("tables")
        .next()
        .expect("one")
        .expect("readable")
        .path();
    std::fs::write(&table, "no longer").expect("written");
    assert!(refused(&job, &parts).contains("was changed since it was written"));
    assert!(Dataset::open(job.root()).is_err());
    let again = read(&job, 1, 2);
    merged(&job, &[parts[0].clone(), again]).expect("merged");
    assert!(Dataset::open(job.root()).is_ok());
}

/// Stops the run after a few files.
struct StopAfter<'a>(AtomicUsize, &'a std::sync::atomic::AtomicBool);

impl Progress for StopAfter<'_> {
    fn discovered(&self, _files: u64, _bytes: u64) {}
    fn advanced(&self, _bytes: u64, _records: u64) {}
    fn file_done(&self) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_shard_that_was_stopped_is_refused_until_it_was_run_again() {
    let mut job = job();
    let first = read(&job, 0, 2);
    let folder = job.beside("parts/1-of-2");
    let cancel = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    job.options.cancel = cancel.clone();
    let stop = StopAfter(AtomicUsize::new(10), &cancel);
    let stopped = read_into(&job, 1, 2, &folder, &stop);
    assert!(matches!(stopped, Err(Error::Cancelled)));
    let parts = [first, folder];
    let why = refused(&job, &parts);
    assert!(
        why.contains("was stopped before it was done") || why.contains("has no manifest.json"),
        "{why}"
    );
    job.options.cancel = Default::default();
    read(&job, 1, 2);
    let alone = self::job();
    alone.run();
    merged(&job, &parts).expect("merged");
    assert!(job.files() == alone.files());
}

#[test]
fn a_part_is_no_dataset_to_analyse() {
    let job = job();
    let part = read(&job, 0, 2);
    let why = Dataset::open(&part).expect_err("refused").to_string();
    assert!(why.contains("shard 0/2"), "{why}");
}

#[test]
fn shards_are_read_from_text() {
    assert_eq!("3/16".parse(), Shard::new(3, 16));
    assert_eq!(Shard::new(3, 16).expect("one").to_string(), "3/16");
    for wrong in [
        "", "3", "3/", "/3", "3/3", "4/3", "0/0", "-1/3", "a/b", "1/2/3",
    ] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}

proptest! {
    // Every file falls to exactly one shard, shards differ by one file at most, and the order of asking doesn't matter.
    #[test]
    fn shards_share_all_files_evenly(names in prop::collection::btree_set("[a-z/]{1,12}", 0..60), of in 1_u32..12) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let shares: Vec<Vec<usize>> = (0..of).map(|i| Shard::new(i, of).expect("one").places(&names)).collect();
        let mut all = shares.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..names.len()).collect::<Vec<_>>());
        let sizes: Vec<usize> = shares.iter().map(Vec::len).collect();
        prop_assert!(sizes.iter().max().expect("some") - sizes.iter().min().expect("some") <= 1);
    }
}
