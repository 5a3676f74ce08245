//! `summary.csv`: a row per group.

use nccl_report_analyze::facts::{Distribution, Group, Job};
use nccl_report_analyze::units::{BusBandwidth, ExecTime};

use super::csv::{Cell, push_row};
use crate::names::timing;

const KEY: [&str; 11] = [
    "comm_type",
    "coll",
    "coll_msg_size_bytes",
    "n_ranks",
    "nnodes",
    "p2p",
    "timing_source",
    "latency_bound",
    "communicators",
    "collectives",
    "records",
];
const STATISTICS: [&str; 9] = [
    "min", "p5", "p25", "p50", "mean", "p75", "p95", "p99", "max",
];
/// Each with [`STATISTICS`] after it; the name carries the unit.
const QUANTITIES: [&str; 4] = [
    "busbw_gbs",
    "exec_time_us",
    "link_busbw_gbs",
    "felt_busbw_gbs",
];
const TAIL: [&str; 3] = ["time_us", "share_of_time", "quantiles_exact"];

/// The groups as comma-separated values (RFC 4180), a row per (comm_type, coll, coll_msg_size_bytes, n_ranks, nnodes).
///
/// Names end in their unit: `_bytes`, `_us` (microseconds), `_gbs` (decimal GB/s). Numbers have every digit; an empty cell is
/// unknown. Text that a spreadsheet would take for a formula begins with an apostrophe.
#[must_use]
pub fn summary_csv(job: &Job) -> String {
    let mut out = String::new();
    let names: Vec<String> = KEY
        .iter()
        .map(|&name| name.to_owned())
        .chain(
            QUANTITIES
                .iter()
                .flat_map(|quantity| STATISTICS.map(|statistic| format!("{quantity}_{statistic}"))),
        )
        .chain(TAIL.iter().map(|&name| name.to_owned()))
        .collect();
    let header: Vec<Cell<'_>> = names.iter().map(|name| Cell::Text(name)).collect();
    push_row(&mut out, &header);
    for group in &job.groups {
        push_row(&mut out, &row(group, timing(job.overview.timing)));
    }
    out
}

fn row<'a>(group: &'a Group, timing: &'a str) -> Vec<Cell<'a>> {
    let mut cells = vec![
        Cell::Text(group.key.class.as_str()),
        Cell::Text(&group.key.operation),
        Cell::Integer(group.key.size.as_bytes()),
        Cell::Integer(group.key.n_ranks.into()),
        Cell::Integer(group.key.nnodes.into()),
        Cell::Flag(group.p2p),
        Cell::Text(timing),
        Cell::Flag(group.latency_bound),
        Cell::Integer(group.communicators),
        Cell::Integer(group.collectives),
        Cell::Integer(group.records),
    ];
    let gbs = BusBandwidth::as_gb_per_s;
    cells.extend(statistics(Some(&group.busbw), gbs));
    cells.extend(statistics(Some(&group.exec_time), ExecTime::as_micros));
    cells.extend(statistics(group.link_busbw.as_ref(), gbs));
    cells.extend(statistics(group.felt_busbw.as_ref(), gbs));
    cells.push(Cell::Number(Some(group.time.as_micros())));
    cells.push(Cell::Number(Some(group.share_of_time)));
    cells.push(Cell::Flag(quantiles_exact(group)));
    cells
}

/// Whether every quantile of the group comes from all values, and none from a sketch.
pub(super) fn quantiles_exact(group: &Group) -> bool {
    group.busbw.exact
        && group.exec_time.exact
        && group.link_busbw.is_none_or(|of| of.exact)
        && group.felt_busbw.is_none_or(|of| of.exact)
}

fn statistics<T: Copy>(
    of: Option<&Distribution<T>>,
    number: fn(T) -> f64,
) -> [Cell<'static>; STATISTICS.len()] {
    let cell = |pick: fn(&Distribution<T>) -> T| Cell::Number(of.map(|of| number(pick(of))));
    [
        cell(|of| of.min),
        cell(|of| of.p5),
        cell(|of| of.p25),
        cell(|of| of.p50),
        cell(|of| of.mean),
        cell(|of| of.p75),
        cell(|of| of.p95),
        cell(|of| of.p99),
        cell(|of| of.max),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn snapshot() {
        let mut job = synthetic::job();
        job.groups.truncate(4);
        insta::assert_snapshot!(summary_csv(&job));
    }

    #[test]
    fn every_row_is_as_wide_as_the_header() {
        let csv = summary_csv(&synthetic::job());
        let widths: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(
            widths[0],
            KEY.len() + QUANTITIES.len() * STATISTICS.len() + TAIL.len()
        );
        assert!(widths.iter().all(|width| *width == widths[0]));
        assert_eq!(widths.len(), 1 + synthetic::job().groups.len());
    }

    #[test]
    fn nothing_of_send_and_recv_is_invented() {
        let mut job = synthetic::job();
        job.groups.retain(|group| group.p2p);
        let csv = summary_csv(&job);
        let column = |name: &str| {
            let header = csv.lines().next().unwrap_or_default();
            header.split(',').position(|n| n == name).expect("a column")
        };
        let link = column("link_busbw_gbs_p50");
        let busbw = column("busbw_gbs_p50");
        for line in csv.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells[link], "");
            assert_ne!(cells[busbw], "");
        }
    }
}
