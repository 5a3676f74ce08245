//! How far the clock of a host's traces is from that of its dumps, where both saw the same operations.
//!
//! An agent converts the kernel's clock to the time of day once, when it starts; a step of the clock after that parts the two. A process
//! whose calls of each function are as many in the trace as in the dumps did the same operations in the same order. The k-th call then
//! begins when the k-th kernel starts (verbose dumps), or has returned when its line is written and hadn't an interval before.

use std::collections::BTreeMap;

use nccl_report_ingest::{Dataset, Table};

use super::ended::LATE_DUMP;
use super::store::HostTraces;
use crate::Error;
use crate::measured::Measured;
use crate::records::{scan, traces};
use crate::statistics::robust;

/// Calls of a process that are compared; more say the same.
const MOST: usize = 50_000;

/// Fewer say nothing.
const LEAST: usize = 20;

/// Differences of the k-th call and the k-th kernel must lie this close, ns, else they aren't the same operations: a call is queued up to
/// a few steps before its kernel starts.
const CLOSE: f64 = 5e7;

/// How much the clock of each host's traces is ahead of that of its dumps, ns; hosts of which nothing tells aren't in it.
pub(crate) fn ahead(
    dataset: &Dataset,
    m: &Measured,
    all: &HostTraces,
) -> Result<BTreeMap<String, i64>, Error> {
    let mut out = BTreeMap::new();
    // One process of each host tells.
    let mut calls: BTreeMap<(String, i64), BTreeMap<String, Vec<(i64, i64)>>> = BTreeMap::new();
    let mut chosen: BTreeMap<String, i64> = BTreeMap::new();
    for trace in &all.files {
        let Some(path) = trace.table(Table::NcclCalls) else {
            continue;
        };
        traces::calls(path, |call| {
            let (Some(host), Some(pid), Some(op)) =
                (trace.whose.host(call.host), call.pid, call.op)
            else {
                return;
            };
            let (Some(start), Some(length)) = (call.start, call.length) else {
                return;
            };
            if !all.dump_hosts.contains(host) {
                return;
            }
            let pid_of_host = match chosen.get(host) {
                Some(&chosen) => chosen,
                None => *chosen.entry(host.to_owned()).or_insert(pid),
            };
            if pid != pid_of_host {
                return;
            }
            let of_op = calls
                .entry((host.to_owned(), pid))
                .or_default()
                .entry(plain(op))
                .or_default();
            if of_op.len() <= MOST {
                of_op.push((start, start.saturating_add(length)));
            }
        })?;
    }
    if calls.is_empty() {
        return Ok(out);
    }
    let kernels = kernels(dataset, &calls)?;
    let lines = if kernels.is_empty() {
        lines(dataset, m, &calls)?
    } else {
        BTreeMap::new()
    };
    for (process, mut ops) in calls {
        for list in ops.values_mut() {
            list.sort_unstable();
        }
        if let Some(of_process) = kernels.get(&process) {
            if let Some(ahead) = by_kernels(&ops, of_process) {
                out.insert(process.0, ahead);
            }
        } else if let Some(of_process) = lines.get(&process) {
            // Lines are in the order of ends: one stream overtakes another.
            for list in ops.values_mut() {
                list.sort_unstable_by_key(|call| call.1);
            }
            let interval = m.dump_interval.unwrap_or(0.0) * 1e3;
            if let Some(ahead) = by_lines(&ops, of_process, interval) {
                out.insert(process.0, ahead);
            }
        }
    }
    Ok(out)
}

type Process = (String, i64);
type ByOp<T> = BTreeMap<String, Vec<T>>;

/// A function by the name that traces and dumps have in common.
fn plain(op: &str) -> String {
    let op: String = op
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    if op == "bcast" {
        "broadcast".to_owned()
    } else {
        op
    }
}

/// Starts of kernels, ns by the host's clock.
fn kernels(
    dataset: &Dataset,
    of: &BTreeMap<Process, ByOp<(i64, i64)>>,
) -> Result<BTreeMap<Process, ByOp<i64>>, Error> {
    let mut found: BTreeMap<Process, BTreeMap<(String, String, i64), i64>> = BTreeMap::new();
    for path in dataset.table(Table::Channels) {
        traces::channels(&path, |row| {
            let process = (row.host.to_owned(), row.pid);
            if !row.p2p && of.contains_key(&process) {
                let key = (plain(row.function), row.id.to_owned(), row.sequence_number);
                let start = found
                    .entry(process)
                    .or_default()
                    .entry(key)
                    .or_insert(row.ran.0);
                *start = (*start).min(row.ran.0);
            }
        })?;
    }
    Ok(found
        .into_iter()
        .map(|(process, starts)| {
            let mut by_op: ByOp<i64> = BTreeMap::new();
            for ((op, ..), start) in starts {
                by_op
                    .entry(op)
                    .or_default()
                    .push(start.saturating_mul(1000));
            }
            by_op.values_mut().for_each(|list| list.sort_unstable());
            (process, by_op)
        })
        .collect())
}

