//! Verbose dumps, whose kernels say when they began and stopped.

use std::fmt::Write;

use crate::program::Place;

/// What the clock of each host is ahead of the truth, µs.
const AHEAD: [u64; 2] = [0, 300_000];

const COLLECTIVES: u64 = 400;

/// How late the third rank is, µs.
const LATE: u64 = 400;

/// Four ranks on two hosts, AllReduce after AllReduce. The times say that the third rank comes 400 µs after the others; the stamps of its
/// kernels say the same, or, with `denied`, that it began with the others.
fn job(place: &Place, denied: bool) {
    for rank in 0..4_u64 {
        let (host, pid) = (rank / 2, 4711 + rank);
        let mut text = String::new();
        for number in 0..COLLECTIVES {
            let late = rank == 2;
            let jitter = (number * 7 + rank * 5) % 11;
            let micros = if late { 200 } else { 200 + LATE } - jitter;
            let gb_per_s = 16_777_216.0 / micros as f64 / 1e3;
            let stop = 1_767_323_045_000_000 + number * 2_000 + AHEAD[host as usize];
            let start = stop - if denied { 200 + LATE - jitter } else { micros };
            // A dump every 50 ms.
            let dumped = stop / 50_000 * 50_000 + 50_000;
            writeln!(
                text,
                r#"{{"header":{{"id":"0x9e7a479f95a66c","comm_name":"dp group","rank":{rank},"n_ranks":4,"nnodes":2}},"metadata":{{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":{dumped},"hostname":"gpu-00{host}","pid":{pid}}},"coll_perf":{{"coll":"AllReduce","coll_sn":{number},"coll_msg_size_bytes":16777216,"coll_exec_time_us":{micros},"coll_timing_source":"kernel_gpu","coll_algobw_gbs":{gb_per_s:.6},"coll_busbw_gbs":{gb_per_s:.6},"event_trace_sn":{{"coll_start_sn":1,"coll_stop_sn":2,"kernel_events":[{{"channel_id":0,"kernel_start_sn":3,"kernel_stop_sn":5,"kernel_record_sn":4}}]}},"event_trace_ts":{{"coll_start_ts":{start},"coll_stop_ts":{start},"kernel_events":[{{"channel_id":0,"kernel_start_ts":{start},"kernel_stop_ts":{stop},"kernel_record_ts":{stop}}}]}}}}}}"#,
            )
            .expect("a string");
        }
        place.write(&format!("logs/gpu-00{host}-pid{pid}.log"), text);
    }
}

fn findings(denied: bool) -> Vec<serde_json::Value> {
    let place = Place::new();
    job(&place, denied);
    let report = place.run(&["analyze", "logs"]).ended_with(0).json();
    report["findings"].as_array().expect("a list").clone()
}

fn of_kind<'a>(findings: &'a [serde_json::Value], kind: &str) -> &'a serde_json::Value {
    let found = findings.iter().find(|f| f["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {findings:?}"))
}

#[test]
fn the_starts_of_kernels_bear_out_who_is_late() {
    let findings = findings(false);
    let late = of_kind(&findings, "late_rank");
    assert_eq!(late["subjects"][0]["pid"], 4713);
    let evidence = &late["evidence"];
    assert_eq!(evidence["kernel_starts_compared"], COLLECTIVES);
    assert_eq!(evidence["kernel_starts_last_share"], 1.0);
    let after = evidence["kernel_starts_after_peers_us"].as_f64();
    assert!(
        after.is_some_and(|us| (us - LATE as f64).abs() < 12.0),
        "{after:?}"
    );
}

#[test]
fn who_began_with_the_others_is_no_reason_to_wake_anybody() {
    let findings = findings(true);
    let late = of_kind(&findings, "late_rank");
    assert_eq!(late["severity"], "info");
    assert!(late["confidence"].as_f64().is_some_and(|c| c <= 0.5));
    let summary = late["summary"].as_str().expect("a text");
    assert!(summary.contains("start times of its kernels"), "{summary}");
}

#[test]
fn clocks_are_as_far_apart_as_common_stops_say() {
    let findings = findings(false);
    let skew = of_kind(&findings, "clock_skew");
    assert_eq!(skew["evidence"]["offsets_from"], "kernels");
    assert_eq!(skew["evidence"]["offset_us_by_host"]["gpu-000"], -150_000.0);
    assert_eq!(skew["evidence"]["offset_us_by_host"]["gpu-001"], 150_000.0);
}
