//! The records of one communicator in the order in which matching wants them: by function, sequence number, member.
//!
//! Numbers are dense where little is lost, so each record has a place that can be counted out; sorting is for the rest.

use super::matching::Matched;
use super::row::Row;
use crate::communicator::Comm;
use crate::facts::{ProcessId, TimingSource};
use crate::measured::Measured;
use crate::records::hash::NumberMap;
use crate::records::held::{Held, Record};

/// Places may be this many times the records: a counter takes four bytes, a row ten times that.
const PLACES_PER_RECORD: u64 = 4;

/// How much the clock of each member's host is ahead of the mean of all, µs.
pub(crate) fn ahead(comm: &Comm, clock: &[f64]) -> Vec<i64> {
    let of = |m: &(u32, ProcessId, u32)| clock[m.1.0 as usize] as i64;
    comm.members.iter().map(of).collect()
}

/// The collectives of a communicator among records that were gathered.
pub(crate) fn matched(m: &Measured, comm: usize, held: &Held) -> Matched {
    let comm = &m.topology.comms[comm];
    Matched::of(rows(comm, held, m.timing, &ahead(comm, &m.clock)))
}

/// One function's numbers.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    function: u32,
    first: i64,
    last: i64,
}

/// The rows of a communicator with a timing; `ahead` tells how much the clock of each member's host is ahead, µs. Sorted by
/// function, sequence number and member; rows equal in these are in the order of the files.
pub(crate) fn rows(comm: &Comm, held: &Held, timing: TimingSource, ahead: &[i64]) -> Vec<Row> {
    let (mut numbers, n) = numbers(comm, held, timing);
    numbers.sort_unstable_by_key(|f| f.function);
    let places: u64 = numbers
        .iter()
        .map(|f| f.last.abs_diff(f.first).saturating_add(1))
        .fold(0, u64::saturating_add);
    if places > PLACES_PER_RECORD * n as u64 || u32::try_from(n).is_err() {
        return sorted(comm, held, timing, ahead, n);
    }

    // The place of each function's first number.
    let mut base: NumberMap<u32, (u64, i64)> = NumberMap::default();
    let mut end = 0;
    for f in &numbers {
        base.insert(f.function, (end, f.first));
        end += f.last.abs_diff(f.first) + 1;
    }
    let mut base = Last::new(|f| base.get(&f).copied().unwrap_or_default());
    let mut place = |f: u32, sn: i64| {
        let (start, first) = base.of(f);
        (start + sn.abs_diff(first)) as usize
    };
    // How many records have each place, then where the next one goes.
    let mut next = vec![0_u32; places as usize];
    each(comm, held, timing, |_, function, _, r| {
        next[place(function, r.sequence_number)] += 1;
    });
    let mut end = 0;
    for n in &mut next {
        (*n, end) = (end, end + *n);
    }
    let mut rows = vec![Row::default(); n];
    each(comm, held, timing, |member, function, size, r| {
        let at = &mut next[place(function, r.sequence_number)];
        rows[*at as usize] = row(member, function, size, r, ahead);
        *at += 1;
    });
    rows
}

/// The numbers that each function has, and how many records there are.
fn numbers(comm: &Comm, held: &Held, timing: TimingSource) -> (Vec<Numbers>, usize) {
    let mut out: Vec<Numbers> = Vec::new();
    let mut index: NumberMap<u32, usize> = NumberMap::default();
    let (mut last, mut n) = ((0, 0), 0);
    each(comm, held, timing, |_, function, _, r| {
        n += 1;
        if n == 1 || last.0 != function {
            let place = *index.entry(function).or_insert_with(|| {
                out.push(Numbers {
                    function,
                    first: i64::MAX,
                    last: i64::MIN,
                });
                out.len() - 1
            });
            last = (function, place);
        }
        let f = &mut out[last.1];
        f.first = f.first.min(r.sequence_number);
        f.last = f.last.max(r.sequence_number);
    });
    (out, n)
}

/// What is known of the last function asked for, which mostly is the next one too.
struct Last<F> {
    look_up: F,
    last: Option<(u32, (u64, i64))>,
}

impl<F: Fn(u32) -> (u64, i64)> Last<F> {
    fn new(look_up: F) -> Self {
        Self {
            look_up,
            last: None,
        }
    }

    fn of(&mut self, function: u32) -> (u64, i64) {
        match self.last {
            Some((f, known)) if f == function => known,
            _ => {
                let known = (self.look_up)(function);
                self.last = Some((function, known));
                known
            }
        }
    }
}

fn sorted(comm: &Comm, held: &Held, timing: TimingSource, ahead: &[i64], n: usize) -> Vec<Row> {
    let mut rows = Vec::with_capacity(n);
    each(comm, held, timing, |member, function, size, r| {
        rows.push(row(member, function, size, r, ahead));
    });
    // Stable: members and files come in order already.
    rows.sort_by_key(|r: &Row| (r.function, r.sequence_number));
    rows
}

fn row(member: u32, function: u32, size: u64, r: &Record, ahead: &[i64]) -> Row {
    Row {
        function,
        member,
        sequence_number: r.sequence_number,
        size,
        micros: r.micros,
        dumped: r.dumped.saturating_sub(ahead[member as usize]),
    }
}

/// Calls `visit` with member, function and size of every record with a timing, member by member.
fn each(
    comm: &Comm,
    held: &Held,
    timing: TimingSource,
    mut visit: impl FnMut(u32, u32, u64, &Record),
) {
    for (member, &(_, _, endpoint)) in (0_u32..).zip(&comm.members) {
        for (file, records) in held.of_endpoint(endpoint) {
            for r in records {
                let (function, size, t) = file.cell(r);
                if t == timing {
                    visit(member, function, size, r);
                }
            }
        }
    }
}
