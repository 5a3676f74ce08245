//! Records in, Parquet out, the same values read back by column name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use proptest::prelude::*;

use super::cells::{Cell, Row, expected, read};
use super::records::record;
use crate::Table;
use crate::dataset::{Census, FileTables, Place, TableFile};
use crate::inspector::{Body, Context, Operation, OperationKind, Record, Sink};
use crate::source::fingerprint;

fn tables(root: &Path) -> FileTables<'_> {
    let place = Place {
        root,
        stem: "b-0123456789",
        compression_level: 1,
        apart: false,
    };
    FileTables::new(place, "a/b.log")
}

fn write<'a>(
    root: &Path,
    records: impl IntoIterator<Item = &'a Record<'static>>,
) -> (Vec<TableFile>, Census) {
    let mut tables = tables(root);
    for (line, record) in (1..).zip(records) {
        tables.record(record, line).expect("taken");
    }
    tables.finish(|| Ok(())).expect("written")
}

fn collective(sn: i64) -> Record<'static> {
    Record {
        context: Cow::Owned(Context {
            id: "0x1".into(),
            n_ranks: 2,
            nnodes: 1,
            hostname: "h".into(),
            dump_timestamp_us: 1_000 + sn,
            ..Context::default()
        }),
        context_number: None,
        body: Body::Operation(Operation {
            kind: OperationKind::Collective,
            function: if sn % 2 == 0 {
                "AllReduce"
            } else {
                "AllGather"
            }
            .into(),
            sequence_number: sn,
            peer: None,
            size_bytes: 1 << (sn % 20),
            exec_time_us: sn as u64 * 7 % 1000,
            exec_time_fraction_us: 0.0,
            timing_source: Some("kernel_gpu".into()),
            algobw_gbs: sn as f64 / 8.0,
            busbw_gbs: sn as f64 / 16.0,
            algo: None,
            proto: None,
            graph_captured: None,
            trace: None,
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_column_of_every_table_comes_back(records in prop::collection::vec(record(), 0..24)) {
        let folder = tempfile::tempdir().expect("a folder");
        let (files, _) = write(folder.path(), &records);
        let mut rows: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
        for (line, record) in (1..).zip(&records) {
            for (table, row) in expected(record, line) {
                rows.entry(table).or_default().push(row);
            }
        }
        let written: Vec<_> = files.iter().map(|file| file.table.folder()).collect();
        let with_rows: Vec<_> = Table::ALL.iter().map(|t| t.folder()).filter(|t| rows.contains_key(t)).collect();
        prop_assert_eq!(written, with_rows);
        for file in &files {
            let path = folder.path().join(&file.path);
            prop_assert_eq!(&read(&path), &rows[file.table.folder()]);
            prop_assert_eq!(file.rows, rows[file.table.folder()].len() as u64);
            prop_assert_eq!(fingerprint(&path).expect("there"), (file.xxh3, file.bytes));
        }
    }
}

#[test]
fn rows_keep_their_order_over_many_batches_and_row_groups() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = 300_000;
    let mut tables = tables(folder.path());
    for sn in 0..rows {
        tables
            .record(&collective(sn), sn as u64 + 1)
            .expect("taken");
    }
    let (files, census) = tables.finish(|| Ok(())).expect("written");
    assert_eq!(files[0].rows, 300_000);
    let path = folder.path().join(&files[0].path);

    let reader = SerializedFileReader::new(File::open(&path).expect("there")).expect("Parquet");
    let metadata = reader.metadata();
    let sizes: Vec<_> = metadata.row_groups().iter().map(|g| g.num_rows()).collect();
    assert_eq!(sizes, [131_072, 131_072, 37_856]);

    let stamps: Vec<_> = read(&path)
        .into_iter()
        .map(|row| row["coll_sn"].clone())
        .collect();
    assert!(stamps.into_iter().eq((0..rows).map(Into::into)));

    let seen = &census.communicators[0];
    assert_eq!(
        (seen.collectives, seen.coll_sn),
        (300_000, Some((0, 299_999)))
    );
    assert_eq!(
        (census.first_dump_us, census.last_dump_us),
        (Some(1_000), Some(300_999))
    );
}

#[test]
fn encoded_apart_the_file_is_the_same() {
    let written = |apart| {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place {
            root: folder.path(),
            stem: "b-0123456789",
            compression_level: 1,
            apart,
        };
        let mut tables = FileTables::new(place, "a/b.log");
        for sn in 0..200_000 {
            tables.record(&collective(sn), 1).expect("taken");
        }
        let (files, _) = tables.finish(|| Ok(())).expect("written");
        std::fs::read(folder.path().join(&files[0].path)).expect("there")
    };
    assert!(written(true) == written(false));
}

#[test]
fn given_up_while_encoded_apart_nothing_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place {
        root: folder.path(),
        stem: "b-0123456789",
        compression_level: 1,
        apart: true,
    };
    let mut tables = FileTables::new(place, "a/b.log");
    for sn in 0..50_000 {
        tables.record(&collective(sn), 1).expect("taken");
    }
    drop(tables);
    let inside = folder.path().join("collectives").read_dir();
    assert_eq!(inside.expect("listed").count(), 0);
}

