//! What the figures of findings are drawn from.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Told;
use super::lateness::Own;
use super::transfer::Unit;
use crate::collective::example::Example;
use crate::facts::{CollectiveTimeline, FindingKind, HeatMap, MapOf, ProcessId, RankArrival};
use crate::measured::Measured;
use crate::statistics::window::Standout;
use crate::units::{ExecTime, MessageSize};

/// What a collective must look like that illustrates a finding.
pub(super) struct Scene {
    /// Communicators and members in them, one of which is late.
    pub(super) places: BTreeSet<(usize, usize)>,
    /// How late it typically is, µs.
    pub(super) micros: f64,
    /// When, in stretches of time; `None` for the whole run.
    pub(super) window: Option<Range<usize>>,
    /// How often, for one that is late now and then.
    pub(super) events: Option<f64>,
}

impl Scene {
    /// Of one rank in one communicator.
    pub(super) fn of_rank(place: (usize, usize), micros: f64, when: Option<&Standout>) -> Self {
        Self {
            places: BTreeSet::from([place]),
            micros,
            window: when.filter(|s| !s.whole).map(|s| s.start..s.end),
            events: None,
        }
    }

    /// Of one rank in one communicator, which is late so often in the run.
    pub(super) fn of_pauses(place: (usize, usize), micros: f64, events: f64) -> Self {
        Self {
            events: Some(events),
            ..Self::of_rank(place, micros, None)
        }
    }

    /// Of the ranks of a host, in communicators that leave it.
    pub(super) fn of_host(
        m: &Measured,
        host: &str,
        comms: &BTreeSet<usize>,
        micros: f64,
        when: &Standout,
    ) -> Self {
        let on_host = |p: ProcessId| m.topology.processes[p.0 as usize].host == host;
        let abroad = |c: &&usize| !m.topology.comms[**c].members.iter().all(|x| on_host(x.1));
        let places = comms.iter().filter(abroad).flat_map(|&c| {
            let members = m.topology.comms[c].members.iter().enumerate();
            members
                .filter(|(_, x)| on_host(x.1))
                .map(move |(i, _)| (c, i))
        });
        Self {
            places: places.collect(),
            micros,
            window: (!when.whole).then_some(when.start..when.end),
            events: None,
        }
    }

    /// The collective that comes closest: of those to which the rank came last, the one nearest to its typical lateness.
    fn closest<'a>(&self, m: &'a Measured) -> Option<(usize, &'a Example)> {
        let comms: BTreeSet<usize> = self.places.iter().map(|p| p.0).collect();
        let inside = |e: &Example| self.window.as_ref().is_none_or(|w| w.contains(&e.stretch));
        let distance = |e: &Example| (e.late / self.micros).ln().abs();
        comms
            .into_iter()
            .flat_map(|c| m.traces[c].examples.iter().map(move |e| (c, e)))
            .filter(|(c, e)| self.places.contains(&(*c, e.member as usize)))
            .min_by(|(a, x), (b, y)| {
                (y.last.cmp(&x.last))
                    .then(inside(y).cmp(&inside(x)))
                    .then(distance(x).total_cmp(&distance(y)))
                    .then((a, x.member).cmp(&(b, y.member)))
            })
    }
}

/// For each finding about ranks that are late, a collective that shows it.
pub(super) fn timelines(m: &Measured, told: &[Told]) -> Vec<CollectiveTimeline> {
    told.iter()
        .filter_map(|t| {
            let (comm, example) = t.scene.as_ref()?.closest(m)?;
            Some(timeline(m, &t.finding.id, comm, example))
        })
        .collect()
}

fn timeline(m: &Measured, finding: &str, comm: usize, e: &Example) -> CollectiveTimeline {
    let times = || e.times.iter().map(|t| t.1);
    let (shortest, longest) = (
        times().fold(f64::INFINITY, f64::min),
        times().fold(0.0, f64::max),
    );
    let by_member: BTreeMap<u32, f64> = e.times.iter().copied().collect();
    CollectiveTimeline {
        finding: finding.to_owned(),
        communicator: u32::try_from(comm).unwrap_or(u32::MAX),
        operation: m.function(e.function).to_owned(),
        sequence_number: e.sequence_number.unsigned_abs(),
        size: MessageSize::from_bytes(e.size),
        ranks: by_member
            .into_iter()
            .map(|(i, micros)| {
                let (rank, process, _) = m.topology.comms[comm].members[i as usize];
                RankArrival {
                    rank,
                    process: Some(process),
                    arrival: ExecTime::from_micros(longest - micros),
                    wait: ExecTime::from_micros(micros - shortest),
                    exec_time: ExecTime::from_micros(micros),
                }
            })
            .collect(),
    }
}

