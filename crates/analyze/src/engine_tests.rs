//! The whole flow over the sample of the repository.

use std::path::Path;

use nccl_report_ingest::{NoProgress, ingest};

use super::*;

fn sample(folder: &Path) -> Dataset {
    let options = nccl_report_ingest::Options {
        inputs: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sample")],
        dataset: folder.join("parquet"),
        exclude: Vec::new(),
        compression_level: 1,
        share: None,
        cancel: Default::default(),
    };
    ingest(&options, &NoProgress).expect("ingested")
}

/// Records in memory, on disk with communicators in portions, and on disk with communicators that are portions themselves: one report.
#[test]
fn the_memory_does_not_change_the_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = sample(folder.path());
    let records: u64 = [Table::Collectives, Table::P2p]
        .iter()
        .map(|&t| rows_of(&dataset, t))
        .sum();
    let job = |max_rows| {
        let options = Options {
            max_rows,
            ..Options::default()
        };
        let job = analyze(&dataset, &options).expect("analysed");
        serde_json::to_string(&job).expect("serializes")
    };
    let in_memory = job(records);
    assert!(job(records - 1) == in_memory);
    // Portions of a tenth of the records.
    assert!(job(PARTS * (records / 10)) == in_memory);
    // What waits on disk has no name there.
    let files: Vec<_> = std::fs::read_dir(folder.path().join("parquet"))
        .expect("listed")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| name.to_string_lossy().starts_with(".tmp"))
        .collect();
    assert!(files.is_empty(), "{files:?}");
}
