//! Reads the kernels of a dataset from its table of channels.

use std::collections::HashMap;
use std::path::Path;

use nccl_report_ingest::{Dataset, Table};
use rayon::prelude::*;

use super::{Kernel, Kernels};
use crate::Error;
use crate::communicator::Topology;
use crate::records::census::Census;
use crate::records::traces::{self, KernelRow};

/// Kernels held at most, 48 bytes each: 25 MB. Of a longer job it is one number in two, three, …: offsets of clocks and shares of
/// collectives don't become surer by more.
const MOST: u64 = 1 << 19;

/// 2^64 divided by the golden ratio: numbers that follow a pattern, as those of one step do, follow none when multiplied by it.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Stamps are noticed late by tens of microseconds, now and then by a scheduler's turn: so far may a kernel's stamps be from how long it
/// took, beside twice that time, µs.
const NOTICED_LATE: i64 = 5_000;

/// A kernel's line is written a dump interval after it, a day at most; a stamp further off is of another clock, µs.
const SAME_CLOCK: u64 = 86_400_000_000;

/// Communicator's id, host, process and rank, as the table gives them.
type Endpoint<'a> = (&'a str, &'a str, i64, i64);

/// Where each rank of each communicator belongs; `None` where two share all that the table tells of them.
type Places<'a> = HashMap<Endpoint<'a>, Option<(u32, u32)>>;

/// The kernels of the collectives of a dataset; none where its dumps aren't verbose.
///
/// # Errors
/// When a file of the dataset can't be read or isn't one of ours.
pub(crate) fn read(
    dataset: &Dataset,
    topology: &Topology,
    census: &Census,
) -> Result<Kernels, Error> {
    let files = dataset.table(Table::Channels);
    if files.is_empty() {
        return Ok(Kernels::default());
    }
    let records = dataset.table_rows(Table::Collectives);
    let every = records
        .iter()
        .map(|t| t.1)
        .sum::<u64>()
        .div_ceil(MOST)
        .max(1);
    let places = places(topology, census);
    let lists: Vec<Vec<Kernel>> = files
        .par_iter()
        .map(|path| of_file(path, &places, census, every))
        .collect::<Result<_, _>>()?;
    Ok(Kernels::of(lists.concat(), every))
}

fn places<'a>(topology: &Topology, census: &'a Census) -> Places<'a> {
    let mut places = Places::new();
    for (key, &place) in census.endpoints.items().iter().zip(&topology.place) {
        let endpoint = (
            key.id.as_str(),
            key.host.as_str(),
            key.pid,
            i64::from(key.rank),
        );
        places
            .entry(endpoint)
            .and_modify(|known| *known = None)
            .or_insert(Some(place));
    }
    places
}

/// Whether a number is one of those that are looked at.
fn is_taken(sequence_number: i64, every: u64) -> bool {
    (sequence_number.cast_unsigned().wrapping_mul(SPREAD) >> 32).is_multiple_of(every)
}

/// Whether a channel's stamps can be what they say.
fn is_believable(row: &KernelRow<'_>) -> bool {
    let (start, stop) = row.ran;
    stop.saturating_sub(start) <= row.micros.saturating_mul(2).saturating_add(NOTICED_LATE)
        && row.dumped.abs_diff(stop) <= SAME_CLOCK
}

fn of_file(
    path: &Path,
    places: &Places<'_>,
    census: &Census,
    every: u64,
) -> Result<Vec<Kernel>, Error> {
    let mut list: Vec<Kernel> = Vec::new();
    traces::channels(path, |row: KernelRow<'_>| {
        if row.p2p || !is_taken(row.sequence_number, every) || !is_believable(&row) {
            return;
        }
        let place = places.get(&(row.id, row.host, row.pid, row.rank));
        let (Some(&Some((comm, member))), Some(function)) =
            (place, census.functions.find(row.function))
        else {
            return;
        };
        // The channels of a record follow each other.
        match list.last_mut() {
            Some(k)
                if (k.line, k.comm, k.member) == (row.line, comm, member)
                    && (k.function, k.sequence_number) == (function, row.sequence_number) =>
            {
                k.start = k.start.min(row.ran.0);
                k.stop = k.stop.min(row.ran.1);
            }
            _ => list.push(Kernel {
                comm,
                function,
                sequence_number: row.sequence_number,
                member,
                line: row.line,
                start: row.ran.0,
                stop: row.ran.1,
            }),
        }
    })?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_looked_at_follow_no_pattern() {
        // Of the first of every 12 numbers, as of all, a third.
        let taken =
            |numbers: &mut dyn Iterator<Item = i64>| numbers.filter(|&n| is_taken(n, 3)).count();
        let (all, first) = (taken(&mut (0..12_000)), taken(&mut (0..12_000).step_by(12)));
        assert!((3_900..4_100).contains(&all), "{all}");
        assert!((300..370).contains(&first), "{first}");
        assert!((0..100).all(|n| is_taken(n, 1)));
    }
}