#[test]
fn numbers_of_a_small_file_are_not_compressed() {
    let folder = tempfile::tempdir().expect("a folder");
    let records: Vec<_> = (0..1000).map(collective).collect();
    let (files, _) = write(folder.path(), &records);
    let file = File::open(folder.path().join(&files[0].path)).expect("there");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    for column in reader.metadata().row_group(0).columns() {
        let name = column.column_path().string();
        if column.dictionary_page_offset().is_none() {
            assert_eq!(column.compression(), Compression::UNCOMPRESSED, "{name}");
        }
    }
}

#[test]
fn columns_are_stored_as_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let records: Vec<_> = (0..5000).map(collective).collect();
    let (files, _) = write(folder.path(), &records);
    let file = File::open(folder.path().join(&files[0].path)).expect("there");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let metadata = reader.metadata();
    let pairs = metadata
        .file_metadata()
        .key_value_metadata()
        .expect("pairs");
    let footer = pairs
        .iter()
        .find(|pair| pair.key == "nccl-report")
        .expect("the footer's mark");
    assert_eq!(footer.value.as_deref(), Some("nccl-report/1 collectives"));
    for column in metadata.row_group(0).columns() {
        let name = column.column_path().string();
        let encodings: Vec<_> = column.encodings().collect();
        // Keys of few values come to less than a decoder is worth.
        let small = column.uncompressed_size() < 1024 && column.dictionary_page_offset().is_some();
        let compression = match small {
            true => Compression::UNCOMPRESSED,
            false => Compression::ZSTD(ZstdLevel::default()),
        };
        assert_eq!(
            std::mem::discriminant(&column.compression()),
            std::mem::discriminant(&compression),
            "{name}"
        );
        let delta = [
            "coll_sn",
            "dump_timestamp_us",
            "coll_exec_time_us",
            "source_line",
        ];
        if delta.contains(&name.as_str()) {
            assert!(
                encodings.contains(&Encoding::DELTA_BINARY_PACKED),
                "{name} {encodings:?}"
            );
        }
        let dictionary = [
            "id",
            "coll",
            "hostname",
            "source_file",
            "coll_msg_size_bytes",
            "rank",
            "n_ranks",
            "nnodes",
            "pid",
        ];
        assert_eq!(
            column.dictionary_page_offset().is_some(),
            dictionary.contains(&name.as_str())
                || column.column_type() == parquet::basic::Type::BYTE_ARRAY,
            "{name}"
        );
        let pruning = [
            "rank",
            "coll_sn",
            "coll_msg_size_bytes",
            "dump_timestamp_us",
        ];
        assert_eq!(
            column.statistics().is_some(),
            pruning.contains(&name.as_str()),
            "{name}"
        );
    }
}

