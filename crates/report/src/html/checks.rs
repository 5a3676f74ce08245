//! What the answer about completeness rests on, point by point.

use nccl_report_analyze::facts::{Job, TimingSource};

use super::missing::{Account, absent, ratio};
use super::quantity::{count, duration, percent, plural};
use super::wording;

/// One thing that was looked at.
pub(super) struct Point {
    pub(super) label: &'static str,
    pub(super) text: String,
    pub(super) mark: Mark,
}

/// How it came out.
pub(super) enum Mark {
    /// Nothing is missing.
    Good,
    /// Something is.
    Bad,
    /// The data doesn't say, or it is good to know.
    Unknown,
}

/// Everything that was looked at.
pub(super) fn points(job: &Job, account: &Account) -> Vec<Point> {
    let mark = |good: bool| if good { Mark::Good } else { Mark::Bad };
    let of = &job.overview;
    let mut points = Vec::new();
    let mut point = |label, mark, text| points.push(Point { label, text, mark });
    match of.ranks_expected {
        Some(expected) => {
            let mut text = format!(
                "{} of {} left records",
                count(of.ranks),
                plural(expected, "rank", "ranks")
            );
            text.push_str(&absent(&job.communicators));
            point(
                "Ranks",
                mark(account.ranks_missing == 0 && account.communicators_partial == 0),
                text,
            );
        }
        None => point(
            "Ranks",
            Mark::Unknown,
            format!(
                "{} left records; how many there were isn't known{}",
                plural(of.ranks, "rank", "ranks"),
                absent(&job.communicators)
            ),
        ),
    }
    if account.collectives > 0 {
        let share = ratio(account.collectives_complete, account.collectives);
        let text = format!(
            "{} of {} seen have a record of every rank ({}); {} missing from the others",
            count(account.collectives_complete),
            plural(account.collectives, "collective", "collectives"),
            percent(share),
            plural(account.unmatched, "record is", "records are")
        );
        point(
            "Collectives",
            mark(account.collectives_complete == account.collectives),
            text,
        );
    }
    let silent = account.silent as u64;
    if silent == job.communicators.len() as u64 {
        point(
            "Dropped records",
            Mark::Unknown,
            "the dumps don't say whether the plugin dropped any".to_owned(),
        );
    } else {
        let mut text = format!("{} by the plugin's own count", count(account.dropped));
        if silent > 0 {
            text.push_str(&format!(
                "; {} without such a count",
                plural(silent, "communicator", "communicators")
            ));
        }
        point("Dropped records", mark(account.dropped == 0), text);
    }
    if account.unseen > 0 {
        let numbers = plural(account.unseen, "number", "numbers");
        let text = format!(
            "{numbers} between the first and the last that no rank recorded; small messages, CPU-timed records and \
                            CUDA-graph replays leave gaps by design, so not all of them are losses"
        );
        point("Sequence numbers", Mark::Unknown, text);
    }
    lines(job, &mut point);
    if of.timing != TimingSource::KernelGpu || of.records_other_timing > 0 {
        let mut text = format!("times come from: {}", wording::timing(of.timing));
        if of.records_other_timing > 0 {
            let others = plural(of.records_other_timing, "record", "records");
            text.push_str(&format!(
                "; {others} timed otherwise, left out of every statistic"
            ));
        }
        point("Timing", mark(of.timing == TimingSource::KernelGpu), text);
    }
    if of.bandwidth_mismatches > 0 {
        let records = plural(of.bandwidth_mismatches, "record", "records");
        let text = format!("{records} whose written bandwidth disagrees with size and time");
        point("Bandwidths", Mark::Bad, text);
    }
    if let Some(interval) = of.dump_interval {
        let text = format!(
            "every {} (median); what happened after the last one isn't here",
            duration(interval)
        );
        point("Dumps", Mark::Unknown, text);
    }
    points
}

/// Lines and files.
fn lines(job: &Job, point: &mut impl FnMut(&'static str, Mark, String)) {
    let inputs = &job.inputs;
    let text = format!(
        "{} read, {} rejected, {} repaired",
        plural(inputs.lines, "line", "lines"),
        count(inputs.rejected.lines),
        count(inputs.repaired.lines)
    );
    let good = if inputs.rejected.lines == 0 {
        Mark::Good
    } else {
        Mark::Bad
    };
    point("Lines", good, text);
    let damaged = inputs.files_damaged.len() as u64;
    let text = format!(
        "{} read, {} of them damaged, {} passed over; {}",
        plural(inputs.files, "file", "files"),
        count(damaged),
        count(inputs.files_skipped.len() as u64),
        plural(
            inputs.truncated_dumps,
            "dump with fewer records than promised",
            "dumps with fewer records than promised"
        )
    );
    let good = damaged == 0 && inputs.truncated_dumps == 0;
    point("Files", if good { Mark::Good } else { Mark::Bad }, text);
}
