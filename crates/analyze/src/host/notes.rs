//! What the traces can't say, and why.

use std::collections::BTreeMap;

use super::slow_spans::HostWindows;
use super::store::HostTraces;
use crate::cause::words;
use crate::facts::{KnownBy, Traces, WindowSource};
use crate::measured::Measured;

/// Windows that fill more of the time than this tell little from chance: only how many lie upon each other differs.
const FILLED: f64 = 0.9;

/// Clocks that differ by less aren't worth a sentence: nothing that is looked for is shorter.
const NOTABLE_NANOS: u64 = 1_000_000;

/// Hosts named in a sentence.
const NAMED: usize = 4;

/// Sentences for the report.
pub(super) fn notes(
    m: &Measured,
    all: &HostTraces,
    windows: &BTreeMap<String, HostWindows>,
    ahead: &BTreeMap<String, i64>,
    out: &Traces,
) -> Vec<String> {
    let mut notes = all.notes.clone();
    if all.dump_hosts.is_empty() {
        notes.push("There is no Inspector dump beside the traces: who was late, and how fast transfers were, can't be said.".to_owned());
    }
    let list = |hosts: Vec<&str>| {
        let named: Vec<String> = hosts.iter().take(NAMED).map(|h| (*h).to_owned()).collect();
        let more = hosts.len().saturating_sub(NAMED);
        if more > 0 {
            format!("{} and {more} more", named.join(", "))
        } else {
            named.join(", ")
        }
    };
    let untraced: Vec<&str> = all
        .dump_hosts
        .iter()
        .map(String::as_str)
        .filter(|h| !all.counts.contains_key(*h))
        .collect();
    if !untraced.is_empty() && untraced.len() < all.dump_hosts.len() {
        notes.push(format!(
            "No trace is of {}: nothing can be said of what happened there.",
            list(untraced)
        ));
    }
    let foreign: Vec<&str> = all
        .hosts()
        .filter(|h| !all.dump_hosts.contains(*h))
        .collect();
    if !foreign.is_empty() && !all.dump_hosts.is_empty() {
        notes.push(format!("Traces of {} are of no host of the dumps. --trace HOST=FILE says which host a trace is of.", list(foreign)));
    }
    notes.extend(lacking(all, &list));
    let unknown: Vec<&str> = all
        .hosts()
        .filter(|h| all.dump_hosts.contains(*h) && !ahead.contains_key(*h))
        .collect();
    if !unknown.is_empty() {
        notes.push(format!("Nothing tells how the clock of the traces of {} stands to that of its dumps; they are taken to be the same.", list(unknown)));
    }
    let other: Vec<String> = ahead
        .iter()
        .filter(|(_, ns)| ns.unsigned_abs() >= NOTABLE_NANOS)
        .take(NAMED)
        .map(|(host, ns)| {
            let much = words::duration(ns.unsigned_abs() as f64 / 1e3);
            let way = if *ns > 0 { "ahead" } else { "behind" };
            format!("{host} ({much} {way})")
        })
        .collect();
    if !other.is_empty() {
        notes.push(format!("The clock of the traces isn't that of the dumps on {}; the difference was estimated from the calls that both have, and taken off.", other.join(", ")));
    }
    let apart: Vec<&str> = out
        .files
        .iter()
        .filter(|f| f.known_by != KnownBy::Unknown)
        .filter(|f| {
            let job = m.topology.span();
            f.span
                .zip(job)
                .is_some_and(|(trace, job)| trace.1 < job.0 || trace.0 > job.1)
        })
        .map(|f| f.path.as_str())
        .collect();
    if !apart.is_empty() {
        notes.push(format!(
            "{} lie at another time than the dumps: nothing in them can be joined.",
            list(apart)
        ));
    }
    let filled: Vec<&str> = windows
        .iter()
        .filter(|(host, w)| {
            let length = (w.span.1.saturating_sub(w.span.0)).max(1) as f64;
            w.source == WindowSource::Dumps
                && w.stretches().within(w.span).total() as f64 > FILLED * length
                && !all.retransmits(host).is_empty()
        })
        .map(|(host, _)| host.as_str())
        .collect();
    if !filled.is_empty() {
        notes.push(format!("On {} slow transfers may have run in most of the time, as far as the dumps tell: retransmits are hard to tell from chance there. Verbose dumps (NCCL_INSPECTOR_DUMP_VERBOSE=1) or a shorter interval would.", list(filled)));
    }
    notes
}

/// What the traces don't hold, and what therefore can't be said.
fn lacking(all: &HostTraces, list: &dyn Fn(Vec<&str>) -> String) -> Vec<String> {
    let mut notes = Vec::new();
    let without = |lacks: &dyn Fn(&str) -> bool| -> Vec<&str> {
        all.hosts().filter(|host| lacks(host)).collect()
    };
    let of = |hosts: Vec<&str>| {
        if hosts.len() == all.counts.len() {
            "any host".to_owned()
        } else {
            list(hosts)
        }
    };
    let calls = without(&|host| all.counts[host].calls == 0);
    if !calls.is_empty() {
        let instead = if all.dump_hosts.is_empty() {
            "which collectives were slow there can't be said"
        } else {
            "slow transfers of the dumps stand in for slow calls"
        };
        notes.push(format!(
            "No trace of {} holds calls into NCCL: {instead}.",
            of(calls)
        ));
    }
    let retransmits = without(&|host| all.retransmits(host).is_empty());
    if !retransmits.is_empty() {
        notes.push(format!("No trace of {} holds a TCP retransmit: none happened, or the agent doesn't trace TCP, or the traffic is RDMA, which it never sees.", of(retransmits)));
    }
    let events = without(&|host| all.counts[host].events == 0);
    if !events.is_empty() && !all.dump_hosts.is_empty() {
        notes.push(format!(
            "No trace of {} holds events of the host: why a rank there was late can't be said.",
            of(events)
        ));
    }
    notes
}