/// Values that no dictionary holds, among few that one does; nulls; batches that end in the middle of runs.
#[test]
fn columns_of_many_values_come_back_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = 150_000;
    // Many values in one stretch alone, by which some pages of a row group are plain and others aren't.
    let many = |sn: i64| (40_000..70_000).contains(&sn);
    let tags = |sn: i64| match sn % 7 {
        0 => None,
        _ if many(sn) => Some(format!("t{sn}")),
        _ => Some(format!("t{}", sn / 5000)),
    };
    let size = |sn: i64| if many(sn) { sn } else { sn % 3 };
    let mut tables = tables(folder.path());
    for sn in 0..rows {
        let mut record = collective(sn);
        record.context.to_mut().tags = tags(sn).map(Into::into);
        if let Body::Operation(operation) = &mut record.body {
            operation.size_bytes = size(sn) as u64;
        }
        tables.record(&record, 1).expect("taken");
    }
    let (files, _) = tables.finish(|| Ok(())).expect("written");
    let path = folder.path().join(&files[0].path);
    for (row, sn) in read(&path).iter().zip(0..) {
        let expected = tags(sn).map_or(Cell::Null, Cell::Text);
        assert_eq!(
            (&row["tags"], &row["coll_msg_size_bytes"]),
            (&expected, &Cell::Whole(size(sn))),
            "{sn}"
        );
    }
    let reader = SerializedFileReader::new(File::open(&path).expect("there")).expect("Parquet");
    let group = reader.metadata().row_group(0);
    let sizes = group
        .columns()
        .iter()
        .find(|c| c.column_path().string() == "coll_msg_size_bytes")
        .expect("there");
    let encodings: Vec<_> = sizes.encodings().collect();
    assert!(
        encodings.contains(&Encoding::RLE_DICTIONARY),
        "{encodings:?}"
    );
    let statistics = sizes.statistics().expect("some");
    assert_eq!(statistics.min_bytes_opt(), Some(&0_i64.to_le_bytes()[..]));
    assert_eq!(
        statistics.max_bytes_opt(),
        Some(&69_999_i64.to_le_bytes()[..])
    );
}

#[test]
fn what_does_not_fit_becomes_the_largest_and_no_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut record = collective(0);
    record.context.to_mut().rank = u32::MAX;
    if let Body::Operation(operation) = &mut record.body {
        operation.size_bytes = u64::MAX;
        operation.exec_time_us = 1 << 63;
    }
    let (files, _) = write(folder.path(), [&record]);
    let row = &read(&folder.path().join(&files[0].path))[0];
    assert_eq!(row["rank"], i64::from(i32::MAX).into());
    assert_eq!(row["coll_msg_size_bytes"], i64::MAX.into());
    assert_eq!(row["coll_exec_time_us"], i64::MAX.into());
}

#[test]
fn tables_that_are_dropped_leave_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut tables = tables(folder.path());
    for sn in 0..50_000 {
        tables.record(&collective(sn), 1).expect("taken");
    }
    let inside = || {
        let folder = folder.path().join("collectives");
        folder.read_dir().expect("listed").count()
    };
    assert_eq!(inside(), 1, "the temporary file");
    drop(tables);
    assert_eq!(inside(), 0);
}

#[test]
fn the_census_keeps_ranks_and_processes_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut records: Vec<_> = (0..10).map(collective).collect();
    for (place, record) in records.iter_mut().enumerate() {
        record.context.to_mut().rank = (place % 2) as u32;
        record.context.to_mut().id = ["0xb", "0xa"][place % 3 % 2].into();
        record.context.to_mut().pid = (place % 2) as i64;
    }
    let (_, census) = write(folder.path(), &records);
    // By hand: places 0..10 with rank place % 2 and id 0xa where place % 3 == 1, that is places 1, 4, 7.
    let seen: Vec<_> = census
        .communicators
        .iter()
        .map(|c| (c.id.as_str(), c.rank, c.collectives, c.coll_sn))
        .collect();
    assert_eq!(
        seen,
        [
            ("0xa", 0, 1, Some((4, 4))),
            ("0xa", 1, 2, Some((1, 7))),
            ("0xb", 0, 4, Some((0, 8))),
            ("0xb", 1, 3, Some((3, 9))),
        ]
    );
    assert_eq!(census.processes.len(), 2);
    assert_eq!(census.rows_beyond, 0);
}