/// Stamps of lines, ns by the host's clock, in the order in which operations ended.
fn lines(
    dataset: &Dataset,
    m: &Measured,
    of: &BTreeMap<Process, ByOp<(i64, i64)>>,
) -> Result<BTreeMap<Process, ByOp<i64>>, Error> {
    let mut out: BTreeMap<Process, ByOp<i64>> = BTreeMap::new();
    for file in dataset.files() {
        let speaks = file
            .census
            .processes
            .iter()
            .any(|p| of.contains_key(&(p.hostname.clone(), p.pid)));
        let Some(table) = file
            .tables
            .iter()
            .find(|t| t.table == Table::Collectives && speaks)
        else {
            continue;
        };
        scan::operations(
            &dataset.root().join(&table.path),
            Table::Collectives,
            |names, batch| {
                for i in 0..batch.len() {
                    let endpoint = &names.endpoints.items()[batch.endpoint[i] as usize];
                    let process = (endpoint.host.clone(), endpoint.pid);
                    if of.contains_key(&process) && batch.timing[i] == m.timing {
                        let op = plain(&names.functions.items()[batch.function[i] as usize]);
                        out.entry(process)
                            .or_default()
                            .entry(op)
                            .or_default()
                            .push(batch.dumped[i].saturating_mul(1000));
                    }
                }
                Ok(())
            },
        )?;
    }
    for by_op in out.values_mut() {
        by_op.values_mut().for_each(|list| list.sort_unstable());
    }
    Ok(out)
}

/// Functions that were called as often as they were recorded.
fn pairs<'a, T, U>(calls: &'a ByOp<T>, records: &'a ByOp<U>) -> Vec<(&'a [T], &'a [U])> {
    calls
        .iter()
        .filter_map(|(op, of_op)| Some((of_op.as_slice(), records.get(op)?.as_slice())))
        .filter(|(a, b)| a.len() == b.len() && a.len() <= MOST)
        .collect()
}

fn by_kernels(calls: &ByOp<(i64, i64)>, kernels: &ByOp<i64>) -> Option<i64> {
    let mut differences: Vec<f64> = pairs(calls, kernels)
        .into_iter()
        .flat_map(|(a, b)| {
            a.iter()
                .zip(b)
                .map(|(call, kernel)| (call.0 - kernel) as f64)
        })
        .collect();
    if differences.len() < LEAST {
        return None;
    }
    let close = robust::scale(&differences)? <= CLOSE;
    let ahead = robust::median(&mut differences)?;
    close.then_some(ahead as i64)
}

/// Every pair says that the clock is ahead by what the call's end is after the line, or by up to an interval more.
fn by_lines(calls: &ByOp<(i64, i64)>, lines: &ByOp<i64>, interval: f64) -> Option<i64> {
    let pairs = pairs(calls, lines);
    let differences = || {
        pairs
            .iter()
            .flat_map(|(a, b)| a.iter().zip(b.iter()).map(|(call, line)| call.1 - line))
    };
    if differences().count() < LEAST {
        return None;
    }
    let least = differences().max()?;
    let most = differences()
        .min()?
        .saturating_add((interval * (1.0 + LATE_DUMP)) as i64);
    (least <= most).then_some(least + (most - least) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_op<T>(list: Vec<T>) -> ByOp<T> {
        BTreeMap::from([("allreduce".to_owned(), list)])
    }

    #[test]
    fn names_of_both_sources_are_one() {
        assert_eq!(plain("ALL_REDUCE"), plain("AllReduce"));
        assert_eq!(plain("BCAST"), plain("Broadcast"));
    }

    #[test]
    fn the_difference_is_that_of_like_operations() {
        let calls = by_op((0..40).map(|k| (k * 1_000 + 7, k * 1_000 + 90)).collect());
        assert_eq!(
            by_kernels(&calls, &by_op((0..40).map(|k| k * 1_000).collect())),
            Some(7)
        );
        // One more on one side: nothing says which belong together.
        assert_eq!(
            by_kernels(&calls, &by_op((0..41).map(|k| k * 1_000).collect())),
            None
        );
    }

    #[test]
    fn stamps_of_lines_tell_it_to_an_interval() {
        // Ended at 90, 1090, …; written at the next multiple of 10,000, by a clock that is 500 behind.
        let calls = by_op((0..40).map(|k| (k * 1_000, k * 1_000 + 90)).collect());
        let lines = by_op(
            (0..40_i64)
                .map(|k| (k * 1_000 + 90) / 10_000 * 10_000 + 10_000 - 500)
                .collect(),
        );
        let ahead = by_lines(&calls, &lines, 10_000.0).expect("told");
        assert!((ahead - 500).abs() <= 1_000, "{ahead}");
    }
}
