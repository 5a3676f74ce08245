//! What ranks of a family usually differ by: lateness that nobody is to be woken for.

use std::collections::{BTreeMap, BTreeSet};

use super::lateness::Own;
use crate::measured::Measured;
use crate::statistics::robust;

/// A lateness is unusual at this many times what other ranks of the family usually differ by.
const UNUSUAL: f64 = 4.0;

/// In a communicator of up to so many ranks one rank is half of what the others are compared with.
const SMALL: usize = 3;

/// Fewer ranks than this have nothing usual.
const LEAST_RANKS: usize = 4;

/// Launch jitter and the truncation to whole microseconds leave this much, whatever the job.
const LEAST_MICROS: f64 = 5.0;

/// What ranks of a family usually differ by, over the whole run: some processes do a little more on their CPU, every time, and
/// nobody is to be woken for that.
pub(super) struct Usual {
    /// Process, mean own lateness (µs), independent measurements behind it: of every rank of the family.
    means: Vec<(usize, f64, f64)>,
}

impl Usual {
    /// The lateness of `process` in a window of `weight` measurements that is unusual: a mean of fewer varies more. `near` are the
    /// ranks whose values a late `process` changes itself: they don't tell what is usual without it.
    pub(super) fn limit(&self, process: usize, near: &BTreeSet<usize>, weight: f64) -> f64 {
        let apart: Vec<&(usize, f64, f64)> = self
            .means
            .iter()
            .filter(|x| x.0 != process && !near.contains(&x.0))
            .collect();
        // Of two or three ranks one late one is a third at least: nothing is usual there.
        if apart.len() + 1 < LEAST_RANKS {
            return LEAST_MICROS;
        }
        let scale = robust::scale(&apart.iter().map(|x| x.1).collect::<Vec<_>>()).unwrap_or(0.0);
        let usual =
            robust::median(&mut apart.iter().map(|x| x.2).collect::<Vec<_>>()).unwrap_or(0.0);
        (UNUSUAL * scale * (usual / weight.max(1.0)).max(1.0).sqrt()).max(LEAST_MICROS)
    }
}

pub(super) fn usual_differences(m: &Measured, owns: &[Own]) -> BTreeMap<usize, Usual> {
    let mut out: BTreeMap<usize, Usual> = BTreeMap::new();
    for o in owns {
        let (sum, weight) = o.points(m).iter().flatten().fold((0.0, 0.0), |a, p| {
            (a.0 + p.value * p.weight, a.1 + p.weight)
        });
        if weight > 0.0 {
            out.entry(m.family_of[o.comm])
                .or_insert_with(|| Usual { means: Vec::new() })
                .means
                .push((o.process, sum / weight, weight));
        }
    }
    out
}

/// Ranks that sit with `process` in a communicator so small that it moves their median of others.
pub(super) fn near(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    process: usize,
) -> BTreeSet<usize> {
    places[process]
        .iter()
        .map(|&(c, _)| &m.topology.comms[c].members)
        .filter(|members| members.len() <= SMALL)
        .flat_map(|members| members.iter().map(|x| x.1.0 as usize))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six ranks in pairs. Without ranks 0 and 1 the means are 1, −1, 2, −2: their median is 0, the distances 1, 1, 2, 2, so the
    /// scale is 1.4826 × 1.5 = 2.2239, and four times that 8.8956.
    #[test]
    fn a_late_rank_and_its_mirror_dont_make_lateness_usual() {
        let usual = Usual {
            means: [60.0, -60.0, 1.0, -1.0, 2.0, -2.0]
                .into_iter()
                .enumerate()
                .map(|(p, mean)| (p, mean, 10.0))
                .collect(),
        };
        let near = BTreeSet::from([0, 1]);
        assert!((usual.limit(0, &near, 10.0) - 8.8956).abs() < 1e-9);
        assert!((usual.limit(0, &near, 40.0) - 8.8956).abs() < 1e-9);
        // A quarter of the measurements, twice the scale.
        assert!((usual.limit(0, &near, 2.5) - 17.7912).abs() < 1e-9);
        // Two others tell nothing.
        let near = BTreeSet::from([0, 1, 2, 3]);
        assert_eq!(usual.limit(0, &near, 10.0), LEAST_MICROS);
    }
}
