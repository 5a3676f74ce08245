//! The records of some communicators, brought together from where they lie: a temporary file, or those of the dataset.
//!
//! Matching needs all ranks of a communicator side by side, and memory is bounded: where the records of a job don't fit,
//! communicators are taken in portions whose records do, and one too large for that in portions of its sequence numbers.

use std::collections::BTreeMap;
use std::path::Path;

use nccl_report_ingest::{Dataset, Table};
use rayon::prelude::*;

use crate::Error;
use crate::communicator::Topology;
use crate::measured::Measured;
use crate::records::cell::{CellIndex, CellKey};
use crate::records::census::Census;
use crate::records::held::{Cell, Held, HeldFile, Record};
use crate::records::scan;
use crate::records::spill::{Spill, SpilledFile};

/// Communicators (by index) and the part of their sequence numbers to take: part `k` of `n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Portion {
    /// Communicators.
    pub(crate) comms: std::ops::Range<usize>,
    /// Part and number of parts.
    pub(crate) part: (u32, u32),
}

impl Portion {
    /// All records of so many communicators.
    pub(crate) fn all(comms: usize) -> Self {
        Self {
            comms: 0..comms,
            part: (0, 1),
        }
    }

    /// Whether no further records of its communicators come.
    pub(crate) fn is_last(&self) -> bool {
        self.part.0 + 1 == self.part.1
    }
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

/// Reads the records of a portion from the temporary file.
pub(crate) fn load(
    spill: &Spill,
    files: &[SpilledFile],
    m: &Measured,
    portion: &Portion,
) -> Result<Held, Error> {
    let ranges = part_ranges(&m.census, &m.topology, portion);
    let wanted = |endpoint: u32, numbers: (i64, i64)| {
        let place = m.topology.place.get(endpoint as usize);
        let meet = |&(first, last): &(i64, i64)| first <= numbers.1 && numbers.0 <= last;
        place.is_some_and(|place| portion.comms.contains(&(place.0 as usize)))
            && ranges.as_ref().is_none_or(|r| r.values().any(meet))
    };
    let keep = |record: &Record, &(function, _, timing): &Cell| {
        timing == m.timing
            && ranges.as_ref().is_none_or(|ranges| {
                ranges.get(&function).is_some_and(|&(first, last)| {
                    first <= record.sequence_number && record.sequence_number <= last
                })
            })
    };
    let files: Vec<HeldFile> = files
        .par_iter()
        .map(|file| spill.load(file, wanted, keep))
        .collect::<Result<_, _>>()?;
    Ok(Held::new(files))
}

/// Reads the records of a portion from the dataset.
pub(crate) fn gather(
    dataset: &Dataset,
    table: Table,
    m: &Measured,
    portion: &Portion,
) -> Result<Held, Error> {
    let ranges = part_ranges(&m.census, &m.topology, portion);
    let files: Vec<HeldFile> = dataset
        .table(table)
        .par_iter()
        .map(|path| of_file(path, table, m, portion, ranges.as_ref()))
        .collect::<Result<_, _>>()?;
    Ok(Held::new(files))
}

/// First and last sequence number of each function that are to be taken.
type Ranges = BTreeMap<u32, (i64, i64)>;

fn of_file(
    path: &Path,
    table: Table,
    m: &Measured,
    portion: &Portion,
    ranges: Option<&Ranges>,
) -> Result<HeldFile, Error> {
    // By the file's own numbers: the census's endpoint where it belongs to the portion, and its function and range.
    let mut endpoints: Vec<Option<u32>> = Vec::new();
    let mut functions: Vec<(u32, Option<(i64, i64)>)> = Vec::new();
    let mut cells = CellIndex::default();
    let mut records: Vec<Record> = Vec::new();
    scan::operations(path, table, |names, batch| {
        for key in &names.endpoints.items()[endpoints.len()..] {
            let known = m.census.endpoints.get(key);
            endpoints.push(known.filter(|&e| {
                let comm = m.topology.place[e as usize].0 as usize;
                portion.comms.contains(&comm)
            }));
        }
        for name in &names.functions.items()[functions.len()..] {
            let f = m.census.functions.get(name).unwrap_or(u32::MAX);
            let range = match ranges {
                None => Some((i64::MIN, i64::MAX)),
                Some(r) => r.get(&f).copied(),
            };
            functions.push((f, range));
        }
        for i in 0..batch.len() {
            let (endpoint, sn) = (batch.endpoint[i], batch.sequence_number[i]);
            if batch.timing[i] != m.timing || endpoints[endpoint as usize].is_none() {
                continue;
            }
            let inside = |&(first, last): &(i64, i64)| first <= sn && sn <= last;
            if !functions[batch.function[i] as usize]
                .1
                .as_ref()
                .is_some_and(inside)
            {
                continue;
            }
            records.push(Record {
                sequence_number: sn,
                dumped: batch.dumped[i],
                micros: batch.micros[i],
                cell: cells.number(CellKey {
                    endpoint,
                    function: batch.function[i],
                    size: batch.size[i],
                    timing: batch.timing[i],
                    p2p: table == Table::P2p,
                }),
                peer: batch.peer[i],
            });
        }
        Ok(())
    })?;
    let mut held = HeldFile::new(records, cells.keys());
    let endpoints: Vec<u32> = endpoints.iter().map(|e| e.unwrap_or(u32::MAX)).collect();
    let functions: Vec<u32> = functions.iter().map(|f| f.0).collect();
    held.rename(&endpoints, &functions);
    Ok(held)
}

/// First and last sequence number of each function for a portion that is a part of a communicator.
fn part_ranges(census: &Census, topology: &Topology, portion: &Portion) -> Option<Ranges> {
    let (k, n) = portion.part;
    if n == 1 {
        return None;
    }
    let mut whole = Ranges::new();
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
