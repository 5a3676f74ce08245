//! What eBPF traces there are, beside the dumps or alone.

use nccl_report_analyze::facts::{Job, Traces};

use super::head::hosts;
use super::page::Page;
use super::text::{count, counted};
use super::time;

/// Whether there are traces and no dump.
pub fn alone(job: &Job) -> bool {
    job.overview.ranks == 0 && job.traces.is_some()
}

/// Hosts that were traced, and what of them.
pub fn head(page: &mut Page, job: &Job) {
    let Some(traces) = &job.traces else {
        return;
    };
    let names: Vec<String> = traces.hosts.iter().map(|h| h.host.clone()).collect();
    if names.is_empty() {
        let databases = counted(traces.files.len() as u64, "eBPF trace", "eBPF traces");
        page.line(&format!("{databases} of unknown hosts"));
        return;
    }
    if alone(job) {
        page.line(&format!("eBPF traces of {}, no dump", hosts(&names)));
        let spans = || traces.files.iter().filter_map(|f| f.span);
        if let Some((start, end)) = spans().map(|s| s.0).min().zip(spans().map(|s| s.1).max()) {
            page.line(&time::span(start, end));
        }
    } else {
        page.line(&format!("eBPF traces of {}", hosts(&names)));
    }
    page.line(&held(traces));
}

/// "1,200 NCCL calls (3 slow), 40 TCP retransmits, 7 other events".
fn held(traces: &Traces) -> String {
    let sum = |of: &dyn Fn(&nccl_report_analyze::facts::TraceHost) -> u64| {
        traces.hosts.iter().map(of).sum::<u64>()
    };
    let calls = match sum(&|h| h.calls) {
        0 => "no NCCL call".to_owned(),
        n => format!(
            "{} ({} slow)",
            counted(n, "NCCL call", "NCCL calls"),
            count(traces.slow.slow)
        ),
    };
    let retransmits = match sum(&|h| h.retransmits) {
        0 => "no TCP retransmit".to_owned(),
        n => counted(n, "TCP retransmit", "TCP retransmits"),
    };
    let events = match sum(&|h| h.events) {
        0 => "no event of the host".to_owned(),
        n => counted(n, "event of the host", "events of the hosts"),
    };
    format!("{calls}, {retransmits}, {events}")
}
