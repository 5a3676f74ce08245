//! Slow collectives that coincide with TCP retransmits of a host, far more often than chance.
//!
//! Retransmits happen on any busy network, and slow collectives for many reasons; some always coincide. If they had nothing to
//! do with each other, a retransmit would fall into a slow stretch as often as slow stretches fill the time: the number that
//! do is binomial, and its tail is the evidence. Retransmits come in bursts, so one burst counts once.
//!
//! A segment is sent again by the sender, wherever it was lost. Where several hosts send again to one address, the receiver's side loses
//! them; from one sender to one receiver nothing tells the two sides apart, and the sender is named.

use std::collections::{BTreeMap, BTreeSet};

use super::store::{HostTraces, Retransmit};
use super::stretches::Stretches;
use crate::facts::WindowSource;
use crate::statistics::robust;

/// A call is slow at so many times the median of its kind: waiting for a late peer seldom makes it five times as long, a
/// retransmission time-out of 40 ms and more does.
const SLOW: f64 = 5.0;

/// Shorter calls aren't slowed by retransmits, whose time-outs are 5 ms at the least.
const LEAST_NANOS: f64 = 5e6;

/// Retransmits within this time are one burst.
const BURST_NANOS: i64 = 10_000_000;

/// Bursts inside slow stretches, at least.
const LEAST_BURSTS: u64 = 5;

/// Times as many bursts a second inside slow stretches as outside, at least.
const RATE: f64 = 5.0;

/// Chance of so many under coincidence, over all hosts.
const CHANCE: f64 = 1e-5;

/// So much of the retransmits inside slow stretches must go to one address, from several hosts, for the receiver to be to blame.
const TO_ONE: f64 = 0.8;

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
    pub(crate) source: WindowSource,
}

impl HostWindows {
    /// None yet.
    pub(crate) fn of(source: WindowSource) -> Self {
        Self {
            span: (i64::MAX, i64::MIN),
            slow: Vec::new(),
            source,
        }
    }

    /// Adds what one trace says.
    pub(crate) fn add(&mut self, span: (i64, i64), slow: Vec<SlowSpan>) {
        self.span = (self.span.0.min(span.0), self.span.1.max(span.1));
        self.slow.extend(slow);
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
    /// Bursts a second inside slow stretches, and outside.
    pub(crate) rates: (f64, f64),
    /// Slow operations of the host with a retransmit in them.
    pub(crate) operations: u64,
    /// Their typical length, and that of their kind, µs.
    pub(crate) micros: (f64, f64),
    /// Time above the median of their kind, µs, on this host.
    pub(crate) time_lost: f64,
    /// Chance under coincidence.
    pub(crate) chance: f64,
    /// Where the slow operations come from.
    pub(crate) source: WindowSource,
    /// Connections of the retransmits in slow stretches, most first.
    pub(crate) connections: Vec<(String, u64)>,
    /// Hosts that send again to this one, where that is why it is named.
    pub(crate) senders: Vec<String>,
}

/// Every such host, by time lost.
pub(crate) fn retransmits(
    all: &HostTraces,
    windows: &BTreeMap<String, HostWindows>,
) -> Vec<Retransmits> {
    let hosts = windows.len() as f64;
    let mut out: Vec<Retransmits> = windows
        .iter()
        .filter_map(|(host, windows)| {
            let events: Vec<i64> = all.retransmits(host).iter().map(|r| r.at).collect();
            let mut found = judge(host, &events, windows, hosts)?;
            found.connections = connections(all, host, &windows.stretches());
            Some(found)
        })
        .collect();
    to_one_receiver(all, windows, &mut out);
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then_with(|| a.host.cmp(&b.host))
    });
    out
}

fn inside<'a>(all: &'a HostTraces, host: &str, slow: &Stretches) -> Vec<&'a Retransmit> {
    all.retransmits(host)
        .iter()
        .filter(|r| slow.holds(r.at))
        .collect()
}

