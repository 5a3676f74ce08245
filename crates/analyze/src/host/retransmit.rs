//! Slow collectives that coincide with TCP retransmits of a host, far more often than chance.
//!
//! Retransmits happen on any busy network, and slow collectives for many reasons; some always coincide. So the rate while slow operations
//! ran is held against the rate else, of a host as a whole and of each of its connections, and against that in ordinary operations,
//! since a network that carries more loses more (`excess`).
//!
//! Who is to blame: a sender, or a receiver to whom several send again (`receiver`). Whoever explains most is named first, and what it
//! explains is taken away before the next is looked for. Where the traces leave it open, all that it may be are told (`unsure`).

use std::collections::{BTreeMap, BTreeSet};

use super::destinations::Destinations;
use super::excess::{Excess, excess};
use super::prepared::{Hit, Prepared, named};
use super::receiver::{self, Receiver};
use super::sides::{self, Side};
use super::slow_spans::HostWindows;
use super::store::HostTraces;
use super::transfers::Transfers;
use super::unsure;
use super::ways::Ways;
use crate::facts::WindowSource;

/// Retransmits beyond those expected, at least; fewer are anecdotes.
const LEAST_BEYOND: f64 = 5.0;

/// As many beyond those expected for each slow operation, at least: with less, most of them are slow for other reasons. The share that a
/// cause on the host has to explain, too.
const EXPLAINS: f64 = 0.3;

/// Half as frequent again as elsewhere, at least: over long runs chance rules out less than that, and so may anything else.
const RATE: f64 = 1.5;

/// Chance of naming any host wrongly, over all hosts and connections.
const CHANCE: f64 = 1e-3;

/// A receiver explains what its senders do, the most of them too; what of it is noise may make it look like less, by this part.
const AS_MUCH: f64 = 2.0 / 3.0;

/// Who loses segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The host that sends again.
    Sender,
    /// The host that is sent to, by these.
    Receiver { senders: Vec<String> },
    /// The host that sends most again, or this receiver, to whom others do too, but too little to be sure.
    Either { receiver: String },
    /// Without addresses: these who send again, or one to whom they send, who may be one of the others.
    Open {
        senders: Vec<String>,
        others: Vec<String>,
    },
}

/// A host whose retransmits slow collectives down.
#[derive(Debug, Clone)]
pub(crate) struct Retransmits {
    /// Host; where it is left open which, the one that sends most again.
    pub(crate) host: String,
    pub(crate) blame: Blame,
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
}

impl Retransmits {
    /// The host, or all that it may be.
    pub(crate) fn hosts(&self) -> Vec<&str> {
        match &self.blame {
            Blame::Open { senders, others } => {
                senders.iter().chain(others).map(String::as_str).collect()
            }
            Blame::Either { receiver } => vec![&self.host, receiver],
            Blame::Sender | Blame::Receiver { .. } => vec![&self.host],
        }
    }

    /// A host that sends again.
    pub(crate) fn a_sender(&self) -> &str {
        match &self.blame {
            Blame::Receiver { senders } => senders.first().unwrap_or(&self.host),
            _ => &self.host,
        }
    }

    /// Whether the traces leave open which host it is.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.blame, Blame::Either { .. } | Blame::Open { .. })
    }
}

/// Every such host, by time lost. The transfers are those of the dumps, by the clocks of the traces.
pub(crate) fn retransmits(
    all: &HostTraces,
    windows: &BTreeMap<String, HostWindows>,
    of_dumps: &Transfers,
) -> Vec<Retransmits> {
    let mut hosts: Vec<Prepared<'_>> = windows
        .iter()
        .filter_map(|(host, windows)| {
            Prepared::of(
                host,
                all.retransmits(host),
                windows,
                of_dumps.windows.get(host),
            )
        })
        .collect();
    let to = Destinations::of(all);
    let tests = tests(&hosts, &to);
    let mut out: Vec<Retransmits> = Vec::new();
    while let Some((found, explained)) = next(all, &to, &hosts, &of_dumps.ways, tests) {
        for host in &mut hosts {
            let whole = explained.hosts.contains(host.host);
            host.leave_out(|c| {
                whole || explained.to.is_some_and(|d| to.of_connection(c) == Some(d))
            });
        }
        // What it sends again itself is of the same cause.
        if !out.iter().any(|o| o.host == found.host) {
            out.push(found);
        }
    }
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then_with(|| a.host.cmp(&b.host))
    });
    out
}

