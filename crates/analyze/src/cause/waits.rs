//! How much longer than its peers a rank of a pipeline waited in Send and Recv, operation by operation.
//!
//! Peers of a rank are the ranks of its stage in other replicas, which do the same under the same number (`point_to_point/in_order.rs`).
//! What nearly every step shows is taken: pauses of single ranks keep others waiting as well, now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::lateness::{self, Own};
use super::stage;
use crate::measured::Measured;
use crate::point_to_point::in_order::{Block, InOrder};
use crate::statistics::robust;

/// Fewer steps are no typical ones.
const LEAST_STEPS: usize = 8;

/// Collectives of one sort in a step at most that are told from one: where each step has several, waiting comes in one of so many parts.
const MOST_A_STEP: usize = 4;

/// Fewer ranks have nothing that they usually differ by.
const LEAST_OTHERS: usize = 4;

/// A delay of every step is what all but this part of them show: some are known badly, and pauses of single ranks keep others waiting in a
/// few.
const MOST_STEPS: f64 = 0.25;

/// Standard error of the quartile of a normal sample of n over its standard deviation / √n: √(¼·¾) / φ(0.674).
const OF_QUARTILE: f64 = 1.36;

/// A step's waiting is known to about this, µs: times are whole microseconds.
const LEAST_ERROR: f64 = 1.0;

/// What a rank waited beyond the median of its peers in a block of Sends and Receives.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wait {
    /// Stretch of time, mean over the peers.
    stretch: usize,
    /// Time, µs; negative where it waited less.
    micros: f64,
}

/// Waiting beyond peers over a window, µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Waited {
    /// What nearly every step shows, times the number of steps.
    pub(crate) micros: f64,
    /// Its standard error.
    pub(crate) error: f64,
}

/// The waiting of every rank of a pipeline, against its peers in a communicator that holds its stage.
pub(crate) struct Waits {
    /// By communicator, member by member.
    of_comm: BTreeMap<usize, Vec<Vec<Wait>>>,
    /// Stretches that a moment may be off by.
    radius: usize,
}

impl Waits {
    /// Of a job.
    pub(crate) fn of(m: &Measured) -> Self {
        let chains = stage::chains(m);
        // The pipeline of a process, its family, and the place in it.
        let mut places: BTreeMap<usize, (usize, usize, &InOrder)> = BTreeMap::new();
        for &c in &chains {
            let members = m.topology.comms[c].members.iter();
            for (member, order) in members.zip(&m.in_order[c]) {
                let place = (m.family_of[c], member.0 as usize, order);
                places.entry(member.1.0 as usize).or_insert(place);
            }
        }
        let half = 0.5 * m.dump_interval.unwrap_or(0.0) / lateness::width(m);
        let comms = (0..m.topology.comms.len()).filter(|c| !chains.contains(c));
        Self {
            of_comm: comms
                .filter_map(|c| Some((c, of_comm(m, c, &places)?)))
                .collect(),
            radius: half.ceil() as usize + 1,
        }
    }

    fn of_member(&self, comm: usize, member: usize) -> Option<&[Wait]> {
        let waits = self.of_comm.get(&comm)?.get(member)?;
        (!waits.is_empty()).then_some(waits)
    }

    /// Whether anything is known of `o`'s process.
    pub(crate) fn knows(&self, o: &Own) -> bool {
        self.of_member(o.comm, o.member).is_some()
    }

    /// How much longer `o`'s process waited than its peers in a window; `None` where too little is known of one or the other. The error
    /// is no less than what ranks other than those of `replica` differ by.
    pub(crate) fn waited(
        &self,
        m: &Measured,
        o: &Own,
        window: &Range<usize>,
        replica: &BTreeSet<usize>,
    ) -> Option<Waited> {
        let own = self.of_window(m, o.comm, o.member, window)?;
        let members = m.topology.comms[o.comm].members.iter().enumerate();
        let others: Vec<f64> = members
            .filter(|x| !replica.contains(&(x.1.1.0 as usize)))
            .filter_map(|(i, _)| self.of_window(m, o.comm, i, window))
            .map(|w| w.micros)
            .collect();
        let usual = if others.len() < LEAST_OTHERS {
            0.0
        } else {
            robust::scale(&others).unwrap_or(0.0)
        };
        Some(Waited {
            error: own.error.max(usual),
            ..own
        })
    }