fn connections(all: &HostTraces, host: &str, slow: &Stretches) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for r in inside(all, host, slow) {
        if let Some(name) = all.connection(r.connection) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

/// Where several hosts send again to one address, and hardly anywhere else, the host of that address takes their place.
fn to_one_receiver(
    all: &HostTraces,
    windows: &BTreeMap<String, HostWindows>,
    found: &mut Vec<Retransmits>,
) {
    if found.len() < 2 {
        return;
    }
    let mut to: BTreeMap<&str, (u64, BTreeSet<&str>)> = BTreeMap::new();
    let mut total = 0;
    for one in found.iter() {
        let Some((host, of_host)) = windows.get_key_value(&one.host) else {
            continue;
        };
        for r in inside(all, host, &of_host.stretches()) {
            total += 1;
            if let Some(destination) = all.destination(r.connection) {
                let entry = to.entry(destination).or_default();
                entry.0 += 1;
                entry.1.insert(host);
            }
        }
    }
    let Some((address, (count, senders))) = to
        .into_iter()
        .max_by(|a, b| a.1.0.cmp(&b.1.0).then_with(|| b.0.cmp(a.0)))
    else {
        return;
    };
    if senders.len() < 2 || (count as f64) < TO_ONE * f64::from(total) {
        return;
    }
    // Without a host of that address the senders stay, and their connections tell.
    let Some(receiver) = all.host_of_address(address).map(str::to_owned) else {
        return;
    };
    let senders: Vec<String> = senders.into_iter().map(str::to_owned).collect();
    let (blamed, mut rest): (Vec<Retransmits>, Vec<Retransmits>) = std::mem::take(found)
        .into_iter()
        .partition(|one| senders.contains(&one.host) && one.host != receiver);
    let Some(first) = blamed
        .iter()
        .max_by(|a, b| a.time_lost.total_cmp(&b.time_lost))
        .cloned()
    else {
        *found = rest;
        return;
    };
    let mut connections: Vec<(String, u64)> =
        blamed.iter().flat_map(|b| b.connections.clone()).collect();
    connections.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rest.retain(|one| one.host != receiver);
    rest.push(Retransmits {
        host: receiver,
        inside: blamed
            .iter()
            .fold((0, 0), |a, b| (a.0 + b.inside.0, a.1 + b.inside.1)),
        operations: blamed.iter().map(|b| b.operations).max().unwrap_or(0),
        chance: blamed.iter().map(|b| b.chance).fold(1.0, f64::min),
        connections,
        senders,
        ..first
    });
    *found = rest;
}

fn judge(host: &str, events: &[i64], windows: &HostWindows, hosts: f64) -> Option<Retransmits> {
    let (start, end) = windows.span;
    if windows.slow.is_empty() || start >= end {
        return None;
    }
    let stretches = windows.stretches().within((start, end));
    let covered = stretches.total();
    let share = covered as f64 / (end - start).max(1) as f64;
    let seen: Vec<i64> = events
        .iter()
        .copied()
        .filter(|t| (start..=end).contains(t))
        .collect();
    let bursts: Vec<i64> = seen
        .chunk_by(|a, b| b - a <= BURST_NANOS)
        .map(|burst| burst[0])
        .collect();
    let within = bursts.iter().filter(|&&t| stretches.holds(t)).count() as u64;
    let chance = (binomial_tail(within, bursts.len() as u64, share) * hosts).min(1.0);
    let seconds = |ns: f64| (ns / 1e9).max(1e-9);
    let rates = (
        within as f64 / seconds(covered as f64),
        (bursts.len() as u64 - within) as f64 / seconds((end - start - covered) as f64),
    );
    if within < LEAST_BURSTS || chance > CHANCE || rates.0 < RATE * rates.1 {
        return None;
    }
    let hit: Vec<&SlowSpan> = windows
        .slow
        .iter()
        .filter(|s| {
            let i = seen.partition_point(|&t| t < s.window.0);
            seen.get(i).is_some_and(|&t| t <= s.window.1)
        })
        .collect();
    let mut long: Vec<f64> = hit.iter().map(|s| s.micros).collect();
    let mut usual: Vec<f64> = hit.iter().map(|s| s.usual).collect();
    Some(Retransmits {
        host: host.to_owned(),
        inside: (
            seen.iter().filter(|&&t| stretches.holds(t)).count() as u64,
            seen.len() as u64,
        ),
        rates,
        operations: hit.len() as u64,
        micros: (robust::median(&mut long)?, robust::median(&mut usual)?),
        time_lost: hit.iter().map(|s| (s.micros - s.usual) * s.ranks).sum(),
        chance,
        source: windows.source,
        connections: Vec::new(),
        senders: Vec::new(),
    })
}

/// Chance of `k` or more of `n` where each happens with probability `p`.
fn binomial_tail(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 || p >= 1.0 {
        return 1.0;
    }
    if p <= 0.0 || k > n {
        return 0.0;
    }
    let ln_choose = |k: u64| {
        (1..=k)
            .map(|i| ((n - k + i) as f64).ln() - (i as f64).ln())
            .sum::<f64>()
    };
    let mut ln_term = ln_choose(k) + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln();
    let mut sum = 0.0;
    for i in k..=n {
        sum += ln_term.exp();
        ln_term += ((n - i) as f64).ln() - ((i + 1) as f64).ln() + p.ln() - (1.0 - p).ln();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1/2⁴·(4 + 1) for 3 or more of 4 at one half; all of 10 at 0.1 is 1e-10.
    #[test]
    fn tails_by_hand() {
        assert!((binomial_tail(3, 4, 0.5) - 5.0 / 16.0).abs() < 1e-12);
        assert!((binomial_tail(10, 10, 0.1) / 1e-10 - 1.0).abs() < 1e-9);
        assert_eq!(
            (
                binomial_tail(0, 5, 0.3),
                binomial_tail(3, 2, 0.3),
                binomial_tail(1, 1, 1.0)
            ),
            (1.0, 0.0, 1.0)
        );
    }

    /// An operation every 60 ms; every 20th takes 50 ms instead of 1.
    fn windows() -> HostWindows {
        let slow = (0..400_i64)
            .filter(|i| i % 20 == 7)
            .map(|i| SlowSpan {
                window: (i * 60_000_000, i * 60_000_000 + 50_000_000),
                micros: 50_000.0,
                usual: 1_000.0,
                ranks: 1.0,
            })
            .collect();
        let mut windows = HostWindows::of(WindowSource::Calls);
        windows.add((0, 400 * 60_000_000), slow);
        windows
    }

    #[test]
    fn retransmits_inside_slow_calls_are_a_cause_and_the_same_number_anywhere_is_not() {
        let windows = windows();
        let inside: Vec<i64> = windows
            .slow
            .iter()
            .map(|s| s.window.0 + 9_000_000)
            .collect();
        let found = judge("h", &inside, &windows, 4.0).expect("a cause");
        assert_eq!((found.inside, found.operations), ((20, 20), 20));
        assert!(
            (found.micros.0 - 50_000.0).abs() < 1e-9 && (found.micros.1 - 1_000.0).abs() < 1e-9
        );
        let anywhere: Vec<i64> = (0..400).map(|i| i * 60_000_000 + 30_000_000).collect();
        assert!(judge("h", &anywhere, &windows, 4.0).is_none());
        assert!(judge("h", &[], &windows, 4.0).is_none());
    }

    #[test]
    fn windows_that_fill_the_time_say_nothing() {
        let mut windows = HostWindows::of(WindowSource::Dumps);
        let all = SlowSpan {
            window: (0, 1_000_000_000),
            micros: 50_000.0,
            usual: 1_000.0,
            ranks: 1.0,
        };
        windows.add((0, 1_000_000_000), vec![all]);
        let events: Vec<i64> = (0..50).map(|i| i * 20_000_000).collect();
        assert!(judge("h", &events, &windows, 1.0).is_none());
    }
}

#[cfg(test)]
#[path = "retransmit_tests.rs"]
mod whole;
