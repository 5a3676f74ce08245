//! Three hosts, of which each of two sends to others: whoever is at fault shows by what it does with the third.

use std::fmt::Write as _;
use std::path::Path;

use nccl_report_ingest::{NoProgress, Options as IngestOptions, ingest};
use rusqlite::Connection;

use super::*;
use crate::facts::{Finding, FindingKind};
use crate::{Options, analyze};

const START_US: i64 = 1_767_225_600_000_000;
const ROUNDS: i64 = 240;
const HOSTS: [&str; 3] = ["a", "b", "c"];

/// Who sends to whom in each round: ranks are hosts.
const PAIRS: [(usize, usize); 3] = [(0, 1), (2, 1), (0, 2)];

/// When a transfer starts and stops, µs since the start: one every 60 ms and a little, of 1 ms, every 8th of a lossy pair of 40 ms.
fn transfer(round: i64, pair: usize, lossy: bool) -> (i64, i64) {
    let k = round * 3 + pair as i64;
    let start = k * 60_000 + k * k * 7 % 9_000;
    let slow = lossy && round % 8 == 3;
    (start, start + if slow { 40_000 } else { 1_000 })
}

/// Dumps of all hosts and their traces, which hold what is sent again over the lossy pairs, with addresses or not.
fn write(folder: &Path, lossy: [bool; 3], addresses: bool) {
    let mut texts = [const { String::new() }; 3];
    let mut numbers = [0; 3];
    let dbs = HOSTS.map(|host| {
        let db = Connection::open(folder.join(format!("{host}.db"))).expect("opens");
        db.execute_batch("CREATE TABLE tcp_events (timestamp_ns INTEGER, event TEXT, saddr TEXT, daddr TEXT); BEGIN;").expect("made");
        db
    });
    let address = |rank: usize| addresses.then(|| format!("10.0.0.{}", rank + 1));
    let again = |from: usize, to: usize, micros: i64| {
        let at = (START_US + micros) * 1_000;
        let sql = "INSERT INTO tcp_events VALUES (?1, 'tcp_retransmit_skb', ?2, ?3)";
        dbs[from]
            .execute(sql, rusqlite::params![at, address(from), address(to)])
            .expect("put");
    };
    for round in 0..ROUNDS {
        for (p, &(from, to)) in PAIRS.iter().enumerate() {
            let (start, stop) = transfer(round, p, lossy[p]);
            for (rank, op, peer) in [(from, "Send", to), (to, "Recv", from)] {
                numbers[rank] += 1;
                let (from, to) = (START_US + start, START_US + stop);
                writeln!(
                    texts[rank],
                    r#"{{"header":{{"id":"0xabcdef01234567","comm_name":"PP","rank":{rank},"n_ranks":3,"nnodes":3}},"metadata":{{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":{},"hostname":"{}","pid":7}},"p2p_perf":{{"p2p":"{op}","p2p_sn":{},"p2p_peer":{peer},"p2p_msg_size_bytes":1048576,"p2p_exec_time_us":{},"p2p_timing_source":"kernel_gpu","p2p_algobw_gbs":1.0,"p2p_busbw_gbs":1.0,"event_trace_sn":{{"p2p_start_sn":1,"p2p_stop_sn":2,"kernel_events":[{{"channel_id":0,"kernel_start_sn":3,"kernel_stop_sn":5,"kernel_record_sn":4}}]}},"event_trace_ts":{{"p2p_start_ts":{from},"p2p_stop_ts":{from},"kernel_events":[{{"channel_id":0,"kernel_start_ts":{from},"kernel_stop_ts":{to},"kernel_record_ts":{to}}}]}}}}}}"#,
                    START_US + (stop / 100_000 + 1) * 100_000,
                    HOSTS[rank],
                    numbers[rank],
                    to - from,
                )
                .expect("put");
            }
            if stop - start > 10_000 {
                again(from, to, start + 9_000);
                again(from, to, start + 30_000);
            }
        }
    }
    // One that comes anyway, between two transfers, tells whose address it is.
    for rank in 0..3 {
        again(
            rank,
            (rank + 1) % 3,
            transfer(30 * rank as i64, 0, false).0 + 45_000,
        );
    }
    for (host, text) in HOSTS.iter().zip(texts) {
        std::fs::write(folder.join(format!("{host}-pid7.log")), text).expect("written");
    }
    for db in dbs {
        db.execute_batch("COMMIT").expect("done");
    }
}

fn named(lossy: [bool; 3], addresses: bool) -> Vec<(String, bool)> {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), lossy, addresses);
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
    let of = |f: Finding| {
        let hosts: Vec<String> = f.subjects.into_iter().map(|s| s.host).collect();
        (hosts.join("+"), f.candidates_only)
    };
    let found = job.findings.into_iter();
    found
        .filter(|f| f.kind == FindingKind::TcpRetransmits)
        .map(of)
        .collect()
}

#[test]
fn who_has_slow_transfers_with_a_third_is_named_with_addresses_or_without() {
    for addresses in [true, false] {
        // a and c lose what they send to b; what a sends to c arrives.
        let of_receiver = named([true, true, false], addresses);
        assert_eq!(of_receiver, [("b".to_owned(), false)], "{addresses}");
        // a loses what it sends to both; what c sends to b arrives.
        let of_sender = named([true, false, true], addresses);
        assert_eq!(of_sender, [("a".to_owned(), false)], "{addresses}");
    }
}

#[test]
fn where_only_two_have_slow_transfers_both_are_candidates() {
    let both = named([true, false, false], true);
    assert_eq!(both, [("a+b".to_owned(), true)]);
}

#[test]
fn by_hand() {
    let mut ways = Ways::default();
    let among = Way::among(&["a", "b"]);
    let (to_receiver, of_sender) = (Way::between("c", "b"), Way::between("a", "d"));
    for way in [&among, &to_receiver, &of_sender] {
        ways.count(way, 100);
    }
    let on = |host: &str, k: i64| BTreeMap::from([(host.to_owned(), (k * 10, k * 10 + 5))]);
    let windows: Vec<_> = (0..10).map(|k| (on("a", k), on("c", k))).collect();
    let hit = |way, on, by| Hit {
        way,
        on,
        by: vec![by],
    };
    let mut hits: Vec<Hit<'_>> = windows.iter().map(|w| hit(&*among, &w.0, "a")).collect();
    hits.extend(windows[..8].iter().map(|w| hit(&*to_receiver, &w.1, "c")));
    // Of 102 others one would be slow by this reckoning, so 100 / 102 of the eight are; a tenth of those of both, so each counts ten times.
    let log = (8.0 - 100.0 / 102.0) * f64::ln(10.0);
    let evidence = Evidence::of(&ways, &hits, "a", "b").expect("slow together");
    assert!((evidence.log - log).abs() < 1e-9, "{}", evidence.log);
    assert_eq!((evidence.times, evidence.others), (8, vec!["c"]));
    // Two who have no slow transfer together.
    let other = Evidence::of(&ways, &hits, "a", "d");
    assert!(other.is_none());
}
