//! Where the communication time goes, by cause: parts that add up.
//!
//! Of a collective that every rank recorded, the shortest time is transfer and the rest is waiting; of Send and Recv, the pair's
//! transfer time is, up to the record's own. What findings say is lost is taken out of these, so that nothing counts twice. What
//! remains of the waiting is the order of a pipeline where stages wait for each other, else the ordinary spread of arrivals.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Told;
use super::stage;
use super::transfer::Unit;
use crate::facts::{BudgetPart, FindingKind, TimeBudget, TimeCause};
use crate::measured::Measured;
use crate::units::ExecTime;

/// What the time of a communicator's records consists of before anything is explained, µs.
#[derive(Debug, Clone, Copy, Default)]
struct Pools([f64; 4]);

/// A kind of time in [`Pools`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pool {
    /// Transfer.
    Transfer,
    /// Waiting in collectives.
    Wait,
    /// Waiting in Send and Recv.
    PairWait,
    /// Records whose partners are missing.
    Unmatched,
}

/// What a finding says is lost, and where to take it from.
struct Claim {
    finding: String,
    micros: f64,
    /// Communicators in which it is lost; empty for all.
    comms: BTreeSet<usize>,
    from: &'static [Pool],
}

/// Splits the kernel time of all records. `spanning` are communicators over several stages of a pipeline. `None` without any
/// matched time.
pub(super) fn budget(
    m: &mut Measured,
    told: &[Told],
    spanning: &BTreeSet<usize>,
) -> Option<TimeBudget> {
    let total = m.total_micros();
    let pools = pools(m);
    let matched: f64 = pools.iter().map(|p| p.0[..3].iter().sum::<f64>()).sum();
    if matched <= 0.0 {
        return None;
    }
    let chained: BTreeSet<usize> = stage::stage_of(m).values().map(|s| s.0).collect();
    let by_design: Vec<(bool, bool)> = (0..pools.len())
        .map(|c| (spanning.contains(&c), chained.contains(&m.family_of[c])))
        .collect();
    let claims = told.iter().flat_map(claims).collect();
    Some(split(total, pools, &by_design, claims))
}

/// What a finding says is lost, and what it makes its victims wait for elsewhere.
fn claims(told: &Told) -> Vec<Claim> {
    let mut claims = vec![claim(told)];
    claims.extend(told.passed_on.iter().map(|(&comm, &micros)| Claim {
        finding: told.finding.id.clone(),
        micros,
        comms: BTreeSet::from([comm]),
        from: &[Pool::Wait],
    }));
    claims
}

/// Waiting for the ranks of slow collectives in their other communicators, by communicator, µs: they come late from the slow ones. Of
/// several ranks that come late to one communicator the others wait for the last.
pub(super) fn passed_on(
    m: &Measured,
    units: &[&Unit],
    window: &Range<usize>,
) -> BTreeMap<usize, f64> {
    let slow: BTreeSet<usize> = units.iter().map(|u| u.comm).collect();
    let victims: BTreeSet<usize> = units
        .iter()
        .filter(|u| u.pair.is_none())
        .flat_map(|u| u.processes.iter().copied())
        .collect();
    let mut out: BTreeMap<usize, f64> = BTreeMap::new();
    let comms = m.topology.comms.iter().enumerate();
    for (c, comm) in comms.filter(|(c, _)| !slow.contains(c) && !m.traces[*c].bins.is_empty()) {
        let members = comm.members.iter().enumerate();
        for (i, _) in members.filter(|(_, x)| victims.contains(&(x.1.0 as usize))) {
            // As it was: the first operation after a slow one is late, and no median shows it. Signed, so that what is now early and
            // now late passes nothing on.
            let bins = &m.traces[c].member(i)[window.clone()];
            let late: f64 = bins.iter().map(|b| b.raw_lateness).sum();
            let waiting = comm.members.len().saturating_sub(1);
            let most = out.entry(c).or_default();
            *most = most.max(late * waiting as f64);
        }
    }
    out.retain(|_, micros| *micros > 0.0);
    out
}

