//! A file read in slices is the file read from its beginning to its end.

use std::path::Path;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use super::*;
use crate::inspector::read_dump;

/// What is known of a file, and the rows of its tables as text.
#[derive(Debug, PartialEq)]
struct Read {
    tally: FileTally,
    census: crate::Census,
    rows: Vec<(crate::Table, u64, Vec<String>)>,
}

fn place(root: &Path) -> Place<'_> {
    Place {
        root,
        stem: "x-0123456789",
        compression_level: 1,
        apart: false,
    }
}

fn rows(root: &Path, tables: &[crate::TableFile]) -> Vec<(crate::Table, u64, Vec<String>)> {
    tables
        .iter()
        .map(|table| {
            let path = root.join(&table.path);
            let content = std::fs::read(&path).expect("read");
            assert_eq!(content.len() as u64, table.bytes);
            let hash = xxhash_rust::xxh3::xxh3_128(&content);
            assert_eq!(crate::Fingerprint::from(hash), table.xxh3);
            let file = std::fs::File::open(path).expect("opens");
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
            let mut out = Vec::new();
            for batch in reader.build().expect("Parquet") {
                let batch = batch.expect("rows");
                let options = FormatOptions::default();
                let columns: Vec<_> = batch
                    .columns()
                    .iter()
                    .map(|c| ArrayFormatter::try_new(c, &options).expect("shown"))
                    .collect();
                out.extend((0..batch.num_rows()).map(|row| {
                    let cells = columns.iter().map(|c| c.value(row).to_string());
                    cells.collect::<Vec<_>>().join("|")
                }));
            }
            (table.table, table.rows, out)
        })
        .collect()
}

fn whole(text: &[u8]) -> Read {
    let folder = tempfile::tempdir().expect("a folder");
    let mut tables = FileTables::new(place(folder.path()), "a.log");
    let tally = read_dump(&mut &*text, "a.log", &mut tables, &mut |_| {}).expect("written");
    let (files, census) = tables.finish(|| Ok(())).expect("written");
    Read {
        tally: comparable(tally),
        census,
        rows: rows(folder.path(), &files),
    }
}

/// Each slice learns the heads of its lines anew, so more lines are parsed.
fn comparable(tally: FileTally) -> FileTally {
    FileTally {
        lines_parsed: 0,
        ..tally
    }
}

/// `None` where the file can't be cut, and then nothing may be left of the attempt.
fn sliced(text: &[u8], size: usize) -> Option<Read> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut records = 0;
    let read = read_slices(
        &mut &*text,
        "a.log",
        place(folder.path()),
        (size, 3),
        &mut |n| records += n,
    );
    let Some(read) = read.expect("written") else {
        let files = walkdir::WalkDir::new(folder.path()).into_iter();
        let left = files
            .filter_map(Result::ok)
            .filter(|e| e.file_type().is_file());
        assert_eq!(left.count(), 0);
        return None;
    };
    let (files, census) = read.tables.finish(|| Ok(())).expect("written");
    assert_eq!(records, read.tally.records_total());
    Some(Read {
        tally: comparable(read.tally),
        census,
        rows: rows(folder.path(), &files),
    })
}

/// Dumps of every dialect, by file.
fn fixtures() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/dialects");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("testdata")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl" || e == "log"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|p| std::fs::read(p).expect("read"))
        .collect()
}

#[test]
fn a_plain_dump_is_cut_and_says_the_same() {
    let text = crate::pipeline::tests::dump_and_sends(500);
    let read = sliced(text.as_bytes(), 4_000).expect("cut");
    assert_eq!(read, whole(text.as_bytes()));
    assert_eq!(read.tally.records_total(), 1_000);
}

#[test]
fn what_is_no_dump_is_left_to_be_read_as_a_whole() {
    assert_eq!(sliced(b"SQLite format 3\0 and so on", 10), None);
    let output = b"step 1 of 100\n".repeat(100);
    assert_eq!(sliced(&output, 64), Some(whole(&output)));
    let list = b"[\n{\"coll_perf\":{}},\n{\"header\":{\"id\":\"0xabc\",\"rank\":1}},\n".repeat(9);
    assert_eq!(sliced(&list, 64), None);
}

#[test]
fn an_empty_file_is_one() {
    assert_eq!(sliced(b"", 64), Some(whole(b"")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever lines of whatever dialects follow each other, cut wherever it may be, and damaged.
    #[test]
    fn slices_are_the_whole(
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
        size in 200_usize..20_000,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let fixtures = fixtures();
        let mut text: Vec<u8> = Vec::new();
        for index in order {
            text.extend_from_slice(index.get::<Vec<u8>>(&fixtures));
        }
        for (at, byte) in damage {
            if !text.is_empty() {
                *at.get_mut(&mut text) = byte;
            }
        }
        if let Some(read) = sliced(&text, size) {
            prop_assert_eq!(read, whole(&text));
        }
    }
}
