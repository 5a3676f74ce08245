//! How fast rows become Parquet. Run by hand, on an idle machine:
//! `cargo test --release -p nccl-report-ingest speed -- --ignored --nocapture`

use std::borrow::Cow;
use std::time::Instant;

use crate::dataset::{FileTables, Place};
use crate::inspector::{Body, Context, Operation, OperationKind, Record, Sink};

const ROWS: u64 = 2_000_000;

/// Well mixed bits of a number (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
fn splitmix(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What one process of a job with eight communicators writes: runs of records per communicator, times that vary.
fn record(row: u64, id: &'static str) -> Record<'static> {
    let random = splitmix(row);
    let exec_time_us = 100 + (random >> 54);
    let size_bytes = 1 << (13 + (random >> 20) % 12);
    let bandwidth = (size_bytes as f64 / exec_time_us as f64).round() / 1000.0;
    Record {
        context: Cow::Owned(Context {
            id: Cow::Borrowed(id),
            comm_name: Some(Cow::Borrowed("DP Group 3")),
            rank: 5,
            n_ranks: 64,
            nnodes: 8,
            format_version: Some(Cow::Borrowed("v4.0")),
            git_rev: None,
            rec_mechanism: Some(Cow::Borrowed("nccl_profiler_interface")),
            dump_timestamp_us: 1_795_953_482_562_509 + (row * 37) as i64,
            hostname: Cow::Borrowed("dgx-h01.cluster.example"),
            pid: 5123,
            gpu_uuid: None,
            tags: None,
        }),
        context_number: None,
        body: Body::Operation(Operation {
            kind: OperationKind::Collective,
            function: Cow::Borrowed(
                ["AllReduce", "AllGather", "ReduceScatter", "Broadcast"]
                    [(random >> 40) as usize % 4],
            ),
            sequence_number: row as i64,
            peer: None,
            size_bytes,
            exec_time_us,
            exec_time_fraction_us: 0.0,
            timing_source: Some(Cow::Borrowed("kernel_gpu")),
            algobw_gbs: bandwidth,
            busbw_gbs: bandwidth * 1.75,
            algo: None,
            proto: None,
            graph_captured: None,
            trace: None,
        }),
    }
}

#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "the number is the point")]
fn collectives_a_second() {
    let ids = [
        "0xa1", "0xb2", "0xc3", "0xd4", "0xe5", "0xf6", "0x17", "0x28",
    ]
    .map(|id| &*format!("{id}88e303586317").leak());
    let folder = tempfile::tempdir().expect("a folder");
    for level in [1, 3] {
        let place = Place {
            root: folder.path(),
            stem: "speed-0123456789",
            compression_level: level,
            apart: false,
        };
        let mut tables = FileTables::new(place, "node-17/dgx-h01-pid5123.log");
        let begin = Instant::now();
        for row in 0..ROWS {
            let record = record(row, ids[(row / 50 % 8) as usize]);
            tables.record(&record, row).expect("taken");
        }
        let (files, _) = tables.finish(|| Ok(())).expect("written");
        let seconds = begin.elapsed().as_secs_f64();
        eprintln!(
            "zstd {level}: {:.2} million rows/s, {:.1} bytes/row",
            ROWS as f64 / seconds / 1e6,
            files[0].bytes as f64 / ROWS as f64,
        );
        assert_eq!(files[0].rows, ROWS);
    }
}