    fn of_window(
        &self,
        m: &Measured,
        comm: usize,
        member: usize,
        window: &Range<usize>,
    ) -> Option<Waited> {
        let all = self.of_member(comm, member)?;
        let waits: Vec<f64> = all
            .iter()
            .filter(|w| window.contains(&w.stretch))
            .map(|w| w.micros)
            .collect();
        let share = waits.len() as f64 / all.len() as f64;
        let steps = (steps(m, comm) as f64 * share) as usize;
        let parts = (1..=MOST_A_STEP).map(|n| (steps / n).min(waits.len()));
        let parts = parts.filter(|&n| n >= LEAST_STEPS);
        parts
            .map(|n| typical(&waits, n))
            .min_by(|a, b| a.error.total_cmp(&b.error))
    }

    /// About each stretch, the longest that `o`'s process waited beyond its peers in Sends and Receives that follow each other, µs. Empty
    /// where nothing is known.
    pub(crate) fn longest(&self, m: &Measured, o: &Own) -> Vec<Option<f64>> {
        let Some(waits) = self.of_member(o.comm, o.member) else {
            return Vec::new();
        };
        (0..m.grid.len())
            .map(|stretch| {
                let about = stretch.saturating_sub(self.radius)..stretch + self.radius + 1;
                let (mut longest, mut sum) = (None::<f64>, 0.0_f64);
                for w in waits.iter().filter(|w| about.contains(&w.stretch)) {
                    sum = sum.max(0.0) + w.micros;
                    longest = Some(longest.map_or(sum, |l| l.max(sum)));
                }
                longest
            })
            .collect()
    }
}

/// What three of four parts of a run of waits exceed, cut into parts of equal numbers.
fn typical(waits: &[f64], parts: usize) -> Waited {
    let mut sums: Vec<f64> = (0..parts)
        .map(|k| {
            let part = k * waits.len() / parts..(k + 1) * waits.len() / parts;
            waits[part].iter().sum()
        })
        .collect();
    let scale = robust::scale(&sums).unwrap_or(0.0).max(LEAST_ERROR);
    let exceeded = robust::quantile(&mut sums, MOST_STEPS).unwrap_or(0.0);
    Waited {
        micros: exceeded * parts as f64,
        error: OF_QUARTILE * scale * (parts as f64).sqrt(),
    }
}

/// Whether a window is too short to tell what every step shows, so that it is an episode: twice as many steps might be enough, since those at
/// its ends are cut.
pub(super) fn is_episode(m: &Measured, o: &Own, window: &Range<usize>) -> bool {
    steps(m, o.comm) * window.len() < 2 * LEAST_STEPS * m.grid.len()
}

/// Steps of the run, as far as a communicator tells: what comes more often in a step is left to what comes once.
fn steps(m: &Measured, comm: usize) -> usize {
    let cells = m.facts[comm].cells.values();
    let numbers = cells.map(|c| c.collectives as usize);
    numbers.filter(|&n| n >= LEAST_STEPS).min().unwrap_or(0)
}

/// What the members of a communicator waited beyond those of them that hold the same place in pipelines of the same family.
fn of_comm(
    m: &Measured,
    comm: usize,
    places: &BTreeMap<usize, (usize, usize, &InOrder)>,
) -> Option<Vec<Vec<Wait>>> {
    let members = &m.topology.comms[comm].members;
    let mut peers: BTreeMap<(usize, usize), Vec<(usize, &InOrder)>> = BTreeMap::new();
    for (i, member) in members.iter().enumerate() {
        if let Some(&(family, place, order)) = places.get(&(member.1.0 as usize)) {
            peers.entry((family, place)).or_default().push((i, order));
        }
    }
    // All of one stage; a communicator over several compares nobody.
    let stages: BTreeSet<usize> = peers.keys().map(|k| k.1).collect();
    if stages.len() != 1 {
        return None;
    }
    let mut out = vec![Vec::new(); members.len()];
    for peers in peers.into_values().filter(|p| p.len() > 1) {
        beyond_peers(&peers, &mut out);
    }
    out.iter().any(|w| !w.is_empty()).then_some(out)
}

