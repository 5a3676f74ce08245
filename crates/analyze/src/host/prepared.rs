//! A host's retransmits beside its slow operations.

use std::collections::BTreeMap;

use super::excess::Part;
use super::running::Running;
use super::slow_spans::{HostWindows, SlowSpan};
use super::store::{HostTraces, Retransmit};
use super::stretches::{Stretch, Stretches};
use crate::facts::WindowSource;
use crate::statistics::robust;

/// With ordinary operations in less of the time than this, what falls into them tells no rate.
const LEAST_ORDINARY: f64 = 0.05;

/// A host's slow operations, ready to be compared with.
pub(super) struct Prepared<'a> {
    pub(super) host: &'a str,
    pub(super) windows: &'a HostWindows,
    /// The slow transfers whose loss counts: of the dumps, which tell it of every rank, else what windows there are.
    losses: &'a [SlowSpan],
    pub(super) running: Running,
    /// How many of them ran, where it is known only coarsely when.
    how_many: Option<Running>,
    pub(super) stretches: Stretches,
    /// Within the span.
    pub(super) list: Vec<Retransmit>,
    /// Typical length of a slow operation, ns.
    pub(super) length: f64,
}

impl<'a> Prepared<'a> {
    pub(super) fn of(
        host: &'a str,
        list: &[Retransmit],
        windows: &'a HostWindows,
        of_dumps: Option<&'a HostWindows>,
    ) -> Option<Self> {
        let span = windows.span;
        let mut lengths: Vec<f64> = windows.slow.iter().map(|s| s.micros * 1e3).collect();
        let length = robust::median(&mut lengths)?;
        let of_windows = || windows.slow.iter().map(|s| (s.window, s.micros * 1e3));
        (span.0 < span.1).then(|| Self {
            host,
            windows,
            losses: of_dumps
                .map(|dumps| &dumps.slow)
                .filter(|slow| !slow.is_empty())
                .unwrap_or(&windows.slow),
            running: Running::of(of_windows(), span),
            how_many: (windows.source == WindowSource::Dumps)
                .then(|| Running::how_many(of_windows(), span)),
            stretches: windows.stretches().within(span),
            list: list
                .iter()
                .copied()
                .filter(|r| (span.0..=span.1).contains(&r.at))
                .collect(),
            length,
        })
    }

    /// Leaves retransmits out that are explained.
    pub(super) fn leave_out(&mut self, is: impl Fn(u32) -> bool) {
        self.list.retain(|r| !is(r.connection));
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
            how_many: self.how_many.as_ref(),
            at,
            length: self.length,
        }
    }

    /// Slow operations, as many as fit into the time in which one ran: several at once are slowed by the same loss.
    pub(super) fn operations(&self) -> f64 {
        self.running.total() / self.length
    }

    /// Part of the slow operations with a retransmit in them that are between two ranks alone.
    pub(super) fn between_two(&self) -> f64 {
        let at = self.moments(|_| true);
        let hit = || {
            let slow = self.windows.slow.iter();
            slow.filter(|s| holds_one(&at, s.window))
        };
        hit().filter(|s| s.pair).count() as f64 / hit().count().max(1) as f64
    }

    /// Time above the median of their kind of all slow operations, µs.
    pub(super) fn time_lost(&self) -> f64 {
        lost(self.losses.iter())
    }

    /// The rate in ordinary operations, a second, at the least that the number allows.
    pub(super) fn ordinary_rate(&self, at: &[i64]) -> Option<f64> {
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
