//! Running again does what changed, judged by content.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::{Duration, SystemTime};

use super::job::{Job, dump, lines, rows, sends};
use crate::{Dataset, Error, Table};

/// Which files were written since: a rename puts another file in the place, with a number that may have been another's, and a time.
#[cfg(unix)]
fn numbers(job: &Job) -> BTreeMap<String, (u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    let names = job.files().into_keys();
    names
        .map(|name| {
            let metadata = std::fs::metadata(job.root().join(&name)).expect("there");
            (
                name,
                (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()),
            )
        })
        .collect()
}

fn touch(job: &Job, name: &str, time: SystemTime) {
    let file = File::options()
        .append(true)
        .open(job.log(name))
        .expect("there");
    file.set_modified(time).expect("set");
}

fn modified(job: &Job, name: &str) -> SystemTime {
    let metadata = std::fs::metadata(job.log(name)).expect("there");
    metadata.modified().expect("known")
}

#[cfg(unix)]
#[test]
fn nothing_is_written_when_only_times_change() {
    let job = Job::new();
    job.put("a.log", dump(1, 30));
    job.put("b.log", dump(2, 30));
    job.put("train.log", "epoch 1\n");
    let first = job.run();
    let before = numbers(&job);
    touch(&job, "a.log", SystemTime::now() + Duration::from_secs(3600));
    let second = job.run();
    assert_eq!(numbers(&job), before);
    assert_eq!(second.files(), first.files());
    assert_eq!(second.inputs(), first.inputs());
}

#[cfg(unix)]
#[test]
fn other_content_of_the_same_length_and_time_is_read() {
    let job = Job::new();
    job.put("a.log", lines(1, 100..130));
    job.put("b.log", dump(2, 30));
    job.run();
    let before = numbers(&job);
    let time = modified(&job, "a.log");
    let length = std::fs::metadata(job.log("a.log")).expect("there").len();
    job.put("a.log", lines(1, 200..230));
    touch(&job, "a.log", time);
    assert_eq!(
        std::fs::metadata(job.log("a.log")).expect("there").len(),
        length
    );
    let dataset = job.run();
    let seen = &dataset.files()[0].census.communicators[0];
    assert_eq!(seen.coll_sn, Some((200, 229)));
    let after = numbers(&job);
    let changed: Vec<_> = after
        .iter()
        .filter(|(name, n)| before[*name] != **n)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        changed.len(),
        2,
        "a.log's table and the manifest: {changed:?}"
    );
}

#[test]
fn a_damaged_file_is_made_again() {
    let job = Job::new();
    job.put("a.log", dump(1, 30));
    let dataset = job.run();
    let path = &dataset.table(Table::Collectives)[0];
    let whole = std::fs::read(path).expect("there");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damage in [
        Some(flipped.as_slice()),
        Some(&whole[..whole.len() - 1]),
        Some(b""),
        None,
    ] {
        match damage {
            Some(content) => std::fs::write(path, content).expect("written"),
            None => std::fs::remove_file(path).expect("removed"),
        }
        let error = Dataset::open(job.root()).expect_err("damaged");
        assert!(matches!(error, Error::NotADataset { .. }), "{error}");
        assert_eq!(job.run().files(), dataset.files());
        assert_eq!(std::fs::read(path).expect("there"), whole);
        Dataset::open(job.root()).expect("whole again");
    }
}

#[test]
fn tables_of_an_input_that_is_gone_go() {
    let job = Job::new();
    job.put("a.log", dump(1, 30));
    job.put("b.log", dump(2, 30) + &sends(2, 3));
    job.run();
    assert_eq!(job.parquet_files().len(), 3);
    job.put("b.log", dump(2, 30));
    job.run();
    assert_eq!(
        job.parquet_files().len(),
        2,
        "it has no Send records any more"
    );
    std::fs::remove_file(job.log("b.log")).expect("removed");
    let dataset = job.run();
    assert_eq!(job.parquet_files().len(), 1);
    assert_eq!(rows(&dataset), 30);
}

