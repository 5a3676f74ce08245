//! What job this is, and whether its data is complete.

use nccl_report_analyze::facts::{Dialect, Job, Overview, TimingSource};

use super::page::Page;
use super::text::{bytes, clipped, count, counted, percent_of_whole, visible};
use super::{time, traces};

/// Hosts that are named before it is "and so many more".
const HOSTS_NAMED: usize = 4;
const NAME_WIDTH: usize = 40;

/// Name, hosts, ranks, span, dialects, amount.
pub fn job(page: &mut Page, job: &Job) {
    let overview = &job.overview;
    page.heading(&overview.title);
    if traces::alone(job) {
        traces::head(page, job);
        amount(page, job);
        return;
    }
    page.line(&format!(
        "{} on {}",
        ranks(overview),
        hosts(&overview.hosts)
    ));
    if let Some((start, end)) = overview.span {
        page.line(&time::span(start, end));
    }
    if job.runs.len() > 1 {
        let runs = counted(job.runs.len() as u64, "run", "runs");
        page.line(&format!(
            "{runs} in one input, told apart by hosts, communicators and times"
        ));
    }
    page.line(&format!(
        "{}, {}",
        dialects(&overview.dialects),
        timing(overview.timing)
    ));
    traces::head(page, job);
    amount(page, job);
}

fn amount(page: &mut Page, job: &Job) {
    let records = job.inputs.records.values().sum();
    page.line(&format!(
        "{} in {}, {}",
        counted(records, "record", "records"),
        counted(job.inputs.files, "file", "files"),
        bytes(job.inputs.bytes),
    ));
}

/// What the data lacks, or that it lacks nothing.
pub fn data(page: &mut Page, job: &Job) {
    let overview = &job.overview;
    page.heading("Data");
    for note in job.traces.iter().flat_map(|t| &t.notes) {
        page.line(&visible(note));
    }
    if traces::alone(job) {
        return;
    }
    match overview.complete {
        None => page.line("no collective was recorded"),
        Some(share) if share >= 1.0 => {
            page.line("every collective seen has a record of every rank");
        }
        Some(share) => page.line(&format!(
            "{} of the collectives seen have a record of every rank",
            percent_of_whole(share)
        )),
    }
    let dropped: Vec<u64> = (job.communicators.iter())
        .filter_map(|c| c.loss.dropped)
        .collect();
    match dropped.iter().sum::<u64>() {
        _ if dropped.is_empty() => page.line("the dumps don't say whether records were dropped"),
        0 => page.line("the plugin dropped no record"),
        n => page.line(&format!(
            "the plugin dropped {} before they were written",
            counted(n, "record", "records")
        )),
    }
    if overview.sampled {
        page.line("a sample: the plugin wrote only the latest collective of each dump");
    }
    if overview.records_other_timing > 0 {
        page.line(&format!(
            "{} with another timing, left out of every statistic",
            counted(overview.records_other_timing, "record", "records")
        ));
    }
    if overview.bandwidth_mismatches > 0 {
        page.line(&format!(
            "{} that disagree with size and time",
            counted(
                overview.bandwidth_mismatches,
                "written bandwidth",
                "written bandwidths"
            )
        ));
    }
}

fn ranks(overview: &Overview) -> String {
    match overview.ranks_expected {
        Some(expected) if expected > overview.ranks => format!(
            "{} of {}",
            count(overview.ranks),
            counted(expected, "rank", "ranks")
        ),
        _ => counted(overview.ranks, "rank", "ranks"),
    }
}

/// "2 hosts: a, b"; of many the first.
pub fn hosts(hosts: &[String]) -> String {
    let named: Vec<String> = (hosts.iter().take(HOSTS_NAMED))
        .map(|h| clipped(h, NAME_WIDTH))
        .collect();
    let more = if hosts.len() > HOSTS_NAMED {
        ", …"
    } else {
        ""
    };
    format!(
        "{}: {}{more}",
        counted(hosts.len() as u64, "host", "hosts"),
        named.join(", ")
    )
}

fn dialects(dialects: &[Dialect]) -> String {
    if dialects.is_empty() {
        return "Inspector format unknown".to_owned();
    }
    let several = dialects.len() > 1;
    let shown: Vec<String> = dialects
        .iter()
        .map(|d| {
            let version = clipped(&d.version, NAME_WIDTH);
            if several {
                format!("{version} ({})", counted(d.records, "record", "records"))
            } else {
                version
            }
        })
        .collect();
    format!("Inspector format {}", shown.join(", "))
}

const fn timing(source: TimingSource) -> &'static str {
    match source {
        TimingSource::KernelGpu => "timed by the GPU",
        TimingSource::Cpu => "timed by the CPU",
        TimingSource::Unknown => "which doesn't say what timed it",
    }
}
