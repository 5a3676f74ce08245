//! The times in which a rank, or a host, was late: from when the others had arrived at a collective until it did.
//!
//! All kernels of a collective end together, so how much later than the others a rank arrived is the difference of their times. When that
//! was, a verbose dump says, by the start of the rank's own kernel. Another one says it to about a dump interval.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nccl_report_ingest::{Dataset, Table};

use super::stretches::{Stretch, Stretches};
use super::transfers::{ends, host_of_members, portions_of};
use crate::Error;
use crate::collective::gather;
use crate::collective::order;
use crate::collective::row::Row;
use crate::measured::Measured;
use crate::records::operation::semantics;
use crate::records::traces;

/// The latest arrivals that make up this part of all lateness are looked at: what a rank does in the others is what any rank does.
const PART: f64 = 0.8;

/// Late arrivals kept of one rank; of more the latest.
const MOST: usize = 100_000;

/// When someone was late.
#[derive(Debug, Clone)]
pub(crate) struct LateWindows {
    /// By the mean of the hosts' clocks, ns.
    pub(crate) windows: Stretches,
    /// Each of them, and how late it was within, ns.
    pub(crate) each: Vec<(Stretch, f64)>,
    /// How late all in all, ns.
    pub(crate) late: f64,
    /// Whether they are only known to about a dump interval.
    pub(crate) coarse: bool,
    /// The latest arrival.
    pub(crate) latest: Option<Arrival>,
}

/// A late arrival at a collective.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arrival {
    /// Function and message size, bytes.
    pub(crate) function: u32,
    pub(crate) size: u64,
    pub(crate) sequence_number: i64,
    /// How late, and how long the own kernel ran, µs.
    pub(crate) late: f64,
    pub(crate) micros: f64,
    /// From when the others were there until it arrived, ns by the mean of the hosts' clocks; wider where that isn't known.
    pub(crate) window: (i64, i64),
    /// The member that arrived last.
    member: u32,
    /// It ended between these, µs by the mean of the hosts' clocks as that of its own host tells it; zero until that is looked up.
    ended: (i64, i64),
}

/// When some members of a communicator arrived after all others; `None` where they never did.
pub(crate) fn late_windows(
    dataset: &Dataset,
    m: &Measured,
    comm: usize,
    members: &BTreeSet<u32>,
    max_rows: u64,
) -> Result<Option<LateWindows>, Error> {
    let functions = m.census.functions.items();
    let (_, host_of) = host_of_members(m, comm);
    let n_ranks = m.topology.comms[comm].n_ranks;
    let mut arrivals: Vec<Arrival> = Vec::new();
    for portion in portions_of(m, comm, max_rows) {
        let gathered = gather::gather(dataset, Table::Collectives, m, &portion)?;
        let matched = order::matched(m, comm, &gathered);
        let ends = ends(m, comm, &matched, &host_of);
        for ((x, _), ended) in matched.collectives().zip(&ends.each) {
            let function = &functions[x.cell().0 as usize];
            if semantics(function, n_ranks).ends_together {
                arrivals.extend(arrival(x.rows, members).map(|a| {
                    let ahead = ends.ahead[host_of[a.member as usize]];
                    let ended = (ended.0 + ahead, ended.1 + ahead);
                    Arrival { ended, ..a }
                }));
            }
        }
    }
    arrivals.sort_by(|a, b| {
        b.late
            .total_cmp(&a.late)
            .then_with(|| (a.function, a.sequence_number).cmp(&(b.function, b.sequence_number)))
    });
    let all: f64 = arrivals.iter().map(|a| a.late).sum();
    let mut so_far = 0.0;
    let kept = arrivals
        .iter()
        .take(MOST)
        .take_while(|a| {
            let more = so_far < PART * all;
            so_far += a.late;
            more
        })
        .count();
    arrivals.truncate(kept);
    if arrivals.is_empty() {
        return Ok(None);
    }
    let starts = starts(dataset, m, comm, &arrivals)?;
    let mut coarse = false;
    for a in &mut arrivals {
        let key = (a.function, a.sequence_number, a.member);
        let late = a.late as i64;
        let micros = match starts.get(&key) {
            Some(&start) => (start - late, start),
            None => {
                coarse = true;
                let own = a.micros as i64;
                (a.ended.0 - own - late, a.ended.1 - own)
            }
        };
        a.window = (micros.0.saturating_mul(1000), micros.1.saturating_mul(1000));
    }
    Ok(Some(LateWindows {
        windows: Stretches::of(arrivals.iter().map(|a| a.window).collect()),
        each: arrivals.iter().map(|a| (a.window, a.late * 1e3)).collect(),
        late: arrivals.iter().map(|a| a.late * 1e3).sum(),
        coarse,
        latest: arrivals.into_iter().next(),
    }))
}

