//! A job is counted once, however often its files were copied.

use super::job::{Job, dump, gzip, rows, skipped};

#[test]
fn copies_of_a_file_count_once() {
    let job = Job::new();
    let content = dump(1, 50);
    job.put("a.log", &content);
    job.put("backup/a.log", &content);
    job.put("b.log.gz", gzip(&content));
    job.put("other.log", dump(2, 50));
    let dataset = job.run();
    assert_eq!(rows(&dataset), 100);
    assert_eq!(dataset.inputs().files, 2);
    assert_eq!(dataset.inputs().records["collective"], 100);
    assert_eq!(dataset.inputs().lines, 100);
    assert_eq!(
        skipped(&dataset),
        [
            ("b.log.gz", "a copy of a.log, which is used"),
            ("backup/a.log", "a copy of a.log, which is used"),
        ]
    );
}

#[test]
fn a_copy_made_while_the_job_ran_gives_way_to_the_whole_file() {
    let job = Job::new();
    let whole = dump(1, 3000);
    job.put("a.log", &whole[..whole.len() / 2 + 17]);
    job.put("b.log", &whole);
    job.put("c.log.gz", &gzip(&whole)[..9000]);
    let dataset = job.run();
    assert_eq!(rows(&dataset), 3000);
    assert_eq!(
        dataset.inputs().rejected.lines,
        0,
        "the cut line of a.log isn't anyone's"
    );
    assert_eq!(dataset.inputs().files_damaged, []);
    let reason = "an earlier, incomplete copy of b.log, which is used";
    assert_eq!(skipped(&dataset), [("a.log", reason), ("c.log.gz", reason)]);
}

#[test]
fn two_dumps_of_one_process_that_differ_are_both_used() {
    let job = Job::new();
    job.put("a.log", dump(1, 50));
    job.put("b.log", dump(1, 51).replace(":39,", ":40,"));
    let dataset = job.run();
    assert_eq!(rows(&dataset), 101);
    assert_eq!(skipped(&dataset), []);
}

#[test]
fn copies_of_a_file_without_records_are_that_and_nothing_else() {
    let job = Job::new();
    job.put("a/train.log", "epoch 1\nepoch 2\n");
    job.put("b/train.log", "epoch 1\nepoch 2\n");
    job.put("c/train.log", "epoch 1\n");
    job.put("empty.log", "");
    let dataset = job.run();
    let reason = "no Inspector record";
    assert_eq!(
        skipped(&dataset),
        [
            ("a/train.log", reason),
            ("b/train.log", reason),
            ("c/train.log", reason),
            ("empty.log", "empty"),
        ]
    );
    let inputs = dataset.inputs();
    assert_eq!(
        (
            inputs.files,
            inputs.bytes,
            inputs.lines,
            inputs.rejected.lines
        ),
        (0, 0, 0, 0)
    );
    assert_eq!(job.parquet_files(), [""; 0]);
}
