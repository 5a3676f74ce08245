//! Whether the data is complete: a sentence, then what it rests on.

use askama::Template;
use nccl_report_analyze::facts::{Communicator, Job, TimingSource};

use super::quantity::{count, duration, percent, plural};
use super::section::Section;
use super::{people, wording};

#[derive(Template)]
#[template(path = "section/completeness.html")]
struct View {
    verdict: Verdict,
    points: Vec<Point>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    /// `good`, `warning` or `critical`: the colour.
    pub(super) tone: &'static str,
    /// A word or two that can stand alone.
    pub(super) word: &'static str,
    /// The sentence.
    pub(super) sentence: String,
}

/// One thing that was looked at.
struct Point {
    label: &'static str,
    text: String,
    /// `yes`, `no`, `unknown`.
    mark: Mark,
}

#[derive(PartialEq)]
enum Mark {
    Good,
    Bad,
    Unknown,
}

/// What is missing, in numbers.
struct Account {
    records: u64,
    ranks_missing: u64,
    collectives: u64,
    collectives_complete: u64,
    dropped: u64,
    /// Communicators whose dumps don't say whether records were dropped.
    silent: usize,
    unseen: u64,
    unmatched: u64,
}

impl Account {
    fn of(job: &Job) -> Self {
        let sum = |value: fn(&Communicator) -> u64| {
            job.communicators
                .iter()
                .map(value)
                .fold(0_u64, u64::saturating_add)
        };
        let expected = job.overview.ranks_expected;
        Self {
            records: ["collective", "p2p"]
                .iter()
                .filter_map(|kind| job.inputs.records.get(*kind))
                .fold(0, |sum: u64, n| sum.saturating_add(*n)),
            ranks_missing: expected.map_or(0, |of| of.saturating_sub(job.overview.ranks)),
            collectives: sum(|c| c.collectives),
            collectives_complete: sum(|c| c.collectives_complete),
            dropped: sum(|c| c.loss.dropped.unwrap_or(0)),
            silent: job
                .communicators
                .iter()
                .filter(|c| c.loss.dropped.is_none())
                .count(),
            unseen: sum(|c| c.loss.numbers_unseen),
            unmatched: sum(|c| c.loss.records_unmatched),
        }
    }
}

/// The section.
pub(super) fn section(job: &Job) -> Result<Section, askama::Error> {
    let account = Account::of(job);
    let view = View {
        verdict: verdict(job),
        points: points(job, &account),
    };
    Ok(Section::new(
        "data",
        "Is the data complete?",
        view.render()?,
    ))
}

/// The answer, for the head of the page too.
pub(super) fn verdict(job: &Job) -> Verdict {
    let account = Account::of(job);
    if account.records == 0 {
        return Verdict {
            tone: "critical",
            word: "No data",
            sentence: "There are no records, so nothing can be said about the job.".to_owned(),
        };
    }
    let lacks = lacks(job, &account);
    if job.overview.sampled {
        let more = if lacks.is_empty() {
            String::new()
        } else {
            format!(" Besides, {}.", lacks.join("; "))
        };
        return Verdict {
            tone: "warning",
            word: "Data is a sample",
            sentence: format!(
                "The records are a sample: this plugin wrote only the latest finished collective of each communicator at each \
                 dump. Counts and shares of time are those of the sample.{more}"
            ),
        };
    }
    if lacks.is_empty() {
        let unknown = if account.silent > 0 {
            " The dumps don't say whether the plugin dropped records."
        } else {
            ""
        };
        return Verdict {
            tone: "good",
            word: "Data complete",
            sentence: format!(
                "Nothing is known to be missing: {} left records, every collective seen has a record of each of its ranks, and \
                 every line was read.{unknown}",
                plural(job.overview.ranks, "rank", "ranks"),
            ),
        };
    }
    let nearly = account.ranks_missing == 0
        && ratio(account.collectives_complete, account.collectives) >= 0.99
        && ratio(account.dropped, account.records) < 0.01
        && ratio(job.inputs.rejected.lines, job.inputs.lines) < 0.01
        && job.inputs.files_damaged.is_empty();
    let (tone, word, how) = if nearly {
        ("good", "Data nearly complete", "nearly complete")
    } else {
        ("warning", "Data incomplete", "incomplete")
    };
    Verdict {
        tone,
        word,
        sentence: format!("The data is {how}: {}.", lacks.join("; ")),
    }
}

/// 1 of nothing is all of it.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        f64::from(u8::from(part == 0))
    } else {
        part as f64 / whole as f64
    }
}

