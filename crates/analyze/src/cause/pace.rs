//! How fast a slow link is in numbers that a person can check: one operation at one size, the slow against their peers.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::slow_link::SlowLink;
use super::transfer::Unit;
use super::words;
use crate::collective::transfer::{Transfer, Transfers};
use crate::measured::Measured;
use crate::records::operation::bus_bandwidth;
use crate::statistics::robust;

/// The pace of a slow link's communicators or pairs, and of what they are compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pace {
    /// `AllReduce`, …; `Send` for pairs.
    pub(super) operation: String,
    /// Message size, bytes.
    pub(super) size: u64,
    /// Of the slow.
    pub(super) slow: Level,
    /// Of their peers at the same time, or of themselves at other times.
    pub(super) usual: Option<Level>,
    /// How many peers; 0 where the slow are compared with themselves at other times.
    pub(super) peers: usize,
    /// The slow one by one: name, transfer time, µs; the slowest first.
    pub(super) each: Vec<(String, f64)>,
}

/// Transfer time and what it makes in bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Level {
    /// Transfer time, median over communicators or pairs of their means, µs.
    pub(super) micros: f64,
    /// Bus bandwidth, GB/s.
    pub(super) busbw: Option<f64>,
}

/// A function and message size; of pairs, which all are sends, the size alone.
type Cell = (u32, u64);

/// Transfer times of a unit.
struct Series<'a> {
    unit: &'a Unit,
    cells: BTreeMap<Cell, Transfers>,
}

/// The operation in which the slow lose most, in numbers. `None` where no operation of theirs has transfer times.
pub(super) fn pace(m: &Measured, units: &[Unit], l: &SlowLink) -> Option<Pace> {
    let window = l.standout.start..l.standout.end;
    let slow: Vec<Series<'_>> = l.units.iter().map(|&u| series(m, &units[u])).collect();
    // Of several kinds, the one with the longest excess.
    let excess = |u: &Unit| u.excess[window.clone()].iter().sum::<f64>();
    let most = slow
        .iter()
        .max_by(|a, b| excess(a.unit).total_cmp(&excess(b.unit)))?;
    let kind = most.unit.kind;
    let cell = heaviest(most, &window)?;
    let of_kind = |s: &&Series<'_>| s.unit.kind == kind;
    let slow: Vec<&Series<'_>> = slow.iter().filter(of_kind).collect();
    let is_slow: BTreeSet<usize> = l.units.iter().copied().collect();
    let peers: Vec<Series<'_>> = units
        .iter()
        .enumerate()
        .filter(|(i, u)| u.kind == kind && !is_slow.contains(i))
        .map(|(_, u)| series(m, u))
        .collect();
    let mean = |s: &Series<'_>, inside: bool| {
        let of = s.cells.get(&cell)?.iter();
        let mut sum = Transfer::default();
        of.filter(|(b, _)| window.contains(b) == inside)
            .for_each(|(_, t)| sum.merge(t));
        sum.mean()
    };
    let median = |values: &mut Vec<f64>| robust::median(values);
    let mut each: Vec<(String, f64)> = slow
        .iter()
        .filter_map(|s| Some((name(m, s.unit), mean(s, true)?)))
        .collect();
    each.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let slow_micros = median(&mut each.iter().map(|e| e.1).collect())?;
    let mut theirs: Vec<f64> = peers.iter().filter_map(|p| mean(p, true)).collect();
    let number = theirs.len();
    let usual = median(&mut theirs)
        .or_else(|| median(&mut slow.iter().filter_map(|s| mean(s, false)).collect()));
    let comm = &m.topology.comms[most.unit.comm];
    let operation = match most.unit.pair {
        Some(_) => "Send",
        None => m.function(cell.0),
    };
    let level = |micros: f64| Level {
        micros,
        busbw: bus_bandwidth(operation, comm.n_ranks, cell.1, micros),
    };
    Some(Pace {
        operation: operation.to_owned(),
        size: cell.1,
        slow: level(slow_micros),
        usual: usual.map(level),
        peers: number,
        each,
    })
}

fn series<'a>(m: &Measured, unit: &'a Unit) -> Series<'a> {
    let cells = match unit.pair {
        None => m.traces[unit.comm].transfer.clone(),
        Some((source, destination)) => m.pairs[unit.comm]
            .range((source, destination, 0)..=(source, destination, u64::MAX))
            .map(|(key, facts)| ((0, key.2), facts.transfer().clone()))
            .collect(),
    };
    Series { unit, cells }
}

/// The cell in which most transfer time is spent in a window.
fn heaviest(s: &Series<'_>, window: &Range<usize>) -> Option<Cell> {
    let spent = |of: &Transfers| -> f64 {
        let inside = of.iter().filter(|(stretch, _)| window.contains(stretch));
        inside.map(|(_, t)| t.micros).sum()
    };
    let (cell, micros) = s
        .cells
        .iter()
        .map(|(cell, of)| (*cell, spent(of)))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    (micros > 0.0).then_some(cell)
}

/// A communicator's name, or the two ends of a pair.
fn name(m: &Measured, unit: &Unit) -> String {
    match (unit.pair, unit.processes.as_slice()) {
        (Some(_), &[from, to]) => format!("{} to {}", words::short(m, from), words::short(m, to)),
        _ => words::comm(m, unit.comm),
    }
}
