//! Lateness of every rank in each of its communicators, and the part of it that is its own.
//!
//! Delay is passed on. A slow GPU makes its tensor-parallel peers wait, and then all of them arrive late at their
//! data-parallel collectives; the members of a slow communicator arrive late everywhere else. What they have in common is
//! that a rank's lateness in one communicator is shared by its fellows in another: so a rank's *own* lateness in a
//! communicator is what remains after the part that the fellows in any of its other communicators share, compared within
//! one family. This needs neither clocks nor the order of operations, and no assumption on what overlaps with what.

use std::collections::BTreeMap;

use crate::collective::trace::Bin;
use crate::measured::Measured;
use crate::statistics::robust;

/// With this many fellows the median with a rank and without it are the same for our purpose.
const MANY: usize = 6;

/// A value per stretch of time, where there is one.
pub(crate) type Series = Vec<Option<f64>>;

/// A quantity of one rank in one communicator.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// Index of the communicator.
    pub(crate) comm: usize,
    /// Index in its members.
    pub(crate) member: usize,
    /// Process.
    pub(crate) process: usize,
    /// As measured against the communicator's other ranks.
    pub(crate) measured: Series,
    /// What no fellow shares.
    pub(crate) own: Series,
}

/// Places of every process: (communicator, member).
pub(crate) fn places(m: &Measured) -> Vec<Vec<(usize, usize)>> {
    let mut places = vec![Vec::new(); m.topology.processes.len()];
    for (c, comm) in m.topology.comms.iter().enumerate() {
        for (i, member) in comm.members.iter().enumerate() {
            places[member.1.0 as usize].push((c, i));
        }
    }
    places
}

/// Separates a quantity (`value` of a bin: per operation, `None` without operations) into shared and own parts.
pub(crate) fn separate(m: &Measured, places: &[Vec<(usize, usize)>], value: &(dyn Fn(&Bin) -> Option<f64> + Sync)) -> Vec<Own> {
    let series: Vec<Vec<Series>> = m
        .traces
        .iter()
        .zip(&m.topology.comms)
        .map(|(t, c)| if t.bins.is_empty() { Vec::new() } else { (0..c.members.len()).map(|i| t.member(i).iter().map(value).collect()).collect() })
        .collect();
    let shared = Shared { m, places, series: &series, memo: std::cell::RefCell::default() };
    let mut out = Vec::new();
    for (process, mine) in places.iter().enumerate() {
        for &(comm, member) in mine {
            let Some(measured) = series[comm].get(member).filter(|s| s.iter().any(Option::is_some)) else { continue };
            let mut own = measured.clone();
            for &(other, _) in mine {
                if other == comm || m.topology.comms[other].members.len() < 2 {
                    continue;
                }
                let explained = shared.by_fellows(m.family_of[comm], other, process);
                for (i, value) in own.iter_mut().enumerate() {
                    if let (Some(v), Some(e), Some(all)) = (value.as_mut(), explained[i], measured[i]) {
                        *v = v.min(all - e.max(0.0));
                    }
                }
            }
            out.push(Own { comm, member, process, measured: measured.clone(), own });
        }
    }
    out
}

/// Medians over the fellows in a communicator of a quantity in a family.
struct Shared<'a> {
    m: &'a Measured,
    places: &'a [Vec<(usize, usize)>],
    series: &'a [Vec<Series>],
    memo: std::cell::RefCell<BTreeMap<(usize, usize), Series>>,
}

impl Shared<'_> {
    /// What the fellows of `process` in communicator `through` show in their communicators of `family`, at the median.
    fn by_fellows(&self, family: usize, through: usize, process: usize) -> Series {
        let members = &self.m.topology.comms[through].members;
        if members.len() <= MANY {
            return self.median(family, through, Some(process));
        }
        if let Some(known) = self.memo.borrow().get(&(family, through)) {
            return known.clone();
        }
        let all = self.median(family, through, None);
        self.memo.borrow_mut().insert((family, through), all.clone());
        all
    }

    fn median(&self, family: usize, through: usize, but: Option<usize>) -> Series {
        let fellows: Vec<&Series> = self.m.topology.comms[through]
            .members
            .iter()
            .map(|x| x.1.0 as usize)
            .filter(|&p| Some(p) != but)
            .flat_map(|p| &self.places[p])
            .filter(|(c, _)| *c != through && self.m.family_of[*c] == family)
            .filter_map(|&(c, i)| self.series[c].get(i))
            .collect();
        let mut values = Vec::with_capacity(fellows.len());
        (0..self.m.grid.len())
            .map(|b| {
                values.clear();
                values.extend(fellows.iter().filter_map(|s| s[b]));
                robust::median(&mut values)
            })
            .collect()
    }
}
