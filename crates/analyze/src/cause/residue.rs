//! Pauses that may be what is left of another rank's.

use std::collections::BTreeSet;

use super::intermittent::Intermittent;
use super::late_rank::LateRank;

/// What a culprit passes on to its fellows is taken off them stretch of time by stretch, as well as their other fellows show it. What may
/// be left over is this part of what the culprit costs.
const LEFT: f64 = 0.25;

/// A rank that is late by itself, and what it costs, µs.
type Culprit = (usize, f64);

/// Marks ranks that meet a culprit which costs far more in another communicator than the one they pause in: they are told, and nobody is woken.
pub(super) fn mark(
    places: &[Vec<(usize, usize)>],
    spanning: &BTreeSet<usize>,
    late: &[LateRank],
    intermittent: &mut [Intermittent],
) {
    let of_late = late.iter().map(|l| (l.process, l.time_lost));
    let of_pauses = intermittent.iter().map(|i| (i.process, i.time_lost));
    let culprits: Vec<Culprit> = of_late.chain(of_pauses).collect();
    for i in intermittent {
        let meeting: BTreeSet<usize> = places[i.process]
            .iter()
            .map(|x| x.0)
            .filter(|c| *c != i.comm && !spanning.contains(c))
            .collect();
        i.beside_culprit = culprits.iter().any(|&(process, lost)| {
            process != i.process
                && i.time_lost < LEFT * lost
                && places[process].iter().any(|x| meeting.contains(&x.0))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(process: usize, comm: usize, time_lost: f64) -> Intermittent {
        Intermittent {
            process,
            comm,
            member: 0,
            events: 9.0,
            events_of_peers: 1.0,
            limit: 0.0,
            typical_micros: 900.0,
            time_lost,
            chance: 1e-9,
            operations: 200.0,
            always: false,
            window: 0..1,
            local_share: 0.1,
            beside_culprit: false,
        }
    }

    #[test]
    fn a_fellow_of_a_far_greater_culprit_is_marked() {
        // Processes 0 and 1 share communicator 0, 2 and 3 share 1; each is in one of communicators 2 to 5 besides, and all are in 6.
        let places: Vec<Vec<(usize, usize)>> = (0..4)
            .map(|p| vec![(p / 2, p % 2), (2 + p, 0), (6, p)])
            .collect();
        let spanning = BTreeSet::from([6]);
        let mark = |list: &[(usize, f64)]| -> Vec<bool> {
            let mut all: Vec<_> = list.iter().map(|&(p, t)| pauses(p, 2 + p, t)).collect();
            super::mark(&places, &spanning, &[], &mut all);
            all.iter().map(|i| i.beside_culprit).collect()
        };
        assert_eq!(mark(&[(0, 100.0), (1, 20.0)]), [false, true]);
        assert_eq!(mark(&[(0, 100.0), (1, 30.0)]), [false, false]);
        // They meet where all do.
        assert_eq!(mark(&[(0, 100.0), (2, 20.0)]), [false, false]);
    }
}
