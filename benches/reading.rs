//! How fast lines become records, and records Parquet, beside serde_json on the same bytes:
//!
//!     cargo bench --manifest-path benches/Cargo.toml
//!
//! Bytes a second are of JSON, inflated; one thread. The lines are invented, in the plugin's own spelling: eight communicators that take
//! turns every fifty lines, times and bandwidths that differ in each.

use std::hint::black_box;
use std::io::Write as _;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::Compression;
use flate2::write::GzEncoder;
use nccl_report_ingest::inspector::{Record, Sink, read_dump};
use nccl_report_ingest::{NoProgress, Options, ingest};
use serde::Deserialize;

const LINES: u64 = 40_000;

/// Counts what it is given.
struct Count(u64);

impl Sink for Count {
    type Error = std::convert::Infallible;

    fn record(&mut self, record: &Record<'_>, _: u64) -> Result<(), Self::Error> {
        self.0 += u64::from(black_box(record).context.rank < 1000);
        Ok(())
    }
}

/// What an ordinary program would declare.
#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are there to be parsed")]
struct Line<'a> {
    #[serde(borrow)]
    header: Header<'a>,
    #[serde(borrow)]
    metadata: Metadata<'a>,
    #[serde(borrow)]
    coll_perf: Collective<'a>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are there to be parsed")]
struct Header<'a> {
    id: &'a str,
    comm_name: &'a str,
    rank: u32,
    n_ranks: u32,
    nnodes: u32,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are there to be parsed")]
struct Metadata<'a> {
    inspector_output_format_version: &'a str,
    git_rev: &'a str,
    rec_mechanism: &'a str,
    dump_timestamp_us: i64,
    hostname: &'a str,
    pid: i64,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are there to be parsed")]
struct Collective<'a> {
    coll: &'a str,
    coll_sn: u64,
    coll_msg_size_bytes: u64,
    coll_exec_time_us: u64,
    coll_timing_source: &'a str,
    coll_algobw_gbs: f64,
    coll_busbw_gbs: f64,
    event_trace_sn: Option<Trace>,
    event_trace_ts: Option<Trace>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are there to be parsed")]
struct Trace {
    #[serde(alias = "coll_start_sn", alias = "coll_start_ts")]
    start: i64,
    #[serde(alias = "coll_stop_sn", alias = "coll_stop_ts")]
    stop: i64,
    kernel_events: Vec<Event>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are there to be parsed")]
struct Event {
    channel_id: i64,
    #[serde(alias = "kernel_start_sn", alias = "kernel_start_ts")]
    start: i64,
    #[serde(alias = "kernel_stop_sn", alias = "kernel_stop_ts")]
    stop: i64,
    #[serde(alias = "kernel_record_sn", alias = "kernel_record_ts")]
    record: i64,
}

fn event_trace(what: &str, channels: u64, first: u64) -> String {
    let events: Vec<String> = (0..channels)
        .map(|c| {
            let (start, stop) = (first + 3 * c, first + 90 + c);
            format!(
                "{{\"channel_id\":{c},\"kernel_start_{what}\":{start},\"kernel_stop_{what}\":{stop},\"kernel_record_{what}\":{stop}}}"
            )
        })
        .collect();
    let (start, stop, events) = (first - 30, first - 20, events.join(","));
    format!(
        ",\"event_trace_{what}\":{{\"coll_start_{what}\":{start},\"coll_stop_{what}\":{stop},\"kernel_events\":[{events}]}}"
    )
}

/// A dump, with event traces of so many channels.
fn dump(channels: u64) -> Vec<u8> {
    let mut text = Vec::new();
    for n in 0..LINES {
        let comm = n / 50 % 8;
        let time = 40 + n * 7919 % 1000;
        let size = 1_u64 << (13 + n % 12);
        let bandwidth = size as f64 / time as f64 / 1000.0;
        let stamp = 1_795_953_247_245_381 + n / 400 * 1_000_000;
        let coll = ["AllReduce", "AllGather", "ReduceScatter"][(n % 3) as usize];
        let traces = match channels {
            0 => String::new(),
            _ => event_trace("sn", channels, 100 + 40 * n) + &event_trace("ts", channels, stamp),
        };
        let written = writeln!(
            text,
            "{{\"header\":{{\"id\":\"0x{:014x}\",\"comm_name\":\"DP Group {comm}\",\"rank\":3,\"n_ranks\":64,\"nnodes\":8}},\"metadata\":{{\"inspector_output_format_version\":\"v4.0\",\
             \"git_rev\":\"\",\"rec_mechanism\":\"nccl_profiler_interface\",\"dump_timestamp_us\":{stamp},\"hostname\":\"dgx-h01\",\"pid\":449}},\"coll_perf\":{{\"coll\":\"{coll}\",\
             \"coll_sn\":{n},\"coll_msg_size_bytes\":{size},\"coll_exec_time_us\":{time},\"coll_timing_source\":\"kernel_gpu\",\"coll_algobw_gbs\":{bandwidth:.6},\
             \"coll_busbw_gbs\":{:.6}{traces}}}}}",
            0xe7_da8e_667b_6d5e_u64 + comm * 7919,
            bandwidth * 1.75,
        );
        written.expect("writes to memory");
    }
    text
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("writes to memory");
    encoder.finish().expect("writes to memory")
}

fn lines_to_records(c: &mut Criterion) {
    for (name, channels) in [("ordinary", 0), ("verbose", 8)] {
        let text = dump(channels);
        let mut group = c.benchmark_group(name);
        group.sample_size(20);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("read_dump", |b| {
            b.iter(|| {
                let mut count = Count(0);
                let read = read_dump(&mut &*text, "a.log", &mut count, &mut |_| {});
                assert!(read.is_ok());
                assert_eq!(count.0, LINES);
            });
        });
        group.bench_function("serde_json", |b| {
            b.iter(|| {
                let lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty());
                let parsed = lines
                    .map(|line| serde_json::from_slice::<Line<'_>>(line).expect("a line"))
                    .filter(|line| black_box(line).header.rank < 1000);
                assert_eq!(parsed.count() as u64, LINES);
            });
        });
        group.finish();
    }
}

fn files_to_parquet(c: &mut Criterion) {
    let text = dump(0);
    for (name, content) in [("plain", text.clone()), ("gzip", gzip(&text))] {
        let folder = tempfile::tempdir().expect("a folder");
        let logs = folder.path().join("logs");
        std::fs::create_dir(&logs).expect("made");
        std::fs::write(logs.join("dgx-h01-pid449.log"), content).expect("written");
        let options = Options {
            inputs: vec![logs],
            dataset: folder.path().join("parquet"),
            exclude: Vec::new(),
            compression_level: 1,
            share: None,
            cancel: std::sync::Arc::default(),
        };
        let mut group = c.benchmark_group("file to Parquet");
        group.sample_size(20);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                // Else it would be recognised as done.
                std::fs::remove_dir_all(&options.dataset).ok();
                ingest(&options, &NoProgress).expect("read")
            });
        });
        group.finish();
    }
}

criterion_group!(benches, lines_to_records, files_to_parquet);
criterion_main!(benches);
