//! Slow collectives that coincide with TCP retransmits of a host, far more often than chance.
//!
//! Retransmits happen on any busy network, and slow collectives for many reasons; some always coincide. So the rate while slow operations
//! ran is held against the rate else, of a host as a whole and of each of its connections, and against that in ordinary operations,
//! since a network that carries more loses more (`excess`). Which side loses them is for `receiver` to say.

use std::collections::BTreeMap;

use super::excess::{Excess, Part, excess};
use super::receiver::to_one_receiver;
use super::running::Running;
use super::store::{HostTraces, Retransmit};
use super::stretches::{Stretch, Stretches};
use crate::facts::WindowSource;
use crate::statistics::robust;

/// A call is slow at so many times the median of its kind: waiting for a late peer seldom makes it five times as long, a
/// retransmission time-out of 40 ms and more does.
const SLOW: f64 = 5.0;

/// Shorter calls aren't slowed by retransmits, whose time-outs are 5 ms at the least.
const LEAST_NANOS: f64 = 5e6;

/// Retransmits beyond those expected, at least; fewer are anecdotes.
const LEAST_BEYOND: f64 = 5.0;

/// As many beyond those expected for each slow operation, at least: with less, most of them are slow for other reasons. The share that a
/// cause on the host has to explain, too.
const EXPLAINS: f64 = 0.3;

/// Half as frequent again as elsewhere, at least: over long runs chance rules out less than that, and so may anything else.
const RATE: f64 = 1.5;

/// Chance of naming any host wrongly, over all hosts and connections.
const CHANCE: f64 = 1e-3;

/// With ordinary operations in less of the time than this, what falls into them tells no rate.
const LEAST_ORDINARY: f64 = 0.05;

/// Whether an operation of this length (ns) is slow, where `median` is usual for its kind.
pub(crate) fn is_slow(length: f64, median: f64) -> bool {
    length >= LEAST_NANOS && length >= SLOW * median
}

/// A slow operation, and when it ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowSpan {
    /// When it ran, or may have run, ns by the host's clock.
    pub(crate) window: (i64, i64),
    /// How long, µs.
    pub(crate) micros: f64,
    /// How long its kind usually takes, µs.
    pub(crate) usual: f64,
    /// Ranks that lost the time.
    pub(crate) ranks: f64,
}

/// The slow operations of a host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HostWindows {
    /// The time that was looked at, ns by the host's clock.
    pub(crate) span: (i64, i64),
    pub(crate) slow: Vec<SlowSpan>,
    /// When any operation ran, slow or not; empty where that isn't known.
    pub(crate) operating: Stretches,
    pub(crate) source: WindowSource,
}

impl HostWindows {
    /// None yet.
    pub(crate) fn of(source: WindowSource) -> Self {
        Self {
            span: (i64::MAX, i64::MIN),
            slow: Vec::new(),
            operating: Stretches::default(),
            source,
        }
    }

    /// Adds what one trace says.
    pub(crate) fn add(&mut self, span: (i64, i64), slow: Vec<SlowSpan>, operating: Stretches) {
        self.span = (self.span.0.min(span.0), self.span.1.max(span.1));
        self.slow.extend(slow);
        if self.operating.all().is_empty() {
            self.operating = operating;
        } else {
            let both = [self.operating.all(), operating.all()].concat();
            self.operating = Stretches::of(both);
        }
    }

    /// The same by a clock that is ahead by so many ns.
    pub(crate) fn later(&self, by: i64) -> Self {
        let moved = |s: (i64, i64)| (s.0.saturating_add(by), s.1.saturating_add(by));
        Self {
            span: moved(self.span),
            slow: self
                .slow
                .iter()
                .map(|s| SlowSpan {
                    window: moved(s.window),
                    ..*s
                })
                .collect(),
            operating: Stretches::of(self.operating.all().iter().map(|s| moved(*s)).collect()),
            source: self.source,
        }
    }

    /// The times that slow operations fill.
    pub(crate) fn stretches(&self) -> Stretches {
        Stretches::of(self.slow.iter().map(|s| s.window).collect())
    }
}

