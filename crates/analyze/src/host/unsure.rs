//! Where the traces leave open who loses segments.
//!
//! Without addresses several hosts that send again may each be at fault, or all may send to one that is; and where others send again to whom
//! one host sends again, but too few to be sure, it may be either of the two. So it is with what one host sends again to another in Sends
//! that these two do alone: nobody else would show it if it were the receiver. Then all that it may be are told.

use super::destinations::Destinations;
use super::excess::excess;
use super::prepared::Prepared;
use super::receiver::{OF_OTHERS, Sender, Together, beyond};
use super::retransmit::{Blame, Retransmits};
use super::store::HostTraces;

/// What others do that comes by coincidence in more than so many jobs speaks for nothing.
const CHANCE: f64 = 0.05;

/// A host does as the largest sender does if it does this part of it.
const AS_MUCH: f64 = 0.25;

/// Most of what a host sends again.
const MOST: f64 = 2.0 / 3.0;

/// Turns a finding about a sender into one about all that it may be, where the traces leave that open.
pub(super) fn leave_open(
    all: &HostTraces,
    to: &Destinations,
    hosts: &[Prepared<'_>],
    found: &mut Retransmits,
) {
    let Some(own) = hosts.iter().find(|host| host.host == found.host) else {
        return;
    };
    let Some(end) = most_of(to, own) else {
        return;
    };
    let takes = |c: u32| to.of_connection(c) == end;
    let mut senders: Vec<Sender<'_, '_>> = hosts
        .iter()
        .map(|host| (host, host.moments(takes)))
        .filter(|(_, at)| !at.is_empty())
        .collect();
    let others: Vec<_> = senders
        .iter()
        .filter(|(host, _)| host.host != found.host)
        .map(|(host, at)| host.part(at))
        .collect();
    let shared =
        excess(&others).is_some_and(|e| e.chance <= CHANCE && e.beyond >= OF_OTHERS * found.beyond);
    if !shared && own.between_two() < MOST {
        return;
    }
    senders.retain(|s| s.0.host == found.host || beyond(s) >= AS_MUCH * found.beyond);
    let together = Together::of(&senders);
    let Some(all_of_them) = together.and_then(|t| t.told(all, &found.host, takes, 1.0)) else {
        return;
    };
    let senders: Vec<String> = senders.iter().map(|s| s.0.host.to_owned()).collect();
    let receiver = end.and_then(|number| to.name(number));
    let blame = match receiver {
        Some(receiver) => Blame::Either {
            receiver: receiver.to_owned(),
        },
        None => Blame::Open {
            others: hosts
                .iter()
                .map(|host| host.host.to_owned())
                .filter(|host| !senders.contains(host))
                .collect(),
            senders,
        },
    };
    // The one stood out alone, so its chance is kept.
    *found = Retransmits {
        blame,
        chance: found.chance,
        ..all_of_them
    };
}

/// The other end of most of what a host sends again in slow operations: a number, or that the trace tells none. `None` where it sends to
/// several.
pub(super) fn most_of(to: &Destinations, host: &Prepared<'_>) -> Option<Option<u32>> {
    let inside: Vec<Option<u32>> = host
        .list
        .iter()
        .filter(|r| host.stretches.holds(r.at))
        .map(|r| to.of_connection(r.connection))
        .collect();
    let mut sorted = inside.clone();
    sorted.sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .max_by_key(|same| same.len())
        .filter(|same| same.len() as f64 >= MOST * inside.len() as f64)
        .map(|same| same[0])
}
