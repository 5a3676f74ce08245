//! The head of the page: what job this is, and the two answers that everybody comes for.

use askama::Template;
use nccl_report_analyze::facts::{Dialect, Job, TraceHost, Traces};
use nccl_report_analyze::units::Timestamp;

use super::quantity::{NONE, count, duration, micros, moment, plural, size};
use super::{completeness, findings, text, wording};

#[derive(Template)]
#[template(path = "header.html")]
pub(super) struct Header {
    pub(super) title: String,
    facts: Vec<Fact>,
    found: findings::Verdict,
    data: completeness::Verdict,
    runs: Vec<String>,
    runs_more: usize,
}

struct Fact {
    name: &'static str,
    value: String,
    /// In smaller print.
    more: String,
}

const HOSTS: usize = 6;
const RUNS: usize = 12;

impl Header {
    pub(super) fn of(job: &Job) -> Self {
        Self {
            title: text::name(&job.overview.title),
            facts: facts(job),
            found: findings::verdict(job),
            data: completeness::verdict(job),
            // One run is the ordinary case, and the span says it all.
            runs: if job.runs.len() > 1 {
                runs(job)
            } else {
                Vec::new()
            },
            runs_more: job.runs.len().saturating_sub(RUNS),
        }
    }
}

fn facts(job: &Job) -> Vec<Fact> {
    let of = &job.overview;
    if let Some(traces) = job.traces.as_ref().filter(|_| of.ranks == 0) {
        return of_traces(traces);
    }
    let expected = of.ranks_expected.filter(|expected| *expected != of.ranks);
    let span = of.span.map(|(first, last)| {
        let us = last.as_unix_micros().saturating_sub(first.as_unix_micros());
        (moment(first), moment(last), micros(us as f64))
    });
    let (first, last, long) =
        span.unwrap_or_else(|| (NONE.to_owned(), String::new(), NONE.to_owned()));
    let records = |kind: &str| job.inputs.records.get(kind).copied().unwrap_or(0);
    vec![
        fact("Hosts", count(of.hosts.len() as u64), listed(&of.hosts)),
        fact(
            "Ranks",
            count(of.ranks),
            expected.map_or_else(String::new, |n| format!("of {} expected", count(n))),
        ),
        fact(
            "From",
            first,
            if last.is_empty() {
                String::new()
            } else {
                format!("to {last}")
            },
        ),
        fact("Duration", long, "first to last dump".to_owned()),
        fact(
            "Records",
            count(records("collective").saturating_add(records("p2p"))),
            format!(
                "{} of collectives, {} of Send and Recv",
                count(records("collective")),
                count(records("p2p"))
            ),
        ),
        fact(
            "Messages",
            size(of.bytes),
            format!(
                "in {}",
                plural(
                    job.communicators.len() as u64,
                    "communicator",
                    "communicators"
                )
            ),
        ),
        fact(
            "Communication time",
            duration(of.time),
            "summed over ranks".to_owned(),
        ),
        fact(
            "Timed by",
            wording::timing(of.timing).to_owned(),
            String::new(),
        ),
        fact("Dialect", dialects(&of.dialects), revisions(&of.dialects)),
    ]
}

const fn fact(name: &'static str, value: String, more: String) -> Fact {
    Fact { name, value, more }
}

/// What there is where traces are all.
fn of_traces(traces: &Traces) -> Vec<Fact> {
    let hosts: Vec<String> = traces.hosts.iter().map(|h| h.host.clone()).collect();
    let sum = |of: fn(&TraceHost) -> u64| count(traces.hosts.iter().map(of).sum());
    let spans = || traces.files.iter().filter_map(|f| f.span);
    let first = spans().map(|s| s.0).min();
    let last = spans().map(|s| s.1).max();
    let shown = |of: Option<Timestamp>| of.map_or_else(|| NONE.to_owned(), moment);
    let slow = plural(traces.slow.slow, "slow collective", "slow collectives");
    vec![
        fact("Hosts traced", count(hosts.len() as u64), listed(&hosts)),
        fact("Dumps", "none".to_owned(), "eBPF traces alone".to_owned()),
        fact("From", shown(first), format!("to {}", shown(last))),
        fact("NCCL calls", sum(|h| h.calls), slow),
        fact("TCP retransmits", sum(|h| h.retransmits), String::new()),
        fact("Events of the hosts", sum(|h| h.events), String::new()),
    ]
}

fn listed(names: &[String]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(HOSTS)
        .map(|name| text::name(name))
        .collect();
    if let (true, Some(last)) = (names.len() > HOSTS, names.last()) {
        shown.truncate(HOSTS - 1);
        shown.push("…".to_owned());
        shown.push(text::name(last));
    }
    shown.join(", ")
}

fn dialects(of: &[Dialect]) -> String {
    match of {
        [] => NONE.to_owned(),
        [one] => text::name(&one.version),
        several => several
            .iter()
            .map(|d| {
                format!(
                    "{} ({})",
                    text::name(&d.version),
                    plural(d.records, "record", "records")
                )
            })
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn revisions(of: &[Dialect]) -> String {
    let revisions: Vec<&String> = of.iter().flat_map(|dialect| &dialect.git_revs).collect();
    match revisions.as_slice() {
        [] => String::new(),
        shown => {
            let names: Vec<String> = shown.iter().take(3).map(|name| text::name(name)).collect();
            let more = if shown.len() > 3 { ", …" } else { "" };
            format!("plugin built from {}{more}", names.join(", "))
        }
    }
}

fn runs(job: &Job) -> Vec<String> {
    job.runs
        .iter()
        .take(RUNS)
        .map(|run| {
            format!(
                "{} to {}: {} on {}",
                moment(run.start),
                moment(run.end),
                plural(run.ranks, "rank", "ranks"),
                listed(&run.hosts)
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn traces_alone_are_no_job_of_no_ranks() {
        let names = |job: &Job| -> Vec<&str> { facts(job).iter().map(|f| f.name).collect() };
        let mut job = synthetic::traced();
        assert!(names(&job).contains(&"Ranks"));
        job.overview.ranks = 0;
        assert!(names(&job).contains(&"Hosts traced") && !names(&job).contains(&"Ranks"));
    }
}