/// A host whose retransmits slow collectives down.
#[derive(Debug, Clone)]
pub(crate) struct Retransmits {
    /// Host.
    pub(crate) host: String,
    /// Retransmits in slow stretches, and in all.
    pub(crate) inside: (u64, u64),
    /// Retransmits a second while slow operations ran, and else.
    pub(crate) rates: (f64, f64),
    /// How many more there were than expected.
    pub(crate) beyond: f64,
    /// Slow operations of the host with a retransmit in them.
    pub(crate) operations: u64,
    /// Their typical length, and that of their kind, µs.
    pub(crate) micros: (f64, f64),
    /// Time above the median of their kind, µs, as far as retransmits explain it.
    pub(crate) time_lost: f64,
    /// Chance under coincidence, over all that was looked at.
    pub(crate) chance: f64,
    /// Where the slow operations come from.
    pub(crate) source: WindowSource,
    /// Connections of the retransmits in slow stretches, most first.
    pub(crate) connections: Vec<(String, u64)>,
    /// Hosts that send again to this one, where that is why it is named.
    pub(crate) senders: Vec<String>,
}

/// A host's slow operations, ready to be compared with.
pub(super) struct Prepared<'a> {
    pub(super) host: &'a str,
    pub(super) windows: &'a HostWindows,
    /// The slow transfers whose loss counts: of the dumps, which tell it of every rank, else what windows there are.
    losses: &'a [SlowSpan],
    pub(super) running: Running,
    pub(super) stretches: Stretches,
    /// Within the span.
    pub(super) list: Vec<Retransmit>,
    /// Typical length of a slow operation, ns.
    pub(super) length: f64,
}

impl<'a> Prepared<'a> {
    fn of(
        host: &'a str,
        list: &[Retransmit],
        windows: &'a HostWindows,
        of_dumps: Option<&'a HostWindows>,
    ) -> Option<Self> {
        let span = windows.span;
        let mut lengths: Vec<f64> = windows.slow.iter().map(|s| s.micros * 1e3).collect();
        let length = robust::median(&mut lengths)?;
        let of_windows = windows.slow.iter().map(|s| (s.window, s.micros * 1e3));
        (span.0 < span.1).then(|| Self {
            host,
            windows,
            losses: of_dumps
                .map(|dumps| &dumps.slow)
                .filter(|slow| !slow.is_empty())
                .unwrap_or(&windows.slow),
            running: Running::of(of_windows, span),
            stretches: windows.stretches().within(span),
            list: list
                .iter()
                .copied()
                .filter(|r| (span.0..=span.1).contains(&r.at))
                .collect(),
            length,
        })
    }

    /// The moments of those retransmits that a connection takes.
    pub(super) fn moments(&self, takes: impl Fn(u32) -> bool) -> Vec<i64> {
        self.list
            .iter()
            .filter(|r| takes(r.connection))
            .map(|r| r.at)
            .collect()
    }

    pub(super) fn part<'b>(&'b self, at: &'b [i64]) -> Part<'b> {
        Part {
            running: &self.running,
            at,
            length: self.length,
        }
    }

    /// Slow operations, as many as fit into the time in which one ran: several at once are slowed by the same loss.
    pub(super) fn operations(&self) -> f64 {
        self.running.total() / self.length
    }

    /// Time above the median of their kind of all slow operations, µs.
    pub(super) fn time_lost(&self) -> f64 {
        lost(self.losses.iter())
    }

    /// The rate in ordinary operations, a second, at the least that the number allows.
    fn ordinary_rate(&self, at: &[i64]) -> Option<f64> {
        let operating = &self.windows.operating;
        let slow = &self.stretches;
        let inside: i64 = slow.all().iter().map(|s| operating.overlap(*s)).sum();
        let time = (operating.total() - inside) as f64;
        let n = at
            .iter()
            .filter(|&&t| operating.holds(t) && !slow.holds(t))
            .count() as f64;
        (time >= LEAST_ORDINARY * self.running.length()).then(|| (n - n.sqrt()) / (time / 1e9))
    }
}

/// Every such host, by time lost. `of_dumps` are the slow transfers of the dumps, by the clocks of the traces.
pub(crate) fn retransmits(
    all: &HostTraces,
    windows: &BTreeMap<String, HostWindows>,
    of_dumps: &BTreeMap<String, HostWindows>,
) -> Vec<Retransmits> {
    let prepared: Vec<Prepared<'_>> = windows
        .iter()
        .filter_map(|(host, windows)| {
            Prepared::of(host, all.retransmits(host), windows, of_dumps.get(host))
        })
        .collect();
    let groups: Vec<BTreeMap<u32, u64>> = prepared.iter().map(connections_of).collect();
    // A host with one connection is looked at once.
    let looks = |of: &BTreeMap<u32, u64>| if of.len() > 1 { of.len() } else { 0 };
    let tests = (prepared.len() + groups.iter().map(looks).sum::<usize>()) as f64;
    let mut out: Vec<Retransmits> = Vec::new();
    for (host, groups) in prepared.iter().zip(&groups) {
        let whole = judge(all, host, None, tests);
        let of_connections = || {
            groups
                .keys()
                .filter_map(|&c| judge(all, host, Some(c), tests))
                .min_by(|a, b| a.chance.total_cmp(&b.chance))
        };
        out.extend(whole.or_else(of_connections));
    }
    to_one_receiver(all, &prepared, tests, &mut out);
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then_with(|| a.host.cmp(&b.host))
    });
    out
}