#[test]
fn files_of_others_stay_and_are_not_read() {
    let job = Job::new();
    job.put("a.log", dump(1, 30));
    job.put("b.log", dump(2, 30));
    let dataset = job.run();
    let folder = job.root().join("collectives");
    let ours = &dataset.table(Table::Collectives)[1];
    let foreign = ["part-0.parquet", "x-0123456789.parquet", "notes.txt"];
    for name in foreign {
        std::fs::write(folder.join(name), "not Parquet").expect("written");
    }
    // A table of ours that no manifest knows, as a run killed before its manifest leaves it; and one under a foreign name.
    std::fs::copy(ours, folder.join("y-0123456789.parquet")).expect("copied");
    std::fs::copy(ours, folder.join("kept.parquet")).expect("copied");
    let dataset = job.run();
    assert_eq!(dataset.table(Table::Collectives).len(), 2);
    for name in foreign.into_iter().chain(["kept.parquet"]) {
        assert!(folder.join(name).exists(), "{name}");
    }
    assert!(!folder.join("y-0123456789.parquet").exists());
    Dataset::open(job.root()).expect("whole");
}

#[cfg(unix)]
#[test]
fn another_compression_makes_all_again() {
    let mut job = Job::new();
    job.put("a.log", dump(1, 30) + &sends(1, 3));
    job.run();
    let before = numbers(&job);
    job.options.compression_level = 9;
    job.run();
    for (name, number) in numbers(&job) {
        assert_ne!(before[&name], number, "{name}");
    }
}

#[test]
fn a_manifest_of_another_version_is_not_believed() {
    let job = Job::new();
    job.put("a.log", dump(1, 30));
    let dataset = job.run();
    let path = job.root().join("manifest.json");
    let text = std::fs::read_to_string(&path).expect("there");
    for (from, to) in [
        ("nccl-report-dataset/1", "nccl-report-dataset/0"),
        (env!("CARGO_PKG_VERSION"), "0.0.0-other"),
        ("\"collectives/", "\"../"),
        ("\"collectives/", "\"p2p/"),
        ("{", ""),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        std::fs::write(&path, changed).expect("written");
        assert_eq!(job.run().files(), dataset.files());
        assert_eq!(
            std::fs::read_to_string(&path).expect("there"),
            text,
            "{from}"
        );
    }
}

#[test]
fn a_dataset_opens_as_it_was_made() {
    let job = Job::new();
    job.put("a.log", dump(1, 30));
    job.put("copy.log", dump(1, 30));
    job.put("train.log", "epoch 1\n");
    job.put("broken.log", dump(3, 2) + "{\"header\":");
    let made = job.run();
    let opened = Dataset::open(job.root()).expect("whole");
    assert_eq!(opened.files(), made.files());
    assert_eq!(opened.inputs(), made.inputs());
    assert_eq!(opened.inputs().rejected.lines, 1);
}

#[test]
fn what_is_no_dataset_does_not_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Dataset::open(folder.path()).expect_err("empty");
    assert!(
        error.to_string().contains("has no manifest.json"),
        "{error}"
    );
    let error = Dataset::open(&folder.path().join("absent")).expect_err("absent");
    assert!(matches!(error, Error::NotADataset { .. }), "{error}");
    std::fs::write(folder.path().join("manifest.json"), "{}").expect("written");
    let error = Dataset::open(folder.path()).expect_err("of another program");
    assert!(error.to_string().contains("damaged"), "{error}");
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let run = |threads| {
        let job = Job::new();
        for pid in 0..12 {
            job.put(
                &format!("h{}/{pid}.log", pid % 3),
                dump(pid, 50 + pid * 700) + &sends(pid, pid),
            );
        }
        job.put("copy.log", dump(3, 50 + 3 * 700) + &sends(3, 3));
        job.put("train.log", "epoch 1\n");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("a pool").install(|| job.run());
        job.files()
    };
    let one = run(1);
    assert_eq!(one.len(), 1 + 12 + 11);
    assert!(one == run(2));
    assert!(one == run(5));
}
