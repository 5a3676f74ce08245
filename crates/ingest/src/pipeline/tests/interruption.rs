//! A run that is stopped leaves nothing half-written, and the next one goes on from there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::job::{Job, dump, rows};
use crate::{Dataset, Error, NoProgress, Progress};

/// Stops the run after so many records.
struct StopAfter {
    records: u64,
    seen: AtomicU64,
    cancel: Arc<AtomicBool>,
}

impl Progress for StopAfter {
    fn advanced(&self, _: u64, records: u64) {
        if self.seen.fetch_add(records, Ordering::Relaxed) + records >= self.records {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }
}

fn stop_after(job: &Job, records: u64) -> Error {
    let stop = StopAfter {
        records,
        seen: AtomicU64::new(0),
        cancel: Arc::clone(&job.options.cancel),
    };
    let error = job.try_run(&stop).expect_err("stopped");
    job.options.cancel.store(false, Ordering::Relaxed);
    error
}

#[test]
fn nothing_half_written_stays() {
    let job = Job::new();
    job.put("a.log", dump(1, 60_000));
    assert!(matches!(stop_after(&job, 40_000), Error::Cancelled));
    assert!(job.files().is_empty());
    Dataset::open(job.root()).expect_err("nothing was finished");
    assert_eq!(rows(&job.run()), 60_000);
    Dataset::open(job.root()).expect("whole");
}

#[test]
fn the_next_run_uses_what_was_finished() {
    let job = Job::new();
    // The largest is read first.
    job.put("a.log", dump(1, 20_000));
    job.put("b.log", dump(2, 19_000));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    let pool = pool.build().expect("a pool");
    pool.install(|| stop_after(&job, 30_000));
    let finished = job.files();
    assert_eq!(finished.len(), 2, "one table and the manifest");
    let (name, content) = finished.iter().next().expect("the table");
    assert!(name.starts_with("collectives/a-"), "{name}");
    let time = |name: &str| {
        let metadata = std::fs::metadata(job.root().join(name)).expect("there");
        metadata.modified().expect("known")
    };
    let before = time(name);
    assert_eq!(rows(&job.run()), 39_000);
    assert_eq!(&job.files()[name], content);
    assert_eq!(time(name), before);
}

#[test]
fn a_stopped_rerun_leaves_the_old_dataset_marked() {
    let job = Job::new();
    job.put("a.log", dump(1, 10));
    job.run();
    job.put("a.log", dump(1, 20_000));
    job.put("b.log", dump(2, 19_000));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    let pool = pool.build().expect("a pool");
    pool.install(|| stop_after(&job, 30_000));
    let error = Dataset::open(job.root()).expect_err("a.log is newer");
    assert!(
        error.to_string().contains("stopped before it was done"),
        "{error}"
    );
    assert_eq!(rows(&job.run()), 39_000);
    Dataset::open(job.root()).expect("whole");
}

#[test]
fn a_rerun_stopped_before_it_finished_a_file_leaves_the_old_dataset() {
    let job = Job::new();
    job.put("a.log", dump(1, 10));
    let old = job.run();
    let files = job.files();
    job.put("a.log", dump(1, 20_000));
    stop_after(&job, 10_000);
    assert_eq!(job.files(), files);
    assert_eq!(
        Dataset::open(job.root()).expect("whole").files(),
        old.files()
    );
}

#[test]
fn a_run_that_is_stopped_before_it_begins_changes_nothing() {
    let job = Job::new();
    job.put("a.log", dump(1, 10));
    job.run();
    let before = job.files();
    job.put("a.log", dump(1, 11));
    job.options.cancel.store(true, Ordering::Relaxed);
    let error = job.try_run(&NoProgress).expect_err("stopped");
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(job.files(), before);
}

#[test]
fn leftovers_of_a_killed_run_go() {
    let job = Job::new();
    job.put("a.log", dump(1, 10));
    let folder = job.root().join("p2p");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join(".nccl-report-tmp-x1y2z3"), "half").expect("written");
    std::fs::write(job.root().join(".nccl-report-tmp-x1y2z3"), "half").expect("written");
    std::fs::write(folder.join(".hidden"), "somebody's").expect("written");
    job.run();
    let names: Vec<_> = job
        .files()
        .into_keys()
        .filter(|name| name.contains("/.") || name.starts_with('.'))
        .collect();
    assert_eq!(names, ["p2p/.hidden"]);
}
