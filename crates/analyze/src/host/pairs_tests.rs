//! A pipeline of two hosts whose Sends are slow where segments are sent again.

use std::fmt::Write as _;
use std::path::Path;

use nccl_report_ingest::{NoProgress, Options as IngestOptions, ingest};
use rusqlite::Connection;

use crate::facts::{Finding, FindingKind};
use crate::{Options, analyze};

const START_US: i64 = 1_767_225_600_000_000;
const INTERVAL_US: i64 = 100_000;
const OPERATIONS: i64 = 400;

/// When the k-th transfer starts and stops, µs since the start: one every 60 ms and a little, of 1 ms, every 20th of 50 ms.
fn transfer(k: i64) -> (i64, i64) {
    let start = k * 60_000 + k * k * 7 % 9_000;
    (start, start + if k % 20 == 7 { 50_000 } else { 1_000 })
}

/// The dump of one side. The receiver has waited since 5 ms before.
fn dump(folder: &Path, rank: i64, verbose: bool) {
    let (host, op, waited) = [("a", "Send", 0), ("b", "Recv", 5_000)][rank as usize];
    let mut text = String::new();
    for k in 0..OPERATIONS {
        let (start, stop) = transfer(k);
        let (from, to) = (START_US + start - waited, START_US + stop);
        let dumped = START_US + (stop / INTERVAL_US + 1) * INTERVAL_US + 40 + rank * 31_000;
        let ts = format!(
            r#","event_trace_sn":{{"p2p_start_sn":1,"p2p_stop_sn":2,"kernel_events":[{{"channel_id":0,"kernel_start_sn":3,"kernel_stop_sn":5,"kernel_record_sn":4}}]}},"event_trace_ts":{{"p2p_start_ts":{0},"p2p_stop_ts":{0},"kernel_events":[{{"channel_id":0,"kernel_start_ts":{from},"kernel_stop_ts":{to},"kernel_record_ts":{to}}}]}}"#,
            from - 20
        );
        writeln!(
            text,
            r#"{{"header":{{"id":"0xabcdef01234567","comm_name":"PP","rank":{rank},"n_ranks":2,"nnodes":2}},"metadata":{{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":{dumped},"hostname":"{host}","pid":7}},"p2p_perf":{{"p2p":"{op}","p2p_sn":{},"p2p_peer":{},"p2p_msg_size_bytes":1048576,"p2p_exec_time_us":{},"p2p_timing_source":"kernel_gpu","p2p_algobw_gbs":1.0,"p2p_busbw_gbs":1.0{}}}}}"#,
            k + 1,
            1 - rank,
            to - from,
            if verbose { &ts } else { "" }
        )
        .expect("put");
    }
    std::fs::write(folder.join(format!("{host}-pid7.log")), text).expect("written");
}

/// The trace of a host: two retransmits in each slow transfer, where it is `lossy`, and one every 5 s anyway.
fn trace(folder: &Path, host: &str, lossy: bool) {
    let db = Connection::open(folder.join(format!("{host}.db"))).expect("opens");
    db.execute_batch("CREATE TABLE tcp_events (timestamp_ns INTEGER, event TEXT, saddr TEXT, daddr TEXT); BEGIN;").expect("made");
    let put = |micros: i64| {
        let sql = "INSERT INTO tcp_events VALUES (?1, 'tcp_retransmit_skb', ?2, '10.0.0.9')";
        let at = (START_US + micros) * 1_000;
        db.execute(sql, rusqlite::params![at, format!("10.0.0.{host}")])
            .expect("put");
    };
    (1..5).for_each(|k| put(k * 5_000_000));
    for k in (0..OPERATIONS).filter(|k| lossy && k % 20 == 7) {
        put(transfer(k).0 + 9_000);
        put(transfer(k).0 + 30_000);
    }
    db.execute_batch("COMMIT").expect("done");
}

fn named(lossy: bool, verbose: bool) -> Vec<Finding> {
    let folder = tempfile::tempdir().expect("a folder");
    (0..2).for_each(|rank| dump(folder.path(), rank, verbose));
    trace(folder.path(), "a", lossy);
    trace(folder.path(), "b", false);
    let tables = tempfile::tempdir().expect("a folder");
    let options = IngestOptions {
        inputs: vec![folder.path().to_owned()],
        dataset: tables.path().join("parquet"),
        exclude: Vec::new(),
        compression_level: 1,
        cancel: Default::default(),
        share: None,
    };
    let dataset = ingest(&options, &NoProgress).expect("ingested");
    let job = analyze(&dataset, &Options::default()).expect("analysed");
    job.findings
        .into_iter()
        .filter(|f| f.kind == FindingKind::TcpRetransmits)
        .collect()
}

#[test]
fn slow_sends_that_hold_retransmits_name_the_sender_or_the_receiver() {
    for (verbose, from) in [(true, "kernels"), (false, "dumps")] {
        let found = named(true, verbose);
        assert_eq!(found.len(), 1, "{verbose}: {found:?}");
        // Between two alone nothing tells which of them; no trace knows the address.
        let hosts: Vec<&str> = found[0].subjects.iter().map(|s| s.host.as_str()).collect();
        assert_eq!(hosts, ["a", "10.0.0.9"]);
        assert!(found[0].candidates_only);
        assert_eq!(found[0].evidence["slow_operations_from"], from);
        // Twenty of 50 ms where 1 ms is usual, on two ranks.
        let lost = found[0].impact.time_lost.as_micros();
        assert!(lost > 0.7 * 20.0 * 49e3 * 2.0, "{verbose}: {lost}");
    }
}

#[test]
fn slow_sends_without_retransmits_name_nobody() {
    for verbose in [true, false] {
        let found = named(false, verbose);
        assert!(found.is_empty(), "{found:?}");
    }
}
