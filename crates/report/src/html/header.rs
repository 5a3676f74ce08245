//! The head of the page: what job this is, and the two answers that everybody comes for.

use askama::Template;
use nccl_report_analyze::facts::{Dialect, Job};

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
    let fact = |name, value: String, more: String| Fact { name, value, more };
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
