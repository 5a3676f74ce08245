//! Families in the vocabulary of facts: how each operation does in communicators of one role.

use std::collections::BTreeMap;

use crate::collective::facts::CellFacts;
use crate::collective::pool::Times;
use crate::communicator::family::Kin;
use crate::facts::{Family, FamilyOperation};
use crate::measured::Measured;
use crate::records::operation::bus_work;
use crate::units::{BusBandwidth, ExecTime, MessageSize};

/// Sums of a function and size over the records of a family.
#[derive(Default)]
struct Totals {
    records: u64,
    micros: f64,
    p2p: bool,
}

/// Every family, in the order of [`Measured::kin`].
pub(crate) fn families(m: &mut Measured) -> Vec<Family> {
    let total = m.total_micros();
    let mut totals: BTreeMap<(usize, u32, u64), Totals> = BTreeMap::new();
    for (key, sums) in m.census.cells.iter().filter(|(k, _)| k.timing == m.timing) {
        let comm = m.topology.place[key.endpoint as usize].0 as usize;
        let t = totals
            .entry((m.family_of[comm], key.function, key.size))
            .or_default();
        t.records += sums.records;
        t.micros += sums.micros;
        t.p2p |= key.p2p;
    }
    let kin = std::mem::take(&mut m.kin);
    let families = kin
        .iter()
        .enumerate()
        .map(|(f, kin)| {
            let mut operations: Vec<FamilyOperation> = totals
                .range((f, 0, 0)..=(f, u32::MAX, u64::MAX))
                .map(|(&(_, function, size), t)| operation(m, (f, kin), (function, size), t, total))
                .collect();
            operations.sort_by(|a, b| (&a.operation, a.size).cmp(&(&b.operation, b.size)));
            let micros: f64 = totals
                .range((f, 0, 0)..=(f, u32::MAX, u64::MAX))
                .map(|(_, t)| t.micros)
                .sum();
            Family {
                label: kin.label.clone(),
                class: kin.class,
                n_ranks: kin.n_ranks,
                nnodes: kin.nnodes,
                communicators: kin
                    .comms
                    .iter()
                    .map(|&c| u32::try_from(c).unwrap_or(u32::MAX))
                    .collect(),
                operations,
                share_of_time: share(micros, total),
            }
        })
        .collect();
    m.kin = kin;
    families
}

fn operation(
    m: &mut Measured,
    (family, kin): (usize, &Kin),
    (function, size): (u32, u64),
    totals: &Totals,
    total: f64,
) -> FamilyOperation {
    let work = bus_work(m.function(function), kin.n_ranks, size);
    let mut nothing = Times::default();
    let times = m
        .pools
        .get_mut(family, function, size)
        .unwrap_or(&mut nothing);
    let link_busbw = times
        .link_busbw(work)
        .distribution(BusBandwidth::from_gb_per_s);
    let felt_busbw = times.felt_busbw.distribution(BusBandwidth::from_gb_per_s);
    let shortest = times.shortest.distribution(ExecTime::from_micros);
    let spread = times.spread.distribution(ExecTime::from_micros);
    let cells: Vec<Option<&CellFacts>> = kin
        .comms
        .iter()
        .map(|&c| m.facts[c].cells.get(&(function, size)))
        .collect();
    FamilyOperation {
        operation: m.function(function).to_owned(),
        size: MessageSize::from_bytes(size),
        operations: if totals.p2p {
            totals.records
        } else {
            cells.iter().flatten().map(|c| c.collectives).sum()
        },
        records: totals.records,
        link_busbw,
        felt_busbw,
        shortest,
        spread,
        time: ExecTime::from_micros(totals.micros),
        share_of_time: share(totals.micros, total),
        link_busbw_by_communicator: cells
            .iter()
            .map(|c| c.and_then(|c| c.link_busbw.map(BusBandwidth::from_gb_per_s)))
            .collect(),
    }
}

/// A part of a whole; 0 of nothing.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
