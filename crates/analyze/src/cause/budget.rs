//! Where the communication time goes, by cause: parts that add up.

use super::slow_link::SlowLink;
use super::transfer::Unit;
use crate::facts::TimeBudget;
use crate::measured::Measured;
use crate::units::ExecTime;

/// Splits the kernel time of all records. Of collectives seen on every rank, the shortest time is transfer and the rest is
/// waiting; of Send and Recv, the pair's transfer time is, up to the record's own. What slow links add is taken out of the
/// transfer. The rest, collectives that lack a rank, is unexplained. `None` without any matched time.
pub(crate) fn budget(m: &mut Measured, units: &[Unit], links: &[SlowLink]) -> Option<TimeBudget> {
    let total = m.total_micros();
    let (mut transfer, mut waiting) = (0.0, 0.0);
    for (facts, comm) in m.facts.iter().zip(&m.topology.comms) {
        for cell in facts.cells.values().filter(|_| comm.n_ranks > 0) {
            transfer += cell.micros_complete - cell.wait;
            waiting += cell.wait;
        }
    }
    for pairs in &mut m.pairs {
        for pair in pairs.values_mut() {
            let Some(t) = pair.transfer_micros() else {
                continue;
            };
            for sample in [&mut pair.sends, &mut pair.recvs] {
                for &(v, n) in sample.runs() {
                    transfer += v.min(t) * n as f64;
                    waiting += (v - t).max(0.0) * n as f64;
                }
            }
        }
    }
    if transfer + waiting <= 0.0 {
        return None;
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut slow = 0.0;
    for link in links {
        for &u in &link.units {
            if seen.insert(u) {
                slow += units[u].excess[link.standout.start..link.standout.end]
                    .iter()
                    .sum::<f64>();
            }
        }
    }
    let slow = slow.min(transfer);
    let micros = ExecTime::from_micros;
    Some(TimeBudget {
        total: micros(total),
        transfer: micros(transfer - slow),
        waiting: micros(waiting),
        slow_links: micros(slow),
        unexplained: micros((total - transfer - waiting).max(0.0)),
    })
}