/// Rank × time: late arrival, and slowness of the transfers that a rank takes part in. Maps that show nothing but for findings of
/// one kind are drawn where there is such a finding.
pub(super) fn heat_maps(m: &Measured, owns: &[Own], units: &[Unit], told: &[Told]) -> Vec<HeatMap> {
    let mut late = Sums::of(m);
    let mut measured = Sums::of(m);
    for o in owns {
        for (b, bin) in m.traces[o.comm].member(o.member).iter().enumerate() {
            if let Some(v) = o.at(b) {
                late.add(o.process, b, v.max(0.0) * bin.operations, bin.operations);
            }
            if let Some(v) = o.measured[b] {
                measured.add(o.process, b, v.max(0.0) * bin.operations, bin.operations);
            }
        }
    }
    let mut slow = Sums::of(m);
    for u in units {
        for &p in &u.processes {
            for b in 0..m.grid.len() {
                if let Some(r) = u.ratio[b] {
                    slow.add(p, b, u.time[b], u.time[b] / r);
                }
            }
        }
    }
    let any = |kind| told.iter().any(|t| t.finding.kind == kind);
    let mut maps = vec![late.map(
        m,
        MapOf::Lateness,
        "Late arrival of a rank's own, mean over its collectives",
        "µs",
        0.0,
    )];
    if any(FindingKind::LateHost) {
        maps.push(measured.map(
            m,
            MapOf::MeasuredLateness,
            "Late arrival, what other ranks pass on included, mean over a rank's collectives",
            "µs",
            0.0,
        ));
    }
    if any(FindingKind::IntermittentLateRank) {
        maps.push(pauses(m, told).map(
            m,
            MapOf::Pauses,
            "Pauses: late arrival beyond a rank's usual, in all",
            "µs",
            0.0,
        ));
    }
    maps.push(slow.map(
        m,
        MapOf::Transfer,
        "Transfer time of a rank's communicators and pairs, against the fast ones of their kind",
        "×",
        1.0,
    ));
    maps.into_iter().flatten().collect()
}

/// Pauses in the families in which findings show them; in others the same pauses are seen passed on.
fn pauses(m: &Measured, told: &[Told]) -> Sums {
    let families: BTreeSet<usize> = told
        .iter()
        .filter(|t| t.finding.kind == FindingKind::IntermittentLateRank)
        .flat_map(|t| t.comms.iter().map(|&c| m.family_of[c]))
        .collect();
    let mut sums = Sums::of(m);
    let comms = m.topology.comms.iter().enumerate();
    for (c, comm) in comms.filter(|(c, _)| families.contains(&m.family_of[*c])) {
        let members = comm.members.iter().enumerate();
        for (i, member) in members.filter(|_| !m.traces[c].bins.is_empty()) {
            for (b, bin) in m.traces[c].member(i).iter().enumerate() {
                if bin.operations > 0.0 {
                    sums.add(member.1.0 as usize, b, bin.event_micros, 0.0);
                    sums.weigh(member.1.0 as usize, b);
                }
            }
        }
    }
    sums
}

/// A quotient per process and stretch of time.
struct Sums {
    stretches: usize,
    cells: Vec<(f64, f64)>,
}

impl Sums {
    fn of(m: &Measured) -> Self {
        let stretches = m.grid.len();
        Self {
            stretches,
            cells: vec![(0.0, 0.0); m.topology.processes.len() * stretches],
        }
    }

    fn add(&mut self, process: usize, stretch: usize, value: f64, weight: f64) {
        let cell = &mut self.cells[process * self.stretches + stretch];
        *cell = (cell.0 + value, cell.1 + weight);
    }

    /// Makes the cell a sum rather than a mean.
    fn weigh(&mut self, process: usize, stretch: usize) {
        self.cells[process * self.stretches + stretch].1 = 1.0;
    }

    fn map(
        &self,
        m: &Measured,
        of: MapOf,
        title: &str,
        unit: &str,
        neutral: f64,
    ) -> Option<HeatMap> {
        let values: Vec<Option<f64>> = self
            .cells
            .iter()
            .map(|s| (s.1 > 0.0).then(|| s.0 / s.1))
            .collect();
        if values.iter().all(Option::is_none) {
            return None;
        }
        let mut edges: Vec<_> = (0..self.stretches).map(|b| m.grid.bounds(b).0).collect();
        edges.extend(
            self.stretches
                .checked_sub(1)
                .map(|last| m.grid.bounds(last).1),
        );
        Some(HeatMap {
            of,
            title: title.into(),
            unit: unit.into(),
            rows: (0..m.topology.processes.len())
                .map(|p| ProcessId(u32::try_from(p).unwrap_or(u32::MAX)))
                .collect(),
            edges,
            values,
            neutral,
        })
    }
}
