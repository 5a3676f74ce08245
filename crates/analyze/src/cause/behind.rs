//! Ranks late for a time because another pauses over and over.
//!
//! A rank whose pauses delay its fellows in every other step makes them late on the average of a stretch of time, each in another stretch. The
//! pauses cost more than what they show as there.

use std::collections::BTreeSet;

use super::carried::reached;
use super::delay::Delay;
use super::intermittent;
use super::late_rank::LateRank;
use super::pipeline::Replicas;
use super::waits::Waits;
use crate::measured::Measured;

/// So small is the chance of the pauses among equals where a rank pauses over and over. What is left at a rank of pauses that aren't its own is
/// nowhere near.
const BEYOND_DOUBT: f64 = 1e-12;

/// Drops ranks that are late for a part of the run only, where a rank that carries them along pauses beyond doubt and costs as much. `explained` are ranks whose
/// pauses have another cause.
pub(super) fn drop_victims_of_pauses(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    spanning: &BTreeSet<usize>,
    replicas: &Replicas,
    explained: &BTreeSet<usize>,
    brought: (&Delay, &Waits),
    late: &mut Vec<LateRank>,
) {
    let lasting = late.iter().filter(|l| l.standout.whole);
    let mut known = explained.clone();
    known.extend(lasting.flat_map(|l| replicas.fellows(l.process).chain([l.process])));
    if late.iter().all(|l| known.contains(&l.process)) {
        return;
    }
    for i in intermittent::intermittents(m, places, spanning, replicas, &known, brought) {
        if i.chance > BEYOND_DOUBT {
            continue;
        }
        let reached = reached(m, places, replicas, i.process);
        late.retain(|l| {
            let for_a_time = !l.standout.whole && l.among.is_empty();
            let victim = l.process != i.process && reached.contains(&l.process);
            !(for_a_time && victim && i.time_lost >= l.time_lost)
        });
    }
}