fn claim(told: &Told) -> Claim {
    Claim {
        finding: told.finding.id.clone(),
        micros: told.finding.impact.time_lost.as_micros(),
        comms: told.comms.clone(),
        from: match told.finding.kind {
            FindingKind::SlowLink => &[Pool::Transfer, Pool::Unmatched],
            FindingKind::StageImbalance => &[Pool::PairWait],
            FindingKind::TcpRetransmits => &[Pool::Transfer, Pool::Wait, Pool::Unmatched],
            _ => &[Pool::Wait, Pool::Unmatched],
        },
    }
}

fn pools(m: &mut Measured) -> Vec<Pools> {
    let mut pools = vec![Pools::default(); m.topology.comms.len()];
    for (facts, pool) in m.facts.iter().zip(&mut pools) {
        for cell in facts.cells.values() {
            pool.add(Pool::Transfer, cell.micros_complete - cell.wait);
            pool.add(Pool::Wait, cell.wait);
            pool.add(Pool::Unmatched, cell.micros - cell.micros_complete);
        }
    }
    for (pairs, pool) in m.pairs.iter_mut().zip(&mut pools) {
        for pair in pairs.values_mut() {
            let Some(t) = pair.transfer_micros() else {
                continue;
            };
            for sample in [&mut pair.sends, &mut pair.recvs] {
                let runs = sample
                    .runs()
                    .iter()
                    .map(|&(v, n)| (v.min(t) * n as f64, v * n as f64));
                let (moved, all) = runs.fold((0.0, 0.0), |a, r| (a.0 + r.0, a.1 + r.1));
                // Of a sketch, the sum is exact and the parts of it nearly.
                let scale = if all > 0.0 { sample.sum() / all } else { 1.0 };
                pool.add(Pool::Transfer, moved * scale);
                pool.add(Pool::PairWait, (all - moved) * scale);
            }
        }
    }
    pools
}

impl Pools {
    fn add(&mut self, pool: Pool, micros: f64) {
        self.0[pool as usize] += micros.max(0.0);
    }
}

/// Settles the claims in their order, and names what remains. `by_design` tells of each communicator whether its collectives, and
/// whether its Sends and Receives, wait for stages of a pipeline.
fn split(
    total: f64,
    mut pools: Vec<Pools>,
    by_design: &[(bool, bool)],
    claims: Vec<Claim>,
) -> TimeBudget {
    let waits = |p: &Pools| p.0[Pool::Wait as usize] + p.0[Pool::PairWait as usize];
    let waiting: f64 = pools.iter().map(waits).sum();
    let mut named: Vec<(String, f64)> = Vec::new();
    for claim in claims {
        let mut left = claim.micros;
        for &pool in claim.from {
            left -= take(&mut pools, &claim.comms, pool, left);
        }
        let taken = claim.micros - left;
        match named.last_mut().filter(|n| n.0 == claim.finding) {
            Some(same) => same.1 += taken,
            None => named.push((claim.finding, taken)),
        }
    }
    let (mut transfer, mut order, mut spread) = (0.0, 0.0, 0.0);
    for (pool, &(collectives, pairs)) in pools.iter().zip(by_design) {
        let at = |p: Pool| pool.0[p as usize];
        transfer += at(Pool::Transfer);
        *(if collectives { &mut order } else { &mut spread }) += at(Pool::Wait);
        *(if pairs { &mut order } else { &mut spread }) += at(Pool::PairWait);
    }
    let of_findings: f64 = named.iter().map(|n| n.1).sum();
    let unexplained = total - transfer - of_findings - order - spread;
    let part = |cause, finding, micros: f64| BudgetPart {
        cause,
        finding,
        time: ExecTime::from_micros(micros.max(0.0)),
    };
    let mut parts = vec![part(TimeCause::Transfer, None, transfer)];
    parts.extend(
        named
            .into_iter()
            .map(|(id, micros)| part(TimeCause::Finding, Some(id), micros)),
    );
    parts.extend([
        part(TimeCause::PipelineOrder, None, order),
        part(TimeCause::OrdinarySpread, None, spread),
        part(TimeCause::Unexplained, None, unexplained),
    ]);
    // What rounding leaves is no part.
    parts.retain(|p| p.time.as_micros() > 1e-9 * total);
    TimeBudget {
        total: ExecTime::from_micros(total),
        waiting: ExecTime::from_micros(waiting),
        parts,
    }
}

