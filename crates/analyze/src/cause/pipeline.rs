//! Which rank of a pipeline's replica is the one that the others wait for.
//!
//! The ranks of a replica (one of each stage) wait for each other in Send and Recv, so a delay of one makes all of them as late at
//! whatever comes next. Lateness can't tell them apart; the waiting can: against their peers of the same stage in other replicas,
//! all waited longer by that delay but the one that it began with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::delay::Delay;
use super::lateness::Own;
use super::stage;
use crate::measured::Measured;

/// A rank of the replica is as late as another from this part of its lateness on.
const AS_LATE: f64 = 0.5;

/// All that are as late have waited longer by this part of the lateness at least.
const WAITED: f64 = 0.5;

/// The replicas of all pipelines.
pub(crate) struct Replicas {
    /// Communicators that are replicas.
    pub(crate) comms: BTreeSet<usize>,
    /// The other ranks of a process's replicas.
    fellows: BTreeMap<usize, BTreeSet<usize>>,
}

impl Replicas {
    /// Of a job.
    pub(crate) fn of(m: &Measured) -> Self {
        let comms = stage::chains(m);
        let mut fellows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &c in &comms {
            let members = || m.topology.comms[c].members.iter().map(|x| x.1.0 as usize);
            for p in members() {
                fellows
                    .entry(p)
                    .or_default()
                    .extend(members().filter(|&q| q != p));
            }
        }
        Self { comms, fellows }
    }

    /// Whether the ranks of `o`'s replica that are as late waited longer than `o`'s process, by a good part of `late` (µs in all).
    /// `level` is the mean lateness of a rank in a communicator of `o`'s family, in the window.
    pub(crate) fn wait_for(
        &self,
        m: &Measured,
        (index, delay): (&Index<'_>, &Delay),
        o: &Own,
        window: &Range<usize>,
        late: f64,
        level: &dyn Fn(&Own) -> f64,
    ) -> bool {
        let own = delay.about(m, o, window);
        let mine = level(o);
        self.fellows.get(&o.process).into_iter().flatten().all(|q| {
            index
                .of(*q, m.family_of[o.comm])
                .filter(|x| level(x) >= AS_LATE * mine)
                .all(|x| delay.about(m, x, window) - own >= WAITED * late)
        })
    }
}

/// Quantities by process and family.
pub(crate) struct Index<'a>(BTreeMap<(usize, usize), Vec<&'a Own>>);

impl<'a> Index<'a> {
    /// Of these.
    pub(crate) fn over(m: &Measured, owns: &'a [Own]) -> Self {
        let mut map: BTreeMap<(usize, usize), Vec<&Own>> = BTreeMap::new();
        for o in owns {
            map.entry((o.process, m.family_of[o.comm]))
                .or_default()
                .push(o);
        }
        Self(map)
    }

    fn of(&self, process: usize, family: usize) -> impl Iterator<Item = &'a Own> + '_ {
        self.0
            .get(&(process, family))
            .into_iter()
            .flatten()
            .copied()
    }
}
