//! Exchanges among all ranks of a communicator (an all-to-all), written as one Send and one Recv for each peer.
//!
//! NCCL runs such a group as one kernel, and each of its Sends and Receives shows the time of the whole. So an exchange is a
//! collective: all ranks leave it together, and the last to arrive shows the shortest time. `p2p_sn` counts locally, but every
//! rank does as many operations in each exchange, so the n-th exchange of one rank is the n-th of another.

use std::collections::{BTreeMap, BTreeSet};

use super::Traffic;
use crate::collective::row::Row;
use crate::communicator::Comm;
use crate::facts::TimingSource;
use crate::records::held::Held;
use crate::statistics::robust;

/// A rank that sends to more others than its two neighbours takes part in an exchange.
const NEIGHBOURS: usize = 2;

/// So much of the exchanges must begin where their length says that they should.
const REGULAR: f64 = 0.9;

/// A Send or Recv of one member.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    /// Function, member, number, time and stamp.
    row: Row,
    /// Peer's rank.
    peer: i32,
}

/// The Sends and Receives of a communicator in which a rank sends to more than its neighbours; none of another one's.
pub(crate) fn operations(
    comm: &Comm,
    held: &Held,
    timing: TimingSource,
    ahead: &[i64],
    traffic: &Traffic,
) -> Vec<Operation> {
    if traffic.most_destinations() <= NEIGHBOURS {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (member, &(_, _, endpoint)) in (0_u32..).zip(&comm.members) {
        for (file, records) in held.of_endpoint(endpoint) {
            for r in records {
                let (function, size, t) = file.cell(r);
                if t == timing {
                    let row = Row {
                        function,
                        member,
                        sequence_number: r.sequence_number,
                        size,
                        micros: r.micros,
                        dumped: r.dumped.saturating_sub(ahead[member as usize]),
                    };
                    out.push(Operation { row, peer: r.peer });
                }
            }
        }
    }
    out
}

/// The exchanges of a communicator as collectives: a row for each rank and exchange, numbered alike on all ranks, sorted by number
/// and member. Empty where the records aren't exchanges, or where the ranks' aren't of one length.
pub(crate) fn exchanges(
    operations: &[Operation],
    direction: &dyn Fn(u32) -> Option<bool>,
) -> Vec<Row> {
    let mut by_member: BTreeMap<u32, Vec<&Operation>> = BTreeMap::new();
    for o in (operations.iter()).filter(|o| direction(o.row.function).is_some()) {
        by_member.entry(o.row.member).or_default().push(o);
    }
    let mut out = Vec::new();
    let mut lengths = BTreeSet::new();
    for mine in by_member.values_mut() {
        mine.sort_by(|a, b| {
            let key = |o: &Operation| {
                let r = &o.row;
                (r.sequence_number, r.dumped, r.function, o.peer)
            };
            key(a).cmp(&key(b))
        });
        let groups = groups(mine);
        let Some(length) = length(&groups, direction) else {
            return Vec::new();
        };
        lengths.insert(length);
        for group in &groups {
            let mut times: Vec<f64> = group.iter().map(|o| o.row.micros).collect();
            if let Some(micros) = robust::median(&mut times) {
                let first = group[0].row;
                out.push(Row {
                    sequence_number: (first.sequence_number - 1).div_euclid(length),
                    micros,
                    ..first
                });
            }
        }
    }
    if lengths.len() > 1 {
        return Vec::new();
    }
    // One function for all, whichever came first in a group.
    let function = out.iter().map(|r| r.function).min().unwrap_or(0);
    out.iter_mut().for_each(|r| r.function = function);
    out.sort_by_key(|r| (r.sequence_number, r.member, r.dumped));
    out
}

/// Cuts the records of a rank where a Send or Recv with a peer comes again.
fn groups<'a>(mine: &[&'a Operation]) -> Vec<Vec<&'a Operation>> {
    let mut out: Vec<Vec<&Operation>> = Vec::new();
    let mut seen = BTreeSet::new();
    for &o in mine {
        let with = (o.row.function, o.peer);
        if out.is_empty() || !seen.insert(with) {
            seen = BTreeSet::from([with]);
            out.push(Vec::new());
        }
        if let Some(last) = out.last_mut() {
            last.push(o);
        }
    }
    out
}

/// Operations of an exchange: the usual length of the groups, where they begin at multiples of it and hold Sends to several peers.
fn length(groups: &[Vec<&Operation>], direction: &dyn Fn(u32) -> Option<bool>) -> Option<i64> {
    let mut lengths: Vec<f64> = groups.iter().map(|g| g.len() as f64).collect();
    let length = robust::median(&mut lengths)? as i64;
    let sends = groups
        .iter()
        .map(|g| {
            g.iter()
                .filter(|o| direction(o.row.function) == Some(true))
                .count()
        })
        .max()?;
    let regular = groups
        .iter()
        .filter(|g| (g[0].row.sequence_number - 1).rem_euclid(length.max(1)) == 0)
        .count();
    (sends > NEIGHBOURS && regular as f64 >= REGULAR * groups.len() as f64).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(member: u32, function: u32, peer: i32, sn: i64, micros: f64) -> Operation {
        let row = Row {
            function,
            member,
            sequence_number: sn,
            size: 8192,
            micros,
            dumped: sn,
        };
        Operation { row, peer }
    }

    /// Four ranks, exchanges of three Sends and three Receives; rank 2 waits least.
    fn all_to_all(exchanges: i64) -> Vec<Operation> {
        let mut rows = Vec::new();
        for member in 0..4_u32 {
            let mut sn = 0;
            for k in 0..exchanges {
                for peer in (0..4_i32).filter(|&p| p != member as i32) {
                    for function in [0, 1] {
                        sn += 1;
                        let micros = if member == 2 { 100.0 } else { 150.0 + k as f64 };
                        rows.push(row(member, function, peer, sn, micros));
                    }
                }
            }
        }
        rows
    }

    #[test]
    fn an_exchange_is_one_row_a_rank_numbered_alike() {
        let direction = |f: u32| Some(f == 0);
        let mut rows = all_to_all(3);
        // The first exchange of rank 1 was lost: its others keep their numbers.
        rows.retain(|o| o.row.member != 1 || o.row.sequence_number > 6);
        let got: Vec<(i64, u32, f64)> = exchanges(&rows, &direction)
            .iter()
            .map(|r| (r.sequence_number, r.member, r.micros))
            .collect();
        let mut expected = Vec::new();
        for k in 0..3_i64 {
            for member in 0..4_u32 {
                if k > 0 || member != 1 {
                    let micros = if member == 2 { 100.0 } else { 150.0 + k as f64 };
                    expected.push((k, member, micros));
                }
            }
        }
        assert_eq!(got, expected);
    }

    #[test]
    fn a_pipeline_is_no_exchange() {
        let direction = |f: u32| Some(f == 0);
        let rows: Vec<Operation> = (0..20)
            .flat_map(|k| [row(0, 0, 1, k + 1, 10.0), row(1, 1, 0, k + 1, 500.0)])
            .collect();
        assert!(exchanges(&rows, &direction).is_empty());
        assert!(exchanges(&[], &direction).is_empty());
    }
}
