//! Where files come from and where they go.

use std::fs::OpenOptions;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::job::{Job, dump, gzip, rows, sends, skipped};
use crate::{Dataset, Error, Progress, Table};

#[test]
fn a_file_per_input_and_table() {
    let job = Job::new();
    job.put("a.log", dump(1, 3) + &sends(1, 2));
    job.put("b.jsonl.gz", gzip(sends(2, 1)));
    let dataset = job.run();
    assert_eq!(dataset.table(Table::Collectives).len(), 1);
    assert_eq!(dataset.table(Table::P2p).len(), 2);
    assert!(dataset.table(Table::Channels).is_empty());
    assert_eq!(
        job.parquet_files().len(),
        3,
        "a table without rows has no file"
    );
    let files = dataset.files();
    assert_eq!(
        (files[0].path.as_str(), files[1].path.as_str()),
        ("a.log", "b.jsonl.gz")
    );
    assert_eq!(files[0].records["collective"], 3);
    assert_eq!(files[0].records["p2p"], 2);
    assert_eq!(dataset.inputs().records["p2p"], 3);
    let bytes = |name| std::fs::metadata(job.log(name)).expect("there").len();
    assert_eq!(dataset.inputs().bytes, bytes("a.log") + bytes("b.jsonl.gz"));
}

#[test]
fn one_name_in_two_folders_gives_two_files() {
    let job = Job::new();
    job.put("node-1/x.log", dump(1, 3));
    job.put("node-2/x.log", dump(2, 4));
    let dataset = job.run();
    let paths = dataset.table(Table::Collectives);
    assert_eq!(paths.len(), 2);
    assert_ne!(paths[0], paths[1]);
    assert_eq!(rows(&dataset), 7);
}

#[test]
fn one_name_in_two_named_folders_gives_two_files() {
    let mut job = Job::new();
    job.put("x.log", dump(1, 3));
    let other = job.beside("more");
    std::fs::create_dir(&other).expect("made");
    std::fs::write(other.join("x.log"), dump(2, 4)).expect("written");
    job.options.inputs.push(other);
    let dataset = job.run();
    assert_eq!(rows(&dataset), 7);
    assert_eq!(job.parquet_files().len(), 2);
}

#[test]
fn a_name_that_would_lead_out_of_the_folder_stays_inside() {
    let job = Job::new();
    let name = format!("{}\u{202e}..\\..\\ $(x);\n.log", "é".repeat(100));
    job.put(&name, dump(1, 3));
    let dataset = job.run();
    let paths = dataset.table(Table::Collectives);
    assert_eq!(
        paths[0].parent(),
        Some(job.root().join("collectives").as_path())
    );
    assert_eq!(
        Dataset::open(job.root()).expect("whole").files(),
        dataset.files()
    );
}

#[test]
fn a_cut_gzip_counts_up_to_the_cut() {
    let job = Job::new();
    let whole = gzip(dump(1, 3000));
    job.put("a.log.gz", &whole[..whole.len() / 2]);
    job.put("b.log", dump(2, 1));
    let dataset = job.run();
    let damaged = &dataset.inputs().files_damaged;
    assert_eq!((damaged.len(), damaged[0].path.as_str()), (1, "a.log.gz"));
    let kept = rows(&dataset);
    assert!((500..3000).contains(&kept), "{kept}");
    assert_eq!(dataset.inputs().files, 2);
    assert_eq!(
        dataset.inputs().records["collective"] + dataset.inputs().rejected.lines,
        dataset.inputs().lines
    );
}

/// Removes a file after it was found.
struct Thief<'a>(&'a Job, &'static str);

impl Progress for Thief<'_> {
    fn discovered(&self, _: u64, _: u64) {
        std::fs::remove_file(self.0.log(self.1)).expect("removed");
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_named_and_the_rest_goes_on() {
    let job = Job::new();
    job.put("a.log", dump(1, 3));
    job.put("b.log", dump(2, 3));
    let dataset = job.try_run(&Thief(&job, "a.log")).expect("ingested");
    assert_eq!(rows(&dataset), 3);
    let skipped = skipped(&dataset);
    assert_eq!((skipped.len(), skipped[0].0), (1, "a.log"));
    assert!(
        skipped[0].1.starts_with("can't be opened: "),
        "{}",
        skipped[0].1
    );
}

#[test]
fn lines_that_lost_their_context_count_though_they_give_no_record() {
    let job = Job::new();
    job.put("a.log", dump(1, 3));
    let orphan = "{\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":7}}\n";
    job.put("grep.log", orphan.repeat(20));
    let dataset = job.run();
    let inputs = dataset.inputs();
    assert_eq!(
        (inputs.files, inputs.lines, inputs.rejected.lines),
        (1, 23, 20)
    );
    assert_eq!(
        skipped(&dataset),
        [("grep.log", "no record could be read: 20 lines rejected")]
    );
}