/// Retransmits of each connection that has enough of them to be looked at alone.
fn connections_of(host: &Prepared<'_>) -> BTreeMap<u32, u64> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for r in &host.list {
        *counts.entry(r.connection).or_default() += 1;
    }
    counts.retain(|_, n| *n as f64 >= LEAST_BEYOND);
    counts
}

/// Whether it is far more than chance and than what happens anyway, and enough to matter.
pub(super) fn stands(excess: &Excess, operations: f64, tests: f64) -> bool {
    excess.chance * tests <= CHANCE
        && excess.beyond >= LEAST_BEYOND.max(EXPLAINS * operations)
        && excess.rates.0 >= RATE * excess.rates.1
}

fn judge(
    all: &HostTraces,
    host: &Prepared<'_>,
    connection: Option<u32>,
    tests: f64,
) -> Option<Retransmits> {
    let takes = |c: u32| connection.is_none_or(|one| one == c);
    let at = host.moments(takes);
    let mut found = excess(&[host.part(&at)])?;
    if let Some(ordinary) = host.ordinary_rate(&at).filter(|o| *o > found.rates.1) {
        found.rates.1 = ordinary;
        found.beyond = (found.rates.0 - ordinary) * found.ran / 1e9;
    }
    if !stands(&found, host.operations(), tests) {
        return None;
    }
    let hit = Hit::of(host, &at)?;
    Some(Retransmits {
        host: host.host.to_owned(),
        inside: hit.inside,
        rates: found.rates,
        beyond: found.beyond,
        operations: hit.operations,
        micros: hit.micros,
        time_lost: hit.time_lost * (1.0 - found.rates.1 / found.rates.0),
        chance: (found.chance * tests).min(1.0),
        source: host.windows.source,
        connections: named(all, host, takes),
        senders: Vec::new(),
    })
}

/// The slow operations with a retransmit in them.
pub(super) struct Hit {
    /// Retransmits in slow stretches, and in all.
    pub(super) inside: (u64, u64),
    pub(super) operations: u64,
    pub(super) micros: (f64, f64),
    pub(super) time_lost: f64,
}

impl Hit {
    pub(super) fn of(host: &Prepared<'_>, at: &[i64]) -> Option<Self> {
        let hit: Vec<&SlowSpan> = host
            .windows
            .slow
            .iter()
            .filter(|s| holds_one(at, s.window))
            .collect();
        let mut long: Vec<f64> = hit.iter().map(|s| s.micros).collect();
        let mut usual: Vec<f64> = hit.iter().map(|s| s.usual).collect();
        let inside = at.iter().filter(|&&t| host.stretches.holds(t)).count();
        Some(Self {
            inside: (inside as u64, at.len() as u64),
            operations: hit.len() as u64,
            micros: (robust::median(&mut long)?, robust::median(&mut usual)?),
            time_lost: lost(host.losses.iter().filter(|s| holds_one(at, s.window))),
        })
    }
}

/// Time above the usual, over all ranks that lost it, µs.
fn lost<'a>(slow: impl Iterator<Item = &'a SlowSpan>) -> f64 {
    slow.map(|s| (s.micros - s.usual) * s.ranks).sum()
}

fn holds_one(at: &[i64], window: Stretch) -> bool {
    let first = at.partition_point(|&t| t < window.0);
    at.get(first).is_some_and(|&t| t <= window.1)
}

/// The connections of retransmits in slow stretches by name, most first.
pub(super) fn named(
    all: &HostTraces,
    host: &Prepared<'_>,
    takes: impl Fn(u32) -> bool,
) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for r in host.list.iter().filter(|r| takes(r.connection)) {
        if host.stretches.holds(r.at)
            && let Some(name) = all.connection(r.connection)
        {
            *counts.entry(name).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

#[cfg(test)]
#[path = "retransmit_tests.rs"]
mod tests;
