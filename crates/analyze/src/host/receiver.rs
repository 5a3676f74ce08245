//! Which side of a connection loses segments.
//!
//! A segment is sent again by the sender, wherever it was lost. Where several hosts send again to one host while slow operations run, the
//! receiver's side loses them; from one sender to one receiver nothing tells the two sides apart, and the sender is named.

use std::collections::BTreeMap;

use super::destinations::Destinations;
use super::excess::{Excess, excess};
use super::prepared::{Hit, Prepared, named};
use super::retransmit::{Blame, Retransmits, stands};
use super::store::HostTraces;

/// Of what is sent again to a receiver at least this part must come from others than the one who sends most: twice as much from one as from
/// all others is rather that one's, unless the others stand out without it, too.
pub(super) const OF_OTHERS: f64 = 1.0 / 3.0;

/// Chance of taking a sender for a receiver's victim, because of what others sent there by coincidence.
const CHANCE: f64 = 1e-3;

/// The same where several others send there so much of all that they send again: what comes anyway is strewn over all whom they talk with.
const CHANCE_OF_MOST: f64 = 0.05;
const MOST: f64 = 2.0 / 3.0;

/// A host to whom several send again.
pub(super) struct Receiver {
    /// A number of [`Destinations`].
    pub(super) number: u32,
    pub(super) found: Retransmits,
}