#[test]
fn a_missing_input_is_an_error_that_names_it() {
    let mut job = Job::new();
    job.options.inputs.push(job.beside("absent"));
    let error = job.try_run(&crate::NoProgress).expect_err("absent");
    assert!(
        matches!(&error, Error::Input { path, .. } if path.ends_with("absent")),
        "{error}"
    );
    assert!(!job.root().exists(), "nothing was made");
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_that_names_it() {
    let mut job = Job::new();
    job.put("a.log", dump(1, 3));
    std::fs::write(job.beside("file"), "").expect("written");
    job.options.dataset = job.beside("file").join("parquet");
    let error = job.try_run(&crate::NoProgress).expect_err("below a file");
    assert!(
        matches!(&error, Error::Write { path, .. } if path.ends_with("file/parquet")),
        "{error}"
    );
}

#[test]
fn a_table_that_cannot_be_written_is_an_error_that_names_it_and_leaves_no_other() {
    let job = Job::new();
    job.put("a.log", dump(1, 20_000) + &sends(1, 3));
    std::fs::create_dir_all(job.root()).expect("made");
    let in_the_way = job.root().join("p2p");
    std::fs::write(&in_the_way, "a file where the folder should be").expect("written");
    let error = job.try_run(&crate::NoProgress).expect_err("no folder");
    assert!(
        matches!(&error, Error::Write { path, .. } if path == &in_the_way),
        "{error}"
    );
    assert_eq!(job.files().into_keys().collect::<Vec<_>>(), ["p2p"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_read_only_is_an_error_that_names_it() {
    use std::os::unix::fs::PermissionsExt;
    let job = Job::new();
    job.put("a.log", dump(1, 3));
    std::fs::create_dir_all(job.root()).expect("made");
    let mode = |mode| {
        std::fs::set_permissions(job.root(), std::fs::Permissions::from_mode(mode)).expect("set")
    };
    mode(0o555);
    if std::fs::write(job.root().join("probe"), "").is_ok() {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("SKIPPED: this user may write to read-only folders (root?)");
        }
        return;
    }
    let error = job.try_run(&crate::NoProgress).expect_err("read-only");
    mode(0o755);
    assert!(matches!(error, Error::Write { .. }), "{error}");
}

#[test]
fn two_runs_on_one_folder_do_not_mix() {
    let job = Job::new();
    job.put("a.log", dump(1, 3));
    job.run();
    let lock = OpenOptions::new()
        .write(true)
        .open(job.root().join(".nccl-report.lock"))
        .expect("there");
    lock.lock().expect("locked");
    let error = job.try_run(&crate::NoProgress).expect_err("locked");
    assert!(error.to_string().contains("another run"), "{error}");
    drop(lock);
    job.run();
}

#[derive(Default)]
struct Sums {
    bytes: AtomicU64,
    records: AtomicU64,
    files: AtomicU64,
    found: Mutex<(u64, u64)>,
}

impl Progress for Sums {
    fn discovered(&self, files: u64, bytes: u64) {
        *self.found.lock().expect("unpoisoned") = (files, bytes);
    }
    fn advanced(&self, bytes: u64, records: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.records.fetch_add(records, Ordering::Relaxed);
    }
    fn file_done(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn progress_adds_up_in_first_and_further_runs() {
    let job = Job::new();
    job.put("a.log", dump(1, 9000));
    job.put("copy.log", dump(1, 9000));
    job.put("b.log.gz", gzip(dump(2, 9000)));
    job.put("train.log", "epoch 1\n");
    for _ in 0..2 {
        let sums = Sums::default();
        job.try_run(&sums).expect("ingested");
        let found = *sums.found.lock().expect("unpoisoned");
        assert_eq!(sums.files.into_inner(), found.0);
        assert_eq!(sums.bytes.into_inner(), found.1);
        assert_eq!(sums.records.into_inner(), 18_000);
    }
}

#[cfg(unix)]
#[test]
fn others_may_read_what_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let job = Job::new();
    job.put("a.log", dump(1, 3));
    // What the umask gives to an ordinary file.
    let ordinary = std::fs::metadata(job.log("a.log"))
        .expect("there")
        .permissions()
        .mode();
    let dataset = job.run();
    for path in [
        &dataset.table(Table::Collectives)[0],
        &job.root().join("manifest.json"),
    ] {
        let mode = std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode, ordinary, "{}", path.display());
    }
}
