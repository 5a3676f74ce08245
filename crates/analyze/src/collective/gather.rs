//! The records of some communicators, brought together from the files that hold them.
//!
//! Matching needs all ranks of a communicator side by side, and memory is bounded: communicators are taken in portions whose
//! records fit, and one too large for that in portions of its sequence numbers. The dataset is read once a portion.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use nccl_report_ingest::{Dataset, Table};
use rayon::prelude::*;

use crate::Error;
use crate::communicator::Topology;
use crate::measured::Measured;
use crate::records::census::Census;
use crate::records::scan;

/// A record as matching needs it: 48 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    /// Function, a number of the census.
    pub(crate) function: u32,
    /// Index in the communicator's members.
    pub(crate) member: u32,
    /// Sequence number.
    pub(crate) sequence_number: i64,
    /// Message size, bytes.
    pub(crate) size: u64,
    /// Kernel time, µs.
    pub(crate) micros: f64,
    /// When its line was written, by the mean of the hosts' clocks.
    pub(crate) dumped: i64,
    /// Peer's rank, for Send and Recv; -1 otherwise.
    pub(crate) peer: i32,
}

/// Communicators (by index) and the part of their sequence numbers to take: part `k` of `n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Portion {
    /// Communicators.
    pub(crate) comms: std::ops::Range<usize>,
    /// Part and number of parts.
    pub(crate) part: (u32, u32),
}

/// Cuts the communicators into portions of at most about `max_rows` records.
pub(crate) fn portions(rows_of_comm: &[u64], max_rows: u64) -> Vec<Portion> {
    let max_rows = max_rows.max(1);
    let mut out = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (i, &rows) in rows_of_comm.iter().enumerate() {
        if sum + rows > max_rows && start < i {
            out.push(Portion {
                comms: start..i,
                part: (0, 1),
            });
            (start, sum) = (i, 0);
        }
        if rows > max_rows {
            let parts = u32::try_from(rows.div_ceil(max_rows)).unwrap_or(u32::MAX);
            out.extend((0..parts).map(|k| Portion {
                comms: i..i + 1,
                part: (k, parts),
            }));
            (start, sum) = (i + 1, 0);
        } else {
            sum += rows;
        }
    }
    if start < rows_of_comm.len() {
        out.push(Portion {
            comms: start..rows_of_comm.len(),
            part: (0, 1),
        });
    }
    out
}

/// Reads the records of a portion, by communicator, each sorted by function, sequence number, member, time.
pub(crate) fn gather(
    dataset: &Dataset,
    table: Table,
    m: &Measured,
    portion: &Portion,
) -> Result<Vec<Vec<Row>>, Error> {
    let (census, topology) = (&m.census, &m.topology);
    let files: Vec<PathBuf> = dataset.table(table);
    let buckets: Vec<Mutex<Vec<Row>>> = portion
        .comms
        .clone()
        .map(|_| Mutex::new(Vec::new()))
        .collect();
    let ranges = part_ranges(census, topology, portion);
    files.par_iter().try_for_each(|path| -> Result<(), Error> {
        let mut endpoint: Vec<Option<u32>> = Vec::new();
        let mut function: Vec<u32> = Vec::new();
        let mut local: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
        scan::operations(path, table, |names, batch| {
            for key in &names.endpoints.items()[endpoint.len()..] {
                endpoint.push(census.endpoints.get(key));
            }
            for name in &names.functions.items()[function.len()..] {
                function.push(census.functions.get(name).unwrap_or(u32::MAX));
            }
            for i in 0..batch.len() {
                let Some(e) = endpoint[batch.endpoint[i] as usize] else {
                    continue;
                };
                let (comm, member) = topology.place[e as usize];
                let comm = comm as usize;
                let offset =
                    m.clock[topology.comms[comm].members[member as usize].1.0 as usize] as i64;
                if batch.timing[i] != m.timing || !portion.comms.contains(&comm) {
                    continue;
                }
                let (f, sn) = (
                    function[batch.function[i] as usize],
                    batch.sequence_number[i],
                );
                if ranges
                    .as_ref()
                    .is_some_and(|r| r.get(&f).is_none_or(|&(lo, hi)| sn < lo || sn > hi))
                {
                    continue;
                }
                local
                    .entry(comm - portion.comms.start)
                    .or_default()
                    .push(Row {
                        function: f,
                        member,
                        sequence_number: sn,
                        size: batch.size[i],
                        micros: batch.micros[i],
                        dumped: batch.dumped[i].saturating_sub(offset),
                        peer: batch.peer[i],
                    });
            }
            Ok(())
        })?;
        for (comm, rows) in local {
            let mut bucket = buckets[comm]
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            bucket.extend(rows);
        }
        Ok(())
    })?;
    Ok(buckets
        .into_par_iter()
        .map(|b| {
            let mut rows = b
                .into_inner()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            // Every field takes part, so that the order doesn't depend on which file was read first.
            rows.sort_unstable_by(|a, b| {
                (
                    a.function,
                    a.sequence_number,
                    a.member,
                    a.dumped,
                    a.size,
                    a.peer,
                )
                    .cmp(&(
                        b.function,
                        b.sequence_number,
                        b.member,
                        b.dumped,
                        b.size,
                        b.peer,
                    ))
                    .then(a.micros.total_cmp(&b.micros))
            });
            rows
        })
        .collect())
}

/// First and last sequence number of each function for a portion that is a part of a communicator.
fn part_ranges(
    census: &Census,
    topology: &Topology,
    portion: &Portion,
) -> Option<BTreeMap<u32, (i64, i64)>> {
    let (k, n) = portion.part;
    if n == 1 {
        return None;
    }
    let mut whole: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    for ((e, f), numbers) in &census.numbers {
        if portion
            .comms
            .contains(&(topology.place[*e as usize].0 as usize))
        {
            let range = whole.entry(*f).or_insert((i64::MAX, i64::MIN));
            *range = (range.0.min(numbers.first), range.1.max(numbers.last));
        }
    }
    let cut = |(lo, hi): (i64, i64), at: u32| {
        lo + ((i128::from(hi) - i128::from(lo) + 1) * i128::from(at) / i128::from(n)) as i64
    };
    Some(
        whole
            .into_iter()
            .map(|(f, r)| (f, (cut(r, k), cut(r, k + 1) - 1)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_fit_and_leave_nothing_out() {
        let p = portions(&[10, 20, 500, 5, 5], 100);
        assert_eq!(p.len(), 1 + 5 + 1);
        assert_eq!(
            p[0],
            Portion {
                comms: 0..2,
                part: (0, 1)
            }
        );
        assert_eq!(
            p[1],
            Portion {
                comms: 2..3,
                part: (0, 5)
            }
        );
        assert_eq!(
            p[6],
            Portion {
                comms: 3..5,
                part: (0, 1)
            }
        );
        assert!(portions(&[], 100).is_empty());
        assert_eq!(
            portions(&[0, 0], 100),
            [Portion {
                comms: 0..2,
                part: (0, 1)
            }]
        );
    }
}
