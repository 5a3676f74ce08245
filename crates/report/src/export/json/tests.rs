use std::collections::BTreeSet;

use nccl_report_analyze::units::BusBandwidth;
use serde_json::Value;

use super::*;
use crate::synthetic;

fn parse(job: &Job) -> Value {
    serde_json::from_str(&report_json(job)).expect("valid JSON")
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[track_caller]
fn has(value: &Value, names: &[&str]) {
    let keys = keys(value);
    for name in names {
        assert!(keys.contains(name), "{name} is missing from {keys:?}");
    }
}

/// The keys that the contract fixes, written out from it by hand.
#[test]
fn has_every_key_of_the_contract() {
    let report = parse(&synthetic::job());
    assert_eq!(report["schema"], "nccl-report/1");
    assert_eq!(report["generator"]["name"], "nccl-report");
    assert_eq!(report["generator"]["version"], env!("CARGO_PKG_VERSION"));
    has(
        &report["inputs"],
        &[
            "files",
            "bytes",
            "records",
            "rejected",
            "repaired",
            "files_skipped",
        ],
    );
    has(&report["inputs"]["rejected"], &["lines", "by_reason"]);
    has(&report["inputs"]["repaired"], &["lines", "by_reason"]);
    has(&report["inputs"]["files_skipped"][0], &["path", "reason"]);
    has(
        &report["processes"][0],
        &["host", "pid", "local_rank", "global_rank"],
    );
    let communicator = &report["communicators"][0];
    has(
        communicator,
        &[
            "id",
            "name",
            "comm_type",
            "n_ranks",
            "nnodes",
            "ranks_seen",
            "members",
            "collectives",
            "collectives_complete",
            "records_dropped",
        ],
    );
    has(
        &communicator["members"][0],
        &["rank", "host", "pid", "local_rank", "global_rank"],
    );
    let group = &report["groups"][0];
    has(
        group,
        &[
            "comm_type",
            "coll",
            "coll_msg_size_bytes",
            "n_ranks",
            "nnodes",
            "communicators",
            "collectives",
            "records",
            "busbw_gbs",
            "exec_time_us",
        ],
    );
    let bandwidth = BTreeSet::from(["min", "p5", "p25", "p50", "mean", "p75", "p95", "max"]);
    assert_eq!(keys(&group["busbw_gbs"]), bandwidth);
    let mut time = bandwidth;
    time.insert("p99");
    assert_eq!(keys(&group["exec_time_us"]), time);
    let finding = &report["findings"][0];
    has(
        finding,
        &[
            "id",
            "kind",
            "severity",
            "confidence",
            "summary",
            "advice",
            "subjects",
            "candidates_only",
            "scope",
            "communicators",
            "window",
            "impact",
            "evidence",
        ],
    );
    has(
        &finding["subjects"][0],
        &["host", "pid", "local_rank", "global_rank"],
    );
    has(
        &finding["impact"],
        &["time_lost_us", "share_of_collective_time"],
    );
    has(&report["findings"][1]["window"], &["start_us", "end_us"]);
}

#[test]
fn absence_is_null() {
    let report = parse(&synthetic::job());
    assert!(report["communicators"][0]["records_dropped"].is_null());
    assert_eq!(report["communicators"][1]["records_dropped"], 11);
    assert!(report["communicators"][12]["name"].is_null());
    assert!(report["findings"][0]["scope"].is_null());
    assert!(report["findings"][0]["window"].is_null());
    assert!(report["findings"][1]["subjects"][0]["pid"].is_null());
    let mut job = synthetic::job();
    job.groups[0].busbw.max = BusBandwidth::from_gb_per_s(f64::INFINITY);
    job.groups[0].busbw.mean = BusBandwidth::from_gb_per_s(f64::NAN);
    let report = parse(&job);
    assert!(report["groups"][0]["busbw_gbs"]["max"].is_null());
    assert!(report["groups"][0]["busbw_gbs"]["mean"].is_null());
}

#[test]
fn numbers_keep_every_digit() {
    let mut job = synthetic::job();
    job.groups[0].busbw.p50 = BusBandwidth::from_gb_per_s(0.1 + 0.2);
    let report = parse(&job);
    let read = report["groups"][0]["busbw_gbs"]["p50"]
        .as_f64()
        .expect("a number");
    assert_eq!(read.to_bits(), (0.1_f64 + 0.2).to_bits());
}

/// Indices that point nowhere are a defect of the analysis; they cost the row its names and nothing else.
#[test]
fn indices_that_point_nowhere_give_null() {
    let mut job = synthetic::job();
    job.processes.clear();
    let report = parse(&job);
    assert!(report["communicators"][0]["members"][0]["host"].is_null());
}

#[test]
fn hostile_text_comes_back_as_it_was() {
    let job = synthetic::hostile();
    let report = parse(&job);
    assert_eq!(report["overview"]["title"], job.overview.title.as_str());
    for (index, process) in job.processes.iter().enumerate() {
        assert_eq!(report["processes"][index]["host"], process.host.as_str());
    }
}

#[test]
fn a_job_without_records_is_a_document_too() {
    let report = parse(&synthetic::empty());
    assert_eq!(report["findings"], Value::Array(Vec::new()));
    assert!(report["budget"].is_null());
}

#[test]
fn snapshot() {
    let mut job = synthetic::job();
    job.processes.truncate(9);
    job.communicators.retain(|c| c.family != 1);
    job.communicators.truncate(2);
    for communicator in &mut job.communicators {
        communicator.members.truncate(2);
    }
    for family in &mut job.families {
        family.operations.truncate(1);
    }
    job.groups.truncate(2);
    job.shares.truncate(2);
    job.pairs.truncate(1);
    let mut seen = 0;
    job.slices.retain(|_| {
        seen += 1;
        seen % 40 == 1
    });
    let text = report_json(&job).replace(env!("CARGO_PKG_VERSION"), "[version]");
    insta::assert_snapshot!(text);
}

/// 512 nodes of 8 GPUs with 15 operations on every rank and 16,000 pairs: the file stays below the 30 MB that tools load
/// without thought, and says what it lacks.
#[test]
fn four_thousand_ranks_stay_below_thirty_megabytes() {
    let mut job = synthetic::job_of(512);
    job.slices = std::iter::repeat_n(job.slices, 5).flatten().collect();
    job.pairs = std::iter::repeat_n(job.pairs, 4).flatten().collect();
    let text = report_json(&job);
    assert!(text.len() < 30_000_000, "{} bytes", text.len());
    let report: Value = serde_json::from_str(&text).expect("valid JSON");
    let length = |key: &str| report[key].as_array().map_or(0, Vec::len);
    assert_eq!(length("processes"), 4096);
    assert_eq!(length("communicators"), job.communicators.len());
    for (key, all) in [("slices", job.slices.len()), ("pairs", job.pairs.len())] {
        let omitted = report["omitted"][key].as_u64().expect("a count");
        assert!(omitted > 0, "{key}: the job is too small to test the bound");
        assert_eq!(length(key) as u64 + omitted, all as u64, "{key}");
    }
}