/// What is missing, a phrase each.
fn lacks(job: &Job, account: &Account) -> Vec<String> {
    let mut lacks = Vec::new();
    if account.ranks_missing > 0 {
        let expected = job.overview.ranks_expected.unwrap_or(0);
        lacks.push(format!(
            "{} of {} left no records",
            count(account.ranks_missing),
            plural(expected, "rank", "ranks")
        ));
    }
    let partial = account
        .collectives
        .saturating_sub(account.collectives_complete);
    if partial > 0 {
        let share = ratio(partial, account.collectives);
        lacks.push(format!(
            "{} of the collectives seen lack the record of at least one rank",
            percent(share)
        ));
    }
    if account.dropped > 0 {
        lacks.push(format!(
            "the plugin says that it dropped {}",
            plural(account.dropped, "record", "records")
        ));
    }
    let inputs = &job.inputs;
    if inputs.rejected.lines > 0 {
        lacks.push(format!(
            "{} of {} could not be read",
            count(inputs.rejected.lines),
            plural(inputs.lines, "line", "lines")
        ));
    }
    if !inputs.files_damaged.is_empty() {
        let files = plural(
            inputs.files_damaged.len() as u64,
            "file breaks",
            "files break",
        );
        lacks.push(format!("{files} off in the middle"));
    }
    if inputs.truncated_dumps > 0 {
        let dumps = plural(inputs.truncated_dumps, "dump holds", "dumps hold");
        lacks.push(format!("{dumps} fewer records than promised"));
    }
    lacks
}

fn points(job: &Job, account: &Account) -> Vec<Point> {
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
            point("Ranks", mark(account.ranks_missing == 0), text);
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

/// Which ranks the communicator that lacks most of them lacks.
fn absent(communicators: &[Communicator]) -> String {
    let lacking = |c: &Communicator| (c.n_ranks as usize).saturating_sub(c.members.len());
    let number = communicators.iter().filter(|c| lacking(c) > 0).count() as u64;
    let mut most: Option<&Communicator> = None;
    for candidate in communicators {
        if lacking(candidate) > most.map_or(0, lacking) {
            most = Some(candidate);
        }
    }
    most.map_or_else(String::new, |of| {
        format!(
            "; {} incomplete: {} lacks {}",
            plural(number, "communicator is", "communicators are"),
            people::communicator(of),
            ranges(of)
        )
    })
}

/// The ranks without records as ranges: "ranks 4–7, 12".
fn ranges(of: &Communicator) -> String {
    const SHOWN: usize = 8;
    let mut ranges = Vec::new();
    let mut next = 0_u32;
    let present = of.members.iter().map(|m| m.rank).chain([of.n_ranks]);
    for rank in present {
        if rank > next {
            ranges.push(if rank - next == 1 {
                next.to_string()
            } else {
                format!("{next}–{}", rank - 1)
            });
        }
        next = next.max(rank.saturating_add(1));
    }
    let more = ranges.len().saturating_sub(SHOWN);
    ranges.truncate(SHOWN);
    let rest = if more > 0 { ", …" } else { "" };
    format!("ranks {}{rest}", ranges.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn a_whole_job_is_called_complete() {
        let verdict = verdict(&synthetic::healthy());
        assert_eq!((verdict.tone, verdict.word), ("good", "Data complete"));
        assert!(!verdict.sentence.contains("don't say"));
    }

    #[test]
    fn what_is_not_known_is_not_called_complete() {
        let mut job = synthetic::healthy();
        job.communicators[0].loss.dropped = None;
        assert!(verdict(&job).sentence.contains("don't say whether"));
    }

    #[test]
    fn a_missing_rank_is_named() {
        let mut job = synthetic::healthy();
        job.overview.ranks = 29;
        job.communicators[12]
            .members
            .retain(|m| ![4, 5, 12].contains(&m.rank));
        let verdict = verdict(&job);
        assert_eq!(verdict.word, "Data incomplete");
        assert!(
            verdict
                .sentence
                .contains("3 of 32\u{a0}ranks left no records"),
            "{}",
            verdict.sentence
        );
        assert!(ranges(&job.communicators[12]) == "ranks 4–5, 12");
        let html = section(&job).expect("renders").html;
        assert!(html.contains("ranks 4–5, 12"), "{html}");
    }

    #[test]
    fn a_sample_is_called_one() {
        let mut job = synthetic::healthy();
        job.overview.sampled = true;
        assert_eq!(verdict(&job).word, "Data is a sample");
    }

    #[test]
    fn nothing_is_no_data() {
        assert_eq!(verdict(&synthetic::empty()).word, "No data");
    }
}