/// How the members' arrival stands to that of the others, if it was the last.
fn arrival(rows: &[Row], members: &BTreeSet<u32>) -> Option<Arrival> {
    let others = rows
        .iter()
        .filter(|r| !members.contains(&r.member))
        .map(|r| r.micros)
        .fold(f64::INFINITY, f64::min);
    let own = rows
        .iter()
        .filter(|r| members.contains(&r.member))
        .min_by(|a, b| a.micros.total_cmp(&b.micros))?;
    let late = others - own.micros;
    (late.is_finite() && late > 0.0).then_some(Arrival {
        function: own.function,
        size: own.size,
        sequence_number: own.sequence_number,
        late,
        micros: own.micros,
        window: (0, 0),
        member: own.member,
        ended: (0, 0),
    })
}

/// When kernels of late arrivals started, where dumps are verbose: µs by the mean of the hosts' clocks.
fn starts(
    dataset: &Dataset,
    m: &Measured,
    comm: usize,
    arrivals: &[Arrival],
) -> Result<HashMap<(u32, i64, u32), i64>, Error> {
    let functions = m.census.functions.items();
    let of = &m.topology.comms[comm];
    let wanted: BTreeSet<(&str, i64, u32)> = arrivals
        .iter()
        .map(|a| {
            (
                functions[a.function as usize].as_str(),
                a.sequence_number,
                a.member,
            )
        })
        .collect();
    let members: BTreeSet<u32> = arrivals.iter().map(|a| a.member).collect();
    // Rank and process tell the row's member; the process also where to look.
    let mut who: BTreeMap<(i64, &str, i64), (u32, i64)> = BTreeMap::new();
    for &member in &members {
        let (rank, process, _) = of.members[member as usize];
        let p = &m.topology.processes[process.0 as usize];
        let ahead = m.clock[process.0 as usize] as i64;
        who.insert((i64::from(rank), p.host.as_str(), p.pid), (member, ahead));
    }
    let mut starts = HashMap::new();
    for file in dataset.files() {
        let speaks = file
            .census
            .processes
            .iter()
            .any(|p| who.keys().any(|k| k.1 == p.hostname && k.2 == p.pid));
        let Some(table) = file
            .tables
            .iter()
            .find(|t| t.table == Table::Channels && speaks)
        else {
            continue;
        };
        traces::channels(&dataset.root().join(&table.path), |row| {
            if row.p2p || row.id != of.id {
                return;
            }
            let Some(&(member, ahead)) = who.get(&(row.rank, row.host, row.pid)) else {
                return;
            };
            if !wanted.contains(&(row.function, row.sequence_number, member)) {
                return;
            }
            let Some(function) = m.census.functions.find(row.function) else {
                return;
            };
            let start = row.ran.0 - ahead;
            let first = starts
                .entry((function, row.sequence_number, member))
                .or_insert(start);
            *first = (*first).min(start);
        })?;
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(member: u32, micros: f64, dumped: i64) -> Row {
        Row {
            function: 0,
            member,
            sequence_number: 7,
            size: 8,
            micros,
            dumped,
        }
    }

    #[test]
    fn lateness_is_the_difference_to_the_last_of_the_others() {
        let rows = [
            row(0, 500.0, 1_000),
            row(1, 100.0, 1_040),
            row(2, 300.0, 990),
        ];
        let late = arrival(&rows, &[1].into()).expect("the last to arrive");
        assert!((late.late - 200.0).abs() < 1e-9);
        assert!(arrival(&rows, &[0].into()).is_none());
        assert!(arrival(&rows, &[0, 1, 2].into()).is_none());
        let host = arrival(&rows, &[1, 2].into()).expect("both after rank 0");
        assert!((host.late - 400.0).abs() < 1e-9);
    }
}
