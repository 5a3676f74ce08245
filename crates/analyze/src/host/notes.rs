//! What the traces can't say, and why.

use std::collections::BTreeMap;

use super::retransmit::HostWindows;
use super::store::HostTraces;
use crate::facts::{KnownBy, Traces, WindowSource};
use crate::measured::Measured;

/// Windows that fill more of the time than this can't tell anything from chance.
const FILLED: f64 = 0.5;

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
    let unknown: Vec<&str> = all
        .hosts()
        .filter(|h| all.dump_hosts.contains(*h) && !ahead.contains_key(*h))
        .collect();
    if !unknown.is_empty() {
        notes.push(format!("Nothing tells how the clock of the traces of {} stands to that of its dumps; they are taken to be the same.", list(unknown)));
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
        notes.push(format!("On {} slow transfers may have run in most of the time, as far as the dumps tell: retransmits can't be told from chance there. Verbose dumps (NCCL_INSPECTOR_DUMP_VERBOSE=1) or a shorter interval would.", list(filled)));
    }
    notes
}