fn beyond_peers(peers: &[(usize, &InOrder)], out: &mut [Vec<Wait>]) {
    let power = peers.iter().map(|p| p.1.power()).max().unwrap_or(0);
    let orders: Vec<(usize, InOrder)> = peers.iter().map(|p| (p.0, p.1.at(power))).collect();
    let blocks = orders.iter().map(|o| o.1.blocks().len()).max().unwrap_or(0);
    let mut times = Vec::new();
    for b in 0..blocks {
        let of_block = |o: &InOrder| o.blocks().get(b).copied().unwrap_or_default();
        let most = orders.iter().map(|o| of_block(&o.1).operations).max();
        // Whoever lacks records of the block isn't compared.
        let whole: Vec<(usize, Block)> = orders
            .iter()
            .map(|o| (o.0, of_block(&o.1)))
            .filter(|x| x.1.operations > 0 && Some(x.1.operations) == most)
            .collect();
        times.clear();
        times.extend(whole.iter().map(|x| x.1.micros));
        let Some(others) = robust::Others::of(&mut times) else {
            continue;
        };
        let stretches: usize = whole.iter().map(|x| x.1.stretch as usize).sum();
        for (member, block) in &whole {
            out[*member].push(Wait {
                stretch: stretches / whole.len(),
                micros: block.micros - others.median(block.micros),
            });
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::collective::facts::CellFacts;

    /// Sixteen steps of three replicas of a pipeline of two stages, ranks 0–1, 2–3 and 4–5, whose stages meet in a data-parallel group
    /// each, 3 and 4: a Send or Recv a step, whose time `micros` tells by rank and step.
    pub(in super::super) fn job(micros: impl Fn(usize, i64) -> f64) -> Measured {
        let comms: &[(usize, &[u32])] = &[
            (0, &[0, 1]),
            (0, &[2, 3]),
            (0, &[4, 5]),
            (1, &[0, 2, 4]),
            (1, &[1, 3, 5]),
        ];
        let mut m = Measured::blank(6, comms);
        for c in 0..3 {
            m.pairs[c].entry((0, 1, 8192)).or_default();
            for rank in [2 * c, 2 * c + 1] {
                let mut order = InOrder::default();
                for step in 0..16 {
                    order.add(step + 1, micros(rank, step), 6 * step as usize);
                }
                m.in_order[c].push(order);
            }
        }
        for c in [3, 4] {
            let cell = CellFacts {
                collectives: 16,
                ..CellFacts::default()
            };
            m.facts[c].cells.insert((0, 8192), cell);
        }
        m
    }

    /// Where a rank meets its peers.
    pub(in super::super) fn at_peers(process: usize) -> Own {
        Own {
            comm: 3 + process % 2,
            member: process / 2,
            process,
            measured: vec![Some(80.0); 96],
            own: vec![Some(80.0); 96],
        }
    }

    fn waited(m: &Measured, process: usize, window: Range<usize>) -> Option<f64> {
        let replica = BTreeSet::from([process]);
        let waited = Waits::of(m).waited(m, &at_peers(process), &window, &replica);
        waited.map(|w| w.micros)
    }

    /// Rank 1 waits 90 µs in each step where its peers wait 10: 16 × 80 more, and half of that in half of the run. To rank 3 the median of
    /// its peers, 10 and 90, is 50.
    #[test]
    fn what_every_step_shows_adds_up() {
        let m = job(|rank, _| if rank == 1 { 90.0 } else { 10.0 });
        assert_eq!(waited(&m, 1, 0..96), Some(1280.0));
        assert_eq!(waited(&m, 3, 0..96), Some(-640.0));
        assert_eq!(waited(&m, 1, 0..48), Some(640.0));
        // Fewer than eight steps tell nothing.
        assert_eq!(waited(&m, 1, 0..40), None);
    }

    /// Half a second more in two steps of sixteen is no delay of every step; but about those steps it was waited.
    #[test]
    fn a_few_long_waits_are_no_delay_of_every_step() {
        let m = job(|rank, step| {
            if rank == 1 && step % 6 == 5 {
                5e5
            } else {
                10.0
            }
        });
        assert_eq!(waited(&m, 1, 0..96), Some(0.0));
        let longest = Waits::of(&m).longest(&m, &at_peers(1));
        // Steps are six stretches apart; a moment may be off by one.
        assert_eq!(
            (longest[30], longest[29]),
            (Some(499_990.0), Some(499_990.0))
        );
        assert_eq!((longest[24], longest[27]), (Some(0.0), None));
    }

    /// A number that only one rank has a record of.
    #[test]
    fn what_peers_did_not_record_is_not_compared() {
        let mut m = job(|_, _| 10.0);
        m.in_order[0][1].add(40, 1e6, 95);
        assert_eq!(waited(&m, 1, 0..96), Some(0.0));
    }
}
