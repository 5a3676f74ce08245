//! Which figures a report has: those that tell most, few enough for a page of a few megabytes.

use std::collections::{BTreeMap, BTreeSet};

use nccl_report_analyze::facts::{
    CommClass, Family, FamilyOperation, Histogram, Job, Scatter, SliceOf,
};

use super::drawing::{Figure, number_repeats};
use super::{
    boxes, budget, communicators, heat_map, histogram, host_timeline, pair_matrix, ranks,
    retransmits, scatter, shares, shown, stages, timeline,
};

const MOST_TIMELINES: usize = 12;
const MOST_SCATTERS: usize = 12;
const MOST_HISTOGRAMS: usize = 12;
const MOST_FAMILIES: usize = 12;
const MOST_COMPARISONS: usize = 8;
const MOST_COMPARISONS_IN_A_FAMILY: usize = 2;
const MOST_OPERATIONS: usize = 3;
const MOST_MAPS: usize = 4;
const MOST_MATRICES: usize = 4;
/// Marks of a scatter plot, and of all together.
const MARKS: usize = 1_500;
const MARKS_IN_ALL: usize = 6_000;

/// All figures of a report, by section. The same in every run on the same data.
pub(crate) fn all(job: &Job) -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(first(
        &job.timelines,
        MOST_TIMELINES,
        "timelines of collectives",
        |t| timeline::figure(job, t),
    ));
    let of_hosts = job.traces.iter().flat_map(|t| &t.timelines);
    figures.extend(of_hosts.filter_map(host_timeline::figure));
    figures.extend(budget::figure(job));
    figures.extend(shares::figure(job));

    let shares = Shares::of(job);
    let mut by_time: Vec<&Scatter> = job.scatters.iter().collect();
    by_time.sort_by(|a, b| shares.compare((a.class, &a.operation), (b.class, &b.operation)));
    let marks = MARKS.min(MARKS_IN_ALL / by_time.len().clamp(1, MOST_SCATTERS));
    figures.extend(first(
        &by_time,
        MOST_SCATTERS,
        "operations with less time",
        |s| scatter::figure(job, s, marks),
    ));

    let mut histograms: BTreeMap<(CommClass, &str), Vec<&Histogram>> = BTreeMap::new();
    for h in &job.histograms {
        histograms
            .entry((h.class, &h.operation))
            .or_default()
            .push(h);
    }
    let mut histograms: Vec<_> = histograms.into_iter().collect();
    histograms.sort_by(|(a, _), (b, _)| shares.compare(*a, *b));
    figures.extend(first(
        &histograms,
        MOST_HISTOGRAMS,
        "operations with less time",
        |(_, h)| histogram::figure(job, h),
    ));
    let classes: BTreeSet<CommClass> = job.groups.iter().map(|g| g.key.class).collect();
    figures.extend(
        classes
            .into_iter()
            .filter_map(|class| boxes::class(job, class)),
    );

    figures.extend(first(
        &job.families,
        MOST_FAMILIES,
        "families with less time",
        boxes::family,
    ));
    let comparisons = comparisons(job);
    figures.extend(first(
        &comparisons,
        MOST_COMPARISONS,
        "comparisons with less time",
        |(f, o)| {
            showing(
                communicators::figure(job, f, o),
                shown::in_comparison(job, f, o),
            )
        },
    ));

    figures.extend(first(&job.heat_maps, MOST_MAPS, "maps", |m| {
        showing(heat_map::figure(job, m), shown::in_map(job, m))
    }));
    figures.extend(retransmits::figure(job));
    figures.extend(
        ranks::waiting(job)
            .into_iter()
            .filter_map(|f| showing(Some(f), shown::in_waiting(job))),
    );
    for operation in operations(job) {
        figures.extend(ranks::bandwidth(job, operation));
    }
    figures.extend(first(
        &job.pair_matrices,
        MOST_MATRICES,
        "message sizes",
        |m| showing(pair_matrix::figure(job, m), shown::in_pairs(job, m)),
    ));
    figures.extend(stages::figure(job));
    number_repeats(&mut figures);
    figures
}

/// A figure with the findings that show in it.
fn showing(figure: Option<Figure>, findings: Vec<String>) -> Option<Figure> {
    figure.map(|f| Figure { findings, ..f })
}

/// The first figures that can be drawn; the last of them says how many were left out.
fn first<T>(
    items: &[T],
    most: usize,
    what: &str,
    draw: impl Fn(&T) -> Option<Figure>,
) -> Vec<Figure> {
    let mut items = items.iter();
    let mut figures: Vec<Figure> = items.by_ref().filter_map(draw).take(most).collect();
    let left_out = items.len();
    if left_out > 0
        && let Some(last) = figures.last_mut()
    {
        last.description += &format!(" Not drawn: {left_out} more {what}.");
    }
    figures
}

/// Share of time by class and operation.
struct Shares<'a>(BTreeMap<(CommClass, &'a str), f64>);

impl<'a> Shares<'a> {
    fn of(job: &'a Job) -> Self {
        let mut shares: BTreeMap<(CommClass, &str), f64> = BTreeMap::new();
        for g in &job.groups {
            *shares.entry((g.key.class, &g.key.operation)).or_default() += g.share_of_time;
        }
        Self(shares)
    }

    fn compare(&self, a: (CommClass, &str), b: (CommClass, &str)) -> std::cmp::Ordering {
        let share = |key: (CommClass, &str)| self.0.get(&key).copied().unwrap_or(0.0);
        share(b).total_cmp(&share(a)).then_with(|| a.cmp(&b))
    }
}

/// Operations whose communicators can be compared: those in which slow links show, then of each family those with the most time, by
/// time.
fn comparisons(job: &Job) -> Vec<(&Family, &FamilyOperation)> {
    let by_time = |a: &(&Family, &FamilyOperation), b: &(&Family, &FamilyOperation)| {
        b.1.share_of_time.total_cmp(&a.1.share_of_time)
    };
    let mut all = Vec::new();
    for family in &job.families {
        let mut operations: Vec<_> = family
            .operations
            .iter()
            .filter(|o| o.link_busbw_by_communicator.iter().flatten().count() > 1)
            .map(|o| (family, o))
            .collect();
        operations.sort_by(by_time);
        all.extend(operations.into_iter().take(MOST_COMPARISONS_IN_A_FAMILY));
    }
    all.sort_by(by_time);
    let mut first = shown::compared_for_slow_links(job);
    all.retain(|(_, o)| !first.iter().any(|(_, known)| std::ptr::eq(*known, *o)));
    first.extend(all);
    first
}

/// The operations with the most time over the ranks, largest first.
fn operations(job: &Job) -> Vec<&str> {
    let mut times: BTreeMap<&str, f64> = BTreeMap::new();
    for slice in &job.slices {
        if let SliceOf::Rank { .. } = slice.of {
            *times.entry(&slice.operation).or_default() += slice.time.as_micros();
        }
    }
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    times
        .into_iter()
        .map(|(operation, _)| operation)
        .take(MOST_OPERATIONS)
        .collect()
}
