//! `slow_collectives.csv` and `retransmits.csv`: what eBPF traces answer to the question that they are asked first.

use nccl_report_analyze::facts::{Coincidence, Job};

use super::csv::{Cell, push_row};

const SLOW: [&str; 8] = [
    "op",
    "rank",
    "ms",
    "retransmits_in_window",
    "host",
    "timestamp_ns",
    "duration_ns",
    "source_file",
];

const RETRANSMITS: [&str; 6] = [
    "by",
    "host",
    "name",
    "retransmits",
    "in_slow_collectives",
    "slow_collectives_with_one",
];

/// A row per slow collective in the traces, longest first, as comma-separated values (RFC 4180): `ms` is its length in milliseconds,
/// `retransmits_in_window` counts the TCP retransmits of its host from entry to return. `None` without traces.
#[must_use]
pub fn slow_collectives_csv(job: &Job) -> Option<String> {
    let traces = job.traces.as_ref()?;
    let mut out = String::new();
    push_row(&mut out, &SLOW.map(Cell::Text));
    for row in &traces.slow.rows {
        let whole = |n: Option<i64>| n.map_or(String::new(), |n| n.to_string());
        let (rank, at) = (whole(row.rank), whole(row.timestamp_ns));
        let length = row.duration_ns.to_string();
        push_row(
            &mut out,
            &[
                Cell::Text(&row.op),
                Cell::Whole(&rank),
                Cell::Number(Some(row.duration_ns as f64 / 1e6)),
                Cell::Integer(row.retransmits_in_window),
                Cell::Text(&row.host),
                Cell::Whole(&at),
                Cell::Whole(&length),
                Cell::Text(&row.source_file),
            ],
        );
    }
    Some(out)
}

/// Retransmits against slow collectives, a row per host, per connection and per address that sent. `None` without traces.
#[must_use]
pub fn retransmits_csv(job: &Job) -> Option<String> {
    let slow = &job.traces.as_ref()?.slow;
    let mut out = String::new();
    push_row(&mut out, &RETRANSMITS.map(Cell::Text));
    let mut rows = |by: &str, list: &[Coincidence]| {
        for row in list {
            push_row(
                &mut out,
                &[
                    Cell::Text(by),
                    Cell::Text(&row.host),
                    Cell::Text(&row.what),
                    Cell::Integer(row.retransmits),
                    Cell::Integer(row.inside),
                    Cell::Integer(row.slow_calls),
                ],
            );
        }
    };
    rows("host", &slow.by_host);
    rows("connection", &slow.by_connection);
    rows("address", &slow.by_address);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn rows_are_those_of_the_traces_and_text_is_disarmed() {
        let csv = slow_collectives_csv(&synthetic::traced()).expect("traces");
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines,
            [
                "op,rank,ms,retransmits_in_window,host,timestamp_ns,duration_ns,source_file",
                "'=ALL_REDUCE,,60,3,gpu-002,-5,60000000,a.db"
            ]
        );
        let csv = retransmits_csv(&synthetic::traced()).expect("traces");
        assert_eq!(csv.lines().count(), 1 + 3);
        assert_eq!(
            csv.lines().nth(2),
            Some("connection,gpu-002,10.0.0.1 → 10.0.0.2,34,17,1")
        );
    }

    #[test]
    fn a_job_without_traces_has_no_such_file() {
        assert_eq!(slow_collectives_csv(&synthetic::job()), None);
        assert_eq!(retransmits_csv(&synthetic::job()), None);
    }
}