/// What a finding explains.
struct Explained {
    /// All retransmits of these hosts.
    hosts: BTreeSet<String>,
    /// All to this destination.
    to: Option<u32>,
}

/// Whoever explains most of what is left.
fn next(
    all: &HostTraces,
    to: &Destinations,
    hosts: &[Prepared<'_>],
    ways: &Ways,
    tests: f64,
) -> Option<(Retransmits, Explained)> {
    let sender = hosts
        .iter()
        .filter_map(|host| sender(all, host, tests))
        .max_by(|a, b| a.beyond.total_cmp(&b.beyond).then(b.host.cmp(&a.host)));
    let receiver = receiver::largest(all, to, hosts, tests).filter(|r| {
        sender
            .as_ref()
            .is_none_or(|s| r.found.beyond >= AS_MUCH * s.beyond)
    });
    if let Some(Receiver { number, found }) = receiver {
        let explained = Explained {
            hosts: BTreeSet::from([found.host.clone()]),
            to: Some(number),
        };
        return Some((found, explained));
    }
    let mut found = sender?;
    match sides::side(ways, to, hosts, &found.host) {
        Side::Sender => {}
        Side::Receiver { host, senders } => {
            let (number, of_sender) = (to.number(&host), found.host.clone());
            if let Some(found) = receiver::of_sender(all, to, hosts, &found, &host, &senders) {
                // Without addresses nothing tells what else these send again.
                let mut hosts = BTreeSet::from([host, of_sender]);
                if number.is_none() {
                    hosts.extend(senders);
                }
                return Some((found, Explained { hosts, to: number }));
            }
        }
        Side::Perhaps { host } => found.blame = Blame::Either { receiver: host },
        Side::Unknown => unsure::leave_open(all, to, hosts, &mut found),
    }
    let hosts = match &found.blame {
        Blame::Open { senders, .. } => senders.iter().cloned().collect(),
        _ => found.hosts().into_iter().map(str::to_owned).collect(),
    };
    // Whatever is sent again to one who may be the cause is explained by it.
    let to = match &found.blame {
        Blame::Either { receiver } => to.number(receiver),
        _ => None,
    };
    Some((found, Explained { hosts, to }))
}

/// How many comparisons are made: of hosts, of their connections where they have several, of those who are sent to by several.
fn tests(hosts: &[Prepared<'_>], to: &Destinations) -> f64 {
    let looks = |host: &Prepared<'_>| match connections_of(host).len() {
        // A host with one connection is looked at once.
        1 => 0,
        n => n,
    };
    let connections: usize = hosts.iter().map(looks).sum();
    (hosts.len() + connections + receiver::tried(to, hosts)) as f64
}

/// Connections that have enough retransmits to be looked at alone.
fn connections_of(host: &Prepared<'_>) -> Vec<u32> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for r in &host.list {
        *counts.entry(r.connection).or_default() += 1;
    }
    counts.retain(|_, n| *n as f64 >= LEAST_BEYOND);
    counts.into_keys().collect()
}

/// Whether it is far more than chance and than what happens anyway, and enough to matter.
pub(super) fn stands(excess: &Excess, operations: f64, tests: f64) -> bool {
    excess.chance * tests <= CHANCE
        && excess.beyond >= LEAST_BEYOND.max(EXPLAINS * operations)
        && excess.rates.0 >= RATE * excess.rates.1
}

/// What a host sends again, as a whole or on one of its connections, if it stands out.
fn sender(all: &HostTraces, host: &Prepared<'_>, tests: f64) -> Option<Retransmits> {
    let of_connections = || {
        connections_of(host)
            .into_iter()
            .filter_map(|c| judge(all, host, Some(c), tests))
            .min_by(|a, b| a.chance.total_cmp(&b.chance))
    };
    judge(all, host, None, tests).or_else(of_connections)
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
        blame: Blame::Sender,
        inside: hit.inside,
        rates: found.rates,
        beyond: found.beyond,
        operations: hit.operations,
        micros: hit.micros,
        time_lost: hit.time_lost * (1.0 - found.rates.1 / found.rates.0),
        chance: (found.chance * tests).min(1.0),
        source: host.windows.source,
        connections: named(all, host, takes),
    })
}

#[cfg(test)]
#[path = "retransmit_tests.rs"]
mod tests;
