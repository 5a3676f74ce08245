//! Families in the vocabulary of facts: how each operation does in communicators of one role.

use std::collections::BTreeMap;

use crate::collective::facts::CellFacts;
use crate::facts::{Family, FamilyOperation};
use crate::measured::Measured;
use crate::statistics::Sample;
use crate::units::{BusBandwidth, ExecTime, MessageSize};

/// Sums of a function and size over the records of a family.
#[derive(Default)]
struct Totals {
    records: u64,
    micros: f64,
    p2p: bool,
}

/// Every family, in the order of [`Measured::kin`].
pub(crate) fn families(m: &Measured) -> Vec<Family> {
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
    m.kin
        .iter()
        .enumerate()
        .map(|(f, kin)| {
            let mut operations: Vec<FamilyOperation> = totals
                .range((f, 0, 0)..=(f, u32::MAX, u64::MAX))
                .map(|(&(_, function, size), t)| operation(m, &kin.comms, function, size, t, total))
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
        .collect()
}

fn operation(
    m: &Measured,
    comms: &[usize],
    function: u32,
    size: u64,
    totals: &Totals,
    total: f64,
) -> FamilyOperation {
    let cells: Vec<Option<&CellFacts>> = comms
        .iter()
        .map(|&c| m.facts[c].cells.get(&(function, size)))
        .collect();
    let pooled = |of: fn(&CellFacts) -> &Sample| {
        let mut pool = Sample::default();
        cells
            .iter()
            .flatten()
            .for_each(|c| pool.merge(of(c).clone()));
        pool
    };
    FamilyOperation {
        operation: m.function(function).to_owned(),
        size: MessageSize::from_bytes(size),
        operations: if totals.p2p {
            totals.records
        } else {
            cells.iter().flatten().map(|c| c.collectives).sum()
        },
        records: totals.records,
        link_busbw: pooled(|c| &c.link_busbw).distribution(BusBandwidth::from_gb_per_s),
        felt_busbw: pooled(|c| &c.felt_busbw).distribution(BusBandwidth::from_gb_per_s),
        shortest: pooled(|c| &c.shortest).distribution(ExecTime::from_micros),
        spread: pooled(|c| &c.spread).distribution(ExecTime::from_micros),
        time: ExecTime::from_micros(totals.micros),
        share_of_time: share(totals.micros, total),
        link_busbw_by_communicator: cells
            .iter()
            .map(|c| {
                c.and_then(|c| {
                    c.link_busbw
                        .clone()
                        .quantiles(&[0.5])
                        .first()
                        .map(|&b| BusBandwidth::from_gb_per_s(b))
                })
            })
            .collect(),
    }
}

/// A part of a whole; 0 of nothing.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
