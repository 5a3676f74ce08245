//! The strongest cause in words: what a finding says of it, what to do, and the numbers behind it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::activity::Cause;
use super::causes::Verdict;
use super::explain::Looked;
use crate::cause::words;
use crate::facts::Finding;

/// Puts the strongest cause into the finding: a sentence, and the numbers behind it.
pub(super) fn name_cause(
    finding: &mut Finding,
    one: &Looked,
    names: &BTreeMap<(String, i64), String>,
) {
    let named = one.verdicts.iter().filter(|v| v.named);
    let Some(v) = named.max_by(|a, b| {
        let explains = |v: &Verdict| v.explains.unwrap_or(0.0);
        // What is as likely: the first of the list.
        explains(a)
            .total_cmp(&explains(b))
            .then(b.cause.cmp(&a.cause))
    }) else {
        return;
    };
    let (sentence, advice) = words_of(one, v, names);
    finding.summary.push_str(&sentence);
    finding.advice = format!("{advice} {}", finding.advice);
    let number = |x: f64| json!((x * 1e3).round() / 1e3);
    let optional = |x: Option<f64>| x.map_or(Value::Null, number);
    let seconds = one.late.windows.total() as f64 / 1e9;
    let mut add = |key: &str, value: Value| finding.evidence.insert(key.to_owned(), value);
    add("host_cause", json!(v.cause.as_str()));
    if v.cause.takes_time() {
        add("host_cause_us", number(v.time as f64 / 1e3));
        add(
            "host_cause_us_of_the_median_peer",
            optional(v.of_peers.map(|p| p * seconds * 1e6)),
        );
        add("host_cause_part_of_the_lateness", optional(v.explains));
        add("host_cause_share_of_late_times", number(v.inside));
        add("host_cause_share_of_other_times", optional(v.outside));
    } else {
        add("host_cause_events", json!(v.events_inside));
        add("host_cause_events_in_all", json!(v.events));
    }
    add(
        "host_cause_chance_of_coincidence",
        v.chance.map_or(Value::Null, |p| json!(p)),
    );
    add(
        "late_times_us",
        number(one.late.windows.total() as f64 / 1e3),
    );
    add(
        "late_times",
        json!(if one.late.coarse {
            "to a dump interval"
        } else {
            "exact"
        }),
    );
}

fn words_of(
    one: &Looked,
    v: &Verdict,
    names: &BTreeMap<(String, i64), String>,
) -> (String, String) {
    let micros = |ns: f64| words::duration(ns / 1e3);
    let total = one.late.windows.total() as f64;
    let coarse = if one.late.coarse {
        " (which the dumps tell to an interval only)"
    } else {
        ""
    };
    let whose = if one.pid.is_some() {
        "Its process was"
    } else {
        "Its processes were"
    };
    let peers = |unit: &dyn Fn(f64) -> String| match v.of_peers {
        Some(p) => format!(", its peers {} (median)", unit(p)),
        None => String::new(),
    };
    let time = |p: f64| micros(p * total);
    let each = v.inside * total;
    match v.cause {
        Cause::OffCpu => {
            let before = one.activity.ran_before.iter().max_by_key(|(pid, ns)| (**ns, std::cmp::Reverse(**pid)));
            let before = before.map(|(pid, _)| match names.get(&(one.host.clone(), *pid)) {
                Some(name) => format!("{name} (pid {pid})"),
                None => format!("pid {pid}"),
            });
            let ran = before.as_ref().map_or_else(String::new, |b| format!("; {b} had it before most often"));
            (
                format!(" {whose} off the CPU for {} in the times in which it was late{coarse}{}{ran}.", micros(each), peers(&time)),
                match before {
                    Some(b) => format!("See what {b} does on {}, and pin the rank to cores of its own.", one.host),
                    None => format!("See what else runs on the cores of this process on {}, and pin the rank to cores of its own.", one.host),
                },
            )
        }
        Cause::CudaSync => (
            format!(" {whose} waiting for the GPU for {} of the times in which it was late{coarse}{}.", micros(each), peers(&time)),
            "The host kept up: it is the GPU that takes longer.".to_owned(),
        ),
        Cause::BlockIo => (
            format!(" Disk requests of {} took {} in the times in which it was late{coarse}{}.", one.host, micros(each), peers(&time).replace("its peers", "other hosts")),
            format!("See what reads and writes on {} then: checkpoints, the input, logs, swap.", one.host),
        ),
        Cause::PageAlloc => (
            format!(" {whose} given memory {} times ({}) in the times in which it was late{coarse}{}.", v.events_inside, bytes(one.activity.bytes), peers(&|p| format!("{} times", words::three(p * total / 1e9)))),
            "Allocations in the middle of a step: keep buffers, pin memory once, look at the data loader.".to_owned(),
        ),
        Cause::OomKill => (
            format!(" The kernel killed a process on {} for want of memory {} times in the times in which it was late{coarse}, {} times in all.", one.host, v.events_inside, v.events),
            format!("{} runs out of memory: see dmesg for who was killed and who used it.", one.host),
        ),
        Cause::ProcessExit => (
            format!(" Processes ended on {} {} times in the times in which it was late{coarse}, {} times in all.", one.host, v.events_inside, v.events),
            format!("See which processes come and go on {}: data loader workers that restart, cron jobs.", one.host),
        ),
    }
}

fn bytes(n: u64) -> String {
    match n as f64 {
        b if b < 1e6 => format!("{} kB", words::three(b / 1e3)),
        b if b < 1e9 => format!("{} MB", words::three(b / 1e6)),
        b => format!("{} GB", words::three(b / 1e9)),
    }
}
