//! Which side of a connection loses segments.
//!
//! A segment is sent again by the sender, wherever it was lost. Where several hosts send again to one address while slow operations run,
//! and hardly to others, the receiver's side loses them; from one sender to one receiver nothing tells the two sides apart, and the
//! sender is named.

use std::collections::BTreeSet;

use super::excess::excess;
use super::retransmit::{Hit, Prepared, Retransmits, named, stands};
use super::store::HostTraces;

/// So much of what is beyond the expected must go to one address, and no more than that of it from one host: two thirds are twice the rest.
const MOST_OF_IT: f64 = 2.0 / 3.0;

/// Puts the receiver in the place of its senders, where it is to blame.
pub(super) fn to_one_receiver(
    all: &HostTraces,
    hosts: &[Prepared<'_>],
    tests: f64,
    found: &mut Vec<Retransmits>,
) {
    let addresses: BTreeSet<&str> = hosts
        .iter()
        .flat_map(|host| &host.list)
        .filter_map(|r| all.destination(r.connection))
        .collect();
    let beyond = |host: &Prepared<'_>, at: &[i64]| {
        excess(&[host.part(at)]).map_or(0.0, |e| e.beyond.max(0.0))
    };
    let total: f64 = hosts
        .iter()
        .map(|host| beyond(host, &host.moments(|_| true)))
        .sum();
    let best = addresses
        .into_iter()
        .filter_map(|address| {
            // Without a host of that address the senders stay, and their connections tell.
            let receiver = all.host_of_address(address)?;
            let one = blame(all, hosts, address, receiver, tests)?;
            let to_it: Vec<f64> = hosts
                .iter()
                .filter(|host| host.host != receiver)
                .map(|host| beyond(host, &moments_to(all, host, address)))
                .collect();
            let sum: f64 = to_it.iter().sum();
            let largest = to_it.iter().copied().fold(0.0, f64::max);
            let it_is = sum >= MOST_OF_IT * total && largest <= MOST_OF_IT * sum;
            it_is.then_some(one)
        })
        .min_by(|a, b| a.chance.total_cmp(&b.chance));
    if let Some(one) = best {
        found.retain(|f| f.host != one.host && !one.senders.contains(&f.host));
        found.push(one);
    }
}

fn moments_to(all: &HostTraces, host: &Prepared<'_>, address: &str) -> Vec<i64> {
    host.moments(|c| all.destination(c) == Some(address))
}

/// The host of an address, if what is sent to it again stands out over all who send.
fn blame(
    all: &HostTraces,
    hosts: &[Prepared<'_>],
    address: &str,
    receiver: &str,
    tests: f64,
) -> Option<Retransmits> {
    let senders: Vec<(&Prepared<'_>, Vec<i64>)> = hosts
        .iter()
        .filter(|host| host.host != receiver)
        .map(|host| (host, moments_to(all, host, address)))
        .filter(|(_, at)| !at.is_empty())
        .collect();
    if senders.len() < 2 {
        return None;
    }
    let parts: Vec<_> = senders.iter().map(|(host, at)| host.part(at)).collect();
    let together = excess(&parts)?;
    // One slow operation is met by one of the senders, not by each.
    let operations = senders
        .iter()
        .map(|(host, _)| host.operations())
        .fold(0.0, f64::max);
    if !stands(&together, operations, tests) {
        return None;
    }
    let hits: Vec<Hit> = senders
        .iter()
        .filter_map(|(host, at)| Hit::of(host, at))
        .collect();
    let most = hits
        .iter()
        .max_by(|a, b| a.time_lost.total_cmp(&b.time_lost))?;
    let mut connections: Vec<(String, u64)> = senders
        .iter()
        .flat_map(|(host, _)| named(all, host, |c| all.destination(c) == Some(address)))
        .collect();
    connections.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    // Each sender met a loss in some of the operations that are slow on all of them.
    let most_slow = |of: &dyn Fn(&Prepared<'_>) -> f64| {
        let each = senders.iter().map(|(host, _)| of(host));
        each.fold(0.0, f64::max)
    };
    let time_lost: f64 = hits.iter().map(|h| h.time_lost).sum();
    let all_slow = most_slow(&|host| host.time_lost());
    let of_hits: u64 = hits.iter().map(|h| h.operations).sum();
    Some(Retransmits {
        host: receiver.to_owned(),
        inside: hits
            .iter()
            .fold((0, 0), |s, h| (s.0 + h.inside.0, s.1 + h.inside.1)),
        rates: together.rates,
        beyond: together.beyond,
        operations: of_hits.min(most_slow(&|host| host.windows.slow.len() as f64) as u64),
        micros: most.micros,
        time_lost: time_lost.min(all_slow) * (1.0 - together.rates.1 / together.rates.0),
        chance: (together.chance * tests).min(1.0),
        source: senders
            .iter()
            .map(|(host, _)| host.windows.source)
            .max()
            .unwrap_or_default(),
        connections,
        senders: senders
            .iter()
            .map(|(host, _)| host.host.to_owned())
            .collect(),
    })
}