/// How many receivers there are to be looked at: those to whom several send again.
pub(super) fn tried(to: &Destinations, hosts: &[Prepared<'_>]) -> usize {
    let senders = by_destination(to, hosts);
    senders.values().filter(|of| of.len() > 1).count()
}

/// The one that explains most.
pub(super) fn largest(
    all: &HostTraces,
    to: &Destinations,
    hosts: &[Prepared<'_>],
    tests: f64,
) -> Option<Receiver> {
    by_destination(to, hosts)
        .into_iter()
        .filter_map(|(number, senders)| {
            let at_others = of_others(&senders)?;
            let takes = |c: u32| to.of_connection(c) == Some(number);
            let found = Together::of(&senders)?.found(all, to.name(number)?, takes, tests)?;
            let many = at_others.excess.beyond >= OF_OTHERS * found.beyond;
            let several = senders.len() > 2;
            let asked = if several && at_others.part >= MOST {
                CHANCE_OF_MOST
            } else {
                CHANCE
            };
            let shared = many && at_others.excess.chance <= asked;
            let alone = several && stands(&at_others.excess, at_others.operations, tests);
            (shared || alone).then_some(Receiver { number, found })
        })
        .max_by(|a, b| {
            let key = |r: &Receiver| r.found.beyond;
            key(a)
                .total_cmp(&key(b))
                .then_with(|| b.found.host.cmp(&a.found.host))
        })
}

/// The finding about a sender, as one about the host that it and these send to.
pub(super) fn of_sender(
    all: &HostTraces,
    to: &Destinations,
    hosts: &[Prepared<'_>],
    found: &Retransmits,
    receiver: &str,
    senders: &[String],
) -> Option<Retransmits> {
    let number = to.number(receiver);
    // What has no address may go there.
    let takes = |c: u32| {
        let end = to.of_connection(c);
        number.is_none() || end.is_none() || end == number
    };
    let senders: Vec<Sender<'_, '_>> = hosts
        .iter()
        .filter(|host| senders.iter().any(|name| name == host.host))
        .map(|host| (host, host.moments(takes)))
        .filter(|(_, at)| !at.is_empty())
        .collect();
    let told = Together::of(&senders)?.told(all, receiver, takes, 1.0)?;
    // The one stood out alone, so its chance is kept.
    Some(Retransmits {
        chance: found.chance,
        ..told
    })
}

/// A host with moments at which it sent something again.
pub(super) type Sender<'h, 'a> = (&'h Prepared<'a>, Vec<i64>);

/// Who sends again to whom, by the number of the destination. What a host sends to itself says nothing of others.
fn by_destination<'h, 'a>(
    to: &Destinations,
    hosts: &'h [Prepared<'a>],
) -> BTreeMap<u32, Vec<Sender<'h, 'a>>> {
    let mut out: BTreeMap<u32, Vec<Sender<'h, 'a>>> = BTreeMap::new();
    for host in hosts {
        let mut of_host: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for r in &host.list {
            if let Some(number) = to.of_connection(r.connection) {
                of_host.entry(number).or_default().push(r.at);
            }
        }
        for (number, at) in of_host {
            if to.name(number) != Some(host.host) {
                out.entry(number).or_default().push((host, at));
            }
        }
    }
    out
}

/// How much more one sends than is expected.
pub(super) fn beyond(sender: &Sender<'_, '_>) -> f64 {
    excess(&[sender.0.part(&sender.1)]).map_or(0.0, |e| e.beyond)
}

/// What all do but the one who does most.
struct AtOthers {
    excess: Excess,
    /// Slow operations of the one who has most of them.
    operations: f64,
    /// Part of all that they send again.
    part: f64,
}

/// `None` where there is one alone.
fn of_others(senders: &[Sender<'_, '_>]) -> Option<AtOthers> {
    let each: Vec<f64> = senders.iter().map(beyond).collect();
    let most = (0..each.len()).max_by(|&a, &b| each[a].total_cmp(&each[b]))?;
    let others = || {
        (0..senders.len())
            .filter(|&i| i != most)
            .map(|i| &senders[i])
    };
    let parts: Vec<_> = others().map(|(host, at)| host.part(at)).collect();
    Some(AtOthers {
        excess: excess(&parts)?,
        operations: others().map(|s| s.0.operations()).fold(0.0, f64::max),
        part: others().map(|s| s.1.len() as f64).sum::<f64>()
            / others()
                .map(|s| s.0.list.len() as f64)
                .sum::<f64>()
                .max(1.0),
    })
}

/// Several senders as one.
pub(super) struct Together<'s, 'h, 'a> {
    senders: &'s [Sender<'h, 'a>],
    excess: Excess,
}

impl<'s, 'h, 'a> Together<'s, 'h, 'a> {
    pub(super) fn of(senders: &'s [Sender<'h, 'a>]) -> Option<Self> {
        let parts: Vec<_> = senders.iter().map(|(host, at)| host.part(at)).collect();
        let mut excess = excess(&parts)?;
        // As with one host: what ordinary operations lose is no reason for the slow ones, on average over the senders.
        let (mut ordinary, mut ran) = (0.0, 0.0);
        for (host, at) in senders {
            let of_host = host.running.total();
            ordinary += host.ordinary_rate(at).unwrap_or(0.0) * of_host;
            ran += of_host;
        }
        if ran > 0.0 && ordinary / ran > excess.rates.1 {
            excess.rates.1 = ordinary / ran;
            excess.beyond = (excess.rates.0 - excess.rates.1) * excess.ran / 1e9;
        }
        Some(Self { senders, excess })
    }

    /// The finding about `host`, if what they send again stands out.
    pub(super) fn found(
        &self,
        all: &HostTraces,
        host: &str,
        takes: impl Fn(u32) -> bool,
        tests: f64,
    ) -> Option<Retransmits> {
        // One slow operation is met by one of the senders, not by each.
        let operations = self.largest(Prepared::operations);
        stands(&self.excess, operations, tests)
            .then(|| self.told(all, host, takes, tests))
            .flatten()
    }

    /// The finding, whether it stands out or not.
    pub(super) fn told(
        &self,
        all: &HostTraces,
        host: &str,
        takes: impl Fn(u32) -> bool,
        tests: f64,
    ) -> Option<Retransmits> {
        let hits: Vec<Hit> = self
            .senders
            .iter()
            .filter_map(|(host, at)| Hit::of(host, at))
            .collect();
        let most = hits
            .iter()
            .max_by(|a, b| a.time_lost.total_cmp(&b.time_lost))?;
        let mut connections: Vec<(String, u64)> = self
            .senders
            .iter()
            .flat_map(|(host, _)| named(all, host, &takes))
            .collect();
        connections.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let rates = self.excess.rates;
        // Each sender met a loss in some of the operations that are slow on all of them.
        let time_lost: f64 = hits.iter().map(|h| h.time_lost).sum();
        let all_slow = self.largest(Prepared::time_lost);
        let of_hits: u64 = hits.iter().map(|h| h.operations).sum();
        let slow = self.largest(|host| host.windows.slow.len() as f64) as u64;
        Some(Retransmits {
            host: host.to_owned(),
            blame: Blame::Receiver {
                senders: self.senders(),
            },
            inside: hits
                .iter()
                .fold((0, 0), |s, h| (s.0 + h.inside.0, s.1 + h.inside.1)),
            rates,
            beyond: self.excess.beyond,
            operations: of_hits.min(slow),
            micros: most.micros,
            time_lost: time_lost.min(all_slow) * (1.0 - rates.1 / rates.0),
            chance: (self.excess.chance * tests).min(1.0),
            source: self
                .senders
                .iter()
                .map(|(host, _)| host.windows.source)
                .max()
                .unwrap_or_default(),
            connections,
        })
    }

    /// Their names.
    pub(super) fn senders(&self) -> Vec<String> {
        let names = self.senders.iter().map(|(host, _)| host.host.to_owned());
        names.collect()
    }

    fn largest(&self, of: impl Fn(&Prepared<'a>) -> f64) -> f64 {
        self.senders
            .iter()
            .map(|(host, _)| of(host))
            .fold(0.0, f64::max)
    }
}