/// Takes up to `micros` of one kind of time out of some communicators, of each in proportion. Returns how much it was.
fn take(pools: &mut [Pools], comms: &BTreeSet<usize>, pool: Pool, micros: f64) -> f64 {
    let mine = |c: usize| comms.is_empty() || comms.contains(&c);
    let there: f64 = pools
        .iter()
        .enumerate()
        .filter(|(c, _)| mine(*c))
        .map(|(_, p)| p.0[pool as usize])
        .sum();
    if there <= 0.0 || micros <= 0.0 {
        return 0.0;
    }
    let part = (micros / there).min(1.0);
    for (_, p) in pools.iter_mut().enumerate().filter(|(c, _)| mine(*c)) {
        p.0[pool as usize] *= 1.0 - part;
    }
    there * part
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claim(micros: f64, comms: &[usize], from: &'static [Pool]) -> Claim {
        Claim {
            finding: format!("of {micros}"),
            micros,
            comms: comms.iter().copied().collect(),
            from,
        }
    }

    fn micros(of: &TimeBudget) -> Vec<(TimeCause, f64)> {
        let all = of.parts.iter();
        all.map(|p| (p.cause, p.time.as_micros())).collect()
    }

    #[test]
    fn by_hand() {
        // Two communicators: transfer, waiting, waiting in pairs, unmatched. The second is a pipeline's.
        let pools = vec![
            Pools([100.0, 50.0, 0.0, 10.0]),
            Pools([40.0, 0.0, 60.0, 0.0]),
        ];
        let claims = vec![
            // Takes all of the waiting and 5 of what isn't matched; of what it says of elsewhere there is nothing.
            claim(55.0, &[0], &[Pool::Wait, Pool::Unmatched]),
            claim(30.0, &[1], &[Pool::Transfer]),
            claim(1.0, &[1], &[Pool::Wait]),
            Claim {
                micros: 7.0,
                ..claim(1.0, &[1], &[Pool::PairWait])
            },
        ];
        let budget = split(270.0, pools, &[(false, false), (false, true)], claims);
        let expected = [
            (TimeCause::Transfer, 110.0),
            (TimeCause::Finding, 55.0),
            (TimeCause::Finding, 30.0),
            // What one finding claims here and there is one part.
            (TimeCause::Finding, 7.0),
            (TimeCause::PipelineOrder, 53.0),
            (TimeCause::Unexplained, 15.0),
        ];
        assert_eq!(micros(&budget), expected);
        assert_eq!(budget.waiting.as_micros(), 110.0);
        assert_eq!(budget.of(TimeCause::Finding).as_micros(), 92.0);
    }

    proptest! {
        #[test]
        fn the_parts_add_up_whatever_is_claimed(
            pools in prop::collection::vec(prop::array::uniform4(0.0..1e9_f64), 1..6),
            claimed in prop::collection::vec((0.0..1e10_f64, prop::collection::btree_set(0_usize..6, 0..4), 0_usize..3), 0..6),
            rest in 0.0..1e9_f64,
        ) {
            let total = rest + pools.iter().flatten().sum::<f64>();
            let pools: Vec<Pools> = pools.into_iter().map(Pools).collect();
            let by_design: Vec<_> = (0..pools.len()).map(|c| (c % 2 == 0, c % 3 == 0)).collect();
            let from: [&'static [Pool]; 3] = [
                &[Pool::Wait, Pool::Unmatched],
                &[Pool::Transfer, Pool::Unmatched],
                &[Pool::PairWait],
            ];
            let claims = claimed.iter().map(|(micros, comms, k)| Claim {
                finding: String::new(), micros: *micros, comms: comms.clone(), from: from[*k],
            });
            let budget = split(total, pools, &by_design, claims.collect());
            let sum: f64 = micros(&budget).iter().map(|p| p.1).sum();
            prop_assert!((sum - total).abs() <= 1e-8 * total, "{sum} of {total}");
            prop_assert!(budget.of(TimeCause::Unexplained).as_micros() >= rest * (1.0 - 1e-9) - 1e-3);
        }
    }
}
